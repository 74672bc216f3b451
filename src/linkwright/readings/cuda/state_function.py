"""Tapes as CUDA functions of one state, which kernels call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...ports import Port
from ...tape import OPERATION_ARITY, Op, Tape, share_tape_reciprocals
from ...tape.register_pressure import count_live_values, fit_tape_to_registers
from ..llvm.fused_multiply_add import (
    MachineFusedMultiplyAdd,
    find_machine_fused_multiply_adds,
)
from ..targets.c_code import c_function_names, c_number, write_c_helpers
from ..targets.exported_code import name_code_ports
from ..targets.tape_statements import used_tape_operations
from .cuda_options import SHARED_BYTES, CudaOptions
from .value_homes import HomePlan, ValueStatement, plan_homes

VALUE_REGISTERS = 250
"""Registers for the values of a thread: 255, less those of addresses. A double needs two."""

MAX_VALUE_REGISTERS = 256
"""Functions whose values need more have homes for some; compilers find registers for others."""

REGISTERS_BESIDE_HOMES = 200
"""Registers for values where others have homes: the compiler needs some to change their order."""

HOME_BLOCK = 32
"""Threads of a block whose values have homes: blocks of a warp share out the memory best."""

STATEMENTS_OF_SECTION = 80
"""Statements that the compiler may mix: where it may mix thousands, it needs more registers."""

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

    def tape_in_order(self, precision: str) -> Tape:
        """Return the tape in the order of the source."""
        kept: dict[str, Tape] = self.__dict__.setdefault("_tapes", {})
        if precision not in kept:
            shared = share_tape_reciprocals(self.tape)
            kept[precision] = fit_tape_to_registers(
                shared, VALUE_REGISTERS // _registers(precision)
            )
        return kept[precision]

    def state_code(self, precision: str, *, with_homes: bool = True) -> StateCode:
        """Return the function of one state, written once: see `write_state_function`."""
        kept: dict[object, StateCode] = self.__dict__.setdefault("_codes", {})
        key = precision, with_homes
        if key not in kept:
            kept[key] = write_state_function(self, precision, with_homes)
        return kept[key]

    def block(self, options: CudaOptions) -> int:
        """Return the number of threads of a block."""
        return HOME_BLOCK if self.state_code(options.precision).homes else options.block


@dataclass(frozen=True)
class StateCode:
    """The source of a function of one state, and its homes in shared memory for each thread."""

    text: str
    homes: int = 0

    @property
    def arguments(self) -> list[str]:
        """What a kernel passes on beside arrays and their stride."""
        return ["lw_homes + LW_THREAD"] if self.homes else []

    @property
    def homes_line(self) -> str:
        """The line of a kernel that declares the homes."""
        size = self.homes * HOME_BLOCK
        return f"    LW_SHARED volatile real lw_homes[{size}];\n" if size else ""


def write_helper_functions(tapes: Sequence[Tape]) -> str:
    """Return the functions that CUDA lacks and the tapes use."""
    lines = write_c_helpers(used_tape_operations(tapes), "real")
    return "\n".join(lines).replace("static inline", "LW_INLINE")


def write_state_function(function: CudaFunction, precision: str, with_homes: bool) -> StateCode:
    """Return the function NAME_state of one state, whose entries are `lw_step` numbers apart.

    Where values need more registers than a thread has, they have homes, if these are wanted and
    shared memory has room for all; otherwise the compiler spills values to local memory.
    """
    writer = _StateWriter(function, precision)
    plan = writer.plan_homes() if with_homes else None
    lines, parameters = writer.statements(plan), [*function.parameters, "const lw_int lw_step"]
    if plan:
        parameters.append("volatile real *const lw_homes")
    body = "\n".join(f"    {line}" for line in lines)
    text = f"LW_INLINE void {function.name}_state({', '.join(parameters)})\n{{\n{body}\n}}\n"
    return StateCode(text, plan.count if plan else 0)


class _StateWriter:
    """Writes the statements of one state."""

    def __init__(self, function: CudaFunction, precision: str) -> None:
        self.tape = tape = function.tape_in_order(precision)
        self.names, self.precision = function.port_names, precision
        self.functions = c_function_names(precision)
        self.fused, self.gone = find_machine_fused_multiply_adds(tape)
        self.angles: set[int] = set()
        self.returned: dict[int, str] = {}
        self.goals: dict[int, list[str]] = {}
        for port, result in enumerate(tape.results):
            name = self.names[len(tape.inputs) + port]
            for entry, value in enumerate(result.tolist()):
                self.goals.setdefault(value, []).append(_write_entry(name, entry))

    def plan_homes(self) -> HomePlan | None:
        """Return the homes of values; None where none are needed or memory has no room for all."""
        size = _registers(self.precision)
        if size * count_live_values(self.tape) <= MAX_VALUE_REGISTERS:
            return None
        plan = plan_homes(self.order_statements(), REGISTERS_BESIDE_HOMES // size)
        return plan if plan.count * 4 * size * HOME_BLOCK <= SHARED_BYTES else None

    def statements(self, plan: HomePlan | None) -> list[str]:
        """One statement for each value, and assignments to outputs as soon as they are known."""
        if plan:
            return self.statements_with_homes(plan)
        return [
            line for k in range(len(self.tape)) if k not in self.gone for line in self.write_step(k)
        ]

    def write_step(self, k: int) -> list[str]:
        """The statements of a value, and assignments to outputs."""
        op = self.tape.operations[k]
        lines = [] if op is Op.CONSTANT else self.write_value(k, op)
        return [*lines, *(f"{goal} = {self.text(k)};" for goal in self.goals.get(k, ()))]

    def statements_with_homes(self, plan: HomePlan) -> list[str]:
        """The statements, in sections, with values that leave for their homes and return."""
        lines = ["LW_SECTIONS"]
        constants = [k for k in self.goals if self.tape.operations[k] is Op.CONSTANT]
        lines += [line for k in constants for line in self.write_step(k)]
        moves = zip(self.order_statements(), plan.leaving, plan.returning, strict=True)
        for number, (step, leaving, returning) in enumerate(moves):
            if number % STATEMENTS_OF_SECTION == STATEMENTS_OF_SECTION - 1:
                lines.append(f"LW_SECTION({number})")
            lines += [f"{_write_home(home)} = {self.text(value)};" for value, home in leaving]
            for value, home in returning:
                self.returned[value] = f"r{value}_{number}"
                lines.append(f"const real {self.returned[value]} = {_write_home(home)};")
            lines += [line for k in step.made for line in self.write_step(k)]
        return lines

    def order_statements(self) -> list[ValueStatement]:
        """The statements in their order: inputs where they are first needed, sines in pairs."""
        operations, found, done = self.tape.operations, [], set(self.gone)
        pairs: dict[int, list[int]] = {}
        for k, op in enumerate(operations):
            if op in (Op.SIN, Op.COS):
                pairs.setdefault(self.tape.operands[k][0], []).append(k)
        values = [k for k, op in enumerate(operations) if op not in (Op.CONSTANT, Op.INPUT)]
        inputs = [k for k in self.goals if operations[k] is Op.INPUT]
        for k in (*values, *inputs):
            needed = self.needed_values(k)
            for own in (*(x for x in needed if operations[x] is Op.INPUT), k):
                if own not in done:
                    is_sine = operations[own] in (Op.SIN, Op.COS)
                    made = pairs[self.tape.operands[own][0]] if is_sine else [own]
                    done.update(made)
                    found.append(ValueStatement(tuple(made), tuple(self.needed_values(own))))
        return found

    def needed_values(self, k: int) -> list[int]:
        """The values, other than constants, from which a value is computed."""
        op, operands = self.tape.operations[k], self.tape.operands[k]
        if op is Op.INPUT:
            return []
        given = operands[: OPERATION_ARITY[op]]
        if k in self.fused:
            given = [*self.tape.operands[self.fused[k].product][:2], self.fused[k].other]
        found = dict.fromkeys(given)
        return [x for x in found if self.tape.operations[x] is not Op.CONSTANT]

    def text(self, k: int) -> str:
        """The name of a value, or its number."""
        if k in self.returned:
            return self.returned[k]
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
            port, entry = operands[:2]
            return _write_entry(self.names[port], entry)
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


def _write_home(home: int) -> str:
    return f"lw_homes[{home * HOME_BLOCK}]"


def _registers(precision: str) -> int:
    """The registers of a value."""
    return 1 if precision == "float" else 2
