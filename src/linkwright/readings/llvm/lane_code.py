"""Expressions on lanes as LLVM IR: the number of a lane is one entry of a vector.

A single lane is a scalar. Its code has the same operations in the same order, and products are fused
into sums here and not by LLVM, so a trajectory has the same bits on one lane and on many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...program.syntax import (
    Array,
    Constant,
    Element,
    Expression,
    Kind,
    Memory,
    Operation,
    Ticket,
    Variable,
)
from .lane_instructions import LANE_SCALARS, LaneInstructions, LaneValue
from .program_masks import Block
from .sincos import llvm_hexadecimal


class LaneCode(LaneInstructions):
    """The lines of a function on lanes, with its variables and expressions.

    Stores to names in `private` need no mask within the block given there. The code of one lane has
    no masks: it jumps over blocks that its lane does not enter.
    """

    def __init__(
        self, lanes: int, has_fma: bool, declared: set[str], private: Mapping[str, Block]
    ) -> None:
        super().__init__(lanes, declared)
        self.has_fma, self.private = has_fma, private
        self.slots: list[str] = []
        self.variables: dict[str, Kind] = {}
        self.block: Block = ()
        self.mask = "%mask"

    def needs_mask(self, name: str) -> bool:
        """Whether a store must keep the values of inactive lanes."""
        return self.w > 1 and self.private.get(name) != self.block

    def slot(self, variable: Variable) -> None:
        """Reserve a stack slot for a variable, unless it has one."""
        if variable.name not in self.variables:
            self.variables[variable.name] = variable.kind
            kind = self.slot_type(variable)
            self.slots.append(f"  %{variable.name} = alloca {kind}")
            self.slots.append(f"  store {kind} zeroinitializer, ptr %{variable.name}")

    def slot_type(self, variable: Variable) -> str:
        """The type of a variable's stack slot."""
        scalar = LANE_SCALARS[variable.kind]
        return scalar if variable.is_uniform else self.type_of(variable.kind)

    # -- memory ----------------------------------------------------------------------------------

    def address(self, array: Array) -> str:
        """Return the address of an array, or of one of its rows."""
        if array.offset is None:
            return f"%{array.name}"
        offset = self.uniform(array.offset)
        return self.add(
            f"getelementptr {self.type_of(Kind.FLOAT)}, ptr %{array.name}, i64 {offset}"
        )

    def element_addresses(self, element: Element, index: LaneValue) -> str:
        """Return the addresses of an element, one for each lane."""
        position = self.vector(index)
        if isinstance(element.source, Array) and self.w > 1:
            lanes = ", ".join(f"i64 {k}" for k in range(self.w))
            kind = self.type_of(Kind.INT)
            row = self.add(f"mul {kind} {position}, splat (i64 {self.w})")
            position = self.add(f"add {kind} {row}, <{lanes}>")
        scalar = LANE_SCALARS[element.kind]
        return self.add(
            f"getelementptr {scalar}, ptr %{element.source.name}, {self.type_of(Kind.INT)} {position}"
        )

    def load_element(self, element: Element) -> LaneValue:
        """The value of an entry of an array or buffer."""
        index = self.emit_expression(element.index)
        kind, scalar = self.type_of(element.kind), LANE_SCALARS[element.kind]
        if index.is_uniform:
            unit = kind if isinstance(element.source, Array) else scalar
            place = self.add(f"getelementptr {unit}, ptr %{element.source.name}, i64 {index.text}")
            value = self.add(f"load {unit}, ptr {place}")
            return LaneValue(value, element.kind, isinstance(element.source, Memory))
        places = self.element_addresses(element, index)
        if self.w == 1:
            return LaneValue(self.add(f"load {kind}, ptr {places}"), element.kind, False)
        suffix = f"v{self.w}{'f64' if element.kind is Kind.FLOAT else 'i64'}.v{self.w}p0"
        pointers = f"<{self.w} x ptr>"
        self.declared.add(
            f"declare {kind} @llvm.masked.gather.{suffix}({pointers}, {self.mask_type}, {kind})"
        )
        value = self.add(
            f"call {kind} @llvm.masked.gather.{suffix}({pointers} align 8 {places}, "
            f"{self.mask_type} {self.mask}, {kind} zeroinitializer)"
        )
        return LaneValue(value, element.kind, False)

    def store_element(self, element: Element, value: LaneValue) -> None:
        """Store a value to an entry of an array or buffer."""
        index = self.emit_expression(element.index)
        kind, name = self.type_of(element.kind), element.source.name
        number = self.vector(value)
        if index.is_uniform and isinstance(element.source, Array):
            place = self.add(f"getelementptr {kind}, ptr %{name}, i64 {index.text}")
            if self.needs_mask(name):
                old = self.add(f"load {kind}, ptr {place}")
                number = self.add(
                    f"select {self.mask_type} {self.mask}, {kind} {number}, {kind} {old}"
                )
            self.lines.append(f"  store {kind} {number}, ptr {place}")
            return
        places = self.element_addresses(element, index)
        if self.w == 1:
            self.lines.append(f"  store {kind} {number}, ptr {places}")
            return
        suffix = f"v{self.w}{'f64' if element.kind is Kind.FLOAT else 'i64'}.v{self.w}p0"
        pointers = f"<{self.w} x ptr>"
        self.declared.add(
            f"declare void @llvm.masked.scatter.{suffix}({kind}, {pointers}, {self.mask_type})"
        )
        self.lines.append(
            f"  call void @llvm.masked.scatter.{suffix}({kind} {number}, "
            f"{pointers} align 8 {places}, {self.mask_type} {self.mask})"
        )

    # -- expressions -----------------------------------------------------------------------------

    def uniform(self, expression: Expression) -> str:
        """Return a number that is the same in all lanes, as a scalar."""
        value = self.emit_expression(expression)
        assert value.is_uniform, "this number may differ between lanes"
        return value.text

    def emit_expression(self, expression: Expression) -> LaneValue:
        """Write the instructions of an expression."""
        match expression:
            case Constant(value=value, kind=kind):
                text = llvm_hexadecimal(float(value)) if kind is Kind.FLOAT else str(int(value))
                if kind is Kind.BOOL:
                    text = "true" if value else "false"
                return LaneValue(text, kind, True)
            case Variable(name=name, kind=kind, is_uniform=same):
                self.slot(expression)
                loaded = self.add(f"load {self.slot_type(expression)}, ptr %{name}")
                return LaneValue(loaded, kind, same)
            case Element():
                return self.load_element(expression)
            case Ticket():
                return self.take_ticket(expression)
            case Operation():
                return self.emit_operation(expression)

    def take_ticket(self, ticket: Ticket) -> LaneValue:
        """Reserve one number for each active lane; the lanes get them in order."""
        kind = self.type_of(Kind.INT)
        if self.w == 1:
            one = self.add(f"atomicrmw add ptr %{ticket.counter.name}, i64 1 monotonic")
            return LaneValue(one, Kind.INT, False)
        ones = self.add(f"zext {self.mask_type} {self.mask} to {kind}")
        before, numbers = "0", "poison"
        for lane in range(self.w):
            numbers = self.add(f"insertelement {kind} {numbers}, i64 {before}, i32 {lane}")
            one = self.add(f"extractelement {kind} {ones}, i32 {lane}")
            before = self.add(f"add i64 {before}, {one}")
        first = self.add(f"atomicrmw add ptr %{ticket.counter.name}, i64 {before} monotonic")
        base = self.vector(LaneValue(first, Kind.INT, True))
        return LaneValue(self.add(f"add {kind} {numbers}, {base}"), Kind.INT, False)

    def emit_operation(self, operation: Operation) -> LaneValue:
        """Write an operation, on scalars if all operands are the same in all lanes."""
        fused = split_fused_product(operation) if self.has_fma else None
        operands = operation.operands if fused is None else fused.operands
        values = [self.emit_expression(operand) for operand in operands]
        same = all(value.is_uniform for value in values)
        texts = [value.text if same else self.vector(value) for value in values]
        given = values[-1].kind
        is_scalar = same or self.w == 1
        kind = LANE_SCALARS[given] if is_scalar else self.type_of(given)
        if fused is None:
            text = self.add(self.instruction(operation.name, texts, given, kind, is_scalar))
        else:
            for k in fused.negated:
                texts[k] = self.add(f"fneg {kind} {texts[k]}")
            text = self.add(self.intrinsic("fma", texts, kind, is_scalar))
        return LaneValue(text, operation.kind, same)


@dataclass(frozen=True)
class FusedProduct:
    """A sum with a product as one operation a·b + c: (a, b, c), and which of these are negated."""

    operands: tuple[Expression, Expression, Expression]
    negated: tuple[int, ...]


def split_fused_product(operation: Operation) -> FusedProduct | None:
    """Return a sum or difference of numbers with a product as a fused operation, else None."""
    if operation.kind is not Kind.FLOAT or operation.name not in ("+", "-"):
        return None
    left, right = operation.operands
    is_minus = operation.name == "-"
    if isinstance(right, Operation) and right.name == "*":
        return FusedProduct((*right.operands, left), (0,) if is_minus else ())  # type: ignore[arg-type]
    if isinstance(left, Operation) and left.name == "*":
        return FusedProduct((*left.operands, right), (2,) if is_minus else ())  # type: ignore[arg-type]
    return None
