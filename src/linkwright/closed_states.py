"""Whether states close the loops and hold the constraints of a model, and which one does not.

Compiled functions take every state as it is: under constraints their results mean something only
where q closes, and where speeds and accelerations are such that it stays so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import AssemblyError
from .kinematics.closing import TOLERANCES
from .types import Booleans, Floats

if TYPE_CHECKING:
    from .model import Model


CLOSED = TOLERANCES.accepted
"""Residuals below this count as closed: metres or radians (sines of angles); of velocities and
accelerations, per second and per second squared, and in proportion to these where they exceed 1.
Nearly redundant constraints may stay open as far as `model.leeway` says."""


def closed_rows(
    model: Model, q: ArrayLike, t: ArrayLike, p: ArrayLike | None, tolerance: float = CLOSED
) -> Booleans:
    """Whether each state's q closes, over its leading axes."""
    left = _residual(model, q, _others(model, t, p))
    closed: Booleans = np.abs(left).max(axis=-1, initial=0.0) <= max(tolerance, model.leeway)
    return closed


def check_closed(
    model: Model,
    q: ArrayLike,
    t: ArrayLike,
    p: ArrayLike | None,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    tolerance: float = CLOSED,
) -> None:
    """Raises for the first state that violates a constraint, and names it."""
    if not model.names.constraints:
        return
    others, tolerance = _others(model, t, p), max(tolerance, model.leeway)
    _check_rows(model, _residual(model, q, others), tolerance, _OPEN, _CLOSE)
    if qd is None:
        return
    left = model.constraint_velocity(q, qd, *others)
    _check_rows(model, left, tolerance * _size(qd), _SPEEDS, _FOLLOW)
    if qdd is not None:
        J = model.constraint_jacobian(q, *others)
        bias = model.constraint_bias(q, qd, *others)
        left = np.einsum("...ij,...j->...i", J, np.asarray(qdd, dtype=float)) + bias
        size = np.maximum(_size(qdd), _size(bias))
        _check_rows(model, left, tolerance * size, _ACCELERATIONS, _FOLLOW)


_OPEN = "does not close: '{}' is open by {:.3g}"
_SPEEDS = "has speeds that contradict '{}' by {:.3g}"
_ACCELERATIONS = "has accelerations that contradict '{}' by {:.3g}"
_CLOSE = "close it with model.close or assemble"
_FOLLOW = "let them follow from the independent ones, see model.independent_map"


def _others(model: Model, t: Any, p: Any) -> list[Any]:
    """The inputs beside q: t, and the values of kept parameters, the mechanism's own by default."""
    kept = model.nominal_parameters if p is None else p
    return model.names.time_arguments(t) + ([kept] if model.parameters else [])


def _residual(model: Model, q: Any, others: list[Any]) -> Floats:
    """φ in the rows of positions, zeros in those of velocities."""
    found = np.zeros((*np.shape(q)[:-1], len(model.names.constraints)))
    if model.names.positions:
        found[..., list(model.names.position_rows)] = model.constraint_residual(q, *others)
    return found


def _size(values: Any) -> Floats:
    """The largest entry of each state, at least 1."""
    found: Floats = np.maximum(1.0, np.abs(values).max(axis=-1, initial=0.0, keepdims=True))
    return found


def _check_rows(model: Model, left: Floats, bound: Any, what: str, remedy: str) -> None:
    bad = ~(np.abs(left) <= bound)
    if not bad.any():
        return
    rows = np.abs(left).reshape(-1, left.shape[-1])
    state = int(np.argmax(bad.reshape(rows.shape).any(axis=-1)))
    row = int(np.argmax(np.where(np.isnan(rows[state]), np.inf, rows[state])))
    which = f"row {state} of {len(rows)} states " if left.ndim > 1 else "the state "
    raise AssemblyError(
        which + what.format(model.names.constraints[row], rows[state, row]),
        where=model.mechanism.name, remedy=remedy,
    )  # fmt: skip
