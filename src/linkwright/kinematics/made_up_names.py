"""Names of numbers to which a file gives none, as books have them.

m4, Ixx4 and cz4 belong to the fourth moving body, a2, b2 and d2 along x, y and z to the second
joint, g to gravity. Where such a name is taken, and for parts that are fixed to others, a number
has the name of its part: m_forearm.
"""

from __future__ import annotations

from collections.abc import Collection

from ..mechanism import Mechanism, joint_coordinate_names, mechanism_names


class MadeUpNames:
    """The names of a mechanism's numbers by their `place` (a body, a joint, a frame), which no two
    places share, nor with parameters, actuators, coordinates and their rates."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        names = mechanism_names(mechanism)
        moving, self.bodies, self.joints = names.q, names.bodies, numbered_joints(mechanism)
        self.used_names = {*mechanism.parameters, *mechanism.actuators, *moving}
        self.used_names |= {f"d{q}" for q in moving}
        self.place = ""
        self.names_by_place: dict[tuple[str, str], str] = {}
        self.longer_names: dict[tuple[str, str], str] = {}

    def body_symbol(self, symbol: str, body: str) -> str:
        """Return the name of a body's number: m4 of the fourth body, or of the body link4."""
        return self._part_symbol(symbol, body, self.bodies, f"{symbol}_{body}")

    def joint_symbol(self, symbol: str, joint: str, longer: str) -> str:
        """Return the name of a joint's number, a2; `longer` is its name where that is taken."""
        return self._part_symbol(symbol, joint, self.joints, longer)

    def _part_symbol(self, symbol: str, part: str, parts: Collection[str], longer: str) -> str:
        """Return the symbol with the part's number, and keep its longer name; this for parts
        without a number."""
        if part not in parts:
            return longer
        short = f"{symbol}{part_number(part, parts)}"
        self.longer_names[self.place, short] = longer
        return short

    def unique_name(self, name: str) -> str:
        """Return the name of a number's symbol: `name`, longer or numbered if another place uses
        it."""
        key = (self.place, name)
        if key not in self.names_by_place:
            if name in self.used_names:
                name = self.longer_names.get(key, name)
            known, number = name, 1
            while name in self.used_names:
                number += 1
                name = f"{known}_{number}"
            self.used_names.add(name)
            self.names_by_place[key] = name
        return self.names_by_place[key]


def numbered_joints(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the joints that have numbers in symbols: all that move, depth first."""
    return tuple(
        name
        for name, joint in mechanism.joints_depth_first()
        if joint_coordinate_names(name, joint) or joint.mimic is not None
    )


def part_number(part: str, parts: Collection[str]) -> str:
    """Return the number of a body or joint in symbols: that at the end of its name where most names
    are numbered so, link1, link2, …, else its place."""
    stem = part.rstrip("0123456789")
    alike = [name for name in parts if name.rstrip("0123456789") == stem != name]
    is_numbered = part in alike and 2 * len(alike) >= len(parts)
    return part[len(stem) :] if is_numbered else str(1 + list(parts).index(part))
