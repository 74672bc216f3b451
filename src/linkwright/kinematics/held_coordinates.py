"""Coordinates that are given by name while constraints are closed: their velocities and steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from .constraint_system import ConstraintSystem


def velocity_of_coordinate(system: ConstraintSystem, coordinate: str) -> int:
    """Return the index of the velocity that is the coordinate's rate."""
    check_coordinate_exists(system, coordinate)
    anywhere = system.move(system.starting_q, np.full(system.names.nv, 0.3))
    row = system.rate_matrix(anywhere)[system.names.q.index(coordinate)]
    if np.count_nonzero(row) != 1 or row.max() != 1:
        raise UnsupportedError(
            f"'{coordinate}' has no velocity of its own", remedy='use rotation = "cardan"'
        )
    return int(np.argmax(row))


def check_coordinate_exists(system: ConstraintSystem, coordinate: str) -> None:
    """Raise if the mechanism lacks the coordinate."""
    if coordinate not in system.names.q:
        raise NameNotFoundError(
            f"unknown coordinate '{coordinate}'",
            remedy=suggest_remedy(coordinate, list(system.names.q)),
        )


def steps_of_held_coordinates(system: ConstraintSystem, names: Sequence[str]) -> list[int]:
    """Return entries of a step that are zero while the named coordinates are held. A quaternion
    is held as a whole: its four coordinates are one orientation."""
    held: list[int] = []
    for name in names:
        check_coordinate_exists(system, name)
    for name in names:
        place = system.names.q.index(name)
        whole = next((x for x in system.quaternions if x[0].start <= place < x[0].stop), None)
        if whole is not None:
            held += range(whole[1].start, whole[1].stop)
            continue
        shifted = [(p, v) for p, v in system.positions if p.start <= place < p.stop]
        held += [v.start + place - p.start for p, v in shifted] or [
            velocity_of_coordinate(system, name)
        ]
    return list(dict.fromkeys(held))
