"""`torch`: the functions of a model as operators of PyTorch, with derivatives of every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..model.model import Model
from ..simulation.fixed_steps.step_methods import check_method
from .derivative_functions import DerivableFunction, step_function
from .function_table import FrameworkFunctions
from .torch_operators import TorchCall, keep_out_of_traces
from .torch_rollouts import roll_out_in_torch

if TYPE_CHECKING:
    import torch as torch_package


def torch(model: Model) -> TorchFunctions:
    """Return the functions of a model for PyTorch.

    They are custom operators: autograd, `torch.func` (vmap, grad, jacrev) and `torch.compile`
    (without a graph break) work with them. They run our machine code on a processor and our
    kernels on a GPU; neither copies tensors. Derivatives are exact, as those of `lw.jax`.

    Parameters
    ----------
    model : Model
        A compiled mechanism.

    Returns
    -------
    TorchFunctions
        Functions by the names that the model has, for (…, n) tensors of float32 or float64.

    Examples
    --------
    >>> import linkwright as lw
    >>> functions = lw.torch(lw.compile(lw.gallery("elbow")))
    >>> functions.gravity([0.0, 0.0])
    tensor([19.6200,  4.9050])
    """
    try:
        import torch as _  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "functions for PyTorch need the package torch, which is not installed",
            remedy="pip install 'linkwright[torch]'",
        ) from None
    return TorchFunctions(model)


class TorchFunctions(FrameworkFunctions):
    """Functions of a model on tensors, by the names that the model has.

    Inputs are (…, n) tensors of float32 or float64, by position or by name, in the model's units;
    functions of frames take the frame first: `functions.placement("tool")(q)`.

    Parameters
    ----------
    model : Model
        A compiled mechanism; `linkwright.torch(model)` makes this object.

    Examples
    --------
    >>> import torch
    >>> import linkwright as lw
    >>> functions = lw.torch(lw.compile(lw.gallery("elbow")))
    >>> functions.gravity(torch.zeros(2))
    tensor([19.6200,  4.9050])
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        keep_out_of_traces(TorchFunctions.make_function, TorchFunctions.make_step)

    def wrap_function(self, function: DerivableFunction) -> Callable[..., Any]:
        """Return a `function` of the model as a function of tensors."""
        return TorchCall(function, self.model.threads)

    def make_step(self, method: str) -> str:
        """Return the attribute that holds the step of a `method`, wrapped when it is first used."""
        check_method(method, self.model.equations)
        attribute = f"_step:{method}"
        if attribute not in self.__dict__:
            call = TorchCall(step_function(self.model, method), self.model.threads)
            setattr(self, attribute, call)
        return attribute

    def rollout(
        self,
        q0: torch_package.Tensor,
        qd0: torch_package.Tensor,
        tau: torch_package.Tensor | None = None,
        *,
        dt: float | torch_package.Tensor = 1e-3,
        steps: int = 1000,
        method: str = "rk4",
        history: bool = False,
        t: float | torch_package.Tensor = 0.0,
        p: torch_package.Tensor | None = None,
    ) -> tuple[torch_package.Tensor, torch_package.Tensor]:
        """Integrate with fixed steps; autograd differentiates through all of them.

        Parameters
        ----------
        q0, qd0 : (…, nq) and (…, nv) tensors
            States at the start: rad or m, rad/s or m/s.
        tau : (…, nv) or (…, steps, nv) tensor, optional
            Generalized forces, constant or one row for each step (default: none), N m or N. With
            an axis over the steps, it has one axis more than `q0`.
        dt, steps : float or tensor (), and int
            Length of a step, s, and number of steps.
        method : str
            A method of fixed steps, as of `lw.rollout`.
        history : bool
            Return the states of all steps, the start included, as axis −2.
        t : float or tensor ()
            Time at the start, s.
        p : (…, parameters) tensor, optional
            Values of the parameters that the model keeps (default: the mechanism's).

        Returns
        -------
        tuple of two tensors
            (q, q̇) at the end, or at all steps.
        """
        return roll_out_in_torch(
            self, q0, qd0, tau, dt=dt, steps=steps, method=method, history=history, t=t, p=p
        )
