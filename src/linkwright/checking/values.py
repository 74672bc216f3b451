"""Values of whole equations at one point, and the arithmetic of the values that parts must have.

The value of a node is a number modulo the prime, or, in an equation of dual vectors, one dual
number for each axis. A key holds its residues: the real parts along the axes, then the dual parts.
A component None of a required key may be anything: eps·a fixes the real part of a alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..algebra.exact.algebra import evaluate_expression, multiply_all
from ..algebra.exact.modular import UnluckyError
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residue_values import PRIME, Value, small_integer
from ..errors import UnsupportedError
from ..expressions import Expression, Name
from ..tape import Op
from .duals import EPS, is_dual, is_scalar, is_vector, names_reached
from .meaning import Meanings
from .prover import Scope

Key = tuple[int | None, ...]
MOST_POWER = 16


@dataclass(frozen=True)
class DualValue:
    """A dual number along each axis."""

    reals: tuple[Value, ...]
    duals: tuple[Value, ...]


class DualAlgebra:
    """Dual vectors, whose products are taken axis by axis."""

    def __init__(self, field: PrimeField, axes: int) -> None:
        self.field, self.axes = field, axes

    def scalar(self, value: Value) -> DualValue:
        zero = self.field.constant(Fraction(0))
        return DualValue((value,) * self.axes, (zero,) * self.axes)

    def constant(self, value: Fraction) -> DualValue:
        return self.scalar(self.field.constant(value))

    def pi(self) -> DualValue:
        return self.scalar(self.field.pi())

    def apply(self, op: Op, operands: Sequence[DualValue]) -> DualValue:
        match op:
            case Op.ADD | Op.SUB | Op.NEG:
                return self._linear(op, operands)
            case Op.MUL:
                return self._times(*operands)
            case Op.DIV:
                return self._times(operands[0], self._reciprocal(operands[1]))
            case Op.POW:
                return self._power(*operands)
            case _:
                return self._function(op, operands)

    def _linear(self, op: Op, operands: Sequence[DualValue]) -> DualValue:
        reals = zip(*(x.reals for x in operands), strict=True)
        duals = zip(*(x.duals for x in operands), strict=True)
        apply = self.field.apply
        return DualValue(tuple(apply(op, x) for x in reals), tuple(apply(op, x) for x in duals))

    def _times(self, a: DualValue, b: DualValue) -> DualValue:
        apply = self.field.apply
        reals = tuple(apply(Op.MUL, pair) for pair in zip(a.reals, b.reals, strict=True))
        mixed = zip(a.reals, a.duals, b.reals, b.duals, strict=True)
        pairs = [(apply(Op.MUL, (ar, bd)), apply(Op.MUL, (ad, br))) for ar, ad, br, bd in mixed]
        return DualValue(reals, tuple(apply(Op.ADD, pair) for pair in pairs))

    def _reciprocal(self, operand: DualValue) -> DualValue:
        apply, one = self.field.apply, self.field.constant(Fraction(1))
        reals = tuple(apply(Op.DIV, (one, x)) for x in operand.reals)
        squares = [apply(Op.MUL, (r, r)) for r in reals]
        products = [apply(Op.MUL, x) for x in zip(operand.duals, squares, strict=True)]
        return DualValue(reals, tuple(apply(Op.NEG, (x,)) for x in products))

    def _power(self, base: DualValue, exponent: DualValue) -> DualValue:
        whole = small_integer(exponent.reals[0].number, MOST_POWER)
        if whole is None or exponent.reals[0].marks is not None:
            raise UnsupportedError("such a power has no dual part", remedy="write it without eps")
        power = multiply_all(self, [self.constant(Fraction(1)), *[base] * abs(whole)])
        return power if whole >= 0 else self._reciprocal(power)

    def _function(self, op: Op, operands: Sequence[DualValue]) -> DualValue:
        apply = self.field.apply
        reals = tuple(apply(op, x) for x in zip(*(x.reals for x in operands), strict=True))
        if not any(x.number for operand in operands for x in operand.duals):
            return DualValue(reals, operands[0].duals)
        if op not in (Op.SIN, Op.COS):
            name = op.name.lower()
            raise UnsupportedError(f"{name} has no dual part", remedy="write it without eps")
        (angle,) = operands
        slopes = [apply(Op.COS if op is Op.SIN else Op.SIN, (x,)) for x in angle.reals]
        slopes = slopes if op is Op.SIN else [apply(Op.NEG, (x,)) for x in slopes]
        pairs = zip(slopes, angle.duals, strict=True)
        return DualValue(reals, tuple(apply(Op.MUL, pair) for pair in pairs))


AnyValue = Value | DualValue
AnyAlgebra = PrimeField | DualAlgebra


class DualLookup:
    """The values of a text's names in an equation of dual vectors, at one point."""

    def __init__(
        self, scope: Scope, algebra: DualAlgebra, text: Meanings, owners: Sequence[str]
    ) -> None:
        self.scope, self.algebra, self.text, self.owners = scope, algebra, text, owners
        self.known: dict[str, DualValue] = {}

    def __call__(self, name: str) -> DualValue:
        if name not in self.known:
            self.known[name] = self._find(name)
        return self.known[name]

    def maybe(self, name: str) -> DualValue | None:
        try:
            return self(name)
        except LookupError:
            return None

    def _find(self, name: str) -> DualValue:
        algebra = self.algebra
        if name == EPS:
            numbers = (algebra.constant(Fraction(x)).reals for x in (0, 1))
            return DualValue(*numbers)
        meaning = self.text.find(name)
        if isinstance(meaning, Name):
            name = meaning.name.lstrip("=")  # a name of ours
        elif isinstance(meaning, Expression) and self.leads_to_dual(meaning):
            return evaluate_expression(meaning, algebra, self)
        if is_vector(name, self.owners):
            if algebra.axes == 1:
                raise UnluckyError("a vector among numbers")
            return self._parts([f"{name}@{axis}" for axis in "xyz"])
        if is_scalar(name, self.owners):
            return self._parts([f"{name}@"] * algebra.axes)
        return algebra.scalar(self.scope.lookup(name))

    def _parts(self, stems: Sequence[str]) -> DualValue:
        reals, duals = (
            tuple(self.scope.lookup(f"{stem}{part}") for stem in stems) for part in "rd"
        )
        return DualValue(reals, duals)

    def leads_to_dual(self, expression: Expression) -> bool:
        reached = names_reached(expression, self.text.find)
        return any(is_dual(name, self.owners) for name in reached)


def key_of(value: AnyValue) -> tuple[int, ...]:
    if isinstance(value, Value):
        return (value.number,)
    return tuple(x.number for x in (*value.reals, *value.duals))


def has_no_value(value: AnyValue) -> bool:
    """Whether it divides by zero, or has a root that does not exist modulo the prime."""
    parts = (value,) if isinstance(value, Value) else (*value.reals, *value.duals)
    marks = [x.marks for x in parts if x.marks is not None]
    return any(x.why or (x.roots and x.is_loose) for x in marks)


def is_met(goal: Key, key: Key) -> bool:
    return all(g is None or g == k for g, k in zip(goal, key, strict=True))


def shifted(goal: Key, minus: Key, plus: Key) -> Key:
    """goal − minus + plus."""
    rows = zip(goal, minus, plus, strict=True)
    return tuple(None if g is None else (g - (a or 0) + (b or 0)) % PRIME for g, a, b in rows)


def negative(goal: Key) -> Key:
    return tuple(None if g is None else -g % PRIME for g in goal)


def product_of_keys(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    if len(a) == 1:
        return (a[0] * b[0] % PRIME,)
    n = len(a) // 2
    duals = ((a[i] * b[n + i] + a[n + i] * b[i]) % PRIME for i in range(n))
    return (*(a[i] * b[i] % PRIME for i in range(n)), *duals)


def quotient_of_keys(goal: Key, other: Sequence[int]) -> Key | None:
    """What times `other` is the goal; None where nothing is, or where all is."""
    if len(goal) == 1:
        return (_over(goal[0], other[0]),) if goal[0] is not None and other[0] else None
    n = len(goal) // 2
    pairs = [_dual_quotient(goal[i], goal[n + i], other[i], other[n + i]) for i in range(n)]
    if None in pairs or all(pair == (None, None) for pair in pairs):
        return None
    found = [pair for pair in pairs if pair is not None]
    return (*(r for r, _ in found), *(d for _, d in found))


def _over(a: int, b: int) -> int:
    return a * pow(b, -1, PRIME) % PRIME


def _dual_quotient(
    real: int | None, dual: int | None, by_real: int, by_dual: int
) -> tuple[int | None, int | None] | None:
    if by_real:
        if real is None:
            return None, None
        found = _over(real, by_real)
        return found, None if dual is None else _over(dual - found * by_dual, by_real)
    if real:
        return None
    if by_dual:
        return (None if dual is None else _over(dual, by_dual)), None
    return None if dual else (None, None)


def scalar_of(goal: Key) -> int | None:
    """The number that a required key is, if one number will do for all axes."""
    if len(goal) == 1:
        return goal[0]
    n = len(goal) // 2
    reals = {x for x in goal[:n] if x is not None}
    return reals.pop() if len(reals) == 1 and not any(goal[n:]) else None


Lookup = Callable[[str], AnyValue | None]
