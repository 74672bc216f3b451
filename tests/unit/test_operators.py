"""The direct operators of expressions give what CasADi's own give, for all that they take."""

from __future__ import annotations

import threading

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.algebra.expression_copies import copy_casadi_expressions
from linkwright.algebra.linear_algebra import (
    column_vector,
    matrix_entries,
    matrix_from_rows,
    rotate_vector_by_matrix,
    vector_entries,
)
from linkwright.algebra.operators import direct_casadi_operators
from linkwright.formulations import derive_uncached

A, V = ca.SX.sym("a"), ca.SX.sym("v", 3)
OPERANDS = [
    A, V, 0, 1, 2, 0.0, -1.0, 2.5, True, np.float64(3.0), np.float32(0.5), np.arange(1.0, 4.0),
    np.arange(1, 4), np.array(2.0), np.ones((3, 1)), np.eye(3), ca.DM([1, 2, 3]), ca.SX(3, 1),
]  # fmt: skip
GENERAL = {
    "add": ca.plus, "sub": ca.minus, "mul": ca.times, "truediv": ca.rdivide,
}  # fmt: skip
WRITTEN = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "truediv": lambda x, y: x / y,
}  # fmt: skip


def same(one: ca.SX, other: ca.SX) -> bool:
    return (
        type(one) is type(other)
        and one.sparsity() == other.sparsity()
        and all(ca.is_equal(one.nz[k], other.nz[k], 3) for k in range(one.nnz()))
    )


@pytest.mark.parametrize("operation", GENERAL)
@pytest.mark.parametrize("other", OPERANDS, ids=repr)
@direct_casadi_operators()
def test_operators_give_what_those_of_casadi_give(operation: str, other: object) -> None:
    for x, y in ((A, other), (other, A), (V, other), (other, V)):
        try:
            wanted = GENERAL[operation](x, y)
        except RuntimeError:
            with pytest.raises(RuntimeError, match="Dimension mismatch"):
                WRITTEN[operation](x, y)
            continue
        assert same(WRITTEN[operation](x, y), wanted)


@pytest.mark.parametrize("other", [ca.MX.sym("x"), "text", None, [A]], ids=repr)
@pytest.mark.parametrize("operation", GENERAL)
@direct_casadi_operators()
def test_what_is_no_expression_is_refused_as_by_casadi(operation: str, other: object) -> None:
    with pytest.raises((TypeError, NotImplementedError)):
        WRITTEN[operation](A, other)
    with pytest.raises((TypeError, NotImplementedError)):
        WRITTEN[operation](other, A)


MATRIX = ca.SX.sym("m", 3, 3)
FACTORS = [
    A, V, V.T, MATRIX, ca.SX(3, 1), ca.SX.eye(3), ca.DM([1, 2, 3]), np.arange(1.0, 4.0),
    np.arange(1, 4), np.ones((3, 1)), np.ones((3, 2)), np.eye(3), -np.eye(3), np.float32([1, 2, 3]),
]  # fmt: skip


@pytest.mark.parametrize("other", FACTORS, ids=repr)
@direct_casadi_operators()
def test_products_are_those_of_casadi(other: object) -> None:
    for x, y in ((A, other), (other, A), (V, other), (other, V), (MATRIX, other), (other, MATRIX)):
        try:
            wanted = ca.mtimes(x, y)
        except RuntimeError:
            with pytest.raises(RuntimeError, match="incompatible dimensions"):
                x @ y
            continue
        assert same(x @ y, wanted)


@direct_casadi_operators()
def test_constants_of_expressions_do_not_change_with_them() -> None:
    ones = np.ones((3, 3))
    for made in (V + ones[:, 0], MATRIX @ ones, ones @ MATRIX, ones[:, 0] * V, ones * A):
        made[0] = A
    assert same(ones @ MATRIX, ca.mtimes(ca.SX(ones), MATRIX))
    assert same(ones * A, ca.times(ca.SX(ones), A))


ROTATIONS = [
    np.eye(3),
    np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]]),
]


@pytest.mark.parametrize("R", ROTATIONS)
def test_turned_vectors_are_products_with_the_rotation(R: np.ndarray) -> None:
    for a in (V, ca.vertcat(A, 0.0, A), ca.SX(3, 1)):
        for rotation in (R, R.T):
            assert same(rotate_vector_by_matrix(rotation, a), ca.mtimes(rotation, a))
    np.testing.assert_array_equal(rotate_vector_by_matrix(R, np.arange(3.0)), R @ np.arange(3.0))


def test_matrices_of_entries_have_their_rows() -> None:
    rows = [[A, 2.0, V[0]], [0.0, A * V[1], ca.SX(1, 1)]]
    assert same(matrix_from_rows(rows), ca.vertcat(*(ca.horzcat(*row) for row in rows)))


COLUMNS = [
    (A, 0.0, 1),
    (A, -0.0, np.float64(2.0)),
    (V[0], ca.SX(0), A * 0),
    (A, ca.SX(1, 1), 2.0),
    (ca.SX(1, 1), 0.0, 3),
    (V, A, 2.0),
    (A, ca.DM(2), True),
]


@pytest.mark.parametrize("entries", COLUMNS, ids=repr)
def test_columns_of_entries_are_those_of_casadi(entries: tuple[object, ...]) -> None:
    for _ in range(2):
        made = column_vector(*entries)
        assert same(made, ca.vertcat(*entries))
        made[0] = 7


@pytest.mark.parametrize(
    "vector", [V, V * 0, ca.SX(3, 1), ca.vertcat(A, ca.SX(1, 1), 2), V.T, ca.SX([1.0, 0.0, 2.0])]
)
def test_entries_of_vectors_are_those_of_casadi(vector: ca.SX) -> None:
    for entry, wanted in zip(vector_entries(vector), range(3), strict=True):
        assert same(entry, vector[wanted])


@pytest.mark.parametrize(
    "matrix", [MATRIX, MATRIX[:, :2], MATRIX[0, :], ca.diag(V), ca.SX(2, 3), ca.SX.eye(3)]
)
def test_entries_of_matrices_are_those_of_casadi(matrix: ca.SX) -> None:
    rows, columns = matrix.shape
    found = matrix_entries(matrix)
    assert [len(row) for row in found] == [columns] * rows
    for i in range(rows):
        for j in range(columns):
            assert same(found[i][j], matrix[i, j])


def test_entries_of_arrays_are_numbers() -> None:
    assert vector_entries(np.arange(3.0)) == [0.0, 1.0, 2.0]
    assert matrix_entries(np.arange(6.0).reshape(2, 3)) == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize("expression", [A, V, MATRIX, ca.SX(3, 3), ca.diag(V), ca.SX(2.0)])
def test_copies_are_the_same_and_apart(expression: ca.SX) -> None:
    before, copy = ca.SX(expression), copy_casadi_expressions(expression)
    assert same(copy, before)
    copy[0] = 7
    assert same(expression, before)


def methods_of_casadi() -> dict[str, object]:
    return dict(vars(ca.SX)) | {"inherited": ca.SX.__add__}


def test_casadi_has_its_own_operators_outside_of_derivations() -> None:
    before = methods_of_casadi()
    with direct_casadi_operators():
        inside = methods_of_casadi()
        with direct_casadi_operators():
            assert methods_of_casadi() == inside != before
        assert methods_of_casadi() == inside
    assert methods_of_casadi() == before
    eqs = derive_uncached(lw.gallery("elbow"), by="hamilton")
    assert methods_of_casadi() == before
    for name in eqs.function_names():
        eqs.function(name)
    assert methods_of_casadi() == before


def test_an_error_gives_casadi_its_own_operators_back() -> None:
    before = methods_of_casadi()
    with pytest.raises(lw.errors.NameNotFoundError):
        derive_uncached(lw.gallery("elbow"), by="nothing")
    assert methods_of_casadi() == before


def test_operators_stay_direct_until_the_last_thread_has_ended() -> None:
    before = methods_of_casadi()
    has_entered, may_leave = threading.Event(), threading.Event()

    def hold_operators() -> None:
        with direct_casadi_operators():
            has_entered.set()
            may_leave.wait(60)

    thread = threading.Thread(target=hold_operators)
    with direct_casadi_operators():
        thread.start()
        assert has_entered.wait(60)
        inside = methods_of_casadi()
    assert methods_of_casadi() == inside != before
    may_leave.set()
    thread.join()
    assert methods_of_casadi() == before
