"""Writer of URDF. Joints without a URDF type become chains of joints that have one; what URDF
cannot express is reported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np

from ..algebra.linear_algebra import snap_rotation_noise
from ..errors import FileError
from ..expressions import expression_to_float
from ..files.unique_names import make_unique_element_name
from ..files.urdf_kinds import joint_kind_of_urdf
from ..files.urdf_reader import UNLIMITED_BOUND
from ..kinematics.elementary_motions import elementary_link_motions
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.placement_values import (
    joint_axis_alignment,
    joint_motion_axes,
    read_frame_placement,
)
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import GROUND, Joint, Limits, Mechanism
from ..mechanism.joints import PerDof
from ..types import Floats
from .urdf_losses import list_urdf_losses
from .urdf_numbers_writer import (
    write_urdf_attributes,
    write_urdf_number,
    write_urdf_placement,
    write_urdf_vector,
)
from .urdf_shapes_writer import is_urdf_shape, urdf_shape_lines

WORLD_LINK_NAME = "world"
_LOSS_FIELDS = ("damping", "friction")
_IDENTITY_PLACEMENT = (np.eye(3), np.zeros(3))
_INVALID_XML_CHARACTERS = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_urdf(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return the URDF text, and a list of what it cannot express.

    Where URDF wants a limit and the mechanism has none, 1e9 is written; `read_urdf` knows it.
    """
    return _UrdfWriter(mechanism).write_robot()


@dataclass(frozen=True)
class _UrdfMotion:
    """A URDF joint of one degree of freedom: its name and type, its axis, which degree of freedom
    it is."""

    name: str
    type: str
    axis: Floats | None
    dof_index: int
    mimic: tuple[str, float, float] | None = None
    is_slide_of_screw: bool = False


class _UrdfWriter:
    """Writes the links and joints of one mechanism as elements of a <robot>."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.losses = list(list_urdf_losses(mechanism))
        unwritten: dict[str, object] = {
            "coordinates": None,
            "speeds": {},
            "approximate": None,
            "lengths": {},
            "forces": {},
            "actuators": {},
            "loops": {},
            "constraints": {},
            "assembly": {},
            "independent": (),
        }
        mechanism = mechanism.model_copy(update=unwritten)
        self.mechanism = mechanism
        self.values = KinematicParameters(mechanism)
        self.tree: KinematicTree = build_kinematic_tree(mechanism)
        self.lines: list[str] = []
        self.link_names = {*mechanism.bodies, *mechanism.frames}
        self.joint_names = set(mechanism.joints)
        _refuse_names_invalid_in_urdf([mechanism.name, *self.link_names, *self.joint_names])
        self.world = self.take_new_name(WORLD_LINK_NAME, self.link_names)

    def take_new_name(self, wanted: str, taken: set[str]) -> str:
        """Reserve and return a name for a link or joint that the mechanism does not have."""
        name = make_unique_element_name(wanted, taken)
        taken.add(name)
        return name

    def write_robot(self) -> tuple[str, list[str]]:
        """Return the URDF text and what it lacks."""
        root = self.find_root_joint()
        if root is None:
            self.write_link_element(self.world)
        for name, joint in self.mechanism.joints_depth_first():
            if name != root:
                self.write_joint(name, joint)
            self.write_body(joint.child)
        for name, frame in self.mechanism.frames.items():
            joint_name = self.take_new_name(f"{name}_frame", self.joint_names)
            self.write_joint_element(
                joint_name, "fixed", frame.body, name, self.relative_placement(frame.body, name)
            )
            self.write_link_element(name)
        lost = self.losses
        comments = [f"  <!-- not in this file: {re.sub('-(?=-)', '- ', what)} -->" for what in lost]
        head = f'<?xml version="1.0"?>\n<robot name={quoteattr(self.mechanism.name)}>'
        return "\n".join([head, *comments, *self.lines, "</robot>", ""]), lost

    def find_root_joint(self) -> str | None:
        """Return the fixed joint that only makes a body the root, as readers of URDF add it; None
        if there is none."""
        roots = [n for n, joint in self.mechanism.joints.items() if joint.parent == GROUND]
        frames = any(frame.body == GROUND for frame in self.mechanism.frames.values())
        first = self.mechanism.joints[roots[0]] if len(roots) == 1 and not frames else None
        if first is None or first.dofs:
            return None
        R, p = self.relative_placement(GROUND, first.child)
        return roots[0] if np.array_equal(R, np.eye(3)) and not np.any(p) else None

    # -- joints --------------------------------------------------------------------------

    def write_joint(self, name: str, joint: Joint) -> None:
        """Write a joint as a chain of its motions, followed by the placement of the child."""
        moves = [] if joint.locked is not None else self.joint_motions(name, joint)
        if not moves:
            place = self.relative_placement(joint.parent, joint.child)
            self.write_joint_element(name, "fixed", joint.parent, joint.child, place)
            return
        R, p = read_frame_placement(self.values, joint.child_origin, "")
        mount = (R.T, -(R.T @ p))
        direct = np.array_equal(mount[0], _IDENTITY_PLACEMENT[0]) and not np.any(mount[1])
        parent, place = joint.parent, read_frame_placement(self.values, joint.origin, "")
        for number, move in enumerate(moves):
            last = number == len(moves) - 1
            moved = f"{move.name}:moved"
            child = joint.child if last and direct else self.take_new_name(moved, self.link_names)
            self.write_joint_element(
                move.name, move.type, parent, child, place, self.joint_detail_lines(joint, move)
            )
            if child != joint.child:
                self.write_link_element(child)
            parent, place = child, _IDENTITY_PLACEMENT
        if not direct:
            mounted = self.take_new_name(f"{name}:mount", self.joint_names)
            self.write_joint_element(mounted, "fixed", parent, joint.child, mount)

    def joint_motions(self, name: str, joint: Joint) -> list[_UrdfMotion]:
        """Return the URDF joints of one degree of freedom that make up a joint."""
        if joint.by_quaternion:
            form = joint.kind.urdf
            if form is None:
                raise FileError(
                    f"a {joint.type} joint has no URDF form",
                    where=f"joints.{name}",
                    remedy="use rotation = 'cardan'",
                )
            return [_UrdfMotion(name, form.type, None, 0)]
        axes = joint_motion_axes(self.values, joint, name)
        limited = joint.limits.lower is not None or joint.limits.upper is not None
        turn, mimic = "revolute" if limited else "continuous", self.mimic_attributes(name, joint)
        found = []
        for number, step in enumerate(elementary_link_motions(joint)):
            assert step.axis is not None
            axis = axes @ joint_axis_alignment(self.values, step.axis, "")[:, 2]
            ending = joint.coordinates[number]
            label = self.take_new_name(f"{name}.{ending}", self.joint_names) if ending else name
            kind = turn if step.kind.turns_about_axis else "prismatic"
            found.append(_UrdfMotion(label, kind, axis, number, mimic))
            if step.kind.turns_about_axis and step.kind.slides_along_axis:
                found.append(self.screw_slide_motion(name, joint, axis))
        return found

    def screw_slide_motion(self, name: str, joint: Joint, axis: Floats) -> _UrdfMotion:
        """Return the sliding joint of a screw, which mimics its turn times the pitch."""
        assert joint.pitch is not None
        follows = name, self.values.read_number(joint.pitch), 0.0
        label = self.take_new_name(f"{name}:slide", self.joint_names)
        return _UrdfMotion(label, "prismatic", axis, 0, follows, is_slide_of_screw=True)

    def mimic_attributes(self, name: str, joint: Joint) -> tuple[str, float, float] | None:
        """Return leader, multiplier and offset of a mimicking joint; None if it mimics none."""
        if joint.mimic is None:
            return None
        span = next(span for span in self.tree.joints if span.name == name)
        follower = self.tree.followers[self.tree.links[span.links[0]].v]
        leader = self.tree.names.qd[follower.leader]
        return leader, float(follower.gain), float(follower.offset)

    def joint_detail_lines(self, joint: Joint, move: _UrdfMotion) -> list[str]:
        """Return the lines of axis, limits, losses and mimicry of a URDF joint."""
        if move.axis is None:
            return []
        lines = [f'<axis xyz="{write_urdf_vector(move.axis)}"/>', *self.limit_lines(joint, move)]
        losses = {key: self.field_number(joint, move, getattr(joint, key)) for key in _LOSS_FIELDS}
        if any(losses.values()) and not move.is_slide_of_screw:
            lines.append(f"<dynamics {write_urdf_attributes(losses)}/>")
        if move.mimic is not None:
            leader, gain, offset = move.mimic
            numbers = write_urdf_attributes({"multiplier": gain, "offset": offset})
            lines.append(f"<mimic joint={quoteattr(leader)} {numbers}/>")
        return lines

    def field_number(
        self, joint: Joint, move: _UrdfMotion, field: PerDof | None, default: float = 0.0
    ) -> float:
        """Return the value of a field for the degree of freedom of a URDF joint, or the default."""
        return (
            default if field is None else self.values.read_number(joint.each(field)[move.dof_index])
        )

    def limit_lines(self, joint: Joint, move: _UrdfMotion) -> Iterator[str]:
        """Yield the <limit> line: URDF requires all four limits of a revolute or prismatic joint,
        none of a continuous one."""
        limits = Limits() if move.is_slide_of_screw else joint.limits
        form = joint_kind_of_urdf(move.type).urdf
        keys = form.limits if form is not None else ()
        if "lower" not in keys and limits.effort is None and limits.velocity is None:
            return
        bounds = {
            key: self.field_number(
                joint,
                move,
                getattr(limits, key),
                -UNLIMITED_BOUND if key == "lower" else UNLIMITED_BOUND,
            )
            for key in keys
        }
        yield f"<limit {write_urdf_attributes(bounds)}/>"

    def relative_placement(self, body: str, name: str) -> tuple[Floats, Floats]:
        """Return rotation and position of a body or frame relative to a body that it is fixed
        to."""
        a, b = self.tree.find_frame(body), self.tree.find_frame(name)
        return snap_rotation_noise(a.R.T @ b.R), a.R.T @ (b.p - a.p)

    # -- elements ------------------------------------------------------------------------

    def write_link_element(self, name: str, inner: str = "") -> None:
        """Write a <link> element with the given content."""
        head = f"  <link name={quoteattr(name)}"
        self.lines.append(f"{head}>\n{inner}\n  </link>" if inner else f"{head}/>")

    def write_joint_element(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        place: tuple[Floats, Floats],
        details: Sequence[str] = (),
    ) -> None:
        """Write a <joint> element between two links, placed at `place` (R, p) in the parent."""
        parent = self.world if parent == GROUND else parent
        lines = [
            f'  <joint name={quoteattr(name)} type="{kind}">',
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(child)}/>",
            f"    {write_urdf_placement(place)}",
            *(f"    {line}" for line in details),
            "  </joint>",
        ]
        self.lines.append("\n".join(lines))

    def write_body(self, name: str) -> None:
        """Write a body as a <link> with its inertia about the centre of mass."""
        place = self.tree.bodies[name]
        own = self.tree.inertias[name].transform(place.R.T, -(place.R.T @ place.p))
        shapes = self.mechanism.bodies[name].shapes
        drawn = [
            line
            for shape in shapes
            if is_urdf_shape(shape)
            for line in urdf_shape_lines(shape, self.values)
        ]
        if float(own.m) == 0 and not np.any(own.I):
            self.write_link_element(name, "\n".join(drawn))
            return
        center = [
            expression_to_float(entry, self.mechanism.values)
            for entry in self.mechanism.bodies[name].center
        ]
        c = np.array(center)
        tensor = own.I - own.m * (c @ c * np.eye(3) - np.outer(c, c))
        moments = {
            f"i{a}{b}": float(tensor["xyz".index(a), "xyz".index(b)])
            for a, b in ("xx", "xy", "xz", "yy", "yz", "zz")
        }
        inner = [
            "    <inertial>",
            f'      <origin xyz="{write_urdf_vector(c)}" rpy="0 0 0"/>',
            f'      <mass value="{write_urdf_number(float(own.m))}"/>',
            f"      <inertia {write_urdf_attributes(moments)}/>",
            "    </inertial>",
            *drawn,
        ]
        self.write_link_element(name, "\n".join(inner))


def _refuse_names_invalid_in_urdf(names: Sequence[str]) -> None:
    """Raise where a name contains a character that XML does not allow."""
    for name in names:
        if _INVALID_XML_CHARACTERS.search(name):
            what = f"the name {name!r} has a character that XML cannot hold"
            raise FileError(what, remedy="rename it")
