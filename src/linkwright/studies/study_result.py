"""`Study`: the results of a study, with analyses and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..conveniences import find_convenience
from ..errors import ArgumentError
from ..simulation.run import Run
from ..types import Floats, Integers
from .factors import FactorValue
from .pareto_fronts import find_pareto_front
from .response_surfaces import ResponseSurface, fit_response_surface
from .sensitivity_indices import (
    MorrisEffects,
    SobolIndices,
    morris_effects,
    rank_correlations,
    sobol_indices,
)
from .study_results import StudyResults

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class DesignCase:
    """A selected design, computed again as a full run.

    Attributes
    ----------
    design : int
        Its index.
    value : float
        The measure.
    factors : dict
        The values of its factors.
    run : Run
        Its motion, computed again with all details.

    Examples
    --------
    >>> import linkwright as lw
    >>> arm, measure = lw.gallery("elbow"), {"peak": "max(abs(dq1))"}
    >>> found = lw.study(arm, {"m2": [1.0, 2.0]}, measure, t=0.1, samples=11)
    >>> case = found.worst("peak")[0]
    >>> case.design, case.factors
    (0, {'m2': 1.0})
    """

    design: int
    value: float
    factors: dict[str, FactorValue]
    run: Run


@dataclass(frozen=True, eq=False, repr=False)
class Study(StudyResults):
    """The results of a study, with analyses and plots; `store` holds them and the recipe.

    Examples
    --------
    >>> import linkwright as lw
    >>> arm, measure = lw.gallery("elbow"), {"end": "q1[-1]"}
    >>> found = lw.study(arm, {"m2": [1.0, 2.0]}, measure, t=0.1, samples=3)
    >>> found.is_complete, found.data["end"].shape
    (True, (2,))
    """

    def worst(self, measure: str, count: int = 3, *, smallest: bool = False) -> list[DesignCase]:
        """Return the designs with the largest values of a measure, made again.

        Parameters
        ----------
        measure : str
            The measure.
        count : int
            The number of cases.
        smallest : bool
            Find the smallest values instead.

        Returns
        -------
        list of DesignCase
            The worst first.
        """
        values = self.numbers(measure)
        order = np.argsort(values if smallest else -values, kind="stable")
        order = order[np.isfinite(values[order]) & self.is_usable[order]][:count]
        return [
            DesignCase(int(k), float(values[k]), self.factors_of(int(k)), self.run(int(k)))
            for k in order
        ]

    # -- analyses --------------------------------------------------------------------------------

    @property
    def _number_factors(self) -> list[str]:
        return [one.name for one in self.recipe.factors if one.is_number]

    def _factor_matrix(self) -> Floats:
        return np.stack([self.numbers(name) for name in self._number_factors], axis=1)

    def sobol(self, measure: str, *, resamples: int = 200) -> SobolIndices:
        """Return Sobol' indices of a measure, with confidence intervals of 95 %.

        The study must have design="saltelli".

        Parameters
        ----------
        measure : str
            The measure.
        resamples : int
            Number of bootstrap samples of the intervals.

        Returns
        -------
        SobolIndices
            First-order and total indices of all factors.
        """
        return sobol_indices(self.recipe, measure, self.numbers(measure), resamples)

    def morris(self, measure: str) -> MorrisEffects:
        """Return Morris' elementary effects of a `measure`; the study must have design="morris"."""
        return morris_effects(self.recipe, measure, self.numbers(measure))

    def correlations(self, kind: str = "spearman") -> xarray.DataArray:
        """Return correlations of measures with factors (measure, factor).

        Parameters
        ----------
        kind : {"spearman", "pearson"}
            Correlation of ranks, or of the numbers themselves.

        Returns
        -------
        xarray.DataArray
            Numbers from −1 to 1.
        """
        measures = [one for one in self.measure_names if self.data[one].ndim == 1]
        values = np.stack([self.numbers(name) for name in measures], axis=1)
        usable = self.is_usable
        return rank_correlations(
            self._factor_matrix()[usable], values[usable], (self._number_factors, measures), kind
        )

    def pareto(self, goals: Mapping[str, str]) -> Integers:
        """Return the designs that no other one beats in all goals.

        Parameters
        ----------
        goals : mapping
            By measure (or factor) "min" or "max".

        Returns
        -------
        array of int
            Indices of designs, in the order of the first goal.
        """
        return find_pareto_front(
            {name: self.numbers(name) for name in goals}, goals, self.is_usable
        )

    def surface(self, measure: str, factors: Sequence[str] | None = None) -> ResponseSurface:
        """Return a Gaussian process through a measure over factors; needs scikit-learn.

        Parameters
        ----------
        measure : str
            The measure.
        factors : sequence of str, optional
            The factors (default: all that are numbers).

        Returns
        -------
        ResponseSurface
            Predicts the measure and its standard deviation.
        """
        names = self._number_factors if factors is None else list(factors)
        columns = np.stack([self.numbers(name) for name in names], axis=1)
        usable = self.is_usable & np.isfinite(self.numbers(measure))
        return fit_response_surface(measure, names, columns[usable], self.numbers(measure)[usable])

    def bands(
        self, measure: str, quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)
    ) -> xarray.DataArray:
        """Return quantiles over all designs of a measure that is a history.

        Parameters
        ----------
        measure : str
            A measure such as "q1", which keeps a number for each time.
        quantiles : sequence of float
            Shares of the designs, 0 to 1.

        Returns
        -------
        xarray.DataArray
            (quantile, time).
        """
        if measure not in self.recipe.histories:
            known = list(self.recipe.histories)
            raise ArgumentError(
                f"'{measure}' is not a history",
                remedy=f"choose {', '.join(known)}" if known else 'measure one: {"angle": "q1"}',
            )
        wrong = [x for x in quantiles if not 0 <= x <= 1]
        if wrong:
            raise ArgumentError(f"the quantile {wrong[0]} is not in 0 … 1")
        kept = self.data[measure][self.is_usable]
        return kept.quantile(list(quantiles), dim="design", skipna=True)

    def plot(self, *names: str, kind: str = "scatter", path: str | Path | None = None) -> Figure:
        """Return a figure of the results.

        Parameters
        ----------
        *names : str
            Measures and factors (default: all, or the first that the kind of plot can take).
        kind : str
            "scatter", "parallel", "sobol", "morris", "correlations", "pareto" (a name with a minus
            sign is maximized), "surface" or "bands".
        path : str or Path, optional
            A file to write: .svg, .pdf or .png.

        Returns
        -------
        Figure
            A matplotlib figure.
        """
        from .study_figures import plot_study

        return plot_study(self, *names, kind=kind, path=path)

    def report(self, path: str | Path) -> Path:
        """Return the `path` of the page that is written: results, plots and a linked view."""
        page: Path = find_convenience("Study.report")(self, Path(path))
        return page
