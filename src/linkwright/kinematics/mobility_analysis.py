"""What constraints leave free, which of them are redundant, and where rows are chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..displays import Displayed
from ..errors import AssemblyError, UnsupportedError
from ..mechanism import Mechanism, require_mechanism
from ..types import Floats
from .assembly import assemble, consistent_speeds
from .closing import CLOSED, Closing, closing_of
from .pivots import Choice, choose


@dataclass(frozen=True, repr=False)
class Mobility(Displayed):
    """What is free at a configuration q.

    `freedom` counts independent speeds, `configuration` independent coordinates (only constraints
    of positions restrict those); `equations` and `rank` those of the constraints; `redundant` names
    rows that others imply, with the loops and constraints that do; `idle` rows that hold anyway.
    `nearly` are those among them that do so only within the mechanism's `closure`, with what they
    leave open (m, rad). `moved` says which coordinates the assembly took far from the file's pose.
    """

    freedom: int
    configuration: int
    equations: int
    rank: int
    redundant: dict[str, tuple[str, ...]]
    idle: tuple[str, ...]
    independent: tuple[str, ...]
    q: tuple[float, ...]
    nearly: dict[str, float]
    moved: tuple[str, ...] = ()

    def summary(self) -> str:
        """The degrees of freedom and the rank of the constraints."""
        rank = f"{self.equations} equations of constraint of rank {self.rank}"
        return f"Mobility: {self.freedom} DOF, {rank}"

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
        if self.nearly:
            shown = [
                f"{row} stays {left:.2g} open" if left else row for row, left in self.nearly.items()
            ]
            lines.append(f"nearly redundant, closed by least squares: {', '.join(shown)}")
        lines += [f"assembly moved {move}" for move in self.moved]
        return "\n".join(lines)


def mobility(
    mechanism: Mechanism,
    q: Sequence[float] | Floats | None = None,
    t: float = 0.0,
    closure: float | None = None,
) -> Mobility:
    """Freedom and redundancy of a mechanism, at q or where it is assembled. `closure`: see
    `Mechanism.closure` (default: the mechanism's own)."""
    mechanism = require_mechanism(mechanism).with_closure(closure)
    closing = closing_of(mechanism)
    here = assemble(mechanism, t=t) if q is None else np.asarray(q, dtype=float)
    if here.shape != (closing.names.nq,):
        raise AssemblyError(f"q has {here.size} entries", remedy=f"give {closing.names.nq}")
    _, J = closing.speeds(here, np.zeros(closing.names.nv), t)
    consistent_speeds(mechanism, here, np.zeros(closing.names.nv), t)
    kept = tuple(closing.names.qd.index(name) for name in mechanism.independent)
    try:
        choice = choose(J, closing.scale, kept, closing.names.qd)
    except UnsupportedError:  # a dead centre of the named ones: others are free
        choice = choose(J, closing.scale)
    rows = closing.constraints.row_names
    redundant = {rows[k]: _implied_by(J, k, choice, closing.constraints.owners)
                 for k in choice.redundant}  # fmt: skip
    idle = [k for k in range(len(rows)) if k not in (*choice.rows, *choice.redundant)]
    return Mobility(
        freedom=closing.names.nv - len(choice.rows),
        configuration=closing.names.nv - closing.rank(J[list(closing.constraints.position_rows)]),
        equations=len(rows),
        rank=len(choice.rows),
        redundant=redundant,
        idle=tuple(rows[k] for k in idle),
        independent=tuple(closing.names.qd[k] for k in choice.independent),
        q=tuple(here.tolist()),
        nearly=_nearly_redundant(closing, here, t, J, choice),
        moved=tuple(closing.far_moves(here)) if q is None else (),
    )


def _nearly_redundant(
    closing: Closing, q: Floats, t: float, J: Floats, choice: Choice
) -> dict[str, float]:
    """Rows that are left out although, to the last digits, others do not imply them."""
    phi = np.zeros(len(J))
    phi[list(closing.constraints.position_rows)] = closing.at(q, t)[0]
    basis, found = J[list(choice.rows)] / closing.sizes[list(choice.rows), None], {}
    for k in set(range(len(J))) - set(choice.rows):
        row = J[k] / closing.sizes[k]
        share = np.linalg.lstsq(basis.T, row, rcond=None)[0] if len(basis) else np.zeros(0)
        differs = np.abs((row - share @ basis) * closing.scale.columns).max()
        if max(differs, abs(phi[k]) / closing.sizes[k]) > _EXACT:
            found[closing.constraints.row_names[k]] = float(abs(phi[k]))
    return found


_EXACT = 1e-11
"""Rows that others imply to within this share are redundant exactly, but for rounding."""


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
    largest = max(closing.rank(J) for J in jacobians)
    regular = [J for J in jacobians if closing.rank(J) == largest]
    for J in regular[:-1]:
        try:
            return tuple(home.tolist()), choose(J, closing.scale, kept, closing.names.qd)
        except UnsupportedError:
            continue
    return tuple(home.tolist()), choose(regular[-1], closing.scale, kept, closing.names.qd)


def _neighbours(closing: Closing, home: Floats) -> Iterator[tuple[Floats, float]]:
    """Closed configurations some way off, and one at another time."""
    rng, n = np.random.default_rng(0), closing.names.nv
    J = closing.at(home, 0.0)[1]
    for t in (0.0, 0.0, 0.0, 0.37) if closing.names.in_time else (0.0, 0.0, 0.0):
        wish = rng.uniform(-0.3, 0.3, n)
        q, left = closing.closed(closing.moved(home, wish - closing.inverse(J) @ (J @ wish)), t)
        if left < 10 * CLOSED:
            yield q, t


@lru_cache(maxsize=32)
def ranks(mechanism: Mechanism) -> tuple[int, int]:
    """How many equations of constraint are independent: of all, and of those of positions."""
    closing, (home, choice) = closing_of(mechanism), reference(mechanism)
    chosen = len(set(closing.constraints.position_rows) & set(choice.rows))
    at_home = closing.rank(closing.at(np.array(home), 0.0)[1])
    return len(choice.rows), max(chosen, at_home)


@lru_cache(maxsize=32)
def leeway(mechanism: Mechanism) -> float:
    """How far nearly redundant rows may stay open (m, rad); 0 where all rows close exactly."""
    closing, home = closing_of(mechanism), np.array(reference(mechanism)[0])
    states = [(home, 0.0), *_neighbours(closing, home)]
    left = max(float(np.abs(closing.at(q, t)[0]).max(initial=0.0)) for q, t in states)
    return closing.scale.closure * closing.sizes.max() if left > 100 * CLOSED else 0.0
