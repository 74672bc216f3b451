"""Every printed set of equations, fed back to the checker: true lines are proved, mutated ones not.

What a printed line says is decided here in floating point (`printed_equations`), not by the checker.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

import linkwright as lw
import linkwright.checking.checked_section as checked_section
from linkwright.checking.check_report import Finding
from linkwright.formulations import FORMULATIONS
from tests.check.printed_equations import (
    mutated_sides,
    name_families,
    numbered_text,
    printed_latex,
    printed_statements,
    printed_text,
    printed_truth,
)

PROVED = ("identical", "equivalent")
FAST = [
    ("elbow", "recursive"),
    ("elbow", "influence"),
    ("elbow", "approximate"),
    ("four-bar", "lagrange"),
    ("four-bar", "newton_euler"),
    ("four-bar", "kane"),
    ("four-bar", "influence"),
    ("four-bar", "recurrent"),
    ("four-bar", "approximate"),
    ("four-bar", "multipliers"),
    ("rolling-disk", "kane"),
    ("rolling-disk", "newton_euler"),
    ("cart-pole", "hamilton"),
]
MECHANISMS = [
    "elbow", "cartesian", "remote-elbow", "triple-pendulum", "triple-pendulum-points", "stanford-rrp",
    "sharp-edged-disk", "cart-pole", "four-bar", "slider-crank", "slider-crank-sundials", "rolling-disk",
    "car", "vukobratovic-arm", "five-bar", "bouncing-ball", "stick-slip", "trolley-trailers",
]  # fmt: skip
REFUSED = {
    **{(name, "multipliers"): "no constraints" for name in (
        "elbow", "cartesian", "remote-elbow", "triple-pendulum", "triple-pendulum-points",
        "stanford-rrp", "cart-pole", "vukobratovic-arm", "bouncing-ball", "stick-slip",
    )},
    ("triple-pendulum-points", "approximate"): "divides by inertias",
}  # fmt: skip
"""Mechanisms that a formulation does not take."""
AMBIGUOUS_IN_LATEX = {"stanford-rrp": ("g1 = g2",)}
"""Lines with a symbol that is written like a parameter: g_2 of the gravity vector."""
UNREADABLE_IN_LATEX = {
    ("slider-crank-sundials", "kane"): "middle_of_rod: LaTeX has no underscores in names",
}
"""Sets with unreadable lines, and why."""
EVERY = [(name, by) for name in MECHANISMS for by in FORMULATIONS if (name, by) not in REFUSED]
EVERY_IN_LATEX = [(name, by) for name, by in EVERY if name != "bouncing-ball"]
"""Names with a dot, fall.x, are not read in LaTeX."""

CRANE: dict[str, Any] = {
    "name": "crane",
    "gravity": [0, 0, "-g"],
    "parameters": {"g": 9.81},
    "bodies": {"trolley": {"mass": 2}, "load": {"mass": 1, "center": [0, 0, -0.5]}},
    "joints": {
        "x": {"type": "prismatic", "axis": [1, 0, 0], "child": "trolley"},
        "swing": {"type": "revolute", "axis": [0, 1, 0], "parent": "trolley", "child": "load"},
    },
    "frames": {
        "hook": {"body": "load", "origin": [0, 0, -0.4]},
        "top": {"body": "trolley", "origin": [0, 0, 1]},
    },
    "forces": {
        "rope": {"type": "spring", "between": ["hook", "top"], "stiffness": 100, "length": 1}
    },
}
"""Its frames have places with made-up names, z_hook, that are also names of unit vectors."""


def assert_all_proved(report: Iterable[Finding]) -> None:
    """All lines are proved, without a condition; names of speeds and of parts are definitions."""
    for finding in report:
        said = finding.sentence()
        assert finding.status in (*PROVED, "definition"), f"{finding.equation}: {said}"
        assert not finding.under, f"{finding.equation}: {said}"


@pytest.mark.parametrize(("name", "by"), FAST)
def test_a_printed_set_is_proved(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


def test_free_bodies_of_large_degree_are_proved() -> None:
    """The residuals of the bicycle's balances have degrees up to 2⁶²: a larger prime is needed."""
    mechanism = lw.gallery("bicycle")
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, "newton_euler")))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by"), EVERY)
def test_every_printed_set_is_proved(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


@pytest.mark.parametrize(("name", "by"), FAST)
def test_a_set_in_latex_is_proved(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    assert_all_proved(lw.check(mechanism, printed_latex(mechanism, by)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by"), EVERY_IN_LATEX)
def test_every_set_in_latex_is_proved(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    report = lw.check(mechanism, printed_latex(mechanism, by))
    found = [x for x in report if x.equation not in AMBIGUOUS_IN_LATEX.get(name, ())]
    if (name, by) in UNREADABLE_IN_LATEX:
        found = [x for x in found if x.status != "unreadable"]
    assert_all_proved(found)


def test_what_latex_writes_alike_is_undecided() -> None:
    mechanism = lw.gallery("stanford-rrp")
    report = lw.check(mechanism, printed_latex(mechanism, "recursive"))
    (open_line,) = (x for x in report if x.status not in PROVED)
    assert (open_line.equation, open_line.status) == ("g1 = g2", "undecided")
    assert "in LaTeX g2 is written like g[2]" in open_line.note


@pytest.mark.parametrize("by", ["recursive", "kane", "newton_euler", "influence"])
def test_made_up_lengths_and_unit_vectors_are_told_apart(by: str) -> None:
    mechanism = lw.Mechanism(**CRANE)
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


@pytest.mark.parametrize("by", ["approximate", "kane", "recurrent"])
def test_a_set_that_python_prints_is_read(by: str) -> None:
    mechanism = lw.gallery("elbow")
    report = lw.check(mechanism, str(lw.derive(mechanism, by=by).equation_set()))
    assert_all_proved(report)
    assert {finding.section for finding in report} == {f"by {by}"}


@pytest.mark.parametrize("speeds", [{"w": "dtheta3"}, {"u1": "dtheta3"}])
def test_coefficients_belong_to_the_speeds_of_the_text(speeds: dict[str, str]) -> None:
    """A11 and A21 are by the text's speed; those of the mechanism's own speeds are others."""
    from linkwright.forms.equation_set_typesetting import typeset_equation_set

    mechanism = lw.gallery("four-bar")
    text = typeset_equation_set(lw.derive(mechanism, by="kane", speeds=speeds)).text()
    assert_all_proved(lw.check(mechanism, text))


def test_a_product_of_dual_vectors_leaves_other_lines_readable() -> None:
    text = "[by kane]\nV_c1 = eps*x_c2*y_c1 + z_c1\nV_c1 = 1/2*eps*l1*dtheta1*y_c1 + dtheta1*z_c1"
    wrong, right = lw.check(lw.gallery("four-bar"), text)
    assert wrong.status == "unreadable"
    assert wrong.note == "'x_c2*y_c1' is a product of vectors; write its components"
    assert right.status == "identical"


def test_steps_of_a_derivation_are_proved() -> None:
    from linkwright.forms.equation_set_typesetting import typeset_equation_set

    mechanism = lw.gallery("elbow")
    found = typeset_equation_set(lw.derive(mechanism, by="lagrange"), steps=True)
    report = lw.check(mechanism, found.text())
    assert_all_proved(report)
    assert len(report) == 23


def three_cranks() -> lw.Mechanism:
    """Three equal cranks carry one beam: of the last loop's two equations, one follows."""
    crank: dict[str, Any] = {"mass": "m", "center": ["l/2", 0, 0]}
    pin = {"type": "revolute", "child": "beam", "origin": ["l", 0, 0]}
    return lw.Mechanism(
        name="three-cranks",
        gravity=[0, "-g", 0],
        independent=["q1"],
        parameters={"g": 9.81, "l": 0.5, "d": 0.8, "m": 1.5, "M": 3, "J": 0.1},
        bodies={
            **{f"crank{k}": crank for k in (1, 2, 3)},
            "beam": {"mass": "M", "center": ["d", 0, 0], "inertia": {"zz": "J"}},
        },
        joints={
            "q1": {"type": "revolute", "child": "crank1"},
            "q2": {"type": "revolute", "child": "crank2", "origin": ["d", 0, 0]},
            "q3": {"type": "revolute", "child": "crank3", "origin": ["2*d", 0, 0]},
            "p": {**pin, "parent": "crank1"},
        },
        loops={
            "b": {**pin, "parent": "crank2", "child_origin": ["d", 0, 0]},
            "c": {**pin, "parent": "crank3", "child_origin": ["2*d", 0, 0]},
        },
        assembly={"q1": 1, "q2": 1, "q3": 1, "p": -1},
    )


def test_free_bodies_have_the_forces_of_all_constraints() -> None:
    """The multipliers of redundant equations, too: those of least norm satisfy the balances."""
    mechanism = lw.gallery("bricard")
    _, statements = printed_statements(mechanism, printed_text(mechanism, "newton_euler"))
    truth = printed_truth(mechanism, "newton_euler", statements)
    for one in statements:
        assert truth.holds((one.left, one.right)), one.text


def test_a_set_with_redundant_loops_is_proved() -> None:
    mechanism = three_cranks()
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, "newton_euler")))


@pytest.mark.parametrize("name", ["bricard", "two-arms"])
def test_balances_are_proved_where_loops_stay_open(name: str) -> None:
    """The balance about the first axis of bricard needs multipliers that open loops have as well."""
    mechanism = lw.gallery(name)
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, "newton_euler")))


def test_a_wrong_balance_of_open_loops_differs() -> None:
    line = "I*alpha1_3 = tau_q1 + 0.5*l*(F1_q1 {} F3_q2) - sin(q2)*M1_q2 - cos(q2)*M2_q2"
    for sign, status in (("+", "identical"), ("-", "differs")):
        (finding,) = lw.check(lw.gallery("bricard"), f"[by newton_euler]\n{line.format(sign)}")
        assert (finding.status, finding.under) == (status, "")


def test_legs_that_share_their_lengths_are_closed_by_angles() -> None:
    """No lengths close the loops of 3-rrr at random angles; the angles of two legs do."""
    mechanism = lw.gallery("3-rrr")
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, "newton_euler")))


def test_cranks_are_parallel_where_they_are_assembled_so() -> None:
    """Two cranks may cross: both positions are points modulo a prime, and real states tell which is
    meant. Three cannot."""
    line = "sin(q2) = sin(q1)"
    three = three_cranks()
    parallel = {"q1": 1, "q2": 1, "p": -1}
    crossed = {"q1": 1, "q2": -2.3422254, "p": -2.3422255}
    two, other = (three.model_copy(update={
        "bodies": {k: x for k, x in three.bodies.items() if k != "crank3"},
        "joints": {k: x for k, x in three.joints.items() if k != "q3"},
        "loops": {"b": three.loops["b"]},
        "assembly": assembly,
    }) for assembly in (parallel, crossed))  # fmt: skip
    for mechanism, status in ((three, "identical"), (two, "identical"), (other, "differs")):
        assert [x.status for x in lw.check(mechanism, line)] == [status]
        for wrong in ("sin(q2) = -sin(q1)", "cos(q1 + p) = cos(q2)", "dq2 = 2*dq1"):
            assert [x.status for x in lw.check(mechanism, wrong)] == ["differs"]


# -- mutated lines ------------------------------------------------------------------------------


@pytest.fixture
def verdicts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search for repairs, which takes most of the time and no part in a verdict."""
    for name, instead in (
        ("find_repairs", lambda *_: ()),
        ("find_dual_repairs", lambda *_: ()),
        ("statement_difference", lambda *_: None),
        ("blame_definitions", lambda _, found, lines: found),
    ):
        monkeypatch.setattr(checked_section, name, instead)


def assert_no_false_proofs(name: str, by: str, seeds: range) -> None:
    """Lines with one sign, term or index changed are proved only where they are true."""
    mechanism = lw.gallery(name)
    heading, statements = printed_statements(mechanism, printed_text(mechanism, by))
    truth = printed_truth(mechanism, by, statements)
    for one in statements:
        assert truth.holds((one.left, one.right)), f"{one.text}: {truth.residual((one.left, one.right))}"  # fmt: skip
    plain = numbered_text(heading, [(one, (one.left, one.right)) for one in statements])
    defined = {x.number for x in lw.check(mechanism, plain) if x.status == "definition"}
    names = lw.derive(mechanism).names
    families = name_families([*lw.derive(mechanism).parameters, *names.q])
    tried = false = 0
    for seed in seeds:
        rng = random.Random(f"{name} {by} {seed}")
        mutants = [
            None if str(k) in defined else mutated_sides(one, families, rng)
            for k, one in enumerate(statements, 1)
        ]
        lines = [(a, b or (a.left, a.right)) for a, b in zip(statements, mutants, strict=True)]
        report = lw.check(mechanism, numbered_text(heading, lines))
        for k, mutant in enumerate(mutants, 1):
            verdicts = [x for x in report if x.number == str(k)]
            if mutant is None:
                continue
            tried += 1
            is_true = truth.holds(mutant)
            false += not is_true
            if is_true or any(x.status not in PROVED or x.under for x in verdicts):
                continue
            said = f"{verdicts[0].equation}: {verdicts[0].sentence()}"
            assert verdicts[0].status == "equivalent", said
            assert truth.differs_by_constant(mutant), said
    assert false > tried / 6, "hardly a mutant is false: nothing was tested"


@pytest.mark.usefixtures("verdicts_only")
@pytest.mark.parametrize(("name", "by"), FAST)
def test_mutated_lines_are_not_proved(name: str, by: str) -> None:
    assert_no_false_proofs(name, by, range(1))


@pytest.mark.slow
@pytest.mark.usefixtures("verdicts_only")
@pytest.mark.parametrize(("name", "by"), EVERY)
def test_no_mutated_line_of_any_set_is_proved(name: str, by: str) -> None:
    assert_no_false_proofs(name, by, range(1, 5))
