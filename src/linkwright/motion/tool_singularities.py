"""Singular positions of an arm: values of one coordinate at which its tool loses a direction.

Each coordinate is swept alone while the others stay at random values. Where the smallest singular
value of the tool's Jacobian goes through zero at the same value for all of these, the coordinate
alone makes the position singular, such as a stretched elbow or a straight wrist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import UnsupportedError
from ..kinematics.file_pose import tree_starting_pose
from ..kinematics.mechanism_size import tree_length
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import Model
from ..model.model import compile as compile_model
from ..types import Booleans, Floats
from .coordinate_bounds import bounds_of

_DRAWS, _SWEEP_SAMPLES = 4, 121
"""Random values of the other coordinates, and positions of each sweep."""

_REFINEMENTS = 48
"""Steps of the golden section: the last interval is 1e-10 of a step of the sweep."""

_SINGULAR_RATIO = 1e-8
"""Ratio of the smallest to the largest singular value below which a position is singular."""

_RANK_RATIO = 1e-6
"""Ratio of singular values below which one counts as zero where the rank is counted."""

_SAME_VALUE = 1e-5
"""Values of a coordinate that differ by less are the same, rad or in sizes of the mechanism."""

_GOLDEN_RATIO = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, repr=False)
class SingularPositions(NotebookDisplayed):
    """Where the tool of an arm loses a direction of motion.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    frame : str
        The tool: a frame or body.
    directions : int
        Independent directions in which the tool can move elsewhere.
    task : str
        "position", or "position and orientation": what is counted.
    values : dict of str to tuple of float
        Coordinates with the values that make the position singular whatever the others are, rad
        or m.
    has_others : bool
        Whether further singular positions depend on several coordinates.

    Examples
    --------
    The tool of the two-link arm loses a direction when the arm is stretched or folded:

    >>> import linkwright as lw
    >>> found = lw.motion.singular_positions(lw.gallery("elbow"))
    >>> [round(abs(angle), 6) for angle in found.values["q2"]], found.has_others
    ([0.0, 3.141593], False)
    """

    mechanism: Mechanism
    frame: str
    directions: int
    task: str
    values: dict[str, tuple[float, ...]]
    has_others: bool

    def summary(self) -> str:
        """Return one line: the tool and the number of its directions."""
        count = f"{self.directions} direction{'s' * (self.directions != 1)}"
        return f"{self.frame} of {self.mechanism.name} moves in {count} ({self.task})"

    def lines(self) -> list[str]:
        """Return a sentence for each coordinate, and one on the other singular positions."""
        units = dict(
            zip(mechanism_names(self.mechanism).q, coordinate_units(self.mechanism), strict=True)
        )
        found = []
        for name, values in self.values.items():
            shown = [
                f"{np.degrees(x):.6g}°" if units[name] == "rad" else f"{x:.6g} m"
                for x in np.round(values, 7) + 0.0
            ]
            found.append(f"{self.frame} loses a direction where {name} = {' or '.join(shown)}")
        if self.has_others:
            also = "other " if found else ""
            found.append(f"{also}singular positions depend on several coordinates")
        return found or ["no singular positions were found"]

    def notebook_table(self) -> NotebookTable:
        """Return the singular values of each coordinate."""
        rows = [(name, x) for name, values in self.values.items() for x in values]
        return NotebookTable(("coordinate", "singular at (rad or m)"), rows, self.lines()[-1:])

    def __str__(self) -> str:
        return "\n".join([self.summary(), *self.lines()])


def singular_positions(
    mechanism: Mechanism, frame: str | None = None, *, seed: int = 0
) -> SingularPositions:
    """Return the values of single coordinates at which the tool of an arm loses a direction.

    Parameters
    ----------
    mechanism : Mechanism
        An arm without loops and constraints.
    frame : str, optional
        The tool, a frame or body (default: the last frame, or the last body).
    seed : int
        Seed of the random values of the other coordinates.

    Returns
    -------
    SingularPositions
        The values by coordinate; printed as text.

    Notes
    -----
    What counts is the position of the tool where that is enough to follow all coordinates, else its
    position and orientation. Singular positions that depend on several coordinates are noticed, but
    not listed.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.motion.singular_positions(lw.gallery("elbow")))
    tool of elbow moves in 2 directions (position)
    tool loses a direction where q2 = 0° or 180°
    """
    names = mechanism_names(require_mechanism(mechanism))
    if names.constraints or names.nq != names.nv or names.is_time_dependent:
        raise UnsupportedError(
            "singular positions of a tool need joints with one rate a coordinate, and no loops",
            where=mechanism.name,
            remedy="use linkages.analyze_linkage or solve_kinematics, which find those of loops",
        )
    model = compile_model(mechanism, threads=1)
    tool = frame or [*names.bodies, *mechanism.frames][-1]
    search = _JacobianSearch.of_tool(model, tool, np.random.default_rng(seed))
    values, has_others = {}, False
    for k, name in enumerate(names.q):
        if k not in search.moving:
            continue
        draws = [search.roots_along(k, draw) for draw in range(_DRAWS)]
        common = [x for x in draws[0] if all(search.has_value(k, x, other) for other in draws[1:])]
        has_others |= any(not search.has_value(k, x, common) for draw in draws for x in draw)
        if common:
            values[name] = tuple(common)
    return SingularPositions(mechanism, tool, search.rank, search.task, values, has_others)


@dataclass(frozen=True)
class _JacobianSearch:
    """The scaled Jacobian of a tool, its rank elsewhere, and sweeps of single coordinates."""

    jacobian: Callable[[Floats], Floats]
    """(…, nq) → (…, 6, nv), angular rows first, lengths in sizes of the mechanism."""
    rank: int
    task: str
    moving: tuple[int, ...]
    """Coordinates that move the tool."""
    draws: Floats
    ranges: Floats
    """Ends of the sweep of each coordinate, (nq, 2)."""
    full_turns: Booleans
    """Coordinates whose sweep is a full turn."""

    @classmethod
    def of_tool(cls, model: Model, tool: str, rng: np.random.Generator) -> _JacobianSearch:
        """The search for a tool: position alone where that follows all coordinates."""
        tree = build_kinematic_tree(model.mechanism)
        size = tree_length(tree, tree_starting_pose(tree))
        slides = np.array([unit == "m" for unit in coordinate_units(model.mechanism)])
        scale = np.where(slides, size, 1.0)
        row_scale = np.array([1.0] * 3 + [1 / size] * 3)[:, None]

        def jacobian(q: Floats) -> Floats:
            return np.asarray(model.jacobian(tool)(q) * row_scale * scale)

        bounds = bounds_of(model.mechanism)
        reach = np.where(slides, size, np.pi)
        lower = np.where(np.isfinite(bounds.lower), bounds.lower, -reach)
        upper = np.where(np.isfinite(bounds.upper), bounds.upper, reach)
        draws = lower + (upper - lower) * rng.uniform(0.1, 0.9, (_DRAWS, model.nq))
        J = jacobian(draws)
        moving = tuple(np.flatnonzero(np.abs(J).max(axis=(0, 1)) > _RANK_RATIO).tolist())
        position, whole = _jacobian_rank(J[:, 3:]), _jacobian_rank(J)
        sweeps = np.column_stack([lower, upper]), ~slides & (upper - lower > 2 * np.pi - 1e-9)
        if position == len(moving):
            return cls(
                lambda q: jacobian(q)[..., 3:, :], position, "position", moving, draws, *sweeps
            )
        return cls(jacobian, whole, "position and orientation", moving, draws, *sweeps)

    def smallest(self, q: Floats) -> Floats:
        """The last singular value that is not always zero, as a share of the first."""
        if self.rank == 0:
            return np.ones(q.shape[:-1])
        sizes = np.linalg.svd(self.jacobian(q), compute_uv=False)
        return np.asarray(sizes[..., self.rank - 1] / np.maximum(sizes[..., 0], 1e-300))

    def roots_along(self, k: int, draw: int) -> list[float]:
        """The values of coordinate k that make the position singular at one draw of the others."""
        lower, upper = self.ranges[k]
        grid = np.linspace(lower, upper, _SWEEP_SAMPLES)
        found = self.smallest(self._swept(k, draw, grid))
        padded = np.concatenate([[np.inf], found, [np.inf]])
        low = np.flatnonzero((found <= padded[:-2]) & (found <= padded[2:]))
        if np.ptp(found) < _SINGULAR_RATIO or not len(low):
            return []
        step = grid[1] - grid[0]
        left, right = np.maximum(grid[low] - step, lower), np.minimum(grid[low] + step, upper)
        best = self._golden_section(k, draw, left, right)
        sizes = self.smallest(self._swept(k, draw, best))
        values = _distinct_values(best[sizes < _SINGULAR_RATIO], self.same_value(k))
        turned = self.full_turns[k] and len(values) > 1
        return values[1:] if turned and self.has_value(k, values[0] + 2 * np.pi, values) else values

    def _golden_section(self, k: int, draw: int, left: Floats, right: Floats) -> Floats:
        """The least values between these ends, all intervals at once."""
        for _ in range(_REFINEMENTS):
            inner = right - _GOLDEN_RATIO * (right - left)
            outer = left + _GOLDEN_RATIO * (right - left)
            lower_half = self.smallest(self._swept(k, draw, inner)) < self.smallest(
                self._swept(k, draw, outer)
            )
            left, right = np.where(lower_half, left, inner), np.where(lower_half, outer, right)
        return (left + right) / 2

    def _swept(self, k: int, draw: int, values: Floats) -> Floats:
        """The draw's coordinates with other values of coordinate k, (values, nq)."""
        q = np.tile(self.draws[draw], (len(values), 1))
        q[:, k] = values
        return q

    def same_value(self, k: int) -> float:
        """The difference below which values of coordinate k are the same."""
        return _SAME_VALUE * float(np.ptp(self.ranges[k]))

    def has_value(self, k: int, value: float, values: list[float]) -> bool:
        """Whether a value is among others, up to rounding."""
        return any(abs(value - other) < self.same_value(k) for other in values)


def _jacobian_rank(J: Floats) -> int:
    """The rank of matrices at random positions: the largest."""
    sizes = np.linalg.svd(J, compute_uv=False)
    return int((sizes > _RANK_RATIO * sizes[..., :1]).sum(axis=-1).max())


def _distinct_values(values: Floats, same: float) -> list[float]:
    """Values in order, without repetitions."""
    found: list[float] = []
    for value in np.sort(values).tolist():
        if not found or value - found[-1] > same:
            found.append(value)
    return found
