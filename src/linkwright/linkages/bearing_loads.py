"""Bearing forces: what the joints of a linkage carry over a cycle of its input.

At constant speed of the input all forces follow from the motion: those of inertia, weight, springs
and other loads of the file, and the effort that keeps the input at its speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed, NotebookTable
from ..errors import UnsupportedError
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import compile as compile_model
from ..number_checks import check_number
from ..types import Floats
from .inertia_loads import require_input_cycle
from .input_sweeps import sweep_input

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class BearingForces(NotebookDisplayed):
    """Forces in the joints and loops of a linkage over a cycle, one row for each position.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    input, input_unit : str
        The input coordinate; rad or m.
    speed : float
        The constant rate of the input, rad/s or m/s.
    input_values : (n,) array
        The input, rad or m.
    names : tuple of str
        The joints, then the loops.
    force, moment : (n, names, 3) arrays
        The wrench of the parent on the child, at the joint's origin, world axes, N and N m.
    effort : (n,) array
        The effort of the input that keeps its speed, N m or N.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.bearing_forces(lw.gallery("four-bar"), speed=10.0, samples=73)
    >>> found.names, found.effort.shape
    (('q1', 'q2', 'q3', 'pin'), (73,))
    """

    mechanism: Mechanism
    input: str
    input_unit: str
    speed: float
    input_values: Floats
    names: tuple[str, ...]
    force: Floats
    moment: Floats
    effort: Floats

    @property
    def sizes(self) -> Floats:
        """The magnitudes of the forces, (n, names), N."""
        return np.asarray(np.linalg.norm(self.force, axis=-1))

    @property
    def largest_force(self) -> dict[str, float]:
        """The largest force of each joint and loop over the cycle, N."""
        return dict(zip(self.names, self.sizes.max(axis=0).tolist(), strict=True))

    @cached_property
    def data(self) -> xarray.Dataset:
        """Forces, moments and the effort with names and units over the input."""
        import xarray

        steps = ("input", "joint", "axis")
        about = "what the parent does to the child, at the joint's origin, world axes"
        variables = {
            "bearing_force": (steps, self.force, {"units": "N", "what": about}),
            "bearing_moment": (steps, self.moment, {"units": "N m", "what": about}),
            "effort": ("input", self.effort, {"units": "N m" if self._turns else "N"}),
        }
        along = ("input", self.input_values, {"units": self.input_unit, "name": self.input})
        labels = {"input": along, "joint": list(self.names), "axis": ["x", "y", "z"]}
        return xarray.Dataset(variables, labels, {"title": f"bearings of {self.mechanism.name}"})

    @property
    def _turns(self) -> bool:
        return self.input_unit == "rad"

    def place_text(self, position: int) -> str:
        """Return the input at the row `position` in words: theta1 = 90°."""
        value = float(self.input_values[position])
        shown = f"{np.degrees(value):.4g}°" if self._turns else f"{value:.4g} m"
        return f"{self.input} = {shown}"

    def summary(self) -> str:
        """Return one line: the speed, and the bearing with the largest force."""
        sizes = self.sizes
        row, column = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        unit = "rad/s" if self._turns else "m/s"
        return (
            f"{self.mechanism.name}, {self.input} at {self.speed:g} {unit}: up to "
            f"{sizes.max():.6g} N in {self.names[column]}, at {self.place_text(int(row))}"
        )

    def largest_rows(self) -> list[tuple[str, float, str]]:
        """Return the largest force of each joint and loop, N, and the input there."""
        at = self.sizes.argmax(axis=0)
        return [
            (name, float(self.sizes[at[k], k]), self.place_text(int(at[k])))
            for k, name in enumerate(self.names)
        ]

    def notebook_table(self) -> NotebookTable:
        """Return the largest force of each joint and loop."""
        return NotebookTable(("joint", "largest force (N)", "at"), self.largest_rows())

    def __str__(self) -> str:
        rows = [f"{name}: {size:.6g} N at {place}" for name, size, place in self.largest_rows()]
        return "\n".join([self.summary(), *rows])

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of the forces over the cycle, and their polar diagram.

        It is written to `path`, if given; `options`: see `show.bearing_figure`.
        """
        figure: Figure = find_convenience("BearingForces.plot")(self, path=path, **options)
        return figure


def bearing_forces(
    mechanism: Mechanism,
    input: str | None = None,  # noqa: A002
    *,
    speed: float = 1.0,
    rough: Mapping[str, float] | str | None = None,
    samples: int = 361,
) -> BearingForces:
    """Return the forces in all joints of a linkage over a cycle of its input at constant speed.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism of one degree of freedom, planar or spatial, whose input makes full turns.
    input : str, optional
        The input coordinate (default: the independent one).
    speed : float
        The constant rate of the input, rad/s or m/s.
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.
    samples : int
        Number of equally spaced positions.

    Returns
    -------
    BearingForces
        Forces, moments and the effort of the input; printed as text, drawn by `plot`.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.bearing_forces(lw.gallery("four-bar"), speed=10.0, samples=73)
    >>> found.force.shape
    (73, 4, 3)
    """
    require_mechanism(mechanism)
    rate = check_number(speed, "speed")
    _require_steady_linkage(mechanism)
    require_input_cycle(mechanism, input, rough)
    motion = sweep_input(mechanism, input, rough=rough, samples=samples)
    names, model = mechanism_names(mechanism), compile_model(mechanism, threads=1)
    index = names.q.index(motion.driven[0])
    values = motion.q[:, index]
    q, qd, qdd = motion.q, rate * motion.qd, rate**2 * motion.qdd
    sign = 1.0 if values[-1] >= values[0] else -1.0
    needed = model.required_forces if names.constraints else model.inverse_dynamics
    effort = sign * (motion.qd * needed(q, qd, qdd)).sum(axis=1)  # by virtual power
    tau = np.zeros_like(qd)
    tau[:, index] = effort
    if names.constraints:
        reactions = model.reactions(q, qd, tau)
    else:
        reactions = model.reactions_of_motion(q, qd, qdd)
    return BearingForces(
        mechanism,
        motion.driven[0],
        coordinate_units(mechanism)[index],
        rate,
        values,
        (*names.joints, *names.loops),
        reactions[..., 3:],
        reactions[..., :3],
        effort,
    )


def _require_steady_linkage(mechanism: Mechanism) -> None:
    """Raise an error where forces depend on time, or where a joint has no rate of its own."""
    names = mechanism_names(mechanism)
    if names.is_time_dependent:
        raise UnsupportedError(
            "its forces depend on time, and a cycle has none",
            where=mechanism.name,
            remedy="use solve_inverse, whose run has reactions",
        )
    if names.nq != names.nv:
        raise UnsupportedError(
            "a joint is described by a quaternion, which cannot be the input",
            where=mechanism.name,
            remedy='give the joint rotation = "cardan", or use solve_inverse',
        )
