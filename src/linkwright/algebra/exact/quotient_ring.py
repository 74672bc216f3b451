"""Trigonometric polynomials in a canonical form, so that equality is comparison.

A value is an element of Q[inputs][c, s]/(c² + s² − 1): a polynomial in the inputs and in the
cosines and sines of chosen angles, at most linear in each sine. The addition theorems expand every
integer combination of those angles. A root is a generator l reduced by l² = P; functions that are
not polynomials (sign, exp, …) are generators of their own, one for each value. A quotient stays a
pair and is compared by cross-multiplication. But 1/l of a root, and a division by sums with roots
(directions of skew axes), is a generator r, with rP = l for r = 1/l.

Constants on a tape are dyadic rationals and are used exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from ...expressions import PI
from ...tape import Op
from ...types import FlintPolynomial
from .circle_points import CircleQuotients, circle_point_of_multiples, find_exact_angle
from .exact_angles import ExactAngle, ExactAngleTable
from .modular_arithmetic import rational_root_factors
from .polynomial_budget import BudgetError, ExactPolynomialBudget
from .quotients import (
    OpaqueFunction,
    Quotient,
    are_equal_quotients,
    negate_quotient,
    raise_quotient,
    rational_quotient_value,
    rational_square_root,
)
from .tape_algebra import operation_undefined_in_algebra

_FIELD_OPS = (Op.COS, Op.SIN, Op.SQRT)


class QuotientRing:
    """The quotients of one tape: its generators and their meaning.

    If it `is_field`, only cosines, sines and roots are generators, and a value is zero if and only
    if its numerator is (roots of independent radicands); elimination needs that. Otherwise
    reciprocals of roots, and functions that are not polynomials, are generators too; that suffices
    for printing and comparison.

    The generators are ordered: functions (later ones first, as they may contain earlier ones),
    sines, cosines, inputs. `units` are groups of inputs whose squares sum to 1.
    """

    def __init__(
        self,
        symbols: Sequence[str],
        angles: Sequence[ExactAngle],
        multiples: ExactAngleTable,
        spare: int = 0,
        units: Sequence[Sequence[str]] = (),
        budget: ExactPolynomialBudget | None = None,
        *,
        is_field: bool = False,
    ) -> None:
        from flint import Ordering, fmpq_mpoly_ctx

        self.angles, self.angle_multiples = tuple(angles), multiples
        self.budget, self.is_field = budget or ExactPolynomialBudget(), is_field
        self.function_capacity, self.opaque_functions = spare, list[OpaqueFunction]()
        a, leading = len(self.angles), [group[0] for group in units]
        rest = [name for name in symbols if name not in leading]
        self.symbols = (*leading, *rest)
        names = [f"_f{k}" for k in reversed(range(spare))]
        names += [f"_s{k}" for k in range(a)] + [f"_c{k}" for k in range(a)]
        self.first_sine, self.first_cosine, self.first_symbol = spare, spare + a, spare + 2 * a
        # names of users never reach FLINT
        names += [f"_x{k}" for k in range(len(self.symbols))]
        self.context = fmpq_mpoly_ctx.get(names or ["_x0"], Ordering.lex)
        self.generators = self.context.gens()
        self.symbol_places = {name: self.first_symbol + k for k, name in enumerate(self.symbols)}
        self.relations: dict[int, tuple[tuple[FlintPolynomial, ...], int]] = {}
        self.reciprocals = 0  # generators 1/l, which are reduced together with their P
        self.one_polynomial = self.context.constant(1)
        for k in range(a):
            s, c = self.generators[spare + k], self.generators[self.first_cosine + k]
            self.relations[1 << (spare + k)] = (s * s + c * c - 1,), 0
        for group in units:
            squares = [self.generators[self.symbol_places[name]] ** 2 for name in group]
            unit = sum(squares[1:], squares[0]) - 1
            self.relations[1 << self.symbol_places[group[0]]] = (unit,), 0
        self.circle_points: dict[ExactAngle, CircleQuotients] = {}

    # -- the algebra --------------------------------------------------------------------

    def symbol(self, name: str) -> Quotient:
        """The generator of a named input."""
        place = self.symbol_places[name]
        return Quotient(
            self.generators[place], (1 << place) if (1 << place) in self.relations else 0
        )

    def pi(self) -> Quotient:
        """π as a symbol; the tape that is read must name it."""
        return self.symbol(PI)

    def constant(self, value: Fraction) -> Quotient:
        """The rational number as an element of the ring."""
        from flint import fmpq

        return Quotient(self.context.constant(fmpq(value.numerator, value.denominator)))

    def apply(self, op: Op, operands: Sequence[Quotient]) -> Quotient:
        """The result of an operation of the tape."""
        match op:
            case Op.MUL:
                return self.multiply_quotients(operands[0], operands[1])
            case Op.ADD:
                return self.add_quotients(operands[0], operands[1])
            case Op.SUB:
                return self.add_quotients(operands[0], negate_quotient(operands[1]))
            case Op.NEG:
                return negate_quotient(operands[0])
            case Op.DIV:
                return self.divide_quotients(operands[0], operands[1])
            case Op.FMA:
                return self.add_quotients(
                    self.multiply_quotients(operands[0], operands[1]), operands[2]
                )
            case Op.COS:
                return self.cosine_and_sine(operands[0])[0]
            case Op.SIN:
                return self.cosine_and_sine(operands[0])[1]
            case Op.TAN:
                cosine, sine = self.cosine_and_sine(operands[0])
                return self.divide_quotients(sine, cosine)
            case Op.POW:
                return raise_quotient(self, operands[0], operands[1])
            case Op.SQRT:
                return self.square_root(operands[0])
            case _:
                return self.function_generator(op, operands)

    def is_zero(self, value: Quotient) -> bool:
        """Whether the numerator is zero."""
        return bool(value.numerator.is_zero())

    def add_quotients(self, a: Quotient, b: Quotient) -> Quotient:
        """The sum a + b in lowest terms."""
        mask = a.reducible_generators | b.reducible_generators
        if a.denominator is None and b.denominator is None:
            total = a.numerator + b.numerator
            self.budget.check_polynomial_terms(len(total))
            return Quotient(total, mask)
        one, other = a.denominator, b.denominator
        if one is not None and other is not None and one == other:
            return self.cancel_ratio(Quotient(a.numerator + b.numerator, mask), Quotient(one, mask))
        a_top, b_top = (
            Quotient(a.numerator, a.reducible_generators),
            Quotient(b.numerator, b.reducible_generators),
        )
        if other is not None:
            a_top = self.multiply_quotients(a_top, Quotient(other, b.reducible_generators))
        if one is not None:
            b_top = self.multiply_quotients(b_top, Quotient(one, a.reducible_generators))
        bottom = self.multiply_quotients(
            Quotient(one or self.one_polynomial, mask), Quotient(other or self.one_polynomial, mask)
        )
        return self.cancel_ratio(Quotient(a_top.numerator + b_top.numerator, mask), bottom)

    def multiply_quotients(self, a: Quotient, b: Quotient) -> Quotient:
        """The product a · b in lowest terms, reduced by the relations of the ring."""
        mask = a.reducible_generators | b.reducible_generators
        if a.denominator is None and b.denominator is None:
            pending = a.reducible_generators & b.reducible_generators | mask & self.reciprocals
            return self.reduce_polynomial(
                self.multiply_polynomials(a.numerator, b.numerator), pending, mask
            )
        top = self.multiply_quotients(
            Quotient(a.numerator, a.reducible_generators),
            Quotient(b.numerator, b.reducible_generators),
        )
        one, other = a.denominator or self.one_polynomial, b.denominator or self.one_polynomial
        return self.cancel_ratio(
            top,
            self.multiply_quotients(
                Quotient(one, a.reducible_generators), Quotient(other, b.reducible_generators)
            ),
        )

    def multiply_polynomials(self, a: FlintPolynomial, b: FlintPolynomial) -> FlintPolynomial:
        """The product of two polynomials, checked against the budget before long products."""
        if len(a) * len(b) > 64:
            self.budget.check_polynomial_terms(max(len(a), len(b), len(a) * len(b) // 64))
        return a * b

    def reduce_polynomial(self, poly: FlintPolynomial, pending: int, mask: int) -> Quotient:
        """Reduces squares of the `pending` generators, outermost first.

        Where reciprocals of roots occur, it repeats until nothing changes, since 1 − c² in place of
        s² may contain them.
        """
        while pending:
            before, asked = poly, pending
            while pending:
                bit = pending & -pending
                pending ^= bit
                relations, inner = self.relations[bit]
                for relation in relations:
                    poly = divmod(poly, relation)[1]
                pending |= inner
                mask |= inner
            pending = asked if mask & self.reciprocals and poly != before else 0
        self.budget.check_polynomial_terms(len(poly))
        return Quotient(poly, mask)

    def divide_quotients(self, a: Quotient, b: Quotient) -> Quotient:
        """The quotient a / b in lowest terms."""
        if b.numerator.is_constant() and b.denominator is None:
            if b.numerator.is_zero():
                raise BudgetError("the closed form divides by zero")
            return Quotient(
                a.numerator / b.numerator.leading_coefficient(),
                a.reducible_generators,
                a.denominator,
            )
        if not self.is_field and b.denominator is None and self.has_opaque_function(b.numerator):
            return self.divide_by_function(a, b)
        top = self.multiply_quotients(
            Quotient(a.numerator, a.reducible_generators),
            Quotient(b.denominator or self.one_polynomial, b.reducible_generators),
        )
        bottom = self.multiply_quotients(
            Quotient(a.denominator or self.one_polynomial, a.reducible_generators),
            Quotient(b.numerator, b.reducible_generators),
        )
        return self.cancel_ratio(top, bottom)

    def divide_by_function(self, a: Quotient, b: Quotient) -> Quotient:
        """The quotient a / b for a divisor with roots or other functions."""
        lead = b.numerator.leading_coefficient()
        a = Quotient(a.numerator / lead, a.reducible_generators, a.denominator)
        divisor = b.numerator / lead
        if len(divisor) > 1:
            return self.multiply_quotients(
                a,
                self.function_generator(
                    Op.DIV,
                    (Quotient(self.one_polynomial), Quotient(divisor, b.reducible_generators)),
                ),
            )
        rest = self.one_polynomial
        for place, power in enumerate(divisor.monoms()[0]):
            for _ in range(int(power)):
                if place < self.function_capacity:
                    k = self.function_capacity - 1 - place
                    reciprocal = self.function_generator(
                        Op.DIV, (Quotient(self.one_polynomial), self._opaque_generator(k))
                    )
                    a = self.multiply_quotients(a, reciprocal)
                else:
                    rest = rest * self.generators[place]
        return self.divide_quotients(a, Quotient(rest, b.reducible_generators))

    def has_opaque_function(self, poly: FlintPolynomial) -> bool:
        """Whether the polynomial contains a root or another function."""
        return bool(self.function_capacity) and any(poly.degrees()[: self.function_capacity])

    def cancel_ratio(self, top: Quotient, bottom: Quotient) -> Quotient:
        """The ratio in lowest terms, with leading coefficient 1 in the denominator."""
        upper, lower = top.numerator, bottom.numerator
        mask = top.reducible_generators | bottom.reducible_generators
        if upper.is_zero():
            return Quotient(upper)
        if self.is_field or len(upper) * len(lower) < 10_000:
            common = upper.gcd(lower)
            if not common.is_constant():
                upper, lower = divmod(upper, common)[0], divmod(lower, common)[0]
        lead = lower.leading_coefficient()
        if lower.is_constant():
            return Quotient(upper / lead, mask)
        return Quotient(upper / lead, mask, lower / lead)

    # -- angles and other functions -------------------------------------------------------

    def cosine_and_sine(self, angle: Quotient) -> CircleQuotients:
        """(cos, sin) of an angle."""
        form = find_exact_angle(self, angle)
        multiples = self.angle_multiples.get(form) if form is not None else None
        if form is None or multiples is None:
            return self.opaque_cosine_and_sine(angle)
        if form not in self.circle_points:
            self.circle_points[form] = circle_point_of_multiples(self, multiples)
        return self.circle_points[form]

    def opaque_cosine_and_sine(self, angle: Quotient) -> CircleQuotients:
        """(cos, sin) of an angle outside the ring's lattice; opposite angles share generators."""
        opposite = negate_quotient(angle)
        if any(
            x.op is Op.COS and are_equal_quotients(self, x.operands[0], opposite)
            for x in self.opaque_functions
        ):
            cosine, sine = self.opaque_cosine_and_sine(opposite)
            return cosine, negate_quotient(sine)
        cosine, sine = (
            self.function_generator(Op.COS, (angle,)),
            self.function_generator(Op.SIN, (angle,)),
        )
        squares = sine.numerator * sine.numerator + cosine.numerator * cosine.numerator
        place = int(self.generators.index(sine.numerator))
        self.relations[1 << place] = (squares - 1,), 0
        return cosine, self._opaque_generator(self.function_capacity - 1 - place)

    def square_root(self, inside: Quotient) -> Quotient:
        """The square root of a value, as a generator; √8 is 2 √2."""
        number = rational_quotient_value(inside)
        if number is not None and number > 0 and rational_square_root(inside) is None:
            outside, primes, left = rational_root_factors(number)
            inside = self.constant(Fraction(prod(primes, start=left)))
            root = self.function_generator(Op.SQRT, (inside,))
            return self.multiply_quotients(self.constant(outside), root)
        generator = self.function_generator(Op.SQRT, (inside,))
        if self.is_field and inside.denominator is not None:  # it is b·√(a/b)
            return self.divide_quotients(
                generator, Quotient(inside.denominator, inside.reducible_generators)
            )
        return generator

    def function_generator(self, op: Op, operands: Sequence[Quotient]) -> Quotient:
        """The generator of a function, the same for equal operands; a root is reduced by l² = P."""
        found = OpaqueFunction(op, tuple(operands))
        for k, known in enumerate(self.opaque_functions):
            if known.op is op and all(
                are_equal_quotients(self, x, y)
                for x, y in zip(known.operands, operands, strict=True)
            ):
                return self._opaque_generator(k)
        if op is Op.SQRT and (root := rational_square_root(operands[0])) is not None:
            return self.constant(root)
        if self.is_field and op not in _FIELD_OPS:
            raise operation_undefined_in_algebra(op, "exact quotients of polynomials")
        if len(self.opaque_functions) == self.function_capacity:
            raise BudgetError("the closed form has too many functions")
        self.opaque_functions.append(found)
        k = len(self.opaque_functions) - 1
        self.add_relation(self.function_capacity - 1 - k, op, operands[-1])
        return self._opaque_generator(k)

    def add_relation(self, place: int, op: Op, inside: Quotient) -> None:
        """Adds the relation that reduces a new generator of a root or of a reciprocal.

        A root l has l² = P; r = 1/l has rP = l and rl = 1. In a field the generator of √(a/b) is
        b·√(a/b), whose square is ab.
        """
        if inside.denominator is not None:
            if not (self.is_field and op is Op.SQRT):
                return
            below = Quotient(inside.denominator, inside.reducible_generators)
            inside = self.multiply_quotients(
                Quotient(inside.numerator, inside.reducible_generators), below
            )
        generator, poly, bit = self.generators[place], inside.numerator, 1 << place
        if op is Op.SQRT:
            self.relations[bit] = (generator * generator - poly,), inside.reducible_generators
        elif op is Op.DIV:
            root = next(
                (k for k in range(self.function_capacity) if poly == self.generators[k]), None
            )
            if (
                root is not None
                and self.opaque_functions[self.function_capacity - 1 - root].op is Op.SQRT
            ):
                squared = self.opaque_functions[self.function_capacity - 1 - root].operands[0]
                pair = generator * squared.numerator - poly, generator * poly - 1
                self.relations[bit] = (
                    pair,
                    inside.reducible_generators | squared.reducible_generators,
                )
                self.reciprocals |= bit

    def _opaque_generator(self, k: int) -> Quotient:
        place = self.function_capacity - 1 - k
        return Quotient(
            self.generators[place], (1 << place) if (1 << place) in self.relations else 0
        )
