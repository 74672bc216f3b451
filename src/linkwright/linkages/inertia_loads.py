"""Shaking force and shaking moment: the inertia loads of the moving bodies on the frame.

The shaking force is −Σ m a, the negative rate of the momentum; the shaking moment about a point O
is the negative rate of the angular momentum about O. They do not contain weight and other loads,
which the frame carries in addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import UnsupportedError
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import compile as compile_model
from ..number_checks import check_number, check_vector
from ..simulation.body_motions import BodyMotions
from ..simulation.kinematic_motion import Kinematics
from ..simulation.run import Run
from ..types import Floats
from .input_sweeps import input_range, sweep_input

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class ShakingForces(NotebookDisplayed):
    """Shaking force and moment over a motion, one row for each time, world axes.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    t : (n,) array
        Times, s, or the travel of the input if it moves at constant speed.
    t_label, t_unit : str
        What `t` is, and its unit.
    force, moment : (n, 3) arrays
        Shaking force, N, and shaking moment about `about`, N m, on the frame.
    about : (3,) array
        The point of the moments, m.
    mass : float
        The mass of all moving bodies, kg.

    Examples
    --------
    >>> import linkwright as lw
    >>> shaking = lw.linkages.shaking_forces(lw.gallery("four-bar"), samples=37)
    >>> shaking.force.shape, shaking.t_unit
    ((37, 3), 'rad')
    """

    mechanism: Mechanism
    t: Floats
    t_label: str
    t_unit: str
    force: Floats
    moment: Floats
    about: Floats
    mass: float

    @property
    def largest_force(self) -> float:
        """The largest size of the shaking force, N."""
        return float(np.linalg.norm(self.force, axis=1).max())

    @property
    def largest_moment(self) -> float:
        """The largest size of the shaking moment, N m."""
        return float(np.linalg.norm(self.moment, axis=1).max())

    @cached_property
    def data(self) -> xarray.Dataset:
        """Force and moment with names and units."""
        import xarray

        variables = {
            "shaking_force": (("time", "axis"), self.force, {"units": "N"}),
            "shaking_moment": (("time", "axis"), self.moment, {"units": "N m"}),
        }
        clock = ("time", self.t, {"units": self.t_unit, "long_name": self.t_label})
        labels = {"time": clock, "axis": ["x", "y", "z"]}
        return xarray.Dataset(variables, labels, {"about": self.about.tolist()})

    def summary(self) -> str:
        """Return one line: the largest shaking force and moment."""
        about = ", ".join(f"{x:.6g}" for x in self.about)
        return (
            f"{self.mechanism.name}: shaking force up to {self.largest_force:.6g} N, shaking "
            f"moment up to {self.largest_moment:.6g} N m about ({about}) m"
        )

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of force and moment.

        It is written to `path`, if given; `options`: see `show.shaking_figure`.
        """
        figure: Figure = find_convenience("ShakingForces.plot")(self, path=path, **options)
        return figure


def shaking_forces(
    mechanism: Mechanism,
    motion: Kinematics | Run | None = None,
    *,
    input: str | None = None,  # noqa: A002
    speed: float = 1.0,
    about: ArrayLike = (0.0, 0.0, 0.0),
    rough: Mapping[str, float] | str | None = None,
    samples: int = 361,
) -> ShakingForces:
    """Return the shaking force and moment of a mechanism over a motion, or over a cycle.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism, planar or spatial.
    motion : Kinematics or Run, optional
        A motion (default: a cycle of the input at constant speed).
    input : str, optional
        The input of the cycle (default: the independent coordinate).
    speed : float
        The constant rate of the input in the cycle, rad/s or m/s.
    about : (3,) array
        The point of the moments, m.
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.
    samples : int
        Number of positions of the cycle.

    Returns
    -------
    ShakingForces
        Force and moment on the frame; printed as text, drawn by `plot`.

    Notes
    -----
    Inertia of rotors behind gears (`motor`) is not included: their axes are unknown.

    Examples
    --------
    >>> import linkwright as lw
    >>> shaking = lw.linkages.shaking_forces(lw.gallery("slider-crank"), speed=100.0)
    >>> round(shaking.largest_force, 1)
    5838.0
    """
    require_mechanism(mechanism)
    center = check_vector(about, 3, "about")
    rate = check_number(speed, "speed")
    label, unit = "time", "s"
    if motion is None:
        require_input_cycle(mechanism, input, rough)
        motion = sweep_input(mechanism, input, rough=rough, samples=samples)
        qd, qdd = rate * motion.qd, rate**2 * motion.qdd
        index = mechanism_names(mechanism).q.index(motion.driven[0])
        t, label, unit = motion.q[:, index], motion.driven[0], coordinate_units(mechanism)[index]
    else:
        qd, qdd, t = motion.qd, motion.qdd, motion.t
    bodies = body_motions(motion, qd, qdd)
    force, moment = resultant_inertia_forces(bodies, center)
    return ShakingForces(
        mechanism, t, label, unit, force, moment, center, float(bodies.masses.sum())
    )


def require_input_cycle(
    mechanism: Mechanism, name: str | None, rough: Mapping[str, float] | str | None
) -> None:
    """Raise an error where the input runs into limits: at constant speed, forces are infinite
    there."""
    free = input_range(mechanism, name, rough=rough)
    if free.limits:
        raise UnsupportedError(
            f"{free}, where a constant speed needs infinite forces",
            where=mechanism.name,
            remedy="give a motion from solve_kinematics or simulate",
        )


def body_motions(motion: Kinematics | Run, qd: Floats, qdd: Floats) -> BodyMotions:
    """Return the motions of all bodies at the positions of a motion, with other rates."""
    model = compile_model(motion.mechanism, threads=1)
    return BodyMotions.from_model(model, motion.t, motion.q, qd, qdd)


def resultant_inertia_forces(bodies: BodyMotions, about: Floats) -> tuple[Floats, Floats]:
    """Return the resultant −Σ m a and moment of the inertia forces, (times, 3) each."""
    omega, alpha = bodies.twists[..., :3], bodies.twist_rates[..., :3]
    inertia = bodies.world_inertia
    single = bodies.masses[:, None] * bodies.center_acceleration
    spin = np.einsum("...ij,...j->...i", inertia, alpha) + np.cross(
        omega, np.einsum("...ij,...j->...i", inertia, omega)
    )
    arms = bodies.center_of_mass - about
    moment = np.cross(arms, single) + spin
    return -single.sum(axis=-2), -moment.sum(axis=-2)
