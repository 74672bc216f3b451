"""Tendons of an MJCF file as named lengths: fixed ones, and spatial ones over sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import UnsupportedError
from .mjcf_forces import MjcfSwitches, NameOfObject
from .mjcf_ignored import leave_out_remedy
from .unique_names import make_unique_element_name

if TYPE_CHECKING:
    import mujoco

Fields = dict[str, object]

_JOINT, _PULLEY, _SITE = 1, 2, 3
"""The values of mjtWrap for what has an equivalent here; others are geoms to wrap around."""


class MjcfTendonReader:
    """Converts the tendons of a compiled model, and the equalities between them.

    A tendon that wraps around geoms has no equivalent. It is left out with a note if nothing acts
    along it, and refused otherwise.
    """

    def __init__(self, model: mujoco.MjModel, on: MjcfSwitches, name: NameOfObject) -> None:
        self.m, self.on, self.name = model, on, name
        self.notes: list[str] = []
        self.lengths: dict[str, Fields] = {}

    def read_tendons(self) -> dict[str, Fields]:
        """Return the lengths by name, and note tendons that are left out."""
        for index in range(self.m.ntendon):
            name = self.name("TENDON", index)
            if self.m.tendon_actfrclimited[index]:
                self.notes.append(f"tendon {name}: the range of its actuators' force")
            effects = self.read_effects(index)
            try:
                self.lengths[name] = self.read_path(index) | effects
            except UnsupportedError as error:
                if effects:
                    raise
                self.notes.append(error.what)
        return self.lengths

    def length_name(self, index: int) -> str:
        """Return the name of the length of a tendon; raise an `UnsupportedError` if it has none."""
        name = self.name("TENDON", index)
        if name not in self.lengths:
            self.read_path(index)
            raise UnsupportedError(f"acts along the tendon '{name}', which is left out")
        return name

    # -- what it is ------------------------------------------------------------------------------

    def read_path(self, index: int) -> Fields:
        """Return the factors of a fixed tendon, or the path of a spatial one."""
        m, first = self.m, int(self.m.tendon_adr[index])
        wraps = range(first, first + int(m.tendon_num[index]))
        kinds = [int(m.wrap_type[k]) for k in wraps]
        if any(kind not in (_JOINT, _PULLEY, _SITE) for kind in kinds):
            raise UnsupportedError(
                f"the tendon '{self.name('TENDON', index)}' wraps around a geom",
                remedy=leave_out_remedy("let it run over sites", "tendons"),
            )
        if _JOINT in kinds:
            return {"factors": self.read_factors(wraps)}
        return self.join_branches(self.name("TENDON", index), list(self.read_branches(wraps)))

    def read_factors(self, wraps: range) -> dict[str, float]:
        """Return the coefficients of a fixed tendon by joint."""
        found: dict[str, float] = {}
        for k in wraps:
            joint = self.name("JOINT", int(self.m.wrap_objid[k]))
            found[joint] = found.get(joint, 0.0) + float(self.m.wrap_prm[k])
        return {joint: factor for joint, factor in found.items() if factor}

    def read_branches(self, wraps: range) -> Iterator[tuple[float, list[str]]]:
        """Yield the branches between pulleys: the divisor, and the sites, none twice in a row."""
        divisor, path = 1.0, list[str]()
        for k in wraps:
            if int(self.m.wrap_type[k]) == _PULLEY:
                yield divisor, path
                divisor, path = float(self.m.wrap_prm[k]), []
                continue
            site = self.name("SITE", int(self.m.wrap_objid[k]))
            if path[-1:] != [site]:
                path.append(site)
        yield divisor, path

    def join_branches(self, name: str, branches: list[tuple[float, list[str]]]) -> Fields:
        """Return one path, or the sum of several, each a length of its own."""
        branches = [(divisor, path) for divisor, path in branches if len(path) > 1]
        if len(branches) == 1 and branches[0][0] == 1.0:
            return {"path": branches[0][1]}
        factors = {}
        taken = {self.name("TENDON", k) for k in range(self.m.ntendon)}
        for number, (divisor, path) in enumerate(branches, 1):
            branch = make_unique_element_name(f"{name}:{number}", taken)
            self.lengths[branch] = {"path": path}
            factors[branch] = 1 / divisor
        return {"factors": factors}

    # -- what acts along it ----------------------------------------------------------------------

    def read_effects(self, index: int) -> Fields:
        """Return spring, damper, friction, armature and limits of a tendon."""
        m, fields = self.m, Fields()
        if self.on.springs and m.tendon_stiffness[index]:
            lower, upper = (float(x) for x in m.tendon_lengthspring[index])
            fields["stiffness"] = float(m.tendon_stiffness[index])
            fields["rest"] = lower if lower == upper else [lower, upper]
        if self.on.dampers and m.tendon_damping[index]:
            fields["damping"] = float(m.tendon_damping[index])
        if self.on.friction and m.tendon_frictionloss[index]:
            fields["friction"] = float(m.tendon_frictionloss[index])
        if m.tendon_armature[index]:
            fields["armature"] = float(m.tendon_armature[index])
        if self.on.limits and m.tendon_limited[index]:
            lower, upper = (float(x) for x in m.tendon_range[index])
            fields["limits"] = {"lower": lower, "upper": upper}
        return fields

    def read_equality(self, index: int) -> Fields:
        """Return the constraint L1 − L1⁰ = Σ c_k (L2 − L2⁰)^k, expanded in L2."""
        from numpy.polynomial import Polynomial

        m, other = self.m, int(self.m.eq_obj2id[index])
        one = int(m.eq_obj1id[index])
        series = Polynomial([float(x) for x in m.eq_data[index][:5]])
        fields: Fields = {"type": "length", "length": self.length_name(one)}
        if other >= 0:
            fields["other"] = self.length_name(other)
            series = series(Polynomial([-float(m.tendon_length0[other]), 1]))
        else:
            series = Polynomial(series.coef[:1])
        series = (series + float(m.tendon_length0[one])).trim()
        return fields | {"coefficients": [float(c) for c in series.coef]}
