"""A mechanism that texts are about: its equations, its symbols, and how texts spell its names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import casadi as ca

from ..equations import Equations
from ..formulations import derive
from ..mechanism import Mechanism, MechanismNames, replace_part_fields
from ..quantities import quantity_entry_names
from ..tape import Tape, record_tape
from ..types import SX
from .body_symbol_values import frames_for_center_symbols, parameters_hidden_from_texts
from .declarations import NO_DECLARATIONS, TextDeclarations
from .frame_names import FrameNames
from .symbol_patterns import RateSpelledName

_NUMBERED_NAME = re.compile(r"([A-Za-z]\w*?)(\d+)")


class CheckedMechanism:
    """The equations, the symbols and the spellings of names of a mechanism that texts are about."""

    names: MechanismNames
    parameters: list[str]

    def __init__(self, mechanism: Mechanism, declared: TextDeclarations = NO_DECLARATIONS) -> None:
        self.mechanism = mechanism
        self.declarations = declared
        centers = frames_for_center_symbols(mechanism)
        plain = replace_part_fields(
            mechanism, frames={**mechanism.frames, **declared.frames, **centers}
        )
        self.eqs: Equations = derive(plain)
        self.names = self.eqs.names
        drives = len(self.names.actuators) or self.names.nv
        n_constraints = len(self.names.constraints)
        self.symbols = {key: self.eqs.symbols[key] for key in ("q", "qd", "qdd", "tau")}
        self.symbols["u"] = ca.SX.sym("u", drives)
        self.symbols["lambda"] = ca.SX.sym("lambda", n_constraints)
        self.symbols["t"] = (
            self.eqs.symbols["t"] if self.names.is_time_dependent else ca.SX.sym("t")
        )
        own = self.eqs.symbols["p"] if self.eqs.parameters else ca.SX.sym("p", 0)
        idle = [name for name in mechanism.parameters if name not in self.eqs.parameters]
        self.symbols["p"] = ca.vertcat(own, *(ca.SX.sym(name) for name in idle))
        self.parameters = [*self.eqs.parameters, *idle]
        self.duplicate_parameters = parameters_hidden_from_texts(self.eqs)
        self.hidden_parameters = frozenset({*self.eqs.constants, *self.duplicate_parameters})
        """Parameters that are constants, or numbers that have another name as well."""
        self._tape_cache: dict[str, Tape] = {}

    # -- names of the motion ---------------------------------------------------------------

    @property
    def coordinate_names(self) -> Sequence[str]:
        """The names of the generalized coordinates."""
        return self.names.q

    @property
    def spring_count(self) -> int:
        """The number of springs in place of constraints, which exact equations do not have."""
        return 0

    @property
    def coordinates_with_rates(self) -> list[tuple[int, str]]:
        """Coordinates that have a velocity of their own, with its index."""
        names = self.names
        return [(k, RateSpelledName(name)) for k, name in enumerate(names.qd) if name in names.q]

    @property
    def velocities_without_coordinate(self) -> list[tuple[int, str]]:
        """Generalized velocities that are not rates of coordinates, with their indices."""
        return [(k, name) for k, name in enumerate(self.names.qd) if name not in self.names.q]

    @property
    def multiplier_names(self) -> list[tuple[int, str]]:
        """The names of the multipliers as they are printed, without lambda_, with their indices."""
        names = quantity_entry_names(self.names)["lambda"]
        return [(k, name.removeprefix("lambda_")) for k, name in enumerate(names)]

    @property
    def velocity_names(self) -> list[str]:
        """The names of q̇: dq1, or that of a speed that is not the rate of a coordinate."""
        return self.names.velocity_symbols

    @property
    def frame_names(self) -> FrameNames:
        """The names that have axes and a velocity; V_q1 is a derivative where q1 is a coordinate
        too."""
        declared, own = self.declarations, self.mechanism
        every = [*own.bodies, *own.frames, *declared.frames, *declared.composed_frames]
        known = (*self.parameters, *self.names.q, *self.names.actuators)
        return FrameNames((name for name in every if name not in self.names.q), known)

    # -- spellings --------------------------------------------------------------------------

    @cached_property
    def name_families(self) -> dict[str, list[str]]:
        """The mechanism's names with a number at their end, by what stands before it."""
        found: dict[str, list[str]] = {}
        drives = [] if self.names.actuators else [f"tau{i + 1}" for i in range(self.names.nv)]
        for name in (*self.parameters, *self.names.q, *self.names.actuators, *drives):
            if name not in self.hidden_parameters and (match := _NUMBERED_NAME.fullmatch(name)):
                found.setdefault(match[1].rstrip("_"), []).append(name)
        return found

    def family_members(self, name: str) -> list[str]:
        """The mechanism's names, rates of coordinates included, that differ from a name by their
        number alone."""
        for dots in ("", "d", "dd"):
            match = (
                _NUMBERED_NAME.fullmatch(name.removeprefix(dots)) if name.startswith(dots) else None
            )
            family = self.name_families.get(match[1].rstrip("_"), []) if match else []
            if family and (not dots or family[0] in self.names.qd):
                return [f"{dots}{member}" for member in family]
        return []

    @cached_property
    def flat_spellings(self) -> dict[str, str]:
        """Names without underscores, and what they are in the mechanism; a rate, as dq1 beside a
        damping d_q1, keeps its meaning."""
        rates = {f"{dots}{name}" for name in self.names.qd for dots in ("d", "dd")}
        found: dict[str, str] = {}
        for name in (*self.parameters, *self.names.q, *self.names.actuators):
            if (flat := name.replace("_", "")) not in rates:
                found.setdefault(flat, name)
        return found

    # -- quantities -------------------------------------------------------------------------

    def quantity_expression(self, function: str, *frame: str) -> SX:
        """The first output of a function of the mechanism, or of one of its frames."""
        if frame and frame[0] in self.declarations.composed_frames:
            turning, moving = (
                self.quantity_expression(function, x)
                for x in self.declarations.composed_frames[frame[0]]
            )
            if function == "placement":
                return ca.vertcat(ca.horzcat(turning[:3, :3], moving[:3, 3]), turning[3, :])
            return ca.vertcat(turning[:3, :], moving[3:, :])
        found = ca.SX(self.eqs.expressions(function, *frame)[0])
        return (
            ca.substitute(found, *self._center_substitution)
            if frame and self.duplicate_parameters
            else found
        )

    @cached_property
    def _center_substitution(self) -> tuple[SX, SX]:
        """Symbols that only frames at centres of mass have, and those of the bodies for them."""
        place = {name: i for i, name in enumerate(self.parameters)}
        columns = (self.duplicate_parameters.keys(), self.duplicate_parameters.values())
        old, new = (ca.vertcat(*(self.symbols["p"][place[x]] for x in names)) for names in columns)
        return old, new

    def quantity_tape(self, name: str) -> Tape:
        """A function of the equations as a tape, recorded once."""
        if name not in self._tape_cache:
            whole = self.eqs.function(name)
            kept = [out for out in whole.name_out() if out != "pivot"]  # sizes have no meaning here
            self._tape_cache[name] = record_tape(whole.factory(name, whole.name_in(), kept))
        return self._tape_cache[name]
