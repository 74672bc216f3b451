"""The same quantities as in `ours`, without Linkwright: positions written down by hand, and all else
from these by differentiation (complex steps, jets) and the laws of mechanics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tests.papers.ours import (
    POINTS,
    Instant,
    components,
    entries,
    in_world,
    regressors,
    unit_vectors,
)
from tests.papers.printed import Value
from tests.references import rigid
from tests.references.rigid import Jet


def slopes(function: Callable[[np.ndarray], Any], at: np.ndarray) -> np.ndarray:
    """∂function/∂x by complex steps, exact to rounding; the last index is that of x."""
    steps = 1e-30j * np.eye(len(at))
    return np.stack([np.imag(function(at + step)) / 1e-30 for step in steps], axis=-1)


@dataclass(frozen=True)
class PlanarChain:
    """Links in the x-y plane: reach[i, k] is how far link k carries mass centre i along itself;
    the links' angles are turns @ q."""

    m: np.ndarray
    I: np.ndarray
    g: float
    reach: np.ndarray
    turns: np.ndarray

    def x(self, q: np.ndarray) -> np.ndarray:
        return self.reach @ np.cos(self.turns @ q)

    def y(self, q: np.ndarray) -> np.ndarray:
        return self.reach @ np.sin(self.turns @ q)

    def Jx(self, q: np.ndarray) -> np.ndarray:
        return -(self.reach * np.sin(self.turns @ q)) @ self.turns

    def Jy(self, q: np.ndarray) -> np.ndarray:
        return (self.reach * np.cos(self.turns @ q)) @ self.turns

    def V(self, q: np.ndarray) -> Any:
        return self.g * self.m @ self.y(q)

    def T(self, q: np.ndarray, v: np.ndarray) -> Any:
        squares = (self.Jx(q) @ v) ** 2 + (self.Jy(q) @ v) ** 2
        return (self.m @ squares + self.I @ (self.turns @ v) ** 2) / 2

    def M(self, q: np.ndarray) -> np.ndarray:
        """The Hessian of T, a quadratic form of the speeds."""
        e = np.eye(len(q))
        return np.array([
            [(self.T(q, a + b) - self.T(q, a) - self.T(q, b)) for a in e] for b in e
        ])  # fmt: skip


@dataclass(frozen=True)
class Moving:
    """A planar chain in motion under forces Q along its coordinates."""

    chain: PlanarChain
    q: np.ndarray
    v: np.ndarray
    Q: np.ndarray

    @cached_property
    def M(self) -> np.ndarray:
        return self.chain.M(self.q)

    @cached_property
    def M_q(self) -> np.ndarray:
        return slopes(self.chain.M, self.q)

    @cached_property
    def L_q(self) -> np.ndarray:
        return slopes(lambda q: self.chain.T(q, self.v) - self.chain.V(q), self.q)

    @cached_property
    def p(self) -> np.ndarray:
        return slopes(lambda v: self.chain.T(self.q, v), self.v)

    @cached_property
    def p_rate(self) -> np.ndarray:
        """Lagrange: d/dt ∂L/∂q̇ = ∂L/∂q + Q."""
        return self.L_q + self.Q

    @cached_property
    def a(self) -> np.ndarray:
        carried = slopes(lambda q: slopes_of_speed(self.chain, q, self.v), self.q) @ self.v
        return np.linalg.solve(self.M, self.p_rate - carried)

    @cached_property
    def angles(self) -> list[Jet]:
        turns = self.chain.turns
        return [
            Jet(*three)
            for three in zip(turns @ self.q, turns @ self.v, turns @ self.a, strict=True)
        ]


def slopes_of_speed(chain: PlanarChain, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """∂T/∂v, which is linear in v, at complex q."""
    e = np.eye(len(v))
    return np.array([chain.T(q, v + a) - chain.T(q, v) - chain.T(q, a) for a in e])


def planar(now: Instant) -> PlanarChain:
    """The gallery's planar mechanisms: bobs at the tips, or mass centres at lc."""
    x, n = now.numbers, len(now.motion[0])
    each = range(1, n + 1)
    reach = np.tril(np.tile([x[f"l{k}"] for k in each], (n, 1)), -1)
    own = "l" if now.name == "triple-pendulum" else "lc"
    reach += np.diag([x[f"{own}{k}"] for k in each])
    is_absolute = now.name in ("triple-pendulum", "remote-elbow")
    turns = np.eye(n) if is_absolute else np.tril(np.ones((n, n)))
    m, I = (np.array([x[f"{key}{k}"] for k in each]) for key in "mI")
    return PlanarChain(m, I, x["g"], reach, turns)


def along_coordinates(now: Instant) -> np.ndarray:
    """The drives: torques at the pendulum's joints act on the links before, too."""
    drives = now.motion[2]
    if now.name == "triple-pendulum":
        return drives - np.append(drives[1:], 0)
    return drives - now.damping * now.motion[1] if now.name == "chain-6" else drives


def names_of(now: Instant) -> list[str]:
    letter = {"triple-pendulum": "theta", "remote-elbow": "p"}.get(now.name, "q")
    return [f"{letter}{k + 1}" for k in range(len(now.motion[0]))]


def general(now: Instant, e: Moving) -> dict[str, float]:
    chain, q = e.chain, e.q
    known = dict(now.numbers) | entries("tau", now.motion[2])
    for k, name in enumerate(names_of(now)):
        known |= {name: q[k], f"d{name}": e.v[k], f"dd{name}": e.a[k]}
    T, V = float(chain.T(q, e.v)), float(chain.V(q))
    known |= {"K": T, "V": V, "P": V, "L": T - V, "H": T + V}
    cosines, sines = ([f(angle) for angle in e.angles] for f in (Jet.cos, Jet.sin))
    for letter, parts in (("x", cosines), ("y", sines)):
        for order, mark in enumerate(("", "d", "dd")):
            part = np.array([(jet.x, jet.d, jet.dd)[order] for jet in parts])
            known |= entries(mark + letter, chain.reach @ part)
    known |= entries("v", np.hypot(chain.Jx(q) @ e.v, chain.Jy(q) @ e.v))
    known |= entries("w", chain.turns @ e.v) | entries("Jw", chain.turns)
    J = np.stack([chain.Jx(q), chain.Jy(q), np.zeros_like(chain.turns)], axis=1)
    known |= entries("Jx", chain.Jx(q)) | entries("Jy", chain.Jy(q))
    for k, own in enumerate(J, 1):
        known |= entries(f"Jv{k}_", own)
    return known


def moving(now: Instant) -> Moving:
    return Moving(planar(now), now.motion[0], now.motion[1], along_coordinates(now))


def lagrange(now: Instant) -> dict[str, float]:
    e = moving(now)
    D = e.M_q  # D[i, j, k] = ∂M_ij/∂q_k
    c = (np.einsum("kji->ijk", D) + np.einsum("kij->ijk", D) - D) / 2
    phi = slopes(e.chain.V, e.q)
    known = general(now, e) | entries("d", e.M) | entries("M", e.M) | entries("c", c)
    known |= entries("phi", phi) | entries("g", phi) | entries("P_q", phi) | entries("L_q", e.L_q)
    known |= entries("C", np.einsum("ijk,i->kj", c, e.v))
    for k in range(len(e.q)):
        known |= entries("M", D[:, :, k], f"_q{k + 1}")
    return known


def hamilton(now: Instant) -> dict[str, float]:
    e = moving(now)
    known = general(now, e) | entries("p", e.p) | entries("dp", e.p_rate)
    along = slopes(lambda v: e.chain.T(e.q, v), e.v)
    return known | entries("L_theta", e.L_q) | entries("L_dtheta", along)


def chain(now: Instant) -> dict[str, float]:
    e = moving(now)
    known = {key: x for key, x in lagrange(now).items() if key not in ("V", "H")} | hamilton(now)
    known |= entries("D", now.damping) | entries("psi", e.Q)
    for k in range(6):
        alone = np.eye(6)[k]
        link = PlanarChain(
            e.chain.m * alone, e.chain.I * alone, e.chain.g, e.chain.reach, e.chain.turns
        )
        known |= {f"K{k + 1}": float(link.T(e.q, e.v)), f"P{k + 1}": float(link.V(e.q))}
    return known


def elbow(now: Instant) -> dict[str, float]:
    e = moving(now)
    known = lagrange(now)
    heights = now.numbers["g"] * e.chain.m * e.chain.y(e.q)

    def tau(values: dict[str, float]) -> np.ndarray:
        other = Instant(now.name, now.seed)
        other.__dict__["numbers"] = values
        free = Moving(planar(other), e.q, e.v, np.zeros(2))
        return free.M @ (e.a - free.a)

    return known | entries("V", heights) | regressors(now, tau)


def newton_euler(now: Instant) -> dict[str, float]:
    """Forces by Newton's law for all that hangs on a joint."""
    e = moving(now)
    known = general(now, e)
    for k, letter in enumerate("abc", 1):
        beyond = range(k, 4)
        known[f"F{letter}x"] = sum(known[f"m{i}"] * known[f"ddx{i}"] for i in beyond)
        known[f"F{letter}y"] = sum(known[f"m{i}"] * (known[f"ddy{i}"] + known["g"]) for i in beyond)
    return known


def approximate(now: Instant) -> dict[str, float]:
    """Seven bodies' coordinates as if free, pulled back by the potential β f²/2."""
    x, (q, v, drives) = now.numbers, now.motion
    z, zd = np.concatenate([q, now.points[0]]), np.concatenate([v, now.points[1]])
    chain = planar(now)

    def f(z: np.ndarray) -> np.ndarray:
        X, Y = chain.x(z[:3]), chain.y(z[:3])
        return z[3:] - np.array([X[1], Y[1], X[2], Y[2]])

    def weight(z: np.ndarray) -> Any:
        return x["g"] * (x["m1"] * chain.y(z[:3])[0] + x["m2"] * z[4] + x["m3"] * z[6])

    J = slopes(f, z)
    Q = np.concatenate([along_coordinates(now), np.zeros(4)]) - slopes(weight, z)
    pull = slopes(lambda z: now.beta * (f(z) @ f(z)) / 2, z)
    inertia = [
        x["I1"] + x["m1"] * x["l1"] ** 2,
        x["I2"],
        x["I3"],
        *np.repeat([x["m2"], x["m3"]], 2),
    ]
    names = ["theta1", "theta2", "theta3", "x2", "y2", "x3", "y3"]
    known = dict(x) | {"beta": now.beta, "gamma": now.gamma} | entries("tau", drives)
    known |= dict(zip(names, z, strict=True))
    known |= dict(zip([f"dd{name}" for name in names], (Q - pull) / inertia, strict=True))
    known |= entries("f", f(z)) | entries("df", J @ zd) | entries("JT", J.T) | entries("Q", Q)
    return known | entries("P", -now.beta * J.T @ (f(z) + now.gamma * J @ zd))


def cartesian(now: Instant) -> dict[str, float]:
    """Two slides: nothing but Newton's law."""
    x, (q, v, tau) = now.numbers, now.motion
    m1, m2, g = x["m1"], x["m2"], x["g"]
    known = dict(x) | entries("q", q) | entries("dq", v) | entries("tau", tau)
    known |= {"ddq1": tau[0] / (m1 + m2) - g, "ddq2": tau[1] / m2}
    known |= entries("Jv1_", np.array([[0, 0], [0, 0], [1, 0]]))
    known |= entries("Jv2_", np.array([[0, 0], [0, 1], [1, 0]]))
    known |= {"K": ((m1 + m2) * v[0] ** 2 + m2 * v[1] ** 2) / 2, "V": (m1 + m2) * g * q[0]}
    known |= entries("d", np.diag([m1 + m2, m2])) | entries("phi", np.array([(m1 + m2) * g, 0]))
    return known | entries("c", np.zeros((2, 2, 2)))


def stanford(x: dict[str, float]) -> list[rigid.Body]:
    """Turn about z, turn about −y of that, slide: the frames of Agrawal's (13) to (19)."""
    tilt = rigid.rpy(np.pi / 2, 0, 0)
    places = [np.eye(3), tilt, tilt], [0.0, x["d1"], x["d2"]]
    bodies = []
    for i, (R, lift) in enumerate(zip(*places, strict=True)):
        m = x[f"m{i + 1}"]
        k1, k3 = x[f"k{i + 1}1"], x[f"k{i + 1}3"]
        bodies.append(rigid.Body(
            i - 1, "prismatic" if i == 2 else "revolute",
            rigid.homogeneous(R, np.array([0, 0, lift])), np.eye(4), rigid.Z, rigid.X, 0.0, m,
            np.array([0, 0, x["d2"] - x["g2"] if i == 1 else 0.0]), m * np.diag([k1**2, k1**2, k3**2]),
        ))  # fmt: skip
    return bodies


def agrawal(now: Instant) -> dict[str, float | Value]:
    """Placements as jets in time; momenta and forces by Newton and Euler."""
    x, (q, v, tau) = now.numbers, now.motion
    bodies = stanford(x)
    rest = rigid.inverse_dynamics(bodies, q, v, np.zeros(3), np.zeros(3))
    a = np.linalg.solve(rigid.mass_matrix(bodies, q), tau - rest)
    known: dict[str, float | Value] = {**x, **entries("tau", tau)}
    for k, name in enumerate(("theta1", "theta2", "s3")):
        known |= {name: q[k], f"d{name}": v[k], f"dd{name}": a[k]}
    moved = rigid.motions(bodies, q, v, a)
    for b, (body, jet) in enumerate(zip(bodies, moved, strict=True)):
        R, spin, drift = jet.x[:3, :3], *(part[:3, :3] for part in (jet.d, jet.dd))
        omega, alpha = rigid.vee(R.T @ spin), rigid.vee(R.T @ drift + spin.T @ spin)
        velocity, acceleration = (R.T @ (part @ [*body.center, 1])[:3] for part in (jet.d, jet.dd))
        moment = body.inertia @ alpha + np.cross(omega, body.inertia @ omega)
        known |= components(f"V{b + 1}", omega, velocity)
        known |= components(f"H{b + 1}", body.mass * velocity, body.inertia @ omega)
        known |= components(f"F{b + 1}", body.mass * acceleration, moment)
        known |= motors(bodies, b, jet.x, omega, velocity, q)
    return known | unit_vectors([jet.x for jet in moved], x)


def motors(
    bodies: list[rigid.Body],
    b: int,
    placed: np.ndarray,
    omega: np.ndarray,
    velocity: np.ndarray,
    q: np.ndarray,
) -> dict[str, Value]:
    """Dual velocity of a body, and its parts by each speed, about the world's origin."""
    center = placed @ rigid.homogeneous(np.eye(3), bodies[b].center)
    J_w, J_c = rigid.jacobians(bodies, q)[b]
    R = placed[:3, :3]
    found = {}
    for point in (point for point, index in POINTS.items() if index == b):
        found[f"V_{point}"] = in_world(center, omega, velocity)
        for r in range(3):
            found[f"v{r + 1}_{point}"] = in_world(center, R.T @ J_w[:, r], R.T @ J_c[:, r])
    return found


SCOPES: dict[tuple[str, str], Callable[[Instant], Any]] = {
    ("triple-pendulum", "newton_euler"): newton_euler,
    ("triple-pendulum", "lagrange"): lagrange,
    ("triple-pendulum", "hamilton"): hamilton,
    ("triple-pendulum", "approximate"): approximate,
    ("cartesian", "lagrange"): cartesian,
    ("elbow", "lagrange"): elbow,
    ("remote-elbow", "lagrange"): lagrange,
    ("stanford-rrp", "kane"): agrawal,
    ("chain-6", "lagrange"): chain,
}
