"""Rest and small motions: equilibria, stiffness, natural frequencies, linear models.

Under constraints everything is reduced to the independent speeds a by q̇ = G a: what is left of a
force h is Gᵀh, and ∂q̈/∂q along the constraints is that of the constrained accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, UnsupportedError
from ..mechanism import Mechanism
from ..model import Model
from ..model import compile as compiled

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Linear:
    """ẋ = A x + B u about a state, x = (a, ȧ) small changes of the independent coordinates and
    speeds by `names`, u of the drives; `eigenvalues` of A in 1/s."""

    names: tuple[str, ...]
    A: Floats
    B: Floats

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        return np.linalg.eigvals(self.A).astype(complex)


@dataclass(frozen=True)
class Equilibrium:
    """A configuration at rest, about which M ä + D ȧ + K a = 0 in the independent coordinates.

    `frequencies` (rad/s) are those of the undamped system, lowest first; one below zero stands for
    a motion that runs away at that rate. `modes` are columns for all speeds, of length 1.
    """

    q: Floats
    is_stable: bool
    stiffness: Floats
    frequencies: Floats
    modes: Floats


def linearize(
    mechanism: Mechanism, q: Any = None, qd: Any = None, torque: Any = None, t: float = 0.0
) -> Linear:
    """The linear model about a state (at home and at rest unless said), exact derivatives.

    Forces `torque` (nv) stay on. States in motion need coordinates whose rates are the speeds, and
    no constraints: the choice of coordinates would change along the motion.
    """
    model = compiled(mechanism, threads=1)
    names = model.names
    here = model.home() if q is None else np.asarray(q, dtype=float)
    speeds = np.zeros(model.nv) if qd is None else np.asarray(qd, dtype=float)
    if speeds.any() and (names.nq != names.nv or names.constraints):
        raise UnsupportedError(
            "about a motion, speeds must be rates of free coordinates", where=mechanism.name,
            remedy="linearize at rest, or use rotation = \"cardan\"",
        )  # fmt: skip
    tau = np.zeros(model.nv) if torque is None else np.asarray(torque, dtype=float)
    time = [t] if names.in_time else []
    by_q, by_qd, by_tau = model.forward_dynamics_derivatives(here, speeds, tau, *time)
    G = _map(model, here, time)
    rows = [names.qd.index(name) for name in model.independent_names]
    n = len(rows)
    lower = [by_q[rows] @ G, by_qd[rows] @ G]
    A = np.block([[np.zeros((n, n)), np.eye(n)], lower])
    drives = by_tau[rows] @ model.input_matrix(here)
    return Linear(model.independent_names, A, np.vstack([np.zeros_like(drives), drives]))


def _map(model: Model, q: Floats, time: list[float]) -> Floats:
    if not model.names.constraints:
        return np.eye(model.nv)
    found: Floats = model.independent_map(q, *time)[0]
    return found


def equilibria(
    mechanism: Mechanism, torque: Any = None, starts: int = 30, seed: int = 0
) -> list[Equilibrium]:
    """Configurations in which the mechanism can rest, found from home and from random starts."""
    model = compiled(mechanism, threads=1)
    rng = np.random.default_rng(seed)
    found: list[Equilibrium] = []
    for k in range(starts):
        step = rng.uniform(-np.pi, np.pi, model.nv) * (k > 0)
        try:
            start = model.integrate(model.home(), step)
            one = equilibrium(mechanism, start, torque)
        except LinkwrightError:
            continue
        if all(np.abs(_apart(model, one.q, other.q)).max() > 1e-6 for other in found):
            found.append(one)
    return found


def _apart(model: Model, q: Floats, other: Floats) -> Floats:
    """How far configurations are apart, full turns not counted."""
    gap: Floats = model.difference(q, other)
    return np.abs((gap + np.pi) % (2 * np.pi) - np.pi)


def equilibrium(mechanism: Mechanism, q0: Any = None, torque: Any = None) -> Equilibrium:
    """Where the mechanism rests, by Newton's steps from q0 (home unless said)."""
    model = compiled(mechanism, threads=1)
    if model.names.in_time:
        raise UnsupportedError("what depends on time has no rest", where=mechanism.name)
    q = model.home() if q0 is None else np.asarray(q0, dtype=float)
    rest, tau = np.zeros(model.nv), np.zeros(model.nv)
    tau = tau if torque is None else np.asarray(torque, dtype=float)
    rows = [model.names.qd.index(name) for name in model.independent_names]
    q = model.close(q) if model.names.constraints else q
    for _ in range(60):
        qdd = model.forward_dynamics(q, rest, tau)
        G = _map(model, q, [])
        slope = model.forward_dynamics_derivatives(q, rest, tau)[0][rows] @ G
        step = -np.linalg.pinv(slope, rcond=1e-12) @ qdd[rows]
        step *= min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
        q = model.integrate(q, G @ step)
        q = model.close(q) if model.names.constraints else q
        if np.abs(step).max() < 1e-13:
            break
    left = np.abs(model.forward_dynamics(q, rest, tau)).max()
    if not left < 1e-8:
        raise LinkwrightError(
            f"no rest was found: {left:.3g} (rad/s² or m/s²) is left", where=mechanism.name,
            remedy="start elsewhere, or give forces that hold it",
        )  # fmt: skip
    return _about(model, q, tau, rows)


def _about(model: Model, q: Floats, tau: Floats, rows: list[int]) -> Equilibrium:
    """Stiffness and modes: K = −M̄ ∂q̈/∂q along the constraints."""
    rest, G = np.zeros(model.nv), _map(model, q, [])
    M = G.T @ model.mass_matrix(q) @ G
    K = -M @ model.forward_dynamics_derivatives(q, rest, tau)[0][rows] @ G
    squares, vectors = np.linalg.eig(np.linalg.solve(M, K))
    order = np.argsort(squares.real)
    squares, modes = squares[order].real, (G @ vectors[:, order]).real
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares))
    length = np.linalg.norm(modes, axis=0)
    return Equilibrium(q, bool((squares > 0).all()), K, frequencies, modes / length)
