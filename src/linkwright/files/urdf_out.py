"""URDF out. Joints that URDF lacks become chains of its own; what it cannot say is reported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..algebra.linear import without_dust
from ..errors import FileError
from ..expressions import to_float
from ..kinematics.build import build_tree
from ..kinematics.joints import Kind, steps
from ..kinematics.placements import alignment, placement_of, plane_of
from ..kinematics.tree import Tree
from ..kinematics.values import Values
from ..mechanism import GROUND, Joint, Mechanism

WORLD = "world"
_UNLIMITED = 1e9
_HERE = (np.eye(3), np.zeros(3))


def write_urdf(mechanism: Mechanism) -> tuple[str, list[str]]:
    """The URDF text, and a list of what is lost in it."""
    return _Writer(mechanism).text()


@dataclass(frozen=True)
class _Move:
    """A URDF joint of one freedom: its name and type, its axis, which freedom it is."""

    name: str
    type: str
    axis: Any
    freedom: int
    mimic: tuple[str, float, float] | None = None


class _Writer:
    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.values = Values(mechanism)
        self.tree: Tree = build_tree(mechanism)
        self.lines: list[str] = []
        self.world = WORLD
        while self.world in mechanism.bodies or self.world in mechanism.frames:
            self.world += "_"

    def text(self) -> tuple[str, list[str]]:
        root = self.root_joint()
        if root is None:
            self.link(self.world)
        for name, joint in self.mechanism.joints_depth_first():
            if name != root:
                self.joint(name, joint)
            self.body(joint.child)
        for name, frame in self.mechanism.frames.items():
            self.write(f"{name}_frame", "fixed", frame.body, name, self.relative(frame.body, name))
            self.link(name)
        lost = self.lost()
        comments = [f"  <!-- not in this file: {what.replace('--', '- -')} -->" for what in lost]
        head = f'<?xml version="1.0"?>\n<robot name={quoteattr(self.mechanism.name)}>'
        return "\n".join([head, *comments, *self.lines, "</robot>", ""]), lost

    def root_joint(self) -> str | None:
        """The joint that does nothing but make a body the root, as readers of URDF add it."""
        roots = [n for n, joint in self.mechanism.joints.items() if joint.parent == GROUND]
        frames = any(frame.body == GROUND for frame in self.mechanism.frames.values())
        first = self.mechanism.joints[roots[0]]
        if len(roots) > 1 or frames or first.type != "fixed":
            return None
        R, p = self.relative(GROUND, first.child)
        return roots[0] if np.array_equal(R, np.eye(3)) and not np.any(p) else None

    # -- joints --------------------------------------------------------------------------

    def joint(self, name: str, joint: Joint) -> None:
        """A chain: the joint's motions one after the other, then the child where it stands."""
        moves = [] if joint.locked is not None else self.moves(name, joint)
        if not moves:
            place = self.relative(joint.parent, joint.child)
            self.write(name, "fixed", joint.parent, joint.child, place)
            return
        R, p = placement_of(self.values, joint.child_origin, "")
        mount = (R.T, -(R.T @ p))
        direct = np.array_equal(mount[0], _HERE[0]) and not np.any(mount[1])
        parent, place = joint.parent, placement_of(self.values, joint.origin, "")
        for number, move in enumerate(moves):
            last = number == len(moves) - 1
            child = joint.child if last and direct else f"{move.name}:moved"
            self.write(move.name, move.type, parent, child, place, self.details(joint, move))
            if child != joint.child:
                self.link(child)
            parent, place = child, _HERE
        if not direct:
            self.write(f"{name}:mount", "fixed", parent, joint.child, mount)

    def moves(self, name: str, joint: Joint) -> list[_Move]:
        if joint.by_quaternion:
            if joint.type == "spherical":
                raise FileError(
                    "a spherical joint has no URDF form", where=f"joints.{name}",
                    remedy="use rotation = 'cardan'",
                )  # fmt: skip
            return [_Move(name, "floating", None, 0)]
        plane = plane_of(self.values, joint, name) if joint.type == "planar" else np.eye(3)
        found = []
        for number, step in enumerate(steps(joint)):
            assert step.axis is not None
            axis = plane @ alignment(self.values, step.axis, "")[:, 2]
            ending = joint.coordinates[number]
            label = f"{name}.{ending}" if ending else name
            slides = step.kind is Kind.SLIDE
            mimic = self.mimicry(name, joint)
            found.append(
                _Move(label, "prismatic" if slides else self.turn(joint), axis, number, mimic)
            )
            if step.kind is Kind.SCREW:
                assert joint.pitch is not None
                pitch = self.values.number(joint.pitch)
                found.append(_Move(f"{name}:slide", "prismatic", axis, number, (name, pitch, 0.0)))
        return found

    def turn(self, joint: Joint) -> str:
        return "continuous" if joint.limits.lower is None else "revolute"

    def mimicry(self, name: str, joint: Joint) -> tuple[str, float, float] | None:
        if joint.mimic is None:
            return None
        span = next(span for span in self.tree.joints if span.name == name)
        follower = self.tree.followers[self.tree.links[span.links[0]].v]
        leader = self.tree.names.qd[follower.leader]
        return leader, float(follower.gain), float(follower.offset)

    def details(self, joint: Joint, move: _Move) -> list[str]:
        """Axis, limits, losses and mimicry of a URDF joint."""
        if move.axis is None:
            return []

        def number(field: Any, default: float) -> float:
            return default if field is None else self.values.number(joint.each(field)[move.freedom])

        limits, follows = joint.limits, ":slide" in move.name
        bounds = {
            "effort": number(limits.effort, _UNLIMITED),
            "velocity": number(limits.velocity, _UNLIMITED),
        }
        if move.type != "continuous":
            bounds["lower"] = number(None if follows else limits.lower, -_UNLIMITED)
            bounds["upper"] = number(None if follows else limits.upper, _UNLIMITED)
        lines = [f'<axis xyz="{_words(move.axis)}"/>', f"<limit {_attributes(bounds)}/>"]
        losses = {"damping": number(joint.damping, 0.0), "friction": number(joint.friction, 0.0)}
        if any(losses.values()) and not follows:
            lines.append(f"<dynamics {_attributes(losses)}/>")
        if move.mimic is not None:
            leader, gain, offset = move.mimic
            numbers = _attributes({"multiplier": gain, "offset": offset})
            lines.append(f"<mimic joint={quoteattr(leader)} {numbers}/>")
        return lines

    def relative(self, body: str, name: str) -> tuple[Any, Any]:
        """One body or frame seen from another that it is fixed to."""
        a, b = self.tree.find(body), self.tree.find(name)
        return without_dust(a.R.T @ b.R), a.R.T @ (b.p - a.p)

    # -- elements ------------------------------------------------------------------------

    def link(self, name: str, inner: str = "") -> None:
        head = f"  <link name={quoteattr(name)}"
        self.lines.append(f"{head}>\n{inner}\n  </link>" if inner else f"{head}/>")

    def write(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        place: tuple[Any, Any],
        details: Sequence[str] = (),
    ) -> None:
        R, p = place
        parent = self.world if parent == GROUND else parent
        lines = [
            f'  <joint name={quoteattr(name)} type="{kind}">',
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(child)}/>",
            f'    <origin xyz="{_words(p)}" rpy="{_words(_rpy(R))}"/>',
            *(f"    {line}" for line in details),
            "  </joint>",
        ]
        self.lines.append("\n".join(lines))

    def body(self, name: str) -> None:
        place = self.tree.bodies[name]
        own = self.tree.inertias[name].moved(place.R.T, -(place.R.T @ place.p))
        if float(own.m) == 0 and not np.any(own.I):
            self.link(name)
            return
        center = [
            to_float(entry, self.mechanism.values) for entry in self.mechanism.bodies[name].center
        ]
        c = np.array(center)
        tensor = own.I - own.m * (c @ c * np.eye(3) - np.outer(c, c))
        moments = {
            f"i{a}{b}": float(tensor["xyz".index(a), "xyz".index(b)])
            for a, b in ("xx", "xy", "xz", "yy", "yz", "zz")
        }
        inner = [
            "    <inertial>",
            f'      <origin xyz="{_words(c)}" rpy="0 0 0"/>',
            f'      <mass value="{_number(float(own.m))}"/>',
            f"      <inertia {_attributes(moments)}/>",
            "    </inertial>",
        ]
        self.link(name, "\n".join(inner))

    def lost(self) -> list[str]:
        m, found = self.mechanism, []
        gravity = [float(g) for g in self.tree.gravity]
        if gravity != [0.0, 0.0, -9.81]:
            found.append(f"gravity {_words(gravity)} m/s^2 (URDF has none; readers take 0 0 -9.81)")
        if m.parameters:
            found.append(
                f"the names of the parameters {', '.join(m.parameters)} (their values are kept)"
            )
        kinds = {"stiffness": "spring", "motor": "motor", "smoothing": "friction smoothing"}
        for name, joint in m.joints.items():
            for field, what in kinds.items():
                if field in joint.model_fields_set and getattr(joint, field) is not None:
                    found.append(f"joint {name}: its {what}")
            if joint.by_quaternion and {"damping", "friction"} & joint.model_fields_set:
                found.append(f"joint {name}: its damping and friction")
        return found


def _number(value: float) -> str:
    return repr(value + 0.0).removesuffix(".0")


def _words(values: Any) -> str:
    return " ".join(_number(float(value)) for value in values)


def _attributes(values: dict[str, float]) -> str:
    return " ".join(f'{key}="{_number(value)}"' for key, value in values.items())


def _rpy(R: Any) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a rotation matrix; yaw 0 where only their sum counts."""
    level = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], level)
    if level < 1e-12:
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])
