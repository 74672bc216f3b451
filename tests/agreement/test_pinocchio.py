"""Every public robot against Pinocchio: fixed and free base, all quantities, 1e-10 relative.

Compiled functions throughout; of the largest robots, inverse and forward dynamics and the mass
matrix are, and the rest goes through CasADi's own evaluator. What takes long is marked slow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from tests.robots import PATHS, READABLE, UNREADABLE, Robot

REPRESENTATIVE = (
    "ur5_robot.urdf",
    "panda.urdf",
    "double_pendulum.urdf",
    "solo12.urdf",
    "/kinova.urdf",
)
LARGE = 24
"""Robots with more speeds than this have most quantities checked uncompiled."""

Case = tuple[Robot, "lw.Model"]


@lru_cache(maxsize=4)
def case(name: str, free: bool) -> Case:
    robot = Robot(PATHS[name], free)
    return robot, lw.compile(robot.equations)


def cases(names: list[str], *marks: pytest.MarkDecorator) -> list:
    return [
        pytest.param(name, free, id=f"{name}-{'free' if free else 'fixed'}", marks=marks)
        for name in names
        for free in (False, True)
    ]


SOME = [name for name in READABLE if name.endswith(REPRESENTATIVE)]
OTHERS = [name for name in READABLE if name not in SOME]
ALL = cases(SOME) + cases(OTHERS, pytest.mark.slow)


def close(ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-10, note: str = "") -> None:
    theirs = np.asarray(theirs)
    scale = max(1e-3, float(np.max(np.abs(theirs), initial=0.0)))
    error = float(np.max(np.abs(ours - theirs), initial=0.0)) / scale
    assert error <= tolerance, f"relative error {error:.2e} {note}"


def moving(robot: Robot) -> bool:
    return robot.pin.nv > 0


def value(case: Case, quantity: str, *given: np.ndarray) -> np.ndarray:
    """By the compiled function, or uncompiled for large robots."""
    robot, model = case
    if model.nv > LARGE:
        return np.asarray(robot.equations.function(quantity)(*given)).squeeze()
    return getattr(model, quantity)(*given)


@pytest.mark.parametrize(("name", "free"), ALL)
def test_inverse_dynamics_and_mass_matrix(name: str, free: bool) -> None:
    robot, G = Robot(PATHS[name], free), None
    if not moving(robot):
        with pytest.raises(lw.LinkwrightError, match="cannot move"):
            lw.compile(robot.mechanism)
        return
    robot, model = case(name, free)
    G = robot.G
    for seed in range(2):
        q, v, a = robot.state(seed)
        theirs = robot.configuration(q), G @ v, G @ a
        close(model.inverse_dynamics(q, v, a), G.T @ pin.rnea(robot.pin, robot.data, *theirs))
        M = pin.crba(robot.pin, robot.data, theirs[0])
        M = np.triu(M) + np.triu(M, 1).T
        close(model.mass_matrix(q), G.T @ M @ G)


@pytest.mark.parametrize(("name", "free"), ALL)
def test_forward_dynamics(name: str, free: bool) -> None:
    robot, G = Robot(PATHS[name], free), None
    if not moving(robot):
        pytest.skip("nothing moves")
    robot, model = case(name, free)
    G = robot.G
    q, v, tau = robot.state(5)
    qp = robot.configuration(q)
    M = pin.crba(robot.pin, robot.data, qp)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
    bias = G.T @ pin.rnea(robot.pin, robot.data, qp, G @ v, np.zeros(robot.pin.nv))
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300))
    condition = float(np.linalg.cond(M / np.outer(scale, scale)))
    if condition > 1e13 or np.diag(M).min() <= 0:
        with pytest.raises(lw.LinkwrightError, match="singular"):
            model.forward_dynamics  # noqa: B018 - compiling it is what fails
        return
    ours = model.forward_dynamics(q, v, tau)
    theirs = np.linalg.solve(M, tau - bias)
    if not robot.mimics:
        theirs = np.linalg.lstsq(G, pin.aba(robot.pin, robot.data, qp, G @ v, G @ tau))[0]
    tolerance = 1e-10 if condition < 1e5 else 1e-8
    close(ours, theirs, tolerance, f"at condition {condition:.1e}")


def scalars(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict:
    """Pinocchio's answers in our coordinates and conventions."""
    m, d, G = robot.pin, robot.data, robot.G
    qp, vp = robot.configuration(q), G @ v
    momentum = pin.computeCentroidalMomentum(m, d, qp, vp)
    C = pin.computeCoriolisMatrix(m, d, qp, vp).copy()
    return {
        "coriolis_matrix": G.T @ C @ G,
        "gravity": G.T @ pin.computeGeneralizedGravity(m, d, qp),
        "bias": G.T @ pin.nonLinearEffects(m, d, qp, vp),
        "kinetic_energy": pin.computeKineticEnergy(m, d, qp, vp),
        "center_of_mass": pin.centerOfMass(m, d, qp).copy(),
        "momentum": np.r_[momentum.angular, momentum.linear],
    }


@pytest.mark.parametrize(("name", "free"), ALL)
def test_whole_robot_quantities(name: str, free: bool) -> None:
    if not moving(Robot(PATHS[name], free)):
        pytest.skip("nothing moves")
    robot, model = case(name, free)
    q, v, a = robot.state(1)
    inputs: dict[str, tuple[np.ndarray, ...]] = {
        "coriolis_matrix": (q, v), "gravity": (q,), "bias": (q, v), "kinetic_energy": (q, v),
        "center_of_mass": (q,), "momentum": (q, v),
    }  # fmt: skip
    theirs = scalars(robot, q, v, a)
    for quantity, given in inputs.items():
        close(value((robot, model), quantity, *given), theirs[quantity], note=quantity)
    q1, _, _ = robot.state(2)
    m, d = robot.pin, robot.data
    drop = pin.computePotentialEnergy(m, d, robot.configuration(q))
    drop -= pin.computePotentialEnergy(m, d, robot.configuration(q1))
    close(model.potential_energy(q) - model.potential_energy(q1), np.array(drop))


@pytest.mark.parametrize(("name", "free"), ALL)
def test_frames(name: str, free: bool) -> None:
    if not moving(Robot(PATHS[name], free)):
        pytest.skip("nothing moves")
    robot, model = case(name, free)
    m, d, G = robot.pin, robot.data, robot.G
    q, v, a = robot.state(3)
    qp, vp, ap = robot.configuration(q), G @ v, G @ a
    bodies = [b for b in robot.mechanism.bodies if m.existBodyName(b)]
    for body in {bodies[0], bodies[len(bodies) // 2], bodies[-1]}:
        pin.forwardKinematics(m, d, qp, vp, ap)
        pin.updateFramePlacements(m, d)
        frame, world = m.getBodyId(body), pin.LOCAL_WORLD_ALIGNED
        close(model.placement(body)(q), d.oMf[frame].homogeneous)
        velocity = pin.getFrameVelocity(m, d, frame, world)
        close(model.frame_velocity(body)(q, v), np.r_[velocity.angular, velocity.linear])
        acceleration = pin.getFrameClassicalAcceleration(m, d, frame, world)
        wanted = np.r_[acceleration.angular, acceleration.linear]
        close(model.frame_acceleration(body)(q, v, a), wanted)
        J = pin.computeFrameJacobian(m, d, qp, frame, world) @ G
        J = np.vstack([J[3:], J[:3]])
        close(model.jacobian(body)(q), J)
        close(model.frame_bias_acceleration(body)(q, v) + J @ a, wanted)


@pytest.mark.parametrize(("name", "free"), ALL)
def test_regressor(name: str, free: bool) -> None:
    if not moving(Robot(PATHS[name], free)):
        pytest.skip("nothing moves")
    robot, model = case(name, free)
    q, v, a = robot.state(4)
    m, d, G = robot.pin, robot.data, robot.G
    theirs = G.T @ pin.computeJointTorqueRegressor(m, d, robot.configuration(q), G @ v, G @ a)
    joint_of = {joint.child: name for name, joint in robot.mechanism.joints.items()}
    blocks = []
    for body in model.body_names:
        index = m.getJointId(joint_of[body])
        blocks.append(theirs[:, 10 * (index - 1) : 10 * index])
    ours = value((robot, model), "regressor", q, v, a)
    close(ours, np.hstack(blocks))
    parameters = np.concatenate([
        m.inertias[m.getJointId(joint_of[body])].toDynamicParameters() for body in model.body_names
    ])  # fmt: skip
    close(model.inertial_parameters, parameters)
    close(ours @ model.inertial_parameters, model.inverse_dynamics(q, v, a))


def along_our_tangent(robot: Robot, theirs: np.ndarray) -> np.ndarray:
    return theirs @ robot.G


@pytest.mark.parametrize(
    ("name", "free"),
    [pytest.param(*x.values, marks=pytest.mark.slow) if x.values[1] else x for x in ALL],
)
def test_derivatives(name: str, free: bool) -> None:
    if not moving(Robot(PATHS[name], free)):
        pytest.skip("nothing moves")
    robot, model = case(name, free)
    if model.nv > LARGE and not free:
        pytest.skip("large, and checked with a free base")
    m, d, G = robot.pin, robot.data, robot.G
    q, v, a = robot.state(6)
    qp, vp, ap = robot.configuration(q), G @ v, G @ a

    def ours(quantity: str, third: np.ndarray) -> list[np.ndarray]:
        if model.nv > LARGE:
            return [np.asarray(x) for x in robot.equations.function(quantity)(q, v, third)]
        found: Callable[..., tuple] = getattr(model, quantity)
        return list(found(q, v, third))

    pin.computeRNEADerivatives(m, d, qp, vp, ap)
    M = np.triu(d.M) + np.triu(d.M, 1).T
    theirs = [G.T @ along_our_tangent(robot, X) for X in (d.dtau_dq, d.dtau_dv, M)]
    for mine, other in zip(ours("inverse_dynamics_derivatives", a), theirs, strict=True):
        close(mine, other)
    mass = theirs[2]
    scale = np.sqrt(np.maximum(np.diag(mass), 1e-300))
    condition = float(np.linalg.cond(mass / np.outer(scale, scale)))
    if condition > 1e13 or np.diag(mass).min() <= 0:
        return
    inverse = np.linalg.inv(mass)
    tau = model.inverse_dynamics(q, v, a)
    wanted = [-inverse @ theirs[0], -inverse @ theirs[1], inverse]
    tolerance = 1e-10 if condition < 1e5 else 1e-8
    for mine, other in zip(ours("forward_dynamics_derivatives", tau), wanted, strict=True):
        close(mine, other, tolerance, f"at condition {condition:.1e}")


@pytest.mark.parametrize(("name", "free"), cases(SOME))
def test_manifold(name: str, free: bool) -> None:
    robot, model = case(name, free)
    q, v, _ = robot.state(7)
    there = model.integrate(q, v)
    theirs = pin.integrate(robot.pin, robot.configuration(q), robot.G @ v)
    # quaternions of opposite sign are the same rotation
    mine = robot.configuration(there)
    if free and mine[3:7] @ theirs[3:7] < 0:
        mine[3:7] *= -1
    close(mine, theirs)
    close(model.difference(q, there), v)


@pytest.mark.parametrize("name", [n for n in PATHS if n.endswith(tuple(UNREADABLE))])
def test_broken_files_are_refused_with_a_reason(name: str) -> None:
    with pytest.raises(lw.LinkwrightError) as error:
        lw.load(PATHS[name])
    assert PATHS[name].name in str(error.value)


def test_all_robots_are_there() -> None:
    assert len(READABLE) >= 60
    assert len(SOME) >= len(REPRESENTATIVE)
