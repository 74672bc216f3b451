"""A compiled step walked many times is what the single steps are, bit for bit."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from linkwright.ports import Port
from linkwright.readings.llvm import CompiledStepLoop, compile_step_loop, compile_tape
from linkwright.tape import Tape, record_tape
from tests.targets import TARGETS, target

COURSE = CompiledStepLoop(state_ports=2, timed_ports=3, last_step_outputs=(1,))


def step(n: int) -> Tape:
    """(x, y; u, t, table; h) → (x, y, doubt): sines and quotients, and all kinds of ports."""
    x, y, u, t, h = (ca.SX.sym(name, k) for name, k in zip("xyuth", (n, 2, n, 1, 1), strict=True))
    table = ca.SX.sym("table", 2, 3)
    after = x + h * (ca.sin(x + t) - u * y[0] / (2 + table[1, 2]))
    other = ca.vertcat(y[1] + table[0, 0], ca.cos(after[-1]))
    function = ca.Function("step", [x, y, u, t, table, h], [after, other, ca.sumsqr(after) + t])
    shapes = {"x": (n,), "y": (2,), "u": (n,), "t": (), "table": (2, 3), "h": ()}
    ends = {"x_end": (n,), "y_end": (2,), "doubt": ()}
    return record_tape(
        function, *([Port(*item) for item in side.items()] for side in (shapes, ends))
    )


def walked(tape: Tape, given: list[np.ndarray], steps: int) -> list[np.ndarray]:
    """x, y and doubt after every step, by single ones."""
    one, (x, y, u, t, table, h) = compile_tape(tape, threads=1), given
    found = []
    for k in range(steps):
        x, y, doubt = one(x, y, u[:, k], t[:, k], table[:, k], h)
        found.append((x, y, doubt))
    return [np.stack(part, axis=1) for part in zip(*found, strict=True)]


def inputs(n: int, rows: int, steps: int) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    sizes = [(rows, n), (rows, 2), (rows, steps, n), (rows, steps), (rows, steps, 2, 3), (rows,)]
    return [rng.uniform(-1, 1, size) for size in sizes]


def space(n: int, rows: int, kept: int) -> tuple[np.ndarray, ...]:
    return tuple(np.full(s, np.nan) for s in ((rows, kept, n), (rows, 2), (rows, kept)))


@pytest.mark.parametrize("level", TARGETS)
@pytest.mark.parametrize(("n", "rows"), [(1, 1), (3, 19), (5, 8), (8, 16), (11, 7), (64, 24)])
def test_marches_are_single_steps(n: int, rows: int, level: str | None) -> None:
    """Blocks and tails, one tile and many; all steps kept, or every third, or the last."""
    tape, given = step(n), inputs(n, rows, 12)
    march = compile_step_loop(tape, COURSE, target(level))
    x, y, doubt = walked(tape, given, 12)
    for kept in (12, 4, 1):
        every = slice(12 // kept - 1, None, 12 // kept)
        wanted = x[:, every], y[:, -1], doubt[:, every]
        found = march(*given, out=space(n, rows, kept))
        for ours, other in zip(found, wanted, strict=True):
            if level is None:
                np.testing.assert_array_equal(ours, other)
            np.testing.assert_allclose(ours, other, rtol=1e-12, atol=1e-12)


def test_marches_take_one_row_for_all_and_any_strides() -> None:
    """What is the same in all rows, or in all steps, has no place of its own in memory."""
    tape, (x, y, u, t, table, h) = step(3), inputs(3, 19, 12)
    march = compile_step_loop(tape, COURSE)
    given = [
        np.asfortranarray(x), np.broadcast_to(y[0], y.shape), np.broadcast_to(u[:, :1], u.shape),
        np.broadcast_to(t[0], t.shape), np.broadcast_to(table[:1, :1], table.shape),
        np.broadcast_to(h[0], h.shape),
    ]  # fmt: skip
    out = space(3, 19, 12)
    backward = out[0][:, ::-1, ::-1]
    march(*given, out=(backward, *out[1:]))
    wanted = walked(tape, given, 12)
    np.testing.assert_array_equal(backward, wanted[0])
    np.testing.assert_array_equal(out[1], wanted[1][:, -1])
    march(x, y[0], u[0], t[0], table[0], 0.1, out=out)
    many = [x, np.tile(y[0], (19, 1)), *(np.array([v[0]] * 19) for v in (u, t, table))]
    np.testing.assert_array_equal(out[0], walked(tape, [*many, np.full(19, 0.1)], 12)[0])
