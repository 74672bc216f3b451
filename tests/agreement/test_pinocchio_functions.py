"""Inverse mass matrix, Jacobian rates, centroidal momentum, regressors of energies and
operational-space inertia against Pinocchio, on fixed and free bases."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from tests.agreement.test_pinocchio import SOME, Case, case, cases, close, moving, value
from tests.robots import PATHS, Robot

QUICK = ("double_pendulum.urdf",)  # the UR5 is in test_coming_from.py
ALL = cases([name for name in SOME if name.endswith(QUICK)])
ALL += cases([name for name in SOME if not name.endswith(QUICK)], pytest.mark.slow)


def swap(rows: np.ndarray) -> np.ndarray:
    """Pinocchio's linear, then angular rows in our order."""
    return np.concatenate([rows[3:], rows[:3]])


def moving_case(name: str, free: bool) -> Case:
    if not moving(Robot(PATHS[name], free)):
        pytest.skip("nothing moves")
    return case(name, free)


@pytest.mark.parametrize(("name", "free"), ALL)
def test_inverse_of_the_mass_matrix(name: str, free: bool) -> None:
    robot, model = moving_case(name, free)
    q, _, _ = robot.state(5)
    ours = value((robot, model), "mass_matrix_inverse", q).reshape(model.nv, model.nv)
    M = robot.G.T @ pin.crba(robot.pin, robot.data, robot.configuration(q)) @ robot.G
    size = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    np.testing.assert_allclose(ours @ M, np.eye(model.nv), atol=1e-10 * np.linalg.cond(M / size))
    if np.array_equal(robot.G @ robot.G.T, np.eye(len(robot.G))):  # no mimicry
        theirs = pin.computeMinverse(robot.pin, robot.data, robot.configuration(q))
        close(ours, robot.G.T @ theirs @ robot.G)


@pytest.mark.parametrize(("name", "free"), ALL)
def test_centres_of_mass_and_momentum(name: str, free: bool) -> None:
    robot, model = moving_case(name, free)
    m, d, G = robot.pin, robot.data, robot.G
    q, v, _ = robot.state(6)
    qp, vp = robot.configuration(q), G @ v
    close(
        value((robot, model), "center_of_mass_jacobian", q).reshape(3, -1),
        pin.jacobianCenterOfMass(m, d, qp) @ G,
    )
    pin.centerOfMass(m, d, qp)
    centers = value((robot, model), "subtree_centers_of_mass", q).reshape(-1, 3)
    joint_of = {joint.child: name for name, joint in robot.mechanism.joints.items()}
    for body, ours in zip(model.body_names, centers, strict=True):
        index = m.getJointId(joint_of[body])
        if sum(m.inertias[k].mass for k in m.subtrees[index]) > 0:
            close(ours, d.oMi[index].act(d.com[index]))
    A = pin.computeCentroidalMap(m, d, qp) @ G
    close(value((robot, model), "centroidal_momentum_matrix", q).reshape(6, -1), swap(A))
    pin.computeCentroidalMapTimeVariation(m, d, qp, vp)
    ours = value((robot, model), "centroidal_momentum_matrix_rate", q, v).reshape(6, -1)
    # Pinocchio leaves out −ċ × (rows of linear momentum), which is 0 times q̇ but not the rate of A
    velocity = pin.jacobianCenterOfMass(m, d, qp) @ vp
    close(ours + np.vstack([np.cross(velocity, swap(A)[3:].T).T, np.zeros_like(ours[3:])]),
          swap(d.dAg @ G))  # fmt: skip
    h = 1e-5
    ahead, behind = (
        swap(pin.computeCentroidalMap(m, d, pin.integrate(m, qp, s * vp)) @ G) for s in (h, -h)
    )
    close(ours, (ahead - behind) / (2 * h), 1e-7)


@pytest.mark.parametrize(("name", "free"), ALL)
def test_regressors_of_energies(name: str, free: bool) -> None:
    robot, model = moving_case(name, free)
    m, d, G = robot.pin, robot.data, robot.G
    q, v, _ = robot.state(7)
    qp = robot.configuration(q)
    joint_of = {joint.child: name for name, joint in robot.mechanism.joints.items()}
    order = [m.getJointId(joint_of[body]) - 1 for body in model.body_names]
    kinetic = pin.computeKineticEnergyRegressor(m, d, qp, G @ v).reshape(-1, 10)[order]
    close(value((robot, model), "kinetic_energy_regressor", q, v), kinetic.ravel())
    potential = pin.computePotentialEnergyRegressor(m, d, qp).reshape(-1, 10)[order]
    close(value((robot, model), "potential_energy_regressor", q), potential.ravel())


@pytest.mark.parametrize(("name", "free"), ALL)
def test_derivatives_of_frames(name: str, free: bool) -> None:
    robot, model = moving_case(name, free)
    m, d, G = robot.pin, robot.data, robot.G
    q, v, a = robot.state(8)
    qp, vp, ap = robot.configuration(q), G @ v, G @ a
    body = [b for b in robot.mechanism.bodies if m.existBodyName(b)][-1]
    frame, world = m.getBodyId(body), pin.LOCAL_WORLD_ALIGNED
    pin.computeJointJacobiansTimeVariation(m, d, qp, vp)
    pin.updateFramePlacements(m, d)
    dJ = pin.getFrameJacobianTimeVariation(m, d, frame, world) @ G
    close(model.jacobian_rate(body)(q, v), swap(dJ))
    J = swap(pin.computeFrameJacobian(m, d, qp, frame, world) @ G)
    M = G.T @ pin.crba(m, d, qp) @ G
    X = J @ np.linalg.solve(M, J.T)
    close(model.inverse_operational_inertia(body)(q), X)
    by_q, by_qd = model.frame_velocity_derivatives(body)(q, v)
    close(by_qd, J)
    slopes = model.frame_acceleration_derivatives(body)(q, v, a)
    close(slopes[2], J)

    def at(step: np.ndarray, kind: str) -> np.ndarray:
        """Pinocchio's velocity or acceleration after a step along our tangent."""
        there = pin.integrate(m, qp, G @ step)
        pin.forwardKinematics(m, d, there, vp, ap)
        pin.updateFramePlacements(m, d)
        read = {"v": pin.getFrameVelocity, "a": pin.getFrameClassicalAcceleration}[kind]
        motion = read(m, d, frame, world)
        return np.r_[motion.angular, motion.linear]

    h = 1e-5
    for kind, ours in (("v", by_q), ("a", slopes[0])):
        steps = h * np.eye(model.nv)
        theirs = np.array([(at(e, kind) - at(-e, kind)) / (2 * h) for e in steps]).T
        close(ours, theirs, 1e-8, kind)  # error of central differences: h² and rounding/h
    if np.linalg.matrix_rank(J) == 6 and np.linalg.cond(X) < 1e4:
        close(model.operational_inertia(body)(q), np.linalg.inv(X))


def test_operational_inertia_and_manipulability_of_small_arms() -> None:
    """The elbow's tool moves in a plane: |det J| = l1 l2 |sin q2|, by hand."""
    arm = lw.gallery("elbow")
    model = lw.compile(arm)
    with pytest.raises(UnsupportedError, match="'tool' has 2 of the 6"):
        model.operational_inertia("tool")([0.1, 0.2])
    q = np.array([[0.3, 0.8], [0.1, 0.0], [-1.0, -2.0]])
    whole, rotation, translation = model.manipulability("tool")(q)
    np.testing.assert_allclose(translation, np.abs(np.sin(q[:, 1])), atol=1e-8)
    np.testing.assert_allclose(rotation, 0, atol=1e-8)
    singular_values = np.linalg.svd(model.jacobian("tool")(q), compute_uv=False)
    np.testing.assert_allclose(whole, singular_values.prod(axis=1), rtol=1e-12)


def test_manipulability_is_the_product_of_singular_values() -> None:
    for name, frame in (("six-axis", "tool"), ("seven-axis", "tool")):
        model = lw.compile(lw.gallery(name))
        frame = frame if frame in model.mechanism.frames else model.body_names[-1]
        q = np.random.default_rng(0).uniform(-1, 1, (5, model.nq))
        J = model.jacobian(frame)(q)
        for ours, rows in zip(model.manipulability(frame)(q), (J, J[:, :3], J[:, 3:]), strict=True):
            wanted = np.linalg.svd(rows, compute_uv=False).prod(axis=1)
            np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-12)


def test_inverse_of_a_singular_mass_matrix_is_refused() -> None:
    arm = lw.Mechanism(
        bodies={"a": {"mass": 1}, "b": {}},
        joints={
            "q1": {"type": "prismatic", "child": "a"},
            "q2": {"type": "revolute", "parent": "a", "child": "b"},
        },
    )
    with pytest.raises(UnsupportedError, match="mass matrix is singular: 'q2'"):
        lw.compile(arm).mass_matrix_inverse([0.0, 0.0])
