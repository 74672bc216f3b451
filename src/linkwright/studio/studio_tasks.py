"""What the worker processes of the studio compute: functions of a file, a mechanism, options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..checking import check
from ..checking.check_report import CheckReport
from ..errors import LinkwrightError
from ..files import gallery, load
from ..live import scene
from ..mechanism import Mechanism, mechanism_names
from ..report.homework_page import typeset_checked_equation
from ..report.mechanism_facts import mechanism_page_facts
from ..report.page_parts import write_page_equation_set, write_page_functions
from ..report.page_sections import checks_section, equations_section
from ..report.rendering import count_with_noun, render_template
from ..simulation import simulate
from ..verification import verify
from .error_lines import find_error_line

_MAX_TRACED_FRAMES = 4
"""Frames whose paths are drawn."""
GENERAL_FORM = "general"
"""The equations as the functions M, C, g, … of the general equation of motion."""


@dataclass(frozen=True)
class StudioFile:
    """A file that was read: its mechanism, and its live scene as JSON, with facts for the page."""

    mechanism: Mechanism
    scene: str
    facts: Mapping[str, object]


@dataclass(frozen=True)
class StudioProblem:
    """An error of the file: what, where, the remedy, and the line with its neighbours."""

    what: str
    where: str
    remedy: str
    line: int | None
    excerpt: tuple[tuple[int, str], ...] = ()

    def data(self) -> dict[str, object]:
        """The problem as plain data for the page."""
        return {
            "what": self.what,
            "where": self.where,
            "remedy": self.remedy,
            "line": self.line,
            "excerpt": [list(row) for row in self.excerpt],
        }


def read_studio_file(
    source: str, base: str | None, closure: float | None
) -> StudioFile | StudioProblem:
    """Read a file, or a mechanism of the gallery, with its scene; a problem if it cannot be
    read."""
    path = Path(source)
    try:
        found = load(path, base=base) if path.suffix else gallery(source)
        found = found.with_closure(closure)
        drawn = scene(found)
        facts = mechanism_page_facts(found)
    except LinkwrightError as error:
        return describe_problem(error, path)
    except RecursionError:
        return StudioProblem("is nested too deeply", path.name, "write it flatter", None)
    freedom = facts["freedom"]
    noun = "degree" if freedom == 1 else "degrees"
    said = [
        count_with_noun(len(facts["bodies"]), "body"),
        count_with_noun(len(facts["joints"]), "joint"),
        "unknown mobility" if freedom is None else f"{freedom} {noun} of freedom",
        f"{facts['total_mass']:.4g} kg",
    ]
    shown = {
        "name": found.name,
        "summary": ", ".join(said),
        "remarks": [*facts["warnings"], *(f"not used: {x}" for x in facts["unused"])],
        "notes": list(drawn.notes),
        "efforts": list(mechanism_names(found).actuators or mechanism_names(found).qd),
    }
    return StudioFile(found, drawn.json, shown)


def describe_problem(error: LinkwrightError, path: Path) -> StudioProblem:
    """An error of a file with the line that it is about, where that can be told."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    line = find_error_line(text, error)
    rows = text.splitlines()
    near = range(max(0, line - 3), min(len(rows), line + 2)) if line else ()
    where = error.where.replace(str(path), path.name)
    return StudioProblem(
        error.what, where, error.remedy, line, tuple((k + 1, rows[k][:300]) for k in near)
    )


def missing_file_problem(path: Path) -> StudioProblem:
    """The problem of a file that is gone."""
    return StudioProblem("is gone", path.name, "save it again; the studio waits for it", None)


def write_studio_equations(mechanism: Mechanism, by: str, steps: bool, file: str) -> str:
    """The equations by a formulation as HTML, its derivation line by line with `steps`."""
    names = mechanism_names(mechanism)
    if by == GENERAL_FORM:
        return equations_section(write_page_functions(mechanism), file, names)
    return equations_section((write_page_equation_set(mechanism, by, steps),), file, names)


def verify_for_studio(mechanism: Mechanism, file: str) -> str:
    """The verdicts of all checks as HTML."""
    return checks_section(verify(mechanism), file)


def simulate_for_studio(
    mechanism: Mechanism,
    seconds: float,
    q: Sequence[float] | None,
    qd: Sequence[float] | None,
    parameters: Mapping[str, float],
    efforts: Mapping[str, str],
) -> dict[str, object]:
    """A run from the state of the picture, as the scene that plays it, with sentences on it."""
    if parameters:
        mechanism = mechanism.with_parameters(**parameters)
    q0 = None if q is None else np.array(q, dtype=float)
    qd0 = None if q is None else np.array(qd or [], dtype=float)
    run = simulate(mechanism, seconds, q0, qd0, torque=dict(efforts) or None)
    said = [f"{run.t[-1]:.4g} s; energy is accounted for to {run.audit:.1e} of the largest."]
    said += [] if run.finished else [f"It ends early: {run.status}."]
    said += [f"t = {event.t:.4g} s: {event.name} {event.what}" for event in run.events[:20]]
    few = len(mechanism.frames) <= _MAX_TRACED_FRAMES
    return {"scene": scene(mechanism, run, trace=None if few else []).json, "sentences": said}


def check_for_studio(mechanism: Mechanism, text: str) -> str:
    """The verdicts of the checker on a person's equations as HTML."""
    if not text.strip():
        return ""
    report: CheckReport = check(mechanism, f"{text}\n")  # a text, not the name of a file
    return render_template(
        "checked_equations.html",
        report=report,
        coordinates=mechanism_names(mechanism).q,
        typeset=typeset_checked_equation,
    )
