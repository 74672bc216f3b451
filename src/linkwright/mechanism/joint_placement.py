"""Tables of joints whose vectors have become frames."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from ..errors import MechanismError
from .joint_vectors import place_joint_by_vectors
from .joints import Joint
from .parts import PartTable
from .validate import evaluate_mechanism_parameters


def _place_joints(joints: PartTable[Joint], info: ValidationInfo) -> PartTable[Joint]:
    """Return the joints of a mechanism with frames where they are given by vectors."""
    if not any(joint.vectors for joint in joints.values()):
        return joints
    values = evaluate_mechanism_parameters(info.data.get("parameters", {}))
    placed = dict(joints)
    for name, joint in joints.items():
        if joint.vectors is not None:
            try:
                placed[name] = place_joint_by_vectors(joint, info.data.get("bodies", {}), values)
            except MechanismError as error:
                place = f"{name}.{error.where}"
                raise MechanismError(error.what, where=place, remedy=error.remedy) from None
    return PartTable(placed, info.field_name or "")


PlacedJoints = Annotated[PartTable[Joint], AfterValidator(_place_joints)]
"""The joints or loops of a mechanism by name, after its parameters and bodies."""
