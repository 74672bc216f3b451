"""`analyze_linkage`: ratios, mechanical advantage, transmission angle and dead centres of a linkage
over its input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import LinkwrightError, UnsupportedError
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..simulation.kinematic_motion import Kinematics
from ..simulation.singularities import Singularity
from ..types import Floats
from .grashof_rule import LoopClass, loop_classes
from .input_sweeps import InputRange, input_range, sweep_input
from .linkage_histories import linkage_histories
from .planar_linkage import planar_linkage
from .transmission import TransmissionAngles

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

_EQUAL_SHARE = 1e-9
"""Values that differ by less than this share count as equal where the largest is looked for."""


@dataclass(frozen=True, repr=False)
class LinkageAnalysis(NotebookDisplayed):
    """A linkage of one degree of freedom over its input, one row for each position.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    input, output : str
        The input coordinate, and the output link.
    input_unit, output_unit : str
        rad or m: whether they turn or slide.
    motion : Kinematics
        Positions over the input; rates are derivatives with respect to the travel of the input.
    input_values : (n,) array
        The input, rad or m.
    velocity_ratio, acceleration_ratio : (n,) arrays
        h = d(output)/d(input) and its derivative h′ by the input: the output's velocity is h ṡ, its
        acceleration h s̈ + h′ ṡ².
    mechanical_advantage : (n,) array
        Force (torque) of the output over that of the input without losses, 1/h; infinite where the
        output stands still.
    transmission : TransmissionAngles
        The transmission angles, or why there are none.
    range : InputRange or None
        The range of the input, where the sweep covers all of it.
    classes : tuple of LoopClass
        The classes of four-link loops; empty if there are none.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.analyze_linkage(lw.gallery("four-bar"), samples=73)
    >>> found.input, found.output, [one.name for one in found.classes]
    ('theta1', 'rocker', ['crank-rocker'])
    """

    mechanism: Mechanism
    input: str
    output: str
    input_unit: str
    output_unit: str
    motion: Kinematics
    input_values: Floats
    velocity_ratio: Floats
    acceleration_ratio: Floats
    mechanical_advantage: Floats
    transmission: TransmissionAngles
    range: InputRange | None
    classes: tuple[LoopClass, ...]

    @property
    def transmission_angle(self) -> Floats:
        """The transmission angles (n,), rad; if there are none, the error says why."""
        if self.transmission.angles is None:
            raise UnsupportedError(self.transmission.reason, where=self.mechanism.name)
        return self.transmission.angles

    @property
    def dead_centers(self) -> tuple[Singularity, ...]:
        """Dead centres, limit positions and branch points in the range of the input.

        At a dead centre a coordinate stands still, and could not drive the linkage.
        """
        ends = () if self.range is None else self.range.limits
        return (*self.motion.singular, *ends)

    @property
    def coordinate_ratios(self) -> dict[str, Floats]:
        """Velocity ratios dq/d(input) of all coordinates, (n,) each."""
        sign = self._direction
        names = mechanism_names(self.mechanism).qd
        return {name: sign * self.motion.qd[:, k] for k, name in enumerate(names)}

    @property
    def _direction(self) -> float:
        return 1.0 if self.input_values[-1] >= self.input_values[0] else -1.0

    @cached_property
    def data(self) -> xarray.Dataset:
        """All histories with names and units over the input."""
        import xarray

        names = mechanism_names(self.mechanism)
        sign, steps = self._direction, ("input", "coordinate")
        variables: dict[str, object] = {
            "q": (steps, self.motion.q, {"units": "rad or m"}),
            "coordinate_ratio": (steps, sign * self.motion.qd),
            "coordinate_acceleration_ratio": (steps, self.motion.qdd),
            "velocity_ratio": ("input", self.velocity_ratio, {"of": self.output}),
            "acceleration_ratio": ("input", self.acceleration_ratio, {"of": self.output}),
            "mechanical_advantage": ("input", self.mechanical_advantage, {"of": self.output}),
        }
        if self.transmission.angles is not None:
            about = {"units": "rad", "of": self.output}
            variables["transmission_angle"] = ("input", self.transmission.angles, about)
        labels = {
            "input": ("input", self.input_values, {"units": self.input_unit, "name": self.input}),
            "coordinate": list(names.q),
        }
        return xarray.Dataset(variables, labels, {"title": f"linkage {self.mechanism.name}"})

    def summary(self) -> str:
        """Return one line: the linkage, its input and its output."""
        return f"{self.mechanism.name}: {self.input} moves {self.output}"

    def __str__(self) -> str:
        lines = [self.summary(), *map(str, self.classes)]
        lines += [] if self.motion.finished else [self.motion.status]
        lines += [str(self.range)] if self.range is not None else []
        lines += [self._extremes("velocity ratio", self.velocity_ratio)]
        lines += [self._extremes("acceleration ratio", self.acceleration_ratio)]
        gains = np.abs(self.mechanical_advantage)
        least = self._at(_first_largest(-gains))
        lines.append(f"mechanical advantage: at least {gains.min():.6g}, {least}")
        lines.append(self._transmission_line())
        return "\n".join(lines + self._dead_center_lines())

    def _dead_center_lines(self) -> list[str]:
        """One line for each position, with all coordinates that stand still there."""
        groups: dict[tuple[str, str], list[str]] = {}
        for one in self.dead_centers:
            groups.setdefault((one.kind, self._place(one)), []).extend(one.what)
        return [
            f"{kind} of {', '.join(names) or 'the mechanism'} at {place}"
            for (kind, place), names in groups.items()
        ]

    def _extremes(self, what: str, values: Floats) -> str:
        low, high = _first_largest(-values), _first_largest(values)
        return (
            f"{what}: {values[low]:.6g}, {self._at(low)}, to {values[high]:.6g}, {self._at(high)}"
        )

    def _at(self, k: int) -> str:
        return f"at {self.input} = {self._value_text(float(self.input_values[k]))}"

    def _value_text(self, value: float) -> str:
        return f"{np.degrees(value):.6g}°" if self.input_unit == "rad" else f"{value:.6g} m"

    def _place(self, one: Singularity) -> str:
        index = mechanism_names(self.mechanism).q.index(self.input)
        return f"{self.input} = {self._value_text(float(one.q[index]))}"

    def _transmission_line(self) -> str:
        angles = self.transmission.angles
        if angles is None:
            return self.transmission.reason
        low, high = _first_largest(-angles), _first_largest(angles)
        least, most = np.degrees(angles[low]), np.degrees(angles[high])
        if f"{least:.6g}" == f"{most:.6g}":
            return f"transmission angle: {least:.6g}° throughout"
        return (
            f"transmission angle: {least:.6g}°, {self._at(low)}, to {most:.6g}°, {self._at(high)}"
        )

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of ratios and transmission over the input.

        It is written to `path`, if given; `options`: see `show.linkage_figure`.
        """
        figure: Figure = find_convenience("LinkageAnalysis.plot")(self, path=path, **options)
        return figure


def analyze_linkage(
    mechanism: Mechanism,
    input: str | None = None,  # noqa: A002
    output: str | None = None,
    *,
    over: tuple[float, float] | None = None,
    rough: Mapping[str, float] | str | None = None,
    samples: int = 361,
) -> LinkageAnalysis:
    """Return the ratios, mechanical advantage, transmission angle and dead centres of a linkage.

    Parameters
    ----------
    mechanism : Mechanism
        A planar mechanism of one degree of freedom.
    input : str, optional
        The input coordinate (default: the independent one).
    output : str, optional
        The output link: a body (default: the last link that is joined to ground and does not move
        with the input).
    over : (float, float), optional
        The ends of the input's sweep, rad or m (default: all of its range).
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.
    samples : int
        Number of equally spaced positions.

    Returns
    -------
    LinkageAnalysis
        Arrays over the input; printed as text, drawn by `plot`, all of them in `data`.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.analyze_linkage(lw.gallery("four-bar"), samples=73)
    >>> float(found.transmission_angle.min().round(4))
    0.9273
    """
    require_mechanism(mechanism)
    linkage = planar_linkage(mechanism)
    free = None if over is not None else input_range(mechanism, input, rough=rough)
    motion = sweep_input(mechanism, input, over, rough=rough, samples=samples)
    if len(motion.t) < 2:
        raise LinkwrightError(motion.status, where=mechanism.name)
    name = motion.driven[0]
    index = mechanism_names(mechanism).q.index(name)
    found = linkage_histories(linkage, motion, index, output)
    return LinkageAnalysis(
        mechanism,
        name,
        linkage.links[found.output],
        coordinate_units(mechanism)[index],
        found.output_unit,
        motion,
        found.input_values,
        found.velocity_ratio,
        found.acceleration_ratio,
        found.mechanical_advantage,
        found.transmission,
        free,
        _classes(mechanism),
    )


def _classes(mechanism: Mechanism) -> tuple[LoopClass, ...]:
    """The classes of all four-link loops; empty for a mechanism without such loops."""
    try:
        return loop_classes(mechanism)
    except UnsupportedError:
        return ()


def _first_largest(values: Floats) -> int:
    """The first of the positions whose values are the largest, to rounding."""
    finite = np.where(np.isfinite(values), values, -np.inf)
    largest = float(finite.max())
    return int(np.argmax(finite >= largest - _EQUAL_SHARE * abs(largest)))
