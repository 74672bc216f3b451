"""Numbers and placements as URDF writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..types import Floats


def write_urdf_number(value: float) -> str:
    """Return a number as text without a trailing ".0"."""
    return repr(value + 0.0).removesuffix(".0")


def write_urdf_vector(values: Iterable[float]) -> str:
    """Return numbers as text, separated by spaces."""
    return " ".join(write_urdf_number(float(value)) for value in values)


def write_urdf_attributes(values: dict[str, float]) -> str:
    """Return attributes key="number", separated by spaces."""
    return " ".join(f'{key}="{write_urdf_number(value)}"' for key, value in values.items())


def write_urdf_placement(place: tuple[Floats, Floats]) -> str:
    """Return the <origin> element of a rotation matrix and a position."""
    R, p = place
    angles = write_urdf_vector(_urdf_roll_pitch_yaw(R))
    return f'<origin xyz="{write_urdf_vector(p)}" rpy="{angles}"/>'


def _urdf_roll_pitch_yaw(R: Floats) -> tuple[float, float, float]:
    """Return roll, pitch, yaw of a rotation matrix; yaw is 0 where only their sum is determined."""
    level = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], level)
    if level < 1e-12:
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])
