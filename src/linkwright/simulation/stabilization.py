"""Baumgarte stabilization: J q̈ + γ = −2α (J q̇ − b) − β² φ, so that errors of constraints die out.

States are then not projected onto the constraints; how near they stay depends on the errors and on
α and β.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..equations import Equations
from ..errors import UnsupportedError
from ..kinematics.closing import CLOSURE_TOLERANCES, gauss_newton_step
from ..kinematics.mobility_analysis import constraint_ranks
from ..model.model import Model
from ..types import SX, Floats
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import StepProjection

_DEFAULT_RATE = 10.0
"""α and β in 1/s: errors die out within some tenths of a second, and steps stay as long."""
_KNOWN = ("alpha", "beta")


@dataclass(frozen=True)
class Baumgarte:
    """α and β in 1/s; equal ones let errors die out without swinging."""

    alpha: float
    beta: float

    def expression(self, equations: Equations, q: SX, qd: SX, t: SX) -> SX:
        """Return what it adds to q̈: the least in the metric of the mass matrix."""
        symbols = ca.vertsplit(equations.symbols["p"]) if equations.parameters else []
        kept = dict(zip(equations.parameters, symbols, strict=True))
        onto = StepProjection(StepEquations(equations, kept=kept))
        return onto.metric(q, t).smallest_correction(self.rows(onto, q, qd, t))

    def rows(self, onto: StepProjection, q: SX, qd: SX, t: SX) -> SX:
        """Return 2α (J q̇ − b) + β² φ."""
        rows = onto.velocity_residual(q, qd, t) * (2 * self.alpha)
        if onto.position_row_count:
            rows = rows + self.beta**2 * onto.residual_of_all_rows(q, t)
        return rows

    def number(self, model: Model, q: Floats, qd: Floats, time: list[float]) -> Floats:
        """Return what it adds to q̈ as numbers, where the compiled choice of rows fails."""
        rows = 2 * self.alpha * model.constraint_velocity(q, qd, *time)
        if model.names.position_row_count:
            rows[list(model.names.position_rows)] += self.beta**2 * model.constraint_residual(
                q, *time
            )
        J, rank = model.constraint_jacobian(q, *time), constraint_ranks(model.mechanism)[0]
        return gauss_newton_step(
            J,
            rows,
            rank_share=CLOSURE_TOLERANCES.rank_share,
            rank=rank,
            metric=model.mass_matrix(q, *(time if model.names.has_moving_coordinates else [])),
        )


def stabilization_of(given: str | Mapping[str, float], equations: Equations) -> Baumgarte | None:
    """Return the terms of "baumgarte" or {"alpha": …, "beta": …}; None for "projection"."""
    if given == "projection":
        return None
    values = dict(given) if isinstance(given, Mapping) else {}
    numbers = all(isinstance(x, int | float) and 0 <= x < np.inf for x in values.values())
    if not (given == "baumgarte" or values) or not set(values) <= set(_KNOWN) or not numbers:
        raise UnsupportedError(
            f"constraints cannot be held by {given!r}",
            remedy='use "projection", "baumgarte", or {"alpha": 10, "beta": 10}',
        )
    own = equations.state is not None and equations.state.rates_from_motion is None
    if own or not equations.names.constraints:
        raise UnsupportedError(
            "Baumgarte's terms are for constraints on q and q̇, which are not here",
            where=equations.mechanism.name,
            remedy='leave stabilization out, or use by="recursive"',
        )
    return Baumgarte(values.get("alpha", _DEFAULT_RATE), values.get("beta", _DEFAULT_RATE))
