"""Fixed steps: orders against closed forms, symmetry, energy over long times, constraints."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.kinematics.assembly import nearest_constrained_velocities
from tests.commands import ok, run
from tests.simulate.known import FREE_ARM, PENDULUM, TOP, n_four_bar, pendulum, spinning

ORDERS = {
    "euler": 1, "semi-implicit": 1, "heun": 2, "midpoint": 2, "variational": 2, "rk4": 4,
}  # fmt: skip


def order(errors: list[float]) -> float:
    return float(np.log2(errors[0] / errors[1]))


@pytest.mark.parametrize("method", ORDERS)
def test_orders_on_the_pendulum(method: str) -> None:
    """Elliptic functions: halving the step divides the error by 2 to the order."""
    model, errors = lw.compile(PENDULUM), []
    for n in (100, 200):
        q, _ = lw.rollout(model, [np.pi], [0.0], None, 1.0 / n, n, method=method)
        errors.append(abs(np.cos(q[0]) - pendulum(1.0)))
    assert abs(order(errors) - ORDERS[method]) < 0.2, errors


@pytest.mark.parametrize("method", [m for m in ORDERS if m != "variational"])
def test_orders_on_the_free_rigid_body(method: str) -> None:
    """Torque-free and axisymmetric; quaternions keep their length."""
    model, w, errors = lw.compile(TOP), np.array([0.9, -0.4, 2.0]), []
    turned, speeds = spinning(w, 1.0)
    for n in (40, 80):
        q, qd = lw.rollout(model, model.neutral(), [*w, 0, 0, 0], None, 1 / n, n, method=method)
        assert abs(np.linalg.norm(q[3:]) - 1) < 1e-14
        errors.append(max(np.abs(q[3:] - turned).max(), np.abs(qd[:3] - speeds).max()))
    assert abs(order(errors) - ORDERS[method]) < 0.2, errors


@pytest.mark.parametrize("method", ORDERS)
def test_orders_on_a_loop(method: str) -> None:
    """The slider-crank of SUNDIALS, its published angle at 1 s."""
    crank, errors = lw.gallery("slider-crank-sundials"), []
    model = lw.compile(crank)
    for n in (20, 40):
        q, qd = lw.rollout(
            model, model.home(), np.zeros(model.nv), None, 1 / n, n, method=method
        )  # fmt: skip
        errors.append(abs(q[0] - 1.315420570882))
        assert np.abs(model.constraint_residual(q)).max() < 1e-12
        assert np.abs(model.constraint_velocity(q, qd)).max() < 1e-12
    assert abs(order(errors) - ORDERS[method]) < 0.3, errors


@pytest.mark.parametrize("name", ["rolling-disk", "four-bar"])
@pytest.mark.parametrize("method", ["rk4", "midpoint", "variational"])
def test_orders_under_constraints(name: str, method: str) -> None:
    mechanism = lw.gallery(name)
    model, rng = lw.compile(mechanism), np.random.default_rng(0)
    q = model.home()
    qd = nearest_constrained_velocities(mechanism, q, rng.uniform(-1, 1, model.nv))
    truth = lw.simulate(mechanism, 0.2, q0=q, qd0=qd, samples=2, rtol=1e-12, atol=1e-13)
    errors = []
    for n in (8, 16):
        end, _ = lw.rollout(model, q, qd, None, 0.2 / n, n, method=method)
        errors.append(np.abs(end - truth.q[-1]).max())
    assert abs(order(errors) - ORDERS[method]) < 0.25, errors


@pytest.mark.parametrize(
    ("mechanism", "q", "dt"),
    [(PENDULUM, [2.0], 5e-3),
     pytest.param(lw.gallery("elbow"), [1.0, 0.5], 2e-3, marks=pytest.mark.slow)],
    ids=["pendulum", "elbow"],
)  # fmt: skip
def test_energy_does_not_drift(mechanism: lw.Mechanism, q: list[float], dt: float) -> None:
    """A million variational steps: the error of energy swings within bounds and has no trend."""
    steps = 1_000_000
    model = lw.compile(mechanism, threads=1)
    history = lw.rollout(
        model, q, np.zeros(len(q)), None, dt, steps, method="variational", history=True
    )
    energy = model.kinetic_energy(*history) + model.potential_energy(history[0])
    error = energy - energy[0]
    tenth = len(error) // 10
    swing = np.abs(error[:tenth]).max()
    assert np.abs(error).max() < 1.5 * swing
    means = error[: 10 * tenth].reshape(10, tenth).mean(axis=1)
    assert np.ptp(means) < 0.05 * swing
    assert swing < 1e-3 * np.ptp(model.potential_energy(history[0]))


@pytest.mark.parametrize(
    ("name", "method"),
    [("elbow", "midpoint"), ("elbow", "variational"), ("four-bar", "variational")],
)
def test_symmetric_steps_lead_back(name: str, method: str) -> None:
    """Under loops only the variational one is symmetric: the midpoint rule projects at its end."""
    model = lw.compile(lw.gallery(name).without("friction", "damping"))
    q, qd = model.home(), np.zeros(model.nv)
    there = lw.rollout(model, q, qd, None, 1e-2, 100, method=method)
    back = lw.rollout(model, *there, None, -1e-2, 100, method=method)
    assert np.abs(there[0] - q).max() > 0.1
    np.testing.assert_allclose(back[0], q, atol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_midpoint_keeps_loops_closed(name: str) -> None:
    """Five turns and more: closure does not drift, and energy by the second order of the step, for
    which the variational rule is there."""
    drifts = []
    for step in (4e-3, 2e-3):
        run = lw.simulate(
            lw.gallery(name).without("friction", "damping"), 10.0, qd0={"theta1": 3.0},
            integrator="midpoint", step=step, samples=101,
        )  # fmt: skip
        assert run.finished
        assert run.closure.max() < 1e-10
        drifts.append(np.abs(run.energy - run.energy[0]).max() / run.kinetic.max())
    assert drifts[0] < 1e-3
    assert abs(order(drifts) - 2) < 0.3


def test_midpoint_goes_past_dead_centres() -> None:
    """A five-bar, whose independent coordinates drive it badly at 0.35 s: such steps are made again
    with pivoting, and are of the second order at least."""
    linkage = lw.gallery("five-bar")
    truth = lw.simulate(linkage, 0.6, samples=7, rtol=1e-11, atol=1e-12)
    errors = []
    for step in (2e-3, 1e-3):
        run = lw.simulate(linkage, 0.6, samples=7, integrator="midpoint", step=step)
        assert run.finished
        assert run.closure.max() < 1e-10
        errors.append(np.abs(run.q - truth.q).max())
    assert order(errors) > 1.7, errors


@pytest.mark.slow
def test_energy_of_a_loop_does_not_drift() -> None:
    """Twenty thousand steps of a four-bar: the variational ones have no trend, a thousandth of the
    swing; the midpoint rule, which projects, has one: this test can see it."""
    model = lw.compile(lw.gallery("four-bar").without("friction", "damping"), threads=1)
    trends, steps = {}, 20_000
    for method in ("variational", "midpoint"):
        history = lw.rollout(
            model, model.home(), np.zeros(3), None, 5e-3, steps, method=method, history=True
        )
        energy = model.kinetic_energy(*history) + model.potential_energy(history[0])
        slope = np.polyfit(np.linspace(0, 1, steps + 1), energy, 1)[0]
        trends[method] = abs(slope) / np.ptp(energy)
    assert trends["variational"] < 1e-3
    assert trends["midpoint"] > 0.05


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_momentum_of_a_free_base(method: str) -> None:
    model = lw.compile(FREE_ARM)
    start = model.neutral(), np.array([0.4, -0.3, 0.5, 0.1, 0.2, -0.1, 1.5])
    h = model.momentum(*start)
    ends = [
        np.abs(model.momentum(*lw.rollout(model, *start, None, 1 / n, n, method=method)) - h).max()
        for n in (50, 100)
    ]
    assert ends[1] < 2e-4
    assert order(ends) > ORDERS[method] - 0.3


def test_simulate_and_rollout_are_one() -> None:
    """A shorter last step, samples inside of steps, drives of all kinds."""
    arm, drive = lw.gallery("elbow"), "sin(3*t) - dq1"
    found = lw.simulate(arm, 1.0, integrator="rk4", step=1e-2, torque={"q1": drive}, samples=101)
    q, _ = lw.rollout(lw.compile(arm), [0, 0], [0, 0], {"q1": drive}, 1e-2, 100, history=True)
    np.testing.assert_allclose(found.q, q, atol=1e-13)
    by_function = lw.simulate(
        arm, 1.0, integrator="rk4", step=1e-2, samples=101,
        torque=lambda t, q, qd: [np.sin(3 * t) - qd[0], 0.0],
    )  # fmt: skip
    np.testing.assert_allclose(by_function.q, found.q, atol=1e-12)
    fine = lw.simulate(arm, 1.005, integrator="rk4", step=1e-2, torque={"q1": drive}, samples=202)
    assert fine.statistics["steps"] == 101
    np.testing.assert_allclose(fine.q[200], found.q[100], atol=1e-12)
    truth = lw.simulate(arm, 1.005, torque={"q1": drive}, samples=202)
    np.testing.assert_allclose(fine.q, truth.q, atol=3e-6)
    assert fine.audit < 1e-6


@pytest.mark.parametrize("integrator", ["midpoint", "variational"])
def test_implicit_steps_under_a_python_function(integrator: str) -> None:
    arm, options = lw.gallery("elbow"), {"integrator": integrator, "step": 1e-2, "samples": 11}
    by_text = lw.simulate(arm, 0.5, torque={"q1": "-4*dq1 + t"}, **options)
    by_function = lw.simulate(arm, 0.5, torque=lambda t, q, qd: [t - 4 * qd[0], 0.0], **options)
    np.testing.assert_allclose(by_function.q, by_text.q, atol=1e-10)


@pytest.mark.parametrize("by", ["lagrange", "kane", "hamilton", "newton_euler", "recurrent"])
def test_formulations_in_fixed_steps(by: str) -> None:
    arm, options = lw.gallery("elbow"), {"q0": [1, 0.5], "integrator": "rk4", "samples": 3}
    found = lw.simulate(arm, 0.4, by=by, step=2e-3, **options)
    other = lw.simulate(arm, 0.4, step=2e-3, **options)
    np.testing.assert_allclose(found.q, other.q, atol=1e-7)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
def test_driven_crank_in_fixed_steps(integrator: str) -> None:
    """Positions follow the drive; its work is what energy changes by."""
    linkage = lw.gallery("four-bar").model_copy(
        update={
            "independent": (),
            "constraints": {"motor": {"type": "drive", "on": "theta1", "position": "1 + 2*t"}},
        }
    )
    found = lw.simulate(linkage, 0.5, integrator=integrator, step=2e-3, samples=6)
    np.testing.assert_allclose(found.q[:, 0], 1 + 2 * found.t, atol=1e-12)
    assert found.audit < 1e-4
    assert np.ptp(found.work) > 0.1


def test_fixed_steps_past_a_singular_configuration() -> None:
    """Where the compiled elimination fails, a step is made again with pivoting, and it is said."""
    found = lw.simulate(
        lw.gallery("n-four-bar"), 1.0, qd0={"theta0": -1.0}, integrator="rk4", step=2e-3, samples=11
    )
    wanted = n_four_bar(2, found.t)
    np.testing.assert_allclose(np.cos(found.q[:, 0]), wanted[:, 0], atol=1e-8)
    assert len(found.singular) == 1
    model = lw.compile(lw.gallery("n-four-bar"))
    qd = nearest_constrained_velocities(model.mechanism, model.home(), [-1, 1, -1, 1, -1])
    q, _ = lw.rollout(model, model.home(), qd / -qd[0], None, 2e-3, 500)
    np.testing.assert_allclose(np.cos(q[0]), wanted[-1, 0], atol=1e-8)


def test_an_implicit_step_that_is_not_solved() -> None:
    model = lw.compile(PENDULUM)
    with pytest.raises(LinkwrightError, match="trajectory 2 cannot continue at t = 0 s"):
        lw.rollout(model, [[-np.pi / 2], [1.0]], [[0.0], [50.0]], None, 1.0, 2, method="midpoint")
    found = lw.simulate(PENDULUM, 2.0, qd0=[50.0], integrator="midpoint", step=1.0)
    assert "stopped at t = 0 s" in found.status
    assert "shorter steps" in found.status


def test_wrong_steps() -> None:
    for options, what in (
        ({"step": 1e-3}, "chooses its steps itself"),
        ({"integrator": "midpoint", "by": "hamilton"}, "states of its own"),
        ({"integrator": "rk4", "coordinates": "minimal"}, "does not support minimal"),
    ):
        with pytest.raises(UnsupportedError, match=what):
            lw.simulate(lw.gallery("elbow"), 0.1, **options)
    with pytest.raises(LinkwrightError, match="step cannot be -1"):
        lw.simulate(lw.gallery("elbow"), 0.1, integrator="rk4", step=-1.0)
    with pytest.raises(UnsupportedError, match="rates are the velocities"):
        lw.simulate(TOP, 0.1, integrator="variational")


def test_command(tmp_path) -> None:
    text = ok(
        "simulate", "elbow", "q1=1", "-t", "0.5", "--integrator", "variational", "--step", "1ms"
    )
    assert "steps: 500" in text
    assert run("simulate", "elbow", "--step", "1ms").returncode == 2


def test_short_steps_are_all_taken() -> None:
    """An oscillator at 3e5 rad/s in steps of 1e-7 s: half a turn, not one leap to the end."""
    k = 9e10
    fast = lw.Mechanism(
        name="fast", gravity=[0, 0, 0], bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "b", "stiffness": k}},
    )  # fmt: skip
    run = lw.simulate(fast, 1e-5, q0=[1.0], samples=3, integrator="rk4", step=1e-7)
    np.testing.assert_allclose(run.q[:, 0], np.cos(3e5 * run.t), atol=1e-6)
