"""Kinds of joints by their URDF type."""

from __future__ import annotations

from ..errors import FileError, suggest_remedy
from ..mechanism import JOINT_KINDS, JointKind


def joint_kind_of_urdf(urdf_type: str, where: str = "") -> JointKind:
    """Return the kind of joint with this URDF type; raise an error at `where` if there is none."""
    kinds = {kind.urdf.type: kind for kind in JOINT_KINDS.values() if kind.urdf is not None}
    if urdf_type not in kinds:
        raise FileError(
            f"'{urdf_type}' is not a joint type",
            where=where,
            remedy=suggest_remedy(urdf_type, [*kinds]),
        )
    return kinds[urdf_type]
