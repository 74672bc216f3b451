"""Two arms holding a body, as 7 free bodies: 42 accelerations and 39 rows of 8 joints."""

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

HALF, HEIGHT, UPPER, FORE, HOLD = 0.40, 0.35, 0.45, 0.40, 0.30
GRAVITY = np.array([0, 0, -9.81])
X, Y, Z = np.eye(3)


def _tensor(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0) -> np.ndarray:
    return np.array([[xx, xy, xz], [xy, yy, 0], [xz, 0, zz]])


def _arm(side: float) -> list[Body]:
    return [
        Body(5.0, [0.01, 0, -HEIGHT / 3], _tensor(0.060, 0.062, 0.020)),
        Body(3.5, [UPPER / 2, side * 0.02, 0], _tensor(0.006, 0.065, 0.066, xz=0.002)),
        Body(2.2, [0.4 * FORE, 0, 0.01], _tensor(0.003, 0.034, 0.033, xz=-0.001)),
    ]


def _joints(first: int, side: float) -> list[Joint]:
    none, elbow = [0, 0, 0], [UPPER, 0, 0]
    return [
        revolute(GROUND, first, [0, side * HALF, HEIGHT], none, Z),
        revolute(first, first + 1, none, none, Y),
        revolute(first + 1, first + 2, elbow, none, Y),
    ]


BODIES = [*_arm(-1), *_arm(1), Body(4.0, [0.01, 0, 0.02], _tensor(0.130, 0.020, 0.140, xy=0.003))]
HAND = [FORE, 0, 0]
GRIP = Joint(2, 6, HAND, [0, -HOLD, 0], [])
GRASP = Joint(5, 6, HAND, [0, HOLD, 0], np.eye(3))
JOINTS = [*_joints(0, -1), *_joints(3, 1), GRIP, GRASP]


def motions(a: np.ndarray, ad: np.ndarray, b: np.ndarray, bd: np.ndarray) -> list[Motion]:
    """From the angles of both arms; the body goes with arm b, which holds it rigidly."""
    found: list[Motion] = []
    for joints, angles, rates in ((JOINTS[:3], a, ad), (JOINTS[3:6], b, bd)):
        base = STILL
        for joint, angle, rate in zip(joints, angles, rates, strict=True):
            w = base.R @ np.asarray(joint.axis) * rate
            base = carried(base, joint, turning(joint.axis, angle), w)
            found.append(base)
    return [*found, carried(found[5], GRASP, np.eye(3), np.zeros(3))]


def openness(moved: list[Motion]) -> tuple[float, float]:
    return mismatch(BODIES, JOINTS, moved)


def forward(moved: list[Motion], drives: np.ndarray) -> tuple[np.ndarray, Result]:
    """q̈ of the six driven joints (a1, a2, a3, b1, b2, b3), and all about the bodies."""
    result = accelerations(BODIES, JOINTS, moved, drives, GRAVITY)
    places, angular = [*moved, STILL], np.vstack([result.angular, np.zeros(3)])
    rates = [
        places[j.parent].R @ j.axis @ (angular[j.child] - angular[j.parent]) for j in JOINTS[:6]
    ]
    return np.array(rates), result
