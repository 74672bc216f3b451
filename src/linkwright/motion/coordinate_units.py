"""Units of coordinates, their rates and their efforts: rotations, translations, or unknown."""

from __future__ import annotations

from dataclasses import dataclass

from ..mechanism import Mechanism
from ..mechanism.mechanism_units import velocity_units


@dataclass(frozen=True)
class TrajectoryUnits:
    """The units of a coordinate, its rates, and its effort; all "" where they are not known."""

    coordinate: str
    effort: str

    @property
    def rates(self) -> tuple[str, str]:
        """The units of the velocity and of the acceleration."""
        return (f"{self.coordinate}/s", f"{self.coordinate}/s²") if self.coordinate else ("", "")

    @property
    def of_position_rates_and_effort(self) -> tuple[str, str, str, str]:
        """The units of the coordinate, its velocity, its acceleration and its effort."""
        return self.coordinate, *self.rates, self.effort


ROTATION_UNIT, TRANSLATION_UNIT, UNKNOWN_UNIT = (
    TrajectoryUnits("rad", "N·m"),
    TrajectoryUnits("m", "N"),
    TrajectoryUnits("", ""),
)


def trajectory_units(mechanism: Mechanism) -> list[TrajectoryUnits]:
    """The units of every velocity, in order."""
    kinds = {"rad": ROTATION_UNIT, "m": TRANSLATION_UNIT}
    return [kinds.get(unit, UNKNOWN_UNIT) for unit in velocity_units(mechanism)]


def trajectory_number_text(number: float, unit: str) -> str:
    """A number to five digits with its unit, such as 1.5 rad/s."""
    return f"{number:.5g} {unit}".rstrip()
