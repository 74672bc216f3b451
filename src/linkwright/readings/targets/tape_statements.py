"""The tape as statements of a programming language, in the order of computation.

A value that is used once is written where it is used, if it is short; others get a name. Operators
keep their order: a + (b + c) keeps its parentheses, so that every language rounds alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import UnsupportedError
from ...ports import Port
from ...tape import OPERATION_ARITY, Op, Tape

MAX_INLINE_LENGTH = 44
"""Longest text of a value that is not given a name: statements then fit in about 100 columns."""

_SUM, _PRODUCT, _SIGN, _ATOM = range(4)
"""How strongly a text holds together."""

_OPERATORS = {
    Op.ADD: (" + ", _SUM), Op.SUB: (" - ", _SUM), Op.MUL: ("*", _PRODUCT), Op.DIV: ("/", _PRODUCT),
}  # fmt: skip

MATH_FUNCTIONS = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.TAN: "tan", Op.ASIN: "asin", Op.ACOS: "acos",
    Op.ATAN2: "atan2", Op.EXP: "exp", Op.LOG: "log", Op.POW: "pow", Op.TANH: "tanh",
    Op.FLOOR: "floor", Op.ABS: "fabs", Op.FMA: "fma",
}  # fmt: skip
"""Names of functions in the mathematical library of C, which others follow."""

HELPER_FUNCTIONS = {
    Op.SIGN: "sign", Op.MIN: "minimum", Op.MAX: "maximum", Op.LT: "less", Op.LE: "less_equal",
    Op.EQ: "equal", Op.NE: "not_equal", Op.AND: "both", Op.OR: "either", Op.NOT: "negate",
    Op.SELECT: "select",
}  # fmt: skip
"""Names of functions that languages lack, or define in different ways; printers define them."""


@dataclass(frozen=True)
class CodeLanguage:
    """How a language writes the operations of a tape.

    `functions` are names of functions by operation; `number` writes a constant, `lone_number` one
    that is not an operand of + − × ÷ beside another value; `entry` writes an entry of an input (its
    name, port and index). `names_inputs`: entries are given names first. `has_sine_pairs`: sin and
    cos of the same value are computed by one statement.
    """

    functions: Mapping[Op, str]
    number: Callable[[float], str]
    entry: Callable[[str, Port, int], str]
    lone_number: Callable[[float], str] | None = None
    names_inputs: bool = False
    has_sine_pairs: bool = False


@dataclass(frozen=True)
class CodeStatement:
    """An assignment of a text to a name, or to an entry of an output (its number and index).

    With `cosine`, sin of the text is assigned to `name` and cos to `cosine`.
    """

    text: str
    name: str = ""
    output: tuple[int, int] = (-1, -1)
    cosine: str = ""


@dataclass
class _WrittenValue:
    """The text of a value, how strongly it holds together, and its number if it is a constant."""

    text: str
    strength: int = _ATOM
    constant: float | None = None


def list_tape_statements(
    tape: Tape, language: CodeLanguage, input_names: Sequence[str], taken: Sequence[str] = ()
) -> list[CodeStatement]:
    """Return the statements of a tape; `input_names` are the names of its inputs in the code.

    Local values avoid these names and those in `taken`.
    """
    return _StatementReading(tape, language, input_names, {*input_names, *taken}).list_statements()


def used_tape_operations(tapes: Sequence[Tape]) -> set[Op]:
    """Return the operations that occur on any of the tapes."""
    return {op for tape in tapes for op in tape.operations}


@dataclass
class _StatementReading:
    """Lists the statements of one tape."""

    tape: Tape
    language: CodeLanguage
    input_names: Sequence[str]
    taken: set[str]
    values: list[_WrittenValue] = field(default_factory=list)
    statements: list[CodeStatement] = field(default_factory=list)
    pair_names: dict[int, str] = field(default_factory=dict)
    count: int = 0

    def __post_init__(self) -> None:
        args = self.tape.args[self.tape.ops != Op.INPUT]
        used = np.concatenate([args[args >= 0], *self.tape.results])
        self.uses = np.bincount(used, minlength=len(self.tape)).tolist()
        self.partners = self.sine_partners() if self.language.has_sine_pairs else {}
        self.goals: dict[int, list[tuple[int, int]]] = {}
        for output, result in enumerate(self.tape.results):
            for entry, value in enumerate(result.tolist()):
                self.goals.setdefault(value, []).append((output, entry))

    def sine_partners(self) -> dict[int, int]:
        """Sines and cosines of the same value, each with its partner."""
        operands, operations = self.tape.operands, self.tape.operations
        cosines = {operands[k][0]: k for k, op in enumerate(operations) if op is Op.COS}
        found = [
            (k, cosines[operands[k][0]])
            for k, op in enumerate(operations)
            if op is Op.SIN and operands[k][0] in cosines
        ]
        return dict(found) | {cosine: sine for sine, cosine in found}

    def list_statements(self) -> list[CodeStatement]:
        """All statements; entries of outputs are assigned as soon as they are known."""
        for k, op in enumerate(self.tape.operations):
            if k in self.partners:
                self.values.append(self.write_sine_pair(k))
            else:
                self.values.append(self.name_value(k, op, self.write_value(k, op)))
            if op is not Op.CONSTANT:
                self.write_goals(k)
        known = len(self.statements)
        for k, op in enumerate(self.tape.operations):
            if op is Op.CONSTANT:
                self.write_goals(k)
        constant = sorted(self.statements[known:], key=lambda one: one.output)
        return [*self.statements[:known], *constant]

    def write_goals(self, k: int) -> None:
        """Assigns value k to the entries of outputs that it is."""
        for goal in self.goals.get(k, []):
            text = self.lone_text(self.values[k])
            self.statements.append(CodeStatement(text, output=goal))

    def write_value(self, k: int, op: Op) -> _WrittenValue:
        """The text of instruction k."""
        operands = self.tape.operands[k]
        if op is Op.CONSTANT:
            return self.write_constant(float(self.tape.constants[k]))
        if op is Op.INPUT:
            port, entry = operands[:2]
            name = self.input_names[port]
            return _WrittenValue(self.language.entry(name, self.tape.inputs[port], entry))
        parts = [self.values[a] for a in operands[: OPERATION_ARITY[op]]]
        if op is Op.NEG:
            inner = _enclose(self.lone_text(parts[0]), parts[0].strength <= _SIGN)
            return _WrittenValue(f"-{inner}", _SIGN)
        if op in _OPERATORS:
            return self.write_operator(op, *parts)
        if op not in self.language.functions:
            raise UnsupportedError(f"the operation {op.name} cannot be written in this language")
        arguments = ", ".join(self.lone_text(part) for part in parts)
        return _WrittenValue(f"{self.language.functions[op]}({arguments})")

    def write_operator(self, op: Op, left: _WrittenValue, right: _WrittenValue) -> _WrittenValue:
        """The text of a sum, difference, product or quotient."""
        sign, strength = _OPERATORS[op]
        first = left.text if right.constant is None else self.lone_text(left)
        one = _enclose(first, left.strength < strength)
        other = _enclose(right.text, right.strength <= strength or right.strength == _SIGN)
        return _WrittenValue(f"{one}{sign}{other}", strength)

    def write_constant(self, value: float) -> _WrittenValue:
        """The text of a number, which is enclosed as an operand if it is negative."""
        text = self.language.number(value)
        strength = _SIGN if text.startswith("-") else _ATOM
        return _WrittenValue(text, strength, value)

    def lone_text(self, value: _WrittenValue) -> str:
        """The text of a value that stands alone: an argument, or the whole right-hand side."""
        if value.constant is not None and self.language.lone_number is not None:
            return self.language.lone_number(value.constant)
        return value.text

    def name_value(self, k: int, op: Op, value: _WrittenValue) -> _WrittenValue:
        """The value itself, or its name after an assignment, if it is used often or is long."""
        is_input = op is Op.INPUT
        if op is Op.CONSTANT or (is_input and not self.language.names_inputs):
            return value
        if not is_input and self.uses[k] <= 1 and len(value.text) <= MAX_INLINE_LENGTH:
            return value
        if self.uses[k] <= 1 and k in self.goals:
            return value
        name = self.choose_name(k, op)
        self.statements.append(CodeStatement(value.text, name))
        return _WrittenValue(name)

    def write_sine_pair(self, k: int) -> _WrittenValue:
        """The name of a sine or cosine, which is assigned together with its partner."""
        if k not in self.pair_names:
            partner = self.partners[k]
            sine, cosine = (k, partner) if self.tape.operations[k] is Op.SIN else (partner, k)
            self.pair_names[sine] = self.choose_name(sine, Op.SIN)
            self.pair_names[cosine] = self.choose_name(cosine, Op.COS)
            operand = self.lone_text(self.values[self.tape.operands[k][0]])
            self.statements.append(
                CodeStatement(operand, self.pair_names[sine], cosine=self.pair_names[cosine])
            )
        return _WrittenValue(self.pair_names[k])

    def choose_name(self, k: int, op: Op) -> str:
        """A free name: s1 and c1 for sin q1 and cos q1, x1, x2, … for others."""
        for name in self.wanted_names(k, op):
            if name not in self.taken:
                self.taken.add(name)
                return name
        raise AssertionError("names do not end")

    def wanted_names(self, k: int, op: Op) -> Iterator[str]:
        """Names in the order in which they are tried."""
        letter = {Op.SIN: "s", Op.COS: "c"}.get(op)
        source = self.tape.operands[k][0]
        if letter and self.tape.operations[source] is Op.INPUT:
            port, entry = self.tape.operands[source][:2]
            if self.tape.inputs[port].name == "q":
                yield f"{letter}{entry + 1}"
        if op is Op.INPUT:
            port, entry = self.tape.operands[k][:2]
            yield f"{self.input_names[port]}_{entry + 1}"
        while True:
            self.count += 1
            yield f"x{self.count}"


def _enclose(text: str, is_enclosed: bool) -> str:
    return f"({text})" if is_enclosed else text
