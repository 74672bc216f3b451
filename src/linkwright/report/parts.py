"""What the page says, as data: each part is made in a process of its own, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..forms.sheet import sheet_of, usual_functions
from ..formulations import derive
from ..mechanism import Mechanism, names_of
from ..simulation import Run, simulate
from ..study import Comparison, compare
from ..study.bounded import Worker
from ..verification import verify
from ..verification.report import Report

LONG, MOST, MOST_MARKUP = 6_000, 20_000, 400_000
"""Characters of a function's LaTeX that are shown at once, of its text that stand on the page at
all, and of its MathML."""
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
    is_long: bool = False
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


def made(
    mechanism: Mechanism,
    duration: float,
    q0: dict[str, float],
    budget: float,
    by: Sequence[str] | None,
) -> Parts:
    """All parts, two at a time; one part may take `budget` seconds."""
    with ThreadPoolExecutor(2) as pool, Worker() as one, Worker() as other:
        first = pool.submit(
            lambda: (
                _moved(one, mechanism, duration, q0, budget),
                _kept(lambda: one.call(written_out, mechanism, seconds=budget)),
            )
        )
        second = pool.submit(
            lambda: (
                _kept(lambda: other.call(verify, mechanism, seconds=budget)),
                _kept(lambda: _compared(mechanism, by, min(duration, 1.0), budget)),
            )
        )
        (motion, equations), (checks, comparison) = first.result(), second.result()
    return Parts(equations, checks, motion, comparison)


def _kept(make: Callable[[], Any]) -> Any:
    """What is made, or why it could not be."""
    try:
        return make()
    except LinkwrightError as error:
        return LeftOut(str(error))


def _compared(
    mechanism: Mechanism, by: Sequence[str] | None, duration: float, budget: float
) -> Comparison:
    return compare(mechanism, by, duration, budget=budget / 2, total=2 * budget)


def written_out(mechanism: Mechanism) -> tuple[Written, ...]:
    """The functions of the equation of motion, but those that are too long."""
    equations = derive(mechanism)
    found = []
    for name in usual_functions(equations):
        sheet = sheet_of(equations, name, page=MOST)
        mathml = sheet.mathml() if sheet.is_closed else ""
        if 0 < len(mathml) <= MOST_MARKUP:
            latex = sheet.latex()
            size = (len(latex) > LONG, sheet.longest())
            found.append(Written(name, sheet.what, sheet.size, mathml, latex, *size))
        else:
            found.append(Written(name, sheet.what, sheet.size))
    return tuple(found)


def _moved(
    worker: Worker, mechanism: Mechanism, duration: float, q0: dict[str, float], budget: float
) -> Moved | LeftOut:
    """From q0 at rest; what takes too long loses its dry friction, or is shorter, which is said."""
    smooth = mechanism.without("friction")
    attempts: list[tuple[Mechanism, float, tuple[str, ...]]] = [(mechanism, duration, ())]
    patience = budget / 2
    if smooth.digest != mechanism.digest:
        patience = budget / 5
        attempts.append((smooth, duration, ("without dry friction, which takes too long",)))
    short = f"no more than {duration / 5:g} s, since the rest takes too long"
    attempts.append((mechanism, duration / 5, (short,)))
    found: Moved | LeftOut = LeftOut("")
    for source, seconds, why in attempts:
        found = _kept(partial(worker.call, motion_of, source, seconds, q0, seconds=patience))
        patience = budget / 2
        if isinstance(found, Moved):
            return Moved(found.run, (*found.notes, *why))
    return found


def motion_of(mechanism: Mechanism, duration: float, q0: dict[str, float]) -> Moved:
    """From q0 at rest; what would stand still gets speeds."""
    where = ", ".join(f"{name} = {value:g}" for name, value in q0.items())
    begin = f"from {where}, the rest at home" if where else "from home"
    run, notes = _within_limits(mechanism, duration, q0, None)
    if np.abs(run.q - run.q[0]).max(initial=0.0) > MOVING or q0:
        speeds = "with the speeds that its constraints demand" if run.qd[0].any() else "at rest"
        return Moved(run, (f"{begin}, {speeds}", "no drives", *notes))
    qd = np.full(names_of(mechanism).nv, 0.5)
    run, notes = _within_limits(mechanism, duration, q0, qd)
    said = ", ".join(f"{value:.3g}" for value in run.qd[0])
    return Moved(run, (f"{begin}, where it would rest, with speeds ({said})", "no drives", *notes))


def _within_limits(
    mechanism: Mechanism, duration: float, q0: dict[str, float], qd0: Any
) -> tuple[Run, tuple[str, ...]]:
    """Limits are stops, unless the motion starts beyond one."""
    try:
        return simulate(mechanism, duration, q0=q0, qd0=qd0, stops="impact"), ()
    except LinkwrightError as error:
        if "beyond" not in error.what:
            raise
    free = simulate(mechanism, duration, q0=q0, qd0=qd0, stops="ignore")
    return free, ("limits are ignored, since it starts beyond one",)
