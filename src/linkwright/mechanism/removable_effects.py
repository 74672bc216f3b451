"""Effects that can be removed from a mechanism, for comparisons with programs that ignore them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ..errors import NameNotFoundError, suggest_remedy
from ..expressions import ZERO
from .parts import replace_part_fields

if TYPE_CHECKING:
    from .mechanism import Mechanism

_REMOVABLE_FIELDS: dict[str, tuple[str, ...]] = {
    "friction": (
        "friction",
        "friction_backward",
        "smoothing",
        "stribeck",
        "static_ratio",
        "friction_coefficient",
        "pin_radius",
    ),
    "damping": ("damping",),
    "springs": ("stiffness", "rest"),
    "motors": ("motor", "armature", "added_mass"),
    "limits": ("limits", "control_range", "effort_range"),
    "forces": ("force", "energy"),
}
"""The keys of joints, lengths, actuators and force elements that describe an effect."""

_REMOVABLE_TABLES = ("gravity", "forces", "contacts")


def strip_effects(mechanism: Mechanism, effects: Collection[str]) -> Mechanism:
    """Return a copy of a mechanism without some effects, by name."""
    known = list(dict.fromkeys((*_REMOVABLE_FIELDS, *_REMOVABLE_TABLES)))
    keys: set[str] = set()
    for effect in effects:
        if effect not in known:
            raise NameNotFoundError(
                f"'{effect}' cannot be left out", remedy=suggest_remedy(effect, known)
            )
        keys |= set(_REMOVABLE_FIELDS.get(effect, ()))
    changed: dict[str, Any] = {
        table: {name: replace_part_fields(part, keys) for name, part in parts.items()}
        for table, parts in (
            ("joints", mechanism.joints),
            ("lengths", mechanism.lengths),
            ("actuators", mechanism.actuators),
        )
        if parts
    }
    changed["gravity"] = (ZERO,) * 3 if "gravity" in effects else mechanism.gravity
    changed["forces"] = {
        name: replace_part_fields(force, keys)
        for name, force in mechanism.forces.items()
        if "forces" not in effects
    }
    if mechanism.contacts:
        changed["contacts"] = {} if "contacts" in effects else mechanism.contacts
    return replace_part_fields(mechanism, (), **changed)
