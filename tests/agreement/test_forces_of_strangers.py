"""Bushings, tyres, Stribeck friction, Floquet multipliers, six-bars and energy regressors against
equations that are written down and integrated here, without our own code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, expm
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import linkwright as lw
from tests.linkages.linkage_files import FOLDER

RNG = np.random.default_rng(7)


# -- bushings -----------------------------------------------------------------------------------

LUG = np.array([0.2, -0.1, 0.3])
INERTIA = np.diag([0.4, 0.5, 0.7])


def coupled_stiffness() -> np.ndarray:
    """A full 6 × 6 matrix, positive definite: angles first."""
    A = RNG.normal(size=(6, 6))
    return 50 * (A @ A.T + 6 * np.eye(6))


def test_a_body_on_a_coupled_bushing_has_the_frequencies_of_its_matrices() -> None:
    """Mass and inertia about the centre of mass, stiffness at a lug away from it: displacements of
    the lug are d + φ × r."""
    K, m = coupled_stiffness(), 3.0
    body = lw.Mechanism(
        name="engine",
        gravity=[0, 0, 0],
        bodies={"b": {"mass": m, "inertia": INERTIA.tolist()}},
        joints={"f": {"type": "free", "child": "b"}},
        frames={
            "lug": {"body": "b", "origin": {"xyz": LUG.tolist()}},
            "seat": {"body": "ground", "origin": {"xyz": LUG.tolist()}},
        },
        forces={"k": {"type": "bushing", "between": ["seat", "lug"], "stiffness": K.tolist()}},
    )
    x, y, z = LUG
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.block([[np.eye(3), np.zeros((3, 3))], [-cross, np.eye(3)]])
    wanted = np.sqrt(eigh(T.T @ K @ T, np.block([
        [INERTIA, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]
    ]), eigvals_only=True))  # fmt: skip
    found = np.linalg.eigvals(lw.linearize(body).A)
    frequencies = np.sort(np.abs(found.imag))[::2]
    np.testing.assert_allclose(np.sort(frequencies), wanted, rtol=1e-9)
    np.testing.assert_allclose(found.real, 0, atol=1e-8)


def test_a_bushing_between_two_free_bodies_keeps_their_momentum() -> None:
    """Far displacements, damping, coupled stiffness: force and moment act and react on one line."""
    K = coupled_stiffness()
    pair = lw.Mechanism(
        name="pair",
        gravity=[0, 0, 0],
        bodies={k: {"mass": 1.0 + k.count("b"), "inertia": INERTIA.tolist()} for k in ("a", "b")},
        joints={k: {"type": "free", "child": c} for k, c in (("f", "a"), ("g", "b"))},
        frames={
            "one": {"body": "a", "origin": {"xyz": [0.3, 0, 0.1]}},
            "two": {"body": "b", "origin": {"xyz": [-0.2, 0.1, 0]}},
        },
        forces={"k": {"type": "bushing", "between": ["one", "two"], "stiffness": K.tolist(),
                      "damping": (K / 100).tolist()}},
    )  # fmt: skip
    model = lw.compile(pair)
    q = model.integrate(model.neutral(), RNG.normal(size=12) * 0.3)
    run = lw.simulate(pair, 1.0, q0=q, qd0=RNG.normal(size=12), rtol=1e-11, atol=1e-12)
    h = model.momentum(run.q, run.qd)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-9)
    assert run.kinetic[-1] + run.potential[-1] < run.kinetic[0] + run.potential[0]


# -- tyres --------------------------------------------------------------------------------------


def test_a_car_on_linear_tyres_follows_the_nonlinear_single_track_model() -> None:
    """Planar body with two axles; side forces −C v/u in the axes of the body, far from straight."""
    m, I, a, b, front, rear = 1200.0, 1800.0, 1.1, 1.6, 60e3, 70e3
    car = lw.load(f"""
    gravity = [0, 0, 0]
    [bodies.car]
    mass = {m}
    inertia = {{ zz = {I} }}
    [joints.p]
    type = "planar"
    child = "car"
    [frames]
    f = {{ body = "car", origin = {{ xyz = [{a}, 0, 0.3] }} }}
    r = {{ body = "car", origin = {{ xyz = [{-b}, 0, 0.3] }} }}
    [forces]
    tf = {{ type = "tyre", wheel = "f", radius = 0.3, axle = [0, 1, 0], cornering = {front}, low_speed = 1e-6 }}
    tr = {{ type = "tyre", wheel = "r", radius = 0.3, axle = [0, 1, 0], cornering = {rear}, low_speed = 1e-6 }}
    """)

    def rates(_: float, s: np.ndarray) -> np.ndarray:
        _, _, th, vx, vy, w = s
        c, n = np.cos(th), np.sin(th)
        u, v = c * vx + n * vy, -n * vx + c * vy
        F = [-C * (v + l * w) / u for C, l in ((front, a), (rear, -b))]
        side = sum(F)
        return np.array([vx, vy, w, -n * side / m, c * side / m, (a * F[0] - b * F[1]) / I])

    names = lw.compile(car).q_names
    start = np.array([0, 0, 0.0, 20.0, 2.5, 1.5])
    order = (
        [names.index(f"p.{k}") for k in ("x", "y", "theta")] if "p.theta" in names else [0, 1, 2]
    )
    run = lw.simulate(car, 1.5, q0=start[:3][order], qd0=start[3:][order], rtol=1e-11, atol=1e-12)
    true = solve_ivp(rates, (0, 1.5), start, rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(run.q[-1][order], true[:3], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(run.qd[-1][order], true[3:], rtol=1e-6, atol=1e-7)
    assert abs(true[2]) > 0.1, "it has turned"


# -- Stribeck -----------------------------------------------------------------------------------


def test_a_mass_on_a_spring_and_a_belt_slips_as_scipy_integrates_it() -> None:
    """Stick–slip with falling friction: k stretches at the belt's speed until static_ratio · F,
    then the block slips back until its velocity is the belt's again."""
    m, k, F, ratio, vs, belt = 1.0, 40.0, 5.0, 1.6, 0.3, 0.4
    machine = lw.load(f"""
    gravity = [0, 0, 0]
    [bodies]
    belt = {{ mass = 1 }}
    block = {{ mass = {m} }}
    [joints]
    d = {{ type = "prismatic", axis = [1, 0, 0], child = "belt" }}
    x = {{ type = "prismatic", axis = [1, 0, 0], parent = "belt", child = "block", friction = {F}, static_ratio = {ratio}, stribeck = {vs} }}
    [constraints]
    run = {{ type = "drive", on = "d", position = "{belt}*t" }}
    [forces]
    spring = {{ type = "joint", on = "d", force = "-{k}*(d + x)" }}
    back = {{ type = "joint", on = "x", force = "-{k}*(d + x)" }}
    """)
    run = lw.simulate(machine, 1.2, qd0={"d": belt}, samples=1201, rtol=1e-10, atol=1e-12)
    let_go = ratio * F / k / belt
    place = run.q[:, 0] + run.q[:, 1]
    stuck = run.t < let_go
    np.testing.assert_allclose(place[stuck], belt * run.t[stuck], atol=1e-9)

    def slip(_: float, s: np.ndarray) -> list[float]:
        relative = belt - s[1]
        level = F * (1 + (ratio - 1) * np.exp(-((relative / vs) ** 2)))
        return [s[1], (-k * s[0] + level) / m]

    def sticks(_: float, s: np.ndarray) -> float:
        return float(belt - s[1])

    sticks.terminal, sticks.direction = True, -1  # type: ignore[attr-defined]
    first = solve_ivp(
        slip, (let_go + 1e-9, 1.2), [ratio * F / k, belt - 1e-12], rtol=1e-11, atol=1e-13,
        events=sticks, dense_output=True, max_step=1e-3,
    )  # fmt: skip
    end = float(first.t[-1])
    sliding = (run.t > let_go + 0.01) & (run.t < min(end, 1.2) - 0.01)
    assert sliding.sum() > 100
    np.testing.assert_allclose(place[sliding], first.sol(run.t[sliding])[0], atol=1e-7)


# -- Floquet ------------------------------------------------------------------------------------


def test_an_inverted_double_pendulum_on_a_shaker_by_its_monodromy_matrix() -> None:
    """Two point masses on rods over a driven pivot, about upright: M θ̈ = (g + ÿ) L θ, integrated
    here; the multipliers say whether the shaker holds it up (Kapitza)."""
    l, g, A, w = 0.5, 9.81, 0.02, 220.0
    text = f"""
    gravity = [0, 0, -{g}]
    [bodies]
    cart = {{ mass = 1 }}
    a = {{ mass = 1, center = [0, 0, {l}] }}
    b = {{ mass = 1, center = [0, 0, {l}] }}
    [joints]
    y = {{ type = "prismatic", axis = [0, 0, 1], child = "cart" }}
    q1 = {{ type = "revolute", axis = [0, 1, 0], parent = "cart", child = "a", damping = 0.02 }}
    q2 = {{ type = "revolute", axis = [0, 1, 0], parent = "a", child = "b", damping = 0.02, origin = [0, 0, {l}] }}
    [constraints]
    shake = {{ type = "drive", on = "y", position = "{A}*cos({w}*t)" }}
    """
    period = 2 * np.pi / w
    found = lw.linearization.periodic_motion(lw.load(text), period, {"y": A})
    # absolute angles: M = l² [[2, 1], [1, 1]], stiffness −(g + ÿ) l diag(2, 1), relative dampers
    M = l**2 * np.array([[2.0, 1], [1, 1]])
    D = 0.02 * np.array([[2.0, -1], [-1, 1]])
    minus = np.linalg.inv(M)

    def rates(t: float, s: np.ndarray) -> np.ndarray:
        S = s.reshape(4, 4)
        pull = (g - A * w**2 * np.cos(w * t)) * l * np.diag([2.0, 1.0])
        F = np.block([[np.zeros((2, 2)), np.eye(2)], [minus @ pull, -minus @ D]])
        return (F @ S).ravel()

    mono = solve_ivp(rates, (0, period), np.eye(4).ravel(), rtol=1e-12, atol=1e-13).y[:, -1]
    wanted = np.sort_complex(np.linalg.eigvals(mono.reshape(4, 4)))
    multipliers = np.asarray(found.multipliers)
    ours = np.sort_complex(multipliers[np.abs(multipliers) > 1e-6])
    assert len(ours) == 4
    np.testing.assert_allclose(ours, wanted, atol=1e-8)
    assert found.is_stable == bool((np.abs(wanted) < 1).all())


def test_constant_coefficients_have_the_multipliers_of_the_exponential() -> None:
    """A periodic motion that stands still: e^{A T} of the linear model."""
    arm = lw.load(
        """
    gravity = [0, 0, 0]
    bodies.a = { mass = 2.0 }
    joints.x = { type = "prismatic", child = "a", axis = [1, 0, 0], stiffness = 30, damping = 1.5 }
    forces.f = { type = "joint", on = "x", force = "0*sin(2*pi*t)" }
    """
    )
    found = lw.linearization.periodic_motion(arm, 1.0)
    A = np.array([[0, 1], [-15, -0.75]])
    wanted = np.sort_complex(np.linalg.eigvals(expm(A)))
    np.testing.assert_allclose(np.sort_complex(np.asarray(found.multipliers)), wanted, atol=1e-9)


# -- six-bars -----------------------------------------------------------------------------------


def test_watts_six_bar_closes_as_two_vector_loops() -> None:
    """Both loops by fsolve, over a turn of the crank; ratios by differences of these solutions."""
    a, b, c, d, e, tilt, f, h, k = 0.1, 0.3, 0.22, 0.3, 0.2, np.radians(-30), 0.25, 0.18, 0.25

    def loops(x: np.ndarray, crank: float) -> list[float]:
        coupler, rocker, second, output = x
        one = a * np.exp(1j * crank) + b * np.exp(1j * coupler) - d - c * np.exp(1j * rocker)
        arm = e * np.exp(1j * (rocker + tilt))
        two = arm + f * np.exp(1j * second) - k - h * np.exp(1j * output)
        return [one.real, one.imag, two.real, two.imag]

    linkage = lw.load(FOLDER / "watt-six-bar.toml")
    found = lw.linkages.analyze_linkage(linkage, output="output", samples=73)
    names = lw.compile(linkage).q_names
    q = {name: found.motion.q[:, names.index(name)] for name in names}
    x = np.array([
        q["crank"] + q["knee"], q["rocker"], q["rocker"] + q["elbow"], q["output"],
    ]).T  # fmt: skip
    for k_sample in range(0, 73, 9):
        crank = q["crank"][k_sample]
        solved = [fsolve(loops, x[k_sample], (crank + s,), xtol=1e-12) for s in (-1e-5, 0, 1e-5)]
        np.testing.assert_allclose(x[k_sample], solved[1], atol=1e-9)
        slope = (solved[2][3] - solved[0][3]) / 2e-5
        assert found.velocity_ratio[k_sample] == pytest.approx(slope, abs=1e-7)


# -- energies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["six-axis", "stanford", "quadruped", "four-bar"])
def test_energy_regressors_by_bodies(name: str) -> None:
    """Ten columns for each body: those of T are ½ v², then v × ω, then ½ ωᵢ² and ωᵢ ωⱼ; those of V
    are −g · p, then −Rᵀg, and nothing for the inertia."""
    mechanism = lw.gallery(name).without("motors")
    model = lw.compile(mechanism)
    v = RNG.normal(size=model.nv)
    q = model.home()
    if not model.names.constraints:
        q = model.integrate(model.neutral(), RNG.normal(size=model.nv) * 0.5)
    pi = model.inertial_parameters
    T, V = model.kinetic_energy_regressor(q, v), model.potential_energy_regressor(q)
    assert T @ pi == pytest.approx(float(model.kinetic_energy(q, v)), rel=1e-12)
    g = np.linalg.norm([float(lw.compile(mechanism).mechanism.values.get("g", 9.81))])
    for row, weight in zip(T.reshape(-1, 10), V.reshape(-1, 10), strict=True):
        omega = np.sqrt(2 * np.maximum(row[[4, 6, 9]], 0))
        wanted = [omega[0] * omega[1], omega[0] * omega[2], omega[1] * omega[2]]
        np.testing.assert_allclose(np.abs(row[[5, 7, 8]]), wanted, atol=1e-10)
        # v × ω is perpendicular to ω, and not longer than |v| |ω|
        assert np.linalg.norm(row[1:4]) <= np.sqrt(2 * row[0]) * np.linalg.norm(omega) + 1e-10
        assert np.linalg.norm(weight[1:4]) == pytest.approx(g, rel=1e-12)
        np.testing.assert_array_equal(weight[4:], 0)


def test_a_rotation_of_a_frame_is_what_scipy_says() -> None:
    """Placements of the six-axis arm's tool as a product of rotations about the file's axes."""
    arm = lw.load("""
    bodies.a = { mass = 1 }
    bodies.b = { mass = 1 }
    joints.q1 = { type = "revolute", axis = [1, 2, 3], child = "a" }
    joints.q2 = { type = "revolute", axis = [0, 1, -1], parent = "a", child = "b" }
    """)
    q = np.array([0.7, -1.1])
    axes = [np.array([1, 2, 3]) / np.sqrt(14), np.array([0, 1, -1]) / np.sqrt(2)]
    wanted = Rotation.from_rotvec(0.7 * axes[0]) * Rotation.from_rotvec(-1.1 * axes[1])
    found = lw.compile(arm).placement("b")(q)[:3, :3]
    np.testing.assert_allclose(found, wanted.as_matrix(), atol=1e-14)
