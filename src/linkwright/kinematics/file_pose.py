"""The pose in which a mechanism's file starts."""

from __future__ import annotations

import numpy as np

from ..expressions import expression_to_float
from ..types import Floats
from .kinematic_tree import KinematicTree
from .tree_coordinates import neutral_coordinates, quaternion_ranges


def tree_starting_pose(tree: KinematicTree) -> Floats:
    """Return q (nq,) of the file: nothing displaced, except for the rough values under
    `[assembly]`; quaternions have length 1."""
    start = np.array(neutral_coordinates(tree))
    for name, number in tree.mechanism.assembly.items():
        start[tree.names.q.index(name)] = expression_to_float(number, tree.mechanism.values)
    for part, _ in quaternion_ranges(tree):
        start[part] /= np.linalg.norm(start[part]) or 1.0
    return start
