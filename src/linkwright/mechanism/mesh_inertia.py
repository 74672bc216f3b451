"""Volume, centre of mass and inertia of a mesh file, by trimesh (extra `[mesh]`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import MechanismError, MissingExtraError

if TYPE_CHECKING:
    import trimesh

    from ..types import Booleans, Floats

_FLAT = 1e-7
"""Smallest thickness of a solid, relative to its size: that of numbers in single precision."""


def measure_mesh(file: str, scale: Sequence[float]) -> tuple[float, Floats, Floats]:
    """Return volume, centre of mass (3,) and inertia (3, 3) for density 1 about that centre.

    If a mesh is not closed, its convex hull counts. If all faces point inward, they are turned.
    """
    import numpy as np

    mesh = read_mesh_file(file)
    if np.linalg.matrix_rank(mesh.vertices - mesh.vertices[0], rtol=_FLAT) < 3:
        raise MechanismError(
            f"the mesh '{Path(file).name}' is flat, and so has no volume",
            where="shapes",
            remedy="use another file, or give mass and inertia",
        )
    solid = (_closed_mesh(file) or mesh.convex_hull).copy()
    solid.apply_transform(np.diag([*scale, 1.0]))
    solid.density = 1.0
    sign = float(np.sign(solid.volume))
    return abs(float(solid.volume)), np.array(solid.center_mass), sign * solid.moment_inertia


def is_closed_mesh(file: str) -> bool:
    """Return whether every edge of a mesh belongs to two faces, so that it has a volume."""
    return _closed_mesh(file) is not None


@lru_cache(maxsize=8)
def _closed_mesh(file: str) -> trimesh.Trimesh | None:
    """The mesh in a file, with no part of mixed faces; None if it is not closed."""
    mesh = read_mesh_file(file)
    if not mesh.is_watertight:
        return None
    return mesh if mesh.is_winding_consistent else _orient_faces(mesh)


def _orient_faces(mesh: trimesh.Trimesh) -> trimesh.Trimesh | None:
    """A copy of a closed mesh in which the parts with mixed faces have them all outward.

    Each face is two nodes of a graph: as it is, and turned. Neighbours that run through their
    common edge in opposite directions agree. None for a surface with one side.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, pairs, edges = len(mesh.faces), mesh.face_adjacency, mesh.face_adjacency_edges

    def runs_forward(which: int) -> Booleans:
        corners = mesh.faces[pairs[:, which]]
        following = np.roll(corners, -1, axis=1)
        forward: Booleans = ((corners == edges[:, :1]) & (following == edges[:, 1:])).any(axis=1)
        return forward

    disagree = runs_forward(0) == runs_forward(1)
    first = np.concatenate([pairs[:, 0], pairs[:, 0] + count])
    second = pairs[:, 1] + count * np.array([disagree, ~disagree])
    links = coo_array((np.ones(len(first)), (first, second.ravel())), (2 * count, 2 * count))
    as_is, turned = connected_components(links, directed=False)[1].reshape(2, count)
    if (as_is == turned).any():
        return None
    part, turn = np.minimum(as_is, turned), turned < as_is
    oriented = mesh.copy()
    oriented.faces[turn] = oriented.faces[turn][:, ::-1]
    volumes = np.linalg.det(np.asarray(oriented.vertices)[oriented.faces])
    for mixed in np.unique(part[turn]):
        if volumes[part == mixed].sum() < 0:
            oriented.faces[part == mixed] = oriented.faces[part == mixed][:, ::-1]
    return oriented


def mesh_triangles(file: str) -> Floats:
    """Return the triangles (n, 3, 3) of a mesh file, in its own units."""
    import numpy as np

    mesh = read_mesh_file(file)
    found: Floats = np.asarray(mesh.vertices, dtype=float)[np.asarray(mesh.faces)]
    return found


@lru_cache(maxsize=8)
def read_mesh_file(file: str) -> trimesh.Trimesh:
    """Return the mesh in a file, m, with equal vertices merged."""
    mesh = _load_geometry(file, "mesh")
    mesh.apply_scale(file_unit(file))
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return mesh


def read_mesh_parts(file: str) -> list[trimesh.Trimesh]:
    """Return the parts of a mesh file, m, each with its own material, placed as in the file."""
    import trimesh

    parts = [
        part
        for part in _load_geometry(file, "scene").dump()
        if isinstance(part, trimesh.Trimesh) and len(part.faces)
    ]
    for part in parts:
        part.apply_scale(file_unit(file))
    return parts


def file_unit(file: str) -> float:
    """Return the length unit of a mesh file, m: a COLLADA file states it, others are in metres."""
    if Path(file).suffix.lower() != ".dae":
        return 1.0
    found = re.search(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)", Path(file).read_bytes())
    try:
        unit = float(found[1]) if found else 1.0
    except ValueError:
        return 1.0
    return unit if 0.0 < unit < float("inf") else 1.0


def _load_geometry(file: str, form: Literal["mesh", "scene"]) -> Any:
    """What trimesh reads from a file: one mesh, or a scene of its parts."""
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError(
            "meshes are read by the package trimesh, which is not installed",
            remedy="pip install 'linkwright[mesh]', or give mass and inertia",
        ) from None
    if not Path(file).is_file():
        raise MechanismError(
            f"the mesh '{file}' is not found", where="shapes", remedy="correct its path"
        )
    name = Path(file).name
    try:
        found = trimesh.load(file, force=form)
    except ImportError:  # COLLADA
        raise MechanismError(
            f"the mesh '{name}' is read by the package pycollada, which is not installed",
            where="shapes",
            remedy="pip install 'linkwright[mesh]', or convert the file to STL or OBJ",
        ) from None
    except Exception as error:  # readers of many formats, which raise whatever they like
        what = f"the mesh '{name}' cannot be read: {' '.join(str(error).split())[:200]}"
        raise MechanismError(what, where="shapes", remedy="use STL or OBJ") from None
    if form == "mesh" and (not isinstance(found, trimesh.Trimesh) or not len(found.faces)):
        raise MechanismError(
            f"the mesh '{name}' has no faces", where="shapes", remedy="use another file"
        )
    return found
