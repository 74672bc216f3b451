"""What the page tells about motion beyond one run: ranges and singular positions, bearing forces
over a cycle, and linear modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..kinematics.file_pose import tree_starting_pose
from ..kinematics.mechanism_size import tree_length
from ..kinematics.mobility_analysis import mobility
from ..kinematics.tree_builder import build_kinematic_tree
from ..linearization.statics import Equilibrium, equilibrium
from ..linkages.bearing_loads import BearingForces, bearing_forces
from ..linkages.linkage_analysis import LinkageAnalysis, analyze_linkage
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import coordinate_units, velocity_units
from ..model.model import Model
from ..model.model import compile as compile_model
from ..motion.coordinate_bounds import bounds_of
from ..motion.tool_singularities import singular_positions
from ..simulation.kinematic_motion import Kinematics
from ..simulation.run import FINISHED
from ..types import Floats

_CYCLE_SAMPLES = 181
"""Positions of a cycle: every two degrees of a crank."""

MAX_SHOWN_MODES = 4
"""Modes that are shown as films, lowest frequencies first."""

_RELAXATION_STEPS, _FIRST_PUSH, _SHORTEST_STEP = 200, 0.05, 1e-6
_RESTING_SHARE = 0.2
"""Steps towards an equilibrium; the push that leaves an unstable one, and the step at which the
search ends, rad or m; the share of the first acceleration below which it is near one."""

_MODE_ANGLE, _MODE_SHARE = 0.3, 0.12
"""The largest swing of an angle in a film, rad, and of a slide in sizes of the mechanism: large
enough to be seen, small enough to look like the linear motion."""

_MODE_FRAMES, _MODE_PERIODS = 32, 3
"""Frames of a period, and periods of a film."""


@dataclass(frozen=True)
class PageRanges:
    """Ranges of the coordinates, and sentences on mobility and singular positions.

    `rows` are the name of a coordinate, its range in the file, and that of its motion, as texts;
    `analysis` is that of a linkage with one degree of freedom.
    """

    rows: tuple[tuple[str, str, str], ...]
    sentences: tuple[str, ...]
    analysis: LinkageAnalysis | None = None


@dataclass(frozen=True)
class PageMode:
    """A mode: its frequency, rad/s, its largest parts by name, and its motion over some periods."""

    frequency: float
    parts: tuple[tuple[str, float], ...]
    motion: Kinematics


@dataclass(frozen=True)
class PageModes:
    """The equilibrium, in words, the modes about it, and how many others are not shown."""

    place: str
    kind: str
    modes: tuple[PageMode, ...]
    frequencies: tuple[float, ...]


def find_page_ranges(mechanism: Mechanism) -> PageRanges:
    """The ranges of all coordinates, the mobility and the singular positions."""
    names, bounds = mechanism_names(mechanism), bounds_of(mechanism)
    analysis, sentences = _analyzed_linkage(mechanism)
    reached = None if analysis is None else analysis.motion.q
    rows = []
    for k, (name, unit) in enumerate(zip(names.q, coordinate_units(mechanism), strict=True)):
        stated = range_text(float(bounds.lower[k]), float(bounds.upper[k]), unit)
        moved = "" if reached is None else _reached_text(reached[:, k], unit)
        rows.append((name, stated, moved))
    return PageRanges(tuple(rows), tuple(sentences), analysis)


def _analyzed_linkage(mechanism: Mechanism) -> tuple[LinkageAnalysis | None, list[str]]:
    """The analysis of a planar linkage with one degree of freedom, or None; and sentences on the
    singular positions of any mechanism."""
    if not mechanism_names(mechanism).constraints:
        return None, [_tool_singularities(mechanism)]
    if mobility(mechanism).dof != 1:
        return None, [
            "Ranges and singular positions are searched only for one degree of freedom: with more, "
            "the range of one coordinate depends on the others."
        ]
    try:
        analysis = analyze_linkage(mechanism, samples=_CYCLE_SAMPLES)
    except LinkwrightError as error:
        return None, [f"No sweep of its input: {error.what}."]
    return analysis, [f"{line}." for line in str(analysis).splitlines()[1:]]


def _tool_singularities(mechanism: Mechanism) -> str:
    """A sentence on the singular positions of an arm's tool."""
    try:
        found = singular_positions(mechanism)
    except UnsupportedError as error:
        return f"Singular positions are not listed: {error.what}."
    many = f"{found.directions} direction{'s' * (found.directions != 1)}"
    lines = "; ".join(
        line.removeprefix(f"{found.frame} loses a direction ") for line in found.lines()
    )
    return f"Singular positions of {found.frame}, which moves in {many} ({found.task}): {lines}."


def range_text(lower: float, upper: float, unit: str) -> str:
    """A range in words: -90° … 90°, or "unlimited"."""
    if not (np.isfinite(lower) or np.isfinite(upper)):
        return "unlimited"
    return f"{_value_text(lower, unit)} … {_value_text(upper, unit)}"


def _reached_text(values: Floats, unit: str) -> str:
    """The range that a coordinate goes through."""
    lower, upper = float(values.min()), float(values.max())
    turns = (upper - lower) / (2 * np.pi)
    if unit == "rad" and turns > 1 - 1e-9:
        return "full turns"
    return range_text(lower, upper, unit)


def _value_text(value: float, unit: str) -> str:
    """A value with four digits and its unit, degrees for angles."""
    if not np.isfinite(value):
        return "−∞" if value < 0 else "∞"
    shown = np.degrees(value) if unit == "rad" else value
    sign = "°" if unit == "rad" else f" {unit}" * (unit != "1")
    return f"{round(shown, 9) + 0.0:.4g}{sign}"


def find_page_bearings(mechanism: Mechanism) -> BearingForces | None:
    """The bearing forces of a linkage over a cycle of its input, at one turn a second (a slide at
    one size of the mechanism a second); None if it is not a linkage of one degree of freedom."""
    names = mechanism_names(mechanism)
    if not names.loops or names.nq != names.nv or mobility(mechanism).dof != 1:
        return None
    return bearing_forces(mechanism, speed=2 * np.pi, samples=_CYCLE_SAMPLES)


def find_page_modes(mechanism: Mechanism) -> PageModes | None:
    """The linear modes about the position in which the mechanism comes to rest; None if it does
    not, or if nothing swings there."""
    names = mechanism_names(mechanism)
    rolls = len(names.constraints) > names.position_row_count
    if rolls or names.is_time_dependent:
        return None
    model = compile_model(mechanism, threads=1)
    start = _relax_from_home(model)
    if start is None:
        return None
    try:
        place = equilibrium(mechanism, start)
    except LinkwrightError:
        return None
    chosen = np.flatnonzero(place.frequencies > 0)
    if not len(chosen) or place.kind == "unstable":
        return None
    modes = tuple(_page_mode(model, place, int(k)) for k in chosen[:MAX_SHOWN_MODES])
    units = coordinate_units(mechanism)
    values = (
        f"{name} = {_value_text(float(x), unit)}"
        for name, x, unit in zip(model.names.q, place.q, units, strict=True)
    )
    return PageModes(", ".join(values), place.kind, modes, tuple(place.frequencies.tolist()))


def _relax_from_home(model: Model) -> Floats | None:
    """A configuration of less potential energy, near the one where the mechanism would come to
    rest: steps along its accelerations at rest, which lead down, as far as the energy falls; None
    if it would not."""
    rest, rng = np.zeros(model.nv), np.random.default_rng(0)
    q = _mode_position(model, model.home(), _FIRST_PUSH * rng.uniform(-1, 1, model.nv))
    energy, longest = float(model.potential_energy(q)), _MODE_ANGLE
    first = float(np.abs(model.forward_dynamics(q, rest, rest)).max())
    for _ in range(_RELAXATION_STEPS):
        qdd = model.forward_dynamics(q, rest, rest)
        step = qdd * longest / max(float(np.abs(qdd).max()), 1e-300)
        if not np.isfinite(step).all() or longest < _SHORTEST_STEP:
            break
        moved = _mode_position(model, q, step)
        below = float(model.potential_energy(moved))
        if below < energy:
            q, energy, longest = moved, below, min(1.5 * longest, _MODE_ANGLE)
        else:
            longest /= 3
    left = float(np.abs(model.forward_dynamics(q, rest, rest)).max())
    return q if left < _RESTING_SHARE * max(first, 1.0) else None


def _page_mode(model: Model, place: Equilibrium, k: int) -> PageMode:
    """One mode with its motion over some periods, closed where there are loops."""
    mechanism, shape = model.mechanism, place.modes[:, k]
    tree = build_kinematic_tree(mechanism)
    size = tree_length(tree, tree_starting_pose(tree))
    slides = np.array([unit.startswith("m") for unit in velocity_units(mechanism)])
    reach = np.where(slides, _MODE_SHARE * size, _MODE_ANGLE)
    swing = shape / np.abs(shape / reach).max()
    omega = float(place.frequencies[k])
    phase = np.linspace(0.0, 2 * np.pi, _MODE_FRAMES + 1)
    period = np.array([_mode_position(model, place.q, swing * np.sin(a)) for a in phase])
    q = np.concatenate([period[:-1]] * _MODE_PERIODS + [period[-1:]])
    t = np.arange(len(q), dtype=np.float64) * float(2 * np.pi / omega / _MODE_FRAMES)
    turns = np.outer(np.cos(omega * t), omega * swing)
    largest = float(np.abs(shape).max())
    parts = sorted(zip(model.names.qd, shape.tolist(), strict=True), key=lambda one: -abs(one[1]))
    kept = tuple((name, x / largest) for name, x in parts if abs(x) > 0.02 * largest)
    motion = Kinematics(
        mechanism, t, q, turns, np.zeros_like(turns), np.zeros(len(t)), (), (), FINISHED, {}
    )
    return PageMode(omega, kept, motion)


def _mode_position(model: Model, q: Floats, step: Floats) -> Floats:
    """The configuration after a finite step from q, on the constraints."""
    moved = model.integrate(q, step)
    return np.asarray(model.close(moved) if model.names.constraints else moved)
