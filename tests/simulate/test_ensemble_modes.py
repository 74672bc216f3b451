"""Each run of an ensemble has its own mode: stops, contacts, friction, controllers, actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.control import computed_torque, pid
from linkwright.mechanism import replace_part_fields
from linkwright.motion import quintic
from linkwright.simulation import Event
from tests.simulate.test_ensembles import ARM, SLIDE, simulate_both

BOUNCING = lw.load(ARM.replace("upper = 1.0", "upper = 1.0, restitution = 0.5"))
FALL = lw.Mechanism(
    name="fall", parameters={"g": 9.81, "h": 0.0}, gravity=[0, 0, "-g"], bodies={"b": {"mass": 1}},
    joints={"z": {"type": "prismatic", "child": "b"}},
)  # fmt: skip
SOFT = replace_part_fields(
    FALL, contacts={"floor": {"point": "b", "stiffness": 2e4, "damping": 0.3}}
)
ELBOW = lw.gallery("elbow")
ANGLES = np.array([0.3, 0.5, 0.6])
TURN = {"turn": Event("q1", {"dq1": "-0.5*dq1"}), "seen": "q2"}

CASES: dict[str, tuple[lw.Mechanism, float, dict[str, Any]]] = {
    "stops with restitution": (BOUNCING, 2.0, {"q0": {"q": [-0.1, 0.3, 0.9]}}),
    "stops that hold": (
        lw.load(ARM), 2.0,
        {"q0": {"q": [-0.1, 0.3, 0.9]}, "qd0": {"q": [0.0, -2.0, 3.0]}, "stops": "impact"},
    ),
    "contact": (lw.gallery("bouncing-ball"), 1.0, {"q0": {"fall.y": [1.0, 1.2, 0.3]}}),
    "compliant contact": (SOFT, 0.6, {"q0": {"z": [0.3, 0.5, 3.0]}}),
    "stick and slip": (lw.gallery("stick-slip"), 2.0, {"q0": {"pull": [0.1, 0.3, 0.9]}}),
    "events that change the state": (ELBOW, 0.6, {"q0": {"q1": ANGLES}, "events": TURN}),
    "sampled controller": (
        ELBOW, 0.1, {"q0": {"q1": ANGLES}, "torque": pid(ELBOW, [0.5, 0.0], 90, period=0.02)},
    ),
    "controller with a reference": (
        ELBOW, 0.1,
        {"q0": {"q1": ANGLES},
         "torque": computed_torque(ELBOW, quintic([0.3, 0.0], [0.5, 0.4], 0.5), kp=400)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_modes_of_a_run_are_those_of_the_run_alone(case: str) -> None:
    mechanism, t, given = CASES[case]
    found = simulate_both(mechanism, t, 3, **given)
    assert set(found["status"].values) == {"finished"}
    if case != "controller with a reference":
        assert found["compiled"].values.all()


def test_bounces_have_their_closed_form_in_every_run() -> None:
    """A ball that falls from h hits the ground after √(2h/g), and is up again e times as long."""
    limits = {"lower": 0, "restitution": 0.5}
    ball = replace_part_fields(
        FALL, joints={"z": {"type": "prismatic", "child": "b", "limits": limits}}
    )
    heights = np.linspace(0.5, 2.0, 12)
    found = lw.simulate(ball, 1.0, {"z": heights}, samples=11)
    first = np.sqrt(2 * heights / 9.81)
    for k, t in enumerate(first):
        times = found["event_time"].values[found["event_run"].values == k]
        bounces = t + 2 * t * np.cumsum([0, 0.5, 0.25])
        wanted = bounces[bounces < 1.0]
        np.testing.assert_allclose(times[: len(wanted)], wanted, rtol=1e-12)


def test_friction_stops_each_run_where_its_closed_form_says() -> None:
    slide = lw.load(SLIDE.replace("axis = [1, 0, 0]", "axis = [1, 0, 0]\nfriction = 3"))
    speeds = np.linspace(0.2, 1.2, 9)
    found = lw.simulate(slide, 1.0, qd0={"x": speeds}, samples=3)
    np.testing.assert_allclose(found["q_end"].values[:, 0], speeds**2 / 3, rtol=1e-9)
    sticks = found["event_note"].values == "sticks"
    np.testing.assert_allclose(found["event_time"].values[sticks], speeds / 1.5, rtol=1e-12)


@pytest.mark.parametrize("period", [None, 0.01])
def test_controllers_may_differ_from_run_to_run(period: float | None) -> None:
    laws = [pid(ELBOW, [0.5, 0.0], kp=kp, ki=3.0, kd=9.0, period=period) for kp in (50, 90, 150.0)]
    simulate_both(ELBOW, 0.1, 3, q0={"q1": 0.3}, torque=laws)


def test_gains_of_expressions_share_one_program() -> None:
    import casadi as ca

    from linkwright.simulation.feedback import Feedback, Reference

    def spring(k: float) -> Feedback:
        q, qd, z, r = ca.SX.sym("q"), ca.SX.sym("qd"), ca.SX.sym("z", 0), ca.SX.sym("r", 0)
        law = ca.Function("law", [ca.SX.sym("t"), q, qd, z, r], [-k * q, ca.SX(0, 1)])
        return Feedback(law, (), (), Reference(lambda t: np.zeros(0)))

    stiffness = np.array([3.0, 5.0, 8.0])
    found = lw.simulate(
        lw.load(SLIDE), 2.0, {"x": 0.3}, torque=[spring(k) for k in stiffness], samples=9
    )
    exact = 0.3 * np.cos(np.sqrt(stiffness / 2)[:, None] * found["time"].values)
    np.testing.assert_allclose(found["q"].values[..., 0], exact, atol=1e-8)
    assert found["compiled"].values.all()


def test_parameters_may_differ_wherever_they_stand() -> None:
    """Limits, events and inputs that contain them have their value in each run."""
    limited = replace_part_fields(
        FALL,
        joints={"z": {"type": "prismatic", "child": "b", "limits": {"lower": "h", "upper": 9}}},
    )
    levels = np.array([0.0, 0.5, 0.8])
    found = simulate_both(limited, 1.0, 3, q0={"z": 1.0}, parameters={"h": levels})
    np.testing.assert_allclose(found["end_time"].values, np.sqrt(2 * (1 - levels) / 9.81))
    found = lw.simulate(FALL, 1.0, {"z": 1.0}, parameters={"h": levels}, events={"e": "z - h"})
    np.testing.assert_allclose(found["event_time"].values, np.sqrt(2 * (1 - levels) / 9.81))
    found = lw.simulate(FALL, 1.0, parameters={"h": levels}, torque={"z": "h"}, samples=2)
    np.testing.assert_allclose(found["q_end"].values[:, 0], (levels - 9.81) / 2, rtol=1e-12)


def test_an_error_of_an_action_ends_its_own_run_alone() -> None:
    """What a user's function raises is the status of that run; a single run raises it."""

    def fail_above(t: float, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if abs(qd[1]) > 6:
            raise RuntimeError("too fast")
        return q, qd

    watched = {"events": {"passed": Event("q2 - 0.2", fail_above)}, "samples": 3}
    starts = [-0.5, 0.0]
    found = lw.simulate(ELBOW, 0.6, q0={"q1": starts}, qd0={"q2": [1.0, 9.0]}, **watched)
    slow, fast = found["status"].values
    assert slow == "finished"
    assert "RuntimeError: too fast" in fast
    with pytest.raises(RuntimeError, match="too fast"):
        lw.simulate(ELBOW, 0.6, q0={"q1": starts[1]}, qd0={"q2": 9.0}, **watched)
