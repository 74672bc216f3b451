"""Each check by a known motion on its own: right equations pass, and wrong ones fail."""

from __future__ import annotations

import dataclasses
import re

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.verification import known_motions, numeric_checks
from linkwright.verification.known_motions import (
    KNOWN_MOTION_CHECKS,
    check_known_motions,
    check_natural_frequency,
    derive_for_check,
)
from linkwright.verification.numeric_checks import check_random_motion
from linkwright.verification.verified_equations import VerifiedEquations

ARM = lw.Mechanism(
    name="arm", gravity=[0, 0, -9.81],
    bodies={
        "column": {"mass": 3, "center": [0, 0.2, 0.1], "inertia": [0.3, 0.2, 0.4]},
        "boom": {"mass": 2, "center": [0.5, 0, 0], "inertia": [0.01, 0.2, 0.2]},
        "ram": {"mass": 1, "center": [0.1, 0, 0.1], "inertia": [0.02, 0.03, 0.04]},
    },
    joints={
        "q1": {"type": "revolute", "child": "column", "axis": [0, 1, 0],
               "motor": {"inertia": 0.01, "ratio": 20}},
        "q2": {"type": "revolute", "parent": "column", "child": "boom", "axis": [0, 0, 1],
               "origin": {"xyz": [0.3, 0, 0.2]}},
        "d3": {"type": "prismatic", "parent": "boom", "child": "ram", "axis": [1, 0, 0]},
    },
)  # fmt: skip
"""Two hinges and a slide in space, with a motor."""


@pytest.mark.parametrize("check", KNOWN_MOTION_CHECKS)
@pytest.mark.parametrize("mechanism", [ARM, lw.gallery("cart-pole")], ids=lambda m: m.name)
def test_right_equations_pass(mechanism: lw.Mechanism, check: str) -> None:
    found = KNOWN_MOTION_CHECKS[check](derive_for_check(mechanism, "recursive"))
    assert (found.name, found.verdict) == (check, "passed"), found


@pytest.mark.parametrize(
    ("check", "function"),
    [
        ("free fall on a slide", "inverse_dynamics"),
        ("natural frequency", "forward_dynamics"),
        ("huge mass as ground", "forward_dynamics"),
        ("kineto-static solution", "inverse_dynamics"),
    ],
)
def test_wrong_equations_fail(check: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last row of the function is 0.1 % too large, and its first row has 0.01 more."""

    def derive_wrongly(mechanism: lw.Mechanism, by: str) -> VerifiedEquations:
        eqs = lw.derive(mechanism, by=by, parameters="numeric")
        value = ca.SX(eqs.expressions(function)[0])
        value[-1] *= 1.001
        value[0] += 0.01
        builders = {**eqs.builders, function: lambda: value}
        return VerifiedEquations(dataclasses.replace(eqs, builders=builders))

    subject = derive_wrongly(ARM, "recursive")
    monkeypatch.setattr(known_motions, "derive_for_check", derive_wrongly)
    found = KNOWN_MOTION_CHECKS[check](subject)
    assert found.verdict == "failed", found
    assert function in found.failing or check == "free fall on a slide"


def test_the_frequency_is_the_textbooks() -> None:
    """A rod of 1 m on a pin at its end: 2 π f = √(3 g/2 l), here with a slanted axis."""
    rod = lw.Mechanism(
        bodies={"rod": {"mass": 2, "center": [0.5, 0, 0], "inertia": [0, 1 / 6, 1 / 6]}},
        joints={"q": {"type": "revolute", "child": "rod", "axis": [0, 3, 4]}},
    )
    found = check_natural_frequency(derive_for_check(rod, "recursive"))
    said = re.search(r"'rod' alone on its joint swings at ([\d.]+) Hz", found.meaning)
    assert said
    assert float(said[1]) == pytest.approx(np.sqrt(1.5 * 9.81) / 2 / np.pi, rel=1e-4)


def test_checks_that_do_not_apply_say_why() -> None:
    loop = derive_for_check(lw.gallery("four-bar"), "recursive")
    verdicts = {x.name: (x.verdict, x.figure) for x in check_known_motions(loop)}
    held = ("skipped", "loops and constraints hold it")
    assert verdicts["free fall on a slide"] == verdicts["huge mass as ground"] == held
    assert verdicts["kineto-static solution"][0] == "passed"
    pole = derive_for_check(lw.gallery("cart-pole").reduced({"x": 0}), "recursive")
    verdicts = {x.name: (x.verdict, x.figure) for x in check_known_motions(pole)}
    assert verdicts["huge mass as ground"][0] == "skipped"
    assert "two degrees of freedom" in verdicts["huge mass as ground"][1]


def test_motions_that_cannot_be_followed_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five evaluations are too few for any motion."""
    monkeypatch.setattr(numeric_checks, "MAX_EVALUATIONS", 5)
    (found,) = check_random_motion(derive_for_check(lw.gallery("cart-pole"), "recursive"))
    assert (found.name, found.verdict) == ("energy along a run", "skipped")
    assert found.meaning == "the motion cannot be followed"
