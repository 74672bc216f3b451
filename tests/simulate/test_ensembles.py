"""Many runs at once are the runs one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.errors import AssemblyError, LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.simulation import Run
from linkwright.simulation.feedback import Feedback, Reference
from linkwright.simulation.trajectory_records import TrajectoryRecords
from tests.simulate.known import TOP

RNG = np.random.default_rng(20261116)


def assert_same_bits(found: xarray.Dataset, k: int, alone: Run) -> None:
    """A run of an ensemble is the run alone, also its end and its events."""
    count = int(np.isfinite(found["q"].values[k, :, 0]).sum())
    np.testing.assert_array_equal(found["q"].values[k, :count], alone.q[:count])
    np.testing.assert_array_equal(found["qd"].values[k, :count], alone.qd[:count])
    np.testing.assert_array_equal(found["q_end"].values[k], alone.q[-1])
    assert found["status"].values[k] == alone.status
    assert found["end_time"].values[k] == alone.t[-1]
    assert found["steps"].values[k] == alone.statistics["steps"]
    own = found["event_run"].values == k
    assert found["event_time"].values[own].tolist() == [event.t for event in alone.events]
    assert found["event_name"].values[own].tolist() == [event.name for event in alone.events]
    assert found["event_note"].values[own].tolist() == [event.what for event in alone.events]


def simulate_both(
    mechanism: lw.Mechanism, t: float, runs: int, checked: tuple[int, ...] = (), **given: Any
) -> xarray.Dataset:
    """Return an ensemble, after a comparison with some of its runs alone."""
    found = lw.simulate(mechanism, t, samples=5, **given)
    assert isinstance(found, xarray.Dataset)
    assert found.sizes["run"] == runs

    def one(value: Any, k: int) -> Any:
        if isinstance(value, dict):
            return {name: one(x, k) for name, x in value.items()}
        return value[k] if np.ndim(value) and len(value) == runs else value

    for k in checked or range(runs):
        varied = {
            name: one(value, k) if name in ("q0", "qd0", "torque", "parameters") else value
            for name, value in given.items()
        }
        assert_same_bits(found, k, lw.simulate(mechanism, t, samples=5, **varied))
    return found


BITS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "chain": ("triple-pendulum", 1.0, {"q0": RNG.uniform(-1, 1, (9, 3)), "qd0": np.ones((9, 3))}),
    "own states": ("elbow", 0.3, {"q0": {"q1": RNG.uniform(-1, 1, 9)}, "by": "hamilton"}),
    "loop": (
        "four-bar", 0.5, {"q0": {"theta1": RNG.uniform(0.9, 1.1, 9)}, "qd0": {"theta1": 2.0}},
    ),
    "redundant loop": ("bricard", 0.2, {"qd0": {"q1": np.linspace(-1, 1, 9)}}),
    "parameters": (
        "four-bar", 0.5,
        {"q0": {"theta1": RNG.uniform(0.9, 1.1, 9)}, "qd0": {"theta1": 2.0},
         "parameters": {"m2": RNG.uniform(0.5, 2, 9), "l2": RNG.uniform(2.9, 3.1, 9)}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BITS)
def test_a_run_of_an_ensemble_is_the_run_alone_bit_for_bit(case: str) -> None:
    name, t, given = BITS[case]
    found = simulate_both(lw.gallery(name), t, 9, (0, 7, 8), **given)
    assert set(found["status"].values) == {"finished"}
    assert found["compiled"].values.all()


CROSSINGS: dict[str, dict[str, Any]] = {
    "starts": {"qd0": {"theta0": np.array([1.0, 1.5])}},
    "forces": {"qd0": {"theta0": 1.2}, "torque": {"theta0": np.array([1.0, 2.0])}},
    "parameters and forces": {
        "qd0": {"theta0": 1.2},
        "torque": {"theta0": np.array([1.0, 2.0])},
        "parameters": {"m": np.array([1.0, 1.2])},
    },
}


@pytest.mark.parametrize("case", CROSSINGS)
def test_a_run_that_crosses_singular_configurations_is_the_run_alone(case: str) -> None:
    found = simulate_both(lw.gallery("n-four-bar"), 1.5, 2, **CROSSINGS[case])
    assert set(found["status"].values) == {"finished"}
    assert not found["compiled"].values.any()
    assert all("singular" in why for why in found["why_in_python"].values)


def test_a_sampled_controller_goes_on_across_singular_configurations() -> None:
    bars = lw.gallery("n-four-bar")
    laws = [lw.control.pid(bars, np.zeros(5), 0, 0, [k, 0, 0, 0, 0], period=0.1) for k in (5, 7)]
    masses = [1.0, 1.2]
    found = lw.simulate(
        bars, 1.5, qd0={"theta0": 1.2}, torque=laws, parameters={"m": masses}, samples=5
    )
    for k, law in enumerate(laws):
        alone = lw.simulate(
            bars, 1.5, qd0={"theta0": 1.2}, torque=law, parameters={"m": masses[k]}, samples=5
        )
        assert 0 < alone.statistics["compiled"] < 1
        assert_same_bits(found, k, alone)


def test_a_run_across_a_singular_configuration_repeats_bit_for_bit() -> None:
    bars = lw.gallery("n-four-bar")
    one, two = (lw.simulate(bars, 1.5, qd0={"theta0": 1.0}, samples=31) for _ in range(2))
    assert one.singular
    np.testing.assert_array_equal(one.q, two.q)


def test_a_run_with_parameters_repeats_from_its_file(tmp_path: Path) -> None:
    run = lw.simulate(lw.gallery("elbow"), 0.1, parameters={"m2": "1500 g"}, samples=3)
    run.save(tmp_path / "run.nc")
    again = lw.simulation.repeat(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.q, run.q)
    assert again.settings["parameters"] == {"m2": 1.5}
    assert again.mechanism.values["m2"] == 1.5


def test_a_body_in_space_is_itself_alone_bit_for_bit() -> None:
    turns = RNG.uniform(-2, 2, (9, 6))
    q0 = np.tile([0, 0, 0, 1.0, 0, 0, 0], (9, 1))
    simulate_both(TOP, 0.5, 9, (0, 8), q0=q0, qd0=turns)


def test_threads_do_not_change_results() -> None:
    arm, q0 = lw.gallery("elbow"), {"q1": np.linspace(-1, 1, 40)}
    one, two = (lw.simulate(arm, 1.0, q0, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one["q"].values, two["q"].values)


def test_varied_parameters_are_those_of_other_mechanisms() -> None:
    bars = lw.gallery("four-bar")
    values = {"m2": RNG.uniform(0.5, 2, 9), "l2": RNG.uniform(2.9, 3.1, 9)}
    starts = {"theta1": RNG.uniform(0.9, 1.1, 9)}
    found = lw.simulate(
        bars, 1.0, starts, {"theta1": np.full(9, 2.0)}, parameters=values, samples=3
    )
    for k in (0, 8):
        own = bars.with_parameters(m2=values["m2"][k], l2=values["l2"][k])
        alone = lw.simulate(own, 1.0, {"theta1": starts["theta1"][k]}, {"theta1": 2.0}, samples=3)
        np.testing.assert_allclose(found["q"].values[k], alone.q, atol=1e-9)
        np.testing.assert_allclose(found["qd"].values[k], alone.qd, atol=1e-8)
    np.testing.assert_array_equal(found["m2"].values, values["m2"])


def test_free_fall_has_its_closed_form_in_every_run() -> None:
    stone = lw.load(
        "name = 'stone'\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 2\n[joints.z]\ntype = 'prismatic'\nchild = 'b'\naxis = [0, 0, 1]\n"
    )
    heights, speeds = RNG.uniform(0, 10, 30), RNG.uniform(-5, 5, 30)
    found = lw.simulate(stone, 2.0, {"z": heights}, {"z": speeds}, samples=9)
    t = found["time"].values
    exact = heights[:, None] + speeds[:, None] * t - 9.81 * t**2 / 2
    np.testing.assert_allclose(found["q"].values[..., 0], exact, atol=1e-7)


def test_a_run_that_fails_leaves_the_others_alone() -> None:
    slide = lw.load(
        "name = 'slide'\n[bodies.b]\nmass = 1\n[joints.x]\ntype = 'prismatic'\nchild = 'b'\naxis = [1, 0, 0]\n"
    )
    found = lw.simulate(
        slide, 2.0, {"x": [0.5, 4.0]}, {"x": 0.0}, torque={"x": "-1/sqrt(x)"}, samples=5
    )
    first, second = found["status"].values
    assert first.startswith("stopped at t = ")
    assert "the force 'x' is not finite" in first
    assert second == "finished"
    end = 4 / 3 * 0.5**0.75  # where it reaches 0, after its last sample
    assert found["end_time"].values[0] == pytest.approx(end, abs=1e-8)
    assert found["q_end"].values[0, 0] == pytest.approx(0, abs=1e-8)
    assert np.isnan(found["q"].values[0, -1]).all()
    assert np.isfinite(found["q"].values[1]).all()


def test_a_force_that_is_not_finite_at_a_sample_ends_each_run_before_it() -> None:
    """The integration goes past it, since no step ends there."""
    found = lw.simulate(
        lw.load(SLIDE), 1.0, {"x": [0.5, 4.0]}, torque={"x": "sin(t - 0.5)/(t - 0.5)"}, samples=5
    )
    assert found["end_time"].values.tolist() == [0.25, 0.25]
    assert all("not finite (nan) at t = 0.5 s" in status for status in found["status"].values)
    assert np.isnan(found["q"].values[:, 2:]).all()


def test_ctrl_c_keeps_what_was_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    advance, calls = TrajectoryRecords.advance, []

    def interrupted(self: TrajectoryRecords, *given: object) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        advance(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(TrajectoryRecords, "advance", interrupted)
    monkeypatch.setattr("linkwright.simulation.trajectory_records.INSTRUCTIONS_PER_CALL", 0)
    found = lw.simulate(lw.gallery("triple-pendulum"), 50.0, {"theta1": [1.0, 2.0]}, samples=1001)
    assert all(status.startswith("interrupted at t = ") for status in found["status"].values)
    reached = np.isfinite(found["q"].values[:, :, 0]).sum(axis=1)
    assert (reached > 1).all()
    assert (reached < 1001).all()


def test_rollouts_name_inputs_that_depend_on_varied_parameters() -> None:
    """Their names stand for the mechanism's own values, also by way of other parameters."""
    for text in ("-5*m1*q1", "-I1*q1"):
        with pytest.raises(UnsupportedError, match="differs from run to run"):
            lw.rollout(
                lw.gallery("elbow"),
                np.zeros((2, 2)),
                np.zeros(2),
                {"q1": text},
                parameters={"m1": [1.0, 2.0]},
            )


def test_a_mechanism_that_cannot_be_has_a_status() -> None:
    arm = lw.gallery("elbow")
    found = lw.simulate(arm, 0.1, {"q1": 0.3}, parameters={"m1": [-1.0, 1.0]})
    first, second = found["status"].values
    assert first.startswith("cannot start: ")
    assert "negative" in first
    assert second == "finished"
    assert found["compiled"].values.tolist() == [True, True]


MANY = {"q0": {"q1": [0.1, 0.2]}}


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"q0": {"q9": [1.0]}}, NameNotFoundError, "q9"),
        ({"parameters": {"m9": [1.0]}}, NameNotFoundError, "m9"),
        ({"q0": {"q1": [1.0, 2.0]}, "qd0": {"q1": [1.0, 2.0, 3.0]}}, LinkwrightError, "runs"),
        ({"q0": np.zeros((2, 5))}, LinkwrightError, "shape"),
        ({**MANY, "torque": lambda t, q, qd: [0, 0]}, UnsupportedError, "Python function"),
        ({**MANY, "integrator": "radau"}, UnsupportedError, "radau"),
        ({**MANY, "coordinates": "minimal"}, UnsupportedError, "minimal coordinates"),
        ({**MANY, "samples": 6_000_000}, LinkwrightError, "give samples of at most"),
        ({"parameters": [1.0]}, LinkwrightError, "parameters are not a table"),
    ],
)
def test_what_an_ensemble_cannot_do_is_named(
    given: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        lw.simulate(lw.gallery("elbow"), 1.0, **given)  # type: ignore[arg-type]


def test_starts_that_do_not_close_are_refused() -> None:
    bars = lw.gallery("four-bar")
    closed = lw.assemble(bars, {"theta1": 1.0})
    with pytest.raises(AssemblyError, match="run 1"):
        lw.simulate(bars, 1.0, np.array([closed, closed + 0.1]))


ARM = (
    "name = 'arm'\n[bodies.a]\nmass = 1\ncenter = [0.5, 0, 0]\n[joints.q]\ntype = 'revolute'\n"
    "child = 'a'\naxis = [0, 1, 0]\nlimits = { lower = -0.2, upper = 1.0 }\n"
)
STONE = (
    "name = 'stone'\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 2\n[joints.z]\n"
    "type = 'prismatic'\nchild = 'b'\naxis = [0, 0, 1]\n"
)
SLIDE = (
    "name = 'slide'\n[bodies.b]\nmass = 2\n[joints.x]\ntype = 'prismatic'\nchild = 'b'\n"
    "axis = [1, 0, 0]\n"
)


def test_events_and_limits_of_a_run_are_those_of_the_run_alone() -> None:
    arm = lw.load(ARM)
    starts = {"q": np.array([-0.1, 0.3, 0.9, 0.5, -0.15, 0.0, 0.2, 0.7, 0.95])}
    events = {"passes": "q - 0.6", "slow": {"when": "dq - 1.5", "action": "stop"}}
    found = simulate_both(arm, 3.0, 9, q0=starts, events=events)
    assert "the limit 'q upper' is reached" in found["status"].values[8]
    assert "by event 'slow'" in found["status"].values[0]


def test_events_of_free_fall_have_their_closed_form_in_every_run() -> None:
    stone, heights = lw.load(STONE), RNG.uniform(1, 5, 20)
    events = {"half": "z - 0.5", "ground": {"when": "z", "action": "stop"}, "ticks": "sin(200*t)"}
    found = lw.simulate(stone, 2.0, {"z": heights}, events=events, max_step=0.005, threads=1)
    end = np.sqrt(2 * heights / 9.81)
    np.testing.assert_allclose(found["end_time"].values, end, rtol=1e-13)
    np.testing.assert_allclose(found["qd_end"].values[:, 0], -9.81 * end, rtol=1e-13)
    names, times, runs = (found[f"event_{key}"].values for key in ("name", "time", "run"))
    half = np.sqrt(2 * (heights - 0.5) / 9.81)
    np.testing.assert_allclose(times[names == "half"], half, rtol=1e-13)
    np.testing.assert_array_equal(runs[names == "half"], np.arange(20))
    highest = int(np.argmax(heights))
    ticks = times[(names == "ticks") & (runs == highest)]
    np.testing.assert_allclose(ticks, np.pi / 200 * np.arange(1, len(ticks) + 1), rtol=1e-13)
    assert len(ticks) == int(200 * end[highest] / np.pi)


def test_starts_beyond_a_limit_have_a_status() -> None:
    found = lw.simulate(lw.load(ARM), 0.1, {"q": [2.0, 0.5]})
    first, second = found["status"].values
    assert first == (
        "cannot start: the motion starts 1 beyond 'q upper'; "
        'start on the right side of it, or use stops="ignore" for limits'
    )
    assert second == "finished"
    ignored = lw.simulate(lw.load(ARM), 0.1, {"q": [2.0, 0.5]}, stops="ignore")
    assert set(ignored["status"].values) == {"finished"}


def test_forces_may_differ_from_run_to_run() -> None:
    slide, forces = lw.load(SLIDE), RNG.uniform(-3, 3, 10)
    times = np.array([0.0, 0.4, 1.0])
    ramps = np.column_stack([np.zeros(10), forces, forces])
    t = np.linspace(0, 1, 5)
    by_number, by_array, by_table = (
        lw.simulate(slide, 1.0, torque=torque, samples=5)["q"].values[..., 0]
        for torque in ({"x": forces}, forces[:, None], {"x": (times, ramps)})
    )
    exact = forces[:, None] * t**2 / 4
    np.testing.assert_allclose(by_number, exact, atol=1e-10)
    np.testing.assert_array_equal(by_array, by_number)
    ramp = np.where(t < 0.4, t**3 / 2.4, 0.4**2 / 6 + 0.2 * (t - 0.4) + (t - 0.4) ** 2 / 2)
    np.testing.assert_allclose(by_table, forces[:, None] * ramp / 2, atol=1e-10)


def test_controllers_with_set_points_are_compiled() -> None:
    """Gains and set points may differ; a lane is the run alone, which SciPy confirms."""
    arm = lw.gallery("elbow")
    laws = [lw.control.pid(arm, [x, 0.3], kp, 3, 5) for x, kp in ((0.1, 40), (0.5, 90))]
    found = lw.simulate(arm, 0.5, torque=laws, samples=5, rtol=1e-11, atol=1e-11)
    for k, law in enumerate(laws):
        alone = lw.simulate(arm, 0.5, torque=law, samples=5, rtol=1e-11, atol=1e-11)
        assert alone.statistics["compiled"] == 1
        assert_same_bits(found, k, alone)
    model = lw.compile(arm, threads=1)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        tau, rate = laws[1](t, y[:2], y[2:4], y[4:])
        return np.concatenate([y[2:4], model.forward_dynamics(y[:2], y[2:4], tau), rate])

    known = solve_ivp(rates, (0, 0.5), np.zeros(6), "DOP853", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found["q_end"].values[1], known.y[:2, -1], atol=1e-10)


def test_set_points_and_moving_references_share_no_program() -> None:
    arm = lw.gallery("elbow")
    way = lw.motion.quintic([0.0, 0.0], [0.1, 0.3], 0.1)
    laws = [lw.control.pid(arm, reference, 40, 3, 5) for reference in ([0.1, 0.3], way)]
    found = lw.simulate(arm, 0.2, torque=laws, samples=5)
    for k, law in enumerate(laws):
        assert_same_bits(found, k, lw.simulate(arm, 0.2, torque=law, samples=5))
    assert found["compiled"].values.tolist() == [True, False]


def test_a_law_without_reference_drives_all_runs() -> None:
    import casadi as ca

    slide = lw.load(SLIDE)
    t, q, qd = ca.SX.sym("t"), ca.SX.sym("q", 1), ca.SX.sym("qd", 1)
    z, r = ca.SX.sym("z", 1), ca.SX.sym("r", 0)
    law = ca.Function("law", [t, q, qd, z, r], [-8 * q - z, q])
    feedback = Feedback(law, ("z",), (0.5,), Reference(lambda t: np.zeros(0)))
    starts = {"x": [0.2, -0.4]}
    found = lw.simulate(slide, 1.0, starts, torque=feedback, samples=4)
    for k, x in enumerate(starts["x"]):
        alone = lw.simulate(slide, 1.0, {"x": x}, torque=feedback, samples=4)
        np.testing.assert_allclose(found["q"].values[k], alone.q, atol=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "given", "words"),
    [
        (ARM, {"events": {"e": lambda t, q, qd: q[0]}, "q0": {"q": [0.1]}}, "Python functions"),
        (ARM.replace("limits", "breaks = { force = 1 }\nlimits"), {"q0": {"q": [0.1]}}, "break"),
        (ARM, {"torque": {"q": [1.0, 2.0]}, "q0": {"q": [0.1] * 3}}, "numbers of runs"),
        (ARM, {"torque": np.zeros((2, 3))}, "shape"),
    ],
)
def test_events_and_inputs_that_ensembles_lack_are_named(
    mechanism: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(LinkwrightError, match=words):
        lw.simulate(lw.load(mechanism), 1.0, **given)


def test_starts_and_parameters_of_each_run_may_have_units() -> None:
    arm = lw.gallery("elbow")
    found = lw.simulate(
        arm,
        0.1,
        q0={"q1": ["30 deg", 0.5], "q2": "10 deg"},
        parameters={"m2": np.array(["1500 g", "2 kg"])},
        samples=2,
    )
    np.testing.assert_allclose(found["q"].values[:, 0], np.c_[[np.pi / 6, 0.5], [np.pi / 18] * 2])
    np.testing.assert_array_equal(found["m2"].values, [1.5, 2.0])
    with pytest.raises(LinkwrightError, match=r"q0 of 'q1': .*'1 kg'"):
        lw.simulate(arm, 0.1, q0={"q1": ["1 kg", 0.5]})
    with pytest.raises(LinkwrightError, match="is in m; give it in kg"):
        lw.simulate(arm, 0.1, parameters={"m2": ["1 m", 0.5]})


def test_one_value_for_each_run_makes_an_ensemble() -> None:
    arm = lw.gallery("elbow")
    for given in ({"q0": [0.1, 0.2]}, {"parameters": {"m2": 2.0}}, {"torque": {"q1": 1.0}}):
        assert isinstance(lw.simulate(arm, 0.01, samples=2, **given), lw.simulation.Run)
    for given in (
        {"q0": [[0.1, 0.2]]},
        {"qd0": {"q1": [0.1]}},
        {"parameters": {"m2": [2.0]}},
        {"torque": [[1.0, 0.0]]},
    ):
        found = lw.simulate(arm, 0.01, samples=2, **given)
        assert isinstance(found, xarray.Dataset)
        assert found.sizes["run"] == 1
