"""Accelerations of jointed rigid bodies by Gauss's principle of least constraint.

Every body has its six accelerations as unknowns, every joint, tree or loop alike, its rows; a
pseudo-inverse by singular values copes with redundant ones. Nothing of the library is used, nor
any of its ways: no cut joints, no joint coordinates, no recursions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GROUND = -1


@dataclass(frozen=True)
class Body:
    """Mass, mass centre and inertia about it, in the body's own axes."""

    mass: float
    center: Sequence[float]
    inertia: np.ndarray


@dataclass(frozen=True)
class Joint:
    """A point that two bodies share, and the directions (axes of the parent) they do not turn in.

    `axis` is that of a revolute joint, for its drive.
    """

    parent: int
    child: int
    at: Sequence[float]
    at_child: Sequence[float]
    stiff: Sequence[Sequence[float]]
    axis: Sequence[float] | None = None


@dataclass(frozen=True)
class Motion:
    """Rotation and origin of a body in the world, angular velocity and that of the origin."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class Result:
    """Angular accelerations and those of the bodies' origins; wrenches (moment, force) of the
    joints on their children, at the joints; the rank of all rows and their number."""

    angular: np.ndarray
    linear: np.ndarray
    wrenches: np.ndarray
    rank: int
    rows: int


STILL = Motion(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def revolute(parent: int, child: int, at: Sequence[float], at_child: Sequence[float],
             axis: Sequence[float]) -> Joint:  # fmt: skip
    """A joint that turns about `axis`, one of the coordinate axes."""
    stiff = [e for e in np.eye(3) if not np.dot(e, axis)]
    return Joint(parent, child, at, at_child, stiff, axis)


def turning(axis: Sequence[float], angle: float) -> np.ndarray:
    """The matrix of a rotation about a unit vector."""
    K = _skew(np.asarray(axis, float))
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def carried(parent: Motion, joint: Joint, R: np.ndarray, w: np.ndarray) -> Motion:
    """The child's motion, turned by R against its parent at the relative velocity w (world)."""
    rotation = parent.R @ R
    arm, own = parent.R @ joint.at, rotation @ joint.at_child
    total = parent.w + w
    p = parent.p + arm - own
    return Motion(rotation, p, total, parent.v + np.cross(parent.w, arm) - np.cross(total, own))


def accelerations(
    bodies: Sequence[Body], joints: Sequence[Joint], motions: Sequence[Motion],
    drives: Sequence[float], gravity: Sequence[float],
) -> Result:  # fmt: skip
    """Of a state in which all joints hold; `drives` are moments about the joints' axes."""
    places = [*motions, STILL]
    A, gamma = _rows(bodies, joints, places)
    weights, forces = _loads(bodies, joints, places, drives, gravity)
    root = np.linalg.cholesky(weights)
    free = np.linalg.solve(weights, forces)
    B = np.linalg.solve(root, A.T).T
    inverse = np.linalg.pinv(B, rcond=1e-10)
    extra = inverse @ -(gamma + A @ free)
    x = free + np.linalg.solve(root.T, extra)
    multipliers = inverse.T @ extra
    rank = int(np.linalg.matrix_rank(B, tol=1e-9 * np.linalg.norm(B, 2)))
    angular, linear = _at_origins(bodies, motions, x)
    wrenches = _wrenches(joints, places, multipliers)
    return Result(angular, linear, wrenches, rank, len(gamma))


def self_stress(
    bodies: Sequence[Body], joints: Sequence[Joint], motions: Sequence[Motion]
) -> np.ndarray:
    """Wrenches of the joints that hold each other and move nothing: one set a redundant row."""
    places = [*motions, STILL]
    A, _ = _rows(bodies, joints, places)
    left, sizes, _ = np.linalg.svd(A)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    return np.array([_wrenches(joints, places, stress) for stress in left[:, rank:].T])


def mismatch(
    bodies: Sequence[Body], joints: Sequence[Joint], motions: Sequence[Motion]
) -> tuple[float, float]:
    """By how much the joints are open, in position and in velocity."""
    places = [*motions, STILL]
    A, _ = _rows(bodies, joints, places)
    speeds = [np.append(_center_velocity(b, m), m.w) for b, m in zip(bodies, motions, strict=True)]
    gaps = []
    for joint in joints:
        one, two = places[joint.parent], places[joint.child]
        gaps.append(one.p + one.R @ joint.at - two.p - two.R @ joint.at_child)
    return float(np.abs(gaps).max()), float(np.abs(A @ np.concatenate(speeds)).max())


def _center_velocity(body: Body, motion: Motion) -> np.ndarray:
    return motion.v + np.cross(motion.w, motion.R @ body.center)


def _skew(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0.0]])


def _rows(
    bodies: Sequence[Body], joints: Sequence[Joint], places: Sequence[Motion]
) -> tuple[np.ndarray, np.ndarray]:
    """A and γ with A x + γ = 0, x the accelerations (mass centre, angular) of all bodies."""
    blocks, rates = [], []
    for joint in joints:
        rows = np.zeros((3 + len(joint.stiff), 6 * len(bodies)))
        rest = np.zeros(len(rows))
        base = places[joint.parent]
        normals = np.array(joint.stiff, float).reshape(-1, 3) @ base.R.T
        sides = ((joint.parent, joint.at, -1.0), (joint.child, joint.at_child, 1.0))
        for index, point, sign in sides:
            if index == GROUND:
                continue
            place, start = places[index], 6 * index
            r = place.R @ (np.asarray(point) - bodies[index].center)
            rows[:3, start : start + 3] = sign * np.eye(3)
            rows[:3, start + 3 : start + 6] = -sign * _skew(r)
            rest[:3] += sign * np.cross(place.w, np.cross(place.w, r))
            rows[3:, start + 3 : start + 6] = sign * normals
        rest[3:] = np.cross(base.w, normals) @ (places[joint.child].w - base.w)
        blocks.append(rows)
        rates.append(rest)
    return np.vstack(blocks), np.concatenate(rates)


def _loads(
    bodies: Sequence[Body], joints: Sequence[Joint], places: Sequence[Motion],
    drives: Sequence[float], gravity: Sequence[float],
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The mass matrix of the free bodies, and the forces on them."""
    weights, forces = np.zeros((6 * len(bodies),) * 2), np.zeros(6 * len(bodies))
    for i, body in enumerate(bodies):
        R, w = places[i].R, places[i].w
        tensor = R @ body.inertia @ R.T
        weights[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = body.mass * np.eye(3)
        weights[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = tensor
        forces[6 * i : 6 * i + 3] = body.mass * np.asarray(gravity)
        forces[6 * i + 3 : 6 * i + 6] = -np.cross(w, tensor @ w)
    driven = [joint for joint in joints if joint.axis is not None]
    for joint, moment in zip(driven, drives, strict=True):
        along = moment * places[joint.parent].R @ joint.axis
        for index, sign in ((joint.parent, -1), (joint.child, 1)):
            if index != GROUND:
                forces[6 * index + 3 : 6 * index + 6] += sign * along
    return weights, forces


def _at_origins(
    bodies: Sequence[Body], motions: Sequence[Motion], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    angular, linear = [], []
    for body, motion, (center, turn) in zip(bodies, motions, x.reshape(-1, 2, 3), strict=True):
        r = motion.R @ np.asarray(body.center)
        angular.append(turn)
        linear.append(center - np.cross(turn, r) - np.cross(motion.w, np.cross(motion.w, r)))
    return np.array(angular), np.array(linear)


def _wrenches(
    joints: Sequence[Joint], places: Sequence[Motion], multipliers: np.ndarray
) -> np.ndarray:
    found, start = [], 0
    for joint in joints:
        count = len(joint.stiff)
        force = multipliers[start : start + 3]
        along = np.array(joint.stiff, float).reshape(-1, 3) @ places[joint.parent].R.T
        found.append(np.append(along.T @ multipliers[start + 3 : start + 3 + count], force))
        start += 3 + count
    return np.array(found)
