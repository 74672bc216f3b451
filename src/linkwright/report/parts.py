"""What the page says, as data: each part is made in a process of its own, within a budget."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..forms.sheet import Sheet, usual_functions
from ..formulations import derive
from ..mechanism import Mechanism, names_of
from ..simulation import Run, simulate
from ..study import Comparison, compare
from ..study.bounded import Worker
from ..verification import verify
from ..verification.report import Report

LONG = 60
"""Rows of a function that still belong on a page."""
MOVING = 1e-3
"""What a coordinate must change by, for the motion to be seen."""


@dataclass(frozen=True)
class Written:
    """One function of the equations; nothing but its size where it is too long."""

    name: str
    what: str
    size: str
    mathml: str = ""
    latex: str = ""
    longest: int = 0


@dataclass(frozen=True)
class Moved:
    """A motion, and how it was begun."""

    run: Run
    notes: tuple[str, ...]


@dataclass(frozen=True)
class LeftOut:
    """Why a part is not there."""

    why: str


@dataclass(frozen=True)
class Parts:
    equations: tuple[Written, ...] | LeftOut
    checks: Report | LeftOut
    motion: Moved | LeftOut
    comparison: Comparison | LeftOut


def made(mechanism: Mechanism, duration: float, q0: dict[str, float], budget: float) -> Parts:
    """All parts, two at a time."""

    def part(function: Callable[..., Any], *arguments: Any) -> Any:
        with Worker() as worker:
            try:
                return worker.call(function, mechanism, *arguments, seconds=budget)
            except LinkwrightError as error:
                return LeftOut(str(error))

    def compared() -> Any:
        try:
            return compare(mechanism, duration=min(duration, 1.0), budget=budget / 3, total=budget)
        except LinkwrightError as error:
            return LeftOut(str(error))

    with ThreadPoolExecutor(2) as pool:
        motion = pool.submit(_moved, mechanism, duration, q0, budget)
        checks = pool.submit(part, verify)
        equations = pool.submit(part, written_out)
        comparison = pool.submit(compared)
        return Parts(equations.result(), checks.result(), motion.result(), comparison.result())


def written_out(mechanism: Mechanism) -> tuple[Written, ...]:
    """The functions of the equation of motion, those that are short in full."""
    equations = derive(mechanism)
    found = []
    for name in usual_functions(equations):
        sheet = Sheet(equations, name)
        if len(sheet.rows) + len(sheet.steps) > LONG or not sheet.is_closed:
            found.append(Written(name, sheet.what, sheet.size))
            continue
        found.append(
            Written(
                name, sheet.what, sheet.size, sheet.mathml(), sheet.latex(), sheet.longest()
            )
        )  # fmt: skip
    return tuple(found)


def _moved(
    mechanism: Mechanism, duration: float, q0: dict[str, float], budget: float
) -> Moved | LeftOut:
    """From q0 at rest; what would stand still gets speeds, and what takes too long loses its dry
    friction, both of which are said."""
    notes: tuple[str, ...] = ()
    with Worker() as worker:
        try:
            return worker.call(motion_of, mechanism, duration, q0, seconds=budget / 2)  # type: ignore[no-any-return]
        except LinkwrightError as error:
            if not has_friction(mechanism):
                return LeftOut(str(error))
        notes = ("without dry friction, with which the integration takes too long",)
        try:
            found = worker.call(
                motion_of, mechanism.without("friction"), duration, q0, seconds=budget / 2
            )
        except LinkwrightError as error:
            return LeftOut(str(error))
    return Moved(found.run, (*found.notes, *notes))


def has_friction(mechanism: Mechanism) -> bool:
    return mechanism.without("friction").digest != mechanism.digest


def motion_of(mechanism: Mechanism, duration: float, q0: dict[str, float]) -> Moved:
    where = ", ".join(f"{name} = {value:g}" for name, value in q0.items())
    begin = f"from {where}, the rest at home" if where else "from home"
    run = simulate(mechanism, duration, q0=q0)
    if np.abs(run.q - run.q[0]).max(initial=0.0) > MOVING or q0:
        return Moved(run, (f"{begin}, at rest", "no drives"))
    qd = np.full(names_of(mechanism).nv, 0.5)
    run = simulate(mechanism, duration, q0=q0, qd0=qd)
    said = ", ".join(f"{value:.3g}" for value in run.qd[0])
    return Moved(run, (f"{begin}, where it would rest, with speeds ({said})", "no drives"))
