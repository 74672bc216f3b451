"""`lw.jax`: values against the model, derivatives against the recursions, differences and laws."""

from __future__ import annotations

import inspect
import pickle
import sys
import threading
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import (
    ArgumentError,
    LinkwrightError,
    MissingExtraError,
    UnsupportedError,
)


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def arm() -> lw.Model:
    return lw.compile(lw.gallery("puma560"))


def states(model: lw.Model, *batch: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).uniform(-1, 1, (3, *batch, model.nv)))


def differences(function: object, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a function of one vector."""
    columns = []
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = step
        columns.append((np.asarray(function(x + e)) - np.asarray(function(x - e))) / (2 * step))  # type: ignore[operator]
    return np.stack(columns, -1)


def test_values_are_those_of_the_model(arm: lw.Model) -> None:
    functions, (q, qd, qdd) = lw.jax(arm), states(arm, 4, 3)
    found = functions.inverse_dynamics(q, qd, qdd=qdd)
    np.testing.assert_array_equal(found, arm.inverse_dynamics(q, qd, qdd))
    frame = arm.body_names[-1]
    np.testing.assert_array_equal(functions.placement(frame)(q), arm.placement(frame)(q))
    np.testing.assert_array_equal(functions.gravity(q[0, 0]), arm.gravity(q[0, 0]))
    np.testing.assert_array_equal(
        functions.forward_dynamics(q, qd[0, 0], qdd[0]), arm.forward_dynamics(q, qd[0, 0], qdd[0])
    )


def test_single_precision_stays_single(arm: lw.Model) -> None:
    q = np.float32(states(arm, 5)[0])
    found = lw.jax(arm).gravity(jnp.asarray(q))
    assert found.dtype == jnp.float32
    assert np.abs(found - arm.gravity(q.astype(float))).max() < 1e-4


def test_jit_and_vmap_compose(arm: lw.Model) -> None:
    functions, (q, qd, qdd) = lw.jax(arm), states(arm, 6)
    found = jax.jit(jax.vmap(functions.inverse_dynamics, in_axes=(0, None, 0)))(q, qd[0], qdd)
    np.testing.assert_array_equal(found, arm.inverse_dynamics(q, qd[0], qdd))
    twice = jax.vmap(jax.vmap(functions.gravity))(q.reshape(2, 3, 6))
    np.testing.assert_array_equal(twice.reshape(6, 6), arm.gravity(q))
    assert jax.vmap(functions.gravity)(jnp.zeros((0, 6))).shape == (0, 6)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("derive", [jax.jacfwd, jax.jacrev])
def test_first_derivatives_are_those_of_the_recursions(
    arm: lw.Model, name: str, derive: object
) -> None:
    functions, given = lw.jax(arm), states(arm)
    found = derive(getattr(functions, name), argnums=(0, 1, 2))(*given)  # type: ignore[operator]
    wanted = getattr(arm, f"{name}_derivatives")(*given)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_second_derivatives_agree_with_differences() -> None:
    model = lw.compile(lw.gallery("triple-pendulum"))
    functions, (q, qd, qdd) = lw.jax(model), states(model)
    found = jax.jacfwd(jax.jacrev(functions.inverse_dynamics))(q, qd, qdd)
    wanted = differences(lambda x: model.inverse_dynamics_derivatives(x, qd, qdd)[0], q)
    np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())


def test_the_hessian_of_the_kinetic_energy_is_the_mass_matrix(arm: lw.Model) -> None:
    q, qd, _ = states(arm)
    found = jax.hessian(lw.jax(arm).kinetic_energy, argnums=1)(q, qd)
    np.testing.assert_allclose(found, arm.mass_matrix(q), atol=1e-13)


def test_derivatives_in_a_batch(arm: lw.Model) -> None:
    """The gradient of a sum over a batch is that of each state."""
    functions, (q, qd, tau) = lw.jax(arm), states(arm, 5)
    found = jax.grad(lambda x: (functions.forward_dynamics(x, qd, tau) ** 2).sum())(jnp.asarray(q))
    alone = jax.vmap(jax.grad(lambda x, v, f: (functions.forward_dynamics(x, v, f) ** 2).sum()))
    np.testing.assert_allclose(found, alone(q, qd, tau), rtol=1e-12)


@pytest.mark.parametrize("name", ["rolling-disk", "four-bar", "bicycle"])
def test_quaternions_and_constraints(name: str) -> None:
    """Values are those of the model; Jacobians are those of the values."""
    model = lw.compile(lw.gallery(name))
    functions, q, v = lw.jax(model), np.asarray(model.home()), np.zeros(model.nv)
    found = functions.forward_dynamics(q, v, v)
    np.testing.assert_allclose(found, model.forward_dynamics(q, v, v), atol=1e-9)
    by_force = jax.jacfwd(functions.forward_dynamics, argnums=2)(q, v, v)
    wanted = differences(lambda x: model.forward_dynamics(q, v, x), v, 1e-3)
    np.testing.assert_allclose(by_force, wanted, atol=1e-6 * np.abs(wanted).max())


def test_parameters_and_time_are_inputs() -> None:
    model = lw.compile(lw.gallery("elbow"), parameters=["m2", "l1"])
    functions, q, p = lw.jax(model), np.array([0.3, 0.4]), np.array([1.2, 0.9])
    found = jax.jacrev(functions.gravity, argnums=1)(q, p)
    wanted = differences(lambda x: model.gravity(q, x), p)
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("name", ["elbow", "rolling-disk"])
def test_rollouts_are_those_of_lw_rollout(name: str) -> None:
    model = lw.compile(lw.gallery(name))
    q, v = np.asarray(model.home(), float), np.zeros(model.nv)
    tau = np.random.default_rng(3).uniform(-1, 1, (12, model.nv)) * (name == "elbow")
    found = lw.jax(model).rollout(q, v, tau, dt=0.01, steps=12, history=True)
    wanted = lw.rollout(model, q, v, tau, dt=0.01, steps=12, history=True)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "heun"])
def test_limits_of_efforts_hold_in_rollouts(method: str) -> None:
    """Forces of 5 N and 1 N move 1 kg for 1 s; the motor gives 1.5 N at most."""
    slide = lw.Mechanism(
        name="slide",
        gravity=[0, 0, 0],
        bodies={"block": {"mass": 1}},
        joints={"s": {"type": "prismatic", "child": "block", "limits": {"effort": 1.5}}},
    )
    functions, still = lw.jax(lw.compile(slide)), jnp.zeros((2, 1))

    def speed(forces: jax.Array) -> jax.Array:
        return functions.rollout(still, still, forces, dt=0.1, steps=10, method=method)[1].sum(1)

    forces = jnp.array([[5.0], [1.0]])
    np.testing.assert_allclose(speed(forces), [1.5, 1])
    np.testing.assert_allclose(jax.jacrev(speed)(forces)[:, :, 0], [[0, 0], [0, 1]], atol=1e-12)


def test_the_gradient_of_a_rollout_agrees_with_differences() -> None:
    model = lw.compile(lw.gallery("elbow"))
    functions, q, v = lw.jax(model), np.array([0.2, -0.3]), np.zeros(2)

    def end(tau: jax.Array) -> jax.Array:
        return functions.rollout(q, v, tau, dt=0.02, steps=8)[0]

    tau = np.random.default_rng(0).uniform(-1, 1, (8, 2))
    found = jax.jit(jax.jacrev(end))(jnp.asarray(tau)).reshape(2, 16)
    wanted = differences(lambda x: end(x.reshape(8, 2)), tau.ravel())
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("derive", [jax.hessian, lambda f: jax.jacrev(jax.grad(f))])
def test_second_derivatives_pass_through_scans(derive: object) -> None:
    model = lw.compile(lw.gallery("elbow"))
    functions, q = lw.jax(model), np.array([0.2, -0.3])

    def height(v: jax.Array) -> jax.Array:
        return functions.rollout(q, v, dt=0.02, steps=4)[0].sum()

    v = np.array([0.4, 0.1])
    wanted = differences(jax.grad(height), v, 1e-5)
    np.testing.assert_allclose(derive(height)(v), wanted, atol=1e-8)  # type: ignore[operator]


def test_derivatives_inside_and_through_shard_map(arm: lw.Model) -> None:
    """Arrays split over devices, and arrays that all devices share, have the same derivatives."""
    dynamics, (q, qd, tau) = lw.jax(arm).forward_dynamics, map(jnp.asarray, states(arm, 4))
    mesh, split = jax.sharding.Mesh(jax.devices()[:1], ("batch",)), jax.P("batch")

    def gradient(q: jax.Array, qd: jax.Array, tau: jax.Array) -> jax.Array:
        return jax.grad(lambda x: (dynamics(x, qd, tau) ** 2).sum())(q)

    specs = (split, jax.P(), split)
    inside = jax.shard_map(gradient, mesh=mesh, in_specs=specs, out_specs=split)
    wanted = gradient(q, qd[0], tau)
    np.testing.assert_allclose(jax.jit(inside)(q, qd[0], tau), wanted, rtol=1e-12)

    split_dynamics = jax.shard_map(dynamics, mesh=mesh, in_specs=specs, out_specs=split)
    for k in range(3):
        through, plain = (
            jax.grad(lambda *x, f=f: (f(*x) ** 2).sum(), argnums=k)(q, qd[0], tau)
            for f in (split_dynamics, dynamics)
        )
        np.testing.assert_allclose(through, plain, rtol=1e-12)


def test_functions_can_be_pickled_after_use(arm: lw.Model) -> None:
    functions, q = lw.jax(arm), states(arm)[0]
    wanted = functions.gravity(q)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(functions)).gravity(q), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(functions.gravity))(q), wanted)
    tool = pickle.loads(pickle.dumps(functions.placement("link6")))
    np.testing.assert_array_equal(tool(q), arm.placement("link6")(q))
    assert str(inspect.signature(functions.gravity)) == "(q)"


def test_threads_can_use_a_function_first_at_the_same_time() -> None:
    arm = lw.compile(lw.gallery("elbow").with_parameters(m1=1.2345))
    functions, wanted, found = lw.jax(arm), arm.gravity([0.1, 0.2]), []
    barrier = threading.Barrier(8)

    def use() -> None:
        barrier.wait()
        found.append(functions.gravity(np.array([0.1, 0.2])))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    np.testing.assert_allclose(found, np.tile(wanted, (8, 1)), rtol=1e-6)  # float32 in new threads


def test_rollouts_can_be_traced_and_differentiated_by_time() -> None:
    """At rest under a constant acceleration a: ∂q/∂dt = a·steps²·dt, exactly, and v = a·t."""
    slide = lw.Mechanism(
        name="slide",
        gravity=[0, 0, -2.0],
        bodies={"block": {"mass": 1}},
        joints={"s": {"type": "prismatic", "child": "block", "axis": [0, 0, 1]}},
    )
    functions, still = lw.jax(lw.compile(slide)), np.zeros(1)

    def height(dt: jax.Array) -> jax.Array:
        return functions.rollout(still, still, dt=dt, steps=5)[0][0]

    np.testing.assert_allclose(jax.jit(jax.grad(height))(0.1), -2.0 * 25 * 0.1, rtol=1e-12)
    np.testing.assert_allclose(height(jnp.asarray(0.1)), -0.25, rtol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_parameters_and_small_types_keep_the_type_of_a_rollout(method: str) -> None:
    functions = lw.jax(lw.compile(lw.gallery("elbow"), parameters=["m1"]))
    still = np.zeros(2, np.float32)
    assert functions.rollout(still, still, steps=2, method=method)[0].dtype == jnp.float32
    short = jnp.zeros(2, jnp.bfloat16)
    assert functions.rollout(short, short, steps=2, method=method)[0].dtype == jnp.float64


def test_batches_of_symbolic_size_are_traced(arm: lw.Model) -> None:
    from jax import export

    many = jax.ShapeDtypeStruct(export.symbolic_shape("b, 6"), jnp.float64)
    found = jax.eval_shape(lw.jax(arm).inverse_dynamics, many, many, many)
    assert str(found.shape) == "(b, 6)"


def test_mistakes_are_explained(arm: lw.Model) -> None:
    functions = lw.jax(arm)
    with pytest.raises(ArgumentError, match=r"axes .* do not agree: \(3,\) of q, \(4,\) of qd"):
        functions.forward_dynamics(np.zeros((3, 6)), np.zeros((4, 6)), np.zeros(6))
    with pytest.raises(ArgumentError, match="gravity takes real numbers"):
        functions.gravity(np.zeros(6, complex))
    with pytest.raises(ArgumentError, match="placement takes a frame first"):
        functions.placement(np.zeros(6))
    with pytest.raises(ArgumentError, match=r"q0 of rollout has shape \(5,\); give \(…, 6\)"):
        functions.rollout(np.zeros(5), np.zeros(6))
    with pytest.raises(ArgumentError, match=r"q of gravity has shape \(5,\); give \(…, 6\)"):
        functions.gravity(np.zeros(5))
    with pytest.raises(ArgumentError, match="gravity takes q"):
        functions.gravity()
    with pytest.raises(AttributeError, match="did you mean 'gravity'"):
        functions.gravty  # noqa: B018
    with pytest.raises(LinkwrightError, match="a Mechanism is not a model; compile it first"):
        lw.jax(arm.mechanism)  # type: ignore[arg-type]
    for given in (None, "home", {"q1": 1}, [[1, 2], [3]]):
        with pytest.raises(ArgumentError, match="q of gravity is not an array of numbers"):
            functions.gravity(given)
    with pytest.raises(UnsupportedError, match=r"take forces as arrays \(got Feedback\)"):
        functions.rollout(
            np.zeros(6), np.zeros(6), lw.control.pid(arm.mechanism, np.zeros(6), 1, 1, 1)
        )
    with pytest.raises(ArgumentError, match="keeps no parameters as inputs, and p is given"):
        functions.rollout(np.zeros(6), np.zeros(6), p=[1.0])
    with pytest.raises(ArgumentError, match="steps is traced by JAX"):
        jax.jit(lambda n: functions.rollout(np.zeros(6), np.zeros(6), steps=n))(3)
    with pytest.raises(ArgumentError, match="tau has 3 rows for 4 steps"):
        functions.rollout(np.zeros(6), np.zeros(6), np.zeros((3, 6)), steps=4)


def test_the_error_without_jax_names_the_extra(
    arm: lw.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"linkwright\[jax\]"):
        lw.jax(arm)


def test_the_error_without_torch_names_the_extra(
    arm: lw.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"linkwright\[torch\]"):
        lw.torch(arm)
