"""Cost against the number of links: planar chains, every formulation, and the powers of n that
fit best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, make_dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..formulations import formulation_module, formulation_names
from ..mechanism.gallery_files import build_gallery_member
from ..processes.timed_worker import BudgetExceededError, TimedWorkerProcess
from .comparison_tables import ComparisonTable, SavableComparison
from .cost_measurement import measure_formulation
from .derivation_times import DerivationTimes, measure_derivation
from .formulation_row import FormulationRow, compared_integration_time_note

T = TypeVar("T")

COST_LABELS = {
    "derive_seconds": "time to derive, s",
    "operations": "operations to evaluate",
    "evaluate_microseconds": "time to evaluate, µs",
    "integrate_seconds": "time to integrate, s",
}
"""The fitted costs, and their labels."""
MAX_CHAIN_LINKS = 1000
"""Links of the longest chain."""


@dataclass(frozen=True)
class CostPowerLaw:
    """Cost ≈ factor · n^exponent, with the exponent's standard error and the number of points."""

    exponent: float
    factor: float
    error: float
    points: int


def fitted_chain_sizes(sizes: Sequence[T]) -> Sequence[T]:
    """The sizes for the fit of a power: the upper half, at least three, where constant costs
    weigh less."""
    return sizes[-max(3, math.ceil(len(sizes) / 2)) :]


def fit_cost_power_law(sizes: Sequence[float], costs: Sequence[float]) -> CostPowerLaw | None:
    """A least-squares fit of logarithms over the sizes of `fitted_chain_sizes`; None for fewer than
    three."""
    if len(sizes) < 3 or min(costs) <= 0:
        return None
    x, y = (
        np.log(np.asarray(fitted_chain_sizes(values), dtype=float)) for values in (sizes, costs)
    )
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    factor = float(np.exp(y.mean() - exponent * x.mean()))
    left = y - y.mean() - exponent * centred
    error = float(np.sqrt(left @ left / (len(x) - 2) / (centred @ centred)))
    return CostPowerLaw(exponent, factor, error, len(x))


_ScalingRecord: Any = make_dataclass(
    "Record", [("links", int), *FormulationRow.__annotations__.items()]
)


@dataclass(frozen=True, repr=False)
class CostScaling(SavableComparison):
    """What planar chains of several sizes cost, printed as tables.

    `rows` are sorted by algorithm and number of links, `stopped` says where and why algorithms were
    stopped, and `duration` is the length of the simulated motions, s. A formulation that chooses
    its algorithm by size has rows under several names, such as "recursive, mass matrix", so that no
    exponent is fitted through two algorithms. `derivations` are the times that Virgala et al.
    measured.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.comparison.measure_scaling([1, 2], ["recursive"], duration=0.1)
    >>> links, equations = found.formulation_costs("recursive, mass matrix", "equations")
    >>> links, equations
    ([1, 2], [1.0, 2.0])
    """

    rows: dict[str, dict[int, FormulationRow]]
    stopped: dict[str, str]
    duration: float
    derivations: DerivationTimes | None = None

    def summary(self) -> str:
        """Return one line: the number of algorithms."""
        return f"Scaling of {len(self.rows)} algorithms"

    def formulation_costs(self, by: str, what: str) -> tuple[list[int], list[float]]:
        """Return the numbers of links, and the costs `what` of the formulation `by`."""
        return list(self.rows[by]), [float(getattr(r, what)) for r in self.rows[by].values()]

    def cost_power_law(self, by: str, what: str) -> CostPowerLaw | None:
        """Return the power law of the cost `what` of `by`; None for too few sizes."""
        return fit_cost_power_law(*self.formulation_costs(by, what))

    def table(self) -> ComparisonTable:
        """Return the table of exponents."""
        head = ("exponents of n", "links", "fitted to", *COST_LABELS.values())
        rows = []
        for by, found in self.rows.items():
            if found:
                powers = [
                    _cost_exponent_text(self.cost_power_law(by, what)) for what in COST_LABELS
                ]
                sizes = ", ".join(map(str, fitted_chain_sizes(list(found)))) if any(powers) else ""
                first, last = min(found), max(found)
                links = f"{first}–{last}" if last > first else str(first)
                rows.append((by, links, sizes, *powers))
        stopped = tuple(f"{by}: {reason}" for by, reason in self.stopped.items())
        notes = (
            tuple(
                f"{n} links: {compared_integration_time_note(rows)}"
                for n, rows in self.rows_at_ends().items()
            )
            + stopped
        )
        return ComparisonTable("Cost against the number of links", head, tuple(rows), notes)

    def rows_at_ends(self) -> dict[int, list[FormulationRow]]:
        """Return all rows for the fewest and for the most links."""
        sizes = sorted({n for found in self.rows.values() for n in found})
        ends = dict.fromkeys([*sizes[:1], *sizes[-1:]])
        return {n: [found[n] for found in self.rows.values() if n in found] for n in ends}

    def tables(self) -> list[ComparisonTable]:
        """Return the table of exponents, one table for each cost, and that of Virgala et al."""
        own = [] if self.derivations is None else [self.derivations.table()]
        return [self.table(), *(self._cost_table(what) for what in COST_LABELS), *own]

    def _cost_table(self, what: str) -> ComparisonTable:
        sizes = sorted({n for found in self.rows.values() for n in found})
        rows = [
            (
                by,
                *(_scaling_cost_text(getattr(found[n], what)) if n in found else "" for n in sizes),
            )
            for by, found in self.rows.items()
        ]
        return ComparisonTable(COST_LABELS[what], ("links", *map(str, sizes)), tuple(rows))

    def records(self) -> list[FormulationRow]:
        """Return the rows of the CSV file: one for each formulation and number of links."""
        return [
            _ScalingRecord(links=n, **asdict(one))
            for found in self.rows.values()
            for n, one in found.items()
        ]


def _scaling_cost_text(value: float) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _cost_exponent_text(power: CostPowerLaw | None) -> str:
    """The exponent with its standard error, which needs more than three points."""
    if power is None:
        return ""
    error = f"± {power.error:.2f}" if power.points > 3 else "(three points)"
    return f"{power.exponent:.2f} {error}"


def compared_chain_sizes(first: int, last: int, count: int = 12) -> list[int]:
    """Numbers of links that are about equally spaced on a logarithmic scale, with both ends."""
    spaced = np.geomspace(first, last, count)
    return sorted({first, last, *(round(float(n)) for n in spaced)})


def measure_scaling(
    links: Sequence[int],
    by: str | Sequence[str] | None = None,
    duration: float = 1.0,
    budget: float = 30.0,
    report: Callable[[str], None] = lambda what: None,
) -> CostScaling:
    """Measure what planar chains cost by several formulations.

    Parameters
    ----------
    links : sequence of int
        The numbers of links of the chains.
    by : sequence of str, optional
        The formulations (default: all).
    duration : float
        The length of the simulated motions, s.
    budget : float
        The time after which an algorithm is stopped, s; longer chains are then not measured.
    report : function
        Called with a line of text before each measurement.

    Returns
    -------
    CostScaling
        Rows by algorithm and number of links.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.comparison.measure_scaling([1, 2], ["recursive"], duration=0.1)
    >>> list(found.rows)
    ['recursive, mass matrix']
    """
    sizes = sorted(set(links))
    if not sizes or sizes[0] < 1 or sizes[-1] > MAX_CHAIN_LINKS:
        raise LinkwrightError(
            f"chains have 1 to {MAX_CHAIN_LINKS} links", remedy="give such numbers"
        )
    rows: dict[str, dict[int, FormulationRow]] = {}
    stopped: dict[str, str] = {}
    names = formulation_names(by)
    with TimedWorkerProcess() as worker:
        for name in names:
            for options in _algorithm_options(name):
                label = _algorithm_label(name, options)
                for n in sizes:
                    report(f"chain-{n} by {label}")
                    chain = build_gallery_member(f"chain-{n}")
                    what = chain, name, duration, None, options
                    try:
                        row = worker.call_within(measure_formulation, *what, seconds=budget)
                    except (BudgetExceededError, UnsupportedError) as error:
                        stopped[label] = _algorithm_stop_reason(n, error)
                        break
                    own = f"{name}, {row.algorithm}" if row.algorithm else name
                    rows.setdefault(own, {})[n] = row
        derivations = _measure_derivations(worker, sizes, budget) if "lagrange" in names else None
    return CostScaling(rows, stopped, duration, derivations)


def _algorithm_options(name: str) -> list[dict[str, str]]:
    """The options that choose each algorithm of a formulation, if these can be chosen."""
    known = getattr(formulation_module(name), "ALGORITHMS", {})
    return [{"algorithm": key} for key in known] or [{}]


def _algorithm_label(name: str, options: dict[str, str]) -> str:
    """The name of a formulation with the algorithm that its options choose."""
    known = getattr(formulation_module(name), "ALGORITHMS", {})
    return ", ".join([name, *(known[key] for key in options.values())])


def _measure_derivations(
    worker: TimedWorkerProcess, sizes: Sequence[int], budget: float
) -> DerivationTimes | None:
    """Times to derive Lagrange's model, up to the first chain that exceeds the budget."""
    found: dict[int, float] = {}
    for n in sizes:
        try:
            found[n] = worker.call_within(
                measure_derivation, build_gallery_member(f"chain-{n}"), budget / 2, seconds=budget
            )
        except BudgetExceededError:
            break
    return DerivationTimes(found) if found else None


def _algorithm_stop_reason(n: int, error: LinkwrightError) -> str:
    if isinstance(error, UnsupportedError):
        return f"cannot treat planar chains: {error.what}"
    return f"stopped at {n} links, which {error.what}"
