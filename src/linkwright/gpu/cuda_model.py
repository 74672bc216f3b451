"""`compile(…, device="cuda")`: the functions of a model on arrays of a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, LinkwrightError, MissingExtraError, suggest_remedy
from ..frameworks.function_table import order_arguments
from ..model.guard import MIN_PIVOT_SHARE
from ..model.model import Model
from ..quantities import FRAME_SIGNATURES, GUARDED_QUANTITIES, quantity_signatures
from ..readings.cuda.cuda_options import PRECISIONS, SINES, CudaOptions
from .cubin_compiler import DEFAULT_ARCHITECTURE, compile_cubin
from .device_rollouts import roll_out_on_device
from .kernel_records import make_function_record, read_compiled_cubin
from .runtime import DeviceArray, DeviceFunction

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..simulation.feedback import Feedback


def compile_cuda_model(model: Model, sines: str = "polynomial") -> CudaModel:
    """Return the functions of a model on arrays of a GPU."""
    try:
        import cupy  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "functions on a GPU need the package cupy, which is not installed",
            remedy="pip install 'linkwright[cuda]'",
        ) from None
    if sines not in SINES:
        raise ArgumentError(f"sines cannot be {sines!r}", remedy=suggest_remedy(sines, SINES))
    return CudaModel(model, CudaOptions(sines=sines))


class CudaModel:
    """The functions of a model on arrays of a GPU, by the names that the model has.

    Inputs are arrays of CuPy, PyTorch or JAX on the GPU, without copies; results are arrays of the
    same kind. Arrays of float32 use kernels in single precision, all others double precision.
    Kernels run on the current stream. `layout="columns"` takes arrays (n, B) instead of (…, n).

    Parameters
    ----------
    model : Model
        A compiled mechanism; `linkwright.compile(mechanism, device="cuda")` makes this object.
    options : CudaOptions
        Choices of the kernels.

    Examples
    --------
    >>> import cupy
    >>> import linkwright as lw
    >>> gpu = lw.compile(lw.gallery("elbow"), device="cuda")
    >>> gpu.gravity(cupy.zeros((1000, 2))).shape
    (1000, 2)
    """

    def __init__(self, model: Model, options: CudaOptions) -> None:
        self.model, self.options = model, options
        self.architecture = _find_architecture()
        self._made: dict[tuple[str, ...], DeviceFunction] = {}

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.model.mechanism

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return self.model.nv

    def compile_source(self, source: str) -> bytes:
        """Return the cubin of a `source` for this GPU."""
        return compile_cubin(source, self.architecture)

    def device_function(self, name: str, *frame: str) -> DeviceFunction:
        """Return the function `name`, or that of a `frame`, without names of arguments."""
        key = (name, *frame)
        if key not in self._made:
            tape = self.model.tape(name, *frame)
            if any(port.size == 0 for port in tape.outputs):
                raise LinkwrightError(f"{name} of {self.mechanism.name} has no entries")
            record, sources = make_function_record("_".join(key), tape, PRECISIONS, self.options)
            is_guarded = bool(self.model.names.constraints) and name in GUARDED_QUANTITIES
            self._made[key] = DeviceFunction(
                record,
                read_compiled_cubin(sources, self.compile_source),
                partial(_solve_weak_states, self.model, name) if is_guarded else None,
            )
        return self._made[key]

    def function(self, name: str, *frame: str) -> Callable[..., DeviceArray]:
        """Return the function `name`, or that of a `frame`: inputs by position or by name."""
        made = self.device_function(name, *frame)
        names = [key for key, _ in made.inputs]

        def call(*given: object, layout: str = "rows", **named: object) -> DeviceArray:
            return made(*order_arguments(name, names, given, named), layout=layout)

        call.__name__ = name
        return call

    def rollout(
        self,
        q0: DeviceArray,
        qd0: DeviceArray,
        inputs: DeviceArray | Mapping[str, object] | Feedback | None = None,
        dt: float = 1e-3,
        steps: int = 1000,
        *,
        method: str = "rk4",
        history: bool = False,
        t: float = 0.0,
        parameters: DeviceArray | None = None,
        layout: str = "rows",
        rtol: float = 1e-9,
        atol: float = 1e-10,
    ) -> tuple[DeviceArray, DeviceArray]:
        """Integrate many trajectories, each in one thread, with fixed or adaptive steps.

        Parameters
        ----------
        q0, qd0 : (B, nq) and (B, nv) arrays
            States at the start; (nq, B) and (nv, B) in columns.
        inputs : array, mapping or Feedback, optional
            Forces (B, nv), or forces for each step (B, steps, nv); in columns (nv, B) and
            (steps, nv, B); or a table of expressions or a controller, as of `lw.rollout`.
        dt, steps : float and int
            Length of a step, s, and number of steps.
        method : str
            A method of fixed steps, as of `lw.rollout`; or "dop853" or "rk45", which choose their
            own steps in each trajectory, in double precision under constant forces (efforts of the
            actuators where there are some).
        history : bool
            Return all steps, the start included: (B, steps + 1, n), or (steps + 1, n, B).
        t : float
            Time at the start, s.
        parameters : (B, parameters) or (parameters) array, optional
            Values of the parameters that the model keeps; (parameters, B) in columns.
        layout : str
            "rows" or "columns".
        rtol, atol : float
            Tolerances of adaptive steps: relative, and absolute (rad, m and their rates).

        Returns
        -------
        tuple of two arrays
            (q, q̇) at the end, or at all steps. A trajectory of a constrained mechanism that passes
            near a singular configuration is NaN from there on.
        """
        return roll_out_on_device(
            self,
            q0,
            qd0,
            inputs,
            dt=dt,
            steps=steps,
            method=method,
            history=history,
            t=t,
            parameters=parameters,
            layout=layout,
            rtol=rtol,
            atol=atol,
        )

    def with_options(self, **changes: object) -> CudaModel:
        """Return the same functions with `changes` of the choices of kernels (`CudaOptions`)."""
        return CudaModel(self.model, replace(self.options, **changes))  # type: ignore[arg-type]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._known_names()]

    def _known_names(self) -> list[str]:
        return [*quantity_signatures(self.model.names), *FRAME_SIGNATURES]

    def __repr__(self) -> str:
        return f"CudaModel of {self.mechanism.name}: nq={self.nq}, nv={self.nv}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., DeviceArray]:
            if name.startswith("_") or name == "model":
                raise AttributeError(name)
            if name in FRAME_SIGNATURES:
                return lambda frame: self.function(name, frame)
            if name not in quantity_signatures(self.model.names):
                known = self._known_names()
                raise AttributeError(
                    f"CudaModel has no function '{name}'; {suggest_remedy(name, known)}"
                )
            return self.function(name)


def _find_architecture() -> str:
    """Return the architecture of the current GPU; raise if there is none."""
    import cupy as cp

    try:
        capability = getattr(cp.cuda.Device(), "compute_capability", "")
    except RuntimeError as error:  # that of CuPy, which names what CUDA misses
        raise LinkwrightError(
            f"no GPU can be used: {error}",
            remedy="compile without device='cuda', or install the driver of an NVIDIA GPU",
        ) from None
    return f"sm_{capability}" if capability else DEFAULT_ARCHITECTURE


def _solve_weak_states(
    model: Model, name: str, given: Sequence[Any], results: Sequence[Any], layout: str
) -> list[Any]:
    """Return results without the pivot; states with a small pivot are solved by the model on the
    processor, with pivoting."""
    import cupy as cp

    *found, pivot = results
    weak = cp.asnumpy(cp.flatnonzero(~(pivot >= MIN_PIVOT_SHARE)))
    if len(weak):
        states = [_state_rows(cp, x, pivot.ndim, layout)[weak] for x in given]
        solved = getattr(model, name)(*(np.asarray(cp.asnumpy(x), float) for x in states))
        for x, y in zip(found, solved if isinstance(solved, tuple) else (solved,), strict=True):
            _state_rows(cp, x, pivot.ndim, layout)[weak] = cp.asarray(y, dtype=x.dtype)
    return list(found)


def _state_rows(cp: Any, x: Any, axes: int, layout: str) -> Any:
    """Return an array as a view with one axis over the states, which comes first."""
    if layout == "columns":
        return cp.moveaxis(x, -1, 0)
    return x.reshape(-1, *x.shape[axes:])
