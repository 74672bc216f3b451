"""Equalities of an MJCF file: connects and welds close loops, others are couplings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UnsupportedError
from ..mechanism import JOINT_KINDS, JointKind
from .mjcf_forces import MjcfSwitches
from .mjcf_ignored import leave_out_remedy
from .mjcf_names import MjcfNames
from .mjcf_placements import MjcfPlacement, mjcf_floats, site_placement
from .mjcf_tendons import MjcfTendonReader

if TYPE_CHECKING:
    import mujoco

_MJCF_EQUALITY_TYPES = ("connect", "weld")
"""MJCF's words, in the order of MuJoCo's mjtEq."""
_CONNECT_EQUALITY, _WELD_EQUALITY, _JOINT_EQUALITY, _TENDON_EQUALITY = range(4)
_TORQUE_SCALE = 10
"""Where the data of a weld have its `torquescale`; with 0 it holds no orientation."""


class MjcfEqualityReader:
    """Converts the equalities of a compiled model."""

    def __init__(
        self,
        model: mujoco.MjModel,
        on: MjcfSwitches,
        names: MjcfNames,
        tendons: MjcfTendonReader,
    ) -> None:
        self.m, self.switches, self.names, self.tendons = model, on, names, tendons

    def read_equalities(self) -> dict[str, dict[str, object]]:
        """Return loops and couplings by name, in the order of the file."""
        found: dict[str, dict[str, object]] = {}
        for index in range(self.m.neq):
            name, kind = self.names.name("EQUALITY", index), int(self.m.eq_type[index])
            if not self.m.eq_active0[index] or not self.switches.equalities:
                continue
            if kind in (_CONNECT_EQUALITY, _WELD_EQUALITY):
                found[name] = self.read_loop(index, kind)
            elif kind == _JOINT_EQUALITY:
                found[name] = self.read_coupling(index)
            elif kind == _TENDON_EQUALITY:
                found[name] = self.tendons.read_equality(index)
            else:
                raise UnsupportedError(
                    f"the equality '{name}' is neither connect, weld, joint nor tendon",
                    remedy=leave_out_remedy("remove it from the file", "flexes"),
                )
        return found

    def read_loop(self, index: int, kind: int) -> dict[str, object]:
        """Return the fields of the loop that a connect or weld equality closes."""
        m, data = self.m, mjcf_floats(self.m.eq_data[index])
        one, other = int(m.eq_obj1id[index]), int(m.eq_obj2id[index])
        holds_orientation = kind == _WELD_EQUALITY and data[_TORQUE_SCALE] != 0
        word = _MJCF_EQUALITY_TYPES[_WELD_EQUALITY if holds_orientation else _CONNECT_EQUALITY]
        place: MjcfPlacement
        child: MjcfPlacement
        if m.eq_objtype[index] == self.names.kinds.mjOBJ_SITE:
            place, child = site_placement(m, one), site_placement(m, other)
            one, other = int(m.site_bodyid[one]), int(m.site_bodyid[other])
        elif kind == _CONNECT_EQUALITY:
            place, child = {"xyz": data[:3]}, {"xyz": data[3:6]}
        else:
            place, child = {"xyz": data[3:6], "quaternion": data[6:10]}, {"xyz": data[:3]}
        return {
            "type": _joint_kind_of_mjcf_equality(word).name,
            "parent": self.names.name("BODY", one),
            "child": self.names.name("BODY", other),
            "origin": place,
            "child_origin": child,
        }

    def read_coupling(self, index: int) -> dict[str, object]:
        """Return the fields of the coupling q1 − q1⁰ = Σ c_k (q2 − q2⁰)^k, expanded in q2."""
        from numpy.polynomial import Polynomial

        m = self.m
        one, other = int(m.eq_obj1id[index]), int(m.eq_obj2id[index])
        start = float(m.qpos0[m.jnt_qposadr[one]])
        series = Polynomial(m.eq_data[index][:5])
        fields: dict[str, object] = {"type": "coupling", "joint": self.names.name("JOINT", one)}
        if other < 0:
            return fields | {"coefficients": [float(series.coef[0]) + start]}
        shifted = series(Polynomial([-float(m.qpos0[m.jnt_qposadr[other]]), 1.0])) + start
        coefficients = mjcf_floats(shifted.trim().coef)
        return fields | {"other": self.names.name("JOINT", other), "coefficients": coefficients}


def _joint_kind_of_mjcf_equality(word: str) -> JointKind:
    """Return the kind of joint that closes a loop as an MJCF equality does."""
    return next(kind for kind in JOINT_KINDS.values() if kind.mjcf_equality == word)
