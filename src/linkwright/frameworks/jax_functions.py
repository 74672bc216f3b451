"""`jax`: the functions of a model for JAX, compiled by us, with derivatives of every order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..model.model import Model
from .derivative_functions import DerivableFunction
from .function_table import FrameworkFunctions
from .jax_calls import JaxCall
from .jax_rollouts import roll_out_in_jax

if TYPE_CHECKING:
    import jax as jax_package
    from jax.typing import ArrayLike


def jax(model: Model) -> JaxFunctions:
    """Return the functions of a model for JAX.

    They run our machine code on a processor, without copies, and our kernels on a GPU.
    `jit`, `vmap`, `grad`, `jacfwd` and `jacrev` compose with them. Derivatives are exact: those of
    inverse and forward dynamics come from recursions, higher ones from differentiating these.

    Parameters
    ----------
    model : Model
        A compiled mechanism.

    Returns
    -------
    JaxFunctions
        Functions by the names that the model has, for (…, n) arrays of float32 or float64.

    Examples
    --------
    >>> import linkwright as lw
    >>> functions = lw.jax(lw.compile(lw.gallery("elbow")))
    >>> functions.gravity([0.0, 0.0]).round(3).tolist()
    [19.6200008392334, 4.90500020980835]
    """
    require_jax()
    return JaxFunctions(model)


def require_jax() -> None:
    """Raise an error that names the extra if JAX is not installed."""
    try:
        import jax as _  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "functions for JAX need the package jax, which is not installed",
            remedy="pip install 'linkwright[jax]'",
        ) from None


class JaxFunctions(FrameworkFunctions):
    """Functions of a model on JAX arrays, by the names that the model has.

    Inputs are (…, n) arrays by position or by name, in the model's units; functions of frames take
    the frame first: `functions.placement("tool")(q)`.

    Parameters
    ----------
    model : Model
        A compiled mechanism; `linkwright.jax(model)` makes this object.

    Examples
    --------
    >>> import jax
    >>> import linkwright as lw
    >>> functions = lw.jax(lw.compile(lw.gallery("elbow")))
    >>> jax.jacfwd(functions.potential_energy)(jax.numpy.zeros(2)).round(3).tolist()
    [19.6200008392334, 4.90500020980835]
    """

    def wrap_function(self, function: DerivableFunction) -> Callable[..., Any]:
        """Return a `function` of the model as a function of JAX arrays."""
        return JaxCall(function, self.model.threads)

    def rollout(
        self,
        q0: ArrayLike,
        qd0: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        dt: float | jax_package.Array = 1e-3,
        steps: int = 1000,
        method: str = "rk4",
        history: bool = False,
        t: float | jax_package.Array = 0.0,
        p: ArrayLike | None = None,
    ) -> tuple[jax_package.Array, jax_package.Array]:
        """Integrate with fixed steps; `grad`, `jit` and `vmap` compose with it.

        Parameters
        ----------
        q0, qd0 : (…, nq) and (…, nv) arrays
            States at the start: rad or m, rad/s or m/s.
        tau : (…, nv) or (…, steps, nv) array, optional
            Generalized forces, constant or one row for each step (default: none), N m or N. With
            an axis over the steps, it has one axis more than `q0`.
        dt, steps : float or array (), and int
            Length of a step, s, and number of steps, which JAX must not trace.
        method : str
            A method of fixed steps, as of `lw.rollout`.
        history : bool
            Return the states of all steps, the start included, as axis −2.
        t : float or array ()
            Time at the start, s.
        p : (…, parameters) array, optional
            Values of the parameters that the model keeps (default: the mechanism's).

        Returns
        -------
        tuple of two arrays
            (q, q̇) at the end, or at all steps.
        """
        return roll_out_in_jax(
            self, q0, qd0, tau, dt=dt, steps=steps, method=method, history=history, t=t, p=p
        )

    @cached_property
    def step_calls(self) -> dict[str, JaxCall]:
        """Compiled steps by method, made when they are first used."""
        return {}
