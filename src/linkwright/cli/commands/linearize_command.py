"""`linkwright linearize`: the state-space model about a state, and eigenvalues over a speed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CommandOutcome,
    console_number_text,
    print_console_table,
    show_command_progress,
    write_command_output,
)

if TYPE_CHECKING:
    from ...linearization import EigenvalueSweep, Linear
    from ...mechanism import Mechanism


@register_command("Motion")
def linearize(
    mechanism: options.MechanismFile,
    *,
    state: options.CoordinateArguments,
    speed: options.SweptVelocityOptions,
    drive: options.ConstantForceOptions,
    control: options.ControlOptions,
    inputs: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION
    ],
    outputs: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION
    ],
    reduce: bool = False,
    sample_time: Annotated[
        float | None,
        typer.Option("--sample-time", metavar="SECONDS"),
        options.SECONDS_CONVERSION,
    ],
    samples: options.SamplesOption = 101,
    plot: options.PictureFileOption,
    bode: options.PictureFileOption,
    root_locus: options.PictureFileOption,
    output: Annotated[Path | None, options.OUTPUT_OPTION, options.output_file_conversion(".npz")],
) -> CommandOutcome:
    """Linearize about a state: A, B, C, D, eigenvalues; or eigenvalues over a speed.

    Parameters
    ----------
    state
        Coordinates of the state; default: home.
    inputs
        Inputs u: actuators, q1, forces and moments on frames tool.fx, tool.mz.
    outputs
        Outputs y = C x + D u: q1,dq1,ddq1,tool.x,tool.vx,tool.ax.
    reduce
        Leave out ignorable coordinates, such as the place of a vehicle.
    sample_time
        Make the model discrete, with inputs held for this time.
    samples
        Number of values of a range.
    plot
        A picture of the eigenvalues over the range.
    bode
        A Bode plot from the first input.
    root_locus
        The eigenvalues under feedback of the first output to the first input.
    output
        A .npz file for the matrices, or for the eigenvalues over the range.

    Examples
    --------
    linkwright linearize bicycle --speed v=0..10 --plot bicycle.svg
    """
    swept = [name for name, value in speed.items() if isinstance(value, tuple)]
    if swept:
        refused: dict[str, object] = {"--bode": bode, "--root-locus": root_locus}
        refused |= {"--sample-time": sample_time, "--inputs": inputs, "--outputs": outputs}
        refused |= {"--control": control or None}
        for option, value in refused.items():
            if value is not None:
                raise LinkwrightError(
                    f"{option} needs one state, and {swept[0]} is a range",
                    remedy=f"give {swept[0]} one value",
                )
        return _sweep_outcome(mechanism, swept[0], (state, speed, drive), samples, (plot, output))
    if plot is not None:
        raise LinkwrightError(
            "--plot shows eigenvalues over a range", remedy="give one: --speed NAME=0..10"
        )
    from ... import linearization, show

    linear = linearization.linearize(
        mechanism,
        state,
        speed or None,
        drive or None,
        controls=control or None,
        inputs=inputs,
        outputs=outputs,
    )
    linear = linear.drop_ignorable() if reduce else linear
    linear = linear if sample_time is None else linear.discretize(sample_time)
    if bode is not None:
        show.bode(linear, path=bode)
    if root_locus is not None:
        show.root_locus(linear, path=root_locus)
    drawn = [str(path) for path in (bode, root_locus) if path is not None]
    labels = {"states": linear.states, "inputs": linear.inputs, "outputs": linear.outputs}
    if output is not None:
        _write_arrays(output, _linearize_command_arrays(linear) | labels)
    data = {
        key: matrix.tolist() for key, matrix in _linearize_command_arrays(linear).items()
    } | labels
    data |= {
        "eigenvalues": [[x.real, x.imag] for x in _printed_eigenvalues(linear)],
        "frequencies": linear.frequencies.tolist(),
        "damping": linear.damping.tolist(),
        "ignorable": linear.ignorable,
        "steady": linear.is_steady,
        "sample_time": linear.dt,
        "file": str(output or ""),
        "pictures": drawn,
    }
    return CommandOutcome(data, lambda: _print_state_space(linear, drawn))


def _linearize_command_arrays(linear: Linear) -> dict[str, Any]:
    """The matrices of a linear model by name."""
    return {"A": linear.A, "B": linear.B, "C": linear.C, "D": linear.D}


def _printed_eigenvalues(linear: Linear) -> list[complex]:
    """The eigenvalues of A in a fixed order, 1/s."""
    return sorted(linear.eigenvalues.tolist(), key=lambda x: (x.real, x.imag))


def _write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Writes arrays and names to an .npz file."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_command_output(path, buffer.getvalue())


def _print_state_space(linear: Linear, drawn: list[str]) -> None:
    """Prints the matrices, eigenvalues, frequencies and damping ratios of a linear model, and the
    files of its pictures."""
    for key, matrix in _linearize_command_arrays(linear).items():
        columns = linear.states if key in "AC" else linear.inputs
        names = linear.states if key in "AB" else linear.outputs
        rows = [
            [name, *map(console_number_text, row)] for name, row in zip(names, matrix, strict=True)
        ]
        print_console_table([key, *columns], rows)
        print()
    if not linear.is_steady:
        print("the state is neither an equilibrium nor a steady motion: A holds only at this time")
    if linear.ignorable:
        print(f"ignorable coordinates: {', '.join(linear.ignorable)} (--reduce leaves them out)")
    unit = "1/s" if linear.dt is None else f"per {linear.dt:g} s"
    print(f"eigenvalues ({unit}): " + ", ".join(f"{x:.6g}" for x in _printed_eigenvalues(linear)))
    if len(linear.frequencies):
        pairs = zip(linear.frequencies, linear.damping, strict=True)
        swings = "; ".join(f"{w:.6g}, {d:.4g}" for w, d in pairs)
        print(f"frequencies (rad/s), damping: {swings}")
    if drawn:
        print(f"pictures: {', '.join(drawn)}")


# -- over a range of speeds -------------------------------------------------------------------


def _sweep_outcome(
    mechanism: Mechanism,
    name: str,
    given: tuple[dict[str, float], dict[str, Any], dict[str, float]],
    samples: int,
    files: tuple[Path | None, Path | None],
) -> CommandOutcome:
    """Finds the eigenvalues over a range, and draws and writes them."""
    import numpy as np

    from ... import linearization, show
    from ...number_checks import check_whole_number

    state, speed, drive = given
    plot, output = files
    low, high = speed[name]
    values = np.linspace(low, high, check_whole_number(samples, "samples", 2))
    held = {key: value for key, value in speed.items() if key != name}
    with show_command_progress(f"looking for steady motions of {mechanism.name}"):
        found = linearization.sweep_eigenvalues(
            mechanism, name, values, q=state, qd=held, torque=drive or None
        )
    if plot is not None:
        show.eigenvalues(found, path=plot)
    if output is not None:
        _write_arrays(output, {name: found.values, "eigenvalues": found.eigenvalues})
    data = {
        "name": name,
        "values": found.values.tolist(),
        "real": found.eigenvalues.real.tolist(),
        "imaginary": found.eigenvalues.imag.tolist(),
        "crossings": [
            {"value": one.value, "frequency": one.eigenvalue.imag, "grows": one.is_growing_beyond}
            for one in found.crossings
        ],
        "stable": found.stable_ranges(),
        "files": [str(path) for path in files if path is not None],
    }
    return CommandOutcome(data, lambda: _print_sweep(found))


def _print_sweep(found: EigenvalueSweep) -> None:
    """Prints the eigenvalues at some values, and where real parts change their sign."""
    from ...linearization.eigenvalue_sweep import moving_branches

    shown, last = moving_branches(found.eigenvalues), len(found.values) - 1
    rows = [
        [f"{found.values[k]:.6g}", *(f"{x:.6g}" for x in found.eigenvalues[k, shown])]
        for k in sorted({round(last * share / 10) for share in range(11)})
    ]
    print_console_table([found.name, *(f"λ{k + 1} (1/s)" for k in range(len(shown)))], rows)
    print()
    for one in found.crossings:
        what = (
            f"an oscillation of {one.eigenvalue.imag:.6g} rad/s"
            if one.is_oscillatory
            else "a motion"
        )
        change = "begins to grow" if one.is_growing_beyond else "ceases to grow"
        print(f"{found.name} = {one.value:.10g}: {what} {change}")
    ranges = "; ".join(f"{low:.6g} to {high:.6g}" for low, high in found.stable_ranges())
    print(
        f"no small motion grows for {found.name} from {ranges}"
        if ranges
        else "some small motion grows at every value"
    )
