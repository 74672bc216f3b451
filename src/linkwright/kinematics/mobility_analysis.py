"""The mobility that constraints leave, redundant rows, and the configuration where rows are
chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import AssemblyError, MechanismError, UnsupportedError
from ..mechanism import Mechanism, require_mechanism
from ..types import Floats
from .assembly import assemble, nearest_constrained_velocities
from .assembly_search import close_configuration, describe_far_assembly_moves
from .closing import CLOSURE_TOLERANCES, solve_constraint_least_change
from .constraint_system import ConstraintSystem, constraint_system
from .pivots import PivotChoice
from .pose_configurations import read_pose


@dataclass(frozen=True, repr=False)
class Mobility(NotebookDisplayed):
    """Degrees of freedom and redundancy at a configuration.

    Attributes
    ----------
    dof, configuration : int
        Independent velocities, and independent coordinates (only constraints of positions restrict
        those).
    equations, rank : int
        Constraint rows, and independent ones.
    redundant : mapping
        Rows that others imply, with the loops and constraints that imply them.
    idle : tuple of str
        Rows that always hold.
    independent : tuple of str
        Names of the independent velocities.
    q : tuple of float
        The configuration, rad or m.
    nearly : mapping of str to float
        Rows that are redundant only within `closure`, with what they leave open, m or rad.
    moved : tuple of str
        Coordinates that the assembly moved far from the pose of the file.
    looser : (float, int) or None
        Without degrees of freedom: a larger `closure` with which it moves, and how many it then
        has.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.mobility(lw.gallery("four-bar"))
    >>> found.dof, found.equations, found.rank, found.independent
    (1, 5, 2, ('theta1',))
    """

    dof: int
    configuration: int
    equations: int
    rank: int
    redundant: dict[str, tuple[str, ...]]
    idle: tuple[str, ...]
    independent: tuple[str, ...]
    q: tuple[float, ...]
    nearly: dict[str, float]
    moved: tuple[str, ...] = ()
    looser: tuple[float, int] | None = None

    def summary(self) -> str:
        """Return one line: the degrees of freedom and the rank of the constraints."""
        rank = f"{self._equations_in_words()} of constraint of rank {self.rank}"
        return f"Mobility: {self.dof} DOF, {rank}"

    def _equations_in_words(self) -> str:
        """Return the number of equations with its noun."""
        return f"{self.equations} equation{'s' * (self.equations != 1)}"

    def __str__(self) -> str:
        lines = [
            f"{self.dof} degree{'s' * (self.dof != 1)} of freedom"
            + (f": {', '.join(self.independent)}" if self.independent else ""),
            f"{self._equations_in_words()} of constraint, {self.rank} independent",
        ]
        if self.configuration != self.dof:
            lines.append(f"holonomic constraints alone leave {self.configuration}")
        lines += [f"redundant: {row}, by {', '.join(by)}" for row, by in self.redundant.items()]
        if self.idle:
            lines.append(f"always hold: {', '.join(self.idle)}")
        if self.nearly:
            shown = [
                f"{row} stays {left:.2g} open" if left else row for row, left in self.nearly.items()
            ]
            lines.append(f"nearly redundant, closed by least squares: {', '.join(shown)}")
        if self.looser is not None:
            closure, dof = self.looser
            lines.append(
                f"rounded numbers may lock it: closure = {closure:g} leaves {dof} "
                f"degree{'s' * (dof != 1)} of freedom"
            )
        lines += [f"assembly moved {move}" for move in self.moved]
        return "\n".join(lines)


_LOOSER_CLOSURES = (1e-5, 1e-4, 1e-3)
"""Tolerances that a mechanism without degrees of freedom is tried with: those of rounded files."""


def mobility(
    mechanism: Mechanism,
    q: Sequence[float] | Floats | None = None,
    t: float = 0.0,
    closure: float | None = None,
) -> Mobility:
    """Return the degrees of freedom and the redundant constraints of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q : (nq,) array, optional
        The configuration, rad or m (default: where the mechanism is assembled).
    t : float
        Time, s, where constraints depend on it.
    closure : float, optional
        Tolerance of nearly redundant constraints, relative to their size (default: the
        mechanism's).

    Returns
    -------
    Mobility
        The counts; printed as text.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.mobility(lw.gallery("four-bar")).dof
    1
    """
    mechanism = require_mechanism(mechanism).with_closure(closure)
    system = constraint_system(mechanism)
    given = assemble(mechanism, t=t) if q is None else read_pose(mechanism, q)
    here = np.asarray(given, dtype=float)
    if here.shape != (system.names.nq,):
        raise AssemblyError(f"q has {here.size} entries", remedy=f"give {system.names.nq}")
    J = system.jacobian(here, t)
    nearest_constrained_velocities(mechanism, here, np.zeros(system.names.nv), t)
    kept = tuple(system.names.qd.index(name) for name in mechanism.independent)
    try:
        choice = system.choose_pivots(J, kept)
    except UnsupportedError:  # a dead centre of the named ones: others are free
        choice = system.choose_pivots(J)
    rows = system.constraints.row_names
    redundant = {
        rows[k]: _implying_constraints(J, k, choice, system.constraints.owners)
        for k in choice.redundant
    }
    idle = [k for k in range(len(rows)) if k not in (*choice.rows, *choice.redundant)]
    return Mobility(
        dof=system.names.nv - len(choice.rows),
        configuration=system.names.nv
        - system.jacobian_rank(J[list(system.constraints.position_rows)]),
        equations=len(rows),
        rank=len(choice.rows),
        redundant=redundant,
        idle=tuple(rows[k] for k in idle),
        independent=tuple(system.names.qd[k] for k in choice.independent),
        q=tuple(here.tolist()),
        nearly=_find_nearly_redundant_rows(system, here, t, J, choice),
        moved=tuple(describe_far_assembly_moves(system, here)) if q is None else (),
        looser=_find_looser_closure(mechanism, J) if system.names.nv == len(choice.rows) else None,
    )


def _find_looser_closure(mechanism: Mechanism, J: Floats) -> tuple[float, int] | None:
    """Return the smallest larger tolerance that lets a mechanism without degrees of freedom move,
    and how many it then has."""
    for closure in _LOOSER_CLOSURES:
        if closure > mechanism.closure:
            system = constraint_system(mechanism.with_closure(closure))
            dof = J.shape[1] - system.jacobian_rank(J)
            if dof > 0:
                return closure, dof
    return None


def _find_nearly_redundant_rows(
    system: ConstraintSystem, q: Floats, t: float, J: Floats, choice: PivotChoice
) -> dict[str, float]:
    """Return rows that are left out although others imply them only approximately, with their
    residuals."""
    phi = np.zeros(len(J))
    phi[list(system.constraints.position_rows)] = system.residual(q, t)
    basis, found = J[list(choice.rows)] / system.row_sizes[list(choice.rows), None], {}
    for k in set(range(len(J))) - set(choice.rows):
        row = J[k] / system.row_sizes[k]
        share = _constraint_row_shares(basis, row)
        differs = np.abs((row - share @ basis) * system.scale.columns).max()
        if max(differs, abs(phi[k]) / system.row_sizes[k]) > CLOSURE_TOLERANCES.implied_row_share:
            found[system.constraints.row_names[k]] = float(abs(phi[k]))
    return found


def _constraint_row_shares(basis: Floats, row: Floats) -> Floats:
    """Return the shares of independent rows that add up to another row, or come nearest to it."""
    return solve_constraint_least_change(basis.T, row, rank_share=CLOSURE_TOLERANCES.rounding_share)


def _implying_constraints(
    J: Floats, row: int, choice: PivotChoice, owners: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the loops and constraints that imply a redundant row."""
    basis = J[list(choice.rows)]
    share = _constraint_row_shares(basis, J[row])
    involved = [
        owners[k]
        for k, x in zip(choice.rows, share, strict=True)
        if abs(x) > CLOSURE_TOLERANCES.rank_share
    ]
    return tuple(dict.fromkeys(involved))


@lru_cache(maxsize=32)
def reference_configuration(mechanism: Mechanism) -> tuple[tuple[float, ...], PivotChoice]:
    """Return the configuration in which a mechanism is assembled, and the choice of rows made
    there.

    Where that is singular, or not yet what time makes of it, a neighbour that is not decides.
    """
    system = constraint_system(mechanism)
    home = assemble(mechanism)
    _check_parallel_axles(system, home)
    nearest_constrained_velocities(mechanism, home, np.zeros(system.names.nv))
    kept = tuple(system.names.qd.index(name) for name in mechanism.independent)
    found = [(home, 0.0), *_neighboring_closed_configurations(system, home)]
    jacobians = [system.jacobian(q, t) for q, t in found]
    largest = max(system.jacobian_rank(J) for J in jacobians)
    regular = [J for J in jacobians if system.jacobian_rank(J) == largest]
    for J in regular[:-1]:
        try:
            return tuple(home.tolist()), system.choose_pivots(J, kept)
        except UnsupportedError:
            continue
    return tuple(home.tolist()), system.choose_pivots(regular[-1], kept)


def _check_parallel_axles(system: ConstraintSystem, q: Floats) -> None:
    """Raise where wheels that roll on wheels do not keep their axles parallel as they move."""
    J = system.jacobian(q, 0.0)
    free = np.eye(system.names.nv) - system.least_change(J, J.T)
    if np.abs(system.axle_rates(q) @ free).max(initial=0.0) > CLOSURE_TOLERANCES.axle_rate:
        raise MechanismError(
            "a wheel rolls on another whose axle is not parallel to its own",
            where=system.mechanism.name,
            remedy="let their axles be parallel",
        )


def _neighboring_closed_configurations(
    system: ConstraintSystem, home: Floats
) -> Iterator[tuple[Floats, float]]:
    """Yield (q, t) of closed configurations at some distance from home, and of one at another
    time."""
    rng, n = np.random.default_rng(0), system.names.nv
    J = system.position_terms(home, 0.0)[1]
    for t in (0.0, 0.0, 0.0, 0.37) if system.names.is_time_dependent else (0.0, 0.0, 0.0):
        wish = rng.uniform(-0.3, 0.3, n)
        step = wish - system.least_change(J, J @ wish)
        q, left = close_configuration(system, system.move(home, step), t)
        if left < CLOSURE_TOLERANCES.continued_residual:
            yield q, t


@lru_cache(maxsize=32)
def constraint_ranks(mechanism: Mechanism) -> tuple[int, int]:
    """Return the numbers of independent constraint equations: of all, and of those of positions."""
    system, (home, choice) = constraint_system(mechanism), reference_configuration(mechanism)
    chosen = len(set(system.constraints.position_rows) & set(choice.rows))
    at_home = system.jacobian_rank(system.position_terms(np.array(home), 0.0)[1])
    return len(choice.rows), max(chosen, at_home)


@lru_cache(maxsize=32)
def redundant_row_leeway(mechanism: Mechanism) -> float:
    """Return the residual that nearly redundant rows may keep (m, rad); 0 where all rows close
    exactly."""
    system, home = constraint_system(mechanism), np.array(reference_configuration(mechanism)[0])
    states = [(home, 0.0), *_neighboring_closed_configurations(system, home)]
    left = max(system.largest_residual(q, t) for q, t in states)
    return (
        system.scale.closure * system.row_sizes.max()
        if left > CLOSURE_TOLERANCES.nearly_redundant_residual
        else 0.0
    )
