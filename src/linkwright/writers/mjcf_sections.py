"""Sections of MJCF beside its bodies: equalities, tendons and keyframes; sites that these need."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..algebra.quaternion_steps import rotation_of_quaternion_vector
from ..expressions import ZERO, Expression, expression_to_float
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.placement_values import read_frame_placement
from ..kinematics.tree_coordinates import spread_coordinates, spread_velocities
from ..mechanism import Joint, pose_numbers
from ..mechanism.lengths import Length
from .mjcf_actuators_writer import MjcfActuatorWriter
from .mjcf_constraints_writer import MjcfConstraintWriter
from .mjcf_elements import add_mjcf_element
from .mjcf_geometry import MjcfGeometry, MjcfPose
from .mjcf_joints import UNLIMITED
from .mjcf_tendon_paths import names_of_bare_branches, read_tendon_paths


class MjcfSectionWriter:
    """Writes equalities, tendons, actuators and keyframes, and notes what MJCF cannot hold."""

    def __init__(self, geometry: MjcfGeometry) -> None:
        self.geometry, self.mechanism = geometry, geometry.mechanism
        self.lost: list[str] = []
        self.actuators = MjcfActuatorWriter(geometry)
        self.sites: dict[str, tuple[str, MjcfPose]] = {}
        """Sites that are not frames, by name: the body, and the pose in the world."""
        for name, loop in self.mechanism.loops.items():
            self.add_loop_sites(name, loop)
        for length in self.mechanism.lengths.values():
            for point in length.path:
                self.site_name(point)
        self.constraints = MjcfConstraintWriter(geometry, self.site_name)
        for actuator in self.mechanism.actuators.values():
            if actuator.frame is not None:
                self.site_name(actuator.frame)

    @property
    def named_bodies(self) -> set[str]:
        """The bodies on which there are sites."""
        frames = {frame.body for frame in self.mechanism.frames.values()}
        return frames | {body for body, _ in self.sites.values()}

    def sites_of(self, body: str) -> Iterator[tuple[str, MjcfPose]]:
        """Yield the sites on a body that are not frames."""
        for name, (owner, pose) in self.sites.items():
            if owner == body:
                yield name, pose

    def site_name(self, point: str) -> str:
        """Return the site of a frame, or a new one at the origin of a body."""
        if point in self.mechanism.frames:
            return point
        name = f"{point}:origin"
        self.sites[name] = point, self.geometry.own_pose(point)
        return name

    def number(self, expression: Expression) -> float:
        """Return a number of the mechanism."""
        return expression_to_float(expression, self.mechanism.values)

    def write_sections(self, root: ET.Element) -> None:
        """Add all sections that are not empty."""
        for tag, write in (
            ("tendon", self.write_tendons),
            ("equality", self.write_equalities),
            ("actuator", self.write_actuators),
            ("keyframe", self.write_keyframes),
        ):
            section = ET.Element(tag)
            write(section)
            if len(section):
                root.append(section)
        self.lost += self.actuators.lost

    # -- equalities ------------------------------------------------------------------------------

    def add_loop_sites(self, name: str, loop: Joint) -> None:
        """Add the sites of a loop's joint in both bodies, two where its axis matters."""
        values = KinematicParameters(self.mechanism, "numeric")
        values.enter_place(f"loops.{name}")
        places = (loop.origin, loop.child_origin)
        placements = [read_frame_placement(values, place, name) for place in places]
        for body, (R, p), side in (
            (loop.parent, placements[0], "parent"),
            (loop.child, placements[1], "child"),
        ):
            own = self.geometry.own_pose(body)
            turn, shift = (np.array(ca.evalf(ca.SX(x)), dtype=float) for x in (R, p))
            pose = MjcfPose(own.R @ turn, own.p + own.R @ shift.ravel())
            self.sites[f"{name}:{side}"] = body, pose
            if loop.kind.is_hinge:
                axis = np.array([self.number(x) for x in loop.axis])
                beyond = pose.p + pose.R @ (axis / np.linalg.norm(axis))
                self.sites[f"{name}:{side}2"] = body, MjcfPose(pose.R, beyond)

    def write_equalities(self, section: ET.Element) -> None:
        """Add loops, couplings and mimicry."""
        for name, part in self.mechanism.loops_and_constraints().items():
            if isinstance(part, Joint):
                self.write_loop(section, name, part)
            elif not self.constraints.write_constraint(section, name, part):
                self.lost.append(f"constraint {name}, which is {_with_article(part.type)}")
        tree = self.geometry.tree
        for index, follower in tree.followers.items():
            add_mjcf_element(
                section,
                "joint",
                name=f"{self.follower_name(index)}:mimic",
                joint1=self.follower_name(index),
                joint2=tree.names.qd[follower.leader],
                polycoef=[0.0, float(follower.gain), 0.0, 0.0, 0.0],
            )
            self.lost.append(
                f"joint {self.follower_name(index)}: that it has no coordinate (an equality "
                "holds it)"
            )

    def follower_name(self, velocity: int) -> str:
        """Return the joint with one degree of freedom that has a velocity of the tree."""
        tree = self.geometry.tree
        spans = (s for s in tree.joints for k in s.links if tree.links[k].v == velocity)
        return next(spans).name

    def write_loop(self, section: ET.Element, name: str, loop: Joint) -> None:
        """Add a loop as connects or a weld; a hinge is two connects on its axis."""
        tag = loop.kind.mjcf_equality or ("connect" if loop.kind.is_hinge else None)
        if tag is None:
            self.lost.append(f"loop {name}: its joint is {loop.type}, which no equality closes")
            return
        for end in ("", "2") if loop.kind.is_hinge else ("",):
            add_mjcf_element(
                section,
                tag,
                name=f"{name}{':2' if end else ''}",
                site1=f"{name}:parent{end}",
                site2=f"{name}:child{end}",
            )

    # -- tendons ---------------------------------------------------------------------------------

    def write_tendons(self, section: ET.Element) -> None:
        """Add the lengths that are paths, add up paths or combine coordinates."""
        branches = names_of_bare_branches(self.mechanism)
        for name, length in self.mechanism.lengths.items():
            if name in branches:
                continue
            read = read_tendon_paths(self.mechanism, length)
            if not read.is_tendon:
                self.lost.append(f"length {name}, which no tendon of MJCF has")
                continue
            if length.force is not None or length.energy is not None:
                self.lost.append(f"length {name}: its own law of force")
            if length.armature != ZERO and self.couples_branches(read.factors):
                self.lost.append(
                    f"length {name}: its armature between joints of different branches, which "
                    "MuJoCo leaves out"
                )
            tag = "spatial" if read.paths else "fixed"
            tendon = add_mjcf_element(section, tag, name=name, **self.tendon_effects(name, length))
            for number, (factor, path) in enumerate(read.paths):
                if number or factor != 1:
                    add_mjcf_element(tendon, "pulley", divisor=1 / factor)
                for point in path:
                    add_mjcf_element(tendon, "site", site=self.site_name(point))
            for coordinate, share in read.factors.items():
                add_mjcf_element(tendon, "joint", joint=coordinate, coef=share)
        self.constraints.write_tendons(section)
        self.actuators.write_tendons(section)

    def couples_branches(self, coordinates: Iterable[str]) -> bool:
        """Return whether one of the joints of two coordinates does not carry the other."""
        tree = self.geometry.tree
        by_velocity = {link.v: number for number, link in enumerate(tree.links)}
        velocities = tree.dof_indices()
        links = [by_velocity[velocities[name]] for name in coordinates]
        chains = {link: set(tree.path_to_ground(link)) for link in links}
        return any(
            a not in chains[b] and b not in chains[a] for a, b in itertools.combinations(chains, 2)
        )

    def tendon_effects(self, name: str, length: Length) -> dict[str, object]:
        """Return spring, damper, friction, armature and limits of a length."""
        numbers = {
            "stiffness": length.stiffness,
            "damping": length.damping,
            "frictionloss": length.friction,
            "armature": length.armature,
        }
        found: dict[str, object] = {k: self.number(x) for k, x in numbers.items() if self.number(x)}
        if "stiffness" in found:
            found["springlength"] = [self.number(x) for x in length.rest_range]
        ends = [
            default if end is None else self.number(end)
            for end, default in (
                (length.limits.lower, -UNLIMITED),
                (length.limits.upper, UNLIMITED),
            )
        ]
        if ends[0] == ends[1]:
            self.lost.append(f"length {name}: its limits, which have no range between them")
        elif ends != [-UNLIMITED, UNLIMITED]:
            found |= {"limited": "true", "range": ends}
        return found

    def write_actuators(self, section: ET.Element) -> None:
        """Add the actuators."""
        self.actuators.write_actuators(section, self.site_name)

    # -- keyframes -------------------------------------------------------------------------------

    def write_keyframes(self, section: ET.Element) -> None:
        """Add the poses."""
        actuators = self.mechanism.actuators
        with_state = [name for name, one in actuators.items() if one.activation is not None]
        for name in self.mechanism.poses:
            q, qd = (
                self.filled(pose_numbers(self.mechanism, name, key), names, key)
                for key, names in (
                    ("q", self.geometry.tree.names.q),
                    ("qd", self.geometry.tree.names.qd),
                )
            )
            controls = pose_numbers(self.mechanism, name, "controls")
            states = pose_numbers(self.mechanism, name, "activations")
            written = {
                "qpos": _numbers(spread_coordinates(self.geometry.tree, ca.SX(ca.DM(q)))),
                "qvel": self.velocities_in_mjcf(q, qd),
                "ctrl": [controls.get(n, 0.0) for n in self.actuators.written],
                "act": [states.get(n, 0.0) for n in with_state if n in self.actuators.written],
            }
            add_mjcf_element(
                section, "key", name=name, **{k: x for k, x in written.items() if len(x)}
            )

    def filled(self, given: dict[str, float], names: Sequence[str], key: str) -> list[float]:
        """Return all values in their order: those given, 0, or 1 for the w of a quaternion."""
        return [given.get(n, float(key == "q" and n.endswith(".qw"))) for n in names]

    def velocities_in_mjcf(self, q: list[float], qd: list[float]) -> list[float]:
        """Return velocities in MuJoCo's order: of a free joint v in the world's axes, then ω."""
        tree = self.geometry.tree
        full = _numbers(spread_velocities(tree, ca.SX(ca.DM(qd))))
        place = _numbers(spread_coordinates(tree, ca.SX(ca.DM(q))))
        found: list[float] = []
        for link in tree.links:
            own = full[link.v : link.v + link.kind.velocity_count]
            if link.kind.has_position:
                turn = ca.SX(ca.DM(place[link.q + 3 : link.q + 7]))
                R = np.array(ca.evalf(rotation_of_quaternion_vector(turn)), dtype=float)
                own = [*(R @ np.array(own[3:])).tolist(), *own[:3]]
            found += own
        return found


def _with_article(kind: str) -> str:
    """Return the kind of a constraint with its article."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _numbers(expression: Array) -> list[float]:
    """Return a constant column as a list."""
    found: list[float] = np.array(ca.evalf(ca.SX(expression)), dtype=np.float64).ravel().tolist()
    return found
