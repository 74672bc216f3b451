"""Checks on a real GPU: `compile(…, device="cuda")`, `lw.jax` and `lw.torch` there, against the processor.

No machine of the continuous integration has a GPU, so `make test` does not run these:

    python -m pytest tests/gpu/device_checks.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

cp = pytest.importorskip("cupy", reason="needs CuPy")
if not cp.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

import linkwright as lw  # noqa: E402
from linkwright.quantities import quantity_signatures  # noqa: E402

FREE = ["elbow", "puma560", "cart-pole", "triple-pendulum", "stanford", "chain-12"]
CONSTRAINED = ["four-bar", "slider-crank", "stewart", "rolling-disk", "bicycle"]
BATCHES = (1, 31, 32, 129, 1003)
LIMITS = {"float32": 1e-5, "float64": 1e-12}


def random_inputs(model: lw.Model, function: Any, count: int) -> list[np.ndarray]:
    """Random inputs that float32 holds exactly; coordinates near home, quaternions of length 1."""
    rng = np.random.default_rng(count)
    found = []
    for name, shape in function.inputs:
        x = rng.uniform(-1, 1, (count, *shape))
        if name == "q":
            home = np.asarray(model.home(), float)
            x = model.integrate(home, rng.uniform(-0.3, 0.3, (count, model.nv)))
        found.append(np.float32(x).astype(float))
    return found


def largest_error(found: Any, wanted: Any) -> float:
    """The largest error as a share of the largest entry; infinite where a number is missing."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    if not np.isfinite(found).all():
        return np.inf
    size = np.abs(wanted).max(initial=1e-3)
    return float(np.abs(found - wanted).max(initial=0.0) / size)


def condition_numbers(model: lw.Model, q: np.ndarray) -> float:
    return float(np.linalg.cond(model.mass_matrix(q)).max())


# -- compile(…, device="cuda") ---------------------------------------------------------------------


@pytest.mark.parametrize("name", FREE)
def test_every_function_agrees_with_the_processor(name: str) -> None:
    gpu = lw.compile(lw.gallery(name), device="cuda")
    model, tried = gpu.model, 0
    for quantity in quantity_signatures(model.names):
        try:
            function = gpu.device_function(quantity)
        except lw.LinkwrightError:
            continue  # it has no entries, or another kind of result
        given = random_inputs(model, function, BATCHES[tried % len(BATCHES)])
        wanted = getattr(model, quantity)(*given)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        solves = "forward" in quantity or "inverse" in quantity
        factor = condition_numbers(model, given[0]) if solves else 1.0
        for kind, limit in LIMITS.items():
            for layout in ("rows", "columns"):
                own = [cp.asarray(x.astype(kind)) for x in given]
                own = (
                    own
                    if layout == "rows"
                    else [cp.ascontiguousarray(cp.moveaxis(x, 0, -1)) for x in own]
                )
                found = function(*own, layout=layout)
                for a, b in zip(
                    found if isinstance(found, tuple) else (found,), wanted, strict=True
                ):
                    a = a.get() if layout == "rows" else np.moveaxis(a.get(), -1, 0)
                    assert largest_error(a, b) <= limit * factor, (quantity, kind, layout)
        tried += 1
    assert tried >= 20


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constrained_forward_dynamics_agree(name: str) -> None:
    gpu = lw.compile(lw.gallery(name), device="cuda")
    model, rng = gpu.model, np.random.default_rng(4)
    near = model.integrate(np.asarray(model.home(), float), rng.uniform(-0.1, 0.1, (40, model.nv)))
    q = model.close(near) if model.names.position_row_count else near
    q = q[model.closed(q)] if model.names.position_row_count else q
    assert len(q) > 10
    qd, tau = rng.uniform(-1, 1, (2, len(q), model.nv))
    wanted = model.forward_dynamics(q, qd, tau)
    found = gpu.forward_dynamics(cp.asarray(q), cp.asarray(qd), cp.asarray(tau))
    size = np.abs(wanted).max(axis=1, keepdims=True)
    assert (np.abs(found.get() - wanted) / size).max() < 1e-8


def test_leading_axes_broadcast_and_copies_are_made_where_needed() -> None:
    gpu = lw.compile(lw.gallery("puma560"), device="cuda")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4, 5, 6))
    wanted = gpu.model.inverse_dynamics(q, qd[0, 0], qdd)
    found = gpu.inverse_dynamics(cp.asarray(q), cp.asarray(qd[0, 0]), qdd)
    assert largest_error(found.get().reshape(20, 6), wanted.reshape(20, 6)) < 1e-12
    turned = cp.asarray(np.asfortranarray(q))
    assert (
        largest_error(gpu.gravity(turned).get().reshape(20, 6), gpu.model.gravity(q).reshape(20, 6))
        < 1e-12
    )
    assert gpu.gravity(cp.zeros((0, 6))).shape == (0, 6)


def test_kernels_run_on_the_current_stream() -> None:
    """Work of the stream before the call is finished when the kernel reads its inputs."""
    gpu = lw.compile(lw.gallery("puma560"), device="cuda")
    q = cp.random.default_rng(1).random((200_000, 6))
    gpu.gravity(q)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        later = cp.zeros_like(q)
        for _ in range(50):
            later = later + q / 50
        found = gpu.gravity(later)
    stream.synchronize()
    assert largest_error(found.get(), gpu.model.gravity(later.get())) < 1e-12


def test_tensors_of_torch_come_and_go_without_copies() -> None:
    torch = pytest.importorskip("torch")
    gpu = lw.compile(lw.gallery("puma560"), device="cuda")
    q = torch.rand(300, 6, device="cuda", dtype=torch.float64)
    found = gpu.gravity(q)
    assert isinstance(found, torch.Tensor)
    assert found.is_cuda
    np.testing.assert_allclose(found.cpu(), gpu.model.gravity(q.cpu().numpy()), atol=1e-12)
    from linkwright.gpu.runtime.device_arrays import take_array

    assert take_array(cp, q).data.ptr == q.data_ptr()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        later = (q * 3).sin()
        there = gpu.gravity(later)
    side.synchronize()
    np.testing.assert_allclose(there.cpu(), gpu.model.gravity(later.cpu().numpy()), atol=1e-12)


def test_a_tensor_that_requires_gradients_is_refused() -> None:
    torch = pytest.importorskip("torch")
    gpu = lw.compile(lw.gallery("elbow"), device="cuda")
    with pytest.raises(ValueError, match=r"call the functions of lw\.torch"):
        gpu.gravity(torch.zeros(2, device="cuda", requires_grad=True))


def test_arrays_of_jax_come_and_go_without_copies() -> None:
    jax = pytest.importorskip("jax")
    gpu = lw.compile(lw.gallery("puma560"), device="cuda")
    q = jax.random.normal(jax.random.key(0), (300, 6), dtype="float32")
    found = gpu.gravity(q)
    assert isinstance(found, jax.Array)
    assert found.dtype == "float32"
    wanted = gpu.model.gravity(np.asarray(q, float))
    assert largest_error(np.asarray(found), wanted) < 1e-5


@pytest.mark.parametrize("name", ["elbow", "puma560", "four-bar", "rolling-disk"])
@pytest.mark.parametrize("history", [False, True])
def test_rollouts_agree_with_the_processor(name: str, history: bool) -> None:
    gpu = lw.compile(lw.gallery(name), device="cuda")
    model = gpu.model
    q = np.tile(np.asarray(model.home(), float), (70, 1))
    qd, tau = np.zeros((70, model.nv)), np.zeros((70, model.nv))
    if not model.names.constraints:
        tau = np.random.default_rng(0).uniform(-1, 1, (70, model.nv))
    common: dict[str, Any] = {"dt": 1e-3, "steps": 60, "history": history}
    wanted = lw.rollout(model, q, qd, tau, **common)
    for x, y in zip(gpu.rollout(*map(cp.asarray, (q, qd, tau)), **common), wanted, strict=True):
        np.testing.assert_allclose(x.get(), y, rtol=1e-9, atol=1e-11)


def test_controllers_parameters_and_adaptive_rollouts_agree() -> None:
    arm = lw.gallery("elbow")
    gpu = lw.compile(arm, device="cuda", parameters=["m2"])
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, 40, 2))
    p = np.linspace(0.5, 2, 40)[:, None]
    law = lw.control.pid(arm, [0.3, 0.2], 30, 5, 3)
    wanted = lw.rollout(gpu.model, q, qd, law, dt=1e-3, steps=50, parameters=p)
    found = gpu.rollout(
        cp.asarray(q), cp.asarray(qd), law, dt=1e-3, steps=50, parameters=cp.asarray(p)
    )
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x.get(), y, rtol=1e-9, atol=1e-11)
    plain = lw.compile(arm, device="cuda")
    run = [lw.simulate(arm, t=0.5, q0=q[k], qd0=qd[k], rtol=1e-11, atol=1e-12) for k in range(3)]
    found = plain.rollout(
        cp.asarray(q), cp.asarray(qd), method="dop853", dt=0.1, steps=5, rtol=1e-10
    )
    for k, one in enumerate(run):
        np.testing.assert_allclose(found[0].get()[k], one.q[-1], atol=1e-8)


# -- JAX -------------------------------------------------------------------------------------------


@pytest.fixture
def doubles() -> Iterator[Any]:
    jax = pytest.importorskip("jax")
    if jax.devices()[0].platform != "gpu":
        pytest.skip("JAX has no GPU here")
    with jax.enable_x64(True):
        yield jax


def test_jax_calls_our_kernels_with_derivatives(doubles: Any) -> None:
    jax = doubles
    arm = lw.compile(lw.gallery("puma560"))
    functions = lw.jax(arm)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 500, 6))
    wanted = arm.inverse_dynamics(q, qd, qdd)
    found = jax.jit(functions.inverse_dynamics)(q, qd, qdd)
    assert found.devices().pop().platform == "gpu"
    assert largest_error(np.asarray(found), wanted) < 1e-12
    assert largest_error(np.asarray(jax.vmap(functions.gravity)(q)), arm.gravity(q)) < 1e-12
    single = functions.gravity(jax.numpy.asarray(q, "float32"))
    assert single.dtype == "float32"
    assert largest_error(np.asarray(single), arm.gravity(np.float32(q).astype(float))) < 1e-5
    for name in ("inverse_dynamics", "forward_dynamics"):
        exact = getattr(arm, f"{name}_derivatives")(q[0], qd[0], qdd[0])
        for derive in (jax.jacfwd, jax.jacrev):
            tried = derive(getattr(functions, name), argnums=(0, 1, 2))(q[0], qd[0], qdd[0])
            for a, b in zip(tried, exact, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    mass = jax.hessian(functions.kinetic_energy, argnums=1)(q[0], qd[0])
    np.testing.assert_allclose(mass, arm.mass_matrix(q[0]), atol=1e-11)


def test_jax_mixes_our_kernels_with_its_own_in_one_program(doubles: Any) -> None:
    """Kernels wait for what XLA computes before them, and XLA for them."""
    jax = doubles
    arm = lw.compile(lw.gallery("puma560"))
    functions = lw.jax(arm)

    @jax.jit
    def chain(q: Any) -> Any:
        for _ in range(8):
            q = jax.numpy.sin(q + 0.1 * functions.gravity(q))
        return q

    q = np.random.default_rng(0).uniform(-1, 1, (4096, 6))
    wanted = q
    for _ in range(8):
        wanted = np.sin(wanted + 0.1 * arm.gravity(wanted))
    np.testing.assert_allclose(chain(q), wanted, atol=1e-8)


def test_the_gradient_of_a_rollout_in_jax_is_that_of_the_processor(doubles: Any) -> None:
    jax = doubles
    functions = lw.jax(lw.compile(lw.gallery("elbow")))
    tau = np.random.default_rng(0).uniform(-1, 1, (8, 2))

    def end(tau: Any) -> Any:
        return functions.rollout(np.array([0.2, -0.3]), np.zeros(2), tau, dt=0.02, steps=8)[0]

    found = jax.jacrev(end)(tau)
    with jax.default_device(jax.devices("cpu")[0]):
        wanted = jax.jacrev(end)(tau)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


# -- PyTorch ---------------------------------------------------------------------------------------


def test_torch_differentiates_on_the_gpu() -> None:
    torch = pytest.importorskip("torch")
    model = lw.compile(lw.gallery("puma560"))
    functions = lw.torch(model)
    given = [torch.from_numpy(x).cuda() for x in np.random.default_rng(0).uniform(-1, 1, (3, 6))]
    found = torch.autograd.functional.jacobian(functions.forward_dynamics, tuple(given))
    wanted = model.forward_dynamics_derivatives(*(x.cpu().numpy() for x in given))
    for a, b in zip(found, wanted, strict=True):
        assert a.is_cuda
        np.testing.assert_allclose(a.cpu(), b, rtol=1e-9, atol=1e-9)
    batch = torch.rand(5, 6, device="cuda", dtype=torch.float64)
    many = torch.func.vmap(torch.func.jacrev(functions.gravity))(batch)
    np.testing.assert_allclose(
        many[1].cpu(), torch.func.jacrev(functions.gravity)(batch[1]).cpu(), atol=1e-12
    )
    elbow = lw.compile(lw.gallery("elbow"))
    small = [
        torch.rand(2, 2, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(3)
    ]
    assert torch.autograd.gradcheck(lw.torch(elbow).forward_dynamics, small)


def test_torch_compile_has_no_graph_break_on_the_gpu() -> None:
    torch = pytest.importorskip("torch")
    functions = lw.torch(lw.compile(lw.gallery("puma560")))
    q, qd, qdd = torch.rand(3, 64, 6, device="cuda", dtype=torch.float64).unbind()

    def power(q: Any, qd: Any, qdd: Any) -> Any:
        return (functions.inverse_dynamics(q, qd, qdd) * qd).sum(-1)

    power(q, qd, qdd)
    for backend in ("aot_eager", "inductor"):
        compiled = torch.compile(power, fullgraph=True, backend=backend)
        np.testing.assert_allclose(compiled(q, qd, qdd).cpu(), power(q, qd, qdd).cpu(), rtol=1e-12)
        own, other = (x.clone().requires_grad_() for x in (q, q))
        compiled(own, qd, qdd).sum().backward()
        power(other, qd, qdd).sum().backward()
        np.testing.assert_allclose(own.grad.cpu(), other.grad.cpu(), rtol=1e-11)
