"""Ranges of actuators are limits of efforts in plans, controllers and the warnings of runs."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.control import computed_torque
from linkwright.motion import at_limits, bounds_of, quintic
from linkwright.motion.timing import limit_violations

WAY = quintic([0.0, 0.0], [1.5, -1.0], 1.0)
PEAK_ACCELERATION = 10 / np.sqrt(3)
"""Of the quintic, for a way of 1 in a time of 1."""


def table(
    *, ropes: dict[str, object] | None = None, **actuators: dict[str, object]
) -> lw.Mechanism:
    """2 kg on 1 kg, on two slides without weight: τx = 3 ẍ, τy = 2 ÿ."""
    return lw.Mechanism(
        name="table", gravity=[0, 0, 0], bodies={"a": {"mass": 1}, "b": {"mass": 2}},
        joints={
            "x": {"type": "prismatic", "axis": [1, 0, 0], "child": "a", "limits": {"velocity": 2}},
            "y": {"type": "prismatic", "axis": [0, 1, 0], "parent": "a", "child": "b"},
        },
        lengths=ropes or {}, actuators=actuators,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("actuator", "effort"),
    [
        ({"effort_range": [-5, 5]}, 5.0),
        ({"effort_range": [-1, 4], "gear": -3}, 3.0),
        ({"control_range": [-1, 1], "gain": 7, "gear": 2}, 14.0),
        ({"control_range": [-1, 1], "gain": 7, "effort_range": [-3, 3]}, 3.0),
        ({"control_range": [-1, 1], "gain": 7, "bias": [0, -7, 0]}, np.inf),
        ({"control_range": [-1, 1], "activation": {"time_constant": 0.1}}, 1.0),
        ({"control_range": [-1, 1], "activation": {}}, np.inf),
        ({}, np.inf),
    ],
)
def test_what_an_actuator_can_exert(actuator: dict[str, object], effort: float) -> None:
    found = bounds_of(table(one={"joint": "y"} | actuator)).effort
    assert found.tolist() == [np.inf, effort]


def test_actuators_on_one_joint_add_up_and_shared_ones_leave_it_open() -> None:
    motor: dict[str, object] = {"joint": "x", "effort_range": [-5, 5]}
    assert bounds_of(table(one=motor, other=motor)).effort.tolist() == [10, np.inf]
    both: dict[str, object] = {"moves": "x + y", "effort_range": [-5, 5]}
    assert bounds_of(table(one=motor, other=both)).effort.tolist() == [np.inf, np.inf]


def test_a_tendon_leaves_other_joints_bounded() -> None:
    machine = table(
        ropes={"rope": {"factors": {"y": 2}}},
        one={"joint": "x", "effort_range": [-5, 5]},
        winch={"length": "rope"},
    )
    assert bounds_of(machine).effort.tolist() == [5, np.inf]


def test_plans_keep_the_ranges_of_actuators() -> None:
    machine = table(one={"moves": "x", "effort_range": [-9, 9]})
    (sentence,) = [one for one in limit_violations(machine, WAY) if "drive" in one]
    assert "the drive of x is up to 25.98 N, its limit 9" in sentence  # 3 · 1.5 · 10/√3
    fastest = at_limits(machine, WAY, velocity=np.inf, samples=4001).duration
    assert fastest == pytest.approx(np.sqrt(3 * 1.5 * PEAK_ACCELERATION / 9), rel=1e-5)


def test_runs_say_which_limits_they_do_not_hold() -> None:
    machine = table(
        one={"joint": "x", "effort_range": [-9, 9]}, two={"joint": "y", "effort_range": [-99, 99]}
    )
    run = lw.simulate(machine, 1.0, q0=WAY.start, torque=computed_torque(machine, WAY, kp=100))
    force, speed = run.warnings
    assert "effort along x reaches 25.98, beyond its limit of 9" in force
    assert "velocity of x reaches 2.812, beyond its limit of 2" in speed  # 1.5 · 15/8
    law = computed_torque(machine, WAY, kp=100, most="limits")
    held = lw.simulate(machine, 1.0, q0=WAY.start, torque=law)
    assert np.abs(held.tau).max(axis=0) == pytest.approx([9, 2 * PEAK_ACCELERATION], rel=1e-3)
    assert not [text for text in held.warnings if "effort" in text]
    clipped = lw.simulate(machine, 0.1, torque={"one": 50.0})
    assert np.abs(clipped.tau).max() == pytest.approx(9)
    assert clipped.warnings == ()
