"""Expressions on lanes as LLVM IR: the number of a lane is one entry of a vector.

A single lane is a scalar. Its code has the same operations in the same order, and products are fused
into sums here and not by LLVM, so a trajectory has the same bits on one lane and on many.
"""

from __future__ import annotations

import math
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
from .program_masks import Block
from .sincos import llvm_hexadecimal

LANE_SCALARS = {Kind.FLOAT: "double", Kind.INT: "i64", Kind.BOOL: "i1"}
_FLOAT_OPERATIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_INT_OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "//": "sdiv", "%": "srem"}
_FLOAT_PREDICATES = {"<": "olt", "<=": "ole", "==": "oeq", "!=": "une"}
_INT_PREDICATES = {"<": "slt", "<=": "sle", "==": "eq", "!=": "ne"}


@dataclass(frozen=True)
class LaneValue:
    """A value in the code: a scalar if it is the same in all lanes, otherwise a vector."""

    text: str
    kind: Kind
    is_uniform: bool


def lane_type(lanes: int, kind: Kind) -> str:
    """Return the type of numbers of a kind, one for each lane."""
    return LANE_SCALARS[kind] if lanes == 1 else f"<{lanes} x {LANE_SCALARS[kind]}>"


class LaneCode:
    """The lines of a function on lanes, with its variables and expressions.

    `declared` collects what the module must declare. Stores to names in `private` need no mask within the block given
    there. The code of one lane has no masks: it jumps over blocks that its lane does not enter.
    """

    def __init__(
        self, lanes: int, has_fma: bool, declared: set[str], private: Mapping[str, Block]
    ) -> None:
        self.w, self.has_fma, self.declared, self.private = lanes, has_fma, declared, private
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.variables: dict[str, Kind] = {}
        self.block: Block = ()
        self.mask = "%mask"

    def fresh(self, hint: str = "v") -> str:
        """A new name for a value or a label."""
        self.count += 1
        return f"%{hint}.{self.count}"

    def type_of(self, kind: Kind) -> str:
        """Return the vector type for a kind of number."""
        return lane_type(self.w, kind)

    @property
    def mask_type(self) -> str:
        """The type of masks."""
        return self.type_of(Kind.BOOL)

    def add(self, instruction: str, hint: str = "v") -> str:
        """Append an instruction; return the name of its result."""
        name = self.fresh(hint)
        self.lines.append(f"  {name} = {instruction}")
        return name

    def label(self, name: str) -> None:
        """Begin a block of instructions."""
        self.lines.append(f"{name[1:]}:")

    def jump(self, target: str) -> None:
        """Go on at a label."""
        self.lines.append(f"  br label {target}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Go on at one of two labels."""
        self.lines.append(f"  br i1 {condition}, label {yes}, label {no}")

    def any_lane(self, mask: str) -> str:
        """Whether a mask has any lane."""
        if self.w == 1:
            return mask
        bits = self.add(f"bitcast {self.mask_type} {mask} to i{self.w}")
        return self.add(f"icmp ne i{self.w} {bits}, 0")

    def vector(self, value: LaneValue) -> str:
        """Return a value as a vector."""
        if not value.is_uniform or self.w == 1:
            return value.text
        scalar, kind = LANE_SCALARS[value.kind], self.type_of(value.kind)
        if not value.text.startswith("%"):
            return f"splat ({scalar} {value.text})"
        first = self.add(f"insertelement {kind} poison, {scalar} {value.text}, i32 0")
        return self.add(
            f"shufflevector {kind} {first}, {kind} poison, <{self.w} x i32> zeroinitializer"
        )

    def instruction(self, name: str, texts: list[str], kind: Kind, type_: str, same: bool) -> str:
        """Return the instruction for an operation on operands of one type."""
        number = kind is Kind.FLOAT
        truth = "i1" if same else self.mask_type
        compare = f"{'fcmp' if number else 'icmp'}"
        predicates = _FLOAT_PREDICATES if number else _INT_PREDICATES
        if name in predicates:
            return f"{compare} {predicates[name]} {type_} {texts[0]}, {texts[1]}"
        table = _FLOAT_OPERATIONS if number else _INT_OPERATIONS
        if name in table:
            return f"{table[name]} {type_} {texts[0]}, {texts[1]}"
        match name:
            case "and" | "or":
                return f"{name} {type_} {texts[0]}, {texts[1]}"
            case "not":
                return f"xor {type_} {texts[0]}, {'true' if same else 'splat (i1 true)'}"
            case "neg":
                return (
                    f"fneg {type_} {texts[0]}"
                    if number
                    else f"sub {type_} zeroinitializer, {texts[0]}"
                )
            case "choose":
                return f"select {truth} {texts[0]}, {type_} {texts[1]}, {type_} {texts[2]}"
            case "min" | "max":
                less = (texts[1], texts[0]) if name == "min" else (texts[0], texts[1])
                test = f"{compare} {predicates['<']} {type_} {less[0]}, {less[1]}"
                condition = self.add(test)
                return f"select {truth} {condition}, {type_} {texts[1]}, {type_} {texts[0]}"
            case "sqrt" | "abs":
                return self.intrinsic({"sqrt": "sqrt", "abs": "fabs"}[name], texts, type_, same)
            case "isfinite":
                size = self.add(self.intrinsic("fabs", texts, type_, same))
                infinite = llvm_hexadecimal(math.inf)
                bound = infinite if same else f"splat (double {infinite})"
                return f"fcmp olt {type_} {size}, {bound}"
            case "float":
                return (
                    f"sitofp {type_} {texts[0]} to {'double' if same else self.type_of(Kind.FLOAT)}"
                )
            case "int":
                return f"fptosi {type_} {texts[0]} to {'i64' if same else self.type_of(Kind.INT)}"
            case _:
                raise AssertionError(name)

    def intrinsic(self, name: str, texts: list[str], type_: str, same: bool) -> str:
        """The call of a function that LLVM knows."""
        suffix = "f64" if same else f"v{self.w}f64"
        types = ", ".join([type_] * len(texts))
        self.declared.add(f"declare {type_} @llvm.{name}.{suffix}({types})")
        given = ", ".join(f"{type_} {text}" for text in texts)
        return f"call {type_} @llvm.{name}.{suffix}({given})"

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
