"""Inputs of a compiled function as arguments of a command: `q=0,90deg qd=0,0`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import ExpressionError, LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import (
    NumberWithUnit,
    check_expression_dimension,
    expression_to_float,
    parse_expression,
    parse_unit,
)
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..mechanism import Joint, Mechanism
from ..model.calls import POSE_INPUTS
from ..model.model import Model
from ..ports import Port
from ..quantities import quantity_entry_names
from ..types import Floats

_INPUT_UNITS = {
    "q": ("rad", "m"),
    "q1": ("rad", "m"),
    "step": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "v": ("rad/s", "m/s"),
    "qdd": ("rad/s^2", "m/s^2"),
    "vd": ("rad/s^2", "m/s^2"),
    "tau": ("N*m", "N"),
}
"""Units of the inputs' entries, for degrees of freedom that turn and for those that slide."""

_NO_UNIT, _ANY_UNIT = "", "any"


def read_input_arguments(
    model: Model, wanted: list[Port], given: Mapping[str, str]
) -> dict[str, Floats]:
    """Read the input arrays of one state from texts: numbers with units, separated by commas."""
    known = [port.name for port in wanted]
    for key in given:
        if key not in known:
            raise NameNotFoundError(f"'{key}' is not an input", remedy=suggest_remedy(key, known))
    names = quantity_entry_names(model.names)
    inputs = {}
    for port in wanted:
        if port.name not in given:
            raise LinkwrightError(
                f"the input {port.name} is missing",
                remedy=f"add {port.name}= and {port.size} numbers",
            )
        if port.name in POSE_INPUTS and _is_pose_argument(model.mechanism, given[port.name]):
            inputs[port.name] = _read_pose_argument(model, port, given[port.name])
            continue
        numbers, entries = given[port.name].split(","), names[port.name]
        if len(numbers) != port.size:
            raise LinkwrightError(
                f"{port.name} has {len(numbers)} numbers",
                remedy=f"give {port.size}: {', '.join(entries)}",
            )
        units = input_argument_units(model.mechanism, port)
        triples = zip(numbers, entries, units, strict=True)
        inputs[port.name] = np.array([_read_argument_number(*t) for t in triples]).reshape(
            port.shape
        )
    return inputs


def _is_pose_argument(mechanism: Mechanism, text: str) -> bool:
    """Return whether a text is the name of a pose, or a word where only a pose could be meant."""
    return text in mechanism.poses or (bool(mechanism.poses) and text.isidentifier())


def _read_pose_argument(model: Model, port: Port, name: str) -> Floats:
    """Return the coordinates or velocities of a named pose."""
    read = read_pose_velocities if port.name == "qd" else read_pose
    return np.asarray(read(model.mechanism, name), dtype=float)


def _read_argument_number(text: str, entry: str, unit: str) -> float:
    """Read a number in SI units; a unit behind it must have the dimension of the entry."""
    try:
        expression = parse_expression(text)
        if isinstance(expression, NumberWithUnit):
            if unit == _NO_UNIT:
                raise ExpressionError(
                    f"'{text.strip()}' has a unit",
                    remedy="entries of quaternions are plain numbers",
                )
            if unit != _ANY_UNIT:
                check_expression_dimension(expression, parse_unit(unit).dimension, {})
        return expression_to_float(expression)
    except ExpressionError as error:
        raise error.within(entry) from None


def input_argument_units(mechanism: Mechanism, port: Port) -> list[str]:
    """Return the unit of each entry of an input."""
    if port.name == "wrenches":
        return (["N*m"] * 3 + ["N"] * 3) * (port.size // 6)
    if port.name == "t":
        return ["s"]
    if mechanism.coordinates is not None:
        return [_ANY_UNIT] * port.size
    turning, sliding = _INPUT_UNITS[port.name]
    units: list[str] = []
    for _, joint in mechanism.joints_depth_first():
        if not joint.moves:
            continue
        if port.name in ("q", "q1") and joint.by_quaternion:
            units += _quaternion_argument_units(joint)
        else:
            units += [turning if dof.is_rotation else sliding for dof in joint.dofs]
    return units


def _quaternion_argument_units(joint: Joint) -> list[str]:
    """Return the units of a joint's coordinates where its rotation is a quaternion."""
    return ["m" if ending in ("x", "y", "z") else _NO_UNIT for ending in joint.coordinates]
