"""Whole batches: against MuJoCo's rollouts, their inputs, controllers, blocks, threads and errors."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import mujoco.rollout
import numpy as np
import pytest

import linkwright as lw
from linkwright.control import (
    adaptive,
    computed_torque,
    coordinated,
    operational,
    pd_gravity,
    pid,
)
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.kinematics.assembly import nearest_constrained_velocities
from linkwright.motion import quintic, through
from linkwright.simulation.feedback import Feedback
from linkwright.writers import write_mechanism_text

MASS = lw.Mechanism(
    name="mass", gravity=[0, 0, 0], bodies={"b": {"mass": 2}},
    joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "b"}},
)  # fmt: skip
ELBOW = lw.gallery("elbow")


def mujoco_of(mechanism: lw.Mechanism, dt: float) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(write_mechanism_text(mechanism, "urdf")[0])
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = dt
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return spec.compile()


@pytest.mark.parametrize("name", ["six-axis", "seven-axis"])
def test_rollouts_are_those_of_mujoco(name: str) -> None:
    """A hundred steps of many trajectories, to 1e-10."""
    mechanism = lw.gallery(name).without("friction", "damping", "motors")
    mechanism = mechanism.model_copy(update={"gravity": [0, 0, "-9.81"]})
    model, peer = lw.compile(mechanism), mujoco_of(mechanism, 1e-3)
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-1, 1, (2, 16, model.nv))
    start = np.concatenate([np.zeros((16, 1)), q, qd], axis=1)
    states, _ = mujoco.rollout.rollout(peer, mujoco.MjData(peer), start, nstep=100)
    history = lw.rollout(model, q, qd, None, 1e-3, 100, history=True)
    wanted = states[..., 1 : 1 + model.nq], states[..., 1 + model.nq : 1 + 2 * model.nq]
    for ours, theirs in zip(history, wanted, strict=True):
        np.testing.assert_allclose(ours[:, 1:], theirs, atol=1e-10)


def test_inputs_of_rollouts() -> None:
    model = lw.compile(lw.gallery("elbow"))
    q, qd = np.zeros((4, 2)), np.zeros((4, 2))
    constant = lw.rollout(model, q, qd, [1.0, 0.5], 1e-2, 20)
    each = lw.rollout(model, q, qd, np.tile([1.0, 0.5], (4, 1)), 1e-2, 20)
    table = lw.rollout(model, q, qd, np.tile([1.0, 0.5], (4, 20, 1)), 1e-2, 20)
    texts = lw.rollout(model, q, qd, {"q1": "1", "q2": "1/2"}, 1e-2, 20)
    for other in (each, table, texts):
        np.testing.assert_allclose(other[0], constant[0], rtol=1e-12)
    feedback, _ = lw.rollout(model, q, qd, {"q1": "-3*dq1 + sin(t)"}, 1e-2, 20)
    truth = lw.simulate(
        lw.gallery("elbow"), 0.2, q0=[0, 0], torque={"q1": "-3*dq1 + sin(t)"}, samples=2
    )
    np.testing.assert_allclose(feedback[0], truth.q[-1], atol=1e-6)


def test_tables_in_rollouts() -> None:
    """As good as the method where the times of a table are those of steps."""
    arm, table = lw.gallery("elbow"), ([0.0, 0.1, 0.2], [0.0, 3.0, -1.0])
    q, _ = lw.rollout(lw.compile(arm), [0, 0], [0, 0], {"q1": table}, 1e-2, 20)
    truth = lw.simulate(arm, 0.2, torque={"q1": table}, samples=2, rtol=1e-10, max_step=0.01)
    np.testing.assert_allclose(q, truth.q[-1], atol=1e-7)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
def test_smooth_tables_are_read_at_the_stages(integrator: str) -> None:
    """F = 2 t³ on 2 kg gives v = t⁴/4: exact by Simpson's rule, and to dt²/8 t² by the middle."""
    times = np.linspace(0, 1, 11)
    drive = {"x": (times, 2 * times**3, "cubic")}
    error = {"rk4": 1e-13, "midpoint": 1.3e-3}[integrator]
    _, qd = lw.rollout(lw.compile(MASS), [0], [0], drive, 0.1, 10, history=True, method=integrator)
    np.testing.assert_allclose(qd[:, 0], times**4 / 4, atol=error)
    run = lw.simulate(MASS, 1.0, torque=drive, integrator=integrator, step=0.1, samples=11)
    np.testing.assert_allclose(run.qd, qd, atol=1e-13)


def damped(t: np.ndarray, x: float, v: float, k: float, c: float) -> np.ndarray:
    """x(t) of ẍ + c ẋ + k x = 0, weakly damped."""
    w = np.sqrt(k - c * c / 4)
    return np.exp(-c * t / 2) * (x * np.cos(w * t) + (v + c * x / 2) / w * np.sin(w * t))


@pytest.mark.parametrize("turning", [False, True])
def test_pd_control_is_a_damped_oscillator(turning: bool) -> None:
    """Of a mass, and of a pendulum whose weight is made up for."""
    sliding = {"type": "prismatic", "axis": [1, 0, 0], "child": "b"}
    joint = {"type": "revolute", "child": "b"} if turning else sliding
    body = {"mass": 2, "center": [1, 0, 0]} if turning else {"mass": 2}
    mechanism = lw.Mechanism(
        name="one", gravity=[0, "-9.81", 0] if turning else [0, 0, 0], bodies={"b": body},
        joints={"x": joint},
    )  # fmt: skip
    law = pd_gravity(mechanism, [0.3], 40.0, 3.0)
    rng = np.random.default_rng(0)
    x, v = rng.uniform(-2, 2, (2, 37, 1))
    q, _ = lw.rollout(lw.compile(mechanism), x, v, law, 1e-3, 1500, history=True)
    t = 1e-3 * np.arange(1501)
    for k in range(37):
        wanted = 0.3 + damped(t, x[k, 0] - 0.3, v[k, 0], 20.0, 1.5)
        np.testing.assert_allclose(q[k, :, 0], wanted, atol=1e-10)


def test_sampled_control_in_rollouts_is_the_zero_order_hold() -> None:
    """x ← x + v T + a T²/2, v ← v + a T, z ← z − x T: of many masses, in more than one block."""
    T, kp, ki, kd, rows = 0.05, 30.0, 20.0, 6.0, 9000
    law = pid(MASS, [0.0], kp, ki, kd, most=25.0, period=T)
    x, v = np.random.default_rng(0).uniform(-1, 1, (2, rows, 1))
    q, qd = lw.rollout(lw.compile(MASS), x, v, law, T / 5, 100, history=True, threads=2)
    z = np.zeros_like(x)
    for k in range(20):
        np.testing.assert_allclose([q[:, 5 * k], qd[:, 5 * k]], [x, v], atol=1e-11)
        plain = -kp * x + ki * z - kd * v
        a = np.clip(plain, -25, 25) / 2
        stuck = (np.abs(plain) > 25) & (-x * plain > 0)
        x, v, z = x + v * T + a * T * T / 2, v + a * T, np.where(stuck, z, z - x * T)
    assert (np.abs(plain) < 25).all()
    ends = lw.rollout(lw.compile(MASS), q[:, 0], qd[:, 0], law, T / 5, 100, threads=1)
    np.testing.assert_array_equal(ends[0], q[:, -1])


WAY = through([[-0.5, 1.2], [0, 0.9], [0.3, 0.3], [0.5, 0.4]], [0, 0.02, 0.05, 0.08])


def circle(t: float) -> tuple[list[float], list[float], list[float]]:
    s, c = np.sin(5 * t), np.cos(5 * t)
    return [0.7 + 0.1 * s, 0.3], [0.5 * c, 0.0], [-2.5 * s, 0.0]


LAWS: dict[str, Callable[[float | None], Feedback]] = {
    "pid": lambda p: pid(ELBOW, WAY, 300, 50, 20, most=30, period=p),
    "coordinated": lambda p: coordinated(ELBOW, WAY, 300, 50, 20, period=p),
    "computed torque": lambda p: computed_torque(ELBOW, quintic([-0.5, 1.2], [0.5, 0.4], 0.08), 400, period=p),
    "adaptive": lambda p: adaptive(ELBOW, WAY, 10, 5, 0.001, period=p),
    "operational": lambda p: operational(ELBOW, "tool", circle, 400, plane=True, period=p),
}  # fmt: skip


@pytest.mark.parametrize("period", [None, 4e-3])
@pytest.mark.parametrize("name", LAWS)
def test_controllers_in_rollouts(name: str, period: float | None) -> None:
    """Each row is what the simulator, which goes stage by stage, makes of it."""
    law, rng = LAWS[name](period), np.random.default_rng(0)
    q0, qd0 = WAY.start + rng.uniform(-0.1, 0.1, (11, 2)), rng.uniform(-1, 1, (11, 2))
    q, qd = lw.rollout(lw.compile(ELBOW), q0, qd0, law, 1e-3, 100, history=True)
    for k in (0, 10):
        run = lw.simulate(
            ELBOW, 0.1, q0=q0[k], qd0=qd0[k], torque=law, integrator="rk4", step=1e-3, samples=101
        )
        np.testing.assert_allclose(q[k], run.q, atol=1e-12)
        np.testing.assert_allclose(qd[k], run.qd, atol=1e-12)


@pytest.mark.parametrize("method", ["euler", "heun", "semi-implicit"])
def test_controllers_by_other_methods(method: str) -> None:
    law = LAWS["coordinated"](None)
    q, _ = lw.rollout(lw.compile(ELBOW), [-0.4, 1], [0, 0], law, 1e-3, 50, method=method)
    run = lw.simulate(
        ELBOW, 0.05, q0=[-0.4, 1], torque=law, integrator=method, step=1e-3, samples=2
    )
    np.testing.assert_allclose(q, run.q[-1], atol=1e-12)


@pytest.mark.parametrize("period", [None, 0.02])
@pytest.mark.parametrize(("name", "speed", "steps"), [("four-bar", 1, 50), ("n-four-bar", 4, 110)])
def test_controlled_loops(name: str, speed: float, steps: int, period: float | None) -> None:
    """The second passes a singular configuration after 86 steps, where steps are made again, and
    errors grow with the inverse of the distance."""
    mechanism = lw.gallery(name)
    model = lw.compile(mechanism)
    q, n = model.home(), model.nv
    qd = speed * nearest_constrained_velocities(mechanism, q, [-1, 1, -1, 1, -1][:n])
    law = pid(mechanism, q + 0.1, 2.0, 3.0, 0.1, period=period)
    found = lw.rollout(model, np.tile(q, (3, 1)), qd, law, 4e-3, steps, history=True)
    run = lw.simulate(
        mechanism, 4e-3 * steps, q0=q, qd0=qd, torque=law, integrator="rk4", step=4e-3,
        samples=steps + 1,
    )  # fmt: skip
    assert bool(run.singular) == (name == "n-four-bar")
    errors = (1e-10, 1e-8) if run.singular else (1e-12, 1e-12)
    for ours, other, error in zip(found, (run.q, run.qd), errors, strict=True):
        np.testing.assert_allclose(ours, np.tile(other, (3, 1, 1)), atol=error)


def test_blocks_and_threads_change_nothing() -> None:
    """Each of many closes its loops and is what it is alone, on any number of threads."""
    model, rng = lw.compile(lw.gallery("four-bar")), np.random.default_rng(0)
    start = model.close(model.home() + rng.uniform(0, 0.2, (6000, 1)) * [1, 0, 0])
    rest, force = np.zeros((6000, 3)), rng.uniform(-1, 1, (6000, 3))
    one = lw.rollout(model, start, rest, force, 2e-3, 10, threads=1)
    two = lw.rollout(model, start, rest, force, 2e-3, 10, threads=2)
    whole = lw.rollout(model, start, rest, force, 2e-3, 10, threads=2, history=True)
    for a, b, c in zip(one, two, whole, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c[:, -1])
    assert np.abs(model.constraint_residual(one[0])).max() < 1e-13
    for k in (0, 2999, 5999):
        alone, _ = lw.rollout(model, start[k], rest[k], force[k], 2e-3, 10)
        np.testing.assert_allclose(alone, one[0][k], atol=1e-14)


@pytest.mark.parametrize(
    "inputs", [None, {"q1": "sin(9*t)"}, pid(ELBOW, [0.1, 0.2], 100, 50, 10, period=3e-3)]
)
def test_calls_that_are_cut_short_change_nothing(
    inputs: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long ways are walked in several calls, so that they can be interrupted."""
    model, rng = lw.compile(ELBOW), np.random.default_rng(0)
    start = rng.uniform(-1, 1, (2, 50, 2))
    whole = lw.rollout(model, *start, inputs, 1e-3, 33, history=True)
    monkeypatch.setattr("linkwright.simulation.fixed_steps.trajectory_block.STEPS_PER_CALL", 250)
    parts = lw.rollout(model, *start, inputs, 1e-3, 33, history=True)
    ends = lw.rollout(model, *start, inputs, 1e-3, 33)
    for a, b, c in zip(whole, parts, ends, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a[:, -1], c)
    nowhere = lw.rollout(model, *start, inputs, 1e-3, 0, history=True)
    np.testing.assert_array_equal([x[:, 0] for x in nowhere], start)


def test_wrong_rollouts() -> None:
    model = lw.compile(lw.gallery("elbow"))
    with pytest.raises(LinkwrightError, match="unknown method 'x'"):
        lw.rollout(model, [0, 0], [0, 0], method="x")
    loop = lw.compile(lw.gallery("four-bar"))
    for q, qd, what in (([0, 0, 0], [0, 0, 0], "q0"), (loop.home(), [1, 0, 0], "qd0")):
        with pytest.raises(LinkwrightError, match=f"do not hold at {what}"):
            lw.rollout(loop, q, qd)
    for arguments, what in (
        (([0, 0, 0], [0, 0]), "q0 has shape"),
        (([0, np.nan], [0, 0]), "not finite"),
        (([0, 0], [0, 0], [1, 2, 3]), "forces have shape"),
        (([0, 0], [0, 0], None, 0.0), "dt must not be 0 s"),
    ):
        with pytest.raises(LinkwrightError, match=what):
            lw.rollout(model, *arguments)


def test_wrong_controllers_of_rollouts() -> None:
    model, usual = lw.compile(ELBOW), ([0, 0], [0, 0])
    every = LAWS["pid"](4e-3)
    for law, options, what in (
        (every, {"dt": 3e-3}, "acts every 0.004 s, between steps of 0.003 s"),
        (every, {"dt": 8e-3}, "between steps of 0.008 s"),
        (every, {"dt": 2e-3, "t": 1e-3}, "between steps of 0.002 s"),
        (every, {"dt": -1e-3}, "backward"),
        (every, {"method": "midpoint"}, "'midpoint' does not support controllers"),
        (pid(MASS, [0], 1), {}, "made for 1 velocities, the mechanism has 2"),
    ):
        with pytest.raises(LinkwrightError, match=what):
            lw.rollout(model, *usual, law, **{"dt": 1e-3, "steps": 20} | options)
    with pytest.raises(UnsupportedError, match="not accept Python functions"):
        lw.rollout(model, *usual, lambda t, q, qd: q)


@pytest.mark.parametrize("by", ["newton_euler", "hamilton"])
def test_steps_made_again_are_in_joint_coordinates(by: str) -> None:
    """Near singular states too, whatever states the formulation has in `simulate`."""
    linkage = lw.gallery("n-four-bar")
    begin = lw.simulate(linkage, 0.6, qd0={"theta0": -1.0}, samples=2)
    found, wanted = (
        lw.rollout(
            lw.compile(lw.derive(linkage, by=each, parameters="numeric")), begin.q[-1:],
            begin.qd[-1:], None, dt=2e-3, steps=80, method="semi-implicit",
        )[0]
        for each in (by, "recursive")
    )  # fmt: skip
    np.testing.assert_allclose(found, wanted, atol=1e-10)


STOP = {"type": "prismatic", "axis": [0, 0, 1], "child": "a"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"limits": {"lower": -1, "restitution": 0.5}}, "not support stops with restitution"),
        ({"breaks": {"force": 30}}, "not support members that break"),
    ],
)
def test_what_only_events_do_is_refused(more: dict[str, object], words: str) -> None:
    block = lw.Mechanism(
        name="block", gravity=[0, 0, "-9.81"], bodies={"a": {"mass": 2}}, joints={"z": STOP | more}
    )
    with pytest.raises(LinkwrightError, match=words):
        lw.rollout(lw.compile(block), [0.0], [0.0], None, 1e-3, 10)


def test_nothing_that_is_not_finite_comes_back() -> None:
    """Rows that run off are errors with their number, and so are drives that are no numbers."""
    model = lw.compile(lw.gallery("elbow"))
    speeds = np.array([[0.1, 0.1], [1e200, 1e200], [0.1, 0.2]])
    with (
        np.errstate(all="ignore"),
        pytest.raises(LinkwrightError, match=r"1 of 3 .* number 1 first"),
    ):
        lw.rollout(model, np.zeros(2), speeds, None, 1e-3, 20)
    for drives in ({"q1": float("nan")}, {"q1": float("inf")}):
        with pytest.raises(LinkwrightError, match="not a finite number"):
            lw.rollout(model, np.zeros(2), np.zeros(2), drives, 1e-3, 5)
    with pytest.raises(LinkwrightError, match="not finite"):
        lw.simulate(lw.gallery("elbow"), 0.1, torque=[float("nan"), 0.0])
    with pytest.raises(LinkwrightError, match="not an array of numbers"):
        lw.rollout(model, np.zeros(2) + 1j, np.zeros(2), None, 1e-3, 5)
    free = lw.compile(lw.gallery("quadruped"))
    with pytest.raises(LinkwrightError, match="quaternion has length 0"):
        lw.rollout(free, np.zeros(19), np.zeros(18), None, 1e-3, 5)


def test_forces_of_any_shape() -> None:
    """One number for all, and no steps at all."""
    model, q = lw.compile(lw.gallery("elbow")), np.full((9, 2), 0.3)
    ones = lw.rollout(model, q, 0 * q, [1.0], 1e-3, 6)[0]
    np.testing.assert_array_equal(ones, lw.rollout(model, q, 0 * q, [1.0, 1.0], 1e-3, 6)[0])
    np.testing.assert_array_equal(lw.rollout(model, q, 0 * q, np.zeros((9, 0, 2)), 1e-3, 0)[0], q)
