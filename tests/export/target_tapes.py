"""The tapes on which every target is tried: all operations, random graphs, gallery mechanisms.

Reference values come from ball arithmetic, which `tests/unit/test_operations_in_readings.py` compares
with mpmath.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import linkwright as lw
from linkwright.ports import Port
from linkwright.readings.targets.exported_code import (
    ExportedCode,
    ExportedFunction,
    PortNote,
    ReferenceValues,
    name_code_ports,
)
from linkwright.tape import OPERATION_ARITY, Op, Tape, remove_dead_tape_instructions
from linkwright.writers.exported_functions import record_exported_functions
from linkwright.writers.reference_values import evaluate_tape_exactly
from tests.operation_tapes import ENTRIES, OPERATIONS, TapeBuilder, operation_tape, quarters

FAST_GALLERY = ("elbow", "cart-pole", "four-bar", "rolling-disk")
QUANTITIES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "kinetic_energy",
    "regressor", "forward_dynamics_derivatives",
)  # fmt: skip


def code_function(tape: Tape, identifier: str, state: Sequence[float]) -> ExportedFunction:
    """A tape with one input as an exported function, with its reference values at a state."""
    tape = remove_dead_tape_instructions(tape)
    names = name_code_ports(tape.inputs, tape.outputs)
    entries = tuple(f"z{k}" for k in range(tape.inputs[0].size))
    outputs = evaluate_tape_exactly(tape, [state])
    assert np.isfinite(np.concatenate(outputs)).all(), identifier
    return ExportedFunction(
        identifier,
        None,
        tape,
        "values of a tape",
        "1",
        identifier,
        (PortNote(tape.inputs[0], names[0], "numbers", "1", entries),),
        tuple(PortNote(p, n, "", "1") for p, n in zip(tape.outputs, names[1:], strict=True)),
        ReferenceValues((tuple(state),), tuple(map(tuple, outputs))),
    )


def random_graph(seed: int, size: int = 60) -> Tape:
    """A tape of random operations on earlier values; sines keep these small."""
    made = TapeBuilder(seed)
    write, pool = made.writer.write_instruction, list(made.x)
    for _ in range(size):
        op = Op(int(made.rng.choice(OPERATIONS)))
        leaves = [
            write(Op.SIN, int(made.rng.choice(pool))) if made.rng.integers(4) else made.leaf()
            for _ in range(OPERATION_ARITY[op])
        ]
        pool.append(write(op, *(made.operand(op, k, a) for k, a in enumerate(leaves))))
    chosen = made.rng.choice(pool[-40:], 6)
    results = [np.array([*chosen[:4]], np.int32), np.array([chosen[4]], np.int32)]
    outputs = [Port("A", (2, 2)), Port("b", ())]
    return made.writer.finish_tape("f", [Port("x", (ENTRIES,))], outputs, results)


@cache
def operations_code(precision: str = "double") -> ExportedCode:
    """Every operation with operands of both signs, at two states each."""
    functions = [
        code_function(operation_tape(op, seed), f"{op.name.lower()}_{seed}", state)
        for op in OPERATIONS
        for seed, state in enumerate(quarters(2, int(op)).tolist())
    ]
    return ExportedCode("operations", "every operation", (), tuple(functions), precision)


@cache
def graphs_code(precision: str = "double") -> ExportedCode:
    """Random graphs of all operations."""
    states = np.random.default_rng(5).uniform(-2, 2, (12, ENTRIES))
    functions = [
        code_function(random_graph(seed), f"graph_{seed}", state)
        for seed, state in enumerate(states.tolist())
    ]
    return ExportedCode("graphs", "random graphs", (), tuple(functions), precision)


@cache
def gallery_code(names: tuple[str, ...], quantities: tuple[str, ...] = QUANTITIES) -> ExportedCode:
    """Functions of gallery mechanisms, all in one file."""
    functions = []
    for name in names:
        model = lw.compile(lw.gallery(name))
        known = [q for q in quantities if q in model.equations.function_names()]
        known += [f"placement:{frame}" for frame in list(model.mechanism.frames)[:1]]
        for one in record_exported_functions(model, known):
            identifier = f"{name.replace('-', '_')}_{one.identifier}"
            identifier = identifier if identifier[0].isalpha() else f"m{identifier}"
            functions.append(replace(one, identifier=identifier))
    return ExportedCode("gallery", "gallery mechanisms", (), tuple(functions))


def with_wrong_reference(code: ExportedCode) -> ExportedCode:
    """The same code with one wrong number among the reference values of its first function."""
    first, *others = code.functions
    assert first.reference is not None
    outputs = first.reference.outputs
    wrong = ((outputs[0][0] + 0.01, *outputs[0][1:]), *outputs[1:])
    reference = replace(first.reference, outputs=wrong)
    return replace(code, functions=(replace(first, reference=reference), *others))
