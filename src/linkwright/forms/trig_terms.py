"""Conversion of polynomials of the ring to the terms that are printed.

The ring has absolute angles and no squares of sines, which makes it canonical. Textbooks write
cos(q2) for c₁c₁₂ + s₁s₁₂ and sin² for 1 − cos²; these identities are applied where they shorten.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from ..algebra.exact.exact_angles import ExactAngle
from ..algebra.exact.perfect_squares import perfect_square_root
from ..algebra.exact.polynomial_budget import BudgetError
from ..algebra.exact.quotient_ring import QuotientRing
from ..algebra.exact.quotients import Quotient
from ..expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    names_in_expression,
    negate_expression,
)
from ..tape import Op
from .trig_shortening import TrigSumShortener
from .trig_sums import (
    AngleVector,
    PrintedTrigFactor,
    PrintedTrigSum,
    Rational,
)

if TYPE_CHECKING:
    import flint


TermAtom = str | PrintedTrigFactor | Expression  # a symbol, a cosine or sine, another function
TermMonomial = tuple[tuple[TermAtom, int], ...]
TermSum = dict[TermMonomial, Rational]
NaturalSortKey = tuple[tuple[int, int | str], ...]  # text as letters and numbers, which compare

MAX_SHORTENING_SECONDS = 10.0
MAX_UNNAMED_CALL = 24
"""The most characters of a root or another function that has no name of its own."""


class FormTermReader:
    """Reads the terms of one ring's values; `written` are angles that keep their sign, `constants`
    the symbols that come first in the terms of functions.

    Long functions get names if `naming` is true; `definitions` has their values and dependencies.
    After `MAX_SHORTENING_SECONDS` nothing more is shortened or collected; after twice that time the
    reader gives up.
    """

    def __init__(
        self,
        ring: QuotientRing,
        order: Iterable[str],
        written: Iterable[ExactAngle] = (),
        naming: bool = True,
        constants: frozenset[str] = frozenset(),
    ) -> None:
        self.ring, self.naming, self.constants = ring, naming, constants
        self.symbol_ranks = {name: k for k, name in enumerate(order)}
        self.written = set(written)
        self.angle_signs: dict[AngleVector, int] = {}
        self.calls: dict[int, Expression] = {}
        self.taken_names = {*ring.symbols, *self.symbol_ranks}
        self.definitions: dict[str, tuple[Expression, frozenset[str]]] = {}
        self.roots: dict[str, Quotient] = {}  # what named roots are taken of
        self.atoms: dict[TermAtom, Expression] = {}
        self.atoms_by_id: dict[int, TermAtom] = {}  # of the expressions in `atoms`
        self.atom_powers: dict[tuple[TermAtom, int], Expression] = {}
        self.angle_count = len(ring.angles)
        self.shortener = TrigSumShortener(self.angle_sign, self.angle_count)
        self.deadline = time.monotonic() + MAX_SHORTENING_SECONDS

    # -- polynomials ---------------------------------------------------------------------

    def polynomial_terms(self, poly: flint.fmpq_mpoly) -> TermSum:
        """The polynomial as terms, each trigonometric cofactor in its shortest form."""
        groups: dict[TermMonomial, PrintedTrigSum] = {}
        ring, spare, printed = self.ring, self.ring.function_capacity, self.printed_generators
        for exponents, coefficient in self.iterate_polynomial(poly):
            others: list[tuple[TermAtom, int]] = []
            circular: list[tuple[PrintedTrigFactor, int]] = []
            turned = 1
            for place, power in enumerate(exponents):
                if not power:
                    continue
                if place >= ring.first_symbol:
                    others.append((ring.symbols[place - ring.first_symbol], int(power)))
                elif place >= spare:
                    atom, sign = printed[place - spare]
                    circular.append((atom, int(power)))
                    turned *= sign ** int(power)
                else:
                    others.append((self.function_expression(spare - 1 - place), int(power)))
            sums = groups.setdefault(tuple(others), {})
            top, bottom = int(coefficient.p) * turned, int(coefficient.q)
            sums[tuple(sorted(circular))] = top if bottom == 1 else Fraction(top, bottom)
        return {
            (*others, *trig): coefficient
            for others, sums in groups.items()
            for trig, coefficient in self.shorten_sum(sums).items()
        }

    def iterate_polynomial(
        self, poly: flint.fmpq_mpoly
    ) -> Iterator[tuple[tuple[int, ...], flint.fmpq]]:
        """The terms one by one, so that an interrupt is noticed; raises `BudgetError` after twice
        the time."""
        for k, term in enumerate(poly.terms()):
            if k % 256 == 0 and time.monotonic() > self.deadline + MAX_SHORTENING_SECONDS:
                raise BudgetError("the closed form is too long to be printed")
            yield term

    @cached_property
    def printed_generators(self) -> list[tuple[PrintedTrigFactor, int]]:
        """The ring's cosines and sines as they are printed, in the order of its generators."""
        first = self.ring.function_capacity
        return [
            self.printed_trig_factor(k % self.angle_count, first + k >= self.ring.first_cosine)
            for k in range(self.ring.first_symbol - first)
        ]

    def printed_trig_factor(self, k: int, is_cosine: bool) -> tuple[PrintedTrigFactor, int]:
        """The ring's cosine or sine as it is printed, and the sign of the conversion."""
        unit = tuple(int(i == k) for i in range(self.angle_count))
        sign = self.angle_sign(unit)
        atom = PrintedTrigFactor("cos" if is_cosine else "sin", tuple(sign * n for n in unit))
        return atom, 1 if is_cosine else sign

    def function_expression(self, k: int) -> Expression:
        """The function of a generator, or its name r1, r2, … if it is long."""
        if k not in self.calls:
            one = self.ring.opaque_functions[k]
            operands = tuple(self.quotient_expression(value) for value in one.operands)
            match one.op:
                case Op.POW:
                    made: Expression = Power(*operands)
                case Op.DIV:
                    made = Reciprocal(operands[1])
                case Op.SQRT if root := perfect_square_root(self.ring, one.operands[0]):
                    made = Call("abs", (self.quotient_expression(root),))
                case _:
                    made = Call(one.op.name.lower(), operands)
            is_long = len(expression_text(made)) > MAX_UNNAMED_CALL and not isinstance(
                made, Reciprocal
            )
            self.calls[k] = self.name_function(made) if self.naming and is_long else made
            if self.calls[k] != made and isinstance(made, Call) and made.function == "sqrt":
                self.roots[expression_text(self.calls[k])] = one.operands[0]
        return self.calls[k]

    def name_function(self, made: Expression) -> Expression:
        """A new name for a long function, with its definition kept."""
        name = next(n for i in count(1) if (n := f"r{i}") not in self.taken_names)
        self.taken_names.add(name)
        inside = names_in_expression(made)
        known = (self.definitions[n][1] if n in self.definitions else {n} for n in inside)
        self.definitions[name] = made, frozenset().union(*known)
        return Name(name)

    def quotient_expression(self, value: Quotient) -> Expression:
        """A quotient as an expression, without collecting terms."""
        top = self.flat_sum(self.polynomial_terms(value.numerator))
        if value.denominator is None:
            return top
        return Product((top, Reciprocal(self.flat_sum(self.polynomial_terms(value.denominator)))))

    def flat_sum(self, terms: TermSum) -> Expression:
        """The sum of terms in a stable order, without common factors taken out."""
        parts = [
            form_term_product(c, [self.atom_power(a, p) for a, p in self.ordered_factors(monomial)])
            for monomial, c in sorted(
                terms.items(), key=lambda item: self.monomial_sort_key(item[0])
            )
        ]
        return form_term_sum(parts)

    def ordered_factors(self, monomial: TermMonomial) -> TermMonomial:
        """The factors with constants first."""
        return tuple(sorted(monomial, key=lambda factor: factor[0] not in self.constants))

    def monomial_sort_key(self, monomial: TermMonomial) -> list[tuple[NaturalSortKey, int]]:
        """The key by which terms are ordered: their factors in natural order."""
        return sorted(
            (form_name_sort_key(expression_text(self.atom_expression(a))), -p) for a, p in monomial
        )

    def shorten_sum(self, sums: PrintedTrigSum) -> PrintedTrigSum:
        """The trigonometric cofactor in its shortest form, as long as there is time."""
        late = len(sums) == 1 or time.monotonic() > self.deadline
        return sums if late else self.shortener.shorten_trig_sum(sums)

    # -- atoms ---------------------------------------------------------------------------

    def atom_power(self, atom: TermAtom, exponent: int) -> Expression:
        """A power of a symbol or function as an expression."""
        base = self.atom_expression(atom)
        if exponent == 1:
            return base
        if (atom, exponent) not in self.atom_powers:
            power = Number(Fraction(exponent))
            self.atom_powers[atom, exponent] = (
                Reciprocal(Power(base.operand, power))
                if isinstance(base, Reciprocal)
                else Power(base, power)
            )
        return self.atom_powers[atom, exponent]

    def atom_expression(self, atom: TermAtom) -> Expression:
        """A symbol, cosine, sine or other function as an expression."""
        if atom not in self.atoms:
            self.atoms[atom] = (
                Call(atom.function, (self.angle_expression(atom.angle),))
                if isinstance(atom, PrintedTrigFactor)
                else Name(atom)
                if isinstance(atom, str)
                else atom
            )
            self.atoms_by_id[id(self.atoms[atom])] = atom
        return self.atoms[atom]

    def angle_expression(self, vector: AngleVector) -> Expression:
        """An angle as an expression of coordinates, positive terms and constant factors first."""
        parts = [
            form_term_product(
                c,
                [
                    self.atom_power(name, p)
                    for name, p in sorted(monomial, key=lambda one: one[0] not in self.constants)
                ],
            )
            for monomial, c in sorted(self.angle_form(vector), key=lambda item: item[1] < 0)
        ]
        return form_term_sum(parts)

    def angle_form(self, vector: AngleVector) -> ExactAngle:
        """The angle as multiples of coordinates, in their order."""
        sums: dict[tuple[tuple[str, int], ...], Fraction] = {}
        for times, angle in zip(vector, self.ring.angles, strict=True):
            for monomial, c in angle if times else ():
                sums[monomial] = sums.get(monomial, Fraction(0)) + times * c
        rank = self.symbol_ranks
        kept = [(m, c) for m, c in sums.items() if c]
        kept.sort(key=lambda item: [rank.get(n, len(rank)) for n, _ in item[0]])
        return tuple(kept)

    def angle_sign(self, vector: AngleVector) -> int:
        """−1 if the angle is printed with the opposite sign, otherwise 1."""
        if vector not in self.angle_signs:
            form = self.angle_form(vector)
            sign = 1 if not form or form[0][1] > 0 else -1
            if tuple(sorted((m, -sign * c) for m, c in form)) in self.written:
                sign = -sign
            # what is written as p2 − p1 stays so; all else begins with a plus
            self.angle_signs[vector] = sign
        return self.angle_signs[vector]


def form_term_product(coefficient: Rational, factors: list[Expression]) -> Expression:
    """The product with its number in front if it is not 1, and the sign outside."""
    if coefficient < 0:
        return negate_expression(form_term_product(-coefficient, factors))
    if coefficient != 1 or not factors:
        factors = [Number(Fraction(coefficient)), *factors]
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def form_term_sum(parts: list[Expression]) -> Expression:
    """The sum without nested sums; 0 for no terms."""
    flat: list[Expression] = []
    for part in parts:
        flat += part.terms if isinstance(part, Sum) else (part,)
    if not flat:
        return Number(Fraction(0))
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def form_name_sort_key(name: str) -> NaturalSortKey:
    """A sort key by which m2 comes before m10."""
    parts = re.split(r"(\d+)", name)
    return tuple((1, int(p)) if p.isdecimal() else (0, p) for p in parts if p)
