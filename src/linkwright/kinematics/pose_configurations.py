"""Named poses as arrays: coordinates that close the loops, velocities that constraints allow."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..mechanism import Mechanism, mechanism_names, pose_numbers
from ..types import Floats

_Given = TypeVar("_Given")


def read_pose(mechanism: Mechanism, given: _Given | str) -> _Given | Floats:
    """Return coordinates as they were given, or (nq,) those of the pose that a text names.

    Poses in files have few digits: where the mechanism has loops or constraints, the pose is closed
    from the numbers of the file.
    """
    if not isinstance(given, str):
        return given
    from .assembly import assemble
    from .tree_builder import build_kinematic_tree
    from .tree_coordinates import neutral_coordinates, quaternion_ranges

    values = pose_numbers(mechanism, given, "q")
    if mechanism.loops or mechanism.constraints:
        return assemble(mechanism, values)
    tree = build_kinematic_tree(mechanism)
    q = np.array(neutral_coordinates(tree), dtype=float)
    for name, value in values.items():
        q[tree.names.q.index(name)] = value
    for part, _ in quaternion_ranges(tree):
        q[part] /= np.linalg.norm(q[part]) or 1.0
    return q


def read_pose_velocities(
    mechanism: Mechanism, given: _Given | str, q: Floats | None = None
) -> _Given | Floats:
    """Return velocities as they were given, or (nv,) those of the pose that a text names, projected
    to what the constraints allow at q."""
    if not isinstance(given, str):
        return given
    names = mechanism_names(mechanism)
    qd = np.zeros(names.nv)
    for name, value in pose_numbers(mechanism, given, "qd").items():
        qd[names.qd.index(name)] = value
    if not names.constraints:
        return qd
    from .assembly import assemble_velocities

    here = read_pose(mechanism, given) if q is None else q
    return assemble_velocities(mechanism, np.asarray(here, dtype=float), qd)
