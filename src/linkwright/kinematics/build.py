"""From a mechanism to its kinematic tree."""

from __future__ import annotations

from dataclasses import replace

from ..algebra.linear import (
    IDENTITY,
    ZERO3,
    Array,
    Scalar,
    matrix,
    symmetric,
    vector,
    without_dust,
)
from ..algebra.rotations import constant_quaternion_rotation, rotation_z
from ..algebra.spatial import NO_INERTIA, Inertia, inertia_about_origin
from ..mechanism import GROUND as GROUND_NAME
from ..mechanism import Body, Joint, Mechanism, dotted, names_of
from .coordinates import symbols_of
from .elements import chosen_coordinates, loads_of, moving_names
from .joints import Step, steps
from .placements import alignment, motion_frame, placement_of, rotation_of, vector_of
from .restraints import restraints_of
from .tree import GROUND, Effects, Follower, JointSpan, Link, Mass, Placed, Restraints, Tree
from .values import Parameters, Values


def build_tree(mechanism: Mechanism, parameters: Parameters = "numeric") -> Tree:
    """The tree of a mechanism, with the restraints of its loops and constraints."""
    tree = _Builder(mechanism, Values(mechanism, parameters)).tree()
    ties = tuple(tie.with_side(tree) for tie in tree.restraints.ties)
    return replace(tree, restraints=Restraints(ties))


class _Builder:
    def __init__(self, mechanism: Mechanism, values: Values) -> None:
        self.mechanism = mechanism
        self.values = values
        self.links: list[Link] = []
        self.bodies: dict[str, Placed] = {GROUND_NAME: Placed(GROUND, IDENTITY, ZERO3)}
        self.joints: list[JointSpan] = []
        self.effects: list[Effects] = []
        self.leaders: dict[str, int] = {}
        self.tree_q = 0

    def tree(self) -> Tree:
        for name, joint in self.mechanism.joints_depth_first():
            self.add_joint(name, joint)
        masses = {name: self.mass(name, body) for name, body in self.mechanism.bodies.items()}
        inertias = {name: inertia_about_origin(b.m, b.c, b.I) for name, b in masses.items()}
        self.add_inertias(inertias)
        self.values.at("gravity")
        gravity = vector_of(self.values, self.mechanism.gravity, ("gx", "gy", "gz"))
        frames = {name: self.frame(name) for name in self.mechanism.frames}
        followers = self.followers()
        names = names_of(self.mechanism)
        motion = symbols_of(names)
        transfer = chosen_coordinates(self.mechanism, self.values, motion)
        scope = moving_names(self.mechanism, motion, transfer)
        loads = loads_of(self.mechanism, self.values, scope, self.speed_indices())
        restraints = restraints_of(self.mechanism, self.values, scope, self.bodies)
        self.values.finish()
        return Tree(
            mechanism=self.mechanism,
            links=tuple(self.links),
            bodies=self.bodies,
            frames=frames,
            inertias=inertias,
            masses=masses,
            joints=tuple(self.joints),
            effects=tuple(self.effects),
            followers=followers,
            names=names,
            gravity=gravity,
            motion=motion,
            transfer=transfer,
            loads=loads,
            restraints=restraints,
            symbols=self.values.symbols,
            symbol_values=self.values.symbol_values,
            literals=self.values.literals,
        )

    # -- joints --------------------------------------------------------------------------

    def add_joint(self, name: str, joint: Joint) -> None:
        self.values.at(f"joints.{name}")
        parent = self.bodies[joint.parent]
        R, p = placement_of(self.values, joint.origin, name)
        here = Placed(parent.link, without_dust(parent.R @ R), parent.p + parent.R @ p)
        frame, first = here, len(self.links)
        axes = motion_frame(self.values, joint, name)
        here = replace(here, R=without_dust(here.R @ axes))
        if joint.locked is not None:
            here = self.hold(name, joint, here)
        else:
            for number, step in enumerate(steps(joint)):
                here = self.add_step(name, joint, number, step, here)
        R_child, p_child = placement_of(self.values, joint.child_origin, f"{name}_child")
        R = without_dust(here.R @ axes.T @ R_child.T)
        self.bodies[joint.child] = Placed(here.link, R, here.p - R @ p_child)
        self.joints.append(JointSpan(name, tuple(range(first, len(self.links))), frame))

    def add_step(self, name: str, joint: Joint, number: int, step: Step, here: Placed) -> Placed:
        A = self.alignment(name, joint, step)
        pitch = self.values.scalar(joint.pitch, f"lead_{name}") if joint.pitch is not None else 0.0
        self.links.append(
            Link(
                parent=here.link,
                R=without_dust(here.R @ A),
                p=here.p,
                kind=step.kind,
                pitch=pitch,
                q=self.tree_q,
                v=len(self.effects),
                inertia=NO_INERTIA,
            )
        )
        self.leaders.setdefault(name, len(self.effects))
        self.tree_q += step.kind.coordinates
        for freedom in range(number, number + step.kind.speeds):
            self.effects.append(self.effects_of(name, joint, freedom))
        return Placed(len(self.links) - 1, A.T, ZERO3)

    def alignment(self, name: str, joint: Joint, step: Step) -> Array:
        if step.axis is None:
            return IDENTITY
        key = "axis" if step.axis is joint.axis else "axis2"
        return alignment(self.values, step.axis, name, key)

    def hold(self, name: str, joint: Joint, here: Placed) -> Placed:
        """The constant placement of a locked joint."""
        held = joint.each(joint.locked)
        for number, step in enumerate(steps(joint)):
            A = self.alignment(name, joint, step)
            if step.kind.has_quaternion:
                endings = [f"{ending}_{name}" for ending in joint.coordinates]
                entries = [self.values.scalar(e, n) for e, n in zip(held, endings, strict=True)]
                position = vector(*entries[:-4]) if step.kind.has_position else ZERO3
                here = replace(here, p=here.p + here.R @ position)
                turned = without_dust(here.R @ constant_quaternion_rotation(entries[-4:]))
                return replace(here, R=turned)
            value, held = held[0], held[1:]
            R, slide = IDENTITY, 0.0
            label = f"q_{dotted(name, joint.coordinates[number])}".replace(".", "_")
            if step.kind.turns_about_axis:
                R = rotation_z(self.values.cosine_sine(value, label))
            if step.kind.slides_along_axis:
                slide = self.values.scalar(value, label)
            if step.kind.turns_about_axis and joint.pitch is not None:
                slide = slide * self.values.scalar(joint.pitch, f"lead_{name}")
            p = here.p + here.R @ A @ vector(0.0, 0.0, slide)
            here = Placed(here.link, without_dust(here.R @ A @ R @ A.T), p)
        return here

    def effects_of(self, name: str, joint: Joint, freedom: int) -> Effects:
        suffix = dotted(name, joint.freedoms[freedom].ending).replace(".", "_")

        def scalar(field: object, symbol: str) -> Scalar:
            return self.values.scalar(joint.each(field)[freedom], f"{symbol}_{suffix}")

        rotor: Scalar = 0.0
        if joint.motor is not None:
            ratio = scalar(joint.motor.ratio, "G")
            rotor = ratio * ratio * scalar(joint.motor.inertia, "J")
        return Effects(
            damping=scalar(joint.damping, "d"),
            friction=scalar(joint.friction, "F"),
            smoothing=scalar(joint.smoothing, "vs"),
            stiffness=0.0 if joint.by_quaternion else scalar(joint.stiffness, "k"),
            rest=0.0 if joint.by_quaternion else scalar(joint.rest, "q0"),
            rotor=rotor,
        )

    def speed_indices(self) -> dict[str, int]:
        """Freedoms by name, and where they stand among the tree's speeds."""
        return {
            dotted(name, freedom.ending): self.leaders[name] + k
            for name, joint in self.mechanism.joints.items()
            if joint.moves
            for k, freedom in enumerate(joint.freedoms)
        }

    def followers(self) -> dict[int, Follower]:
        """Followers of followers follow the first leader: gains multiply, offsets add up."""
        found: dict[int, Follower] = {}
        own: list[int] = []
        for name, joint in self.mechanism.joints_depth_first():
            if joint.moves:
                first = self.leaders[name]
                own += range(first, first + len(joint.freedoms))
        for name, joint in self.mechanism.joints.items():
            if joint.mimic is None:
                continue
            self.values.at("mimicry")
            gain: Scalar = 1.0
            offset: Scalar = 0.0
            leader, follower = name, joint
            while follower.mimic is not None:
                mimic = follower.mimic
                offset = offset + gain * self.values.scalar(mimic.offset, f"offset_{leader}")
                gain = gain * self.values.scalar(mimic.multiplier, f"gain_{leader}")
                leader, follower = mimic.joint, self.mechanism.joints[mimic.joint]
            found[self.leaders[name]] = Follower(own.index(self.leaders[leader]), gain, offset)
        return found

    # -- bodies --------------------------------------------------------------------------

    def add_inertias(self, inertias: dict[str, Inertia]) -> None:
        for name, inertia in inertias.items():
            index = self.bodies[name].link
            if index != GROUND:
                link = self.links[index]
                self.links[index] = replace(link, inertia=link.inertia + inertia)

    def mass(self, name: str, body: Body) -> Mass:
        """A body's mass, mass centre and tensor, in its link's frame."""
        self.values.at(f"bodies.{name}")
        scalar, tensor = self.values.scalar, body.inertia
        xx, yy, zz, xy, xz, yz = (
            scalar(getattr(tensor, c), f"I{c}_{name}") for c in ("xx", "yy", "zz", "xy", "xz", "yz")
        )
        R = rotation_of(self.values, tensor, f"inertia_{name}")
        tensor_c = R @ matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        center = vector_of(self.values, body.center, [f"c{c}_{name}" for c in "xyz"])
        place = self.bodies[name]
        turned = symmetric(place.R @ tensor_c @ place.R.T)
        mass = scalar(body.mass, f"m_{name}")
        return Mass(place.link, mass, place.p + place.R @ center, turned)

    def frame(self, name: str) -> Placed:
        self.values.at(f"frames.{name}")
        frame = self.mechanism.frames[name]
        body = self.bodies[frame.body]
        R, p = placement_of(self.values, frame.origin, name)
        return Placed(body.link, without_dust(body.R @ R), body.p + body.R @ p)
