"""Names and order of coordinates, speeds, joints and moving bodies."""

from __future__ import annotations

from dataclasses import dataclass

from .mechanism import Mechanism


@dataclass(frozen=True)
class Names:
    """In the order of the vectors: joints depth first, in file order.

    `bodies` are moving bodies, one for all that is fixed together: the first seen from ground.
    """

    q: tuple[str, ...]
    qd: tuple[str, ...]
    joints: tuple[str, ...]
    bodies: tuple[str, ...]

    @property
    def nq(self) -> int:
        return len(self.q)

    @property
    def nv(self) -> int:
        return len(self.qd)


def names_of(mechanism: Mechanism) -> Names:
    """The names of everything that has a place in a vector."""
    q: list[str] = []
    qd: list[str] = []
    joints: list[str] = []
    bodies: list[str] = []
    for name, joint in mechanism.joints_depth_first():
        joints.append(name)
        if joint.moves:
            q += [dotted(name, ending) for ending in joint.coordinates]
            qd += [dotted(name, freedom.ending) for freedom in joint.freedoms]
        if joint.freedoms and joint.locked is None:
            bodies.append(joint.child)
    return Names(tuple(q), tuple(qd), tuple(joints), tuple(bodies))


def dotted(joint: str, ending: str) -> str:
    """A coordinate's name: the joint's, with the ending behind a dot if it has several."""
    return f"{joint}.{ending}" if ending else joint
