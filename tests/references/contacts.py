"""Wheels that roll on planes and blades that cut, on any tree of `rigid`: plain and slow.

What touches has no relative velocity: A(q) v = 0, said with velocities of points; its rate
A v' + gamma = 0 follows from their accelerations, and forces from d'Alembert's principle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from . import rigid

GROUND = -1


@dataclass
class Wheel:
    """On body number `body` with its centre and axle there; the plane is z = 0 of a placement."""

    body: int
    radius: float
    axle: np.ndarray
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    plane: int = GROUND
    plane_at: np.ndarray = field(default_factory=lambda: np.eye(4))


@dataclass
class Blade:
    """A point of a body that cannot move along a normal, seen from another body."""

    body: int
    point: np.ndarray
    normal: np.ndarray
    seen_from: int = GROUND


@dataclass
class Moving:
    """A body's placement, angular velocity and acceleration, and those of its points."""

    jet: rigid.Jet

    def __post_init__(self) -> None:
        R, Rd, Rdd = (part[:3, :3] for part in (self.jet.x, self.jet.d, self.jet.dd))
        self.R, self.w = R, rigid.vee(Rd @ R.T)
        self.w_rate = rigid.vee(Rdd @ R.T + Rd @ Rd.T)

    def point(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity, acceleration of one of its points."""
        one = np.append(own, 1.0)
        return (self.jet.x @ one)[:3], (self.jet.d @ one)[:3], (self.jet.dd @ one)[:3]

    def at(self, place: np.ndarray) -> np.ndarray:
        """Own coordinates of a place in the world."""
        return np.linalg.solve(self.jet.x, np.append(place, 1.0))[:3]


def _moving(bodies: list[rigid.Body], q: np.ndarray, v: np.ndarray) -> list[Moving]:
    """All bodies, and ground at the end, where −1 finds it, moving without v'."""
    jets = rigid.motions(bodies, q, v, np.zeros(len(v)))
    return [Moving(jet) for jet in [*jets, rigid.constant(np.eye(4))]]


def wheel_rows(wheel: Wheel, moving: list[Moving]) -> tuple[np.ndarray, np.ndarray]:
    """Velocity of the wheel's lowest point against the plane, and its rate."""
    on, plane = moving[wheel.body], moving[wheel.plane]
    axle = on.R @ wheel.axle / np.linalg.norm(wheel.axle)
    normal = plane.R @ wheel.plane_at[:3, 2]
    axle_rate, normal_rate = np.cross(on.w, axle), np.cross(plane.w, normal)
    up = normal - (normal @ axle) * axle
    up_rate = normal_rate - (normal @ axle) * axle_rate
    up_rate = up_rate - (normal_rate @ axle + normal @ axle_rate) * axle
    size = np.linalg.norm(up)
    rho = -wheel.radius * up / size
    rho_rate = -wheel.radius * (up_rate / size - up * (up @ up_rate) / size**3)
    hub, hub_rate, hub_second = on.point(wheel.center)
    _, under, under_second = plane.point(plane.at(hub + rho))
    relative = hub_rate + np.cross(on.w, rho) - under
    # the place of contact moves over the plane, whose points there differ in velocity by w × it
    drift = hub_rate + rho_rate - under
    rate = hub_second + np.cross(on.w_rate, rho) + np.cross(on.w, rho_rate)
    return relative, rate - under_second - np.cross(plane.w, drift)


def blade_rows(blade: Blade, moving: list[Moving]) -> tuple[np.ndarray, np.ndarray]:
    on, base = moving[blade.body], moving[blade.seen_from]
    place, velocity, acceleration = on.point(blade.point)
    _, under, under_second = base.point(base.at(place))
    normal = on.R @ blade.normal / np.linalg.norm(blade.normal)
    drift = velocity - under
    rate = acceleration - under_second - np.cross(base.w, drift)
    along = normal @ rate + np.cross(on.w, normal) @ drift
    return np.array([normal @ drift]), np.array([along])


def rows(
    bodies: list[rigid.Body], contacts: list[Wheel | Blade], q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A and gamma of all contacts."""

    def stacked(speeds: np.ndarray) -> np.ndarray:
        moving = _moving(bodies, q, speeds)
        pairs = [
            wheel_rows(c, moving) if isinstance(c, Wheel) else blade_rows(c, moving)
            for c in contacts
        ]
        return np.hstack([np.concatenate(part)[:, None] for part in zip(*pairs, strict=True)])

    A = np.array([stacked(unit)[:, 0] for unit in np.eye(len(v))]).T
    return A, stacked(v)[:, 1]


def accelerations(
    bodies: list[rigid.Body], contacts: list[Wheel | Blade], q: np.ndarray, v: np.ndarray,
    tau: np.ndarray, gravity: np.ndarray, driven: dict[int, float] | None = None,
) -> np.ndarray:  # fmt: skip
    """v' along the motions that the contacts allow; `driven` coordinates have a given one."""
    n = len(v)
    M = rigid.mass_matrix(bodies, q)
    h = rigid.inverse_dynamics(bodies, q, v, np.zeros(n), gravity)
    A, gamma = rows(bodies, contacts, q, v)
    A, right = with_driven(A, -gamma, driven or {})
    particular = np.linalg.lstsq(A, right, rcond=None)[0]
    N = allowed(A)
    free = np.linalg.solve(N.T @ M @ N, N.T @ (tau - h - M @ particular))
    return particular + N @ free


def with_driven(
    A: np.ndarray, right: np.ndarray, driven: dict[int, float]
) -> tuple[np.ndarray, np.ndarray]:
    """A x = right, and some entries of x given."""
    own = np.eye(A.shape[1])[list(driven)]
    return np.vstack([A, own]), np.concatenate([right, list(driven.values())])


def allowed(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span the motions with A v = 0."""
    _, sizes, turned = np.linalg.svd(A)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    return turned[rank:].T


def link(
    parent: int, kind: str, axis: np.ndarray, origin: object = (0.0, 0.0, 0.0),
    mass: float = 0.0, center: object = (0.0, 0.0, 0.0), inertia: object = 0.0,
) -> rigid.Body:  # fmt: skip
    """A body on an elementary joint, its axes parallel to the parent's; without mass if not said."""
    place = rigid.homogeneous(np.eye(3), np.asarray(origin, float))
    tensor = np.zeros((3, 3)) + (np.diag(inertia) if np.ndim(inertia) == 1 else inertia)
    return rigid.Body(
        parent, kind, place, np.eye(4), axis, rigid.X, 0.0, mass, np.asarray(center, float), tensor
    )


def free_links() -> list[rigid.Body]:
    """x, y, z, then heading about z, lean about x: the next turn, about y, carries the body."""
    axes = [rigid.X, rigid.Y, rigid.Z, rigid.Z, rigid.X]
    kinds = ["prismatic"] * 3 + ["revolute"] * 2
    return [link(i - 1, kind, axis) for i, (kind, axis) in enumerate(zip(kinds, axes, strict=True))]


def gaps(bodies: list[rigid.Body], contacts: list[Wheel | Blade], q: np.ndarray) -> np.ndarray:
    """Heights of the wheels' lowest points above their planes."""
    moving = _moving(bodies, q, np.zeros(len(q)))
    found = []
    for wheel in (contact for contact in contacts if isinstance(contact, Wheel)):
        on, plane = moving[wheel.body], moving[wheel.plane]
        axle = on.R @ wheel.axle / np.linalg.norm(wheel.axle)
        normal = plane.R @ wheel.plane_at[:3, 2]
        height = normal @ (on.point(wheel.center)[0] - plane.point(wheel.plane_at[:3, 3])[0])
        found.append(height - wheel.radius * np.sqrt(1 - (normal @ axle) ** 2))
    return np.array(found)


def closed(
    bodies: list[rigid.Body], contacts: list[Wheel | Blade], q: np.ndarray, adjust: list[int]
) -> np.ndarray:
    """q with some coordinates changed so that all wheels touch, by Newton's method."""
    q = np.array(q, float)
    for _ in range(50):
        gap = gaps(bodies, contacts, q)
        if np.abs(gap).max() < 1e-14:
            return q
        steps = 1e-6 * np.eye(len(q))[adjust]
        slopes = [gaps(bodies, contacts, q + h) - gaps(bodies, contacts, q - h) for h in steps]
        q[adjust] -= np.linalg.solve(np.array(slopes).T / 2e-6, gap)
    assert np.abs(gap).max() < 1e-12, "the wheels do not touch"
    return q
