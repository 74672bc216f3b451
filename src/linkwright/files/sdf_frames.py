"""Frames of SDF: every pose is given relative to another frame, and all are resolved to the world.

Links, joints, frames and nested models of a model are frames in its scope; `inner::link` is a frame
of the nested model `inner`, `__model__` the model's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..errors import FileError, suggest_remedy
from ..types import Floats
from .xml_reader import XmlElement

WORLD_FRAME, ROOT_FRAME, MODEL_FRAME = "world", "__root__", "__model__"
_NEGLIGIBLE = 1e-15
"""Entries of composed poses below this are rounding errors of zeros."""


@dataclass
class SdfFrame:
    """A frame: its pose relative to another frame, and the frame that it is attached to, both
    resolved in the scope of its model. A link is attached to nothing but itself."""

    pose: Floats
    relative_to: str
    scope: SdfScope
    attached_to: str = ""
    element: XmlElement | None = None
    resolved: Floats | None = None
    is_being_resolved: bool = False


@dataclass
class SdfScope:
    """The frames of one model by name, and the scopes of its nested models."""

    path: str
    parent: SdfScope | None = None
    frames: dict[str, SdfFrame] = field(default_factory=dict)
    nested: dict[str, SdfScope] = field(default_factory=dict)

    def qualified_name(self, name: str) -> str:
        """Return a name with the names of the models around it: outer::inner::name."""
        return f"{self.path}::{name}" if self.path else name

    def find_frame(self, name: str, line: int) -> tuple[SdfScope, str, SdfFrame | None]:
        """Return the scope, the name in it and the frame; None stands for the world."""
        if name in (WORLD_FRAME, ROOT_FRAME):
            return self, WORLD_FRAME, None
        scope, own = self, name
        while "::" in own and own.partition("::")[0] in scope.nested:
            head, _, own = own.partition("::")
            scope = scope.nested[head]
        if own not in scope.frames:
            known = [*self.frames, *self.nested]
            raise FileError(
                f"unknown frame '{name}'", where=f"line {line}", remedy=suggest_remedy(name, known)
            )
        return scope, own, scope.frames[own]

    def world_pose(self, name: str, line: int = 0) -> Floats:
        """Return the pose of a frame in the world, 4 × 4."""
        _, _, frame = self.find_frame(name, line)
        if frame is None:
            return np.eye(4)
        if frame.resolved is None:
            if frame.is_being_resolved:
                raise FileError(
                    f"the pose of '{name}' is given relative to itself",
                    where=f"line {line}",
                    remedy="remove the cycle of relative_to",
                )
            frame.is_being_resolved = True
            frame.resolved = frame.scope.world_pose(frame.relative_to, line) @ frame.pose
        return frame.resolved

    def attached_link(self, name: str, line: int) -> str:
        """Return the qualified name of the link that a frame is fixed to; "world" for none."""
        seen: set[int] = set()
        scope: SdfScope = self
        while True:
            scope, own, frame = scope.find_frame(name, line)
            if frame is None:
                return WORLD_FRAME
            if not frame.attached_to:
                return scope.qualified_name(own)
            if id(frame) in seen:
                raise FileError(
                    f"the frame '{name}' is attached to itself",
                    where=f"line {line}",
                    remedy="remove the cycle of attached_to",
                )
            seen.add(id(frame))
            scope, name = frame.scope, frame.attached_to


def read_sdf_numbers(element: XmlElement, counts: tuple[int, ...]) -> list[float]:
    """Return the numbers in the text of an element."""
    words = element.text.split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) not in counts or np.isnan(numbers).any():
        wanted = " or ".join(str(count) for count in counts)
        raise FileError(
            f"<{element.tag}> has '{' '.join(words)[:40]}', not {wanted} number(s)",
            where=f"line {element.line}",
            remedy=f"write {wanted} decimal number(s)",
        )
    return numbers


def required_sdf_text(element: XmlElement, tag: str) -> str:
    """Return the text of a child element; raise where it is absent or empty."""
    child = element.first_child(tag)
    if child is None or not child.text.strip():
        raise FileError(
            f"<{element.tag}> has no <{tag}>", where=f"line {element.line}", remedy="add it"
        )
    return child.text.strip()


def read_sdf_pose(element: XmlElement | None) -> tuple[Floats, str]:
    """Return the pose of a <pose> element, 4 × 4, and the frame that it names."""
    if element is None:
        return np.eye(4), ""
    is_quaternion = element.attributes.get("rotation_format") == "quat_xyzw"
    pose = np.eye(4)
    if element.text.strip():
        numbers = np.array(read_sdf_numbers(element, (7,) if is_quaternion else (6,)))
        if not np.isfinite(numbers).all():
            raise FileError("<pose> has infinite entries", where=f"line {element.line}")
        pose[:3, 3] = numbers[:3]
        if is_quaternion:
            pose[:3, :3] = quaternion_matrix(np.roll(numbers[3:], 1), element.line)
        else:
            degrees = element.attributes.get("degrees") in ("true", "1")
            pose[:3, :3] = _rpy_matrix(np.radians(numbers[3:]) if degrees else numbers[3:])
    return pose, element.attributes.get("relative_to", element.attributes.get("frame", ""))


def _rpy_matrix(angles: Floats) -> Floats:
    """The rotation about the fixed axes x, then y, then z; quarter turns are exact."""
    R = np.eye(3)
    for axis, angle in enumerate(angles):
        c, s = (_drop_rounding_error(f(angle)) for f in (np.cos, np.sin))
        j, k = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[j, j] = turn[k, k] = c
        turn[j, k], turn[k, j] = -s, s
        R = turn @ R
    return R


def _drop_rounding_error(value: float) -> float:
    """Zero in place of what a quarter turn leaves of it."""
    return 0.0 if abs(value) < 1e-15 else float(value)


def quaternion_matrix(quaternion: Floats, line: int) -> Floats:
    """Return the rotation matrix of a quaternion (w, x, y, z) of any length but 0."""
    size = float(np.linalg.norm(quaternion))
    if not size:
        raise FileError("the quaternion is zero", where=f"line {line}", remedy="give a rotation")
    w, x, y, z = quaternion / size
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def inverse_pose(T: Floats) -> Floats:
    """Return the inverse of a pose."""
    found = np.eye(4)
    found[:3, :3] = T[:3, :3].T
    found[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return found


def rotation_to_axis(direction: list[float], line: int) -> Floats:
    """Return the pose of a frame at the origin whose z axis has a direction, 4 × 4."""
    z = np.array(direction)
    length = float(np.linalg.norm(z))
    if not 0 < length < np.inf:
        raise FileError("the normal is zero", where=f"line {line}", remedy="give a direction")
    z /= length
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [0.0, 0.0, 1.0], z)
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return pose


def placement_fields(T: Floats) -> dict[str, object]:
    """Return a pose as the fields of a placement: `xyz`, and `quaternion` if it turns."""
    scale = max(1.0, float(np.abs(T[:3, 3]).max()))
    fields: dict[str, object] = {"xyz": _chopped_numbers(T[:3, 3], _NEGLIGIBLE * scale)}
    quaternion = rotation_quaternion(T[:3, :3])
    if quaternion[1:] != [0.0, 0.0, 0.0]:
        fields["quaternion"] = quaternion
    return fields


def rotation_quaternion(R: Floats) -> list[float]:
    """Return the quaternion (w, x, y, z) of a rotation matrix, from its largest component."""
    squares = 1 + np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) @ np.diag(R)
    largest = int(np.argmax(squares))
    w = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    sums = {(1, 2): R[0, 1] + R[1, 0], (1, 3): R[0, 2] + R[2, 0], (2, 3): R[1, 2] + R[2, 1]}
    entry: Callable[[int], float] = lambda k: (  # noqa: E731
        squares[k]
        if k == largest
        else w[max(k, largest) - 1]
        if 0 in (k, largest)
        else sums[min(k, largest), max(k, largest)]
    )
    found = np.array([entry(k) for k in range(4)]) / (2 * np.sqrt(squares[largest]))
    return _chopped_numbers(found if found[0] >= 0 else -found, 4 * _NEGLIGIBLE)


def _chopped_numbers(values: Floats, limit: float) -> list[float]:
    """The entries as floats, without the rounding errors of zeros."""
    return [0.0 if abs(x) <= limit else float(x) for x in values]
