"""Effects that a mechanism can leave out, for comparisons with programs that ignore them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NameNotFoundError, suggest_remedy
from ..expressions import ZERO
from .parts import replace_part_fields

if TYPE_CHECKING:
    from .mechanism import Mechanism

_REMOVABLE_FIELDS: dict[str, tuple[str, ...]] = {
    "friction": (
        "friction",
        "smoothing",
        "static_ratio",
        "friction_coefficient",
        "pin_radius",
    ),
    "damping": ("damping",),
    "springs": ("stiffness", "rest"),
    "motors": ("motor",),
    "limits": ("limits",),
}

_REMOVABLE_TABLES = ("gravity", "forces", "contacts")


def parts_without_effects(mechanism: Mechanism, effects: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a mechanism that change where effects are left out."""
    keys: set[str] = set()
    for effect in effects:
        if effect not in (*_REMOVABLE_FIELDS, *_REMOVABLE_TABLES):
            raise NameNotFoundError(
                f"'{effect}' cannot be left out",
                remedy=suggest_remedy(effect, [*_REMOVABLE_FIELDS, *_REMOVABLE_TABLES]),
            )
        keys |= set(_REMOVABLE_FIELDS.get(effect, ()))
    joints = {name: replace_part_fields(joint, keys) for name, joint in mechanism.joints.items()}
    forces = {
        name: replace_part_fields(force, keys)
        for name, force in mechanism.forces.items()
        if "forces" not in effects
    }
    changed: dict[str, Any] = {"joints": joints, "forces": forces, "gravity": mechanism.gravity}
    if "gravity" in effects:
        changed["gravity"] = (ZERO,) * 3
    if mechanism.contacts:
        changed["contacts"] = {} if "contacts" in effects else mechanism.contacts
    return changed
