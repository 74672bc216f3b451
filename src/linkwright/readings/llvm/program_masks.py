"""Arrays and breaks of a program, and which of its stores need the mask.

A lane that is not active in a block must keep its values, so a store in the block selects between
the new and the old value. The selection is unnecessary if no inactive lane can see the value: all
uses of it are in the same block, and the store comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...program.syntax import (
    Argument,
    Array,
    Assign,
    Break,
    CallProgram,
    CallTape,
    Constant,
    CopyRow,
    Declare,
    Element,
    Expression,
    If,
    Loop,
    Memory,
    Operation,
    Program,
    Statement,
    Variable,
    VariableReference,
    While,
)

Block = tuple[int, ...]
"""The path to a block through the branches and loops that lanes enter independently."""


@dataclass(frozen=True)
class _Use:
    name: str
    block: Block
    is_definition: bool


def find_private_names(program: Program) -> dict[str, Block]:
    """Return the names whose values no lane outside a block can see, each with its block."""
    uses: dict[str, list[_Use]] = {}
    for use in _uses(program.body, ()):
        uses.setdefault(use.name, []).append(use)
    for result in program.results:
        for name in names_in_expression(result):
            uses.setdefault(name, []).append(_Use(name, (), False))
    inputs = {parameter.name: parameter for parameter in program.parameters}
    found: dict[str, Block] = {}
    for name, some in uses.items():
        if name in inputs:
            if isinstance(inputs[name], Variable):
                found[name] = ()
            continue
        first = some[0]
        if first.is_definition and all(u.block[: len(first.block)] == first.block for u in some):
            found[name] = first.block
    return found


def names_in_expression(value: Argument) -> Iterator[str]:
    """Yield the names of variables and arrays in an expression."""
    match value:
        case Variable(name=name) | VariableReference(name=name):
            yield name
        case Array(name=name, offset=offset):
            yield name
            if offset is not None:
                yield from names_in_expression(offset)
        case Element(source=source, index=index):
            yield from names_in_expression(source)
            yield from names_in_expression(index)
        case Operation(operands=operands):
            for operand in operands:
                yield from names_in_expression(operand)
        case _:
            return


def is_uniform(value: Expression) -> bool:
    """Whether a number is the same in all lanes: it has only constants, sizes and loop counters."""
    match value:
        case Constant():
            return True
        case Variable():
            return value.is_uniform
        case Operation(operands=operands):
            return all(map(is_uniform, operands))
        case Element(source=Memory(), index=index):
            return is_uniform(index)
        case _:
            return False


def branch_blocks(statement: If, block: Block, is_uniform_branch: bool) -> tuple[Block, Block]:
    """Return the blocks of both sides of a branch; both are `block` if all lanes agree."""
    if is_uniform_branch:
        return block, block
    return (*block, id(statement), 1), (*block, id(statement), 2)


def _uses(body: tuple[Statement, ...], block: Block) -> Iterator[_Use]:
    for statement in body:
        match statement:
            case Declare(array=array):
                yield _Use(array.name, block, True)
            case Assign(target=target, value=value):
                yield from _read(value, block)
                if isinstance(target, Variable):
                    yield _Use(target.name, block, True)
                else:
                    yield from _read(target, block)
            case Loop(start=start, stop=stop, body=inner):
                yield from _read(start, block)
                yield from _read(stop, block)
                yield from _uses(inner, block)
            case While(condition=condition, body=inner):
                path = (*block, id(statement))
                yield from _read(condition, path)
                yield from _uses(inner, path)
            case If(condition=condition, body=inner, otherwise=otherwise):
                yield from _read(condition, block)
                own = is_uniform(condition)
                paths = branch_blocks(statement, block, own)
                yield from _uses(inner, paths[0])
                yield from _uses(otherwise, paths[1])
            case CallTape(arguments=values):
                for argument in values:
                    yield from _read(argument, block)
            case CallProgram(arguments=given, results=results):
                for handed in given:
                    yield from _read(handed, block)
                for result in results:
                    yield _Use(result.name, block, True)
            case CopyRow(start=start, array=array):
                yield from _read(start, block)
                yield from _read(array, block)
            case _:
                continue


def _read(value: Argument, block: Block) -> Iterator[_Use]:
    for name in names_in_expression(value):
        yield _Use(name, block, False)


def find_arrays(body: tuple[Statement, ...]) -> list[Array]:
    """Return the arrays that a program declares."""
    found: list[Array] = []
    for statement in body:
        match statement:
            case Declare(array=array):
                found.append(array)
            case Loop(body=inner) | While(body=inner):
                found += find_arrays(inner)
            case If(body=inner, otherwise=otherwise):
                found += find_arrays((*inner, *otherwise))
            case _:
                continue
    return found


def may_break(statement: Statement) -> bool:
    """Whether a lane may leave the enclosing `while` in this statement."""
    match statement:
        case Break():
            return True
        case If(body=body, otherwise=otherwise):
            return any(map(may_break, (*body, *otherwise)))
        case Loop(body=body):
            return any(map(may_break, body))
        case _:
            return False
