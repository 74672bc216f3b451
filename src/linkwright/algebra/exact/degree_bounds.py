"""A tape as a rational function: its angles, and bounds on the degrees of its values.

Every value is a quotient N/E of polynomials in the tape's generators: inputs, cos and sin of their
angles, and functions that are not rational. E is kept as a product of divisors, so that sums have
least common denominators and the degrees of eliminations do not grow exponentially.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm
from typing import NamedTuple

from ...errors import UnsupportedError
from ...tape import OPERATION_ARITY, Op, Tape

DivisorPowers = Mapping[int, int]  # powers of divisors, by the instruction that they are
ExactAngleCombination = Mapping[int, Fraction]  # multiples of values, by their instruction

TRIGONOMETRIC_OPS = frozenset({Op.SIN, Op.COS, Op.TAN})
RATIONAL_OPS = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.FMA})
_NO_DIVISORS: DivisorPowers = {}


class QuotientDegree(NamedTuple):
    """Degree bounds of a quotient: the degree of its numerator, and the powers of its divisors."""

    numerator_degree: int
    divisor_powers: DivisorPowers


_CONSTANT_DEGREE = QuotientDegree(0, _NO_DIVISORS)
_SYMBOL_DEGREE = QuotientDegree(1, _NO_DIVISORS)


class PolynomialDegreeBounds:
    """The degrees of all values of a tape.

    `angle_combinations` are the angles inside sin, cos and tan; `angle_parts` is the number of
    parts into which these divide an input angle.
    """

    def __init__(self, tape: Tape) -> None:
        self.ops, self.args = tape.operations, tape.operands
        if not isfinite(tape.constants.sum()):
            raise UnsupportedError("a constant on the tape is not finite")
        self.constants = {
            k: Fraction(tape.constants[k]) for k, op in enumerate(self.ops) if op is Op.CONSTANT
        }
        self.angle_combinations = self._find_angle_combinations()
        self.angle_parts = lcm(
            1,
            *(m.denominator for angle in self.angle_combinations.values() for m in angle.values()),
        )
        self.degrees: list[QuotientDegree] = []
        self.argument_degrees: list[int] = []
        self.irrational_functions: set[Op] = set()
        self._divisor_degrees: dict[int, int] = {}

    def compute_degrees(self, parts: int) -> PolynomialDegreeBounds:
        """Computes the degrees, with angles as multiples of 1/`parts` of their inputs."""
        self.angle_parts, self.degrees, self.argument_degrees = parts, [], []
        self._divisor_degrees.clear()
        degrees = self.degrees
        for k, op in enumerate(self.ops):
            if op is Op.MUL:
                a, b, _ = self.args[k]
                degrees.append(_quotient_product_degree(degrees[a], degrees[b]))
            elif op is Op.ADD or op is Op.SUB:
                a, b, _ = self.args[k]
                degrees.append(self._sum_degree(degrees[a], degrees[b]))
            else:
                degrees.append(self._value_degree(k, op, parts))
        return self

    def total_degrees(self, k: int) -> tuple[int, int]:
        """The degrees of numerator and denominator of value k."""
        own = self.degrees[k]
        return own.numerator_degree, self._divisor_degree_sum(own.divisor_powers)

    @cached_property
    def root_levels(self) -> dict[int, int]:
        """The nesting depth of each square root inside other roots, by its instruction."""
        depth: list[int] = []
        found: dict[int, int] = {}
        for k, op in enumerate(self.ops):
            of = [] if op in (Op.INPUT, Op.CONSTANT) else self.args[k][: OPERATION_ARITY[op]]
            inside = max((depth[i] for i in of), default=0)
            if op is Op.SQRT or (op is Op.POW and self._is_half_power(of[-1])):
                found[k] = inside
                inside += 1
            depth.append(inside)
        return found

    def _is_half_power(self, exponent: int) -> bool:
        value = self.constants.get(exponent)
        return value is not None and value.denominator == 2

    # -- angles --------------------------------------------------------------------------

    def _find_angle_combinations(self) -> dict[int, ExactAngleCombination]:
        """The angles as rational combinations of other values, by their instructions."""
        known: dict[int, ExactAngleCombination] = {}
        wanted: dict[int, ExactAngleCombination] = {}
        for k, op in enumerate(self.ops):
            if op in TRIGONOMETRIC_OPS:
                angle = self.args[k][0]
                wanted[angle] = self._angle_combination(angle, known)
        return wanted

    def _angle_combination(
        self, k: int, known: dict[int, ExactAngleCombination]
    ) -> ExactAngleCombination:
        stack = [k]
        while stack:
            top = stack[-1]
            waiting = [i for i in self._linear_operands(top) if i not in known]
            if waiting:
                stack += waiting
                continue
            known[top] = self._combine_operands(top, known)
            stack.pop()
        return known[k]

    def _linear_operands(self, k: int) -> list[int]:
        """The operands of which value k is a linear combination; none if it is a generator."""
        op, (a, b, _) = self.ops[k], self.args[k]
        match op:
            case Op.ADD | Op.SUB:
                return [a, b]
            case Op.NEG:
                return [a]
            case Op.MUL if a in self.constants or b in self.constants:
                return [b if a in self.constants else a]
            case Op.DIV if b in self.constants:
                return [a]
            case _:
                return []

    def _combine_operands(
        self, k: int, known: Mapping[int, ExactAngleCombination]
    ) -> ExactAngleCombination:
        op, (a, b, _) = self.ops[k], self.args[k]
        of = [known[i] for i in self._linear_operands(k)]
        if not of:
            return {} if self.constants.get(k) == 0 else {k: Fraction(1)}
        match op:
            case Op.ADD:
                return _add_exact_angle_combinations(of[0], of[1], Fraction(1))
            case Op.SUB:
                return _add_exact_angle_combinations(of[0], of[1], Fraction(-1))
            case Op.NEG:
                return _add_exact_angle_combinations({}, of[0], Fraction(-1))
            case Op.DIV:
                return _add_exact_angle_combinations({}, of[0], 1 / self.constants[b])
            case _:
                return _add_exact_angle_combinations(
                    {}, of[0], self.constants[a if a in self.constants else b]
                )

    # -- degrees -------------------------------------------------------------------------

    def _value_degree(self, k: int, op: Op, parts: int) -> QuotientDegree:
        """The degree of a value that is not a mere sum or product of two."""
        if op is Op.CONSTANT:
            return _CONSTANT_DEGREE
        if op is Op.INPUT:
            return _SYMBOL_DEGREE
        operands = self.args[k][: OPERATION_ARITY[op]]
        if op in TRIGONOMETRIC_OPS:
            return self._trigonometric_degree(k, op, operands[0], parts)
        of = [self.degrees[i] for i in operands]
        match op:
            case Op.NEG:
                return of[0]
            case Op.DIV:
                return self._quotient_degree(of[0], of[1], operands[1])
            case Op.FMA:
                return self._sum_degree(_quotient_product_degree(of[0], of[1]), of[2])
            case _:
                return self._function_degree(op, operands)

    def _trigonometric_degree(self, k: int, op: Op, angle: int, parts: int) -> QuotientDegree:
        multiples = self.angle_combinations[angle]
        for leaf in multiples:
            if self.ops[leaf] is not Op.INPUT:
                self.irrational_functions.add(op)
                self.argument_degrees.append(sum(self.total_degrees(leaf)))
        degree = sum(abs(int(m * parts)) for m in multiples.values())
        own = QuotientDegree(degree, _NO_DIVISORS)
        if op is Op.TAN:
            return self._quotient_degree(own, own, k)
        return own

    def _function_degree(self, op: Op, operands: list[int]) -> QuotientDegree:
        """The degree of a function that is not rational: a generator of its own, times factors."""
        whole = self.constants.get(operands[-1]) if op is Op.POW else None
        if whole is not None and 2 * whole == int(2 * whole):
            times = abs(whole.numerator // whole.denominator)  # a half that is left is a root
            base = self.degrees[operands[0]]
            if whole < 0:
                base = self._quotient_degree(_CONSTANT_DEGREE, base, operands[0])
            power = QuotientDegree(
                base.numerator_degree * times,
                {f: e * times for f, e in base.divisor_powers.items()},
            )
            if whole.denominator == 1:
                return power
            self.irrational_functions.add(Op.SQRT)
            self.argument_degrees.append(sum(self.total_degrees(operands[0])))
            return _quotient_product_degree(power, _quotient_product_degree(_SYMBOL_DEGREE, base))
        self.irrational_functions.add(op)
        self.argument_degrees.append(sum(sum(self.total_degrees(i)) for i in operands))
        total = _SYMBOL_DEGREE
        for i in operands:
            total = self._sum_degree(
                total, _quotient_product_degree(self.degrees[i], _SYMBOL_DEGREE)
            )
        return QuotientDegree(
            2 * total.numerator_degree, {f: 2 * e for f, e in total.divisor_powers.items()}
        )

    def _divisor_degree_sum(self, factors: DivisorPowers) -> int:
        return sum(e * self._divisor_degree(f) for f, e in factors.items())

    def _divisor_degree(self, k: int) -> int:
        """The degree of a divisor's numerator; the cosine in tan is named by the tan itself."""
        if k not in self._divisor_degrees:
            is_tangent = self.ops[k] is Op.TAN
            self._divisor_degrees[k] = (
                self._cosine_degree(k) if is_tangent else self.degrees[k].numerator_degree
            )
        return self._divisor_degrees[k]

    def _cosine_degree(self, k: int) -> int:
        multiples = self.angle_combinations[self.args[k][0]].values()
        return sum(abs(int(m * self.angle_parts)) for m in multiples)

    def _sum_degree(self, a: QuotientDegree, b: QuotientDegree) -> QuotientDegree:
        if a.divisor_powers is b.divisor_powers or a.divisor_powers == b.divisor_powers:
            return a if a.numerator_degree >= b.numerator_degree else b
        below = dict(a.divisor_powers)
        for f, e in b.divisor_powers.items():
            below[f] = max(e, below.get(f, 0))
        size = self._divisor_degree_sum(below)
        top = max(
            a.numerator_degree + size - self._divisor_degree_sum(a.divisor_powers),
            b.numerator_degree + size - self._divisor_degree_sum(b.divisor_powers),
        )
        return QuotientDegree(top, below)

    def _quotient_degree(
        self, a: QuotientDegree, b: QuotientDegree, divisor: int
    ) -> QuotientDegree:
        if not b.numerator_degree and not b.divisor_powers:
            return a
        below, top = dict(a.divisor_powers), a.numerator_degree
        for f, e in b.divisor_powers.items():
            common = min(e, below.get(f, 0))
            below[f] = below.get(f, 0) - common
            top += (e - common) * self._divisor_degree(f)
        below[divisor] = below.get(divisor, 0) + 1
        return QuotientDegree(top, {f: e for f, e in below.items() if e})


def _add_exact_angle_combinations(
    one: ExactAngleCombination, other: ExactAngleCombination, times: Fraction
) -> ExactAngleCombination:
    total = dict(one)
    for leaf, multiple in other.items():
        total[leaf] = total.get(leaf, Fraction(0)) + times * multiple
    return {leaf: multiple for leaf, multiple in total.items() if multiple}


def _quotient_product_degree(a: QuotientDegree, b: QuotientDegree) -> QuotientDegree:
    degree = a.numerator_degree + b.numerator_degree
    if not b.divisor_powers:
        return QuotientDegree(degree, a.divisor_powers)
    if not a.divisor_powers:
        return QuotientDegree(degree, b.divisor_powers)
    below = dict(a.divisor_powers)
    for f, e in b.divisor_powers.items():
        below[f] = below.get(f, 0) + e
    return QuotientDegree(degree, below)
