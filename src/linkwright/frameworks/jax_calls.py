"""Calls of compiled tapes from JAX, with derivative rules of every order.

XLA calls a handler that is machine code of ours. On a processor, it calls the loop of the tape on
the buffers of XLA; on a GPU, it launches the kernel of the tape on XLA's stream.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conveniences import find_convenience
from ..readings.llvm import default_thread_count, load_tape_loop
from ..readings.llvm.xla_handler import load_processor_handler
from .derivative_functions import DerivableFunction
from .function_table import check_port_shapes

if TYPE_CHECKING:
    import jax

    from ..tape import Tape

_HANDLER_TYPE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_REGISTERED: dict[str, tuple[object, ...]] = {}
"""Names of handlers that XLA knows, with the memory that they need: XLA never forgets one."""


def register_handler(tape: Tape, item_bytes: int, threads: int | None) -> str:
    """Register the handler of a tape with XLA; return its name."""
    import jax

    count = threads or default_thread_count()
    name = f"linkwright_{tape.digest[:40]}_{item_bytes}_{count}"
    if name not in _REGISTERED:
        loop = load_tape_loop(tape, item_bytes)
        allowed = ctypes.c_int64(count)
        code = load_processor_handler(tape, item_bytes, loop.address, ctypes.addressof(allowed))
        function = _HANDLER_TYPE(code.address)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(function), platform="cpu")
        kept: tuple[object, ...] = (loop, allowed, code, function)
        if any(device.platform == "gpu" for device in jax.devices()):
            kept += find_convenience("jax.register_kernel")(name, tape, item_bytes)
        _REGISTERED[name] = kept
    return name


class JaxCall:
    """A derivable function as a function of JAX arrays."""

    def __init__(self, function: DerivableFunction, threads: int | None) -> None:
        self.function, self.threads = function, threads

    @cached_property
    def jacobian(self) -> JaxCall:
        """The call of all Jacobians."""
        return JaxCall(self.function.jacobian, self.threads)

    def __call__(self, *given: object) -> jax.Array | tuple[jax.Array, ...]:
        """Call the function; leading axes broadcast."""
        import jax.numpy as jnp

        arrays = [jnp.asarray(x) for x in given]
        leading = check_port_shapes(self.function, [x.shape for x in arrays])
        batch = np.broadcast_shapes(*leading)
        kind = _number_type(arrays)
        full = [
            jnp.broadcast_to(x.astype(kind), (*batch, *port.shape))
            for x, port in zip(arrays, self.function.inputs, strict=True)
        ]
        found = self.evaluate(*full)
        return found if len(found) > 1 else found[0]

    @cached_property
    def evaluate(self) -> Callable[..., tuple[jax.Array, ...]]:
        """The function of arrays with equal leading axes, with its derivative rule."""
        import jax
        from jax.custom_derivatives import SymbolicZero

        inputs, outputs = self.function.inputs, self.function.outputs

        def compute(*arrays: jax.Array) -> tuple[jax.Array, ...]:
            axes = len(inputs[0].shape)
            batch = arrays[0].shape[: arrays[0].ndim - axes]
            kind = arrays[0].dtype
            name = register_handler(self.function.tape, kind.itemsize, self.threads)
            shapes = [jax.ShapeDtypeStruct((*batch, *port.shape), kind) for port in outputs]
            return tuple(jax.ffi.ffi_call(name, shapes, vmap_method="broadcast_all")(*arrays))

        evaluate: Any = jax.custom_jvp(compute)

        def rule(
            primals: Sequence[jax.Array], tangents: Sequence[jax.Array]
        ) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
            value, matrices = evaluate(*primals), self.jacobian.evaluate(*primals)
            batch = value[0].shape[: value[0].ndim - len(outputs[0].shape)]
            changes = []
            for number, port in enumerate(outputs):
                total = jax.numpy.zeros((*batch, port.size), value[number].dtype)
                for k, tangent in enumerate(tangents):
                    if not isinstance(tangent, SymbolicZero):
                        step = tangent.reshape(*batch, prod(inputs[k].shape))
                        matrix = matrices[number * len(inputs) + k]
                        total = total + multiply_rows(matrix, step)
                changes.append(total.reshape(*batch, *port.shape))
            return value, tuple(changes)

        evaluate.defjvp(rule, symbolic_zeros=True)
        derivable: Callable[..., tuple[jax.Array, ...]] = evaluate
        return derivable


def multiply_rows(matrix: jax.Array, vector: jax.Array) -> jax.Array:
    """Return the products of matrices and vectors, (…, m, n) by (…, n), in full precision."""
    import jax

    found: jax.Array = jax.numpy.einsum(
        "...ij,...j->...i", matrix, vector, precision=jax.lax.Precision.HIGHEST
    )
    return found


def _number_type(arrays: Sequence[jax.Array]) -> np.dtype[np.floating[Any]]:
    """Return float64 if an array has it, else float32; JAX decides about integers."""
    import jax.numpy as jnp

    found = jnp.result_type(*arrays)
    kind: np.dtype[np.floating[Any]] = np.dtype(
        found if found in (np.float32, np.float64) else jnp.result_type(float)
    )
    return kind
