"""Cost against the number of links: exponents of made-up data, budgets, files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.comparison import CostScaling, measure_scaling
from linkwright.comparison.derivation_times import (
    VIRGALA_COEFFICIENTS,
    DerivationTimes,
    cubic_determination,
    fit_cubic_cost,
    virgala_derivation_time,
)
from linkwright.comparison.size_scaling import (
    COST_LABELS,
    compared_chain_sizes,
    fit_cost_power_law,
    fitted_chain_sizes,
)
from linkwright.errors import LinkwrightError
from linkwright.formulations import lagrange, recursive
from tests.commands import run

CHRISTOFFEL, COMPOSITE = "lagrange, Christoffel symbols", "lagrange, composite bodies"
SIZES = [2, 3, 4, 6, 8, 12, 16, 24, 30]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.5, 4.0])
def test_a_power_is_found(exponent: float) -> None:
    found = fit_cost_power_law(SIZES, [0.3 * n**exponent for n in SIZES])
    assert found is not None
    assert found.exponent == pytest.approx(exponent, abs=1e-12)
    assert found.factor == pytest.approx(0.3)
    assert found.error < 1e-12
    assert found.points == len(fitted_chain_sizes(SIZES)) == 5


def test_what_a_cost_begins_with_weighs_little() -> None:
    found = fit_cost_power_law(SIZES, [5.0 + n**3 for n in SIZES])
    assert found is not None
    assert found.exponent == pytest.approx(3, abs=0.02)
    assert 0 < found.error < 0.02


def test_the_error_is_the_usual_one() -> None:
    """Against SciPy's line through the logarithms."""
    from scipy.stats import linregress

    costs = np.array(SIZES) ** 2 * np.exp(np.random.default_rng(0).normal(0, 0.1, len(SIZES)))
    line = linregress(np.log(SIZES[-5:]), np.log(costs[-5:]))
    found = fit_cost_power_law(SIZES, list(costs))
    assert found is not None
    np.testing.assert_allclose((found.exponent, found.error), (line.slope, line.stderr))


def test_no_power_of_two_sizes_or_of_nothing() -> None:
    assert fit_cost_power_law([2, 3], [1, 2]) is None
    assert fit_cost_power_law([2, 3, 4], [0, 1, 2]) is None


def test_the_fit_of_virgala() -> None:
    """Their own numbers for 30 and 100 links, and their fit found again."""
    assert virgala_derivation_time(30) == pytest.approx(434.3563, abs=1e-3)
    assert virgala_derivation_time(100) == pytest.approx(18112.206, abs=1e-2)
    np.testing.assert_allclose(
        fit_cubic_cost(SIZES, [virgala_derivation_time(n) for n in SIZES]),
        VIRGALA_COEFFICIENTS,
        rtol=1e-6,
    )


def test_both_cubics_stand_in_the_table() -> None:
    """R² against NumPy's correlation; times that are a cubic have R² = 1."""
    costs = np.array(SIZES) ** 2.5 * np.exp(np.random.default_rng(0).normal(0, 0.1, len(SIZES)))
    fit = fit_cubic_cost(SIZES, list(costs))
    expected = np.corrcoef(np.polyval(fit, SIZES), costs)[0, 1] ** 2
    assert cubic_determination(SIZES, list(costs), fit) == pytest.approx(expected, rel=1e-9)
    table = DerivationTimes({n: 1e-3 * n**3 + 0.02 for n in SIZES}).table()
    assert table.rows[2][-1] == f"{virgala_derivation_time(30) / 27.02:.0f}"
    theirs, ours = table.notes
    assert theirs.startswith("theirs: 0.0191n³ − 0.1025n² + 0.3757n − 0.3647 s, R² = 0.9996")
    assert ours.startswith("ours: 0.001n³")
    assert ours.endswith("R² = 1.0000")
    assert len(DerivationTimes({2: 1.0, 3: 2.0}).table().notes) == 1, "no cubic through two points"


def test_no_exponent_belongs_to_two_algorithms() -> None:
    """Formulations that change their algorithm with the size say which one it is."""
    names = {n: recursive.algorithm_name(lw.gallery(f"chain-{n}")) for n in (10, 45)}
    assert names == {10: "mass matrix", 45: "articulated bodies"}
    names = {n: lagrange.algorithm_name(lw.gallery(f"chain-{n}")) for n in (8, 9)}
    assert names == {8: "Christoffel symbols", 9: "composite bodies"}
    with pytest.raises(LinkwrightError, match="no algorithm 'composites'; did you mean"):
        lw.derive(lw.gallery("elbow"), by="lagrange", algorithm="composites")


def test_sizes_between() -> None:
    sizes = compared_chain_sizes(2, 30)
    assert (sizes[0], sizes[-1]) == (2, 30)
    assert 10 <= len(sizes) <= 14
    assert compared_chain_sizes(2, 4) == [2, 3, 4]


@pytest.fixture(scope="module")
def study() -> CostScaling:
    return measure_scaling([1, 2, 3, 4], ["lagrange", "multipliers"], duration=0.05)


@pytest.mark.slow
def test_operations_of_chains(study: CostScaling) -> None:
    """Counted, so the same on every machine; times are there and above zero."""
    sizes, operations = study.formulation_costs(CHRISTOFFEL, "operations")
    assert sizes == [1, 2, 3, 4]
    assert operations == sorted(operations)
    power = study.cost_power_law(CHRISTOFFEL, "operations")
    assert power is not None
    assert 2.5 < power.exponent < 3.5
    for what in COST_LABELS:
        assert min(study.formulation_costs(CHRISTOFFEL, what)[1]) > 0
    assert "no loops" in study.stopped["multipliers"]
    assert all(row.apart < 1e-10 for row in study.rows[CHRISTOFFEL].values())


@pytest.mark.slow
def test_files(study: CostScaling, tmp_path: Path) -> None:
    study.save(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["by"], row["algorithm"], row["links"]) for row in rows] == [
        ("lagrange", way, str(n))
        for way in ("Christoffel symbols", "composite bodies")
        for n in (1, 2, 3, 4)
    ]
    text = study.markdown()
    assert "Virgala" in text
    assert list(study.rows) == [CHRISTOFFEL, COMPOSITE]
    assert "| 2, 3, 4 |" in text
    assert "(three points)" in text
    assert "±" not in text
    assert "evaluating the equations" in text
    study.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_every_panel_of_the_figure_has_numbers(study: CostScaling) -> None:
    """Also where costs are within one power of ten; and no letter is below seven points."""
    from linkwright.comparison.cost_figures import draw_formulation_costs

    figure = draw_formulation_costs(study)
    figure.draw_without_rendering()
    for axes in figure.axes:
        low, high = axes.get_ylim()
        ticks = [
            t
            for t, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
            if text.get_text()
        ]
        assert sum(low <= tick <= high for tick in ticks) >= 2
    texts = [t for t in figure.findobj(lambda a: hasattr(a, "get_fontsize")) if t.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 7


def test_too_slow_is_stopped_and_said() -> None:
    found = measure_scaling([2, 3], ["lagrange"], budget=0.01)
    assert not found.rows
    assert "stopped at 2 links, which took more than 0.01 s" in found.stopped[CHRISTOFFEL]
    assert "stopped at 2 links" in str(found)
    with pytest.raises(LinkwrightError, match="1 to 1000 links"):
        measure_scaling([0, 2])


def test_command(tmp_path: Path) -> None:
    done = run(
        "compare", "--links", "2,3,4", "--by", "kane", "-t", "0.05", "-o", "a.md", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "kane" in done.stdout
    assert "exponents of n" in (tmp_path / "a.md").read_text(encoding="utf-8")
