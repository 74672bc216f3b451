"""Expressions of programs as WebAssembly: floats are f64, integers and truth values i32."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...program.syntax import (
    Array,
    Constant,
    Element,
    Expression,
    Kind,
    Memory,
    Operation,
    Program,
    Ticket,
    Variable,
    VariableReference,
)
from ..program_frames import layout_program
from .module_bytes import (
    F64,
    I32,
    SELECT,
    float_constant,
    get_local,
    int_constant,
    load_float,
    load_int,
    set_local,
    store_float,
    store_int,
)

_FLOAT_CODES = {
    "+": b"\xa0", "-": b"\xa1", "*": b"\xa2", "/": b"\xa3", "neg": b"\x9a", "abs": b"\x99",
    "sqrt": b"\x9f", "<": b"\x63", "<=": b"\x65", "==": b"\x61", "!=": b"\x62",
    "int": b"\xfc\x02",
}  # fmt: skip
_INT_CODES = {
    "+": b"\x6a", "-": b"\x6b", "*": b"\x6c", "//": b"\x6d", "%": b"\x6f", "<": b"\x48",
    "<=": b"\x4c", "==": b"\x46", "!=": b"\x47", "and": b"\x71", "or": b"\x72", "not": b"\x45",
    "float": b"\xb7",
}  # fmt: skip
INT_ADD, INT_GREATER_EQUAL, INT_IS_ZERO = b"\x6a", b"\x4e", b"\x45"
_SHIFT_LEFT = b"\x74"
_SIZE_BITS = {Kind.FLOAT: 3, Kind.INT: 2, Kind.BOOL: 2}
"""Base-2 logarithms of the bytes of an entry of a buffer."""


class ProgramExpressions:
    """Writes expressions; it knows where the variables and arrays of a program are.

    Variables are locals, except those that are passed by reference: these and the arrays are in a
    frame on a stack in memory, whose address is a local.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.frame = program, layout_program(program)
        self.locals: dict[str, int] = {}
        self.kinds: list[bytes] = []
        """The types of all locals, the parameters first."""
        self.references: set[str] = set()
        """Variables whose address is a parameter."""
        self.offsets: dict[str, int] = {}
        """The places of variables and arrays in the frame."""

    def new_local(self, kind: Kind) -> int:
        """Return a new local."""
        self.kinds.append(F64 if kind is Kind.FLOAT else I32)
        return len(self.kinds) - 1

    def place_parameters(self) -> int:
        """Give each parameter a local; return how many there are."""
        for parameter in self.program.parameters:
            match parameter:
                case Variable(name=name, kind=kind):
                    self.locals[name] = self.new_local(kind)
                case VariableReference(name=name):
                    self.references.add(name)
                    self.locals[name] = self.new_local(Kind.INT)
                case Array(name=name) | Memory(name=name):
                    self.locals[name] = self.new_local(Kind.INT)
                case _:
                    continue  # the tape that is called is known
        return len(self.kinds)

    def place_variables(self) -> int:
        """Give each variable and array its place; return the bytes of the frame."""
        size = 8 * self.frame.argument_count
        for name, variable in self.frame.variables.items():
            if name in self.frame.referenced:
                self.offsets[name] = size
                size += 8
            else:
                self.locals[name] = self.new_local(variable.kind)
        for name, count in self.frame.arrays.items():
            self.offsets[name] = size
            size += 8 * count
        self.frame_address = self.new_local(Kind.INT)
        return size

    # -- memory ----------------------------------------------------------------------------------

    def variable_address(self, name: str) -> bytes:
        """Push the address of a variable that is in memory."""
        if name in self.references:
            return get_local(self.locals[name])
        return self._frame_place(self.offsets[name])

    def _frame_place(self, offset: int) -> bytes:
        """Push an address in the frame."""
        return get_local(self.frame_address) + (int_constant(offset) + INT_ADD if offset else b"")

    def array_address(self, array: Array) -> bytes:
        """Push the address of an array, or of one of its rows."""
        code = self._base(array)
        if array.offset is not None:
            code += self._scaled(array.offset, Kind.FLOAT) + INT_ADD
        return code

    def _base(self, source: Array | Memory) -> bytes:
        """Push the address of the first entry of an array or buffer."""
        if source.name in self.offsets:
            return self._frame_place(self.offsets[source.name])
        return get_local(self.locals[source.name])

    def _scaled(self, index: Expression, kind: Kind) -> bytes:
        """Push the bytes before an entry."""
        if isinstance(index, Constant):
            return int_constant(int(index.value) << _SIZE_BITS[kind])
        return self.expression(index) + int_constant(_SIZE_BITS[kind]) + _SHIFT_LEFT

    def element_address(self, element: Element) -> bytes:
        """Push the address of an entry."""
        return self._base(element.source) + self._scaled(element.index, element.kind) + INT_ADD

    def load(self, kind: Kind) -> bytes:
        """Replace an address by the number there."""
        return load_float(0) if kind is Kind.FLOAT else load_int(0)

    def store(self, kind: Kind) -> bytes:
        """Pop a number and an address, and store the number there."""
        return store_float(0) if kind is Kind.FLOAT else store_int(0)

    # -- expressions -----------------------------------------------------------------------------

    def expression(self, expression: Expression) -> bytes:
        """Push the value of an expression."""
        match expression:
            case Constant(value=value, kind=kind):
                if kind is Kind.FLOAT:
                    return float_constant(float(value))
                return int_constant(int(value))
            case Variable(name=name, kind=kind):
                if name in self.references or name in self.offsets:
                    return self.variable_address(name) + self.load(kind)
                return get_local(self.locals[name])
            case Element(kind=kind):
                return self.element_address(expression) + self.load(kind)
            case Ticket(counter=counter):
                return self._take_ticket(counter)
            case Operation():
                return self._operation(expression)

    def _take_ticket(self, counter: Memory) -> bytes:
        """Push the number in a buffer, and add 1 to it there."""
        place = self._base(counter)
        after = place + load_int(0) + int_constant(1)
        return place + after + INT_ADD + store_int(0) + after + _INT_CODES["-"]

    def _operation(self, operation: Operation) -> bytes:
        """Push the result of an operation."""
        name, operands = operation.name, operation.operands
        kind = operands[-1].kind
        codes: Mapping[str, bytes] = _FLOAT_CODES if kind is Kind.FLOAT else _INT_CODES
        if name in ("min", "max"):
            return self._extreme(name, operands, codes["<"])
        if name == "choose":
            return b"".join(map(self.expression, (*operands[1:], operands[0]))) + SELECT
        values = b"".join(map(self.expression, operands))
        if name == "isfinite":
            return values + _FLOAT_CODES["abs"] + float_constant(math.inf) + _FLOAT_CODES["<"]
        if name == "neg" and kind is not Kind.FLOAT:
            return int_constant(0) + values + _INT_CODES["-"]
        return values + codes[name]

    def _extreme(self, name: str, operands: tuple[Expression, ...], less: bytes) -> bytes:
        """Push the smaller or larger number; the first one where either is NaN, as in Python."""
        a, b = (self.new_local(operand.kind) for operand in operands)
        code = b"".join(
            self.expression(operand) + set_local(local)
            for operand, local in zip(operands, (a, b), strict=True)
        )
        one, other = (b, a) if name == "min" else (a, b)
        code += get_local(b) + get_local(a) + get_local(one) + get_local(other)
        return code + less + SELECT
