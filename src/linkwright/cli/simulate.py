"""`linkwright simulate`: a motion, its figures, and its file."""

from __future__ import annotations

from pathlib import Path

from ..errors import LinkwrightError
from ..expressions import parse, to_float
from ..mechanism import Mechanism
from ..simulation import simulate
from .inputs import assignments
from .pictures import wanted
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
    plot: str = "",
    cyclograph: Path | None = None,
    animate: Path | None = None,
) -> None:
    pictures, output = wanted(plot, output, cyclograph, animate)
    if output is not None and output.suffix not in (".nc", ".csv"):
        raise LinkwrightError(f"'{output}' is no .nc or .csv", remedy="name such a file")
    q0, qd0 = (
        {name: to_float(parse(text)) for name, text in assignments(words).items()}
        for words in (start, speeds)
    )
    with working(f"simulating {mechanism.name} for {duration:g} s"):
        found = simulate(
            mechanism, duration, q0=q0, qd0=qd0, by=by, torque=dict(assignments(drives)) or None,
            integrator=integrator, rtol=tolerance, atol=tolerance / 10,
        )  # fmt: skip
    if output is not None:
        found.save(output)
    with working(f"drawing {mechanism.name}"):
        drawn = pictures.write(found)
    summary = {
        "status": found.status, "t": float(found.t[-1]), "q": found.q[-1].tolist(),
        "qd": found.qd[-1].tolist(), "energy_audit": found.audit,
        "closure_error": float(found.closure.max()), **found.statistics,
        "file": str(output or ""), "pictures": ", ".join(drawn),
    }  # fmt: skip
    if as_json:
        emit_json(summary)
    else:
        print(
            "\n".join(
                f"{key.replace('_', ' ')}: {value}" for key, value in summary.items() if value != ""
            )
        )
    if not found.finished:
        raise CheckFailedError(found.status, where=mechanism.name)
