"""Ranges of actuators are limits of efforts in plans, controllers and the warnings of runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import linkwright as lw
from linkwright.control import computed_torque, pid
from linkwright.errors import LimitWarning, LinkwrightError
from linkwright.kinematics.actuator_groups import ActuatorGroup
from linkwright.motion import at_limits, bounds_of, quintic
from linkwright.motion.actuator_reach import ActuatorReach, _GroupReach
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
    ("actuator", "low", "high"),
    [
        ({"effort_range": [-5, 5]}, -5, 5),
        ({"effort_range": [-1, 4]}, -1, 4),
        ({"effort_range": [-1, 4], "gear": -3}, -12, 3),
        ({"effort_range": [0, 4]}, 0, 4),
        ({"control_range": [-1, 2], "gain": -7, "gear": 2}, -28, 14),
        ({"control_range": [-1, 1], "gain": 7, "effort_range": [-3, 9]}, -3, 7),
        ({"control_range": [-1, 1], "gain": 7, "bias": [0, -7, 0]}, -np.inf, np.inf),
        ({"control_range": [-1, 1], "activation": {"time_constant": 0.1}}, -1, 1),
        ({"control_range": [-1, 1], "activation": {}}, -np.inf, np.inf),
        ({}, -np.inf, np.inf),
    ],
)
def test_what_an_actuator_can_exert(actuator: dict[str, object], low: float, high: float) -> None:
    found = bounds_of(table(one={"joint": "y"} | actuator))
    assert found.effort_lower.tolist() == [-np.inf, low]
    assert found.effort_upper.tolist() == [np.inf, high]


def test_actuators_on_one_joint_add_up_and_shared_ones_leave_it_open() -> None:
    motor: dict[str, object] = {"joint": "x", "effort_range": [-5, 4]}
    found = bounds_of(table(one=motor, other=motor))
    assert found.effort_lower.tolist() == [-10, -np.inf]
    assert found.effort_upper.tolist() == [8, np.inf]
    both: dict[str, object] = {"moves": "x + y", "effort_range": [-5, 5]}
    assert bounds_of(table(one=motor, other=both)).effort_upper.tolist() == [np.inf, np.inf]


def test_a_tendon_leaves_other_joints_bounded() -> None:
    machine = table(
        ropes={"rope": {"factors": {"y": 2}}},
        one={"joint": "x", "effort_range": [-5, 5]},
        winch={"length": "rope"},
    )
    assert bounds_of(machine).effort_upper.tolist() == [5, np.inf]


def drives(machine: lw.Mechanism) -> list[str]:
    return [text for text in limit_violations(machine, WAY) if "speed" not in text]


def shortest(machine: lw.Mechanism) -> float:
    return float(at_limits(machine, WAY, velocity=np.inf, samples=4001).duration)


FREE: dict[str, object] = {"joint": "y"}
"""An actuator without limits."""


def test_plans_keep_the_ranges_of_actuators() -> None:
    machine = table(one={"moves": "x", "effort_range": [-9, 9]}, two=FREE)
    (sentence,) = drives(machine)
    assert "the drive of x is up to 25.98 N, its limit 9" in sentence  # 3 · 1.5 · 10/√3
    assert shortest(machine) == pytest.approx(np.sqrt(3 * 1.5 * PEAK_ACCELERATION / 9), rel=1e-5)


@pytest.mark.parametrize("ends", [(-2, 30), (-30, 2)])
def test_plans_keep_both_ends_of_a_range(ends: tuple[float, float]) -> None:
    """Starting and stopping need the same force: the smaller end sets the duration."""
    machine = table(one={"joint": "x", "effort_range": list(ends)}, two=FREE)
    (sentence,) = drives(machine)
    assert f"-25.98 N to 25.98 N, its range is {ends[0]} to {ends[1]}" in sentence
    assert shortest(machine) == pytest.approx(np.sqrt(3 * 1.5 * PEAK_ACCELERATION / 2), rel=1e-5)


def test_a_range_that_only_pushes_cannot_stop() -> None:
    machine = table(one={"joint": "x", "effort_range": [0, 40]}, two=FREE)
    with pytest.raises(LinkwrightError, match=r"no duration is long enough: 'x' needs .* has 0"):
        shortest(machine)


def test_actuators_on_several_joints_bound_plans() -> None:
    """Two belts drive x + y and x - y: u = ((τx + τy)/2, (τx − τy)/2) with τx = 3 ẍ, τy = 2 ÿ."""
    belts: dict[str, dict[str, object]] = {
        "plus": {"moves": "x + y", "effort_range": [-4, 4]},
        "minus": {"moves": "x - y", "effort_range": [-7, 7]},
    }
    plus, minus = (abs(3 * 1.5 - s * 2 * 1.0) / 2 * PEAK_ACCELERATION for s in (1, -1))
    (first, second) = drives(table(**belts))
    assert first == "the effort of plus goes from -7.2167 to 7.2167, its range is -4 to 4"
    assert plus == pytest.approx(7.2169, rel=1e-4)  # between the samples
    assert "the effort of minus" in second
    wanted = np.sqrt(max(plus / 4, minus / 7))
    assert shortest(table(**belts)) == pytest.approx(wanted, rel=1e-5)


def test_redundant_actuators_share_the_forces() -> None:
    """Three ropes that only pull, 120° apart: the fastest motion by linear programs."""
    angles = np.deg2rad([90, 210, 330])
    B = np.array([np.cos(angles), np.sin(angles)])
    ropes: dict[str, dict[str, object]] = {
        f"rope{k}": {"moves": f"{b[0]:.17g}*x + {b[1]:.17g}*y", "effort_range": [0, 5 + k]}
        for k, b in enumerate(B.T)
    }
    machine = table(**ropes)
    (sentence,) = drives(machine)
    assert "no efforts of rope0, rope1, rope2 within their ranges give the forces" in sentence
    duration = shortest(machine)

    def is_feasible(T: float) -> bool:
        t = np.linspace(0, 1, 4001)
        curve = (60 * t - 180 * t**2 + 120 * t**3) / T**2
        tops = [curve.max(), curve.min()]
        ends = [(0, 5 + k) for k in range(3)]
        return all(
            linprog(np.zeros(3), A_eq=B, b_eq=[3 * 1.5 * a, -2 * a], bounds=ends).status == 0
            for a in tops
        )

    assert is_feasible(duration * (1 + 1e-5))
    assert not is_feasible(duration * (1 - 1e-5))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(2, 4), (3, 5), (4, 6), (3, 3)])
def test_what_can_be_exerted_is_what_linear_programs_find(
    seed: int, shape: tuple[int, int]
) -> None:
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(40, *shape))
    low, high = -rng.uniform(0, 2, shape[1]), rng.uniform(0, 2, shape[1])
    if seed:
        high[0] = np.inf
    group = ActuatorGroup(tuple(range(shape[0])), tuple(range(shape[1])))
    reach = _GroupReach(group, ("",) * shape[1], B, low, high)
    tau = rng.normal(size=(40, shape[0]))
    assert reach.is_checked
    wanted = [
        linprog(np.zeros(shape[1]), A_eq=b, b_eq=t, bounds=list(zip(low, high, strict=True))).status
        == 0
        for b, t in zip(B, tau, strict=True)
    ]
    assert 2 <= sum(wanted) < 40
    assert reach.can_exert(tau).tolist() == wanted


def test_plans_name_what_no_actuator_can_do() -> None:
    (alone,) = drives(table(one={"moves": "x", "effort_range": [-99, 99]}))
    assert alone == "no actuator drives y, along which the motion needs 11.55"
    (tied,) = drives(table(one={"moves": "x + y", "effort_range": [-99, 99]}))
    assert tied == "no efforts of one give the forces along x, y that the motion needs"
    many = {f"m{k}": {"moves": f"{k + 1}*x + y", "effort_range": [-1, 1]} for k in range(2001)}
    reach = ActuatorReach.along(lw.compile(table(**many)), np.zeros(1), np.zeros((1, 2)))
    (text,) = reach.violations(np.zeros((1, 2)), np.ones((1, 2)))
    assert "are not checked: too many act together on x, y" in text


def test_plans_keep_the_controls_of_servos() -> None:
    """c = x + (3 ẍ)/k within ±1.2 for a way up to 1.5."""
    servo: dict[str, object] = {
        "joint": "x", "gain": 50, "bias": [0, -50, 0], "control_range": [-1.2, 1.2],
    }  # fmt: skip
    (sentence,) = drives(table(one=servo, two=FREE))
    t = np.linspace(0, 1, 401)
    x = 1.5 * (10 * t**3 - 15 * t**4 + 6 * t**5)
    c = x + 3 * 1.5 * (60 * t - 180 * t**2 + 120 * t**3) / 50
    assert sentence == (
        f"the control of one goes from {c.min():.5g} to {c.max():.5g}, its range is -1.2 to 1.2"
    )


def test_runs_clip_forces_to_limits_and_say_so() -> None:
    machine = table(
        one={"joint": "x", "effort_range": [-9, 7]}, two={"joint": "y", "effort_range": [-99, 99]}
    )
    law = computed_torque(machine, WAY, kp=100)
    run = lw.simulate(machine, 1.0, q0=WAY.start, torque=law)
    assert run.tau[:, 0].max() == pytest.approx(7)
    assert run.tau[:, 0].min() == pytest.approx(-9)
    (force, *_) = run.warnings
    assert "the effort along x was clipped to its limit of" in force
    assert "the inputs ask for up to" in force
    held = lw.simulate(
        machine, 1.0, q0=WAY.start, torque=computed_torque(machine, WAY, kp=100, most="limits")
    )
    np.testing.assert_allclose(held.q, run.q, atol=1e-9)
    assert not [text for text in held.warnings if "effort" in text]
    free = lw.simulate(machine.without("limits"), 1.0, q0=WAY.start, torque=law)
    assert np.abs(free.tau[:, 0]).max() == pytest.approx(3 * 1.5 * PEAK_ACCELERATION, rel=1e-3)
    assert free.warnings == ()


@pytest.mark.parametrize("kind", ["numbers", "table", "text", "function", "sampled"])
def test_every_kind_of_input_is_clipped(kind: str) -> None:
    """A constant force of 50 N beyond 9 N: x = 9 t²/(2·3)."""
    machine = lw.Mechanism(
        name="slide", gravity=[0, 0, 0], bodies={"a": {"mass": 3}},
        joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "a",
                      "limits": {"effort": 9}}},
    )  # fmt: skip
    given: object = {
        "numbers": [50.0],
        "table": {"x": [[0.0, 1.0], [50.0, 50.0]]},
        "text": {"x": "50 + 0*t"},
        "function": lambda t, q, qd: [50.0],
        "sampled": pid(machine, [1e4], kp=1.0, kd=0.0, period=0.1),
    }[kind]
    run = lw.simulate(machine, 1.0, torque=given)
    assert run.q[-1, 0] == pytest.approx(1.5, rel=1e-9)
    assert np.abs(run.tau).max() == pytest.approx(9)
    assert run.work[-1] == pytest.approx(9 * 1.5, rel=1e-8)
    (text,) = run.warnings
    assert text.startswith("the effort along x was clipped to its limit of 9: the inputs ask for")


def test_ensembles_and_rollouts_clip_too() -> None:
    """1 kg under 10 N, clipped to 4 N, for a second: x = 2 m, v = 4 m/s."""
    slide = lw.Mechanism(
        name="slide", gravity=[0, 0, 0], bodies={"a": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "a", "limits": {"effort": 4}}},
    )  # fmt: skip
    with pytest.warns(LimitWarning, match="clipped to its limit of 4"):
        q, qd = lw.rollout(slide, [[0.0]], [[0.0]], [[10.0]], dt=1e-3, steps=1000)
    np.testing.assert_allclose([q[0, 0], qd[0, 0]], [2, 4], rtol=1e-9)
    data = lw.simulate(slide, 1.0, q0=np.zeros((3, 1)), torque=[10.0])
    np.testing.assert_allclose(data["q"].values[:, -1, 0], 2, rtol=1e-9)
    assert data.attrs["effort_limits"].startswith("imposed")


def test_what_is_not_a_number_is_not_clipped_to_one() -> None:
    machine = table(one={"joint": "x", "effort_range": [-9, 7]})
    run = lw.simulate(machine, 1.0, torque=lambda t, q, qd: [np.nan if t > 0.5 else 1.0, 0.0])
    assert not run.finished
    run = lw.simulate(machine, 1.0, torque={"one": "sqrt(0.5 - t)"})
    assert not run.finished


def test_belts_clip_forces_that_are_given_by_joint() -> None:
    """τ = (10, 2): u = (6, 4), clipped to (5, 4), so that τ = (9, 1)."""
    belts: dict[str, dict[str, object]] = {
        "plus": {"moves": "x + y", "effort_range": [-5, 5]},
        "minus": {"moves": "x - y", "effort_range": [-5, 5]},
    }
    run = lw.simulate(table(**belts), 0.1, torque=[10.0, 2.0])
    np.testing.assert_allclose(run.tau, np.tile([9.0, 1.0], (len(run.t), 1)))
    assert "the effort of the actuator 'plus' was clipped to its limit of 5" in run.warnings[0]
    three = belts | {"third": {"moves": "x + 2*y", "effort_range": [-5, 5]}}
    run = lw.simulate(table(**three), 0.1, torque=[10.0, 2.0])
    assert "does not impose the ranges of the actuators plus, minus, third" in run.warnings[0]
    np.testing.assert_allclose(run.tau[0], [10.0, 2.0])


def test_controls_are_clipped_and_the_run_says_so(tmp_path: Path) -> None:
    machine = table(one={"joint": "x", "effort_range": [-9, 9]}, two=FREE)
    clipped = lw.simulate(machine, 0.1, torque={"one": 50.0})
    assert np.abs(clipped.tau).max() == pytest.approx(9)
    (text,) = clipped.warnings
    assert text == (
        "the effort of 'one' was clipped to its limit of 9: the inputs ask for up to 50, beyond "
        "the limit in 100 % of the samples"
    )
    clipped.save(tmp_path / "run.nc")
    assert lw.load_run(tmp_path / "run.nc").warnings == clipped.warnings
    assert lw.simulate(machine, 0.1, torque={"one": 9.0}).warnings == ()
