"""The functions of a model by name, each wrapped for a framework when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, LinkwrightError, UnsupportedError, suggest_remedy
from ..model.function_help import short_function_help
from ..model.model import Model
from ..number_checks import shorten_value_text
from ..ports import Port
from ..quantities import FRAME_SIGNATURES, quantity_signatures
from ..simulation.feedback import Feedback
from .derivative_functions import DerivableFunction, model_function


class FrameworkFunctions:
    """The functions of a model on arrays of a framework: (…, n) arrays, by position or by name.

    Functions of frames are called with the frame first: `functions.placement("tool")(q)`.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise LinkwrightError(
                f"a {type(model).__name__} is not a model", remedy="compile it first"
            )
        self.model = model

    def wrap_function(self, function: DerivableFunction) -> Callable[..., Any]:
        """Return a function of the framework's arrays; inputs are given by position."""
        raise NotImplementedError

    def function(self, name: str, *frame: str) -> Callable[..., Any]:
        """Return the function `name`, or that of a `frame`."""
        found: Callable[..., Any] = getattr(self, self.make_function(name, *frame))
        return found

    def make_function(self, name: str, *frame: str) -> str:
        """Wrap a function when it is first used; return the name of the attribute that holds it."""
        if not all(isinstance(one, str) for one in frame):
            raise ArgumentError(
                f"{name} takes a frame first", remedy=f"call {name}(FRAME), then its result"
            )
        attribute = ":".join(("_made", name, *frame))
        if attribute not in self.__dict__:
            found = model_function(self.model, name, *frame)
            if any(port.size == 0 for port in found.outputs):
                raise UnsupportedError(
                    f"{name} of {self.model.mechanism.name} has no entries",
                    remedy="leave it out",
                )
            recipe = (type(self), self.model, name, frame)
            setattr(self, attribute, NamedFunction(found, self.wrap_function(found), recipe))
        return attribute

    def __reduce__(self) -> tuple[type[FrameworkFunctions], tuple[Model]]:
        return type(self), (self.model,)

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


class NamedFunction:
    """A function of arrays of a framework, whose inputs are given by position or by name.

    It pickles as the recipe by which another process makes it: the class of the functions, the
    model, the name and the frame.
    """

    def __init__(
        self,
        function: DerivableFunction,
        call: Callable[..., Any],
        recipe: tuple[type[FrameworkFunctions], Model, str, tuple[str, ...]],
    ) -> None:
        _, model, name, frame = recipe
        self.names = tuple(port.name for port in function.inputs)
        self.call, self.recipe = call, recipe
        self.__name__ = self.__qualname__ = function.name
        self.__doc__ = short_function_help(model.names, name, model.parameters, *frame)
        self.__signature__ = Signature(
            [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD) for key in self.names]
        )

    def __call__(self, *given: object, **named: object) -> Any:
        """Compute the function; leading axes broadcast."""
        return self.call(*order_arguments(self.__name__, self.names, given, named))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _make_named_function, self.recipe

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(self.names)}) of {self.recipe[1].mechanism.name}"


def _make_named_function(
    kind: type[FrameworkFunctions], model: Model, name: str, frame: tuple[str, ...]
) -> Callable[..., Any]:
    """Return a function of a model that was pickled."""
    return kind(model).function(name, *frame)


def order_arguments(
    function: str, names: Sequence[str], given: Sequence[object], named: dict[str, object]
) -> list[object]:
    """Return the inputs of a function in their order; raise if one is missing or not known."""
    rest = names[len(given) :]
    unknown = [name for name in named if name not in rest]
    missing = [name for name in rest if name not in named]
    if len(given) > len(names) or unknown or missing:
        raise ArgumentError(
            f"{function} takes {', '.join(names)}; given are {len(given)} by position"
            + (f" and {', '.join(named)} by name" if named else ""),
            remedy=f"call {function}({', '.join(names)})",
        )
    return [*given, *(named[name] for name in rest)]


def find_batch_shape(
    function: str,
    ports: Sequence[Port],
    shapes: Sequence[tuple[int, ...]],
    broadcast: Callable[..., tuple[int, ...]] = np.broadcast_shapes,
) -> tuple[int, ...]:
    """Return the leading axes to which those of all inputs broadcast.

    Raise where an input has other axes than its port, or where the leading axes do not agree.
    `broadcast` is the framework's function where lengths of axes may be symbols of a trace.
    """
    leading = {}
    for port, shape in zip(ports, shapes, strict=True):
        split = len(shape) - len(port.shape)
        if split < 0 or tuple(shape[split:]) != tuple(port.shape):
            wanted = ", ".join(["…", *map(str, port.shape)])
            raise ArgumentError(
                f"{port.name} of {function} has shape {tuple(shape)}", remedy=f"give ({wanted})"
            )
        leading[port.name] = tuple(shape[:split])
    try:
        return tuple(broadcast(*leading.values()))
    except (ValueError, RuntimeError):
        texts = ", ".join(f"{axes} of {name}" for name, axes in leading.items() if axes)
        raise ArgumentError(
            f"the leading axes of {function} do not agree: {texts}",
            remedy="give equal axes, or axes of length 1",
        ) from None


def check_rollout_shapes(
    model: Model,
    steps: int,
    shapes: Mapping[str, tuple[int, ...]],
    broadcast: Callable[..., tuple[int, ...]],
) -> tuple[bool, tuple[int, ...]]:
    """Return whether `tau` has a row for each step, and the axes over the trajectories.

    `shapes` are those of `q0`, `qd0`, `tau` and, if the model keeps parameters, `p`.
    """
    forces = shapes["tau"]
    is_in_time = len(forces) == max(len(shapes["q0"]), len(shapes["qd0"])) + 1
    if is_in_time:
        if forces[-2] != steps:
            raise ArgumentError(
                f"tau has {forces[-2]} rows for {steps} steps", remedy="give one for each step"
            )
        forces = (*forces[:-2], forces[-1])
    sizes = {"q0": model.nq, "qd0": model.nv, "tau": model.nv, "p": len(model.parameters)}
    ports = [Port(name, (sizes[name],)) for name in shapes]
    leading = list({**shapes, "tau": forces}.values())
    return is_in_time, find_batch_shape("rollout", ports, leading, broadcast)


def read_numbers(convert: Callable[[Any], Any], given: object, what: str) -> Any:
    """Return numbers that are not an array yet as one of the framework, or raise."""
    try:
        return convert(given)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{what} is not an array of numbers (got {shorten_value_text(given)})",
            remedy="give numbers",
        ) from None


def check_rollout_inputs(model: Model, tau: object, p: object) -> None:
    """Raise if forces of a rollout are not arrays, or if parameters are given that it has not."""
    if callable(tau) or isinstance(tau, Mapping | Feedback):
        raise UnsupportedError(
            f"rollouts that can be differentiated take forces as arrays (got {type(tau).__name__})",
            remedy="give forces for each step, or write a loop over steps with the control law",
        )
    if p is not None and not model.parameters:
        raise ArgumentError(
            f"the model of {model.mechanism.name} keeps no parameters as inputs, and p is given",
            remedy="name them when compiling: compile(mechanism, parameters=[…])",
        )


def refuse_complex_numbers(function: str, kinds: Iterable[object]) -> None:
    """Raise if one of the types of numbers is complex."""
    if any("complex" in str(kind) for kind in kinds):
        raise ArgumentError(
            f"{function} takes real numbers; complex ones are given", remedy="give real numbers"
        )
