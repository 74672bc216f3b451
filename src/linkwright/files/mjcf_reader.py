"""Reader of MJCF through MuJoCo's own compiler (extra `[mjcf]`), so that defaults, includes and
geometry mean the same as in MuJoCo. Coordinates are MuJoCo's `qpos`; velocities follow our own
convention (free joints: angular before linear, both in the child's frame)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileError, MissingExtraError, UnsupportedError
from ..mechanism import JOINT_KINDS, Joint, JointKind, Mechanism
from ..mechanism.coordinates import joint_coordinate_names
from .mjcf_actuators import MjcfActuatorReader, move_actuator_effects_to_joints
from .mjcf_equalities import MjcfEqualityReader
from .mjcf_forces import MjcfSwitches, read_mjcf_switches, refuse_mjcf_forces
from .mjcf_ignored import leave_out_remedy, take_out_ignored_effects
from .mjcf_names import MjcfNames
from .mjcf_placements import (
    MjcfPlacement,
    mjcf_floats,
    rotation_of_mjcf_quaternion,
    site_placement,
)
from .mjcf_poses import MjcfPoseReader
from .mjcf_shapes import MjcfShapes, bodies_weighed_by_mujoco
from .mjcf_tendons import MjcfTendonReader
from .xml_reader import read_xml

if TYPE_CHECKING:
    import mujoco

_MJCF_JOINT_TYPES = ("free", "ball", "slide", "hinge")
"""MJCF's words, in the order of MuJoCo's mjtJoint."""
_UNUSED_MJCF_PARTS = {
    "npair": ("contact pair", "contact pairs"),
    "nexclude": ("contact exclusion", "contact exclusions"),
    "nsensor": ("sensor", "sensors"),
    "ncam": ("camera", "cameras"),
    "nlight": ("light", "lights"),
    "nskin": ("skin", "skins"),
    "nflex": ("flex", "flexes"),
    "nplugin": ("plugin", "plugins"),
    "nmocap": ("mocap body (taken as fixed)", "mocap bodies (taken as fixed)"),
}


def read_mjcf(text: str, path: Path | None = None, ignore: Sequence[str] = ()) -> Mechanism:
    """Return the mechanism in MJCF text; `path` is its file, next to which meshes and includes are
    found, `ignore` has the parts that are left out."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError(
            "MJCF files are read by the package mujoco, which is not installed",
            remedy="pip install 'linkwright[mjcf]'",
        ) from None
    read_xml(text)
    try:
        if path is None:
            model = mujoco.MjModel.from_xml_string(text)
        else:
            model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise FileError(f"MuJoCo refuses it: {' '.join(str(error).split())}") from None
    notes = list(take_out_ignored_effects(model, ignore))
    move_actuator_effects_to_joints(model)
    on = read_mjcf_switches(model, mujoco.mjtDisableBit)
    names = MjcfNames(model, mujoco.mj_id2name, mujoco.mjtObj)
    names.notes += notes
    weighed = bodies_weighed_by_mujoco(text, path, model.nbody)
    reader = _MjcfReader(model, on, names, weighed, ignore)
    refuse_mjcf_forces(model, on, reader.name)
    return reader.read_mechanism()


class _MjcfReader:
    """Converts a compiled model; only this class uses the names of MuJoCo's arrays."""

    def __init__(
        self,
        model: mujoco.MjModel,
        on: MjcfSwitches,
        names: MjcfNames,
        weighed: list[bool],
        ignore: Sequence[str],
    ) -> None:
        self.m, self.ignored = model, ignore
        self.shapes = MjcfShapes(model)
        self.weighed = weighed
        self.switches = on
        self.names = names
        self.bodies: dict[str, dict[str, object]] = {}
        self.joints: dict[str, dict[str, object]] = {}
        self.tendons = MjcfTendonReader(model, on, self.name)
        self.actuators = MjcfActuatorReader(model, self.name, self.tendons.length_name)

    def name(self, kind: str, index: int) -> str:
        """Return the name of an element of the compiled model."""
        return self.names.final_names[kind, index]

    def read_mechanism(self) -> Mechanism:
        """Return the mechanism of the compiled model."""
        for index in range(1, self.m.nbody):
            self.read_body(index)
        lengths = {} if "tendons" in self.ignored else self.tendons.read_tendons()
        found = MjcfEqualityReader(self.m, self.switches, self.names, self.tendons)
        equalities = found.read_equalities()
        has_actuators = "actuators" not in self.ignored
        actuators = dict(self.actuators.read_actuators()) if has_actuators else {}
        loops = {name: x for name, x in equalities.items() if x["type"] in JOINT_KINDS}
        constraints = {name: x for name, x in equalities.items() if name not in loops}
        return Mechanism(
            name=self.m.names.split(b"\0")[0].decode() or "mechanism",
            gravity=mjcf_floats(self.m.opt.gravity) if self.switches.gravity else [0, 0, 0],
            bodies=self.bodies,
            ground_shapes=self.shapes.of_body(0),
            joints=self.joints,
            frames=dict(self.site_frames()),
            loops=loops,
            constraints=constraints,
            constraint_order=tuple(equalities),
            lengths=lengths,
            actuators=actuators,
            poses=dict(MjcfPoseReader(self.m, self.name, self.joints, actuators).read_poses()),
            assembly=dict(self.reference_coordinates()) if loops or constraints else {},
            unused=tuple(self.unused_parts()),
        )

    def read_body(self, index: int) -> None:
        """Add a body and the joints that connect it to its parent."""
        m, name = self.m, self.name("BODY", index)
        moments = dict(zip(("xx", "yy", "zz"), mjcf_floats(m.body_inertia[index]), strict=True))
        moments["quaternion"] = mjcf_floats(m.body_iquat[index])  # type: ignore[assignment]
        self.bodies[name] = {
            "mass": float(m.body_mass[index]),
            "center": mjcf_floats(m.body_ipos[index]),
            "inertia": moments,
            "shapes": self.shapes.of_body(index),
        }
        if m.body_gravcomp[index] and self.switches.has_passive_forces:
            self.bodies[name]["gravity_compensation"] = float(m.body_gravcomp[index])
        if self.weighed[index] and m.body_mass[index]:
            self.bodies[name]["inertia_from"] = "geoms, by MuJoCo's compiler"
        joints = range(m.body_jntadr[index], m.body_jntadr[index] + m.body_jntnum[index])
        parent = self.name("BODY", m.body_parentid[index])
        place: MjcfPlacement = {
            "xyz": mjcf_floats(m.body_pos[index]),
            "quaternion": mjcf_floats(m.body_quat[index]),
        }
        if not len(joints):
            self.joints[self.names.take_new_name("JOINT", f"{name}_fixed")] = {
                "type": "fixed",
                "parent": parent,
                "child": name,
                "origin": place,
            }
        elif len(joints) == 1:
            self.read_joint(joints[0], parent, name, place)
        else:
            self.read_joint_chain(joints, parent, name, place)

    def read_joint_chain(self, joints: range, parent: str, name: str, place: MjcfPlacement) -> None:
        """Add several joints of one body as a chain through bodies without mass."""
        stand = self.names.take_new_name("BODY", f"{name}:stand")
        self.bodies[stand] = {}
        held: dict[str, object] = {
            "type": "fixed",
            "parent": parent,
            "child": stand,
            "origin": place,
        }
        self.joints[self.names.take_new_name("JOINT", stand)] = held
        parent = stand
        for number, joint in enumerate(joints, 1):
            last = number == len(joints)
            child = name if last else self.names.take_new_name("BODY", f"{name}:{number}")
            if not last:
                self.bodies[child] = {}
            self.read_joint(joint, parent, child, {})
            parent = child

    def read_joint(self, index: int, parent: str, child: str, place: MjcfPlacement) -> None:
        """Add a joint with T = place · Trans(anchor) · motion(q − q0) · Trans(−anchor)."""
        m, kind = self.m, self.joint_kind(index)
        fields: dict[str, object] = {"type": kind.name, "parent": parent, "child": child}
        if kind.closure is not None:
            fields["origin"], fields["child_origin"] = self.joint_origins(index, kind, place)
        if kind.has_axis:
            fields["axis"] = mjcf_floats(m.jnt_axis[index])
            limits = self.effort_limit(index)
            if m.jnt_limited[index] and self.switches.limits:
                lower, upper = mjcf_floats(m.jnt_range[index])
                limits |= {"lower": lower, "upper": upper}
            if limits:
                fields["limits"] = limits
        fields |= self.joint_spring(index, kind) | self.joint_losses(index, kind)
        self.joints[self.name("JOINT", index)] = fields

    def effort_limit(self, index: int) -> dict[str, float]:
        """Return the range of the actuators' force at a joint, if it contains 0."""
        low, high = mjcf_floats(self.m.jnt_actfrcrange[index])
        is_limit = self.m.jnt_actfrclimited[index] and self.joint_kind(index).has_axis
        if not is_limit or not low <= 0 <= high or low == high:
            return {}
        return {"effort": high} if -low == high else {"effort": high, "effort_backward": -low}

    def joint_kind(self, index: int) -> JointKind:
        """Return the kind of joint that the type of an MJCF joint stands for."""
        word = _MJCF_JOINT_TYPES[int(self.m.jnt_type[index])]
        return next(kind for kind in JOINT_KINDS.values() if kind.mjcf == word)

    def joint_spring(self, index: int, kind: JointKind) -> dict[str, object]:
        """Return stiffness and rest position of a joint; nothing if it has no spring."""
        if not self.switches.springs:
            return {}
        for array in ("jnt_stiffnesspoly", "jnt_springyield"):
            bent = getattr(self.m, array, None)
            if bent is not None and bent[index].any():
                raise self.joint_refusal(
                    index,
                    "a spring of higher order",
                    leave_out_remedy("give stiffness one number", "nonlinear"),
                )
        stiffness = float(self.m.jnt_stiffness[index])
        if not stiffness:
            return {}
        first = int(self.m.jnt_qposadr[index])
        if kind.has_axis:
            return {"stiffness": stiffness, "rest": float(self.m.qpos_spring[first])}
        freedoms, count = (len(x) for x in (kind.dofs_with(True), kind.coordinates_with(True)))
        rest = mjcf_floats(self.m.qpos_spring[first : first + count])
        return {"stiffness": [stiffness] * freedoms, "rest": rest}

    def joint_losses(self, index: int, kind: JointKind) -> dict[str, object]:
        """Return damping, friction and armature of a joint, in the order of our velocities."""
        first, on = int(self.m.jnt_dofadr[index]), self.switches
        dofs = [first + i for i in _mjcf_velocity_order(kind)]
        bent = getattr(self.m, "dof_dampingpoly", None)
        if on.dampers and bent is not None and bent[dofs].any():
            remedy = leave_out_remedy("give damping one number", "nonlinear")
            raise self.joint_refusal(index, "a damper of higher order", remedy)
        damping = mjcf_floats(self.m.dof_damping[dofs]) if on.dampers else []
        friction = mjcf_floats(self.m.dof_frictionloss[dofs]) if on.friction else []
        armature = mjcf_floats(self.m.dof_armature[dofs])
        if kind.closure is None and any(friction[3:]):
            # along the world's axes there, along the body's here; the rest is the same in both
            remedy = leave_out_remedy("use <freejoint/>, or set it to 0", "friction")
            raise self.joint_refusal(index, "friction loss", remedy)
        losses = {"damping": damping, "friction": friction}
        fields: dict[str, object] = {key: values for key, values in losses.items() if any(values)}
        if kind.closure is None and any(armature[3:]):
            fields["added_mass"], armature[3:] = armature[3], [0.0] * 3
        if any(armature):
            fields["motor"] = {"ratio": [1] * len(dofs), "inertia": armature}
        return fields

    def joint_refusal(self, index: int, what: str, remedy: str) -> UnsupportedError:
        """Return the error for a joint with an effect that has no equivalent here."""
        kind, name = self.joint_kind(index), self.name("JOINT", index)
        return UnsupportedError(f"the {kind.name} joint '{name}' has {what}", remedy=remedy)

    def joint_origins(
        self, index: int, kind: JointKind, place: MjcfPlacement
    ) -> tuple[MjcfPlacement, MjcfPlacement]:
        """Return the joint's frame in the parent and in the child, at MuJoCo's reference
        coordinate."""
        import numpy as np

        m = self.m
        anchor, axis = np.array(m.jnt_pos[index]), np.array(m.jnt_axis[index])
        start = float(m.qpos0[m.jnt_qposadr[index]])
        origin: MjcfPlacement = {"xyz": mjcf_floats(anchor)}
        child_origin: MjcfPlacement = {"xyz": mjcf_floats(anchor)}
        if place:
            rotation = rotation_of_mjcf_quaternion(place["quaternion"])
            position = np.array(place["xyz"]) + rotation @ anchor if any(anchor) else place["xyz"]
            origin = {"xyz": mjcf_floats(position), "quaternion": place["quaternion"]}
        if kind.is_slider:
            child_origin["xyz"] = mjcf_floats(anchor + start * axis)
        elif kind.is_hinge and start:
            half = start / 2
            child_origin["quaternion"] = [float(np.cos(half)), *mjcf_floats(np.sin(half) * axis)]
        return origin, child_origin

    def site_frames(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield the sites as frames, by name."""
        for index in range(self.m.nsite):
            body = self.name("BODY", self.m.site_bodyid[index])
            origin = site_placement(self.m, index)
            yield self.name("SITE", index), {"body": body, "origin": origin}

    def reference_coordinates(self) -> Iterator[tuple[str, float]]:
        """Yield coordinates that are not 0 (1 for qw) in qpos0, where MuJoCo's equalities hold."""
        for index in range(self.m.njnt):
            name = self.name("JOINT", index)
            names = joint_coordinate_names(name, Joint(**self.joints[name]))
            first = int(self.m.jnt_qposadr[index])
            scalar = len(names) - 4  # where a quaternion begins, if there is one
            for offset, coordinate in enumerate(names):
                value = float(self.m.qpos0[first + offset])
                if value != float(offset == scalar):
                    yield coordinate, value

    def unused_parts(self) -> Iterator[str]:
        """Yield one line for each part of the model that has no effect on the equations."""
        for attribute, (one, many) in _UNUSED_MJCF_PARTS.items():
            if count := int(getattr(self.m, attribute, 0)):
                yield f"{count} {one if count == 1 else many}"
        yield from self.shapes.unkept_notes()
        yield from self.switches.switched_off_notes()
        yield from self.names.notes
        yield from self.tendons.notes
        yield from self.actuators.notes
        for index in range(self.m.neq):
            if not self.m.eq_active0[index]:
                yield f"the inactive equality '{self.name('EQUALITY', index)}'"
        for index in range(self.m.njnt):
            name = self.name("JOINT", index)
            if self.m.jnt_limited[index] and not self.joint_kind(index).has_axis:
                yield f"joint {name}: its range"
            if self.m.jnt_actfrclimited[index] and not self.effort_limit(index):
                yield f"joint {name}: the range of its actuators' force"
            if self.has_actuated_compensation(index):
                yield (
                    f"joint {name}: that its actuators exert the gravity compensation (it acts by "
                    "itself here, and no range of efforts counts it)"
                )

    def has_actuated_compensation(self, index: int) -> bool:
        """Return whether MuJoCo counts gravity compensation among the efforts at a joint."""
        on = self.switches.has_passive_forces and bool(self.m.body_gravcomp.any())
        return on and bool(self.m.jnt_actgravcomp[index])


def _mjcf_velocity_order(kind: JointKind) -> list[int]:
    """Return the indices of our joint velocities among MuJoCo's, in which slides come before
    turns."""
    turns = [freedom.is_rotation for freedom in kind.dofs_with(quaternion=True)]
    theirs = sorted(range(len(turns)), key=turns.__getitem__)
    return [theirs.index(k) for k in range(len(turns))]
