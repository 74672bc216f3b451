"""`linkwright linearize`: the state-space model about a state."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import options
from ..command import command
from ..output import Outcome, figure, print_table, write_file

if TYPE_CHECKING:
    from ...simulation import Linear


@command("Motion")
def linearize(
    mechanism: options.MechanismFile,
    *,
    state: options.Coordinates,
    speed: options.Velocities,
    drive: options.ConstantForces,
    outputs: Annotated[list[str] | None, typer.Option(metavar="NAME,…"), options.NAMES],
    output: Annotated[Path | None, options.OUTPUT, options.written_as(".npz")],
) -> Outcome:
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
    from ... import simulation

    linear = simulation.linearize(mechanism, state, speed or None, drive or None, outputs=outputs)
    labels = {"states": linear.states, "inputs": linear.inputs, "outputs": linear.outputs}
    if output is not None:
        _save_matrices(output, _matrices(linear) | labels)
    data = {key: matrix.tolist() for key, matrix in _matrices(linear).items()} | labels
    data |= {
        "eigenvalues": [[x.real, x.imag] for x in _eigenvalues(linear)],
        "frequencies": linear.frequencies.tolist(),
        "damping": linear.damping.tolist(),
        "file": str(output or ""),
    }
    return Outcome(data, lambda: _print_matrices(linear))


def _matrices(linear: Linear) -> dict[str, Any]:
    return {"A": linear.A, "B": linear.B, "C": linear.C, "D": linear.D}


def _eigenvalues(linear: Linear) -> list[complex]:
    return sorted(linear.eigenvalues.tolist(), key=lambda x: (x.real, x.imag))


def _save_matrices(path: Path, arrays: dict[str, Any]) -> None:
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_file(path, buffer.getvalue())


def _print_matrices(linear: Linear) -> None:
    for key, matrix in _matrices(linear).items():
        columns = linear.states if key in "AC" else linear.inputs
        names = linear.states if key in "AB" else linear.outputs
        rows = [[name, *map(figure, row)] for name, row in zip(names, matrix, strict=True)]
        print_table([key, *columns], rows)
        print()
    print("eigenvalues (1/s): " + ", ".join(f"{x:.6g}" for x in _eigenvalues(linear)))
    if len(linear.frequencies):
        pairs = zip(linear.frequencies, linear.damping, strict=True)
        swings = "; ".join(f"{w:.6g}, {d:.4g}" for w, d in pairs)
        print(f"frequencies (rad/s), damping: {swings}")
