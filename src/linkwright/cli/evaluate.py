"""`linkwright evaluate`: numbers for one state, or for a file of states."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import model as models
from ..errors import LinkwrightError, NameNotFoundError, suggest
from ..mechanism import Mechanism, names_of
from ..model import Model
from ..quantities import FRAME_SIGNATURES, GUARDED, entry_names, ports, signatures
from ..tape import Port
from .inputs import assignments, from_words
from .show import CheckFailedError, emit_json
from .states import check_written_kind, from_file, write_results


def run(
    mechanism: Mechanism,
    quantity: str,
    words: list[str],
    states: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    given = assignments(words)
    frame = given.pop("frame", None)
    known = [*signatures(names_of(mechanism)), *FRAME_SIGNATURES]
    _check_request(quantity, known, frame, given, states)
    if output is not None:
        check_written_kind(output)
    model = models.compile(mechanism)
    wanted, found = ports(model.names, quantity)
    inputs = from_file(model, wanted, states) if states else from_words(model, wanted, given)
    check_finite(model, quantity, wanted, inputs)
    _check_closed(model, quantity, inputs)
    function = getattr(model, quantity)
    if frame is not None:
        function = function(frame)
    with np.errstate(all="ignore"):
        results = function(*inputs.values())
    several = results if isinstance(results, tuple) else (results,)
    found = found[: len(several)]  # a guarded function keeps its pivot to itself
    named = {port.name: np.asarray(r) for port, r in zip(found, several, strict=True)}
    check_finite(model, quantity, found, named)
    _hand_out(model, found, named, output, as_json)


def _check_request(
    quantity: str,
    known: list[str],
    frame: str | None,
    given: Mapping[str, str],
    states: Path | None,
) -> None:
    """Whether the words of the command fit together."""
    if quantity not in known:
        raise NameNotFoundError(
            f"there is no quantity '{quantity}'", remedy=suggest(quantity, known)
        )
    if (quantity in FRAME_SIGNATURES) != (frame is not None):
        raise LinkwrightError(
            f"{quantity} {'needs' if frame is None else 'has no'} frame",
            remedy="add frame=NAME" if frame is None else "leave it out",
        )
    if states and given:
        raise LinkwrightError(
            f"{next(iter(given))}= and --states are both given",
            remedy="give the inputs in the file or as words, not both",
        )


def _check_closed(model: Model, quantity: str, inputs: Mapping[str, Any]) -> None:
    """What constraints determine has a meaning only where they hold."""
    if not model.names.constraints or quantity not in GUARDED or "qd" not in inputs:
        return
    time = model.names.time_arguments(inputs.get("t"))
    names = model.names.constraints
    for residual, owners, what in (
        (
            model.constraint_residual(inputs["q"], *time),
            [names[row] for row in model.names.position_rows],
            "q",
        ),
        (model.constraint_velocity(inputs["q"], inputs["qd"], *time), names, "qd"),
    ):
        if not residual.size:
            continue
        left = np.abs(residual).reshape(-1, residual.shape[-1]).max(axis=0)
        if left.max(initial=0.0) > max(_OPEN, model.leeway):
            name = owners[int(np.argmax(left))]
            raise CheckFailedError(
                f"'{name}' does not hold at this {what}: {left.max():.3g} is left over",
                where=quantity, remedy="give a closed state (see `linkwright assemble`)",
            )  # fmt: skip


_OPEN = 1e-6
"""Residuals above this (m, rad, and their rates) are no closed state."""


def check_finite(
    model: Model, quantity: str, several: list[Port], arrays: Mapping[str, Any]
) -> None:
    """Raises for the first number that is NaN or infinite: no such number goes in or out."""
    for port in several:
        wrong = np.argwhere(~np.isfinite(arrays[port.name]))
        if not len(wrong):
            continue
        at = [int(i) for i in wrong[0]]
        split = len(at) - len(port.shape)
        entry = _entry_name(model, port, tuple(at[split:]))
        state = ", ".join(str(i + 1) for i in at[:split])
        raise CheckFailedError(
            f"{entry} is {arrays[port.name][tuple(at)]}{f' in state {state}' if state else ''}",
            where=quantity,
            remedy="give numbers for which it is finite",
        )


def _entry_name(model: Model, port: Port, index: tuple[int, ...]) -> str:
    names = entry_names(model.names).get(port.name)
    if names:
        return names[int(np.ravel_multi_index(index, port.shape))]
    return f"{port.name}[{','.join(str(i + 1) for i in index)}]" if index else port.name


def _hand_out(
    model: Model, found: list[Port], named: dict[str, Any], output: Path | None, as_json: bool
) -> None:
    if output is not None:
        write_results(model, found, named, output)
        if as_json:
            batch = named[found[0].name].shape[: -len(found[0].shape) or None]
            emit_json({"file": str(output), "states": int(np.prod(batch))})
    elif as_json:
        emit_json({key: value.tolist() for key, value in named.items()}, indent=None)
    else:
        _print(named)


def _print(named: dict[str, Any]) -> None:
    for key, value in named.items():
        text = np.array2string(value, precision=10, max_line_width=120, threshold=sys.maxsize)
        print(f"{key} =\n{text}" if "\n" in text else f"{key} = {text}")
