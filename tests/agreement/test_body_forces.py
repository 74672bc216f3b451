"""Bushings, drag and tyres against formulas by hand, in several formulations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.errors import MechanismError
from linkwright.types import Floats

FORMULATIONS = ["recursive", "newton_euler", "kane"]

MOUNTED = """
bodies.engine = {{ mass = 3, center = [0.1, 0, 0.05], inertia = [0.2, 0.3, 0.25] }}
joints.air = {{ type = "free", child = "engine" }}
frames.lug = {{ body = "engine", origin = {{ xyz = [0.2, -0.1, 0.1], rpy = [0.1, 0.2, 0.3] }} }}
frames.seat = {{ body = "ground", origin = {{ xyz = [0.2, -0.1, 0.1], rpy = [0.3, 0.1, 0.2] }} }}
forces.mount = {{ type = "bushing", between = ["seat", "lug"], {} }}
"""
K = np.diag([30.0, 40, 50, 2000, 3000, 4000])
K[0, 4] = K[4, 0] = 70
C = np.diag([1.0, 2, 3, 10, 20, 30])
FULL = f"stiffness = {K.tolist()}, damping = {C.tolist()}"


def deformation(q: Floats) -> Floats:
    """(sin φ n, d) of the lug in the seat, from the poses of both."""
    body = Rotation.from_quat([*q[4:], q[3]])
    lug = body * Rotation.from_euler("xyz", [0.1, 0.2, 0.3])
    seat = Rotation.from_euler("xyz", [0.3, 0.1, 0.2])
    turn = (seat.inv() * lug).as_rotvec()
    angle = np.linalg.norm(turn)
    at = q[:3] + body.apply([0.2, -0.1, 0.1])
    return np.concatenate([np.sin(angle) / angle * turn, seat.inv().apply(at - [0.2, -0.1, 0.1])])


@pytest.mark.parametrize("by", FORMULATIONS)
def test_bushing_is_the_gradient_of_its_energy_and_damps(by: str) -> None:
    """f = −(∂e/∂q)ᵀ(K e + C ė) with e by SciPy's rotations and its derivative by differences."""
    mechanism = lw.load(MOUNTED.format(FULL))
    model = lw.compile(mechanism)
    functions = lw.derive(mechanism, by=by, parameters="numeric").functions()
    rng = np.random.default_rng(2)
    q, v = model.integrate(model.neutral(), rng.uniform(-0.4, 0.4, 6)), rng.uniform(-1, 1, 6)
    h = 1e-3
    slope = np.zeros((6, 6))
    for k, d in enumerate(np.eye(6)):
        f = [deformation(np.asarray(model.integrate(q, s * h * d))) for s in (-2, -1, 1, 2)]
        slope[:, k] = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
    e = deformation(q)
    wanted = -slope.T @ (K @ e + C @ (slope @ v))
    assert_allclose(np.array(functions["passive"](q, v)).ravel(), wanted, rtol=1e-8, atol=1e-7)
    weight = model.potential_energy(q) - lw.compile(mechanism.without("forces")).potential_energy(q)
    assert_allclose(weight, e @ K @ e / 2, rtol=1e-12)


def test_bushing_holds_an_engine_and_is_audited() -> None:
    mechanism = lw.load(
        MOUNTED.format("stiffness = [30, 30, 30, 9e3, 9e3, 9e3], damping = [1, 1, 1, 9, 9, 9]")
    )
    run = lw.simulate(mechanism, t=1, q0=[0.01, 0, 0, 1, 0, 0, 0], qd0=np.zeros(6))
    assert run.accounted
    assert run.work_losses[-1] < 0
    assert (
        lw.compile(mechanism.without("springs", "damping")).passive(run.q[5], run.qd[5]).any() == 0
    )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("stiffness = [1, 2]", "is not a matrix"),
        (f"stiffness = {np.triu(np.ones((6, 6))).tolist()}", "is not symmetric"),
        ('stiffness = ["1 N/m", 0, 0, 0, 0, 0]', "is in kg/s"),
        ("damping = [-1, 0, 0, 0, 0, 0]", "negative"),
    ],
)
def test_wrong_bushings_are_refused(keys: str, message: str) -> None:
    with pytest.raises(MechanismError, match=message):
        lw.load(MOUNTED.format(keys))


BALL = """
bodies.ball = {{ mass = 0.5 }}
joints.z = {{ type = "prismatic", child = "ball", axis = [0, 0, 1] }}
forces.air = {{ type = "drag", on = "ball", area = 0.03, coefficient = 0.47{} }}
"""


def test_falling_ball_follows_the_hyperbolic_tangent() -> None:
    """v = −v_∞ tanh(g t/v_∞) with v_∞² = 2 m g/(ρ c A)."""
    ball = lw.load(BALL.format(""))
    run = lw.simulate(ball, t=4, q0=[0], qd0=[0], rtol=1e-10, atol=1e-12)
    terminal = np.sqrt(2 * 0.5 * 9.81 / (1.225 * 0.47 * 0.03))
    assert_allclose(run.qd[:, 0], -terminal * np.tanh(9.81 * run.t / terminal), atol=1e-8)
    fallen = terminal**2 / 9.81 * np.log(np.cosh(9.81 * run.t / terminal))
    assert_allclose(run.q[:, 0], -fallen, atol=1e-8)
    assert run.accounted


def test_drag_has_a_derivative_at_rest() -> None:
    model = lw.compile(lw.load(BALL.format("")))
    _, by_qd, _ = model.inverse_dynamics_derivatives([0.0], [0.0], [0.0])
    assert_allclose(by_qd, 0)


def test_wind_pushes_and_is_a_load() -> None:
    """Wind along z holds the ball where its drag is the weight."""
    speed = float(np.sqrt(2 * 0.5 * 9.81 / (1.225 * 0.47 * 0.03)))
    model = lw.compile(lw.load(BALL.format(f", wind = [0, 0, {speed!r}]")))
    assert_allclose(model.external([0.0], [0.0]), [0.5 * 9.81], rtol=1e-12)
    assert_allclose(model.passive([0.0], [0.0]), [0])
    gusts = lw.load(BALL.format(', wind = [0, 0, "5*sin(t)"]'))
    run = lw.simulate(gusts, t=2, q0=[0], qd0=[0])
    assert run.accounted
    assert abs(run.work_given[-1]) > 0


@pytest.mark.parametrize("by", FORMULATIONS)
def test_three_areas_act_component_by_component(by: str) -> None:
    plate = lw.load("""
    bodies.plate = { mass = 1, inertia = [0.1, 0.1, 0.1] }
    joints.air = { type = "free", child = "plate" }
    forces.air = { type = "drag", on = "plate", area = [0.1, 0.2, 0.3], density = 2 }
    """)
    functions = lw.derive(plate, by=by, parameters="numeric").functions()
    q, v = [0, 0, 0, 0.8, 0.6, 0, 0], [0, 0, 0, 2.0, -3.0, 0.5]  # v in the plate's axes
    wanted = [0, 0, 0, -0.1 * 4, 0.2 * 9, -0.3 * 0.25]
    assert_allclose(np.array(functions["passive"](q, v)).ravel(), wanted, rtol=1e-12, atol=1e-15)


CAR = """
[parameters]
m = 1200
Iz = 1800
a = 1.1
b = 1.5
Cf = "80000 N/rad"
Cr = "90000 N/rad"
[bodies.car]
mass = "m"
inertia = { zz = "Iz" }
[joints.road]
type = "planar"
child = "car"
[frames.front]
body = "car"
origin = { xyz = ["a", 0, 0.3], rpy = ["-90 deg", 0, 0] }
[frames.rear]
body = "car"
origin = { xyz = ["-b", 0, 0.3], rpy = ["-90 deg", 0, 0] }
[forces.front]
type = "tyre"
wheel = "front"
radius = 0.3
cornering = "Cf"
low_speed = 1e-9
[forces.rear]
type = "tyre"
wheel = "rear"
radius = 0.3
cornering = "Cr"
low_speed = 1e-9
"""


def test_car_has_the_eigenvalues_of_the_single_track_model() -> None:
    """d/dt (v, r) = A (v, r) of Riekert and Schunck, at the forward speed u."""
    model, u = lw.compile(lw.load(CAR)), 25.0
    m, Iz, a, b, Cf, Cr = 1200, 1800, 1.1, 1.5, 80e3, 90e3
    track = np.array(
        [
            [-(Cf + Cr) / (m * u), (b * Cr - a * Cf) / (m * u) - u],
            [(b * Cr - a * Cf) / (Iz * u), -(a**2 * Cf + b**2 * Cr) / (Iz * u)],
        ]
    )
    by_q, by_qd, _ = model.forward_dynamics_derivatives([0, 0, 0], [u, 0, 0], [0, 0, 0])
    # road axes: the lateral velocity is v = ẏ − u θ, whose rate is ÿ − u θ̇
    ours = by_qd[1:, 1:].copy()
    ours[0, 1] -= u
    assert_allclose(ours, track, rtol=1e-8)
    assert_allclose(by_q[1:, 2], -u * track[:, 0], rtol=1e-8)


def test_driven_wheel_slips_in_proportion_to_its_torque() -> None:
    """A wheel on a hub that moves at u: F = C (ω r − u)/u, a steady torque T slips by T/(r C)."""
    wheel = lw.load("""
    bodies.rim = { mass = 10, inertia = [0.5, 0.5, 0.8] }
    joints.spin = { type = "revolute", parent = "hub", child = "rim", axis = [0, 1, 0] }
    bodies.hub = { mass = 1 }
    joints.x = { type = "prismatic", child = "hub", axis = [1, 0, 0], origin = [0, 0, 0.3] }
    forces.grip = { type = "tyre", wheel = "rim", axle = [0, 1, 0], radius = 0.3, \
longitudinal = 5e3, low_speed = 1e-6 }
    """)
    model, u, omega = lw.compile(wheel), 10.0, 35.0
    slip = (omega * 0.3 - u) / u
    names = list(model.q_names)
    qd = [u if name == "x" else omega for name in names]
    force = dict(zip(names, model.passive([0.0, 0.0], qd), strict=True))
    assert_allclose(force["x"], 5e3 * slip, rtol=1e-9)
    assert_allclose(force["spin"], -5e3 * slip * 0.3, rtol=1e-9)
