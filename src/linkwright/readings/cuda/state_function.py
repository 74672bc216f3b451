"""Tapes as CUDA functions of one state, which kernels call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...ports import Port
from ...tape import OPERATION_ARITY, Op, Tape, share_tape_reciprocals
from ...tape.register_pressure import fit_tape_to_registers
from ..llvm.fused_multiply_add import (
    MachineFusedMultiplyAdd,
    find_machine_fused_multiply_adds,
)
from ..targets.c_code import c_function_names, c_number, write_c_helpers
from ..targets.exported_code import name_code_ports
from ..targets.tape_statements import used_tape_operations

VALUE_REGISTERS = 250
"""Registers for the values of a thread: 255, less those of addresses. A double needs two."""

_INFIX = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*"}


@dataclass(frozen=True)
class CudaFunction:
    """A tape and the name of its functions in the source."""

    name: str
    tape: Tape

    @cached_property
    def port_names(self) -> list[str]:
        """Names of inputs, then of outputs, which no other name in the source equals."""
        return [f"x_{name}" for name in name_code_ports(self.tape.inputs, self.tape.outputs)]

    @property
    def ports(self) -> tuple[Port, ...]:
        """Inputs, then outputs."""
        return (*self.tape.inputs, *self.tape.outputs)

    @property
    def parameters(self) -> list[str]:
        """The parameters of kernels: pointers to inputs and outputs."""
        count = len(self.tape.inputs)
        return [
            f"{'const ' if k < count else ''}real *LW_RESTRICT {name}"
            for k, name in enumerate(self.port_names)
        ]


def write_helper_functions(tapes: Sequence[Tape]) -> str:
    """Return the functions that CUDA lacks and the tapes use."""
    lines = write_c_helpers(used_tape_operations(tapes), "real")
    return "\n".join(lines).replace("static inline", "LW_INLINE")


def write_state_function(function: CudaFunction, precision: str) -> str:
    """Return the function NAME_state of one state, whose entries are `lw_step` numbers apart."""
    body = "\n".join(f"    {line}" for line in _StateWriter(function, precision).statements())
    parameters = ", ".join([*function.parameters, "const lw_int lw_step"])
    return f"LW_INLINE void {function.name}_state({parameters})\n{{\n{body}\n}}\n"


class _StateWriter:
    """Writes the statements of one state."""

    def __init__(self, function: CudaFunction, precision: str) -> None:
        registers = VALUE_REGISTERS if precision == "float" else VALUE_REGISTERS // 2
        shared = share_tape_reciprocals(function.tape)
        tape = self.tape = fit_tape_to_registers(shared, registers)
        self.names, self.precision = function.port_names, precision
        self.functions = c_function_names(precision)
        self.fused, self.gone = find_machine_fused_multiply_adds(tape)
        self.angles: set[int] = set()
        self.goals: dict[int, list[str]] = {}
        for port, result in enumerate(tape.results):
            name = self.names[len(tape.inputs) + port]
            for entry, value in enumerate(result.tolist()):
                self.goals.setdefault(value, []).append(_write_entry(name, entry))

    def statements(self) -> list[str]:
        """One statement for each value, and assignments to outputs as soon as they are known."""
        lines = []
        for k, op in enumerate(self.tape.operations):
            if op is not Op.CONSTANT and k not in self.gone:
                lines += self.write_value(k, op)
            lines += [f"{goal} = {self.text(k)};" for goal in self.goals.get(k, ())]
        return lines

    def text(self, k: int) -> str:
        """The name of a value, or its number."""
        if self.tape.operations[k] is not Op.CONSTANT:
            return f"v{k}"
        number = c_number(float(self.tape.constants[k]), self.precision)
        return f"({number})" if number.startswith("-") else number

    def write_value(self, k: int, op: Op) -> list[str]:
        """The statements that compute a value."""
        operands = self.tape.operands[k]
        if op in (Op.SIN, Op.COS):
            return self.write_sine(k, op, operands[0])
        return [f"const real v{k} = {self.write_expression(k, op, operands)};"]

    def write_expression(self, k: int, op: Op, operands: list[int]) -> str:
        """The expression of a value."""
        if op is Op.INPUT:
            return _write_entry(self.names[operands[0]], operands[1])
        if k in self.fused:
            return self.write_fused(self.fused[k])
        given = [self.text(a) for a in operands[: OPERATION_ARITY[op]]]
        if op is Op.NEG:
            return f"-{given[0]}"
        if op is Op.DIV:
            reciprocal = f"lw_reciprocal({given[1]})"
            return reciprocal if self.is_one(operands[0]) else f"{given[0]}*{reciprocal}"
        if op in _INFIX:
            return f"{given[0]} {_INFIX[op]} {given[1]}"
        return f"{self.functions[op]}({', '.join(given)})"

    def is_one(self, k: int) -> bool:
        """Whether a value is the number 1."""
        return self.tape.operations[k] is Op.CONSTANT and float(self.tape.constants[k]) == 1.0

    def write_sine(self, k: int, op: Op, angle: int) -> list[str]:
        """Sine and cosine of an angle, computed together at the first of them."""
        own = f"{'s' if op is Op.SIN else 'c'}{angle}"
        lines = []
        if angle not in self.angles:
            self.angles.add(angle)
            lines.append(f"real s{angle}, c{angle};")
            lines.append(f"lw_sincos({self.text(angle)}, &s{angle}, &c{angle});")
        return [*lines, f"const real v{k} = {own};"]

    def write_fused(self, fused: MachineFusedMultiplyAdd) -> str:
        """The text of ±(a·b) ± c."""
        a, b = (self.text(x) for x in self.tape.operands[fused.product][:2])
        other = self.text(fused.other)
        one = f"-{a}" if fused.minus_product else a
        rest = f"-{other}" if fused.minus_other else other
        return f"{self.functions[Op.FMA]}({one}, {b}, {rest})"


def _write_entry(name: str, entry: int) -> str:
    return f"{name}[{entry}*lw_step]" if entry else f"{name}[0]"
