"""`linkwright simulate`: a motion, its figures, and its file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..expressions import parse, to_float
from ..mechanism import Mechanism
from ..simulation import Run, load_run, repeat, simulate
from ..simulation.provenance import differences
from ..simulation.storage import check_format
from .inputs import assignments
from .show import CheckFailedError, emit_json


def run(
    mechanism: Mechanism,
    duration: float,
    start: list[str],
    speeds: list[str],
    drives: list[str],
    by: str,
    integrator: str,
    tolerance: float,
    output: Path | None,
    as_json: bool,
    step: str | None = None,
) -> None:
    if output is not None:
        check_format(output)
    q0, qd0 = numbers(start), numbers(speeds)
    found = simulate(
        mechanism, duration, q0=q0, qd0=qd0, by=by, torque=dict(assignments(drives)) or None,
        integrator=integrator, rtol=tolerance, atol=tolerance / 10, progress=True,
        step=None if step is None else to_float(parse(step)),
    )  # fmt: skip
    report(found, output, as_json)


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


def numbers(words: list[str]) -> dict[str, float]:
    return {name: to_float(parse(text)) for name, text in assignments(words).items()}


def report(
    found: Run, output: Path | None, as_json: bool, more: dict[str, Any] | None = None
) -> None:
    """Writes the file, prints the figures, and warns of what a user should know."""
    if output is not None:
        found.save(output)
    summary = {
        "status": found.status, "t": float(found.t[-1]), "q": found.q[-1].tolist(),
        "qd": found.qd[-1].tolist(), "energy_audit": found.audit,
        "energy_is_accounted_for": found.accounted,
        "work_of_inputs": float(found.work_inputs[-1]), "work_given": float(found.work_given[-1]),
        "work_of_losses": float(found.work_losses[-1]),
        "closure_error": float(found.closure.max()), **found.statistics, **(more or {}),
        "file": str(output or ""),
    }  # fmt: skip
    if as_json:
        emit_json(summary)
    else:
        lines = [f"{k.replace('_', ' ')}: {_shown(v)}" for k, v in summary.items() if v != ""]
        print("\n".join(lines))
    for warning in found.warnings:
        if warning != found.status:
            print(f"linkwright: {found.mechanism.name}: {warning}", file=sys.stderr)
    if found.interrupted:
        raise KeyboardInterrupt
    if not found.finished:
        raise CheckFailedError(found.status, where=found.mechanism.name)


def _shown(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
