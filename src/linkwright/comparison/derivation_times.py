"""The time to derive Lagrange's model of n links, as Virgala et al. (2016) measured it in Matlab:
means of ten runs, with a cubic through them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..formulations import derive_uncached
from ..mechanism import Mechanism
from .comparison_tables import ComparisonTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIRGALA_COEFFICIENTS = (0.0191, -0.1025, 0.3757, -0.3647)
"""Seconds to derive a model by Lagrange in Matlab 2013: coefficients of n³, n², n, 1 (23)."""

VIRGALA_CORRELATION = 0.9998
"""Their "reliability" R of (23)."""

DERIVATION_RUNS = 10
"""Runs whose mean is taken, as in the paper."""

_MIN_CUBIC_POINTS = 5
"""A cubic through four points fits them exactly, and says nothing."""


def fit_cubic_cost(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of n³, n², n and 1, as Virgala et al. (2016) fit them."""
    return tuple(float(c) for c in np.polyfit(sizes, costs, 3))


def cubic_determination(
    sizes: Sequence[float], costs: Sequence[float], coefficients: Sequence[float]
) -> float:
    """R² of a cubic: the share of the variance of the costs that it explains."""
    y = np.asarray(costs, dtype=float)
    left = y - np.polyval(coefficients, sizes)
    return 1 - float(left @ left / ((y - y.mean()) @ (y - y.mean())))


def virgala_derivation_time(n: float) -> float:
    """The seconds that Virgala et al. (2016) need to derive a chain of n links in Matlab 2013."""
    return float(np.polyval(VIRGALA_COEFFICIENTS, n))


def measure_derivation(mechanism: Mechanism, seconds: float) -> float:
    """Return the mean time to derive M, C and g by Christoffel symbols, s.

    All parameters stay symbols.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    seconds : float
        The time for all runs, s: ten runs, or as many as it allows.

    Returns
    -------
    float
        Processor time of one derivation, s.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.comparison.measure_derivation(lw.gallery("chain-1"), seconds=0.1) > 0
    True
    """
    spent: list[float] = []
    while len(spent) < DERIVATION_RUNS and sum(spent) + max(spent, default=0.0) < seconds:
        start = time.thread_time()
        equations = derive_uncached(mechanism, by="lagrange", algorithm="christoffel")
        for name in ("mass_matrix", "coriolis_matrix", "gravity"):
            equations.expressions(name)
        spent.append(time.thread_time() - start)
    return float(np.mean(spent))


@dataclass(frozen=True)
class DerivationTimes:
    """Times to derive Lagrange's model by Christoffel symbols.

    `seconds` has the time for each number of links.

    Examples
    --------
    >>> import linkwright as lw
    >>> times = lw.comparison.DerivationTimes({n: 0.01 * n**3 for n in (1, 2, 3, 4, 5)})
    >>> round(times.determination, 6)
    1.0
    """

    seconds: dict[int, float]

    @property
    def cubic(self) -> tuple[float, ...] | None:
        """The coefficients of our cubic; None for fewer than five sizes."""
        if len(self.seconds) < _MIN_CUBIC_POINTS:
            return None
        return fit_cubic_cost(list(self.seconds), list(self.seconds.values()))

    @property
    def determination(self) -> float:
        """R² of our cubic; NaN where there is none."""
        if self.cubic is None:
            return float("nan")
        return cubic_determination(list(self.seconds), list(self.seconds.values()), self.cubic)

    def figure(self) -> Figure:
        """Return figure 1 of the paper: the times against the number of links, theirs and ours."""
        from .cost_figures import draw_derivation_figure

        return draw_derivation_figure(self)

    def table(self) -> ComparisonTable:
        """Return our times beside those of Virgala et al., and both cubics."""
        theirs = {n: virgala_derivation_time(n) for n in self.seconds}
        ratios = {n: theirs[n] / own for n, own in self.seconds.items()}
        rows = (
            ("Virgala et al. (23)", *_time_cells(theirs)),
            ("lagrange, Christoffel symbols", *_time_cells(self.seconds)),
            ("ratio", *(f"{ratio:.0f}" if ratio > 0 else "" for ratio in ratios.values())),
        )
        notes = [
            f"theirs: {cubic_text(VIRGALA_COEFFICIENTS)} s, R² = {VIRGALA_CORRELATION**2:.4f} "
            f"(printed: R = {VIRGALA_CORRELATION})"
        ]
        if self.cubic is not None:
            notes.append(f"ours: {cubic_text(self.cubic)} s, R² = {self.determination:.4f}")
        title = "Time to derive M, C and g by Lagrange, s (means of up to ten runs)"
        return ComparisonTable(title, ("links", *map(str, self.seconds)), rows, tuple(notes))


def _time_cells(seconds: dict[int, float]) -> list[str]:
    """Times with three digits; a cubic may be negative for few links, which no time is."""
    return [f"{value:.3g}" if value > 0 else "" for value in seconds.values()]


def cubic_text(coefficients: Sequence[float]) -> str:
    """A cubic of n as text."""
    first, *others = (
        (f"{abs(c):.4g}{power}", c < 0)
        for c, power in zip(coefficients, ("n³", "n²", "n", ""), strict=True)
    )
    head = f"−{first[0]}" if first[1] else first[0]
    return head + "".join(f" {'−' if negative else '+'} {term}" for term, negative in others)
