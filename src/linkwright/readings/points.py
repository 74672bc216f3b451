"""Random points modulo a prime, and tapes evaluated at them; what that means is told in `field`."""

from __future__ import annotations

from collections.abc import Sequence

from ..tape import ARITY, Op, Tape
from .bounds import Bounds, Combination
from .modular import Circular, UnluckyError, drawn, inverse, multiple, on_sphere, power, ratio, root
from .modular import turned as added

_BOOLEAN = frozenset({Op.LT, Op.LE, Op.EQ, Op.NE, Op.AND, Op.OR, Op.NOT})


class Point:
    """A random point: the same names and the same arguments have the same values.

    Square roots that stand inside fewer than `roots` others are true ones, or the point is unlucky;
    deeper ones are of x or of −x, whichever exists. `radicands` keeps the depth, the value, and
    whether it has a root. None: a root is a function of which nothing is known. `fixed` are
    inputs that have a value.
    """

    def __init__(self, prime: int, seed: int, parts: int, roots: int | None = None) -> None:
        self.prime, self.seed, self.parts, self.roots = prime, seed, parts, roots
        self.radicands: list[tuple[int, int, bool]] = []
        self.circles: dict[object, Circular] = {}
        self.unknown: dict[object, int] = {}
        self.fixed: dict[str, int] = {}

    def random(self, *key: object) -> int:
        return drawn(self.prime, self.seed, key)

    def put_on_sphere(self, names: Sequence[str]) -> None:
        """Makes inputs the entries of a unit quaternion."""
        t = [self.random("sphere", name) for name in names[1:]]
        self.fixed |= dict(zip(names, on_sphere(t, self.prime), strict=True))

    def symbol(self, name: str) -> int:
        return self.fixed[name] if name in self.fixed else self.random("input", name)

    def circle(self, key: object) -> Circular:
        """cos and sin of one part of an angle."""
        if key not in self.circles:
            c, s = on_sphere([self.random("angle", key)], self.prime)
            self.circles[key] = c, s
        return self.circles[key]

    def value(self, function: str, *arguments: int) -> int:
        """Of a function of which only this is known, that it is one."""
        key = (function, *arguments)
        if key not in self.unknown:
            self.unknown[key] = self.random(*key)
        return self.unknown[key]

    def root(self, x: int, level: int) -> int:
        """The smaller of both roots: one choice for one value, wherever it occurs."""
        if self.roots is None:
            return self.value(Op.SQRT.name, x)
        found, exists = root(x, self.prime)
        self.radicands.append((level, x, exists))
        if level < self.roots and not exists:
            raise UnluckyError("no root")
        return found

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
            return ratio(number.numerator, number.denominator, p)
        operands = self.args[k][: ARITY[op]]
        if op is Op.DIV:
            return ratio(values[operands[0]], values[operands[1]], p)
        if op in (Op.SIN, Op.COS, Op.TAN):
            cosine, sine = self._turned(bounds.combinations[operands[0]], values, point)
            if op is Op.TAN:
                return ratio(sine, cosine, p)
            return sine if op is Op.SIN else cosine
        given = [values[i] for i in operands]
        if op is Op.SQRT:
            return point.root(given[0], bounds.levels[k])
        if op in (Op.AND, Op.OR, Op.NOT, Op.SELECT):
            return self._logic(op, operands, given, point)
        exponent = bounds.numbers.get(operands[-1]) if op is Op.POW else None
        if exponent is not None and 2 * exponent == int(2 * exponent):
            whole = power(given[0], exponent.numerator // exponent.denominator, p)
            return (
                whole * point.root(given[0], bounds.levels[k]) % p if k in bounds.levels else whole
            )
        return _unknown(op, given, point)

    def _turned(self, angle: Combination, values: list[int], point: Point) -> Circular:
        p = point.prime
        total = 1, 0
        for leaf, share in angle.items():
            times = int(share * point.parts)
            key: object = self.names.get(leaf)
            if key is None:  # by its value, and the same for its negative
                key = values[leaf]
                if values[leaf] > p // 2:
                    key, times = p - values[leaf], -times
            total = added(total, multiple(point.circle(key), times, p), p)
        return total

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
