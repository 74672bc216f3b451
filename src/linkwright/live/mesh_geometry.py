"""Meshes of shapes for live pages: read by trimesh, thinned, and packed into two buffers."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError, MissingExtraError
from ..mechanism.mesh_inertia import read_mesh_file, read_mesh_parts
from ..show.figure_style import GRAY_COLOR
from ..types import Floats, Integers

if TYPE_CHECKING:
    import trimesh

_COARSEST, _FINEST = 8, 1024
"""Cells along the longest side of a mesh, when it is thinned."""
_MIN_SHARE = 60
"""Triangles that a mesh keeps at least, if it has them."""
PLAIN_COLOR = (*(int(GRAY_COLOR[k : k + 2], 16) / 255 for k in (1, 3, 5)), 1.0)
"""Red, green, blue and opacity of meshes that state no colour."""
_NAMED_FILES = 3
"""Missing files that a note names; a robot may have dozens."""


@dataclass(frozen=True)
class PlacedMesh:
    """A mesh file with its scale and placement in a link."""

    file: str
    scale: Floats
    link: int
    R: Floats
    p: Floats
    color: list[float] | None


@dataclass
class EmbeddedMeshes:
    """The meshes that a page is to contain, and notes on those that cannot be read."""

    meshes: list[PlacedMesh] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def all_notes(self) -> list[str]:
        """The notes, with one sentence on all files that are missing."""
        names = list(dict.fromkeys(self.missing))
        if not names:
            return self.notes
        if len(names) == 1:
            return [f"The mesh {names[0]} is not found, and is not drawn.", *self.notes]
        few = ", ".join(Path(name).name for name in names[:_NAMED_FILES])
        more = f" and {len(names) - _NAMED_FILES} others" if len(names) > _NAMED_FILES else ""
        return [f"{len(names)} meshes are not found, and not drawn: {few}{more}.", *self.notes]

    def add(
        self, file: str, scale: Floats, link: int, R: Floats, p: Floats, color: list[float] | None
    ) -> None:
        """Add a mesh; those whose files are missing become a note."""
        if not Path(file).is_file():
            self.missing.append(file)
            return
        self.meshes.append(PlacedMesh(file, scale, link, R, p, color))

    def __bool__(self) -> bool:
        return bool(self.meshes)


def embed_meshes(wanted: EmbeddedMeshes, triangles: int) -> dict[str, object] | None:
    """Return the meshes as data of a page: parts with their links and colours, positions of 16 bits
    and triangles, in base64. All together have at most about so many triangles."""
    read: list[tuple[PlacedMesh, Floats, Integers, list[float]]] = []
    for one in wanted.meshes:
        try:
            parts_by_color = _colored_parts(one.file, one.color)
        except MissingExtraError:
            raise
        except LinkwrightError as error:
            wanted.notes.append(f"A mesh is not drawn: {error}.")
            continue
        for color, mesh in parts_by_color:
            corners = np.asarray(mesh.vertices, dtype=float) * one.scale
            faces = np.asarray(mesh.faces, dtype=np.int64)
            if np.prod(one.scale) < 0:
                faces = faces[:, ::-1]
            read.append((one, corners @ one.R.T + one.p, faces, color))
    total = sum(len(faces) for _, _, faces, _ in read)
    if not total:
        return None
    areas = [float(np.ptp(corners, axis=0).max()) for _, corners, _, _ in read]
    parts, positions, indices = list[dict[str, object]](), list[bytes](), list[bytes]()
    for (one, corners, faces, color), area in zip(read, areas, strict=True):
        share = max(
            _MIN_SHARE, round(triangles * (0.5 * len(faces) / total + 0.5 * area / sum(areas)))
        )
        thin_corners, thin_faces = thin_mesh(corners, faces, share)
        low, span = thin_corners.min(axis=0), np.ptp(thin_corners, axis=0)
        step = np.where(span > 0, span, 1.0) / 65535
        positions.append(np.round((thin_corners - low) / step).astype("<u2").tobytes())
        indices.append(thin_faces.astype("<u4").tobytes())
        parts.append(
            {
                "link": one.link,
                "color": color,
                "corners": len(thin_corners),
                "triangles": len(thin_faces),
                "low": low.tolist(),
                "step": step.tolist(),
            }
        )
    if total > triangles:
        wanted.notes.append(f"Meshes are thinned out from {total:,} triangles.")
    return {
        "parts": parts,
        "positions": base64.b64encode(b"".join(positions)).decode(),
        "indices": base64.b64encode(b"".join(indices)).decode(),
    }


def thin_mesh(corners: Floats, faces: Integers, most: int) -> tuple[Floats, Integers]:
    """Return a mesh with at most `most` triangles, by merging corners that share a cell of a grid;
    the grid is as fine as possible."""
    if len(faces) <= most:
        return corners, faces
    low, high, best = _COARSEST, _FINEST, _merge_cells(corners, faces, _COARSEST)
    while low < high - 1 and high > low * 1.05:
        cells = (low + high) // 2
        found = _merge_cells(corners, faces, cells)
        if len(found[1]) <= most:
            low, best = cells, found
        else:
            high = cells
    return best


def _merge_cells(corners: Floats, faces: Integers, cells: int) -> tuple[Floats, Integers]:
    """Merge all corners of a mesh that lie in one cell into their mean."""
    low = corners.min(axis=0)
    edge = float(np.ptp(corners, axis=0).max()) / cells or 1.0
    keys = np.floor((corners - low) / edge).astype(np.int64)
    flat = (keys[:, 0] * (cells + 1) + keys[:, 1]) * (cells + 1) + keys[:, 2]
    _, cell_of, counts = np.unique(flat, return_inverse=True, return_counts=True)
    cell_of = cell_of.ravel()
    middle = np.stack(
        [np.bincount(cell_of, corners[:, k], len(counts)) / counts for k in range(3)], axis=1
    )
    merged = cell_of[faces]
    distinct = (
        (merged[:, 0] != merged[:, 1])
        & (merged[:, 1] != merged[:, 2])
        & (merged[:, 2] != merged[:, 0])
    )
    merged = merged[distinct]
    first = np.argmin(merged, axis=1)[:, None]
    rolled = np.take_along_axis(merged, (first + np.arange(3)) % 3, axis=1)
    return _drop_unused_corners(middle, np.unique(rolled, axis=0))


def _drop_unused_corners(corners: Floats, faces: Integers) -> tuple[Floats, Integers]:
    """A mesh without the corners that no triangle has."""
    used, renumbered = np.unique(faces, return_inverse=True)
    return corners[used], renumbered.reshape(faces.shape)


def _colored_parts(
    file: str, given: list[float] | None
) -> list[tuple[list[float], trimesh.Trimesh]]:
    """The mesh in the colour that its shape states, or its parts in colours of their own."""
    if given is not None:
        return [(given, read_mesh_file(file))]
    by_color: dict[tuple[float, ...], list[trimesh.Trimesh]] = {}
    for part in read_mesh_parts(file):
        by_color.setdefault(_part_color(part), []).append(part)
    if len(by_color) < 2:
        return [(list(next(iter(by_color), PLAIN_COLOR)), read_mesh_file(file))]
    return [(list(color), _joined_mesh(parts)) for color, parts in by_color.items()]


def _joined_mesh(parts: list[trimesh.Trimesh]) -> trimesh.Trimesh:
    """Several meshes as one, without their materials."""
    import trimesh

    counts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [np.asarray(part.faces) + first for part, first in zip(parts, counts[:-1], strict=True)]
    corners = np.concatenate([np.asarray(part.vertices) for part in parts])
    return trimesh.Trimesh(corners, np.concatenate(faces), process=True)


def _part_color(part: trimesh.Trimesh) -> tuple[float, ...]:
    """The main colour of a part: of its material, picture or faces; gray if it has none."""
    try:
        visual = part.visual
        material = getattr(visual, "material", None)
        image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
        plain = visual.to_color() if image is not None else visual
        main = plain.main_color if material is None or image is not None else material.main_color
        found = tuple(float(x) / 255 for x in main)
    except Exception:  # visuals of many kinds, which raise whatever they like
        return PLAIN_COLOR
    return found if len(found) == 4 and found[:3] != (0.4, 0.4, 0.4) else PLAIN_COLOR
