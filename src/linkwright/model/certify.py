"""Functions of a model with guaranteed digits, in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..ports import Port
from ..quantities import FRAME_SIGNATURES, GUARDED_QUANTITIES, quantity_ports, quantity_signatures
from ..readings.balls import Interval, certify_tape_in_balls, exact_ball_inputs
from ..tape import record_tape

if TYPE_CHECKING:
    from ..equations import Equations
    from .model import Model

Intervals: TypeAlias = "NDArray[np.object_] | tuple[NDArray[np.object_], ...]"
"""An array of `Interval`s, or one for each output."""

MAX_CERTIFIED_DIGITS = 5000


def certify_function(
    model: Model, name: str, inputs: Sequence[object], digits: int = 30, frame: str | None = None
) -> Intervals:
    """Intervals that contain the outputs of a function at one state (see `Model.certified`)."""
    _check_certify_request(model, name, digits, frame)
    eqs = derive_exact_equations(model)
    wanted, given = quantity_ports(eqs.names, name, list(eqs.parameters))
    own = wanted[: len(wanted) - bool(eqs.parameters)]
    if model.parameters:
        own = [*own, Port("p", (len(model.parameters),))]
    values = _flatten_certified_inputs(own, inputs)
    kept = dict(zip(model.parameters, values.pop("p", []), strict=True))
    named = {k: e for k, e in model.mechanism.parameters.items() if k not in kept}
    tape = record_tape(eqs.function(name, *([frame] if frame else [])), wanted, given)
    numbers = {**eqs.parameters, **kept}
    found = certify_tape_in_balls(tape, exact_ball_inputs(tape, values, numbers, named), digits)
    shaped = [
        _shape_certified_intervals(entries, port)
        for entries, port in zip(found, given, strict=True)
    ]
    if name in GUARDED_QUANTITIES and eqs.names.constraints:
        shaped.pop()
    return shaped[0] if len(shaped) == 1 else tuple(shaped)


def derive_exact_equations(model: Model) -> Equations:
    """Derive the equations with all numbers as symbols; given equations are left as they are."""
    if model._identity is None:
        return model.equations
    from ..formulations import derive

    return derive(model.mechanism, by="recursive")


def _check_certify_request(model: Model, name: str, digits: int, frame: str | None) -> None:
    known = FRAME_SIGNATURES if frame else quantity_signatures(model.names)
    if name not in known:
        raise NameNotFoundError(
            f"unknown function '{name}'", remedy=suggest_remedy(name, list(known))
        )
    if not isinstance(digits, int) or not 1 <= digits <= MAX_CERTIFIED_DIGITS:
        raise UnsupportedError(
            f"digits cannot be {digits!r}", remedy=f"give 1 to {MAX_CERTIFIED_DIGITS}"
        )


def _flatten_certified_inputs(
    wanted: Sequence[Port], inputs: Sequence[Any]
) -> dict[str, list[Any]]:
    """The entries of each input as a list; floats, fractions and texts keep their types."""
    if len(inputs) != len(wanted):
        names = ", ".join(port.name for port in wanted)
        raise UnsupportedError(f"{len(inputs)} inputs are given", remedy=f"give {names}")
    values = {}
    for port, given in zip(wanted, inputs, strict=True):
        array = np.array(given, dtype=object)
        if array.shape != port.shape:
            raise UnsupportedError(
                f"{port.name} has the shape {array.shape}", remedy=f"give one state: {port.shape}"
            )
        values[port.name] = list(array.ravel())
    return values


def _shape_certified_intervals(entries: Sequence[Interval], port: Port) -> Any:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(port.shape) if port.shape else entries[0]
