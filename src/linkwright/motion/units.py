"""The units of coordinates and drives: of what turns, of what slides, of what was chosen."""

from __future__ import annotations

from dataclasses import dataclass

from ..mechanism import Mechanism
from ..mechanism.units import speed_units


@dataclass(frozen=True)
class Unit:
    """Of a coordinate, its rates, and its drive; all "" where nobody has said."""

    way: str
    force: str

    @property
    def rates(self) -> tuple[str, str]:
        """Of the speed and of the acceleration."""
        return (f"{self.way}/s", f"{self.way}/s²") if self.way else ("", "")

    @property
    def all(self) -> tuple[str, str, str, str]:
        """Of the coordinate, its speed, its acceleration and its drive."""
        return self.way, *self.rates, self.force


TURNING, SLIDING, UNKNOWN = Unit("rad", "N·m"), Unit("m", "N"), Unit("", "")


def units_of(mechanism: Mechanism) -> list[Unit]:
    """Of every speed, in order."""
    kinds = {"rad": TURNING, "m": SLIDING}
    return [kinds.get(unit, UNKNOWN) for unit in speed_units(mechanism)]


def said(number: float, unit: str) -> str:
    return f"{number:.5g} {unit}".rstrip()
