"""Long tapes and incomplete blocks: the same numbers, and distances in contexts that a byte encodes."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

from linkwright.readings.llvm import compile_tape
from linkwright.readings.llvm.tape_module import emit_tape_module
from linkwright.tape import Tape, record_tape
from tests.targets import TARGETS, target

SIZE = 40


def matrix_chain() -> Tape:
    """Products of matrices that all leave: thousands of instructions, and outputs far beyond one base."""
    x = ca.SX.sym("x", SIZE)
    y = ca.SX.sym("y", SIZE)
    first = x @ y.T + 1
    return record_tape(ca.Function("f", [x, y], [first, ca.cos(x) + first @ y, first @ first]))


def expected_values(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by NumPy."""
    first = x[:, :, None] * y[:, None, :] + 1
    return first, np.cos(x) + (first @ y[:, :, None])[..., 0], first @ first


@pytest.mark.parametrize("level", TARGETS)
@pytest.mark.parametrize("count", [1, 7, 8, 24, 29])
def test_long_tapes_have_the_same_values(level: str | None, count: int) -> None:
    """In one block, in several that go together, and in a part of one."""
    x, y = np.random.default_rng(count).uniform(-1, 1, (2, count, SIZE))
    found = compile_tape(matrix_chain(), target=target(level), threads=1)(x, y)
    for one, other in zip(found, expected_values(x, y), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def chunk_texts(level: str) -> list[str]:
    """The functions that a long tape is cut into."""
    text = emit_tape_module(matrix_chain(), target(level))
    return re.findall(r"define internal void @chunk\d+\(.*?\n}", text, re.DOTALL)


def test_distances_fit_into_a_byte_where_it_counts_vectors() -> None:
    chunks = chunk_texts("avx512")
    assert len(chunks) > 3
    places = [
        int(at)
        for text in chunks
        for at in re.findall(r"getelementptr <8 x double>, ptr %base\d+, i64 (-?\d+)", text)
    ]
    assert len(places) > 1000
    assert min(places) >= -128
    assert max(places) <= 127
    assert all(
        "%base" not in line
        for text in chunks
        for line in text.splitlines()
        if "ptr %ctx," in line and not line.startswith("  %near")
    )
    assert len({base for text in chunks for base in re.findall(r"%base\d+", text)}) > 2


def test_other_machines_reach_the_context_directly() -> None:
    assert not any("%base" in text for text in chunk_texts("avx2"))


def test_no_chunk_loads_a_slot_that_it_stores() -> None:
    """What the marks of loads and stores promise LLVM."""
    for text in chunk_texts("avx512"):
        places = {
            name: (base, at)
            for name, base, at in re.findall(
                r"(%[as]\d+) = getelementptr <8 x double>, ptr (%base\d+), i64 (-?\d+)", text
            )
        }
        loads = {places[name] for name in re.findall(r"load <8 x double>, ptr (%a\d+),", text)}
        stores = {places[name] for name in re.findall(r"store .*, ptr (%s\d+),", text)}
        assert loads
        assert stores
        assert not loads & stores


@pytest.mark.parametrize("level", TARGETS)
@pytest.mark.parametrize("count", [9, 13, 20, 31])
def test_the_last_states_may_replace_the_inputs(level: str | None, count: int) -> None:
    """The last block repeats states of the one before: their inputs must still be there."""
    x = ca.SX.sym("x", SIZE)
    function = compile_tape(
        record_tape(ca.Function("f", [x], [2 * x + 1])), target=target(level), threads=1
    )
    rows = np.random.default_rng(count).uniform(-1, 1, (count, SIZE))
    expected = 2 * rows + 1
    function(rows, out=rows)
    np.testing.assert_array_equal(rows, expected)
