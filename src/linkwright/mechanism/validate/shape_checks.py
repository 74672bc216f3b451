"""Checks of shapes: units, signs and orientations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..parts import part_numbers
from ..shapes import SHAPE_LENGTHS, ShapeOfBody
from .axis_checks import check_part_orientation
from .part_number_checks import MechanismParameterScope, check_part_number
from .structure_checks import mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def check_shapes(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Raise where a shape of a body or of ground has a wrong number."""
    for place, shape in _shapes_with_places(mechanism):
        for key, number, quantity in part_numbers(shape):
            check_part_number(number, key, f"{place}.{key}", quantity.unit, scope)
            if key.partition("[")[0] in SHAPE_LENGTHS:
                value = scope.finite_value(number, f"{place}.{key}")
                if value < 0:
                    raise mechanism_error(
                        f"is negative ({value:g} m)", f"{place}.{key}", "give zero or more"
                    )
        check_part_orientation(shape.origin, f"{place}.origin", scope)


def _shapes_with_places(mechanism: Mechanism) -> Iterator[tuple[str, ShapeOfBody]]:
    """Yield the shapes of all bodies and of ground, with their places in the file."""
    for name, body in mechanism.bodies.items():
        yield from ((f"bodies.{name}.shapes[{i}]", one) for i, one in enumerate(body.shapes))
    yield from ((f"ground_shapes[{i}]", one) for i, one in enumerate(mechanism.ground_shapes))
