"""Reader of Denavit–Hartenberg tables as TOML; CSV tables share it. The convention is required:

standard: T_i = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α), body frame i at the far end of link i;
modified: T_i = Rot_x(α) Trans_x(a) Rot_z(θ) Trans_z(d), body frame i at joint i.

`theta` of a turning joint and `d` of a sliding one are added to the joint's coordinate, which
counts the other way with `flip`. `base` places frame 0 in the ground, `tool` a frame on the last
body, as in the Robotics Toolbox. Centres of mass and inertias are given in body frame i.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ..errors import FileError, LinkwrightError, MechanismError
from ..expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    NumberWithUnit,
    Product,
    evaluate_expression_exactly,
    expression_without_unit,
    names_in_expression,
    negate_expression,
)
from ..mechanism import (
    GROUND,
    Body,
    Inertia,
    Joint,
    Limits,
    Mechanism,
    MechanismPart,
    Motor,
    PartNumberField,
    PartTable,
    Placement,
)
from ..mechanism.joints import PerDof
from ..mechanism.parts import ORIGIN, Scalar, Vector
from .toml_reader import FIELDS_NOT_IN_FILES, read_toml_table
from .unique_names import make_unique_element_name

_TABLES_OF_MECHANISMS = tuple(
    key
    for key in Mechanism.model_fields
    if key not in ("name", "gravity", "parameters", "bodies", "joints", *FIELDS_NOT_IN_FILES)
)
"""Keys of our own format that a table may have too: frames, forces, contacts, …"""

FilePlace = Callable[[int, str], str]
"""The place of a link's key in the file; links are counted from 1."""


class DHLink(MechanismPart):
    """A row of the table: the geometry of a joint, and the body that it moves."""

    name: str | None = None
    type: Literal["revolute", "prismatic"] = "revolute"
    theta: Annotated[Expression, PartNumberField("rad")] = ZERO
    d: Annotated[Expression, PartNumberField("m")] = ZERO
    a: Annotated[Expression, PartNumberField("m")] = ZERO
    alpha: Annotated[Expression, PartNumberField("rad")] = ZERO
    mass: Annotated[Expression, PartNumberField("kg")] = ZERO
    center: Annotated[Vector, PartNumberField("m", 3)] = ORIGIN
    inertia: Inertia = Field(default_factory=Inertia)
    motor: Motor | None = None
    damping: Annotated[PerDof, PartNumberField("damping", None)] = ZERO
    friction: Annotated[PerDof, PartNumberField("effort", None)] = ZERO
    friction_backward: Annotated[PerDof | None, PartNumberField("effort", None, optional=True)] = (
        None
    )
    flip: bool = False
    limits: Limits = Field(default_factory=Limits)

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: object) -> None: ...


class DHTable(MechanismPart):
    """The table without its links: the convention, and other fields of the mechanism."""

    convention: Literal["standard", "modified"]
    name: str = "arm"
    gravity: Annotated[Vector | None, PartNumberField("m/s^2", 3, optional=True)] = None
    parameters: PartTable[Scalar] = Field(default_factory=PartTable)
    base: Placement = Field(default_factory=Placement)
    tool: Placement | None = None

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: object) -> None: ...


def read_dh_toml(text: str, convention: str | None = None) -> Mechanism:
    """Return the mechanism in the text of a `.dh.toml` file."""
    fields = read_toml_table(text)
    rows = fields.pop("links", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FileError("is not a list of tables", where="links", remedy="write [[links]]")

    def toml_link_place(number: int, key: str) -> str:
        return f"links[{number}].{_count_dh_links_from_one(key)}" if key else f"links[{number}]"

    return build_dh_mechanism(fields, rows, convention, toml_link_place)


def build_dh_mechanism(
    fields: dict[str, object],
    rows: Sequence[dict[str, object]],
    convention: str | None,
    place: FilePlace,
) -> Mechanism:
    """Return the mechanism of a table; `place` names the place of a key in error messages."""
    if not rows:
        raise FileError("has no links", remedy="add one for every joint")
    fields = fields | {"convention": _choose_dh_convention(fields.get("convention"), convention)}
    others = {key: fields.pop(key) for key in _TABLES_OF_MECHANISMS if key in fields}
    table = DHTable(**fields)
    links = [
        _read_dh_link(row, number, table.parameters, place) for number, row in enumerate(rows, 1)
    ]
    names = _dh_body_names(links, place)
    try:
        return _assemble_dh_mechanism(table, links, names, others)
    except LinkwrightError as error:  # links have been checked
        is_own = error.where.startswith("gravity")
        where = _count_dh_links_from_one(error.where) if is_own else error.where
        raise type(error)(error.what, where=where, remedy=error.remedy) from None


def _count_dh_links_from_one(place: str) -> str:
    """Return a place with list entries counted from 1, as links are."""
    return re.sub(r"\[(\d+)\]", lambda found: f"[{int(found[1]) + 1}]", place)


def _choose_dh_convention(said: object, asked: str | None) -> str:
    """Return the convention of the file or the call; raise where they contradict or neither states
    one."""
    for found in (said, asked):
        if found is not None and found not in ("standard", "modified"):
            raise FileError(
                f"'{found}' is not a Denavit–Hartenberg convention",
                where="convention",
                remedy="use 'standard' or 'modified'",
            )
    if said and asked and said != asked:
        raise FileError(
            f"the file states '{said}', the call '{asked}'",
            where="convention",
            remedy="correct one of them",
        )
    if not asked and not said:
        raise FileError(
            "does not say which Denavit–Hartenberg convention it follows",
            where="convention",
            remedy="add convention = 'standard' or 'modified' (in CSV: # convention: standard)",
        )
    return str(said or asked)


def _read_dh_link(
    row: dict[str, object], number: int, parameters: PartTable[Expression], place: FilePlace
) -> DHLink:
    """Return a checked row of the table; errors name its place in the file."""
    try:
        link = DHLink(**row)
        _check_dh_link(link, parameters)
        return link
    except LinkwrightError as error:
        if error.where.startswith("parameters."):
            raise
        where = place(number, error.where)
        raise type(error)(error.what, where=where, remedy=error.remedy) from None


_DH_KEYS_BY_FIELD = {
    "origin.xyz[0]": "a",
    "origin.xyz[2]": "d",
    "origin.rpy[0]": "alpha",
    "origin.rpy[2]": "theta",
}


def _check_dh_link(link: DHLink, parameters: PartTable[Expression]) -> None:
    """Check names and units of a link's numbers while they still have their keys."""
    origin = {"xyz": (link.a, ZERO, link.d), "rpy": (link.alpha, ZERO, link.theta)}
    try:
        joint = Joint(type=link.type, child="body", origin=origin, **_dh_joint_fields(link))
        Mechanism(parameters=parameters, bodies={"body": _dh_body(link)}, joints={"joint": joint})
    except LinkwrightError as error:
        key = error.where.removeprefix("bodies.body.").removeprefix("joints.joint.")
        raise type(error)(
            error.what, where=_DH_KEYS_BY_FIELD.get(key, key), remedy=error.remedy
        ) from None


def _dh_body_names(links: Sequence[DHLink], place: FilePlace) -> list[str]:
    """Return the given names of the bodies, and link1, link2, … for the others."""
    given: dict[str, int] = {GROUND: 0}
    for number, link in enumerate(links, 1):
        if link.name in given:
            whose = f"of link {given[link.name]}" if given[link.name] else "of the fixed world"
            raise MechanismError(
                f"'{link.name}' is the name {whose} already",
                where=place(number, "name"),
                remedy="choose another name",
            )
        if link.name:
            given[link.name] = number
    return [
        link.name or make_unique_element_name(f"link{i}", given) for i, link in enumerate(links, 1)
    ]


def _dh_body(link: DHLink) -> Body:
    """Return the body of a link."""
    return Body(mass=link.mass, center=link.center, inertia=link.inertia)


def _dh_joint_fields(link: DHLink) -> dict[str, object]:
    """Return the fields, other than geometry, that a link gives its joint."""
    keys = ("motor", "damping", "friction", "friction_backward", "limits")
    fields = {key: getattr(link, key) for key in keys if key in link.model_fields_set}
    return fields | ({"axis": (ZERO, ZERO, negate_expression(ONE))} if link.flip else {})


def _assemble_dh_mechanism(
    table: DHTable,
    links: Sequence[DHLink],
    names: Sequence[str],
    others: Mapping[str, object],
) -> Mechanism:
    """Return the mechanism of a table whose links have been checked, with its other tables."""
    links, parameters = _name_dh_numbers(table, links)
    place = _standard_dh_placements if table.convention == "standard" else _modified_dh_placements
    bodies = {name: _dh_body(link) for name, link in zip(names, links, strict=True)}
    stand = {} if table.base == Placement() else {make_unique_element_name("base", bodies): Body()}
    parents = [*(stand or [GROUND]), *names[:-1]]
    joints = {
        f"q{number}": Joint(
            type=link.type, parent=parent, child=child, **place(link), **_dh_joint_fields(link)
        )
        for number, (link, parent, child) in enumerate(zip(links, parents, names, strict=True), 1)
    }
    for name in stand:
        joints[name] = Joint(type="fixed", child=name, origin=table.base)
    return Mechanism(
        name=table.name,
        parameters=parameters,
        bodies=bodies | stand,
        joints=joints,
        **({} if table.gravity is None else {"gravity": table.gravity}),
        **_with_dh_tool(table, names[-1], others),
    )


def _with_dh_tool(table: DHTable, body: str, others: Mapping[str, object]) -> dict[str, object]:
    """Return the other tables of a file, with the tool among the frames."""
    frames = others.get("frames", {})
    if table.tool is None or not isinstance(frames, Mapping):
        return dict(others)
    if "tool" in frames:
        raise MechanismError(
            "is given twice", where="frames.tool", remedy="rename it, or leave tool out"
        )
    return {**others, "frames": {**frames, "tool": {"body": body, "origin": table.tool}}}


def _name_dh_numbers(
    table: DHTable, links: Sequence[DHLink]
) -> tuple[list[DHLink], dict[str, Expression]]:
    """Return the links with parameters alpha2, theta2 and d2 for numbers that placements do not
    keep as they are (a, and d of the standard convention, get their names there)."""
    parameters, named = dict(table.parameters), []
    for number, link in enumerate(links, 1):
        keys = [key for key in ("alpha", "theta") if not _is_dh_right_angle(getattr(link, key))]
        if table.convention == "modified" and link.alpha != ZERO != link.d:
            keys.append("d")
        changes: dict[str, Expression] = {}
        for key in keys:
            value, name = getattr(link, key), f"{key}{number}"
            if isinstance(value, Number | NumberWithUnit) and name not in parameters:
                parameters[name], changes[key] = value, Name(name)
        named.append(link.model_copy(update=changes))
    return named, parameters


def _is_dh_right_angle(angle: Expression) -> bool:
    """Return whether a plain number is a multiple of 90°, also as a float."""
    if not isinstance(angle, Number | NumberWithUnit):
        return False
    quarters = float(evaluate_expression_exactly(angle)) / (math.pi / 2)
    return abs(quarters - round(quarters)) < 1e-12


def _standard_dh_placements(link: DHLink) -> dict[str, dict[str, Vector]]:
    """Return the joint's placements: it turns about z of the previous frame; the body's frame lies
    beyond Trans_x(a) Rot_x(α)."""
    # the joint's frame seen from the body: Rot_x(−α) Trans_x(−a)
    return {
        "origin": _nonzero_dh_vectors(xyz=(ZERO, ZERO, link.d), rpy=(ZERO, ZERO, link.theta)),
        "child_origin": _nonzero_dh_vectors(
            xyz=(negate_expression(link.a), ZERO, ZERO),
            rpy=(negate_expression(link.alpha), ZERO, ZERO),
        ),
    }


def _modified_dh_placements(link: DHLink) -> dict[str, dict[str, Vector]]:
    """Return the joint's placements: it turns about its own z, after Rot_x(α) Trans_x(a); d and θ
    shift along and about that z."""
    d, alpha = expression_without_unit(link.d), expression_without_unit(link.alpha)
    sine, cosine = (
        _exact_dh_sine_or_cosine(Call("sin", (alpha,))),
        _exact_dh_sine_or_cosine(Call("cos", (alpha,))),
    )
    y, z = negate_expression(_multiply_dh_expressions(d, sine)), _multiply_dh_expressions(d, cosine)
    origin = _nonzero_dh_vectors(xyz=(link.a, y, z), rpy=(link.alpha, ZERO, ZERO))
    # θ turns about the joint's z before the coordinate does: seen from the body, Rot_z(−θ)
    turned = _nonzero_dh_vectors(rpy=(ZERO, ZERO, negate_expression(link.theta)))
    return {"origin": origin} | ({"child_origin": turned} if turned else {})


def _nonzero_dh_vectors(**vectors: Vector) -> dict[str, Vector]:
    """Return the vectors that are not zero, by key."""
    return {key: v for key, v in vectors.items() if v != ORIGIN}


def _exact_dh_sine_or_cosine(call: Call) -> Expression:
    """Return sin or cos of a constant right angle as a number, other calls unchanged."""
    value = None if names_in_expression(call) else evaluate_expression_exactly(call)
    return Number(value) if isinstance(value, Fraction) else call


def _multiply_dh_expressions(a: Expression, b: Expression) -> Expression:
    """Return the product of two expressions, simplified where a factor is 0 or ±1."""
    if ZERO in (a, b):
        return ZERO
    if b in (ONE, negate_expression(ONE)):
        return a if b == ONE else negate_expression(a)
    return Product((a, b))
