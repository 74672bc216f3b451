"""Sensitivities against closed forms, SciPy's variational equations, and differences of runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.errors import FileError, LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.mechanism import replace_part_fields
from linkwright.simulation import Event, Run
from linkwright.simulation.feedback import Feedback, Reference
from tests.commands import ok
from tests.simulate.known import TOP, spinning

OSCILLATOR = lw.Mechanism(
    name="oscillator", parameters={"m": 2.0, "k": 50.0, "c": 1.5}, gravity=[0, 0, 0],
    bodies={"b": {"mass": "m"}},
    joints={"x": {"type": "prismatic", "child": "b", "stiffness": "k", "damping": "c"}},
)  # fmt: skip
FALL = lw.Mechanism(
    name="fall", parameters={"g": 9.81}, gravity=[0, 0, "-g"], bodies={"b": {"mass": 1.0}},
    joints={"z": {"type": "prismatic", "child": "b"}},
)  # fmt: skip
PENDULUM = lw.Mechanism(
    name="pendulum", parameters={"m": 1.5, "l": 0.8}, gravity=[0, "-9.81", 0],
    bodies={"rod": {"mass": "m", "center": ["l", 0, 0]}},
    joints={"q": {"type": "revolute", "child": "rod"}},
)  # fmt: skip
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def of(run: Run, key: str, wrt: str) -> np.ndarray:
    assert run.sensitivity is not None
    return run.sensitivity[key].sel(wrt=wrt).values


# -- closed forms ----------------------------------------------------------------------------------


def test_free_fall_has_its_closed_form() -> None:
    run = lw.simulate(FALL, 2.0, [1.0], [3.0], samples=5, sensitivity=["g", "q0", "qd0"])
    t, one = run.t, np.ones(5)
    exact = {"g": (-(t**2) / 2, -t), "q0.z": (one, 0 * t), "qd0.z": (t, one)}
    assert run.sensitivity is not None
    assert list(run.sensitivity["wrt"].values) == list(exact)
    for wrt, (q, qd) in exact.items():
        np.testing.assert_allclose(of(run, "q", wrt)[:, 0], q, atol=1e-12)
        np.testing.assert_allclose(of(run, "qd", wrt)[:, 0], qd, atol=1e-12)
    assert list(run.sensitivity["wrt_units"].values) == ["SI unit", "m", "m/s"]
    assert run.sensitivity.attrs["status"] == "complete"


def test_an_oscillator_has_its_closed_form() -> None:
    arm = OSCILLATOR.with_parameters(c=0.0)
    run = lw.simulate(arm, 3.0, [0.4], samples=31, sensitivity=["k", "m", "q0.x"], **TIGHT)
    t, m, k = run.t, 2.0, 50.0
    w = np.sqrt(k / m)
    by_w = -0.4 * t * np.sin(w * t)  # x = x0 cos wt
    np.testing.assert_allclose(of(run, "q", "k")[:, 0], by_w * w / (2 * k), atol=1e-9)
    np.testing.assert_allclose(of(run, "q", "m")[:, 0], -by_w * w / (2 * m), atol=1e-9)
    np.testing.assert_allclose(of(run, "q", "q0.x")[:, 0], np.cos(w * t), atol=1e-9)
    np.testing.assert_allclose(of(run, "qd", "q0.x")[:, 0], -w * np.sin(w * t), atol=1e-8)


def test_a_pendulum_has_the_variational_equations_of_scipy() -> None:
    def rates(t: float, y: np.ndarray) -> list[float]:
        q, v, a, b, c, d = y
        bend = 9.81 / 0.8 * np.sin(q)
        return [v, -9.81 / 0.8 * np.cos(q), b, bend * a + 9.81 / 0.8**2 * np.cos(q), d, bend * c]

    ask = ["l", "m", "q0"]
    run = lw.simulate(PENDULUM, 2.0, [0.3], [1.0], samples=11, sensitivity=ask, **TIGHT)
    start = [0.3, 1.0, 0, 0, 1, 0]
    peer = solve_ivp(rates, (0, 2), start, "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    np.testing.assert_allclose(of(run, "q", "l")[:, 0], peer[2], atol=1e-8)
    np.testing.assert_allclose(of(run, "qd", "l")[:, 0], peer[3], atol=1e-7)
    np.testing.assert_allclose(of(run, "q", "q0.q")[:, 0], peer[4], atol=1e-8)
    np.testing.assert_allclose(of(run, "q", "m"), 0, atol=1e-12)  # a mass point's mass cancels


def test_a_free_top_has_its_closed_form_in_tangent_coordinates() -> None:
    w, t = np.array([0.4, -0.3, 2.0]), 1.2
    start = np.array([0, 0, 0, 1.0, 0, 0, 0])
    run = lw.simulate(TOP, t, start, [*w, 0, 0, 0], samples=3, sensitivity=["q0", "qd0"], **TIGHT)
    assert run.sensitivity is not None
    q = run.sensitivity["q"].isel(time=-1)
    for k, name in enumerate(("f.wx", "f.wy", "f.wz")):
        (a, u), (b, v) = (spinning(w + s * 1e-5 * np.eye(3)[k], t) for s in (1, -1))
        near = q.sel(wrt=f"qd0.{name}").values[3:]
        np.testing.assert_allclose(near, (a - b) / 2e-5, atol=1e-8)
        found = run.sensitivity["qd"].isel(time=-1).sel(wrt=f"qd0.{name}").values[:3]
        np.testing.assert_allclose(found, (u - v) / 2e-5, atol=1e-8)
    for name in ("f.wx", "f.wy", "f.wz"):  # a turn of the start turns the whole motion
        turned = q.sel(wrt=f"q0.{name}").values[3:]
        assert np.linalg.norm(turned) == pytest.approx(0.5, abs=1e-10)
        assert turned @ run.q[-1, 3:] == pytest.approx(0, abs=1e-10)


# -- differences of runs ---------------------------------------------------------------------------


def differences(
    arm: lw.Mechanism, wrt: str, q0: dict[str, float], qd0: dict[str, float], **options: object
) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of runs whose starts are assembled again."""
    found = []
    for h in (1e-5, -1e-5):
        other, q, qd = arm, dict(q0), dict(qd0)
        start, _, name = wrt.rpartition(".")
        if start == "":
            value = float(lw.derive(arm, parameters=[name]).parameters[name])
            other = arm.with_parameters(**{name: value + h})
        else:
            table = q if start == "q0" else qd
            table[name] = table[name] + h
        run = lw.simulate(other, 0.6, q, qd, samples=4, rtol=1e-12, atol=1e-13, **options)  # type: ignore[arg-type]
        found.append((run.q, run.qd))
    (a, u), (b, v) = found
    return (a - b) / 2e-5, (u - v) / 2e-5


def integral_controller() -> Feedback:
    """Forces −20 q − 2 q̇ − 5 z with ż = q, whose states z start at numbers."""
    q, qd, z = (ca.SX.sym(name, 2) for name in ("q", "qd", "z"))
    symbols = [ca.SX.sym("t"), q, qd, z, ca.SX.sym("r", 0)]
    law = ca.Function("law", symbols, [-20 * q - 2 * qd - 5 * z, q])
    return Feedback(law, ("a", "b"), (0.1, 0.2), Reference(lambda t: np.zeros(0)))


CASES = {
    "loop": ("four-bar", {"theta1": 1.0}, {"theta1": 2.0}, ["l2", "q0", "qd0"], {}),
    "another independent coordinate": (
        "four-bar", {"theta3": 1.8}, {"theta3": -1.0}, ["l2", "q0"], {},
    ),
    "baumgarte": (
        "four-bar", {"theta1": 1.0}, {"theta1": 2.0}, ["l2"], {"stabilization": "baumgarte"},
    ),
    "rolling": (
        "rolling-disk", {"theta": 0.3, "x": 0.0, "y": 0.0, "psi": 0.1, "phi": 0.0},
        {"phi": 3.0, "psi": 0.1, "theta": 0.0}, ["r", "q0.theta", "q0.x", "qd0"], {},
    ),
    "tables and expressions": (
        "elbow", {"q1": 0.5, "q2": 0.2}, {"q1": 0.0, "q2": 0.0}, ["l1", "q0"],
        {"by": "kane",
         "torque": {"q1": "2*sin(t) - 3*dq1", "q2": ([0, 0.2, 0.5], [0.0, 1.0, 0.0])}},
    ),
    "controller": (
        "elbow", {"q1": 0.5, "q2": 0.2}, {"q1": 0.0, "q2": 0.0}, ["q0.q1", "qd0.q2"],
        {"torque": integral_controller()},
    ),
    "states of hamilton": (
        "elbow", {"q1": 0.5, "q2": 0.2}, {"q1": 0.3, "q2": 0.0}, ["m2", "q0.q1", "qd0.q2"],
        {"by": "hamilton"},
    ),
    "states of hamilton in a loop": (
        "four-bar", {"theta1": 1.0}, {"theta1": 2.0}, ["l2", "q0"], {"by": "hamilton"},
    ),
    "states of free bodies": (
        "elbow", {"q1": 0.5, "q2": 0.2}, {"q1": 0.3, "q2": 0.0}, ["m2", "l1", "q0.q1"],
        {"by": "newton_euler"},
    ),
    "superabundant coordinates": (
        "elbow", {"q1": 0.5, "q2": 0.2}, {"q1": 0.3, "q2": 0.0}, ["q0.q1"], {"by": "approximate"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_sensitivities_are_differences_of_runs(case: str) -> None:
    name, q0, qd0, ask, options = CASES[case]
    arm = lw.gallery(name)
    run = lw.simulate(arm, 0.6, q0, qd0, samples=4, sensitivity=ask, **TIGHT, **options)
    assert run.sensitivity is not None
    for wrt in run.sensitivity["wrt"].values:
        q, qd = differences(arm, str(wrt), q0, qd0, **options)
        np.testing.assert_allclose(of(run, "q", wrt), q, atol=1e-8 * max(1, np.abs(q).max()))
        np.testing.assert_allclose(of(run, "qd", wrt), qd, atol=1e-7 * max(1, np.abs(qd).max()))


def test_a_driven_loop_follows_its_drive_whatever_its_lengths() -> None:
    bars = lw.gallery("four-bar")
    motor = {"type": "drive", "on": "theta1", "position": "1 + 2*t"}
    driven = replace_part_fields(bars, independent=(), constraints={"motor": motor})
    run = lw.simulate(driven, 0.6, {"theta1": 1.0}, samples=4, sensitivity=["l2"], **TIGHT)
    np.testing.assert_allclose(of(run, "q", "l2")[:, 0], 0, atol=1e-10)
    q, _ = differences(driven, "l2", {"theta1": 1.0}, {})
    np.testing.assert_allclose(of(run, "q", "l2"), q, atol=1e-8)


def test_compliant_contacts_do_not_end_sensitivities() -> None:
    arm = replace_part_fields(
        FALL, contacts={"floor": {"point": "b", "stiffness": 2e4, "damping": 0.3}}
    )
    run = lw.simulate(arm, 0.6, {"z": 0.5}, {"z": 0.0}, samples=4, sensitivity=["g", "q0"], **TIGHT)
    assert [event.what for event in run.events] == ["touches", "leaves"]
    assert run.sensitivity is not None
    assert run.sensitivity.attrs["status"] == "complete"
    for wrt in ("g", "q0.z"):
        q, qd = differences(arm, wrt, {"z": 0.5}, {"z": 0.0})
        np.testing.assert_allclose(of(run, "q", wrt), q, atol=1e-6)
        np.testing.assert_allclose(of(run, "qd", wrt), qd, atol=1e-5)


def test_derivatives_of_a_loop_stay_in_its_tangent_space() -> None:
    bars = lw.gallery("four-bar")
    run = lw.simulate(bars, 2.0, {"theta1": 1.0}, samples=21, sensitivity=["q0"], **TIGHT)
    J = lw.compile(bars).constraint_jacobian(run.q)
    left = np.einsum("tij,tj->ti", J, of(run, "q", "q0.theta1"))
    assert np.abs(left).max() < 1e-10  # of a motion that has its own steps: a second copy


# -- how they are made and kept --------------------------------------------------------------------


def test_a_run_is_the_same_with_sensitivities(tmp_path: Path) -> None:
    bars = lw.gallery("four-bar")
    plain = lw.simulate(bars, 0.6, {"theta1": 1.0}, {"theta1": 2.0}, samples=4)
    run = lw.simulate(
        bars, 0.6, {"theta1": 1.0}, {"theta1": 2.0}, samples=4,
        sensitivity=["l2", "q0", "qd0"],
    )  # fmt: skip
    np.testing.assert_array_equal(plain.q, run.q)
    assert plain.sensitivity is None
    assert run.statistics["sensitivity_steps"] >= run.statistics["steps"]
    run.save(tmp_path / "run.nc")
    again = lw.load_run(tmp_path / "run.nc")
    assert run.sensitivity is not None
    assert run.sensitivity.identical(again.sensitivity)
    assert run.data["sensitivity_q"].dims == ("sensitivity_time", "coordinate", "wrt")


def test_a_file_with_damaged_sensitivities_is_rejected(tmp_path: Path) -> None:
    run = lw.simulate(FALL, 1.0, samples=3, sensitivity=["g"])
    for change in (
        lambda data: data.drop_vars("sensitivity_qd"),
        lambda data: data.assign_attrs(sensitivity_status=3),
        lambda data: data.assign(sensitivity_q=data["sensitivity_q"] * np.nan),
    ):
        change(run.data).to_netcdf(tmp_path / "bad.nc", engine="scipy")
        with pytest.raises(FileError, match="sensitivit"):
            lw.load_run(tmp_path / "bad.nc")


def test_sensitivities_end_at_an_event_that_changes_the_state() -> None:
    events = {"turn": Event("z", {"dz": "-0.5*dz"}), "seen": "z - 0.5"}
    run = lw.simulate(FALL, 1.0, [1.0], samples=11, events=events, sensitivity=["g"])
    assert [event.name for event in run.events][:2] == ["seen", "turn"]
    assert run.sensitivity is not None
    touch = np.sqrt(2 / 9.81)
    times = run.sensitivity["time"].values
    np.testing.assert_array_equal(times, run.t[run.t < touch])
    assert run.sensitivity.attrs["until"] == times[-1]
    assert "'turn'" in run.sensitivity.attrs["status"]
    np.testing.assert_allclose(of(run, "q", "g")[:, 0], -(times**2) / 2, atol=1e-12)


def test_sensitivities_reach_an_event_that_ends_the_run() -> None:
    ground = {"ground": Event("z", "stop")}
    run = lw.simulate(FALL, 1.0, [1.0], samples=11, events=ground, sensitivity=["g"])
    assert run.sensitivity is not None
    assert run.sensitivity.attrs["status"] == "complete"
    assert run.sensitivity.attrs["until"] == pytest.approx(np.sqrt(2 / 9.81), abs=1e-9)
    np.testing.assert_allclose(of(run, "q", "g")[:, 0], -(run.t**2) / 2, atol=1e-12)


def test_sensitivities_end_where_a_ball_bounces() -> None:
    ball = lw.gallery("bouncing-ball")
    run = lw.simulate(ball, 0.8, samples=9, sensitivity=["r", "qd0.fall.x"])
    assert run.sensitivity is not None
    assert "floor" in run.sensitivity.attrs["status"]
    assert 0.3 < run.sensitivity.attrs["until"] < run.events[0].t
    np.testing.assert_allclose(
        of(run, "q", "qd0.fall.x")[:, 0], run.sensitivity["time"].values, atol=1e-12
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integrator": "radau"}, "cannot be computed with 'radau'"),
        ({"integrator": "rk4"}, "cannot be computed with 'rk4'"),
        ({"coordinates": "minimal"}, "cannot be computed with minimal coordinates"),
        ({"torque": lambda t, q, qd: [0.0]}, "inputs that are compiled"),
        ({"torque": {"x": "-sign(dx)"}}, "an input jumps"),
        ({"torque": {"x": "-k*x"}}, "depends on 'k'"),
    ],
)
def test_what_has_no_sensitivities_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        lw.simulate(OSCILLATOR, 0.1, sensitivity=["k"], **options)  # type: ignore[arg-type]


def test_friction_that_sticks_is_named() -> None:
    with pytest.raises(UnsupportedError, match="friction that sticks"):
        lw.simulate(lw.gallery("stick-slip"), 0.1, sensitivity=["q0"])


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["k9"], NameNotFoundError, "unknown parameter or start 'k9'"),
        (["q0.y"], NameNotFoundError, "did you mean 'q0.x'"),
        ("k", LinkwrightError, "not a list of names"),
        (3, LinkwrightError, "not a list of names"),
        ([], LinkwrightError, "has no names"),
    ],
)
def test_wrong_names_are_named(names: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lw.simulate(OSCILLATOR, 0.1, sensitivity=names)  # type: ignore[arg-type]


def test_a_dependent_coordinate_cannot_vary_alone() -> None:
    with pytest.raises(LinkwrightError, match="'theta2' cannot vary alone"):
        lw.simulate(lw.gallery("four-bar"), 0.1, {"theta1": 1.0}, sensitivity=["q0.theta2"])


def test_the_command_shows_sensitivities() -> None:
    ask = ["l1", "q0.q2"]
    run = lw.simulate(lw.gallery("elbow"), 0.2, {"q1": 0.5}, sensitivity=ask)
    shown = ok("simulate", "elbow", "q1=0.5", "-t", "0.2", "--sensitivity", ",".join(ask))
    assert "sensitivity: of q at t = 0.2 s, complete\n" in shown
    for wrt in ask:
        a, b = of(run, "q", wrt)[-1]
        assert f"by {wrt}: q1 {a:.6g}, q2 {b:.6g}\n" in shown


def test_a_controller_with_a_period_is_rejected() -> None:
    law = replace(integral_controller(), period=0.01)
    with pytest.raises(UnsupportedError, match="a controller with a period"):
        lw.simulate(lw.gallery("elbow"), 0.1, torque=law, sensitivity=["m2"])


# -- ensembles -------------------------------------------------------------------------------------


ENSEMBLES = {
    "chain": (PENDULUM, "q", [0.3, 0.5, 0.7], {"m": [1.0, 1.5, 2.0]}, ["l", "q0"]),
    "loop": (
        lw.gallery("four-bar"), "theta1", [0.9, 1.0, 1.1], {"m2": [1.0, 1.5, 2.0]},
        ["l2", "q0", "qd0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ["chain", pytest.param("loop", marks=pytest.mark.slow)])
def test_runs_of_an_ensemble_have_the_sensitivities_of_the_runs_alone(case: str) -> None:
    arm, crank, angles, varied, ask = ENSEMBLES[case]
    options = {"samples": 4, "sensitivity": ask, **TIGHT}
    found = lw.simulate(arm, 0.6, {crank: angles}, {crank: 2.0}, parameters=varied, **options)
    assert set(found["sensitivity_status"].values) == {"complete"}
    for k, angle in enumerate(angles):
        own = arm.with_parameters(**{name: values[k] for name, values in varied.items()})
        alone = lw.simulate(own, 0.6, {crank: angle}, {crank: 2.0}, **options)
        assert alone.sensitivity is not None
        assert found["wrt"].values.tolist() == alone.sensitivity["wrt"].values.tolist()
        for key in ("q", "qd"):
            ours = found[f"sensitivity_{key}"].values[k]
            np.testing.assert_allclose(ours, alone.sensitivity[key].values, rtol=1e-7, atol=1e-8)


def test_sensitivities_end_in_each_run_before_its_own_jump() -> None:
    events = {"turn": Event("z", {"dz": "-0.5*dz"})}
    found = lw.simulate(
        FALL, 1.0, {"z": [1.0, 9.0, 2.0]}, samples=11, events=events, sensitivity=["g", "q0"]
    )
    t = found["time"].values
    for k, height in enumerate([1.0, 9.0, 2.0]):
        reached = t[t < np.sqrt(2 * height / 9.81)]
        assert found["sensitivity_until"].values[k] == reached[-1]
        own = found["sensitivity_q"].sel(run=k, coordinate="z", wrt="g").values
        np.testing.assert_allclose(own[: len(reached)], -(reached**2) / 2, atol=1e-12)
        assert np.isnan(own[len(reached) :]).all()
        status = found["sensitivity_status"].values[k]
        assert (status == "complete") if height == 9.0 else ("'turn'" in status)


def test_sensitivities_of_an_ensemble_with_a_varied_limit_are_those_of_single_runs() -> None:
    limits = {"lower": "h", "upper": 10}
    fall = lw.Mechanism(
        name="fall", parameters={"h": 0.0, "g": 9.81}, gravity=[0, 0, "-g"],
        bodies={"b": {"mass": 1}},
        joints={"z": {"type": "prismatic", "child": "b", "limits": limits}},
    )  # fmt: skip
    found = lw.simulate(
        fall, 1.0, {"z": 1.0}, parameters={"h": [0.0, 0.5]}, samples=11, sensitivity=["g"]
    )
    t = found["time"].values
    for k, height in enumerate([1.0, 0.5]):
        reached = t[t < np.sqrt(2 * height / 9.81)]
        own = found["sensitivity_q"].values[k, :, 0, 0]
        np.testing.assert_allclose(own[: len(reached)], -(reached**2) / 2, atol=1e-12)
        assert np.isnan(own[len(reached) :]).all()


def test_tables_of_a_run_contain_its_sensitivities(tmp_path: Path) -> None:
    events = {"turn": Event("z", {"dz": "-0.5*dz"})}
    run = lw.simulate(FALL, 1.0, [1.0], samples=11, events=events, sensitivity=["g"])
    run.save(tmp_path / "run.csv")
    table = np.genfromtxt(tmp_path / "run.csv", delimiter=",", names=True, deletechars="")
    own = table["sensitivity_q_z_by_g"]
    count = int((run.t < np.sqrt(2 / 9.81)).sum())
    np.testing.assert_allclose(own[:count], -(run.t[:count] ** 2) / 2, atol=1e-12)
    assert np.isnan(own[count:]).all()


def test_sensitivities_end_before_a_singular_configuration_and_say_so() -> None:
    run = lw.simulate(lw.gallery("n-four-bar"), 1.0, qd0={"theta0": 1.0}, sensitivity=["g"])
    assert run.status == "finished"
    assert run.singular[0] > run.sensitivity.attrs["until"]
    assert "near a singular configuration (at t = 0." in run.sensitivity.attrs["status"]
