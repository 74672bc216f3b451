"""Bricard's mechanism, the Stewart platform and two arms that hold a body, against references."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import AssemblyError
from linkwright.expressions import expression_to_float
from linkwright.mechanism.gallery_files import read_gallery_file
from tests.constrained.free_joint import Motion, free_joint
from tests.constrained.integrate import integrate
from tests.references import bricard, stewart, two_arms
from tests.references.free_bodies import STILL, Result, self_stress

NAMES = ["bricard", "stewart", "two-arms"]
SPEEDS = ("wx", "wy", "wz", "vx", "vy", "vz")
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@cache
def model(name: str) -> lw.Model:
    return lw.compile(lw.gallery(name))


def closed(name: str, seed: int) -> np.ndarray:
    """A random configuration that closes; some coordinates are chosen and held."""
    rng = np.random.default_rng(seed)
    if name == "bricard":
        chosen = {"q1": rng.uniform(-0.4, 1.4)}
    elif name == "stewart":
        chosen = {f"d{i}": rng.uniform(0.9, 1.08) for i in range(1, 7)}
    else:
        angles = np.radians([-10, -50, 80]) + rng.uniform(-0.2, 0.2, 3)
        chosen = dict(zip(("b1", "b2", "b3"), angles, strict=True))
    return lw.assemble(lw.gallery(name), values=chosen, hold=list(chosen))


def state(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A random closed configuration and speeds that keep it closed."""
    q = closed(name, seed)
    v = np.random.default_rng(seed).uniform(-1, 1, model(name).nv)
    J = model(name).constraint_jacobian(q)
    return q, v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)


def loads(name: str, seed: int) -> np.ndarray:
    """Random forces at the actuated joints; at all of Bricard's."""
    if name == "bricard":
        return np.random.default_rng(seed).uniform(-5, 5, 5)
    B = model(name).input_matrix(closed(name, seed))
    size = {"stewart": 300.0, "two-arms": 10.0}[name]
    return B @ np.random.default_rng(seed).uniform(-size, size, B.shape[1])


def column(name: str, *coordinates: str) -> list[int]:
    return [model(name).qd_names.index(coordinate) for coordinate in coordinates]


@pytest.mark.parametrize("name", NAMES)
def test_files_say_where_they_close(name: str) -> None:
    """Assembly is near the values of the file, and exact."""
    mechanism, one = lw.gallery(name), model(name)
    q = lw.assemble(mechanism)
    for key, number in mechanism.assembly.items():
        said = expression_to_float(number, mechanism.values)
        assert q[one.q_names.index(key)] == pytest.approx(said, abs=2e-3)
    np.testing.assert_allclose(one.constraint_residual(q), 0, atol=1e-12)
    np.testing.assert_array_equal(one.home(), q)


@pytest.mark.parametrize(
    ("name", "freedom", "equations", "rank"),
    [("bricard", 1, 5, 4), ("stewart", 6, 18, 18), ("two-arms", 3, 6, 6)],
)
def test_mobility(name: str, freedom: int, equations: int, rank: int) -> None:
    for seed in range(3):
        found = lw.mobility(lw.gallery(name), closed(name, seed))
        assert (found.dof, found.equations, found.rank) == (freedom, equations, rank)
        assert len(found.redundant) == equations - rank
        assert found.independent == lw.gallery(name).independent


def test_the_redundant_row_of_bricard_depends_on_the_others() -> None:
    for seed in range(3):
        q = closed("bricard", seed)
        J = model("bricard").constraint_jacobian(q)
        found = lw.mobility(lw.gallery("bricard"), q)
        ((row, owners),) = found.redundant.items()
        assert owners == ("q6",)
        left = np.delete(J, int(row.removeprefix("q6[").removesuffix("]")), axis=0)
        assert np.linalg.matrix_rank(left, tol=1e-3) == np.linalg.matrix_rank(J, tol=1e-9) == 4
        assert f"redundant: {row}, by q6" in str(found)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_accelerations_keep_loops_closed_and_constraints_do_no_work(name: str, seed: int) -> None:
    q, v = state(name, seed)
    tau = loads(name, seed)
    one = model(name)
    qdd, J = one.forward_dynamics(q, v, tau), one.constraint_jacobian(q)
    np.testing.assert_allclose(one.constraint_velocity(q, v), 0, atol=1e-12)
    np.testing.assert_allclose(J @ qdd + one.constraint_bias(q, v), 0, atol=1e-9)
    forces = J.T @ one.multipliers(q, v, tau)
    np.testing.assert_allclose(one.mass_matrix(q) @ qdd + one.bias(q, v), tau + forces, **TIGHT)
    assert forces @ v == pytest.approx(0, abs=1e-9)
    step = 1e-5
    ahead, behind = (
        one.kinetic_energy(one.integrate(q, s * v + s * s / 2 * qdd), v + s * qdd)
        + one.potential_energy(one.integrate(q, s * v + s * s / 2 * qdd))
        for s in (step, -step)
    )
    assert (ahead - behind) / (2 * step) == pytest.approx(tau @ v, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_bricard_against_free_bodies(seed: int) -> None:
    q, v = state("bricard", seed)
    tau = loads("bricard", seed)
    assert max(bricard.openness(q, v)) < 1e-10
    expected, bodies = bricard.forward(q, v, tau)
    assert (bodies.rank, bodies.rows) == (29, 30)
    one = model("bricard")
    found = one.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found, expected, **TIGHT)
    assert one.kinetic_energy(q, v) + one.potential_energy(q) == pytest.approx(bricard.energy(q, v))
    for i in range(5):
        acceleration = one.frame_acceleration(f"rod{i + 1}")(q, v, found)
        np.testing.assert_allclose(acceleration[:3], bodies.angular[i], **TIGHT)
        np.testing.assert_allclose(acceleration[3:], bodies.linear[i], **TIGHT)


def pose(q: np.ndarray, v: np.ndarray) -> stewart.Pose:
    T = model("stewart").placement("platform")(q)
    velocity = model("stewart").frame_velocity("platform")(q, v)
    return stewart.Pose(T[:3, :3], T[:3, 3], velocity[:3], velocity[3:])


def platform_motion(
    place: stewart.Pose, angular: np.ndarray, linear: np.ndarray, rotation: str = "cardan"
) -> list[np.ndarray]:
    """All our coordinates, speeds and their rates, from the platform's motion in the world."""
    legs = stewart.legs(place, angular, linear)
    motion = Motion(place.R, place.p, np.append(place.w, place.v), np.append(angular, linear))
    parts = zip(free_joint(motion, rotation), ("x", "d", "dd"), strict=True)
    return [np.concatenate([own, *(getattr(leg, part) for leg in legs)]) for own, part in parts]


@pytest.mark.parametrize("seed", range(6))
def test_stewart_against_the_platforms_six_coordinates(seed: int) -> None:
    q, v = state("stewart", seed)
    one, drives = model("stewart"), np.random.default_rng(seed).uniform(-300, 300, 6)
    place = pose(q, v)
    angular, linear = stewart.forward(place, drives)
    expected_q, expected_v, expected = platform_motion(place, angular, linear)
    np.testing.assert_allclose(q, expected_q, atol=1e-11)
    np.testing.assert_allclose(v, expected_v, atol=1e-11)
    tau = one.input_matrix(q) @ drives
    np.testing.assert_allclose(one.forward_dynamics(q, v, tau), expected, **TIGHT)
    energy = one.kinetic_energy(q, v) + one.potential_energy(q)
    assert energy == pytest.approx(stewart.energy(place), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_cylinders_drive_the_motion_that_was_asked_for(seed: int) -> None:
    q, v = state("stewart", seed)
    one, place = model("stewart"), pose(q, v)
    angular, linear = np.random.default_rng(seed).uniform(-3, 3, (2, 3))
    *_, qdd = platform_motion(place, angular, linear)
    tau = one.inverse_dynamics(q, v, qdd)
    np.testing.assert_allclose(one.forward_dynamics(q, v, tau), qdd, **TIGHT)
    drives = stewart.inverse(place, angular, linear)
    np.testing.assert_allclose(tau, one.input_matrix(q) @ drives, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_multipliers_of_the_platform_are_the_forces_on_the_legs(seed: int) -> None:
    """Work on the legs' own coordinates: J of a leg, transposed, times the force on its tip."""
    q, v = state("stewart", seed)
    one, drives = model("stewart"), np.random.default_rng(seed).uniform(-300, 300, 6)
    place = pose(q, v)
    on_legs = stewart.tip_forces(place, *stewart.forward(place, drives), drives)
    multipliers = one.multipliers(q, v, one.input_matrix(q) @ drives)
    through = one.constraint_jacobian(q).T @ multipliers
    for i, force in enumerate(on_legs, 1):
        columns = column("stewart", f"u{i}.1", f"u{i}.2", f"d{i}")
        tip = one.jacobian(f"rod{i}")(q)[3:, columns]
        np.testing.assert_allclose(through[columns], tip.T @ force, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_spherical_loops_carry_forces_and_no_moments(seed: int) -> None:
    q, v = state("stewart", seed)
    one, drives = model("stewart"), np.random.default_rng(seed).uniform(-300, 300, 6)
    place = pose(q, v)
    on_legs = stewart.tip_forces(place, *stewart.forward(place, drives), drives)
    loops = one.reactions(q, v, one.input_matrix(q) @ drives)[-6:]
    np.testing.assert_allclose(loops[:, 3:], on_legs, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(loops[:, :3], 0, atol=1e-9)


def test_stewart_with_a_quaternion_moves_as_with_angles() -> None:
    _, text = read_gallery_file("stewart") or ("", "")
    text = text.replace('rotation = "cardan"', "")
    for rate, speed in zip(("rx", "ry", "rz", "x", "y", "z"), SPEEDS, strict=True):
        text = text.replace(f'"platform.{rate}",', f'"platform.{speed}",')
    other, drives = lw.compile(lw.load(text)), np.linspace(-300, 300, 6)
    place = pose(*state("stewart", 0))
    q, v, expected = platform_motion(place, *stewart.forward(place, drives), "quaternion")
    np.testing.assert_allclose(other.constraint_residual(q), 0, atol=1e-11)
    found = other.forward_dynamics(q, v, other.input_matrix(q) @ drives)
    np.testing.assert_allclose(found, expected, **TIGHT)
    assert set(other.independent_names) == {f"platform.{speed}" for speed in SPEEDS}


def test_assembly_finds_the_legs_of_a_platform_that_is_held() -> None:
    keys = [f"platform.{ending}" for ending in ("x", "y", "z", "rx", "ry", "rz")]
    chosen = dict(zip(keys, [0.05, -0.08, 0.9, 0.1, -0.2, 0.15], strict=True))
    q = lw.assemble(lw.gallery("stewart"), values=chosen, hold=keys)
    np.testing.assert_array_equal(q[:6], [*chosen.values()])
    place = pose(q, np.zeros(24))
    np.testing.assert_allclose(q, platform_motion(place, *np.zeros((2, 3)))[0], atol=1e-11)


def arms(q: np.ndarray, v: np.ndarray) -> list[two_arms.Motion]:
    a, b = column("two-arms", "a1", "a2", "a3"), column("two-arms", "b1", "b2", "b3")
    return two_arms.motions(q[a], v[a], q[b], v[b])


@pytest.mark.parametrize("seed", range(6))
def test_two_arms_against_free_bodies(seed: int) -> None:
    q, v = state("two-arms", seed)
    moved, one = arms(q, v), model("two-arms")
    assert max(two_arms.openness(moved)) < 1e-10
    drives = np.random.default_rng(seed).uniform(-10, 10, 6)
    expected, bodies = two_arms.forward(moved, drives)
    assert bodies.rank == bodies.rows == 39
    qdd = one.forward_dynamics(q, v, one.input_matrix(q) @ drives)
    turning = column("two-arms", "a1", "a2", "a3", "b1", "b2", "b3")
    np.testing.assert_allclose(qdd[turning], expected, **TIGHT)
    names = [f"{part}_{arm}" for arm in "ab" for part in ("column", "upper_arm", "forearm")]
    for i, name in enumerate([*names, "body"]):
        acceleration = one.frame_acceleration(name)(q, v, qdd)
        np.testing.assert_allclose(acceleration[:3], bodies.angular[i], **TIGHT)
        np.testing.assert_allclose(acceleration[3:], bodies.linear[i], **TIGHT)


@pytest.mark.parametrize("seed", range(3))
def test_two_arms_carry_what_free_bodies_say(seed: int) -> None:
    q, v = state("two-arms", seed)
    one, drives = model("two-arms"), np.random.default_rng(seed).uniform(-10, 10, 6)
    moved = arms(q, v)
    expected = driven(two_arms, moved, two_arms.forward(moved, drives)[1], drives)
    found = one.reactions(q, v, one.input_matrix(q) @ drives)
    order = [*map(one.joint_names.index, ("a1", "a2", "a3", "b1", "b2", "b3", "grip")), 7]
    np.testing.assert_allclose(found[order], expected, **TIGHT)


def driven(
    reference: ModuleType, moved: list[two_arms.Motion], result: Result, drives: np.ndarray
) -> Any:
    """Wrenches of the joints with the moments of their drives."""
    wrenches = result.wrenches.copy()
    places = [*moved, STILL]
    turning = [k for k, joint in enumerate(reference.JOINTS) if joint.axis is not None]
    for k, moment in zip(turning, drives, strict=True):
        joint = reference.JOINTS[k]
        wrenches[k, :3] += moment * places[joint.parent].R @ joint.axis
    return wrenches


@pytest.mark.parametrize("seed", range(3))
def test_six_motors_share_three_freedoms_with_least_norm(seed: int) -> None:
    q, v = state("two-arms", seed)
    one = model("two-arms")
    wish = one.forward_dynamics(q, v, 3 * np.random.default_rng(seed).uniform(-5, 5, one.nv))
    u, B = one.actuator_forces(q, v, wish), one.input_matrix(q)
    np.testing.assert_allclose(one.inverse_dynamics(q, v, wish), B @ u, **TIGHT)
    np.testing.assert_allclose(one.forward_dynamics(q, v, B @ u), wish, **TIGHT)
    effect = one.independent_map(q)[0].T @ B
    idle = np.linalg.svd(effect)[2][3:]
    np.testing.assert_allclose(idle @ u, 0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_reactions_of_bricard_are_the_least(seed: int) -> None:
    """They move the rods as the reference does, and hold no stress of their own."""
    q, v = state("bricard", seed)
    tau, moved = loads("bricard", seed), bricard.motions(q, v)
    expected = driven(bricard, moved, bricard.forward(q, v, tau)[1], np.append(tau, 0))
    found = model("bricard").reactions(q, v, tau)
    (stress,) = self_stress(bricard.BODIES, bricard.JOINTS, moved)
    assert np.sum(found * stress) == pytest.approx(0, abs=1e-9)
    share = np.sum((found - expected) * stress) / np.sum(stress * stress)
    np.testing.assert_allclose(found, expected + share * stress, **TIGHT)


def test_bricard_closes_as_the_closed_form_says() -> None:
    """sin a + sin b + sin a sin b = 0 for the angles a, b, a, b, a; none below −30°."""
    for a in (-0.5, -0.1, 0.4, 1.5, 2.9):
        q = lw.assemble(lw.gallery("bricard"), values={"q1": a}, hold=["q1"])
        b = np.arcsin(-np.sin(a) / (1 + np.sin(a)))
        np.testing.assert_allclose(q, [a, b, a, b, a], atol=1e-9)
    with pytest.raises(AssemblyError, match="cannot be assembled"):
        lw.assemble(lw.gallery("bricard"), values={"q1": -0.55}, hold=["q1"])


def test_bricard_at_the_dead_point_of_its_independent_angle() -> None:
    q = np.array([-1, 3, -1, 3, -1]) * np.pi / 6
    v, tau = np.array([0, 1, 0, 1, 0.0]), np.arange(5.0)
    assert max(bricard.openness(q, v)) < 1e-12
    expected, _ = bricard.forward(q, v, tau)
    np.testing.assert_allclose(model("bricard").forward_dynamics(q, v, tau), expected, **TIGHT)


def test_bricard_falls_as_the_benchmark_says() -> None:
    one = model("bricard")
    q, v = integrate(one, np.zeros(5), np.zeros(5), until=1.0, steps=250)
    point = one.placement("P3")(q)[:3, 3]
    np.testing.assert_allclose(point, [0.274481319, -0.886707939, -0.462330003], atol=1e-7)
    assert one.kinetic_energy(q, v) + one.potential_energy(q) == pytest.approx(
        bricard.energy(np.zeros(5), np.zeros(5)), abs=1e-7
    )
