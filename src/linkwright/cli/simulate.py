"""`linkwright simulate`: a motion, its figures, and its file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import LinkwrightError
from ..expressions import parse, to_float
from ..files import read_numbers
from ..mechanism import Mechanism, names_of
from ..mechanism.units import OF_SPEED, coordinate_units, speed_units
from ..simulation import Event, Run, load_run, repeat, simulate
from ..simulation.provenance import differences
from ..simulation.storage import check_format, prepare_saving
from .courses import courses
from .inputs import assignments, numbers
from .pictures import NOTHING, Wanted
from .show import CheckFailedError, emit_json, figure, working
from .supervise import save_when_interrupted


def run(
    mechanism: Mechanism,
    duration: float,
    start: list[str],
    speeds: list[str],
    tolerance: float,
    step: str | None,
    output: Path | None,
    **settings: Any,
) -> Run:
    if output is not None:
        prepare_saving(output)
        save_when_interrupted(output)
    return simulate(
        mechanism, duration, q0=numbers(mechanism, start),
        qd0=numbers(mechanism, speeds, "qd0"), rtol=tolerance,
        atol=tolerance / 10, step=None if step is None else to_float(parse(step)), progress=True,
        **settings,
    )  # fmt: skip


def events_of(noted: list[str], ending: list[str]) -> dict[str, Any]:
    events: dict[str, Any] = dict(assignments(noted))
    return events | {name: Event(when, "stop") for name, when in assignments(ending).items()}


def torque_of(mechanism: Mechanism, drives: list[str], control: Path | None) -> Any:
    """Drives by name, or the controller of a file."""
    if control is None:
        return courses(drives) or None
    if drives:
        raise LinkwrightError("--control and --drive exclude each other", remedy="give one")
    from ..control import made_by

    try:
        return made_by(read_numbers(control), mechanism)
    except LinkwrightError as error:
        raise error.within(str(control)) from None


def again(source: Path, output: Path | None, as_json: bool) -> None:
    """A run from its own file; says how far it differs from the first."""
    if output is not None:
        check_format(output)
    first = load_run(source)
    found = repeat(source)
    apart = differences(first, found)
    others = [k for k, v in found.versions.items() if first.versions.get(k) != v]
    if others:
        print(f"linkwright: made with another {', '.join(others)}", file=sys.stderr)
    report(found, output, as_json, {"difference": apart})


def report(
    found: Run,
    output: Path | None,
    as_json: bool,
    more: dict[str, Any] | None = None,
    pictures: Wanted = NOTHING,
) -> None:
    """Writes the file, prints the figures, and warns of what a user should know."""
    last = found.parts[-1]
    if output is not None:  # after Ctrl-C there is less than a second
        found.save(output, histories_only=last.interrupted)
    if last.interrupted:
        pictures = NOTHING
    with working(f"drawing {found.mechanism.name}"):
        drawn = pictures.write(found)
    parts = found.parts
    summary: dict[str, Any] = {
        "status": last.status, "t": float(last.t[-1]), "q": last.q[-1].tolist(),
        "qd": last.qd[-1].tolist(), "energy_audit": max(part.audit for part in parts),
        "energy_is_accounted_for": all(part.accounted for part in parts),
        "work_of_inputs": sum(float(part.work_inputs[-1]) for part in parts),
        "work_given": sum(float(part.work_given[-1]) for part in parts),
        "work_of_losses": sum(float(part.work_losses[-1]) for part in parts),
        "closure_error": max(float(part.closure.max()) for part in parts),
        "events": [list(event) for part in parts for event in part.events],
        **found.statistics, **(more or {}),
        "file": str(output or ""), "pictures": ", ".join(drawn),
    }  # fmt: skip
    if as_json:
        emit_json(summary)
    else:
        print("\n".join(_lines(last, summary)))
    for warning in last.warnings:
        if warning != last.status:
            print(f"linkwright: {last.mechanism.name}: {warning}", file=sys.stderr)
    if last.interrupted:
        raise KeyboardInterrupt
    if not last.finished:
        raise CheckFailedError(last.status, where=found.mechanism.name)


def _lines(last: Run, summary: dict[str, Any]) -> list[str]:
    """The summary as people read it, with units."""
    mechanism, names = last.mechanism, names_of(last.mechanism)
    rates = [OF_SPEED["qd"][unit] for unit in speed_units(mechanism)]
    counted = "accounted for" if summary["energy_is_accounted_for"] else "NOT accounted for"
    found = {
        "status": summary["status"],
        "t": figure(summary["t"], "s"),
        "q": _named(names.q, summary["q"], coordinate_units(mechanism)),
        "speeds": _named(names.qd, summary["qd"], rates),
        "energy": f"{counted}, to {summary['energy_audit']:.1e} of the largest",
        "work": ", ".join(
            f"{figure(summary[key], 'J')} {words}"
            for key, words in (
                ("work_of_inputs", "of inputs"), ("work_given", "given"),
                ("work_of_losses", "of losses"),
            )
        ),
        "loops": f"closed to {summary['closure_error']:.1e}" if names.constraints else "",
        "events": "".join(f"\n  {t:.9g} s  {n}: {x}" for t, n, x in summary["events"]),
        "steps": f"{summary['steps']}, {summary['rejected']} rejected, {summary['evaluations']} "
        f"evaluations, {summary['seconds']:.3g} s",
        "difference": str(summary.get("difference", "")),
        "file": summary["file"], "pictures": summary["pictures"],
    }  # fmt: skip
    return [f"{key}: {text}" for key, text in found.items() if text]


def _named(names: Sequence[str], values: Sequence[float], units: Sequence[str]) -> str:
    parts = zip(names, values, units, strict=True)
    return ", ".join(f"{n} = {figure(x, '' if u == '1' else u)}" for n, x, u in parts)
