"""Compiled tapes as custom operators of PyTorch (`torch.library`).

An operator takes tensors with equal leading axes. Its derivative rule calls the operator of the
Jacobians, whose derivative rule calls that of theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conveniences import find_convenience
from ..readings.llvm import compile_tape
from .derivative_functions import DerivableFunction
from .function_table import find_batch_shape, read_numbers, refuse_complex_numbers

if TYPE_CHECKING:
    import torch

_OPERATORS: dict[str, Any] = {}
"""Operators by the digest of their tapes: equal functions share one."""
_DEFINITION = threading.Lock()
"""Threads that use a function first at the same time define its operator once."""


class TorchCall:
    """A derivable function as a function of tensors."""

    def __init__(self, function: DerivableFunction, threads: int | None) -> None:
        self.function, self.threads = function, threads

        keep_out_of_traces(TorchCall.prepare_operator)

    @cached_property
    def jacobian(self) -> TorchCall:
        """The call of all Jacobians."""
        return TorchCall(self.function.jacobian, self.threads)

    def prepare_operator(self) -> str:
        """Define the custom operator; return its name."""
        assert self.operator is not None
        return self.operator_name

    def __call__(self, *given: Any) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Call the function; leading axes broadcast."""
        import torch

        name, ports = self.function.name, self.function.inputs
        tensors = take_tensors(name, [port.name for port in ports], given)
        shapes = [tuple(x.shape) for x in tensors]
        batch = find_batch_shape(name, ports, shapes, torch.broadcast_shapes)
        full = [x.expand((*batch, *port.shape)) for x, port in zip(tensors, ports, strict=True)]
        found = self.evaluate(full)
        return found[0] if len(found) == 1 else tuple(found)

    def evaluate(self, tensors: list[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Compute tensors with equal leading axes.

        `torch.func` and forward derivatives get a function of its own: a custom operator has only
        reverse derivatives. Traces of `torch.compile` have the operator.
        """
        import torch

        is_traced = torch.compiler.is_dynamo_compiling()
        if not is_traced and torch.autograd.forward_ad._current_level >= 0:
            found: Sequence[torch.Tensor] = self.transformable.apply(*tensors)
            return found
        return self.run_operator(tensors)

    def run_operator(self, tensors: list[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Compute without forward derivatives."""
        import torch

        found: Sequence[torch.Tensor]
        if torch.compiler.is_dynamo_compiling():
            found = getattr(torch.ops.linkwright, self.prepare_operator())(tensors)
        elif torch._C._are_functorch_transforms_active():
            found = self.transformable.apply(*tensors)
        else:
            found = self.operator(tensors)
        return found

    @cached_property
    def transformable(self) -> Any:
        """The operator as an `autograd.Function`, which the derivatives of `torch.func` need."""
        import torch
        from torch.autograd import forward_ad

        call = self

        def forward(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(call.run_operator(list(tensors)))

        def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        def backward(ctx: Any, *changes: torch.Tensor | None) -> tuple[Any, ...]:
            return tuple(call.pull_back(ctx, changes)[0])

        def jvp(ctx: Any, *changes: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
            # PyTorch switches forward derivatives off here, also those of outer levels
            with forward_ad._set_fwd_grad_enabled(True):
                tensors = [forward_ad.unpack_dual(x, level=0).primal for x in ctx.saved_tensors]
                return call.push_forward(tensors, changes)

        def vmap(info: Any, axes: Any, *tensors: torch.Tensor) -> tuple[Any, ...]:
            found = call.evaluate(_move_batch_axes(info.batch_size, axes, tensors))
            return tuple(found), (0,) * len(found)

        rules = {
            "forward": staticmethod(forward),
            "setup_context": staticmethod(setup_context),
            "backward": staticmethod(backward),
            "jvp": staticmethod(jvp),
            "vmap": staticmethod(vmap),
        }
        return type("TransformableCall", (torch.autograd.Function,), rules)

    @cached_property
    def operator(self) -> Any:
        """The custom operator: a list of tensors in, a list of tensors out."""
        name = self.operator_name
        with _DEFINITION:
            if name not in _OPERATORS:
                _OPERATORS[name] = self.make_operator(f"linkwright::{name}")
            return _OPERATORS[name]

    @cached_property
    def operator_name(self) -> str:
        """The name of the operator in `torch.ops.linkwright`."""
        return f"f{self.function.tape.digest[:32]}_{self.threads or 0}"

    def make_operator(self, name: str) -> Any:
        """Define the operator with its shapes, its derivative rule and its rule for vmap."""
        import torch

        inputs, outputs = self.function.inputs, self.function.outputs
        axes = len(inputs[0].shape)
        ufunc = compile_tape(self.function.tape, threads=self.threads)

        def compute(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
            first = tensors[0]
            if first.is_cuda:
                return self.launch_kernel(tensors)
            batch = tuple(first.shape[: first.ndim - axes])
            results = [first.new_empty((*batch, *port.shape)) for port in outputs]
            given = [x.detach().contiguous().numpy() for x in tensors]
            with np.errstate(all="ignore"):
                ufunc(*given, out=tuple(x.numpy() for x in results))
            return results

        operator = torch.library.custom_op(
            name, compute, mutates_args=(), schema="(Tensor[] tensors) -> Tensor[]"
        )

        def shapes(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
            first = tensors[0]
            batch = tuple(first.shape[: first.ndim - axes])
            return [first.new_empty((*batch, *port.shape)) for port in outputs]

        operator.register_fake(shapes)
        operator.register_autograd(self.pull_back, setup_context=_keep_inputs)
        operator.register_vmap(self.batch_operator(operator))
        return operator

    def pull_back(self, context: Any, changes: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:
        """Return the products of the outputs' cotangents with the Jacobians."""

        inputs, outputs = self.function.inputs, self.function.outputs
        tensors = list(context.saved_tensors)
        first = tensors[0]
        batch = tuple(first.shape[: first.ndim - len(inputs[0].shape)])
        (matrix,) = self.jacobian.evaluate(tensors)
        found: list[torch.Tensor | None] = []
        for k, given in enumerate(inputs):
            total = first.new_zeros((*batch, given.size))
            for number, (port, change) in enumerate(zip(outputs, changes, strict=True)):
                if change is not None:
                    row = change.reshape((*batch, 1, port.size))
                    total = total + (
                        row @ matrix[..., *self.function.jacobian_block(number, k)]
                    ).squeeze(-2)
            found.append(total.reshape((*batch, *given.shape)))
        return (found,)

    def push_forward(
        self, tensors: list[torch.Tensor], changes: Sequence[torch.Tensor | None]
    ) -> tuple[torch.Tensor, ...]:
        """Return the products of the Jacobians with the tangents of the inputs."""
        inputs, outputs = self.function.inputs, self.function.outputs
        first = tensors[0]
        batch = tuple(first.shape[: first.ndim - len(inputs[0].shape)])
        (matrix,) = self.jacobian.evaluate(tensors)
        found = []
        for number, port in enumerate(outputs):
            total = first.new_zeros((*batch, port.size))
            for k, (given, change) in enumerate(zip(inputs, changes, strict=True)):
                if change is not None:
                    column = change.reshape((*batch, given.size, 1))
                    total = total + (
                        matrix[..., *self.function.jacobian_block(number, k)] @ column
                    ).squeeze(-1)
            found.append(total.reshape((*batch, *port.shape)))
        return tuple(found)

    def batch_operator(self, operator: Any) -> Any:
        """Return the rule for vmap: the mapped axis becomes one more leading axis."""

        def rule(info: Any, axes: Any, tensors: Any) -> tuple[list[torch.Tensor], list[int]]:
            found = operator(_move_batch_axes(info.batch_size, axes[0], tensors))
            return found, [0] * len(found)

        return rule

    def launch_kernel(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Compute on the GPU, on the current stream."""
        found: Any = find_convenience("torch.run_kernel")(self.function.tape, tensors)
        return list(found)


def _move_batch_axes(
    size: int, axes: Sequence[int | None], tensors: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """Return tensors with the mapped axis in front; those without it are repeated."""
    return [
        x.unsqueeze(0).expand((size, *x.shape)) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(tensors, axes, strict=True)
    ]


def _keep_inputs(ctx: Any, inputs: tuple[list[torch.Tensor]], output: Any) -> None:
    """Save the inputs for the derivative rule; PyTorch gives the arguments by these names."""
    ctx.save_for_backward(*inputs[0])


def keep_out_of_traces(*functions: Any) -> None:
    """Let `torch.compile` call functions while it traces, and take their results as constants.

    They derive, compile and cache, which it cannot trace.
    """
    import torch

    for function in functions:
        torch.compiler.assume_constant_result(function)


def take_tensors(function: str, names: Sequence[str], given: Sequence[Any]) -> list[torch.Tensor]:
    """Return tensors on the device of the first: float64 if one has it, else float32.

    Numbers and lists have the type of the others, or else the default type of PyTorch.
    """
    import torch

    given = [_stack_tensors(x) for x in given]
    device = next((x.device for x in given if isinstance(x, torch.Tensor)), None)
    typed = [torch.as_tensor(x, device=device) for x in given if hasattr(x, "dtype")]
    refuse_complex_numbers(function, (x.dtype for x in typed))
    kind = typed[0].dtype if typed else torch.get_default_dtype()
    for x in typed[1:]:
        kind = torch.promote_types(kind, x.dtype)
    if kind not in (torch.float32, torch.float64):
        kind = torch.get_default_dtype()
    take = partial(torch.as_tensor, dtype=kind, device=device)
    return [
        x.to(kind) if isinstance(x, torch.Tensor) and x.device == device
        else read_numbers(take, x, f"{name} of {function}")
        for name, x in zip(names, given, strict=True)
    ]  # fmt: skip


def _stack_tensors(given: Any) -> Any:
    """Return a list of tensors as one tensor, with their gradients; anything else as it is."""
    import torch

    if isinstance(given, list | tuple) and any(isinstance(x, torch.Tensor) for x in given):
        return torch.stack([torch.as_tensor(x) for x in given])
    return given
