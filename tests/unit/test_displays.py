"""How results show themselves: a short repr, a text, and HTML that no name can break out of."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwright as lw
from linkwright.checking import CheckReport, Finding
from linkwright.comparison import Comparison
from linkwright.motion import bounds_of, inverse_kinematics, plan_to, quintic, straight
from linkwright.verification import Check
from linkwright.verification import VerificationReport as VerifyReport

ELBOW = lw.gallery("elbow")
MODEL = lw.compile(ELBOW)
CHECK = Check("energy", "passed", "1e-15", "the power balance holds")

RESULTS: dict[str, Callable[[], object]] = {
    "Equations of elbow by lagrange: nq=2": lambda: lw.derive(ELBOW, by="lagrange"),
    "Model of elbow: nq=2": lambda: MODEL,
    "Run of elbow: 0.1 s": lambda: lw.simulate(ELBOW, t=0.1, samples=3),
    "Kinematics of elbow: 3 positions": lambda: lw.solve_kinematics(
        ELBOW, {"q1": "t", "q2": 0}, 1.0, samples=3
    ),
    "Joints of 1 target: 1 of 1 reached": lambda: inverse_kinematics(ELBOW, {"tool": [1.2, 0.5]}),
    "Plan of tool of elbow: 1 s": lambda: plan_to(ELBOW, "tool", [[1.2, 0.5]], 1.0),
    "Trajectory of 2 coordinates, 1 pieces": lambda: quintic([0, 0], [1, 1], 2.0),
    "Path of 1 m": lambda: straight([0, 0, 0], [1, 0, 0]),
    "Bounds of 2 coordinates": lambda: bounds_of(ELBOW),
    "Equilibrium, ": lambda: lw.equilibria(ELBOW, starts=2)[0],
    "Linear model of 4 states, 2 inputs": lambda: lw.linearize(ELBOW, [-np.pi / 2, 0.0]),
    "BaseParameters of elbow: ": lambda: lw.identify.base_parameters(ELBOW),
    "Mobility: 1 DOF": lambda: lw.mobility(lw.gallery("four-bar")),
    "Report on elbow, equations by kane: 1 of 1 checks passed": lambda: VerifyReport(
        "elbow", "kane", (CHECK,), 1.0
    ),
    "Report on elbow: 1 of 1 equations right": lambda: CheckReport(
        "elbow", (Finding("1", "M11 = 1", "identical"),)
    ),
}


@pytest.mark.parametrize(("begin", "make"), RESULTS.items(), ids=[k.split()[0] for k in RESULTS])
def test_results_have_a_short_repr_and_a_text(begin: str, make: Callable[[], object]) -> None:
    result = make()
    assert repr(result).startswith(f"<{begin}")
    assert repr(result).endswith(">")
    assert len(repr(result)) < 160
    assert len(str(result)) >= len(repr(result)) - 30
    assert hasattr(result, "_repr_html_") or hasattr(result, "_repr_latex_")


TABLES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "mechanism": (
        lambda: lw.gallery("four-bar"),
        ("Mechanism four-bar: ", "<th>degrees of freedom</th>", ">closes a loop<", ">revolute<"),
    ),
    "model": (lambda: MODEL, ("Model of elbow: nq=2", ">mass_matrix<", "q -&gt; M (…, 2, 2)")),
    "run": (
        lambda: lw.simulate(ELBOW, t=0.1, samples=3),
        ("Run of elbow: 0.1 s in 3 samples", ">q1 (rad)<", "<th>largest</th>"),
    ),
    "kinematics": (
        lambda: lw.solve_kinematics(ELBOW, {"q1": "t", "q2": 0}, 1.0, samples=3),
        ("Kinematics of elbow: 3 positions", ">q2 (rad)<", 'right">1<'),
    ),
    "plan": (
        lambda: plan_to(ELBOW, "tool", [[1.2, 0.5]], 1.0),
        ("Plan of tool of elbow: 1 s", "<th>largest effort</th>", " N·m<", " rad/s²<"),
    ),
    "equilibrium": (
        lambda: lw.linearization.equilibrium(ELBOW, [-1.5, 0.1]),
        ("Equilibrium, stable", "<th>frequency (rad/s)</th>", "q = [-1.570796, "),
    ),
    "linear model": (
        lambda: lw.linearize(ELBOW, [-np.pi / 2, 0.0]),
        ("Linear model of 4 states", ">d(dq1)/dt<", "<th>dq2</th><th>u: q1</th>"),
    ),
    "comparison": (
        lambda: Comparison("elbow", (), {"kane": "no <reason>"}),
        (
            "elbow<",
            "<th>formulation</th>",
            "<p>kane: cannot treat this mechanism, no &lt;reason&gt;</p>",
        ),
    ),
    "verification": (
        lambda: VerifyReport("elbow", "kane", (CHECK,), 1.0),
        ("1 of 1 checks passed", ">passed<", ">1e-15<", ">the power balance holds<"),
    ),
    "check": (
        lambda: CheckReport("elbow", (Finding("1", "M11 < 1", "differs"),), {"a": "q1"}, "a note"),
        (
            "0 of 1 equations right",
            ">M11 &lt; 1<",
            ">differs<",
            "<p>names: a is q1</p>",
            "<p>a note",
        ),
    ),
}


@pytest.mark.parametrize(("make", "parts"), TABLES.values(), ids=TABLES)
def test_notebooks_display_results_as_small_tables(
    make: Callable[[], object], parts: tuple[str, ...]
) -> None:
    html = make()._repr_html_()  # type: ignore[attr-defined]
    assert html.startswith("<table>")
    assert [part for part in parts if part not in html] == []
    rows = ElementTree.fromstring(f"<div>{html}</div>").findall(".//tr")
    assert len({len(row) for row in rows}) == 1, "every row has a cell for each head"


def test_equations_are_displayed_as_formulas() -> None:
    assert "cos" in lw.derive(ELBOW, by="lagrange")._repr_latex_()


def test_a_linear_model_along_a_motion_is_displayed_as_text() -> None:
    run = lw.simulate(ELBOW, t=0.1, samples=3)
    assert lw.linearize(ELBOW, along=run)._repr_html_().startswith("<pre>Linear model of 4 states")


def test_names_of_users_cannot_become_markup() -> None:
    report = VerifyReport("<script>alert(1)</script>", "kane", (CHECK,), 1.0)
    assert "<script>" in str(report)
    assert "<script>" not in report._repr_html_()
    assert "&lt;script&gt;" in report._repr_html_()
    arm = ELBOW.model_copy(update={"name": "<b>arm</b>"})
    assert "<b>" not in lw.compile(arm)._repr_html_()
    assert "<b>" not in arm._repr_html_()


def test_the_text_of_a_model_lists_its_functions_with_shapes_and_units() -> None:
    line = next(x for x in str(MODEL).splitlines() if x.split()[0] == "mass_matrix")
    assert "q -> M (…, 2, 2); kg m²" in line
    assert "multipliers" not in str(MODEL)
