"""Differences between our model of a file and that of the program for which it was written."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import mujoco
import numpy as np
import pinocchio as pin
from tests.robots import Robot

import linkwright as lw
from linkwright.mechanism import mechanism_names, pose_numbers, replace_part_fields

_IGNORED = ("friction", "limits", "contacts")
"""Effects that MuJoCo has as soft constraints, which are switched off in both."""


def relative_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference over the largest entry; infinite where shapes differ."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape or not np.isfinite(ours).all():
        return float("inf")
    size = max(1e-3, float(np.abs(theirs).max(initial=0.0)))
    return float(np.abs(ours - theirs).max(initial=0.0)) / size


def open_tree(mechanism: lw.Mechanism) -> lw.Mechanism:
    """Return the mechanism without loops and constraints, and what MuJoCo has as constraints."""
    bare = mechanism.without(*_IGNORED)
    removed: dict[str, object] = {"loops": {}, "constraints": {}, "assembly": {}}
    return bare.model_copy(update=removed | {"independent": (), "constraint_order": ()})


def evaluate(equations: lw.Equations, name: str, *arguments: np.ndarray) -> np.ndarray:
    """Return a function of the equations, interpreted by CasADi: compiling takes longer."""
    function: ca.Function = equations.functions()[name]
    return np.array(function(*arguments)).squeeze()


def urdf_difference(path: Path, mechanism: lw.Mechanism) -> dict[str, float]:
    """Return differences from Pinocchio, which ignores friction, damping and springs."""
    del mechanism  # read again without these
    robot = Robot(path, free=False)
    q, v, a = robot.state(0)
    if not len(v):
        return {"degrees of freedom": float(robot.pin.nv)}
    theirs, G = robot.configuration(q), robot.G
    torque = G.T @ pin.rnea(robot.pin, robot.data, theirs, G @ v, G @ a)
    inertia = G.T @ pin.crba(robot.pin, robot.data, theirs) @ G
    found = np.atleast_1d(evaluate(robot.equations, "inverse_dynamics", q, v, a))
    M = evaluate(robot.equations, "mass_matrix", q).reshape(len(v), len(v))
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    return {
        "inverse dynamics": relative_difference(found, torque),
        "mass matrix": relative_difference(M, inertia),
    }


def mjcf_difference(path: Path, mechanism: lw.Mechanism) -> dict[str, float]:
    """Return differences from MuJoCo without contacts, limits, equalities and friction loss."""
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    d = mujoco.MjData(m)
    found = _kept_parts(m, mechanism)
    if not m.nv:
        return found
    q, v, a = _random_state(m)
    A = np.array([_mujoco_velocities(m, q, e) for e in np.eye(m.nv)]).T
    d.qpos, d.qvel, d.qacc = q, A @ v, _mujoco_accelerations(m, q, v, a)
    acceleration = d.qacc.copy()
    mujoco.mj_forward(m, d)
    d.qacc = acceleration
    mujoco.mj_inverse(m, d)
    equations = lw.derive(open_tree(_without_tiny_offsets(m, mechanism)), parameters="numeric")
    ours = np.atleast_1d(evaluate(equations, "inverse_dynamics", q, v, a))
    theirs = d.qfrc_inverse - _compensation_by_actuators(m, d)
    found["inverse dynamics"] = relative_difference(ours, A.T @ theirs)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    found["mass matrix"] = relative_difference(
        evaluate(equations, "mass_matrix", q).reshape(m.nv, m.nv), A.T @ M @ A
    )
    if mechanism.actuators:
        kept = [m.actuator_outadr[k] for k in _kept_actuators(m, mechanism)]
        B = evaluate(equations, "input_matrix", q).reshape(m.nv, -1, order="A")
        moments = np.zeros((len(d.moment_rownnz), m.nv))
        mujoco.mju_sparse2dense(
            moments, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind
        )
        found["actuators"] = relative_difference(B, A.T @ moments[kept].T)
    return found


def _without_tiny_offsets(m: mujoco.MjModel, mechanism: lw.Mechanism) -> lw.Mechanism:
    """Return the mechanism with centres of mass at the origins of bodies that MuJoCo calls simple:
    it ignores their offsets, which are below 1e-6 m."""
    simple = {
        mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, k) or f"body{k}"
        for k in range(1, m.nbody)
        if m.body_simple[k] and m.body_ipos[k].any() and abs(m.body_ipos[k]).max() < 1e-6
    }
    bodies = {
        name: replace_part_fields(body, center=[0, 0, 0]) if name in simple else body
        for name, body in mechanism.bodies.items()
    }
    return replace_part_fields(mechanism, bodies=bodies) if simple else mechanism


def lost_actuators(mechanism: lw.Mechanism) -> list[str]:
    """Return what the mechanism says about actuators of its file that it does not have."""
    return [text for text in mechanism.unused if text.startswith("the actuator '")]


def _kept_actuators(m: mujoco.MjModel, mechanism: lw.Mechanism) -> list[int]:
    """Return the indices of the actuators that the mechanism has."""
    names = [
        mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or f"actuator{k}"
        for k in range(m.nactuator)
    ]
    return [k for k, name in enumerate(names) if name in mechanism.actuators]


def _compensation_by_actuators(m: mujoco.MjModel, d: mujoco.MjData) -> np.ndarray:
    """Return the gravity compensation that MuJoCo counts among the efforts (`actuatorgravcomp`);
    here it is a force of the mechanism itself, as `unused` says."""
    return np.where(m.jnt_actgravcomp[m.dof_jntid], d.qfrc_gravcomp, 0.0)


def _kept_parts(m: mujoco.MjModel, mechanism: lw.Mechanism) -> dict[str, float]:
    """Return how many actuators and keyframes are missing without a warning, and how far
    poses are off."""
    poses = list(mechanism.poses.values())
    found = {
        "number of actuators": float(
            abs(len(mechanism.actuators) + len(lost_actuators(mechanism)) - m.nactuator)
        ),
        "number of keyframes": float(abs(len(poses) - m.nkey)),
    }
    if poses and len(poses) == m.nkey:
        names = mechanism_names(mechanism).q
        given = [pose_numbers(mechanism, pose, "q") for pose in mechanism.poses]
        ours = np.array([[one[name] for name in names] for one in given])
        found["keyframes"] = relative_difference(ours, m.key_qpos)
    return found


def _random_state(m: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates, with unit quaternions, velocities and accelerations."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, m.nq)
    for i in range(m.njnt):
        if m.jnt_type[i] < 2:
            k = m.jnt_qposadr[i] + (3 if m.jnt_type[i] == 0 else 0)
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    v, a = rng.uniform(-1, 1, (2, m.nv))
    return q, v, a


def _mujoco_velocities(m: mujoco.MjModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return our velocities as MuJoCo's: free joints have the linear part first, in world axes."""
    theirs = np.array(v)
    for i in np.flatnonzero(m.jnt_type == 0):
        k, a = m.jnt_qposadr[i], m.jnt_dofadr[i]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, q[k + 3 : k + 7])
        theirs[a : a + 3] = R.reshape(3, 3) @ v[a + 3 : a + 6]
        theirs[a + 3 : a + 6] = v[a : a + 3]
    return theirs


def _mujoco_accelerations(
    m: mujoco.MjModel, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> np.ndarray:
    """Return our accelerations as MuJoCo's: d(R v)/dt = R (v̇ + ω × v)."""
    a = np.array(a)
    for i in np.flatnonzero(m.jnt_type == 0):
        k = m.jnt_dofadr[i]
        a[k + 3 : k + 6] += np.cross(v[k : k + 3], v[k + 3 : k + 6])
    return _mujoco_velocities(m, q, a)
