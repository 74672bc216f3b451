"""Equilibria and small motions about them: stiffness, natural frequencies, modes.

Under constraints everything is reduced to the independent velocities ȧ by q̇ = G ȧ: a force h
becomes Gᵀh, and ∂q̈/∂q along the constraints is that of the constrained accelerations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, UnsupportedError
from ..kinematics.closing import jacobian_pseudoinverse
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import Model
from ..model.model import compile as compile_model
from ..number_checks import check_vector, check_whole_number
from ..simulation.start import start_of
from ..types import Floats, VectorLike
from .operating_points import constant_forces
from .tangent_states import independent_velocity_map

NEWTON_ITERATIONS = 60
"""The largest number of Newton steps: enough for several turns at the largest step."""

LARGEST_STEP = 0.5
"""Largest change of a coordinate in a Newton step, rad or m: linear terms are poor beyond it."""

CONVERGED_STEP = 1e-13
"""Newton step below which the iteration ends: rounding."""

RANK_SHARE = 1e-12
"""Singular values below this share count as zero: motions that meet no resistance."""

RESTING_ACCELERATION = 1e-8
"""Largest acceleration of an equilibrium, rad/s² or m/s²: far above rounding, far below gravity."""

SAME_CONFIGURATION = 1e-6
"""Configurations that differ by less are one equilibrium, rad or m."""

INDIFFERENT_SHARE = 1e-10
"""Squared frequencies below this share of the largest are zero up to rounding."""

WINDING_ACCELERATION = 1e-7
"""Largest acceleration after angles are reduced by full turns, rad/s² or m/s²: sin and cos of large
angles have more rounding."""

WINDING_RESIDUAL = 1e-10
"""Largest residual of the constraints after angles are reduced by full turns, rad or m."""


@dataclass(frozen=True, repr=False)
class Equilibrium(NotebookDisplayed):
    """A configuration at rest, about which M ä + D ȧ + K a = 0 in the independent coordinates.

    `q` is the configuration, `names` are the independent coordinates, and `mass`, `damping` and
    `stiffness` the matrices M, D and K. `frequencies` (rad/s) are those of the undamped system,
    lowest first; one below zero stands for a motion that grows at that rate. `modes` are columns
    for all velocities, of length 1.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linearization.equilibrium(lw.gallery("elbow"), {"q1": -1.5})
    >>> found.kind, found.q.round(6)
    ('stable', array([-1.570796,  0.      ]))
    """

    q: Floats
    names: tuple[str, ...]
    mass: Floats
    damping: Floats
    stiffness: Floats
    frequencies: Floats
    modes: Floats

    def summary(self) -> str:
        """Return the kind of equilibrium and its lowest frequency."""
        lowest = f", lowest {self.frequencies.min():.4g} rad/s" if len(self.frequencies) else ""
        return f"Equilibrium, {self.kind}{lowest}"

    @property
    def is_stable(self) -> bool:
        """Whether all small motions about the configuration oscillate."""
        return self.kind == "stable"

    @property
    def kind(self) -> str:
        """One of "stable", "unstable" and "indifferent", where some motion meets no resistance."""
        lowest = self.frequencies.min(initial=np.inf)
        return "stable" if lowest > 0 else "unstable" if lowest < 0 else "indifferent"

    def notebook_table(self) -> NotebookTable:
        """Return the configuration, and the frequency and mode of each small motion."""
        place = f"q = {np.round(self.q, 6).tolist()}; modes are along all velocities"
        modes = zip(self.frequencies.tolist(), np.round(self.modes.T, 6).tolist(), strict=True)
        return NotebookTable(("frequency (rad/s)", "mode"), list(modes), (place,))

    def __str__(self) -> str:
        """Return the kind, the configuration and the frequencies."""
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
    model = _model_without_time(mechanism)
    rng = np.random.default_rng(seed)
    tau = constant_forces(model, torque)
    found: list[Equilibrium] = []
    for k in range(check_whole_number(starts, "starts", 1)):
        step = rng.uniform(-np.pi, np.pi, model.nv) * (k > 0)
        try:
            one = _solve_equilibrium(model, model.integrate(model.home(), step), tau)
        except LinkwrightError:
            continue
        if all(_distance(model, one.q, other) > SAME_CONFIGURATION for other in found):
            found.append(one)
    return sorted(found, key=lambda one: -float(one.frequencies.min(initial=np.inf)))


def _distance(model: Model, q: Floats, other: Equilibrium) -> float:
    """Return the distance of configurations; full turns and indifferent motions do not count."""
    gap: Floats = model.difference(other.q, q)
    idle = other.modes[:, other.frequencies == 0]
    gap = gap - idle @ (jacobian_pseudoinverse(idle, RANK_SHARE) @ gap) if idle.size else gap
    return float(np.abs((gap + np.pi) % (2 * np.pi) - np.pi).max())


def equilibrium(
    mechanism: Mechanism, q0: VectorLike | None = None, torque: VectorLike | None = None
) -> Equilibrium:
    """Return the configuration in which a mechanism rests, by Newton's method from a start.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q0 : (nq,) array or mapping of names to numbers, optional
        The start, rad or m (default: home).
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N, or a table by velocity or actuator (default: none).

    Returns
    -------
    Equilibrium
        The configuration with its stiffness, frequencies and modes.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.linearization.equilibrium(lw.gallery("elbow"), {"q1": -1.5}).kind
    'stable'
    """
    model = _model_without_time(mechanism)
    start, q0 = model.home(), read_pose(mechanism, q0)
    if isinstance(q0, Mapping):
        start = start_of(mechanism, model, q0, None)[0]
    elif q0 is not None:
        start = check_vector(q0, model.nq, "q0")
    return _solve_equilibrium(model, start, constant_forces(model, torque))


def _model_without_time(mechanism: Mechanism) -> Model:
    """Return the model; raise if the mechanism depends on time."""
    require_mechanism(mechanism)
    model = compile_model(mechanism, threads=1)
    if model.names.is_time_dependent:
        raise UnsupportedError(
            "a mechanism that depends on time has no equilibrium",
            where=mechanism.name,
            remedy="remove the drives and forces that depend on t",
        )
    return model


def _solve_equilibrium(model: Model, q: Floats, tau: Floats) -> Equilibrium:
    """Return the equilibrium that Newton's method reaches from q."""
    rest = np.zeros(model.nv)
    rows = [model.names.qd.index(name) for name in model.independent_names]
    q = model.close(q) if model.names.constraints else q
    for _ in range(NEWTON_ITERATIONS):
        qdd = model.forward_dynamics(q, rest, tau)
        G = independent_velocity_map(model, q, [])
        derivative = model.forward_dynamics_derivatives(q, rest, tau)[0][rows] @ G
        step = -jacobian_pseudoinverse(derivative, RANK_SHARE) @ qdd[rows]
        step *= min(1.0, LARGEST_STEP / max(np.abs(step).max(), 1e-300))
        q = model.integrate(q, G @ step)
        q = model.close(q) if model.names.constraints else q
        if np.abs(step).max() < CONVERGED_STEP:
            break
    left = np.abs(model.forward_dynamics(q, rest, tau)).max()
    if not left < RESTING_ACCELERATION:
        raise LinkwrightError(
            f"no equilibrium was found: an acceleration of {left:.3g} rad/s² or m/s² remains",
            where=model.mechanism.name,
            remedy="start elsewhere, or give forces that hold it",
        )
    return _small_motions(model, _remove_full_turns(model, q, tau), tau, rows)


def _remove_full_turns(model: Model, q: Floats, tau: Floats) -> Floats:
    """Return the equilibrium with angles within half a turn, where full turns make no
    difference."""
    units = coordinate_units(model.mechanism)
    allowed = max(WINDING_RESIDUAL, model.leeway)
    for k in [k for k, unit in enumerate(units) if unit == "rad" and abs(q[k]) > np.pi]:
        other = q.copy()
        other[k] -= 2 * np.pi * np.round(q[k] / (2 * np.pi))
        has_rows = model.names.position_row_count
        residual = model.constraint_residual(other) if has_rows else np.zeros(1)
        qdd = model.forward_dynamics(other, np.zeros(model.nv), tau)
        if np.abs(residual).max() < allowed and np.abs(qdd).max() < WINDING_ACCELERATION:
            q = other
    return q


def _small_motions(model: Model, q: Floats, tau: Floats, rows: list[int]) -> Equilibrium:
    """Return an equilibrium with its modes; along the constraints, K = −M̄ ∂q̈/∂q and
    D = −M̄ ∂q̈/∂q̇."""
    rest, G = np.zeros(model.nv), independent_velocity_map(model, q, [])
    M = G.T @ model.mass_matrix(q) @ G
    by_q, by_qd, _ = model.forward_dynamics_derivatives(q, rest, tau)
    K, D = -M @ by_q[rows] @ G, -M @ by_qd[rows] @ G
    squares, vectors = np.linalg.eig(np.linalg.solve(M, K))
    order = np.argsort(squares.real)
    squares, modes = squares[order].real, (G @ vectors[:, order]).real
    squares[np.abs(squares) < INDIFFERENT_SHARE * np.abs(squares).max(initial=1.0)] = 0.0
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares))
    length = np.linalg.norm(modes, axis=0)
    return Equilibrium(q, model.independent_names, M, D, K, frequencies, modes / length)
