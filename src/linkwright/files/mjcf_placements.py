"""Numbers and placements of an MJCF model, as the fields of a mechanism take them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import mujoco

    from ..types import Floats


def mjcf_floats(values: Iterable[float]) -> list[float]:
    """Return the entries of an array as a list of floats."""
    return [float(value) for value in values]


class MjcfPlacement(TypedDict, total=False):
    """A placement as MuJoCo has it: position (m) and quaternion (w, x, y, z)."""

    xyz: list[float]
    quaternion: list[float]


def rotation_of_mjcf_quaternion(quaternion: list[float]) -> Floats:
    """Return the rotation matrix (3, 3) of a quaternion (w, x, y, z)."""
    import mujoco
    import numpy as np

    entries = np.empty(9)
    mujoco.mju_quat2Mat(entries, quaternion)
    return entries.reshape(3, 3)


def site_placement(model: mujoco.MjModel, index: int) -> MjcfPlacement:
    """Return the placement of a site in its body."""
    return {
        "xyz": mjcf_floats(model.site_pos[index]),
        "quaternion": mjcf_floats(model.site_quat[index]),
    }
