"""What is watched in a mode: numbers that stay above zero until something happens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...expressions import expression_to_float
from ...types import Floats
from .dynamics import Dynamics
from .modes import Forces, Mode
from .user_event import Watched


@dataclass(frozen=True)
class Column:
    """One number that is watched: `kind` says which, `index` of what; sign −1: it falls."""

    kind: str
    index: int
    sign: int = -1
    name: str = ""
    """Of an event of the user."""

    @property
    def begins(self) -> bool:
        """Whether it is zero but for rounding where it begins: a gap that opens, a slide."""
        return self.kind in ("gap", "slides", "slips", "pad")

    @property
    def at_once(self) -> bool:
        """Whether it counts from the start of a step where it is beyond zero and goes on so."""
        return self.kind != "given"

    @property
    def fails(self) -> bool:
        """Whether it is a member's load, which is too much wherever a step begins beyond zero."""
        return self.kind in ("force", "moment", "tie")


def columns_of(
    dynamics: Dynamics, mode: Mode, given: list[Watched], inside: list[bool]
) -> list[Column]:
    rows = dynamics.rows
    found = [
        Column("carries" if i in mode.resting else "gap", i) for i in range(len(rows.barriers))
    ]
    found += [Column("slides" if s else "sticks", k) for k, s in enumerate(mode.sliding)]
    for i in mode.resting:
        if rows.barriers[i].slip:
            found.append(Column("grips" if i in mode.grip else "slips", i))
    found += [Column("pad", k, 1 if within else -1) for k, within in enumerate(inside)]
    found += [
        Column("force", k) for k, (_, s) in enumerate(dynamics.members) if s.force is not None
    ]
    found += [
        Column("moment", k) for k, (_, s) in enumerate(dynamics.members) if s.moment is not None
    ]
    found += [Column("tie", k) for k, (_, s) in enumerate(dynamics.ties) if s.force is not None]
    for k, event in enumerate(given):
        signs = (event.sign,) if event.sign else (-1, 1)
        found += [Column("given", k, sign, event.name) for sign in signs]
    return found


OF_FORCES = {"carries", "sticks", "grips", "force", "moment", "tie"}


def of_motion(column: Column, dynamics: Dynamics, mode: Mode, seen: list[Floats]) -> Floats:
    """Numbers that follow from positions and speeds: gaps, speeds of sliding."""
    gaps, V, pads = seen
    match column.kind:
        case "gap":
            gap: Floats = gaps[:, column.index]
            return gap
        case "slides":
            row = dynamics.rows.rubs[column.index].row
            found: Floats = mode.sliding[column.index] * V[:, row]
            return found
        case "slips":
            slip = list(dynamics.rows.barriers[column.index].slip)
            speed: Floats = V[:, slip] @ np.array(dict(mode.toward)[column.index])
            return speed
        case _:
            depth: Floats = pads[:, column.index]
            return depth


def of_forces(column: Column, dynamics: Dynamics, forces: Forces) -> float:
    """How much more an element carries before it lets go or fails."""
    k, rows = column.index, dynamics.rows
    values = dynamics.mechanism.values
    match column.kind:
        case "carries":
            return forces.normal[k]
        case "sticks":
            return float(forces.limits[k] * rows.rubs[k].ratio - abs(forces.rub[k]))
        case "grips":
            barrier = rows.barriers[k]
            most = barrier.friction * barrier.ratio * forces.normal[k]
            return float(most - np.linalg.norm(forces.slip[k]))
        case "force" | "moment":
            carried = getattr(dynamics.members[k][1], column.kind)
            place = 2 * k + (column.kind == "moment")
            return expression_to_float(carried, values) - float(forces.strengths[place])
        case _:
            name, strength = dynamics.ties[k]
            owners = dynamics.model.names.constraints
            own = [x for x, o in zip(forces.held.multipliers, owners, strict=True) if o == name]
            return expression_to_float(strength.force, values) - float(np.linalg.norm(own))
