"""Printed sets of mechanisms that the gallery lacks: dampings with made-up names beside rates, joints
with dots in their names, speeds of the file, coordinates that depend on time."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from tests.check.printed_equations import printed_latex, printed_text
from tests.check.test_printed_sets import assert_all_proved, assert_no_false_proofs

G = {"g": 9.81}
DAMPED: dict[str, Any] = {
    "name": "damped",
    "gravity": [0, 0, "-g"],
    "parameters": G,
    "bodies": {
        "column": {"mass": 3, "center": [0.02, 0.03, 0.1], "inertia": [0.03, 0.04, 0.05]},
        "slider": {"mass": 1.5, "center": [0, 0, 0.25], "inertia": [0.01, 0.012, 0.004]},
    },
    "joints": {
        "turn": {"type": "revolute", "child": "column", "damping": 0.3},
        "push": {
            "type": "prismatic", "parent": "column", "child": "slider", "stiffness": 80, "rest": 0.1,
            "origin": {"xyz": [0.12, 0.3, 0.2], "rpy": ["30 deg", 0, 0]},
        },
    },
}  # fmt: skip
"""Its damping has the made-up name d_turn, and its velocity the name dturn."""
BALL: dict[str, Any] = {
    "name": "ball",
    "gravity": [0, 0, "-g"],
    "parameters": G,
    "bodies": {
        "head": {"mass": 2, "center": [0, 0.02, -0.3], "inertia": [0.02, 0.03, 0.015]},
        "tail": {"mass": 0.7, "center": [0.25, 0, 0], "inertia": [0.001, 0.02, 0.02]},
    },
    "joints": {
        "s": {"type": "spherical", "child": "head", "damping": 0.05},
        "e": {
            "type": "revolute", "axis": [0, 1, 0], "parent": "head", "child": "tail",
            "origin": [0, 0, -0.6],
        },
    },
}  # fmt: skip
SLEIGH: dict[str, Any] = {
    "name": "sleigh",
    "parameters": {"m": 2, "a": 0.2, "J": 0.4},
    "bodies": {"sleigh": {"mass": "m", "center": ["a", 0, 0], "inertia": {"zz": "J"}}},
    "joints": {"p": {"type": "planar", "child": "sleigh"}},
    "constraints": {"blade": {"type": "knife-edge", "on": "sleigh"}},
}
HOOP: dict[str, Any] = {
    "name": "hoop",
    "gravity": [0, 0, "-g"],
    "parameters": G | {"Omega": 3, "R": 0.5, "m": 0.4, "A": 0.1, "nu": 5},
    "bodies": {
        "pivot": {"mass": 0},
        "hoop": {"mass": 0.3, "inertia": {"zz": 0.01}},
        "bar": {"mass": "m", "center": [0, 0, "-R"], "inertia": [0.002, 0.003, 0.0004]},
    },
    "joints": {
        "lift": {"type": "prismatic", "axis": [0, 0, 1], "child": "pivot"},
        "turn": {"type": "revolute", "axis": [0, 0, 1], "parent": "pivot", "child": "hoop"},
        "swing": {
            "type": "revolute", "axis": [0, 1, 0], "parent": "hoop", "child": "bar", "damping": 0.02,
        },
    },
    "coordinates": {
        "names": ["th"],
        "joints": {"lift": "A*sin(nu*t)", "turn": "Omega*t", "swing": "th"},
    },
}  # fmt: skip
"""A bar on a hoop that turns and rises as functions of time."""


def sleigh_with_speeds(speed: str, turning: str) -> lw.Mechanism:
    """The sleigh with two names of generalized speeds."""
    forward = "dp.x*cos(p.theta) + dp.y*sin(p.theta)"
    return lw.Mechanism(**SLEIGH, speeds={speed: forward, turning: "dp.theta"})


def assert_printed_is_proved(mechanism: lw.Mechanism, by: str) -> None:
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))
    assert_all_proved(lw.check(mechanism, printed_latex(mechanism, by)))


@pytest.mark.parametrize("by", ["lagrange", "hamilton", "newton_euler", "kane", "approximate"])
def test_dampings_are_not_read_as_velocities(by: str) -> None:
    assert_printed_is_proved(lw.Mechanism(**DAMPED), by)


def test_a_damping_in_place_of_a_velocity_differs() -> None:
    (finding,) = lw.check(lw.Mechanism(**DAMPED), "[by lagrange]\nf[1] = -d_turn*d_turn")
    assert finding.status == "differs"


@pytest.mark.parametrize("by", ["recursive", "newton_euler", "kane"])
def test_rates_of_quaternions_are_read(by: str) -> None:
    assert_printed_is_proved(lw.Mechanism(**BALL), by)


def test_a_wrong_rate_of_a_quaternion_differs() -> None:
    line = "ds.qw = -0.5*s.qx*s.wx - 0.5*s.qy*s.wy + 0.5*s.qz*s.wz"
    (finding,) = lw.check(lw.Mechanism(**BALL), line)
    assert finding.status == "differs"


@pytest.mark.parametrize("names", [("v", "w"), ("v1", "w1"), ("u1", "u2")])
def test_speeds_of_the_file_are_read(names: tuple[str, str]) -> None:
    """v1 and w1 would be velocities of body 1 elsewhere."""
    assert_printed_is_proved(sleigh_with_speeds(*names), "kane")


def test_speeds_that_depend_on_each_other_are_no_traceback() -> None:
    text = "[by kane]\nu1 = dp.theta\nu2 = 2*dp.theta\nv1_c1 = eps*x_c1 + z_c1"
    report = lw.check(lw.Mechanism(**SLEIGH), text)
    assert all(finding.status != "identical" for finding in report)


@pytest.mark.parametrize("by", ["lagrange", "hamilton", "newton_euler", "kane", "recurrent"])
def test_sets_with_given_motions_are_proved(by: str) -> None:
    assert_printed_is_proved(lw.Mechanism(**HOOP), by)


def test_a_wrong_force_of_a_given_motion_differs() -> None:
    (finding,) = lw.check(lw.Mechanism(**HOOP), "[by newton_euler]\nT1 = -F3_lift")
    assert finding.status == "differs"


def test_labels_with_long_indices_are_read() -> None:
    assert_printed_is_proved(lw.gallery("n-four-bar"), "approximate")


def test_a_parameter_may_have_the_name_of_the_multipliers() -> None:
    """The bicycle's steering axis is tilted by its parameter lambda."""
    line = "IHyy*alpha3_2 = F1_steering"
    (finding,) = lw.check(lw.gallery("bicycle"), f"[by newton_euler]\n{line}")
    assert finding.status == "differs"


@pytest.mark.parametrize(("name", "by"), [("six-axis", "approximate"), ("two-arms", "recursive")])
def test_sets_hold_without_needless_assumptions(name: str, by: str) -> None:
    """Their numbers do not stand for parameters that they do not name."""
    mechanism = lw.gallery(name)
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


def test_steps_of_long_sections_are_read_in_latex() -> None:
    """x_1, a step of the last section, is not the coordinate of a centre of mass."""
    mechanism = lw.gallery("rattleback")
    assert_all_proved(lw.check(mechanism, printed_latex(mechanism, "kane")))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["hamilton", "newton_euler", "kane"])
def test_mutated_lines_with_given_motions_are_not_proved(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lw, "gallery", lambda _: lw.Mechanism(**HOOP))
    assert_no_false_proofs("hoop", by, range(2))
