"""Rest and small motions about it: equilibria, stiffness, natural frequencies, modes.

Under constraints everything is reduced to the independent speeds a by q̇ = G a: what is left of a
force h is Gᵀh, and ∂q̈/∂q along the constraints is that of the constrained accelerations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, UnsupportedError
from ..mechanism import Mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_vector, check_whole_number
from ..types import Floats, VectorLike
from .checked import check_mechanism
from .linear import forces_at, independent_map, linearize
from .start import start_of

__all__ = ["Equilibrium", "equilibria", "equilibrium", "linearize"]


@dataclass(frozen=True, repr=False)
class Equilibrium(NotebookDisplayed):
    """A configuration at rest, about which M ä + D ȧ + K a = 0 in the independent coordinates.

    `frequencies` (rad/s) are those of the undamped system, lowest first; one below zero stands for
    a motion that runs away at that rate. `modes` are columns for all speeds, of length 1.
    """

    q: Floats
    names: tuple[str, ...]
    mass: Floats
    damping: Floats
    stiffness: Floats
    frequencies: Floats
    modes: Floats

    def summary(self) -> str:
        """The kind of equilibrium and its lowest frequency."""
        lowest = f", lowest {self.frequencies.min():.4g} rad/s" if len(self.frequencies) else ""
        return f"Equilibrium, {self.kind}{lowest}"

    @property
    def is_stable(self) -> bool:
        return self.kind == "stable"

    @property
    def kind(self) -> str:
        """stable; unstable; indifferent, where some motion meets no resistance."""
        lowest = self.frequencies.min(initial=np.inf)
        return "stable" if lowest > 0 else "unstable" if lowest < 0 else "indifferent"

    def notebook_table(self) -> NotebookTable:
        """Return the configuration, and the frequency and mode of each small motion."""
        place = f"q = {np.round(self.q, 6).tolist()}; modes are along all velocities"
        modes = zip(self.frequencies.tolist(), np.round(self.modes.T, 6).tolist(), strict=True)
        return NotebookTable(("frequency (rad/s)", "mode"), list(modes), (place,))

    def __str__(self) -> str:
        rates = ", ".join(f"{f:.6g}" for f in self.frequencies)
        return f"{self.kind} at q = {np.round(self.q, 6).tolist()}: {rates} rad/s"


def equilibria(
    mechanism: Mechanism, torque: VectorLike | None = None, starts: int = 30, seed: int = 0
) -> list[Equilibrium]:
    """Return configurations in which a mechanism can rest, the stable ones first.

    The search starts from home and from random configurations. Equilibria that an indifferent
    motion connects count once.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N (default: none).
    starts : int
        Number of starts.
    seed : int
        Seed of the random starts.

    Returns
    -------
    list of Equilibrium
        Configurations with their stability.

    Examples
    --------
    >>> import linkwright as lw
    >>> len(lw.equilibria(lw.gallery("elbow"), starts=10))
    4
    """
    model = _at_rest(mechanism)
    rng = np.random.default_rng(seed)
    tau = forces_at(model, torque)
    found: list[Equilibrium] = []
    for k in range(check_whole_number(starts, "starts", 1)):
        step = rng.uniform(-np.pi, np.pi, model.nv) * (k > 0)
        try:
            one = _rest(model, model.integrate(model.home(), step), tau)
        except LinkwrightError:
            continue
        if all(_apart(model, one.q, other) > 1e-6 for other in found):
            found.append(one)
    return sorted(found, key=lambda one: -float(one.frequencies.min(initial=np.inf)))


def _apart(model: Model, q: Floats, other: Equilibrium) -> float:
    """How far configurations are apart; full turns and indifferent motions do not count."""
    gap: Floats = model.difference(other.q, q)
    idle = other.modes[:, other.frequencies == 0]
    gap = gap - idle @ (np.linalg.pinv(idle) @ gap) if idle.size else gap
    return float(np.abs((gap + np.pi) % (2 * np.pi) - np.pi).max())


def equilibrium(
    mechanism: Mechanism, q0: VectorLike | None = None, torque: VectorLike | None = None
) -> Equilibrium:
    """Where the mechanism rests, by Newton's steps from q0 (an array, or some coordinates by name;
    home unless said), under constant forces `torque` (an array, or a table by speed or
    actuator)."""
    model = _at_rest(mechanism)
    start = model.home()
    if q0 is not None:
        named = isinstance(q0, Mapping)
        start = (
            start_of(mechanism, model, q0, None)[0] if named else check_vector(q0, model.nq, "q0")
        )
    return _rest(model, start, forces_at(model, torque))


def _at_rest(mechanism: Mechanism) -> Model:
    check_mechanism(mechanism)
    model = compiled(mechanism, threads=1)
    if model.names.is_time_dependent:
        raise UnsupportedError("what depends on time has no rest", where=mechanism.name)
    return model


def _rest(model: Model, q: Floats, tau: Floats) -> Equilibrium:
    rest = np.zeros(model.nv)
    rows = [model.names.qd.index(name) for name in model.independent_names]
    q = model.close(q) if model.names.constraints else q
    for _ in range(60):
        qdd = model.forward_dynamics(q, rest, tau)
        G = independent_map(model, q, [])
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
            f"no equilibrium was found: {left:.3g} (rad/s² or m/s²) is left",
            where=model.mechanism.name, remedy="start elsewhere, or give forces that hold it",
        )  # fmt: skip
    return _about(model, _wound_back(model, q, tau), tau, rows)


def _wound_back(model: Model, q: Floats, tau: Floats) -> Floats:
    """The same rest with angles within half a turn, where full turns make no difference."""
    units = coordinate_units(model.mechanism)
    enough = max(1e-10, model.leeway) if model.names.position_row_count else 0.0
    for k in [k for k, unit in enumerate(units) if unit == "rad" and abs(q[k]) > np.pi]:
        other = q.copy()
        other[k] -= 2 * np.pi * np.round(q[k] / (2 * np.pi))
        open_ = model.constraint_residual(other) if model.names.position_row_count else np.zeros(1)
        moves = model.forward_dynamics(other, np.zeros(model.nv), tau)
        if np.abs(open_).max() < enough and np.abs(moves).max() < 1e-7:
            q = other
    return q


def _about(model: Model, q: Floats, tau: Floats, rows: list[int]) -> Equilibrium:
    """Stiffness and modes: K = −M̄ ∂q̈/∂q and D = −M̄ ∂q̈/∂q̇ along the constraints."""
    rest, G = np.zeros(model.nv), independent_map(model, q, [])
    M = G.T @ model.mass_matrix(q) @ G
    by_q, by_qd, _ = model.forward_dynamics_derivatives(q, rest, tau)
    K, D = -M @ by_q[rows] @ G, -M @ by_qd[rows] @ G
    squares, vectors = np.linalg.eig(np.linalg.solve(M, K))
    order = np.argsort(squares.real)
    squares, modes = squares[order].real, (G @ vectors[:, order]).real
    squares[np.abs(squares) < 1e-10 * np.abs(squares).max(initial=1.0)] = 0.0
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares))
    length = np.linalg.norm(modes, axis=0)
    return Equilibrium(q, model.independent_names, M, D, K, frequencies, modes / length)
