"""Compiled functions as people call them: arguments by place or by name, and mistakes explained.

A call goes to the ufunc at once; only where that refuses its arguments is it asked why, so that a
good call costs next to nothing more (some 60 ns).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import (
    ArgumentError,
    LinkwrightError,
    NameNotFoundError,
    UnsupportedError,
    kind_of,
    span_of_names,
)
from .tape import Port


def explained_call(
    ufunc: Any,
    name: str,
    owner: str,
    inputs: Sequence[Port],
    outputs: int,
    entries: Mapping[str, Sequence[str]],
    check_states: Callable[[Sequence[Any]], None] | None = None,
) -> Callable[..., Any]:
    """A function that calls `ufunc`, takes its inputs by name too, and says what is wrong with
    arguments that it refuses. `entries` are the names of the entries of inputs; `check_states` does
    what `check=True` asks for, where `ufunc` does not do it itself."""

    function = _Function(ufunc, name, owner, inputs, outputs, entries, check_states)

    def call(*arguments: Any, **options: Any) -> Any:
        try:
            if options:
                return ufunc(*arguments, **options)
            return ufunc(*arguments)
        except (TypeError, ValueError) as error:
            refusal = error
        try:
            return function.retry(refusal, arguments, options)
        finally:
            del refusal  # its traceback refers to this frame: a cycle

    call.__name__ = call.__qualname__ = name
    call.__doc__ = ufunc.__doc__
    raw = getattr(ufunc, "ufunc", ufunc)
    call.ufunc = raw  # type: ignore[attr-defined]
    for word in ("signature", "nin", "nout", "types"):
        setattr(call, word, getattr(raw, word, None))
    return call


@dataclass(frozen=True)
class _Function:
    """A compiled function and what is known of its arguments. It does not know the function that
    people call: in a cycle both, and the code with them, would wait for the garbage collector."""

    ufunc: Any
    name: str
    owner: str
    inputs: Sequence[Port]
    outputs: int
    entries: Mapping[str, Sequence[str]]
    check_states: Callable[[Sequence[Any]], None] | None

    def retry(self, error: Exception, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """With inputs that are given by name in their places; else raises what is wrong."""
        if isinstance(error, LinkwrightError):
            raise error
        named = [port.name for port in self.inputs if port.name in options]
        if named:
            arguments = _ordered(self.name, self.inputs, arguments, options, named)
            return self.call(arguments, {k: v for k, v in options.items() if k not in named})
        if self.check_states is not None and "check" in options:
            found = self.call(arguments, {k: v for k, v in options.items() if k != "check"})
            if options["check"]:
                self.check_states(arguments)
            return found
        known = self.name, self.owner, self.inputs, self.outputs, self.entries
        check_arguments(*known, arguments)
        raise ArgumentError(f"{self.name}: {error}", where=self.owner)

    def call(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        try:
            return self.ufunc(*arguments, **options)
        except (TypeError, ValueError) as error:
            refusal = error
        try:
            return self.retry(refusal, arguments, options)
        finally:
            del refusal


def _ordered(
    name: str,
    inputs: Sequence[Port],
    arguments: tuple[Any, ...],
    options: Mapping[str, Any],
    named: Sequence[str],
) -> tuple[Any, ...]:
    """All inputs in their order, those given by name behind those given by place."""
    known = [port.name for port in inputs]
    doubled = [key for key in named if known.index(key) < len(arguments)]
    missing = [key for key in known[len(arguments) :] if key not in options]
    if doubled or missing or len(arguments) > len(known):
        what = f"gets {doubled[0]} twice" if doubled else f"lacks {', '.join(missing)}"
        raise ArgumentError(f"{name} {what}", remedy=f"call {name}({', '.join(known)})")
    return (*arguments, *(options[key] for key in known[len(arguments) :]))


def check_arguments(
    name: str,
    owner: str,
    inputs: Sequence[Port],
    outputs: int,
    entries: Mapping[str, Sequence[str]],
    arguments: Sequence[Any],
) -> None:
    """Raises an error that says which argument is wrong, in what, and what is right."""
    known = [port.name for port in inputs]
    if not len(known) <= len(arguments) <= len(known) + outputs:
        raise ArgumentError(
            f"{name} takes {_counted(known)}: {', '.join(known)}; it got {len(arguments)}",
            where=owner, remedy=f"call {name}({', '.join(known)})",
        )  # fmt: skip
    leading = {}
    for port, value in zip(inputs, arguments, strict=False):
        array = _numbers(value, port, owner, entries.get(port.name, ()))
        _check_shape(array, port, owner, entries.get(port.name, ()))
        leading[port.name] = array.shape[: array.ndim - len(port.shape)]
    try:
        np.broadcast_shapes(*leading.values())
    except ValueError:
        said = ", ".join(f"{key} {shape}" for key, shape in leading.items() if shape)
        raise ArgumentError(
            f"{name}: the leading axes do not match: {said}", where=owner,
            remedy="give all inputs the same number of states, or one",
        ) from None  # fmt: skip


def _counted(names: Sequence[str]) -> str:
    return f"{len(names)} argument{'s' if len(names) != 1 else ''}"


def _numbers(value: Any, port: Port, owner: str, names: Sequence[str]) -> Any:
    """The value as an array, if it is one of real numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = None
    if array is not None and array.dtype.kind in "biuf":
        return array
    shown = repr(value) if len(repr(value)) < 40 else kind_of(value)
    if array is not None and array.dtype.kind == "c":
        shown = "complex"
    elif array is None:
        shown = "a list of rows of different lengths"
    raise ArgumentError(f"{port.name} is {shown}", where=owner, remedy=_wanted(port, names))


def _wanted(port: Port, names: Sequence[str]) -> str:
    if not port.shape:
        return "give a number"
    if len(port.shape) == 1:
        count = f"{port.shape[0]} number{'s' if port.shape[0] != 1 else ''}"
        return f"give {count}: {span_of_names(names)}" if names else f"give {count}"
    return f"give an array of shape {port.shape}"


def _check_shape(array: Any, port: Port, owner: str, names: Sequence[str]) -> None:
    size = len(port.shape)
    if size == 0 or array.shape[-size:] == port.shape:
        return
    if size == 1:
        count = array.shape[-1] if array.ndim else 1
        has = f"{count} number{'s' if count != 1 else ''}"
        which = f": {span_of_names(names)}" if names else ""
        what = f"{port.name} has {has}; {owner} has {port.shape[0]}{which}"
        if array.ndim == 0:
            what = f"{port.name} is one number without an axis; {owner} has {port.shape[0]}{which}"
        raise ArgumentError(what)
    raise ArgumentError(
        f"{port.name} has the shape {array.shape}", where=owner,
        remedy=f"give {', '.join(map(str, ('…', *port.shape)))}",
    )  # fmt: skip


def frame_is_missing(name: str, places: Sequence[str], inputs: Sequence[str]) -> ArgumentError:
    """The error where a function of frames is called with numbers at once."""
    state = ", ".join(inputs)
    return ArgumentError(
        f"{name} takes the name of a frame or body, and gives a function of {state}",
        remedy=f"write model.{name}({places[0]!r})({state})",
    )


def checked_parameter_names(parameters: Sequence[str]) -> tuple[str, ...]:
    """Names of parameters that a model keeps as inputs, each once."""
    kept = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    for k, name in enumerate(kept):
        if not isinstance(name, str):
            raise NameNotFoundError(f"parameters[{k}] is {name!r}", remedy="give names")
        if name in kept[:k]:
            raise NameNotFoundError(f"the parameter '{name}' is kept twice", remedy="name it once")
    return kept


def check_threads(threads: int | None) -> None:
    right = threads is None or (isinstance(threads, int) and 1 <= threads <= 1024)
    if not right or isinstance(threads, bool):
        raise UnsupportedError(
            f"threads = {threads!r}", remedy="give a whole number from 1 to 1024, or None"
        )
