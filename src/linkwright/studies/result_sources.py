"""Names of measures in results that are not motions: linear models, equilibria, linkages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError
from ..linearization import Equilibrium, Linear
from ..linkages.linkage_analysis import LinkageAnalysis
from ..linkages.linkage_histories import LinkageHistories
from ..types import Floats
from .lane_values import LaneArray, MeasuredValue, SampleClock


def _sorted_eigenvalues(model: Linear) -> NDArray[np.complex128]:
    """Return the eigenvalues, the least stable first."""
    found = model.eigenvalues
    return found[np.lexsort((-found.imag, -found.real.round(12)))]


def _filled(values: Floats, size: int) -> Floats:
    """Return values with NaN for those that this design lacks: all designs have as many entries."""
    return np.append(values, np.full(max(0, size - len(values)), np.nan))


def _first(found: Sequence[Equilibrium]) -> Equilibrium:
    if not found:
        raise LinkwrightError("no equilibrium was found")
    return found[0]


LINEAR_VALUES: dict[str, Callable[[Linear], LaneArray]] = {
    "eigenvalues": _sorted_eigenvalues,
    "frequencies": lambda model: _filled(model.frequencies, len(model.A) // 2),
    "damping": lambda model: _filled(model.damping, len(model.A) // 2),
    "stable": lambda model: np.array([float(model.is_stable)]),
}

EQUILIBRIA_VALUES: dict[str, Callable[[Sequence[Equilibrium]], Floats]] = {
    "count": lambda found: np.array([float(len(found))]),
    "stable": lambda found: np.array([float(sum(one.is_stable for one in found))]),
    "q": lambda found: _first(found).q,
    "frequencies": lambda found: _filled(_first(found).frequencies, len(_first(found).q)),
}

LINKAGE_VALUES: dict[str, Callable[[LinkageAnalysis | LinkageHistories], Floats]] = {
    "input": lambda found: found.input_values,
    "velocity_ratio": lambda found: found.velocity_ratio,
    "acceleration_ratio": lambda found: found.acceleration_ratio,
    "mechanical_advantage": lambda found: found.mechanical_advantage,
    "transmission_angle": lambda found: found.transmission_angle,
}

RESULT_VALUES: dict[str, Mapping[str, Callable[..., LaneArray]]] = {
    "linearize": LINEAR_VALUES,
    "equilibria": EQUILIBRIA_VALUES,
    "linkage": LINKAGE_VALUES,
}
"""Names by analysis."""


@dataclass(frozen=True, eq=False)
class ResultSource:
    """Results of one analysis, None where there is none."""

    analysis: str
    results: Sequence[object | None]
    failures: dict[int, str] = field(default_factory=dict)
    """By lane, why a value does not exist."""

    def find(self, name: str) -> MeasuredValue | None:
        """Return the value of a name for all designs; missing entries are NaN."""
        table = RESULT_VALUES[self.analysis]
        if name not in table:
            return None
        rows = [self._value_of(k, table[name]) for k in range(len(self.results))]
        width = max((len(row) for row in rows if row is not None), default=1)
        kinds = [row.dtype for row in rows if row is not None]
        found = np.full((len(rows), width), np.nan, np.result_type(float, *kinds))
        for k, row in enumerate(rows):
            if row is not None:
                found[k, : len(row)] = row
        if self.analysis != "linkage":
            return MeasuredValue(found[:, None, :])
        return MeasuredValue(found[..., None], self.clock)

    def _value_of(self, lane: int, value: Callable[..., LaneArray]) -> LaneArray | None:
        """Return the value of one design; None, and a failure, if there is none."""
        if self.results[lane] is None:
            return None
        try:
            return np.asarray(value(self.results[lane]))
        except (LinkwrightError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.failures[lane] = f"{self.analysis}: {error}"
            return None

    @cached_property
    def clock(self) -> SampleClock:
        """The positions of a linkage: its histories are over the numbers of samples."""
        sizes = [
            len(one.input_values) if isinstance(one, LinkageAnalysis | LinkageHistories) else 0
            for one in self.results
        ]
        times = np.arange(max(sizes, default=0), dtype=float)
        return SampleClock(times, np.array(sizes, np.int64), "samples")
