"""What of a run can be drawn over time: panels of lines that share a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, NameNotFoundError, suggest
from ..mechanism import Mechanism, names_of
from ..model import Model
from ..model import compile as compiled
from .bodies import Motions
from .labels import symbol, with_index
from .units import ANGLE, LENGTH, NUMBER, coordinate_units, speed_labels, speed_units

if TYPE_CHECKING:
    from ..simulation.run import Run

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One line: its name, how the name is written, its values over time."""

    name: str
    label: str
    values: Floats
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """Lines on one pair of axes."""

    quantity: str
    unit: str
    lines: tuple[Line, ...]


@lru_cache(maxsize=8)
def model_of(mechanism: Mechanism) -> Model:
    return compiled(mechanism, threads=1)


def panels(run: Run, name: str, degrees: bool = False, only: Sequence[str] = ()) -> list[Panel]:
    """The panels of a quantity; of its lines just those named in `only`, if any are."""
    if name in HISTORIES:
        found = HISTORIES[name](run)
    elif name in run.data.data_vars:
        found = _from_data(run, name)
    else:
        known = [*HISTORIES, *map(str, run.data.data_vars)]
        raise NameNotFoundError(
            f"a run has no '{name}' to draw", where=run.mechanism.name, remedy=suggest(name, known)
        )
    found = [_in_degrees(panel) for panel in found] if degrees else found
    return _chosen(found, only) if only else found


def _chosen(found: list[Panel], only: Sequence[str]) -> list[Panel]:
    known = list(dict.fromkeys(line.name for panel in found for line in panel.lines))
    for name in only:
        if name not in known:
            raise NameNotFoundError(f"there is no line '{name}'", remedy=suggest(name, known))
    kept = [
        Panel(p.quantity, p.unit, tuple(line for line in p.lines if line.name in only))
        for p in found
    ]
    return [panel for panel in kept if panel.lines]


def _in_degrees(panel: Panel) -> Panel:
    if not panel.unit.startswith(ANGLE):
        return panel
    turned = tuple(
        Line(line.name, line.label, np.degrees(line.values), line.dashed) for line in panel.lines
    )
    return Panel(panel.quantity, panel.unit.replace(ANGLE, "°", 1), turned)


def _grouped(
    names: Sequence[str], labels: Sequence[str], units: Sequence[str], values: Floats,
    words: dict[str, tuple[str, str]],
) -> list[Panel]:  # fmt: skip
    """One panel a unit; `words` gives what is measured and its unit."""
    found = []
    for unit, (quantity, written) in words.items():
        lines = tuple(
            Line(names[k], labels[k], values[:, k]) for k, own in enumerate(units) if own == unit
        )
        if lines:
            found.append(Panel(quantity, written, lines))
    return found


def _coordinates(run: Run) -> list[Panel]:
    names = names_of(run.mechanism).q
    words = {ANGLE: ("angle", "rad"), LENGTH: ("displacement", "m"), NUMBER: ("quaternion", "1")}
    labels = [symbol(name) for name in names]
    return _grouped(names, labels, coordinate_units(run.mechanism), run.q, words)


def _of_speeds(
    run: Run, values: Floats, turning: tuple[str, str], sliding: tuple[str, str],
    label: Callable[[str], str],
) -> list[Panel]:  # fmt: skip
    names = speed_labels(run.mechanism)
    labels = [label(name) for name in names]
    words = {ANGLE: turning, LENGTH: sliding}
    return _grouped(names, labels, speed_units(run.mechanism), values, words)


def _speeds(run: Run) -> list[Panel]:
    words = ("angular speed", "rad/s"), ("speed", "m/s")
    return _of_speeds(run, run.qd, *words, lambda name: symbol(name, 1))


def _accelerations(run: Run) -> list[Panel]:
    words = ("angular acceleration", "rad/s²"), ("acceleration", "m/s²")
    return _of_speeds(run, run.qdd, *words, lambda name: symbol(name, 2))


def _drives(run: Run) -> list[Panel]:
    words = ("torque", "N·m"), ("force", "N")
    return _of_speeds(run, run.tau, *words, lambda name: with_index(r"\tau", name))


def _energy(run: Run) -> list[Panel]:
    lines = (
        Line("kinetic", "kinetic", run.kinetic),
        Line("potential", "potential", run.potential),
        Line("total", "total", run.energy, dashed=True),
    )
    return [Panel("energy", "J", lines)]


def _power(run: Run) -> list[Panel]:
    """Of each drive, and of all together."""
    names, each = speed_labels(run.mechanism), run.tau * run.qd
    labels = [with_index("P", name) for name in names]
    lines = [Line(n, lb, each[:, k]) for k, (n, lb) in enumerate(zip(names, labels, strict=True))]
    if len(lines) > 1:
        lines.append(Line("all drives", "all drives", each.sum(axis=1), dashed=True))
    return [Panel("power of drives", "W", tuple(lines))]


def _work(run: Run) -> list[Panel]:
    """What all but conservative forces did, beside the energy that came of it."""
    lines = (
        Line("work", "work done", run.work),
        Line("energy", "change of energy", run.energy - run.energy[0], dashed=True),
    )
    return [Panel("work", "J", lines)]


def _momentum(run: Run) -> list[Panel]:
    h = model_of(run.mechanism).momentum(run.q, run.qd)
    angular = _components("L", h[:, :3])
    linear = _components("p", h[:, 3:])
    return [Panel("linear momentum", "kg·m/s", linear),
            Panel("angular momentum", "kg·m²/s", angular)]  # fmt: skip


def _components(head: str, values: Floats) -> tuple[Line, ...]:
    """x, y, z; what is zero all the time is left out, unless all of it is."""
    size = np.abs(values).max(initial=0.0)
    kept = [k for k in range(3) if np.abs(values[:, k]).max(initial=0.0) > 1e-9 * size]
    return tuple(Line("xyz"[k], f"${head}_{'xyz'[k]}$", values[:, k]) for k in kept or range(3))


def _momenta(run: Run) -> list[Panel]:
    """p = M q̇, conjugate to the coordinates."""
    M = model_of(run.mechanism).mass_matrix(run.q)
    words = ("momentum", "kg·m²/s"), ("momentum", "kg·m/s")
    p = np.einsum("tij,tj->ti", M, run.qd)
    return _of_speeds(run, p, *words, lambda name: with_index("p", name))


def reactions(run: Run) -> Floats:
    """(times, joints and loops, 6): moment and force on each joint's child, world axes."""
    model = model_of(run.mechanism)
    last = run.tau if model.names.constraints else run.qdd
    clock = [run.t] if model.names.in_time else []
    found: Floats = model.reactions(run.q, run.qd, last, *clock)
    return found


def _reactions(run: Run) -> list[Panel]:
    r, model = reactions(run), model_of(run.mechanism)
    names = [*model.joint_names, *model.loop_names]
    found = []
    for quantity, unit, part in (("force", "N", r[..., 3:]), ("moment", "N·m", r[..., :3])):
        sizes = np.linalg.norm(part, axis=-1)
        lines = tuple(Line(n, symbol(n), sizes[:, k]) for k, n in enumerate(names))
        found.append(Panel(f"reaction {quantity}", unit, lines))
    return found


def _of_centres(word: str, unit: str, head: str, pick: Callable[[Motions], Floats]) -> Any:
    def found(run: Run) -> list[Panel]:
        motions = Motions.of(model_of(run.mechanism), run.q, run.qd, run.qdd)
        values = pick(motions)
        size = np.abs(values).max(initial=0.0)
        moving = [k for k in range(3) if np.abs(values[..., k]).max() > 1e-9 * size]
        return [
            Panel(f"${head}_{'xyz'[k]}$ of mass centres" if head != "x" else
                  f"{'xyz'[k]} of mass centres", unit,
                  tuple(Line(n, symbol(n), values[:, b, k]) for b, n in enumerate(motions.names)))
            for k in moving or range(3)
        ]  # fmt: skip

    return found


def _body_energy(run: Run) -> list[Panel]:
    motions = Motions.of(model_of(run.mechanism), run.q, run.qd, run.qdd)
    return [
        Panel(f"{word} energy", "J",
              tuple(Line(n, symbol(n), values[:, b]) for b, n in enumerate(motions.names)))
        for word, values in (("kinetic", motions.kinetic), ("potential", motions.potential))
    ]  # fmt: skip


def _closure(run: Run) -> list[Panel]:
    return [Panel("closure error", "m or rad", (Line("closure", "closure", run.closure),))]


HISTORIES: dict[str, Callable[[Any], list[Panel]]] = {
    "q": _coordinates,
    "qd": _speeds,
    "qdd": _accelerations,
    "tau": _drives,
    "energy": _energy,
    "work": _work,
    "power": _power,
    "momentum": _momentum,
    "momenta": _momenta,
    "reactions": _reactions,
    "centers": _of_centres("position", "m", "x", lambda m: m.center),
    "center_velocities": _of_centres("velocity", "m/s", "v", lambda m: m.velocity),
    "center_accelerations": _of_centres("acceleration", "m/s²", "a", lambda m: m.acceleration),
    "body_energy": _body_energy,
    "closure": _closure,
}
"""What can be drawn of every run; beside these, whatever `run.data` holds."""


def _from_data(run: Run, name: str) -> list[Panel]:
    """Anything with a time axis in the run's data set."""
    values = run.data[name]
    if "time" not in values.dims:
        raise LinkwrightError(f"'{name}' does not change in time", where=run.mechanism.name)
    unit, word = str(values.attrs.get("units", "")), name.replace("_", " ")
    array = np.asarray(values.transpose("time", ...).to_numpy(), dtype=float)
    if array.ndim == 1:
        return [Panel(word, unit, (Line(name, word, array),))]
    flat = array.reshape(len(array), -1)
    heads = [str(x) for x in values[values.dims[1]].to_numpy()] if array.ndim == 2 else []
    heads = heads or [str(k) for k in range(flat.shape[1])]
    return [Panel(word, unit, tuple(Line(h, symbol(h), flat[:, k]) for k, h in enumerate(heads)))]
