"""`linkwright evaluate`: numbers for one state, or for a file of states."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import LinkwrightError, NameNotFoundError, suggest_remedy
from .. import options
from ..command import register_command
from ..command_output import CheckFailedError, CommandOutcome

if TYPE_CHECKING:
    from ...model.model import Model
    from ...ports import Port


@register_command("Numbers")
def evaluate(
    mechanism: options.MechanismFile,
    *,
    quantity: Annotated[str, typer.Argument(metavar="QUANTITY")],
    values: Annotated[dict[str, str], typer.Argument(metavar="q=…"), options.ASSIGNMENT_CONVERSION],
    states: Path | None = None,
    output: Annotated[
        Path | None, options.OUTPUT_OPTION, options.output_file_conversion(".csv", ".npz")
    ],
) -> CommandOutcome:
    """Evaluate a quantity for one state, or for a file of states.

    Parameters
    ----------
    quantity
        inverse_dynamics, mass_matrix, …; those of a frame as placement:tool.
    values
        Inputs: numbers, separated by commas.
    states
        A .csv or .npz file of states, instead of values.
    output
        A .csv or .npz file for the results.

    Examples
    --------
    linkwright evaluate elbow inverse_dynamics q=0,90deg qd=0,0 qdd=1,1
    linkwright evaluate elbow placement:tool q=0,0
    linkwright evaluate elbow forward_dynamics --states states.csv -o results.csv
    """
    from ...model import model as models
    from ...quantities import quantity_ports
    from ..input_arguments import read_input_arguments
    from ..state_files import read_states_option, write_results_output

    quantity, colon, frame_after_colon = quantity.partition(":")
    frame = values.pop("frame", frame_after_colon if colon else None)
    _check_evaluate_arguments(mechanism, quantity, frame, values, states)
    model = models.compile(mechanism)
    wanted, outputs = quantity_ports(model.names, quantity)
    inputs = (
        read_states_option(model, wanted, states)
        if states
        else read_input_arguments(model, wanted, values)
    )
    _check_printed_numbers(model, quantity, wanted, inputs)
    _check_state_arguments(model, quantity, inputs)
    outputs, results = _call_evaluated_function(model, quantity, frame, outputs, inputs)
    _check_printed_numbers(model, quantity, outputs, results)
    if output is None:
        data = {key: value.tolist() for key, value in results.items()}
        return CommandOutcome(data, lambda: _print_arrays(results), indent=None)
    write_results_output(model, outputs, results, output)
    first = outputs[0]
    batch = results[first.name].size // first.size
    return CommandOutcome({"file": str(output), "states": batch}, lambda: None)


def _call_evaluated_function(
    model: Model, quantity: str, frame: str | None, outputs: list[Port], inputs: Mapping[str, Any]
) -> tuple[list[Port], dict[str, Any]]:
    """Call the function of the model; return its outputs and their arrays by name."""
    import numpy as np

    function = getattr(model, quantity)
    if frame is not None:
        function = function(frame)
    with np.errstate(all="ignore"):
        results = function(*inputs.values())
    several = results if isinstance(results, tuple) else (results,)
    outputs = outputs[: len(several)]  # a guarded function keeps its pivot to itself
    return outputs, {
        port.name: np.asarray(array) for port, array in zip(outputs, several, strict=True)
    }


def _check_evaluate_arguments(
    mechanism: options.MechanismFile,
    quantity: str,
    frame: str | None,
    given: Mapping[str, str],
    states: Path | None,
) -> None:
    """Refuse an unknown quantity, and words that do not fit together."""
    from ...mechanism import mechanism_names
    from ...quantities import FRAME_SIGNATURES, quantity_signatures

    known = [*quantity_signatures(mechanism_names(mechanism)), *FRAME_SIGNATURES]
    if quantity not in known:
        raise NameNotFoundError(
            f"unknown quantity '{quantity}'", remedy=suggest_remedy(quantity, known)
        )
    if (quantity in FRAME_SIGNATURES) != (frame is not None):
        raise LinkwrightError(
            f"{quantity} {'needs a' if frame is None else 'has no'} frame",
            remedy=f"write {quantity}:FRAME" if frame is None else "leave it out",
        )
    if states and given:
        raise LinkwrightError(
            f"{next(iter(given))}= and --states are both given",
            remedy="give the inputs in the file or as words, not both",
        )


def _check_state_arguments(model: Model, quantity: str, inputs: Mapping[str, Any]) -> None:
    """Refuse states off the constraints, where what these determine has no meaning."""
    from ...quantities import GUARDED_QUANTITIES

    if not model.names.constraints or quantity not in GUARDED_QUANTITIES or "qd" not in inputs:
        return
    time = model.names.time_arguments(inputs.get("t"))
    names = model.names.constraints
    positions = [names[row] for row in model.names.position_rows]
    for what, owners, residual in (
        ("q", positions, model.constraint_residual(inputs["q"], *time)),
        ("qd", names, model.constraint_velocity(inputs["q"], inputs["qd"], *time)),
    ):
        if not residual.size:
            continue
        left = abs(residual).reshape(-1, residual.shape[-1]).max(axis=0)
        if left.max(initial=0.0) > max(_MAX_RESIDUAL, model.leeway):
            name = owners[int(left.argmax())]
            raise CheckFailedError(
                f"'{name}' does not hold at this {what}: {left.max():.3g} is left over",
                where=quantity,
                remedy="give a closed state (see `linkwright assemble`)",
            )


_MAX_RESIDUAL = 1e-6
"""Residuals above this (m, rad, and their rates) mean that the state is not closed."""


def _check_printed_numbers(
    model: Model, quantity: str, several: list[Port], arrays: Mapping[str, Any]
) -> None:
    """Refuse the first number that is NaN or infinite, in inputs and in results."""
    import numpy as np

    for port in several:
        wrong = np.argwhere(~np.isfinite(arrays[port.name]))
        if not len(wrong):
            continue
        at = [int(i) for i in wrong[0]]
        split = len(at) - len(port.shape)
        entry = _printed_entry_name(model, port, tuple(at[split:]))
        state = ", ".join(str(i + 1) for i in at[:split])
        raise CheckFailedError(
            f"{entry} is {arrays[port.name][tuple(at)]}{f' in state {state}' if state else ''}",
            where=quantity,
            remedy="give numbers for which it is finite",
        )


def _printed_entry_name(model: Model, port: Port, index: tuple[int, ...]) -> str:
    """The name of an entry of an input or output: q1, or M[1,2]."""
    import numpy as np

    from ...quantities import quantity_entry_names

    names = quantity_entry_names(model.names).get(port.name)
    if names:
        return names[int(np.ravel_multi_index(index, port.shape))]
    return f"{port.name}[{','.join(str(i + 1) for i in index)}]" if index else port.name


def _print_arrays(arrays: Mapping[str, Any]) -> None:
    """Prints arrays with their names and ten digits."""
    import numpy as np

    for key, value in arrays.items():
        text = np.array2string(value, precision=10, max_line_width=120, threshold=sys.maxsize)
        print(f"{key} =\n{text}" if "\n" in text else f"{key} = {text}")
