"""What a tape is as a rational function: which angles it has, and how high its degrees may be.

Every value is a quotient N/E of polynomials in the tape's generators: inputs, cos and sin of their
angles, and functions that are not rational. E is kept as a product of divisors, so that sums have
least common denominators, and the degrees of eliminations do not explode at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm

from ...errors import UnsupportedError
from ...tape import ARITY, Op, Tape

Factors = Mapping[int, int]  # powers of divisors, by the instruction that they are
Combination = Mapping[int, Fraction]  # multiples of values, by their instruction

CIRCULAR = frozenset({Op.SIN, Op.COS, Op.TAN})
RATIONAL = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.FMA})
_NONE: Factors = {}


@dataclass(frozen=True)
class Degree:
    """Bounds of a quotient: the degree of its numerator, and the divisors below."""

    top: int = 0
    below: Factors = field(default_factory=dict)


_CONSTANT = Degree(0, _NONE)
_SYMBOL = Degree(1, _NONE)


class Bounds:
    """Degrees of all values of a tape; `combinations` are the angles inside sin, cos and tan,
    `parts` the number of parts that they cut turns into."""

    def __init__(self, tape: Tape) -> None:
        self.ops = [Op(code) for code in tape.ops.tolist()]
        self.args: list[list[int]] = tape.args.tolist()
        if not isfinite(tape.constants.sum()):
            raise UnsupportedError("a constant on the tape is not finite")
        self.numbers = {
            k: Fraction(tape.constants[k]) for k, op in enumerate(self.ops) if op is Op.CONSTANT
        }
        self.combinations = self._combinations()
        self.parts = lcm(
            1, *(m.denominator for angle in self.combinations.values() for m in angle.values())
        )
        self.degrees: list[Degree] = []
        self.arguments: list[int] = []
        self.functions: set[Op] = set()

    def with_parts(self, parts: int) -> Bounds:
        """Computes the degrees, angles being multiples of a `parts`-th of their inputs."""
        self.parts, self.degrees, self.arguments = parts, [], []
        for k, op in enumerate(self.ops):
            self.degrees.append(self._degree(k, op, parts))
        return self

    def total(self, k: int) -> tuple[int, int]:
        """Degrees of numerator and denominator of a value."""
        own = self.degrees[k]
        return own.top, self._size(own.below)

    @cached_property
    def levels(self) -> dict[int, int]:
        """How deep roots stand inside other roots, by their instructions."""
        depth: list[int] = []
        found: dict[int, int] = {}
        for k, op in enumerate(self.ops):
            of = [] if op in (Op.INPUT, Op.CONSTANT) else self.args[k][: ARITY[op]]
            inside = max((depth[i] for i in of), default=0)
            if op is Op.SQRT or (op is Op.POW and self._halves(of[-1])):
                found[k] = inside
                inside += 1
            depth.append(inside)
        return found

    def _halves(self, exponent: int) -> bool:
        value = self.numbers.get(exponent)
        return value is not None and value.denominator == 2

    # -- angles --------------------------------------------------------------------------

    def _combinations(self) -> dict[int, Combination]:
        """Angles by the instruction that gives them: rational combinations of other values."""
        known: dict[int, Combination] = {}
        wanted: dict[int, Combination] = {}
        for k, op in enumerate(self.ops):
            if op in CIRCULAR:
                angle = self.args[k][0]
                wanted[angle] = self._combination(angle, known)
        return wanted

    def _combination(self, k: int, known: dict[int, Combination]) -> Combination:
        stack = [k]
        while stack:
            top = stack[-1]
            waiting = [i for i in self._linear_in(top) if i not in known]
            if waiting:
                stack += waiting
                continue
            known[top] = self._combined(top, known)
            stack.pop()
        return known[k]

    def _linear_in(self, k: int) -> list[int]:
        """The operands whose combination the value follows; none where it is an angle itself."""
        op, (a, b, _) = self.ops[k], self.args[k]
        match op:
            case Op.ADD | Op.SUB:
                return [a, b]
            case Op.NEG:
                return [a]
            case Op.MUL if a in self.numbers or b in self.numbers:
                return [b if a in self.numbers else a]
            case Op.DIV if b in self.numbers:
                return [a]
            case _:
                return []

    def _combined(self, k: int, known: Mapping[int, Combination]) -> Combination:
        op, (a, b, _) = self.ops[k], self.args[k]
        of = [known[i] for i in self._linear_in(k)]
        if not of:
            return {} if self.numbers.get(k) == 0 else {k: Fraction(1)}
        match op:
            case Op.ADD:
                return _added(of[0], of[1], Fraction(1))
            case Op.SUB:
                return _added(of[0], of[1], Fraction(-1))
            case Op.NEG:
                return _added({}, of[0], Fraction(-1))
            case Op.DIV:
                return _added({}, of[0], 1 / self.numbers[b])
            case _:
                return _added({}, of[0], self.numbers[a if a in self.numbers else b])

    # -- degrees -------------------------------------------------------------------------

    def _degree(self, k: int, op: Op, parts: int) -> Degree:
        if op is Op.CONSTANT:
            return _CONSTANT
        if op is Op.INPUT:
            return _SYMBOL
        operands = self.args[k][: ARITY[op]]
        if op in CIRCULAR:
            return self._circular(k, op, operands[0], parts)
        of = [self.degrees[i] for i in operands]
        match op:
            case Op.ADD | Op.SUB:
                return self._sum(of[0], of[1])
            case Op.MUL:
                return _product(of[0], of[1])
            case Op.NEG:
                return of[0]
            case Op.DIV:
                return self._quotient(of[0], of[1], operands[1])
            case Op.FMA:
                return self._sum(_product(of[0], of[1]), of[2])
            case _:
                return self._other(op, operands)

    def _circular(self, k: int, op: Op, angle: int, parts: int) -> Degree:
        multiples = self.combinations[angle]
        for leaf in multiples:
            if self.ops[leaf] is not Op.INPUT:
                self.functions.add(op)
                self.arguments.append(sum(self.total(leaf)))
        degree = sum(abs(int(m * parts)) for m in multiples.values())
        own = Degree(degree, _NONE)
        if op is Op.TAN:
            return self._quotient(own, own, k)
        return own

    def _other(self, op: Op, operands: list[int]) -> Degree:
        """Functions that are not rational: a generator each, with what multiplies it."""
        whole = self.numbers.get(operands[-1]) if op is Op.POW else None
        if whole is not None and 2 * whole == int(2 * whole):
            times = abs(whole.numerator // whole.denominator)  # a half that is left is a root
            base = self.degrees[operands[0]]
            if whole < 0:
                base = self._quotient(_CONSTANT, base, operands[0])
            power = Degree(base.top * times, {f: e * times for f, e in base.below.items()})
            if whole.denominator == 1:
                return power
            self.functions.add(Op.SQRT)
            self.arguments.append(sum(self.total(operands[0])))
            return _product(power, _product(_SYMBOL, base))
        self.functions.add(op)
        self.arguments.append(sum(sum(self.total(i)) for i in operands))
        total = _SYMBOL
        for i in operands:
            total = self._sum(total, _product(self.degrees[i], _SYMBOL))
        return Degree(2 * total.top, {f: 2 * e for f, e in total.below.items()})

    def _size(self, factors: Factors) -> int:
        return sum(e * self._divisor(f) for f, e in factors.items())

    def _divisor(self, k: int) -> int:
        """The degree of a divisor's numerator; tan's own cosine is named by tan itself."""
        if self.ops[k] is Op.TAN:
            return self._cosine(k)
        return self.degrees[k].top

    def _cosine(self, k: int) -> int:
        multiples = self.combinations[self.args[k][0]].values()
        return sum(abs(int(m * self.parts)) for m in multiples)

    def _sum(self, a: Degree, b: Degree) -> Degree:
        if not a.below and not b.below:
            return a if a.top >= b.top else b
        below = dict(a.below)
        for f, e in b.below.items():
            below[f] = max(e, below.get(f, 0))
        size = self._size(below)
        top = max(a.top + size - self._size(a.below), b.top + size - self._size(b.below))
        return Degree(top, below)

    def _quotient(self, a: Degree, b: Degree, divisor: int) -> Degree:
        if not b.top and not b.below:
            return a
        below, top = dict(a.below), a.top
        for f, e in b.below.items():
            common = min(e, below.get(f, 0))
            below[f] = below.get(f, 0) - common
            top += (e - common) * self._divisor(f)
        below[divisor] = below.get(divisor, 0) + 1
        return Degree(top, {f: e for f, e in below.items() if e})


def _added(one: Combination, other: Combination, times: Fraction) -> Combination:
    total = dict(one)
    for leaf, multiple in other.items():
        total[leaf] = total.get(leaf, Fraction(0)) + times * multiple
    return {leaf: multiple for leaf, multiple in total.items() if multiple}


def _product(a: Degree, b: Degree) -> Degree:
    if not a.below and not b.below:
        return Degree(a.top + b.top, _NONE)
    below = dict(a.below)
    for f, e in b.below.items():
        below[f] = below.get(f, 0) + e
    return Degree(a.top + b.top, below)
