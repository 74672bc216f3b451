"""Arguments of a call of a program: those that are passed, and constants that are filled in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .expression_reader import (
    NUMBER_KINDS,
    UNKNOWN_SIZE,
    ExpressionReader,
    Known,
    RecordValue,
    Shape,
)
from .syntax import (
    Argument,
    Array,
    Code,
    Constant,
    Expression,
    Kind,
    Memory,
    Variable,
    VariableReference,
)


class PassedArguments:
    """Sorts the arguments of a call: those that are passed, and constants that are filled in."""

    def __init__(
        self, reader: ExpressionReader, call: ast.Call, values: Mapping[str, object]
    ) -> None:
        self.reader, self.call = reader, call
        self.constants: dict[str, object] = {}
        self.shapes: dict[str, Shape] = {}
        self.arguments: list[Argument] = []
        self.names = {value: name for name, value in _numbers_by_name(values)}
        """The names that the passed variables have in the called program."""

    def add(self, name: str, value: object, annotation: str) -> None:
        """Add the argument of a parameter, or of a field of a record."""
        if isinstance(value, RecordValue):
            self.add_record(name, value)
        elif isinstance(value, Array):
            self.shapes[name] = self.shape_inside(value.shape)
            self.arguments.append(value)
        elif isinstance(value, Memory | Code):
            self.arguments.append(value)
        elif annotation == "Size" and not isinstance(value, Expression):
            self.constants[name] = value
        elif annotation in NUMBER_KINDS:
            expression = self.reader.expression(value, self.call)
            kind = NUMBER_KINDS[annotation]
            self.arguments.append(self.reader.convert(expression, kind, self.call))
        else:
            self.constants[name] = value.value if isinstance(value, Constant) else value

    def add_record(self, name: str, value: RecordValue) -> None:
        """Add the fields of a record; its variables are passed by reference."""
        constants: dict[str, object] = {}
        for field, inner in value.fields.items():
            if isinstance(inner, Variable) and not inner.is_uniform:
                self.arguments.append(VariableReference(inner))
            elif isinstance(inner, Known):
                self.add(f"{name}.{field}", inner, "Size")
            else:
                constants[field] = inner
        self.constants[name] = constants

    def shape_inside(self, shape: Shape) -> Shape:
        """Return the shape of an array in the names of the program that it is passed to.

        A program that uses a matrix must be passed its number of columns.
        """
        found: list[Expression] = []
        for size in shape:
            if isinstance(size, Constant):
                found.append(size)
            elif isinstance(size, Variable) and size in self.names:
                found.append(Variable(self.names[size], Kind.INT, True))
            else:
                found.append(UNKNOWN_SIZE)
        return tuple(found)


def _numbers_by_name(values: Mapping[str, object]) -> Iterator[tuple[str, Variable]]:
    """Yield the variables that are passed to a program, also those in records, with their names."""
    for name, value in values.items():
        if isinstance(value, Variable):
            yield name, value
        elif isinstance(value, RecordValue):
            yield from _numbers_by_name({f"{name}.{k}": x for k, x in value.fields.items()})
