"""The costs of one formulation, and what shares of its times mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..displays import NotebookDisplayed


@dataclass(frozen=True, repr=False)
class FormulationRow(NotebookDisplayed):
    """One formulation: sizes, operations of one evaluation of ẋ = F(x, τ), and times.

    `by` is the formulation, and `algorithm` the name of its algorithm if it has several.
    `equations` and `states` are those of the paper; the simulator integrates `integrated` states.
    `operations` are those of one evaluation. `derive_seconds` and `compile_seconds` are the times
    to derive and to compile. `evaluate_microseconds` is the time of an evaluation in a batch, per
    state. `integrate_seconds` is the time to simulate the motion, which takes `evaluations`
    evaluations and has the relative `accuracy`.

    `disagreement` is the largest relative difference from the recursive formulation in
    accelerations and joint forces of random states (for `approximate`: in its motion); `apart` is
    the largest difference between their motions. `beta` is the stiffness of approximate dynamics,
    N/m.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.compare(lw.gallery("elbow"), by=["recursive", "lagrange"], duration=0.1)
    >>> bool(found.rows[1].disagreement < 1e-9)
    True
    """

    by: str
    algorithm: str
    equations: int
    states: int
    integrated: int
    operations: int
    derive_seconds: float
    compile_seconds: float
    evaluate_microseconds: float
    integrate_seconds: float
    evaluations: int
    accuracy: float
    disagreement: float
    apart: float
    beta: float = 0.0

    def summary(self) -> str:
        """Return one line: the formulation, its size and its times."""
        times = f"{self.evaluate_microseconds:.3g} µs an evaluation"
        return f"{self.by}: {self.equations} equations, {self.operations} operations, {times}"

    @property
    def evaluation_share(self) -> float:
        """The share of the integration time in which the equations are evaluated."""
        return 1e-6 * self.evaluations * self.evaluate_microseconds / self.integrate_seconds


def compared_evaluation_share_text(rows: Sequence[FormulationRow]) -> str:
    """The smallest and largest share of the integration time that evaluating the equations
    takes."""
    shares = [min(100.0, 100 * row.evaluation_share) for row in rows if row.integrate_seconds > 0]
    low, high = (f"{share:.2g}" for share in (min(shares, default=0.0), max(shares, default=0.0)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def compared_integration_time_note(rows: Sequence[FormulationRow]) -> str:
    """A sentence on how much of the integration time depends on the formulation."""
    return (
        f"evaluating the equations takes {compared_evaluation_share_text(rows)} of the time to "
        "integrate (as timed in a batch); the integrator’s steps and the evaluation of single "
        "states take the rest"
    )
