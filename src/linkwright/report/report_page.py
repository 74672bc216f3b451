"""The page of a mechanism: its sections in one document, and the commands that reproduce it."""

from __future__ import annotations

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
from ..forms.page_fonts import formula_font_css, text_font_css
from ..formulations import formulation_names
from ..kinematics.pose_configurations import read_pose_table
from ..live import page_script, script_hash, viewer_style
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.gallery_files import gallery_names
from ..writers import write_mechanism_text
from .finding_sections import bearings_section, modes_section, ranges_section
from .live_section import live_section
from .mechanism_facts import mechanism_page_facts
from .motion_starts import (
    DEFAULT_SECONDS,
    PageMotionStart,
    check_page_motion_start,
    default_page_motion_start,
    page_number_text,
)
from .page_parts import (
    PageParts,
    StageReport,
    begin_page_parts,
    ignore_page_stages,
    page_comparison_budget,
    page_comparison_seconds,
)
from .page_sections import (
    checks_section,
    comparison_section,
    equations_section,
    mechanism_section,
    motion_section,
    page_header,
)
from .rendering import read_page_asset, render_template
from .shown_motion import PageMotion, page_simulate_arguments

_REPORTED_PACKAGES = ("casadi", "numpy", "scipy", "llvmlite")
_MAX_FILE_CHARACTERS = 60_000
"""Characters of a mechanism's own file that still stand on the page."""
_SECTION_TITLES = {
    "mechanism": "Mechanism",
    "live": "Live",
    "equations": "Equations",
    "checks": "Verification",
    "motion": "Motion",
    "ranges": "Ranges",
    "bearings": "Bearing forces",
    "modes": "Modes",
    "formulations": "Formulations",
    "again": "Make it again",
}


def page(
    mechanism: Mechanism,
    file: str | None = None,
    duration: float | None = None,
    *,
    q0: Mapping[str, float] | str | None = None,
    qd0: Mapping[str, float] | str | None = None,
    efforts: Mapping[str, str] | None = None,
    budget: float = 20.0,
    by: str | Sequence[str] | None = None,
    base: str | None = None,
    closure: float | None = None,
    progress: StageReport = ignore_page_stages,
) -> str:
    """Return the page of a mechanism as HTML that needs no network and no other file.

    The page has a picture, the equations, their verification, a motion with plots and a film,
    ranges and singular positions, bearing forces of linkages, linear modes, the comparison of
    formulations, and the commands that reproduce all of it.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    file : str, optional
        The file that it was read from, or its gallery name; for the commands on the page.
    duration : float, optional
        Duration of the motion, s (default: 5, or that of the gallery mechanism).
    q0, qd0 : mapping of str to float, or name of a pose, optional
        Initial coordinates and velocities by name, rad or m (default: home at rest, or the start
        of the gallery mechanism).
    efforts : mapping of str to str, optional
        Joint forces or actuator efforts by name: expressions of t, coordinates and velocities.
    budget : float
        Time that each part may take, s; parts that need more are left out with a note.
    by : str or sequence of str, optional
        Formulations whose equations are shown, in their own forms, and which are compared
        (default: the general equations, and all).
    base, closure : str and float, optional
        The options `--base` and `--closure` with which the file was read; for the commands.
    progress : function, optional
        Called with the name of each stage and None when it begins, and with its seconds when it
        has ended; from several threads.

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> import linkwright as lw
    >>> page = lw.report.page(lw.gallery("elbow"), "elbow", 1.0)
    >>> "<title>elbow" in page
    True
    """
    q0 = read_pose_table(mechanism, q0, "q0")
    qd0 = read_pose_table(mechanism, qd0, "qd0")
    start = _choose_page_motion_start(mechanism, duration, q0, qd0, efforts or {})
    if not (0 < start.seconds < 1e6 and 0 < budget < 1e6):
        raise LinkwrightError(
            f"a page cannot have {start.seconds:g} s of motion within {budget:g} s",
            remedy="give seconds above 0",
        )
    by = formulation_names(by, ())
    name = page_file_words(mechanism, file, base, closure)
    said = PageMotionStart(duration or DEFAULT_SECONDS, q0, qd0, efforts or {})
    asked = said if said.is_given or duration else None
    with begin_page_parts(mechanism, start, budget, by, progress) as parts:
        motion = parts.motion.result()
        moved = motion if isinstance(motion, PageMotion) else None
        again = PageCommands.from_request(name, moved, start, asked, budget, by)
        body = _page_body(mechanism, name, start, moved, parts, again)
    return page_html_document(mechanism.name, body)


def _page_body(
    mechanism: Mechanism,
    name: str,
    start: PageMotionStart,
    moved: PageMotion | None,
    parts: PageParts,
    again: PageCommands,
) -> Markup:
    """The body of the page; sections are drawn while other parts are still being made."""
    info = mechanism_page_facts(mechanism)
    at = (moved.run.q[0], start.place_text()) if moved and start.q0 else ()
    drawn = {
        "mechanism": mechanism_section(mechanism, info, *at),
        "live": live_section(parts.live.result(), name),
        "motion": motion_section(parts.motion.result(), again.simulate),
        "equations": equations_section(parts.equations.result(), name, mechanism_names(mechanism)),
        "ranges": ranges_section(parts.ranges.result(), name),
        "bearings": bearings_section(parts.bearings.result(), name),
        "modes": modes_section(parts.modes.result(), name),
        "checks": checks_section(parts.checks.result(), name),
        "formulations": comparison_section(parts.comparison.result(), again.compare),
        "again": reproduction_section(mechanism, name, again),
    }
    shown = {key: title for key, title in _SECTION_TITLES.items() if drawn[key]}
    return render_template(
        "page.html",
        header=page_header(mechanism, info),
        links=shown,
        sections=[drawn[key] for key in shown],
    )


def page_file_words(
    mechanism: Mechanism, file: str | None, base: str | None, closure: float | None
) -> str:
    """The file and the options of its reading, as the commands on a page have them."""
    name = shlex.quote(Path(file).name if file else f"{mechanism.name}.toml")
    name += f" --base {shlex.quote(base)}" if base else ""
    return name + (f" --closure {closure:g}" if closure is not None else "")


def _choose_page_motion_start(
    mechanism: Mechanism,
    duration: float | None,
    q0: Mapping[str, float],
    qd0: Mapping[str, float],
    efforts: Mapping[str, str],
) -> PageMotionStart:
    """The start that is asked for, after checking it, or the default one of the mechanism."""
    if mechanism_names(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no degrees of freedom",
            remedy="add a joint, or unlock one",
        )
    said = PageMotionStart(DEFAULT_SECONDS, q0, qd0, efforts)
    if said.is_given:
        check_page_motion_start(mechanism, said)
    start = said if said.is_given else default_page_motion_start(mechanism)
    return start if duration is None else replace(start, seconds=duration)


@dataclass(frozen=True)
class PageCommands:
    """The commands that reproduce the page and its parts, with all options."""

    report: str
    simulate: str
    compare: str

    @classmethod
    def from_request(
        cls,
        file: str,
        moved: PageMotion | None,
        start: PageMotionStart,
        said: PageMotionStart | None,
        budget: float,
        by: Sequence[str] | None,
    ) -> PageCommands:
        """The commands for a request; `said` is the start that the user asked for, None if it is
        the default."""
        chosen = f" --by {','.join(by)}" if by else ""
        words = moved.command_arguments if moved else page_simulate_arguments(start)
        asked = f"{said.command_arguments()} -t {page_number_text(start.seconds)}" if said else ""
        compared_time = page_number_text(page_comparison_seconds(start))
        compared = f"-t {compared_time} --budget {page_number_text(page_comparison_budget(budget))}"
        return cls(
            f"linkwright report {file}{asked}{chosen} --budget {page_number_text(budget)} "
            "-o report.html",
            f"linkwright simulate {file}{words} -o run.nc",
            f"linkwright compare {file}{chosen} {compared}",
        )


def reproduction_section(mechanism: Mechanism, file: str, again: PageCommands) -> Markup:
    """Returns the section with the commands that reproduce the page, and the mechanism's file."""
    commands = [
        again.report,
        f"linkwright derive {file} --as latex",
        f"linkwright verify {file}",
        again.simulate,
        again.compare,
    ]
    text, lost = write_mechanism_text(mechanism, "toml")
    return render_template(
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


def page_html_document(title: str, body: Markup) -> str:
    """Returns the whole document; its policy allows no fetching and only its own scripts, and
    WebAssembly where there is a live mechanism."""
    script = read_page_asset("page.js")
    is_live = '<div class="lw-live">' in body
    module, live_style = (page_script(), viewer_style()) if is_live else ("", "")
    scripts = [*re.findall(r"<script>(.*?)</script>", body, re.S), script]
    allowed = " ".join(map(script_hash, dict.fromkeys(scripts)))
    allowed += f" {script_hash(module)} 'wasm-unsafe-eval'" if is_live else ""
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; "
        f"script-src {allowed}"
    )
    text = render_template(
        "document.html",
        policy=policy,
        title=title,
        style=page_font_style() + read_page_asset("page.css") + Markup(live_style),
        body=body,
        script=script,
        module=Markup(module),
    )
    return f"{text}\n"


def page_font_style() -> Markup:
    """Returns the style sheet that embeds the fonts of pages."""
    return Markup(text_font_css() + formula_font_css())
