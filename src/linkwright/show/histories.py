"""Histories of a run as panels: which lines each quantity has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import ANGLE_OR_LENGTH, coordinate_units, velocity_units
from ..model.model import Model
from ..model.model import compile as compiled
from ..simulation.body_motions import BodyMotions
from ..types import Floats
from .label_text import indexed_label, plain_label, symbol_label
from .panels import (
    ANGLE_UNIT,
    LENGTH_UNIT,
    NUMBER_UNIT,
    HistoryLine,
    Panel,
    apply_panel_options,
    figure_panels_by_unit,
    select_panel_lines,
)

if TYPE_CHECKING:
    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run


ROUNDING_SHARE = 1e-9
"""Values below this share of their scale count as zero."""


@lru_cache(maxsize=8)
def drawing_model(mechanism: Mechanism) -> Model:
    """The compiled model of a mechanism, for quantities that a picture needs."""
    return compiled(mechanism, threads=1)


def history_panels(
    run: Run | Kinematics, name: str, degrees: bool = False, only: Sequence[str] = ()
) -> list[Panel]:
    """The panels of a quantity of a run, with all lines or those named in `only`."""
    if name in HISTORY_PANELS:
        _require_forces(run, name)
        found = HISTORY_PANELS[name](run)
    elif name in run.data.data_vars:
        found = _data_panels(run, name)
    else:
        raise _unknown_history_error(name, map(str, run.data.data_vars), run.mechanism.name)
    return apply_panel_options(found, degrees, only)


def _require_forces(run: Run | Kinematics, name: str) -> None:
    """Refuses histories of forces and energies of a motion without forces."""
    if name not in MOTION_HISTORIES and not hasattr(run, "tau"):
        raise LinkwrightError(
            f"a motion of solve_kinematics has no '{name}': it has no forces",
            where=run.mechanism.name,
            remedy="use solve_inverse, which finds the forces of the motion",
        )


def plan_history_panels(
    course: object, name: str, degrees: bool = False, only: Sequence[str] = ()
) -> list[Panel]:
    """The panels of q, qd, qdd or tau of a plan, with all lines or those named in `only`."""
    return apply_panel_options(HISTORY_PANELS[name](course), degrees, only)


def check_history_name(name: str) -> None:
    """Refuses the name of a history that no run can have."""
    if (
        name not in HISTORY_PANELS
        and name not in RUN_DATA_NAMES
        and not name.startswith("control_")
    ):
        raise _unknown_history_error(name, RUN_DATA_NAMES)


def _unknown_history_error(name: str, data: Iterable[str], where: str = "") -> NameNotFoundError:
    """The error for a history that a run does not have."""
    known = list(dict.fromkeys([*HISTORY_PANELS, *data]))
    return NameNotFoundError(
        f"a run has no '{name}' to draw", where=where, remedy=suggest_remedy(name, known)
    )


def _coordinate_panels(run: Run) -> list[Panel]:
    """Panels of the coordinates: angles, displacements, quaternions."""
    names = mechanism_names(run.mechanism).q
    words = {
        ANGLE_UNIT: ("angle", "rad"),
        LENGTH_UNIT: ("displacement", "m"),
        NUMBER_UNIT: ("quaternion", "1"),
        ANGLE_OR_LENGTH: ("coordinate", ANGLE_OR_LENGTH),
    }
    labels = [symbol_label(name) for name in names]
    return figure_panels_by_unit(names, labels, coordinate_units(run.mechanism), run.q, words)


def _panels_per_velocity(
    run: Run,
    values: Floats,
    turning: tuple[str, str],
    sliding: tuple[str, str],
    label: Callable[[str], str],
) -> list[Panel]:
    """Panels of values (times, nv) that belong to generalized velocities: of those that turn and
    that slide."""
    names = mechanism_names(run.mechanism).qd
    labels = [label(name) for name in names]
    either = f"{turning[0]} or {sliding[0]}", f"{turning[1]} or {sliding[1]}"
    words = {ANGLE_UNIT: turning, LENGTH_UNIT: sliding, ANGLE_OR_LENGTH: either}
    return figure_panels_by_unit(names, labels, velocity_units(run.mechanism), values, words)


def _velocity_panels(run: Run) -> list[Panel]:
    """Panels of the generalized velocities."""
    words = ("angular velocity", "rad/s"), ("velocity", "m/s")
    return _panels_per_velocity(run, run.qd, *words, lambda name: _rate_line_label(run, name, 1))


def _acceleration_panels(run: Run) -> list[Panel]:
    """Panels of the generalized accelerations."""
    words = ("angular acceleration", "rad/s²"), ("acceleration", "m/s²")
    return _panels_per_velocity(run, run.qdd, *words, lambda name: _rate_line_label(run, name, 2))


def _rate_line_label(run: Run, name: str, times: int) -> str:
    """The label of a coordinate with dots; a velocity that is not the rate of a coordinate keeps
    its name."""
    if name in mechanism_names(run.mechanism).q:
        return symbol_label(name, times)
    return symbol_label(name) if times == 1 else f"d {symbol_label(name)}/dt"


def _effort_panels(run: Run) -> list[Panel]:
    """Panels of generalized forces; with actuators, only the lines that these move."""
    words = ("torque", "N·m"), ("force", "N")
    found = _panels_per_velocity(run, run.tau, *words, lambda name: indexed_label(r"\tau", name))
    names = mechanism_names(run.mechanism)
    largest = np.abs(run.tau).max(axis=0, initial=0.0)
    moved = [n for n, x in zip(names.qd, largest, strict=True) if x > 1e-12 * largest.max()]
    return select_panel_lines(found, moved) if names.actuators and moved else found


def _energy_panels(run: Run) -> list[Panel]:
    """A panel of kinetic, potential and total energy."""
    lines = (
        HistoryLine("kinetic", "kinetic", run.kinetic),
        HistoryLine("potential", "potential", run.potential),
        HistoryLine("total", "total", run.energy, dashed=True),
    )
    return [Panel("energy", "J", lines)]


def _power_panels(run: Run) -> list[Panel]:
    """A panel of the power of each actuator, and of all together."""
    names, each = mechanism_names(run.mechanism).qd, run.power
    labels = [indexed_label("P", name) for name in names]
    lines = [
        HistoryLine(n, lb, each[:, k]) for k, (n, lb) in enumerate(zip(names, labels, strict=True))
    ]
    if len(lines) > 1:
        lines.append(HistoryLine("all actuators", "all actuators", each.sum(axis=1), dashed=True))
    return [Panel("power of actuators", "W", tuple(lines))]


def _work_panels(run: Run) -> list[Panel]:
    """A panel of the work of nonconservative forces, beside the change of energy."""
    parts = {"inputs": run.work_inputs, "given forces": run.work_given, "losses": run.work_losses}
    size = max(float(np.abs(values).max()) for values in parts.values())
    lines = [HistoryLine(n, n, v) for n, v in parts.items() if np.abs(v).max() > 1e-9 * size]
    lines = [HistoryLine("work", "all work", run.work), *lines] if len(lines) != 1 else lines
    change = HistoryLine("energy", "change of energy", run.energy - run.energy[0], dashed=True)
    scale = max(float(np.abs(run.kinetic).max()), float(np.ptp(run.potential)))
    return [Panel("work", "J", (*lines, change), scale)]


def _momentum_panels(run: Run) -> list[Panel]:
    """Panels of the linear and angular momentum of the whole mechanism, world axes."""
    h = run.details.momentum
    linear_scale, angular_scale = _momentum_axis_scales(run)
    angular = _component_history_lines("L", h[:, :3], angular_scale)
    linear = _component_history_lines("p", h[:, 3:], linear_scale)
    return [
        Panel("linear momentum", "kg·m/s", linear, linear_scale),
        Panel("angular momentum", "kg·m²/s", angular, angular_scale),
    ]


def _momentum_axis_scales(run: Run) -> tuple[float, float]:
    """The scales of linear and angular momentum below which values are rounding errors: what single
    bodies have."""
    model = drawing_model(run.mechanism)
    motions = BodyMotions.from_model(model, run.t, run.q, run.qd, run.qdd)
    mass = sum(solid.mass for solid in motions.bodies)
    apart, between = (
        float(np.ptp(x, axis=1).max()) for x in (motions.center_of_mass, motions.center_velocity)
    )
    return mass * float(np.abs(motions.center_velocity).max()), mass * apart * between


def _component_history_lines(head: str, values: Floats, scale: float) -> tuple[HistoryLine, ...]:
    """The lines of x, y and z, without components that are always zero (all if all are)."""
    size = max(np.abs(values).max(initial=0.0), scale)
    kept = [k for k in range(3) if np.abs(values[:, k]).max(initial=0.0) > ROUNDING_SHARE * size]
    return tuple(
        HistoryLine("xyz"[k], f"${head}_{'xyz'[k]}$", values[:, k]) for k in kept or range(3)
    )


def _conjugate_momentum_panels(run: Run) -> list[Panel]:
    """Panels of p = M q̇, conjugate to the coordinates."""
    words = ("momentum", "kg·m²/s"), ("momentum", "kg·m/s")
    return _panels_per_velocity(run, run.momenta, *words, lambda name: indexed_label("p", name))


def _reaction_panels(run: Run) -> list[Panel]:
    """Panels of the magnitudes of reaction forces and moments of joints and loops."""
    r, known = run.reactions, mechanism_names(run.mechanism)
    names = [*known.joints, *known.loops]
    found = []
    for quantity, unit, part in (("force", "N", r[..., 3:]), ("moment", "N·m", r[..., :3])):
        sizes = np.linalg.norm(part, axis=-1)
        lines = tuple(HistoryLine(n, symbol_label(n), sizes[:, k]) for k, n in enumerate(names))
        found.append(Panel(f"reaction {quantity}", unit, lines))
    return found


def _center_of_mass_panels(
    unit: str, head: str, pick: Callable[[BodyMotions], Floats]
) -> Callable[[Run], list[Panel]]:
    """A function that makes the panels of a quantity of all centres of mass, one for each
    component."""

    def found(run: Run) -> list[Panel]:
        model = drawing_model(run.mechanism)
        motions = BodyMotions.from_model(model, run.t, run.q, run.qd, run.qdd)
        values = pick(motions)
        size = np.abs(values).max(initial=0.0)
        moving = [k for k in range(3) if np.abs(values[..., k]).max() > 1e-9 * size]
        return [
            Panel(
                f"${head}_{'xyz'[k]}$ of centres of mass"
                if head != "x"
                else f"{'xyz'[k]} of centres of mass",
                unit,
                tuple(
                    HistoryLine(n, symbol_label(n), values[:, b, k])
                    for b, n in enumerate(motions.body_names)
                ),
            )
            for k in moving or range(3)
        ]

    return found


def _body_energy_panels(run: Run) -> list[Panel]:
    """Panels of the kinetic and potential energies of the bodies."""
    return [
        Panel(
            f"{word} energy",
            "J",
            tuple(HistoryLine(n, symbol_label(n), v) for n, v in named.items()),
        )
        for word, named in (("kinetic", run.details.kinetic), ("potential", run.details.weight))
    ]


def _closure_panels(run: Run) -> list[Panel]:
    """A panel of the largest residual of loops and constraints."""
    return [Panel("closure error", "m or rad", (HistoryLine("closure", "closure", run.closure),))]


HISTORY_PANELS: dict[str, Callable[[Any], list[Panel]]] = {
    "q": _coordinate_panels,
    "qd": _velocity_panels,
    "qdd": _acceleration_panels,
    "tau": _effort_panels,
    "energy": _energy_panels,
    "work": _work_panels,
    "power": _power_panels,
    "momentum": _momentum_panels,
    "momenta": _conjugate_momentum_panels,
    "reactions": _reaction_panels,
    "centers": _center_of_mass_panels("m", "x", lambda m: m.center_of_mass),
    "center_velocities": _center_of_mass_panels("m/s", "v", lambda m: m.center_velocity),
    "center_accelerations": _center_of_mass_panels("m/s²", "a", lambda m: m.center_acceleration),
    "body_energy": _body_energy_panels,
    "closure": _closure_panels,
}
"""The histories of every run; beside these, whatever `run.data` holds."""
MOTION_HISTORIES = (
    "q", "qd", "qdd", "centers", "center_velocities", "center_accelerations", "closure",
)  # fmt: skip
"""The histories that need no forces: those of a driven motion."""
RUN_DATA_NAMES = (
    "q",
    "qd",
    "qdd",
    "tau",
    "push",
    "u",
    "kinetic_energy",
    "potential_energy",
    "energy",
    "work",
    "work_inputs",
    "work_given",
    "work_losses",
    "energy_error",
    "closure_error",
    "kinetic_energy_of_bodies",
    "potential_energy_of_bodies",
    "kinetic_energy_of_motors",
    "potential_energy_of_springs",
    "mass_centers",
    "frame_positions",
    "momenta",
    "center_of_mass",
    "angular_momentum",
    "linear_momentum",
    "reactions",
    "multipliers",
)
"""The names that `run.data` can hold, beside the states of a controller."""


def _data_panels(run: Run | Kinematics, name: str) -> list[Panel]:
    """Panels of a variable of the run's data set that has a time axis."""
    values = run.data[name]
    if "time" not in values.dims:
        raise LinkwrightError(f"'{name}' does not change in time", where=run.mechanism.name)
    unit, word = str(values.attrs.get("units", "")), plain_label(name.replace("_", " "))
    array = np.asarray(values.transpose("time", ...).to_numpy(), dtype=float)
    if array.ndim == 1:
        return [Panel(word, unit, (HistoryLine(name, word, array),))]
    labels = [[str(x) for x in run.data[d].to_numpy()] for d in values.dims if d != "time"]
    heads = [" ".join(each) for each in product(*labels)]
    flat = array.reshape(len(array), -1)
    lines = [HistoryLine(h, symbol_label(h), flat[:, k]) for k, h in enumerate(heads)]
    each = values.attrs.get("units_of_each")
    units = [str(u) for u in run.data[each].to_numpy()] if each else [unit] * len(lines)
    return [
        Panel(word, u, tuple(line for line, own in zip(lines, units, strict=True) if own == u))
        for u in dict.fromkeys(units)
    ]
