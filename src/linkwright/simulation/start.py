"""Where a motion starts: what is given by name is kept, the rest follows from the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..errors import AssemblyError, LinkwrightError, NameNotFoundError, suggest_remedy
from ..kinematics.assembly import (
    assemble,
    assemble_velocities,
    check_assembly_quaternions,
    check_constrained_velocities,
)
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..kinematics.constraint_system import constraint_system
from ..mechanism import Mechanism, read_coordinate_numbers
from ..model.model import Model
from ..number_checks import check_number_table, check_vector
from ..types import Floats, VectorLike

MAX_KEPT_STARTS = 64
"""The number of assembled starts that stay in memory: assembly takes longer than a short compiled
run."""


@lru_cache(maxsize=MAX_KEPT_STARTS)
def _assembled_coordinates(
    mechanism: Mechanism, given: tuple[tuple[str, float], ...]
) -> tuple[float, ...]:
    """Return coordinates that close the loops, with the given ones held."""
    values = dict(given)
    return tuple(assemble(mechanism, values, list(values)).tolist())


def start_of(
    mechanism: Mechanism, model: Model, q0: VectorLike | None, qd0: VectorLike | None
) -> tuple[Floats, Floats]:
    """Return (q, q̇) at t = 0 on the constraints; what is given by name is kept."""
    names = model.names
    q0 = read_coordinate_numbers(mechanism, q0, "q0")
    qd0 = read_coordinate_numbers(mechanism, qd0, "qd0")
    if isinstance(q0, Mapping) or q0 is None:
        given = check_number_table(q0 or {}, "q0")
        check_assembly_quaternions(given, names.q)
        if names.constraints:
            q = np.array(_assembled_coordinates(mechanism, tuple(given.items())))
        else:
            q = placed(model.neutral(), given, names.q, "coordinate")
    else:
        q = check_vector(q0, names.nq, "q0", names.q)
    q = with_unit_quaternions(model, q)
    if isinstance(qd0, Mapping) or qd0 is None:
        qd = placed(np.zeros(names.nv), check_number_table(qd0 or {}, "qd0"), names.qd, "speed")
    else:
        qd = check_vector(qd0, names.nv, "qd0", names.qd)
    if not names.constraints:
        return q, qd
    system = constraint_system(mechanism)
    if system.counted_residual(q, 0.0) > max(CLOSURE_TOLERANCES.accepted_residual, model.leeway):
        left = np.abs(system.residual(q, 0.0))
        worst = int(np.argmax(left))
        owner = names.constraints[names.position_rows[worst]]
        raise AssemblyError(
            "the loops and constraints do not close at q0: "
            f"'{owner}' is open by {left[worst]:.3g} (m or rad)",
            where=mechanism.name,
            remedy="give some coordinates by name, or use assemble",
        )
    if isinstance(qd0, Mapping):
        return q, assemble_velocities(mechanism, q, check_number_table(qd0, "qd0"))
    if qd0 is not None:
        check_constrained_velocities(mechanism, q, qd)
    return q, assemble_velocities(mechanism, q, qd)


def with_unit_quaternions(model: Model, q: Floats, *parameters: Floats) -> Floats:
    """Return q with quaternions of length 1; `parameters` are the values that a model keeps."""
    if model.nq == model.nv:
        return q
    with np.errstate(all="ignore"):
        found: Floats = model.integrate(q, np.zeros(model.nv), *parameters)
    if not np.isfinite(found).all():
        raise LinkwrightError("a quaternion has length 0", where="q0", remedy="give it another")
    return found


def placed(values: Floats, given: dict[str, float], names: Sequence[str], kind: str) -> Floats:
    """Return values with the given ones at the places of their names."""
    for name, value in given.items():
        if name not in names:
            raise NameNotFoundError(
                f"there is no {kind} '{name}'", remedy=suggest_remedy(name, list(names))
            )
        values[list(names).index(name)] = value
    return values
