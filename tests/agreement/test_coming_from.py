"""docs/coming-from.md: every row of its tables of Pinocchio, MuJoCo and SymPy is computed by both.

A row without a check, or a check without a row, fails. The Robotics Toolbox is not a dependency of
the tests: benchmarks/coming_from.py compares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import sympy
from benchmarks import coming_from
from sympy.physics import mechanics

import linkwright as lw
from tests.robots import Robot, path_of

PAGE = Path(__file__).parents[2] / "docs/coming-from.md"
Pairs = Iterator[tuple[Any, Any]]
Check = Callable[[SimpleNamespace], Pairs]


def rows_of(section: str) -> list[str]:
    """The left cells of the table of a section."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return [line.split(" | ")[0][2:] for line in text.splitlines() if line.startswith("| `")]


def swap(rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows[3:], rows[:3]])


# -- Pinocchio -------------------------------------------------------------------------------


@cache
def pinocchio_case() -> SimpleNamespace:
    """The UR5 on a fixed base, without friction, in one state; its coordinates are Pinocchio's."""
    robot = Robot(path_of("ur5_robot.urdf"), False)
    q, v, a = robot.state(11)
    m, d = robot.pin, robot.pin.createData()
    pin.forwardKinematics(m, d, q, v, a)
    pin.computeJointJacobiansTimeVariation(m, d, q, v)
    pin.updateFramePlacements(m, d)
    return SimpleNamespace(
        arm=robot.mechanism, model=lw.compile(robot.mechanism), m=m, d=d, other=m.createData(), q=q, v=v, a=a,
        tau=np.linspace(-2, 3, 6), frame=m.getBodyId("tool0"), world=pin.LOCAL_WORLD_ALIGNED,
        path=robot.path,
    )  # fmt: skip


def twist(motion: pin.Motion) -> np.ndarray:
    return np.r_[motion.angular, motion.linear]


def both_models(c: SimpleNamespace) -> Pairs:
    yield lw.load(c.path).joints.keys() >= set(c.m.names[1:]), True
    free = lw.load(c.path, base="free")
    yield lw.compile(free).nv, pin.buildModelFromUrdf(str(c.path), pin.JointModelFreeFlyer()).nv


def both_centers(c: SimpleNamespace) -> Pairs:
    yield c.model.center_of_mass(c.q), pin.centerOfMass(c.m, c.other, c.q)
    yield c.model.center_of_mass_jacobian(c.q), pin.jacobianCenterOfMass(c.m, c.d, c.q)


def both_subtree_centers(c: SimpleNamespace) -> Pairs:
    d = c.other
    pin.centerOfMass(c.m, d, c.q)
    yield c.model.subtree_centers_of_mass(c.q)[2], d.oMi[3].act(d.com[3])


def both_map_rates(c: SimpleNamespace) -> Pairs:
    d = c.other
    pin.computeCentroidalMapTimeVariation(c.m, d, c.q, c.v)
    yield c.model.centroidal_momentum_matrix_rate(c.q, c.v) @ c.v, swap(d.dAg @ c.v)


def both_inverse_derivatives(c: SimpleNamespace) -> Pairs:
    by_q, by_qd, by_qdd = c.model.inverse_dynamics_derivatives(c.q, c.v, c.a)
    theirs = pin.computeRNEADerivatives(c.m, c.other, c.q, c.v, c.a)
    yield from zip((by_q, by_qd, by_qdd), theirs, strict=True)


def both_forward_derivatives(c: SimpleNamespace) -> Pairs:
    ours = c.model.forward_dynamics_derivatives(c.q, c.v, c.tau)
    theirs = pin.computeABADerivatives(c.m, c.other, c.q, c.v, c.tau)
    yield from zip(ours, theirs, strict=True)


def both_manifolds(c: SimpleNamespace) -> Pairs:
    q1 = c.model.integrate(c.q, c.v)
    yield q1, pin.integrate(c.m, c.q, c.v)
    yield c.model.difference(c.q, q1), pin.difference(c.m, c.q, q1)
    yield c.model.neutral(), pin.neutral(c.m)


def both_reduced(c: SimpleNamespace) -> Pairs:
    wrist = c.m.getJointId("wrist_3_joint")
    reduced = pin.buildReducedModel(c.m, [wrist], pin.neutral(c.m))
    ours = lw.compile(c.arm.reduced(lock={"wrist_3_joint": 0.0}))
    q = c.q[:5]
    yield ours.mass_matrix(q), np.array(pin.crba(reduced, reduced.createData(), q))


def one(ours: Callable[..., Any], theirs: Callable[..., Any]) -> Check:
    """A check of one number or array."""

    def check(c: SimpleNamespace) -> Pairs:
        yield ours(c), theirs(c)

    return check


PINOCCHIO: dict[str, Check] = {
    "buildModelFromUrdf(path)": both_models,
    "rnea": one(
        lambda c: c.model.inverse_dynamics(c.q, c.v, c.a),
        lambda c: pin.rnea(c.m, c.other, c.q, c.v, c.a),
    ),
    "aba": one(
        lambda c: c.model.forward_dynamics(c.q, c.v, c.tau),
        lambda c: pin.aba(c.m, c.other, c.q, c.v, c.tau),
    ),
    "crba": one(lambda c: c.model.mass_matrix(c.q), lambda c: pin.crba(c.m, c.other, c.q)),
    "computeMinverse": one(
        lambda c: c.model.mass_matrix_inverse(c.q),
        lambda c: pin.computeMinverse(c.m, c.other, c.q),
    ),
    "computeCoriolisMatrix": one(
        lambda c: c.model.coriolis_matrix(c.q, c.v),
        lambda c: pin.computeCoriolisMatrix(c.m, c.other, c.q, c.v),
    ),
    "computeGeneralizedGravity": one(
        lambda c: c.model.gravity(c.q),
        lambda c: pin.computeGeneralizedGravity(c.m, c.other, c.q),
    ),
    "nonLinearEffects": one(
        lambda c: c.model.bias(c.q, c.v),
        lambda c: pin.nonLinearEffects(c.m, c.other, c.q, c.v),
    ),
    "computeKineticEnergy(": one(
        lambda c: c.model.kinetic_energy(c.q, c.v),
        lambda c: pin.computeKineticEnergy(c.m, c.other, c.q, c.v),
    ),
    "computePotentialEnergy(": one(
        lambda c: c.model.potential_energy(c.q) - c.model.potential_energy(0 * c.q),
        lambda c: (
            pin.computePotentialEnergy(c.m, c.other, c.q)
            - pin.computePotentialEnergy(c.m, c.other, 0 * c.q)
        ),
    ),
    "d.oMf[frame]": one(
        lambda c: c.model.placement("tool0")(c.q), lambda c: c.d.oMf[c.frame].homogeneous
    ),
    "computeFrameJacobian": one(
        lambda c: c.model.jacobian("tool0")(c.q),
        lambda c: swap(pin.computeFrameJacobian(c.m, c.other, c.q, c.frame, c.world)),
    ),
    "getFrameJacobianTimeVariation": one(
        lambda c: c.model.jacobian_rate("tool0")(c.q, c.v),
        lambda c: swap(pin.getFrameJacobianTimeVariation(c.m, c.d, c.frame, c.world)),
    ),
    "getFrameVelocity": one(
        lambda c: c.model.frame_velocity("tool0")(c.q, c.v),
        lambda c: twist(pin.getFrameVelocity(c.m, c.d, c.frame, c.world)),
    ),
    "getFrameClassicalAcceleration": one(
        lambda c: c.model.frame_acceleration("tool0")(c.q, c.v, c.a),
        lambda c: twist(pin.getFrameClassicalAcceleration(c.m, c.d, c.frame, c.world)),
    ),
    "centerOfMass(m, d, q)`, ": both_centers,
    "d.com[joint]": both_subtree_centers,
    "computeCentroidalMomentum": one(
        lambda c: c.model.momentum(c.q, c.v),
        lambda c: twist(pin.computeCentroidalMomentum(c.m, c.other, c.q, c.v)),
    ),
    "computeCentroidalMap(": one(
        lambda c: c.model.centroidal_momentum_matrix(c.q),
        lambda c: swap(pin.computeCentroidalMap(c.m, c.other, c.q)),
    ),
    "d.dAg": both_map_rates,
    "computeJointTorqueRegressor": one(
        lambda c: c.model.regressor(c.q, c.v, c.a),
        lambda c: pin.computeJointTorqueRegressor(c.m, c.other, c.q, c.v, c.a),
    ),
    "computeKineticEnergyRegressor": one(
        lambda c: c.model.kinetic_energy_regressor(c.q, c.v),
        lambda c: pin.computeKineticEnergyRegressor(c.m, c.other, c.q, c.v),
    ),
    "computePotentialEnergyRegressor": one(
        lambda c: c.model.potential_energy_regressor(c.q),
        lambda c: pin.computePotentialEnergyRegressor(c.m, c.other, c.q),
    ),
    "computeRNEADerivatives": both_inverse_derivatives,
    "computeABADerivatives": both_forward_derivatives,
    "pin.integrate(": both_manifolds,
    "buildReducedModel": both_reduced,
}


# -- MuJoCo ----------------------------------------------------------------------------------

MJCF = """<mujoco model="arm"><option gravity="0 0 -9.81"><flag energy="enable"/></option><worldbody>
<body name="upper"><joint name="q1" axis="0 1 0" damping="0.3"/>
<inertial pos="0.2 0 0.1" mass="2" diaginertia="0.02 0.03 0.04"/>
<body name="lower" pos="0.5 0 0"><joint name="q2" axis="1 0 1" stiffness="2" armature="0.1"/>
<inertial pos="0.1 0.05 0" mass="1" diaginertia="0.01 0.02 0.015"/></body></body>
</worldbody></mujoco>"""


@cache
def mujoco_case() -> SimpleNamespace:
    arm = lw.load(MJCF)
    m = mujoco.MjModel.from_xml_string(MJCF)
    d = mujoco.MjData(m)
    q, v, a, tau = np.array([0.3, -0.7]), np.array([1.0, 0.5]), np.array([2.0, -1.0]), [0.4, 0.1]
    d.qpos, d.qvel, d.qacc = q, v, a
    mujoco.mj_inverse(m, d)
    required = d.qfrc_inverse.copy()
    d.qfrc_applied = tau
    mujoco.mj_forward(m, d)
    M = np.zeros((2, 2))
    mujoco.mj_fullM(m, d, M)
    return SimpleNamespace(arm=arm, model=lw.compile(arm), m=m, d=d, q=q, v=v, a=a, tau=tau, M=M,
                           required=required)  # fmt: skip


def both_solved(c: SimpleNamespace) -> Pairs:
    found = np.zeros((2, 2))
    mujoco.mj_solveM(c.m, c.d, found, np.eye(2))
    yield c.model.mass_matrix_inverse(c.q), found


def both_jacobians(c: SimpleNamespace) -> Pairs:
    linear, angular = np.zeros((3, 2)), np.zeros((3, 2))
    mujoco.mj_jacBody(c.m, c.d, linear, angular, c.m.body("lower").id)
    yield c.model.jacobian("lower")(c.q), np.vstack([angular, linear])


def both_places(c: SimpleNamespace) -> Pairs:
    body, T = c.d.body("lower"), c.model.placement("lower")(c.q)
    yield T[:3, 3], body.xpos
    yield T[:3, :3], body.xmat.reshape(3, 3)


def both_energies(c: SimpleNamespace) -> Pairs:
    yield c.model.potential_energy(c.q), c.d.energy[0]
    yield c.model.kinetic_energy(c.q, c.v), c.d.energy[1]


def both_rollouts(c: SimpleNamespace) -> Pairs:
    """Both approach the same motion: MuJoCo's Euler steps are of first order."""
    from mujoco import rollout

    q, _ = lw.rollout(c.arm, c.q, c.v, dt=1e-3, steps=50)
    c.m.opt.timestep = 1e-4
    states, _ = rollout.rollout(c.m, c.d, np.r_[0.0, c.q, c.v][None], nstep=500)
    np.testing.assert_allclose(q, states[0, -1, 1:3], atol=1e-4)
    yield q.shape, c.q.shape


def both_transitions(c: SimpleNamespace) -> Pairs:
    """MuJoCo differentiates one Euler step: it agrees to the square of the step."""
    dt = 1e-5
    c.m.opt.timestep, c.d.qfrc_applied = dt, 0.0
    c.d.qpos, c.d.qvel = c.q, c.v
    A = np.zeros((4, 4))
    mujoco.mjd_transitionFD(c.m, c.d, 1e-6, 1, A, None, None, None)
    ours = lw.linearize(c.arm, c.q, c.v).discretize(dt).A
    np.testing.assert_allclose((ours - np.eye(4)) / dt, (A - np.eye(4)) / dt, atol=2e-3)
    yield ours.shape, A.shape


MUJOCO: dict[str, Check] = {
    "MjModel.from_xml_path": one(lambda c: c.model.nv, lambda c: c.m.nv),
    "mj_inverse": one(lambda c: c.model.inverse_dynamics(c.q, c.v, c.a), lambda c: c.required),
    "mj_forward": one(lambda c: c.model.forward_dynamics(c.q, c.v, c.tau), lambda c: c.d.qacc),
    "mj_fullM": one(lambda c: c.model.mass_matrix(c.q), lambda c: c.M),
    "mj_solveM": both_solved,
    "d.qfrc_bias": one(
        lambda c: c.model.bias(c.q, c.v), lambda c: c.d.qfrc_bias - c.d.qfrc_passive
    ),
    "mj_jacBody": both_jacobians,
    "d.xpos": both_places,
    "d.subtree_com": one(
        lambda c: c.model.subtree_centers_of_mass(c.q), lambda c: c.d.subtree_com[1:]
    ),
    "d.energy": both_energies,
    "rollout": both_rollouts,
    "mjd_transitionFD": both_transitions,
}


# -- SymPy -----------------------------------------------------------------------------------


@cache
def sympy_case() -> SimpleNamespace:
    """A rod on a cart, by Kane's and by Lagrange's method of SymPy, and ours, at one state."""
    t = sympy.Symbol("t")
    x, th = mechanics.dynamicsymbols("x theta")
    u, w = mechanics.dynamicsymbols("u w")
    m, rod, l, g = 1.5, 0.4, 0.6, 9.81
    N, O = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    A = N.orientnew(
        "A", "Axis", [th, -N.y]
    )  # turns as ours does about y, which points the other way
    cart, bob = O.locatenew("C", x * N.x), None
    bob = cart.locatenew("B", -l * A.z)
    results = {}
    for method in ("lagrange", "kane"):
        rates = (x.diff(t), th.diff(t)) if method == "lagrange" else (u, w)
        O.set_vel(N, 0)
        A.set_ang_vel(N, -rates[1] * N.y)
        cart.set_vel(N, rates[0] * N.x)
        bob.v2pt_theory(cart, N, A)
        bodies = [mechanics.Particle("c", cart, m), mechanics.Particle("b", bob, rod)]
        weights = [(cart, -m * g * N.z), (bob, -rod * g * N.z)]
        if method == "lagrange":
            for body in bodies:
                body.potential_energy = body.mass * g * body.point.pos_from(O).dot(N.z)
            found = mechanics.LagrangesMethod(mechanics.Lagrangian(N, *bodies), [x, th], frame=N)
            found.form_lagranges_equations()
        else:
            found = mechanics.KanesMethod(N, [x, th], [u, w], [x.diff(t) - u, th.diff(t) - w])
            found.kanes_equations(bodies, weights)
        at = {x.diff(t): 0.7, th.diff(t): -1.1, u: 0.7, w: -1.1, x: 0.2, th: 0.5}
        results[method] = SimpleNamespace(
            M=np.array(found.mass_matrix.subs(at).evalf(), float),
            forcing=np.array(found.forcing.subs(at).evalf(), float).ravel(),
            rhs=np.array(found.rhs().subs(at).evalf(), float).ravel()[2:],
            method=found,
        )
    arm = lw.Mechanism(
        name="rod on a cart",
        bodies={"cart": {"mass": m}, "bob": {"mass": rod, "center": [0, 0, -l]}},
        joints={"x": {"type": "prismatic", "child": "cart", "axis": [1, 0, 0]},
                "theta": {"type": "revolute", "parent": "cart", "child": "bob", "axis": [0, -1, 0]}},
    )  # fmt: skip
    q, qd = np.array([0.2, 0.5]), np.array([0.7, -1.1])
    return SimpleNamespace(
        arm=arm, model=lw.compile(arm), q=q, qd=qd, x=x, theta=th, u=u, w=w, **results
    )


def by(formulation: str) -> Check:
    def check(c: SimpleNamespace) -> Pairs:
        eqs = lw.derive(c.arm, by=formulation)
        qdd = lw.compile(eqs).forward_dynamics(c.q, c.qd, np.zeros(2))
        yield qdd, getattr(c, formulation).rhs

    return check


def both_terms(c: SimpleNamespace) -> Pairs:
    yield c.model.mass_matrix(c.q), c.kane.M
    yield -c.model.bias(c.q, c.qd), c.kane.forcing


def both_linear(c: SimpleNamespace) -> Pairs:
    """About the rod hanging at rest."""
    linear = c.kane.method.to_linearizer()
    A, _ = linear.linearize(op_point={c.x: 0, c.theta: 0, c.u: 0, c.w: 0}, A_and_B=True)
    yield lw.linearize(c.arm, [0.0, 0.0]).A, np.array(A.evalf(), float)


SYMPY: dict[str, Check] = {
    "KanesMethod": by("kane"),
    "LagrangesMethod": by("lagrange"),
    ".mass_matrix": both_terms,
    ".rhs()": one(
        lambda c: np.array(
            lw.derive(c.arm, by="lagrange", parameters="numeric").functions()["forward_dynamics"](
                c.q, c.qd, np.zeros(2)
            )
        ).ravel(),
        lambda c: c.lagrange.rhs,
    ),
    ".linearize": both_linear,
    "lambdify": one(
        lambda c: lw.compile(lw.derive(c.arm, by="kane")).mass_matrix(c.q), lambda c: c.kane.M
    ),
    "System": one(lambda c: sorted(c.arm.joints), lambda c: ["theta", "x"]),
}

SECTIONS = {
    "Pinocchio": (PINOCCHIO, pinocchio_case),
    "MuJoCo": (MUJOCO, mujoco_case),
    "SymPy mechanics": (SYMPY, sympy_case),
}


@pytest.mark.parametrize("section", SECTIONS)
def test_every_row_has_one_check_and_every_check_a_row(section: str) -> None:
    rows, (checks, _) = rows_of(section), SECTIONS[section]
    assert len(rows) == len(checks)
    for row in rows:
        assert sum(key in row for key in checks) == 1, row


def test_the_benchmark_has_one_check_for_every_row_of_the_robotics_toolbox() -> None:
    rows = coming_from.rows_of_page()
    assert rows == rows_of("Robotics Toolbox")
    assert [sum(key in row for key in coming_from.CHECKS) for row in rows] == [1] * len(rows)
    assert len(rows) == len(coming_from.CHECKS)


@pytest.mark.parametrize(
    ("section", "key"),
    [
        pytest.param(section, key, id=f"{section}-{re.sub(r'[^A-Za-z]+', '-', key)}")
        for section, (checks, _) in SECTIONS.items()
        for key in checks
    ],
)
def test_both_packages_agree(section: str, key: str) -> None:
    checks, case = SECTIONS[section]
    for ours, theirs in checks[key](case()):
        if isinstance(ours, (list, tuple, bool)):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
