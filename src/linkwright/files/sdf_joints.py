"""Joints of SDF: kinds, axes, limits, losses, mimicry, screws and gearboxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import FileError, UnsupportedError, suggest_remedy
from ..mechanism import GROUND, JOINT_KINDS
from ..types import Floats
from .sdf_frames import (
    MODEL_FRAME,
    WORLD_FRAME,
    SdfScope,
    inverse_pose,
    placement_fields,
    read_sdf_numbers,
)
from .xml_reader import XmlElement

_KINDS_OF_SDF = {word: kind for kind in JOINT_KINDS.values() for word in kind.sdf}
"""The kind of joint for each type of SDF; a gearbox is a coupling of two others."""
_GEOMETRY_FIELDS = (
    "type", "parent", "child", "origin", "child_origin", "axis", "axis2", "pitch",
)  # fmt: skip
"""The fields of a joint that closes a loop."""
_DEFAULT_SCREW_PITCH = 1 / (2 * np.pi)
"""The pitch of a screw that gives none: 1 m per turn, in m/rad."""
_UNLIMITED = 1e16
"""Limits of at least this size mean none."""


@dataclass(eq=False)
class SdfJoint:
    """A joint between two bodies: the fields of a joint of the tree, or a coupling of two others.

    `mimicked` has the name of the joint that it follows, in its scope, with factor and offset;
    `gear` the bodies and the ratio of a gearbox.
    """

    name: str
    scope: SdfScope
    element: XmlElement
    parent: str
    child: str
    fields: dict[str, object]
    axis: Floats | None = None
    mimicked: tuple[str, float, float] | None = None
    gear: SdfGear | None = None
    coupling: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def is_reversible(self) -> bool:
        """Whether parent and child can change places, with the same coordinate."""
        kind = JOINT_KINDS.get(str(self.fields.get("type")))
        return kind is not None and len(kind.motions) <= 1

    def reverse(self) -> None:
        """Let parent and child change places: the same motion, seen from the child."""
        one, other = self.fields.pop("origin", None), self.fields.pop("child_origin", None)
        self.fields |= {"origin": other, "child_origin": one}
        self.parent, self.child = self.child, self.parent
        self.fields |= {"parent": self.parent, "child": self.child}
        if self.axis is not None:
            self.axis = -self.axis
            self.fields["axis"] = [float(x) + 0.0 for x in self.axis]

    @property
    def has_losses(self) -> bool:
        """Whether it has damping, friction, a spring or a leader: no joint that closes a loop
        can."""
        return bool(set(self.fields) - {*_GEOMETRY_FIELDS, "limits"})

    def loop_fields(self) -> dict[str, object]:
        """Return what is left of the joint where it closes a loop."""
        lost = sorted(set(self.fields) - {*_GEOMETRY_FIELDS, "limits"})
        if lost:
            raise UnsupportedError(
                f"the joint '{self.name}' closes a loop and has {', '.join(lost)}, like all "
                "other joints of the loop",
                where=f"line {self.element.line}",
                remedy="remove these from a joint of the loop",
            )
        if "limits" in self.fields:
            self.notes.append(f"joint {self.name}: its limits, since it closes a loop")
        return {key: self.fields[key] for key in _GEOMETRY_FIELDS if key in self.fields}

    def resolve_references(
        self, by_key: Mapping[str, SdfJoint], joints: Sequence[SdfJoint]
    ) -> None:
        """Find the joints that this one follows or couples."""
        if self.mimicked is not None:
            leader, multiplier, offset = self.mimicked
            key = self.scope.qualified_name(leader)
            if key not in by_key:
                raise FileError(
                    f"unknown joint '{leader}'",
                    where=f"line {self.element.line}",
                    remedy=suggest_remedy(leader, [joint.name for joint in joints]),
                )
            self.fields["mimic"] = {
                "joint": by_key[key].name,
                "multiplier": multiplier,
                "offset": offset,
            }
        if self.gear is not None:
            self.coupling = self.gear.coupling(self, joints)


@dataclass(frozen=True)
class SdfGear:
    """A gearbox: θ₂ = −ratio θ₁, where θ₁ is the turn of the parent about `axis` and θ₂ that of
    the child about `axis2`, both against the reference body; the axes are in world axes."""

    ratio: float
    reference: str
    axis: Floats
    axis2: Floats

    def coupling(self, joint: SdfJoint, joints: Sequence[SdfJoint]) -> dict[str, object]:
        """Return the coupling of the two joints that hold the gearbox's bodies."""
        one, sign1 = self.turning_joint(joint, joint.parent, self.axis, joints)
        other, sign2 = self.turning_joint(joint, joint.child, self.axis2, joints)
        factor = -self.ratio * sign1 / sign2
        return {"type": "coupling", "joint": other, "other": one, "coefficients": [0.0, factor]}

    def turning_joint(
        self, joint: SdfJoint, body: str, axis: Floats, joints: Sequence[SdfJoint]
    ) -> tuple[str, float]:
        """Return the joint between the reference body and another, and its sense about the axis."""
        for each in joints:
            if each.axis is None or {each.parent, each.child} != {self.reference, body}:
                continue
            own = each.scope.world_pose(each.element.attributes["name"])[:3, :3] @ each.axis
            along = float(own @ axis)
            if abs(abs(along) - 1) < 1e-9:
                return each.name, np.sign(along) * (1.0 if each.child == body else -1.0)
        raise UnsupportedError(
            f"the gearbox '{joint.name}' needs a revolute joint between '{self.reference}' and "
            f"'{body}' about its axis",
            where=f"line {joint.element.line}",
            remedy="add that joint, or correct gearbox_reference_body",
        )


def read_sdf_joint(
    element: XmlElement, scope: SdfScope, name: str, names: Mapping[str, str]
) -> SdfJoint:
    """Return the joint of a <joint> element between the bodies that `names` has for the links."""
    word, where = element.required_attribute("type"), f"line {element.line}"
    ends = [_joint_end(element, scope, tag) for tag in ("parent", "child")]
    parent, child = (GROUND if end == WORLD_FRAME else names[end] for end in ends)
    if word == "gearbox":
        gear = _read_gear(element, scope, names)
        return SdfJoint(name, scope, element, parent, child, {}, gear=gear)
    if word not in _KINDS_OF_SDF:
        raise UnsupportedError(
            f"the joint '{name}' has the unknown type '{word}'",
            where=where,
            remedy=f"use {', '.join([*_KINDS_OF_SDF, 'gearbox'])}",
        )
    kind = _KINDS_OF_SDF[word]
    here = scope.world_pose(element.attributes["name"], element.line)
    poses = [np.eye(4) if end == WORLD_FRAME else _link_pose(scope, end) for end in ends]
    fields: dict[str, object] = {"type": kind.name, "parent": parent, "child": child}
    for key, pose in zip(("origin", "child_origin"), poses, strict=True):
        fields[key] = placement_fields(inverse_pose(pose) @ here)
    joint = SdfJoint(name, scope, element, parent, child, fields)
    axes = [tag for tag in ("axis", "axis2") if kind.has_motion_along(tag)]
    for tag in axes:
        direction = _read_axis(element, scope, tag, here)
        fields[tag] = [0.0 if abs(x) < 1e-15 else float(x) for x in direction]
        joint.axis = direction if tag == "axis" and len(axes) == 1 else joint.axis
    _read_axis_details(joint, axes)
    if kind.has_pitch:
        fields["pitch"] = _read_screw_pitch(element)
    return joint


def _joint_end(element: XmlElement, scope: SdfScope, tag: str) -> str:
    """Return the qualified name of the link that <parent> or <child> names, or "world"."""
    found = element.first_child(tag)
    name = found.text.strip() if found is not None else ""
    if not name:
        raise FileError(
            f"the joint has no <{tag}>", where=f"line {element.line}", remedy="give one"
        )
    return scope.attached_link(name, element.line)


def _link_pose(scope: SdfScope, qualified: str) -> Floats:
    """Return the pose of a link in the world, by its qualified name."""
    top = scope
    while top.parent is not None:
        top = top.parent
    return top.world_pose(qualified)


def _read_axis(element: XmlElement, scope: SdfScope, tag: str, here: Floats) -> Floats:
    """Return the unit vector of an axis in the joint's frame."""
    axis = element.first_child(tag)
    xyz = axis.first_child("xyz") if axis is not None else None
    direction = np.array([0.0, 0.0, 1.0])
    if axis is not None and xyz is not None:
        direction = np.array(read_sdf_numbers(xyz, (3,)))
        frame = xyz.attributes.get("expressed_in", "")
        legacy = axis.first_child("use_parent_model_frame")
        if legacy is not None and legacy.text.strip() in ("true", "1"):
            frame = MODEL_FRAME
        if frame:
            direction = here[:3, :3].T @ scope.world_pose(frame, xyz.line)[:3, :3] @ direction
    length = float(np.linalg.norm(direction))
    if not 0 < length < np.inf:
        raise FileError(
            f"<{tag}> of the joint '{element.attributes['name']}' has no direction",
            where=f"line {element.line}",
            remedy="give a vector that is not zero",
        )
    return direction / length


def _read_axis_details(joint: SdfJoint, axes: Sequence[str]) -> None:
    """Read limits, losses, springs and mimicry of the axes into the fields of a joint."""
    columns: dict[str, list[float]] = {}
    limits: dict[str, list[float | None]] = {}
    for tag in axes:
        axis = joint.element.first_child(tag)
        dynamics, limit = (
            (axis.first_child(part) if axis is not None else None) for part in ("dynamics", "limit")
        )
        for key, name in (
            ("damping", "damping"),
            ("friction", "friction"),
            ("stiffness", "spring_stiffness"),
            ("rest", "spring_reference"),
        ):
            columns.setdefault(key, []).append(_number(dynamics, name, 0.0))
        for key, none in (("lower", -np.inf), ("upper", np.inf), ("effort", -1), ("velocity", -1)):
            bound = _number(limit, key, none)
            absent = abs(bound) >= _UNLIMITED or (none == -1 and bound < 0)
            limits.setdefault(key, []).append(None if absent else bound)
        mimic = axis.first_child("mimic") if axis is not None else None
        if mimic is not None:
            multiplier, offset, reference = (
                _number(mimic, key, default)
                for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
            )
            leader = mimic.required_attribute("joint")
            joint.mimicked = (leader, multiplier, offset - multiplier * reference)
    for key, values in columns.items():
        if any(values) and (key != "rest" or any(columns["stiffness"])):
            joint.fields[key] = values if len(values) > 1 else values[0]
    kept: dict[str, object] = {}
    form = JOINT_KINDS[str(joint.fields["type"])].urdf
    unlimited = {"lower", "upper"} - set(form.limits if form is not None else limits)
    for key, bounds in limits.items():
        if key in unlimited or all(bound is None for bound in bounds):
            continue
        if any(bound is None for bound in bounds):
            joint.notes.append(f"joint {joint.name}: the limit '{key}', which only one axis has")
        else:
            kept[key] = bounds if len(bounds) > 1 else bounds[0]
    if kept:
        joint.fields["limits"] = kept


def _number(element: XmlElement | None, tag: str, default: float) -> float:
    """Return the number in a child element, or a default."""
    child = element.first_child(tag) if element is not None else None
    return default if child is None else read_sdf_numbers(child, (1,))[0]


def _read_screw_pitch(element: XmlElement) -> float:
    """Return the pitch in m/rad; `thread_pitch`, the older word, is in −rad/m."""
    child = element.first_child("screw_thread_pitch")
    if child is not None:
        return read_sdf_numbers(child, (1,))[0] / (2 * np.pi)
    older = element.first_child("thread_pitch")
    if older is None:
        return _DEFAULT_SCREW_PITCH
    thread = read_sdf_numbers(older, (1,))[0]
    if not thread:
        raise FileError(
            "<thread_pitch> is zero", where=f"line {older.line}", remedy="write screw_thread_pitch"
        )
    return -1 / thread


def _read_gear(element: XmlElement, scope: SdfScope, names: Mapping[str, str]) -> SdfGear:
    """Return the ratio, the reference body and the axes of a gearbox."""
    reference = element.first_child("gearbox_reference_body")
    if reference is None or not reference.text.strip():
        raise FileError(
            "the gearbox has no <gearbox_reference_body>",
            where=f"line {element.line}",
            remedy="name the body that holds both axles",
        )
    body = scope.attached_link(reference.text.strip(), element.line)
    here = scope.world_pose(element.attributes["name"], element.line)
    axes = [here[:3, :3] @ _read_axis(element, scope, tag, here) for tag in ("axis", "axis2")]
    ratio = _number(element, "gearbox_ratio", 1.0)
    return SdfGear(ratio, GROUND if body == WORLD_FRAME else names[body], *axes)
