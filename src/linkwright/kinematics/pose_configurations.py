"""Named poses as arrays: coordinates that close the loops, velocities that constraints allow."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

import numpy as np

from ..errors import AssemblyError
from ..mechanism import Mechanism, mechanism_names, pose_numbers, read_coordinate_numbers
from ..number_checks import check_number_table
from ..types import Floats

_Given = TypeVar("_Given")


def read_pose(mechanism: Mechanism, given: _Given | str) -> _Given | Floats:
    """Return coordinates as they were given, or (nq,) those of the pose that a text names.

    Poses in files have few digits: where the mechanism has loops or constraints, the pose is closed
    from the numbers of the file. A pose of some coordinates keeps these, where they can be kept.
    """
    if not isinstance(given, str):
        return given
    from .assembly import assemble
    from .tree_builder import build_kinematic_tree
    from .tree_coordinates import neutral_coordinates, quaternion_ranges

    values = pose_numbers(mechanism, given, "q")
    if mechanism.loops or mechanism.constraints:
        if len(values) < len(mechanism_names(mechanism).q):
            with suppress(AssemblyError):
                return assemble(mechanism, values, list(values))
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
    names, values = mechanism_names(mechanism), pose_numbers(mechanism, given, "qd")
    qd = np.zeros(names.nv)
    for name, value in values.items():
        qd[names.qd.index(name)] = value
    if not names.constraints:
        return qd
    from .assembly import assemble_velocities

    here = np.asarray(read_pose(mechanism, given) if q is None else q, dtype=float)
    if 0 < len(values) < names.nv:
        with suppress(AssemblyError):
            return assemble_velocities(mechanism, here, values)
    return assemble_velocities(mechanism, here, qd)


def read_pose_table(
    mechanism: Mechanism, given: Mapping[str, float] | str | None, what: str
) -> dict[str, float]:
    """Return a table by name, or all coordinates ("q0") or velocities ("qd0") of the pose that a
    text names."""
    if not isinstance(given, str):
        return dict(given or {})
    names = mechanism_names(mechanism)
    if what == "qd0":
        return dict(zip(names.qd, read_pose_velocities(mechanism, given).tolist(), strict=True))
    return dict(zip(names.q, read_pose(mechanism, given).tolist(), strict=True))


def read_rough_coordinates(
    mechanism: Mechanism, given: Mapping[str, float] | str | None
) -> dict[str, float]:
    """Return first guesses of coordinates by name; a text names a pose, which has some of them."""
    if isinstance(given, str):
        return pose_numbers(mechanism, given, "q")
    found = read_coordinate_numbers(mechanism, given or {}, "rough")
    return check_number_table(found, "rough")
