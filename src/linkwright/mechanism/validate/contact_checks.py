"""Checks of contacts, and of joints and constraints that may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..bodies import GROUND
from ..contacts import Contact
from ..parts import part_numbers
from .part_number_checks import MechanismParameterScope, check_part_number
from .structure_checks import check_known_part_name, mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def check_contacts(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check all contacts, and the strengths of joints and constraints."""
    for name, contact in mechanism.contacts.items():
        _check_contact(contact, f"contacts.{name}", mechanism, scope)
    for name, constraint in mechanism.constraints.items():
        strength = getattr(constraint, "breaks", None)
        for key, number, quantity in part_numbers(strength) if strength else ():
            here = f"constraints.{name}.breaks.{key}"
            check_part_number(number, f"breaks.{key}", here, quantity.unit, scope)
    _check_breakable_joints(mechanism)


def _check_contact(
    contact: Contact, place: str, mechanism: Mechanism, scope: MechanismParameterScope
) -> None:
    """Raise where the ends of a contact are unknown or on one body, or a number is wrong."""
    bodies = {GROUND: GROUND, **{name: name for name in mechanism.bodies}}
    bodies |= {name: frame.body for name, frame in mechanism.frames.items()}
    for key in ("point", "plane"):
        check_known_part_name(getattr(contact, key), bodies, "body or frame", f"{place}.{key}")
    if bodies[contact.point] == bodies[contact.plane]:
        raise mechanism_error("point and plane are on one body", place, "name two bodies")
    for key, number, quantity in part_numbers(contact):
        check_part_number(number, key, f"{place}.{key}", quantity.unit, scope)
    if scope.finite_value(contact.radius, f"{place}.radius") < 0:
        raise mechanism_error("is negative", f"{place}.radius", "give zero or more")
    for key in ("stiffness", "smoothing"):
        number = getattr(contact, key)
        if number is not None and scope.finite_value(number, f"{place}.{key}") <= 0:
            raise mechanism_error("is not above zero", f"{place}.{key}", "give more than 0")


def _check_breakable_joints(mechanism: Mechanism) -> None:
    """Raise where something depends on the coordinate of a joint that may break."""
    for name, joint in mechanism.joints.items():
        if joint.breaks is None:
            continue
        place = f"joints.{name}.breaks"
        if mechanism.coordinates is not None:
            raise mechanism_error(
                "cannot be combined with chosen coordinates", place, "remove one of them"
            )
        if joint.mimic is not None or joint.locked is not None:
            raise mechanism_error("is given for a joint that has no coordinate", place, "remove it")
        if any(o.mimic is not None and o.mimic.joint == name for o in mechanism.joints.values()):
            raise mechanism_error("is given for a joint that others follow", place, "remove it")
