"""The syntax tree of programs: typed, constants filled in, loops over constants unrolled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a number."""

    FLOAT = "float"
    INT = "int"
    BOOL = "bool"


# -- expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant:
    """A number that is known."""

    value: float | int | bool
    kind: Kind


@dataclass(frozen=True)
class Variable:
    """A number of the lane, or one that is the same in all lanes: a size, the counter of a loop."""

    name: str
    kind: Kind
    is_uniform: bool = False


@dataclass(frozen=True)
class Array:
    """A vector or matrix of the lane, or a row of a matrix: `offset` numbers from its start."""

    name: str
    shape: tuple[Expression, ...]
    offset: Expression | None = None


@dataclass(frozen=True)
class Memory:
    """A buffer that all lanes share."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Code:
    """A tape that is given when the program runs."""

    name: str


@dataclass(frozen=True)
class Element:
    """A number of an array or a buffer."""

    source: Array | Memory
    index: Expression
    kind: Kind


@dataclass(frozen=True)
class Operation:
    """An operation on numbers: + - * / // % neg, < <= == !=, and or not, choose, sqrt abs min max
    pow float int."""

    name: str
    operands: tuple[Expression, ...]
    kind: Kind


@dataclass(frozen=True)
class Ticket:
    """The next number of a shared counter."""

    counter: Memory
    kind: Kind = Kind.INT


Expression = Constant | Variable | Element | Operation | Ticket


# -- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declare:
    """A new array of the lane, with zeros, or with numbers that mean nothing yet."""

    array: Array
    is_scratch: bool


@dataclass(frozen=True)
class Assign:
    """A new value of a variable or of an element."""

    target: Variable | Element
    value: Expression


@dataclass(frozen=True)
class Loop:
    """A loop over counters from `start` up to `stop`, which are the same in all lanes."""

    counter: Variable
    start: Expression
    stop: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """A loop that each lane leaves by itself."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If:
    """A branch."""

    condition: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class Break:
    """The lane leaves the innermost `while`."""


@dataclass(frozen=True)
class CallTape:
    """A tape reads its inputs and fills its outputs, which follow them among the arguments."""

    code: Code
    arguments: tuple[Expression | Array, ...]


@dataclass(frozen=True)
class CallProgram:
    """A program fills arrays, and its results become values of variables."""

    program: Program
    arguments: tuple[Argument, ...]
    results: tuple[Variable, ...]


@dataclass(frozen=True)
class CopyRow:
    """A row of a buffer into an array, or back."""

    buffer: Memory
    start: Expression
    array: Array
    writes: bool


Argument = Expression | Array | Memory | Code

Statement = Declare | Assign | Loop | While | If | Break | CallTape | CallProgram | CopyRow


Parameter = Variable | Array | Memory | Code


@dataclass(frozen=True, eq=False)
class Program:
    """One program with all its constants: parameters, statements, and the expressions that it
    returns."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    results: tuple[Expression, ...]
