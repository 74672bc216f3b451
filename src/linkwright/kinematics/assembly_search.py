"""The search for closed configurations: restarts around rough values, branches, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..errors import AssemblyError
from ..mechanism.units import coordinate_units
from ..types import Floats
from .closing import TOLERANCES, search_positions
from .constraint_system import ConstraintSystem

Ranges = Mapping[str, tuple[float, float]]


def close_configuration(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int] = ()
) -> tuple[Floats, float]:
    """Return q after steps of least length, and the largest residual that is left. Nearly
    redundant rows are closed in the sense of least squares."""
    bound = TOLERANCES.closed * max(1.0, float(np.abs(q).max(initial=0.0)))
    if held:  # near limits of what is held, singular values are small and count
        finest = _search(system, q, t, held, TOLERANCES.fine_rank_share)
        left = system.gap(finest, t)
        if np.abs(finest - q).max() < TOLERANCES.near and left <= bound:
            return finest, left
    q = _search(system, q, t, held, system.scale.closure)
    near = max(TOLERANCES.near, system.scale.closure * system.sizes.max())
    left = system.largest_residual(q, t)
    if not TOLERANCES.closed < left < near:
        return q, left
    return _choose_rank(system, q, t, held)


def _choose_rank(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int]
) -> tuple[Floats, float]:
    """Return what a finer rank makes of q where q is singular, q itself where it is redundant."""
    bound = TOLERANCES.closed * max(1.0, float(np.abs(q).max(initial=0.0)))
    finer = _search(system, q, t, held, TOLERANCES.fine_rank_share)
    closes = system.largest_residual(finer, t) <= TOLERANCES.closed
    left = system.gap(q, t)
    if (closes and np.abs(finer - q).max() < TOLERANCES.near) or left > bound:
        return finer, system.gap(finer, t)
    return q, left


def _search(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int], rank_share: float
) -> Floats:
    functions = system.functions(t, rank_share)
    return search_positions(functions, q, hold=held, rank_share=rank_share)


def restart_positions(
    system: ConstraintSystem, q: Floats, held: Sequence[int], ranges: Ranges | None = None
) -> Iterator[Floats]:
    """Yield the given start, then starts within the ranges, then others around it, further and
    further away; velocities that no constraint of positions touches stay as they are."""
    yield q
    rng = np.random.default_rng(0)
    for share in (0.5, 0.25, 0.75) if ranges else ():
        yield _within(system, q, ranges or {}, share)
    for k in range(TOLERANCES.restarts):
        reach = min(1.0, (k + 4) / TOLERANCES.restarts_to_full_reach)
        step = rng.uniform(-1, 1, system.names.nv) * (
            np.where(system.turns, np.pi, 1.0) * reach * system.touched
        )
        step[list(held)] = 0.0
        yield system.move_in_parent_axes(q, step)


def _within(system: ConstraintSystem, q: Floats, ranges: Ranges, share: float) -> Floats:
    """Return q with the named coordinates at a share of their ranges."""
    target = q.copy()
    for name, (low, high) in ranges.items():
        target[system.names.q.index(name)] = low + share * (high - low)
    return target


def find_configuration(
    system: ConstraintSystem, q: Floats, t: float, held: Sequence[int] = (),
    ranges: Ranges | None = None,
) -> Floats:  # fmt: skip
    """Return the first configuration that closes, upright and within the ranges."""
    best, least, refused = q, np.inf, ""
    bound = TOLERANCES.closed * max(1.0, float(np.abs(q).max(initial=0.0)))
    for start in restart_positions(system, q, held, ranges):
        found, left = close_configuration(system, start, t, held)
        if left < least:
            best, least = found, left
        if not left <= bound:
            continue
        if refusal := _refusal(system, found, t):
            refused = refusal
            continue
        target = q if ranges is None else _within(system, q, ranges, 0.5)
        wrapped = wrap_angles(system, found, target, t)
        outside = [n for n, (a, b) in (ranges or {}).items()
                   if not a <= wrapped[system.names.q.index(n)] <= b]  # fmt: skip
        if not outside:
            return wrapped
        refused = f"it closes only with '{outside[0]}' out of its range"
    raise _failure(system, best, t, refused)


def _refusal(system: ConstraintSystem, q: Floats, t: float) -> str:
    """Return why a closed configuration cannot be used; nothing where it can."""
    _, J, upright = system.position_terms(q, t)
    if not np.isfinite(J).all():
        return "its equations have no finite slope where they hold"
    if not (upright > 0).all():
        return "it closes only with a joint turned over, or a wheel that lies flat"
    return ""


def wrap_angles(system: ConstraintSystem, q: Floats, target: Floats, t: float) -> Floats:
    """Return the same configuration with angles within half a turn of the target."""
    if system.names.nq != system.names.nv:
        return q
    turns = np.round((target - q) / (2 * np.pi)) * system.turns
    for k in np.flatnonzero(turns):
        other = q.copy()
        other[k] += 2 * np.pi * turns[k]
        bound = TOLERANCES.continued + 1.1 * system.largest_residual(q, t)
        if system.largest_residual(other, t) < bound:
            q = other
    return q


def _failure(system: ConstraintSystem, q: Floats, t: float, refused: str) -> AssemblyError:
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
        f"the mechanism cannot be assembled: {what}", where=system.mechanism.name,
        remedy="give rough values that are nearer, hold fewer, or check the lengths",
    )  # fmt: skip
    error.residuals, error.q = residuals, q
    return error


def far_moves(system: ConstraintSystem, q: Floats, given: Sequence[str] = ()) -> list[str]:
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
        far = TOLERANCES.far_turn if units[k] != "m" else TOLERANCES.far_shift * system.length
        if abs(q[k] - system.start[k]) > far:
            found.append(f"{name} from {system.start[k]:.4g} to {q[k]:.4g} {units[k]}")
    return found
