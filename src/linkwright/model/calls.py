"""Compiled functions as people call them: arguments by place or by name, and mistakes explained.

A call goes to the ufunc at once; only where that refuses its arguments are they looked at, so that
a good call costs next to nothing more (see `make bench`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ArgumentError,
    LinkwrightError,
    NameNotFoundError,
    UnsupportedError,
    abbreviate_names,
    suggest_remedy,
    type_in_words,
)
from ..ports import Port

TableReader = Callable[[Sequence[Port], Sequence[object]], Sequence[object]]

UFUNC_OPTIONS = (
    "out", "check", "axes", "axis", "keepdims", "casting", "order", "dtype", "subok", "signature",
    "sig",
)  # fmt: skip
"""Options of gufuncs, and our own `check`."""


def explain_compiled_call(
    ufunc: Callable[..., object],
    name: str,
    owner: str,
    inputs: Sequence[Port],
    outputs: int,
    entries: Mapping[str, Sequence[str]],
    check_states: Callable[[Sequence[object]], None] | None = None,
    read_tables: TableReader | None = None,
) -> Callable[..., object]:
    """A function that calls `ufunc`, takes its inputs by name too, and explains what is wrong with
    arguments that it refuses.

    `entries` are the names of the entries of inputs; `check_states` does what `check=True` asks
    for, where `ufunc` does not do it itself; `read_tables` turns tables by name into arrays.
    """
    function = _CompiledFunction(
        ufunc, name, owner, inputs, outputs, entries, check_states, read_tables
    )

    def call(*arguments: object, **options: object) -> object:
        if options:
            return function.call_with_options(arguments, options)
        try:
            return ufunc(*arguments)
        except (TypeError, ValueError) as error:
            refusal = error
        try:
            return function.retry_call(refusal, arguments, {})
        finally:
            del refusal  # its traceback refers to this frame: a cycle

    call.__name__ = call.__qualname__ = name
    call.__doc__ = ufunc.__doc__
    raw = getattr(ufunc, "ufunc", ufunc)
    described: Any = call
    described.ufunc = raw
    described.__signature__ = _call_signature([port.name for port in inputs])
    for word in ("signature", "nin", "nout", "types"):
        setattr(call, word, getattr(raw, word, None))
    return call


@dataclass(frozen=True)
class _CompiledFunction:
    """A compiled function and what is known of its arguments. It does not know the function that
    people call: in a cycle both, and the code with them, would wait for the garbage collector."""

    ufunc: Callable[..., Any]
    name: str
    owner: str
    inputs: Sequence[Port]
    outputs: int
    entries: Mapping[str, Sequence[str]]
    check_states: Callable[[Sequence[object]], None] | None
    read_tables: TableReader | None

    def call_with_options(
        self, arguments: Sequence[object], options: Mapping[str, object]
    ) -> object:
        """The call with inputs that are given by name in their places."""
        known = [port.name for port in self.inputs]
        arguments, rest = _order_inputs(self.name, known, tuple(arguments), dict(options))
        try:
            return self.ufunc(*arguments, **rest)
        except (TypeError, ValueError) as error:
            refusal = error
        try:
            return self.retry_call(refusal, arguments, rest)
        finally:
            del refusal

    def retry_call(
        self, error: Exception, arguments: Sequence[object], options: Mapping[str, object]
    ) -> object:
        """The call with tables read and states checked; else raise what is wrong."""
        if isinstance(error, LinkwrightError):
            raise error
        facts = self.name, self.owner, self.inputs, self.outputs, self.entries
        if self.read_tables is not None and any(isinstance(one, Mapping) for one in arguments):
            check_call_arguments(*facts, arguments)
            return self.call_with_options(self.read_tables(self.inputs, arguments), options)
        if self.check_states is not None and "check" in options:
            found = self.call_with_options(
                arguments, {k: v for k, v in options.items() if k != "check"}
            )
            if options["check"]:
                self.check_states(arguments)
            return found
        check_call_arguments(*facts, arguments)
        raise ArgumentError(f"{self.name}: {error}", where=self.owner)


def _call_signature(inputs: Sequence[str]) -> Signature:
    """The signature that `help` and editors show at run time."""
    places = [Parameter(_argument_name(name), Parameter.POSITIONAL_OR_KEYWORD) for name in inputs]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in (("out", None), ("check", False))
    ]
    return Signature([*places, *options])


def _argument_name(name: str) -> str:
    """The name of an input as Python allows it: lambda_ for lambda."""
    return f"{name}_" if name == "lambda" else name


def _order_inputs(
    name: str, known: Sequence[str], arguments: tuple[object, ...], options: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """All inputs in their order, those given by name behind those given by place; and the rest of
    the options."""
    by_argument = {_argument_name(one): one for one in known} | {one: one for one in known}
    named = {by_argument[key]: value for key, value in options.items() if key in by_argument}
    rest = {key: value for key, value in options.items() if key not in by_argument}
    absent = [key for key in ("t", "p", "lambda_") if rest.get(key, 0) is None]
    rest = {key: value for key, value in rest.items() if key not in absent}
    for key in rest:
        if key not in UFUNC_OPTIONS:
            raise ArgumentError(
                f"{name} has no argument '{key}'",
                remedy=suggest_remedy(key, [*known, "out", "check"]),
            )
    if not named:
        return arguments, rest
    doubled = [key for key in named if known.index(key) < len(arguments)]
    missing = [key for key in known[len(arguments) :] if key not in named]
    if doubled or missing or len(arguments) > len(known):
        what = f"gets {doubled[0]} twice" if doubled else f"lacks {', '.join(missing)}"
        raise ArgumentError(f"{name} {what}", remedy=f"call {name}({', '.join(known)})")
    return (*arguments, *(named[key] for key in known[len(arguments) :])), rest


def check_call_arguments(
    name: str,
    owner: str,
    inputs: Sequence[Port],
    outputs: int,
    entries: Mapping[str, Sequence[str]],
    arguments: Sequence[object],
) -> None:
    """Raises an error that says which argument is wrong, in what, and what is right."""
    known = [port.name for port in inputs]
    if not len(known) <= len(arguments) <= len(known) + outputs:
        raise ArgumentError(
            f"{name} takes {_argument_count_text(known)}: {', '.join(known)}; "
            f"it got {len(arguments)}",
            where=owner,
            remedy=f"call {name}({', '.join(known)})",
        )
    leading = {}
    for port, value in zip(inputs, arguments, strict=False):
        if isinstance(value, Mapping) and port.name in entries:
            continue
        array = _read_input_array(value, port, owner, entries.get(port.name, ()))
        _check_input_shape(array, port, owner, entries.get(port.name, ()))
        leading[port.name] = array.shape[: array.ndim - len(port.shape)]
    try:
        np.broadcast_shapes(*leading.values())
    except ValueError:
        said = ", ".join(f"{key} {shape}" for key, shape in leading.items() if shape)
        raise ArgumentError(
            f"{name}: the leading axes do not match: {said}",
            where=owner,
            remedy="give all inputs the same number of states, or one",
        ) from None


def _argument_count_text(names: Sequence[str]) -> str:
    return f"{len(names)} argument{'s' if len(names) != 1 else ''}"


def _read_input_array(value: object, port: Port, owner: str, names: Sequence[str]) -> NDArray[Any]:
    """The value as an array, if it is one of real numbers."""
    try:
        array: NDArray[Any] | None = np.asarray(value)
    except ValueError:
        array = None
    if array is not None and array.dtype.kind in "biuf":
        return array
    shown = repr(value) if len(repr(value)) < 40 else type_in_words(value)
    if array is not None and array.dtype.kind == "c":
        shown = "complex"
    elif array is None:
        shown = "a list of rows of different lengths"
    raise ArgumentError(f"{port.name} is {shown}", where=owner, remedy=_input_remedy(port, names))


def _input_remedy(port: Port, names: Sequence[str]) -> str:
    if not port.shape:
        return "give a number"
    if len(port.shape) == 1:
        count = f"{port.shape[0]} number{'s' if port.shape[0] != 1 else ''}"
        return f"give {count}: {abbreviate_names(names)}" if names else f"give {count}"
    return f"give an array of shape {port.shape}"


def _check_input_shape(array: NDArray[Any], port: Port, owner: str, names: Sequence[str]) -> None:
    size = len(port.shape)
    if size == 0 or array.shape[-size:] == port.shape:
        return
    if size == 1:
        count = array.shape[-1] if array.ndim else 1
        has = f"{count} number{'s' if count != 1 else ''}"
        which = f": {abbreviate_names(names)}" if names else ""
        what = f"{port.name} has {has}; {owner} has {port.shape[0]}{which}"
        if array.ndim == 0:
            what = f"{port.name} is one number without an axis; {owner} has {port.shape[0]}{which}"
        raise ArgumentError(what)
    raise ArgumentError(
        f"{port.name} has the shape {array.shape}", where=owner,
        remedy=f"give {', '.join(map(str, ('…', *port.shape)))}",
    )  # fmt: skip


def missing_frame_error(name: str, places: Sequence[str], inputs: Sequence[str]) -> ArgumentError:
    """The error where a function of frames is called with numbers at once."""
    state = ", ".join(inputs)
    return ArgumentError(
        f"{name} takes the name of a frame or body, and gives a function of {state}",
        remedy=f"write model.{name}({places[0]!r})({state})",
    )


def check_kept_parameters(parameters: Sequence[str]) -> tuple[str, ...]:
    """Names of parameters that a model keeps as inputs, each once."""
    kept = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    for k, name in enumerate(kept):
        if not isinstance(name, str):
            raise NameNotFoundError(f"parameters[{k}] is {name!r}", remedy="give names")
        if name in kept[:k]:
            raise NameNotFoundError(f"the parameter '{name}' is kept twice", remedy="name it once")
    return kept


def check_thread_count(threads: int | None) -> None:
    right = threads is None or (isinstance(threads, int) and 1 <= threads <= 1024)
    if not right or isinstance(threads, bool):
        raise UnsupportedError(
            f"threads = {threads!r}", remedy="give a whole number from 1 to 1024, or None"
        )
