"""The formulations side by side, as Bayseç and Kapucu (1996) compare them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from ..errors import LinkwrightError, UnsupportedError
from ..formulations import formulation_names
from ..formulations.approximate_penalties import mechanism_with_penalties
from ..mechanism import Mechanism, require_mechanism
from ..processes.timed_worker import BudgetExceededError, TimedWorkerProcess
from .comparison_tables import ComparisonTable, SavableComparison
from .cost_measurement import measure_formulation, require_comparable_motion
from .fixed_step_motions import FixedSteps
from .formulation_row import FormulationRow, compared_integration_time_note

MAX_SPRING_DEVIATION = 0.1
"""Share of the largest coordinate or speed from which on springs are too soft for a motion."""
PUBLISHED_TIME_RATIOS = {
    "lagrange": "1",
    "hamilton": "1",
    "approximate": "1.3",
    "newton_euler": "25",
}
"""Times of integration that Bayseç and Kapucu found for the triple pendulum, to Lagrange's."""


@dataclass(frozen=True, repr=False)
class Comparison(SavableComparison):
    """A comparison of formulations on one mechanism, printed as a table.

    `rows` has a `FormulationRow` for each formulation of `mechanism` (its name). `refused` has the
    reason of each formulation that cannot treat the mechanism, and `stopped` that of each one that
    exceeded its budget or failed. `steps` are the fixed steps of all motions; None for adaptive
    steps.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.compare(lw.gallery("elbow"), by=["recursive", "lagrange"], duration=0.1)
    >>> [row.by for row in found.rows]
    ['recursive', 'lagrange']
    """

    mechanism: str
    rows: tuple[FormulationRow, ...]
    refused: dict[str, str]
    stopped: dict[str, str] = field(default_factory=dict)
    steps: FixedSteps | None = None

    def summary(self) -> str:
        """Return one line: the mechanism and the number of formulations."""
        return f"Comparison of {len(self.rows)} formulations of {self.mechanism}"

    @property
    def base_row(self) -> FormulationRow | None:
        """The row with which times are compared: Lagrange's, or the first."""
        found = [row for row in self.rows if row.by == "lagrange"] or self.rows
        return found[0] if found else None

    def time_ratio_to_base(self, one: FormulationRow) -> float:
        """Return the integration time of the row `one`, divided by that of the base row."""
        assert self.base_row is not None
        return one.integrate_seconds / max(self.base_row.integrate_seconds, 1e-9)

    def table(self) -> ComparisonTable:
        """Return sizes, times and disagreements, a row for each formulation."""
        head: tuple[str, ...] = (
            "formulation",
            "equations",
            "states",
            "operations",
            "derive s",
            "evaluate µs",
            "integrate ms",
            f"to {self.base_row.by}" if self.base_row else "",
            "in the paper",
            "disagreement",
            "motions apart",
            "error of steps",
        )
        rows: list[tuple[str, ...]] = [
            (
                r.by,
                str(r.equations),
                str(r.states),
                str(r.operations),
                f"{r.derive_seconds:.3f}",
                f"{r.evaluate_microseconds:.3f}",
                f"{1e3 * r.integrate_seconds:.3f}",
                f"{self.time_ratio_to_base(r):.2f}",
                PUBLISHED_TIME_RATIOS.get(r.by, ""),
                f"{r.disagreement:.1e}",
                f"{r.apart:.1e}",
                f"{r.accuracy:.1e}",
            )
            for r in self.rows
        ]
        unused = [8] * (not self.mechanism.startswith("triple-pendulum"))
        unused += [] if self.steps else [11]
        head, *rows = (
            tuple(cell for k, cell in enumerate(row) if k not in unused) for row in (head, *rows)
        )
        title = f"{self.mechanism}, {self.steps.text()}" if self.steps else self.mechanism
        return ComparisonTable(title, head, tuple(rows), self.comparison_notes())

    def comparison_notes(self) -> tuple[str, ...]:
        """Return the notes below the table.

        They have the share of evaluation in the time to integrate, the algorithms of formulations
        that have several, and the formulations without a row.
        """
        cannot = [
            f"{by}: cannot treat this mechanism, {reason}" for by, reason in self.refused.items()
        ]
        together: dict[str, list[str]] = {}
        for by, reason in self.stopped.items():
            together.setdefault(reason, []).append(by)
        late = [f"{', '.join(by)}: stopped, {why}" for why, by in together.items()]
        steps = [compared_integration_time_note(self.rows)] if self.rows else []
        chosen = [f"{row.by}: by {row.algorithm}" for row in self.rows if row.algorithm]
        return (
            *steps,
            *chosen,
            *map(_approximate_formulation_note, self._approximate_rows()),
            *cannot,
            *late,
        )

    def _approximate_rows(self) -> list[FormulationRow]:
        return [row for row in self.rows if row.by == "approximate"]

    def records(self) -> list[FormulationRow]:
        """Return the rows of the CSV file: one for each formulation."""
        return list(self.rows)


def _approximate_formulation_note(one: FormulationRow) -> str:
    """A note on the disagreement of `approximate`, which is not an error of its equations."""
    said = (
        f"approximate: springs hold its joints and loops (beta = {one.beta:.3g} N/m); "
        "“disagreement” and “motions apart” both compare its motion, in which joints open"
    )
    if not one.apart > MAX_SPRING_DEVIATION:
        return said
    return f"{said}; the springs are too soft for this motion (a larger beta reduces the error)"


def compare(
    mechanism: Mechanism,
    by: str | Sequence[str] | None = None,
    duration: float = 1.0,
    budget: float | None = None,
    total: float = math.inf,
    *,
    step: float | None = None,
    integrator: str = "rk4",
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> Comparison:
    """Compare formulations on one mechanism: sizes, times and agreement.

    Dry friction is left out, as in all counts of operations.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    by : str or sequence of str, optional
        Formulations (default: all).
    duration : float
        Length of the motion that is simulated, s.
    budget, total : float, optional
        Time for one formulation, after which it is stopped, and for all of them together, s.
    step : float, optional
        Length of fixed steps, s, the same for all formulations (default: adaptive steps to an
        accuracy of 1e-6 of the largest coordinate or velocity).
    integrator : {"rk4", "heun", "euler"}
        The integrator for fixed steps.
    beta, gamma, iterations : float, float, int, optional
        Options of "approximate" (N/m, s, a number), as in `simulate`.

    Returns
    -------
    Comparison
        One row for each formulation; printed as a table.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.compare(lw.gallery("elbow"), by=["recursive", "lagrange"])
    >>> [(row.by, row.equations, row.states) for row in found.rows]
    [('recursive', 2, 4), ('lagrange', 2, 4)]
    >>> all(row.disagreement < 1e-12 for row in found.rows)
    True
    """
    require_comparable_motion(require_mechanism(mechanism))
    steps = None if step is None else FixedSteps(integrator, step)
    if steps is not None and steps.length > duration:
        raise LinkwrightError(
            f"a step of {steps.length:g} s is longer than the motion of {duration:g} s",
            remedy="give a shorter step",
        )
    names = formulation_names(by)
    mechanism = mechanism_with_penalties(
        mechanism.without("friction"), names, beta, gamma, iterations
    )
    with nullcontext() if budget is None else TimedWorkerProcess() as worker:
        return measure_comparison(worker, mechanism, names, duration, budget, total, steps=steps)


def measure_comparison(
    worker: TimedWorkerProcess | None,
    mechanism: Mechanism,
    names: Sequence[str],
    duration: float,
    budget: float | None,
    total: float = math.inf,
    *,
    steps: FixedSteps | None = None,
    report: Callable[[str], None] = lambda by: None,
) -> Comparison:
    """Measure formulations one after the other, in a worker if there is one; `report` is called
    with the name of each before it begins."""
    rows, refused, stopped = [], {}, {}
    failure: LinkwrightError | None = None
    end = total + (0.0 if worker is None else worker.spent_seconds)
    for name in names:
        report(name)
        try:
            rows.append(
                _measure_within_budget(worker, budget, end, total, mechanism, name, duration, steps)
            )
        except UnsupportedError as error:
            refused[name] = error.what
        except LinkwrightError as error:
            stopped[name] = error.what
            failure = None if isinstance(error, BudgetExceededError) else error
    if failure is not None and not rows:
        raise failure
    return Comparison(mechanism.name, tuple(rows), refused, stopped, steps)


def _measure_within_budget(
    worker: TimedWorkerProcess | None,
    budget: float | None,
    end: float,
    total: float,
    *what: Mechanism | str | float | FixedSteps | None,
) -> FormulationRow:
    """Measure a formulation here, or in a worker within the budget."""
    if worker is None or budget is None:
        return measure_formulation(*what)  # type: ignore[arg-type]
    if worker.spent_seconds > end:
        raise BudgetExceededError(f"the others took {total:g} s")
    found: FormulationRow = worker.call_within(measure_formulation, *what, seconds=budget)
    return found
