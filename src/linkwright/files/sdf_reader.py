"""Reader of SDF 1.4 to 1.12. Content without effect on the equations is listed, not dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import FileError, UnsupportedError
from ..mechanism import GROUND, Mechanism
from .sdf_frames import (
    MODEL_FRAME,
    WORLD_FRAME,
    SdfFrame,
    SdfScope,
    inverse_pose,
    placement_fields,
    read_sdf_numbers,
    read_sdf_pose,
    required_sdf_text,
)
from .sdf_includes import read_sdf_include
from .sdf_joints import SdfJoint, read_sdf_joint
from .sdf_shapes import SHAPE_TAGS, SdfShapes, read_sdf_shapes, weigh_sdf_link
from .sdf_tree import span_sdf_tree
from .sdf_versions import read_sdf_root
from .unique_names import make_unique_element_name
from .xml_reader import XmlElement

_SDF_GRAVITY = [0.0, 0.0, -9.8]
"""The gravity of an SDF world that gives none."""
_READ_TAGS = {
    "sdf": {"model", "world"},
    "world": {"model", "gravity", "frame", "joint", "include"},
    "model": {"pose", "link", "joint", "frame", "model", "static", "include"},
    "link": {"pose", "inertial", "gravity", *SHAPE_TAGS},
}
_MAX_INCLUDE_DEPTH = 10


def read_sdf(text: str | bytes, path: Path | None = None) -> Mechanism:
    """Return the mechanism in SDF text; `path` is its file, next to which included models are
    found. Models that are not fixed to the world float."""
    root = read_sdf_root(text)
    reader = _SdfReader(path)
    world = root.first_child("world")
    top = world if world is not None else root
    reader.add_scope_contents(top, reader.world, is_static=False)
    if not reader.links:
        raise FileError("has no <link>", remedy="add a <model> with one")
    reader.notes += _unused_sdf_parts(root)
    gravity = world.first_child("gravity") if world is not None else None
    return reader.make_mechanism(top, gravity)


@dataclass
class _SdfLink:
    """A link with its scope; a link of a static model is fixed to the world."""

    element: XmlElement
    scope: SdfScope
    name: str
    is_static: bool
    path: Path | None

    def world_pose(self) -> np.ndarray:
        """Return its pose in the world, 4 × 4."""
        return self.scope.world_pose(self.name, self.element.line)

    def pose_of(self, element: XmlElement) -> np.ndarray:
        """Return the <pose> of an element of the link in the link's frame, 4 × 4."""
        pose, relative_to = read_sdf_pose(element.first_child("pose"))
        if relative_to and relative_to != self.name:
            frame = self.scope.world_pose(relative_to, element.line)
            pose = inverse_pose(self.world_pose()) @ frame @ pose
        return pose


@dataclass
class _SdfReader:
    """Collects links, joints and frames of all models, then makes a tree with loops of them."""

    path: Path | None
    world: SdfScope = field(default_factory=lambda: SdfScope(""))
    links: dict[str, _SdfLink] = field(default_factory=dict)
    joint_elements: list[tuple[SdfScope, XmlElement]] = field(default_factory=list)
    frame_names: list[tuple[SdfScope, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    # -- reading ------------------------------------------------------------------------------

    def add_scope_contents(
        self, element: XmlElement, scope: SdfScope, is_static: bool, depth: int = 0
    ) -> None:
        """Add what a <model>, a <world> or the file itself contains to a scope."""
        default = self.default_frame(scope)
        for child in element.children:
            match child.tag:
                case "link":
                    self.add_frame(scope, child, default)
                    name = scope.qualified_name(child.attributes["name"])
                    own = child.attributes["name"]
                    self.links[name] = _SdfLink(child, scope, own, is_static, self.path)
                case "frame":
                    attached = child.attributes.get("attached_to") or default
                    self.add_frame(scope, child, attached, attached_to=attached)
                    self.frame_names.append((scope, child.attributes["name"]))
                case "joint":
                    self.rename_joint_like_link(child, scope)
                    below = required_sdf_text(child, "child")
                    self.add_frame(scope, child, below, attached_to=below)
                    self.joint_elements.append((scope, child))
                case "model":
                    self.add_model(child, scope, is_static, depth)
                case "include":
                    self.add_include(child, scope, is_static, depth)

    @staticmethod
    def default_frame(scope: SdfScope) -> str:
        """Return the frame to which poses in a scope are relative: the model's, or the world."""
        return MODEL_FRAME if MODEL_FRAME in scope.frames else WORLD_FRAME

    def add_frame(
        self, scope: SdfScope, element: XmlElement, default: str, attached_to: str = ""
    ) -> None:
        """Add a named frame to a scope; its pose is relative to `default` unless it says more."""
        name = element.required_attribute("name")
        if name in scope.frames or name in scope.nested:
            raise FileError(
                f"the name '{name}' occurs twice in a model",
                where=f"line {element.line}",
                remedy="rename one of the two",
            )
        pose, relative_to = read_sdf_pose(element.first_child("pose"))
        scope.frames[name] = SdfFrame(pose, relative_to or default, scope, attached_to, element)

    def rename_joint_like_link(self, joint: XmlElement, scope: SdfScope) -> None:
        """Rename a joint that has the name of a link or frame, as old files may; the name of each
        frame is unique in a model."""
        name = joint.required_attribute("name")
        if name in scope.frames and scope.frames[name].element is not None:
            other = scope.frames[name].element
            if other is not None and other.tag != "joint":
                taken = {*scope.frames, *scope.nested}
                joint.attributes["name"] = make_unique_element_name(f"{name}_joint", taken)
                self.notes.append(
                    f"joint {name}: its name, which a {other.tag} has too; "
                    f"it is renamed to '{joint.attributes['name']}'"
                )

    def add_model(
        self, model: XmlElement, scope: SdfScope, is_static: bool, depth: int
    ) -> SdfScope:
        """Add a model, whose own frame is placed in the scope around it."""
        self.add_frame(scope, model, self.default_frame(scope))
        name = model.attributes["name"]
        inner = SdfScope(scope.qualified_name(name), scope)
        own = scope.frames[name]
        inner.frames[MODEL_FRAME] = SdfFrame(own.pose, own.relative_to, scope, element=model)
        scope.nested[name] = inner
        static = model.first_child("static")
        fixed = is_static or (static is not None and static.text.strip() in ("true", "1"))
        self.add_scope_contents(model, inner, fixed, depth)
        links = [child.attributes["name"] for child in model.children_with_tag("link")]
        canonical = model.attributes.get("canonical_link", links[0] if links else "")
        if not canonical and inner.nested:
            canonical = f"{next(iter(inner.nested))}::{MODEL_FRAME}"
        own.attached_to = f"{name}::{canonical}" if canonical else WORLD_FRAME
        inner.frames[MODEL_FRAME].attached_to = own.attached_to
        self.place_model(model, own, inner)
        return inner

    def place_model(self, model: XmlElement, own: SdfFrame, inner: SdfScope) -> None:
        """Shift a model so that its `placement_frame` stands where its pose says."""
        placed = model.attributes.get("placement_frame")
        if not placed:
            return
        there, here = inner.world_pose(placed, model.line), inner.world_pose(MODEL_FRAME)
        for frame in (own, inner.frames[MODEL_FRAME]):
            frame.pose = frame.pose @ inverse_pose(inverse_pose(here) @ there)
        _forget_resolved_poses(inner)
        own.resolved = None

    def add_include(
        self, include: XmlElement, scope: SdfScope, is_static: bool, depth: int
    ) -> None:
        """Add the model of another file in the place of an <include>, or merge it."""
        if depth >= _MAX_INCLUDE_DEPTH:
            raise FileError("models include each other", where=f"line {include.line}")
        found = read_sdf_include(include, self.path)
        inside = _SdfReader(
            found.file, self.world, self.links, self.joint_elements, self.frame_names, self.notes
        )
        fixed = is_static or found.is_static
        if found.is_merged:
            proxy = found.proxy_frame()
            inside.add_frame(scope, proxy, self.default_frame(scope), proxy.attributes["link"])
            inside.add_scope_contents(found.merged_contents(), scope, fixed, depth + 1)
        else:
            inside.add_model(found.model, scope, fixed, depth + 1)
        self.notes += _unused_sdf_parts(found.root)

    # -- the mechanism ------------------------------------------------------------------------

    def make_mechanism(self, top: XmlElement, gravity: XmlElement | None) -> Mechanism:
        """Return the mechanism: a spanning tree of the joints, and the others as loops."""
        names = self.short_names()
        bodies = {names[key]: self.read_body(key, link) for key, link in self.links.items()}
        joints = self.read_joints(names)
        links = {
            names[key]: (link.world_pose(), link.is_static) for key, link in self.links.items()
        }
        tree, loops = span_sdf_tree(joints, links)
        self.notes += [note for joint in joints for note in joint.notes]
        given: dict[str, object] = {}
        if top.tag == "world":
            given["gravity"] = read_sdf_numbers(gravity, (3,)) if gravity else _SDF_GRAVITY
        models = [child.attributes.get("name", "") for child in top.children_with_tag("model")]
        couplings = {joint.name: joint.coupling for joint in joints if joint.coupling}
        return Mechanism(
            name=top.attributes.get("name") or (models[0] if models else "") or "mechanism",
            bodies=bodies,
            joints=tree,
            loops=loops,
            constraints=couplings,
            frames=dict(self.read_frames(names)),
            unused=tuple(self.notes),
            **given,
        )

    def short_names(self) -> dict[str, str]:
        """Return the body's name for each link: without its model's where there is only one."""
        heads = {key.partition("::")[0] for key in self.links}
        single = len(heads) == 1 and all("::" in key for key in self.links)
        names: dict[str, str] = {}
        for key in self.links:
            wanted = key.partition("::")[2] if single else key
            if wanted == GROUND:
                self.notes.append(f"link {wanted}: its name, which means the fixed world here")
                wanted = f"{GROUND}_link"
            names[key] = make_unique_element_name(wanted, set(names.values()))
        return names

    def read_body(self, key: str, link: _SdfLink) -> dict[str, object]:
        """Return the fields of a body from the <inertial> of a link."""
        element = link.element
        weight = element.first_child("gravity")
        is_weightless = weight is not None and weight.text.strip() in ("false", "0")
        shapes = read_sdf_shapes(element, key, link.pose_of, link.path)
        self.notes += shapes.notes
        fields = self.read_inertia(key, link, shapes)
        if is_weightless:
            fields["gravity_compensation"] = 1.0
        return fields | ({"shapes": shapes.shapes} if shapes.shapes else {})

    def read_inertia(self, key: str, link: _SdfLink, shapes: SdfShapes) -> dict[str, object]:
        """Return mass, centre and inertia of a link."""
        inertial = link.element.first_child("inertial")
        if inertial is None:
            self.notes.append(f"link {key}: no <inertial>; taken as 1 kg with unit inertia")
            return {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
        if inertial.first_child("fluid_added_mass") is not None:
            raise UnsupportedError(
                f"the link '{key}' has added mass of a fluid",
                where=f"line {inertial.line}",
                remedy="remove <fluid_added_mass>",
            )
        if inertial.attributes.get("auto") in ("true", "1"):
            return weigh_sdf_link(inertial, key, shapes)
        pose = link.pose_of(inertial)
        place = placement_fields(pose)
        tensor = inertial.first_child("inertia")
        moments: dict[str, object] = {
            entry: _child_number(tensor, f"i{entry}", float(entry in ("xx", "yy", "zz")))
            for entry in ("xx", "yy", "zz", "xy", "xz", "yz")
        }
        if "quaternion" in place:
            moments["quaternion"] = place["quaternion"]
        return {
            "mass": _child_number(inertial, "mass", 1.0),
            "center": place["xyz"],
            "inertia": moments,
        }

    def read_joints(self, names: dict[str, str]) -> list[SdfJoint]:
        """Return all joints, with their names unique in the whole file."""
        heads = {scope.path.partition("::")[0] for scope, _ in self.joint_elements}
        taken: set[str] = set()
        joints = []
        for scope, element in self.joint_elements:
            key = scope.qualified_name(element.attributes["name"])
            wanted = key.partition("::")[2] if len(heads) == 1 and "::" in key else key
            name = make_unique_element_name(wanted, taken)
            taken.add(name)
            joints.append(read_sdf_joint(element, scope, name, names))
        by_key = {scope.qualified_name(e.attributes["name"]): j
                  for (scope, e), j in zip(self.joint_elements, joints, strict=True)}  # fmt: skip
        for joint in joints:
            joint.resolve_references(by_key, joints)
        return [joint for joint in joints if joint.fields or joint.coupling]

    def read_frames(self, names: dict[str, str]) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield the frames by name, each in the body that it is attached to."""
        heads = {scope.path.partition("::")[0] for scope, _ in self.frame_names}
        for scope, own in self.frame_names:
            key = scope.qualified_name(own)
            wanted = key.partition("::")[2] if len(heads) == 1 and "::" in key else key
            frame = scope.frames[own]
            line = frame.element.line if frame.element else 0
            link, pose = scope.attached_link(own, line), scope.world_pose(own, line)
            if link == WORLD_FRAME:
                yield wanted, {"body": GROUND, "origin": placement_fields(pose)}
            elif wanted not in names.values():
                place = inverse_pose(self.links[link].world_pose()) @ pose
                yield wanted, {"body": names[link], "origin": placement_fields(place)}


def _forget_resolved_poses(scope: SdfScope) -> None:
    """Let all frames of a scope and of those in it be resolved again."""
    for frame in scope.frames.values():
        frame.resolved, frame.is_being_resolved = None, False
    for inner in scope.nested.values():
        _forget_resolved_poses(inner)


def _child_number(element: XmlElement | None, tag: str, default: float) -> float:
    """Return the number in a child element, or the format's default."""
    child = element.first_child(tag) if element is not None else None
    return default if child is None else read_sdf_numbers(child, (1,))[0]


def _unused_sdf_parts(element: XmlElement) -> list[str]:
    """Return one line for each part of a model, world or link that is not used."""
    notes = []
    place = f"{element.tag} {element.attributes.get('name', '')}".strip()
    known = _READ_TAGS[element.tag]
    for tag, count in Counter(c.tag for c in element.children if c.tag not in known).items():
        notes.append(f"{place}: {f'{count} × ' if count > 1 else ''}<{tag}>")
    for child in element.children:
        if child.tag in _READ_TAGS:
            notes += _unused_sdf_parts(child)
    return notes
