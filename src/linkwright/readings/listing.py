"""The tape as a list of assignments that a person can follow, in the order of computation.

A value that is used once or is short is written where it is used; a value that is used more often
gets a name.
Terms that cancel (a − a) are not written, and neither are steps that only these needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..expressions import (
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    names_in_expression,
    negate_expression,
)
from ..tape import OPERATION_ARITY, Op, Tape

TermFactors = frozenset[tuple[Expression, int]]
MAX_UNNAMED_LENGTH = 160
"""Longest expression, in characters, that is not broken by a name."""
MAX_REPEATED_LENGTH = 10
"""Longest product or power, in characters, that is repeated rather than named: b^2, -x15, x6*x7."""

_FUNCTION_NAMES = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.TAN: "tan", Op.ASIN: "asin",
    Op.ACOS: "acos", Op.ATAN2: "atan2", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
    Op.ABS: "abs", Op.SIGN: "sign", Op.MIN: "min", Op.MAX: "max", Op.FLOOR: "floor",
    Op.POW: "pow", Op.LT: "lt", Op.LE: "le", Op.EQ: "eq", Op.NE: "ne", Op.AND: "and",
    Op.OR: "or", Op.NOT: "not", Op.SELECT: "select", Op.FMA: "fma",
}  # fmt: skip


@dataclass(frozen=True)
class TapeAssignment:
    """A named value and its expression."""

    name: str
    value: Expression


@dataclass(frozen=True)
class TapeListing:
    """Intermediate variables in the order of computation, and the entries of the outputs."""

    steps: tuple[TapeAssignment, ...]
    results: Mapping[str, tuple[TapeAssignment, ...]]


def read_tape_as_listing(
    tape: Tape,
    input_names: Mapping[str, Sequence[str]],
    literals: Mapping[str, Fraction] | None = None,
) -> TapeListing:
    """The tape as assignments.

    `input_names` has the names of the entries of each input, and under other keys names that steps
    must not have; those in `literals` are written as numbers.
    """
    return _ListingReading(tape, input_names, literals or {}).list_assignments()


class _ListingReading:
    """Lists the assignments of one tape."""

    def __init__(
        self,
        tape: Tape,
        input_names: Mapping[str, Sequence[str]],
        literals: Mapping[str, Fraction],
    ) -> None:
        self.tape = tape
        self.literals = literals
        self.names = [input_names[port.name] for port in tape.inputs]
        self.uses = np.bincount(
            np.concatenate([self.used_registers(), *tape.results]), minlength=len(tape)
        )
        self.taken_names = {name for names in input_names.values() for name in names}
        self.count = 0
        self.values: list[Expression] = []
        self.steps: list[TapeAssignment] = []

    def used_registers(self) -> NDArray[np.int32]:
        """The registers that instructions read, once for each use."""
        args = np.ravel(self.tape.args[self.tape.ops != Op.INPUT])
        return args[args >= 0].astype(np.int32)

    def list_assignments(self) -> TapeListing:
        """The assignments of all named values, and the entries of the outputs."""
        for k in range(len(self.tape)):
            value = self.instruction_expression(k)
            self.values.append(
                self.assign_listed_name(value) if self.deserves_listed_name(k, value) else value
            )
        results = {}
        for port, result in zip(self.tape.outputs, self.tape.results, strict=True):
            indices = np.ndindex(*port.shape)
            results[port.name] = tuple(
                TapeAssignment(_listed_entry_label(port.name, index), self.values[value])
                for index, value in zip(indices, result, strict=True)
            )
        return TapeListing(self.needed_steps(results), results)

    def needed_steps(
        self, results: Mapping[str, tuple[TapeAssignment, ...]]
    ) -> tuple[TapeAssignment, ...]:
        """The assignments that the results need."""
        used = {
            name
            for part in results.values()
            for entry in part
            for name in names_in_expression(entry.value)
        }
        kept: list[TapeAssignment] = []
        for step in reversed(self.steps):
            if step.name in used:
                kept.append(step)
                used |= names_in_expression(step.value)
        return tuple(reversed(kept))

    def deserves_listed_name(self, k: int, value: Expression) -> bool:
        """Whether a value gets a name: it is used more than once, or its text is long."""
        op = Op(int(self.tape.ops[k]))
        if op in (Op.INPUT, Op.CONSTANT) or isinstance(value, Name | Number):
            return False
        inputs = self.tape.ops[self.tape.args[k, : OPERATION_ARITY[op]]] == Op.INPUT
        if op in (Op.SIN, Op.COS, Op.NEG) and inputs.all():
            return False
        length = len(expression_text(value))
        if length <= MAX_REPEATED_LENGTH and isinstance(value, Negation | Product | Power):
            return False
        return bool(self.uses[k] > 1) or length > MAX_UNNAMED_LENGTH

    def assign_listed_name(self, value: Expression) -> Expression:
        """Adds an assignment of the value to a new name; the name as an expression."""
        self.count += 1
        while (name := f"x{self.count}") in self.taken_names:
            self.count += 1
        self.steps.append(TapeAssignment(name, value))
        return Name(name)

    def instruction_expression(self, k: int) -> Expression:
        """The expression of instruction k in inputs and named values."""
        op = Op(int(self.tape.ops[k]))
        if op is Op.INPUT:
            port, entry = (int(a) for a in self.tape.args[k, :2])
            name = self.names[port][entry]
            return _listed_number(self.literals[name]) if name in self.literals else Name(name)
        if op is Op.CONSTANT:
            return Number(Fraction(repr(float(self.tape.constants[k]))))
        parts = [self.values[int(a)] for a in self.tape.args[k, : OPERATION_ARITY[op]]]
        match op:
            case Op.MUL | Op.DIV if parts[0] == ZERO or (op is Op.MUL and parts[1] == ZERO):
                return ZERO
            case Op.NEG if parts[0] == ZERO:
                return ZERO
            case Op.ADD if parts[0] == parts[1] != ZERO:
                return Product((Number(Fraction(2)), *_listed_product_factors(parts[0])))
            case Op.ADD:
                return _listed_sum(_listed_sum_terms(parts[0]), _listed_sum_terms(parts[1]))
            case Op.SUB:
                taken = [negate_expression(t) for t in _listed_sum_terms(parts[1])]
                return _listed_sum(_listed_sum_terms(parts[0]), taken)
            case Op.MUL:
                return _listed_product_with_sign(parts, _listed_product_with_powers)
            case Op.DIV:
                bottom = parts[1]
                inverse = (
                    Negation(Reciprocal(bottom.operand))
                    if isinstance(bottom, Negation)
                    else Reciprocal(bottom)
                )
                return _listed_product_with_sign((parts[0], inverse), Product)
            case Op.NEG:
                return negate_expression(parts[0])
            case _:
                return Call(_FUNCTION_NAMES[op], tuple(parts))


def _listed_number(value: Fraction) -> Expression:
    return negate_expression(Number(-value)) if value < 0 else Number(value)


def _listed_sum(first: Sequence[Expression], second: Sequence[Expression]) -> Expression:
    """The sum of all terms but zeros and those that cancel each other."""
    kept: list[tuple[Expression, Fraction, TermFactors]] = []
    for term in (*first, *second):
        number, factors = _split_listed_term(term)
        opposite = next((x for x in kept if x[1:] == (-number, factors)), None)
        if opposite is not None:
            kept.remove(opposite)
        elif number:
            kept.append((term, number, factors))
    terms = tuple(term for term, _, _ in kept)
    return terms[0] if len(terms) == 1 else Sum(terms) if terms else ZERO


def _split_listed_term(term: Expression) -> tuple[Fraction, TermFactors]:
    """The numbers in a term, multiplied, and how often each other factor occurs."""
    number, others = Fraction(1), Counter[Expression]()
    front = [term]
    while front:
        factor = front.pop()
        if isinstance(factor, Number):
            number *= factor.value
        elif isinstance(factor, Negation):
            number, front = -number, [*front, factor.operand]
        elif isinstance(factor, Product):
            front += factor.factors
        else:
            others[factor] += 1
    return number, frozenset(others.items())


def _listed_sum_terms(expression: Expression) -> tuple[Expression, ...]:
    return expression.terms if isinstance(expression, Sum) else (expression,)


def _listed_product_factors(expression: Expression) -> tuple[Expression, ...]:
    return expression.factors if isinstance(expression, Product) else (expression,)


def _listed_product_with_sign(
    parts: Sequence[Expression], join: Callable[[tuple[Expression, ...]], Expression]
) -> Expression:
    """The product of the parts, with the sign of negatives among them in front."""
    plain = [part.operand if isinstance(part, Negation) else part for part in parts]
    found = join(tuple(factor for part in plain for factor in _listed_product_factors(part)))
    negatives = sum(isinstance(part, Negation) for part in parts)
    return negate_expression(found) if negatives % 2 else found


def _listed_product_with_powers(factors: tuple[Expression, ...]) -> Expression:
    """The product with numbers first, and repeated factors as powers."""
    counts = Counter(sorted(factors, key=lambda factor: not isinstance(factor, Number)))
    powers = [Power(f, Number(Fraction(n))) if n > 1 else f for f, n in counts.items()]
    return powers[0] if len(powers) == 1 else Product(tuple(powers))


def _listed_entry_label(name: str, index: tuple[int, ...]) -> str:
    """The label of an entry, `M[1,2]`, counted from 1 as in books."""
    return f"{name}[{','.join(str(i + 1) for i in index)}]" if index else name
