"""Inputs of compiled functions that are given by name: {"q1": "30 deg"} in place of an array."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError, AssemblyError, NameNotFoundError, suggest_remedy
from ..kinematics.closing import project_accelerations
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..mechanism import Mechanism, read_coordinate_numbers
from ..ports import Port
from ..quantities import quantity_entry_names
from ..types import Floats

if TYPE_CHECKING:
    from .model import Model

_ENTRY_KINDS = {
    "q": "coordinate",
    "q1": "coordinate",
    "p": "parameter",
    "wrenches": "body",
    "lambda": "multiplier",
}
"""The names of inputs' entries in messages; those of all others belong to velocities."""


_POSE_READERS: dict[str, Callable[[Mechanism, str], object]] = {
    "q": read_pose,
    "q1": read_pose,
    "qd": read_pose_velocities,
}
"""Inputs that may be the name of a pose."""


def read_named_inputs(
    model: Model, ports: Sequence[Port], arguments: Sequence[object]
) -> list[object]:
    """The arguments with tables by name, and names of poses, as arrays.

    Entries that a table leaves out are those of the neutral configuration (q), zero (velocities,
    accelerations, forces), or nominal (p). Where the mechanism has loops or constraints, the
    coordinates, velocities and accelerations that a table leaves out follow from those that it
    has.
    """
    inputs = dict(zip((port.name for port in ports), arguments, strict=False))
    for port in sorted(ports, key=lambda port: port.name != "p"):
        value = inputs.get(port.name)
        if isinstance(value, str) and port.name in _POSE_READERS:
            inputs[port.name] = _POSE_READERS[port.name](model.mechanism, value)
        elif isinstance(value, Mapping):
            inputs[port.name] = _array_from_table(model, port, value, inputs)
    return [*inputs.values(), *arguments[len(inputs) :]]


def _array_from_table(
    model: Model, port: Port, table: Mapping[object, ArrayLike], inputs: Mapping[str, object]
) -> Floats:
    known = _entry_places(model, port)
    for key in table:
        if key not in known:
            kind = _ENTRY_KINDS.get(port.name, "velocity")
            raise NameNotFoundError(
                f"{port.name}: {model.mechanism.name} has no {kind} {key!r}",
                remedy=suggest_remedy(key, list(known)),
            )
    numbers = read_coordinate_numbers(model.mechanism, table, port.name)
    given = {str(key): _read_named_entry(port, str(key), value) for key, value in numbers.items()}
    values = _fill_defaults(model, port, given, known)
    if not (model.names.constraints and port.name in _FOLLOW_FUNCTIONS and len(given) < port.size):
        return values
    held = sorted(known[key] for key in given)
    return _FOLLOW_FUNCTIONS[port.name](model, values, held, inputs)


def _entry_places(model: Model, port: Port) -> dict[str, int]:
    """The index of each entry by its name, with and without prefixes (dq1, q1)."""
    entries = quantity_entry_names(model.names, model.parameters)[port.name]
    short: Sequence[str] = {
        "q": model.names.q,
        "q1": model.names.q,
        "p": model.parameters,
        "wrenches": model.names.bodies,
        "lambda": entries,
    }.get(port.name, model.names.qd)
    places = {name: k for k, name in enumerate(short)}
    if port.name != "wrenches":
        places = {name: k for k, name in enumerate(entries)} | places
    return places


def _read_named_entry(port: Port, key: str, value: ArrayLike) -> Floats:
    """The value of one entry over the leading axes; for wrenches, a row of six."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biuf" or (port.shape[1:] and array.shape[-1:] != port.shape[1:]):
        row = f"{port.shape[1]} numbers" if port.shape[1:] else "a number"
        raise ArgumentError(f"{port.name} of '{key}' is {value!r}", remedy=f"give {row}")
    return array.astype(float)


def _fill_defaults(
    model: Model, port: Port, given: Mapping[str, Floats], places: Mapping[str, int]
) -> Floats:
    """An array of the given entries; the others have their values at rest."""
    from ..kinematics.assembly import (
        check_assembly_quaternions,  # loads CasADi, which calls do without
    )

    if port.name in ("q", "q1"):
        check_assembly_quaternions(
            {k: float(v) for k, v in given.items() if v.ndim == 0}, model.names.q
        )
        rest = model.home() if model.names.constraints else model.neutral()
    else:
        rest = model.nominal_parameters if port.name == "p" else np.zeros(port.shape)
    depth = len(port.shape) - 1
    leading = np.broadcast_shapes(*(v.shape[: v.ndim - depth] for v in given.values()))
    values: Floats = np.array(np.broadcast_to(rest, (*leading, *port.shape)))
    for key, entry in given.items():
        if depth:
            values[..., places[key], :] = entry
        else:
            values[..., places[key]] = entry
    return values


def _follow_positions(
    model: Model, values: Floats, held: list[int], inputs: Mapping[str, object]
) -> Floats:
    """Coordinates that close the loops while the held ones keep their values."""
    from ..kinematics.assembly import assemble

    _require_nominal_parameters(model, inputs)
    names = model.names.q

    def closed(q: Floats, t: float) -> Floats:
        given = {names[k]: float(q[k]) for k in held}
        return assemble(model.mechanism, given, list(given), t=t)

    return _solve_each_model_state(closed, values, _named_input_time(inputs))


def _follow_velocities(
    model: Model, values: Floats, held: list[int], inputs: Mapping[str, object]
) -> Floats:
    """Velocities that satisfy the constraints while the held ones keep their values."""
    from ..kinematics.assembly import assemble_velocities

    _require_nominal_parameters(model, inputs)
    names = model.names.qd

    def allowed(qd: Floats, t: float, q: Floats) -> Floats:
        return assemble_velocities(model.mechanism, q, {names[k]: float(qd[k]) for k in held}, t)

    return _solve_each_model_state(
        allowed, values, _named_input_time(inputs), _named_input_numbers(inputs, "q")
    )


def _follow_accelerations(
    model: Model, values: Floats, held: list[int], inputs: Mapping[str, object]
) -> Floats:
    """The least accelerations with J q̈ + γ = 0 while the held ones keep their values."""
    _require_nominal_parameters(model, inputs)

    def allowed(qdd: Floats, t: float, q: Floats, qd: Floats) -> Floats:
        clock = model.names.time_arguments(t)
        nominal = [model.nominal_parameters] if model.parameters else []
        J = model.constraint_jacobian(q, *clock, *nominal)
        bias = model.constraint_bias(q, qd, *clock, *nominal)
        found = project_accelerations(J, qdd, bias, hold=held, rank_share=1e-9)
        left = np.abs(J @ found + bias)
        if not left.max() <= 1e-8 * max(1.0, np.abs(found).max()):
            raise AssemblyError(
                "the given accelerations contradict the constraints: "
                f"'{model.constraint_names[int(left.argmax())]}' is violated by {left.max():.3g}",
                where=model.mechanism.name,
                remedy="give fewer of them: the others follow",
            )
        return found

    return _solve_each_model_state(
        allowed,
        values,
        _named_input_time(inputs),
        _named_input_numbers(inputs, "q"),
        _named_input_numbers(inputs, "qd"),
    )


_FOLLOW_FUNCTIONS: dict[str, Callable[[Model, Floats, list[int], Mapping[str, object]], Floats]] = {
    "q": _follow_positions,
    "q1": _follow_positions,
    "qd": _follow_velocities,
    "qdd": _follow_accelerations,
}


def _require_nominal_parameters(model: Model, inputs: Mapping[str, object]) -> None:
    given = inputs.get("p")
    if given is None or not model.parameters:
        return
    if not np.array_equal(np.asarray(given), model.nominal_parameters):
        raise ArgumentError(
            "a table leaves out entries that follow from constraints, and p is not nominal",
            where=model.mechanism.name,
            remedy="give all entries, closed by model.close(q, p=p)",
        )


def _named_input_time(inputs: Mapping[str, object]) -> Floats:
    return _named_input_numbers(inputs, "t") if inputs.get("t") is not None else np.zeros(())


def _named_input_numbers(inputs: Mapping[str, object], key: str) -> Floats:
    try:
        return np.asarray(inputs[key], dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{key} is not an array of numbers", remedy="give numbers") from None


def _solve_each_model_state(
    solve: Callable[..., Floats], values: Floats, t: Floats, *rows: Floats
) -> Floats:
    """The results of `solve` at each state of a batch, over the common leading axes."""
    try:
        leading = np.broadcast_shapes(values.shape[:-1], t.shape, *(row.shape[:-1] for row in rows))
    except ValueError:
        raise ArgumentError(
            "the leading axes of tables and arrays do not match",
            remedy="give all inputs the same number of states, or one",
        ) from None
    wide = [np.broadcast_to(row, (*leading, row.shape[-1])) for row in (values, *rows)]
    times = np.broadcast_to(t, leading)
    found = np.empty(wide[0].shape)
    for k in np.ndindex(leading):
        found[k] = solve(wide[0][k], float(times[k]), *(row[k] for row in wide[1:]))
    return found
