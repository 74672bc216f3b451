"""Shapes of MJCF bodies: geoms of the compiled model as data of bodies, and what MuJoCo's compiler
computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco

    from ..types import Floats

_GeomSize = Callable[["Floats"], dict[str, object]]


def _lengths(size: Floats, count: int = 3) -> list[float]:
    """Return full lengths from MuJoCo's half lengths."""
    return [2 * float(half) for half in size[:count]]


_PRIMITIVES: dict[str, _GeomSize] = {
    "PLANE": lambda size: (
        {"type": "plane"} | ({"size": _lengths(size, 2)} if all(size[:2]) else {})
    ),
    "SPHERE": lambda size: {"type": "sphere", "radius": float(size[0])},
    "CAPSULE": lambda size: {
        "type": "capsule",
        "radius": float(size[0]),
        "length": 2 * float(size[1]),
    },
    "ELLIPSOID": lambda size: {"type": "ellipsoid", "radii": [float(r) for r in size]},
    "CYLINDER": lambda size: {
        "type": "cylinder",
        "radius": float(size[0]),
        "length": 2 * float(size[1]),
    },
    "BOX": lambda size: {"type": "box", "size": _lengths(size)},
}
"""The fields of a shape from the numbers of a geom, by the end of its name in MuJoCo's mjtGeom."""


class MjcfShapes:
    """Converts the geoms of a compiled model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        import mujoco

        self.m = model
        self.kinds = {
            int(getattr(mujoco.mjtGeom, f"mjGEOM_{word}")): word for word in (*_PRIMITIVES, "MESH")
        }

    def of_body(self, body: int) -> list[dict[str, object]]:
        """Return the shapes of a body, as fields; 0 is the world."""
        return [
            self.read_geom(int(geom))
            for geom in np.flatnonzero(self.m.geom_bodyid == body)
            if int(self.m.geom_type[geom]) in self.kinds
        ]

    def unkept_notes(self) -> Iterator[str]:
        """Yield a line for the geoms that are not kept, and for contact between the others."""
        other = sum(int(kind) not in self.kinds for kind in self.m.geom_type)
        if other:
            what = "geom that is neither a primitive nor a mesh"
            many = "geoms that are neither primitives nor meshes"
            yield f"{other} {what if other == 1 else many}"
        touching = int(np.count_nonzero(self.m.geom_contype | self.m.geom_conaffinity))
        if touching:
            kept = (
                "1 geom is kept as a shape"
                if touching == 1
                else f"{touching} geoms are kept as shapes"
            )
            yield f"contact between geoms ({kept} for collision)"

    def read_geom(self, geom: int) -> dict[str, object]:
        """Return the fields of a shape from a geom."""
        import mujoco

        m, word = self.m, self.kinds[int(self.m.geom_type[geom])]
        position, quaternion = m.geom_pos[geom].copy(), m.geom_quat[geom].copy()
        if word == "MESH":
            mesh = int(m.geom_dataid[geom])
            fields = self.mesh_fields(mesh)
            position, quaternion = self.mesh_placement(mesh, position, quaternion)
        else:
            fields = _PRIMITIVES[word](m.geom_size[geom])
        material = int(m.geom_matid[geom])
        color = m.mat_rgba[material] if material >= 0 else m.geom_rgba[geom]
        touches = m.geom_contype[geom] or m.geom_conaffinity[geom]
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, geom)
        return {
            **fields,
            "origin": {
                "xyz": [float(x) for x in position],
                "quaternion": [float(x) for x in quaternion],
            },
            "color": [float(x) for x in color],
            "use": "both" if touches else "visual",
            **({"label": name} if name else {}),
        }

    def mesh_fields(self, mesh: int) -> dict[str, object]:
        """Return type, file and scale of a mesh; the name of one that the file itself contains."""
        import mujoco

        start = int(self.m.mesh_pathadr[mesh])
        file = self.m.paths[start:].split(b"\0")[0].decode() if start >= 0 else ""
        if file and Path(file).is_file():
            file = str(Path(file).resolve())
        name = mujoco.mj_id2name(self.m, mujoco.mjtObj.mjOBJ_MESH, mesh)
        scale = [float(x) for x in self.m.mesh_scale[mesh]]
        return {"type": "mesh", "file": file or f"(in the MJCF file) {name}", "scale": scale}

    def mesh_placement(
        self, mesh: int, position: Floats, quaternion: Floats
    ) -> tuple[Floats, Floats]:
        """Return the placement of the mesh as its file has it: MuJoCo moves meshes to their centre
        and principal axes, and the geom with them."""
        import mujoco

        shift, turn = self.m.mesh_pos[mesh], self.m.mesh_quat[mesh]
        back, found, moved = np.empty(4), np.empty(4), np.empty(3)
        mujoco.mju_negQuat(back, turn)
        mujoco.mju_mulQuat(found, quaternion, back)
        mujoco.mju_rotVecQuat(moved, shift, found)
        return position - moved, found


def bodies_weighed_by_mujoco(text: str, path: Path | None, count: int) -> list[bool]:
    """Return for each of `count` bodies whether MuJoCo's compiler computes its inertia from the
    geoms: without <inertial>, or by the file's `inertiafromgeom`."""
    import mujoco

    spec = mujoco.MjSpec.from_string(text) if path is None else mujoco.MjSpec.from_file(str(path))
    rule, rules = spec.compiler.inertiafromgeom, mujoco.mjtInertiaFromGeom
    explicit = [bool(body.explicitinertial) for body in spec.bodies]
    if len(explicit) != count or rule == rules.mjINERTIAFROMGEOM_FALSE:
        return [False] * count
    always = rule == rules.mjINERTIAFROMGEOM_TRUE
    return [always or not given for given in explicit]
