"""The table of symbols: what it lists is understood and documented."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.checking.approximate_vocabulary import ApproximateCheckerVocabulary
from linkwright.checking.declarations import separate_declarations
from linkwright.checking.symbol_patterns import CheckerSymbolRow, split_symbol_indices
from linkwright.checking.symbol_table import (
    APPROXIMATE_SYMBOLS,
    DUAL_COMPONENTS,
    DUAL_VECTORS,
    FORCE_SYMBOLS,
    MASS_MATRIX_ENTRY,
    PAPER_SYMBOLS,
)
from linkwright.checking.vocabulary import CheckerVocabulary
from tests.check.proved_texts import is_proved, pendulum

ROOT = Path(__file__).parents[2]
ONE_COORDINATE = {"tau", "M", "C", "p", "dp"}
BALL = lw.Mechanism(
    bodies={"head": {"mass": 2, "inertia": [1, 1, 1]}},
    joints={"ball": {"type": "spherical", "child": "head"}},
)
CONSTRAINED = {"lambda_pin_1", "f1", "J11", "lambda1"}


def test_the_page_lists_the_table() -> None:
    place = importlib.util.spec_from_file_location("w", ROOT / "tools/write_symbol_tables.py")
    assert place is not None
    assert place.loader is not None
    writer = importlib.util.module_from_spec(place)
    place.loader.exec_module(writer)
    page = writer.PAGE.read_text(encoding="utf-8")
    assert page == writer.page_with_symbols(page), "run tools/write_symbol_tables.py"


@pytest.mark.parametrize("row", [*FORCE_SYMBOLS, *PAPER_SYMBOLS], ids=lambda row: row.patterns)
def test_every_symbol_of_papers_has_a_value(row: CheckerSymbolRow[object]) -> None:
    for name in row.examples:
        if name == "g":  # gravity by its components
            arm = pendulum(gravity=[0, "-9.81", 0])
        elif name in ONE_COORDINATE:
            arm = pendulum()
        elif name == "dball.qw":
            arm = BALL
        else:
            arm = lw.gallery("four-bar" if name in CONSTRAINED else "chain-3")
        assert CheckerVocabulary(arm).paper_expression(name) is not None, name


@pytest.mark.parametrize(
    ("name", "has_form"),
    [
        ("M12", True),
        ("M_12", True),
        ("M_1_2", True),
        ("M_12_3", False),
        ("M_1_2_3", False),
        ("M1", False),
        ("M123", False),
    ],
)
def test_entries_of_the_mass_matrix_have_two_digits(name: str, has_form: bool) -> None:
    assert MASS_MATRIX_ENTRY.has_form(name) == has_form


def test_every_dual_symbol_has_a_value() -> None:
    arm = lw.gallery("elbow")
    _, declared = separate_declarations("mass m2 at tool", arm)
    own = CheckerVocabulary(arm, declared)
    for row in DUAL_COMPONENTS:
        assert all(f"{name}@{part}" in own for name in row.examples for part in "rd")
    for row in DUAL_VECTORS:
        assert all(f"{name}@{axis}d" in own for name in row.examples for axis in "xyz")


def test_every_approximate_symbol_has_a_value() -> None:
    own = ApproximateCheckerVocabulary(lw.gallery("triple-pendulum"))
    assert all(name in own for row in APPROXIMATE_SYMBOLS for name in row.examples)
    assert "approximate equations" in own.why_index_fails("M11")


@pytest.mark.parametrize(
    ("text", "sizes", "indices"),
    [
        ("12", (2, 2), [1, 2]), ("12", (12,), [12]), ("1_12", (3, 12), [1, 12]), ("_1_2", (2, 2), [1, 2]),
        ("1_", (2, 2), []), ("13", (2, 2), []), ("0", (2,), []), ("123", (3, 3), []),
    ],
)  # fmt: skip
def test_indices_are_split_by_the_sizes(
    text: str, sizes: tuple[int, ...], indices: list[int]
) -> None:
    assert split_symbol_indices(text, sizes) == indices


def test_a_name_with_an_underscore_at_its_end_is_refused_in_a_sentence() -> None:
    (finding,) = lw.check(lw.gallery("elbow"), "M1_*ddq1 = 1")
    assert finding.status not in ("identical", "equivalent")


def test_the_rate_of_a_momentum_of_one_body_is_not_that_of_all() -> None:
    assert is_proved("elbow", "dL_dq1 = dK_dq1")
    assert not is_proved("elbow", "dL_dq1 = dK1_dq1")
