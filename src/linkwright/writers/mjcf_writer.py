"""Writer of MJCF: nested bodies with their joints, sites, and the sections of `mjcf_sections`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import MechanismError, UnsupportedError
from ..expressions import ZERO, expression_to_float
from ..files.unique_names import make_unique_element_name
from ..kinematics.kinematic_tree import GROUND as GROUND_LINK
from ..mechanism import GROUND, Mechanism, replace_part_fields
from ..types import Floats
from .mjcf_elements import add_mjcf_element
from .mjcf_geometry import MjcfGeometry, MjcfPose, quaternion_of_rotation
from .mjcf_inertias import EquivalentInertias, WrittenInertia
from .mjcf_joints import MjcfJointWriter
from .mjcf_losses import list_mjcf_losses
from .mjcf_sections import MjcfSectionWriter
from .mjcf_shapes_writer import MjcfShapeWriter

_GROUND_OF_MUJOCO = "world"
_ROUNDING = 1e-15
_LEAST_MASS = 1e-14
"""What a moving body without mass or inertia gets, kg and kg m²: MuJoCo refuses less than 1e-15."""

_FIELDS_OF_CHOSEN_COORDINATES = (
    "coordinates",
    "speeds",
    "actuators",
    "poses",
    "assembly",
    "independent",
)
"""What is left out with chosen coordinates: expressions and values of these."""


def write_mjcf(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return the MJCF text, and a list of what it cannot express."""
    if mechanism.coordinates is None:
        return _MjcfWriter(mechanism).write_model()
    names = ", ".join(mechanism.coordinates.own_names)
    try:
        bare = replace_part_fields(mechanism, _FIELDS_OF_CHOSEN_COORDINATES)
    except MechanismError as error:
        raise UnsupportedError(
            f"MJCF cannot hold the coordinates {names}, which {error.where} uses",
            where=mechanism.name,
            remedy="write it with the joints' variables",
        ) from None
    text, lost = _MjcfWriter(bare).write_model()
    used = [key for key in _FIELDS_OF_CHOSEN_COORDINATES[1:] if getattr(mechanism, key)]
    return text, [
        f"the coordinates {names}",
        *(f"{key} (in these coordinates)" for key in used),
        *lost,
    ]


class _MjcfWriter:
    """Writes a mechanism from ground outward; a body without mass that carries one body only gives
    its joints to that body, since MuJoCo refuses moving bodies without mass."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.geometry = MjcfGeometry(mechanism)
        self.joints = MjcfJointWriter(self.geometry)
        self.sections = MjcfSectionWriter(self.geometry)
        self.shapes = MjcfShapeWriter(self.geometry)
        self.lost: list[str] = []
        self.children: dict[str, list[str]] = {}
        for _, joint in mechanism.joints.items():
            self.children.setdefault(joint.parent, []).append(joint.child)

    def write_model(self) -> tuple[str, list[str]]:
        """Return the text of the whole model, and what it lacks."""
        root = ET.Element("mujoco", model=self.mechanism.name)
        add_mjcf_element(
            root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false"
        )
        numbers = [expression_to_float(x, self.mechanism.values) for x in self.mechanism.gravity]
        add_mjcf_element(root, "option", gravity=np.array(numbers))
        world = ET.SubElement(root, "worldbody")
        self.write_sites(world, GROUND)
        self.shapes.write_shapes(world, GROUND)
        stack = [(child, world, GROUND) for child in reversed(self.children.get(GROUND, []))]
        while stack:
            name, above, parent = stack.pop()
            element, last = self.write_body(above, name, parent)
            below = reversed(self.children.get(last, []))
            stack += [(child, element, last) for child in below]
        self.shapes.write_assets(root, before=world)
        self.sections.write_sections(root)
        ET.indent(root)
        lost = [
            *list_mjcf_losses(self.mechanism),
            *self.lost,
            *self.joints.lost,
            *self.sections.lost,
            *self.shapes.lost,
        ]
        return ET.tostring(root, encoding="unicode") + "\n", lost

    def write_body(self, above: ET.Element, name: str, parent: str) -> tuple[ET.Element, str]:
        """Add a body with its joints, those of bodies without mass before it included; return it
        and its name."""
        chain = [name]
        while (following := self.next_in_chain(chain[-1])) is not None:
            chain.append(following)
        last, poses = chain[-1], self.geometry.body_poses
        place = self.joints.free_rest(last) or poses[last].seen_from(poses[parent])
        written = self.body_name(last)
        element = add_mjcf_element(above, "body", name=written, pos=place.p, quat=place.quaternion)
        share = self.mechanism.bodies[last].gravity_compensation
        if share != ZERO:
            element.set("gravcomp", repr(expression_to_float(share, self.mechanism.values)))
        for owner in chain:
            for joint in self.joints.write_joints(owner, last):
                add_mjcf_element(
                    element, "joint", name=joint.name, type=joint.type, **joint.attributes
                )
        self.write_inertia(element, last)
        self.write_sites(element, last)
        self.shapes.write_shapes(element, last)
        for merged in chain[:-1]:
            self.shapes.note_merged_shapes(merged)
        return element, last

    def body_name(self, name: str) -> str:
        """Return the name of a body in the file: its own, but for that of MuJoCo's ground."""
        if name != _GROUND_OF_MUJOCO:
            return name
        written = make_unique_element_name(f"{name}_", self.mechanism.bodies)
        self.lost.append(f"the name of body {name}, MuJoCo's name for the ground: it is {written}")
        return written

    def next_in_chain(self, name: str) -> str | None:
        """Return the only body that a body without mass carries, if their joints can be those of
        one body of MJCF."""
        others = self.children.get(name, [])
        if self.geometry.has_mass(name) or len(others) != 1 or name in self.sections.named_bodies:
            return None
        if self.geometry.tree.bodies[name].link == GROUND_LINK or self.has_inertia_on_link(name):
            return None
        poses, (after,) = self.geometry.body_poses, others
        turned = any(link.kind.has_quaternion for _, link in self.geometry.links_of(name))
        return after if not turned or poses[name].is_parallel_to(poses[after]) else None

    def write_inertia(self, element: ET.Element, name: str) -> None:
        """Add mass and inertia."""
        mass, center, moments, axes = self.inertia(name)
        missing = moments[2] - moments[1] - moments[0]
        if missing > 0:
            moments = moments + np.array([missing, missing, 0.0]) / 2 * (1 + _ROUNDING)
        if element.find("joint") is not None and not self.has_inertia_on_link(name):
            self.lost.append(f"body {name}: that it has no mass or inertia (1e-14 is written)")
            mass, moments = max(mass, _LEAST_MASS), np.maximum(moments, _LEAST_MASS)
        if mass or moments.any():
            add_mjcf_element(
                element, "inertial", pos=center, mass=mass, diaginertia=moments, quat=axes
            )

    def has_inertia_on_link(self, name: str) -> bool:
        """Return whether MuJoCo accepts the inertia of a moving body: its own or that of a body
        fixed to it is above the least."""
        bodies = self.geometry.tree.bodies
        numbers = (self.inertia(n) for n in bodies if bodies[n].link == bodies[name].link)
        return any(min(mass, *moments) >= _LEAST_MASS for mass, _, moments, _ in numbers)

    def inertia(self, name: str) -> tuple[float, Floats, Floats, Floats]:
        """Return mass, centre, principal moments and axes of a body: its own, or those of a real
        body with the same motion where MuJoCo refuses some."""
        found = self.equivalent_inertias
        if found is None:
            return self.geometry.inertia(name)
        pose = self.geometry.own_pose(name).seen_from(self.geometry.body_poses[name])
        if name not in found:
            return 0.0, np.zeros(3), np.zeros(3), quaternion_of_rotation(np.eye(3))
        one = found[name]
        return self.geometry.principal_inertia(pose, one.mass, one.center, one.tensor)

    @cached_property
    def equivalent_inertias(self) -> dict[str, WrittenInertia] | None:
        """Inertias with the same motion, where MuJoCo refuses those of the mechanism; None where
        it accepts them, where moments without an effect are raised, or others do not exist."""
        if not self.raised_tensors:
            return None
        names = ", ".join(self.raised_tensors)
        found = EquivalentInertias(self.mechanism)
        if found.is_hidden(self.raised_tensors):
            self.lost.append(f"moments of inertia of {names} that have no effect on the motion")
            return None
        bodies = found.find_real_bodies()
        if bodies is None:
            self.lost.append(f"the inertias of {names}, which no real bodies have: M differs")
        else:
            self.lost.append(
                f"the inertias of {names}, which no real bodies have (those of real bodies with "
                "the same motion are written, to all bodies)"
            )
        return bodies

    @cached_property
    def raised_tensors(self) -> dict[str, Floats]:
        """What bodies lack that MuJoCo refuses, in the axes of their links: it wants the largest
        moment of inertia to be at most the sum of the others."""
        found = {}
        for name, mass in self.geometry.tree.masses.items():
            tensor = np.array(ca.evalf(ca.SX(mass.I)), dtype=float)
            moments, axes = np.linalg.eigh((tensor + tensor.T) / 2)
            missing = moments[2] - moments[1] - moments[0]
            if missing > _ROUNDING * moments[2]:
                found[name] = missing / 2 * axes[:, :2] @ axes[:, :2].T
        return found

    def write_sites(self, element: ET.Element, body: str) -> None:
        """Add the frames of a body, and the points of its loops and lengths."""
        for name, pose in self.frames_of(body):
            place = pose.seen_from(self.geometry.body_poses[body])
            add_mjcf_element(element, "site", name=name, pos=place.p, quat=place.quaternion)

    def frames_of(self, body: str) -> Iterator[tuple[str, MjcfPose]]:
        """Yield the frames of a body and other points on it, with their poses in the world."""
        for name, frame in self.mechanism.frames.items():
            if frame.body == body:
                yield name, self.geometry.own_pose(name)
        yield from self.sections.sites_of(body)
