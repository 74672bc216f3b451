"""Mechanisms that roll and cut: accelerations, constraints, forces and power against solutions of
their own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from tests.constrained.rolling_examples import EXAMPLES, Example, values
from tests.references import rolling_disk, sharp_edged_disk

NAMES = list(EXAMPLES)


@cache
def example(name: str) -> Example:
    return EXAMPLES[name]()


@pytest.mark.parametrize("name", NAMES)
def test_freedom(name: str) -> None:
    one = example(name)
    q = one.states(1)[0][0]
    assert lw.mobility(one.mechanism, q).dof == one.freedom


@pytest.mark.parametrize("name", NAMES)
def test_accelerations(name: str) -> None:
    one = example(name)
    for q, v, tau in one.states(20):
        found = one.model.forward_dynamics(q, v, tau, *one.t(q))
        wanted = one.accelerations(q, v, tau)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("name", NAMES)
def test_possible_states_satisfy_the_constraints(name: str) -> None:
    one = example(name)
    for q, v, _ in one.states():
        t = one.t(q)
        np.testing.assert_allclose(one.model.constraint_residual(q, *t), 0, atol=1e-12)
        np.testing.assert_allclose(one.model.constraint_velocity(q, v, *t), 0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_constraints_leave_the_freedom_and_no_more(name: str) -> None:
    """The speeds that the equations forbid and those that the solution allows are all there are."""
    one = example(name)
    for q, _, _ in one.states(3):
        J = one.model.constraint_jacobian(q, *one.t(q))
        assert np.linalg.matrix_rank(J, tol=1e-8) == one.model.nv - one.freedom


@pytest.mark.parametrize("name", NAMES)
def test_bias_is_the_rate_of_the_velocity(name: str) -> None:
    """d/dt (J v − b) = J v' + γ, for speeds that the constraints forbid too."""
    one, h = example(name), 1e-6
    rng = np.random.default_rng(1)
    for q, _, _ in one.states(3):
        v, a = rng.uniform(-1, 1, (2, one.model.nv))
        t = one.t(q)
        later, before = (
            one.model.constraint_velocity(q + s * v, v + s * a, *(x + s for x in t))
            for s in (h, -h)
        )
        found = one.model.constraint_jacobian(q, *t) @ a + one.model.constraint_bias(q, v, *t)
        np.testing.assert_allclose(found, (later - before) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_power(name: str) -> None:
    """Energy changes by what the loads do; ideal constraints do no work, and a drive does its force
    times its velocity."""
    one, h = example(name), 1e-5
    for q, v, tau in one.states(4):
        t = one.t(q)
        a = one.model.forward_dynamics(q, v, tau, *t)
        multipliers = one.model.multipliers(q, v, tau, *t)
        forces = one.model.constraint_jacobian(q, *t).T @ multipliers
        energies = [energy(one, q + s * v + s**2 / 2 * a, v + s * a) for s in (h, -h)]
        rate = (energies[0] - energies[1]) / (2 * h)
        assert rate == pytest.approx((tau + forces) @ v, rel=1e-6, abs=1e-5)
        driven = 0.0 if one.driven is None else read_force_law(one, multipliers) * v[one.driven]
        assert forces @ v == pytest.approx(driven, abs=1e-9 * max(1, np.abs(forces).max()))


def read_force_law(one: Example, multipliers: np.ndarray) -> float:
    """The force of the drive alone."""
    kinds = [one.mechanism.constraints[owner].type for owner in one.model.constraint_names]
    return float(multipliers[kinds.index("drive")])


def energy(one: Example, q: np.ndarray, v: np.ndarray) -> float:
    return float(one.model.kinetic_energy(q, v) + one.model.potential_energy(q))


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_rows(name: str) -> None:
    one = example(name)
    states = one.states(5)
    q, v, tau = (np.array(part) for part in zip(*states, strict=True))
    t = [np.array([one.t(row) for row in q]).ravel()] if one.time else []
    found = one.model.forward_dynamics(q, v, tau, *t)
    single = [one.model.forward_dynamics(*state, *one.t(state[0])) for state in states]
    np.testing.assert_allclose(found, single, rtol=1e-12, atol=1e-12)


def test_forces_of_the_sharp_edged_disk() -> None:
    """The drive's torque and the force across the edge, by hand."""
    one = example("sharp-edged-disk")
    disk = sharp_edged_disk.Disk(**values(one.mechanism))
    for q, v, tau in one.states():
        t = one.t(q)
        found = one.model.constraint_jacobian(q, *t).T @ one.model.multipliers(q, v, tau, *t)
        wanted = sharp_edged_disk.constraint_forces(disk, q, v, tau)
        np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_force_under_the_rolling_disk() -> None:
    """What acts on x, y, z is the force of the plane."""
    one = example("rolling-disk")
    disk = rolling_disk.Disk(**values(one.mechanism))
    for q, v, tau in one.states():
        forces = one.model.constraint_jacobian(q).T @ one.model.multipliers(q, v, tau)
        wanted = rolling_disk.contact_force(disk, q, v, tau)
        np.testing.assert_allclose(forces[:3], wanted, atol=1e-10)


@pytest.mark.parametrize("theta", [0.2, -0.7])
@pytest.mark.parametrize("psi_rate", [1.5, -4.0])
def test_disk_in_steady_circles(theta: float, psi_rate: float) -> None:
    """Lean, heading rate and roll rate stay, and the centre goes round at the heading's rate."""
    one = example("rolling-disk")
    disk = rolling_disk.Disk(**values(one.mechanism))
    q = np.array([0.3, -0.2, disk.r * np.cos(theta), 0.4, theta, 1.0])
    rates = np.array([0, 0, 0, psi_rate, 0, rolling_disk.steady_roll(disk, theta, psi_rate)])
    v = rolling_disk.rate_matrix(disk, q) @ rolling_disk.angular_velocity(q, rates)
    a = one.model.forward_dynamics(q, v, np.zeros(6))
    np.testing.assert_allclose(a[2:], 0, atol=1e-11)
    np.testing.assert_allclose(a[:2], psi_rate * np.array([-v[1], v[0]]), atol=1e-11)


def test_wheel_down_an_incline() -> None:
    """Straight down: g sin(slope) / (1 + J/(m r²))."""
    flat = lw.gallery("rolling-disk")
    mechanism = replace_part_fields(
        flat,
        frames={"slope": {"body": "ground", "origin": {"rpy": [0, 0.4, 0]}}},
        constraints={"rolling": replace_part_fields(flat.constraints["rolling"], on="slope")},
    )
    p = values(flat)
    q = np.array([p["r"] * np.sin(0.4), 0, p["r"] * np.cos(0.4), 0, 0, 0])
    a = lw.compile(mechanism).forward_dynamics(q, np.zeros(6), np.zeros(6))
    along = p["g"] * np.sin(0.4) / (1 + p["J"] / (p["m"] * p["r"] ** 2))
    wanted = along * np.array([np.cos(0.4), 0, -np.sin(0.4), 0, 0, 1 / p["r"]])
    np.testing.assert_allclose(a, wanted, atol=1e-12)


def test_disk_with_a_quaternion() -> None:
    """Other coordinates and speeds, the same motion."""
    one = example("rolling-disk")
    mechanism = replace_part_fields(
        one.mechanism,
        ["coordinates", "independent"],
        joints={"free": {"type": "free", "child": "disk"}},
        assembly={"free.z": "r"},
    )
    model = lw.compile(mechanism)
    for q, v, tau in one.states(5):
        T, twist = one.model.placement("disk")(q), one.model.frame_velocity("disk")(q, v)
        w, x, y, z = np.roll(Rotation.from_matrix(T[:3, :3]).as_quat(), 1)
        own = (
            np.array([*T[:3, 3], w, x, y, z]),
            np.concatenate([T[:3, :3].T @ twist[:3], T[:3, :3].T @ twist[3:]]),
        )
        np.testing.assert_allclose(model.constraint_velocity(*own), 0, atol=1e-14)
        push = tau[:3]  # a force at the centre
        a = one.model.forward_dynamics(q, v, np.array([*push, 0, 0, 0]))
        b = model.forward_dynamics(*own, np.array([0, 0, 0, *(T[:3, :3].T @ push)]))
        wanted = one.model.frame_acceleration("disk")(q, v, a)
        found = model.frame_acceleration("disk")(*own, b)
        np.testing.assert_allclose(found, wanted, atol=1e-11)


GEAR_TRAIN = """
name = "train"
gravity = [0, 0, 0]
[parameters]
rs = 0.3
rp = 0.2
[bodies.sun]
inertia = { zz = 0.1 }
[bodies.ring]
inertia = { zz = 0.8 }
[bodies.carrier]
inertia = { zz = 0.3 }
[bodies.planet]
mass = 1.5
inertia = { zz = 0.04 }
[joints.sun]
type = "revolute"
child = "sun"
[joints.ring]
type = "revolute"
child = "ring"
[joints.carrier]
type = "revolute"
child = "carrier"
[joints.planet]
type = "revolute"
parent = "carrier"
child = "planet"
origin = ["rs + rp", 0, 0]
[constraints.inner]
type = "rolling"
wheel = "planet"
radius = "rp"
on = "sun"
other_radius = "rs"
[constraints.outer]
type = "rolling"
wheel = "planet"
radius = "rp"
on = "ring"
other_radius = "-rs - 2*rp"
"""


def test_planetary_gear() -> None:
    """Willis: rs (sun − carrier) = −ring radius (ring − carrier), and the power of two inputs."""
    mechanism = lw.load(GEAR_TRAIN)
    model = lw.compile(mechanism)
    q = np.array([0.3, -0.4, 0.5, 0.6])
    assert lw.mobility(mechanism, q).dof == 2
    rs, rp, rr = 0.3, 0.2, 0.7
    for sun, carrier in ((1.0, 0.0), (0.0, 1.0)):
        ring = carrier - rs / rr * (sun - carrier)
        v = np.array([sun, ring, carrier, -rs / rp * (sun - carrier)])
        np.testing.assert_allclose(model.constraint_velocity(q, v), 0, atol=1e-14)
    tau = np.array([1.0, -2.0, 3.0, 0.5])
    B = np.array([[1, 0], [-rs / rr, 1 + rs / rr], [0, 1], [-rs / rp, rs / rp]])
    turning = np.array([B[0], B[1], B[2], B[2] + B[3]])  # absolute, by body
    inertia = turning.T @ np.diag([0.1, 0.8, 0.3, 0.04]) @ turning
    inertia[1, 1] += 1.5 * (rs + rp) ** 2
    wanted = B @ np.linalg.solve(inertia, B.T @ tau)
    np.testing.assert_allclose(model.forward_dynamics(q, np.zeros(4), tau), wanted, atol=1e-12)
