"""Stewart–Gough platform in the six coordinates of its platform, without loops or multipliers.

A leg's angles and length are explicit functions of where its tip is. By d'Alembert's principle
a leg asks its tip for a force that is affine in the tip's acceleration; the platform is one free
body under these forces. Nothing of the library is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BASE, TOP = 0.80, 0.50
BETA, ALPHA = np.radians([10, 12])
GRAVITY = np.array([0, 0, -9.81])
MASS, CENTER, INERTIA = 60.0, np.array([0, 0, 0.10]), np.diag([4.2, 4.6, 7.5])
CYLINDER = (9.0, 0.30, np.diag([0.35, 0.35, 0.02]))
ROD = (4.0, -0.25, np.diag([0.12, 0.12, 0.002]))
_THIRD = 2 * np.pi / 3
X, Y, Z = np.eye(3)


def _circle(radius: float, angles: list[float]) -> np.ndarray:
    return np.array([[radius * np.cos(a), radius * np.sin(a), 0] for a in angles])


FEET = _circle(
    BASE, [BETA, _THIRD - BETA, _THIRD + BETA, 2 * _THIRD - BETA, 2 * _THIRD + BETA, -BETA]
)
TIPS = _circle(TOP, [k * _THIRD + np.pi / 3 + side * ALPHA for k in range(3) for side in (-1, 1)])


@dataclass(frozen=True)
class Pose:
    """The platform: rotation, origin, angular velocity and that of the origin, world axes."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class Leg:
    """(first angle, second angle, length), rates and accelerations."""

    x: np.ndarray
    d: np.ndarray
    dd: np.ndarray


def leg(s: np.ndarray, sd: np.ndarray, sdd: np.ndarray) -> Leg:
    """From the tip as seen from the foot: s = Rx(a) Ry(b) (0, 0, L)."""
    across, acrossd = s[1] * s[1] + s[2] * s[2], 2 * (s[1] * sd[1] + s[2] * sd[2])
    rho = np.sqrt(across)
    rhod = acrossd / (2 * rho)
    rhodd = (sd[1] ** 2 + sd[2] ** 2 + s[1] * sdd[1] + s[2] * sdd[2] - rhod**2) / rho
    L = np.sqrt(s @ s)
    Ld = s @ sd / L
    Ldd = (sd @ sd + s @ sdd - Ld**2) / L
    turn, turnd = s[1] * sd[2] - s[2] * sd[1], s[1] * sdd[2] - s[2] * sdd[1]
    tilt, tiltd = sd[0] * rho - s[0] * rhod, sdd[0] * rho - s[0] * rhodd
    return Leg(
        np.array([np.arctan2(-s[1], s[2]), np.arctan2(s[0], rho), L]),
        np.array([turn / across, tilt / L**2, Ld]),
        np.array(
            [(turnd - turn / across * acrossd) / across, (tiltd - 2 * tilt * Ld / L) / L**2, Ldd]
        ),
    )


def _axes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The second axis, and the rotation of a leg."""
    ca, sa, cb, sb = np.cos(x[0]), np.sin(x[0]), np.cos(x[1]), np.sin(x[1])
    turned = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    return turned @ Y, turned @ np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])


def tip_force(s: np.ndarray, sd: np.ndarray, sdd: np.ndarray, drive: float) -> np.ndarray:
    """What the platform does to a leg whose tip moves so and whose cylinder pushes by `drive`."""
    now, partial = leg(s, sd, sdd), [leg(s, e, np.zeros(3)).d for e in np.eye(3)]
    axis, R = _axes(now.x)
    n = R @ Z
    w = now.d[0] * X + now.d[1] * axis
    wd = now.dd[0] * X + now.dd[1] * axis + now.d[0] * now.d[1] * np.cross(X, axis)
    turns = np.array([d[0] * X + d[1] * axis for d in partial])
    force = -drive * np.array([d[2] for d in partial])
    for (mass, reach, inertia), moves in ((CYLINDER, 0.0), (ROD, 1.0)):
        r, tensor = reach * n, R @ inertia @ R.T
        a = moves * sdd + np.cross(wd, r) + np.cross(w, np.cross(w, r))
        force += (moves * np.eye(3) + np.cross(turns, r)) @ (mass * (a - GRAVITY))
        force += turns @ (tensor @ wd + np.cross(w, tensor @ w))
    return force


def legs(pose: Pose, wd: np.ndarray, vd: np.ndarray) -> list[Leg]:
    return [leg(*tip) for tip in _tips(pose, wd, vd)]


def tip_forces(pose: Pose, wd: np.ndarray, vd: np.ndarray, drives: np.ndarray) -> np.ndarray:
    tips = _tips(pose, wd, vd)
    return np.array([tip_force(*tip, drive) for tip, drive in zip(tips, drives, strict=True)])


def _tips(
    pose: Pose, wd: np.ndarray, vd: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    found = []
    for foot, point in zip(FEET, TIPS, strict=True):
        r = pose.R @ point
        turn = np.cross(pose.w, r)
        acceleration = vd + np.cross(wd, r) + np.cross(pose.w, turn)
        found.append((pose.p + r - foot, pose.v + turn, acceleration))
    return found


def missing(pose: Pose, wd: np.ndarray, vd: np.ndarray, drives: np.ndarray) -> np.ndarray:
    """The wrench (moment, force) on the platform's origin that the motion lacks."""
    r, tensor = pose.R @ CENTER, pose.R @ INERTIA @ pose.R.T
    a = vd + np.cross(wd, r) + np.cross(pose.w, np.cross(pose.w, r))
    force = MASS * (a - GRAVITY)
    moment = np.cross(r, force) + tensor @ wd + np.cross(pose.w, tensor @ pose.w)
    on_legs = tip_forces(pose, wd, vd, drives)
    return np.append(moment + np.cross(TIPS @ pose.R.T, on_legs).sum(0), force + on_legs.sum(0))


def forward(pose: Pose, drives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(ω̇, v̇) of the platform."""
    rest = missing(pose, np.zeros(3), np.zeros(3), drives)
    M = np.array([missing(pose, e[:3], e[3:], drives) - rest for e in np.eye(6)]).T
    found = np.linalg.solve(M, -rest)
    return found[:3], found[3:]


def inverse(pose: Pose, wd: np.ndarray, vd: np.ndarray) -> np.ndarray:
    """The forces of the cylinders that make the platform move so."""
    rest = missing(pose, wd, vd, np.zeros(6))
    B = np.array([missing(pose, wd, vd, e) - rest for e in np.eye(6)]).T
    return np.linalg.solve(B, -rest)


def energy(pose: Pose) -> float:
    """Kinetic and potential, of platform and legs."""
    r, tensor = pose.R @ CENTER, pose.R @ INERTIA @ pose.R.T
    v = pose.v + np.cross(pose.w, r)
    total = MASS * (v @ v / 2 - GRAVITY @ (pose.p + r)) + pose.w @ tensor @ pose.w / 2
    for foot, (s, sd, sdd) in zip(FEET, _tips(pose, np.zeros(3), np.zeros(3)), strict=True):
        now = leg(s, sd, sdd)
        axis, R = _axes(now.x)
        w = now.d[0] * X + now.d[1] * axis
        for (mass, reach, inertia), moves in ((CYLINDER, 0.0), (ROD, 1.0)):
            arm = reach * (R @ Z)
            u = moves * sd + np.cross(w, arm)
            total += mass * (u @ u / 2 - GRAVITY @ (foot + moves * s + arm))
            total += w @ R @ inertia @ R.T @ w / 2
    return float(total)
