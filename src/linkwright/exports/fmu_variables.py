"""The variables of an FMU: states, rates, inputs, parameters, outputs and event indicators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..mechanism import Mechanism
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..simulation.exported_motion import ExportedMotion
from ..tape import Tape
from ..types import Floats

FORCE_UNITS = {"rad": "N.m", "m": "N"}

_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class FmuVariable:
    """A variable of the model description; `derivative_of` is the value reference of a state."""

    name: str
    reference: int
    causality: str
    description: str
    unit: str | None = None
    variability: str = "continuous"
    start: float | None = None
    derivative_of: int | None = None


class FmuVariables:
    """The variables of a motion; value references are in the order of `all`, from 0."""

    def __init__(self, mechanism: Mechanism, motion: ExportedMotion, start: Floats) -> None:
        self.mechanism, self.motion, self.start = mechanism, motion, start
        self.frames = list(mechanism.frames) or list(motion.equations.names.bodies)

    @cached_property
    def state_names(self) -> list[str]:
        """The names of coordinates, then of velocities."""
        names = self.motion.equations.names
        return [*names.q, *(f"d{name}" for name in names.qd)]

    @cached_property
    def _state_units(self) -> list[str]:
        rates = [UNITS_OF_RATES["qd"][unit] for unit in velocity_units(self.mechanism)]
        return [*coordinate_units(self.mechanism), *rates]

    @cached_property
    def outputs(self) -> Tape:
        """The tape of the outputs: placements of frames, then energies."""
        frames = [("placement", frame) for frame in self.frames]
        return self.motion.record_outputs([*frames, ("kinetic_energy",), ("potential_energy",)])

    @cached_property
    def output_names(self) -> list[tuple[str, str, str | None]]:
        """The name, description and unit of each number of the outputs' tape."""
        found: list[tuple[str, str, str | None]] = []
        for frame in self.frames:
            for row, axis in enumerate(_AXES):
                for column in range(3):
                    entry = f"{row + 1},{column + 1}"
                    words = f"entry {entry} of the rotation matrix of {frame}, world axes"
                    found.append((f"{frame}.R[{entry}]", words, None))
                found.append(
                    (f"{frame}.{axis}", f"{axis} of the origin of {frame}, world axes", "m")
                )
        found.append(("kinetic_energy", "kinetic energy of bodies and rotors", "J"))
        found.append(("potential_energy", "potential energy of weight and springs", "J"))
        return found

    @cached_property
    def all(self) -> list[FmuVariable]:
        """All variables, in the order of their value references."""
        found = [FmuVariable("time", 0, "independent", "time", "s")]
        self._add_states(found)
        self._add_inputs(found)
        values = self.motion.nominal_p[len(self.motion.input_names) :].tolist()
        for name, value in zip(self.motion.parameters, values, strict=False):
            found.append(
                FmuVariable(
                    name,
                    len(found),
                    "parameter",
                    "parameter of the mechanism, SI units",
                    variability="tunable",
                    start=value,
                )
            )
        for name, words, unit in self.output_names:
            found.append(FmuVariable(name, len(found), "output", words, unit))
        for k, name in enumerate(self.motion.rows.names):
            words = "gap of the stop or contact, or its force while it holds the motion"
            label = f"stop {name}"
            if k >= self.motion.rows.stop_count:
                words = "velocity of a slide, or the force that friction can bear in addition"
                label = name
            found.append(FmuVariable(label, len(found), "local", words))
        return _with_unique_names(found)

    def _add_states(self, found: list[FmuVariable]) -> None:
        """Add the states and their rates."""
        units, starts = self._state_units, self.start.tolist()
        for name, unit, start in zip(self.state_names, units, starts, strict=True):
            is_velocity = len(found) > self.motion.equations.nq
            words = "generalized velocity" if is_velocity else "generalized coordinate"
            found.append(FmuVariable(name, len(found), "output", words, _unit(unit), start=start))
        for k, name in enumerate(self.state_names):
            words = f"rate of {name}"
            found.append(
                FmuVariable(f"der({name})", len(found), "local", words, derivative_of=1 + k)
            )

    def _add_inputs(self, found: list[FmuVariable]) -> None:
        """Add the efforts of actuators, or the generalized forces where there are none."""
        has_actuators = bool(self.motion.equations.names.actuators)
        units = [FORCE_UNITS.get(unit) for unit in velocity_units(self.mechanism)]
        for k, name in enumerate(self.motion.input_names):
            words = f"effort of the actuator {name}" if has_actuators else f"force along {name}"
            unit = None if has_actuators else units[k]
            found.append(FmuVariable(f"tau_{name}", len(found), "input", words, unit, start=0.0))

    @property
    def states(self) -> list[FmuVariable]:
        """The states."""
        return self.all[1 : 1 + self.motion.state_count]

    @property
    def rates(self) -> list[FmuVariable]:
        """The rates of the states."""
        return [one for one in self.all if one.derivative_of is not None]

    @property
    def shown(self) -> list[FmuVariable]:
        """The outputs, states included."""
        return [one for one in self.all if one.causality == "output"]

    @property
    def computed(self) -> list[FmuVariable]:
        """Outputs and rates that follow from the states at the start."""
        return [one for one in self.shown if one.start is None] + self.rates

    @property
    def indicators(self) -> list[FmuVariable]:
        """The event indicators."""
        count = len(self.motion.rows)
        return self.all[len(self.all) - count :]


def _unit(unit: str) -> str | None:
    """The unit as the model description writes it; none for numbers."""
    return None if unit == "1" else unit


def _with_unique_names(variables: list[FmuVariable]) -> list[FmuVariable]:
    """Give variables of equal names a number; FMI requires different names."""
    taken: set[str] = set()
    found = []
    for one in variables:
        name, number = one.name, 2
        while name in taken:
            name, number = f"{one.name}_{number}", number + 1
        taken.add(name)
        found.append(FmuVariable(name, *list(vars(one).values())[1:]))
    return found
