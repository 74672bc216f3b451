"""The sections of the page as HTML; `templates/` contains their markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ..comparison import Comparison
from ..errors import LinkwrightError
from ..expressions.typeset import ExpressionTypesetter, MathmlNotation
from ..mechanism import Mechanism, MechanismNames
from ..mechanism.gallery_files import gallery_headline
from ..show import animation_element, figure_of
from ..simulation import Run
from ..types import Floats
from ..verification.verification_report import VerificationReport
from ..written_equations import equation_of_motion_text
from .mechanism_facts import MechanismPageFacts
from .motion_starts import page_shows_gallery_mechanism
from .page_figures import (
    MAX_PLOT_LINES,
    PAGE_FIGURE_WIDTH,
    figure_html,
    motion_figures_html,
    page_traced_frames,
)
from .page_parts import PageEquations, PageEquationSet, PageFunction
from .rendering import render_template, typeset_page_figures
from .shown_motion import LeftOutPagePart, PageMotion

MAX_OPEN_JOINTS = 12
"""Joints that are shown at once."""
MIN_FILM_SECONDS = 3.0
"""Seconds that an animation lasts at least: what is over sooner is shown slower."""


def page_header(mechanism: Mechanism, info: MechanismPageFacts) -> Markup:
    """Returns the title of the page, and the mechanism in one line."""
    return render_template(
        "header.html",
        name=mechanism.name,
        about=gallery_headline(mechanism.name) if page_shows_gallery_mechanism(mechanism) else "",
        bodies=len(info["bodies"]),
        joints=len(info["joints"]),
        dof=info["freedom"],
        mass=info["total_mass"],
    )


def mechanism_section(
    mechanism: Mechanism, info: MechanismPageFacts, q: Floats | None = None, where: str = "home"
) -> Markup:
    """Returns the section on the parts of the mechanism, drawn at q, which is called `where`."""
    joints = [
        (
            name,
            joint["type"],
            f"{joint['parent']} → {joint['child']}",
            _page_mass_text(info, joint["child"]),
            joint["note"],
        )
        for name, joint in info["joints"].items()
    ]
    head, joints = _drop_empty_page_column(
        ("joint", "type", "from → to", "mass / kg", "with"), joints
    )
    mobility = info["mobility"]
    text = (mobility.get("text") or mobility["why"]) if mobility else ""
    return render_template(
        "mechanism.html",
        drawing=_mechanism_picture_html(mechanism, q, where),
        folded=MAX_OPEN_JOINTS,
        joint_head=head,
        joints=joints,
        loops=[(name, kind, f"{a} → {b}") for name, (kind, a, b) in info["loops"].items()],
        constraints=list(info["constraints"].items()),
        mobility=[line.strip() for line in text.splitlines()],
        parameters=[
            (name, f"{one['value']:.6g}", one["as_written"])
            for name, one in info["parameters"].items()
        ],
        remarks={
            "Warnings": info["warnings"],
            "Computed": info["computed"],
            "In the file, but not used": info["unused"],
        },
    )


def _page_mass_text(info: MechanismPageFacts, body: str) -> str:
    """The mass of a body, kg; nothing for ground."""
    return f"{info['bodies'][body]['mass']:.4g}" if body in info["bodies"] else ""


def _mechanism_picture_html(
    mechanism: Mechanism, q: Floats | None, where: str
) -> Markup | LinkwrightError:
    """Returns the picture of the mechanism, or the error if it cannot be drawn."""
    try:
        drawing = figure_of(
            mechanism, q, names=len(mechanism.joints) <= MAX_PLOT_LINES, width=PAGE_FIGURE_WIDTH
        )
    except LinkwrightError as error:
        return error
    has_shapes = any(body.shapes for body in mechanism.bodies.values())
    source = "are those of the file" if has_shapes else "follow from the positions of the joints"
    caption = f"At {where}, drawn to scale; shapes {source}."
    return figure_html(drawing, caption, "home")


def _drop_empty_page_column(
    head: Sequence[str], rows: list[Any]
) -> tuple[Sequence[str], list[Any]]:
    """Leaves the last column out if it is empty."""
    if any(row[-1] for row in rows):
        return head, rows
    return head[:-1], [row[:-1] for row in rows]


_FUNCTION_TITLES = {
    "mass_matrix": "Mass matrix M",
    "coriolis_matrix": "Coriolis matrix C",
    "transport": "Transport forces d",
    "gravity": "Gravity g",
    "forces": "Other forces f",
    "input_matrix": "Input matrix B",
    "constraint_residual": "Position constraints Φ",
    "constraint_jacobian": "Jacobian J of the constraints",
    "constraint_bias": "Bias γ of the constraints",
    "state_rates": "Rates of the states",
}


def equations_section(
    found: PageEquations | LeftOutPagePart, file: str, names: MechanismNames
) -> Markup:
    """Returns the section with the functions of the equation of motion, or the own forms of
    formulations, and their symbols."""
    setter = ExpressionTypesetter(MathmlNotation(), {})
    listed = {"q": names.q} if names.q == names.qd else {"q": names.q, "q̇": names.qd}
    every = () if isinstance(found, LeftOutPagePart) else found
    functions = [one for one in every if isinstance(one, PageFunction)]
    forms = [one for one in every if isinstance(one, PageEquationSet)]
    head, symbols = _drop_empty_page_column(
        ("symbol", "name", "value (SI)", "meaning"),
        [
            (Markup(f"<math>{setter.name(name)}</math>"), name, f"{value:.6g}", meaning)
            for name, value, meaning in dict.fromkeys(s for one in functions for s in one.symbols)
        ],
    )
    return render_template(
        "equations.html",
        problem=found.reason if isinstance(found, LeftOutPagePart) else None,
        command=f"linkwright derive {file} --as latex",
        general="" if forms else equation_of_motion_text(names),
        forms=forms,
        coordinates={
            symbol: [Markup(setter.name(name)) for name in each] for symbol, each in listed.items()
        },
        functions=functions,
        titles=_FUNCTION_TITLES,
        symbol_head=head,
        symbols=symbols,
    )


_VERDICT_MEANINGS = {
    "proved": "proved: an identity, for all states and all values of the parameters, tested "
    "exactly, modulo a prime, at random points; “figure” bounds the chance that a wrong one passes",
    "passed": "passed: computed, within what “figure” allows or at states that it names; no proof",
    "noted": "noted: no error, but worth knowing",
    "failed": "failed: not so, by the “figure”",
    "skipped": "skipped: does not apply here, or cannot be told, for the reason given",
}


def checks_section(found: VerificationReport | LeftOutPagePart, file: str) -> Markup:
    """Returns the section with the verdicts of `linkwright verify`."""
    command = f"linkwright verify {file}"
    if isinstance(found, LeftOutPagePart):
        return render_template("checks.html", problem=found.reason, command=command)
    verdicts = [one.verdict for one in found.checks]
    counts = {word: verdicts.count(word) for word in _VERDICT_MEANINGS}
    return render_template(
        "checks.html",
        problem=None,
        checks=found.checks,
        failed=len(found.failed),
        counts=", ".join(f"{count} {word}" for word, count in counts.items() if count),
        legend=[text for word, text in _VERDICT_MEANINGS.items() if counts[word]],
    )


def motion_section(found: PageMotion | LeftOutPagePart, command: str) -> Markup:
    """Returns the section with the film and the plots of a motion, its energy audit and its
    events."""
    if isinstance(found, LeftOutPagePart):
        return render_template("motion.html", problem=found.reason, command=command)
    run = found.run
    if len(run.t) < 2:
        return render_template("motion.html", problem=run.status, command=command)
    sentences = [*found.notes, _page_energy_sentence(run)]
    if run.closure.any():
        sentences.append(f"Loops and constraints are held to {run.closure.max():.1e}.")
    lasting = float(run.t[-1] - run.t[0]) / MIN_FILM_SECONDS
    pace = next((speed for speed in (1.0, 0.5, 0.25, 0.1) if speed <= lasting), 0.01)
    film = animation_element(
        run, speed=pace, trace=page_traced_frames(run), identity="motion-drawing"
    )
    return render_template(
        "motion.html",
        problem=None,
        sentences=sentences,
        events=[(f"{event.t:.4g}", event.name, event.what) for event in run.events],
        film=Markup(film),
        figures=motion_figures_html(run),
    )


def _page_energy_sentence(run: Run) -> str:
    """The sentence on the energy audit of a run."""
    if run.accounted:
        return f"Energy is accounted for to {run.audit:.1e} of the largest."
    return (
        f"Energy is not accounted for: {run.audit:.1e} of the largest is missing; "
        "do not trust this motion."
    )


def comparison_section(found: Comparison | LeftOutPagePart, command: str) -> Markup:
    """Returns the section that compares formulations."""
    # over a tenth of a second of motion, with time enough for what the budget stopped
    patient = re.sub(r"-t \S+ --budget \S+", "-t 0.1 --budget 600", command)
    if isinstance(found, LeftOutPagePart):
        return render_template("formulations.html", problem=found.reason, command=patient, notes=[])
    notes = found.comparison_notes()
    if not found.rows:
        why = "none was measured in time"
        return render_template("formulations.html", problem=why, command=patient, notes=notes)
    shown = found.table()
    return render_template(
        "formulations.html",
        problem=None,
        command=patient if found.stopped else "",
        head=shown.column_heads,
        rows=[[typeset_page_figures(cell) for cell in row] for row in shown.rows],
        notes=notes,
        drawing=figure_html(found.figure(), "Cost of each formulation.", "cost"),
    )
