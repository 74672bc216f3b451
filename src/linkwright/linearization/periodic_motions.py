"""Periodic motions and their Floquet multipliers.

The variational equations Φ̇ = A(t) Φ are integrated together with the motion over one period; the
eigenvalues of Φ(T), the monodromy matrix, are the Floquet multipliers. Newton's method finds the
start x(0) with x(T) = x(0); of an autonomous mechanism also the period.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError
from ..kinematics.closing import jacobian_pseudoinverse
from ..mechanism import Mechanism, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import compile as compile_model
from ..number_checks import check_number
from ..types import Floats, VectorLike
from .linearizer import Linearizer
from .operating_points import (
    OperatingPoint,
    VelocityMeasures,
    closed_coordinates,
    consistent_velocities,
    constant_forces,
)
from .tangent_states import independent_velocity_map

SHOOTING_ITERATIONS = 25
"""The largest number of Newton steps of the start."""

CLOSED_ORBIT = 1e-9
"""Largest change of the states over a period, rad, m and their rates: some times the error of the
integration."""

RELATIVE_TOLERANCE = 1e-11
"""Relative tolerance of the integration over one period."""

ABSOLUTE_TOLERANCE = 1e-12
"""Absolute tolerance of the integration, rad, m and their rates."""

_MONODROMY_RANK_SHARE = 1e-14
"""Singular values of Φ − 1 below this share of the largest are rounding."""

NEUTRAL_MULTIPLIER = 1e-5
"""Distance from the unit circle within which a multiplier counts as neutral. Errors of the
integration move a single multiplier by some 1e-12, and a double one, as of conservative motions, by
the root of that."""

SMALLEST_PERIOD_SHARE = 0.05
"""Periods below this share of the first one are rejected: the search leads to an equilibrium."""


@dataclass(frozen=True, repr=False)
class PeriodicMotion(NotebookDisplayed):
    """A periodic motion: the state (`q`, `qd`) at `t`, its `period`, and the monodromy matrix.

    `monodromy` maps changes of the `states` at t to those a period later. One multiplier of an
    autonomous mechanism is 1: a shift along the motion.

    Examples
    --------
    >>> import linkwright as lw
    >>> motion = lw.linearization.periodic_motion(lw.gallery("chain-1"), 1.6, {"q1": -1.0})
    >>> motion.multipliers.shape, motion.is_autonomous
    ((2,), True)
    """

    q: Floats
    qd: Floats
    t: float
    period: float
    states: tuple[str, ...]
    monodromy: Floats
    is_autonomous: bool

    @property
    def multipliers(self) -> NDArray[np.complex128]:
        """The Floquet multipliers, the largest first."""
        found = np.linalg.eigvals(self.monodromy).astype(complex)
        return found[np.argsort(-np.abs(found), kind="stable")]

    @property
    def exponents(self) -> NDArray[np.complex128]:
        """The Floquet exponents log(μ)/T, 1/s, of multipliers that are not 0."""
        found = self.multipliers
        return np.asarray(np.log(found[found != 0]) / self.period)

    @property
    def largest_growth(self) -> float:
        """The largest |μ| of small motions, except a shift along an autonomous motion."""
        found = self.multipliers
        if self.is_autonomous and len(found):
            along = int(np.argmin(np.abs(found - 1)))
            if abs(found[along] - 1) < NEUTRAL_MULTIPLIER:
                found = np.delete(found, along)
        return float(np.abs(found).max(initial=0.0))

    @property
    def is_stable(self) -> bool:
        """Whether all small motions about it die out, except a shift along an autonomous motion.

        A multiplier within 1e-5 of the unit circle counts as neutral, not as stable.
        """
        return self.largest_growth < 1 - NEUTRAL_MULTIPLIER

    def summary(self) -> str:
        """Return the period, stability and the largest multiplier."""
        is_unstable = self.largest_growth > 1 + NEUTRAL_MULTIPLIER
        kind = "stable" if self.is_stable else "unstable" if is_unstable else "neutrally stable"
        largest = np.abs(self.multipliers).max(initial=0.0)
        return f"Periodic motion of {self.period:.6g} s, {kind}, largest |μ| {largest:.6g}"

    def __str__(self) -> str:
        """Return the summary and all multipliers."""
        found = ", ".join(f"{x:.6g}" for x in self.multipliers)
        return f"{self.summary()}\nmultipliers: {found}"

    def notebook_table(self) -> NotebookTable:
        """Return the multipliers and their sizes."""
        rows = [(float(x.real), float(x.imag), float(abs(x))) for x in self.multipliers]
        return NotebookTable(("real part", "imaginary part", "|μ|"), rows)


def periodic_motion(
    mechanism: Mechanism,
    period: float,
    q: VectorLike | None = None,
    qd: VectorLike | None = None,
    torque: VectorLike | None = None,
    *,
    t: float = 0.0,
) -> PeriodicMotion:
    """Return the periodic motion near a start, with its Floquet multipliers.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    period : float
        The period, s. For a mechanism that does not depend on time, it is a first guess.
    q, qd : array or mapping of names to numbers, optional
        A start near the motion, rad or m and their rates (default: home, at rest).
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N.
    t : float
        Time of the start, s.

    Returns
    -------
    PeriodicMotion
        Start, period, monodromy matrix and multipliers.

    Examples
    --------
    >>> import linkwright as lw
    >>> rod = lw.gallery("chain-1")
    >>> swing = lw.linearization.periodic_motion(rod, 1.6, {"q1": -1.0})
    >>> swing.is_stable  # a pendulum without damping: its multipliers are 1
    False
    """
    require_mechanism(mechanism)
    period, t = check_number(period, "period"), check_number(t, "t")
    if period <= 0:
        raise LinkwrightError(f"period must be positive (got {period:g})", remedy="give seconds")
    model = compile_model(mechanism, threads=1)
    start = closed_coordinates(mechanism, model, q, t)
    rates = consistent_velocities(VelocityMeasures(mechanism, model), start, qd, t)
    point = OperatingPoint(t, start, rates, constant_forces(model, torque))
    return _Shooting(mechanism, Linearizer(model, (), ())).solve(point, period)


class _Shooting:
    """Newton's method for the start of a periodic motion."""

    def __init__(self, mechanism: Mechanism, linearizer: Linearizer) -> None:
        self.mechanism, self.linearizer, self.model = mechanism, linearizer, linearizer.model
        self.is_autonomous = not self.model.names.is_time_dependent
        equations = self.model.equations
        self.coordinate_rates = ca.Function(
            "rates",
            [equations.symbols["q"], equations.symbols["qd"]],
            [equations.rate_matrix @ equations.symbols["qd"]],
        )

    def solve(self, point: OperatingPoint, period: float) -> PeriodicMotion:
        """Return the periodic motion near a state."""
        linear = self.linearizer.linearize_state(point)
        kept = [k for k, name in enumerate(linear.states) if name not in linear.ignorable]
        smallest = SMALLEST_PERIOD_SHARE * period
        for _ in range(SHOOTING_ITERATIONS):
            end, monodromy = self.integrate_period(point, period)
            gap = self.state_change(point, end)[kept]
            if np.abs(gap).max(initial=0.0) < CLOSED_ORBIT:
                names = tuple(linear.states[k] for k in kept)
                return PeriodicMotion(
                    point.q, point.qd, point.t, period, names,
                    monodromy[np.ix_(kept, kept)], self.is_autonomous,
                )  # fmt: skip
            change, longer = self._newton_step(end, monodromy[np.ix_(kept, kept)], gap, kept)
            whole = np.zeros(len(linear.states))
            whole[kept] = change
            point, period = self.linearizer.moved_point(point, whole), period + longer
            if not period > smallest:
                break
        raise LinkwrightError(
            f"no periodic motion was found: {np.abs(gap).max():.3g} is left over after a period",
            where=self.mechanism.name,
            remedy="start closer to it, or give its period",
        )

    def _newton_step(
        self, end: OperatingPoint, monodromy: Floats, gap: Floats, kept: list[int]
    ) -> tuple[Floats, float]:
        """Return the change of the start, and of the period of an autonomous mechanism, of least
        norm: (Φ − 1) δx + ẋ(T) δT = −gap."""
        matrix = monodromy - np.eye(len(kept))
        if self.is_autonomous:
            rates = self.linearizer.matrices(end)[-1][kept]
            matrix = np.column_stack([matrix, rates])
        step: Floats = jacobian_pseudoinverse(matrix, _MONODROMY_RANK_SHARE) @ -gap
        step = step * min(1.0, 1.0 / max(np.abs(step).max(initial=0.0), 1e-300))
        return (step[:-1], float(step[-1])) if self.is_autonomous else (step, 0.0)

    def state_change(self, point: OperatingPoint, end: OperatingPoint) -> Floats:
        """Return the change of the independent states over a period, without full turns of angles
        after which nothing has changed."""
        model, coordinates = self.model, list(self.linearizer.coordinates_at(point))
        moved = model.difference(point.q, end.q)
        if model.nq == model.nv:
            units = coordinate_units(self.mechanism)
            for k in [k for k in coordinates if units[k] == "rad"]:
                turned = 2 * np.pi * np.round(moved[k] / (2 * np.pi))
                if turned and self._is_full_turn(end, k, turned):
                    moved[k] -= turned
        rows = [model.names.qd.index(name) for name in model.independent_names]
        return np.concatenate([moved[coordinates], (end.qd - point.qd)[rows]])

    def _is_full_turn(self, end: OperatingPoint, k: int, turned: float) -> bool:
        """Whether the accelerations are the same without full turns of a coordinate."""
        clock = self.model.names.time_arguments(end.t)
        other = end.q.copy()
        other[k] -= turned
        here, there = (
            self.model.forward_dynamics(q, end.qd, end.tau, *clock) for q in (end.q, other)
        )
        return bool(np.allclose(here, there, rtol=1e-8, atol=1e-8))

    def integrate_period(
        self, point: OperatingPoint, period: float
    ) -> tuple[OperatingPoint, Floats]:
        """Return the state after a period, on the constraints, and the monodromy matrix."""
        model, nq, nv = self.model, self.model.nq, self.model.nv
        n = len(self.linearizer.matrices(point)[0])

        def rates(t: float, y: Floats) -> Floats:
            here = OperatingPoint(t, y[:nq], y[nq : nq + nv], point.tau)
            A = self.linearizer.matrices(here)[0]
            qdd = model.forward_dynamics(here.q, here.qd, here.tau, *model.names.time_arguments(t))
            moved = self.coordinate_rates(here.q, here.qd).full().ravel()
            return np.concatenate([moved, qdd, (A @ y[nq + nv :].reshape(n, n)).ravel()])

        start = np.concatenate([point.q, point.qd, np.eye(n).ravel()])
        done = solve_ivp(
            rates, (point.t, point.t + period), start, method="DOP853",
            rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE,
        )  # fmt: skip
        if not done.success or not np.isfinite(done.y[:, -1]).all():
            raise LinkwrightError(
                f"the motion cannot be integrated over a period: {done.message}",
                where=self.mechanism.name,
                remedy="start closer to the periodic motion",
            )
        y = done.y[:, -1]
        q, qd = self._project(y[:nq], y[nq : nq + nv], point.t + period)
        end = OperatingPoint(point.t + period, q, qd, point.tau)
        return end, y[nq + nv :].reshape(n, n)

    def _project(self, q: Floats, qd: Floats, t: float) -> tuple[Floats, Floats]:
        """Return a state on the constraints with the same independent velocities."""
        model = self.model
        if not model.names.constraints:
            return model.integrate(q, np.zeros(model.nv)), qd
        clock = model.names.time_arguments(t)
        q = model.close(q, t) if model.names.position_rows else q
        rows = [model.names.qd.index(name) for name in model.independent_names]
        k = model.independent_map(q, *clock)[1]
        return q, independent_velocity_map(model, q, clock) @ qd[rows] + k
