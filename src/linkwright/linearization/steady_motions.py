"""Steady motions: velocities are constant, and so are all coordinates on which they depend.

A bicycle that runs straight ahead or in a circle, a disk that rolls in a circle, a top that
precesses, a governor at constant speed. Newton's method solves ẋ = 0 for all states x but the
ignorable coordinates (`Linear.ignorable`), with A as its derivative, for the states that are not
given by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, UnsupportedError
from ..kinematics.closing import jacobian_pseudoinverse
from ..mechanism import Mechanism, require_mechanism
from ..model.model import compile as compile_model
from ..number_checks import check_vector
from ..types import Floats, VectorLike
from .linear_model import NEUTRAL_SHARE, Linear
from .linearizer import Linearizer
from .operating_points import (
    OperatingPoint,
    VelocityMeasures,
    closed_coordinates,
    consistent_velocities,
    constant_forces,
)
from .tangent_states import tangent_states

NEWTON_ITERATIONS = 60
"""The largest number of Newton steps."""

LARGEST_STEP = 0.5
"""Largest change of a coordinate in a Newton step, rad or m: linear terms are poor beyond it."""

CONVERGED_STEP = 1e-12
"""Newton step below which the iteration ends: rounding of large velocities included."""

RANK_SHARE = 1e-10
"""Singular values below this share count as zero: directions along a family of steady motions."""

RESTARTS = 5
"""Searches from states near the start, if that one fails: its derivative may be singular."""

RESTART_SIZE = 0.3
"""Size of the changes of these states, rad, m and their rates."""


@dataclass(frozen=True, repr=False)
class SteadyMotion(NotebookDisplayed):
    """A steady motion: the state (`q`, `qd`), and the linear model of small motions about it.

    `q_names` and `qd_names` are the names of coordinates and velocities, and `torque` the constant
    generalized forces, N m or N. `linear` has all states; `eigenvalues` are those without ignorable
    coordinates.

    Examples
    --------
    >>> import linkwright as lw
    >>> motion = lw.linearization.steady_motion(lw.gallery("bicycle"), qd={"v": 5.0})
    >>> motion.kind
    'neutral'
    """

    q: Floats
    qd: Floats
    torque: Floats
    linear: Linear
    q_names: tuple[str, ...]
    qd_names: tuple[str, ...]

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues of small motions without ignorable coordinates, 1/s."""
        return self.linear.drop_ignorable().eigenvalues

    @property
    def kind(self) -> str:
        """The kind of stability: "unstable", "stable" or "neutral".

        All small motions about a stable motion decay. About a neutral one none grows, and some
        neither grow nor decay: neighbouring steady motions, undamped oscillations.
        """
        found = self.eigenvalues
        size = NEUTRAL_SHARE * np.abs(found).max(initial=0.0)
        grows, dies = (found.real > size).any(), (found.real < -size).all()
        return "unstable" if grows else "stable" if dies else "neutral"

    def summary(self) -> str:
        """Return the kind of the motion and its fastest growth."""
        fastest = self.eigenvalues.real.max(initial=0.0)
        return f"Steady motion, {self.kind}, largest real part {fastest:.4g} 1/s"

    def __str__(self) -> str:
        """Return the kind, coordinates, velocities and eigenvalues."""
        rows = [f"{n} = {x:.6g}" for n, x in zip(self.q_names, self.q, strict=True)]
        rates = [f"d{n} = {x:.6g}" for n, x in zip(self.qd_names, self.qd, strict=True)]
        found = ", ".join(f"{x:.6g}" for x in np.sort_complex(self.eigenvalues))
        return "\n".join([self.summary(), ", ".join(rows), ", ".join(rates), f"λ: {found}"])

    def notebook_table(self) -> NotebookTable:
        """Return the eigenvalues of small motions, 1/s."""
        rows = [(float(x.real), float(x.imag)) for x in np.sort_complex(self.eigenvalues)]
        return NotebookTable(("real part (1/s)", "imaginary part (1/s)"), rows)


def steady_motion(
    mechanism: Mechanism,
    q: VectorLike | None = None,
    qd: VectorLike | None = None,
    torque: VectorLike | None = None,
    *,
    controls: Mapping[str, float] | None = None,
) -> SteadyMotion:
    """Return the steady motion near a state, by Newton's method.

    Values that tables give by name are held; Newton's method solves for all others. If these leave
    a family of steady motions, the result is the nearest one.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism; it must not depend on time.
    q, qd : array or mapping of names to numbers, optional
        The state, rad or m and their rates: a table holds what it names (`{"theta": "20 deg"}`), an
        array is only a start (default: home, at rest). A table of velocities may also name
        generalized speeds (`[speeds]` of the file).
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N (default: none).
    controls : mapping of actuators to numbers, optional
        Constant controls of actuators in their units, as for `linearize`.

    Returns
    -------
    SteadyMotion
        State, linear model, eigenvalues.

    Examples
    --------
    >>> import linkwright as lw
    >>> bicycle = lw.gallery("bicycle")
    >>> lw.linearization.steady_motion(bicycle, qd={"v": 5.0}).linear.is_steady
    True
    """
    return SteadyMotionSolver(mechanism, torque, controls).solve(q, qd)


class SteadyMotionSolver:
    """Finds steady motions of one mechanism."""

    def __init__(
        self,
        mechanism: Mechanism,
        torque: VectorLike | None = None,
        controls: Mapping[str, float] | None = None,
    ) -> None:
        require_mechanism(mechanism)
        self.mechanism, self.model = mechanism, compile_model(mechanism, threads=1)
        if self.model.names.is_time_dependent:
            raise UnsupportedError(
                "a mechanism that depends on time has no steady motion",
                where=mechanism.name,
                remedy="remove drives and forces that depend on t, or use periodic_motion",
            )
        self.tau = constant_forces(self.model, torque)
        self.measures = VelocityMeasures(mechanism, self.model)
        self.linearizer = Linearizer(self.model, controls=controls)

    def solve(
        self,
        q: VectorLike | None,
        qd: VectorLike | None,
        start: tuple[Floats, Floats] | None = None,
    ) -> SteadyMotion:
        """Return the steady motion with the named values; the others start at home, or at the
        state `start`, on which the named values are imposed first."""
        first = self._starting_point(q, qd, start)
        rng = np.random.default_rng(0)
        for attempt in range(RESTARTS + 1):
            point = first
            if attempt:
                change = RESTART_SIZE * rng.uniform(-1, 1, len(self.linearizer.state_names))
                change = self._free_changes(first, q, qd) @ change
                point = self._impose_velocities(self.linearizer.moved_point(first, change), qd)
            linear, point = self._solve_from(point, q, qd)
            if linear.is_steady:
                break
        else:
            self._raise_unsteady(linear)
        names = self.model.names
        return SteadyMotion(point.q, point.qd, point.tau, linear, names.q, names.qd)

    def _solve_from(
        self, point: OperatingPoint, q: VectorLike | None, qd: VectorLike | None
    ) -> tuple[Linear, OperatingPoint]:
        """Return the linear model and the state that Newton's method reaches."""
        kept = self._solved_states(point)
        for _ in range(NEWTON_ITERATIONS):
            A, *_, rates = self.linearizer.matrices(point)
            free = self._free_changes(point, q, qd)
            solution = jacobian_pseudoinverse(A[kept] @ free, RANK_SHARE) @ -rates[kept]
            step = free @ solution
            turned = step[: len(self.linearizer.coordinates_at(point))]
            step *= min(1.0, LARGEST_STEP / max(np.abs(turned).max(initial=0.0), 1e-300))
            if np.abs(step).max(initial=0.0) < CONVERGED_STEP:
                break
            point = self._impose_velocities(self.linearizer.moved_point(point, step), qd)
        return self.linearizer.linearize_state(point), point

    def _free_changes(
        self, point: OperatingPoint, q: VectorLike | None, qd: VectorLike | None
    ) -> Floats:
        """Return the projector onto changes of the states that keep everything given by name."""
        held_q = tuple(q) if isinstance(q, Mapping) else ()
        held_qd = tuple(qd) if isinstance(qd, Mapping) else ()
        free = null_space(self._held_rows(point, held_q, held_qd), rcond=RANK_SHARE)
        projector: Floats = free @ free.T
        return projector

    def _starting_point(
        self,
        q: VectorLike | None,
        qd: VectorLike | None,
        start: tuple[Floats, Floats] | None,
    ) -> OperatingPoint:
        """Return the first state, on the constraints, with everything that is given."""
        if start is None:
            coordinates = closed_coordinates(self.mechanism, self.model, q, 0.0)
            near = None if qd is None or isinstance(qd, Mapping) else self._checked_start(qd)
            given = qd if near is None else None
            velocities = consistent_velocities(self.measures, coordinates, given, 0.0, near)
            return OperatingPoint(0.0, coordinates, velocities, self.tau)
        q_start, qd_start = start
        near = consistent_velocities(self.measures, q_start, None, 0.0, near=qd_start)
        return self._impose_velocities(OperatingPoint(0.0, q_start, near, self.tau), qd)

    def _checked_start(self, qd: VectorLike) -> Floats:
        """Return velocities that are given as an array, from which the search starts."""
        return check_vector(qd, self.model.nv, "qd")

    def _impose_velocities(self, point: OperatingPoint, qd: VectorLike | None) -> OperatingPoint:
        """Return the state with the velocities given by name, and the others changed least."""
        if not isinstance(qd, Mapping):
            return point
        found = consistent_velocities(self.measures, point.q, qd, point.t, near=point.qd)
        return replace(point, qd=found)

    def _solved_states(self, point: OperatingPoint) -> list[int]:
        """Return the states whose rates must vanish: all but the ignorable coordinates."""
        linear = self.linearizer.linearize_state(point)
        return [k for k, name in enumerate(linear.states) if name not in linear.ignorable]

    def _held_rows(
        self, point: OperatingPoint, held_q: tuple[str, ...], held_qd: tuple[str, ...]
    ) -> Floats:
        """Return the weights of the states in the quantities that are held."""
        own = tangent_states(self.model, point, self.linearizer.coordinates_at(point))
        names, rows = self.model.names, []
        for name in held_q:
            if name in names.qd:
                k = names.qd.index(name)
                rows.append(np.concatenate([own.P[k], np.zeros(own.G.shape[1])]))
        for name in held_qd:
            y, _ = self.measures.row(name, point.q, point.t)
            rows.append(np.concatenate([y @ own.W, y @ own.G]))
        return np.array(rows).reshape(len(rows), own.P.shape[1] + own.G.shape[1])

    def _raise_unsteady(self, linear: Linear) -> None:
        """Raise an error that names the state that changes fastest."""
        rates = {
            name: abs(float(rate))
            for name, rate in zip(linear.states, linear.rates, strict=True)
            if name not in linear.ignorable
        }
        worst = max(rates, key=lambda name: rates[name])
        raise LinkwrightError(
            f"no steady motion was found: '{worst}' still changes by {rates[worst]:.3g} per second",
            where=self.mechanism.name,
            remedy="hold fewer values, start elsewhere, or give forces that sustain the motion",
        )
