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
from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..errors import LinkwrightError, UnsupportedError
from ..files import write
from ..forms.page_fonts import math_font_css, text_font_css
from ..formulations import formulation
from ..mechanism import Mechanism, names_of
from ..mechanism.gallery_files import gallery_names
from .description import describe
from .markup import Html, copied, details, html, joined
from .motions import Moved, motion_words
from .parts import compared_seconds, made
from .sections import (
    checks_section,
    comparison_section,
    equations_section,
    mechanism_section,
    motion_section,
    section,
    titled,
)
from .starts import SECONDS, Start, check_begins, exactly, usual_start

_PACKAGES = ("casadi", "numpy", "scipy", "llvmlite")
_MOST_TEXT = 60_000
"""Characters of a mechanism's own file that still stand on the page."""
_SECTIONS = {
    "mechanism": "Mechanism", "equations": "Equations", "checks": "Verification",
    "motion": "Motion", "formulations": "Formulations", "again": "Make it again",
}  # fmt: skip


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
    `closure` that were asked for); formulations `by` are compared (all unless said). Each part may
    take `budget` seconds; what needs more is left out, and said so.

    The motion is from home at rest over 5 s, or from q0 with speeds qd0 and `drives` (expressions
    by name); mechanisms of the gallery have one of their own where nothing of this is given.
    """
    start = _started(mechanism, duration, q0 or {}, qd0 or {}, drives or {})
    if not (0 < start.seconds < 1e6 and 0 < budget < 1e6):
        raise LinkwrightError(
            f"{start.seconds:g} s of motion within {budget:g} s", remedy="give seconds above 0"
        )
    for one in by or ():
        formulation(one)
    parts = made(mechanism, start, budget, by)
    moved = parts.motion if isinstance(parts.motion, Moved) else None
    at = (moved.run.q[0], start.where()) if moved and start.q0 else ()
    name = shlex.quote(Path(file).name if file else f"{mechanism.name}.toml")
    name += f" --base {shlex.quote(base)}" if base else ""
    name += f" --closure {closure:g}" if closure is not None else ""
    said = Start(duration or SECONDS, q0 or {}, qd0 or {}, drives or {})
    again = Commands.of(name, moved, start, said if said.is_said or duration else None, budget, by)
    info = describe(mechanism)
    links = joined(html('<a href="#{}">{}</a>', mark, title) for mark, title in _SECTIONS.items())
    body = joined(
        [
            titled(mechanism, info),
            html("<nav>{}</nav>", links),
            mechanism_section(mechanism, info, *at),
            equations_section(parts.equations, name, names_of(mechanism)),
            checks_section(parts.checks, name),
            motion_section(parts.motion, again.simulate),
            comparison_section(parts.comparison, again.compare),
            _again(mechanism, name, again),
        ]
    )
    return whole(mechanism.name, body)


def _started(
    mechanism: Mechanism,
    duration: float | None,
    q0: Mapping[str, float],
    qd0: Mapping[str, float],
    drives: Mapping[str, str],
) -> Start:
    """What was asked for, if a motion can begin so, or what is usual for this mechanism."""
    if names_of(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no joint with a freedom",
            remedy="add one, or unlock one",
        )
    said = Start(SECONDS, q0, qd0, drives)
    if said.is_said:
        check_begins(mechanism, said)
    start = said if said.is_said else usual_start(mechanism)
    return start if duration is None else replace(start, seconds=duration)


@dataclass(frozen=True)
class Commands:
    """What makes the page and its parts again, with all that was asked for."""

    report: str
    simulate: str
    compare: str

    @classmethod
    def of(
        cls,
        file: str,
        moved: Moved | None,
        start: Start,
        said: Start | None,
        budget: float,
        by: Sequence[str] | None,
    ) -> Commands:
        """`said` is what the user asked for, which is less than the start where that is usual."""
        chosen = f" --by {','.join(by)}" if by else ""
        words = moved.words if moved else motion_words(start)
        asked = f"{said.words()} -t {exactly(start.seconds)}" if said else ""
        compared = f"-t {exactly(compared_seconds(start))} --budget {exactly(budget / 2)}"
        return cls(
            f"linkwright report {file}{asked}{chosen} --budget {exactly(budget)} -o report.html",
            f"linkwright simulate {file}{words} -o run.nc",
            f"linkwright compare {file}{chosen} {compared}",
        )


def _again(mechanism: Mechanism, file: str, again: Commands) -> Html:
    commands = [
        again.report,
        f"linkwright derive {file} --as latex",
        f"linkwright verify {file}",
        again.simulate,
        again.compare,
    ]
    made_with = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lead = html(
        "<p>Where linkwright {} with its extra <code>[show]</code> is installed, these commands "
        "make this page, the equations, the checks, the motion and the comparison.{}</p>",
        __version__, _without_file(mechanism, file),
    )  # fmt: skip
    said = html(
        "<p>Made on {} by linkwright {} with Python {}, {}, on {} {}. The mechanism’s SHA-256 is "
        "<code>{}</code>.</p>",
        when, __version__, platform.python_version(), made_with, platform.system(),
        platform.machine(), mechanism.digest,
    )  # fmt: skip
    lines = joined(html("<span>{}\n</span>", command) for command in commands)
    commanded = html('<div class="commands">{}</div>', copied(lines))
    return section("again", "Make it again", lead, commanded, said, _own(mechanism))


def _without_file(mechanism: Mechanism, file: str) -> Html:
    """How to go on from the page alone, where the gallery does not have the mechanism."""
    if file in gallery_names():
        return Html(f" “{file}” is in linkwright’s gallery.")
    return html(
        " Who has only this page saves the file at its end as <code>{}.toml</code> and uses that.",
        re.sub(r"\W+", "-", mechanism.name).strip("-") or "mechanism",
    )


def _own(mechanism: Mechanism) -> Html:
    """The mechanism's file, so that the page alone is enough."""
    text, lost = write(mechanism, "toml")
    if len(text) > _MOST_TEXT:
        return html(
            '<p class="left-out">Left out: the mechanism’s file, {} characters.</p>', len(text)
        )
    notes = joined(html("<li>not in it: {}</li>", what) for what in lost)
    inner = joined([copied(text), html("<ul>{}</ul>", notes) if lost else Html("")])
    return details("The mechanism as a file (.toml)", inner, "source")


def whole(title: str, body: Html) -> str:
    """The document; its policy lets nothing be fetched and no script run but those put here."""
    here = files(__package__)
    style = (here / "page.css").read_text(encoding="utf-8")
    script = (here / "page.js").read_text(encoding="utf-8")
    scripts = [*re.findall(r"<script>(.*?)</script>", body, re.S), script]
    allowed = " ".join(f"'sha256-{_hash(text)}'" for text in dict.fromkeys(scripts))
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; "
        f"script-src {allowed}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        + html('<meta http-equiv="Content-Security-Policy" content="{}">', policy)
        + '<meta name="viewport" content="width=device-width, initial-scale=1">'
        + html("<title>{}</title>", title)
        + f"<style>\n{text_font_css()}{math_font_css()}{style}</style></head>\n"
        + f"<body>\n{body}\n<script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
