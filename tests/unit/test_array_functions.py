"""Functions of arrays give what CasADi's own calls give."""

from __future__ import annotations

import threading

import casadi as ca
import numpy as np
import pytest

from linkwright.algebra.array_functions import ArrayFunction

V, A, EMPTY = ca.SX.sym("v", 3), ca.SX.sym("A", 2, 3), ca.SX.sym("e", 0)
SPARSE = ca.diag(ca.vertcat(V[0], V[1] * 2))
FUNCTION = ca.Function("f", [V, A, EMPTY], [A @ V, A * V[0], SPARSE, ca.SX(3, 0), ca.SX(2, 2)])
ARRAY_FUNCTION = ArrayFunction(FUNCTION)
VECTOR, MATRIX = np.array([1.5, -2.0, 0.25]), np.arange(6.0).reshape(2, 3)


def assert_same(inputs: tuple[object, ...]) -> None:
    found, wanted = ARRAY_FUNCTION(*inputs), FUNCTION.call(inputs)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == float
        np.testing.assert_array_equal(one, other.full(), strict=True)


@pytest.mark.parametrize(
    "inputs",
    [
        (VECTOR, MATRIX, np.zeros(0)),
        (VECTOR.tolist(), MATRIX.copy(order="F"), []),
        (np.array([1, 2, 3]), MATRIX[::-1, ::-1], np.zeros((0, 1))),
        (VECTOR[:, None], MATRIX.astype(np.float32), []),
        (2.5, MATRIX, []),
        (VECTOR, 1, []),
        (np.array([1.0, np.nan, np.inf]), MATRIX, []),
    ],
)
def test_outputs_are_those_of_casadi(inputs: tuple[object, ...]) -> None:
    assert_same(inputs)


def test_arrays_that_cannot_be_written_are_read() -> None:
    frozen = VECTOR.copy()
    frozen.flags.writeable = False
    assert_same((frozen, MATRIX, np.zeros(0)))


def test_outputs_are_new_with_every_call() -> None:
    first = ARRAY_FUNCTION(VECTOR, MATRIX, [])
    kept = [x.copy() for x in first]
    ARRAY_FUNCTION(VECTOR + 1, MATRIX, [])
    for one, other in zip(first, kept, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("inputs", [(VECTOR,), (VECTOR[:2], MATRIX, []), (VECTOR, MATRIX.T, [], 1)])
def test_inputs_that_do_not_fit_are_refused_as_by_casadi(inputs: tuple[object, ...]) -> None:
    with pytest.raises(RuntimeError):
        FUNCTION.call(inputs)
    with pytest.raises(RuntimeError):
        ARRAY_FUNCTION(*inputs)


def test_threads_do_not_disturb_each_other() -> None:
    wrong: list[float] = []

    def call_often(value: float) -> None:
        for _ in range(2000):
            found = ARRAY_FUNCTION(np.full(3, value), np.ones((2, 3)), [])[0]
            if not np.array_equal(found, np.full((2, 1), 3 * value)):
                wrong.append(value)

    threads = [threading.Thread(target=call_often, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
