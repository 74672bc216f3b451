"""Closed forms: the entries of a quantity as canonical polynomials, printed as a book would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..algebra.exact.angles import Form
from ..algebra.exact.quotient_ring import Budget, QuotientRing
from ..algebra.exact.quotients import Quotient
from ..algebra.exact.trig import Reading, read_trig
from ..equations import Equations
from ..errors import LinkwrightError
from ..expressions import names as names_in
from ..formulations import derive
from ..kinematics.build import build_tree
from ..mechanism import Mechanism
from ..ports import Port
from ..quantities import entry_names
from .collect import WAYS, Roles
from .equality import equal
from .generators import angles_of, quaternions_of, written_angles
from .sources import Source, record_source, source
from .springs import SpringForm, expanded_entry, spring_form, spring_output
from .terms import Reader
from .writing import Written, as_json, entry_name, to_html, to_latex, to_lines, to_sympy, write


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """A quantity in closed form; two are equal where all entries are the same functions.

    Printing is by `text`, `latex`, `html` (MathML), `sympy` and `json`. `by` says how terms are
    collected: "mass", "geometry", "auto" (whichever is shorter) or "none"; `groups` whether
    constants that occur often get names: None where that shortens. Names are never among the
    `reserved` ones. Forces of `springs` between points come on top of the reading's first output.
    """

    name: str
    what: str
    ports: tuple[Port, ...]
    reading: Reading
    roles: Roles
    order: tuple[str, ...]
    written_angles: tuple[Form, ...]
    dotted: Mapping[str, tuple[str, int]]
    reserved: frozenset[str] = frozenset()
    springs: tuple[SpringForm, ...] = ()

    @property
    def terms(self) -> int:
        """Number of terms of all entries, numerators and denominators; of springs between points,
        those of L² and of L ∂L/∂q."""
        values = [*self.values, *(v for one in self.springs for v in (one.square, *one.slope))]
        below = {id(v.denominator): len(v.denominator) for v in values if v.denominator is not None}
        return sum(len(value.numerator) for value in values) + sum(below.values())

    @property
    def labels(self) -> list[str]:
        """Names of all entries, row by row: M[1,1], M[1,2], …"""
        return [entry_name(p.name, index) for p in self.ports for index in np.ndindex(*p.shape)]

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of all symbols that the form may contain."""
        return self.reading.ring.symbols

    def written(self, by: str = "auto", groups: bool | None = None) -> Written:
        """Names of groups, then entries, as expressions."""
        if by not in WAYS:
            raise LinkwrightError(f"terms are not collected by '{by}'", remedy=f"use {WAYS}")
        return write(self, by, groups)

    def text(self, by: str = "auto", groups: bool | None = None) -> str:
        """One line an entry, `M[1,1] = …`; equal entries share theirs."""
        return "\n".join(to_lines(self.written(by, groups)))

    def latex(self, by: str = "auto", groups: bool | None = None) -> str:
        return to_latex(self.written(by, groups), self.ports, self.dotted)

    def html(self, by: str = "auto", groups: bool | None = None) -> str:
        """A MathML table."""
        return to_html(self.written(by, groups), self.dotted)

    def sympy(self, by: str = "auto") -> Any:
        """A SymPy matrix (a nested array beyond two indices, an expression for a scalar);
        of several outputs a dictionary of these."""
        return to_sympy(self.written(by, False), self.ports)

    def json(self, by: str = "auto", groups: bool | None = None) -> dict[str, object]:
        found = {"name": self.name, "what": self.what, "terms": self.terms}
        return found | as_json(self.written(by, groups))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<ClosedForm {self.name}: {self.terms} terms>"

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClosedForm):
            return NotImplemented
        shapes = [port.shape for port in self.ports]
        if shapes != [port.shape for port in other.ports]:
            return False
        return equal(self.reader, self.canonical_values, other.reader, other.canonical_values)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.reading.ring, self.order, self.written_angles)

    @property
    def values(self) -> list[Quotient]:
        """All entries, row by row, output after output."""
        return [value for port in self.ports for value in self.reading.outputs[port.name]]

    @cached_property
    def canonical_values(self) -> list[Quotient]:
        """All entries, with the forces of springs written out."""
        if not self.springs:
            return self.values
        ring = self.reading.ring
        ring.budget = Budget()
        return [expanded_entry(ring, v, self.springs, k) for k, v in enumerate(self.values)]


# -- making one -------------------------------------------------------------------------------


def closed_form(
    eqs: Equations,
    name: str = "M",
    *frame: str,
    parameters: str | Sequence[str] = "symbolic",
    terms: int = 20_000,
    seconds: float = 10.0,
) -> ClosedForm:
    """A quantity of the equations in closed form; `BudgetError` where it exceeds the terms on
    its way, or the seconds.

    `parameters`: "numeric" puts the exact values of all parameters in, a list of names of all
    but those. Equations that were derived with numbers are derived again with symbols, so that
    no number passes through floating point; the numbers are put in afterwards, exactly.
    """
    budget = Budget(terms, seconds)
    eqs, kept = _exact(eqs, parameters)
    exact = {
        key: value
        for key, value in eqs.parameters.items()
        if key not in kept and isinstance(value, Fraction)
    }
    return form_of(eqs, source(eqs, name, *frame), exact, budget)


def form_of(
    eqs: Equations,
    made: Source,
    exact: Mapping[str, Fraction],
    budget: Budget,
    known: Mapping[int, str] | None = None,
) -> ClosedForm:
    """Expressions of the equations' symbols in closed form; `known` names other symbols."""
    outputs = tuple(spring_output(k, spring) for k, spring in enumerate(made.springs))
    whole = replace(made, outputs=(*made.outputs, *outputs))
    tape, entries = record_source(eqs, whole, known)
    angles = _remembered(eqs, "angles", angles_of)
    units = _remembered(eqs, "quaternions", quaternions_of)
    reading = read_trig(tape, entries, angles, {**eqs.literals, **exact}, units, budget)
    ports = tuple(port for port, _ in made.outputs)
    if made.solved:
        reading, ports = _solve(reading, made, ports)
    return ClosedForm(
        name=made.name,
        what=made.what,
        ports=ports,
        reading=reading,
        roles=_remembered(eqs, "roles", lambda _: roles_of(eqs)),
        order=_order(eqs),
        written_angles=tuple(_remembered(eqs, "written", written_angles)),
        dotted={f"{'d' * k}{q}": (q, k) for q in eqs.names.qd for k in (1, 2)},
        reserved=frozenset(eqs.mechanism.parameters),
        springs=tuple(spring_form(reading.outputs[port.name]) for port, _ in outputs),
    )


def _order(eqs: Equations) -> tuple[str, ...]:
    """Symbols in the order in which a book has them: accelerations before speeds."""
    entries = entry_names(eqs.names, list(eqs.parameters))
    keys = ("q", "qdd", "qd", "vd", "v", "tau", "t", "p")
    return tuple(name for key in keys for name in entries[key])


def _remembered(eqs: Equations, key: str, make: Any) -> Any:
    """What belongs to the mechanism, made once for all forms of its equations."""
    if ("form", key) not in eqs._made:
        eqs._made["form", key] = make(eqs.mechanism)
    return eqs._made["form", key]


def _exact(eqs: Equations, parameters: str | Sequence[str]) -> tuple[Equations, frozenset[str]]:
    """Equations with all numbers as symbols, and the names that stay."""
    symbolic = eqs
    if eqs.is_derived:
        every = _remembered(eqs, "symbols", lambda m: build_tree(m, "symbolic").symbol_values)
        if set(every) != set(eqs.parameters):
            if ("form", "symbolic") not in eqs._made:
                eqs._made["form", "symbolic"] = derive(eqs.mechanism, by=eqs.by)
            symbolic = eqs._made["form", "symbolic"]
    if parameters == "symbolic":
        return symbolic, frozenset(eqs.parameters)
    kept = frozenset() if isinstance(parameters, str) else frozenset(parameters)
    for name in kept - set(symbolic.parameters):
        raise LinkwrightError(f"'{name}' is no parameter", remedy="see eqs.parameters")
    return symbolic, kept


def roles_of(eqs: Equations) -> Roles:
    """Which symbols are masses and inertias, from the vector of inertial parameters."""
    pi = ca.SX(eqs.inertial_parameters)
    known = set(eqs.parameters)
    masses = {s.name() for k in range(0, pi.numel(), 10) for s in ca.symvar(pi[k])} & known
    inertias = set()
    for k in range(pi.numel()):
        if k % 10 < 4:
            continue
        for symbol in ca.symvar(pi[k]):
            slope = ca.jacobian(pi[k], symbol)
            if not ca.symvar(slope) and float(slope) != 0 and symbol.name() not in masses:
                inertias.add(symbol.name())
    inertias |= _rotors(eqs.mechanism, known)
    constants = known - masses - inertias
    return Roles(frozenset(masses), frozenset(inertias), frozenset(constants), eqs.names.q)


def _rotors(mechanism: Mechanism, known: set[str]) -> set[str]:
    found = set()
    for name, joint in mechanism.joints.items():
        if joint.motor is not None:
            inertia = joint.motor.inertia
            each = inertia if isinstance(inertia, list | tuple) else [inertia]
            found |= {n for one in each for n in names_in(one)}
            found |= {f"J_{name}", *(f"J_{name}_{k}" for k in range(1, 7))} & known
    return found & known


def _solve(
    reading: Reading, made: Source, ports: tuple[Port, ...]
) -> tuple[Reading, tuple[Port, ...]]:
    """x = adj(M) b / det M, with the determinant left as it is."""
    ring, n = reading.ring, ports[0].shape[0]
    flat, b = reading.outputs["M"], reading.outputs["b"]
    M = [flat[n * i : n * i + n] for i in range(n)]
    det = _determinant(ring, M)
    columns = len(b) // n
    x = []
    for i in range(n):
        for column in range(columns):
            right = [b[columns * j + column] for j in range(n)]
            swapped = [[right[r] if k == i else M[r][k] for k in range(n)] for r in range(n)]
            x.append(_over(ring, _determinant(ring, swapped), det))
    if made.solved == "T":  # ½ pᵀ M⁻¹ p, beside V
        half = ring.constant(Fraction(1, 2))
        total = ring.constant(Fraction(0))
        for p, speed in zip(b, x, strict=True):
            part = ring.product(p, Quotient(speed.numerator, speed.reduced))
            total = ring.sum(total, ring.product(half, part))
        T = _over(ring, total, det)
        return Reading(ring, {"T": [T], "V": reading.outputs["V"]}), (Port("T", ()), ports[2])
    port = replace(ports[1], name=made.solved)
    return Reading(ring, {made.solved: x}), (port,)


def _over(ring: QuotientRing, top: Quotient, bottom: Quotient) -> Quotient:
    if bottom.numerator.is_constant():
        return ring.quotient(top, bottom)
    if top.denominator is not None or bottom.denominator is not None:
        return ring.quotient(top, bottom)
    if top.numerator.is_zero():
        return top
    return Quotient(top.numerator, top.reduced | bottom.reduced, bottom.numerator)


def _determinant(ring: QuotientRing, A: Sequence[Sequence[Quotient]]) -> Quotient:
    """By the first row (three rows at most)."""
    if len(A) == 1:
        return A[0][0]
    total = ring.constant(Fraction(0))
    for k, entry in enumerate(A[0]):
        minor = [[x for j, x in enumerate(row) if j != k] for row in A[1:]]
        sign = ring.constant(Fraction((-1) ** k))
        part = ring.product(ring.product(sign, entry), _determinant(ring, minor))
        total = ring.sum(total, part)
    return total
