"""Cost against the number of links: planar chains, every formulation, and the powers of n that
fit best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, make_dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..formulations import FORMULATIONS, formulation
from ..mechanism.gallery_files import generated
from .bounded import OutOfTimeError, Worker
from .measure import Row, of_steps, row
from .output import Saved, Table

T = TypeVar("T")

COSTS = {
    "derive_seconds": "time to derive, s",
    "operations": "operations to evaluate",
    "evaluate_microseconds": "time to evaluate, µs",
    "integrate_seconds": "time to integrate, s",
}
"""What is fitted, and how it is called."""
MOST = 1000
"""Links of the longest chain."""

VIRGALA = (0.0191, -0.1025, 0.3757, -0.3647)
"""Seconds to derive a model by Lagrange in Matlab 2013: coefficients of n³, n², n, 1."""


@dataclass(frozen=True)
class Power:
    """Cost ≈ factor · n^exponent, with the exponent's standard error, from so many points."""

    exponent: float
    factor: float
    error: float
    points: int


def fitted(sizes: Sequence[T]) -> Sequence[T]:
    """The sizes that a power is fitted to: the upper half, where what a cost begins with weighs
    less; three at least."""
    return sizes[-max(3, math.ceil(len(sizes) / 2)) :]


def power_of(sizes: Sequence[float], costs: Sequence[float]) -> Power | None:
    """Least squares of the logarithms over the `fitted` sizes; None of fewer than three."""
    if len(sizes) < 3 or min(costs) <= 0:
        return None
    x, y = (np.log(np.asarray(fitted(values), dtype=float)) for values in (sizes, costs))
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    factor = float(np.exp(y.mean() - exponent * x.mean()))
    left = y - y.mean() - exponent * centred
    error = float(np.sqrt(left @ left / (len(x) - 2) / (centred @ centred)))
    return Power(exponent, factor, error, len(x))


def cubic_of(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, ...]:
    """Coefficients of n³, n², n, 1, as Virgala et al. (2016) fit theirs."""
    return tuple(float(c) for c in np.polyfit(sizes, costs, 3))


def virgala(n: float) -> float:
    return float(np.polyval(VIRGALA, n))


_Record: Any = make_dataclass("Record", [("links", int), *Row.__annotations__.items()])


@dataclass(frozen=True, repr=False)
class Scaling(Saved):
    """Rows by formulation and number of links; where and why formulations were stopped."""

    rows: dict[str, dict[int, Row]]
    stopped: dict[str, str]
    duration: float

    def summary(self) -> str:
        """The formulations and how many sizes each has."""
        return f"Scaling of {len(self.rows)} formulations"

    def costs(self, by: str, what: str) -> tuple[list[int], list[float]]:
        return list(self.rows[by]), [float(getattr(r, what)) for r in self.rows[by].values()]

    def power(self, by: str, what: str) -> Power | None:
        return power_of(*self.costs(by, what))

    def table(self) -> Table:
        """The exponents."""
        head = ("exponents of n", "links", "fitted to", *COSTS.values())
        rows = []
        for by, found in self.rows.items():
            if found:
                powers = [_shown(self.power(by, what)) for what in COSTS]
                sizes = ", ".join(map(str, fitted(list(found)))) if any(powers) else ""
                rows.append((by, f"{min(found)}–{max(found)}", sizes, *powers))
        stopped = tuple(f"{by}: {reason}" for by, reason in self.stopped.items())
        notes = tuple(f"{n} links: {of_steps(rows)}" for n, rows in self.ends().items()) + stopped
        return Table("Cost against the number of links", head, tuple(rows), notes)

    def ends(self) -> dict[int, list[Row]]:
        """All rows of the fewest links, and of the most."""
        sizes = sorted({n for found in self.rows.values() for n in found})
        ends = dict.fromkeys([*sizes[:1], *sizes[-1:]])
        return {n: [found[n] for found in self.rows.values() if n in found] for n in ends}

    def tables(self) -> list[Table]:
        return [self.table(), *(self._costs(what) for what in COSTS)]

    def _costs(self, what: str) -> Table:
        sizes = sorted({n for found in self.rows.values() for n in found})
        rows = [
            (by, *(_number(getattr(found[n], what)) if n in found else "" for n in sizes))
            for by, found in self.rows.items()
        ]
        if what == "derive_seconds":
            fit = [f"{virgala(n):.3g}" if virgala(n) > 0 else "" for n in sizes]
            rows.append(("Virgala et al., Matlab 2013", *fit))
        return Table(COSTS[what], ("links", *map(str, sizes)), tuple(rows))

    def records(self) -> list[Row]:
        return [
            _Record(links=n, **asdict(one))
            for found in self.rows.values()
            for n, one in found.items()
        ]


def _number(value: float) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _shown(power: Power | None) -> str:
    """With its error; three points are too few for one."""
    if power is None:
        return ""
    error = f"± {power.error:.2f}" if power.points > 3 else "(three points)"
    return f"{power.exponent:.2f} {error}"


def sizes_between(first: int, last: int, count: int = 12) -> list[int]:
    """Whole numbers about equally far apart in their logarithms, both ends among them."""
    spaced = np.geomspace(first, last, count)
    return sorted({first, last, *(round(float(n)) for n in spaced)})


def scaling(
    links: Sequence[int],
    by: Sequence[str] | None = None,
    duration: float = 1.0,
    budget: float = 30.0,
    said: Callable[[str], None] = lambda what: None,
) -> Scaling:
    """Planar chains of so many links by all formulations (or those named). A formulation that takes
    more than `budget` seconds for a chain is stopped there."""
    sizes = sorted(set(links))
    if not sizes or sizes[0] < 1 or sizes[-1] > MOST:
        raise LinkwrightError(f"chains have 1 to {MOST} links", remedy="give such numbers")
    rows: dict[str, dict[int, Row]] = {}
    stopped: dict[str, str] = {}
    with Worker() as worker:
        for name in by or FORMULATIONS:
            formulation(name)
            rows[name] = {}
            for n in sizes:
                said(f"chain-{n} by {name}")
                try:
                    found = worker.call(
                        row, generated(f"chain-{n}"), name, duration, seconds=budget
                    )
                except (OutOfTimeError, UnsupportedError) as error:
                    stopped[name] = _reason(name, n, rows[name], error)
                    break
                rows[name][n] = found
    return Scaling({name: found for name, found in rows.items() if found}, stopped, duration)


def _reason(by: str, n: int, found: dict[int, Row], error: LinkwrightError) -> str:
    if isinstance(error, UnsupportedError):
        return f"cannot treat them, {error.what}"
    return f"stopped at {n} links, which {error.what}"
