"""`verify` skips what cannot be checked, with the reason, and follows fast mechanisms briefly."""

from __future__ import annotations

import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.verification.verified_equations import VerifiedEquations
from tests.constrained.test_quaternion_assembly import pinned


def governor(stiffness: float, inertia: float) -> lw.Mechanism:
    """Two masses on a shaft that springs hold, joined by a gear: ω = √(k/I)."""
    fly = {"mass": 1, "center": [0.1, 0, 0], "inertia": [inertia] * 3}
    light = {"inertia": [inertia] * 3}
    return lw.Mechanism(
        name="governor",
        bodies={"shaft": fly, "a": light, "b": light},
        joints={
            "shaft": {"type": "revolute", "child": "shaft"},
            "a": {"type": "revolute", "parent": "shaft", "child": "a", "stiffness": stiffness},
            "b": {"type": "revolute", "parent": "shaft", "child": "b", "stiffness": stiffness},
        },
        constraints={"sleeve": {"type": "gear", "factors": {"a": 1, "b": 1}}},
    )


def test_quaternions_with_constraints_are_verified() -> None:
    """Nobody asked for a Coriolis matrix by newton_euler, which has none where speeds are no rates."""
    report = lw.verify(pinned(), by=["newton_euler"])
    assert report.passed, str(report)
    assert report["formulations agree"].verdict == "proved"


@pytest.mark.parametrize(("stiffness", "inertia"), [(1e6, 1e-3), (1e4, 1e-9), (1.0, 1e-2)])
def test_stiff_and_fast_mechanisms_are_right(stiffness: float, inertia: float) -> None:
    report = lw.verify(governor(stiffness, inertia), by=["kane"])
    assert report["energy along a run"].verdict == "passed", str(report)
    assert report.passed, str(report)


def test_functions_that_cannot_be_compared_are_noted_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = VerifiedEquations.function_tape

    def without_gravity(self: VerifiedEquations, function: str) -> object:
        if function == "gravity":
            raise UnsupportedError("gravity is out of order")
        return whole(self, function)

    monkeypatch.setattr(VerifiedEquations, "function_tape", without_gravity)
    check = lw.verify(governor(1.0, 1e-2), by=["kane"])["formulations agree"]
    assert check.verdict == "proved"
    assert "not compared: gravity by kane (gravity is out of order)" in check.figure
