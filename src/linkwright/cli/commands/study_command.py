"""`linkwright study`: many designs of a mechanism; to resume a study, to report on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import ArgumentError, LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, check_output_folder, show_command_progress
from ..mechanism_argument import ReadingOptions, read_mechanism_argument
from ..option_texts import (
    read_option_drives,
    read_option_numbers,
)
from ..supervise import explain_ending, note_explanation

if TYPE_CHECKING:
    from ...mechanism import Mechanism
    from ...studies import Study

TextAssignments = Annotated[
    dict[str, str], typer.Option(metavar="NAME=VALUE"), options.ASSIGNMENT_CONVERSION
]


@register_command("Motion")
def study(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|resume|report",
            help="A mechanism: a file, or a name in the gallery; or resume, or report.",
        ),
    ],
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DIR|q1=…]", help="Initial coordinates; the folder of a study."),
    ] = None,
    vary: TextAssignments,
    table: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    measure: TextAssignments,
    design: str | None = None,
    count: Annotated[int | None, typer.Option("--count", "-n")] = None,
    seed: int = 0,
    time: options.DurationOption = 1.0,
    samples: options.SamplesOption = 201,
    speed: Annotated[list[str] | None, typer.Option(metavar=options.NAMED_VALUE_METAVAR)] = None,
    drive: Annotated[list[str] | None, typer.Option(metavar=options.NAMED_VALUE_METAVAR)] = None,
    control: Path | None = None,
    motion: TextAssignments,
    by: options.FormulationOption = "recursive",
    integrator: str = "dop853",
    tolerance: float = 1e-9,
    block: int | None = None,
    workers: Annotated[int, typer.Option("--workers", "-j")] = 1,
    cluster: str | None = None,
    retries: int = 3,
    retry_failed: bool = False,
    dry_run: bool = False,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="DIR|PAGE")] = None,
    base: options.BaseOption = None,
    closure: options.ClosureOption = None,
    ignore: options.IgnoreOption = None,
    density: options.DensityOption = None,
    argument: options.XacroArgumentOption = None,
) -> CommandOutcome:
    """Evaluate many designs of a mechanism, and keep their measures.

    `study FILE … -o DIR` begins a study, `study resume DIR` continues one that was stopped or
    killed, `study report DIR -o page.html` writes its page.

    Parameters
    ----------
    vary
        A factor: m2=0.5..1.5, m2=1,2,3, q0.q1=0deg..60deg, torque.q1=-1..1, control.kp=50..200,
        'm2=normal(1, 0.1)', by=lagrange,kane, integrator=dop853,rodas.
    table
        A .csv or .parquet file with one design in each row, instead of --vary.
    measure
        A measure: 'peak=max(abs(tau1))', 'end=energy[-1]', f=linearize.frequencies[0],
        mu='min(linkage.transmission_angle)', own=module:function.
    design
        grid, random, latin, sobol, saltelli, morris or list.
    count
        Number of designs; for a grid, number of levels of each range.
    seed
        Seed of everything that is random.
    speed
        A generalized velocity at the start: q1=2.
    drive
        A joint force or control of an actuator: q1='2*sin(t)'.
    control
        A .toml file of a controller, whose numbers --vary control.kp=… may vary.
    motion
        Coordinates over time for measures of kinematics and inverse: theta1='2*pi*t'.
    integrator
        dop853, rodas, …
    tolerance
        Relative tolerance of the integration.
    block
        Designs in a block; default: as many as take about a second.
    workers
        Number of worker processes; 1 is this process with all its threads.
    cluster
        local, processes, or the address of a dask scheduler: tcp://host:8786.
    retries
        How often a block is computed again if its worker ends.
    retry_failed
        With resume: compute blocks with failed designs again.
    dry_run
        Only report the number of designs, their time and the size of the results.
    output
        The folder (or fsspec address) of the results, or a page (.html).

    Examples
    --------
    linkwright study elbow --vary m2=0.5..1.5 --measure 'peak=max(abs(dq1))' -n 1000 -o arm
    linkwright study resume arm --workers 2
    linkwright study report arm -o page.html
    """
    choice: dict[str, Any] = {"workers": workers, "cluster": cluster, "retries": retries}
    if file in ("resume", "report"):
        folder = _read_folder(file, words or [])
        if vary or measure or table:
            raise LinkwrightError(
                f"study {file} takes a folder, not factors or measures", remedy="leave them out"
            )
        if file == "report":
            return _report_outcome(folder, output)
        return _resume_outcome(folder, choice | {"retry_failed": retry_failed})
    texts: dict[str, Any] = {"base": base, "closure": closure, "ignore": ignore}
    texts |= {"density": density, "argument": argument}
    mechanism = read_mechanism_argument(file, ReadingOptions.from_texts(texts))
    given: dict[str, Any] = {
        "design": design,
        "count": count,
        "seed": seed,
        "t": time,
        "samples": samples,
        "q0": read_option_numbers(mechanism, words or [], "q0") or None,
        "qd0": read_option_numbers(mechanism, speed or [], "qd0") or None,
        "torque": _read_drives(mechanism, drive),
        "control": _read_control(control),
        "by": by,
        "integrator": integrator,
        "rtol": tolerance,
        "atol": tolerance / 10,
        "block": block,
    }
    if motion:
        driven = {"motion": motion, "t": time, "samples": samples}
        given |= {"kinematics": driven, "inverse": driven}
    factors = _check_factors(vary, table)
    if not measure:
        raise LinkwrightError(
            "study needs --measure", remedy="write --measure 'peak=max(abs(dq1))'"
        )
    if dry_run:
        return _plan_outcome(mechanism, factors, measure, given | choice)
    return _study_outcome(mechanism, factors, measure, given | choice, output)


def _check_factors(vary: dict[str, str], table: Path | None) -> dict[str, str] | Path:
    if table is not None and vary:
        raise LinkwrightError("--vary and --table exclude each other", remedy="give one")
    if table is None and not vary:
        raise LinkwrightError("study needs --vary, or --table", remedy="write --vary m2=0.5..1.5")
    return vary if table is None else table


def _read_folder(command: str, words: Sequence[str]) -> str:
    if len(words) != 1:
        raise LinkwrightError(
            f"study {command} takes one folder", remedy=f"write linkwright study {command} DIR"
        )
    return words[0]


def _read_drives(mechanism: Mechanism, words: list[str] | None) -> object:
    found = read_option_drives(mechanism, words or [])
    if isinstance(found, str):
        from ...mechanism import pose_numbers

        return dict(pose_numbers(mechanism, found, "controls"))
    return found or None


def _read_control(file: Path | None) -> dict[str, object] | None:
    if file is None:
        return None
    from ...files import read_toml_numbers

    try:
        return dict(read_toml_numbers(file))
    except LinkwrightError as error:
        raise error.within(str(file)) from None


def _plan_outcome(
    mechanism: Mechanism, factors: dict[str, str] | Path, measure: dict[str, str], given: Any
) -> CommandOutcome:
    from ...studies import plan_study

    with show_command_progress(f"trying designs of {mechanism.name}"):
        plan = plan_study(mechanism, factors, measure, **given)
    data = {**vars(plan), "seconds": plan.seconds}
    return CommandOutcome(data, lambda: print(plan))


def _study_outcome(
    mechanism: Mechanism,
    factors: dict[str, str] | Path,
    measure: dict[str, str],
    given: dict[str, Any],
    output: str | None,
) -> CommandOutcome:
    from ... import studies

    page = Path(output) if output is not None and output.endswith(".html") else None
    if page is not None:
        check_output_folder(page)
        if given["workers"] > 1 or given["cluster"] is not None:
            raise LinkwrightError(
                "workers need a folder", remedy="write -o DIR, then linkwright study report DIR"
            )
    store = None if page is not None else output
    with _told_how_to_resume(store):
        found = studies.study(mechanism, factors, measure, store=store, **given)
    if page is not None:
        with show_command_progress(f"writing {page}"):
            found.report(page)
    return _outcome_of(found, output)


def _resume_outcome(folder: str, given: dict[str, Any]) -> CommandOutcome:
    from ... import studies

    with _told_how_to_resume(folder):
        found = studies.resume_study(folder, **given)
    return _outcome_of(found, folder)


def _report_outcome(folder: str, output: str | None) -> CommandOutcome:
    from ...studies import load_study

    if output is not None and not output.endswith(".html"):
        raise ArgumentError(f"'{output}' is not a page", remedy="write -o page.html")
    found = load_study(folder)
    damaged = [one for one in found.store.marked_blocks() if not found.store.is_sound(one)]
    if damaged:
        raise LinkwrightError(
            f"{len(damaged)} of {found.recipe.block_count} blocks are damaged",
            where=folder,
            remedy=f"'linkwright study resume {folder}' makes them again",
        )
    if output is not None:
        page = check_output_folder(Path(output))
        with show_command_progress(f"writing {output}"):
            found.report(page)
    return _outcome_of(found, output or folder)


def _outcome_of(found: Study, output: str | None) -> CommandOutcome:
    """Return counts, ranges of measures and the first failures."""
    counts = found.store.summary()
    failures = dict(list(found.failures.items())[:5])
    data: dict[str, Any] = {**counts, "output": output or "", "failures": failures, "measures": {}}
    for name in found.measure_names:
        values = found.data[name].to_numpy()
        known = values[_is_finite(values)]
        if values.ndim == 1 and known.size:
            data["measures"][name] = [float(known.min()), float(known.mean()), float(known.max())]
    lines = [str(found)]
    lines += [f"design {design} failed: {why}" for design, why in failures.items()]
    lines += [f"output: {output}"] if output else []
    return CommandOutcome(data, lambda: print("\n".join(lines)))


def _is_finite(values: Any) -> Any:
    import numpy as np

    return np.isfinite(values)


@contextmanager
def _told_how_to_resume(store: str | None) -> Iterator[None]:
    """Say after Ctrl-C what is kept, and how to go on."""
    if store is None:
        yield
        return
    hint = f"finished blocks are kept; 'linkwright study resume {store}' continues"
    begun = None if "://" in store else Path(store) / "study.json"
    explain_ending(hint, begun)
    try:
        yield
    except KeyboardInterrupt:
        if begun is None or begun.exists():
            print(f"linkwright: {hint}", file=sys.stderr, flush=True)
            note_explanation()
        raise
