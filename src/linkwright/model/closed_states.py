"""Whether states close the loops and hold the constraints of a model, and which one does not.

Compiled functions take every state as it is: under constraints their results mean something only
where q closes, and where velocities and accelerations are such that it stays so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AssemblyError
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..ports import Port
from ..types import Booleans, Floats
from .calls import CallFacts, check_call_arguments
from .named_inputs import read_named_inputs
from .upright_states import are_states_upright

if TYPE_CHECKING:
    from .model import Model


Configurations: TypeAlias = "ArrayLike | Mapping[str, object] | str"
"""Coordinates (…, nq), a table of some by name, or the name of a pose."""

CLOSED_TOLERANCE = CLOSURE_TOLERANCES.accepted_residual
"""Residuals below this count as closed: metres or radians (sines of angles); of velocities and
accelerations, per second and per second squared, and in proportion to these where they exceed 1.
Nearly redundant constraints may stay open as far as `model.leeway` says."""


def read_configurations(model: Model, function: str, q: Configurations) -> Floats:
    """Return (…, nq) coordinates as given, those of a table by name, or those of the pose that a
    text names; raise an error for anything else."""
    port, owner = Port("q", (model.nq,)), model.mechanism.name
    given: object = q
    if isinstance(q, Mapping) or (isinstance(q, str) and model.mechanism.poses):
        (given,) = read_named_inputs(model, [port], [q])
    check_call_arguments(CallFacts(function, owner, [port], 0, {"q": model.names.q}), [given])
    return np.asarray(given, dtype=float)


def are_states_closed(
    model: Model,
    q: ArrayLike,
    t: ArrayLike,
    p: ArrayLike | None,
    tolerance: float = CLOSED_TOLERANCE,
) -> Booleans:
    """Whether the constraints of positions hold at each state, over the leading axes."""
    left = _position_residual(model, q, _time_and_parameters(model, t, p))
    closed: Booleans = np.abs(left).max(axis=-1, initial=0.0) <= max(tolerance, model.leeway)
    return closed & _are_model_states_upright(model, q, t, p)


def check_states_closed(
    model: Model,
    q: ArrayLike,
    t: ArrayLike,
    p: ArrayLike | None,
    *,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    tolerance: float = CLOSED_TOLERANCE,
) -> None:
    """Raise an error that names the first state that violates a constraint."""
    if not model.names.constraints:
        return
    others, tolerance = _time_and_parameters(model, t, p), max(tolerance, model.leeway)
    _check_constraint_rows(
        model, _position_residual(model, q, others), tolerance, _OPEN_MESSAGE, _CLOSE_REMEDY
    )
    upright = _are_model_states_upright(model, q, t, p)
    if not upright.all():
        state = (
            f"row {int(np.argmin(upright))} of {upright.size} states"
            if upright.ndim
            else "the state"
        )
        raise AssemblyError(
            f"{state} {_TURNED_MESSAGE}", where=model.mechanism.name, remedy=_CLOSE_REMEDY
        )
    if qd is None:
        return
    left = model.constraint_velocity(q, qd, *others)
    _check_constraint_rows(
        model, left, tolerance * _model_state_size(qd), _VELOCITIES_MESSAGE, _FOLLOW_REMEDY
    )
    if qdd is not None:
        J = model.constraint_jacobian(q, *others)
        bias = model.constraint_bias(q, qd, *others)
        left = np.einsum("...ij,...j->...i", J, np.asarray(qdd, dtype=float)) + bias
        size = np.maximum(_model_state_size(qdd), _model_state_size(bias))
        _check_constraint_rows(
            model, left, tolerance * size, _ACCELERATIONS_MESSAGE, _FOLLOW_REMEDY
        )


_OPEN_MESSAGE = "does not close: '{}' is open by {:.3g}"
_TURNED_MESSAGE = "does not close: a joint is turned over, or a wheel lies flat"
_VELOCITIES_MESSAGE = "has velocities that contradict '{}' by {:.3g}"
_ACCELERATIONS_MESSAGE = "has accelerations that contradict '{}' by {:.3g}"
_CLOSE_REMEDY = "close it with model.close or assemble"
_FOLLOW_REMEDY = "let them follow from the independent ones, see model.independent_map"


def _are_model_states_upright(model: Model, q: Any, t: Any, p: Any) -> Booleans:
    """Which states have no joint turned over and no wheel that lies flat."""
    if not model.names.position_row_count:
        return np.ones(np.shape(q)[:-1], dtype=bool)
    kept = np.asarray(model.nominal_parameters if p is None else p, dtype=float)
    states, times = np.asarray(q, dtype=float), np.asarray(t, dtype=float)
    return are_states_upright(model.mechanism, model.parameters, states, times, kept)


def _time_and_parameters(model: Model, t: Any, p: Any) -> list[Any]:
    """The inputs after q: t, and the values of kept parameters (default: nominal)."""
    kept = model.nominal_parameters if p is None else p
    return model.names.time_arguments(t) + ([kept] if model.parameters else [])


def _position_residual(model: Model, q: Any, others: list[Any]) -> Floats:
    """The residuals φ of the position rows; zero in the rows of velocity constraints."""
    found = np.zeros((*np.shape(q)[:-1], len(model.names.constraints)))
    if model.names.position_row_count:
        found[..., list(model.names.position_rows)] = model.constraint_residual(q, *others)
    return found


def _model_state_size(values: Any) -> Floats:
    """The largest entry of each state, at least 1."""
    found: Floats = np.maximum(1.0, np.abs(values).max(axis=-1, initial=0.0, keepdims=True))
    return found


def _check_constraint_rows(model: Model, left: Floats, bound: Any, what: str, remedy: str) -> None:
    bad = ~(np.abs(left) <= bound)
    if not bad.any():
        return
    rows = np.abs(left).reshape(-1, left.shape[-1])
    state = int(np.argmax(bad.reshape(rows.shape).any(axis=-1)))
    row = int(np.argmax(np.where(np.isnan(rows[state]), np.inf, rows[state])))
    which = f"row {state} of {len(rows)} states " if left.ndim > 1 else "the state "
    raise AssemblyError(
        which + what.format(model.names.constraints[row], rows[state, row]),
        where=model.mechanism.name,
        remedy=remedy,
    )
