"""Springs and dampers between points in closed forms, by their lengths.

    L = |x_b − x_a|,      f = −(k (L − l0) + c L') ∂L/∂q

Written out, the force of one spring has a hundred terms and more. L² and L ∂L/∂q have few; L and
L' get names, which stand before the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import casadi as ca

from ..algebra.exact.quotient_ring import QuotientRing
from ..algebra.exact.quotients import Quotient
from ..expressions import Call, Expression, Name, Negation, Number, Product, Reciprocal, negate
from ..kinematics.loads import SpringLength
from ..ports import Port
from ..types import SX
from .terms import product, total


@dataclass(frozen=True)
class SpringForm:
    """A spring in a ring; `slope` is L ∂L/∂q, `rate` L L'."""

    stiffness: Quotient
    damping: Quotient
    free_length: Quotient
    square: Quotient
    length: Quotient
    per_length: Quotient
    rate: Quotient
    slope: tuple[Quotient, ...]

    @property
    def is_idle(self) -> bool:
        """Whether the length does not depend on the motion."""
        return all(value.numerator.is_zero() for value in self.slope)


def spring_output(k: int, one: SpringLength) -> tuple[Port, SX]:
    """All that describes a spring, as one more output of the tape."""
    spring, length = one.spring, ca.sqrt(one.square)
    entries = (
        spring.stiffness, spring.damping, spring.length, one.square, length, 1 / length, one.rate,
        one.slope,
    )  # fmt: skip
    made = ca.vertcat(*(ca.SX(entry) for entry in entries))
    return Port(f"spring{k + 1}", (made.numel(),)), made


def spring_form(values: Sequence[Quotient]) -> SpringForm:
    """From the entries of `spring_output`."""
    k, c, free, square, length, per_length, rate, *slope = values
    return SpringForm(k, c, free, square, length, per_length, rate, tuple(slope))


def expanded_entry(
    ring: QuotientRing, rest: Quotient, springs: Sequence[SpringForm], k: int
) -> Quotient:
    """An entry with the springs' forces written out, which makes it canonical."""
    found = rest
    for one in springs:
        minus = ring.constant(Fraction(-1))
        stretch = ring.sum(one.length, ring.product(minus, one.free_length))
        damped = reduce(ring.product, (one.damping, one.rate, one.per_length))
        tension = ring.sum(ring.product(one.stiffness, stretch), damped)
        force = reduce(ring.product, (minus, tension, one.per_length, one.slope[k]))
        found = ring.sum(found, force)
    return found


# -- writing ----------------------------------------------------------------------------------


class SpringWriter:
    """Names the lengths of springs, and writes their forces; `express` writes a ring's value."""

    def __init__(
        self,
        springs: Sequence[SpringForm],
        express: Callable[[Quotient], Expression],
        free_name: Callable[[], str],
    ) -> None:
        self.express = express
        self.groups: list[tuple[str, Expression]] = []
        self.tensions: dict[str, tuple[list[Expression], SpringForm]] = {}
        names: dict[Expression, str] = {}
        for one in springs:
            if one.is_idle:
                continue
            square = express(one.square)
            if square not in names:
                names[square] = free_name()
                self.groups.append((names[square], Call("sqrt", (square,))))
            name = names[square]
            self.tensions.setdefault(name, ([], one))[0].append(self.tension(name, one))

    def tension(self, name: str, one: SpringForm) -> Expression:
        """k*(L - l0) + c*L'."""
        parts = []
        stiffness, damping, free = map(self.express, (one.stiffness, one.damping, one.free_length))
        if not _is_zero(stiffness):
            stretch = Name(name) if _is_zero(free) else total([Name(name), negate(free)])
            parts.append(multiplied(stiffness, stretch))
        if not _is_zero(damping):
            rate = rate_name(name)
            if rate not in dict(self.groups):
                divided = multiplied(self.express(one.rate), Reciprocal(Name(name)))
                self.groups.append((rate, divided))
            parts.append(multiplied(damping, Name(rate)))
        return total(parts)

    def entry(self, rest: Expression, k: int) -> Expression:
        """The k-th force: those of the springs, and the rest."""
        parts = []
        for name, (tensions, one) in self.tensions.items():
            slope = self.express(one.slope[k])
            if not _is_zero(slope):
                force = multiplied(total(tensions), slope, Reciprocal(Name(name)))
                parts.append(negate(force))
        if not parts or not _is_zero(rest):
            parts.append(rest)
        return total(parts)


def rate_name(name: str) -> str:
    """L1' of L1."""
    return f"{name}'"


def _is_zero(expression: Expression) -> bool:
    return expression == Number(Fraction(0))


def multiplied(*factors: Expression) -> Expression:
    """The product: sign outside, number in front, divisors last."""
    coefficient, kept, below = Fraction(1), list[Expression](), list[Expression]()
    pending = list(factors)
    while pending:
        factor = pending.pop(0)
        match factor:
            case Negation(operand):
                coefficient, pending = -coefficient, [operand, *pending]
            case Product(inside):
                pending = [*inside, *pending]
            case Number(value):
                coefficient *= value
            case Reciprocal():
                below.append(factor)
            case _:
                kept.append(factor)
    return product(coefficient, [*kept, *below])
