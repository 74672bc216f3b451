"""The search for closed configurations: restarts around rough values, branches, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..errors import AssemblyError
from ..mechanism.mechanism_units import coordinate_units
from ..types import Floats
from .closing import CLOSURE_TOLERANCES, search_positions
from .constraint_system import ConstraintSystem

MAX_ROUNDED_RESIDUAL = 1e-3
"""Residuals below this may come from rounded numbers: files give at least millimetres."""
LARGEST_CLOSURE = 1e-2
"""What `Mechanism.closure` accepts."""
CLOSURE_PER_RESIDUAL = 3.0
"""The closure that allows a residual is a share of the size of rows, and columns magnify it."""

CoordinateRanges = Mapping[str, tuple[float, float]]


def close_configuration(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int] = ()
) -> tuple[Floats, float]:
    """Return q after steps of least length, and the largest residual that is left. Nearly
    redundant rows are closed in the sense of least squares."""
    bound = CLOSURE_TOLERANCES.closed_residual * max(1.0, float(np.abs(q).max(initial=0.0)))
    if held:  # near limits of what is held, singular values are small and count
        finest = _search_closure(system, q, t, held, CLOSURE_TOLERANCES.fine_rank_share)
        left = system.largest_residual(finest, t)
        if np.abs(finest - q).max() < CLOSURE_TOLERANCES.same_closure_distance and left <= bound:
            return finest, left
    q = _search_closure(system, q, t, held, system.scale.closure)
    near = max(
        CLOSURE_TOLERANCES.same_closure_distance, system.scale.closure * system.row_sizes.max()
    )
    left = system.largest_residual(q, t)
    if not CLOSURE_TOLERANCES.closed_residual < left < near:
        return q, left
    return _close_with_finer_rank(system, q, t, held)


def _close_with_finer_rank(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int]
) -> tuple[Floats, float]:
    """Return what a finer rank makes of q where q is singular, q itself where it is redundant."""
    bound = CLOSURE_TOLERANCES.closed_residual * max(1.0, float(np.abs(q).max(initial=0.0)))
    finer = _search_closure(system, q, t, held, CLOSURE_TOLERANCES.fine_rank_share)
    closes = system.largest_residual(finer, t) <= CLOSURE_TOLERANCES.closed_residual
    left = system.counted_residual(q, t, held)
    if (
        closes and np.abs(finer - q).max() < CLOSURE_TOLERANCES.same_closure_distance
    ) or left > bound:
        return finer, system.counted_residual(finer, t, held)
    return q, left


def _search_closure(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int], rank_share: float
) -> Floats:
    """Return q after a search for φ(q, t) = 0 with the held steps at zero."""
    functions = system.position_functions(t, rank_share)
    return search_positions(functions, q, hold=held, rank_share=rank_share, leeway=rank_share)


def assembly_restart_positions(
    system: ConstraintSystem, q: Floats, held: Sequence[int], ranges: CoordinateRanges | None = None
) -> Iterator[Floats]:
    """Yield the given start, then starts within the ranges, then others around it, further and
    further away; velocities that no constraint of positions touches stay as they are."""
    yield q
    rng = np.random.default_rng(0)
    for share in (0.5, 0.25, 0.75) if ranges else ():
        yield _place_in_coordinate_ranges(system, q, ranges or {}, share)
    for k in range(CLOSURE_TOLERANCES.max_restarts):
        reach = min(1.0, (k + 4) / CLOSURE_TOLERANCES.restarts_to_full_reach)
        step = rng.uniform(-1, 1, system.names.nv) * (
            np.where(system.is_angular, np.pi, 1.0) * reach * system.is_restricted
        )
        step[list(held)] = 0.0
        yield system.move_in_parent_axes(q, step)


def _place_in_coordinate_ranges(
    system: ConstraintSystem, q: Floats, ranges: CoordinateRanges, share: float
) -> Floats:
    """Return q with the named coordinates at a share of their ranges."""
    target = q.copy()
    for name, (low, high) in ranges.items():
        target[system.names.q.index(name)] = low + share * (high - low)
    return target


def find_closed_configuration(
    system: ConstraintSystem,
    q: Floats,
    t: float,
    held: Sequence[int] = (),
    ranges: CoordinateRanges | None = None,
) -> Floats:
    """Return the first configuration that closes, upright and within the ranges."""
    best, least, refused = q, np.inf, ""
    bound = CLOSURE_TOLERANCES.closed_residual * max(1.0, float(np.abs(q).max(initial=0.0)))
    for start in assembly_restart_positions(system, q, held, ranges):
        found, left = close_configuration(system, start, t, held)
        if left < least:
            best, least = found, left
        if not left <= bound:
            continue
        if refusal := _closed_configuration_refusal(system, found, t):
            refused = refusal
            continue
        target = q if ranges is None else _place_in_coordinate_ranges(system, q, ranges, 0.5)
        wrapped = wrap_joint_angles(system, found, target, t)
        outside = [
            n
            for n, (a, b) in (ranges or {}).items()
            if not a <= wrapped[system.names.q.index(n)] <= b
        ]
        if not outside:
            return wrapped
        refused = f"it closes only with '{outside[0]}' outside its range"
    raise _assembly_failure(system, best, t, refused)


def _closed_configuration_refusal(system: ConstraintSystem, q: Floats, t: float) -> str:
    """Return why a closed configuration cannot be used; an empty text where it can."""
    _, J, upright = system.position_terms(q, t)
    if not np.isfinite(J).all():
        return "its equations have no finite Jacobian where they hold"
    if not (upright > 0).all():
        return "it closes only with a joint turned over, or a wheel that lies flat"
    return ""


def wrap_joint_angles(system: ConstraintSystem, q: Floats, target: Floats, t: float) -> Floats:
    """Return the same configuration with angles within half a turn of the target."""
    if system.names.nq != system.names.nv:
        return q
    turns = np.round((target - q) / (2 * np.pi)) * system.is_angular
    for k in np.flatnonzero(turns):
        other = q.copy()
        other[k] += 2 * np.pi * turns[k]
        bound = CLOSURE_TOLERANCES.continued_residual + 1.1 * system.largest_residual(q, t)
        if system.largest_residual(other, t) < bound:
            q = other
    return q


def _assembly_failure(system: ConstraintSystem, q: Floats, t: float, refused: str) -> AssemblyError:
    """Return the error of an assembly that found nothing, with the residuals of its best
    attempt q."""
    phi = system.residual(q, t)
    residuals: dict[str, float] = {}
    for row, left in zip(system.constraints.position_rows, phi, strict=True):
        owner = system.constraints.owners[row]
        residuals[owner] = float(np.hypot(residuals.get(owner, 0.0), left))
    worst = max(residuals, key=lambda name: residuals[name])
    if not np.isfinite(phi).all():
        refused = refused or f"'{worst}' has no finite equations there"
    what = refused or f"'{worst}' cannot close: it stays {residuals[worst]:.3g} (m or rad) open"
    error = AssemblyError(
        f"the mechanism cannot be assembled: {what}",
        where=system.mechanism.name,
        remedy=_assembly_remedy(system, phi),
    )
    error.residuals, error.q = residuals, q
    return error


def _assembly_remedy(system: ConstraintSystem, phi: Floats) -> str:
    """Return what a user can do; where little is open, also the closure that allows it."""
    remedies = "give closer rough values, hold fewer, or check the lengths"
    sizes = system.row_sizes[list(system.constraints.position_rows)]
    share = CLOSURE_PER_RESIDUAL * float(np.abs(phi / sizes).max())
    if not (share > 0 and np.abs(phi).max() < MAX_ROUNDED_RESIDUAL):
        return remedies
    closure = 10.0 ** np.ceil(np.log10(share))
    if not system.scale.closure < closure <= LARGEST_CLOSURE:
        return remedies
    return f"{remedies}; if the file's numbers are rounded, allow that: closure={closure:.0e}"


def describe_far_assembly_moves(
    system: ConstraintSystem, q: Floats, given: Sequence[str] = ()
) -> list[str]:
    """Return coordinates that are far from the file's pose at q, in words: of those that it states
    under `[assembly]`, and of the places of bodies that float, less those that are given."""
    joints = system.mechanism.joints.items()
    floating = {name for name, joint in joints if joint.kind.is_floating}
    units, found = coordinate_units(system.mechanism), []
    for k, name in enumerate(system.names.q):
        loose = units[k] == "m" and name.rpartition(".")[0] in floating
        stated = loose or name in system.mechanism.assembly
        if units[k] == "1" or name in given or not stated:
            continue
        far = (
            CLOSURE_TOLERANCES.reported_turn
            if units[k] != "m"
            else CLOSURE_TOLERANCES.reported_shift * system.length
        )
        if abs(q[k] - system.starting_q[k]) > far:
            found.append(f"{name} from {system.starting_q[k]:.4g} to {q[k]:.4g} {units[k]}")
    return found
