"""Many runs at once are the runs one by one."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import AssemblyError, LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.simulation.compiled_run import TrajectoryRecords

RNG = np.random.default_rng(20261116)


def test_a_run_of_an_ensemble_is_the_run_alone_bit_for_bit() -> None:
    arm = lw.gallery("triple-pendulum")
    q0, qd0 = RNG.uniform(-1, 1, (19, 3)), RNG.uniform(-1, 1, (19, 3))
    found = lw.simulate_ensemble(arm, 1.0, q0, qd0, samples=5)
    assert set(found["status"].values) == {"finished"}
    for k in (0, 7, 8, 18):
        alone = lw.simulate(arm, 1.0, q0[k], qd0[k], samples=5)
        np.testing.assert_array_equal(alone.q, found["q"].values[k])
        np.testing.assert_array_equal(alone.qd, found["qd"].values[k])


def test_threads_do_not_change_results() -> None:
    arm, q0 = lw.gallery("elbow"), {"q1": np.linspace(-1, 1, 40)}
    one, two = (lw.simulate_ensemble(arm, 1.0, q0, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one["q"].values, two["q"].values)


def test_varied_parameters_are_those_of_other_mechanisms() -> None:
    bars = lw.gallery("four-bar")
    values = {"m2": RNG.uniform(0.5, 2, 9), "l2": RNG.uniform(2.9, 3.1, 9)}
    starts = {"theta1": RNG.uniform(0.9, 1.1, 9)}
    found = lw.simulate_ensemble(
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
    found = lw.simulate_ensemble(stone, 2.0, {"z": heights}, {"z": speeds}, samples=9)
    t = found["time"].values
    exact = heights[:, None] + speeds[:, None] * t - 9.81 * t**2 / 2
    np.testing.assert_allclose(found["q"].values[..., 0], exact, atol=1e-7)


def test_a_run_that_fails_leaves_the_others_alone() -> None:
    slide = lw.load(
        "name = 'slide'\n[bodies.b]\nmass = 1\n[joints.x]\ntype = 'prismatic'\nchild = 'b'\naxis = [1, 0, 0]\n"
    )
    found = lw.simulate_ensemble(
        slide, 2.0, {"x": [0.5, 4.0]}, {"x": 0.0}, torque={"x": "-1/sqrt(x)"}, samples=5
    )
    first, second = found["status"].values
    assert first.startswith("stopped at t = ")
    assert second == "finished"
    assert np.isnan(found["q"].values[0, -1]).all()
    assert np.isfinite(found["q"].values[1]).all()


def test_ctrl_c_keeps_what_was_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    advance, calls = TrajectoryRecords.advance, []

    def interrupted(self: TrajectoryRecords, *given: object) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        advance(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(TrajectoryRecords, "advance", interrupted)
    monkeypatch.setattr("linkwright.simulation.compiled_run.INSTRUCTIONS_PER_CALL", 0)
    found = lw.simulate_ensemble(
        lw.gallery("triple-pendulum"), 50.0, {"theta1": [1.0, 2.0]}, samples=1001
    )
    assert all(status.startswith("interrupted at t = ") for status in found["status"].values)
    reached = np.isfinite(found["q"].values[:, :, 0]).sum(axis=1)
    assert (reached > 1).all()
    assert (reached < 1001).all()


def test_inputs_may_not_depend_on_varied_parameters() -> None:
    """Their names stand for the mechanism's own values, also by way of other parameters."""
    arm = lw.gallery("elbow")
    for text in ("-5*m1*q1", "-I1*q1"):
        with pytest.raises(UnsupportedError, match="differs from run to run"):
            lw.simulate_ensemble(
                arm, 0.5, {"q1": [0.3, 0.3]}, parameters={"m1": [1.0, 2.0]}, torque={"q1": text}
            )
        with pytest.raises(UnsupportedError, match="differs from run to run"):
            lw.rollout(
                arm, np.zeros((2, 2)), np.zeros(2), {"q1": text}, parameters={"m1": [1.0, 2.0]}
            )


def test_a_mechanism_that_cannot_be_has_a_status() -> None:
    arm = lw.gallery("elbow")
    found = lw.simulate_ensemble(arm, 0.1, {"q1": 0.3}, parameters={"m1": [-1.0, 1.0]})
    first, second = found["status"].values
    assert first.startswith("cannot start: ")
    assert "negative" in first
    assert second == "finished"
    assert found["compiled"].values.tolist() == [True, True]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"q0": {"q9": [1.0]}}, NameNotFoundError, "q9"),
        ({"parameters": {"m9": [1.0]}}, NameNotFoundError, "m9"),
        ({"q0": {"q1": [1.0, 2.0]}, "qd0": {"q1": [1.0, 2.0, 3.0]}}, LinkwrightError, "runs"),
        ({"q0": np.zeros((2, 5))}, LinkwrightError, "shape"),
        ({"torque": lambda t, q, qd: [0, 0]}, UnsupportedError, "Python function"),
        ({"integrator": "radau"}, UnsupportedError, "radau"),
    ],
)
def test_what_an_ensemble_cannot_do_is_named(
    given: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        lw.simulate_ensemble(lw.gallery("elbow"), 1.0, **given)  # type: ignore[arg-type]


def test_starts_that_do_not_close_are_refused() -> None:
    bars = lw.gallery("four-bar")
    closed = lw.assemble(bars, {"theta1": 1.0})
    with pytest.raises(AssemblyError, match="run 1"):
        lw.simulate_ensemble(bars, 1.0, np.array([closed, closed + 0.1]))


def test_limits_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="stops"):
        lw.simulate_ensemble(lw.gallery("six-axis"), 1.0)


def test_simulate_points_to_ensembles() -> None:
    with pytest.raises(LinkwrightError, match="simulate_ensemble"):
        lw.simulate(lw.gallery("elbow"), 1.0, q0=np.zeros((3, 2)))
