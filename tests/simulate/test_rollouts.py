"""Compiled steps: their orders, and whole batches against MuJoCo's rollouts."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import write


@pytest.mark.parametrize(
    ("method", "order"), [("euler", 1), ("semi-implicit", 1), ("heun", 2), ("rk4", 4)]
)
@pytest.mark.parametrize("name", ["elbow", "quadruped"])
def test_orders(method: str, order: int, name: str) -> None:
    """Halving the step divides the error by 2 to the order."""
    mechanism = lw.gallery(name)
    model = lw.compile(mechanism)
    rng = np.random.default_rng(0)
    q, qd = (
        model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv)),
        rng.uniform(-1, 1, model.nv),
    )
    truth = lw.simulate(
        mechanism, 0.2, q0=q, qd0=qd, samples=2, rtol=1e-12, atol=1e-13, stops="ignore"
    )
    steps = 20 if method == "rk4" else 200
    errors = []
    for n in (steps, 2 * steps):
        end, _ = lw.rollout(model, q, qd, None, 0.2 / n, n, method=method)
        errors.append(np.abs(model.difference(truth.q[-1], end)).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.25, errors


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


def test_wrong_rollouts() -> None:
    model = lw.compile(lw.gallery("elbow"))
    with pytest.raises(LinkwrightError, match="no method 'x'"):
        lw.rollout(model, [0, 0], [0, 0], method="x")
    with pytest.raises(LinkwrightError, match="do not hold at q0"):
        lw.rollout(lw.compile(lw.gallery("four-bar")), [0, 0, 0], [0, 0, 0])
