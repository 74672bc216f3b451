"""Parameters of friction, stops and contacts are inputs of one program for all runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from linkwright.simulation.compiled_motion import CompiledMotion
from linkwright.simulation.ensembles import simulate_runs
from linkwright.simulation.right_hand_side import RightHandSide
from linkwright.simulation.settings import Settings

CART = lw.load("""
parameters = { m = 2, end = 0.5, e = 0.6, k = 5, F = 0.3 }
[bodies.cart]
mass = "m"
[joints.x]
type = "prismatic"
child = "cart"
axis = [1, 0, 0]
limits = { lower = -1, upper = "end", restitution = "e" }
friction = "F"
stiffness = "k"
""")
SLED = lw.load("""
parameters = { m = 2, F = 3, B = 1, r = 1.2 }
bodies.a = { mass = "m" }
forces.f = { type = "joint", on = "x", force = "5*sin(3*t)" }
[joints.x]
type = "prismatic"
child = "a"
axis = [1, 0, 0]
friction = "F"
friction_backward = "B"
static_ratio = "r"
stribeck = 0.2
""")
STONE = lw.load("""
parameters = { m = 2, mu = 0.4, e = 0.2, h = 0.1 }
gravity = [0, 0, -9.81]
bodies.b = { mass = "m", inertia = [0.01, 0.02, 0.03] }
joints.p = { type = "free", child = "b" }
frames.tip = { body = "b", origin = [0.05, 0.02, "-h"] }
contacts.c = { point = "tip", friction = "mu", restitution = "e" }
""")
FOUR_BAR = lw.gallery("four-bar")
RUBBING = replace_part_fields(
    FOUR_BAR,
    parameters={**FOUR_BAR.parameters, "F": 0.2},
    joints={
        **FOUR_BAR.joints, "q2": replace_part_fields(FOUR_BAR.joints["q2"], friction="F"),
    },
)  # fmt: skip
CASES: dict[str, tuple[lw.Mechanism, float, dict[str, list[float]], dict[str, Any]]] = {
    "a stop": (
        CART, 3.0, {"end": [0.2, 0.5, 0.7], "e": [0.0, 0.5, 1.0], "m": [1.0, 2.0, 3.0]},
        {"q0": {"x": -0.9}},
    ),
    "friction by Lagrange": (
        CART, 3.0, {"F": [0.1, 0.7, 0.4]}, {"q0": {"x": -0.9}, "by": "lagrange"},
    ),
    "friction that is zero in one run": (
        CART, 3.0, {"F": [0.0, 0.1, 0.7], "m": [1.0, 2.0, 3.0]}, {"q0": {"x": -0.9}},
    ),
    "friction by direction and speed": (
        SLED, 3.0, {"F": [3.0, 2.0, 4.0], "B": [1.0, 2.0, 0.5], "r": [1.0, 1.2, 1.5]}, {},
    ),
    "stick and slip": (
        lw.gallery("stick-slip"), 3.0, {"F": [0.5, 2.0, 3.0], "k": [30.0, 10.0, 20.0]},
        {"q0": {"pull": 0.5}},
    ),
    "bounces": (
        lw.gallery("bouncing-ball"), 1.0, {"e": [0.3, 0.5, 0.9], "r": [0.05, 0.1, 0.02]},
        {"q0": {"fall.y": 1.0}, "qd0": {"fall.x": 2.0}},
    ),
    "a contact in space": (
        STONE, 0.4,
        {"m": [1.0, 2.0, 3.0], "mu": [0.1, 0.4, 0.8], "h": [0.05, 0.1, 0.15], "e": [0, 0.5, 0.9]},
        {"q0": {"p.z": 0.3}, "qd0": {"p.vx": 1.0}},
    ),
    "a loop with friction": (
        RUBBING, 0.5, {"F": [0.1, 0.3, 1.0], "l2": [2.9, 3.0, 3.1]}, {"q0": {"theta1": 1.0}},
    ),
    "an arm with friction": (
        lw.gallery("six-axis"), 0.3, {"m6": [0.4, 3.0, 9.0], "l3": [0.5, 0.55, 0.6]},
        {"q0": {"q2": 0.5, "q3": 0.3}, "torque": {"q2": "200*sin(3*t)"}},
    ),
}  # fmt: skip


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[RightHandSide]:
    """The systems for which programs of motions were made."""
    found: list[RightHandSide] = []
    make = CompiledMotion.__init__

    def noted(self: CompiledMotion, system: RightHandSide, *rest: Any, **options: Any) -> None:
        if not any(system is one for one in found):
            found.append(system)
        make(self, system, *rest, **options)

    monkeypatch.setattr(CompiledMotion, "__init__", noted)
    return found


def assert_run_is_alone(found: Any, k: int, alone: Any) -> None:
    """A run is that of a mechanism with its parameters, to rounding; so are its events."""
    assert found["status"].values[k] == alone.status
    count = len(alone.t)
    np.testing.assert_allclose(found["q"].values[k, :count], alone.q, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found["qd"].values[k, :count], alone.qd, rtol=1e-8, atol=1e-9)
    own = found["event_run"].values == k
    assert found["event_name"].values[own].tolist() == [event.name for event in alone.events]
    times = [event.t for event in alone.events]
    np.testing.assert_allclose(found["event_time"].values[own], times, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_each_run_is_that_of_the_mechanism_with_its_parameters(case: str) -> None:
    mechanism, t, varied, given = CASES[case]
    found = lw.simulate(mechanism, t, parameters=varied, samples=5, **given)
    for k in range(3):
        own = mechanism.with_parameters(**{name: values[k] for name, values in varied.items()})
        assert_run_is_alone(found, k, lw.simulate(own, t, samples=5, **given))
        one = {name: values[k] for name, values in varied.items()}
        assert_run_is_alone(found, k, lw.simulate(mechanism, t, samples=5, parameters=one, **given))


@pytest.mark.parametrize("case", [name for name in CASES if "zero" not in name])
def test_one_program_makes_all_runs(case: str, programs: list[RightHandSide]) -> None:
    mechanism, t, varied, given = CASES[case]
    found = lw.simulate(mechanism, t, parameters=varied, samples=4, rtol=1e-8, **given)
    assert found["compiled"].values.all()
    assert len(programs) <= 1  # none if an earlier test has made it


def test_slides_and_bounces_have_their_closed_forms_in_every_run() -> None:
    """A block stops after m v²/(2 F); a ball from rest at h bounces up to e² h."""
    F, m = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0])
    varied = {"F": F, "m": m, "k": np.zeros(3), "end": np.full(3, 9.0)}
    found = lw.simulate(CART, 4.0, qd0={"x": 1.0}, parameters=varied, samples=3)
    np.testing.assert_allclose(found["q_end"].values[:, 0], m / (2 * F), rtol=1e-9)
    e, r = np.array([0.3, 0.6, 0.9]), np.array([0.05, 0.1, 0.02])
    ball = lw.gallery("bouncing-ball")
    top = np.sqrt(2 * (1 - r) / 9.81) * (1 + e)
    varied = {"e": e, "r": r}
    for k in range(3):
        found = lw.simulate(ball, float(top[k]), parameters=varied, samples=3)
        up = 1 + found["q_end"].values[k, 1] - r[k]
        np.testing.assert_allclose(up, e[k] ** 2 * (1 - r[k]), rtol=1e-9)


def test_forces_of_runs_that_are_made_alone_are_known() -> None:
    """A study that measures them need not make these runs again."""
    torque, varied = {"x": "k*sin(t)"}, {"F": np.array([0.2, 0.7]), "k": np.array([1.0, 2.0])}
    settings = Settings(t=2.0, samples=11)
    found = simulate_runs(CART, settings, torque, varied, with_forces=True)
    for k in range(2):
        own = CART.with_parameters(F=varied["F"][k], k=varied["k"][k])
        alone = lw.simulate(own, 2.0, torque=torque, samples=11)
        np.testing.assert_array_equal(found["tau"].values[k], alone.tau)


def test_forces_are_known_of_all_runs_if_one_is_made_alone() -> None:
    varied, settings = {"F": np.array([0.0, 0.7])}, Settings(t=1.0, q0={"x": -0.9}, samples=11)
    found = simulate_runs(CART, settings, {"x": "sin(t) - 2*dx"}, varied, with_forces=True)
    wanted = np.sin(found["time"].values) - 2 * found["qd"].values[..., 0]
    np.testing.assert_allclose(found["tau"].values[..., 0], wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("limits", ["{ effort = 'm/2' }", "{ effort = 9 }"])
def test_limits_and_gears_of_efforts_have_the_values_of_their_run(limits: str) -> None:
    cart = lw.load(f"""
    parameters = {{ m = 2, g = 2 }}
    bodies.cart = {{ mass = "m" }}
    joints.x = {{ type = "prismatic", child = "cart", axis = [1, 0, 0], limits = {limits} }}
    actuators.u = {{ joint = "x", gear = "g" }}
    """)
    varied = {"m": np.array([0.5, 1.0]), "g": np.array([1.0, 3.0])}
    torque, settings = {"u": "3*sin(5*t)"}, Settings(t=1.0, samples=5)
    found = simulate_runs(cart, settings, torque, varied, with_forces=True)
    for k in range(2):
        own = cart.with_parameters(m=varied["m"][k], g=varied["g"][k])
        alone = lw.simulate(own, 1.0, torque=torque, samples=5)
        np.testing.assert_allclose(found["q"].values[k], alone.q, atol=1e-9)
        if "tau" in found:
            np.testing.assert_allclose(found["tau"].values[k], alone.tau, atol=1e-9)
