"""Where a motion starts: what is given by name is kept, the rest follows from the constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, NameNotFoundError, suggest
from ..kinematics.assembly import assemble, consistent_speeds
from ..mechanism import Mechanism, names_of, numbers_from_text
from ..model import Model
from .checked import table, vector

Floats = NDArray[np.float64]


def start_of(mechanism: Mechanism, model: Model, q0: Any, qd0: Any) -> tuple[Floats, Floats]:
    """(q, q̇) at t = 0 that hold the constraints."""
    names = names_of(mechanism)
    q0, qd0 = (numbers_from_text(mechanism, *pair) for pair in ((q0, "q0"), (qd0, "qd0")))
    if isinstance(q0, Mapping) or q0 is None:
        given = table(q0 or {}, "q0")
        if names.constraints:
            q = assemble(mechanism, given, list(given))
        else:
            q = placed(model.neutral(), given, names.q, "coordinate")
    else:
        q = vector(q0, names.nq, "q0", names.q)
    q = with_unit_quaternions(model, q)
    if isinstance(qd0, Mapping) or qd0 is None:
        qd = placed(np.zeros(names.nv), table(qd0 or {}, "qd0"), names.qd, "speed")
    else:
        qd = vector(qd0, names.nv, "qd0", names.qd)
    if not names.constraints:
        return q, qd
    time = [0.0] if names.in_time else []
    left = np.abs(model.constraint_residual(q, *time)).max(initial=0.0)
    if left > 1e-8:
        raise LinkwrightError(
            f"the loops and constraints do not close at q0: {left:.3g} is left over",
            where=mechanism.name, remedy="give some coordinates by name, or use assemble",
        )  # fmt: skip
    if isinstance(qd0, Mapping):
        return q, _driven_speeds(model, q, table(qd0, "qd0"), time)
    return q, consistent_speeds(mechanism, q, qd)


def with_unit_quaternions(model: Model, q: Floats) -> Floats:
    """q with quaternions of length 1, whatever length they are given with."""
    if model.nq == model.nv:
        return q
    with np.errstate(all="ignore"):
        found: Floats = model.integrate(q, np.zeros(model.nv))
    if not np.isfinite(found).all():
        raise LinkwrightError("a quaternion has length 0", where="q0", remedy="give it another")
    return found


def _driven_speeds(model: Model, q: Floats, given: dict[str, float], time: list[float]) -> Floats:
    """The least speeds with the given ones, under the constraints."""
    J, rows = model.constraint_jacobian(q, *time), [model.names.qd.index(n) for n in given]
    fixed = np.eye(model.nv)[rows]
    still = -model.constraint_velocity(q, np.zeros(model.nv), *time)
    A, b = np.vstack([J, fixed]), np.concatenate([still, list(given.values())])
    qd: Floats = np.linalg.pinv(A, rcond=1e-10) @ b
    if np.abs(A @ qd - b).max(initial=0.0) > 1e-8 * max(1.0, np.abs(b).max(initial=0.0)):
        raise LinkwrightError("the given speeds contradict the constraints", remedy="give fewer")
    return qd


def placed(values: Floats, given: dict[str, float], names: Any, kind: str) -> Floats:
    for name, value in given.items():
        if name not in names:
            raise NameNotFoundError(
                f"there is no {kind} '{name}'", remedy=suggest(name, list(names))
            )
        values[list(names).index(name)] = value
    return values
