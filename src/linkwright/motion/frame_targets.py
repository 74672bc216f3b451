"""Targets of frames, as data: points (x, y), points (x, y, z), or whole poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, LinkwrightError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism
from ..number_checks import read_number_array
from ..types import Floats

TARGET_SIZES = {"plane": 2, "point": 3, "pose": 12}
"""Numbers of a target: a pose is its position, then its rotation matrix row by row."""

_MAX_TARGET_NUMBER = 1e100  # squares of it are finite


@dataclass(frozen=True)
class FrameTarget:
    """The target of one frame: its kind and its numbers (…, size)."""

    frame: str
    kind: str
    numbers: Floats


def read_targets(given: Mapping[str, object]) -> list[FrameTarget]:
    """The targets of frames: (…, 2) and (…, 3) points, (…, 4, 4) placements, or (…, 7) points
    with quaternions (w, x, y, z)."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            "targets are given by the names of frames", remedy='write {"tool": [x, y, z]}'
        )
    if not given:
        raise LinkwrightError("no target is given", remedy="give one for a frame by its name")
    return [_read_target(frame, value) for frame, value in given.items()]


def _read_target(frame: str, value: Any) -> FrameTarget:
    numbers = read_number_array(value)
    if numbers is None or not numbers.size or not np.isfinite(numbers).all():
        raise LinkwrightError("the target is not an array of finite numbers", where=frame)
    if np.abs(numbers).max() >= _MAX_TARGET_NUMBER:
        raise LinkwrightError(
            f"the target is too far: {np.abs(numbers).max():.3g}",
            where=frame,
            remedy="give less than 1e100",
        )
    if numbers.shape[-2:] == (4, 4):
        rotation = _check_target_rotation(numbers[..., :3, :3], frame)
        return FrameTarget(frame, "pose", _target_pose_numbers(numbers[..., :3, 3], rotation))
    if numbers.ndim and numbers.shape[-1] == 7:
        return FrameTarget(
            frame,
            "pose",
            _target_pose_numbers(
                numbers[..., :3], _target_rotation_of_quaternion(numbers[..., 3:], frame)
            ),
        )
    for kind, size in TARGET_SIZES.items():
        if numbers.ndim and numbers.shape[-1] == size and kind != "pose":
            return FrameTarget(frame, kind, numbers)
    raise LinkwrightError(
        f"a target cannot have the shape {numbers.shape}",
        where=frame,
        remedy="give (…, 3) points, (…, 4, 4) placements, or (…, 7) points and quaternions",
    )


def _target_pose_numbers(point: Floats, rotation: Floats) -> Floats:
    return np.concatenate([point, rotation.reshape(*rotation.shape[:-2], 9)], axis=-1)


def _check_target_rotation(rotation: Floats, frame: str) -> Floats:
    square = np.swapaxes(rotation, -1, -2) @ rotation
    if np.abs(square - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation).min() < 0:
        raise LinkwrightError(
            "the target's 3×3 is not a rotation", where=frame, remedy="give an orthogonal matrix"
        )
    return rotation


def _target_rotation_of_quaternion(quaternion: Floats, frame: str) -> Floats:
    """Rotation matrices of quaternions of any length above 0."""
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if length.min() < 1e-12:
        raise LinkwrightError("the target's quaternion is 0", where=frame)
    w, x, y, z = np.moveaxis(quaternion / length, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def choose_moved_frame(mechanism: Mechanism, wanted: str | None) -> str:
    """The frame to move: the given one, 'tool', or the only one."""
    known = list(mechanism.frames)
    if wanted is None:
        if "tool" in known or len(known) == 1:
            return "tool" if "tool" in known else known[0]
        raise LinkwrightError(
            "the frame to move is ambiguous",
            where=mechanism.name,
            remedy=f"give --frame, one of {', '.join([*known, *mechanism.bodies])}",
        )
    if wanted not in known and wanted not in mechanism.bodies:
        raise NameNotFoundError(
            f"unknown frame '{wanted}'",
            where=mechanism.name,
            remedy=suggest_remedy(wanted, [*known, *mechanism.bodies]),
        )
    return wanted
