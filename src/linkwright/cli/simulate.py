"""`linkwright simulate`: a motion, its figures, and its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import LinkwrightError
from ..expressions import parse, to_float
from ..mechanism import Mechanism
from ..simulation import Event, simulate
from .inputs import assignments
from .show import CheckFailedError, emit_json, working


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
    noted: list[str],
    ending: list[str],
    stops: str,
) -> None:
    if output is not None and output.suffix not in (".nc", ".csv"):
        raise LinkwrightError(f"'{output}' is no .nc or .csv", remedy="name such a file")
    q0, qd0 = (
        {name: to_float(parse(text)) for name, text in assignments(words).items()}
        for words in (start, speeds)
    )
    events: dict[str, Any] = dict(assignments(noted))
    events |= {name: Event(when, "stop") for name, when in assignments(ending).items()}
    with working(f"simulating {mechanism.name} for {duration:g} s"):
        found = simulate(
            mechanism, duration, q0=q0, qd0=qd0, by=by, torque=dict(assignments(drives)) or None,
            integrator=integrator, rtol=tolerance, atol=tolerance / 10, events=events, stops=stops,
        )  # fmt: skip
    if output is not None:
        found.save(output)
    last = found.parts[-1]
    summary: dict[str, Any] = {
        "status": last.status, "t": float(last.t[-1]), "q": last.q[-1].tolist(),
        "qd": last.qd[-1].tolist(), "energy_audit": max(part.audit for part in found.parts),
        "closure_error": max(float(part.closure.max()) for part in found.parts),
        **found.statistics, "events": [list(e) for part in found.parts for e in part.events],
        "file": str(output or ""),
    }  # fmt: skip
    if as_json:
        emit_json(summary)
    else:
        summary["events"] = "".join(f"\n  {t:.9g} s  {n}: {x}" for t, n, x in summary["events"])
        print(
            "\n".join(
                f"{key.replace('_', ' ')}: {value}" for key, value in summary.items() if value != ""
            )
        )
    if not found.finished:
        raise CheckFailedError(last.status, where=mechanism.name)
