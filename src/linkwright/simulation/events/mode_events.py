"""The event functions of a mode."""

from __future__ import annotations

from .contact_events import CompliantContactEvent, ContactRelease, GapClosing
from .event_function import EventFunction
from .limit_event import LimitReached
from .modes import Mode
from .present_mode import PresentMode
from .stick_slip import (
    ContactSlideReversal,
    ContactStickLimit,
    JointSlideReversal,
    JointStickLimit,
)


def mode_event_functions(present: PresentMode) -> list[EventFunction]:
    """Return the functions that may end the present mode: gaps, forces, velocities of slides."""
    mode = present.mode
    return [
        *_gap_functions(present, mode),
        *_joint_friction_functions(present, mode),
        *_contact_friction_functions(present, mode),
        *_compliant_functions(present),
    ]


def _gap_functions(present: PresentMode, mode: Mode) -> list[EventFunction]:
    """Return the functions of stops and rigid contacts, open or closed."""
    found: list[EventFunction] = []
    for i, unilateral in enumerate(present.rows.unilaterals):
        if i in mode.resting:
            found.append(ContactRelease(i, unilateral))
        elif unilateral.restitution is None:
            found.append(LimitReached(i, unilateral))
        else:
            found.append(GapClosing(i, unilateral))
    return found


def _joint_friction_functions(present: PresentMode, mode: Mode) -> list[EventFunction]:
    """Return the functions of joints with dry friction; those that ride along have none."""
    riding = dict(mode.riding)
    return [
        JointSlideReversal(k, joint_friction, sign) if sign else JointStickLimit(k, joint_friction)
        for k, (joint_friction, sign) in enumerate(
            zip(present.rows.joint_frictions, mode.sliding, strict=True)
        )
        if k not in riding
    ]


def _contact_friction_functions(present: PresentMode, mode: Mode) -> list[EventFunction]:
    """Return the functions of closed contacts with friction."""
    directions, found = dict(mode.toward), list[EventFunction]()
    for i in mode.resting:
        unilateral = present.rows.unilaterals[i]
        if unilateral.slip and i in mode.grip:
            found.append(ContactStickLimit(i, unilateral))
        elif unilateral.slip:
            found.append(ContactSlideReversal(i, unilateral, directions[i]))
    return found


def _compliant_functions(present: PresentMode) -> list[EventFunction]:
    """Return the functions of compliant contacts."""
    contacts = present.dynamics.mechanism.contacts.items()
    names = [name for name, contact in contacts if not contact.is_rigid]
    return [
        CompliantContactEvent(k, name, 1 if is_touching else -1)
        for k, (name, is_touching) in enumerate(zip(names, present.touching, strict=True))
    ]
