"""Values of whole equations at one point, and the arithmetic of the values that parts must have.

The value of a node is a number modulo the prime, or, in an equation of dual vectors, one dual
number for each axis. A key holds its residues: the real parts along the axes, then the dual parts.
A component None of a required key may be anything: eps·a fixes the real part of a alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..algebra.exact.modular_arithmetic import BadPointError
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residues import FIELD_PRIME, Residue, integer_from_residue
from ..algebra.exact.tape_algebra import evaluate_expression_in_algebra, multiply_algebra_values
from ..errors import UnsupportedError
from ..expressions import Expression, Name
from ..tape import Op
from .dual_statements import (
    is_dual_component_symbol,
    is_dual_symbol_name,
    is_dual_vector_symbol,
    names_behind_expression,
)
from .frame_names import FrameNames
from .prover import StatementPointValues
from .symbol_meanings import SymbolMeanings
from .symbol_table import DUAL_UNIT_NAME

ResidueKey = tuple[int | None, ...]
MAX_DUAL_POWER = 16


@dataclass(frozen=True)
class DualStatementValue:
    """A dual number along each axis."""

    real_parts: tuple[Residue, ...]
    dual_parts: tuple[Residue, ...]


class DualStatementAlgebra:
    """The algebra of dual vectors, whose products are taken axis by axis."""

    def __init__(self, field: PrimeField, axes: int) -> None:
        self.field, self.axis_count = field, axes

    def from_scalar(self, value: Residue) -> DualStatementValue:
        """A number as a dual residue with the same value on all axes."""
        zero = self.field.constant(Fraction(0))
        return DualStatementValue((value,) * self.axis_count, (zero,) * self.axis_count)

    def constant(self, value: Fraction) -> DualStatementValue:
        """A rational number as a dual residue."""
        return self.from_scalar(self.field.constant(value))

    def pi(self) -> DualStatementValue:
        """π as a dual residue."""
        return self.from_scalar(self.field.pi())

    def apply(self, op: Op, operands: Sequence[DualStatementValue]) -> DualStatementValue:
        """The result of an operation on dual residues."""
        match op:
            case Op.ADD | Op.SUB | Op.NEG:
                return self._combine_statement_values_linearly(op, operands)
            case Op.MUL:
                return self._multiply_statement_values(*operands)
            case Op.DIV:
                return self._multiply_statement_values(
                    operands[0], self._invert_statement_value(operands[1])
                )
            case Op.POW:
                return self._raise_statement_value(*operands)
            case _:
                return self._apply_function_to_statement_value(op, operands)

    def _combine_statement_values_linearly(
        self, op: Op, operands: Sequence[DualStatementValue]
    ) -> DualStatementValue:
        reals = zip(*(x.real_parts for x in operands), strict=True)
        duals = zip(*(x.dual_parts for x in operands), strict=True)
        apply = self.field.apply
        return DualStatementValue(
            tuple(apply(op, x) for x in reals), tuple(apply(op, x) for x in duals)
        )

    def _multiply_statement_values(
        self, a: DualStatementValue, b: DualStatementValue
    ) -> DualStatementValue:
        apply = self.field.apply
        reals = tuple(apply(Op.MUL, pair) for pair in zip(a.real_parts, b.real_parts, strict=True))
        mixed = zip(a.real_parts, a.dual_parts, b.real_parts, b.dual_parts, strict=True)
        pairs = [(apply(Op.MUL, (ar, bd)), apply(Op.MUL, (ad, br))) for ar, ad, br, bd in mixed]
        return DualStatementValue(reals, tuple(apply(Op.ADD, pair) for pair in pairs))

    def _invert_statement_value(self, operand: DualStatementValue) -> DualStatementValue:
        apply, one = self.field.apply, self.field.constant(Fraction(1))
        reals = tuple(apply(Op.DIV, (one, x)) for x in operand.real_parts)
        squares = [apply(Op.MUL, (r, r)) for r in reals]
        products = [apply(Op.MUL, x) for x in zip(operand.dual_parts, squares, strict=True)]
        return DualStatementValue(reals, tuple(apply(Op.NEG, (x,)) for x in products))

    def _raise_statement_value(
        self, base: DualStatementValue, exponent: DualStatementValue
    ) -> DualStatementValue:
        whole = integer_from_residue(exponent.real_parts[0].number, MAX_DUAL_POWER)
        if whole is None or exponent.real_parts[0].marks is not None:
            raise UnsupportedError("such a power has no dual part", remedy="write it without eps")
        power = multiply_algebra_values(self, [self.constant(Fraction(1)), *[base] * abs(whole)])
        return power if whole >= 0 else self._invert_statement_value(power)

    def _apply_function_to_statement_value(
        self, op: Op, operands: Sequence[DualStatementValue]
    ) -> DualStatementValue:
        apply = self.field.apply
        reals = tuple(apply(op, x) for x in zip(*(x.real_parts for x in operands), strict=True))
        if not any(x.number for operand in operands for x in operand.dual_parts):
            return DualStatementValue(reals, operands[0].dual_parts)
        if op not in (Op.SIN, Op.COS):
            name = op.name.lower()
            raise UnsupportedError(f"{name} has no dual part", remedy="write it without eps")
        (angle,) = operands
        slopes = [apply(Op.COS if op is Op.SIN else Op.SIN, (x,)) for x in angle.real_parts]
        slopes = slopes if op is Op.SIN else [apply(Op.NEG, (x,)) for x in slopes]
        pairs = zip(slopes, angle.dual_parts, strict=True)
        return DualStatementValue(reals, tuple(apply(Op.MUL, pair) for pair in pairs))


StatementValue = Residue | DualStatementValue
StatementAlgebra = PrimeField | DualStatementAlgebra


class DualStatementPointValues:
    """The values of a text's names in an equation of dual vectors, at one point."""

    def __init__(
        self,
        scope: StatementPointValues,
        algebra: DualStatementAlgebra,
        text: SymbolMeanings,
        owners: FrameNames,
    ) -> None:
        self.point_values, self.algebra, self.text_meanings, self.frame_names = (
            scope,
            algebra,
            text,
            owners,
        )
        self.known_values: dict[str, DualStatementValue] = {}

    def __call__(self, name: str) -> DualStatementValue:
        if name not in self.known_values:
            self.known_values[name] = self._dual_value_of(name)
        return self.known_values[name]

    def lookup_or_none(self, name: str) -> DualStatementValue | None:
        """The dual residue of a name; None if it has none."""
        try:
            return self(name)
        except LookupError:
            return None

    def _dual_value_of(self, name: str) -> DualStatementValue:
        algebra = self.algebra
        if name == DUAL_UNIT_NAME:
            numbers = (algebra.constant(Fraction(x)).real_parts for x in (0, 1))
            return DualStatementValue(*numbers)
        meaning = self.text_meanings.find_meaning(name)
        if isinstance(meaning, Name):
            name = meaning.name.lstrip("=")  # a name of ours
        elif isinstance(meaning, Expression) and self.has_dual_names(meaning):
            return evaluate_expression_in_algebra(meaning, algebra, self)
        if is_dual_vector_symbol(name, self.frame_names):
            if algebra.axis_count == 1:
                raise BadPointError("a vector among numbers")
            return self._assemble_dual_parts([f"{name}@{axis}" for axis in "xyz"])
        if is_dual_component_symbol(name, self.frame_names):
            return self._assemble_dual_parts([f"{name}@"] * algebra.axis_count)
        return algebra.from_scalar(self.point_values.lookup(name))

    def _assemble_dual_parts(self, stems: Sequence[str]) -> DualStatementValue:
        reals, duals = (
            tuple(self.point_values.lookup(f"{stem}{part}") for stem in stems) for part in "rd"
        )
        return DualStatementValue(reals, duals)

    def has_dual_names(self, expression: Expression) -> bool:
        """Whether an expression leads to dual names, also through definitions."""
        reached = names_behind_expression(expression, self.text_meanings.find_meaning)
        return any(is_dual_symbol_name(name, self.frame_names) for name in reached)


def statement_value_key(value: StatementValue) -> tuple[int, ...]:
    """The numbers of a residue, or of all parts of a dual one."""
    if isinstance(value, Residue):
        return (value.number,)
    return tuple(x.number for x in (*value.real_parts, *value.dual_parts))


def is_undefined_statement_value(value: StatementValue) -> bool:
    """Whether it divides by zero, or has a root that does not exist modulo the prime."""
    parts = (value,) if isinstance(value, Residue) else (*value.real_parts, *value.dual_parts)
    marks = [x.marks for x in parts if x.marks is not None]
    return any(x.failure_reason or (x.root_bits and x.has_unknown_function) for x in marks)


def is_repair_key_met(goal: ResidueKey, key: ResidueKey) -> bool:
    """Whether a value agrees with a goal, whose None stands for any number."""
    return all(g is None or g == k for g, k in zip(goal, key, strict=True))


def shift_repair_key(goal: ResidueKey, minus: ResidueKey, plus: ResidueKey) -> ResidueKey:
    """The key goal − minus + plus."""
    rows = zip(goal, minus, plus, strict=True)
    return tuple(None if g is None else (g - (a or 0) + (b or 0)) % FIELD_PRIME for g, a, b in rows)


def negate_repair_key(goal: ResidueKey) -> ResidueKey:
    """The goal with the opposite sign."""
    return tuple(None if g is None else -g % FIELD_PRIME for g in goal)


def multiply_repair_keys(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The product of the residues of two numbers or dual vectors, component by component."""
    if len(a) == 1:
        return (a[0] * b[0] % FIELD_PRIME,)
    n = len(a) // 2
    duals = ((a[i] * b[n + i] + a[n + i] * b[i]) % FIELD_PRIME for i in range(n))
    return (*(a[i] * b[i] % FIELD_PRIME for i in range(n)), *duals)


def divide_repair_keys(goal: ResidueKey, other: Sequence[int]) -> ResidueKey | None:
    """The quotient goal / `other`; None where it does not exist or is not unique."""
    if len(goal) == 1:
        return (
            (_divide_repair_residues(goal[0], other[0]),)
            if goal[0] is not None and other[0]
            else None
        )
    n = len(goal) // 2
    pairs = [
        _divide_dual_repair_residues(goal[i], goal[n + i], other[i], other[n + i]) for i in range(n)
    ]
    if None in pairs or all(pair == (None, None) for pair in pairs):
        return None
    found = [pair for pair in pairs if pair is not None]
    return (*(r for r, _ in found), *(d for _, d in found))


def _divide_repair_residues(a: int, b: int) -> int:
    return a * pow(b, -1, FIELD_PRIME) % FIELD_PRIME


def _divide_dual_repair_residues(
    real: int | None, dual: int | None, by_real: int, by_dual: int
) -> tuple[int | None, int | None] | None:
    if by_real:
        if real is None:
            return None, None
        found = _divide_repair_residues(real, by_real)
        return found, None if dual is None else _divide_repair_residues(
            dual - found * by_dual, by_real
        )
    if real:
        return None
    if by_dual:
        return (None if dual is None else _divide_repair_residues(dual, by_dual)), None
    return None if dual else (None, None)


def scalar_of_repair_key(goal: ResidueKey) -> int | None:
    """The number that a required key is, if one number will do for all axes."""
    if len(goal) == 1:
        return goal[0]
    n = len(goal) // 2
    reals = {x for x in goal[:n] if x is not None}
    return reals.pop() if len(reals) == 1 and not any(goal[n:]) else None


ValueLookup = Callable[[str], StatementValue | None]
