"""Designs of a study: which values of the factors each design has, from its index alone.

A worker makes the designs of its block itself; no table of all designs travels or is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..errors import ArgumentError
from ..number_checks import check_whole_number
from ..types import Floats
from .factors import Factor

METHODS = {
    "grid": "all combinations of levels",
    "random": "independent random values",
    "latin": "a Latin hypercube",
    "sobol": "a scrambled Sobol' sequence",
    "saltelli": "Saltelli's scheme for Sobol' indices: count × (factors + 2) designs",
    "morris": "Morris' trajectories for elementary effects: count × (factors + 1) designs",
    "list": "rows of a table",
}
"""Methods of sampling, and what they give."""

MAX_LATIN_COUNT = 10_000_000
"""Designs of a Latin hypercube, which every worker makes as a whole: 80 MB for each factor."""

SOBOL_BITS = 32
"""Bits of a Sobol' point: SciPy can pass points only up to 32, which limits their number too."""

MAX_COUNT = 2**40
"""Designs of a study: their indices and seeds are exact far beyond."""

MORRIS_LEVELS = 4
"""Levels of Morris' grid: the usual number, with which steps of 2/3 keep all levels equally
likely."""

DEFAULT_POINTS = 5
"""Levels of a range in a grid."""


@dataclass(frozen=True)
class Sampling:
    """How the designs of a study are chosen.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    base : int
        Points, base points of Saltelli's scheme, or trajectories of Morris.
    seed : int
        Seed of random numbers.
    count : int
        Number of designs.
    """

    method: str
    base: int
    seed: int
    count: int

    def columns(self, factors: Sequence[Factor], start: int, stop: int) -> dict[str, Floats]:
        """Return the values of all factors for the designs from `start` up to `stop`."""
        if self.method == "list":
            rows = np.arange(start, stop)
            return {
                one.name: one.values_of_levels(rows) if one.is_number else rows.astype(float)
                for one in factors
            }
        if self.method == "grid":
            return self._grid_columns(factors, start, stop)
        shares = self.shares(len(factors), start, stop)
        return {one.name: one.values_at(shares[:, k]) for k, one in enumerate(factors)}

    def _grid_columns(self, factors: Sequence[Factor], start: int, stop: int) -> dict[str, Floats]:
        """Return the values of a grid; the last factor changes fastest."""
        rest, found = np.arange(start, stop), {}
        for one in reversed(factors):
            rest, number = np.divmod(rest, len(one.levels))
            found[one.name] = one.values_of_levels(number)
        return {one.name: found[one.name] for one in factors}

    def shares(self, dimensions: int, start: int, stop: int) -> Floats:
        """Return shares of the probability (designs, factors), 0 to 1."""
        if self.method == "random":
            return _random_shares(self.seed, dimensions, start, stop)
        if self.method == "latin":
            return _latin_hypercube(self.seed, dimensions, self.count)[start:stop]
        if self.method == "sobol":
            return _sobol_sequence(self.seed, dimensions).points(start, stop)
        if self.method == "saltelli":
            return self._saltelli_shares(dimensions, start, stop)
        size = dimensions + 1
        first, last = start // size, -(-stop // size)
        rows = [_morris_trajectory(self.seed, k, dimensions) for k in range(first, last)]
        return np.concatenate(rows)[start - first * size : stop - first * size]

    def _saltelli_shares(self, dimensions: int, start: int, stop: int) -> Floats:
        """Return rows A, A with one column of B for each factor, and B, for each base point."""
        size = dimensions + 2
        first, last = start // size, -(-stop // size)
        pairs = _sobol_sequence(self.seed, 2 * dimensions).points(first, last)
        a, b = pairs[:, :dimensions], pairs[:, dimensions:]
        rows = np.repeat(a[:, None, :], size, axis=1)
        for k in range(dimensions):
            rows[:, 1 + k, k] = b[:, k]
        rows[:, -1] = b
        return rows.reshape(-1, dimensions)[start - first * size : stop - first * size]


def choose_sampling(
    factors: Sequence[Factor],
    design: str | None,
    count: int | Mapping[str, int] | None,
    seed: int,
) -> tuple[Sampling, tuple[Factor, ...]]:
    """Return the sampling, and the factors as it needs them: with levels for a grid."""
    if design is None:
        design = "grid" if all(one.levels for one in factors) else "sobol"
    if design not in METHODS:
        raise ArgumentError(
            f"the design '{design}' is not known", remedy=f"use one of {', '.join(METHODS)}"
        )
    check_whole_number(seed, "seed", 0)
    if design == "grid":
        return _grid_sampling(factors, count, seed)
    if design == "list":
        return _list_sampling(factors, count, seed), tuple(factors)
    if isinstance(count, Mapping):
        raise ArgumentError(
            f"the design '{design}' takes one number of designs", remedy="give count=1000"
        )
    base = check_whole_number(
        {"morris": 20}.get(design, 256) if count is None else count, "count", 1
    )
    if design in ("saltelli", "morris") and base < 2:
        raise ArgumentError(f"the design '{design}' needs a count of at least 2 (got {base})")
    more = {"saltelli": len(factors) + 2, "morris": len(factors) + 1}.get(design, 1)
    total = base * more
    if design == "latin" and total > MAX_LATIN_COUNT:
        raise ArgumentError(
            f"a Latin hypercube of {total} designs does not fit into memory",
            remedy='use design="sobol" or "random"',
        )
    if design in ("sobol", "saltelli") and base > 2**SOBOL_BITS:
        raise ArgumentError(
            f"a Sobol' sequence has at most 2^{SOBOL_BITS} points (got {base})",
            remedy='use design="random"',
        )
    _check_count(total)
    return Sampling(design, base, seed, total), tuple(factors)


def _grid_sampling(
    factors: Sequence[Factor], count: int | Mapping[str, int] | None, seed: int
) -> tuple[Sampling, tuple[Factor, ...]]:
    points = {one.name: DEFAULT_POINTS for one in factors}
    if isinstance(count, Mapping):
        unknown = [str(name) for name in count if name not in points]
        if unknown:
            raise ArgumentError(f"count names '{unknown[0]}', which is not a factor")
        points |= {str(name): number for name, number in count.items()}
    elif count is not None:
        points = dict.fromkeys(points, count)
    for name, number in points.items():
        check_whole_number(number, f"count of '{name}'", 1)
    levels = tuple(one.with_points(points[one.name]) for one in factors)
    total = 1
    for one in levels:
        total *= len(one.levels)
    _check_count(total)
    return Sampling("grid", total, seed, total), levels


def _list_sampling(
    factors: Sequence[Factor], count: int | Mapping[str, int] | None, seed: int
) -> Sampling:
    sizes = {one.name: len(one.levels) for one in factors}
    if 0 in sizes.values():
        ranged = next(name for name, size in sizes.items() if not size)
        raise ArgumentError(
            f"the factor '{ranged}' is a range in a list of designs",
            remedy="give one value for each design",
        )
    if len(set(sizes.values())) != 1:
        text = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ArgumentError(
            f"the factors of a list of designs have different numbers of values: {text}",
            remedy='give as many values for each, or use design="grid"',
        )
    total = next(iter(sizes.values()))
    if count is not None and count != total:
        raise ArgumentError(
            f"count is {count}; the list has {total} designs", remedy="leave it out"
        )
    return Sampling("list", total, seed, total)


def _check_count(total: int) -> None:
    if total > MAX_COUNT:
        raise ArgumentError(
            f"{total} designs are more than {MAX_COUNT}", remedy="give fewer levels"
        )


def _random_shares(seed: int, dimensions: int, start: int, stop: int) -> Floats:
    """Return independent numbers; each design has its own counters of the generator Philox."""
    width = -(-dimensions // 4)
    bits = np.random.Philox(seed).advance(start * width).random_raw((stop - start) * width * 4)
    rows = np.asarray(bits).reshape(stop - start, width * 4)[:, :dimensions]
    return np.asarray((rows >> np.uint64(11)) * 2.0**-53, dtype=float)


@cache
def _latin_hypercube(seed: int, dimensions: int, count: int) -> Floats:
    """Return SciPy's Latin hypercube; each process makes it once."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    return np.asarray(qmc.LatinHypercube(dimensions, seed=rng).random(count), dtype=float)


class _SobolSequence:
    """SciPy's scrambled Sobol' sequence, which goes on where the last block ended: blocks of one
    thread have rising indices, so that no point is passed twice."""

    def __init__(self, seed: int, dimensions: int) -> None:
        self.seed, self.dimensions = seed, dimensions
        self.is_whole = False
        """Whether the sequence stands where its last call left it: Ctrl-C may end a call."""

    def _restart(self) -> None:
        from scipy.stats import qmc

        rng = np.random.default_rng(self.seed)
        self.engine = qmc.Sobol(self.dimensions, scramble=True, bits=SOBOL_BITS, seed=rng)
        self.first = self.engine.random(1)  # SciPy warns if more, but no power of two, come first

    def points(self, start: int, stop: int) -> Floats:
        """Return the points from `start` up to `stop`."""
        begin = max(start, 1)
        if not self.is_whole or begin < self.engine.num_generated:
            self._restart()
        self.is_whole = False
        if begin > self.engine.num_generated:
            self.engine.fast_forward(begin - self.engine.num_generated)
        found: Floats = self.engine.random(stop - begin)
        self.is_whole = True
        return found if start else np.concatenate([self.first, found])


_OF_THREAD = threading.local()
"""The sequences of each thread: workers of dask have several, which must not share one."""


def _sobol_sequence(seed: int, dimensions: int) -> _SobolSequence:
    kept: dict[tuple[int, int], _SobolSequence] = vars(_OF_THREAD).setdefault("sequences", {})
    return kept.setdefault((seed, dimensions), _SobolSequence(seed, dimensions))


def _morris_trajectory(seed: int, number: int, dimensions: int) -> Floats:
    """Return a trajectory (factors + 1, factors): one factor changes in each step."""
    rng = np.random.default_rng([seed, number])
    step = MORRIS_LEVELS / (2 * (MORRIS_LEVELS - 1))
    low = rng.integers(0, MORRIS_LEVELS // 2, dimensions) / (MORRIS_LEVELS - 1)
    rises = rng.random(dimensions) < 0.5
    now = np.where(rises, low, low + step)
    rows = [now]
    for factor in rng.permutation(dimensions):
        now = now.copy()
        now[factor] += step if rises[factor] else -step
        rows.append(now)
    return np.array(rows)
