"""`linkwright linearize`: the state-space model about a state."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import options
from ..command import register_command
from ..command_output import (
    CommandOutcome,
    console_number_text,
    print_console_table,
    write_command_output,
)

if TYPE_CHECKING:
    from ...linearization import Linear


@register_command("Motion")
def linearize(
    mechanism: options.MechanismFile,
    *,
    state: options.CoordinateArguments,
    speed: options.VelocityOptions,
    drive: options.ConstantForceOptions,
    outputs: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION
    ],
    output: Annotated[Path | None, options.OUTPUT_OPTION, options.output_file_conversion(".npz")],
) -> CommandOutcome:
    """Linearize about a state: matrices A, B, C, D, eigenvalues, frequencies.

    Parameters
    ----------
    state
        Coordinates of the state; default: home.
    outputs
        Outputs y = C x + D u: q1,dq1,ddq1,tool.x.
    output
        A .npz file for A, B, C, D.

    Examples
    --------
    linkwright linearize cart-pole theta=180deg --outputs x,theta --json
    """
    from ... import linearization

    linear = linearization.linearize(mechanism, state, speed or None, drive or None, outputs=outputs)
    labels = {"states": linear.states, "inputs": linear.inputs, "outputs": linear.outputs}
    if output is not None:
        _write_state_space_output(output, _linearize_command_arrays(linear) | labels)
    data = {
        key: matrix.tolist() for key, matrix in _linearize_command_arrays(linear).items()
    } | labels
    data |= {
        "eigenvalues": [[x.real, x.imag] for x in _printed_eigenvalues(linear)],
        "frequencies": linear.frequencies.tolist(),
        "damping": linear.damping.tolist(),
        "file": str(output or ""),
    }
    return CommandOutcome(data, lambda: _print_state_space(linear))


def _linearize_command_arrays(linear: Linear) -> dict[str, Any]:
    """The matrices of a linear model by name."""
    return {"A": linear.A, "B": linear.B, "C": linear.C, "D": linear.D}


def _printed_eigenvalues(linear: Linear) -> list[complex]:
    """The eigenvalues of A in a fixed order, 1/s."""
    return sorted(linear.eigenvalues.tolist(), key=lambda x: (x.real, x.imag))


def _write_state_space_output(path: Path, arrays: dict[str, Any]) -> None:
    """Writes matrices and names of a linear model to an .npz file."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_command_output(path, buffer.getvalue())


def _print_state_space(linear: Linear) -> None:
    """Prints the matrices, eigenvalues, frequencies and damping ratios of a linear model."""
    for key, matrix in _linearize_command_arrays(linear).items():
        columns = linear.states if key in "AC" else linear.inputs
        names = linear.states if key in "AB" else linear.outputs
        rows = [
            [name, *map(console_number_text, row)] for name, row in zip(names, matrix, strict=True)
        ]
        print_console_table([key, *columns], rows)
        print()
    print("eigenvalues (1/s): " + ", ".join(f"{x:.6g}" for x in _printed_eigenvalues(linear)))
    if len(linear.frequencies):
        pairs = zip(linear.frequencies, linear.damping, strict=True)
        swings = "; ".join(f"{w:.6g}, {d:.4g}" for w, d in pairs)
        print(f"frequencies (rad/s), damping: {swings}")
