"""Corners of the exact algebra: odd functions of halves, degrees of negative powers, budgets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from linkwright.algebra.exact.circle_points import circle_point_of_multiples
from linkwright.algebra.exact.degree_bounds import PolynomialDegreeBounds
from linkwright.algebra.exact.exact_angles import exact_angle, exact_angle_lattice
from linkwright.algebra.exact.polynomial_budget import BudgetError, ExactPolynomialBudget
from linkwright.algebra.exact.prime_field import PrimeField
from linkwright.algebra.exact.quotient_ring import QuotientRing
from linkwright.algebra.exact.residues import FIELD_PRIME
from linkwright.ports import Port
from linkwright.tape import Op
from linkwright.tape.writer import TapeWriter


@pytest.mark.parametrize("op", [Op.TANH, Op.ASIN, Op.SIGN], ids=lambda op: op.name.lower())
@pytest.mark.parametrize("x", ["1/2", "1", "3", "1/3", "0"])
def test_odd_functions_are_odd_modulo_a_prime(op: Op, x: str) -> None:
    """Also of ±1/2, the residues in the middle."""
    field = PrimeField(1, lenient=True)
    plus, minus = (field.apply(op, [field.constant(s * Fraction(x))]).number for s in (1, -1))
    assert (plus + minus) % FIELD_PRIME == 0
    assert bool(plus) == (x != "0")


@pytest.mark.parametrize(("power", "wanted"), [(-2, (0, 2)), (-1, (0, 1)), (3, (3, 0))])
def test_degrees_of_whole_powers(power: int, wanted: tuple[int, int]) -> None:
    """(a + b)^n has degree n above, or −n below."""
    writer = TapeWriter()
    total = writer.write_instruction(
        Op.ADD, *(writer.write_instruction(Op.INPUT, 0, k) for k in (0, 1))
    )
    y = writer.write_instruction(Op.POW, total, writer.write_constant(power))
    tape = writer.finish_tape("f", [Port("x", (2,))], [Port("y", ())], [np.array([y], np.int32)])
    assert PolynomialDegreeBounds(tape).compute_degrees(1).total_degrees(y) == wanted


def test_cosines_of_large_multiples_are_refused_before_they_are_expanded() -> None:
    """cos 20 a would take some 20³ terms on the way."""
    a = exact_angle({"a": 1})
    angles, table = exact_angle_lattice([a], [a, exact_angle({"a": 20})])
    small = QuotientRing(
        ["a"], angles, table, 0, budget=ExactPolynomialBudget(max_terms=1000, seconds=9)
    )
    with pytest.raises(BudgetError):
        circle_point_of_multiples(small, [20])
    assert circle_point_of_multiples(small, [3])
