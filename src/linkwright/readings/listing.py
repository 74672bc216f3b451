"""The tape as a list of assignments that a person can follow, in the order of computation.

What is used once is written where it is used; what is used more often gets a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    negate,
    to_text,
)
from ..tape import ARITY, Op, Tape

MAX_LENGTH = 160
"""Longest expression, in characters, that is not broken by a name."""

_FUNCTIONS = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.TAN: "tan", Op.ASIN: "asin",
    Op.ACOS: "acos", Op.ATAN2: "atan2", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
    Op.ABS: "abs", Op.SIGN: "sign", Op.MIN: "min", Op.MAX: "max", Op.FLOOR: "floor",
    Op.POW: "pow", Op.LT: "lt", Op.LE: "le", Op.EQ: "eq", Op.NE: "ne", Op.AND: "and",
    Op.OR: "or", Op.NOT: "not", Op.SELECT: "select", Op.FMA: "fma",
}  # fmt: skip


@dataclass(frozen=True)
class Assignment:
    name: str
    value: Expression


@dataclass(frozen=True)
class Listing:
    """Intermediate variables in the order of computation, then the outputs' entries."""

    steps: tuple[Assignment, ...]
    results: Mapping[str, tuple[Assignment, ...]]


def listing(
    tape: Tape,
    input_names: Mapping[str, Sequence[str]],
    literals: Mapping[str, Fraction] | None = None,
) -> Listing:
    """The tape as assignments; `input_names` names the entries of each input, of which `literals`
    are written as numbers."""
    return _Lister(tape, input_names, literals or {}).listing()


class _Lister:
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
            np.concatenate([self.operands(), *tape.results]), minlength=len(tape)
        )
        self.taken = {name for names in self.names for name in names}
        self.count = 0
        self.values: list[Expression] = []
        self.steps: list[Assignment] = []

    def operands(self) -> NDArray[np.int32]:
        args = np.ravel(self.tape.args[self.tape.ops != Op.INPUT])
        return args[args >= 0].astype(np.int32)

    def listing(self) -> Listing:
        for k in range(len(self.tape)):
            value = self.expression(k)
            self.values.append(self.named(value) if self.deserves_name(k, value) else value)
        results = {}
        for port, result in zip(self.tape.outputs, self.tape.results, strict=True):
            indices = np.ndindex(*port.shape)
            results[port.name] = tuple(
                Assignment(_entry(port.name, index), self.values[value])
                for index, value in zip(indices, result, strict=True)
            )
        return Listing(tuple(self.steps), results)

    def deserves_name(self, k: int, value: Expression) -> bool:
        op = Op(int(self.tape.ops[k]))
        if op in (Op.INPUT, Op.CONSTANT) or isinstance(value, Name):
            return False
        inputs = self.tape.ops[self.tape.args[k, : ARITY[op]]] == Op.INPUT
        if op in (Op.SIN, Op.COS, Op.NEG) and inputs.all():
            return False
        return bool(self.uses[k] > 1) or len(to_text(value)) > MAX_LENGTH

    def named(self, value: Expression) -> Expression:
        self.count += 1
        while (name := f"x{self.count}") in self.taken:
            self.count += 1
        self.steps.append(Assignment(name, value))
        return Name(name)

    def expression(self, k: int) -> Expression:
        op = Op(int(self.tape.ops[k]))
        if op is Op.INPUT:
            port, entry = (int(a) for a in self.tape.args[k, :2])
            name = self.names[port][entry]
            return _number(self.literals[name]) if name in self.literals else Name(name)
        if op is Op.CONSTANT:
            return Number(Fraction(repr(float(self.tape.constants[k]))))
        parts = [self.values[int(a)] for a in self.tape.args[k, : ARITY[op]]]
        match op:
            case Op.ADD if parts[0] == parts[1]:
                return Product((Number(Fraction(2)), *_factors(parts[0])))
            case Op.ADD:
                return Sum((*_terms(parts[0]), *_terms(parts[1])))
            case Op.SUB:
                return Sum((*_terms(parts[0]), *(negate(t) for t in _terms(parts[1]))))
            case Op.MUL:
                return _product((*_factors(parts[0]), *_factors(parts[1])))
            case Op.DIV:
                return Product((*_factors(parts[0]), Reciprocal(parts[1])))
            case Op.NEG:
                return negate(parts[0])
            case _:
                return Call(_FUNCTIONS[op], tuple(parts))


def _number(value: Fraction) -> Expression:
    return negate(Number(-value)) if value < 0 else Number(value)


def _terms(expression: Expression) -> tuple[Expression, ...]:
    return expression.terms if isinstance(expression, Sum) else (expression,)


def _factors(expression: Expression) -> tuple[Expression, ...]:
    return expression.factors if isinstance(expression, Product) else (expression,)


def _product(factors: tuple[Expression, ...]) -> Expression:
    """The product with repeated factors as squares, cubes, …"""
    counts = Counter(factors)
    powers = [Power(f, Number(Fraction(n))) if n > 1 else f for f, n in counts.items()]
    return powers[0] if len(powers) == 1 else Product(tuple(powers))


def _entry(name: str, index: tuple[int, ...]) -> str:
    """Entries are counted from 1, as in books."""
    return f"{name}[{','.join(str(i + 1) for i in index)}]" if index else name
