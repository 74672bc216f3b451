"""Each check by a known motion on its own: right equations pass, and wrong ones fail."""

from __future__ import annotations

import dataclasses
import re

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.verification import known_motions, numeric_checks
from linkwright.verification.changed_mechanisms import mechanism_on_slide
from linkwright.verification.known_motions import (
    KNOWN_MOTION_CHECKS,
    check_free_fall,
    check_huge_mass,
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
@pytest.mark.parametrize(
    ("mechanism", "by"),
    [
        (ARM, "recursive"),
        (lw.gallery("cart-pole"), "kane"),
        (lw.gallery("triple-pendulum-points"), "newton_euler"),
        (lw.gallery("triple-pendulum-points"), "hamilton"),
        (lw.gallery("five-bar"), "lagrange"),
    ],
    ids=lambda m: getattr(m, "name", m),
)
def test_right_equations_pass(mechanism: lw.Mechanism, by: str, check: str) -> None:
    """A slide, the papers' pendulum with its own coordinates and torques, and a loop."""
    found = KNOWN_MOTION_CHECKS[check](derive_for_check(mechanism, by))
    assert (found.name, found.verdict) == (check, "passed"), found


def test_a_mechanism_on_a_slide_has_its_ground_there() -> None:
    """Loops, constraints and frames at ground go along; so do chosen and independent
    coordinates."""
    five_bar = lw.gallery("five-bar")
    moved = mechanism_on_slide(five_bar, np.array([0.0, -1.0, 0.0]))
    parts = [*moved.joints.values(), *moved.loops.values()]
    assert [part.child for part in parts if part.parent == "ground"] == ["vertical_slide"]
    assert lw.mobility(moved).dof == lw.mobility(five_bar).dof + 1
    disk = mechanism_on_slide(lw.gallery("rolling-disk"), np.array([0.0, 0.0, -1.0]))
    assert "ground" not in {end for part in disk.constraints.values() for end in part.ends}
    pendulum = mechanism_on_slide(lw.gallery("triple-pendulum-points"), np.array([0.0, -1, 0]))
    assert lw.compile(pendulum).q_names == ("fall", "theta1", "theta2", "theta3")


@pytest.mark.parametrize(
    ("check", "function"),
    [
        ("free fall on a slide", "forward_dynamics"),
        ("natural frequency", "forward_dynamics"),
        ("huge mass as ground", "forward_dynamics"),
        ("kineto-static solution", "inverse_dynamics"),
        ("kineto-static solution", "forward_dynamics"),
    ],
)
def test_wrong_equations_fail(check: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last row of the function is 0.1 % too large, and its first row has 0.01 more."""

    def derive_wrongly(mechanism: lw.Mechanism, by: str) -> VerifiedEquations:
        eqs = lw.derive(mechanism, by=by, parameters="numeric")
        value, *others = map(ca.SX, eqs.expressions(function))
        value[-1] *= 1.001
        value[0] += 0.01
        builders = {**eqs.builders, function: lambda: (value, *others) if others else value}
        return VerifiedEquations(dataclasses.replace(eqs, builders=builders))

    subject = derive_wrongly(ARM, "recursive")
    monkeypatch.setattr(known_motions, "derive_for_check", derive_wrongly)
    found = KNOWN_MOTION_CHECKS[check](subject)
    assert found.verdict == "failed", found
    assert function in found.failing


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
    assert verdicts.pop("huge mass as ground") == ("skipped", "nothing moves except 'crank'")
    assert {verdict for verdict, _ in verdicts.values()} == {"passed"}
    walker = derive_for_check(lw.gallery("quadruped").without("gravity"), "recursive")
    for check, why in (
        (check_free_fall, "no gravity"),
        (check_huge_mass, "its first joint is free to turn in space"),
    ):
        with pytest.raises(LinkwrightError, match=why):
            check(walker)


def test_motions_that_cannot_be_followed_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five evaluations are too few for any motion."""
    monkeypatch.setattr(numeric_checks, "MAX_EVALUATIONS", 5)
    (found,) = check_random_motion(derive_for_check(lw.gallery("cart-pole"), "recursive"))
    assert (found.name, found.verdict) == ("energy along a run", "skipped")
    assert found.meaning == "the motion cannot be followed"
