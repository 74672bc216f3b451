"""Instructions on lanes as lines of LLVM IR: the number of a lane is one entry of a vector."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...program.syntax import Kind
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


class LaneInstructions:
    """The lines of a function on lanes; `declared` collects what the module must declare."""

    def __init__(self, lanes: int, declared: set[str]) -> None:
        self.w, self.declared = lanes, declared
        self.lines: list[str] = []
        self.count = 0

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
