"""Shapes of bodies as geoms of MJCF; meshes as assets that refer to their files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import casadi as ca
import numpy as np

from ..expressions import Expression
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.placement_values import read_frame_placement
from ..mechanism import GROUND, MeshShape, ShapeOfBody
from ..mechanism.shapes import (
    BoxShape,
    CapsuleShape,
    CylinderShape,
    EllipsoidShape,
    PlaneShape,
    SphereShape,
)
from .mjcf_elements import add_mjcf_element
from .mjcf_geometry import MjcfGeometry, MjcfPose

_MESH_ENDINGS = (".stl", ".obj", ".msh")
"""Of the files that MuJoCo reads."""
_MOST_FACES = 200_000
"""Of an STL file that MuJoCo reads."""
_PLANE_GRID = 1.0
"""Spacing of the grid that MuJoCo draws on planes, m."""


class MjcfShapeWriter:
    """Writes the shapes of bodies, and notes those that MJCF cannot hold."""

    def __init__(self, geometry: MjcfGeometry) -> None:
        self.geometry, self.mechanism = geometry, geometry.mechanism
        self.values = KinematicParameters(self.mechanism, "numeric")
        self.lost: list[str] = []
        self.labels: set[str] = set()
        self.meshes: dict[tuple[str, tuple[float, ...]], str] = {}
        """Names of mesh assets by file and scale."""

    def write_assets(self, root: ET.Element, before: ET.Element) -> None:
        """Add the meshes that geoms use, before the bodies."""
        if not self.meshes:
            return
        assets = ET.Element("asset")
        for (file, scale), name in self.meshes.items():
            add_mjcf_element(
                assets, "mesh", name=name, file=file, scale=list(scale), inertia="shell"
            )
        root.insert(list(root).index(before), assets)

    def write_shapes(self, element: ET.Element, body: str) -> None:
        """Add the geoms of a body."""
        for shape in self.shapes_of(body):
            attributes = self.attributes(body, shape)
            if attributes is None:
                continue
            if shape.label and shape.label not in self.labels:
                self.labels.add(shape.label)
                attributes["name"] = shape.label
            if shape.color is not None:
                attributes["rgba"] = self.numbers(shape.color)
            if shape.use == "visual":
                attributes |= {"contype": "0", "conaffinity": "0"}
            elif shape.use == "collision":
                self.note(body, shape, "that it is not drawn")
            add_mjcf_element(element, "geom", **attributes)

    def note_merged_shapes(self, body: str) -> None:
        """Note the shapes of a body whose joints another body takes over."""
        for shape in self.shapes_of(body):
            self.note(body, shape, "itself: the body has no mass, and no body of its own in MJCF")

    def shapes_of(self, body: str) -> Sequence[ShapeOfBody]:
        """Return the shapes of a body or of ground."""
        if body == GROUND:
            return self.mechanism.ground_shapes
        return self.mechanism.bodies[body].shapes

    def numbers(self, entries: Sequence[Expression]) -> list[float]:
        """Return numbers of a shape."""
        return [float(self.values.read_number(entry)) for entry in entries]

    def note(self, body: str, shape: ShapeOfBody, what: str) -> None:
        """Note what a shape loses."""
        owner = "ground" if body == GROUND else f"body {body}"
        self.lost.append(f"{owner}: its {shape.type} {shape.label}".rstrip() + f", {what}")

    def attributes(self, body: str, shape: ShapeOfBody) -> dict[str, object] | None:
        """Return type, sizes and placement of a geom; None if MJCF has nothing like it."""
        kind = self.size(body, shape)
        if kind is None:
            return None
        R, p = read_frame_placement(self.values, shape.origin, "")
        turn, shift = (np.array(ca.evalf(ca.SX(x)), dtype=float) for x in (R, p))
        own = self.geometry.own_pose(body)
        pose = MjcfPose(own.R @ turn, own.p + own.R @ shift.ravel())
        place = pose.seen_from(self.geometry.body_poses[body])
        return {**kind, "pos": place.p, "quat": place.quaternion}

    def size(self, body: str, shape: ShapeOfBody) -> dict[str, object] | None:
        """Return type and sizes of a geom: half lengths where shapes have lengths."""
        match shape:
            case BoxShape(size=size):
                return {"type": "box", "size": [x / 2 for x in self.numbers(size)]}
            case SphereShape(radius=radius):
                return {"type": "sphere", "size": self.numbers([radius])}
            case EllipsoidShape(radii=radii):
                return {"type": "ellipsoid", "size": self.numbers(radii)}
            case CylinderShape(radius=r, length=length) | CapsuleShape(radius=r, length=length):
                thick, whole = self.numbers([r, length])
                return {"type": shape.type, "size": [thick, whole / 2]}
            case PlaneShape(size=size) if body == GROUND:
                half = [0.0, 0.0] if size is None else [x / 2 for x in self.numbers(size)]
                return {"type": "plane", "size": [*half, _PLANE_GRID]}
            case MeshShape():
                return self.mesh(body, shape)
        reason = "on a body that moves" if isinstance(shape, PlaneShape) else "which MJCF lacks"
        self.note(body, shape, reason)
        return None

    def mesh(self, body: str, shape: MeshShape) -> dict[str, object] | None:
        """Return the reference to a mesh, whose file must be one that MuJoCo reads."""
        file = Path(shape.file)
        if why := _why_unreadable(file):
            self.note(body, shape, why)
            return None
        key = str(file.resolve()), tuple(self.numbers(shape.scale))
        if key not in self.meshes:
            taken = set(self.meshes.values())
            name = next(
                x
                for k in range(len(taken) + 1)
                if (x := f"{file.stem}{f'_{k}' if k else ''}") not in taken
            )
            self.meshes[key] = name
        return {"type": "mesh", "mesh": self.meshes[key]}


def _why_unreadable(file: Path) -> str:
    """Return why MuJoCo would refuse a mesh file, as the rest of a sentence; "" if it reads it."""
    ending = file.suffix.lower()
    if ending not in _MESH_ENDINGS:
        return f"{file.suffix or 'that the file contains'}, which MuJoCo does not read"
    if not file.is_file():
        return "whose file is missing"
    if ending == ".stl":
        with file.open("rb") as stream:
            count = int.from_bytes(stream.read(84)[80:], "little")
        if not 1 <= count <= _MOST_FACES or file.stat().st_size < 84 + 50 * count:
            return f"which MuJoCo does not read: it is not binary STL of 1 to {_MOST_FACES:,} faces"
    return ""
