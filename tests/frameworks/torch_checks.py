"""Checks of `lw.torch`, in an environment of their own (`.ci/run`): PyPI's torch brings all of CUDA.

python -m pytest tests/frameworks/torch_checks.py
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch has an environment of its own (.ci/run)")

import linkwright as lw  # noqa: E402
from linkwright.errors import ArgumentError, UnsupportedError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*jit.*script.*:DeprecationWarning")
"""PyTorch loads rules of forward derivatives by its own deprecated function."""


@pytest.fixture(scope="module")
def arm() -> lw.Model:
    return lw.compile(lw.gallery("puma560"))


def states(model: lw.Model, *batch: int) -> list[torch.Tensor]:
    return list(torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (3, *batch, model.nv))))


def arrays(*tensors: torch.Tensor) -> list[np.ndarray]:
    return [x.detach().numpy() for x in tensors]


def test_values_are_those_of_the_model(arm: lw.Model) -> None:
    functions, (q, qd, qdd) = lw.torch(arm), states(arm, 4, 3)
    found = functions.inverse_dynamics(q, qd, qdd=qdd[0, 0])
    np.testing.assert_array_equal(found, arm.inverse_dynamics(*arrays(q, qd, qdd[0, 0])))
    frame = arm.body_names[-1]
    np.testing.assert_array_equal(functions.placement(frame)(q), arm.placement(frame)(*arrays(q)))
    assert functions.gravity(q.float()).dtype == torch.float32
    assert functions.gravity(torch.zeros(0, 6)).shape == (0, 6)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_autograd_agrees_with_the_recursions(arm: lw.Model, name: str) -> None:
    given = states(arm)
    found = torch.autograd.functional.jacobian(getattr(lw.torch(arm), name), tuple(given))
    for a, b in zip(found, getattr(arm, f"{name}_derivatives")(*arrays(*given)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_gradcheck_of_first_and_second_order() -> None:
    model = lw.compile(lw.gallery("elbow"))
    given = [x.requires_grad_() for x in states(model, 2)]
    assert torch.autograd.gradcheck(lw.torch(model).forward_dynamics, given)
    assert torch.autograd.gradgradcheck(lw.torch(model).forward_dynamics, given)


def test_vmap_and_functional_derivatives(arm: lw.Model) -> None:
    functions, (q, qd, qdd) = lw.torch(arm), states(arm, 5)
    found = torch.func.vmap(functions.inverse_dynamics, in_dims=(0, None, 0))(q, qd[0], qdd)
    np.testing.assert_array_equal(found, arm.inverse_dynamics(*arrays(q, qd[0], qdd)))
    jacobian = torch.func.jacrev(functions.inverse_dynamics)(q[0], qd[0], qdd[0])
    wanted = arm.inverse_dynamics_derivatives(*arrays(q[0], qd[0], qdd[0]))[0]
    np.testing.assert_allclose(jacobian, wanted, atol=1e-12)
    mass = torch.func.jacrev(torch.func.jacrev(functions.kinetic_energy, 1), 1)(q[0], qd[0])
    np.testing.assert_allclose(mass, arm.mass_matrix(q[0].numpy()), atol=1e-12)
    many = torch.func.vmap(torch.func.jacrev(functions.gravity))(q)
    np.testing.assert_allclose(many[1], torch.func.jacrev(functions.gravity)(q[1]), atol=1e-12)


@pytest.mark.parametrize(
    "derive", [torch.func.hessian, lambda f: torch.func.jacfwd(torch.func.jacfwd(f))]
)
def test_forward_derivatives_nest(arm: lw.Model, derive: object) -> None:
    functions, (q, qd, qdd) = lw.torch(arm), states(arm)
    jacobian = torch.func.jacfwd(functions.forward_dynamics, (0, 1, 2))(q, qd, qdd)
    for a, b in zip(jacobian, arm.forward_dynamics_derivatives(*arrays(q, qd, qdd)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    mass = derive(lambda v: functions.kinetic_energy(q, v))(qd)  # type: ignore[operator]
    np.testing.assert_allclose(mass, arm.mass_matrix(q.numpy()), atol=1e-12)


def test_gradcheck_of_forward_derivatives() -> None:
    model = lw.compile(lw.gallery("elbow"))
    given = [x.requires_grad_() for x in states(model, 2)]
    assert torch.autograd.gradcheck(lw.torch(model).bias, given[:2], check_forward_ad=True)


def test_functions_are_compiled_inside_traces() -> None:
    model = lw.compile(lw.gallery("elbow"), parameters=["m2"])
    functions, q = lw.torch(model), torch.ones(3, 2).double().requires_grad_()

    def total(q: torch.Tensor) -> torch.Tensor:
        m2 = torch.ones(1).double()
        many = torch.func.vmap(functions.mass_matrix, in_dims=(0, None))(q.detach(), m2)
        end, _ = functions.rollout(q, torch.zeros_like(q), dt=0.1, steps=2, p=m2)
        return functions.gravity(q, m2).sum() + many.sum() + end.sum()

    torch.compile(total, fullgraph=True, backend="aot_eager")(q).backward()
    found, q.grad = q.grad, None
    total(q).backward()
    np.testing.assert_allclose(found, q.grad, rtol=1e-12)


def test_second_derivatives_by_parameters_pass_through_rollouts() -> None:
    model = lw.compile(lw.gallery("elbow"), parameters=["m1", "m2"])
    functions, q = lw.torch(model), torch.tensor([0.2, -0.3]).double()

    def height(p: torch.Tensor) -> torch.Tensor:
        return functions.rollout(q, torch.zeros_like(q), dt=0.02, steps=3, p=p)[0].sum()

    p = torch.tensor([1.0, 0.8]).double().requires_grad_()
    assert torch.autograd.gradgradcheck(height, (p,))


def test_numbers_keep_the_precision_of_tensors() -> None:
    model = lw.compile(lw.gallery("elbow"))
    found = lw.torch(model).inverse_dynamics([0.1, 0.2], torch.zeros(2).double(), [0, 0])
    np.testing.assert_allclose(found, model.gravity([0.1, 0.2]), rtol=1e-14)
    whole = torch.ones(2, dtype=torch.int64)
    ends = [lw.torch(model).rollout(x, x, dt=0.1, steps=2)[0] for x in (whole, whole.float())]
    np.testing.assert_array_equal(*ends)


def test_compile_has_no_graph_break(arm: lw.Model) -> None:
    functions, (q, qd, qdd) = lw.torch(arm), states(arm, 5)

    def power(q: torch.Tensor, qd: torch.Tensor, qdd: torch.Tensor) -> torch.Tensor:
        return (functions.inverse_dynamics(q, qd, qdd) * qd).sum(-1)

    functions.inverse_dynamics(q, qd, qdd)
    compiled = torch.compile(power, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(q, qd, qdd), power(q, qd, qdd), rtol=1e-12)
    own, other = (x.clone().requires_grad_() for x in (q, q))
    compiled(own, qd, qdd).sum().backward()
    power(other, qd, qdd).sum().backward()
    np.testing.assert_allclose(own.grad, other.grad, rtol=1e-12)


def test_exported_programs_take_batches_of_any_size() -> None:
    energy = lw.torch(lw.compile(lw.gallery("elbow"))).kinetic_energy

    class Energy(torch.nn.Module):
        def forward(self, q: torch.Tensor, qd: torch.Tensor) -> torch.Tensor:
            return energy(q, qd)

    batch, q = {0: torch.export.Dim("batch")}, torch.full((3, 2), 0.1)
    program = torch.export.export(Energy(), (q, q), dynamic_shapes=(batch, batch)).module()
    many = torch.full((7, 2), 0.3)
    torch.testing.assert_close(program(many, many), energy(many, many))


def test_lists_of_tensors_keep_their_gradients() -> None:
    functions = lw.torch(lw.compile(lw.gallery("elbow")))
    a, b = (torch.tensor(x, dtype=torch.double, requires_grad=True) for x in (0.3, -0.2))
    functions.potential_energy([a, b]).backward()
    torch.testing.assert_close(torch.stack([a.grad, b.grad]), functions.gravity([a, b]).detach())


def test_functions_are_pickled_as_recipes() -> None:
    functions, q = lw.torch(lw.compile(lw.gallery("elbow"))), torch.tensor([0.3, 0.1])
    functions.gravity(q)
    torch.testing.assert_close(
        pickle.loads(pickle.dumps(functions.gravity))(q), functions.gravity(q)
    )


def test_gradients_of_rollouts_need_no_derivative_of_a_whole_step() -> None:
    """That of a whole Runge–Kutta step of this arm takes a minute to compile."""
    functions = lw.torch(lw.compile(lw.gallery("seven-axis")))
    q = torch.zeros(7, dtype=torch.double, requires_grad=True)
    functions.rollout(q, q, dt=0.01, steps=2)[0].sum().backward()
    assert not [name for name in functions.__dict__ if name.startswith("_step")]
    dt = torch.tensor(0.01, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x: functions.rollout(q.detach(), q.detach(), dt=x, steps=2), dt
    )


def test_operators_pass_the_checks_of_torch(arm: lw.Model) -> None:
    from linkwright.frameworks.derivative_functions import model_function
    from linkwright.frameworks.torch_operators import TorchCall

    operator = TorchCall(model_function(arm, "gravity"), None).operator
    torch.library.opcheck(operator, ([states(arm, 2)[0].requires_grad_()],))


def test_limits_of_efforts_hold_in_rollouts() -> None:
    """A force of 5 N moves 1 kg for 1 s; the motor gives 1.5 N at most."""
    slide = lw.Mechanism(
        name="slide",
        gravity=[0, 0, 0],
        bodies={"block": {"mass": 1}},
        joints={"s": {"type": "prismatic", "child": "block", "limits": {"effort": 1.5}}},
    )
    still, force = torch.zeros(1), torch.tensor([5.0])
    _, qd = lw.torch(lw.compile(slide)).rollout(still, still, force, dt=0.1, steps=10)
    torch.testing.assert_close(qd, torch.tensor([1.5]))


def test_the_gradient_of_a_rollout_agrees_with_differences() -> None:
    model = lw.compile(lw.gallery("elbow"))
    functions, q, v = lw.torch(model), torch.tensor([0.2, -0.3]).double(), torch.zeros(2).double()
    tau = torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (8, 2))).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: functions.rollout(q, v, x, dt=0.02, steps=8)[0], (tau,)
    )
    found = functions.rollout(q, v, tau.detach(), dt=0.02, steps=8, history=True)
    wanted = lw.rollout(
        model, q.numpy(), v.numpy(), tau.detach().numpy(), dt=0.02, steps=8, history=True
    )
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_constraints_and_quaternions() -> None:
    for name in ("rolling-disk", "four-bar"):
        model = lw.compile(lw.gallery(name))
        q, v = torch.from_numpy(np.asarray(model.home(), float)), torch.zeros(model.nv).double()
        found = lw.torch(model).forward_dynamics(q, v, v)
        np.testing.assert_allclose(found, model.forward_dynamics(*arrays(q, v, v)), atol=1e-9)


def test_mistakes_are_explained(arm: lw.Model) -> None:
    with pytest.raises(ArgumentError, match=r"q of gravity has shape \(5,\); give \(…, 6\)"):
        lw.torch(arm).gravity(torch.zeros(5))
    with pytest.raises(ArgumentError, match=r"q0 of rollout has shape \(5,\); give \(…, 6\)"):
        lw.torch(arm).rollout(torch.zeros(5), torch.zeros(6), steps=0)
    with pytest.raises(ArgumentError, match="q of gravity is not an array of numbers"):
        lw.torch(arm).gravity("home")
    with pytest.raises(UnsupportedError, match=r"take forces as arrays \(got dict\)"):
        lw.torch(arm).rollout(torch.zeros(6), torch.zeros(6), {"q1": "sin(t)"})
    with pytest.raises(ArgumentError, match="gravity takes real numbers"):
        lw.torch(arm).gravity(torch.zeros(6) * 1j)
