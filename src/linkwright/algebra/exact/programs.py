"""Random points modulo a prime, and tapes evaluated at them; what that means is told in `field`."""

from __future__ import annotations

from collections.abc import Sequence

from ...tape import ARITY, Op, Tape
from .bounds import Bounds, Combination
from .modular import Circular, UnluckyError, multiple, power, ratio, root
from .modular import turned as added
from .random_point import TRUTHS, RandomPoint


class Point(RandomPoint):
    """A random point for whole tapes, whose angles are counted in `parts`.

    Square roots that stand inside fewer than `roots` others are true ones, or the point is unlucky;
    deeper ones are of x or of −x, whichever exists. `radicands` keeps the depth, the value, and
    whether it has a root. None: a root is a function of which nothing is known. `fixed` are
    inputs that have a value.
    """

    def __init__(self, prime: int, seed: int, parts: int, roots: int | None = None) -> None:
        super().__init__(prime, seed)
        self.parts, self.roots = parts, roots
        self.radicands: list[tuple[int, int, bool]] = []
        self.fixed: dict[str, int] = {}

    def put_on_sphere(self, names: Sequence[str]) -> None:
        """Makes inputs the entries of a unit quaternion."""
        self.fixed |= dict(zip(names, self.sphere(names), strict=True))

    def symbol(self, name: str) -> int:
        return self.fixed[name] if name in self.fixed else self.number("input", name)

    def root(self, x: int, level: int) -> int:
        """The smaller of both roots: one choice for one value, wherever it occurs."""
        if self.roots is None:
            return self.number(Op.SQRT.name, x)
        found, exists = root(x, self.prime)
        self.radicands.append((level, x, exists))
        if level < self.roots and not exists:
            raise UnluckyError("no root")
        return found


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
        exponent = bounds.numbers.get(operands[-1]) if op is Op.POW else None
        if exponent is not None and 2 * exponent == int(2 * exponent):
            whole = power(given[0], exponent.numerator // exponent.denominator, p)
            return (
                whole * point.root(given[0], bounds.levels[k]) % p if k in bounds.levels else whole
            )
        return point.function(op, given, [self.ops[i] in TRUTHS for i in operands])

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
