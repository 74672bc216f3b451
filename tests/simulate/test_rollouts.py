"""Whole batches: against MuJoCo's rollouts, their inputs, blocks, threads and errors."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import write


def mujoco_of(mechanism: lw.Mechanism, dt: float) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(write(mechanism, "urdf")[0])
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
    """Straight between the ends of a step: exact where the times of a table are those of steps."""
    arm, table = lw.gallery("elbow"), ([0.0, 0.1, 0.2], [0.0, 3.0, -1.0])
    q, _ = lw.rollout(lw.compile(arm), [0, 0], [0, 0], {"q1": table}, 1e-2, 20)
    truth = lw.simulate(arm, 0.2, torque={"q1": table}, samples=2, rtol=1e-10, max_step=0.01)
    np.testing.assert_allclose(q, truth.q[-1], atol=1e-7)


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


def test_wrong_rollouts() -> None:
    model = lw.compile(lw.gallery("elbow"))
    with pytest.raises(LinkwrightError, match="no method 'x'"):
        lw.rollout(model, [0, 0], [0, 0], method="x")
    loop = lw.compile(lw.gallery("four-bar"))
    for q, qd, what in (([0, 0, 0], [0, 0, 0], "q0"), (loop.home(), [1, 0, 0], "qd0")):
        with pytest.raises(LinkwrightError, match=f"do not hold at {what}"):
            lw.rollout(loop, q, qd)
    for arguments, what in (
        (([0, 0, 0], [0, 0]), "q0 has shape"),
        (([0, np.nan], [0, 0]), "not finite"),
        (([0, 0], [0, 0], [1, 2, 3]), "forces have shape"),
        (([0, 0], [0, 0], None, 0.0), "0 s are no motion"),
    ):
        with pytest.raises(LinkwrightError, match=what):
            lw.rollout(model, *arguments)


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
