"""A joint by the vectors of Vukobratović and Potkonjak (1979): e_i, r_{i−1,i} and r_ii.

Their equations (5)–(7) place the member where q is zero: a, the part of −r_{i−1,i} normal to e, and
ã, the part of r_ii normal to ẽ, then coincide. So the joint's frame has z along e, and x along
these parts, in the parent and in the child.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ..errors import ExpressionError, MechanismError
from ..expressions import (
    ZERO,
    Call,
    ExactNumber,
    Expression,
    Number,
    Product,
    Sum,
    expression_to_float,
    expression_without_unit,
    negate_expression,
)
from .bodies import GROUND, Body
from .joint_kinds import X_AXIS, Y_AXIS, Z_AXIS
from .parts import ORIGIN, MechanismPart, PartNumberField, Vector, replace_part_fields

if TYPE_CHECKING:
    from .joints import Joint

MIN_SINE_TO_AXIS = 1e-9
"""Below this sine of the angle between r and e, the part of r normal to e is rounding error."""


class JointVectors(MechanismPart):
    """The vectors that place a joint: its axis, and those from it to the centres of mass."""

    e: Annotated[Vector, PartNumberField("any", 3)] = Field(
        description="axis in the parent's axes; any length except 0"
    )
    e_child: Annotated[Vector | None, PartNumberField("any", 3, optional=True)] = Field(
        default=None, description="axis in the child's axes; default: the same numbers as e"
    )
    r_parent: Annotated[Vector, PartNumberField("m", 3)] = Field(
        description="from the joint to the parent's centre of mass (ground: its origin), "
        "in the parent's axes, m"
    )
    r_child: Annotated[Vector, PartNumberField("m", 3)] = Field(
        description="from the joint to the child's centre of mass, in the child's axes, m; "
        "for a turn-slide joint: the direction of the slide"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...


def place_joint_by_vectors(
    joint: Joint, bodies: Mapping[str, Body], values: Mapping[str, ExactNumber]
) -> Joint:
    """Return the joint with the frames that its vectors define."""
    vectors = joint.vectors
    assert vectors is not None
    to_joint, arm = _negate_vector(vectors.r_parent), vectors.r_child
    e_child = vectors.e_child or vectors.e
    x_parent, x_child = _directions_at_zero(vectors, values)
    slide = {}
    if joint.kind.second_axis is not None:
        if x_child != arm:
            where, remedy = "vectors.r_child", "use a cylindrical joint"
            raise MechanismError("is along e", where=where, remedy=remedy)
        slide, arm = {"axis2": _slide_direction(e_child, arm)}, ORIGIN
    joint_in_parent = _add_vectors(_body_center(bodies, joint.parent), to_joint)
    joint_in_child = _add_vectors(_body_center(bodies, joint.child), _negate_vector(arm))
    return replace_part_fields(
        joint,
        ("vectors",),
        origin={"xyz": joint_in_parent, "z": vectors.e, "x": x_parent},
        child_origin={"xyz": joint_in_child, "z": e_child, "x": x_child},
        **slide,
    )


def _directions_at_zero(
    vectors: JointVectors, values: Mapping[str, ExactNumber]
) -> tuple[Vector, Vector]:
    """Return directions in the parent and in the child whose parts normal to e coincide at q = 0:
    those of (5), or, where one of these is 0/0, directions with which the axes of both bodies
    coincide if e is the same in both."""
    e, to_joint = _vector_numbers(vectors, "e", values), _negate_vector(vectors.r_parent)
    e_child = _vector_numbers(vectors, "e_child", values) if vectors.e_child else e
    if _sine_between(e_child, _vector_numbers(vectors, "r_child", values)) < MIN_SINE_TO_AXIS:
        return _farthest_axis(e), _farthest_axis(e_child)
    if _sine_between(e, _vector_numbers(vectors, "r_parent", values)) < MIN_SINE_TO_AXIS:
        return _farthest_axis(e) if vectors.e_child else vectors.r_child, vectors.r_child
    return to_joint, vectors.r_child


def _body_center(bodies: Mapping[str, Body], name: str) -> Vector:
    """Return the centre of mass of a body; the origin for ground and for an unknown
    body."""
    return ORIGIN if name == GROUND or name not in bodies else bodies[name].center


def _vector_numbers(
    vectors: JointVectors, key: str, values: Mapping[str, ExactNumber]
) -> list[float]:
    """Return the entries of one of the vectors as floats; raise where an axis is zero."""
    try:
        numbers = [expression_to_float(entry, values) for entry in getattr(vectors, key)]
    except ExpressionError as error:
        raise MechanismError(error.what, where=f"vectors.{key}", remedy=error.remedy) from None
    if key.startswith("e") and not any(numbers):
        raise MechanismError("is zero", where=f"vectors.{key}", remedy="give a direction")
    return numbers


def _sine_between(a: list[float], b: list[float]) -> float:
    """Return the sine of the angle between two vectors; 0 where one of them is zero."""
    normal = math.hypot(*(a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)))
    return normal and normal / math.hypot(*a) / math.hypot(*b)


def _farthest_axis(axis: list[float]) -> Vector:
    """Return the coordinate axis that is farthest from the given axis."""
    sizes = [abs(entry) for entry in axis]
    return (X_AXIS, Y_AXIS, Z_AXIS)[sizes.index(min(sizes))]


def _slide_direction(e: Vector, r: Vector) -> Vector:
    """Return r in the joint's frame, whose z axis is e and whose x axis is the part of r normal to
    it: (|e × r|, 0, e·r), up to a factor."""
    along = _sum_expressions(*(_multiply(a, b) for a, b in zip(e, r, strict=True)))
    if along == ZERO:
        return X_AXIS
    normal = [
        _sum_expressions(
            _multiply(e[i - 2], r[i - 1]), negate_expression(_multiply(e[i - 1], r[i - 2]))
        )
        for i in range(3)
    ]
    square = _sum_expressions(*(_multiply(entry, entry) for entry in normal))
    return (Call("sqrt", (square,)), ZERO, along)


def _negate_vector(vector: Vector) -> Vector:
    """Return the vector with the opposite direction."""
    return tuple(negate_expression(entry) for entry in vector)


def _add_vectors(a: Vector, b: Vector) -> Vector:
    """Return the sum of two vectors."""
    return tuple(_sum_expressions(x, y) for x, y in zip(a, b, strict=True))


def _sum_expressions(*terms: Expression) -> Expression:
    """Return the sum; plain numbers are added up, and zeros dropped."""
    plain = [expression_without_unit(term) for term in terms]
    number = sum((term.value for term in plain if isinstance(term, Number)), ZERO.value)
    others = [term for term in plain if not isinstance(term, Number)]
    kept = others + ([Number(number)] if number or not others else [])
    return kept[0] if len(kept) == 1 else Sum(tuple(kept))


def _multiply(a: Expression, b: Expression) -> Expression:
    """Return the product; plain numbers are multiplied, and a zero makes it zero."""
    a, b = expression_without_unit(a), expression_without_unit(b)
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(a.value * b.value)
    return ZERO if ZERO in (a, b) else Product((a, b))
