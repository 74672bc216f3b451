"""`linkwright plan`: target → joints → trajectory → torques, or the tool's path → torques."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ExpressionError, FileError, LinkwrightError, NameNotFoundError, suggest
from ..expressions import parse, to_float
from ..kinematics.assembly import assemble
from ..mechanism import Mechanism, names_of
from ..model import compile as compiled
from ..motion import Plan, accelerated, arc, line, plan_to, planned, trapezoid
from ..motion.plan import PICTURES
from ..motion.timing import largest
from ..motion.units import said, units_of
from .inputs import numbers
from .show import CheckFailedError, emit_json, print_table, working, write_file


@dataclass(frozen=True)
class Wish:
    """The words of the command."""

    to: list[str]
    line: str | None
    arc: str | None
    frame: str | None
    time: float | None
    speed: float | None
    acceleration: float | None
    start: list[str]
    posture: list[str]
    hold_rotation: bool
    samples: int


def run(mechanism: Mechanism, wish: Wish, outputs: list[Path], as_json: bool) -> None:
    for path in outputs:
        if path.suffix.lower() not in (".csv", ".npz", *PICTURES):
            raise FileError(
                f"'{path.suffix}' cannot be written", where=str(path),
                remedy=f"use .csv, .npz, {', '.join(PICTURES)}",
            )  # fmt: skip
    with working(f"planning a motion of {mechanism.name}"):
        found = _plan(mechanism, wish)
        for path in outputs:
            write_file(path, found.bytes_as(path.suffix.lower()))
    _show(found, outputs, as_json)
    if found.exceeded:
        raise CheckFailedError(
            "; ".join(found.exceeded), where=mechanism.name,
            remedy="take more time, or another way",
        )  # fmt: skip


def _plan(mechanism: Mechanism, wish: Wish) -> Plan:
    frame = _frame(mechanism, wish.frame)
    start = _joints(mechanism, wish.start)
    if wish.line is not None or wish.arc is not None:
        return _along_path(mechanism, frame, start, wish)
    for key in ("speed", "acceleration"):
        if getattr(wish, key) is not None:
            raise LinkwrightError(f"--{key} is of --line and --arc", remedy="give --time")
    if not wish.to:
        raise LinkwrightError("there is nothing to do", remedy="give --to X,Y,Z or --line X,Y,Z")
    posture = _joints(mechanism, wish.posture) if wish.posture else None
    targets = [_target(text) for text in wish.to]
    return plan_to(
        mechanism, frame, targets, wish.time, start=start, posture=posture, samples=wish.samples
    )


def _along_path(mechanism: Mechanism, frame: str, start: Any, wish: Wish) -> Plan:
    """At constant acceleration; with --speed up to that, and down to rest at the end."""
    if wish.time is not None or wish.posture:
        raise LinkwrightError(
            "--time and --posture are not of tool paths", remedy="give --acceleration, --speed"
        )
    if wish.line is not None and (wish.arc is not None or wish.to):
        raise LinkwrightError("--line goes alone", remedy="give --arc VIA --to END for an arc")
    a = 1.0 if wish.acceleration is None else wish.acceleration

    def law(length: float) -> Any:
        if wish.speed is None:
            return accelerated(length, a)
        return trapezoid([0.0], [length], wish.speed, a)

    held = {"hold_rotation": wish.hold_rotation}
    if wish.line is not None:
        trajectory = line(mechanism, frame, start, _point(wish.line), law, **held)
    else:
        if len(wish.to) != 1:
            raise LinkwrightError("an arc has one end", remedy="give --to X,Y,Z once")
        via, end = _point(str(wish.arc)), _point(wish.to[0])
        trajectory = arc(mechanism, frame, start, via, end, law, **held)
    return planned(mechanism, frame, trajectory, wish.samples)


def _frame(mechanism: Mechanism, wanted: str | None) -> str:
    known = list(mechanism.frames)
    if wanted is None:
        if "tool" in known or len(known) == 1:
            return "tool" if "tool" in known else known[0]
        raise LinkwrightError(
            "it is not clear what is to move", where=mechanism.name,
            remedy=f"give --frame, one of {', '.join([*known, *mechanism.bodies])}",
        )  # fmt: skip
    if wanted not in known and wanted not in mechanism.bodies:
        raise NameNotFoundError(
            f"there is no frame '{wanted}'", where=mechanism.name,
            remedy=suggest(wanted, [*known, *mechanism.bodies]),
        )  # fmt: skip
    return wanted


def _joints(mechanism: Mechanism, words: list[str]) -> Any:
    """Coordinates by name; the rest is at home, or where loops close."""
    names = list(names_of(mechanism).q)
    given = numbers(mechanism, words)
    for name in given:
        if name not in names:
            raise NameNotFoundError(f"there is no coordinate '{name}'", remedy=suggest(name, names))
    if mechanism.loops or mechanism.constraints:
        return assemble(mechanism, given, list(given))
    q = compiled(mechanism).neutral()
    q[[names.index(name) for name in given]] = list(given.values())
    return q


def _numbers(text: str) -> list[float]:
    try:
        return [to_float(parse(part)) for part in text.split(",")]
    except ExpressionError:
        raise LinkwrightError(f"'{text}' is no list of numbers", remedy="give X,Y,Z") from None


def _point(text: str) -> list[float]:
    found = _numbers(text)
    if len(found) not in (2, 3):
        raise LinkwrightError(f"'{text}' is no point", remedy="give X,Y,Z")
    return [*found, 0.0][:3]


def _target(text: str) -> list[float]:
    found = _numbers(text)
    if len(found) not in (2, 3, 7):
        raise LinkwrightError(
            f"'{text}' is no target", remedy="give X,Y or X,Y,Z, or X,Y,Z and a quaternion"
        )
    return found


def _show(plan: Plan, outputs: list[Path], as_json: bool) -> None:
    names = names_of(plan.mechanism)
    tops = largest(plan.mechanism, plan.trajectory)
    if as_json:
        emit_json(
            {
                "frame": plan.frame, "duration": plan.trajectory.duration,
                "start": plan.q[0].tolist(), "goal": plan.q[-1].tolist(),
                "point": plan.point[-1].tolist(), "largest_speeds": tops[0].tolist(),
                "largest_accelerations": tops[1].tolist(), "largest_drives": tops[2].tolist(),
                "exceeded": list(plan.exceeded),
                "files": [str(path) for path in outputs],
            }
        )  # fmt: skip
        return
    point = ", ".join(f"{x:.6g}" for x in plan.point[-1].round(12) + 0.0)
    print(f"{plan.frame} to ({point}) m in {plan.trajectory.duration:.6g} s")
    rows = [
        [
            name,
            *(
                said(round(x, 12) + 0.0, u)
                for x, u in zip(figures, (unit.way, *unit.all), strict=True)
            ),
        ]
        for name, unit, *figures in zip(
            names.qd, units_of(plan.mechanism), plan.q[0], plan.q[-1], *tops, strict=True
        )
    ]
    print_table(["", "start", "goal", "largest speed", "acceleration", "drive"], rows)
    for path in outputs:
        print(f"written: {path}")
