"""The range through which an input coordinate can move a linkage, and sweeps over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..kinematics.assembly import assemble
from ..kinematics.file_pose import tree_starting_pose
from ..kinematics.kinematic_tree import GROUND
from ..kinematics.mechanism_size import tree_length
from ..kinematics.mobility_analysis import mobility
from ..kinematics.pose_configurations import read_rough_coordinates
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, mechanism_names, replace_part_fields, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..simulation.kinematic_motion import Kinematics
from ..simulation.kinematic_solver import solve_kinematics
from ..simulation.singularities import Singularity
from ..types import Floats

RANGE_SAMPLES = 91
"""Samples of a sweep that looks for the ends of a range: branch points between two samples that
are 4° apart are found."""

START_SAMPLES = 61
"""Samples of a sweep to where another one starts."""

_LIMIT_MARGIN = 1e-3
"""A sweep over the whole range stays this share of the range away from limit positions, where
ratios are infinite."""

SHORTEST_SWEEP = 1e-9
"""The shortest travel of an input, rad or m: from a configuration to itself."""

PROBE_WAY = 0.01
"""The travel of an input, rad, over which a cycle is tried at its start."""

_SLIDING_REACH = 4.0
"""How far a sliding input is moved in search of its limits, in sizes of the mechanism."""


@dataclass(frozen=True, repr=False)
class InputRange(NotebookDisplayed):
    """The range of an input coordinate on the branch on which a mechanism is assembled.

    Attributes
    ----------
    name, unit : str
        The coordinate, and rad or m.
    lower, upper : float
        The ends of its range, rad or m. For an input that makes full turns they are 0 and 2π; if
        branches meet at 0, the range starts where the mechanism is assembled.
    makes_full_turns : bool
        Whether the input turns without end: it is a crank.
    limits : tuple of Singularity
        The limit (toggle) positions and branch (change) points at which the input cannot go on.
    start : (nq,) array
        The configuration at `lower`, or near it beside a limit; it selects the branch.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.input_range(lw.gallery("four-bar"), "theta3")
    >>> found.makes_full_turns, len(found.limits)
    (False, 2)
    """

    name: str
    unit: str
    lower: float
    upper: float
    makes_full_turns: bool
    limits: tuple[Singularity, ...]
    start: Floats

    def summary(self) -> str:
        """Return one line: whether the input makes full turns, or its range."""
        if self.makes_full_turns:
            return f"{self.name} makes full turns"
        if not self.limits:
            return f"{self.name} has no limit from {self.lower:.6g} to {self.upper:.6g} {self.unit}"
        factor, unit = (180 / np.pi, "°") if self.unit == "rad" else (1.0, " m")
        ends = f"{self.lower * factor:.6g}{unit} to {self.upper * factor:.6g}{unit}"
        kinds = " and ".join(dict.fromkeys(f"{one.kind}s" for one in self.limits))
        return f"{self.name} moves from {ends}, between {kinds}"

    def inner_ends(self) -> tuple[float, float]:
        """Return the ends of a sweep: those of the range, or just inside where these are limits."""
        margin = _LIMIT_MARGIN * (self.upper - self.lower) * bool(self.limits)
        return self.lower + margin, self.upper - margin


def default_input(mechanism: Mechanism) -> str:
    """Return the coordinate that drives a mechanism of one degree of freedom by default: the
    independent one of the file; else, of joints on ground, the first that makes full turns, or
    the first that moves."""
    names = mechanism_names(mechanism)
    free = mobility(mechanism) if names.constraints else None
    count = names.nv if free is None else free.configuration
    if count != 1:
        raise LinkwrightError(
            f"has {count} degrees of freedom, and one input moves only one",
            where=mechanism.name,
            remedy="add a gear, a drive or a constraint, or lock a joint by reduced(lock=…)",
        )
    independent = [name for name in mechanism.independent if name in names.q]
    if independent or free is None:
        return (*independent, *names.q)[0]
    grounded = tuple(_moving_ground_coordinates(mechanism))
    if len(grounded) < 2:
        return (*grounded, *free.independent)[0]
    cranks = (name for name in grounded if _cached_range(mechanism, name, ()).makes_full_turns)
    return next(cranks, grounded[0])


def _moving_ground_coordinates(mechanism: Mechanism) -> Iterator[str]:
    """The coordinates of joints on ground that move in the assembled position."""
    for span in build_kinematic_tree(mechanism, "numeric").joints:
        if span.frame.link == GROUND and span.name in mechanism_names(mechanism).q:
            driven = replace_part_fields(mechanism, independent=(span.name,))
            if mobility(driven).independent == (span.name,):
                yield span.name


def input_range(
    mechanism: Mechanism, name: str | None = None, *, rough: Mapping[str, float] | str | None = None
) -> InputRange:
    """Return the range through which an input coordinate can move a linkage.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism of one degree of freedom.
    name : str, optional
        The input coordinate (default: the independent one).
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.

    Returns
    -------
    InputRange
        The range, with the limit positions at its ends; printed as text.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.linkages.input_range(lw.gallery("four-bar"), "theta1"))
    theta1 makes full turns
    >>> print(lw.linkages.input_range(lw.gallery("four-bar"), "theta3"))
    theta3 moves from 98.2132° to 145.952°, between limits
    """
    name = _checked_input(require_mechanism(mechanism), name)
    guesses = read_rough_coordinates(mechanism, rough)
    return _cached_range(mechanism, name, tuple(sorted(guesses.items())))


@lru_cache(maxsize=32)
def _cached_range(
    mechanism: Mechanism, name: str, rough: tuple[tuple[str, float], ...]
) -> InputRange:
    """The range of an input; the most recent ones are kept."""
    index = mechanism_names(mechanism).q.index(name)
    unit = coordinate_units(mechanism)[index]
    home = assemble(mechanism, dict(rough)) if _has_loops(mechanism) else _home(mechanism)
    here = float(home[index])
    reach = 2 * np.pi if unit == "rad" else _SLIDING_REACH * _size(mechanism)
    forward = _sweep(mechanism, name, (here, here + reach), home, RANGE_SAMPLES)
    if unit == "rad" and forward.finished:
        lower, start = _start_of_cycle(mechanism, name, here, home)
        return InputRange(name, unit, lower, lower + 2 * np.pi, True, (), start)
    backward = _sweep(mechanism, name, (here, here - reach), home, RANGE_SAMPLES)
    limits = tuple(_ends_of_motion(backward) + _ends_of_motion(forward))
    lower, upper = (_end_value(motion, index) for motion in (backward, forward))
    inside = lower + _LIMIT_MARGIN * (upper - lower) * bool(limits)
    start = _sweep(mechanism, name, (here, inside), home, START_SAMPLES).q[-1]
    return InputRange(name, unit, lower, upper, False, limits, start)


def _start_of_cycle(
    mechanism: Mechanism, name: str, here: float, home: Floats
) -> tuple[float, Floats]:
    """Where a cycle begins: at 0, or, where branches meet there, where the mechanism is
    assembled."""
    start = _sweep(mechanism, name, (here, 0.0), home, START_SAMPLES).q[-1] if here else home
    probe = _sweep(mechanism, name, (0.0, PROBE_WAY), start, 3)
    return (0.0, start) if probe.finished else (here, home)


def sweep_input(
    mechanism: Mechanism,
    name: str | None = None,
    over: tuple[float, float] | None = None,
    *,
    rough: Mapping[str, float] | str | None = None,
    samples: int = 361,
) -> Kinematics:
    """Return the motion of a linkage over its input; rates are with respect to its travel.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism of one degree of freedom.
    name : str, optional
        The input coordinate (default: the independent one).
    over : (float, float), optional
        The ends of the sweep, rad or m (default: all of `input_range`, up to just before limits).
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.
    samples : int
        Number of equally spaced positions.

    Returns
    -------
    Kinematics
        The motion, on the branch on which the mechanism is assembled.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.linkages.sweep_input(lw.gallery("four-bar"), samples=5).q[:, 0].round(3)
    array([0.   , 1.571, 3.142, 4.712, 6.283])
    """
    name = _checked_input(require_mechanism(mechanism), name)
    if over is not None:
        return solve_kinematics(mechanism, over=(name, *over), rough=rough, samples=samples)
    free = input_range(mechanism, name, rough=rough)
    motion = _sweep(mechanism, name, free.inner_ends(), free.start, samples)
    if not motion.finished:
        raise LinkwrightError(motion.status, where=mechanism.name)
    return motion


def _checked_input(mechanism: Mechanism, name: str | None) -> str:
    """The name of the input; an error if the mechanism has no such coordinate, or not one DOF."""
    chosen = default_input(mechanism)
    if name is None:
        return chosen
    known = mechanism_names(mechanism).q
    if name not in known:
        raise NameNotFoundError(
            f"{mechanism.name} has no coordinate '{name}'", remedy=suggest_remedy(name, list(known))
        )
    return name


def _sweep(
    mechanism: Mechanism, name: str, over: tuple[float, float], near: Floats, samples: int
) -> Kinematics:
    """The motion from one value of the input to another, on the branch of a configuration."""
    if abs(over[1] - over[0]) < SHORTEST_SWEEP:
        over = (over[0], over[0] + SHORTEST_SWEEP)
    return _cached_sweep(mechanism, name, over, tuple(near.tolist()), samples)


@lru_cache(maxsize=32)
def _cached_sweep(
    mechanism: Mechanism,
    name: str,
    over: tuple[float, float],
    near: tuple[float, ...],
    samples: int,
) -> Kinematics:
    """A motion over the input; the most recent ones are kept."""
    guess = dict(zip(mechanism_names(mechanism).q, near, strict=True))
    return solve_kinematics(mechanism, over=(name, *over), rough=guess, samples=samples)


def _ends_of_motion(motion: Kinematics) -> list[Singularity]:
    """The position at which a motion could not go on, if any."""
    return [] if motion.finished else [motion.singular[-1]]


def _end_value(motion: Kinematics, index: int) -> float:
    """The value of the input where a motion ends."""
    end = motion.q[-1] if motion.finished else motion.singular[-1].q
    return float(end[index])


def _has_loops(mechanism: Mechanism) -> bool:
    return bool(mechanism_names(mechanism).constraints)


def _home(mechanism: Mechanism) -> Floats:
    return tree_starting_pose(build_kinematic_tree(mechanism))


def _size(mechanism: Mechanism) -> float:
    tree = build_kinematic_tree(mechanism)
    return tree_length(tree, tree_starting_pose(tree))
