"""Rosenbrock steps: order conditions, factors of matrices, stiff problems against SciPy."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from linkwright.integrators.matrix_factors import factorize_matrix, solve_factorized
from linkwright.integrators.rosenbrock_tableaus import RODAS5P, RosenbrockTableau
from linkwright.program import (
    Buffer,
    IntBuffer,
    Size,
    read_buffer_row,
    read_program,
    scratch,
    scratch_matrix,
    take_ticket,
    write_buffer_row,
)
from linkwright.readings.llvm import compile_program

RNG = np.random.default_rng(16)

# -- the table -------------------------------------------------------------------------------------

Tree = tuple["Tree", ...]
"""A rooted tree: the trees that grow from its root, in a canonical order."""


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with so many nodes."""
    return tuple(sorted(set(forests(order - 1))))


@cache
def forests(order: int) -> tuple[Tree, ...]:
    if order == 0:
        return ((),)
    return tuple(
        tuple(sorted((first, *rest)))
        for size in range(1, order + 1)
        for first in trees(size)
        for rest in forests(order - size)
    )


def size_of(tree: Tree) -> int:
    return 1 + sum(map(size_of, tree))


def density(tree: Tree) -> int:
    return size_of(tree) * math.prod(map(density, tree))


def elementary_weights(tree: Tree, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Hairer and Wanner IV.7: α where branches meet, β = α + γ along a single branch."""
    if len(tree) == 1:
        return beta @ elementary_weights(tree[0], alpha, beta)
    parts = [alpha @ elementary_weights(branch, alpha, beta) for branch in tree]
    return np.prod(parts, axis=0) if parts else np.ones(len(alpha))


def lower(rows: tuple[tuple[float, ...], ...]) -> np.ndarray:
    return np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])


def in_first_form(table: RosenbrockTableau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α, the matrix Γ, and Γ⁻¹ from which A and C were made."""
    inverse = np.eye(table.stages) / table.gamma - lower(table.C)
    Gamma = np.linalg.inv(inverse)
    return lower(table.A) @ Gamma, Gamma, inverse


def test_the_number_of_trees_is_known() -> None:
    assert [len(trees(order)) for order in range(1, 6)] == [1, 1, 2, 4, 9]


@pytest.mark.parametrize(
    ("weights", "order"), [((1.0,) * 8, 5), ((1.0,) * 7 + (0.0,), 4)], ids=["new state", "embedded"]
)
def test_order_conditions_hold(weights: tuple[float, ...], order: int) -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    m = np.array([*RODAS5P.A[7], 1.0]) * weights
    b = m @ Gamma
    for tree in (tree for size in range(1, order + 1) for tree in trees(size)):
        found = b @ elementary_weights(tree, alpha, alpha + Gamma)
        assert found == pytest.approx(1 / density(tree), abs=2e-13)
    missed = [
        abs(b @ elementary_weights(tree, alpha, alpha + Gamma) - 1 / density(tree))
        for tree in trees(order + 1)
    ]
    assert max(missed) > 1e-5, "the order is no higher"


@pytest.mark.parametrize("x", [0.2, 0.5, 0.9])
def test_dense_output_has_order_four(x: float) -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    m = np.array([*RODAS5P.A[7], 1.0])
    h2, h3, h4 = np.array(RODAS5P.dense_weights)
    b = x * (m + (1 - x) * (h2 + x * (h3 + x * h4))) @ Gamma
    for order in range(1, 5):
        for tree in trees(order):
            found = b @ elementary_weights(tree, alpha, alpha + Gamma)
            assert found == pytest.approx(x**order / density(tree), abs=2e-13)


def test_the_method_is_stiffly_accurate_and_its_times_are_sums() -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    np.testing.assert_allclose(alpha.sum(axis=1), RODAS5P.c, atol=1e-13)
    np.testing.assert_allclose(Gamma.sum(axis=1), RODAS5P.d, atol=2e-13)
    b = np.array([*RODAS5P.A[7], 1.0]) @ Gamma
    np.testing.assert_allclose((alpha + Gamma)[-1], b, atol=1e-13)


def test_the_method_is_stable_in_the_left_half_plane() -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    b = np.array([*RODAS5P.A[7], 1.0]) @ Gamma

    def growth(z: complex) -> float:
        return abs(1 + z * b @ np.linalg.solve(np.eye(8) - z * (alpha + Gamma), np.ones(8)))

    assert max(growth(1j * y) for y in np.geomspace(1e-3, 1e6, 200)) <= 1 + 1e-12
    assert growth(-1e9) < 1e-7


# -- factors ---------------------------------------------------------------------------------------


def solve_systems(
    ticket: IntBuffer, count: IntBuffer, sizes: IntBuffer, matrices: Buffer, sides: Buffer
) -> None:
    """Solve one system of equations in each lane."""
    n: Size = sizes[0]
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        a = scratch_matrix(n, n)
        x = scratch(n)
        pivots = scratch(n)
        read_buffer_row(matrices, n * n * k, a)
        read_buffer_row(sides, n * k, x)
        factorize_matrix(n, a, pivots)
        solve_factorized(n, a, pivots, x)
        write_buffer_row(sides, n * k, x)


@pytest.mark.parametrize("is_compiled", [False, True], ids=["python", "lanes"])
def test_each_lane_pivots_by_itself(is_compiled: bool) -> None:
    n, count = 6, 11
    matrices = RNG.normal(size=(count, n, n))
    matrices[::2, 0, 0] = 0.0  # needs an exchange of rows
    sides = RNG.normal(size=(count, n))
    run = solve_systems
    if is_compiled:
        run = compile_program(lambda: read_program(solve_systems), ("test", "systems"))
    found = sides.copy().reshape(-1)
    run(
        np.zeros(1, np.int64), np.array([count]), np.array([n]), matrices.copy().reshape(-1), found
    )
    expected = np.linalg.solve(matrices, sides[..., None])[..., 0]
    np.testing.assert_allclose(found.reshape(count, n), expected, rtol=1e-11)
