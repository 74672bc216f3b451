"""What names mean for a mechanism: its own names first, then those of papers.

`L_q1` is the derivative by the coordinate q1 where there is one of that name, else by the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca

from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError
from ..expressions import Exact, Expression, fold, parse
from ..formulations import derive
from ..kinematics.values import CasadiAlgebra
from ..mechanism import Mechanism
from ..mechanism.mechanism import replaced
from ..tape import Tape, record
from ..types import SX
from .body_quantities import BodyQuantities, center_doubles, center_frames
from .declarations import NOTHING, Declarations
from .motors import part_of
from .paper_symbols import BY, PaperSymbols, spellings, with_flat_names

Lift = Callable[[Exact], Any]
Find = Callable[[str], str | Expression | None]
_MEMBER = re.compile(r"([A-Za-z]\w*?)(\d+)")
_DERIVED = ("rate@", "partial@", "lagrange@")


def exact_float(value: Exact) -> float:
    """The number, where floating point has it."""
    if isinstance(value, Fraction) and Fraction(float(value)) == value:
        return float(value)
    raise UnsupportedError(
        f"{value} cannot stand here exactly", remedy="give it a name among the parameters"
    )


class Vocabulary:
    """The names that a mechanism gives a meaning to, and their expressions."""

    inputs: tuple[str, ...] = ("q", "qd", "qdd", "tau", "u", "lambda", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: Declarations = NOTHING) -> None:
        self.mechanism = mechanism
        self.declared = declared
        self.speeds: list[SX] = []
        centers = center_frames(mechanism)
        plain = replaced(mechanism, frames={**mechanism.frames, **declared.frames, **centers})
        self.eqs: Equations = derive(plain)
        self.names = self.eqs.names
        drives = len(self.names.actuators) or self.names.nv
        n_constraints = len(self.names.constraints)
        self.symbols = {key: self.eqs.symbols[key] for key in ("q", "qd", "qdd", "tau")}
        self.symbols["u"] = ca.SX.sym("u", drives)
        self.symbols["lambda"] = ca.SX.sym("lambda", n_constraints)
        self.symbols["t"] = self.eqs.symbols["t"] if self.names.in_time else ca.SX.sym("t")
        own = self.eqs.symbols["p"] if self.eqs.parameters else ca.SX.sym("p", 0)
        idle = [name for name in mechanism.parameters if name not in self.eqs.parameters]
        self.symbols["p"] = ca.vertcat(own, *(ca.SX.sym(name) for name in idle))
        self.parameters = [*self.eqs.parameters, *idle]
        self._doubles = center_doubles(self.eqs)
        self.hidden = frozenset({*self.eqs.constants, *self._doubles})
        """Parameters that are constants, or numbers that have another name as well."""
        self.bodies = BodyQuantities(self)
        self.papers: PaperSymbols = PaperSymbols(self)
        self._found: dict[str, SX | None] = {}
        self._tapes: dict[str, Tape] = {}

    # -- finding ----------------------------------------------------------------------------

    def expression(self, name: str) -> SX | None:
        """The expression of a name, if it has one."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def known(self, name: str) -> SX:
        found = self.expression(name)
        assert found is not None, name
        return found

    def __contains__(self, name: str) -> bool:
        return self.expression(name) is not None

    def _find(self, name: str) -> SX | None:
        if "@" in name:
            return self._derived(name) if name.startswith(_DERIVED) else part_of(self, name)
        for spelling in dict.fromkeys((name, name.replace("_", ""))):
            if spelling in self.own:
                return self.own[spelling]
        return None if self.is_stray(name) else self.papers.expression(name)

    def collision(self, name: str) -> str:
        """A sentence for a name of the mechanism that means something else in papers."""
        flat = name.replace("_", "")
        own = self.own.get(name, self.own.get(flat))
        if own is not None:
            other = self.papers.expression(name)
            if other is None or ca.is_equal(ca.SX(own), ca.SX(other), 2):
                return ""
            return f"{name} is the mechanism's own {name}, not what papers call so."
        match = BY.fullmatch(name)
        variable = self.papers.variable(match[4]) if match is not None else None
        if match is None or variable is None or name not in self:
            return ""
        by, place = match[4].replace("_", ""), re.fullmatch(r"d?q(\d+)", match[4].replace("_", ""))
        if place is None or int(place[1]) == variable[1] + 1 or by.lstrip("d") not in self.own:
            return ""
        return f"{match[4]} in {name} is the coordinate of that name, not coordinate {place[1]}."

    def is_customary(self, name: str) -> bool:
        """Whether a name has its meaning from papers, not from the mechanism."""
        return name in self and name not in self.own and name.replace("_", "") not in self.own

    def family_of(self, name: str) -> list[str]:
        """The mechanism's names, rates of coordinates included, that differ from a name by their
        number alone."""
        for dots in ("", "d", "dd"):
            match = _MEMBER.fullmatch(name.removeprefix(dots)) if name.startswith(dots) else None
            family = self.families.get(match[1].rstrip("_"), []) if match else []
            if family and (not dots or family[0] in self.names.qd):
                return [f"{dots}{member}" for member in family]
        return []

    def _derived(self, name: str) -> SX:
        """Names that the checker makes itself: `rate@M11`, `partial@q@0@M11`, and `lagrange@0`, the
        left side of Lagrange's first equation."""
        kind, _, rest = name.partition("@")
        q, qd, qdd, t = (self.symbols[key] for key in ("q", "qd", "qdd", "t"))
        if kind == "lagrange":
            k = int(rest)
            return self.papers.momentum_rates[k] - ca.jacobian(self.papers.T - self.papers.V, q[k])
        if kind == "partial":
            column, index, inner = rest.split("@", 2)
            return ca.jacobian(self.known(inner), self.symbols[column][int(index)])
        whole = ca.SX(self.known(rest))
        along = ca.jtimes(whole, q, self.eqs.rates @ qd) + ca.jtimes(whole, qd, qdd)
        return along + ca.jacobian(whole, t)

    @cached_property
    def own(self) -> dict[str, SX]:
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
            for spelling in spellings(name):
                for key, word in zip(("qd", "qdd"), spelling, strict=True):
                    found.setdefault(word, columns[key][i])
        return with_flat_names(found)

    @property
    def speed_names(self) -> list[str]:
        """The names of q̇: dq1, or that of a speed that is not the rate of a coordinate."""
        own = self.names
        return [f"d{name}" if name in own.q else name for name in own.qd]

    @property
    def given(self) -> dict[str, SX]:
        """Names that stand for one symbol each."""
        return {**self.papers.forces, **self.own}

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The mechanism's names with a number at their end, by what stands before it."""
        found: dict[str, list[str]] = {}
        drives = [] if self.names.actuators else [f"tau{i + 1}" for i in range(self.names.nv)]
        for name in (*self.parameters, *self.names.q, *self.names.actuators, *drives):
            if name not in self.hidden and (match := _MEMBER.fullmatch(name)):
                found.setdefault(match[1].rstrip("_"), []).append(name)
        return found

    def is_stray(self, name: str) -> bool:
        """Whether a name looks like one of a family of the mechanism's, but is not: m3 of two."""
        if not self.family_of(name) or name.replace("_", "") in self.given:
            return False
        return self.papers.expression(name) is None

    def canonical(self, name: str) -> str:
        """The mechanism's own spelling of a name: m1 for m_1."""
        if name in self.own and name not in self._spellings:
            return name
        return self._spellings.get(name.replace("_", ""), name)

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """Names without underscores, and what they are in the mechanism."""
        found: dict[str, str] = {}
        for name in (*self.parameters, *self.names.q, *self.names.actuators):
            found.setdefault(name.replace("_", ""), name)
        return found

    # -- quantities -------------------------------------------------------------------------

    def one(self, function: str, *frame: str) -> SX:
        if frame and frame[0] in self.declared.composed:
            turning, moving = (self.one(function, x) for x in self.declared.composed[frame[0]])
            if function == "placement":
                return ca.vertcat(ca.horzcat(turning[:3, :3], moving[:3, 3]), turning[3, :])
            return ca.vertcat(turning[:3, :], moving[3:, :])
        found = ca.SX(self.eqs.expressions(function, *frame)[0])
        return ca.substitute(found, *self._substitution) if frame and self._doubles else found

    @cached_property
    def _substitution(self) -> tuple[SX, SX]:
        """Symbols that only frames at mass centres have, and those of the bodies for them."""
        place = {name: i for i, name in enumerate(self.parameters)}
        columns = (self._doubles.keys(), self._doubles.values())
        old, new = (ca.vertcat(*(self.symbols["p"][place[x]] for x in names)) for names in columns)
        return old, new

    @property
    def owners(self) -> list[str]:
        """What has axes and a velocity; V_q1 is a derivative where q1 is a coordinate too."""
        declared, own = self.declared, self.mechanism
        every = [*own.bodies, *own.frames, *declared.frames, *declared.composed]
        return [name for name in every if name not in self.names.q]

    def choose_speeds(self, speeds: Sequence[Expression], find: Find) -> None:
        """Generalized speeds, by which velocities have their parts."""
        self.speeds = [self.read(speed, find) for speed in speeds]
        self._found = {name: x for name, x in self._found.items() if "@" not in name}

    def read(self, expression: Expression, find: Find, lift: Lift = exact_float) -> SX:
        """An expression of their names as one of our symbols."""
        known: dict[str, SX] = {}

        def value(name: str) -> SX:
            if name not in known:
                meaning = find(name)
                if meaning is None:
                    raise NameNotFoundError(f"'{name}' has no meaning for {self.mechanism.name}")
                if isinstance(meaning, str):
                    known[name] = self.known(meaning)
                else:
                    known[name] = fold(meaning, algebra, value)
            return known[name]

        algebra = CasadiAlgebra(lift)
        found = fold(expression, algebra, value)
        return ca.SX(lift(found) if isinstance(found, Fraction) else found)

    def mass_at(self, frame: str) -> SX | None:
        """Of a particle that the text declares there."""
        if frame not in self.declared.masses:
            return None
        expression = parse(self.declared.masses[frame])
        return self.read(expression, lambda name: name if name in self.parameters else None)

    # -- tapes ------------------------------------------------------------------------------

    def function(self, name: str) -> Tape:
        """A function of the equations as a tape, recorded once."""
        if name not in self._tapes:
            whole = self.eqs.function(name)
            kept = [out for out in whole.name_out() if out != "pivot"]  # sizes have no meaning here
            self._tapes[name] = record(whole.factory(name, whole.name_in(), kept))
        return self._tapes[name]

    def tape(self, wanted: Sequence[str]) -> Tape:
        """All wanted names as functions of the motion, the drives, and the parameters."""
        inputs = [self.symbols[key] for key in self.inputs]
        columns = ca.vertcat(*(ca.SX(self.known(name)) for name in wanted))
        merged = ca.cse([ca.densify(columns)])
        return record(ca.Function("wanted", inputs, merged, list(self.inputs), ["wanted"]))
