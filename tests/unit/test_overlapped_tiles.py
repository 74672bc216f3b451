"""Large outputs that leave between the arithmetic of the next block: every entry of every state, and nothing else.

The expected numbers are products of two inputs by NumPy, which have one rounding each and must agree bit for bit, and
Pinocchio's mass matrix.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.readings.llvm import compile_tape
from linkwright.readings.llvm.fused_block import FusedBlockIrEmitter
from linkwright.readings.llvm.output_tiles import find_constant_tiles
from linkwright.readings.llvm.overlapped_tiles import spread_groups
from linkwright.readings.llvm.tape_ir import DOUBLE_PRECISION, TapeIrEmitter
from linkwright.readings.llvm.ufunc_loop import UfuncLoopIrWriter
from linkwright.tape import Tape, record_tape
from tests.robots import Robot, path_of
from tests.targets import TARGETS, target

SIZE = 16
ZEROS, SEVENS = np.s_[4:7, :], np.s_[12:, 8:]


def sparse_products() -> Tape:
    """x yᵀ, with zeros in whole tiles and in parts, a symmetric corner and another constant; and a small output."""
    x, y = ca.SX.sym("x", SIZE), ca.SX.sym("y", SIZE)
    product = x @ y.T
    product[ZEROS], product[SEVENS] = 0, 7
    product[0, 1], product[1, 0] = product[2, 3], product[2, 3]
    return record_tape(ca.Function("f", [x, y], [product, x * y]))


def expected_products(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same by NumPy."""
    product = x[:, :, None] * y[:, None, :]
    product[:, *ZEROS], product[:, *SEVENS] = 0, 7
    product[:, 0, 1] = product[:, 1, 0] = product[:, 2, 3]
    return product, x * y


def random_states(count: int) -> np.ndarray:
    return np.random.default_rng(count).uniform(-3, 3, (2, count, SIZE))


def row_room(count: int, entries: int, lead: int, gap: int) -> tuple[np.ndarray, np.ndarray]:
    """Memory full of nines that begins with a cache line, and rows in it, `gap` entries apart, from entry `lead` on."""
    memory = np.full(lead + count * (entries + gap) + 24, 9.0)
    memory = memory[-memory.ctypes.data // 8 % 8 :]
    rows = memory[lead : lead + count * (entries + gap)].reshape(count, entries + gap)
    return memory, rows[:, :entries]


def test_the_example_is_overlapped_where_vectors_have_eight_lanes() -> None:
    """Otherwise the tests below would show nothing."""
    emitter = FusedBlockIrEmitter(sparse_products(), target("avx512"), DOUBLE_PRECISION)
    assert [overlap.lead for overlap in emitter.overlaps] == [0, 6]
    assert 1 < emitter.overlaps[0].count < emitter.plan.count_whole_tiles(0)
    assert not FusedBlockIrEmitter(sparse_products(), target("avx2"), DOUBLE_PRECISION).overlaps


def test_code_suits_machines_that_execute_vectors_in_halves() -> None:
    """Measured on two processors: 32 tiles and one block on Zen 4, 64 tiles and three blocks where vectors are whole."""
    model = lw.compile(Robot(path_of("talos_reduced.urdf"), free=False).mechanism)
    mass_matrix, derivatives = (
        model.tape(name) for name in ("mass_matrix", "inverse_dynamics_derivatives")
    )
    counts = []
    for machine in (target("avx512"), replace(target("avx512"), cpu="znver4")):
        (overlap, _) = FusedBlockIrEmitter(mass_matrix, machine, DOUBLE_PRECISION).overlaps
        loop = UfuncLoopIrWriter(TapeIrEmitter(derivatives, machine, DOUBLE_PRECISION))
        counts.append((overlap.count, loop.blocks))
    assert counts == [(64, 3), (32, 1)]


@pytest.mark.parametrize("level", TARGETS)
def test_batches_of_all_lengths_at_all_places(level: str | None) -> None:
    """All leads, and rows that are apart by whole cache lines, by parts of them, and not at all."""
    function = compile_tape(sparse_products(), target=target(level), threads=1)
    for count in (*range(1, 41), 64):
        x, y = random_states(count)
        wanted, small = expected_products(x, y)
        for lead in range(8) if count in (8, 17, 24, 40) else (0, 6):
            for gap in (0, 8, 3):
                memory, rows = row_room(count, SIZE * SIZE, lead, gap)
                out = np.lib.stride_tricks.as_strided(
                    rows, (count, SIZE, SIZE), (rows.strides[0], 8 * SIZE, 8)
                )
                _, found = function(x, y, out, np.empty_like(x))
                np.testing.assert_array_equal(out, wanted)
                np.testing.assert_array_equal(found, small)
                rows[...] = 9
                assert (memory == 9).all(), "something beside the rows was written"


@pytest.mark.parametrize("level", TARGETS)
def test_nan_and_infinity_stay_in_their_states(level: str | None) -> None:
    function = compile_tape(sparse_products(), target=target(level), threads=1)
    x, y = random_states(40)
    x[13, 2], y[21, 5], x[39] = np.nan, np.inf, np.nan
    with np.errstate(invalid="ignore"):
        wanted, small = expected_products(x, y)
        found = function(x, y)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], small)


def test_rows_in_any_order_and_columns() -> None:
    function = compile_tape(sparse_products(), threads=1)
    x, y = random_states(40)
    wanted, _ = expected_products(x, y)
    small = np.empty_like(x)
    for layout in (np.s_[::-1], np.s_[:, ::-1], np.s_[:, :, ::2]):
        out = np.full((40, SIZE, 2 * SIZE if layout == np.s_[:, :, ::2] else SIZE), 9.0)[layout]
        function(x, y, out, small)
        np.testing.assert_array_equal(out, wanted)
    columns = np.empty((SIZE, SIZE, 40)).transpose(2, 0, 1)
    function(x, y, columns, small)
    np.testing.assert_array_equal(columns, wanted)


def test_outputs_may_overlap_inputs() -> None:
    """NumPy copies inputs that outputs overlap; the small output is exactly an input."""
    function = compile_tape(sparse_products(), threads=1)
    x, y = random_states(40)
    wanted, small = expected_products(x, y)
    memory = np.empty((40, SIZE * SIZE))
    inside = memory[:, :SIZE]
    inside[...] = x
    function(inside, y, memory.reshape(40, SIZE, SIZE), y)
    np.testing.assert_array_equal(memory.reshape(40, SIZE, SIZE), wanted)
    np.testing.assert_array_equal(y, small)


@pytest.mark.parametrize("level", TARGETS)
def test_several_large_outputs_with_different_leads(level: str | None) -> None:
    x, y = ca.SX.sym("x", SIZE), ca.SX.sym("y", SIZE)
    product = x @ y.T
    tape = record_tape(ca.Function("f", [x, y], [product, 2 * product, x]))
    function = compile_tape(tape, target=target(level), threads=1)
    states = random_states(33)
    wanted = states[0][:, :, None] * states[1][:, None, :]
    for leads in ((0, 0), (6, 6), (0, 6), (6, 0), (6, 3), (1, 1)):
        outs = [row_room(33, SIZE * SIZE, lead, 0)[1].reshape(33, SIZE, SIZE) for lead in leads]
        function(*states, *outs, np.empty((33, SIZE)))
        np.testing.assert_array_equal(outs[0], wanted)
        np.testing.assert_array_equal(outs[1], 2 * wanted)


@pytest.mark.parametrize("level", TARGETS)
def test_outputs_without_arithmetic(level: str | None) -> None:
    """Constants and copies of inputs alone: there is nothing between which tiles could leave."""
    x = ca.SX.sym("x", SIZE)
    numbers = np.arange(SIZE * SIZE).reshape(SIZE, SIZE) / 8
    tape = record_tape(ca.Function("f", [x], [ca.SX(numbers), ca.repmat(x.T, SIZE, 1)]))
    function = compile_tape(tape, target=target(level), threads=1)
    x = random_states(35)[0]
    found = function(x)
    np.testing.assert_array_equal(found[0], np.broadcast_to(numbers, found[0].shape))
    np.testing.assert_array_equal(found[1], np.broadcast_to(x[:, None], found[1].shape))


def test_threads_begin_in_the_middle_of_an_array() -> None:
    tape = sparse_products()
    count = 2 * 2_000_000 // len(tape) + 13
    x, y = random_states(count)
    found, small = compile_tape(tape, threads=2)(x, y)
    wanted = expected_products(x, y)
    np.testing.assert_array_equal(found, wanted[0])
    np.testing.assert_array_equal(small, wanted[1])


@pytest.mark.parametrize("level", TARGETS)
def test_mass_matrices_are_pinocchios_and_those_of_single_states(level: str | None) -> None:
    """Single states do not overlap. Tolerance: rounding of sums of 32 bodies, relative to the largest entry."""
    robot = Robot(path_of("talos_reduced.urdf"), free=False)
    model = lw.compile(robot.mechanism, target=target(level), threads=1)
    q = np.random.default_rng(4).uniform(-1, 1, (41, model.nv))
    names = list(model.q_names)
    order = [names.index(name) for name in list(robot.pin.names)[1:]]
    single = np.array([model.mass_matrix(state) for state in q])
    for lead in (0, 6, 2):
        out = row_room(41, model.nv**2, lead, 0)[1].reshape(41, model.nv, model.nv)
        model.mass_matrix(q, out=out)
        np.testing.assert_array_equal(out, single)
    for state, found in zip(q, single, strict=True):
        theirs = np.triu(pin.crba(robot.pin, robot.data, state[order]))
        ours = np.triu(found[np.ix_(order, order)])
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())


def test_constant_tiles_for_every_lead() -> None:
    """By hand: slots 5 and 6 are constants; the run of fives is 9 long from entry 3 on."""
    slots = [0, 1, 2, *[5] * 9, 6, 6, 6, 6]
    assert find_constant_tiles(slots, {5, 6}, 4, 0, 3) == [False, True, True]
    assert find_constant_tiles(slots, {5, 6}, 4, 1, 3) == [False, True, False]
    assert find_constant_tiles(slots, {5, 6}, 4, 3, 3) == [True, True, False]
    assert find_constant_tiles(slots, {6}, 4, 0, 4) == [False, False, False, True]


def test_all_groups_are_among_the_lines() -> None:
    assert spread_groups(["a", "b"], [["1"], ["2"], ["3"]]) == ["a", "1", "b", "2", "3"]
    assert spread_groups([], [["1"], ["2"]]) == ["1", "2"]
