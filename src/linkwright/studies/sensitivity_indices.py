"""How a measure depends on factors: Sobol' indices, Morris' effects, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import ArgumentError
from ..types import Floats
from .study_recipe import StudyRecipe

if TYPE_CHECKING:
    import xarray

CONFIDENCE = 0.95
"""Confidence of intervals."""


@dataclass(frozen=True, repr=False)
class SobolIndices(NotebookDisplayed):
    """Shares of the variance of a measure: of each factor alone, and with all its interactions.

    Attributes
    ----------
    measure : str
        The measure.
    factors : tuple of str
        The factors.
    first, total : (factors,) arrays
        First-order and total indices.
    first_interval, total_interval : (factors, 2) arrays
        Confidence intervals of 95 %, by bootstrap.
    base : int
        Base points that were used: those whose designs all have the measure.

    Examples
    --------
    Two factors of a sum with equal variances have half of the variance each:

    >>> import linkwright as lw
    >>> vary, measure = {"m2": (0.9, 1.1), "l1": (0.95, 1.05)}, {"sum": "m2 + 2*l1 + 0*q1[-1]"}
    >>> study = lw.study(lw.gallery("elbow"), vary, measure, design="saltelli", count=64, t=0.01)
    >>> study.sobol("sum").total.round(1).tolist()
    [0.5, 0.5]
    """

    measure: str
    factors: tuple[str, ...]
    first: Floats
    total: Floats
    first_interval: Floats
    total_interval: Floats
    base: int

    def summary(self) -> str:
        """Return the most important factor."""
        best = int(np.argmax(self.total))
        return f"Sobol' indices of {self.measure}: {self.factors[best]} has {self.total[best]:.3g}"

    def notebook_table(self) -> NotebookTable:
        """Return the indices and their intervals."""
        rows = [
            (name, self.first[k], *self.first_interval[k], self.total[k], *self.total_interval[k])
            for k, name in enumerate(self.factors)
        ]
        heads = ("factor", "first", "from", "to", "total", "from", "to")
        return NotebookTable(heads, rows, (f"{self.base} base points",))

    def __str__(self) -> str:
        """Return one line for each factor."""
        lines = [
            f"{name}: first {self.first[k]:.4f}, total {self.total[k]:.4f} "
            f"({self.total_interval[k, 0]:.4f} … {self.total_interval[k, 1]:.4f})"
            for k, name in enumerate(self.factors)
        ]
        return "\n".join([f"Sobol' indices of {self.measure}, {self.base} base points", *lines])


def sobol_indices(
    recipe: StudyRecipe, measure: str, values: Floats, resamples: int
) -> SobolIndices:
    """Return the indices of values of Saltelli's scheme, for any number of base points: SciPy has
    the same estimators, but only for powers of two."""
    if recipe.sampling.method != "saltelli":
        raise ArgumentError(
            "Sobol' indices need Saltelli's scheme; "
            f"the study has design '{recipe.sampling.method}'",
            remedy='make a study with design="saltelli"',
        )
    d = len(recipe.factors)
    rows = values.reshape(recipe.sampling.base, d + 2)
    rows = rows[np.isfinite(rows).all(axis=1)]
    _check_rows(len(rows), measure)
    if np.ptp(rows) == 0:
        raise ArgumentError(f"'{measure}' is the same for all designs: it has no variance")
    first, total = _saltelli_estimates(rows)
    rng = np.random.default_rng(recipe.sampling.seed)
    samples = [
        _saltelli_estimates(rows[rng.integers(0, len(rows), len(rows))]) for _ in range(resamples)
    ]
    tail = (1 - CONFIDENCE) / 2
    ends = np.quantile(np.array(samples), [tail, 1 - tail], axis=0)
    return SobolIndices(
        measure,
        tuple(one.name for one in recipe.factors),
        first,
        total,
        ends[:, 0].T,
        ends[:, 1].T,
        len(rows),
    )


def _saltelli_estimates(rows: Floats) -> Floats:
    """Return first-order (Saltelli 2010) and total indices (Jansen), as SciPy estimates them."""
    a, b, ab = rows[:, 0], rows[:, -1], rows[:, 1:-1].T
    mean = np.mean([a, b])
    a, b, ab = a - mean, b - mean, ab - mean
    variance = np.var([a, b])
    first = np.mean(b * (ab - a), axis=1) / variance
    total = 0.5 * np.mean((a - ab) ** 2, axis=1) / variance
    return np.stack([first, total])


@dataclass(frozen=True, repr=False)
class MorrisEffects(NotebookDisplayed):
    """Elementary effects: changes of a measure when one factor crosses its range.

    Attributes
    ----------
    measure : str
        The measure.
    factors : tuple of str
        The factors.
    mean, absolute_mean, deviation : (factors,) arrays
        μ, μ* and σ of the effects: importance, and nonlinearity or interaction.
    trajectories : int
        Trajectories that were used.

    Examples
    --------
    The effects of a linear measure are its slopes times the ranges, without a spread:

    >>> import linkwright as lw
    >>> vary, measure = {"m2": (0.9, 1.1), "l1": (0.95, 1.05)}, {"sum": "m2 + 4*l1 + 0*q1[-1]"}
    >>> study = lw.study(lw.gallery("elbow"), vary, measure, design="morris", count=8, t=0.01)
    >>> effects = study.morris("sum")
    >>> effects.mean.round(9).tolist(), effects.deviation.round(9).tolist()
    ([0.2, 0.4], [0.0, 0.0])
    """

    measure: str
    factors: tuple[str, ...]
    mean: Floats
    absolute_mean: Floats
    deviation: Floats
    trajectories: int

    def summary(self) -> str:
        """Return the most important factor."""
        best = int(np.argmax(self.absolute_mean))
        return f"Elementary effects of {self.measure}: {self.factors[best]} has the largest"

    def notebook_table(self) -> NotebookTable:
        """Return μ, μ* and σ of all factors."""
        rows = list(zip(self.factors, self.mean, self.absolute_mean, self.deviation, strict=True))
        return NotebookTable(("factor", "μ", "μ*", "σ"), rows)

    def __str__(self) -> str:
        """Return one line for each factor."""
        lines = [
            f"{name}: μ {self.mean[k]:.4g}, μ* {self.absolute_mean[k]:.4g}, "
            f"σ {self.deviation[k]:.4g}"
            for k, name in enumerate(self.factors)
        ]
        head = f"Elementary effects of {self.measure}, {self.trajectories} trajectories"
        return "\n".join([head, *lines])


def morris_effects(recipe: StudyRecipe, measure: str, values: Floats) -> MorrisEffects:
    """Return the elementary effects of values along Morris' trajectories."""
    if recipe.sampling.method != "morris":
        raise ArgumentError(
            f"elementary effects need Morris' trajectories; the study has design "
            f"'{recipe.sampling.method}'",
            remedy='make a study with design="morris"',
        )
    d = len(recipe.factors)
    rows = values.reshape(-1, d + 1)
    shares = recipe.sampling.shares(d, 0, recipe.count).reshape(-1, d + 1, d)
    whole = np.isfinite(rows).all(axis=1)
    rows, shares = rows[whole], shares[whole]
    _check_rows(len(rows), measure)
    steps, changes = np.diff(shares, axis=1), np.diff(rows, axis=1)
    moved = np.argmax(np.abs(steps), axis=2)
    sizes = np.take_along_axis(steps, moved[..., None], axis=2)[..., 0]
    effects = np.zeros((len(rows), d))
    np.put_along_axis(effects, moved, changes / sizes, axis=1)
    return MorrisEffects(
        measure,
        tuple(one.name for one in recipe.factors),
        effects.mean(axis=0),
        np.abs(effects).mean(axis=0),
        effects.std(axis=0, ddof=1),
        len(rows),
    )


def _check_rows(count: int, measure: str) -> None:
    if count < 2:
        raise ArgumentError(
            f"'{measure}' has fewer than 2 whole base points or trajectories",
            remedy="look at study.failures, or make more designs",
        )


def rank_correlations(
    factors: Floats, measures: Floats, names: tuple[Sequence[str], Sequence[str]], kind: str
) -> xarray.DataArray:
    """Return correlations (measures, factors) over designs with all numbers."""
    import xarray

    if kind not in ("spearman", "pearson"):
        raise ArgumentError(f"'{kind}' is not a correlation", remedy="use spearman or pearson")
    found = np.full((measures.shape[1], factors.shape[1]), np.nan)
    for k, column in enumerate(measures.T):
        whole = np.isfinite(column)
        if whole.sum() < 3:
            continue
        x, y = factors[whole], column[whole]
        if kind == "spearman":
            from scipy.stats import rankdata

            x, y = rankdata(x, axis=0), rankdata(y)
        x, y = x - x.mean(axis=0), y - y.mean()
        with np.errstate(all="ignore"):
            found[k] = (x * y[:, None]).sum(0) / np.sqrt((x**2).sum(0) * (y**2).sum())
    return xarray.DataArray(
        found,
        dims=("measure", "factor"),
        coords={"measure": list(names[1]), "factor": list(names[0])},
        attrs={"kind": kind},
    )
