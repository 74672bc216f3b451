"""Expressions on lanes as LLVM IR: the number of a lane is one entry of a vector."""

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
_FLOAT_OPERATIONS = {"+": "fadd contract", "-": "fsub contract", "*": "fmul contract", "/": "fdiv"}
_INT_OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "//": "sdiv", "%": "srem"}
_FLOAT_PREDICATES = {"<": "olt", "<=": "ole", "==": "oeq", "!=": "une"}
_INT_PREDICATES = {"<": "slt", "<=": "sle", "==": "eq", "!=": "ne"}


@dataclass(frozen=True)
class LaneValue:
    """A value in the code: a scalar if it is the same in all lanes, otherwise a vector."""

    text: str
    kind: Kind
    is_uniform: bool


class LaneCode:
    """The lines of a function on lanes, with its variables and expressions.

    `declared` collects what the module must declare. Stores to names in `private` need no mask
    within the block given there.
    """

    def __init__(self, lanes: int, declared: set[str], private: Mapping[str, Block]) -> None:
        self.w, self.declared, self.private = lanes, declared, private
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
        return f"<{self.w} x {LANE_SCALARS[kind]}>"

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
        bits = self.add(f"bitcast {self.mask_type} {mask} to i{self.w}")
        return self.add(f"icmp ne i{self.w} {bits}, 0")

    def vector(self, value: LaneValue) -> str:
        """Return a value as a vector."""
        if not value.is_uniform:
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
                return self.intrinsic({"sqrt": "sqrt", "abs": "fabs"}[name], texts[0], type_, same)
            case "isfinite":
                size = self.add(self.intrinsic("fabs", texts[0], type_, same))
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

    def intrinsic(self, name: str, text: str, type_: str, same: bool) -> str:
        """The call of a function that LLVM knows."""
        suffix = "f64" if same else f"v{self.w}f64"
        self.declared.add(f"declare {type_} @llvm.{name}.{suffix}({type_})")
        return f"call {type_} @llvm.{name}.{suffix}({type_} {text})"

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
        if isinstance(element.source, Array):
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
            if self.private.get(name) != self.block:
                old = self.add(f"load {kind}, ptr {place}")
                number = self.add(
                    f"select {self.mask_type} {self.mask}, {kind} {number}, {kind} {old}"
                )
            self.lines.append(f"  store {kind} {number}, ptr {place}")
            return
        places = self.element_addresses(element, index)
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
        values = [self.emit_expression(operand) for operand in operation.operands]
        same = all(value.is_uniform for value in values)
        texts = [value.text if same else self.vector(value) for value in values]
        given = values[-1].kind
        kind = LANE_SCALARS[given] if same else self.type_of(given)
        text = self.add(self.instruction(operation.name, texts, given, kind, same))
        return LaneValue(text, operation.kind, same)
