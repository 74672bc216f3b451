"""What a program keeps while it runs: its variables, and its arrays with their sizes.

Targets without lanes print a program for one trajectory. All sizes must then be constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..program.syntax import (
    Array,
    Assign,
    CallProgram,
    CallTape,
    Constant,
    Declare,
    If,
    Loop,
    Program,
    Statement,
    Variable,
    VariableReference,
    While,
)


def constant_array_size(array: Array) -> int:
    """Return the number of entries of an array whose sizes are constants."""
    sizes = []
    for size in array.shape:
        assert isinstance(size, Constant), f"the size of '{array.name}' is not a constant"
        sizes.append(int(size.value))
    return math.prod(sizes)


@dataclass(frozen=True)
class ProgramFrame:
    """The variables and arrays of one program, by name and in the order of their first use."""

    variables: dict[str, Variable]
    """Variables that are not parameters."""
    referenced: frozenset[str]
    """Those of them that are passed by reference."""
    arrays: dict[str, int]
    """The number of entries of each array."""
    argument_count: int
    """The largest number of single numbers that are passed to a tape."""


def layout_program(program: Program) -> ProgramFrame:
    """Return what a program keeps while it runs."""
    parameters = {parameter.name for parameter in program.parameters}
    variables: dict[str, Variable] = {}
    referenced: set[str] = set()
    arrays: dict[str, int] = {}
    arguments = 0

    def add_variable(variable: Variable) -> None:
        if variable.name not in parameters:
            variables.setdefault(variable.name, variable)

    for statement in _statements(program.body):
        match statement:
            case Declare(array=array):
                arrays[array.name] = constant_array_size(array)
            case Assign(target=Variable() as target):
                add_variable(target)
            case Loop(counter=counter):
                add_variable(counter)
            case CallTape(arguments=given):
                arguments = max(arguments, sum(not isinstance(x, Array) for x in given))
            case CallProgram(arguments=passed, results=results):
                for result in results:
                    add_variable(result)
                references = [x.variable for x in passed if isinstance(x, VariableReference)]
                for variable in references:
                    add_variable(variable)
                referenced |= {variable.name for variable in references} - parameters
            case _:
                continue
    return ProgramFrame(variables, frozenset(referenced), arrays, arguments)


def _statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield all statements of a block, also those inside branches and loops."""
    for statement in body:
        yield statement
        match statement:
            case Loop(body=inner) | While(body=inner):
                yield from _statements(inner)
            case If(body=inner, otherwise=otherwise):
                yield from _statements((*inner, *otherwise))
            case _:
                continue
