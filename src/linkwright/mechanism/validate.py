"""Checks of a whole mechanism: names, tree, parameters, units, signs, inertias."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..errors import ExpressionError, MechanismError, suggest
from ..expressions import (
    PI,
    Dimensioned,
    Exact,
    Expression,
    check_dimension,
    dimension_of,
    evaluate,
    names,
    parse_unit,
    to_float,
)
from .bodies import GROUND
from .joints import Freedom, Joint
from .parts import Quantity, quantities

if TYPE_CHECKING:
    from .mechanism import Mechanism

_UNITS_OF_TURNING = {
    "position": "rad", "speed": "rad/s", "effort": "N*m", "damping": "N*m*s/rad",
    "stiffness": "N*m/rad", "ratio": "1",
}  # fmt: skip
_UNITS_OF_SLIDING = {
    "position": "m", "speed": "m/s", "effort": "N", "damping": "N*s/m",
    "stiffness": "N/m", "ratio": "1/m",
}  # fmt: skip


def check_mechanism(mechanism: Mechanism) -> None:
    """Raises a `MechanismError` that names the place and the remedy, or returns."""
    _check_names(mechanism)
    _check_tree(mechanism)
    _check_mimics(mechanism)
    _check_numbers(mechanism)
    _check_axes(mechanism)


def _fail(what: str, where: str, remedy: str = "") -> MechanismError:
    return MechanismError(what, where=where, remedy=remedy)


def _check_names(mechanism: Mechanism) -> None:
    bodies = [GROUND, *mechanism.bodies]
    if GROUND in mechanism.bodies:
        raise _fail(f"'{GROUND}' is the fixed world", "bodies", "name the body otherwise")
    if PI in mechanism.parameters:
        raise _fail("'pi' is 3.14159…", "parameters", "name the parameter otherwise")
    for table, joints in (("joints", mechanism.joints), ("loops", mechanism.loops)):
        for name, joint in joints.items():
            for end, body in (("parent", joint.parent), ("child", joint.child)):
                if body not in bodies:
                    where = f"{table}.{name}.{end}"
                    raise _fail(f"there is no body '{body}'", where, suggest(body, bodies))
    for name, frame in mechanism.frames.items():
        if name in bodies:
            raise _fail(f"'{name}' is a body already", f"frames.{name}", "name the frame otherwise")
        if frame.body not in bodies:
            where = f"frames.{name}.body"
            raise _fail(f"there is no body '{frame.body}'", where, suggest(frame.body, bodies))
    for name in mechanism.loops:
        if name in mechanism.joints:
            raise _fail(f"'{name}' is a joint already", f"loops.{name}", "name the loop otherwise")


def _check_tree(mechanism: Mechanism) -> None:
    carriers: dict[str, str] = {}
    for name, joint in mechanism.joints.items():
        where = f"joints.{name}"
        if joint.child == GROUND:
            raise _fail("ground is the child", where, "swap parent and child")
        if joint.child == joint.parent:
            raise _fail(f"'{joint.child}' is parent and child", where, "name two bodies")
        if joint.child in carriers:
            raise _fail(
                f"'{joint.child}' is the child of joint '{carriers[joint.child]}' already", where,
                "put the joint that closes the loop under [loops]",
            )  # fmt: skip
        carriers[joint.child] = name
    reached = {joint.child for _, joint in mechanism.joints_depth_first()}
    for body in mechanism.bodies:
        if body not in reached:
            raise _fail(
                f"no chain of joints leads from ground to '{body}'", f"bodies.{body}",
                f"add a joint with child = '{body}' (type free if nothing holds it)",
            )  # fmt: skip


def _check_mimics(mechanism: Mechanism) -> None:
    for name, joint in mechanism.joints.items():
        seen = [name]
        while joint.mimic is not None:
            leader, where = joint.mimic.joint, f"joints.{seen[-1]}.mimic.joint"
            if leader not in mechanism.joints:
                remedy = suggest(leader, list(mechanism.joints))
                raise _fail(f"there is no joint '{leader}'", where, remedy)
            if leader in seen:
                raise _fail(f"'{leader}' follows itself", where, "let one of them move freely")
            joint = mechanism.joints[leader]
            seen.append(leader)
            if len(joint.freedoms) != 1 or joint.locked is not None:
                raise _fail(f"'{leader}' has not one coordinate", where, "follow another joint")


def parameter_values(parameters: Mapping[str, Expression]) -> dict[str, Exact]:
    """The values of all parameters, those that depend on others included."""
    values: dict[str, Exact] = {}
    pending: list[str] = []

    def settle(name: str) -> None:
        if name in values:
            return
        where = f"parameters.{name}"
        if name in pending:
            circle = " -> ".join([*pending[pending.index(name) :], name])
            raise _fail(f"depends on itself ({circle})", where, "give one of them a number")
        pending.append(name)
        for other in sorted(names(parameters[name])):
            if other not in parameters:
                remedy = f"give it under [parameters]; {suggest(other, list(parameters))}"
                raise _fail(f"uses '{other}', which is not given", where, remedy)
            settle(other)
        try:
            values[name] = evaluate(parameters[name], values)
        except ExpressionError as error:
            raise _fail(error.what, where, error.remedy) from None
        pending.pop()

    for name in parameters:
        settle(name)
    return values


def _check_numbers(mechanism: Mechanism) -> None:
    """Every number has its names given, its units right, and a finite value."""
    dimensions = _parameter_dimensions(mechanism)
    for table in ("bodies", "joints", "frames", "loops"):
        for name, part in getattr(mechanism, table).items():
            for place, number, quantity in quantities(part, f"{table}.{name}"):
                unit = _unit_of(quantity, part, place)
                value = _check_number(number, place, unit, mechanism, dimensions)
                if place.endswith(".mass") and float(value) < 0:
                    raise _fail(f"is negative ({float(value):g} kg)", place, "give zero or more")
    for i, number in enumerate(mechanism.gravity):
        _check_number(number, f"gravity[{i}]", "m/s^2", mechanism, dimensions)


def _check_number(
    number: Expression,
    place: str,
    unit: str,
    mechanism: Mechanism,
    dimensions: Mapping[str, Dimensioned],
) -> Exact:
    for name in sorted(names(number)):
        if name not in mechanism.parameters:
            remedy = f"give it under [parameters]; {suggest(name, list(mechanism.parameters))}"
            raise _fail(f"uses '{name}', which is not given", place, remedy)
    try:
        if unit != "any":
            check_dimension(number, parse_unit(unit).dimension, dimensions)
        value = evaluate(number, mechanism.values)
    except ExpressionError as error:
        raise _fail(error.what, place, error.remedy) from None
    if not math.isfinite(float(value)):
        raise _fail("is no finite number", place)
    return value


def _parameter_dimensions(mechanism: Mechanism) -> dict[str, Dimensioned]:
    """What units tell of the parameters, in an order in which each knows those it uses."""
    dimensions: dict[str, Dimensioned] = {}
    for name in mechanism.values:
        try:
            found = dimension_of(mechanism.parameters[name], dimensions)
        except ExpressionError as error:
            raise _fail(error.what, f"parameters.{name}", error.remedy) from None
        dimensions[name] = Dimensioned(found.dimension)
    return dimensions


def _unit_of(quantity: Quantity, part: object, place: str) -> str:
    """The unit of a field; for fields of joints, by whether the freedom turns or slides."""
    if quantity.unit not in _UNITS_OF_TURNING or not isinstance(part, Joint):
        return quantity.unit
    index = int(place[place.rindex("[") + 1 : -1]) if place.endswith("]") else 0
    freedoms = part.freedoms
    if quantity.unit == "position" and part.by_quaternion:
        freedoms = tuple(Freedom(c, c not in ("x", "y", "z")) for c in part.coordinates)
    if index >= len(freedoms):
        return "any"
    return (_UNITS_OF_TURNING if freedoms[index].turns else _UNITS_OF_SLIDING)[quantity.unit]


def _check_axes(mechanism: Mechanism) -> None:
    for table in ("joints", "loops"):
        for name, joint in getattr(mechanism, table).items():
            axes = {"axis": joint.axis} | ({"axis2": joint.axis2} if joint.axis2 else {})
            for key, axis in axes.items():
                if all(to_float(a, mechanism.values) == 0 for a in axis):
                    raise _fail("is zero", f"{table}.{name}.{key}", "give a direction")
    # A planar joint's x direction must not be its normal.
    for name, joint in mechanism.joints.items():
        if joint.type == "planar":
            n = [to_float(a, mechanism.values) for a in joint.axis]
            x = [to_float(a, mechanism.values) for a in joint.second_axis]
            cross = [
                n[1] * x[2] - n[2] * x[1],
                n[2] * x[0] - n[0] * x[2],
                n[0] * x[1] - n[1] * x[0],
            ]
            if math.hypot(*cross) < 1e-9 * math.hypot(*n) * math.hypot(*x):
                raise _fail(
                    "is along the normal", f"joints.{name}.axis2", "give a direction in the plane"
                )


def unphysical_bodies(mechanism: Mechanism) -> Iterator[str]:
    """Bodies whose inertia no distribution of mass has, each as one sentence."""
    import numpy as np

    for name, body in mechanism.bodies.items():
        tensor = body.inertia
        if len(tensor.model_fields_set) == 1 and "zz" in tensor.model_fields_set:
            continue  # a plane mechanism, of whose inertia nothing else matters
        xx, yy, zz, xy, xz, yz = (
            to_float(entry, mechanism.values)
            for entry in (tensor.xx, tensor.yy, tensor.zz, tensor.xy, tensor.xz, tensor.yz)
        )
        a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        dust = 1e-9 * max(abs(a), abs(c))
        if a < -dust:
            yield f"bodies.{name}.inertia has the negative principal moment {a:.4g} kg*m^2"
        elif a + b < c - dust:
            yield (
                f"bodies.{name}.inertia breaks the triangle inequality: its principal moments "
                f"are {a:.4g}, {b:.4g} and {c:.4g} kg*m^2, and {a:.4g} + {b:.4g} < {c:.4g}"
            )
