"""Linear equations modulo primes, small and beyond a machine word, against elimination by hand."""

from __future__ import annotations

import random

import pytest

from linkwright.algebra.exact.elimination import (
    dependent_columns_modulo,
    independent_rows_modulo,
    rank_modulo,
    solve_exact_system,
    solve_modulo,
)
from linkwright.algebra.exact.modular_arithmetic import BadPointError, rational_from_residue
from linkwright.algebra.exact.prime_field import PrimeField
from linkwright.algebra.exact.residues import FIELD_PRIME

PRIMES = (7, 2**61 - 1281, 2**61 - 1, 2**89 - 1)


def random_matrix(rng: random.Random, p: int) -> list[list[int]]:
    height, width = rng.randrange(1, 6), rng.randrange(1, 6)
    rows = [[rng.choice([0, 1, rng.randrange(p)]) for _ in range(width)] for _ in range(height)]
    if rng.random() < 0.7:
        rows.append([(x + 3 * y) % p for x, y in zip(rows[0], rows[-1], strict=True)])
    return rows


def rank_by_hand(rows: list[list[int]], p: int) -> int:
    rows, rank = [row[:] for row in rows], 0
    for column in range(len(rows[0])):
        at = next((r for r in range(rank, len(rows)) if rows[r][column] % p), None)
        if at is None:
            continue
        rows[rank], rows[at] = rows[at], rows[rank]
        for r in range(rank + 1, len(rows)):
            factor = rows[r][column] * pow(rows[rank][column], -1, p)
            rows[r] = [(x - factor * y) % p for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    return rank


@pytest.mark.parametrize("p", PRIMES)
@pytest.mark.parametrize("seed", range(15))
def test_equations_modulo_a_prime(seed: int, p: int) -> None:
    rng = random.Random(f"{seed} {p}")
    rows = random_matrix(rng, p)
    rank = rank_by_hand(rows, p)
    assert rank_modulo(rows, p) == rank
    kept = independent_rows_modulo(rows, p)
    assert len(kept) == rank == rank_by_hand([rows[k] for k in kept] or [[0]], p)
    assert all(rank_by_hand(rows[: k + 1], p) > rank_by_hand([[0] * len(rows[0]), *rows[:k]], p)
               for k in kept)  # fmt: skip
    right = [rng.choice([0, row[0], rng.randrange(p)]) for row in rows]
    x = solve_modulo(rows, right, p)
    if x is None:
        assert rank_by_hand([[*row, b] for row, b in zip(rows, right, strict=True)], p) > rank
    else:
        left = [sum(a * y for a, y in zip(row, x, strict=True)) % p for row in rows]
        assert left == [b % p for b in right]
    order = rng.sample(range(len(rows[0])), len(rows[0]))
    found = dependent_columns_modulo(rows, order, p)
    assert len(found) == len(order) - rank
    for column, factors in found.items():
        assert all(order.index(c) < order.index(column) for c in factors)
        assert all(
            (row[column] - sum(k * row[c] for c, k in factors.items())) % p == 0 for row in rows
        )


def test_a_solution_in_the_field_knows_its_degree() -> None:
    field = PrimeField(3)
    a, b, c, d, x, y = (field.symbol(name) for name in "abcdxy")
    found = solve_exact_system(field, [a, b, c, d], [x, y])
    p = FIELD_PRIME
    assert (a.number * found[0].number + b.number * found[1].number - x.number) % p == 0
    assert all(value.numerator_degree >= 2 and value.denominator_degree >= 2 for value in found)
    with pytest.raises(BadPointError):
        solve_exact_system(field, [a, b, a, b], [x, y])


def test_residues_of_small_fractions_are_told() -> None:
    p = 2**61 - 1281
    assert rational_from_residue(-3 * pow(8, -1, p), 64, p) == -3 / 8
    assert rational_from_residue(123456789123, 64, p) is None
