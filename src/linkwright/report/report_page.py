"""The page: sections put together, with everything it needs in it, and how to make it again."""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from .. import __version__
from ..errors import LinkwrightError, UnsupportedError
from ..forms.page_fonts import math_font_css, text_font_css
from ..formulations import formulation_module
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.gallery_files import gallery_names
from ..writers import write_mechanism_text
from .mechanism_facts import describe_mechanism
from .motion_starts import (
    DEFAULT_SECONDS,
    MotionStart,
    check_motion_start,
    default_motion_start,
    exact_number_text,
)
from .page_parts import compared_seconds, make_page_parts
from .page_sections import (
    checks_section,
    comparison_section,
    equations_section,
    mechanism_section,
    motion_section,
    page_header,
)
from .rendering import read_asset, render
from .shown_motion import PageMotion, simulate_arguments

_REPORTED_PACKAGES = ("casadi", "numpy", "scipy", "llvmlite")
_MAX_FILE_CHARACTERS = 60_000
"""Characters of a mechanism's own file that still stand on the page."""
_SECTION_TITLES = {
    "mechanism": "Mechanism",
    "equations": "Equations",
    "checks": "Verification",
    "motion": "Motion",
    "formulations": "Formulations",
    "again": "Make it again",
}


def page(
    mechanism: Mechanism,
    file: str | None = None,
    duration: float | None = None,
    q0: Mapping[str, float] | None = None,
    budget: float = 20.0,
    by: Sequence[str] | None = None,
    base: str | None = None,
    qd0: Mapping[str, float] | None = None,
    drives: Mapping[str, str] | None = None,
    closure: float | None = None,
) -> str:
    """The HTML of a page about a mechanism that was read from `file` (with the `base` and the
    `closure` that were asked for); formulations `by` are compared (default: all). Each part may
    take `budget` seconds; what needs more is left out, and said so.

    The motion is from home at rest over 5 s, or from q0 with velocities qd0 and `drives`
    (expressions by name); mechanisms of the gallery have one of their own where nothing of this is
    given.
    """
    start = _choose_motion_start(mechanism, duration, q0 or {}, qd0 or {}, drives or {})
    if not (0 < start.seconds < 1e6 and 0 < budget < 1e6):
        raise LinkwrightError(
            f"{start.seconds:g} s of motion within {budget:g} s", remedy="give seconds above 0"
        )
    for one in by or ():
        formulation_module(one)
    parts = make_page_parts(mechanism, start, budget, by)
    moved = parts.motion if isinstance(parts.motion, PageMotion) else None
    at = (moved.run.q[0], start.place_text()) if moved and start.q0 else ()
    name = shlex.quote(Path(file).name if file else f"{mechanism.name}.toml")
    name += f" --base {shlex.quote(base)}" if base else ""
    name += f" --closure {closure:g}" if closure is not None else ""
    said = MotionStart(duration or DEFAULT_SECONDS, q0 or {}, qd0 or {}, drives or {})
    again = PageCommands.from_request(
        name, moved, start, said if said.is_given or duration else None, budget, by
    )
    info = describe_mechanism(mechanism)
    body = render(
        "page.html",
        header=page_header(mechanism, info),
        links=_SECTION_TITLES,
        sections=[
            mechanism_section(mechanism, info, *at),
            equations_section(parts.equations, name, mechanism_names(mechanism)),
            checks_section(parts.checks, name),
            motion_section(parts.motion, again.simulate),
            comparison_section(parts.comparison, again.compare),
            again_section(mechanism, name, again),
        ],
    )
    return html_document(mechanism.name, body)


def _choose_motion_start(
    mechanism: Mechanism,
    duration: float | None,
    q0: Mapping[str, float],
    qd0: Mapping[str, float],
    drives: Mapping[str, str],
) -> MotionStart:
    """The start that was asked for, if a motion can begin so, or the usual one of this
    mechanism."""
    if mechanism_names(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no degrees of freedom",
            remedy="add a joint, or unlock one",
        )
    said = MotionStart(DEFAULT_SECONDS, q0, qd0, drives)
    if said.is_given:
        check_motion_start(mechanism, said)
    start = said if said.is_given else default_motion_start(mechanism)
    return start if duration is None else replace(start, seconds=duration)


@dataclass(frozen=True)
class PageCommands:
    """The commands that make the page and its parts again, with all options."""

    report: str
    simulate: str
    compare: str

    @classmethod
    def from_request(
        cls,
        file: str,
        moved: PageMotion | None,
        start: MotionStart,
        said: MotionStart | None,
        budget: float,
        by: Sequence[str] | None,
    ) -> PageCommands:
        """`said` is what the user asked for, which is less than the start where that is usual."""
        chosen = f" --by {','.join(by)}" if by else ""
        words = moved.command_arguments if moved else simulate_arguments(start)
        asked = f"{said.command_arguments()} -t {exact_number_text(start.seconds)}" if said else ""
        compared_time = exact_number_text(compared_seconds(start))
        compared = f"-t {compared_time} --budget {exact_number_text(budget / 2)}"
        return cls(
            f"linkwright report {file}{asked}{chosen} --budget {exact_number_text(budget)} "
            "-o report.html",
            f"linkwright simulate {file}{words} -o run.nc",
            f"linkwright compare {file}{chosen} {compared}",
        )


def again_section(mechanism: Mechanism, file: str, again: PageCommands) -> Markup:
    """Return the commands that make the page again, and the mechanism's own file."""
    commands = [
        again.report,
        f"linkwright derive {file} --as latex",
        f"linkwright verify {file}",
        again.simulate,
        again.compare,
    ]
    text, lost = write_mechanism_text(mechanism, "toml")
    return render(
        "again.html",
        version=__version__,
        file=file,
        is_in_gallery=file in gallery_names(),
        own_name=re.sub(r"\W+", "-", mechanism.name).strip("-") or "mechanism",
        commands=commands,
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        python=platform.python_version(),
        packages=", ".join(f"{package} {version(package)}" for package in _REPORTED_PACKAGES),
        system=f"{platform.system()} {platform.machine()}",
        digest=mechanism.digest,
        size=len(text),
        text=text if len(text) <= _MAX_FILE_CHARACTERS else None,
        lost=[f"not in it: {what}" for what in lost],
    )


def html_document(title: str, body: Markup) -> str:
    """Return the document; its policy lets nothing be fetched and no script run but its own."""
    script = read_asset("page.js")
    scripts = [*re.findall(r"<script>(.*?)</script>", body, re.S), script]
    allowed = " ".join(f"'sha256-{_script_hash(text)}'" for text in dict.fromkeys(scripts))
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; "
        f"script-src {allowed}"
    )
    text = render(
        "document.html",
        policy=policy,
        title=title,
        style=Markup(text_font_css() + math_font_css()) + read_asset("page.css"),
        body=body,
        script=script,
    )
    return f"{text}\n"


def _script_hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
