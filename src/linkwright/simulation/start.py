"""Where a motion starts: what is given by name is kept, the rest follows from the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import AssemblyError, LinkwrightError, NameNotFoundError, suggest_remedy
from ..kinematics.assembly import check_assembly_quaternions, check_constrained_velocities
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..kinematics.constraint_system import constraint_system
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..mechanism import Mechanism, read_coordinate_numbers
from ..model.model import Model
from ..number_checks import check_number_table, check_vector
from ..types import Floats, VectorLike
from .start_rows import StartRows

MAX_KEPT_STARTS = 64
"""The number of assembled starts of a model that stay in memory: assembly takes longer than a short
compiled run."""


_KEPT_STARTS: WeakKeyDictionary[Model, dict[object, Floats]] = WeakKeyDictionary()


def start_of(
    mechanism: Mechanism,
    model: Model,
    q0: VectorLike | None,
    qd0: VectorLike | None,
    parameters: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return (q, q̇) at t = 0 on the constraints; what is given by name is kept.

    `parameters` are values of the parameters that the model keeps; those of the mechanism agree.
    """
    names = model.names
    q0 = read_coordinate_numbers(mechanism, read_pose(mechanism, q0), "q0")
    qd0 = read_coordinate_numbers(mechanism, read_pose_velocities(mechanism, qd0), "qd0")
    own = None if parameters is None else parameters[None]
    rows = StartRows(model, mechanism, lambda run: mechanism, own)
    if isinstance(q0, Mapping) or q0 is None:
        given = check_number_table(q0 or {}, "q0")
        check_assembly_quaternions(given, names.q)
        q = _closed_coordinates(rows, given)
    else:
        q = with_unit_quaternions(model, check_vector(q0, names.nq, "q0", names.q), parameters)
    if isinstance(qd0, Mapping) or qd0 is None:
        held = check_number_table(qd0 or {}, "qd0")
        qd = placed(np.zeros(names.nv), held, names.qd, "speed")
    else:
        held, qd = {}, check_vector(qd0, names.nv, "qd0", names.qd)
    if not names.constraints:
        return q, qd
    _check_closure(mechanism, model, q)
    if qd0 is not None and not isinstance(qd0, Mapping):
        check_constrained_velocities(mechanism, q, qd)
    qd = rows.project_velocities(q[None], qd[None], list(held))[0]
    if rows.failures:
        raise rows.failures[0]
    return q, qd


def home_state(mechanism: Mechanism, model: Model) -> Floats:
    """Return q at home and q̇ at rest, one after the other; where constraints depend on time,
    velocities are those that they demand at t = 0."""
    q, qd = model.home(), np.zeros(model.nv)
    if model.names.constraints:
        try:
            check_constrained_velocities(mechanism, q, qd)
        except AssemblyError:
            kept = model.nominal_parameters if model.parameters else None
            q, qd = start_of(mechanism, model, q, None, kept)
    return np.concatenate([q, qd])


def _closed_coordinates(rows: StartRows, given: dict[str, float]) -> Floats:
    """Return coordinates that close the loops, with the given ones held."""
    model, mechanism = rows.model, rows.mechanism
    parameters = None if rows.parameters is None else rows.parameters[0]
    kept = _KEPT_STARTS.setdefault(model, {})
    key = mechanism.digest, tuple(given.items()), None if parameters is None else tuple(parameters)
    if key not in kept:
        rough = constraint_system(mechanism).starting_q if model.names.constraints else None
        q = np.array(model.neutral() if rough is None else rough)
        q = with_unit_quaternions(model, placed(q, given, model.names.q, "coordinate"), parameters)
        table = {name: np.array([value]) for name, value in given.items()}
        q = rows.close_positions(q[None], table)[0]
        if rows.failures:
            raise rows.failures[0]
        while len(kept) >= MAX_KEPT_STARTS:
            kept.pop(next(iter(kept)), None)
        kept[key] = q
    return kept[key].copy()


def _check_closure(mechanism: Mechanism, model: Model, q: Floats) -> None:
    """Raise an error if loops and constraints do not close at q."""
    names, system = model.names, constraint_system(mechanism)
    if system.counted_residual(q, 0.0) <= max(CLOSURE_TOLERANCES.accepted_residual, model.leeway):
        return
    left = np.abs(system.residual(q, 0.0))
    worst = int(np.argmax(left))
    owner = names.constraints[names.position_rows[worst]]
    raise AssemblyError(
        "the loops and constraints do not close at q0: "
        f"'{owner}' is open by {left[worst]:.3g} (m or rad)",
        where=mechanism.name,
        remedy="give some coordinates by name, or use assemble",
    )


def with_unit_quaternions(model: Model, q: Floats, parameters: Floats | None = None) -> Floats:
    """Return q with quaternions of length 1; `parameters` are the values that a model keeps."""
    if model.nq == model.nv:
        return q
    last = [] if parameters is None else [parameters]
    with np.errstate(all="ignore"):
        found: Floats = model.integrate(q, np.zeros(model.nv), *last)
    if not np.isfinite(found).all():
        raise LinkwrightError("a quaternion has length 0", where="q0", remedy="give it another")
    return found


def placed(values: Floats, given: dict[str, float], names: Sequence[str], kind: str) -> Floats:
    """Return values with the given ones at the places of their names."""
    for name, value in given.items():
        if name not in names:
            raise NameNotFoundError(
                f"unknown {kind} '{name}'", remedy=suggest_remedy(name, list(names))
            )
        values[list(names).index(name)] = value
    return values
