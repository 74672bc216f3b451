"""Tapes as WebAssembly, in Node: every operation by its meaning, random tapes, all angles."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.ports import Port
from linkwright.readings.wasm import WasmWriter
from linkwright.tape import OPERATION_ARITY, Op, Tape
from linkwright.tape.writer import TapeWriter
from tests.node import NodeCall, call_module, needs_node
from tests.operation_tapes import OPERATIONS, each_operation, operation_tape, quarters, reference
from tests.tapes import every_operation, run

pytestmark = needs_node

STATES = 9
INPUT, OUTPUT = 1024, 65536


def evaluate(tape: Tape, states: np.ndarray, *, module: bytes | None = None) -> np.ndarray:
    """The output of a tape with one input and one output, in Node."""
    writer = WasmWriter([tape])
    writer.module.export_function("f", writer.add_tape(tape))
    bytes_ = writer.module.finish(1 << 20, 1 << 19) if module is None else module
    like = np.zeros(tape.outputs[0].shape)
    calls = [NodeCall("f", (INPUT, OUTPUT), {INPUT: x}, {OUTPUT: like}) for x in states]
    return np.array([found for (found,) in call_module(bytes_, calls)])


@pytest.fixture(scope="module")
def operations() -> dict[Op, tuple[np.ndarray, np.ndarray]]:
    """Values of every operation by its meaning and in Node, by one start of Node."""
    tapes = {op: [operation_tape(op, seed) for seed in range(4)] for op in OPERATIONS}
    every = [tape for some in tapes.values() for tape in some]
    writer = WasmWriter(every)
    for k, tape in enumerate(every):
        writer.module.export_function(f"f{k}", writer.add_tape(tape))
    states, like = quarters(STATES), np.zeros(5)
    calls = [
        NodeCall(f"f{k}", (INPUT, OUTPUT), {INPUT: x}, {OUTPUT: like})
        for k in range(len(every))
        for x in states
    ]
    found = np.array(call_module(writer.module.finish(1 << 20, 1 << 19), calls))
    found = found.reshape(len(OPERATIONS), 4, STATES, 5)
    return {
        op: (np.array([reference(tape, states) for tape in tapes[op]]), found[k])
        for k, op in enumerate(tapes)
    }


@each_operation
def test_module_computes_it(op: Op, operations: dict[Op, tuple[np.ndarray, np.ndarray]]) -> None:
    wanted, found = operations[op]
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)


def test_tape_of_all_operations_agrees_with_numpy() -> None:
    tape, states = every_operation()
    (wanted,) = run(tape, states)
    np.testing.assert_allclose(evaluate(tape, states), wanted, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_random_tapes_reuse_locals_only_after_the_last_use(seed: int) -> None:
    """Hundreds of values with random operands: an overwritten local would change a result."""
    rng = np.random.default_rng(seed)
    writer = TapeWriter()
    values = [writer.write_instruction(Op.INPUT, 0, k) for k in range(4)]
    values.append(writer.write_constant(0.75))
    smooth = (Op.ADD, Op.SUB, Op.MUL, Op.SIN, Op.COS, Op.TANH, Op.MIN, Op.LT, Op.SELECT, Op.SIGN)
    for _ in range(400):
        op = smooth[rng.integers(len(smooth))]
        recent = values[-40:] if rng.integers(2) else values
        given = [int(rng.choice(recent)) for _ in range(OPERATION_ARITY[op])]
        value = writer.write_instruction(op, *given)
        values.append(writer.write_instruction(Op.TANH, value))  # bounded
    results = np.array([*rng.choice(values, 30), values[4], values[0]], np.int32)
    port = Port("y", (len(results),))
    tape = writer.finish_tape("f", [Port("x", (4,))], [port], [results])
    states = rng.uniform(-2, 2, (5, 4))
    (wanted,) = run(tape, states)
    np.testing.assert_allclose(evaluate(tape, states), wanted, rtol=1e-9, atol=1e-11)


def test_sine_and_cosine_of_all_sizes_of_arguments() -> None:
    writer = TapeWriter()
    x = writer.write_instruction(Op.INPUT, 0, 0)
    results = [writer.write_instruction(Op.SIN, x), writer.write_instruction(Op.COS, x)]
    tape = writer.finish_tape(
        "f", [Port("x", (1,))], [Port("y", (2,))], [np.array(results, np.int32)]
    )
    rng = np.random.default_rng(0)
    sizes = 2.0 ** rng.uniform(-30, 40, 300)
    states = np.concatenate(
        [sizes * rng.choice([-1, 1], 300), [0.0, -0.0, np.inf, -np.inf, np.nan]]
    )
    with np.errstate(invalid="ignore"):
        wanted = np.stack([np.sin(states), np.cos(states)], axis=1)
    found = evaluate(tape, states[:, None])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2.3e-16)  # results are at most 1
    small = np.abs(wanted) > 1e-300
    np.testing.assert_array_less(
        np.abs(found - wanted)[small], 5e-16 * np.abs(wanted[small]) + 1e-40
    )
    assert np.signbit(found[-4, 0])
    assert not np.signbit(found[-5, 0])
