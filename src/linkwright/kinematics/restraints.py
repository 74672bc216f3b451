"""Loops and constraints of a mechanism with their numbers as floats or symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..mechanism import Mechanism
from .constraint_kinds import READERS
from .constraint_kinds.closure import read_closure
from .constraint_kinds.setting import Scope
from .tree import Placed, Restraints
from .values import Values


def restraints_of(
    mechanism: Mechanism, values: Values, scope: Scope, bodies: Mapping[str, Placed]
) -> Restraints:
    """All loops, then all constraints, in the order of the file."""
    closures = [read_closure(name, loop, values, bodies) for name, loop in mechanism.loops.items()]
    others = []
    for name, constraint in mechanism.constraints.items():
        values.at(f"constraints.{name}")
        others.append(READERS[type(constraint)](name, constraint, values, scope))
    return Restraints((*closures, *others))


def moved(restraints: Restraints, change: Callable[[Placed], Placed]) -> Restraints:
    """The same with the frames of loops placed in other link frames."""
    return Restraints(tuple(tie.with_frames(change) for tie in restraints.ties))
