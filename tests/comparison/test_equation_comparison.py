"""The equations of several formulations side by side: table, page, figure, data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.comparison import EquationComparison, compare_equations
from linkwright.errors import FileError
from tests.commands import ok

NAMES = ["lagrange", "hamilton", "multipliers"]


@pytest.fixture(scope="module")
def slider_crank() -> EquationComparison:
    return compare_equations(lw.gallery("slider-crank"), NAMES)


def test_counts_are_those_of_each_formulation(slider_crank: EquationComparison) -> None:
    """Two independent constraint rows: 3 + 2 equations for accelerations and multipliers."""
    rows = {row.by: row for row in slider_crank.records()}
    assert list(rows) == NAMES
    assert (rows["multipliers"].equations, rows["multipliers"].unknowns) == (5, 5)
    assert rows["multipliers"].matrices.endswith("5×5")
    assert rows["hamilton"].states == 6
    lines = str(slider_crank).splitlines()
    assert lines[1].split() == ["formulation", "equations", "unknowns", "states", "matrices"]
    assert "=== hamilton ===" in lines


def test_the_page_has_a_column_for_each(slider_crank: EquationComparison, tmp_path: Path) -> None:
    slider_crank.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [f'<article id="{by}">' in page for by in NAMES] == [True] * 3
    assert page.count("<svg") == 1
    assert "Generalized momenta" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    slider_crank.save(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().startswith("by,equations,unknowns,states,matrices")
    with pytest.raises(FileError, match="is not a format"):
        slider_crank.save(tmp_path / "table.doc")


def test_what_cannot_be_treated_is_named() -> None:
    found = compare_equations(lw.gallery("elbow"), ["lagrange", "multipliers"])
    assert list(found.refused) == ["multipliers"]
    assert "multipliers: cannot treat this mechanism" in found.table().text()


def test_matrices_have_short_names_in_the_table() -> None:
    found = compare_equations(lw.gallery("elbow"), ["newton_euler"])
    assert [row.matrices for row in found.records()] == ["reduced system 6×6"]


def test_the_command_prints_and_saves(tmp_path: Path) -> None:
    data = json.loads(
        ok("compare", "elbow", "--equations", "--by", "lagrange,hamilton", "-o",
           str(tmp_path / "page.html"), "--json")
    )  # fmt: skip
    assert data["hamilton"]["matrices"] == {"M": [2, 2]}
    assert data["hamilton"]["sections"][0]["equations"][0].startswith("p1 = ")
    assert "<article" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_refusals_are_short_sentences() -> None:
    text = compare_equations(lw.gallery("elbow"), ["lagrange", "multipliers"]).table().text()
    assert "multipliers: cannot treat this mechanism, it has no loops and no" in text
