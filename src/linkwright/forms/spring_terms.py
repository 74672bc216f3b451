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
from ..expressions import (
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Product,
    Reciprocal,
    negate_expression,
)
from ..kinematics.body_forces import SpringLength
from ..ports import Port
from ..types import SX
from .trig_terms import form_term_product, form_term_sum


@dataclass(frozen=True)
class SpringForm:
    """A spring as values of a ring; `scaled_gradient` is L ∂L/∂q, `scaled_rate` is L L'."""

    stiffness: Quotient
    damping: Quotient
    free_length: Quotient
    squared_length: Quotient
    length: Quotient
    inverse_length: Quotient
    scaled_rate: Quotient
    scaled_gradient: tuple[Quotient, ...]

    @property
    def printed_values(self) -> tuple[Quotient, ...]:
        """The values that are printed: L² and L ∂L/∂q."""
        return self.squared_length, *self.scaled_gradient

    @property
    def is_length_constant(self) -> bool:
        """Whether the length does not depend on the motion."""
        return all(value.numerator.is_zero() for value in self.scaled_gradient)


def spring_form_output(k: int, one: SpringLength) -> tuple[Port, SX]:
    """All values that describe a spring, as one more output of the tape."""
    spring, length = one.spring, ca.sqrt(one.length_squared)
    entries = (
        spring.stiffness,
        spring.damping,
        spring.length,
        one.length_squared,
        length,
        1 / length,
        one.length_rate,
        one.length_jacobian,
    )
    made = ca.vertcat(*(ca.SX(entry) for entry in entries))
    return Port(f"spring{k + 1}", (made.numel(),)), made


def spring_form_from_output(values: Sequence[Quotient]) -> SpringForm:
    """The spring form from the entries of `spring_form_output`."""
    k, c, free, square, length, per_length, rate, *slope = values
    return SpringForm(k, c, free, square, length, per_length, rate, tuple(slope))


def expand_spring_forces(
    ring: QuotientRing, rest: Quotient, springs: Sequence[SpringForm], k: int
) -> Quotient:
    """The k-th entry with the forces of the springs expanded, which makes it canonical."""
    found = rest
    for one in springs:
        minus = ring.constant(Fraction(-1))
        stretch = ring.add_quotients(one.length, ring.multiply_quotients(minus, one.free_length))
        damped = reduce(ring.multiply_quotients, (one.damping, one.scaled_rate, one.inverse_length))
        tension = ring.add_quotients(ring.multiply_quotients(one.stiffness, stretch), damped)
        force = reduce(
            ring.multiply_quotients, (minus, tension, one.inverse_length, one.scaled_gradient[k])
        )
        found = ring.add_quotients(found, force)
    return found


# -- writing ----------------------------------------------------------------------------------


class SpringFormWriter:
    """Names the lengths of springs and writes their forces; `express` writes a value of the
    ring."""

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
            if one.is_length_constant:
                continue
            square = express(one.squared_length)
            if square not in names:
                names[square] = free_name()
                self.groups.append((names[square], Call("sqrt", (square,))))
            name = names[square]
            self.tensions.setdefault(name, ([], one))[0].append(self.tension_expression(name, one))

    def tension_expression(self, name: str, one: SpringForm) -> Expression:
        """The tension k*(L − l0) + c*L'."""
        parts = []
        stiffness, damping, free = map(self.express, (one.stiffness, one.damping, one.free_length))
        if not _is_zero_form_term(stiffness):
            stretch = (
                Name(name)
                if _is_zero_form_term(free)
                else form_term_sum([Name(name), negate_expression(free)])
            )
            parts.append(signed_form_product(stiffness, stretch))
        if not _is_zero_form_term(damping):
            rate = spring_form_rate_name(name)
            if rate not in dict(self.groups):
                divided = signed_form_product(self.express(one.scaled_rate), Reciprocal(Name(name)))
                self.groups.append((rate, divided))
            parts.append(signed_form_product(damping, Name(rate)))
        return form_term_sum(parts)

    def force_entry(self, rest: Expression, k: int) -> Expression:
        """The k-th generalized force: the springs' and the rest."""
        parts = []
        for name, (tensions, one) in self.tensions.items():
            slope = self.express(one.scaled_gradient[k])
            if not _is_zero_form_term(slope):
                force = signed_form_product(form_term_sum(tensions), slope, Reciprocal(Name(name)))
                parts.append(negate_expression(force))
        if not parts or not _is_zero_form_term(rest):
            parts.append(rest)
        return form_term_sum(parts)


def spring_form_rate_name(name: str) -> str:
    """The name of a length's rate: L1' for L1."""
    return f"{name}'"


def _is_zero_form_term(expression: Expression) -> bool:
    """Whether the expression is the number 0."""
    return expression == Number(Fraction(0))


def signed_form_product(*factors: Expression) -> Expression:
    """The product with its sign outside, its number in front and divisors last."""
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
    return form_term_product(coefficient, [*kept, *below])
