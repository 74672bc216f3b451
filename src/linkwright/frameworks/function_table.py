"""The functions of a model by name, each wrapped for a framework when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, LinkwrightError, UnsupportedError, suggest_remedy
from ..model.model import Model
from ..quantities import FRAME_SIGNATURES, quantity_signatures
from .derivative_functions import DerivableFunction, model_function


class FrameworkFunctions:
    """The functions of a model on arrays of a framework: (…, n) arrays, by place or by name.

    Functions of frames are called with the frame first: `functions.placement("tool")(q)`.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise LinkwrightError(
                f"a {type(model).__name__} is not a model", remedy="compile it first"
            )
        self.model = model
        self._made: dict[tuple[str, ...], Callable[..., Any]] = {}

    def wrap_function(self, function: DerivableFunction) -> Callable[..., Any]:
        """Return a function of the framework's arrays; inputs are given by place."""
        raise NotImplementedError

    def function(self, name: str, *frame: str) -> Callable[..., Any]:
        """Return the function `name`, or that of a `frame`."""
        key = (name, *frame)
        if key not in self._made:
            found = model_function(self.model, name, *frame)
            if any(port.size == 0 for port in found.outputs):
                raise UnsupportedError(
                    f"{name} of {self.model.mechanism.name} has no entries",
                    remedy="leave it out",
                )
            self._made[key] = _name_arguments(found, self.wrap_function(found))
        return self._made[key]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._known_names()]

    def _known_names(self) -> list[str]:
        return [*quantity_signatures(self.model.names), *FRAME_SIGNATURES]

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.model.mechanism.name}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("_") or name == "model":
                raise AttributeError(name)
            if name in FRAME_SIGNATURES:
                return lambda frame: self.function(name, frame)
            if name not in quantity_signatures(self.model.names):
                raise AttributeError(
                    f"{self!r} has no function '{name}'; "
                    f"{suggest_remedy(name, self._known_names())}"
                )
            return self.function(name)


def _name_arguments(function: DerivableFunction, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with inputs by place or by name."""
    names = [port.name for port in function.inputs]

    def call_with_names(*given: object, **named: object) -> Any:
        return call(*order_arguments(function.name, names, given, named))

    call_with_names.__name__ = call_with_names.__qualname__ = function.name
    return call_with_names


def order_arguments(
    function: str, names: Sequence[str], given: Sequence[object], named: dict[str, object]
) -> list[object]:
    """Return the inputs of a function in their order; raise if one is missing or not known."""
    rest = names[len(given) :]
    unknown = [name for name in named if name not in rest]
    missing = [name for name in rest if name not in named]
    if len(given) > len(names) or unknown or missing:
        raise ArgumentError(
            f"{function} takes {', '.join(names)}; given are {len(given)} by place"
            + (f" and {', '.join(named)} by name" if named else ""),
            remedy=f"call {function}({', '.join(names)})",
        )
    return [*given, *(named[name] for name in rest)]


def check_port_shapes(
    function: DerivableFunction, shapes: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Return the leading axes of each input; raise where an input has other axes than its port."""
    leading = []
    for port, shape in zip(function.inputs, shapes, strict=True):
        axes = len(port.shape)
        if len(shape) < axes or tuple(shape[len(shape) - axes :]) != tuple(port.shape):
            wanted = ", ".join(["…", *map(str, port.shape)])
            raise ArgumentError(
                f"{port.name} of {function.name} has shape {tuple(shape)}",
                remedy=f"give ({wanted})",
            )
        leading.append(tuple(shape[: len(shape) - axes]))
    return leading
