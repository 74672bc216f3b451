"""Small print of the equation checker: indices, nested matrices, unfinished equations, limits."""

from __future__ import annotations

from fractions import Fraction

import pytest

import linkwright as lw
from linkwright.checking.motion_sampler import CheckAssumptions
from linkwright.checking.prover import _root_signs_to_prove
from linkwright.checking.statement_chunks import split_latex_equations
from linkwright.checking.symbol_meanings import MAX_NESTED_DEFINITIONS
from linkwright.checking.symbol_patterns import split_symbol_indices
from linkwright.errors import ExpressionError
from tests.check.test_reading import ELBOW, equations


def test_assumptions_are_said() -> None:
    """By default there are none, and the motion obeys the equations of motion."""
    assert str(CheckAssumptions()) == ""
    assert not CheckAssumptions().is_free
    assumed = CheckAssumptions({"gamma": Fraction(1, 2)}, frozenset({"tau2", "tau1"}))
    assert str(assumed) == "gamma = 0.5, tau1 = 0, tau2 = 0"


@pytest.mark.parametrize("index", [r"i+1\,3", "i+1,3", "i+1 3"])
def test_what_follows_a_sum_of_indices_is_kept(index: str) -> None:
    assert equations(ELBOW, rf"x_1 = \sum_{{i=1}}^{{2}} m_{{{index}}}") == ["x1 = m23 + m33"]


def test_a_matrix_inside_brackets_of_another_keeps_its_columns() -> None:
    row = r"\begin{bmatrix} l_1 & l_2 \end{bmatrix}"
    column = r"\begin{bmatrix} q_1 \\ q_2 \end{bmatrix}"
    text = rf"\begin{{bmatrix}} x_1 \\ x_2 \end{{bmatrix}} = \begin{{bmatrix}} ({row} {column}) \\ l_2 \end{{bmatrix}}"
    assert equations(ELBOW, text) == ["x1 = l1*q1 + l2*q2", "x2 = l2"]


MATRIX = r"\begin{bmatrix} l_1 & 2 \\ 3 & l_2 \end{bmatrix}"
COLUMN = r"\begin{bmatrix} x_1 \\ x_2 \end{bmatrix}"


def test_a_letter_behind_a_matrix_is_a_vector() -> None:
    read = equations(ELBOW, rf"{COLUMN} = {MATRIX} \tau")
    assert read == ["x1 = l1*tau1 + 2*tau2", "x2 = 3*tau1 + l2*tau2"]


def test_zero_is_a_matrix_of_any_shape() -> None:
    assert equations(ELBOW, f"{COLUMN} = 0") == ["x1 = 0", "x2 = 0"]
    assert equations(ELBOW, f"{MATRIX} = 0") == ["l1 = 0", "2 = 0", "3 = 0", "l2 = 0"]


@pytest.mark.parametrize(
    ("text", "term"),
    [("d22 = I2", "lc2^2*m2"), ("phi2 = 0*m2", "m2*g*lc2*cos(q1 + q2)")],
)
def test_a_missing_product_of_several_factors_is_named(text: str, term: str) -> None:
    (finding,) = lw.check(ELBOW, text)
    assert finding.status == "differs"
    assert finding.repairs[0].what == f"the term {term} is missing"
    assert lw.check(ELBOW, finding.repairs[0].equation).passed


def test_a_motion_obeys_the_equations_of_motion() -> None:
    """τ follows from q̈; it is not another free number."""
    text = "tau2 = d12*ddq1 + d22*ddq2 + m2*l1*lc2*sin(q2)*dq1^2 + phi2"
    assert lw.check(ELBOW, text).passed
    assert not lw.check(ELBOW, text.replace("dq1^2", "dq2^2")).passed


def test_equations_are_split_only_if_both_have_two_sides() -> None:
    assert split_latex_equations("a = m_1, b = m_2") == ["a = m_1", "b = m_2"]
    assert split_latex_equations("a = m_1, b =") == ["a = m_1, b ="]
    assert split_latex_equations("a = m_1, = m_2") == ["a = m_1, = m_2"]
    assert split_latex_equations("a_i = m_i, i = 2") == ["a_i = m_i, i = 2"]


def test_indices_of_symbols() -> None:
    """One index may have two digits; several have as many digits each."""
    assert split_symbol_indices("_2", [3]) == [2]
    assert split_symbol_indices("12", [20]) == [12]
    assert split_symbol_indices("12", [2, 2]) == [1, 2]
    assert split_symbol_indices("1_12", [2, 20]) == [1, 12]
    assert split_symbol_indices("1112", [20, 20]) == [11, 12]
    assert split_symbol_indices("13", [2, 2]) == []
    assert split_symbol_indices("0", [2]) == []
    assert split_symbol_indices("", [2]) == []


def test_signs_of_roots_are_tried_in_all_combinations() -> None:
    """Of the roots whose bits are set, any may be negated; none at first."""
    assert _root_signs_to_prove(0) == [0]
    assert sorted(_root_signs_to_prove(0b101)) == [0b000, 0b001, 0b100, 0b101]


def _nested_definitions(count: int) -> str:
    lines = ["a0 = m1", *(f"a{k} = a{k - 1} + 0*l1" for k in range(1, count))]
    return "\n".join([*lines, f"d22 = a{count - 1} - m1 + m2*lc2^2 + I2"])


def test_definitions_may_stand_inside_each_other_up_to_a_limit() -> None:
    report = lw.check(ELBOW, _nested_definitions(MAX_NESTED_DEFINITIONS))
    assert list(report)[-1].status == "identical"
    with pytest.raises(ExpressionError, match=f"more than {MAX_NESTED_DEFINITIONS} definitions"):
        lw.check(ELBOW, _nested_definitions(MAX_NESTED_DEFINITIONS + 1))
