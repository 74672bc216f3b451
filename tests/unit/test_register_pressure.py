"""Orders of instructions that need few registers."""

from __future__ import annotations

import numpy as np

import linkwright as lw
from linkwright.ports import Port
from linkwright.readings.llvm import compile_tape
from linkwright.tape import Op
from linkwright.tape.register_pressure import (
    count_live_values,
    fit_tape_to_registers,
    shorten_live_ranges,
)
from linkwright.tape.writer import TapeWriter


def test_a_sum_of_squares_needs_two_values_at_a_time() -> None:
    writer = TapeWriter()
    entries = [writer.write_instruction(Op.INPUT, 0, k) for k in range(8)]
    squares = [writer.write_instruction(Op.MUL, x, x) for x in entries]
    total = squares[0]
    for square in squares[1:]:
        total = writer.write_instruction(Op.ADD, total, square)
    results = [np.array([total, entries[0]], np.int32)]
    tape = writer.finish_tape("f", [Port("x", (8,))], [Port("y", (2,))], results)
    short = shorten_live_ranges(tape)
    assert (count_live_values(tape), count_live_values(short)) == (8, 2)
    x = np.arange(1.0, 9.0)
    np.testing.assert_array_equal(compile_tape(short)(x), [204.0, 1.0])


def test_the_other_order_computes_the_same() -> None:
    model = lw.compile(lw.gallery("seven-axis"))
    tape = model.tape("inverse_dynamics")
    short = fit_tape_to_registers(tape, 10)
    assert count_live_values(short) < count_live_values(tape)
    assert fit_tape_to_registers(tape, count_live_values(tape)) is tape
    given = np.random.default_rng(0).uniform(-1, 1, (3, 7))
    found, wanted = compile_tape(short)(*given), compile_tape(tape)(*given)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
