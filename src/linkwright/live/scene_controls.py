"""What a page lets people change: coordinates, parameters and efforts, with units and ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from pydantic import BaseModel

from ..errors import LinkwrightError
from ..expressions import (
    Expression,
    Name,
    Negation,
    NumberWithUnit,
    Product,
    Sum,
    dimension_text,
    expression_text,
    expression_to_float,
    names_in_expression,
    parse_unit,
)
from ..mechanism import Joint, Mechanism, MechanismNames
from ..mechanism.actuators import Actuator
from ..mechanism.effort_bounds import UNBOUNDED, actuator_effort_range, joint_effort_ranges
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..mechanism.parts import part_numbers
from ..motion.coordinate_bounds import bounds_of
from ..show.mechanism_scene import Scene, mechanism_scene
from ..types import Floats

TURN = math.pi
"""The range of an angle without limits is from −π to π about home."""
BEYOND_LIMIT = 1e-9
"""A coordinate that exceeds its limit by less is at it, rad or m."""


def coordinate_controls(scene: Scene, home: Floats) -> list[dict[str, Any]]:
    """Return the coordinates: names, units, ranges of sliders, limits, home."""
    mechanism, names = scene.mechanism, scene.tree.names
    units = coordinate_units(mechanism)
    try:
        bounds = bounds_of(mechanism)
        lower, upper = bounds.lower, bounds.upper
    except LinkwrightError:  # chosen coordinates have none
        lower, upper = np.full(names.nq, -np.inf), np.full(names.nq, np.inf)
    velocities = {name: k for k, name in enumerate(names.qd)}
    found = []
    for k, (name, unit) in enumerate(zip(names.q, units, strict=True)):
        reach = {"rad": TURN, "1": 1.0}.get(unit, 0.6 * scene.size)
        middle = 0.0 if unit == "1" else float(home[k])
        low, high = float(lower[k]), float(upper[k])
        found.append(
            {
                "name": name,
                "unit": unit,
                "home": float(home[k]),
                "lower": low if math.isfinite(low) else middle - reach,
                "upper": high if math.isfinite(high) else middle + reach,
                "limited": [math.isfinite(low), math.isfinite(high)],
                "velocity": velocities.get(name, -1),
            }
        )
    return found


def start_within_limits(coordinates: list[dict[str, Any]], has_loops: bool) -> list[str]:
    """Move the first position to the limits that it is beyond, where `simulate` does not start; and
    return a note on it. With loops the position stays, because they would open."""
    found = []
    for one in coordinates:
        low = one["lower"] if one["limited"][0] else -math.inf
        high = one["upper"] if one["limited"][1] else math.inf
        if low - BEYOND_LIMIT <= one["home"] <= high + BEYOND_LIMIT:
            continue
        found.append(str(one["name"]))
        if not has_loops:
            one["home"] = min(high, max(low, one["home"]))
    if not found:
        return []
    few = ", ".join(found[:4]) + (f" and {len(found) - 4} others" if len(found) > 4 else "")
    if has_loops:
        return [
            f"The first position is beyond the limits of {few}: simulate refuses to start there."
        ]
    return [f"Home is beyond the limits of {few}: the page starts at the nearest limits."]


def velocity_entries(mechanism: Mechanism, names: MechanismNames) -> list[dict[str, object]]:
    """Return the velocities with their units."""
    units = [UNITS_OF_RATES["qd"][unit] for unit in velocity_units(mechanism)]
    return [{"name": n, "unit": u} for n, u in zip(names.qd, units, strict=True)]


def effort_controls(mechanism: Mechanism, names: MechanismNames) -> list[dict[str, object]]:
    """Return the efforts that people may set: of actuators, or generalized forces without them."""
    forces = [UNITS_OF_RATES["tau"][unit] for unit in velocity_units(mechanism)]
    if not names.actuators:
        try:
            bounds = bounds_of(mechanism)
            most = np.maximum(np.abs(bounds.effort_lower), np.abs(bounds.effort_upper))
        except LinkwrightError:
            most = np.full(names.nv, np.inf)
        weights = _usual_efforts(mechanism)
        return [
            {"name": n, "unit": u, "bound": float(b) if math.isfinite(b) else weights[u]}
            for n, u, b in zip(names.qd, forces, most, strict=True)
        ]
    return [_actuator_control(mechanism, names, name) for name in mechanism.actuators]


def _actuator_control(mechanism: Mechanism, names: MechanismNames, name: str) -> dict[str, object]:
    """Return the effort of one actuator: its unit and range, the velocity along which it acts, and
    the generalized force there for a unit of effort."""
    actuator = mechanism.actuators[name]
    drives, share = _driven_velocity(mechanism, names, actuator)
    low, high = actuator_effort_range(mechanism, actuator)
    if drives is not None:
        least, most = joint_effort_ranges(mechanism).get(drives, UNBOUNDED)
        ends = sorted((least / share, most / share))
        low, high = max(low, ends[0]), min(high, ends[1])
    bound, unit = max(abs(low), abs(high)), _actuator_unit(mechanism, names, actuator)
    usual = _usual_efforts(mechanism)[unit if unit in ("N", "N m") else "N m or N"]
    bound = bound if math.isfinite(bound) else usual
    return {"name": name, "unit": unit, "bound": bound, "drives": drives, "share": share}


def driven_velocities(mechanism: Mechanism, names: MechanismNames) -> list[str]:
    """Return the velocities along which single actuators act."""
    found = (_driven_velocity(mechanism, names, one)[0] for one in mechanism.actuators.values())
    return list(dict.fromkeys(name for name in found if name is not None))


def _driven_velocity(
    mechanism: Mechanism, names: MechanismNames, actuator: Actuator
) -> tuple[str | None, float]:
    """Return the one velocity along which an actuator acts, and its share there; None if it acts
    along several of them."""
    if isinstance(actuator.moves, Name) and actuator.moves.name in names.qd:
        return actuator.moves.name, 1.0
    if actuator.joint in names.qd and isinstance(actuator.gear, Expression):
        return actuator.joint, expression_to_float(actuator.gear, mechanism.values) or 1.0
    return None, 1.0


def _actuator_unit(mechanism: Mechanism, names: MechanismNames, actuator: Actuator) -> str:
    """The unit of an actuator's effort, where it is known from what it drives."""
    if actuator.length is not None:
        return "N"
    if actuator.moves is not None:
        units = dict(zip(names.qd, velocity_units(mechanism), strict=True))
        kinds = {units.get(name, "") for name in names_in_expression(actuator.moves)}
        kinds -= {""} if len(kinds) > 1 else set()
        return UNITS_OF_RATES["tau"].get(kinds.pop(), "") if len(kinds) == 1 else ""
    if actuator.joint is not None and actuator.joint in mechanism.joints:
        freedoms = mechanism.joints[actuator.joint].dofs
        turns = {freedom.is_rotation for freedom in freedoms}
        return {frozenset({True}): "N m", frozenset({False}): "N"}.get(frozenset(turns), "")
    return ""


def _usual_efforts(mechanism: Mechanism) -> dict[str, float]:
    """Efforts of the size of the whole weight, by unit: the ranges of sliders without limits."""
    mass = sum(expression_to_float(b.mass, mechanism.values) for b in mechanism.bodies.values())
    force = max(_one_digit(9.81 * mass), 1e-3)
    moment = max(_one_digit(9.81 * mass * mechanism_scene(mechanism).size), 1e-3)
    return {"N": force, "N m": moment, "N m or N": max(force, moment)}


def _one_digit(value: float) -> float:
    """A value rounded up to one digit."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / power) * power


def parameter_controls(
    mechanism: Mechanism, parameters: dict[str, float], hidden: Collection[str] = ()
) -> list[dict[str, object]]:
    """Return the parameters: values, units, ranges of sliders; hidden ones come last, and have
    no slider."""
    units = _parameter_units(mechanism)
    found = []
    for name, value in parameters.items():
        reach = 2 * abs(value) if value else 1.0
        found.append(
            {
                "name": name,
                "value": value,
                "unit": units.get(name, ""),
                **_written_unit(mechanism.parameters[name]),
                "lower": 0.0 if value > 0 else -reach,
                "upper": reach if value >= 0 else 0.0,
                "written": expression_text(mechanism.parameters[name]),
                "hidden": name in hidden,
                **({"least": 0.0} if units.get(name) == "kg" else {}),
            }
        )
    return found


def _written_unit(written: Expression) -> dict[str, object]:
    """The unit in which the file writes a parameter, and its factor to SI units."""
    if not isinstance(written, NumberWithUnit):
        return {}
    unit = parse_unit(written.unit)
    scale = float(unit.scale) * math.pi**unit.pi_power
    return {"shown": written.unit.replace("*", " "), "scale": scale}


def _parameter_units(mechanism: Mechanism) -> dict[str, str]:
    """The SI units of parameters: by the unit in which they are written, or by the field that
    is nothing but the parameter."""
    found: dict[str, str] = {}
    tables: tuple[Mapping[str, BaseModel], ...] = (
        mechanism.bodies, mechanism.joints, mechanism.loops, mechanism.frames, mechanism.forces,
        mechanism.contacts, mechanism.lengths, mechanism.constraints,
    )  # fmt: skip
    for table in tables:
        for part in table.values():
            for place, number, field in part_numbers(part):
                unit = _field_unit(part, place, field.unit)
                if isinstance(number, Name) and unit is not None:
                    found.setdefault(number.name, unit)
    for entry in mechanism.gravity:
        for name in _single_factors(entry):
            found.setdefault(name, "m/s^2")
    for name, written in mechanism.parameters.items():
        if isinstance(written, NumberWithUnit):
            is_angle = written.unit in ("rad", "mrad", "deg", "rev")
            base = "rad" if is_angle else dimension_text(parse_unit(written.unit).dimension)
            found[name] = found[name] if _has_dimension(found.get(name), written.unit) else base
            found[name] = found[name].replace("*", " ")
    return {name: unit for name, unit in found.items() if unit not in ("ratio", "1")}


def _has_dimension(unit: str | None, written: str) -> bool:
    """Whether a unit that a field asks for, with spaces for products, is of the written kind."""
    if unit is None or unit in ("ratio", "1"):
        return False
    return parse_unit(unit.replace(" ", "*")).dimension == parse_unit(written).dimension


def _single_factors(value: Expression) -> set[str]:
    """The names that have the unit of the whole expression: `g` in g·cos(tilt)."""
    match value:
        case Name(name):
            return {name}
        case Negation(operand):
            return _single_factors(operand)
        case Sum(parts):
            return {name for part in parts for name in _single_factors(part)}
        case Product(parts):
            named = [part.name for part in parts if isinstance(part, Name)]
            return set(named) if len(named) == 1 else set()
        case _:
            return set()


_UNITS_BY_DISPLACEMENT = {
    "position": {"rad": "rad", "m": "m"},
    "speed": {"rad": "rad/s", "m": "m/s"},
    "effort": {"rad": "N m", "m": "N"},
    "stiffness": {"rad": "N m/rad", "m": "N/m"},
    "damping": {"rad": "N m s/rad", "m": "N s/m"},
}
"""Units of numbers that belong to an angle or to a length."""


def _field_unit(part: BaseModel, place: str, unit: str) -> str | None:
    """Return the SI unit of a number of a part; None if the part does not say it."""
    if unit == "any":
        return None
    if unit not in _UNITS_BY_DISPLACEMENT:
        return unit.replace("*", " ")
    kinds = {"m"}
    if isinstance(part, Joint):
        dofs = part.dofs
        index = re.search(r"\[(\d+)\]$", place)
        if index and len(dofs) > 1 and int(index[1]) < len(dofs):
            dofs = (dofs[int(index[1])],)
        kinds = {"rad" if freedom.is_rotation else "m" for freedom in dofs}
    return _UNITS_BY_DISPLACEMENT[unit][kinds.pop()] if len(kinds) == 1 else None
