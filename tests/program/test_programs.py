"""Programs mean the same in Python and on lanes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from linkwright.program import (
    Buffer,
    IntBuffer,
    Procedure,
    Size,
    Vector,
    matrix,
    read_buffer_row,
    read_program,
    record,
    scratch,
    take_ticket,
    unroll,
    vector,
    write_buffer_row,
)
from linkwright.program.expression_reader import ProgramSyntaxError
from linkwright.readings.llvm import compile_procedure, compile_program, compile_tape
from linkwright.tape import record_expression_tape

SIZES = (1, 3, 8, 29)
"""Numbers of points: fewer than lanes, as many, more, and no multiple."""


def compile_function(function, **constants):
    return compile_program(
        lambda: read_program(function, **constants), (function.__name__, constants)
    )


# -- programs --------------------------------------------------------------------------------------


def square_roots(ticket: IntBuffer, count: IntBuffer, given: Buffer, found: Buffer) -> None:
    """Newton's method, each lane as long as it needs."""
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        a = given[k]
        x = a
        steps = 0
        while abs(x * x - a) > 1e-14 * a and steps < 60:
            x = x - (x * x - a) / (2.0 * x)
            steps += 1
        found[2 * k] = x
        found[2 * k + 1] = steps


def collatz(ticket: IntBuffer, count: IntBuffer, given: IntBuffer, found: IntBuffer) -> None:
    """Branches and nested loops whose lanes part at once."""
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        number = given[k]
        length = 0
        halvings = 0
        highest = number
        while True:
            if number == 1:
                break
            if number % 2 == 0:
                number = number // 2
                halvings += 1
            else:
                number = 3 * number + 1
            if number > highest:
                highest = number
            length += 1
        found[3 * k] = length
        found[3 * k + 1] = highest
        found[3 * k + 2] = halvings


def sort_rows(
    ticket: IntBuffer, count: IntBuffer, sizes: IntBuffer, rows: Buffer, medians: Buffer
) -> None:
    """Insertion by indices that differ from lane to lane."""
    n: Size = sizes[0]
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        row = vector(n)
        read_buffer_row(rows, n * k, row)
        for i in range(1, n):
            value = row[i]
            j = i
            while j > 0:
                if row[j - 1] <= value:
                    break
                row[j] = row[j - 1]
                j -= 1
            row[j] = value
        write_buffer_row(rows, n * k, row)
        medians[k] = row[n // 2]


def horner(coefficients: tuple[float, ...], x: float) -> float:
    total = 0.0
    for c in unroll(range(len(coefficients) - 1, -1, -1)):
        total = total * x + coefficients[c]
    return total


def add_columns(rows: Size, n: Size, m: Vector, total: Vector) -> tuple[float, float]:
    """Fill the sums of the columns; return the least and the largest."""
    least = math.inf
    largest = -math.inf
    for j in range(n):
        total[j] = 0.0
        for i in range(rows):
            total[j] = total[j] + m[i, j]
        least = min(least, total[j])
        largest = max(largest, total[j])
    return least, largest


def mixed(
    ticket: IntBuffer, count: IntBuffer, sizes: IntBuffer, given: Buffer, found: Buffer, tape: Procedure,
    table: tuple[float, ...],
) -> None:  # fmt: skip
    """Calls of programs and tapes, matrices, choices, tables of constants."""
    n: Size = sizes[0]
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        x = given[k]
        m = matrix(3, n)
        total = scratch(n)
        for j in range(n):
            m[0, j] = x * float(j)
            m[1, j] = 1.0 if x > 0.0 and j != 1 else -2.0
        tape(x, m[1], m[2])
        least, largest = add_columns(3, n, m, total)
        value = horner(table, x)
        if len(table) > 2:
            value = value + 100.0
        found[3 * k] = least
        found[3 * k + 1] = largest
        found[3 * k + 2] = math.sqrt(abs(value)) if math.isfinite(value) else -1.0


@record
class Particle:
    """Numbers and a vector of one lane."""

    index: int
    is_fast: bool
    t: float
    x: Vector


@record
class ParticleBuffers:
    """Buffers of all lanes."""

    ticket: IntBuffer
    count: IntBuffer
    given: Buffer
    found: Buffer


@dataclass(frozen=True)
class Mover:
    """Programs as methods of a constant."""

    step: float

    def move(self, n: Size, particle: Particle) -> float:
        """Change the record; return how far it has moved."""
        way = 0.0
        for i in range(n):
            particle.x[i] = particle.x[i] + self.step
            way = way + self.step
        particle.t += self.step
        particle.is_fast = particle.x[0] > 2.0
        return way


def move_particles(buffers: ParticleBuffers, mover: Mover) -> None:
    """Records that programs change, in a loop that lanes leave at different times."""
    n: Size = 2
    particle = Particle(index=0, is_fast=False, t=0.0, x=vector(n))
    while True:
        place = take_ticket(buffers.ticket)
        if place >= buffers.count[0]:
            break
        particle.index = place
        particle.t = 0.0
        particle.x[0] = buffers.given[place]
        particle.x[1] = 0.0
        way = 0.0
        particle.is_fast = False
        while not particle.is_fast:
            moved = mover.move(n, particle)
            way = way + moved
        buffers.found[3 * particle.index] = particle.t
        buffers.found[3 * particle.index + 1] = particle.x[1]
        buffers.found[3 * particle.index + 2] = way


def powers_and_sums(ticket: IntBuffer, count: IntBuffer, given: Buffer, found: Buffer) -> None:
    """A counter that is unrolled first, and counts a loop of the machine then: 6 x³ + 0 + 1 + 2 + 3."""
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        total = 1.0
        for i in unroll(range(1, 4)):
            total = total * given[k] * float(i)
        for i in range(4):
            total = total + float(i)
        found[k] = total


# -- tests -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", SIZES)
def test_lanes_leave_loops_by_themselves(count: int) -> None:
    given = np.random.default_rng(count).uniform(1e-3, 1e4, count)
    results = []
    for run in (compile_function(square_roots), square_roots):
        found = np.zeros((count, 2))
        run(np.zeros(1, np.int64), np.array([count]), given, found.reshape(-1))
        results.append(found)
    np.testing.assert_allclose(results[0][:, 0], np.sqrt(given), rtol=2e-15)
    assert np.abs(results[0][:, 1] - results[1][:, 1]).max() <= 1  # rounding may cost a step


@pytest.mark.parametrize("count", SIZES)
def test_nested_branches_and_breaks(count: int) -> None:
    given = np.arange(1, count + 1)
    results = []
    for run in (compile_function(collatz), collatz):
        found = np.zeros((count, 3), np.int64)
        run(np.zeros(1, np.int64), np.array([count]), given, found.reshape(-1))
        results.append(found)
    np.testing.assert_array_equal(results[0], results[1])
    if count >= 27:
        assert tuple(results[0][26, :2]) == (111, 9232)  # OEIS A006577, A025586


def test_counters_of_unrolled_loops_count_other_loops() -> None:
    given = np.array([1.0, 2.0, -3.0])
    for run in (compile_function(powers_and_sums), powers_and_sums):
        found = np.zeros(3)
        run(np.zeros(1, np.int64), np.array([3]), given, found)
        np.testing.assert_allclose(found, 6 * given**3 + 6, rtol=1e-15)


@pytest.mark.parametrize("count", SIZES)
def test_indices_may_differ_from_lane_to_lane(count: int) -> None:
    rows = np.random.default_rng(5).normal(size=(count, 7))
    found, medians = rows.copy(), np.zeros(count)
    run = compile_function(sort_rows)
    run(np.zeros(1, np.int64), np.array([count]), np.array([7]), found.reshape(-1), medians)
    np.testing.assert_array_equal(found, np.sort(rows, axis=1))
    np.testing.assert_array_equal(medians, np.median(rows, axis=1))


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("table", [(1.0, 2.0), (0.5, -1.0, 3.0)])
def test_programs_call_programs_and_tapes(count: int, table: tuple[float, ...]) -> None:
    import casadi as ca

    x, v = ca.SX.sym("x"), ca.SX.sym("v", 4)
    tape = record_expression_tape(
        "waves", [("x", x, (1,)), ("v", v, (4,))], [("w", ca.sin(x) * v + ca.cos(v), (4,))]
    )
    given = np.random.default_rng(count).normal(size=count)
    results = []
    for run, code in (
        (compile_function(mixed, table=table), compile_procedure(tape)),
        (lambda *a: mixed(*a, table=table), Procedure(tape, compile_tape(tape, threads=1))),
    ):
        found = np.full((count, 3), np.nan)
        run(np.zeros(1, np.int64), np.array([count]), np.array([4]), given, found.reshape(-1), code)
        results.append(found)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-14, atol=1e-14)
    assert np.isfinite(results[0]).all()


@pytest.mark.parametrize("count", SIZES)
def test_programs_change_the_records_that_they_are_given(count: int) -> None:
    given = np.random.default_rng(count).uniform(-3, 3, count)
    mover, results = Mover(0.25), []
    compiled = compile_function(move_particles, mover=mover)
    for run in (compiled, lambda *a: move_particles(ParticleBuffers(*a), mover)):
        found = np.zeros((count, 3))
        run(np.zeros(1, np.int64), np.array([count]), given, found.reshape(-1))
        results.append(found)
    np.testing.assert_array_equal(results[0], results[1])
    steps = np.maximum(np.floor((2.0 - given) / 0.25) + 1, 1)
    np.testing.assert_array_equal(results[0], 0.25 * steps[:, None] * [1, 1, 2])


def copy_outputs(given: Buffer, found: Buffer, tape: Procedure) -> None:
    """A tape with many outputs."""
    outputs = scratch(50)
    tape(given[0], outputs)
    write_buffer_row(found, 0, outputs)


@pytest.mark.parametrize("is_single", [True, False])
def test_tapes_of_one_lane_and_of_many_have_the_same_outputs(is_single: bool) -> None:
    """Many constants, functions of libm, logic, sines of huge numbers."""
    import casadi as ca

    x = ca.SX.sym("x")
    values = [ca.tanh(x), ca.sin(1e9 * x), ca.if_else(x > 0, ca.fmin(x, 0.1), ca.sign(x)), x**3]
    outputs = ca.vertcat(*values, *map(float, range(46)))
    tape = record_expression_tape("many", [("x", x, (1,))], [("y", outputs, (50,))])
    run = compile_program(
        lambda: read_program(copy_outputs), ("copy_outputs",), is_single=is_single
    )
    given, found = np.array([0.3]), np.zeros(50)
    run(given, found, compile_procedure(tape, is_single=is_single))
    exact = [math.tanh(0.3), math.sin(1e9 * 0.3), 0.1, 0.3**3, *range(46)]
    np.testing.assert_allclose(found, exact, rtol=1e-15)


def evaluate_tape(
    ticket: IntBuffer, count: IntBuffer, given: Buffer, found: Buffer, tape: Procedure
) -> None:
    """A tape with two outputs at many points."""
    outputs = scratch(2)
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        tape(given[k], outputs)
        write_buffer_row(found, 2 * k, outputs)


@pytest.mark.parametrize("is_single", [True, False])
def test_sines_and_cosines_have_two_units_of_rounding(is_single: bool) -> None:
    import casadi as ca
    import mpmath

    x = ca.SX.sym("x")
    tape = record_expression_tape(
        "waves", [("x", x, (1,))], [("y", ca.vertcat(ca.sin(x), ca.cos(x)), (2,))]
    )
    rng = np.random.default_rng(1)
    near = np.pi / 2 * np.arange(-20, 21)
    given = np.concatenate([rng.uniform(-4, 4, 400), rng.uniform(-1e6, 1e6, 200), near, [1e-9]])
    found = np.zeros((len(given), 2))
    run = compile_program(lambda: read_program(evaluate_tape), ("waves",), is_single=is_single)
    counts = np.zeros(1, np.int64), np.array([len(given)])
    run(*counts, given, found.reshape(-1), compile_procedure(tape, is_single=is_single))
    with mpmath.workdps(40):
        for value, pair in zip(given.tolist(), found.tolist(), strict=True):
            for own, exact in zip(pair, (mpmath.sin(value), mpmath.cos(value)), strict=True):
                assert abs(own - exact) <= 2 * np.spacing(abs(float(exact)))


def with_a_missing_field(given: Buffer) -> None:
    particle = Particle(index=0, t=given[0])  # type: ignore[call-arg]
    given[0] = particle.t


def with_a_list(given: Buffer) -> None:
    x = [given[0]]
    given[0] = x[0]


def with_a_changed_kind(given: Buffer) -> None:
    x = 1
    x = 2.5
    given[0] = x


def with_an_unknown_function(given: Buffer) -> None:
    given[0] = math.gamma(given[0])


def with_a_step(given: Buffer) -> None:
    for i in range(0, 4, 2):
        given[i] = 0.0


def with_a_break_in_for(given: Buffer) -> None:
    for i in range(4):
        if given[i] > 0.0:
            break


def with_three_compared(given: Buffer) -> None:
    given[0] = min(given[0], given[1], given[2])


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (with_a_missing_field, "all fields"),
        (with_a_list, "do not support this expression"),
        (with_a_step, "range"),
        (with_a_break_in_for, "break"),
        (with_three_compared, "two numbers"),
        (with_a_changed_kind, "float is used as int"),
        (with_an_unknown_function, "do not support this function"),
    ],
)
def test_what_is_not_in_the_language_is_named(function: object, reason: str) -> None:
    with pytest.raises(ProgramSyntaxError, match=reason):
        read_program(function)  # type: ignore[arg-type]
