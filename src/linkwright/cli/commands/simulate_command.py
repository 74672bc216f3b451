"""`linkwright simulate`: a motion, its summary, its file and its pictures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    check_run_output_option,
    console_number_text,
    show_command_progress,
)
from ..supervise import save_command_on_interrupt
from .run_pictures import RunPictureOptions, split_output_option

if TYPE_CHECKING:
    import xarray

    from ...mechanism import Mechanism
    from ...simulation import Run
    from ...simulation.feedback import Feedback


@register_command("Motion")
def simulate(
    mechanism: options.OptionalMechanism,
    *,
    start: options.CoordinateArguments,
    time: options.DurationOption = 1.0,
    speed: options.VelocityOptions,
    drive: Annotated[
        dict[str, object] | str,
        typer.Option(metavar=options.NAMED_VALUE_METAVAR),
        options.DRIVE_CONVERSION,
    ],
    control: Path | None = None,
    by: options.FormulationOption = "recursive",
    integrator: str = "dop853",
    step: Annotated[float | None, typer.Option(metavar="SECONDS"), options.SECONDS_CONVERSION],
    tolerance: float = 1e-9,
    event: Annotated[
        dict[str, str], typer.Option(metavar="NAME=EXPRESSION"), options.ASSIGNMENT_CONVERSION
    ],
    stop_when: Annotated[
        dict[str, str], typer.Option(metavar="NAME=EXPRESSION"), options.ASSIGNMENT_CONVERSION
    ],
    stops: str = "stop",
    sensitivity: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION
    ] = None,
    beta: options.BetaOption = None,
    gamma: options.GammaOption = None,
    iterations: options.IterationsOption = None,
    without: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    output: Annotated[Path | None, options.OUTPUT_OPTION] = None,
    repeat: Path | None = None,
    plot: options.PlotOption = None,
    cyclograph: options.CyclographOption = None,
    animate: options.FilmOption = None,
    pace: options.PaceOption = 1.0,
) -> CommandOutcome:
    """Simulate a motion and check its energy balance. Ctrl-C keeps what was computed.

    Parameters
    ----------
    drive
        A joint force or the control of an actuator, an expression or a .csv file over time:
        q1='2*sin(t) - dq1', q1=torque.csv; or the name of a pose, for its controls.
    control
        A .toml file of a controller, instead of --drive.
    integrator
        dop853, rodas, radau, cvodes, idas, taylor, rk4, variational, …
    step
        Length of fixed steps: 1e-3, 2ms.
    tolerance
        Relative tolerance of the integration.
    event
        Record where an expression crosses zero: top='dq1'.
    stop_when
        End the run where an expression crosses zero: down='q1 + 0.5'.
    stops
        What joint limits without a restitution do: stop (end the run), impact or ignore.
    sensitivity
        Differentiate the motion with respect to parameters and starts: m2,q0,qd0.q1.
    without
        Leave this out of the motion: friction, damping, gravity, …
    output
        Save the motion: .nc, .csv or .parquet; or the picture of --plot.
    repeat
        Repeat the run of this .nc file, instead of FILE.

    Examples
    --------
    linkwright simulate four-bar theta1=60deg -t 5 -o run.nc
    linkwright simulate elbow q1=1 -t 10 --integrator variational --step 1e-3
    linkwright simulate --repeat run.nc
    linkwright simulate elbow -t 3 --plot q,energy -o run.svg --animate run.html
    """
    from ... import simulation
    from ...simulation.storage import prepare_saving

    if (mechanism is None) == (repeat is None):
        raise LinkwrightError("simulate needs a FILE, or --repeat", remedy="give one of them")
    names, plot_file, run_file = split_output_option(plot or (), output)
    pictures = RunPictureOptions(names, plot_file, cyclograph, animate, pace)
    pictures.check_files()
    check_run_output_option(run_file)
    if mechanism is None:
        assert repeat is not None
        return _repeat_option_outcome(repeat, run_file, pictures)
    mechanism = mechanism.without(*without) if without else mechanism
    torque = drive or None if control is None else _read_control_option(mechanism, control, drive)
    if run_file is not None:
        prepare_saving(run_file)
        save_command_on_interrupt(run_file)
    run = simulation.simulate(
        mechanism,
        time,
        q0=start,
        qd0=speed,
        by=by,
        torque=torque,
        integrator=integrator,
        rtol=tolerance,
        atol=tolerance / 10,
        step=step,
        events=event | {name: simulation.Event(e, "stop") for name, e in stop_when.items()},
        stops=stops,
        sensitivity=sensitivity,
        beta=beta,
        gamma=gamma,
        iterations=iterations,
        progress=True,
    )
    return _simulate_command_outcome(run, run_file, pictures)


def _read_control_option(mechanism: Mechanism, file: Path, drives: object) -> Feedback:
    """Return the controller that a file describes."""
    from ...control import made_by
    from ...files import read_toml_numbers

    if drives:
        raise LinkwrightError("--control and --drive exclude each other", remedy="give one")
    try:
        return made_by(read_toml_numbers(file), mechanism)
    except LinkwrightError as error:
        raise error.within(str(file)) from None


def _repeat_option_outcome(
    source: Path, output: Path | None, pictures: RunPictureOptions
) -> CommandOutcome:
    """Repeat a run from its own file, and say how far the result differs from the first."""
    from ... import simulation
    from ...simulation.provenance import largest_difference

    first, again = simulation.load_run(source), simulation.repeat(source)
    others = [key for key, value in again.versions.items() if first.versions.get(key) != value]
    notes = [f"made with another {', '.join(others)}"] if others else []
    return _simulate_command_outcome(
        again, output, pictures, {"difference": largest_difference(first, again)}, notes
    )


def _simulate_command_outcome(
    run: Run,
    output: Path | None,
    pictures: RunPictureOptions,
    more: dict[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> CommandOutcome:
    """Write the files, and summarize the run."""
    last, name = run.parts[-1], run.mechanism.name
    if output is not None:  # after Ctrl-C there is less than a second
        run.save(output, histories_only=last.interrupted)
    with show_command_progress(f"drawing {name}"):
        drawn = [] if last.interrupted else pictures.write_pictures(run)
    summary = _simulate_command_json(run) | (more or {})
    summary |= {"file": str(output or ""), "pictures": ", ".join(drawn)}
    failure: BaseException | None = None
    if last.interrupted:
        failure = KeyboardInterrupt()
    elif not last.finished:
        failure = CheckFailedError(last.status, where=name)
    warnings = [f"{name}: {text}" for text in last.warnings if text != last.status]
    show = "\n".join(_printed_run_summary(last, summary))
    return CommandOutcome(
        summary, lambda: print(show), failure=failure, warnings=[*notes, *warnings]
    )


def _simulate_command_json(run: Run) -> dict[str, Any]:
    """Returns the last state, the energy audit and the events of a run as data for `--json`."""
    parts, last = run.parts, run.parts[-1]
    return {
        "status": last.status,
        "t": float(last.t[-1]),
        "q": last.q[-1].tolist(),
        "qd": last.qd[-1].tolist(),
        "energy_audit": max(part.audit for part in parts),
        "energy_is_accounted_for": all(part.accounted for part in parts),
        "work_of_inputs": sum(float(part.work_inputs[-1]) for part in parts),
        "work_given": sum(float(part.work_given[-1]) for part in parts),
        "work_of_losses": sum(float(part.work_losses[-1]) for part in parts),
        "closure_error": max(float(part.closure.max()) for part in parts),
        "events": [list(event) for part in parts for event in part.events],
        **(
            {} if run.sensitivity is None else {"sensitivity": _last_sensitivities(run.sensitivity)}
        ),
        **run.statistics,
    }


def _last_sensitivities(found: xarray.Dataset) -> dict[str, Any]:
    """Return the last derivatives of q and q̇ by name, with their time and status."""
    last = found.isel(time=-1)
    by_name = {
        str(name): {key: last[key].sel(wrt=name).values.tolist() for key in ("q", "qd")}
        for name in found["wrt"].values
    }
    return {"t": float(last["time"]), "status": found.attrs["status"], "by": by_name}


def _printed_run_summary(last: Run, summary: dict[str, Any]) -> list[str]:
    """Return the lines of the summary, with units."""
    from ...mechanism import mechanism_names
    from ...mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units

    names, units = mechanism_names(last.mechanism), coordinate_units(last.mechanism)
    rates = [UNITS_OF_RATES["qd"][unit] for unit in velocity_units(last.mechanism)]
    counted = "accounted for" if summary["energy_is_accounted_for"] else "NOT accounted for"
    inputs, given, losses = (
        console_number_text(summary[key], "J")
        for key in ("work_of_inputs", "work_given", "work_of_losses")
    )
    found = {
        "status": summary["status"],
        "t": console_number_text(summary["t"], "s"),
        "q": _printed_named_values(names.q, summary["q"], units),
        "velocities": _printed_named_values(names.qd, summary["qd"], rates),
        "energy": f"{counted}, to {summary['energy_audit']:.1e} of the largest",
        "work": f"{inputs} of inputs, {given} given, {losses} of losses",
        "loops": f"closed to {summary['closure_error']:.1e}" if names.constraints else "",
        "springs": _printed_springs(last),
        "events": "".join(f"\n  {t:.9g} s  {n}: {x}" for t, n, x in summary["events"]),
        "sensitivity": _printed_sensitivities(names.q, summary.get("sensitivity")),
        "steps": f"{summary['steps']}, {summary['rejected']} rejected, {summary['evaluations']} "
        f"evaluations, {summary['seconds']:.3g} s",
        "difference": str(summary.get("difference", "")),
        "file": summary["file"],
        "pictures": summary["pictures"],
    }
    return [f"{key}: {text}" for key, text in found.items() if text]


def _printed_springs(run: Run) -> str:
    """Return β and γ of approximate dynamics, and how far they let joints open; otherwise ""."""
    if not run.has_spring_forces:
        return ""
    from ...formulations.approximate_penalties import choose_penalties

    chosen = choose_penalties(run.mechanism)
    factors = f"beta = {chosen.beta:.3g} N/m, gamma = {chosen.gamma:.3g} s"
    return f"{factors}; joints open by up to {run.closure.max():.1e}"


def _printed_sensitivities(names: Iterable[str], found: dict[str, Any] | None) -> str:
    """Return one line for each parameter or start: the derivatives of q at the end."""
    if found is None:
        return ""
    lines = [
        f"\n  by {name}: " + ", ".join(f"{n} {x:.6g}" for n, x in zip(names, by["q"], strict=True))
        for name, by in found["by"].items()
    ]
    return f"of q at t = {found['t']:g} s, {found['status']}" + "".join(lines)


def _printed_named_values(
    names: Iterable[str], values: Iterable[float], units: Iterable[str]
) -> str:
    """Values with their names and units in one line."""
    rows = zip(names, values, units, strict=True)
    return ", ".join(f"{n} = {console_number_text(x, '' if u == '1' else u)}" for n, x, u in rows)
