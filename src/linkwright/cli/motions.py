"""`linkwright kinematics` and `linkwright inverse`: given motions, and the forces they take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..expressions import parse, to_float
from ..mechanism import Mechanism, names_of
from ..mechanism.units import OF_SPEED, coordinate_units, speed_units
from ..simulation import Kinematics, Run, load_run, solve_inverse, solve_kinematics
from ..simulation.storage import check_format
from .courses import courses
from .inputs import assignments, numbers
from .show import CheckFailedError, clean, emit_json, figure, print_table, with_unit, working


def move(
    mechanism: Mechanism,
    words: list[str],
    over: str | None,
    duration: float,
    rough: list[str],
    samples: int,
    output: Path | None,
    as_json: bool,
) -> None:
    if output is not None:
        check_format(output)
    motion = courses(words) or None
    with working(f"moving {mechanism.name}"):
        found = solve_kinematics(
            mechanism, motion, duration, over=_range(over) if over else None,
            rough=numbers(mechanism, rough), samples=samples,
        )  # fmt: skip
    if output is not None:
        found.save(output)
    if as_json:
        emit_json(_summary(found) | {"file": str(output or "")})
    else:
        _print(found)
    if not found.finished:
        raise CheckFailedError(found.status, where=mechanism.name)


def _range(text: str) -> tuple[str, float, float]:
    """theta1=0:360deg"""
    ((name, limits),) = assignments([text]).items()
    ends = limits.split(":")
    if len(ends) != 2:
        raise LinkwrightError(f"'{text}' is no range", remedy="write theta1=0:360deg")
    return name, to_float(parse(ends[0])), to_float(parse(ends[1]))


def _summary(found: Kinematics) -> dict[str, Any]:
    return {
        "status": found.status, "positions": len(found.t), "t": float(found.t[-1]),
        "q": found.q[-1].tolist(), "qd": found.qd[-1].tolist(), "qdd": found.qdd[-1].tolist(),
        "closure_error": float(found.closure.max()),
        "singular": [
            {"t": one.t, "kind": one.kind, "what": list(one.what), "q": one.q.tolist()}
            for one in found.singular
        ],
    }  # fmt: skip


def _print(found: Kinematics) -> None:
    names = names_of(found.mechanism)
    units = coordinate_units(found.mechanism)
    print(f"status: {found.status}")
    print(f"positions: {len(found.t)}, closed to {found.closure.max():.1e}")
    rows = [
        [f"{one.t:.10f}", one.kind, ", ".join(one.what), *(f"{x:.10f}" for x in clean(one.q[:6]))]
        for one in found.singular
    ]
    if rows:
        print_table(["t", "kind", "of", *with_unit(names.q[:6], units[:6])], rows)
    else:
        print("no singular position was found")


def forces(
    mechanism: Mechanism,
    words: list[str],
    source: Path | None,
    duration: float,
    rough: list[str],
    samples: int,
    output: Path | None,
    as_json: bool,
) -> None:
    if output is not None:
        check_format(output)
    if source is not None and words:
        raise LinkwrightError("a motion and --run are both given", remedy="give one of them")
    motion = load_run(source) if source is not None else courses(words)
    with working(f"finding the forces of {mechanism.name}"):
        found = solve_inverse(
            mechanism, motion, duration, rough=numbers(mechanism, rough), samples=samples
        )
    if output is not None:
        found.save(output)
    summary = _of_forces(found) | {"file": str(output or "")}
    if as_json:
        emit_json(summary)
    else:
        names = names_of(mechanism)
        print(f"status: {found.status}")
        print(f"work of the drives: {summary['work_of_inputs']:.6g} J")
        rows = zip(
            names.qd, _force_units(mechanism), found.tau.T, np.abs(found.power.T), strict=True
        )
        print_table(
            ["along", "from", "to", "at the end", "largest power"],
            [
                [name, *(figure(x, unit) for x in (tau.min(), tau.max(), tau[-1])),
                 figure(power.max(), "W")]
                for name, unit, tau, power in rows
            ],
        )  # fmt: skip
    for warning in found.warnings:
        if warning != found.status:
            print(f"linkwright: {mechanism.name}: {warning}", file=sys.stderr)
    if not found.finished:
        raise CheckFailedError(found.status, where=mechanism.name)


def _force_units(mechanism: Mechanism) -> list[str]:
    return [OF_SPEED["tau"][unit] for unit in speed_units(mechanism)]


def _of_forces(found: Run) -> dict[str, Any]:
    names = names_of(found.mechanism)
    largest = np.abs(found.tau).max(axis=0).tolist()
    bears = np.abs(found.reactions).max(axis=(0,))
    return {
        "status": found.status,
        "largest_forces": dict(zip(names.qd, largest, strict=True)),
        "largest_reactions": {
            name: rows.tolist()
            for name, rows in zip((*names.joints, *names.loops), bears, strict=True)
        },
        "work_of_inputs": float(found.work_inputs[-1]), "energy_audit": found.audit,
    }  # fmt: skip
