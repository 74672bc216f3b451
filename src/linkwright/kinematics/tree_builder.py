"""Construction of a mechanism's kinematic tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ..algebra.linear_algebra import (
    IDENTITY,
    ZERO3,
    Array,
    Scalar,
    column_vector,
    matrix_from_rows,
    snap_rotation_noise,
    symmetric_from_upper,
)
from ..algebra.rotations import constant_quaternion_rotation, rotation_z
from ..algebra.spatial import ZERO_INERTIA, SpatialInertia, inertia_about_origin
from ..expressions import ZERO
from ..mechanism import GROUND as GROUND_NAME
from ..mechanism import Body, Joint, Mechanism, joint_coordinate_name, mechanism_names
from ..mechanism.joints import PerDof
from .elementary_motions import ElementaryLinkMotion, elementary_link_motions
from .joint_friction import FrictionLaw
from .kinematic_tree import (
    GROUND,
    BodyMass,
    JointEffects,
    JointLinks,
    KinematicTree,
    LinkFrame,
    MimicFollower,
    Restraints,
    TreeLink,
)
from .motion_expressions import (
    chosen_coordinate_transfer,
    kinematic_symbol_scope,
    read_generalized_speeds,
    read_tree_forces,
)
from .parameter_values import KinematicParameters, ParameterSelection
from .placement_values import (
    joint_axis_alignment,
    joint_motion_axes,
    read_frame_placement,
    read_frame_rotation,
    read_joint_placements,
    read_kinematic_vector,
)
from .restraints import read_restraints
from .tree_coordinates import make_kinematic_symbols
from .tree_lengths import length_symbol_scope, read_tree_lengths

MAX_KEPT_TREES = 16
"""Trees that are kept, the most recent ones: formulations, models and drawings of one mechanism
build the same."""

_BUILDS_AFRESH = ContextVar("_BUILDS_AFRESH", default=False)


def build_kinematic_tree(
    mechanism: Mechanism, parameters: ParameterSelection = "numeric"
) -> KinematicTree:
    """Return the kinematic tree of a mechanism, with the restraints of its loops and constraints.

    Trees do not change, and so the most recent ones are kept.
    """
    kept = parameters if isinstance(parameters, str) else tuple(parameters)
    if _BUILDS_AFRESH.get() or not all(isinstance(name, str) for name in kept):
        return _build_restrained_tree(mechanism, parameters)
    tree = _build_tree_once(_TreeKey(mechanism.digest, mechanism), kept)
    return tree if tree.mechanism is mechanism else replace(tree, mechanism=mechanism)


@contextmanager
def trees_built_afresh() -> Iterator[None]:
    """Build all kinematic trees again in a block or a function; timings use this."""
    token = _BUILDS_AFRESH.set(True)
    try:
        yield
    finally:
        _BUILDS_AFRESH.reset(token)


@dataclass(frozen=True)
class _TreeKey:
    """The cache key of a mechanism's tree: its digest."""

    digest: str
    mechanism: Mechanism = field(compare=False)


@lru_cache(maxsize=MAX_KEPT_TREES)
def _build_tree_once(subject: _TreeKey, parameters: ParameterSelection) -> KinematicTree:
    """Return the kinematic tree of the mechanism behind a cache key."""
    return _build_restrained_tree(subject.mechanism, parameters)


def _build_restrained_tree(mechanism: Mechanism, parameters: ParameterSelection) -> KinematicTree:
    """Return a new kinematic tree, each of whose restraints has chosen its side."""
    tree = _KinematicTreeBuilder(mechanism, KinematicParameters(mechanism, parameters)).build()
    ties = tuple(tie.choose_side(tree) for tie in tree.restraints.entries)
    return replace(tree, restraints=Restraints(ties))


class _KinematicTreeBuilder:
    """Builds a kinematic tree joint by joint, from ground outward."""

    def __init__(self, mechanism: Mechanism, values: KinematicParameters) -> None:
        self.mechanism = mechanism
        self.values = values
        self.links: list[TreeLink] = []
        self.bodies: dict[str, LinkFrame] = {GROUND_NAME: LinkFrame(GROUND, IDENTITY, ZERO3)}
        self.joints: list[JointLinks] = []
        self.effects: list[JointEffects] = []
        self.velocity_of_coordinate: dict[str, int] = {}
        self.tree_nq = 0

    def build(self) -> KinematicTree:
        """Return the tree of all joints, bodies, frames, forces and restraints."""
        for name, joint in self.mechanism.joints_depth_first():
            self.add_joint(name, joint)
        masses = {
            name: self.read_body_mass(name, body) for name, body in self.mechanism.bodies.items()
        }
        inertias = {name: inertia_about_origin(b.m, b.c, b.I) for name, b in masses.items()}
        self.add_link_inertias(inertias)
        self.values.enter_place("gravity")
        gravity = self.read_gravity()
        frames = {name: self.place_frame(name) for name in self.mechanism.frames}
        followers = self.resolve_followers()
        names = mechanism_names(self.mechanism)
        motion = make_kinematic_symbols(names)
        transfer = chosen_coordinate_transfer(self.mechanism, self.values, motion)
        tree = KinematicTree(
            mechanism=self.mechanism,
            links=tuple(self.links),
            bodies=self.bodies,
            frames=frames,
            inertias=inertias,
            masses=masses,
            joints=tuple(self.joints),
            joint_effects=tuple(self.effects),
            followers=followers,
            names=names,
            gravity=gravity,
            motion=motion,
            transfer=transfer,
        )
        return self.add_expressions(tree)

    def add_expressions(self, tree: KinematicTree) -> KinematicTree:
        """Return the tree with lengths, forces, restraints and generalized speeds, which are
        expressions of its motion, and with the symbols of all parameters."""
        mechanism, values = self.mechanism, self.values
        tree = replace(tree, lengths=read_tree_lengths(tree, values))
        scope = kinematic_symbol_scope(mechanism, tree.motion, tree.transfer)
        scope |= length_symbol_scope(tree)
        loads = read_tree_forces(tree, values, scope)
        restraints = read_restraints(tree, values, scope)
        speeds = read_generalized_speeds(mechanism, values, scope)
        values.order_symbols()
        return replace(
            tree,
            forces=loads,
            restraints=restraints,
            speeds=speeds,
            symbols=values.symbols,
            symbol_values=values.symbol_values,
            literals=values.literals,
        )

    def read_gravity(self) -> Array:
        """Return the vector of gravity; g is its magnitude where it has one component only."""
        entries, values = self.mechanism.gravity, self.values
        numbers = [values.read_number(entry) for entry in entries]
        names = ["gx", "gy", "gz"]
        if numbers.count(0.0) == 2:
            names = ["g" if number else name for name, number in zip(names, numbers, strict=True)]
        return column_vector(
            *(
                (values.read_opposite_scalar if number < 0 else values.read_scalar)(entry, name)
                for entry, name, number in zip(entries, names, numbers, strict=True)
            )
        )

    # -- joints --------------------------------------------------------------------------

    def add_joint(self, name: str, joint: Joint) -> None:
        """Add the links of a joint, and place its child body."""
        self.values.enter_place(f"joints.{name}")
        parent = self.bodies[joint.parent]
        (R, p), (R_child, p_child) = read_joint_placements(self.values, name, joint)
        here = LinkFrame(parent.link, snap_rotation_noise(parent.R @ R), parent.p + parent.R @ p)
        frame, first = here, len(self.links)
        axes = joint_motion_axes(self.values, joint, name)
        here = replace(here, R=snap_rotation_noise(here.R @ axes))
        if joint.locked is not None:
            here = self.lock_joint(name, joint, here)
        else:
            for number, step in enumerate(elementary_link_motions(joint)):
                here = self.add_link(name, joint, number, step, here)
        R = snap_rotation_noise(here.R @ axes.T @ R_child.T)
        self.bodies[joint.child] = LinkFrame(here.link, R, here.p - R @ p_child)
        self.joints.append(JointLinks(name, tuple(range(first, len(self.links))), frame))

    def add_link(
        self, name: str, joint: Joint, number: int, step: ElementaryLinkMotion, here: LinkFrame
    ) -> LinkFrame:
        """Add the link of one elementary motion and return the joint's frame after it."""
        A = self.axis_rotation(name, joint, step)
        pitch = (
            self.values.read_scalar(joint.pitch, f"lead_{name}") if joint.pitch is not None else 0.0
        )
        self.links.append(
            TreeLink(
                parent=here.link,
                R=snap_rotation_noise(here.R @ A),
                p=here.p,
                kind=step.kind,
                pitch=pitch,
                q=self.tree_nq,
                v=len(self.effects),
                inertia=ZERO_INERTIA,
            )
        )
        self.velocity_of_coordinate.setdefault(name, len(self.effects))
        self.tree_nq += step.kind.coordinate_count
        for freedom in range(number, number + step.kind.velocity_count):
            self.effects.append(self.read_joint_effects(name, joint, freedom))
        return LinkFrame(len(self.links) - 1, A.T, ZERO3)

    def axis_rotation(self, name: str, joint: Joint, step: ElementaryLinkMotion) -> Array:
        """Return the rotation whose z axis is the axis of a motion; the identity for balls and free
        bodies."""
        if step.axis is None:
            return IDENTITY
        key = "axis" if step.axis is joint.axis else "axis2"
        return joint_axis_alignment(self.values, step.axis, name, key)

    def lock_joint(self, name: str, joint: Joint, here: LinkFrame) -> LinkFrame:
        """Return the joint's frame after the constant displacement of a locked joint."""
        assert joint.locked is not None
        held = joint.each(joint.locked)
        for number, step in enumerate(elementary_link_motions(joint)):
            A = self.axis_rotation(name, joint, step)
            if step.kind.has_quaternion:
                endings = [f"{ending}_{name}" for ending in joint.coordinates]
                entries = [
                    self.values.read_scalar(e, n) for e, n in zip(held, endings, strict=True)
                ]
                position = column_vector(*entries[:-4]) if step.kind.has_position else ZERO3
                here = replace(here, p=here.p + here.R @ position)
                turned = snap_rotation_noise(here.R @ constant_quaternion_rotation(entries[-4:]))
                return replace(here, R=turned)
            value, held = held[0], held[1:]
            R, slide = IDENTITY, 0.0
            label = f"q_{joint_coordinate_name(name, joint.coordinates[number])}".replace(".", "_")
            if step.kind.turns_about_axis:
                R = rotation_z(self.values.cosine_sine(value, label))
            if step.kind.slides_along_axis:
                slide = self.values.read_scalar(value, label)
            if step.kind.turns_about_axis and joint.pitch is not None:
                slide = slide * self.values.read_scalar(joint.pitch, f"lead_{name}")
            p = here.p + here.R @ A @ column_vector(0.0, 0.0, slide)
            here = LinkFrame(here.link, snap_rotation_noise(here.R @ A @ R @ A.T), p)
        return here

    def read_joint_effects(self, name: str, joint: Joint, freedom: int) -> JointEffects:
        """Return damping, friction, spring and rotor of one degree of freedom."""
        suffix = joint_coordinate_name(name, joint.dofs[freedom].ending).replace(".", "_")

        def joint_effect(field: PerDof, symbol: str) -> Scalar:
            return self.values.read_scalar(joint.each(field)[freedom], f"{symbol}_{suffix}")

        rotor: Scalar = 0.0
        if joint.motor is not None:
            ratio = self.values.read_ratio(joint.each(joint.motor.ratio)[freedom], f"G_{suffix}")
            rotor = ratio * ratio * joint_effect(joint.motor.inertia, "J")
        if joint.added_mass != ZERO and not joint.dofs[freedom].is_rotation:
            rotor = rotor + self.values.read_scalar(joint.added_mass, f"ma_{name}")
        return JointEffects(
            damping=joint_effect(joint.damping, "d"),
            friction=self.read_friction(joint, freedom, joint_effect),
            stiffness=0.0 if joint.by_quaternion else joint_effect(joint.stiffness, "k"),
            rest_position=0.0 if joint.by_quaternion else joint_effect(joint.rest, "q0"),
            rotor_inertia=rotor,
        )

    def read_friction(
        self, joint: Joint, freedom: int, read: Callable[[PerDof, str], Scalar]
    ) -> FrictionLaw:
        """Return the dry friction of one degree of freedom; `read` returns one of its numbers."""
        backward = joint.friction_backward
        has_stribeck = self.values.read_number(joint.each(joint.stribeck)[freedom]) != 0
        return FrictionLaw(
            read(joint.friction, "F"),
            None if backward is None else read(backward, "Fb"),
            read(joint.smoothing, "vs"),
            read(joint.stribeck, "vst") if has_stribeck else 0.0,
            read(joint.static_ratio, "r") if has_stribeck else 1.0,
        )

    def resolve_followers(self) -> dict[int, MimicFollower]:
        """Return the followers with their first leaders: gains along a chain multiply, offsets add
        up."""
        found: dict[int, MimicFollower] = {}
        own: list[int] = []
        for name, joint in self.mechanism.joints_depth_first():
            if joint.moves:
                first = self.velocity_of_coordinate[name]
                own += range(first, first + len(joint.dofs))
        for name, joint in self.mechanism.joints.items():
            if joint.mimic is None:
                continue
            self.values.enter_place("mimicry")
            gain: Scalar = 1.0
            offset: Scalar = 0.0
            leader, follower = name, joint
            while follower.mimic is not None:
                mimic = follower.mimic
                offset = offset + gain * self.values.read_scalar(mimic.offset, f"offset_{leader}")
                gain = gain * self.values.read_ratio(mimic.multiplier, f"gain_{leader}")
                leader, follower = mimic.joint, self.mechanism.joints[mimic.joint]
            found[self.velocity_of_coordinate[name]] = MimicFollower(
                own.index(self.velocity_of_coordinate[leader]), gain, offset
            )
        return found

    # -- bodies --------------------------------------------------------------------------

    def add_link_inertias(self, inertias: dict[str, SpatialInertia]) -> None:
        """Add the inertias of the bodies to their links."""
        for name, inertia in inertias.items():
            index = self.bodies[name].link
            if index != GROUND:
                link = self.links[index]
                self.links[index] = replace(link, inertia=link.inertia + inertia)

    def read_body_mass(self, name: str, body: Body) -> BodyMass:
        """Return a body's mass, centre of mass and inertia tensor, in its link's frame."""
        self.values.enter_place(f"bodies.{name}")
        scalar, tensor = self.values.read_scalar, body.inertia
        xx, yy, zz, xy, xz, yz = (
            scalar(getattr(tensor, c), self.values.names.body_symbol(f"I{c}", name))
            for c in ("xx", "yy", "zz", "xy", "xz", "yz")
        )
        R = read_frame_rotation(self.values, tensor, f"inertia_{name}")
        tensor_c = R @ matrix_from_rows([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        symbols = [self.values.names.body_symbol(f"c{c}", name) for c in "xyz"]
        center = read_kinematic_vector(self.values, body.center, symbols)
        place = self.bodies[name]
        turned = symmetric_from_upper(place.R @ tensor_c @ place.R.T)
        mass = scalar(body.mass, self.values.names.body_symbol("m", name))
        return BodyMass(place.link, mass, place.p + place.R @ center, turned)

    def place_frame(self, name: str) -> LinkFrame:
        """Return the placement of a named frame in the link that carries it."""
        self.values.enter_place(f"frames.{name}")
        frame = self.mechanism.frames[name]
        body = self.bodies[frame.body]
        R, p = read_frame_placement(self.values, frame.origin, name)
        return LinkFrame(body.link, snap_rotation_noise(body.R @ R), body.p + body.R @ p)
