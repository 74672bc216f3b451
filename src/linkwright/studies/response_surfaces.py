"""Response surfaces: a Gaussian process through the values of a measure."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import ArgumentError, MissingExtraError
from ..types import Floats

if TYPE_CHECKING:
    from sklearn.gaussian_process import GaussianProcessRegressor

MAX_POINTS = 2000
"""Points of a fit, whose time grows with their cube; more are thinned out evenly."""

CHECK_SHARE = 5
"""Every fifth point checks the surface: it is left out of a first fit."""


@dataclass(frozen=True, repr=False)
class ResponseSurface(NotebookDisplayed):
    """A measure as a function of factors, with its uncertainty.

    Attributes
    ----------
    measure : str
        The measure.
    factors : tuple of str
        The factors.
    low, high : (factors,) arrays
        The ranges of the factors.
    score : float
        R² of points that were left out: 1 is perfect, 0 no better than the mean.
    process : GaussianProcessRegressor
        The process of scikit-learn, over factors scaled to 0 … 1.

    Examples
    --------
    >>> import linkwright as lw
    >>> arm, measure = lw.gallery("elbow"), {"end": "q1[-1]"}
    >>> found = lw.study(arm, {"m2": (1.0, 2.0)}, measure, count=16, t=0.1, samples=3)
    >>> surface = found.surface("end")
    >>> surface.factors, surface.score > 0.9
    (('m2',), True)
    """

    measure: str
    factors: tuple[str, ...]
    low: Floats
    high: Floats
    score: float
    process: GaussianProcessRegressor

    def summary(self) -> str:
        """Return the measure, the factors and the score."""
        return (
            f"{self.measure} over {', '.join(self.factors)}: R² {self.score:.4f} of points left out"
        )

    def predict(
        self, points: Floats | Sequence[Sequence[float]] | Mapping[str, float | Sequence[float]]
    ) -> tuple[Floats, Floats]:
        """Return the measure at points, and its standard deviation.

        Parameters
        ----------
        points : array, (n, factors), or mapping of factors to numbers or arrays (n,)
            Values of the factors, in their units.

        Returns
        -------
        measure, deviation : array, (n,)
            Both in the unit of the measure.
        """
        rows = np.atleast_2d(self._read_points(points))
        if rows.shape[1] != len(self.factors):
            raise ArgumentError(
                f"a point has {rows.shape[1]} numbers; give {len(self.factors)}: "
                f"{', '.join(self.factors)}"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a variance that rounding makes negative is zero
            scaled = (rows - self.low) / (self.high - self.low)
            mean, deviation = self.process.predict(scaled, True)
        return np.asarray(mean, dtype=float), np.asarray(deviation, dtype=float)

    def _read_points(self, points: object) -> Floats:
        """Return points in the order of the factors."""
        given = points
        if isinstance(points, Mapping):
            if set(points) != set(self.factors):
                raise ArgumentError(
                    f"the point has {', '.join(map(str, points))}",
                    remedy=f"give {', '.join(self.factors)}",
                )
            given = np.broadcast_arrays(*(points[name] for name in self.factors))
        try:
            found = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(
                "points are not numbers", remedy=f"give {', '.join(self.factors)}"
            ) from None
        return found.T if isinstance(points, Mapping) else found


def fit_response_surface(
    measure: str, names: Sequence[str], columns: Floats, values: Floats
) -> ResponseSurface:
    """Return the process through values at the factors' columns."""
    try:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    except ImportError:
        raise MissingExtraError(
            "response surfaces need scikit-learn, which is not installed",
            remedy="install linkwright[studies]",
        ) from None
    if len(values) < 10:
        raise ArgumentError(
            f"a response surface needs at least 10 designs (got {len(values)})",
            remedy="make more designs",
        )
    chosen = np.linspace(0, len(values) - 1, min(len(values), MAX_POINTS)).astype(int)
    columns, values = columns[chosen], values[chosen]
    low, high = columns.min(axis=0), columns.max(axis=0)
    if (low == high).any():
        still = names[int(np.argmax(low == high))]
        raise ArgumentError(f"the factor '{still}' does not vary", remedy="leave it out")
    points = (columns - low) / (high - low)
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(np.ones(len(names)), (1e-2, 1e3))
    kernel += WhiteKernel(1e-6, (1e-9, 1.0))
    process = GaussianProcessRegressor(
        kernel, alpha=1e-9, normalize_y=True, n_restarts_optimizer=1, random_state=0
    )
    left_out = np.arange(len(values)) % CHECK_SHARE == CHECK_SHARE - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bound that a length reaches is harmless
        process.fit(points[~left_out], values[~left_out])
        error = values[left_out] - process.predict(points[left_out])
        spread = values[left_out] - values[left_out].mean()
        score = 1 - float((error**2).sum() / max(float((spread**2).sum()), 1e-300))
        process.set_params(kernel=process.kernel_, optimizer=None)
        process.fit(points, values)
    return ResponseSurface(measure, tuple(names), low, high, score, process)
