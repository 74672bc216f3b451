"""Checks of named poses: their names exist, and their numbers are finite and in fitting units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...expressions import parse_unit
from ..coordinates import mechanism_names
from ..mechanism_units import coordinate_units
from .part_number_checks import MechanismParameterScope, check_part_magnitude
from .structure_checks import check_known_part_name

if TYPE_CHECKING:
    from ..mechanism import Mechanism

_WORDS = {"q": "coordinate", "qd": "velocity", "controls": "actuator", "activations": "actuator"}


def check_poses(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Raise where a pose names something that does not exist, or has a number in the wrong unit."""
    if not mechanism.poses:
        return
    names = mechanism_names(mechanism)
    with_state = tuple(n for n, a in mechanism.actuators.items() if a.activation is not None)
    known = {
        "q": names.q,
        "qd": names.qd,
        "controls": names.actuators,
        "activations": with_state,
    }
    units = _coordinate_dimensions(mechanism)
    for pose_name, pose in mechanism.poses.items():
        for key, table in pose.tables():
            for name, number in table.items():
                place = f"poses.{pose_name}.{key}.{name}"
                check_known_part_name(name, known[key], _WORDS[key], place)
                if key == "q" and name in units:
                    scope.check_dimension(number, place, parse_unit(units[name]).dimension)
                check_part_magnitude(scope.finite_value(number, place), place)


def _coordinate_dimensions(mechanism: Mechanism) -> dict[str, str]:
    """Return the units of coordinates that are angles or lengths, by name."""
    pairs = zip(mechanism_names(mechanism).q, coordinate_units(mechanism), strict=True)
    return {name: unit for name, unit in pairs if unit in ("rad", "m")}
