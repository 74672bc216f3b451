"""Loops and constraints of a mechanism with their numbers as floats or symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..mechanism import Joint, Mechanism
from .constraint_kinds import READERS
from .constraint_kinds.closure import read_closure
from .constraint_kinds.setting import Scope
from .tree import Placed, Restraint, Restraints
from .values import Values


def restraints_of(
    mechanism: Mechanism, values: Values, scope: Scope, bodies: Mapping[str, Placed]
) -> Restraints:
    """All loops and constraints, in the order of the file."""
    ties: list[Restraint] = []
    for name, part in mechanism.loops_and_constraints().items():
        if isinstance(part, Joint):
            ties.append(read_closure(name, part, values, bodies))
        else:
            values.at(f"constraints.{name}")
            ties.append(READERS[type(part)](name, part, values, scope))
    return Restraints(tuple(ties))


def moved(restraints: Restraints, change: Callable[[Placed], Placed]) -> Restraints:
    """The same with the frames of loops placed in other link frames."""
    return Restraints(tuple(tie.with_frames(change) for tie in restraints.ties))
