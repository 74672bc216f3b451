"""MJCF in, through MuJoCo's own compiler (extra `[mjcf]`), so that defaults, includes and
geometry mean what they mean there. Coordinates are MuJoCo's `qpos`; speeds follow our own
convention (free joints: angular before linear, both in the child's frame).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import FileError, MissingExtraError, UnsupportedError
from ..mechanism import GROUND, Mechanism
from .xml import read_xml

_FREE, _BALL, _SLIDE, _HINGE = range(4)
_TYPES = {_FREE: "free", _BALL: "spherical", _SLIDE: "prismatic", _HINGE: "revolute"}
_COORDINATES = {_FREE: 7, _BALL: 4, _SLIDE: 1, _HINGE: 1}
_SPEEDS = {_FREE: 6, _BALL: 3, _SLIDE: 1, _HINGE: 1}
_CONNECT, _WELD, _JOINT = range(3)
_LISTED = {
    "ngeom": "geoms (contact; their mass is used)",
    "nactuator": "actuators",
    "ntendon": "tendons",
    "npair": "contact pairs",
    "nexclude": "contact exclusions",
    "nsensor": "sensors",
    "nkey": "keyframes",
    "ncam": "cameras",
    "nlight": "lights",
    "nmesh": "meshes",
    "nskin": "skins",
    "nflex": "flexes",
}


def read_mjcf(text: str, path: Path | None = None) -> Mechanism:
    """A mechanism from MJCF text; `path` is its file, for meshes and includes beside it."""
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
    return _Reader(model, mujoco.mj_id2name, mujoco.mjtObj).mechanism()


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


class _Reader:
    """Walks a compiled model; all names of MuJoCo's arrays stay in here."""

    def __init__(self, model: Any, id2name: Any, kinds: Any) -> None:
        self.m = model
        self.id2name = id2name
        self.kinds = kinds
        self.bodies: dict[str, Any] = {}
        self.joints: dict[str, Any] = {}

    def name(self, kind: str, index: int) -> str:
        if kind == "BODY" and index == 0:
            return GROUND
        named = self.id2name(self.m, getattr(self.kinds, f"mjOBJ_{kind}"), index)
        return named or f"{kind.lower()}{index}"

    def mechanism(self) -> Mechanism:
        for index in range(1, self.m.nbody):
            self.read_body(index)
        loops, constraints = self.equalities()
        return Mechanism(
            name=self.m.names.split(b"\0")[0].decode() or "mechanism",
            gravity=_numbers(self.m.opt.gravity),
            bodies=self.bodies,
            joints=self.joints,
            frames=dict(self.sites()),
            loops=loops,
            constraints=constraints,
            unused=tuple(self.unused()),
        )

    def read_body(self, index: int) -> None:
        m, name = self.m, self.name("BODY", index)
        moments = dict(zip(("xx", "yy", "zz"), _numbers(m.body_inertia[index]), strict=True))
        moments["quaternion"] = _numbers(m.body_iquat[index])  # type: ignore[assignment]
        self.bodies[name] = {
            "mass": float(m.body_mass[index]),
            "center": _numbers(m.body_ipos[index]),
            "inertia": moments,
        }
        joints = range(m.body_jntadr[index], m.body_jntadr[index] + m.body_jntnum[index])
        parent = self.name("BODY", m.body_parentid[index])
        place = {"xyz": _numbers(m.body_pos[index]), "quaternion": _numbers(m.body_quat[index])}
        if not len(joints):
            self.joints[f"{name}_fixed"] = {
                "type": "fixed", "parent": parent, "child": name, "origin": place
            }  # fmt: skip
        elif len(joints) == 1:
            self.read_joint(joints[0], parent, name, place)
        else:
            self.read_several(joints, parent, name, place)

    def read_several(self, joints: range, parent: str, name: str, place: dict[str, Any]) -> None:
        """Several joints of one body become a chain through bodies without mass."""
        stand = f"{name}:stand"
        self.bodies[stand] = {}
        self.joints[stand] = {"type": "fixed", "parent": parent, "child": stand, "origin": place}
        parent = stand
        for number, joint in enumerate(joints, 1):
            last = number == len(joints)
            child = name if last else f"{name}:{number}"
            if not last:
                self.bodies[child] = {}
            self.read_joint(joint, parent, child, {})
            parent = child

    def read_joint(self, index: int, parent: str, child: str, place: dict[str, Any]) -> None:
        """T = place · Trans(anchor) · motion(q − q0) · Trans(−anchor)."""
        m, kind = self.m, int(self.m.jnt_type[index])
        q, v = m.jnt_qposadr[index], m.jnt_dofadr[index]
        fields: dict[str, Any] = {"type": _TYPES[kind], "parent": parent, "child": child}
        if kind != _FREE:
            fields["origin"], fields["child_origin"] = self.anchors(index, kind, place)
        if kind in (_SLIDE, _HINGE):
            fields["axis"] = _numbers(m.jnt_axis[index])
            if m.jnt_limited[index]:
                lower, upper = _numbers(m.jnt_range[index])
                fields["limits"] = {"lower": lower, "upper": upper}
        if m.jnt_stiffness[index]:
            if kind not in (_SLIDE, _HINGE):
                raise UnsupportedError(
                    f"the {_TYPES[kind]} joint '{self.name('JOINT', index)}' has a spring",
                    remedy="use three hinges, or remove the spring",
                )
            fields["stiffness"] = float(m.jnt_stiffness[index])
            fields["rest"] = float(m.qpos_spring[q])
        dofs = slice(v, v + _SPEEDS[kind])
        self.refuse_polynomials(index, dofs)
        for key, values in (("damping", m.dof_damping), ("friction", m.dof_frictionloss)):
            if any(values[dofs]):
                fields[key] = _numbers(values[dofs])
        if any(m.dof_armature[dofs]):
            fields["motor"] = {
                "ratio": [1] * _SPEEDS[kind],
                "inertia": _numbers(m.dof_armature[dofs]),
            }
        self.joints[self.name("JOINT", index)] = fields

    def refuse_polynomials(self, index: int, dofs: slice) -> None:
        """Newer versions of MuJoCo have springs and dampers that are not linear."""
        spring = getattr(self.m, "jnt_stiffnesspoly", None)
        damper = getattr(self.m, "dof_dampingpoly", None)
        bent = (spring is not None and spring[index].any()) or (
            damper is not None and damper[dofs].any()
        )
        if bent:
            raise UnsupportedError(
                f"the joint '{self.name('JOINT', index)}' has a spring or damper of higher order",
                remedy="give one coefficient each to stiffness and damping",
            )

    def anchors(self, index: int, kind: int, place: dict[str, Any]) -> tuple[Any, Any]:
        import numpy as np

        m = self.m
        anchor, axis = np.array(m.jnt_pos[index]), np.array(m.jnt_axis[index])
        start = float(m.qpos0[m.jnt_qposadr[index]])
        origin, child_origin = {"xyz": _numbers(anchor)}, {"xyz": _numbers(anchor)}
        if place:
            rotation = _rotation(place["quaternion"])
            position = np.array(place["xyz"]) + rotation @ anchor if any(anchor) else place["xyz"]
            origin = {"xyz": _numbers(position), "quaternion": place["quaternion"]}
        if kind == _SLIDE:
            child_origin["xyz"] = _numbers(anchor + start * axis)
        elif kind == _HINGE and start:
            half = start / 2
            child_origin["quaternion"] = [float(np.cos(half)), *_numbers(np.sin(half) * axis)]
        return origin, child_origin

    def sites(self) -> Iterator[tuple[str, Any]]:
        for index in range(self.m.nsite):
            place = {
                "xyz": _numbers(self.m.site_pos[index]),
                "quaternion": _numbers(self.m.site_quat[index]),
            }
            name = self.name("SITE", index)
            name = f"{name}_site" if name in self.bodies else name
            body = self.name("BODY", self.m.site_bodyid[index])
            yield name, {"body": body, "origin": place}

    def equalities(self) -> tuple[dict[str, Any], dict[str, Any]]:
        loops: dict[str, Any] = {}
        constraints: dict[str, Any] = {}
        for index in range(self.m.neq):
            name, kind = self.name("EQUALITY", index), int(self.m.eq_type[index])
            if not self.m.eq_active0[index]:
                continue
            if kind in (_CONNECT, _WELD):
                loops[name] = self.loop(index, kind)
            elif kind == _JOINT:
                constraints[name] = self.coupling(index)
            else:
                raise UnsupportedError(
                    f"the equality '{name}' is neither connect, weld nor joint",
                    remedy="remove it from the file",
                )
        return loops, constraints

    def loop(self, index: int, kind: int) -> dict[str, Any]:
        m, data = self.m, _numbers(self.m.eq_data[index])
        one, other = int(m.eq_obj1id[index]), int(m.eq_obj2id[index])
        if m.eq_objtype[index] == self.kinds.mjOBJ_SITE:
            place = {"xyz": _numbers(m.site_pos[one]), "quaternion": _numbers(m.site_quat[one])}
            child = {"xyz": _numbers(m.site_pos[other]), "quaternion": _numbers(m.site_quat[other])}
            one, other = int(m.site_bodyid[one]), int(m.site_bodyid[other])
        elif kind == _CONNECT:
            place, child = {"xyz": data[:3]}, {"xyz": data[3:6]}
        else:
            place, child = {"xyz": data[3:6], "quaternion": data[6:10]}, {"xyz": data[:3]}
        return {
            "type": "spherical" if kind == _CONNECT else "fixed",
            "parent": self.name("BODY", one),
            "child": self.name("BODY", other),
            "origin": place,
            "child_origin": child,
        }

    def coupling(self, index: int) -> dict[str, Any]:
        """q1 − q1⁰ = Σ c_k (q2 − q2⁰)^k, expanded in q2."""
        from numpy.polynomial import Polynomial

        m = self.m
        one, other = int(m.eq_obj1id[index]), int(m.eq_obj2id[index])
        start = float(m.qpos0[m.jnt_qposadr[one]])
        series = Polynomial(m.eq_data[index][:5])
        fields: dict[str, Any] = {"type": "coupling", "joint": self.name("JOINT", one)}
        if other < 0:
            return fields | {"coefficients": [float(series.coef[0]) + start]}
        shifted = series(Polynomial([-float(m.qpos0[m.jnt_qposadr[other]]), 1.0])) + start
        coefficients = _numbers(shifted.trim().coef)
        return fields | {"other": self.name("JOINT", other), "coefficients": coefficients}

    def unused(self) -> Iterator[str]:
        for attribute, what in _LISTED.items():
            if count := int(getattr(self.m, attribute, 0)):
                yield f"{count} {what}"
        if self.m.opt.density or self.m.opt.viscosity:
            yield "density and viscosity of the medium"
        if (self.m.body_gravcomp != 0).any():
            yield "gravity compensation of bodies"
        for index in range(self.m.neq):
            if not self.m.eq_active0[index]:
                yield f"the inactive equality '{self.name('EQUALITY', index)}'"


def _rotation(quaternion: list[float]) -> Any:
    from ..algebra.rotations import quaternion_rotation

    return quaternion_rotation(quaternion)
