"""What the page says, as data: each part is made in a process of its own, within a budget."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..expressions.tree import names as names_in
from ..forms.sheet import Sheet, sheet_of, usual_functions
from ..formulations import derive
from ..kinematics.assembly import consistent_speeds
from ..mechanism import Mechanism, names_of
from ..simulation import Run, simulate
from ..study import Comparison, compare
from ..study.bounded import Worker
from ..verification import verify
from ..verification.report import Report
from .description import meaning

LONG, MOST, MOST_MARKUP = 6_000, 20_000, 400_000
"""Characters of a function's LaTeX that are shown at once, of its text that stand on the page at
all, and of its MathML."""
MOVING = 1e-3
"""What a coordinate must change by, for the motion to be seen."""
COMPARED = 1.0
"""Seconds of motion by which formulations are compared, at most."""


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
    symbols: tuple[tuple[str, float, str], ...] = ()
    """Parameters that occur, their values, and what they are where the file does not name them."""


@dataclass(frozen=True)
class Moved:
    """A motion, how it was begun, and the words after the file that let `simulate` make it."""

    run: Run
    notes: tuple[str, ...]
    words: str = ""


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
                _kept(lambda: _compared(mechanism, by, min(duration, COMPARED), budget)),
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
            used = _used(mechanism, equations.parameters, sheet)
            found.append(Written(name, sheet.what, sheet.size, mathml, latex, *size, used))
        else:
            found.append(Written(name, sheet.what, sheet.size))
    return tuple(found)


def _used(
    mechanism: Mechanism, parameters: Mapping[str, Any], sheet: Sheet
) -> tuple[tuple[str, float, str], ...]:
    """The parameters in the rows of a sheet, in their own order."""
    values = [value for _, value in (*sheet.steps, *sheet.rows)]
    there = frozenset[str]().union(*map(names_in, values))
    return tuple(
        (name, float(value), "" if name in mechanism.parameters else meaning(name, value))
        for name, value in parameters.items()
        if name in there
    )


def _moved(
    worker: Worker, mechanism: Mechanism, duration: float, q0: dict[str, float], budget: float
) -> Moved | LeftOut:
    """From q0 at rest; what takes too long loses its dry friction, or is shorter, which is said."""
    smooth = mechanism.without("friction")
    attempts: list[tuple[Mechanism, float, str, tuple[str, ...]]] = [(mechanism, duration, "", ())]
    patience = budget / 2
    if smooth.digest != mechanism.digest:
        patience = budget / 5
        said = "without dry friction, which takes too long"
        attempts.append((smooth, duration, " --without friction", (said,)))
    short = f"no more than {duration / 5:g} s, since the rest takes too long"
    attempts.append((mechanism, duration / 5, "", (short,)))
    found: Moved | LeftOut = LeftOut("")
    for source, seconds, changed, why in attempts:
        found = _kept(partial(worker.call, motion_of, source, seconds, q0, seconds=patience))
        patience = budget / 2
        if isinstance(found, Moved):
            return Moved(found.run, (*found.notes, *why), found.words + changed)
    return found


def motion_of(mechanism: Mechanism, duration: float, q0: dict[str, float]) -> Moved:
    """From q0 at rest; what would stand still gets speeds."""
    begin = f"from {beginning(q0)}"
    moved = _within_limits(mechanism, duration, q0, {})
    run = moved.run
    if np.abs(run.q - run.q[0]).max(initial=0.0) > MOVING:
        how = "with the speeds that its constraints demand" if run.qd[0].any() else "at rest"
        return replace(moved, notes=(f"{begin}, {how}", "no drives", *moved.notes))
    names = names_of(mechanism)
    qd = np.full(names.nv, 0.5)
    if names.constraints:
        qd = consistent_speeds(mechanism, run.q[0], qd)
    speeds = dict(zip(names.qd, map(float, qd), strict=True))
    moved = _within_limits(mechanism, duration, q0, speeds)
    said = f"{begin}, where it would rest, with speeds ({', '.join(f'{v:.3g}' for v in qd)})"
    return replace(moved, notes=(said, "no drives", *moved.notes))


def beginning(q0: Mapping[str, float]) -> str:
    where = ", ".join(f"{name} = {value:g}" for name, value in q0.items())
    return f"{where}, the rest at home" if where else "home"


def _within_limits(
    mechanism: Mechanism, duration: float, q0: dict[str, float], qd0: dict[str, float]
) -> Moved:
    """Limits are stops, unless the motion starts beyond one."""
    stops, notes = "impact", tuple[str, ...]()
    try:
        run = simulate(mechanism, duration, q0=q0, qd0=qd0, stops=stops)
    except LinkwrightError as error:
        if "beyond" not in error.what:
            raise
        stops, notes = "ignore", ("limits are ignored, since it starts beyond one",)
        run = simulate(mechanism, duration, q0=q0, qd0=qd0, stops=stops)
    return Moved(run, notes, motion_words(duration, q0, qd0, stops))


def motion_words(
    duration: float,
    q0: Mapping[str, float],
    qd0: Mapping[str, float] | None = None,
    stops: str = "impact",
) -> str:
    """What follows `linkwright simulate FILE`, to the last digit."""
    speeds = "".join(f" --speed{word}" for word in start_words(qd0 or {}))
    return f"{''.join(start_words(q0))}{speeds} -t {exactly(duration)} --stops {stops}"


def start_words(values: Mapping[str, float]) -> list[str]:
    return [f" {shlex.quote(f'{name}={exactly(value)}')}" for name, value in values.items()]


def exactly(value: float) -> str:
    """As short as can be with all digits."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))
