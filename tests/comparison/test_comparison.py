"""The comparison of formulations: the paper's sizes, one motion, one accuracy, budgets, files."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.comparison import Comparison
from linkwright.comparison.cost_measurement import MOTION_SAMPLES, TIMED_ACCURACY, FormulationTrial
from linkwright.comparison.fixed_step_motions import FixedSteps
from linkwright.errors import FileError, LinkwrightError, NameNotFoundError
from linkwright.formulations import FORMULATIONS
from linkwright.processes.timed_worker import BudgetExceededError, TimedWorkerProcess
from tests.commands import ok, run


@pytest.fixture(scope="module")
def pendulum() -> Comparison:
    return lw.compare(lw.gallery("triple-pendulum"), duration=0.3)


def test_sizes_are_those_of_the_paper(pendulum: Comparison) -> None:
    """Bayseç and Kapucu: 18, 14, 6 and 6 states; Newton's 3N + 2J = 15 equations."""
    rows = {row.by: row for row in pendulum.rows}
    states = [rows[by].states for by in ("newton_euler", "approximate", "hamilton", "lagrange")]
    assert states == [18, 14, 6, 6]
    assert rows["newton_euler"].equations == 15
    assert [rows[by].integrated for by in ("newton_euler", "approximate", "lagrange")] == [
        18,
        14,
        6,
    ]
    assert set(rows) | set(pendulum.refused) == set(FORMULATIONS)


def test_all_move_alike_to_the_same_accuracy(pendulum: Comparison) -> None:
    for row in pendulum.rows:
        assert row.accuracy <= TIMED_ACCURACY
        assert row.evaluations > 20
        if row.by != "approximate":
            assert row.apart < 1e-10
            assert row.disagreement < 1e-12
    assert pendulum.time_ratio_to_base(next(r for r in pendulum.rows if r.by == "lagrange")) == 1


def by_hand(t: float, x: np.ndarray) -> np.ndarray:
    """Bobs of 1 kg and 0.01 kg·m² at the tips of 1 m links, absolute angles from the horizontal."""
    angle, speed = x[:3], x[3:]
    beyond = 3.0 - np.maximum.outer(np.arange(3), np.arange(3))
    apart = angle[:, None] - angle
    M = beyond * np.cos(apart) + 0.01 * np.eye(3)
    h = (beyond * np.sin(apart)) @ speed**2 + 9.81 * np.array([3, 2, 1]) * np.cos(angle)
    return np.concatenate([speed, np.linalg.solve(M, -h)])


@pytest.mark.parametrize("by", ["lagrange", "hamilton", "newton_euler"])
def test_the_motion_is_that_of_equations_by_hand(by: str) -> None:
    study = FormulationTrial(lw.gallery("triple-pendulum"), by, 0.5)
    times = np.linspace(0, 0.5, MOTION_SAMPLES)
    begin = np.concatenate(study.start_state)
    truth = solve_ivp(by_hand, (0, 0.5), begin, "DOP853", times, rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(study.reference_motion.states, truth, atol=1e-9)


def test_all_take_the_same_fixed_steps() -> None:
    """As the paper times them: one evaluation at the start and four a step; the error is of fourth
    order; and the motion is that of Runge and Kutta's formulas by hand."""
    arm, names = lw.gallery("triple-pendulum"), ["lagrange", "hamilton", "approximate"]
    found = lw.compare(arm, names, 0.2, step=4e-3)
    halves = lw.compare(arm, names[:2], 0.2, step=2e-3)
    rows = {row.by: row for row in found.rows}
    assert [row.evaluations for row in found.rows] == [1 + 4 * 50] * 3
    for by in ("lagrange", "hamilton"):
        fine = next(row for row in halves.rows if row.by == by)
        assert rows[by].accuracy / fine.accuracy == pytest.approx(16, rel=0.1)
    assert rows["approximate"].accuracy < 1e-3
    assert "rk4 with steps of 0.004 s" in str(found)
    assert f"(beta = {rows['approximate'].beta:.3g} N/m)" in str(found)
    stiffer = lw.compare(arm, ["approximate"], 0.2, step=1e-3, beta=2e3, gamma=1e-3)
    assert stiffer.rows[0].beta == 2e3
    with pytest.raises(LinkwrightError, match="a step of 1 s is longer than the motion"):
        lw.compare(arm, names[:1], 0.2, step=1.0)
    with pytest.raises(LinkwrightError, match="cannot continue by rk4 with steps"):
        lw.compare(arm, ["approximate"], 0.2, step=1e-3, beta=1e7)
    with pytest.raises(LinkwrightError, match="with fixed steps of 'dop853'; use one of euler"):
        lw.compare(arm, ["lagrange"], 0.2, step=1e-3, integrator="dop853")


@pytest.mark.parametrize("integrator", ["rk4", "heun", "euler"])
def test_fixed_steps_are_those_of_the_formulas_by_hand(integrator: str) -> None:
    study = FormulationTrial(lw.gallery("triple-pendulum"), "lagrange", 0.05)
    motion, _ = study.motion_of(FixedSteps(integrator, 1e-2))
    x, h = np.concatenate(study.start_state), 1e-2
    for _ in range(5):
        k1 = by_hand(0.0, x)
        if integrator == "rk4":
            k2 = by_hand(0.0, x + h / 2 * k1)
            k3 = by_hand(0.0, x + h / 2 * k2)
            slope = (k1 + 2 * k2 + 2 * k3 + by_hand(0.0, x + h * k3)) / 6
        else:
            slope = k1 if integrator == "euler" else (k1 + by_hand(0.0, x + h * k1)) / 2
        x = x + h * slope
    np.testing.assert_allclose(motion.states[-1], x, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "sharp-edged-disk", "quadruped", "bricard"])
def test_loops_rolling_and_free_bases(name: str) -> None:
    found = lw.compare(lw.gallery(name), ["recursive", "kane"], 0.05)
    assert [row.by for row in found.rows] == ["recursive", "kane"]
    assert all(row.apart < 1e-9 for row in found.rows)


@pytest.mark.slow
def test_a_worker_is_stopped_and_begins_again() -> None:
    with TimedWorkerProcess() as worker:
        assert worker.call_within(max, 2, 3, seconds=20) == 3
        begin = time.perf_counter()
        with pytest.raises(BudgetExceededError, match=r"more than 0\.2 s"):
            worker.call_within(time.sleep, 60, seconds=0.2)
        assert time.perf_counter() - begin < 10
        with pytest.raises(NameNotFoundError, match="no 'nothing'"):
            worker.call_within(lw.gallery, "nothing", seconds=20)
        with pytest.raises(LinkwrightError, match="its process ended"):
            worker.call_within(exit, 1, seconds=20)
        assert worker.call_within(max, 4, 3, seconds=20) == 4


def test_budget() -> None:
    found = lw.compare(lw.gallery("chain-6"), ["lagrange"], budget=0.01)
    assert not found.rows
    assert "more than 0.01 s" in found.stopped["lagrange"]
    assert "lagrange: stopped" in str(found)


def test_files(pendulum: Comparison, tmp_path: Path) -> None:
    pendulum.save(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["by"]: int(row["states"]) for row in rows}["newton_euler"] == 18
    lines = pendulum.markdown().splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    hostile = Comparison("a|b\n<script>", pendulum.rows, {}).markdown().splitlines()
    assert hostile[0] == r"### a\|b &lt;script>"
    with pytest.raises(FileError, match="is not a format for comparisons"):
        pendulum.save(tmp_path / "a.txt")
    with pytest.raises(FileError, match="cannot be written"):
        pendulum.save(tmp_path / "nowhere" / "a.md")


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_figures(pendulum: Comparison, ending: str, tmp_path: Path) -> None:
    pendulum.save(tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").stat().st_size > 5000


def test_figures_can_be_read(pendulum: Comparison) -> None:
    from linkwright.comparison.cost_figures import draw_formulation_costs

    texts = [
        t
        for t in draw_formulation_costs(pendulum).findobj(lambda a: hasattr(a, "get_fontsize"))
        if t.get_text()
    ]
    assert min(text.get_fontsize() for text in texts) >= 7


def test_numbers_of_the_figure_touch_nothing(pendulum: Comparison) -> None:
    """Each stands between its panel and the next one, or the figure's end."""
    from linkwright.comparison.cost_figures import draw_formulation_costs

    figure = draw_formulation_costs(pendulum)
    figure.draw_without_rendering()
    panels = [axes.get_window_extent() for axes in figure.axes]
    ends = [panels[1].x0, figure.bbox.x1, panels[3].x0, figure.bbox.x1]
    for axes, panel, end in zip(figure.axes, panels, ends, strict=True):
        numbers = [text.get_window_extent() for text in axes.texts]
        assert len(numbers) == len(pendulum.rows)
        assert all(panel.x1 < number.x0 and number.x1 < end for number in numbers)
    assert all(panel.y1 < panels[0].y0 for panel in panels[2:]), "two panels a row"


@pytest.mark.parametrize(("apart", "said"), [(0.01, False), (1.4, True)])
def test_what_springs_do_is_said(pendulum: Comparison, apart: float, said: bool) -> None:
    rows = [replace(row, apart=apart) for row in pendulum.rows if row.by == "approximate"]
    notes = " ".join(replace(pendulum, rows=tuple(rows)).comparison_notes())
    assert "springs hold its joints and loops" in notes
    assert ("too soft for this motion" in notes) == said
    assert "springs" not in " ".join(replace(pendulum, rows=()).comparison_notes())


def test_command(tmp_path: Path) -> None:
    words = ("compare", "elbow", "--by", "lagrange,hamilton,approximate", "-t", "0.1")
    words = (*words, "--step", "1ms", "--beta", "2e3")
    found = json.loads(ok(*words, "-o", "a.md", "-o", "a.csv", "--json", cwd=tmp_path))
    assert [row["by"] for row in found["rows"]] == ["lagrange", "hamilton", "approximate"]
    assert found["steps"] == {"integrator": "rk4", "length": 1e-3}
    assert found["rows"][2]["beta"] == 2e3
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("### elbow")
    assert (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "needs a FILE or --links"),
        (("elbow", "--links", "2-4"), "and not both"),
        (("--links", "4-2"), "is not a list of numbers of links"),
        (("--links", "0,4"), "is not a list of numbers of links"),
        (("elbow", "--budget", "0"), "--budget 0 is not a duration"),
        (("elbow", "-o", "a.txt"), "'.txt' cannot be written; use .md"),
        (("elbow", "--by", "magic"), "unknown formulation 'magic'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str) -> None:
    done = run("compare", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
