"""Compiled functions as people call them: arguments by position or by name, and mistakes explained.

A call goes to the ufunc at once, in machine code. Only if the ufunc refuses its arguments does
Python look at them, so a good call costs a few tens of nanoseconds more (see `make bench`).
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
from ..readings.llvm.machine_call import FallbackCall, call_in_machine_code
from ..readings.llvm.ufunc import direct_call_record

TableReader = Callable[[Sequence[Port], Sequence[object]], Sequence[object]]
StateChecker = Callable[[Sequence[object]], None]

UFUNC_OPTIONS = (
    "out",
    "check",
    "axes",
    "axis",
    "keepdims",
    "casting",
    "order",
    "dtype",
    "subok",
    "signature",
    "sig",
)
"""Options of gufuncs, and our own `check`."""


POSE_INPUTS = ("q", "q1", "qd")
"""Inputs that may be the name of a pose."""


@dataclass(frozen=True)
class CallFacts:
    """What is known of a function's arguments.

    `owner` is the name of the mechanism, `outputs` the number of outputs, and `entries` has the
    names of the entries of inputs. `has_poses`: the mechanism has named poses.
    """

    name: str
    owner: str
    inputs: Sequence[Port]
    outputs: int
    entries: Mapping[str, Sequence[str]]
    has_poses: bool = False

    def is_by_name(self, port: Port, value: object) -> bool:
        """Whether an input is a table by name, or the name of a pose."""
        is_pose = isinstance(value, str) and self.has_poses and port.name in POSE_INPUTS
        return is_pose or (isinstance(value, Mapping) and port.name in self.entries)


class CompiledFunction(FallbackCall):
    """A compiled function as people call it: `ufunc` is the gufunc behind it."""

    ufunc: object
    __name__: str
    __qualname__: str
    __signature__: Signature

    def __repr__(self) -> str:
        return f"<compiled function {self.__name__}{self.__signature__}>"

    def __reduce__(self) -> str:
        """A copy is the same object, as for every function."""
        return self.__name__


def explain_compiled_call(
    function: Callable[..., object],
    facts: CallFacts,
    *,
    check_states: StateChecker | None = None,
    read_tables: TableReader | None = None,
) -> CompiledFunction:
    """A function that calls `function`, takes its inputs by name too, and explains what is wrong
    with arguments that it refuses.

    `check_states` does what `check=True` asks for, where `function` does not do it itself;
    `read_tables` turns tables by name into arrays.
    """
    explainer = _CallExplainer(function, facts, check_states, read_tables)
    kind = call_in_machine_code(CompiledFunction)
    refusals = (TypeError, ValueError)
    direct = direct_call_record(function)
    call: CompiledFunction = kind(function, explainer.call_explained, refusals, direct)
    call.__name__ = call.__qualname__ = facts.name
    call.__doc__ = function.__doc__
    call.__signature__ = _call_signature([port.name for port in facts.inputs])
    call.ufunc = getattr(function, "ufunc", function)
    for word in ("signature", "nin", "nout", "types"):
        setattr(call, word, getattr(call.ufunc, word, None))
    return call


@dataclass(frozen=True)
class _CallExplainer:
    """A compiled function and what is known of its arguments. It does not know the function that
    people call: in a cycle both, and the code with them, would wait for the garbage collector."""

    function: Callable[..., Any]
    facts: CallFacts
    check_states: StateChecker | None
    read_tables: TableReader | None

    def call_explained(self, *arguments: object, **options: object) -> object:
        """Call the function with inputs in their places, or raise what is wrong with them."""
        return self.call_with_options(arguments, options)

    def call_with_options(
        self, arguments: Sequence[object], options: Mapping[str, object]
    ) -> object:
        """Call the function after inputs given by name are put in their places."""
        known = [port.name for port in self.facts.inputs]
        arguments, rest = _order_function_inputs(
            self.facts.name, known, tuple(arguments), dict(options)
        )
        try:
            return self.function(*arguments, **rest)
        except (TypeError, ValueError) as error:
            refusal = error
        try:
            return self.retry_call(refusal, arguments, rest)
        finally:
            del refusal  # its traceback refers to this frame: a cycle

    def retry_call(
        self, error: Exception, arguments: Sequence[object], options: Mapping[str, object]
    ) -> object:
        """Call again with tables read and states checked, or raise what is wrong."""
        if isinstance(error, LinkwrightError):
            raise error
        if self.read_tables is not None and any(
            self.facts.is_by_name(port, one)
            for port, one in zip(self.facts.inputs, arguments, strict=False)
        ):
            check_call_arguments(self.facts, arguments)
            return self.call_with_options(self.read_tables(self.facts.inputs, arguments), options)
        if self.check_states is not None and "check" in options:
            found = self.call_with_options(
                arguments, {k: v for k, v in options.items() if k != "check"}
            )
            if options["check"]:
                self.check_states(arguments)
            return found
        check_call_arguments(self.facts, arguments)
        raise ArgumentError(f"{self.facts.name}: {error}", where=self.facts.owner)


def _call_signature(inputs: Sequence[str]) -> Signature:
    """The signature that `help` and editors show at run time."""
    places = [
        Parameter(_function_argument_name(name), Parameter.POSITIONAL_OR_KEYWORD) for name in inputs
    ]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in (("out", None), ("check", False))
    ]
    return Signature([*places, *options])


def _function_argument_name(name: str) -> str:
    """The name of an input as Python allows it: lambda_ for lambda."""
    return f"{name}_" if name == "lambda" else name


def _order_function_inputs(
    name: str, known: Sequence[str], arguments: tuple[object, ...], options: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The inputs in their order, with those given by name in place, and the remaining options."""
    by_argument = {_function_argument_name(one): one for one in known} | {one: one for one in known}
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


def check_call_arguments(facts: CallFacts, arguments: Sequence[object]) -> None:
    """Raise an error that says which argument is wrong, why, and what is right."""
    name, owner, entries = facts.name, facts.owner, facts.entries
    known = [port.name for port in facts.inputs]
    if not len(known) <= len(arguments) <= len(known) + facts.outputs:
        raise ArgumentError(
            f"{name} takes {_call_argument_count_text(known)}: {', '.join(known)}; "
            f"it got {len(arguments)}",
            where=owner,
            remedy=f"call {name}({', '.join(known)})",
        )
    leading = {}
    for port, value in zip(facts.inputs, arguments, strict=False):
        if facts.is_by_name(port, value):
            continue
        array = _read_call_input(value, port, owner, entries.get(port.name, ()))
        _check_call_input_shape(array, port, owner, entries.get(port.name, ()))
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


def _call_argument_count_text(names: Sequence[str]) -> str:
    """The number of arguments in words: 1 argument, 3 arguments."""
    return f"{len(names)} argument{'s' if len(names) != 1 else ''}"


def _read_call_input(value: object, port: Port, owner: str, names: Sequence[str]) -> NDArray[Any]:
    """The value as an array; an error unless it contains real numbers."""
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
    raise ArgumentError(
        f"{port.name} is {shown}", where=owner, remedy=_call_input_remedy(port, names)
    )


def _call_input_remedy(port: Port, names: Sequence[str]) -> str:
    """What to give for an input: how many numbers, and their names."""
    if not port.shape:
        return "give a number"
    if len(port.shape) == 1:
        count = f"{port.shape[0]} number{'s' if port.shape[0] != 1 else ''}"
        return f"give {count}: {abbreviate_names(names)}" if names else f"give {count}"
    return f"give an array of shape {port.shape}"


def _check_call_input_shape(
    array: NDArray[Any], port: Port, owner: str, names: Sequence[str]
) -> None:
    """Raise an error where the last axes of an array are not those of the input."""
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
        f"{port.name} has the shape {array.shape}",
        where=owner,
        remedy=f"give {', '.join(map(str, ('…', *port.shape)))}",
    )


def frame_function_call_error(
    name: str, places: Sequence[str], inputs: Sequence[str]
) -> ArgumentError:
    """The error for a function of frames that is called with numbers instead of a frame."""
    state = ", ".join(inputs)
    return ArgumentError(
        f"{name} takes the name of a frame or body, and gives a function of {state}",
        remedy=f"write model.{name}({places[0]!r})({state})",
    )


def check_model_parameters(parameters: Sequence[str]) -> tuple[str, ...]:
    """The names of the parameters that a model keeps as inputs; an error if one occurs twice."""
    kept = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    for k, name in enumerate(kept):
        if not isinstance(name, str):
            raise NameNotFoundError(f"parameters[{k}] is {name!r}", remedy="give names")
        if name in kept[:k]:
            raise NameNotFoundError(f"the parameter '{name}' is kept twice", remedy="name it once")
    return kept


def check_model_thread_count(threads: int | None) -> None:
    """Raise an error unless `threads` is None or a whole number from 1 to 1024."""
    right = threads is None or (isinstance(threads, int) and 1 <= threads <= 1024)
    if not right or isinstance(threads, bool):
        raise UnsupportedError(
            f"threads cannot be {threads!r}", remedy="give a whole number from 1 to 1024, or None"
        )
