"""The meaning of names for a mechanism: its own names first, then those of papers.

`L_q1` is the derivative by the coordinate q1 where there is one of that name, else by the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca

from ..algebra.casadi_algebra import CasadiAlgebra
from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError
from ..expressions import ExactNumber, Expression, fold_expression, parse_expression
from ..formulations import derive
from ..mechanism import Mechanism
from ..mechanism.mechanism import replace_fields
from ..tape import Tape, record_tape
from ..types import SX
from .body_symbols import BodySymbols, center_of_mass_frames, duplicate_center_parameters
from .declarations import NO_DECLARATIONS, TextDeclarations
from .dual_symbols import dual_symbol_part
from .paper_symbols import DERIVATIVE_SYMBOL, PaperSymbols, add_flat_names, rate_spellings

NumberConverter = Callable[[ExactNumber], Any]
MeaningLookup = Callable[[str], str | Expression | None]
_NUMBERED_NAME = re.compile(r"([A-Za-z]\w*?)(\d+)")
_DERIVED_NAME_PREFIXES = ("rate@", "partial@", "lagrange@")


def require_exact_float(value: ExactNumber) -> float:
    """The number, where floating point has it."""
    if isinstance(value, Fraction) and Fraction(float(value)) == value:
        return float(value)
    raise UnsupportedError(
        f"{value} cannot be represented exactly here", remedy="give it a name among the parameters"
    )


class Vocabulary:
    """The names that a mechanism gives a meaning to, and their expressions."""

    inputs: tuple[str, ...] = ("q", "qd", "qdd", "tau", "u", "lambda", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: TextDeclarations = NO_DECLARATIONS) -> None:
        self.mechanism = mechanism
        self.declarations = declared
        self.generalized_speeds: list[SX] = []
        centers = center_of_mass_frames(mechanism)
        plain = replace_fields(mechanism, frames={**mechanism.frames, **declared.frames, **centers})
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
        self._duplicate_parameters = duplicate_center_parameters(self.eqs)
        self.hidden_parameters = frozenset({*self.eqs.constants, *self._duplicate_parameters})
        """Parameters that are constants, or numbers that have another name as well."""
        self.body_symbols = BodySymbols(self)
        self.paper_symbols: PaperSymbols = PaperSymbols(self)
        self._expression_cache: dict[str, SX | None] = {}
        self._tape_cache: dict[str, Tape] = {}

    # -- finding ----------------------------------------------------------------------------

    def find_expression(self, name: str) -> SX | None:
        """The expression of a name, if it has one."""
        if name not in self._expression_cache:
            self._expression_cache[name] = self._resolve_symbol(name)
        return self._expression_cache[name]

    def require_expression(self, name: str) -> SX:
        found = self.find_expression(name)
        assert found is not None, name
        return found

    def __contains__(self, name: str) -> bool:
        return self.find_expression(name) is not None

    def _resolve_symbol(self, name: str) -> SX | None:
        if "@" in name:
            return (
                self._derived_symbol(name)
                if name.startswith(_DERIVED_NAME_PREFIXES)
                else dual_symbol_part(self, name)
            )
        for spelling in dict.fromkeys((name, name.replace("_", ""))):
            if spelling in self.mechanism_symbols:
                return self.mechanism_symbols[spelling]
        return None if self.is_stray_name(name) else self.paper_symbols.find_expression(name)

    def collision_sentence(self, name: str) -> str:
        """A sentence for a name of the mechanism that means something else in papers."""
        flat = name.replace("_", "")
        own = self.mechanism_symbols.get(name, self.mechanism_symbols.get(flat))
        if own is not None:
            other = self.paper_symbols.find_expression(name)
            if other is None or ca.is_equal(ca.SX(own), ca.SX(other), 2):
                return ""
            return f"{name} is the mechanism's own {name}, not what papers call so."
        match = DERIVATIVE_SYMBOL.fullmatch(name)
        variable = self.paper_symbols.derivative_variable(match[4]) if match is not None else None
        if match is None or variable is None or name not in self:
            return ""
        by, place = match[4].replace("_", ""), re.fullmatch(r"d?q(\d+)", match[4].replace("_", ""))
        if (
            place is None
            or int(place[1]) == variable[1] + 1
            or by.lstrip("d") not in self.mechanism_symbols
        ):
            return ""
        return f"{match[4]} in {name} is the coordinate of that name, not coordinate {place[1]}."

    def is_paper_symbol(self, name: str) -> bool:
        """Whether a name has its meaning from papers, not from the mechanism."""
        return (
            name in self
            and name not in self.mechanism_symbols
            and name.replace("_", "") not in self.mechanism_symbols
        )

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

    def _derived_symbol(self, name: str) -> SX:
        """Names that the checker makes itself: `rate@M11`, `partial@q@0@M11`, and `lagrange@0`, the
        left side of Lagrange's first equation."""
        kind, _, rest = name.partition("@")
        q, qd, qdd, t = (self.symbols[key] for key in ("q", "qd", "qdd", "t"))
        if kind == "lagrange":
            k = int(rest)
            return self.paper_symbols.momentum_rates[k] - ca.jacobian(
                self.paper_symbols.kinetic_energy - self.paper_symbols.potential_energy, q[k]
            )
        if kind == "partial":
            column, index, inner = rest.split("@", 2)
            return ca.jacobian(self.require_expression(inner), self.symbols[column][int(index)])
        whole = ca.SX(self.require_expression(rest))
        along = ca.jtimes(whole, q, self.eqs.rate_matrix @ qd) + ca.jtimes(whole, qd, qdd)
        return along + ca.jacobian(whole, t)

    @cached_property
    def mechanism_symbols(self) -> dict[str, SX]:
        """The mechanism's names: parameters, motion, actuators, and their other spellings; what
        comes first stays."""
        found = {name: self.symbols["p"][i] for i, name in enumerate(self.parameters)}
        columns = {key: ca.vertsplit(self.symbols[key]) for key in ("q", "qd", "qdd", "u")}
        for i, name in enumerate(self.names.q):
            found.setdefault(name, columns["q"][i])
        for i, name in enumerate(self.names.actuators):
            found.setdefault(name, columns["u"][i])
        for i, name in enumerate(self.names.qd):
            if name not in self.names.q:  # a speed that is not the rate of a coordinate
                found.setdefault(name, columns["qd"][i])
                found.setdefault(f"d{name}", columns["qdd"][i])
                continue
            for spelling in rate_spellings(name):
                for key, word in zip(("qd", "qdd"), spelling, strict=True):
                    found.setdefault(word, columns[key][i])
        return add_flat_names(found)

    @property
    def velocity_names(self) -> list[str]:
        """The names of q̇: dq1, or that of a speed that is not the rate of a coordinate."""
        own = self.names
        return [f"d{name}" if name in own.q else name for name in own.qd]

    @property
    def atomic_symbols(self) -> dict[str, SX]:
        """Names that stand for one symbol each."""
        return {**self.paper_symbols.force_symbols, **self.mechanism_symbols}

    @cached_property
    def name_families(self) -> dict[str, list[str]]:
        """The mechanism's names with a number at their end, by what stands before it."""
        found: dict[str, list[str]] = {}
        drives = [] if self.names.actuators else [f"tau{i + 1}" for i in range(self.names.nv)]
        for name in (*self.parameters, *self.names.q, *self.names.actuators, *drives):
            if name not in self.hidden_parameters and (match := _NUMBERED_NAME.fullmatch(name)):
                found.setdefault(match[1].rstrip("_"), []).append(name)
        return found

    def is_stray_name(self, name: str) -> bool:
        """Whether a name looks like one of a family of the mechanism's, but is not: m3 of two."""
        if not self.family_members(name) or name.replace("_", "") in self.atomic_symbols:
            return False
        return self.paper_symbols.find_expression(name) is None

    def canonical_name(self, name: str) -> str:
        """The mechanism's own spelling of a name: m1 for m_1."""
        if name in self.mechanism_symbols and name not in self._flat_spellings:
            return name
        return self._flat_spellings.get(name.replace("_", ""), name)

    @cached_property
    def _flat_spellings(self) -> dict[str, str]:
        """Names without underscores, and what they are in the mechanism."""
        found: dict[str, str] = {}
        for name in (*self.parameters, *self.names.q, *self.names.actuators):
            found.setdefault(name.replace("_", ""), name)
        return found

    # -- quantities -------------------------------------------------------------------------

    def quantity_expression(self, function: str, *frame: str) -> SX:
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
            if frame and self._duplicate_parameters
            else found
        )

    @cached_property
    def _center_substitution(self) -> tuple[SX, SX]:
        """Symbols that only frames at centres of mass have, and those of the bodies for them."""
        place = {name: i for i, name in enumerate(self.parameters)}
        columns = (self._duplicate_parameters.keys(), self._duplicate_parameters.values())
        old, new = (ca.vertcat(*(self.symbols["p"][place[x]] for x in names)) for names in columns)
        return old, new

    @property
    def frame_names(self) -> list[str]:
        """The names that have axes and a velocity; V_q1 is a derivative where q1 is a coordinate
        too."""
        declared, own = self.declarations, self.mechanism
        every = [*own.bodies, *own.frames, *declared.frames, *declared.composed_frames]
        return [name for name in every if name not in self.names.q]

    def set_generalized_speeds(self, speeds: Sequence[Expression], find: MeaningLookup) -> None:
        """Generalized speeds, by which velocities have their parts."""
        self.generalized_speeds = [self.translate_expression(speed, find) for speed in speeds]
        self._expression_cache = {
            name: x for name, x in self._expression_cache.items() if "@" not in name
        }

    def translate_expression(
        self,
        expression: Expression,
        find: MeaningLookup,
        lift: NumberConverter = require_exact_float,
    ) -> SX:
        """An expression of their names as one of our symbols."""
        known: dict[str, SX] = {}

        def value(name: str) -> SX:
            if name not in known:
                meaning = find(name)
                if meaning is None:
                    raise NameNotFoundError(f"'{name}' has no meaning for {self.mechanism.name}")
                if isinstance(meaning, str):
                    known[name] = self.require_expression(meaning)
                else:
                    known[name] = fold_expression(meaning, algebra, value)
            return known[name]

        algebra = CasadiAlgebra(lift)
        found = fold_expression(expression, algebra, value)
        return ca.SX(lift(found) if isinstance(found, Fraction) else found)

    def particle_mass(self, frame: str) -> SX | None:
        """The mass of a particle that the text declares there."""
        if frame not in self.declarations.particle_masses:
            return None
        expression = parse_expression(self.declarations.particle_masses[frame])
        return self.translate_expression(
            expression, lambda name: name if name in self.parameters else None
        )

    # -- tapes ------------------------------------------------------------------------------

    def quantity_tape(self, name: str) -> Tape:
        """A function of the equations as a tape, recorded once."""
        if name not in self._tape_cache:
            whole = self.eqs.function(name)
            kept = [out for out in whole.name_out() if out != "pivot"]  # sizes have no meaning here
            self._tape_cache[name] = record_tape(whole.factory(name, whole.name_in(), kept))
        return self._tape_cache[name]

    def record_names(self, wanted: Sequence[str]) -> Tape:
        """All wanted names as functions of the motion, the drives, and the parameters."""
        inputs = [self.symbols[key] for key in self.inputs]
        columns = ca.vertcat(*(ca.SX(self.require_expression(name)) for name in wanted))
        merged = ca.cse([ca.densify(columns)])
        return record_tape(ca.Function("wanted", inputs, merged, list(self.inputs), ["wanted"]))
