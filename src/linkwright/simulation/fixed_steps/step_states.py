"""The state before a step and the state after it, as expressions."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...kinematics.closing import CLOSURE_TOLERANCES
from ...types import SX
from .step_projection import StepProjection

SMALLEST_RELIABLE_PIVOT = 1e-2
"""Share of its reference size at which a pivot counts as too small: two digits are lost there, and
the rows may be badly chosen."""


@dataclass(frozen=True)
class StepStart:
    """A state before a step, the forces held during the step, and its length."""

    q: SX
    qd: SX
    z: SX
    tau: SX
    t: SX
    dt: SX


@dataclass(frozen=True)
class StepEnd:
    """A state after a step (z is that of a controller), the work done, and the doubt.

    The step is reliable where `doubt` is below 1.
    """

    q: SX
    qd: SX
    z: SX
    work: SX
    doubt: SX


def closure_doubt(projection: StepProjection, q: SX, t: SX) -> SX:
    """Return the largest residual of the positions as a share of the allowed one."""
    if not projection.position_row_count:
        return ca.SX(0)
    allowed = max(CLOSURE_TOLERANCES.continued_residual, projection.leeway)
    return ca.mmax(ca.fabs(projection.residual(q, t))) / allowed
