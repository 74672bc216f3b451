"""Tapes modulo a prime, at random points: two programs are one function, or they differ.

A value is a number modulo p. Inputs are random numbers; inside sin and cos they are angles as well,
each a random rational point of the circle,

    c = (1 − t²)/(1 + t²),   s = 2t/(1 + t²),

of which combinations are products, so that cos(q₁ + q₂) and sin 2q are exact. Four inputs that are
a unit quaternion are a random rational point of the sphere. An angle that is no combination of
inputs with rational multiples is a point of its own, the same wherever its value is the same; and
so is the value of a function that is not rational (sqrt, sign, exp). What holds for any numbers in
those places holds for the right ones; what differs there is left undecided.

Two different rational functions of degree d agree at a random point with probability d/p at most
(Schwartz, Zippel): `bounds` finds d from the tapes, and the prime and the number of points follow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, log2

from ..errors import UnsupportedError
from ..tape import ARITY, Op, Tape
from .bounds import Bounds, Combination

EXPONENTS = (61, 89, 107, 127, 521, 607, 1279, 2203, 3217, 4423, 9689, 19937)
"""Of Mersenne primes 2ⁿ − 1, on which −1 has no root: 1 + t² is never zero."""

TRIES = 20
_BOOLEAN = frozenset({Op.LT, Op.LE, Op.EQ, Op.NE, Op.AND, Op.OR, Op.NOT})


class UnluckyError(ArithmeticError):
    """A division by zero: another point is needed."""


class Point:
    """A random point: the same names and the same arguments have the same values."""

    def __init__(self, prime: int, seed: int, parts: int) -> None:
        self.prime, self.seed, self.parts = prime, seed, parts
        self.circles: dict[object, tuple[int, int]] = {}
        self.unknown: dict[object, int] = {}
        self.spheres: dict[str, int] = {}

    def random(self, *key: object) -> int:
        return random.Random(f"{self.seed} {key}").randrange(1, self.prime)

    def put_on_sphere(self, names: Sequence[str]) -> None:
        """Makes inputs the entries of a unit quaternion."""
        p = self.prime
        t = [self.random("sphere", name) for name in names[1:]]
        square = sum(x * x for x in t)
        if (1 + square) % p == 0:
            raise UnluckyError("no point of the sphere")
        scale = pow(1 + square, -1, p)
        entries = [(1 - square) * scale % p, *(2 * x * scale % p for x in t)]
        self.spheres |= dict(zip(names, entries, strict=True))

    def symbol(self, name: str) -> int:
        return self.spheres[name] if name in self.spheres else self.random("input", name)

    def circle(self, key: object) -> tuple[int, int]:
        """cos and sin of one part of an angle."""
        if key not in self.circles:
            p, t = self.prime, self.random("angle", key)
            scale = pow(1 + t * t, -1, p)
            self.circles[key] = (1 - t * t) * scale % p, 2 * t * scale % p
        return self.circles[key]

    def value(self, function: str, *arguments: int) -> int:
        """Of a function of which only this is known, that it is one."""
        key = (function, *arguments)
        if key not in self.unknown:
            self.unknown[key] = self.random(*key)
        return self.unknown[key]

    def odd(self, function: str, x: int) -> int:
        negative = x > self.prime // 2
        value = self.value(function, self.prime - x if negative else x) if x else 0
        return -value % self.prime if negative else value


class Program:
    """A tape ready to be evaluated at points; `names` are those of its inputs' entries."""

    def __init__(self, tape: Tape, names: Sequence[Sequence[str]]) -> None:
        self.tape, self.bounds = tape, Bounds(tape)
        self.ops, self.args = self.bounds.ops, self.bounds.args
        self.names = {
            k: names[self.args[k][0]][self.args[k][1]]
            for k, op in enumerate(self.ops)
            if op is Op.INPUT
        }

    def at(self, point: Point) -> list[list[int]]:
        """All outputs, entries row by row."""
        p = point.prime
        values: list[int] = []
        add, args = values.append, self.args
        for k, op in enumerate(self.ops):
            a, b, c = args[k]
            if op is Op.MUL:
                add(values[a] * values[b] % p)
            elif op is Op.ADD:
                add((values[a] + values[b]) % p)
            elif op is Op.SUB:
                add((values[a] - values[b]) % p)
            elif op is Op.NEG:
                add(-values[a] % p)
            elif op is Op.FMA:
                add((values[a] * values[b] + values[c]) % p)
            else:
                add(self._value(k, op, values, point))
        return [[values[i] for i in result.tolist()] for result in self.tape.results]

    def _value(self, k: int, op: Op, values: list[int], point: Point) -> int:
        p, bounds = point.prime, self.bounds
        if op is Op.INPUT:
            return point.symbol(self.names[k])
        if op is Op.CONSTANT:
            number = bounds.numbers[k]
            return number.numerator * pow(number.denominator, -1, p) % p
        operands = self.args[k][: ARITY[op]]
        if op is Op.DIV:
            return values[operands[0]] * inverse(values[operands[1]], p) % p
        if op in (Op.SIN, Op.COS, Op.TAN):
            cosine, sine = self._turned(bounds.combinations[operands[0]], values, point)
            if op is Op.TAN:
                return sine * inverse(cosine, p) % p
            return sine if op is Op.SIN else cosine
        given = [values[i] for i in operands]
        if op in (Op.AND, Op.OR, Op.NOT, Op.SELECT):
            return self._logic(op, operands, given, point)
        exponent = bounds.numbers.get(operands[-1]) if op is Op.POW else None
        if exponent is not None and 2 * exponent == int(2 * exponent):
            return _power(given[0], exponent, point)
        return _unknown(op, given, point)

    def _turned(self, angle: Combination, values: list[int], point: Point) -> tuple[int, int]:
        p = point.prime
        c, s = 1, 0
        for leaf, multiple in angle.items():
            times = int(multiple * point.parts)
            key: object = self.names.get(leaf)
            if key is None:  # by its value, and the same for its negative
                key = values[leaf]
                if values[leaf] > p // 2:
                    key, times = p - values[leaf], -times
            x, y = _multiple(point.circle(key), times, p)
            c, s = (c * x - s * y) % p, (s * x + c * y) % p
        return c, s

    def _logic(self, op: Op, operands: list[int], given: list[int], point: Point) -> int:
        """Truth is 0 or 1, so that logic is arithmetic."""
        p = point.prime
        truths = operands[:1] if op is Op.SELECT else operands
        true = [
            x if self.ops[i] in _BOOLEAN else point.value("truth", x)
            for i, x in zip(truths, given, strict=False)
        ]
        match op:
            case Op.SELECT:
                return (given[2] + true[0] * (given[1] - given[2])) % p
            case Op.AND:
                return true[0] * true[1] % p
            case Op.OR:
                return (true[0] + true[1] - true[0] * true[1]) % p
            case _:
                return (1 - true[0]) % p


def _unknown(op: Op, given: list[int], point: Point) -> int:
    """Functions that are not rational, by what is known of them: symmetries, |x| = x sign x."""
    p = point.prime
    x, y = given[0], given[-1]
    match op:
        case Op.SIGN | Op.TANH | Op.ASIN:
            return point.odd(op.name, x)
        case Op.ABS:
            return x * point.odd("SIGN", x) % p
        case Op.MIN | Op.MAX:
            apart = (x - y) * point.odd("SIGN", (x - y) % p)
            return (x + y + (apart if op is Op.MAX else -apart)) * inverse(2, p) % p
        case Op.LT:
            return point.value("positive", (y - x) % p)
        case Op.LE:
            return (1 - point.value("positive", (x - y) % p)) % p
        case Op.EQ | Op.NE:
            apart = (x - y) % p
            same = point.value("zero", min(apart, p - apart))
            return same if op is Op.EQ else (1 - same) % p
        case _:
            return point.value(op.name, *given)


def _power(base: int, exponent: Fraction, point: Point) -> int:
    """Whole powers; a half is a root."""
    whole = exponent.numerator // exponent.denominator
    power = pow(base if whole >= 0 else inverse(base, point.prime), abs(whole), point.prime)
    if exponent.denominator == 1:
        return power
    return power * point.value(Op.SQRT.name, base) % point.prime


def _multiple(point: tuple[int, int], times: int, p: int) -> tuple[int, int]:
    if times == 1:
        return point
    if times < 0:
        point, times = (point[0], -point[1] % p), -times
    c, s = 1, 0
    x, y = point
    while times:
        if times & 1:
            c, s = (c * x - s * y) % p, (s * x + c * y) % p
        x, y, times = (x * x - y * y) % p, 2 * x * y % p, times >> 1
    return c, s


def inverse(x: int, p: int) -> int:
    if x % p == 0:
        raise UnluckyError("division by zero")
    return pow(x, -1, p)


# -- proofs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """Whether programs agree, entry by entry.

    `identical` with the `chance` that this is wrong, or the `differing` entries, which is certain.
    Where they are `undecided`, functions that are not rational have hidden the answer.
    """

    identical: bool
    chance: float
    points: int
    exponent: int
    degree: int
    differing: tuple[str, ...] = ()
    undecided: bool = False

    def __str__(self) -> str:
        if self.undecided:
            return "undecided modulo a prime"
        if not self.identical:
            return f"different: {', '.join(self.differing)}"
        sure = f"below 2^{log2(self.chance):.0f}" if self.chance else "zero"
        count = f"{self.points} point{'s' * (self.points != 1)}"
        return (
            f"identical, proved modulo 2^{self.exponent} − 1 at {count} "
            f"(degree {self.degree} at most, chance of an error {sure})"
        )


def identical(
    one: Tape,
    other: Tape,
    entries: Sequence[Sequence[str]],
    chance: float = 2.0**-50,
    unit: Sequence[Sequence[str]] = (),
) -> Verdict:
    """Compares all outputs of two tapes whose inputs are called the same, entry by entry.

    `unit` names inputs that together are unit quaternions.
    """
    programs = [Program(tape, entries) for tape in (one, other)]
    degree = common_degree(programs, unit)
    exponent, points = _effort(degree, chance)
    for k in range(points):
        found = _evaluated(programs, exponent, k, unit)
        differing = tuple(_differing(one, *found))
        if differing:
            unknown = any(program.bounds.arguments for program in programs)
            return Verdict(False, 0.0, k + 1, exponent, degree, differing, undecided=unknown)
    return Verdict(
        True, 2.0 ** (points * (log2(max(1, degree)) - exponent)), points, exponent, degree
    )


def common_degree(programs: Sequence[Program], unit: Sequence[Sequence[str]] = ()) -> int:
    """A bound of the degree of all differences of outputs, in the parameters of random points.

    A polynomial of degree d in n cosines and sines has the degree 2 n d in their tangents; points
    and unknown functions that are told apart by values add the chance that those coincide.
    """
    parts = lcm(*(program.bounds.parts for program in programs))
    for program in programs:
        program.bounds.with_parts(parts)
    one, other = (program.bounds for program in programs)
    outputs = (zip(a.tolist(), b.tolist(), strict=True)
               for a, b in zip(*(p.tape.results for p in programs), strict=True))  # fmt: skip
    degree = 0
    for x, y in (pair for pairs in outputs for pair in pairs):
        (top, below), (top_2, below_2) = one.total(x), other.total(y)
        degree = max(degree, top + below_2, top_2 + below)
    arguments = one.arguments + other.arguments
    angles = {leaf for b in (one, other) for angle in b.combinations.values() for leaf in angle}
    coincidences = len(arguments) ** 2 * max(arguments, default=0)
    return (degree + coincidences) * (2 * (len(angles) + len(unit)) + 1)


def _effort(degree: int, chance: float) -> tuple[int, int]:
    """The prime's exponent and the number of points that cost least."""
    wanted = -log2(chance)
    choices = []
    for exponent in EXPONENTS:
        each = exponent - log2(max(1, degree))
        if each >= 8:
            points = max(1, int(-(-wanted // each)))
            choices.append((points * (300 + exponent), exponent, points))
    if not choices:
        raise UnsupportedError(
            "the degree is beyond all fields", remedy="compare without divisions: M and bias"
        )
    _, exponent, points = min(choices)
    return exponent, points


def _evaluated(
    programs: Sequence[Program], exponent: int, number: int, unit: Sequence[Sequence[str]]
) -> list[list[list[int]]]:
    for attempt in range(TRIES):
        point = Point(2**exponent - 1, TRIES * number + attempt, programs[0].bounds.parts)
        try:
            for names in unit:
                point.put_on_sphere(names)
            return [program.at(point) for program in programs]
        except UnluckyError:
            continue
    raise UnsupportedError("no point was found at which both can be evaluated")


def _differing(tape: Tape, one: list[list[int]], other: list[list[int]]) -> Iterator[str]:
    for port, a, b in zip(tape.outputs, one, other, strict=True):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if x != y:
                yield f"{port.name}[{k + 1}]"
