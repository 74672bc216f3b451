"""Calls of compiled tapes from JAX, with derivative rules of every order.

XLA calls a handler, which is our machine code. On a processor, it calls the loop of the tape on
the buffers of XLA; on a GPU, it launches the kernel of the tape on XLA's stream.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conveniences import find_convenience
from ..readings.llvm import default_thread_count, load_tape_loop
from ..readings.llvm.xla_handler import load_processor_handler
from .derivative_functions import DerivableFunction
from .function_table import find_batch_shape, read_numbers, refuse_complex_numbers

if TYPE_CHECKING:
    import jax

    from ..tape import Tape

_HANDLER_TYPE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_REGISTERED: dict[str, tuple[object, ...]] = {}
"""Names of handlers that XLA knows, with the memory that they need: XLA never forgets one."""
_REGISTRATION = threading.Lock()
"""Threads that use a function first at the same time register its handler once."""


def register_handler(tape: Tape, item_bytes: int, threads: int | None) -> str:
    """Register the handler of a tape with XLA; return its name."""
    import jax

    count = threads or default_thread_count()
    name = f"linkwright_{tape.digest[:40]}_{item_bytes}_{count}"
    with _REGISTRATION:
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

        name, ports = self.function.name, self.function.inputs
        arrays = [
            read_numbers(jnp.asarray, x, f"{port.name} of {name}")
            for x, port in zip(given, ports, strict=True)
        ]
        refuse_complex_numbers(name, (x.dtype for x in arrays))
        batch = find_batch_shape(name, ports, [x.shape for x in arrays], jnp.broadcast_shapes)
        kind = number_type(arrays)
        full = [
            jnp.broadcast_to(x.astype(kind), (*batch, *port.shape))
            for x, port in zip(arrays, ports, strict=True)
        ]
        found = self.evaluate(*full)
        return found if len(found) > 1 else found[0]

    def evaluate(self, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        """Compute arrays with equal leading axes, as an operation that has derivatives."""
        return tuple(_call_primitive().bind(*arrays, call=self))

    def batch_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the leading axes of the first input, from its shape."""
        return tuple(shape[: len(shape) - len(self.function.inputs[0].shape)])

    def write_shapes(self, *arrays: jax.Array) -> list[jax.Array]:
        """Return arrays like the outputs, by plain operations on all inputs."""
        import jax.numpy as jnp

        batch = self.batch_shape(arrays[0].shape)
        each = sum(x.sum(tuple(range(len(batch), x.ndim))) for x in arrays)
        return [
            jnp.broadcast_to(
                jnp.reshape(each, (*batch, *(1 for _ in port.shape))), (*batch, *port.shape)
            )
            for port in self.function.outputs
        ]

    def compute(self, *arrays: jax.Array) -> Sequence[jax.Array]:
        """Call the handler of the tape through XLA."""
        import jax

        batch, kind = self.batch_shape(arrays[0].shape), arrays[0].dtype
        name = register_handler(self.function.tape, kind.itemsize, self.threads)
        shapes = [
            jax.ShapeDtypeStruct((*batch, *port.shape), kind) for port in self.function.outputs
        ]
        found: Sequence[jax.Array] = jax.ffi.ffi_call(name, shapes, vmap_method="broadcast_all")(
            *arrays
        )
        return found

    def change_outputs(
        self, primals: Sequence[jax.Array], tangents: Sequence[Any]
    ) -> tuple[Sequence[jax.Array], list[jax.Array]]:
        """Return the outputs, and their changes along tangents: products with the Jacobians."""
        import jax
        from jax.interpreters import ad

        value, (matrix,) = self.evaluate(*primals), self.jacobian.evaluate(*primals)
        inputs, batch = self.function.inputs, self.batch_shape(primals[0].shape)
        changes = []
        for number, port in enumerate(self.function.outputs):
            total = jax.numpy.zeros((*batch, port.size), value[number].dtype)
            for k, tangent in enumerate(tangents):
                if not isinstance(tangent, ad.Zero):
                    step = tangent.reshape(*batch, inputs[k].size)
                    block = matrix[..., *self.function.jacobian_block(number, k)]
                    total = total + multiply_rows(block, step)
            changes.append(total.reshape(*batch, *port.shape))
        return value, changes

    def map_outputs(
        self, arrays: Sequence[jax.Array], axes: Sequence[int | None]
    ) -> tuple[Sequence[jax.Array], list[int]]:
        """Return the outputs for arrays that `vmap` maps over axes, which become the first ones."""
        import jax.numpy as jnp

        size = next(x.shape[k] for x, k in zip(arrays, axes, strict=True) if k is not None)
        full = [
            jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
            for x, axis in zip(arrays, axes, strict=True)
        ]
        found = self.evaluate(*full)
        return found, [0] * len(found)


@cache
def _call_primitive() -> Any:
    """Return the operation that calls a compiled tape, as JAX traces it.

    It is a primitive, because JAX drops the rule of a `jax.custom_jvp` from the reverse derivative
    of a scan, which then had no second derivatives.
    """
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    def compute(*arrays: jax.Array, call: JaxCall) -> Sequence[jax.Array]:
        return call.compute(*arrays)

    def describe(*given: Any, call: JaxCall) -> list[Any]:
        # The types of plain operations also say how arrays vary over the devices of a `shard_map`.
        found: list[Any] = jax.make_jaxpr(call.write_shapes)(*given).out_avals
        return found

    primitive = Primitive("linkwright_call")
    primitive.multiple_results = True
    primitive.def_impl(compute)
    primitive.def_abstract_eval(describe)
    ad.primitive_jvps[primitive] = lambda primals, tangents, *, call: call.change_outputs(
        primals, tangents
    )
    batching.primitive_batchers[primitive] = lambda arrays, axes, *, call: call.map_outputs(
        arrays, axes
    )
    mlir.register_lowering(primitive, mlir.lower_fun(compute, multiple_results=True))
    return primitive


def multiply_rows(matrix: jax.Array, vector: jax.Array) -> jax.Array:
    """Return the products of matrices and vectors, (…, m, n) by (…, n), in full precision."""
    import jax

    found: jax.Array = jax.numpy.einsum(
        "...ij,...j->...i", matrix, vector, precision=jax.lax.Precision.HIGHEST
    )
    return found


def number_type(arrays: Sequence[jax.Array]) -> np.dtype[np.floating[Any]]:
    """Return float64 if an array has it, else float32; JAX decides about integers."""
    import jax.numpy as jnp

    found = jnp.result_type(*arrays)
    kind: np.dtype[np.floating[Any]] = np.dtype(
        found if found in (np.float32, np.float64) else jnp.result_type(float)
    )
    return kind
