"""Bricard's mechanism as free bodies: 5 rods, 30 accelerations, 30 rows of 6 joints, rank 29."""

from __future__ import annotations

import numpy as np

from .free_bodies import (
    GROUND,
    STILL,
    Body,
    Joint,
    Motion,
    Result,
    accelerations,
    carried,
    mismatch,
    revolute,
    turning,
)  # fmt: skip

MASS, LENGTH, SIDE, GRAVITY = 1.0, 1.0, 0.1, np.array([0, -9.81, 0])
CORNERS = LENGTH * np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1.0]])
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]


def _rod(i: int) -> Body:
    """Rod i from corner i to the next, its frame at corner i with the axes of ground."""
    along = CORNERS[i + 1] - CORNERS[i]
    sides = np.where(along != 0, LENGTH, SIDE)
    inertia = MASS / 12 * np.diag(np.sum(sides**2) - sides**2)
    return Body(MASS, along / 2, inertia)


BODIES = [_rod(i) for i in range(5)]
JOINTS: list[Joint] = [
    revolute(GROUND if i == 0 else i - 1, i, np.zeros(3) if i == 0 else 2 * BODIES[i - 1].center,
             np.zeros(3), AXES[i])
    for i in range(5)
] + [revolute(GROUND, 4, CORNERS[5], 2 * BODIES[4].center, AXES[5])]  # fmt: skip


def motions(q: np.ndarray, qd: np.ndarray) -> list[Motion]:
    """Of the rods, from the angles of the first five joints and their rates."""
    found = [STILL]
    for joint, angle, rate in zip(JOINTS[:5], q, qd, strict=True):
        base = found[-1]
        w = base.R @ AXES[len(found) - 1] * rate
        found.append(carried(base, joint, turning(joint.axis, angle), w))
    return found[1:]


def openness(q: np.ndarray, qd: np.ndarray) -> tuple[float, float]:
    """How far the last joint is from being closed, in position and velocity."""
    moved = motions(q, qd)
    gap, slip = mismatch(BODIES, JOINTS, moved)
    tilt = np.abs(np.cross(moved[4].R @ AXES[5], AXES[5])).max()
    return max(gap, float(tilt)), slip


def forward(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, Result]:
    """q̈ of the first five joints under moments on them, and all about the bodies."""
    moved = motions(q, qd)
    result = accelerations(BODIES, JOINTS, moved, [*tau, 0.0], GRAVITY)
    angular = np.vstack([np.zeros(3), result.angular])
    axes = [place.R @ axis for place, axis in zip([STILL, *moved[:4]], AXES[:5], strict=True)]
    return np.sum(axes * np.diff(angular, axis=0), axis=1), result


def energy(q: np.ndarray, qd: np.ndarray) -> float:
    total = 0.0
    for body, place in zip(BODIES, motions(q, qd), strict=True):
        r = place.R @ body.center
        v, tensor = place.v + np.cross(place.w, r), place.R @ body.inertia @ place.R.T
        total += MASS * (v @ v / 2 - GRAVITY @ (place.p + r)) + place.w @ tensor @ place.w / 2
    return float(total)
