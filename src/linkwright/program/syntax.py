"""The syntax tree of programs: typed, with constants filled in and `unroll` loops unrolled."""

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
    """A number that is known when the program is read."""

    value: float | int | bool
    kind: Kind


@dataclass(frozen=True)
class Variable:
    """A number of a lane, or one that all lanes share: a size or the counter of a loop."""

    name: str
    kind: Kind
    is_uniform: bool = False


@dataclass(frozen=True)
class Array:
    """A vector or matrix of a lane, or a row of a matrix, which begins at entry `offset`."""

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
    """A tape that is passed to the program when it runs."""

    name: str


@dataclass(frozen=True)
class Element:
    """One number of an array or a buffer."""

    source: Array | Memory
    index: Expression
    kind: Kind


@dataclass(frozen=True)
class Operation:
    """An operation on numbers: + - * / // % neg, < <= == !=, and or not, choose, sqrt abs min max
    isfinite float int."""

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
    """A new array of the lane; it contains zeros, or undefined numbers if it is scratch."""

    array: Array
    is_scratch: bool


@dataclass(frozen=True)
class Assign:
    """Assigns a value to a variable or an element."""

    target: Variable | Element
    value: Expression


@dataclass(frozen=True)
class Loop:
    """A loop from `start` to `stop` - 1; both bounds are the same in all lanes."""

    counter: Variable
    start: Expression
    stop: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """A loop that each lane leaves when its own condition is false."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If:
    """A branch that each lane takes by its own condition."""

    condition: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class Break:
    """Makes the lane leave the innermost `while` loop."""


@dataclass(frozen=True)
class CallTape:
    """Calls a tape, which fills its outputs; the arguments are the inputs, then the outputs."""

    code: Code
    arguments: tuple[Expression | Array, ...]


@dataclass(frozen=True)
class CallProgram:
    """Calls a program, which fills arrays; its results are assigned to variables."""

    program: Program
    arguments: tuple[Argument, ...]
    results: tuple[Variable, ...]


@dataclass(frozen=True)
class CopyRow:
    """Copies a row of a buffer into an array, or an array into the row if `writes`."""

    buffer: Memory
    start: Expression
    array: Array
    writes: bool


@dataclass(frozen=True)
class VariableReference:
    """A variable of a record that is passed by reference; the called program may change it."""

    variable: Variable

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.variable.name


Argument = Expression | Array | Memory | Code | VariableReference

Statement = Declare | Assign | Loop | While | If | Break | CallTape | CallProgram | CopyRow


Parameter = Variable | Array | Memory | Code | VariableReference


@dataclass(frozen=True, eq=False)
class Program:
    """A program with its constants filled in: parameters, statements, and the expressions that it
    returns."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    results: tuple[Expression, ...]
