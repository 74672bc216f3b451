"""Designs: values from an index alone, against NumPy's and SciPy's own."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from scipy.stats import qmc

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.studies import plan_study, study_plan, study_progress
from linkwright.studies.design_evaluation import evaluate_designs
from linkwright.studies.design_seeds import design_seeds
from linkwright.studies.factors import Factor, read_factors
from linkwright.studies.sampling_methods import Sampling, choose_sampling
from linkwright.studies.study_store import BlockReport

ELBOW = lw.gallery("elbow")


@pytest.mark.parametrize("seed", [0, 1, 2**31, 12345678901234567890123])
@pytest.mark.parametrize("start", [0, 1000, 2**32 - 3])
def test_seeds_are_those_of_numpy_by_index(seed: int, start: int) -> None:
    wanted = [
        np.random.SeedSequence(seed, spawn_key=(k,)).generate_state(1, np.uint64)[0]
        for k in range(start, start + 6)
    ]
    assert design_seeds(seed, start, start + 6).tolist() == wanted


@pytest.mark.parametrize("method", ["random", "latin", "sobol", "saltelli", "morris"])
def test_a_design_does_not_depend_on_its_block(method: str) -> None:
    size = {"saltelli": 5, "morris": 4}.get(method, 1)
    sampling = Sampling(method, 24, 3, 24 * size)
    whole = sampling.shares(3, 0, sampling.count)
    pieces = [
        sampling.shares(3, k, min(k + 7, sampling.count)) for k in range(0, sampling.count, 7)
    ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    np.testing.assert_array_equal(sampling.shares(3, 5, 9), whole[5:9])
    assert whole.min() >= 0
    assert whole.max() <= 1
    other = Sampling(method, 24, 4, 24 * size).shares(3, 0, sampling.count)
    assert not np.array_equal(other, whole)


def test_a_sobol_design_is_scipys_sequence() -> None:
    engine = qmc.Sobol(4, scramble=True, bits=32, seed=np.random.default_rng(11))
    np.testing.assert_array_equal(Sampling("sobol", 64, 11, 64).shares(4, 0, 64), engine.random(64))


def test_threads_of_a_worker_do_not_disturb_each_others_sequence() -> None:
    """Two of them shared one sequence, and a design in some hundred blocks was another one."""
    sampling = Sampling("sobol", 40_000, 7, 40_000)
    engine = qmc.Sobol(2, scramble=True, bits=32, seed=np.random.default_rng(7))
    wanted, before = engine.random(2**16)[:40_000], sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = threads.map(lambda k: sampling.shares(2, 50 * k, 50 * k + 50), range(800))
            np.testing.assert_array_equal(np.concatenate(list(found)), wanted)
    finally:
        sys.setswitchinterval(before)


def test_a_sequence_goes_on_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    sampling = Sampling("sobol", 64, 8, 64)
    whole = sampling.shares(2, 0, 64)
    pass_on = qmc.Sobol.fast_forward

    def interrupt(self: qmc.Sobol, count: int) -> None:
        pass_on(self, count)
        self.num_generated -= count  # SciPy had not counted them yet
        raise KeyboardInterrupt

    sampling.shares(2, 0, 8)
    with monkeypatch.context() as patch:
        patch.setattr(qmc.Sobol, "fast_forward", interrupt)
        with pytest.raises(KeyboardInterrupt):
            sampling.shares(2, 32, 40)
    np.testing.assert_array_equal(sampling.shares(2, 48, 64), whole[48:])


def test_a_latin_hypercube_has_one_design_in_each_row() -> None:
    shares = Sampling("latin", 50, 0, 50).shares(3, 0, 50)
    for column in shares.T:
        assert sorted((column * 50).astype(int)) == list(range(50))


def test_random_designs_are_uniform_and_independent() -> None:
    shares = Sampling("random", 20000, 5, 20000).shares(3, 0, 20000)
    for (
        column
    ) in shares.T:  # p-values of a right generator are above 1e-4 nearly always; fixed seed
        assert scipy.stats.kstest(column, "uniform").pvalue > 1e-4
    assert np.abs(np.corrcoef(shares.T) - np.eye(3)).max() < 0.03


def test_distributions_are_those_of_scipy() -> None:
    shares = np.linspace(0.01, 0.99, 21)
    normal = Factor("x", "parameters", "x", "normal", (2.0, 0.5))
    np.testing.assert_allclose(
        normal.values_at(shares), scipy.stats.norm(2, 0.5).ppf(shares), rtol=1e-12
    )
    spread = Factor("x", "parameters", "x", "loguniform", (0.1, 10.0))
    np.testing.assert_allclose(
        spread.values_at(shares), scipy.stats.loguniform(0.1, 10).ppf(shares), rtol=1e-12
    )
    assert np.isfinite(normal.values_at(np.array([0.0, 1.0]))).all()


def test_a_grid_has_all_combinations_once() -> None:
    given = read_factors(
        ELBOW, {"m1": [1.0, 2.0], "m2": (0.0, 1.0), "by": ["lagrange", "kane"]}, None
    )
    sampling, factors = choose_sampling(given, "grid", {"m2": 3}, 0)
    columns = sampling.columns(factors, 0, sampling.count)
    rows = list(zip(*(columns[name].tolist() for name in ("m1", "m2", "by")), strict=True))
    assert rows == [(a, b, c) for a in (1.0, 2.0) for b in (0.0, 0.5, 1.0) for c in (0.0, 1.0)]


def test_saltelli_designs_change_one_factor() -> None:
    rows = Sampling("saltelli", 8, 0, 40).shares(3, 0, 40).reshape(8, 5, 3)
    for a, *mixed, b in rows:
        for k, row in enumerate(mixed):
            assert row[k] == b[k]
            assert np.delete(row, k).tolist() == np.delete(a, k).tolist()


def test_texts_have_units() -> None:
    given = {
        "q0.q1": "30deg..60deg",
        "m2": "500 g, 2 kg",
        "l1": "normal(1 m, 10 cm)",
        "qd0.q1": "60 rpm",
    }
    q, m, length, speed = read_factors(ELBOW, given, None)
    np.testing.assert_allclose(q.numbers, [np.pi / 6, np.pi / 3])
    assert m.levels == (0.5, 2.0)
    np.testing.assert_allclose(length.numbers, [1, 0.1])
    np.testing.assert_allclose(speed.levels, [2 * np.pi])


@pytest.mark.parametrize("block", [None, 3])
def test_impossible_designs_at_the_beginning_are_failures(block: int | None) -> None:
    """A bar of 5 m or more does not close; the first 12 designs of 16 are such."""
    bars, ground = lw.gallery("four-bar"), [30.0, 20.0, 10.0, 3.5]
    crank = {"motion": {"theta1": "t"}, "t": 0.5, "samples": 3}
    vary = {"l4": ground, "m1": [1.0, 2.0, 3.0, 4.0]}
    found = lw.study(bars, vary, {"end": "kinematics.theta1[-1]"}, kinematics=crank, block=block)
    assert found.data["status"].to_numpy().tolist() == [3] * 12 + [1] * 4
    np.testing.assert_allclose(found.data["end"][12:], 0.5)


def test_a_plan_tries_few_slow_designs_and_each_of_them_once() -> None:
    """Sixteen were tried twice, and the second time came from what was known of them."""
    tried: list[float] = []

    def wait(factors: Any) -> float:
        tried.append(factors["m2"])
        time.sleep(0.35)
        return 1.0

    plan = lw.studies.plan_study(ELBOW, {"m2": (0.5, 1.5)}, {"wait": wait}, count=1000)
    assert len(tried) == len(set(tried)) == 3
    assert plan.rate < 1 / 0.35


@pytest.mark.parametrize(("workers", "threads"), [(1, {None}), (2, {1})])
def test_a_plan_tries_designs_as_the_study_makes_them(
    workers: int, threads: set[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study in one process has all threads, and was planned for one of them."""
    used: set[int | None] = set()

    def noting(*arguments: Any, threads: int | None = 1) -> Any:
        used.add(threads)
        return evaluate_designs(*arguments, threads=threads)

    monkeypatch.setattr(study_plan, "evaluate_designs", noting)
    plan_study(ELBOW, {"m2": (1, 2)}, {"end": "q1[-1]"}, workers=workers, t=0.05, samples=3)
    assert used == threads


def test_tried_designs_are_all_over_a_grid() -> None:
    from linkwright.studies.study_plan import PILOT_DESIGNS, _spread_designs

    tried = list(_spread_designs(32 * 32))
    assert tried[0] == 0
    assert len(set(tried)) == len(tried) == PILOT_DESIGNS
    for levels in np.divmod(tried[:PILOT_DESIGNS], 32):  # each quarter of both factors
        assert np.bincount(levels // 8, minlength=4).min() >= 8
    assert sorted(_spread_designs(3)) == [0, 1, 2]
    assert sorted(_spread_designs(50)) == list(range(50))


def test_blocks_suffice_for_the_workers_of_a_users_cluster() -> None:
    """A cluster of forty got one block, and one worker all the work."""
    info = {"workers": {f"tcp://{k}": {} for k in range(40)}}
    cluster = SimpleNamespace(scheduler_info=info)
    client = SimpleNamespace(scheduler_info=lambda n_workers: info if n_workers == -1 else {})
    given: dict[str, Any] = {"count": 800, "t": 0.05, "samples": 3}
    for one in (cluster, client):
        plan = plan_study(ELBOW, {"m2": (1, 2)}, {"end": "q1[-1]"}, cluster=one, **given)
        assert (plan.workers, plan.blocks, plan.block) == (40, 160, 5)


def test_progress_says_rate_time_to_go_and_failures_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures that a resumed study has already count too."""
    clock = [100.0]
    monkeypatch.setattr(study_progress.time, "monotonic", lambda: clock[0])
    before = {"designs": 1000, "failed": 5, "stopped": 0, "count": 100_000}
    watch = study_progress.StudyProgress("arm", before, wanted=False)
    assert watch.text() == "1000/100000, 0/s, 5 failed"
    clock[0] += 2.0
    watch.add(BlockReport(7, 24_690, 2, 1, 1.9))
    assert watch.text() == "25690/100000, 12300/s, 6.02 s to go, 7 failed, 1 stopped"


PID = {"controller": "pid", "reference": [0.5, 0], "kp": 10}
MISTAKES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"m3": (0, 1)}, {}, "'m3' is not a factor of elbow; known: m1, m2, l1, l2"),
    ({"m2": (2, 1)}, {}, "the range 2..1 of the factor 'm2' does not rise"),
    ({"m2": "normal(1, -1)"}, {}, "the standard deviation of the factor 'm2' is -1"),
    ({"m2": "loguniform(0, 1)"}, {}, "the range of the factor 'm2' begins at 0"),
    ({"m2": [float("nan")]}, {}, "the factor 'm2' has the value nan; give finite numbers"),
    ({"m2": []}, {}, "the factor 'm2' has no values"),
    ({"q0.q7": (0, 1)}, {}, "unknown name 'q7' for q0"),
    ({"control.kp": (0, 1)}, {}, "'control.kp' needs a controller"),
    ({"m2": "1 s..2 s"}, {}, "vary 'm2': bodies.link2.mass: is in s; give it in kg"),
    ({}, {}, "vary is not a table with factors"),
    ({"m2": (1, 2)}, {"design": "magic"}, "the design 'magic' is not known; use one of grid, random"),
    ({"m2": (1, 2)}, {"count": 0}, "count cannot be 0; give a whole number from 1"),
    ({"m2": [1, 2], "m1": [1]}, {"design": "list"}, "different numbers of values: m2 2, m1 1"),
    ({"m2": (1, 2)}, {"design": "latin", "count": 10**8}, "does not fit into memory"),
    ({"by": ["lagrang"]}, {}, "unknown formulation 'lagrang'; did you mean 'lagrange'?"),
    ({"by": ["multipliers"]}, {}, "vary 'by': the formulation 'multipliers' cannot treat elbow: it"),
    ({"integrator": ["rk5"]}, {}, "rk5"),
    ({"m2": (1, 2)}, {"workers": 0}, "workers cannot be 0; give a whole number from 1"),
    ({"m2": (1, 2)}, {"workers": 2}, "workers need a store that they can reach"),
    ({"m2": (1, 2)}, {"torque": {"q1": 1}, "control": PID}, "control and torque exclude each other"),
    ({"torque.q1": (1, 2)}, {"control": PID}, "control and torque exclude each other; give one"),
    ({"m2": (1, 2)}, {"torque": {"q1": abs}}, "torque of the run cannot be sent to workers"),
    ({"m2": (1, 2), "parameters.m2": [3]}, {}, "'m2' and 'parameters.m2' are the same quantity"),
    ({"m2": (-2, -1)}, {}, "all 8 designs that were tried fail: cannot start: "),
    ({"m2": (1, 2)}, {"q0": {"x": 1}}, "all 8 designs that were tried fail: run: unknown coordinate 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("vary", "options", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_get_a_sentence(vary: Any, options: Any, message: str) -> None:
    with pytest.raises(LinkwrightError) as caught:
        lw.study(ELBOW, vary, {"end": "q1[-1]"}, **{"t": 0.05, "samples": 3, "count": 8, **options})
    assert message in str(caught.value)
