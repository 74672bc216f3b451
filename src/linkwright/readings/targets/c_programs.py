"""Programs as C99, for one trajectory: one static function for each program that is called.

Floats are `double`, integers `int64_t`, truth values `bool`. Arrays are local arrays of constant
size. The code allocates nothing and has no global state. Results equal, bit for bit,
those of the program in Python where the compiler fuses no products (`-ffp-contract=off`).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from ...program.syntax import (
    Array,
    Assign,
    Break,
    CallProgram,
    CallTape,
    Code,
    Constant,
    CopyRow,
    Declare,
    Element,
    Expression,
    If,
    Kind,
    Loop,
    Memory,
    Operation,
    Parameter,
    Program,
    Statement,
    Ticket,
    Variable,
    VariableReference,
    While,
)
from ..program_frames import constant_array_size, layout_program
from .c_code import c_number
from .safe_names import make_unique_identifiers

C_TYPES = {Kind.FLOAT: "double", Kind.INT: "int64_t", Kind.BOOL: "bool"}
_INFIX = {"+": "+", "-": "-", "*": "*", "/": "/", "//": "/", "%": "%", "<": "<", "<=": "<=",
          "==": "==", "!=": "!=", "and": "&&", "or": "||"}  # fmt: skip
_PREFIX = {"neg": "-", "not": "!", "float": "(double)", "int": "(int64_t)"}
_CALLS = {"sqrt": "sqrt", "abs": "fabs", "isfinite": "isfinite"}
_LIBRARY_NAMES = ("sqrt", "fabs", "isfinite", "memset", "memcpy")

C_PROGRAM_HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
"""
"""What the text of programs needs before it."""


class CProgramPrinter:
    """Prints programs as C functions, each one once, the called ones first."""

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}
        """The names of functions by their texts."""

    def add_program(self, program: Program, procedures: Mapping[str, str]) -> str:
        """Add the function of a program; return its name.

        `procedures` are the C functions of its tapes, by parameter: (inputs …, outputs …), all of
        them pointers.
        """
        text = _CFunction(self, program, procedures).print()
        return self.functions.setdefault(text, f"{program.name}_{len(self.functions)}")

    def text(self) -> str:
        """Return the definitions of all functions."""
        return "\n".join(text.replace("@SELF", name) for text, name in self.functions.items())


class _CFunction:
    """Prints one program as one function, with `@SELF` for its name."""

    def __init__(
        self, printer: CProgramPrinter, program: Program, procedures: Mapping[str, str]
    ) -> None:
        self.printer, self.program, self.procedures = printer, program, procedures
        self.frame = layout_program(program)
        self.parameters = [p for p in program.parameters if not isinstance(p, Code)]
        names = [*(p.name for p in self.parameters), *self.frame.variables, *self.frame.arrays]
        taken = [*_LIBRARY_NAMES, *procedures.values()]
        safe = make_unique_identifiers([*taken, *names], "v")[len(taken) :]
        self.names = dict(zip(names, safe, strict=True))
        self.pointers = {p.name for p in self.parameters if isinstance(p, VariableReference)}
        self.lines: list[str] = []
        self.indent = 1

    def print(self) -> str:
        """The text of the function."""
        results = self.program.results
        self.print_block(self.program.body, 0)
        if len(results) == 1:
            self.add(f"return {self.expression(results[0])};")
        elif results:
            for k, result in enumerate(results):
                self.add(f"*result_{k} = {self.expression(result)};")
        body = "\n".join(self.lines)
        head = [self.parameter(p) for p in self.parameters]
        if len(results) > 1:
            head += [f"{C_TYPES[x.kind]} *result_{k}" for k, x in enumerate(results)]
        kind = C_TYPES[results[0].kind] if len(results) == 1 else "void"
        declared = "\n".join(self.declarations(body))
        given = textwrap.indent(textwrap.fill(", ".join(head) or "void", 96), "    ")
        return f"static {kind} @SELF(\n{given})\n{{\n{declared}\n{body}\n}}\n"

    def declarations(self, body: str) -> list[str]:
        """The declarations of variables and arrays, and a mark for each that is not read."""
        lines = []
        for name, variable in self.frame.variables.items():
            zero = {Kind.FLOAT: "0.0", Kind.INT: "0", Kind.BOOL: "false"}[variable.kind]
            lines.append(f"    {C_TYPES[variable.kind]} {self.names[name]} = {zero};")
        lines += [
            f"    double {self.names[name]}[{max(1, size)}];"
            for name, size in self.frame.arrays.items()
        ]
        is_read = re.compile(r"\b(\w+)\b(?! = )")
        read = set(is_read.findall(body))
        return lines + [f"    (void){name};" for name in self.names.values() if name not in read]

    def parameter(self, parameter: Parameter) -> str:
        """The declaration of a parameter."""
        name = self.names[parameter.name]
        match parameter:
            case Variable(kind=kind):
                return f"{C_TYPES[kind]} {name}"
            case VariableReference(variable=variable):
                return f"{C_TYPES[variable.kind]} *{name}"
            case Memory(kind=kind):
                return f"{C_TYPES[kind]} *{name}"
            case _:
                return f"double *{name}"

    def add(self, line: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.indent + line)

    # -- statements ------------------------------------------------------------------------------

    def print_block(self, body: tuple[Statement, ...], inward: int = 1) -> None:
        """Print the statements of a block."""
        self.indent += inward
        for statement in body:
            self.print_statement(statement)
        self.indent -= inward

    def print_statement(self, statement: Statement) -> None:
        """Print a statement."""
        match statement:
            case Declare(array=array, is_scratch=is_scratch):
                if not is_scratch:
                    name = self.names[array.name]
                    self.add(f"memset({name}, 0, sizeof {name});")
            case Assign(target=target, value=value):
                self.add(f"{self.expression(target)} = {self.expression(value)};")
            case Loop(counter=counter, start=start, stop=stop, body=body):
                i = self.expression(counter)
                first, end = self.expression(start), self.expression(stop)
                self.print_braces(f"for ({i} = {first}; {i} < {end}; ++{i})", body)
            case While(condition=condition, body=body):
                self.print_braces(f"while ({self.test(condition)})", body)
            case If(condition=condition, body=body, otherwise=otherwise):
                self.print_braces(f"if ({self.test(condition)})", body)
                if otherwise:
                    self.print_braces("else", otherwise)
            case Break():
                self.add("break;")
            case CallTape(code=code, arguments=arguments):
                given = ", ".join(map(self.tape_argument, arguments))
                self.add(f"{self.procedures[code.name]}({given});")
            case CallProgram():
                self.call_program(statement)
            case CopyRow(buffer=buffer, start=start, array=array, writes=writes):
                row = f"{self.names[buffer.name]} + {self.expression(start)}"
                inside, size = self.address(array), constant_array_size(array)
                order = f"{row}, {inside}" if writes else f"{inside}, {row}"
                self.add(f"memcpy({order}, {size} * sizeof(double));")

    def print_braces(self, head: str, body: tuple[Statement, ...]) -> None:
        """Print a block in braces."""
        self.add(head + " {")
        self.print_block(body)
        self.add("}")

    def tape_argument(self, value: Expression | Array) -> str:
        """An argument of a tape: an array, or a number in an array of its own."""
        if isinstance(value, Array):
            return self.address(value)
        return f"(double[]){{{self.expression(value)}}}"

    def call_program(self, call: CallProgram) -> None:
        """Print the call of another program."""
        given, procedures = [], {}
        for value, parameter in zip(call.arguments, call.program.parameters, strict=True):
            match value:
                case Array():
                    given.append(self.address(value))
                case VariableReference(name=name):
                    pointer = self.names[name]
                    given.append(pointer if name in self.pointers else f"&{pointer}")
                case Memory(name=name):
                    given.append(self.names[name])
                case Code(name=name):
                    procedures[parameter.name] = self.procedures[name]
                case _:
                    given.append(self.expression(value))
        count, target = len(call.program.results), ""
        if count == 1 and call.results:
            target = f"{self.expression(call.results[0])} = "
        elif count > 1:
            assert len(call.results) == count, "all results are assigned"
            given += [f"&{self.expression(result)}" for result in call.results]
        name = self.printer.add_program(call.program, procedures)
        for line in textwrap.wrap(f"{target}{name}({', '.join(given)});", 96):
            self.add(line)

    # -- expressions -----------------------------------------------------------------------------

    def address(self, array: Array) -> str:
        """The address of an array, or of one of its rows."""
        name = self.names[array.name]
        return name if array.offset is None else f"{name} + {self.expression(array.offset)}"

    def expression(self, value: Expression) -> str:
        """The text of an expression."""
        match value:
            case Constant(value=number, kind=kind):
                return print_c_number(number, kind)
            case Variable(name=name):
                return f"(*{self.names[name]})" if name in self.pointers else self.names[name]
            case Element(source=source, index=index):
                return f"{self.names[source.name]}[{self.expression(index)}]"
            case Ticket(counter=counter):
                return f"{self.names[counter.name]}[0]++"
            case Operation(name=name, operands=operands):
                return self.operation(name, operands)

    def test(self, condition: Expression) -> str:
        """The text of a condition that stands in parentheses: Clang warns of a second pair."""
        text = self.expression(condition)
        is_enclosed = isinstance(condition, Operation) and condition.name in _INFIX
        return text[1:-1] if is_enclosed else text

    def operation(self, name: str, operands: tuple[Expression, ...]) -> str:
        """The text of an operation."""
        given = [self.expression(operand) for operand in operands]
        if name in _INFIX:
            return f"({given[0]} {_INFIX[name]} {given[1]})"
        if name in _PREFIX:
            return f"({_PREFIX[name]}{given[0]})"
        if name in _CALLS:
            return f"{_CALLS[name]}({given[0]})"
        if name == "choose":
            return f"({given[0]} ? {given[1]} : {given[2]})"
        a, b = given  # the first one where either is NaN, as in Python
        test = f"{b} < {a}" if name == "min" else f"{a} < {b}"
        return f"({test} ? {b} : {a})"


def print_c_number(number: float | int | bool, kind: Kind) -> str:
    """Return a number as C."""
    if kind is Kind.BOOL:
        return "true" if number else "false"
    return str(int(number)) if kind is Kind.INT else c_number(float(number))
