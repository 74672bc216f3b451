"""Assembly: from rough values of coordinates to a configuration in which everything closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import AssemblyError, NameNotFoundError, suggest
from ..mechanism import Mechanism, numbers_from_text, require_mechanism
from ..types import Floats
from .closing import CLOSED, Closing, Ranges, closing_of
from .pivots import rank


def assemble(
    mechanism: Mechanism,
    values: Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    ranges: Ranges | None = None,
    t: float = 0.0,
    closure: float | None = None,
) -> Floats:
    """q, (nq), that closes all loops and holds all constraints of positions at time t.

    The search starts from `[assembly]` of the mechanism, updated by `values`; coordinates in `hold`
    stay exactly there, quaternions as a whole. `ranges` asks for a branch:
    `{"elbow": (0, 3.14)}`. `closure`: see `Mechanism.closure` (default: the mechanism's own).
    """
    closing = closing_of(require_mechanism(mechanism).with_closure(closure))
    values = numbers_from_text(mechanism, values, "q0")
    q = closing.start.copy()
    for name in (*(values or {}), *hold, *(ranges or {})):
        closing.check_name(name)
    held = {name: _number(name, (values or {}).get(name, closing.value(name))) for name in hold}
    check_quaternions(held, closing.names.q)
    for name, value in (values or {}).items():
        q[closing.names.q.index(name)] = _number(name, value)
    for name, (low, high) in (ranges or {}).items():
        if not _number(name, low) <= _number(name, high):
            raise AssemblyError(f"the range of '{name}' is empty", remedy="give (low, high)")
    q = closing.moved(q, np.zeros(closing.names.nv))  # quaternions of length 1
    if not np.isfinite(q).all():
        raise AssemblyError(
            "a rough value is not finite, or a quaternion is zero", where=mechanism.name,
            remedy="give numbers; 1, 0, 0, 0 is no turn",
        )  # fmt: skip
    return closing.assembled(q, t, closing.held_steps(hold), ranges)


def check_quaternions(given: Mapping[str, float], names: Sequence[str]) -> None:
    """Raises where some of a quaternion's four coordinates are given without the others, or where
    its length is not 1 within rounding."""
    heads = {name.removesuffix(".qw") for name in names if name.endswith(".qw")}
    for head in heads & {name.rpartition(".")[0] for name in given}:
        four = [f"{head}.{ending}" for ending in ("qw", "qx", "qy", "qz")]
        said = [name for name in four if name in given]
        if said and len(said) < 4:
            raise AssemblyError(
                f"a quaternion has four coordinates, and {', '.join(said)} alone "
                f"{'is' if len(said) == 1 else 'are'} given", where=head,
                remedy=f"give {', '.join(four)}, or none of them",
            )  # fmt: skip
        length = float(np.linalg.norm([given[name] for name in said])) if said else 1.0
        if not abs(length - 1) <= UNIT:
            raise AssemblyError(
                f"the quaternion has length {length:.6g}", where=head,
                remedy="divide its four coordinates by that",
            )  # fmt: skip


UNIT = 1e-3
"""Quaternions given by name may differ in length from 1 by this much: three digits are enough."""


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise AssemblyError(f"{value!r} is no value for '{name}'", remedy="give a number") from None


def assemblies(
    mechanism: Mechanism,
    values: Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    t: float = 0.0,
) -> list[Floats]:
    """All configurations found that close with the held coordinates: the branches."""
    closing = closing_of(mechanism)
    first = assemble(mechanism, values, hold, t=t)
    held = closing.held_steps(hold)
    J = closing.slope_of_steps(first, closing.at(first, t)[1])
    loose = [int(k) for k in np.flatnonzero(closing.touched) if k not in held]
    more = len(loose) - rank(J[:, loose], closing.scale.of_rows(len(J)).of_columns(loose))
    if more > 0:
        raise AssemblyError(
            f"{more} more coordinates can move: there is no end of "
            "configurations", where=mechanism.name, remedy="hold as many coordinates as are free",
        )  # fmt: skip
    found = [first]
    for start in closing.starts(first, held):
        q, left = closing.closed(start, t, held)
        if not (left <= CLOSED * max(1.0, np.abs(q).max()) and (closing.at(q, t)[2] > 0).all()):
            continue
        q = closing.near(q, first, t)
        if all(np.abs(q - other).max() > 1e-6 for other in found):
            found.append(q)
    return found


def assemble_velocities(
    mechanism: Mechanism,
    q: Sequence[float] | Floats,
    qd: Sequence[float] | Floats | Mapping[str, float] | None = None,
    t: float = 0.0,
) -> Floats:
    """q̇, (nv), that all loops and constraints allow at q, (nq), and time t.

    `qd` as an array is projected: the result is the nearest one that holds the constraints. As a
    table by name, `{"crank": 2.0}`, it holds exactly, and the other speeds are the least that go
    with it. None: the least speeds, zero where nothing is driven.
    """
    closing = closing_of(mechanism)
    here = np.asarray(q, dtype=float)
    if here.shape != (closing.names.nq,):
        raise AssemblyError(f"q has {here.size} entries", remedy=f"give {closing.names.nq}")
    if isinstance(qd, Mapping):
        return _speeds_with(closing, here, qd, t)
    speeds = np.zeros(closing.names.nv) if qd is None else np.asarray(qd, dtype=float)
    if speeds.shape != (closing.names.nv,):
        raise AssemblyError(f"qd has {speeds.size} entries", remedy=f"give {closing.names.nv}")
    return consistent_speeds(mechanism, here, speeds, t)


def _speeds_with(closing: Closing, q: Floats, given: Mapping[str, float], t: float) -> Floats:
    """The least speeds with the given ones, under the constraints."""
    names = closing.names.qd
    for name in given:
        if name not in names:
            raise NameNotFoundError(f"there is no speed '{name}'", remedy=suggest(name, [*names]))
    numbers = [_number(name, value) for name, value in given.items()]
    still, J = closing.speeds(q, np.zeros(len(names)), t)
    held = [names.index(name) for name in given]
    free = [k for k in range(len(names)) if k not in held]
    qd = np.zeros(len(names))
    qd[held] = numbers
    right = still + J @ qd
    qd[free] = -closing.inverse(J, free) @ right
    largest = max(1.0, float(np.abs(qd).max()))
    left = closing.speeds(q, qd, t)[0]
    if closing.counted(left, J, largest) > 1e-8 * largest:
        worst = int(np.argmax(np.abs(left) / closing.sizes))
        raise AssemblyError(
            f"the given speeds contradict the constraints: '{closing.constraints.owners[worst]}' "
            f"is violated by {abs(left[worst]):.3g} (m/s or rad/s)",
            where=closing.mechanism.name, remedy="give fewer of them: the others follow",
        )  # fmt: skip
    return qd


def check_velocities(mechanism: Mechanism, q: Floats, qd: Floats, t: float = 0.0) -> None:
    """Raises where speeds break the constraints by more than rounding."""
    closing = closing_of(mechanism)
    V, J = closing.speeds(q, qd, t)
    bound = _ROUNDED * np.abs(J) @ (1 + np.abs(qd)) + _ROUNDED * closing.sizes
    if (
        closing.counted(V, J, max(1.0, float(np.abs(qd).max()))) <= bound.min()
        or (np.abs(V) <= bound).all()
    ):
        return
    worst = int(np.argmax(np.abs(V) / bound))
    raise AssemblyError(
        f"the speeds break '{closing.constraints.owners[worst]}' by {abs(V[worst]):.3g} (m/s or "
        "rad/s)", where=mechanism.name,
        remedy="give some of them by name, so that the others follow, or project them: "
        "assemble_velocities(mechanism, q, qd)",
    )  # fmt: skip


_ROUNDED = 1e-8
"""Speeds that somebody computed elsewhere may break constraints by this share."""


def consistent_speeds(
    mechanism: Mechanism,
    q: Sequence[float] | Floats,
    qd: Sequence[float] | Floats,
    t: float = 0.0,
) -> Floats:
    """The speeds nearest to qd that the constraints allow at q."""
    closing = closing_of(mechanism)
    here, speeds = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    V, J = closing.speeds(here, speeds, t)
    corrected: Floats = speeds - closing.inverse(J) @ V
    largest = max(1.0, float(np.abs(corrected).max()))
    left = closing.counted(closing.speeds(here, corrected, t)[0], J, largest)
    if left > 1e-9 * largest:
        raise AssemblyError(
            f"no speeds hold the constraints here: {left:.3g} is left over",
            where=mechanism.name, remedy="the demands contradict each other in this configuration",
        )  # fmt: skip
    return corrected


def closed_state(
    mechanism: Mechanism, step: Floats, qd: Floats, t: float = 0.0
) -> tuple[Floats, Floats]:
    """A state that the constraints allow: home, moved by about `step`, with speeds near qd."""
    closing = closing_of(mechanism)
    home = assemble(mechanism, t=t)
    for share in (1.0, 0.3, 0.1, 0.0):
        q, left = closing.closed(closing.moved(home, share * step), t)
        if left <= 10 * CLOSED:
            break
    return q, consistent_speeds(mechanism, q, qd, t)
