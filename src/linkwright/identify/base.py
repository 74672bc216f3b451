"""Base parameters: the fewest inertial numbers that the forces at the joints depend on.

τ = Y π is linear in the ten parameters of every body. Columns of Y depend on each other, so that
as many combinations of π as Y has rank are all that can ever be found from the forces, and all
that they need. Each is one parameter that is kept, plus multiples of those that are not:

    base_j = π_j + Σ k_ji π_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..equations import Equations
from ..errors import UnsupportedError
from ..expressions import (
    ONE,
    Exact,
    Expression,
    Name,
    Negation,
    Number,
    Product,
    Sum,
    evaluate,
    negate,
    to_text,
)
from ..mechanism import Mechanism
from .numbers import exact_entries
from .rank import Sample, sample, tape_of
from .regrouping import LETTERS, Row, kept_first, solved, vanishing_rows
from .relations import leftover_rows
from .ring import Ring


@dataclass(frozen=True)
class BaseParameter:
    """`kept` plus `factors` times parameters that are not kept; its `value` in SI units."""

    name: str
    kept: str
    factors: Mapping[str, Expression]
    value: Exact

    @property
    def formula(self) -> Expression:
        terms: list[Expression] = [Name(self.kept)]
        for name, factor in self.factors.items():
            terms.append(_times(factor, Name(name)))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _times(factor: Expression, name: Name) -> Expression:
    match factor:
        case Negation(operand):
            return negate(_times(operand, name))
        case Number(value) if value < 0:
            return negate(_times(Number(-value), name))
        case Product(factors):
            return Product((*factors, name))
        case _:
            return name if factor == ONE else Product((factor, name))


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a mechanism, by their names; `grouped` are the parameters that only
    occur in those of others, `without_effect` those that do not occur at all.

    The rank holds for almost all lengths and angles. `rank_of_values` is that of the mechanism's
    own numbers: where it is less, these are special (axes parallel by their numbers, say).
    """

    mechanism: Mechanism
    parameters: Mapping[str, BaseParameter]
    grouped: tuple[str, ...]
    without_effect: tuple[str, ...]
    rank_of_values: int

    @property
    def rank(self) -> int:
        return len(self.parameters)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        return tuple(parameter.kept for parameter in self.parameters.values())

    def __len__(self) -> int:
        return len(self.parameters)

    def __str__(self) -> str:
        count = self.rank + len(self.grouped) + len(self.without_effect)
        lines = [f"{self.mechanism.name}: {self.rank} base parameters of {count}"]
        width = max(map(len, self.parameters), default=0)
        for name, parameter in self.parameters.items():
            shown = to_text(parameter.formula)
            lines.append(f"  {name:{width}} = {shown} = {float(parameter.value):.10g}")
        if self.without_effect:
            lines.append(f"without effect: {', '.join(self.without_effect)}")
        if self.rank_of_values != self.rank:
            lines.append(
                f"with the mechanism's own numbers the rank is {self.rank_of_values}: "
                "they are special, and the formulas, though right, are not the fewest"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, formulas as text."""
        return {
            "mechanism": self.mechanism.name,
            "rank": self.rank,
            "rank_of_values": self.rank_of_values,
            "base_parameters": {
                name: {
                    "formula": to_text(one.formula),
                    "kept": one.kept,
                    "factors": {other: to_text(k) for other, k in one.factors.items()},
                    "value": float(one.value),
                }
                for name, one in self.parameters.items()
            },
            "grouped": list(self.grouped),
            "without_effect": list(self.without_effect),
        }


def parameter_names(bodies: tuple[str, ...]) -> list[str]:
    """M_link1, MX_link1, …, ZZ_link1, M_link2, …: of the regressor's columns."""
    return [f"{letter}_{body}" for body in bodies for letter in LETTERS]


def base_parameters(mechanism: Mechanism) -> BaseParameters:
    """The base parameters of a tree mechanism, with their formulas in closed form."""
    from ..formulations import derive

    if mechanism.loops or mechanism.constraints:
        raise UnsupportedError(
            f"{mechanism.name} has loops or constraints; base parameters are those of trees",
            remedy="leave them out",
        )
    eqs = derive(mechanism, parameters="symbolic")
    ring, rows, own = _relations(mechanism, eqs)
    return _grouping(mechanism, eqs, ring, rows, own)


def _relations(mechanism: Mechanism, eqs: Equations) -> tuple[Ring, list[Row], int]:
    """Rows of combinations that vanish, as many as the regressor's rank lacks."""
    from ..kinematics.build import build_tree

    tape, width = tape_of(eqs, "regressor"), 10 * len(eqs.names.bodies)
    ring, rows = vanishing_rows(build_tree(mechanism, "symbolic"))
    given_up = {next(iter(row)) for row in rows}
    samples = sample(tape, eqs, width), sample(tape, eqs, width, seed=2)
    if samples[0].rank() < width - len(rows):
        rest = [c for c in kept_first(width) if c not in given_up]
        rows = solved(ring, [*rows, *leftover_rows(ring, tape, eqs, samples, rest)])
    for one in samples:
        _prove(ring, rows, one)
    if len(rows) != width - samples[0].rank():
        raise UnsupportedError(f"the groupings of {mechanism.name} could not all be found")
    return ring, rows, sample(tape, eqs, width, eqs.parameters).rank()


def _prove(ring: Ring, rows: list[Row], one: Sample) -> None:
    """Every combination vanishes in the field, at all states of the sample."""
    from ..readings.field import PRIME

    for row in rows:
        factors = {c: one.value(ring.expression(x)) for c, x in row.items()}
        for state in one.rows:
            if sum(state[c] * k for c, k in factors.items()) % PRIME:
                raise UnsupportedError("a grouping does not hold in the field")


def _grouping(
    mechanism: Mechanism, eqs: Equations, ring: Ring, rows: list[Row], own: int
) -> BaseParameters:
    names = parameter_names(eqs.names.bodies)
    given_up = {next(iter(row)): row for row in rows}
    values = dict(zip(names, exact_entries(eqs, eqs.inertial_parameters), strict=True))
    known = {**eqs.parameters, **values}
    found: dict[str, BaseParameter] = {}
    for column, name in enumerate(names):
        if column in given_up:
            continue
        factors = {
            names[c]: ring.expression(ring.negate(row[column]))
            for c, row in sorted(given_up.items())
            if column in row
        }
        one = BaseParameter(_called(name, bool(factors), eqs), name, factors, 0.0)
        found[one.name] = BaseParameter(one.name, name, factors, evaluate(one.formula, known))
    silent = [names[c] for c in sorted(given_up) if len(given_up[c]) == 1]
    grouped = [names[c] for c in sorted(given_up) if len(given_up[c]) > 1]
    return BaseParameters(mechanism, found, tuple(grouped), tuple(silent), own)


def _called(name: str, grouped: bool, eqs: Equations) -> str:
    """Khalil's XXR for an XX with others in it; never the name of another number."""
    letter, body = name.split("_", 1)
    called = f"{letter}R_{body}" if grouped else name
    while called in eqs.parameters:
        called += "_base"
    return called
