"""Eigenvalues of small motions over a speed, a coordinate or a parameter, and where they cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, linear_sum_assignment

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_vector
from ..types import Floats, VectorLike
from .motion_families import MotionFamily, Start, find_motion_family
from .steady_motions import SteadyMotion

NEUTRAL_SHARE = 1e-7
"""Branches whose eigenvalue stays below this share of the largest one are zero: neighbouring steady
motions."""

SMALLEST_GROWTH_SHARE = 1e-10
"""Real parts below this share of the largest eigenvalue have no sign: rounding."""

COLLISION_SHARE = 1e-6
"""Real parts above this share of the largest eigenvalue grow, where two real eigenvalues of an
undamped mechanism meet at zero and become an oscillation: they vanish as the root of the distance.
"""

CROSSING_TOLERANCE = 1e-14
"""Tolerance of a value at which a real part vanishes, relative to the range of the values."""


@dataclass(frozen=True)
class StabilityCrossing:
    """A value at which the real part of an eigenvalue changes its sign.

    `value` is the value of the swept quantity, `eigenvalue` the eigenvalue there (1/s), and
    `is_growing_beyond` says whether the motion grows beyond the value.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linearization.sweep_eigenvalues(lw.gallery("bicycle"), "v", [4.0, 5.0])
    >>> found.crossings[0].is_growing_beyond, found.crossings[0].is_oscillatory
    (False, True)
    """

    value: float
    eigenvalue: complex
    is_growing_beyond: bool

    @property
    def is_oscillatory(self) -> bool:
        """Whether a complex pair of eigenvalues crosses: an oscillation starts or stops growing."""
        return abs(self.eigenvalue.imag) > 1e-6


@dataclass(frozen=True, repr=False)
class EigenvalueSweep(NotebookDisplayed):
    """Eigenvalues of small motions about steady motions, over the values of one quantity.

    `name` and `unit` are those of the quantity, `values` its values. `eigenvalues` (values ×
    states, 1/s) has one column for each branch, along which they change continuously. `motions` are
    the steady motions, `crossings` the values at which a real part changes its sign.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linearization.sweep_eigenvalues(lw.gallery("bicycle"), "v", [4.0, 5.0])
    >>> found.eigenvalues.shape, [round(one.value, 4) for one in found.crossings]
    ((2, 5), [4.2924])
    """

    name: str
    unit: str
    values: Floats
    eigenvalues: NDArray[np.complex128]
    motions: tuple[SteadyMotion, ...]
    crossings: tuple[StabilityCrossing, ...]

    @property
    def growth(self) -> Floats:
        """The largest real part of the branches that are not zero, 1/s."""
        found = self.eigenvalues[:, self._moving_branches]
        return np.asarray(found.real.max(axis=1, initial=-np.inf))

    @property
    def _moving_branches(self) -> list[int]:
        return moving_branches(self.eigenvalues)

    def stable_ranges(self) -> list[tuple[float, float]]:
        """Return the ranges of the values in which no small motion grows."""
        ends = [float(self.values[0]), *(one.value for one in self.crossings)]
        ends.append(float(self.values[-1]))
        size = SMALLEST_GROWTH_SHARE * np.abs(self.eigenvalues).max(initial=0.0)
        found: list[tuple[float, float]] = []
        for left, right in pairwise(ends):
            inside = (self.values > left) & (self.values < right)
            if inside.any() and (self.growth[inside] < size).all():
                is_next = bool(found) and found[-1][1] == left
                found[-1:] = [(found[-1][0], right)] if is_next else [*found[-1:], (left, right)]
        return found

    def summary(self) -> str:
        """Return the quantity and where stability changes."""
        where = ", ".join(f"{one.value:.6g}" for one in self.crossings) or "nowhere"
        return f"Eigenvalues over {self.name}: real parts change their sign at {where} {self.unit}"

    __str__ = summary

    def notebook_table(self) -> NotebookTable:
        """Return the crossings."""
        rows = [
            (one.value, one.eigenvalue.imag, "grows" if one.is_growing_beyond else "decays")
            for one in self.crossings
        ]
        return NotebookTable((f"{self.name} ({self.unit})", "frequency (rad/s)", "beyond"), rows)


def sweep_eigenvalues(
    mechanism: Mechanism,
    name: str,
    values: Sequence[float] | Floats,
    *,
    q: VectorLike | None = None,
    qd: VectorLike | None = None,
    torque: VectorLike | None = None,
) -> EigenvalueSweep:
    """Return eigenvalues of small motions about steady motions over a speed, angle or parameter.

    Each steady motion is found from the one before it. Ignorable coordinates are left out.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    name : str
        A generalized speed of the file, a generalized velocity, a coordinate (as "q:theta", where a
        velocity has the same name), or a parameter.
    values : (k,) array
        Its values, SI units, increasing.
    q, qd : array or mapping of names to numbers, optional
        A table holds other coordinates and velocities, rad or m, rad/s or m/s; an array is the
        start of the search.
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N.

    Returns
    -------
    EigenvalueSweep
        Eigenvalues along continuous branches, steady motions, and crossings.

    Examples
    --------
    >>> import linkwright as lw
    >>> bicycle = lw.gallery("bicycle")
    >>> found = lw.linearization.sweep_eigenvalues(bicycle, "v", [4.0, 5.0, 6.0, 7.0])
    >>> [round(one.value, 4) for one in found.crossings]
    [4.2924, 6.0243]
    """
    require_mechanism(mechanism)
    given = check_vector(values, np.size(values), "values")
    if len(given) < 2 or not (np.diff(given) > 0).all():
        raise LinkwrightError(
            f"the values of {name} must increase, and there must be at least 2", remedy="sort them"
        )
    family = find_motion_family(mechanism, name, q, qd, torque)
    motions: list[SteadyMotion] = []
    start = family.first_start
    for value in given.tolist():
        motions.append(family.solve(value, start))
        start = motions[-1].q, motions[-1].qd
    branches = _sweep_branches([one.eigenvalues for one in motions])
    crossings = _find_crossings(family, given, branches, motions)
    return EigenvalueSweep(
        family.name, family.unit, given, branches, tuple(motions), tuple(crossings)
    )


def _sweep_branches(rows: Sequence[NDArray[np.complex128]]) -> NDArray[np.complex128]:
    """Return branches of which the first are zero: as many as eigenvalues of every row are. They
    must not take the place of one that passes through zero."""
    largest = max(float(np.abs(row).max(initial=0.0)) for row in rows)
    neutral = min(int((np.abs(row) < NEUTRAL_SHARE * largest).sum()) for row in rows)
    ordered = [row[np.argsort(np.abs(row))] for row in rows]
    moving = connect_branches([row[neutral:] for row in ordered])
    return np.hstack([np.array([row[:neutral] for row in ordered]), moving])


def connect_branches(rows: Sequence[NDArray[np.complex128]]) -> NDArray[np.complex128]:
    """Return eigenvalues in columns along which they change continuously: each row is assigned to
    the line through the two rows before it."""
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise LinkwrightError(
            f"the number of states changes along the values ({sorted(sizes)})",
            remedy="give values within one of these ranges",
        )
    found = [np.sort_complex(rows[0])]
    for row in rows[1:]:
        expected = found[-1] if len(found) < 2 else 2 * found[-1] - found[-2]
        _, order = linear_sum_assignment(np.abs(expected[:, None] - row[None, :]))
        found.append(row[order])
    return np.array(found)


def moving_branches(branches: NDArray[np.complex128]) -> list[int]:
    """Return the branches that are not zero everywhere."""
    sizes = np.abs(branches).max(axis=0, initial=0.0)
    return [k for k, size in enumerate(sizes) if size > NEUTRAL_SHARE * sizes.max(initial=0.0)]


def _find_crossings(
    family: MotionFamily,
    values: Floats,
    branches: NDArray[np.complex128],
    motions: Sequence[SteadyMotion],
) -> list[StabilityCrossing]:
    """Return where real parts change their sign, refined by Brent's method."""
    size = SMALLEST_GROWTH_SHARE * np.abs(branches).max(initial=0.0)
    found, moving = [], moving_branches(branches)
    neutral, span = branches.shape[1] - len(moving), float(values[-1] - values[0])
    for branch in branches[:, moving].T:
        sure = np.flatnonzero(np.abs(branch.real) > size).tolist()
        for left, right in pairwise(sure):
            if branch[left].real * branch[right].real < 0 and branch[left].imag >= -size:
                ends = float(values[left]), float(values[right])
                between = complex(branch[left]), complex(branch[right])
                start = motions[left].q, motions[left].qd
                found.append(_refine_crossing(family, ends, between, start, neutral, span))
    found += _find_collisions(family, values, branches[:, moving], motions, found, neutral=neutral)
    return sorted(found, key=lambda one: one.value)


def _find_collisions(
    family: MotionFamily,
    values: Floats,
    branches: NDArray[np.complex128],
    motions: Sequence[SteadyMotion],
    known: Sequence[StabilityCrossing],
    *,
    neutral: int,
) -> list[StabilityCrossing]:
    """Return where growing motions become oscillations that neither grow nor decay."""
    size, found = COLLISION_SHARE * np.abs(branches).max(initial=0.0), []
    grows = (branches.real.max(axis=1, initial=-np.inf) > size).tolist()
    for k in range(len(values) - 1):
        left, right = float(values[k]), float(values[k + 1])
        if grows[k] == grows[k + 1] or any(left <= one.value <= right for one in known):
            continue
        growing = branches[k if grows[k] else k + 1]
        branch = branches[k : k + 2, np.argmax(growing.real)]
        start = motions[k].q, motions[k].qd
        value = _find_collision(family, (left, right), branch, start, neutral)
        found += [] if value is None else [StabilityCrossing(value, 0j, grows[k + 1])]
    return found


def _find_collision(
    family: MotionFamily,
    ends: tuple[float, float],
    branch: NDArray[np.complex128],
    start: Start,
    neutral: int,
) -> float | None:
    """Return where λ² of a branch changes its sign: λ passes from the real to the imaginary axis;
    None where it does not pass through zero. `neutral` eigenvalues are always 0."""
    squares = branch**2

    def square_at(value: float) -> float:
        share = (value - ends[0]) / (ends[1] - ends[0])
        expected = (1 - share) * squares[0] + share * squares[1]
        found = family.solve(value, start).eigenvalues ** 2
        moving = found[np.argsort(np.abs(found))][neutral:]
        return float(moving[np.argmin(np.abs(moving - expected))].real)

    if not squares[0].real * squares[1].real < 0:
        return None
    return float(brentq(square_at, *ends, xtol=CROSSING_TOLERANCE * (ends[1] - ends[0])))


def _refine_crossing(
    family: MotionFamily,
    values: tuple[float, float],
    branch: tuple[complex, complex],
    start: Start,
    neutral: int,
    span: float,
) -> StabilityCrossing:
    """Return the crossing of a branch between two values; `neutral` eigenvalues are always 0."""
    left, right = values

    def eigenvalue_at(value: float) -> complex:
        share = (value - left) / (right - left)
        expected = (1 - share) * branch[0] + share * branch[1]
        found = family.solve(value, start).eigenvalues
        moving = found[np.argsort(np.abs(found))][neutral:]
        return complex(moving[np.argmin(np.abs(moving - expected))])

    value = brentq(
        lambda v: eigenvalue_at(v).real,
        left,
        right,
        xtol=CROSSING_TOLERANCE * span,
        rtol=4 * np.finfo(float).eps,
    )
    return StabilityCrossing(float(value), eigenvalue_at(value), branch[1].real > 0)
