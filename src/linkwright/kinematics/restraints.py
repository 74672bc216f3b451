"""Loops and constraints of a mechanism with their numbers as floats or symbols."""

from __future__ import annotations

from collections.abc import Callable

from ..mechanism import Joint
from .constraint_kinds import RESTRAINT_READERS
from .constraint_kinds.body_states import SymbolScope
from .constraint_kinds.loop import read_loop_restraint
from .kinematic_tree import KinematicTree, LinkFrame, Restraint, Restraints
from .parameter_values import KinematicParameters


def read_restraints(
    tree: KinematicTree, values: KinematicParameters, scope: SymbolScope
) -> Restraints:
    """Return all loops and constraints of the tree's mechanism with their numbers, in the order of
    the file."""
    ties: list[Restraint] = []
    for name, part in tree.mechanism.loops_and_constraints().items():
        if isinstance(part, Joint):
            ties.append(read_loop_restraint(name, part, values, tree.bodies))
        else:
            values.enter_place(f"constraints.{name}")
            ties.append(RESTRAINT_READERS[type(part)](name, part, values, scope, tree))
    return Restraints(tuple(ties))


def relocate_restraints(
    restraints: Restraints, change: Callable[[LinkFrame], LinkFrame]
) -> Restraints:
    """Return the restraints with the frames of loops mapped to other link frames."""
    return Restraints(tuple(tie.relocate_frames(change) for tie in restraints.entries))
