"""What constraints leave free, which of them are redundant, and where rows are chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, UnsupportedError
from ..mechanism import Mechanism, require_mechanism
from .assembly import CLOSED, Closing, assemble, closing_of, consistent_speeds
from .pivots import Choice, choose, rank

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mobility:
    """What is free at a configuration q.

    `freedom` counts independent speeds, `configuration` independent coordinates (only constraints
    of positions restrict those); `equations` and `rank` those of the constraints; `redundant` names
    rows that others imply, with the loops and constraints that do; `idle` rows that hold anyway.
    """

    freedom: int
    configuration: int
    equations: int
    rank: int
    redundant: dict[str, tuple[str, ...]]
    idle: tuple[str, ...]
    independent: tuple[str, ...]
    q: tuple[float, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.freedom} freedom{'s' * (self.freedom != 1)}: {', '.join(self.independent)}",
            f"{self.equations} equations of constraint, {self.rank} independent",
        ]
        if self.configuration != self.freedom:
            lines.append(f"constraints of positions alone leave {self.configuration}")
        lines += [f"redundant: {row}, by {', '.join(by)}" for row, by in self.redundant.items()]
        if self.idle:
            lines.append(f"hold by themselves: {', '.join(self.idle)}")
        return "\n".join(lines)


def mobility(
    mechanism: Mechanism, q: Sequence[float] | Floats | None = None, t: float = 0.0
) -> Mobility:
    """Freedom and redundancy of a mechanism, at q or where it is assembled."""
    closing = closing_of(require_mechanism(mechanism))
    here = assemble(mechanism, t=t) if q is None else np.asarray(q, dtype=float)
    if here.shape != (closing.names.nq,):
        raise AssemblyError(f"q has {here.size} entries", remedy=f"give {closing.names.nq}")
    _, J = closing.speeds(here, np.zeros(closing.names.nv), t)
    consistent_speeds(mechanism, here, np.zeros(closing.names.nv), t)
    kept = tuple(closing.names.qd.index(name) for name in mechanism.independent)
    try:
        choice = choose(J, kept, closing.names.qd)
    except UnsupportedError:  # a dead centre of the named ones: others are free
        choice = choose(J)
    rows = closing.constraints.row_names
    redundant = {rows[k]: _implied_by(J, k, choice, closing.constraints.owners)
                 for k in choice.redundant}  # fmt: skip
    idle = [k for k in range(len(rows)) if k not in (*choice.rows, *choice.redundant)]
    return Mobility(
        freedom=closing.names.nv - len(choice.rows),
        configuration=closing.names.nv - rank(J[: closing.constraints.positions]),
        equations=len(rows),
        rank=len(choice.rows),
        redundant=redundant,
        idle=tuple(rows[k] for k in idle),
        independent=tuple(closing.names.qd[k] for k in choice.independent),
        q=tuple(here.tolist()),
    )


def _implied_by(J: Floats, row: int, choice: Choice, owners: Sequence[str]) -> tuple[str, ...]:
    basis = J[list(choice.rows)]
    share = np.linalg.lstsq(basis.T, J[row], rcond=None)[0]
    involved = [owners[k] for k, x in zip(choice.rows, share, strict=True) if abs(x) > 1e-9]
    return tuple(dict.fromkeys(involved))


@lru_cache(maxsize=32)
def reference(mechanism: Mechanism) -> tuple[tuple[float, ...], Choice]:
    """The configuration that a mechanism is assembled in, and the choice of rows made there.

    Where that is singular, or not yet what time makes of it, a neighbour that is not decides.
    """
    closing = closing_of(mechanism)
    home = assemble(mechanism)
    closing.check_axles(home)
    consistent_speeds(mechanism, home, np.zeros(closing.names.nv))
    kept = tuple(closing.names.qd.index(name) for name in mechanism.independent)
    found = [(home, 0.0), *_neighbours(closing, home)]
    jacobians = [closing.speeds(q, np.zeros(closing.names.nv), t)[1] for q, t in found]
    largest = max(rank(J) for J in jacobians)
    regular = [J for J in jacobians if rank(J) == largest]
    for J in regular[:-1]:
        try:
            return tuple(home.tolist()), choose(J, kept, closing.names.qd)
        except UnsupportedError:
            continue
    return tuple(home.tolist()), choose(regular[-1], kept, closing.names.qd)


def _neighbours(closing: Closing, home: Floats) -> Iterator[tuple[Floats, float]]:
    """Closed configurations some way off, and one at another time."""
    rng, n = np.random.default_rng(0), closing.names.nv
    J = closing.at(home, 0.0)[1]
    for t in (0.0, 0.0, 0.0, 0.37) if closing.names.in_time else (0.0, 0.0, 0.0):
        wish = rng.uniform(-0.3, 0.3, n)
        q, left = closing.closed(closing.moved(home, wish - np.linalg.pinv(J) @ (J @ wish)), t)
        if left < 10 * CLOSED:
            yield q, t
