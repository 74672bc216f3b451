"""How near compiled functions come to the two floors of this machine.

    python benchmarks/floors.py [--seconds 1]

The floor of memory is half of the time in which NumPy copies the inputs, and the time in which it
fills the outputs. NumPy fills with stores of a few bytes; in brackets is the time with the C
library's memset, which is the lower floor. The floor of arithmetic is the vector instructions of a
function over the rates at which independent instructions of their kinds are executed, alone and
together: processors have units of their own for products (fused with a sum or not), for sums and
for quotients. A sine and cosine count 18 products, 2 sums and 16 operations on bits. A quotient
takes half of the multiplier's time: 31 products and a quotient take as long as 31 products and half
a quotient. Loads, stores and the transposing of rows are not counted: they keep a function from its
floor. "Outputs alone" is the time of a function of one input with outputs of the same pattern:
constants where the function has constants, and for each other number that it has once or several
times the sum of the input and a constant. One thread, float64, rows (B, n), best of many.
"""

from __future__ import annotations

import argparse
import ctypes
from dataclasses import dataclass

import numpy as np
from timing import best

from linkwright.ports import Port
from linkwright.quantities import quantity_ports
from linkwright.readings.llvm import compile_tape
from linkwright.readings.llvm.fused_multiply_add import find_machine_fused_multiply_adds
from linkwright.tape import Op, Tape, share_tape_reciprocals
from linkwright.tape.writer import TapeWriter
from robots import Robot, robots

BATCH_BYTES = {"in cache": 512 << 10, "4 MiB": 4 << 20}
"""Bytes of inputs and outputs: within the second cache of most processors, and beyond it."""

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives")


@dataclass(frozen=True)
class Floors:
    """Times for a state, in ns."""

    memory: float
    memset_memory: float
    arithmetic: float
    measured: float
    outputs_alone: float

    @property
    def share(self) -> float:
        """The larger floor over the measured time."""
        return max(self.memory, self.arithmetic) / self.measured

    @property
    def bound(self) -> str:
        """What the larger floor is made of."""
        return "memory" if self.memory > self.arithmetic else "arithmetic"

    @property
    def memset_share(self) -> float:
        """The larger floor over the measured time, with the time of memset."""
        return max(self.memset_memory, self.arithmetic) / self.measured

    @property
    def verdict(self) -> str:
        """The share and what the floor is made of; both shares where memory is the larger floor."""
        if self.bound == "arithmetic":
            return f"**{100 * self.share:.0f} %** (arithmetic)"
        return f"**{100 * self.share:.0f} %** (memory; {100 * self.memset_share:.0f} % of memset)"


@dataclass(frozen=True)
class InstructionCounts:
    """Vector instructions of a function that are left when products and sums have been fused."""

    products: int
    sums: int
    quotients: int
    others: int

    @classmethod
    def of_tape(cls, tape: Tape) -> InstructionCounts:
        """Count the instructions of a tape."""
        _, gone = find_machine_fused_multiply_adds(tape)
        angles = {tape.operands[k][0] for k in np.flatnonzero(np.isin(tape.ops, (Op.SIN, Op.COS)))}

        def count(*kinds: Op) -> int:
            return int(np.isin(tape.ops, kinds).sum())

        free = count(Op.INPUT, Op.CONSTANT, Op.NEG, Op.SIN, Op.COS)
        quotients = count(Op.DIV, Op.SQRT)
        # each fused product goes, and the sum that it is fused into becomes a product
        products = count(Op.MUL, Op.FMA)
        sums = count(Op.ADD, Op.SUB) - len(gone)
        others = len(tape.ops) - free - quotients - products - sums - len(gone)
        return cls(
            products + 18 * len(angles),
            sums + 2 * len(angles),
            quotients,
            others + 16 * len(angles),
        )


@dataclass(frozen=True)
class IssueRates:
    """Vector instructions × states a nanosecond, of each kind alone and of two kinds in turn."""

    products: float
    sums: float
    quotients: float
    together: float

    @classmethod
    def measure(cls, seconds: float) -> IssueRates:
        """Measure the rates of this machine."""
        return cls(
            _measure_issue_rate([Op.FMA], seconds),
            _measure_issue_rate([Op.ADD], seconds),
            _measure_issue_rate([Op.DIV], seconds),
            _measure_issue_rate([Op.FMA, Op.ADD], seconds),
        )

    def least_time(self, counts: InstructionCounts) -> float:
        """Return the least time for a state, in ns."""
        quotients = counts.quotients / self.quotients
        total = counts.products + counts.sums + counts.others
        return max(
            counts.products / self.products + quotients / 2,
            quotients,
            counts.sums / self.sums,
            total / self.together + quotients / 2,
        )


def _measure_issue_rate(kinds: list[Op], seconds: float) -> float:
    """Measure 16 independent chains, which alternate operations of these kinds."""
    writer, width, length, batch = TapeWriter(), 16, 128, 2048
    values = [writer.write_instruction(Op.INPUT, 0, i) for i in range(width)]
    one, tiny = writer.write_constant(1.000001), writer.write_constant(0.000001)
    for k in range(length):
        kind = kinds[k % len(kinds)]
        for n, value in enumerate(values):  # a quotient by a constant would become a product
            operands = {
                Op.FMA: (value, one, tiny), Op.ADD: (value, tiny), Op.DIV: (one, value),
            }[kind]  # fmt: skip
            values[n] = writer.write_instruction(kind, *operands)
    port = Port("x", (width,))
    tape = writer.finish_tape("peak", [port], [port], [np.array(values, np.int32)])
    function = compile_tape(tape, threads=1)
    states, out = np.ones((batch, width)), np.empty((batch, width))
    (least,) = best(lambda: function(states, out), seconds=seconds)
    return width * length * batch / (1e9 * least)


def outputs_alone_tape(tape: Tape) -> Tape:
    """Return a tape with the outputs of another: its constants, and a sum for each other value."""
    writer = TapeWriter()
    given = writer.write_instruction(Op.INPUT, 0, 0)
    names = {}
    for n, value in enumerate(sorted({v for result in tape.results for v in result.tolist()})):
        is_constant = tape.ops[value] == Op.CONSTANT
        number = writer.write_constant(float(tape.constants[value]) if is_constant else 1.0 + n)
        names[value] = number
        if not is_constant:
            names[value] = writer.write_instruction(Op.ADD, given, number)
    results = [np.array([names[v] for v in r.tolist()], np.int32) for r in tape.results]
    return writer.finish_tape("outputs", [Port("x", (1,))], list(tape.outputs), results)


def measure_floors(robot: Robot, name: str, size: int, rates: IssueRates, seconds: float) -> Floors:
    """Return the floors of a function on batches of `size` bytes, and its time."""
    inputs, outputs = quantity_ports(robot.model.names, name)
    numbers = sum(port.size for port in (*inputs, *outputs))
    batch = max(8, size // (8 * numbers) // 8 * 8)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, (batch, *port.shape)) for port in inputs]
    arrays += [np.empty((batch, *port.shape)) for port in outputs]
    function = robot.model.ufunc(name)
    read, copied = (np.ones(batch * sum(port.size for port in inputs)) for _ in range(2))
    alone = compile_tape(outputs_alone_tape(robot.model.tape(name)), threads=1)
    values = np.ones((batch, 1))
    time, copy, fill, memset, written = best(
        lambda: function(*arrays),
        lambda: np.copyto(copied, read),
        lambda: [array.fill(1.0) for array in arrays[len(inputs) :]],
        lambda: [ctypes.memset(a.ctypes.data, 0, a.nbytes) for a in arrays[len(inputs) :]],
        lambda: alone(values, *arrays[len(inputs) :]),
        seconds=seconds,
    )
    arithmetic = rates.least_time(
        InstructionCounts.of_tape(share_tape_reciprocals(robot.model.tape(name)))
    )
    fills = [1e9 * (copy / 2 + one) / batch for one in (fill, memset)]
    return Floors(fills[0], min(fills), arithmetic, 1e9 * time / batch, 1e9 * written / batch)


def floor_table(seconds: float) -> str:
    """Return a table with a row for each robot and function."""
    rates = IssueRates.measure(seconds)
    head = ["robot", "function"]
    for place in BATCH_BYTES:
        head += [f"{place}: ns", "memory", "outputs alone", "arithmetic", "share of the larger"]
    lines = [head, ["---"] * len(head)]
    for robot in robots():
        for name in FUNCTIONS if robot.model.nv < 50 else FUNCTIONS[:2]:
            cells = [robot.name, name.replace("_", " ")]
            for size in BATCH_BYTES.values():
                found = measure_floors(robot, name, size, rates, seconds)
                cells += [
                    f"{found.measured:.1f}", f"{found.memory:.1f} ({found.memset_memory:.1f})",
                    f"{found.outputs_alone:.1f}", f"{found.arithmetic:.1f}", found.verdict,
                ]  # fmt: skip
            lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    print(floor_table(parser.parse_args().seconds))


if __name__ == "__main__":
    main()
