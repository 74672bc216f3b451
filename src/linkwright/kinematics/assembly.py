"""Assembly: from rough values of coordinates to a configuration in which everything closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import AssemblyError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, pose_numbers, read_coordinate_numbers, require_mechanism
from ..types import Floats
from .assembly_search import (
    CoordinateRanges,
    assembly_restart_positions,
    close_configuration,
    find_closed_configuration,
    wrap_joint_angles,
)
from .closing import CLOSURE_TOLERANCES
from .constraint_system import ConstraintSystem, constraint_system
from .held_coordinates import check_coordinate_exists, steps_of_held_coordinates
from .pivots import jacobian_rank
from .pose_configurations import read_pose, read_pose_velocities


def assemble(
    mechanism: Mechanism,
    values: Mapping[str, float] | str | None = None,
    hold: Sequence[str] = (),
    ranges: CoordinateRanges | None = None,
    t: float = 0.0,
    closure: float | None = None,
) -> Floats:
    """Return coordinates that close all loops and satisfy all constraints of positions.

    The search starts from `[assembly]` of the mechanism, updated by `values`.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    values : mapping of names to numbers, or name of a pose, optional
        First guesses of coordinates, rad or m.
    hold : sequence of str
        Coordinates that keep their first values exactly, quaternions as a whole.
    ranges : mapping of names to pairs, optional
        Bounds that choose a branch: `{"elbow": (0, 3.14)}`; rad or m.
    t : float
        Time, s, where constraints depend on it.
    closure : float, optional
        Tolerance of nearly redundant constraints, relative to their size (default: the
        mechanism's).

    Returns
    -------
    (nq,) array
        Coordinates, rad or m.

    Raises
    ------
    AssemblyError
        If the search finds no such coordinates.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.assemble(lw.gallery("four-bar"), {"theta1": 1.0}, hold=["theta1"]).round(4)
    array([1.    , 0.5706, 1.7457])
    """
    system = constraint_system(require_mechanism(mechanism).with_closure(closure))
    if isinstance(values, str):
        values = pose_numbers(mechanism, values, "q")
    values = read_coordinate_numbers(mechanism, values, "q0")
    q = system.starting_q.copy()
    for name in (*(values or {}), *hold, *(ranges or {})):
        check_coordinate_exists(system, name)
    start = dict(zip(system.names.q, q.tolist(), strict=True)) | dict(values or {})
    held = {name: _read_assembly_value(name, start[name]) for name in hold}
    check_assembly_quaternions(held, system.names.q)
    for name, value in (values or {}).items():
        q[system.names.q.index(name)] = _read_assembly_value(name, value)
    for name, (low, high) in (ranges or {}).items():
        if not _read_assembly_value(name, low) <= _read_assembly_value(name, high):
            raise AssemblyError(f"the range of '{name}' is empty", remedy="give (low, high)")
    q = system.move(q, np.zeros(system.names.nv))  # quaternions of length 1
    if not np.isfinite(q).all():
        raise AssemblyError(
            "a rough value is not finite, or a quaternion is zero",
            where=mechanism.name,
            remedy="give numbers; 1, 0, 0, 0 is the identity rotation",
        )
    return find_closed_configuration(system, q, t, steps_of_held_coordinates(system, hold), ranges)


def check_assembly_quaternions(given: Mapping[str, float], names: Sequence[str]) -> None:
    """Raise where only some of a quaternion's four coordinates are given, or where its length
    differs from 1 by more than rounding."""
    heads = {name.removesuffix(".qw") for name in names if name.endswith(".qw")}
    for head in heads & {name.rpartition(".")[0] for name in given}:
        four = [f"{head}.{ending}" for ending in ("qw", "qx", "qy", "qz")]
        said = [name for name in four if name in given]
        if said and len(said) < 4:
            raise AssemblyError(
                f"a quaternion has four coordinates, and {', '.join(said)} alone "
                f"{'is' if len(said) == 1 else 'are'} given",
                where=head,
                remedy=f"give {', '.join(four)}, or none of them",
            )
        length = float(np.linalg.norm([given[name] for name in said])) if said else 1.0
        if not abs(length - 1) <= CLOSURE_TOLERANCES.quaternion_length_error:
            raise AssemblyError(
                f"the quaternion has length {length:.6g}",
                where=head,
                remedy="divide its four coordinates by that",
            )


def _read_assembly_value(name: str, value: object) -> float:
    """Return the value given for a coordinate as a float, or raise an `AssemblyError`."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise AssemblyError(
            f"{value!r} is not a value for '{name}'", remedy="give a number"
        ) from None


def assembly_branches(
    mechanism: Mechanism,
    values: Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    t: float = 0.0,
) -> list[Floats]:
    """Return all closed configurations that restarts find with the held coordinates.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism with loops or constraints.
    values : mapping of str to number, optional
        Coordinates by name, rad or m; the others start at the rough values of the file.
    hold : sequence of str
        Coordinates that keep their values: as many as there are degrees of freedom.
    t : float
        The time, s, if constraints depend on it.

    Returns
    -------
    list of (nq,) arrays
        The branches, the one that `assemble` finds first.

    Examples
    --------
    A four-bar closes with its coupler above or below:

    >>> import linkwright as lw
    >>> from linkwright.kinematics.assembly import assembly_branches
    >>> len(assembly_branches(lw.gallery("four-bar"), {"theta1": 1.0}, hold=["theta1"]))
    2
    """
    system = constraint_system(mechanism)
    first = assemble(mechanism, values, hold, t=t)
    held = steps_of_held_coordinates(system, hold)
    J = system.step_jacobian(first, system.position_terms(first, t)[1])
    loose = [int(k) for k in np.flatnonzero(system.is_restricted) if k not in held]
    scale = system.scale.select_rows(system.jacobian_rows(J)).select_columns(loose)
    more = len(loose) - jacobian_rank(J[:, loose], scale)
    if more > 0:
        raise AssemblyError(
            f"{more} more coordinates can move: infinitely many configurations exist",
            where=mechanism.name,
            remedy="hold as many coordinates as are free",
        )
    found = [first]
    for start in assembly_restart_positions(system, first, held):
        q, left = close_configuration(system, start, t, held)
        bound = CLOSURE_TOLERANCES.closed_residual * max(1.0, np.abs(q).max())
        if not (left <= bound and system.is_upright(q, t)):
            continue
        q = wrap_joint_angles(system, q, first, t)
        if all(np.abs(q - other).max() > CLOSURE_TOLERANCES.same_configuration for other in found):
            found.append(q)
    return found


def assemble_velocities(
    mechanism: Mechanism,
    q: Sequence[float] | Floats | str,
    qd: Sequence[float] | Floats | Mapping[str, float] | str | None = None,
    t: float = 0.0,
) -> Floats:
    """Return generalized velocities that all loops and constraints allow.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q : (nq,) array, or name of a pose
        Coordinates that close the loops, rad or m.
    qd : (nv,) array, mapping of names to numbers, or name of a pose, optional
        rad/s or m/s. An array is projected to the nearest velocities that satisfy the constraints.
        A table by name, `{"crank": 2.0}`, holds exactly, and the other velocities are the smallest
        that go with it. Default: the smallest velocities, zero where nothing is driven.
    t : float
        Time, s, where constraints depend on it.

    Returns
    -------
    (nv,) array
        Generalized velocities, rad/s or m/s.

    Examples
    --------
    >>> import linkwright as lw
    >>> bars = lw.gallery("four-bar")
    >>> q = lw.assemble(bars, {"theta1": 1.0}, hold=["theta1"])
    >>> lw.assemble_velocities(bars, q, {"theta1": 2.0}).round(4)
    array([ 2.    , -0.4902,  0.361 ])
    """
    system = constraint_system(require_mechanism(mechanism))
    here = np.asarray(read_pose(mechanism, q), dtype=float)
    if isinstance(qd, str):
        return read_pose_velocities(mechanism, qd, here)
    qd = read_coordinate_numbers(mechanism, qd, "qd0")
    if here.shape != (system.names.nq,):
        raise AssemblyError(f"q has {here.size} entries", remedy=f"give {system.names.nq}")
    if isinstance(qd, Mapping):
        return _complete_constrained_velocities(system, here, qd, t)
    speeds = np.zeros(system.names.nv) if qd is None else np.asarray(qd, dtype=float)
    if speeds.shape != (system.names.nv,):
        raise AssemblyError(f"qd has {speeds.size} entries", remedy=f"give {system.names.nv}")
    return nearest_constrained_velocities(mechanism, here, speeds, t)


def _complete_constrained_velocities(
    system: ConstraintSystem, q: Floats, given: Mapping[str, float], t: float
) -> Floats:
    """Return the smallest velocities that contain the given ones and satisfy the constraints."""
    names = system.names.qd
    for name in given:
        if name not in names:
            raise NameNotFoundError(
                f"unknown velocity '{name}'", remedy=suggest_remedy(name, [*names])
            )
    numbers = [_read_assembly_value(name, value) for name, value in given.items()]
    still, J = system.velocity_terms(q, np.zeros(len(names)), t)
    held = [names.index(name) for name in given]
    free = [k for k in range(len(names)) if k not in held]
    qd = np.zeros(len(names))
    qd[held] = numbers
    right = still + J @ qd
    qd[free] -= system.least_change(J, right, free)
    largest = max(1.0, float(np.abs(qd).max()))
    left = system.velocity_terms(q, qd, t)[0]
    if (
        system.closable_residual(left, J, largest, held)
        > CLOSURE_TOLERANCES.given_velocity_residual * largest
    ):
        worst = int(np.argmax(np.abs(left) / system.row_sizes))
        raise AssemblyError(
            f"the given velocities contradict the constraints: "
            f"'{system.constraints.owners[worst]}' is violated by "
            f"{abs(left[worst]):.3g} (m/s or rad/s)",
            where=system.mechanism.name,
            remedy="give fewer of them: the others follow",
        )
    return qd


def check_constrained_velocities(
    mechanism: Mechanism, q: Floats, qd: Floats, t: float = 0.0
) -> None:
    """Raise where velocities violate the constraints by more than rounding."""
    system = constraint_system(mechanism)
    V, J = system.velocity_terms(q, qd, t)
    bound = CLOSURE_TOLERANCES.given_velocity_residual * (
        np.abs(J) @ (1 + np.abs(qd)) + system.row_sizes
    )
    if (
        system.closable_residual(V, J, max(1.0, float(np.abs(qd).max()))) <= bound.min()
        or (np.abs(V) <= bound).all()
    ):
        return
    worst = int(np.argmax(np.abs(V) / bound))
    raise AssemblyError(
        f"the velocities violate '{system.constraints.owners[worst]}' by {abs(V[worst]):.3g} "
        "(m/s or rad/s)",
        where=mechanism.name,
        remedy="give some of them by name, so that the others follow, or project them: "
        "assemble_velocities(mechanism, q, qd)",
    )


def nearest_constrained_velocities(
    mechanism: Mechanism,
    q: Sequence[float] | Floats,
    qd: Sequence[float] | Floats,
    t: float = 0.0,
) -> Floats:
    """Return the velocities nearest to qd that the constraints allow at q."""
    system = constraint_system(mechanism)
    here, speeds = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    V, J = system.velocity_terms(here, speeds, t)
    corrected: Floats = speeds - system.least_change(J, V)
    largest = max(1.0, float(np.abs(corrected).max()))
    left = system.closable_residual(system.velocity_terms(here, corrected, t)[0], J, largest)
    if left > CLOSURE_TOLERANCES.velocity_residual * largest:
        raise AssemblyError(
            f"no velocities satisfy the constraints here: {left:.3g} is left over",
            where=mechanism.name,
            remedy="the demands contradict each other in this configuration",
        )
    return corrected


def closed_state_near_home(
    mechanism: Mechanism, step: Floats, qd: Floats, t: float = 0.0
) -> tuple[Floats, Floats]:
    """Return a state (q, q̇) that the constraints allow: home, moved by about `step`, with
    velocities near qd."""
    system = constraint_system(mechanism)
    home = assemble(mechanism, t=t)
    for share in (1.0, 0.3, 0.1, 0.0):
        q, left = close_configuration(system, system.move(home, share * step), t)
        if left <= CLOSURE_TOLERANCES.continued_residual:
            break
    return q, nearest_constrained_velocities(mechanism, q, qd, t)
