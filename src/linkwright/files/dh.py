"""Denavit–Hartenberg tables in, as TOML or CSV. The convention must be said:

standard: T_i = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α), body frame i at the far end of link i;
modified: T_i = Rot_x(α) Trans_x(a) Rot_z(θ) Trans_z(d), body frame i at joint i.

`theta` of a turning joint and `d` of a sliding one are added to the joint's coordinate.
Mass centres and inertias are given in body frame i.
"""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from ..errors import FileError
from ..expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Number,
    Product,
    evaluate,
    names,
    negate,
    without_unit,
)
from ..mechanism import Body, Inertia, Joint, Limits, Mechanism, Motor, Part, Quantity, Table
from ..mechanism.joints import PerFreedom
from ..mechanism.parts import ORIGIN, Scalar, Vector
from .toml import read_toml_table


class DHLink(Part):
    """A row of the table: the geometry of a joint, and the body behind it."""

    name: str | None = None
    type: Literal["revolute", "prismatic"] = "revolute"
    theta: Annotated[Expression, Quantity("rad")] = ZERO
    d: Annotated[Expression, Quantity("m")] = ZERO
    a: Annotated[Expression, Quantity("m")] = ZERO
    alpha: Annotated[Expression, Quantity("rad")] = ZERO
    mass: Annotated[Expression, Quantity("kg")] = ZERO
    center: Annotated[Vector, Quantity("m", 3)] = ORIGIN
    inertia: Inertia = Field(default_factory=Inertia)
    motor: Motor | None = None
    damping: Annotated[PerFreedom, Quantity("damping", None)] = ZERO
    friction: Annotated[PerFreedom, Quantity("effort", None)] = ZERO
    limits: Limits = Field(default_factory=Limits)


class DHTable(Part):
    """A whole file: the convention, and what a mechanism has besides bodies and joints."""

    convention: Literal["standard", "modified"]
    name: str = "arm"
    gravity: Annotated[Vector | None, Quantity("m/s^2", 3, optional=True)] = None
    parameters: Table[Scalar] = Field(default_factory=Table)
    links: tuple[DHLink, ...]


def read_dh_toml(text: str, convention: str | None = None) -> Mechanism:
    """A mechanism from a `.dh.toml` file."""
    return _mechanism(_with_convention(read_toml_table(text), convention))


def read_dh_csv(text: str, convention: str | None = None) -> Mechanism:
    """A mechanism from a `.dh.csv` file: a header, a row a joint; `# convention: …` on top."""
    lines = text.splitlines()
    fields: dict[str, Any] = {}
    for line in lines:
        if line.startswith("#") and ":" in line:
            key, _, value = line[1:].partition(":")
            if key.strip() in ("convention", "name"):
                fields[key.strip()] = value.strip()
    rows = csv.DictReader(io.StringIO("\n".join(x for x in lines if x and x[0] != "#")))
    fields["links"] = [_csv_row(row, number) for number, row in enumerate(rows, 1)]
    return _mechanism(_with_convention(fields, convention))


_MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


def _csv_row(row: dict[str | Any, str | Any], number: int) -> dict[str, Any]:
    if None in row or None in row.values():
        raise FileError("has not as many cells as the header", where=f"row {number}")
    cells = {key.strip(): value.strip() for key, value in row.items() if value.strip()}
    moments = {m: cells.pop(f"I{m}") for m in _MOMENTS if f"I{m}" in cells}
    center = [cells.pop(key, "0") for key in ("cx", "cy", "cz")]
    motor = {k: cells.pop(c) for k, c in (("inertia", "Jm"), ("ratio", "G")) if c in cells}
    extra = {"motor": motor} if motor else {}
    return {**cells, "center": center, "inertia": moments, **extra}


def _with_convention(fields: dict[str, Any], convention: str | None) -> dict[str, Any]:
    said = fields.get("convention", convention)
    if said not in ("standard", "modified"):
        raise FileError(
            "does not say which Denavit–Hartenberg convention it follows", where="convention",
            remedy="add convention = 'standard' or 'modified' (in CSV: # convention: standard)",
        )  # fmt: skip
    return {**fields, "convention": said}


def _mechanism(fields: dict[str, Any]) -> Mechanism:
    table = DHTable(**fields)
    bodies: dict[str, Body] = {}
    joints: dict[str, Joint] = {}
    parent = "ground"
    for number, link in enumerate(table.links, 1):
        body, joint = link.name or f"link{number}", f"q{number}"
        inertial = {k: getattr(link, k) for k in ("mass", "center", "inertia")}
        bodies[body] = Body(**inertial)
        place = _standard if table.convention == "standard" else _modified
        kept = {k: getattr(link, k) for k in ("motor", "damping", "friction", "limits")}
        given = {k: v for k, v in kept.items() if k in link.model_fields_set}
        joints[joint] = Joint(type=link.type, parent=parent, child=body, **place(link), **given)
        parent = body
    gravity = {} if table.gravity is None else {"gravity": table.gravity}
    return Mechanism(
        name=table.name, parameters=table.parameters, bodies=bodies, joints=joints, **gravity
    )


def _standard(link: DHLink) -> dict[str, Any]:
    """Joint about z of the frame before; the body's frame lies beyond Trans_x(a) Rot_x(α)."""
    # the joint's frame seen from the body: Rot_x(−α) Trans_x(−a)
    return {
        "origin": _given(xyz=(ZERO, ZERO, link.d), rpy=(ZERO, ZERO, link.theta)),
        "child_origin": _given(
            xyz=(negate(link.a), ZERO, ZERO), rpy=(negate(link.alpha), ZERO, ZERO)
        ),
    }


def _modified(link: DHLink) -> dict[str, Any]:
    """Joint about its own z, after Rot_x(α) Trans_x(a); d and θ shift along and about that z."""
    d, alpha = without_unit(link.d), without_unit(link.alpha)
    sine, cosine = _exact(Call("sin", (alpha,))), _exact(Call("cos", (alpha,)))
    y, z = negate(_times(d, sine)), _times(d, cosine)
    origin = _given(xyz=(link.a, y, z), rpy=(link.alpha, ZERO, ZERO))
    # θ turns about the joint's z before the coordinate does: seen from the body, Rot_z(−θ)
    turned = _given(rpy=(ZERO, ZERO, negate(link.theta)))
    return {"origin": origin} | ({"child_origin": turned} if turned else {})


def _given(**vectors: Vector) -> dict[str, Vector]:
    return {key: v for key, v in vectors.items() if v != ORIGIN}


def _exact(call: Call) -> Expression:
    """sin or cos of a constant right angle as a number, else as it is."""
    value = None if names(call) else evaluate(call)
    return Number(value) if isinstance(value, Fraction) else call


def _times(a: Expression, b: Expression) -> Expression:
    if ZERO in (a, b):
        return ZERO
    if b in (ONE, negate(ONE)):
        return a if b == ONE else negate(a)
    return Product((a, b))
