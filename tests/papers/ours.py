"""The quantities that papers name, at a random instant, as our formulations give them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import casadi as ca
import numpy as np

import linkwright as lw
from linkwright.algebra.dual import DualDisplacement, DualVector
from linkwright.formulations.approximate_equations import ApproximateFormulation
from linkwright.formulations.kane import KaneFormulation
from linkwright.kinematics.tree_builder import build_kinematic_tree
from linkwright.mechanism import replace_part_fields
from tests.papers.printed import Value, value

POINTS = {"B1": 0, "A": 0, "B2": 1, "D2": 1, "C": 1, "D3": 2, "E": 2}
"""Agrawal's points, and the bodies they belong to."""


@dataclass(frozen=True)
class Instant:
    """A gallery mechanism with random parameters, and a random state under random drives."""

    name: str
    seed: int

    @cached_property
    def arm(self) -> lw.Mechanism:
        """With a frame c1, c2, … at every mass centre; the chain has dampers."""
        plain = lw.gallery(self.name)
        centers = {
            f"c{k}": {"body": name, "origin": body.center}
            for k, (name, body) in enumerate(plain.bodies.items(), 1)
        }
        joints = dict(plain.joints)
        if self.name == "chain-6":
            for d, (name, joint) in zip(self.damping, joints.items(), strict=True):
                joints[name] = replace_part_fields(joint, damping=float(d))
        rng = np.random.default_rng(self.seed)
        values = {
            key: round(rng.uniform(0.1, 0.5) if key[0] == "I" else rng.uniform(0.5, 2), 3)
            for key in plain.parameters
        }
        own = replace_part_fields(plain, frames={**plain.frames, **centers}, joints=joints)
        return own.with_parameters(**values)

    @cached_property
    def damping(self) -> np.ndarray:
        return np.random.default_rng(self.seed + 2).uniform(0.1, 1, 6).round(3)

    @cached_property
    def numbers(self) -> dict[str, float]:
        return {key: float(number) for key, number in self.arm.values.items()}

    @cached_property
    def motion(self) -> np.ndarray:
        """Rows: coordinates, speeds, drives of the actuators."""
        n = lw.derive(self.arm).nv
        return np.random.default_rng(self.seed + 3).uniform(0.2, 1.2, (3, n))

    @cached_property
    def points(self) -> np.ndarray:
        """Rows: places and speeds of Bayseç's x2, y2, x3, y3, which keep no constraint."""
        return np.random.default_rng(self.seed + 4).uniform(0.5, 1.5, (2, 4))

    beta, gamma = 7.0, 0.3


def numbers_of(expressions: Any, inputs: list[Any], *at: Any) -> list[np.ndarray]:
    """CasADi expressions at a point."""
    found = ca.Function("at", inputs, [ca.SX(e) for e in expressions]).call([ca.DM(x) for x in at])
    return [np.asarray(x) for x in found]


class Evaluated:
    """Equations by one formulation, at an instant."""

    def __init__(self, now: Instant, by: str) -> None:
        self.now = now
        self.eqs = lw.derive(now.arm, by=by, parameters="numeric")
        self.q, self.v, drives = now.motion
        B = self.function("input_matrix", self.q)
        self.drives, self.tau = drives, B @ drives
        self.a = self.function("forward_dynamics", self.q, self.v, self.tau).ravel()

    def function(self, name: str, *at: np.ndarray) -> np.ndarray:
        return np.asarray(self.eqs.function(name)(*at))

    def number(self, name: str, *at: np.ndarray) -> float:
        return float(self.function(name, *at)[0, 0])

    def frame(self, name: str, frame: str, *at: np.ndarray) -> np.ndarray:
        return np.asarray(self.eqs.function(name, frame)(*at))

    def of_motion(self, *expressions: Any) -> list[np.ndarray]:
        inputs = [self.eqs.symbols[key] for key in ("q", "qd", "qdd")]
        return numbers_of(expressions, inputs, self.q, self.v, self.a)

    @property
    def bodies(self) -> range:
        return range(1, len(self.eqs.names.bodies) + 1)


def entries(name: str, array: np.ndarray, after: str = "") -> dict[str, float]:
    """`name11`, `name12`, … of a vector or a matrix."""
    places = product(*(range(size) for size in np.shape(array)))
    return {name + "".join(str(i + 1) for i in at) + after: float(array[at]) for at in places}


def general(e: Evaluated) -> dict[str, float]:
    """Coordinates, drives, energies, M, and the motion of the mass centres."""
    known = dict(e.now.numbers) | entries("tau", e.drives)
    for k, name in enumerate(e.eqs.names.q):
        known |= {name: e.q[k], f"d{name}": e.v[k], f"dd{name}": e.a[k]}
    kinetic = e.number("kinetic_energy", e.q, e.v)
    potential = e.number("potential_energy", e.q)
    known |= {"K": kinetic, "V": potential, "L": kinetic - potential}
    for k in e.bodies:
        place = e.frame("placement", f"c{k}", e.q)[:3, 3]
        velocity = e.frame("frame_velocity", f"c{k}", e.q, e.v).ravel()
        acceleration = e.frame("frame_acceleration", f"c{k}", e.q, e.v, e.a).ravel()
        J = e.frame("jacobian", f"c{k}", e.q)
        known |= {f"v{k}": float(np.linalg.norm(velocity[3:])), f"w{k}": velocity[2]}
        for i, letter in enumerate("xyz"):
            known |= {f"{letter}{k}": place[i], f"d{letter}{k}": velocity[3 + i]}
            known |= {f"dd{letter}{k}": acceleration[3 + i]}
        known |= entries(f"Jv{k}_", J[3:]) | entries(f"Jx{k}", J[3]) | entries(f"Jy{k}", J[4])
        known |= entries(f"Jw{k}", J[2])
    return known


def common(now: Instant, by: str) -> dict[str, float]:
    """What every formulation has."""
    e = Evaluated(now, by)
    M, C = e.function("mass_matrix", e.q), e.function("coriolis_matrix", e.q, e.v)
    phi = e.function("gravity", e.q).ravel()
    known = general(e) | entries("d", M) | entries("M", M) | entries("C", C)
    virgala = entries("g", phi) | {"P": known["V"]} if now.name == "chain-6" else {}
    assert not virgala.keys() & known.keys()
    return known | entries("phi", phi) | virgala


def lagrange(now: Instant) -> dict[str, float]:
    known, e = common(now, "lagrange"), Evaluated(now, "lagrange")
    M = e.function("mass_matrix", e.q)
    for k, c in enumerate(e.of_motion(*e.eqs.extra("christoffel")), 1):
        known |= entries("c", c, str(k))
    q = e.eqs.symbols["q"]
    (K,), (V,) = e.eqs.expressions("kinetic_energy"), e.eqs.expressions("potential_energy")
    L_q, V_q = e.of_motion(ca.gradient(K - V, q), ca.gradient(V, q))
    known |= entries("L_q", L_q.ravel()) | entries("P_q", V_q.ravel())
    for i in range(e.eqs.nv):
        known |= entries(
            "M", e.of_motion(ca.jacobian(e.eqs.M, q[i]))[0].reshape(M.shape), f"_q{i + 1}"
        )
    return known


def chain(now: Instant) -> dict[str, float]:
    """Virgala's names, with momenta and their rates from Hamilton's equations."""
    known = {key: x for key, x in lagrange(now).items() if key not in ("V", "V1")}
    e = Evaluated(now, "hamilton")
    known |= hamilton(now, e) | entries("D", now.damping)
    known |= entries("psi", e.tau - now.damping * e.v)
    for k in e.bodies:
        known |= {f"K{k}": energy_of_link(now, k)} | {f"P{k}": weight_of_link(now, k)}
    return known


def only(now: Instant, k: int) -> lw.Mechanism:
    """The arm with the mass of its k-th link alone."""
    kept = {f"{key}{k}" for key in "mI"}
    zero = {key: 0 for key in now.numbers if key[0] in "mI" and key not in kept}
    return now.arm.with_parameters(**zero)


def energy_of_link(now: Instant, k: int) -> float:
    eqs = lw.derive(only(now, k), parameters="numeric")
    return float(eqs.function("kinetic_energy")(*now.motion[:2]))


def weight_of_link(now: Instant, k: int) -> float:
    eqs = lw.derive(only(now, k), parameters="numeric")
    return float(eqs.function("potential_energy")(now.motion[0]))


def elbow(now: Instant) -> dict[str, float]:
    """With the two regressors, that τ(θ) leaves no choice of."""
    known = lagrange(now) | {f"V{k}": weight_of_link(now, k) for k in (1, 2)}
    q, v = now.motion[:2]
    a = np.array([known["ddq1"], known["ddq2"]])

    def tau(values: dict[str, float]) -> np.ndarray:
        eqs = lw.derive(now.arm.with_parameters(**values), parameters="numeric")
        return np.asarray(eqs.function("inverse_dynamics")(q, v, a)).ravel()

    return known | regressors(now, tau)


def regressors(now: Instant, tau: Callable[[dict[str, float]], np.ndarray]) -> dict[str, float]:
    """Y and y of Y θ = τ: from as many mechanisms as there are parameters θ, in the same motion."""
    found: dict[str, float] = {}
    for name, theta in (("Y", nine), ("y", six)):
        count = len(theta(now.numbers))
        keys = [k for k in now.numbers if name == "Y" or k != "g"]  # the six leave g outside
        rows, forces = [], []
        for draw in np.random.default_rng(5).uniform(0.5, 2, (count, len(keys))):
            values = now.numbers | dict(zip(keys, draw.round(3), strict=True))
            rows.append(theta(values))
            forces.append(tau(values))
        found |= entries(name, np.linalg.solve(np.array(rows), np.array(forces)).T)
    return found


def nine(x: dict[str, float]) -> list[float]:
    m1, m2, l1, lc1, lc2, g = (x[key] for key in ("m1", "m2", "l1", "lc1", "lc2", "g"))
    moments = [m1 * lc1**2, m2 * l1**2, m2 * lc2**2, m2 * l1 * lc2, x["I1"], x["I2"]]
    return [*moments, m1 * lc1 * g, m2 * l1 * g, m2 * lc2 * g]


def six(x: dict[str, float]) -> list[float]:
    m1, m2, l1, lc1, lc2 = (x[key] for key in ("m1", "m2", "l1", "lc1", "lc2"))
    moments = [m1 * lc1**2 + m2 * l1**2 + x["I1"], m2 * lc2**2 + x["I2"], m2 * l1 * lc2]
    return [*moments, m1 * lc1, m2 * l1, m2 * lc2]


def newton_euler(now: Instant) -> dict[str, float]:
    e = Evaluated(now, "newton_euler")
    known = general(e)
    wrenches = e.of_motion(*e.eqs.extra("joint_wrenches").values())
    for letter, wrench in zip("abc", wrenches, strict=True):
        known |= {f"F{letter}x": float(wrench[3, 0]), f"F{letter}y": float(wrench[4, 0])}
    return known


def hamilton(now: Instant, e: Evaluated | None = None) -> dict[str, float]:
    e = e or Evaluated(now, "hamilton")
    assert e.eqs.state is not None
    n, state = e.eqs.nv, e.eqs.state
    (x,) = e.of_motion(state.from_motion())
    inputs = [state.x, e.eqs.symbols["tau"]]
    rates, H = numbers_of((state.rates(), e.eqs.extra("hamiltonian")), inputs, x, e.tau)
    momenta = {"H": float(H[0, 0])} | entries("p", x[n:, 0]) | entries("dp", rates[n:, 0])
    L = e.eqs.expressions("kinetic_energy")[0] - e.eqs.expressions("potential_energy")[0]
    L_q, L_v = e.of_motion(*(ca.gradient(L, e.eqs.symbols[key]) for key in ("q", "qd")))
    momenta |= entries("L_theta", L_q.ravel()) | entries("L_dtheta", L_v.ravel())
    return general(e) | momenta


def approximate(now: Instant) -> dict[str, float]:
    """Of seven coordinates that keep no constraint; accelerations without damping."""
    q, v, drives = now.motion
    known = dict(now.numbers) | {"beta": now.beta, "gamma": now.gamma} | entries("tau", drives)
    eqs = lw.derive(now.arm, by="approximate", parameters="numeric", beta=now.beta, gamma=0.0)
    damped = ApproximateFormulation(
        build_kinematic_tree(now.arm, "numeric"), ["link2", "link3"], now.beta, now.gamma, 0
    )
    assert eqs.state is not None
    assert eqs.state.names[:7] == (*eqs.names.q, "x_link2", "y_link2", "x_link3", "y_link3")  # (66)
    names = ["theta1", "theta2", "theta3", "x2", "y2", "x3", "y3"]
    x = np.concatenate([q, now.points[0], v, now.points[1]])
    tau = np.asarray(eqs.function("input_matrix")(q)) @ drives
    (rates,) = numbers_of([eqs.state.rates()], [eqs.state.x, eqs.symbols["tau"]], x, tau)
    known |= dict(zip(names, x, strict=False))
    known |= dict(zip([f"dd{name}" for name in names], rates[7:, 0], strict=True))
    f, f_rate, J, Q, P = numbers_of(
        [damped.f, damped.f_rate, damped.J, damped.generalized_forces, damped.J.T @ damped.multipliers()],
        [ca.vertcat(damped.z, damped.zd), damped.tau], x, tau,
    )  # fmt: skip
    known |= entries("f", f.ravel()) | entries("df", f_rate.ravel()) | entries("JT", J.T)
    return known | entries("Q", Q.ravel()) | entries("P", P.ravel())


def kane(now: Instant) -> dict[str, float | Value]:
    """Agrawal's dual velocities, partials, momenta and inertia forces."""
    e = Evaluated(now, "kane")
    own = KaneFormulation(build_kinematic_tree(now.arm, "numeric"))
    known: dict[str, float | Value] = {**general(e)}
    symbols = [own.q, own.qd, own.qdd]
    partials = e.eqs.extra("partial_velocities")
    for b, (body, mass) in enumerate(own.tree.masses.items()):
        at = DualDisplacement(np.eye(3), mass.c)
        link = own.dual_velocities[mass.link]
        V, rate = at.to_displaced_axes(link.V), at.to_displaced_axes(link.rate)
        H = DualVector(mass.m * V.dual, mass.I @ V.real)  # (8)
        F = DualVector(mass.m * rate.dual, mass.I @ rate.real) + V.cross(H)  # (9)
        for name, vector in (("V", V), ("H", H), ("F", F)):
            parts = numbers_of((vector.real, vector.dual), symbols, e.q, e.v, e.a)
            known |= components(f"{name}{b + 1}", *parts)
        T = e.frame("placement", f"c{b + 1}", e.q)
        here = [point for point, index in POINTS.items() if index == b]
        motor = in_world(T, *numbers_of((V.real, V.dual), symbols, e.q, e.v, e.a))
        known |= {f"V_{point}": motor for point in here}
        for r, speed in enumerate(e.eqs.names.qd, 1):
            v = partials[body].get(speed, DualVector(np.zeros(3), np.zeros(3)))
            moved = in_world(T, *e.of_motion(v.real, v.dual))
            known |= {f"v{r}_{point}": moved for point in here}
    placed = [e.frame("placement", body, e.q) for body in e.eqs.names.bodies]
    return known | unit_vectors(placed, now.numbers)


def components(name: str, real: np.ndarray, dual: np.ndarray) -> dict[str, Value]:
    """`name` with x, y, z of a dual vector."""
    parts = zip("xyz", real.ravel(), dual.ravel(), strict=True)
    return {f"{name}{letter}": value(a, b) for letter, a, b in parts}


def in_world(T: np.ndarray, real: np.ndarray, dual: np.ndarray) -> Value:
    """A dual vector with components along the axes of a frame there, about the world's origin."""
    direction = T[:3, :3] @ real.ravel()
    return value(direction, T[:3, :3] @ dual.ravel() + np.cross(T[:3, 3], direction))


def unit_vectors(placed: list[np.ndarray], x: dict[str, float]) -> dict[str, Value]:
    """The bound unit vectors of Agrawal's frames, from the placements of the bodies."""
    at = {
        "A": placed[0],
        "B": placed[0] @ lifted(x["d1"]),
        "C": placed[1] @ lifted(x["d2"] - x["g2"]),
        "D": placed[1] @ lifted(x["d2"]),
        "E": placed[2],
    }
    return {
        f"{letter}_{frame}": in_world(T, np.eye(3)[i], np.zeros(3))
        for frame, T in at.items()
        for i, letter in enumerate("xyz")
    }


def lifted(height: float) -> np.ndarray:
    T = np.eye(4)
    T[2, 3] = height
    return T


SCOPES: dict[tuple[str, str], Callable[[Instant], Any]] = {
    ("triple-pendulum", "newton_euler"): newton_euler,
    ("triple-pendulum", "lagrange"): lagrange,
    ("triple-pendulum", "hamilton"): hamilton,
    ("triple-pendulum", "approximate"): approximate,
    ("cartesian", "lagrange"): lagrange,
    ("elbow", "lagrange"): elbow,
    ("remote-elbow", "lagrange"): lagrange,
    ("stanford-rrp", "kane"): kane,
    ("chain-6", "lagrange"): chain,
}
"""By mechanism, and formulation or section of the file."""
