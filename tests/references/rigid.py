"""Dynamics of any tree of rigid bodies from first principles, slow and plain.

Motions are Taylor jets in time (value, rate, second rate) of homogeneous matrices, so that
velocities and accelerations are exact; forces follow from d'Alembert's principle. Nothing of
the library is used, nor any of its formulas: no recursions, no spatial vectors, no link frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Jet:
    """x(t) to second order: x + x' t + x'' t²/2, for scalars or matrices."""

    x: np.ndarray
    d: np.ndarray
    dd: np.ndarray

    def __matmul__(self, o: Jet) -> Jet:
        return Jet(
            self.x @ o.x,
            self.d @ o.x + self.x @ o.d,
            self.dd @ o.x + 2 * self.d @ o.d + self.x @ o.dd,
        )

    def cos(self) -> Jet:
        c, s = np.cos(self.x), np.sin(self.x)
        return Jet(c, -s * self.d, -c * self.d**2 - s * self.dd)

    def sin(self) -> Jet:
        c, s = np.cos(self.x), np.sin(self.x)
        return Jet(s, c * self.d, -s * self.d**2 + c * self.dd)


def constant(matrix: np.ndarray) -> Jet:
    zero = np.zeros_like(matrix, dtype=float)
    return Jet(np.asarray(matrix, float), zero, zero)


def homogeneous(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


def rpy(r: float, p: float, y: float) -> np.ndarray:
    cr, sr, cp, sp, cy, sy = np.cos(r), np.sin(r), np.cos(p), np.sin(p), np.cos(y), np.sin(y)
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1.0]])
    return Rz @ Ry @ Rx


def turn(axis: np.ndarray, angle: Jet) -> Jet:
    """Rodrigues: 1 + sin·[e] + (1 − cos)·[e]²."""
    K = skew(axis / np.linalg.norm(axis))
    K2 = K @ K
    s, c = angle.sin(), angle.cos()
    parts = []
    for order, (si, ci) in enumerate(((s.x, c.x), (s.d, c.d), (s.dd, c.dd))):
        T = np.zeros((4, 4))
        T[:3, :3] = si * K + (float(order == 0) - ci) * K2
        if order == 0:
            T += np.eye(4)
        parts.append(T)
    return Jet(*parts)


def slide(axis: np.ndarray, by: Jet) -> Jet:
    e = axis / np.linalg.norm(axis)
    parts = []
    for order, value in enumerate((by.x, by.d, by.dd)):
        T = np.eye(4) if order == 0 else np.zeros((4, 4))
        T[:3, 3] = value * e
        parts.append(T)
    return Jet(*parts)


def spin(q: np.ndarray, w: np.ndarray, wd: np.ndarray) -> Jet:
    """A rotation by the unit quaternion q, turning at w (own axes): R' = R[w], and so on."""
    a, x, y, z = q
    R = np.array([
        [a * a + x * x - y * y - z * z, 2 * (x * y - a * z), 2 * (x * z + a * y)],
        [2 * (x * y + a * z), a * a - x * x + y * y - z * z, 2 * (y * z - a * x)],
        [2 * (x * z - a * y), 2 * (y * z + a * x), a * a - x * x - y * y + z * z],
    ])  # fmt: skip
    W, Wd = skew(w), skew(wd)
    jets = []
    for M in (R, R @ W, R @ (W @ W + Wd)):
        T = np.zeros((4, 4))
        T[:3, :3] = M
        jets.append(T)
    jets[0][3, 3] = 1.0
    return Jet(*jets)


@dataclass
class Body:
    """A body on a joint: its parent's index (−1: ground), the joint, and its inertia."""

    parent: int
    kind: str
    origin: np.ndarray  # 4×4, the joint in the parent
    child_origin: np.ndarray  # 4×4, the joint in the body
    axis: np.ndarray
    axis2: np.ndarray
    pitch: float
    mass: float
    center: np.ndarray
    inertia: np.ndarray  # 3×3 about the mass centre
    damping: list[float] = field(default_factory=list)
    friction: list[float] = field(default_factory=list)
    stiffness: list[float] = field(default_factory=list)
    rest: list[float] = field(default_factory=list)
    rotor: list[float] = field(default_factory=list)

    @property
    def nq(self) -> int:
        return {"ball": 4, "free": 7}.get(self.kind, self.nv)

    @property
    def nv(self) -> int:
        return {
            "fixed": 0, "cylindrical": 2, "turn-slide": 2, "universal": 2, "planar": 3,
            "cardan": 3, "free-cardan": 6, "ball": 3, "free": 6,
        }.get(self.kind, 1)  # fmt: skip


X, Y, Z = np.eye(3)


def joint_jet(body: Body, q: np.ndarray, v: np.ndarray, vd: np.ndarray) -> Jet:
    """The joint's own displacement as a jet in time."""
    k = body.kind
    if k == "fixed":
        return constant(np.eye(4))
    if k == "ball":
        return spin(q, v, vd)
    if k == "free":
        turned = spin(q[3:], v[:3], vd[:3])
        R, Rd = turned.x[:3, :3], turned.d[:3, :3]
        turned.x[:3, 3] = q[:3]
        turned.d[:3, 3] = R @ v[3:]
        turned.dd[:3, 3] = Rd @ v[3:] + R @ vd[3:]
        return turned
    c = [Jet(q[i], v[i], vd[i]) for i in range(len(v))]
    a, b = body.axis, body.axis2
    if k in ("revolute", "continuous"):
        return turn(a, c[0])
    if k == "prismatic":
        return slide(a, c[0])
    if k == "helical":
        p = body.pitch
        return turn(a, c[0]) @ slide(a, Jet(p * q[0], p * v[0], p * vd[0]))
    if k == "cylindrical":
        return turn(a, c[0]) @ slide(a, c[1])
    if k == "turn-slide":
        return turn(a, c[0]) @ slide(b, c[1])
    if k == "universal":
        return turn(a, c[0]) @ turn(b, c[1])
    if k == "planar":
        n = a / np.linalg.norm(a)
        x = b - n * (n @ b)
        y = np.cross(n, x)
        return slide(x, c[0]) @ slide(y, c[1]) @ turn(n, c[2])
    if k == "cardan":
        return turn(X, c[0]) @ turn(Y, c[1]) @ turn(Z, c[2])
    if k == "free-cardan":
        slides = slide(X, c[0]) @ slide(Y, c[1]) @ slide(Z, c[2])
        return slides @ turn(X, c[3]) @ turn(Y, c[4]) @ turn(Z, c[5])
    raise ValueError(k)


def motions(bodies: list[Body], q: np.ndarray, v: np.ndarray, vd: np.ndarray) -> list[Jet]:
    """Every body's placement in the world, with its first and second rate."""
    found: list[Jet] = []
    iq = iv = 0
    for body in bodies:
        nq, nv = body.nq, body.nv
        own = joint_jet(body, q[iq : iq + nq], v[iv : iv + nv], vd[iv : iv + nv])
        iq, iv = iq + nq, iv + nv
        base = constant(np.eye(4)) if body.parent < 0 else found[body.parent]
        off = np.linalg.inv(body.child_origin)
        found.append(base @ constant(body.origin) @ own @ constant(off))
    return found


def vee(W: np.ndarray) -> np.ndarray:
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def jacobians(bodies: list[Body], q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(J_ω, J_c) of each body: angular, and of its mass centre, world axes."""
    n = sum(body.nv for body in bodies)
    columns = []
    for k in range(n):
        moved = motions(bodies, q, np.eye(n)[k], np.zeros(n))
        columns.append([_velocity(b, jet) for b, jet in zip(bodies, moved, strict=True)])
    found = []
    for i in range(len(bodies)):
        w = np.array([columns[k][i][0] for k in range(n)]).T
        c = np.array([columns[k][i][1] for k in range(n)]).T
        found.append((w, c))
    return found


def _velocity(body: Body, jet: Jet) -> tuple[np.ndarray, np.ndarray]:
    omega = vee(jet.d[:3, :3] @ jet.x[:3, :3].T)
    return omega, (jet.d @ np.append(body.center, 1.0))[:3]


def mass_matrix(bodies: list[Body], q: np.ndarray) -> np.ndarray:
    n = sum(body.nv for body in bodies)
    M = np.diag([r for body in bodies for r in (body.rotor or [0.0] * body.nv)]).astype(float)
    M = M.reshape(n, n)
    placed = motions(bodies, q, np.zeros(n), np.zeros(n))
    for body, jet, (Jw, Jc) in zip(bodies, placed, jacobians(bodies, q), strict=True):
        R = jet.x[:3, :3]
        M = M + body.mass * Jc.T @ Jc + Jw.T @ (R @ body.inertia @ R.T) @ Jw
    return M


def inverse_dynamics(
    bodies: list[Body], q: np.ndarray, v: np.ndarray, vd: np.ndarray, gravity: np.ndarray
) -> np.ndarray:
    """Generalized forces for a motion, losses and springs included, by d'Alembert."""
    n = len(v)
    tau = np.zeros(n)
    moved = motions(bodies, q, v, vd)
    for body, jet, (Jw, Jc) in zip(bodies, moved, jacobians(bodies, q), strict=True):
        R, Rd, Rdd = (m[:3, :3] for m in (jet.x, jet.d, jet.dd))
        omega = vee(Rd @ R.T)
        alpha = vee(Rdd @ R.T + Rd @ Rd.T)
        world = R @ body.inertia @ R.T
        moment = world @ alpha + np.cross(omega, world @ omega)
        a = (jet.dd @ np.append(body.center, 1.0))[:3]
        tau += Jc.T @ (body.mass * (a - gravity)) + Jw.T @ moment
    return tau + rotors(bodies) * vd - passive(bodies, q, v)


def rotors(bodies: list[Body]) -> np.ndarray:
    return np.array([r for body in bodies for r in (body.rotor or [0.0] * body.nv)])


def passive(bodies: list[Body], q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """−d·v − F·sign(v) − k(q − rest)."""
    forces = []
    iq = iv = 0
    for body in bodies:
        for k in range(body.nv):
            f = 0.0
            if body.damping:
                f -= body.damping[k] * v[iv + k]
            if body.friction:
                f -= body.friction[k] * np.sign(v[iv + k])
            if body.stiffness:
                f -= body.stiffness[k] * (q[iq + k] - body.rest[k])
            forces.append(f)
        iq, iv = iq + body.nq, iv + body.nv
    return np.array(forces)


def kinetic_energy(bodies: list[Body], q: np.ndarray, v: np.ndarray) -> float:
    return float(v @ mass_matrix(bodies, q) @ v / 2)


def potential_energy(bodies: list[Body], q: np.ndarray, gravity: np.ndarray) -> float:
    n = sum(body.nv for body in bodies)
    placed = motions(bodies, q, np.zeros(n), np.zeros(n))
    energy = 0.0
    for body, jet in zip(bodies, placed, strict=True):
        energy -= body.mass * gravity @ (jet.x @ np.append(body.center, 1.0))[:3]
    iq = 0
    for body in bodies:
        for k in range(body.nv if body.stiffness else 0):
            energy += body.stiffness[k] * (q[iq + k] - body.rest[k]) ** 2 / 2
        iq += body.nq
    return float(energy)
