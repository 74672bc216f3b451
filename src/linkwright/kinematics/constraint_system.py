"""The constraints of a mechanism as functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import casadi as ca
import numpy as np

from ..algebra.array_functions import ArrayFunction
from ..errors import UnsupportedError
from ..mechanism import Mechanism
from ..types import Floats
from .closing import CLOSURE_TOLERANCES, PositionConstraints, solve_constraint_least_change
from .constraint_equations import (
    axle_misalignment_rates,
    constraint_equations,
    idle_constraint_error,
    loops_between_moving_links,
)
from .file_pose import tree_starting_pose
from .kinematic_tree import KinematicTree
from .mechanism_size import tree_length
from .pivots import ConstraintJacobianScale, PivotChoice, choose_constraint_pivots, jacobian_rank
from .tree_builder import build_kinematic_tree
from .tree_coordinates import (
    coordinate_rate_matrix,
    integrate_coordinates,
    position_ranges,
    quaternion_ranges,
)


class ConstraintSystem:
    """The constraints of a mechanism at its own numbers, as functions of numbers.

    Steps of a search have one entry for each velocity. Those of a free joint are rotations in its
    child's axes, but displacements in its parent's: so each of x, y, z can be held.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        tree: KinematicTree = build_kinematic_tree(mechanism, "numeric")
        constraints = constraint_equations(tree)
        if constraints is None:
            raise UnsupportedError(
                f"{mechanism.name} has no loops and no constraints", remedy="every q is valid"
            )
        self.mechanism, self.names, self.constraints = mechanism, tree.names, constraints
        self.positions, self.quaternions = position_ranges(tree), quaternion_ranges(tree)
        q, qd, t = tree.motion.q, tree.motion.qd, tree.motion.t
        c, step = constraints, ca.SX.sym("step", tree.nv)
        jacobian = c.J[list(c.position_rows), :]
        self._residual_function = ArrayFunction(ca.Function("residual", [q, t], [c.residual]))
        self._position_function = ArrayFunction(
            ca.Function("positions", [q, t], [c.residual, jacobian, c.upright_conditions])
        )
        self._velocity_function = ArrayFunction(
            ca.Function("velocities", [q, qd, t], [c.velocity, c.J])
        )
        self._move_function = ArrayFunction(
            ca.Function("moved", [q, step], [integrate_coordinates(tree, q, step)])
        )
        self._rate_matrix_function = ArrayFunction(
            ca.Function("rates", [q], [coordinate_rate_matrix(tree, q)])
        )
        self.starting_q = tree_starting_pose(tree)
        self._axle_rate_function = ArrayFunction(
            ca.Function("askew", [q, t], [ca.jacobian(axle_misalignment_rates(tree), qd)])
        )
        self.is_angular = _turning_velocities(tree)
        self.is_restricted = np.array(ca.sum1(ca.DM(jacobian.sparsity(), 1))).ravel() > 0
        self.length = tree_length(tree, self.starting_q)
        self.row_sizes, self.scale = self._measure_rows(tree)

    def _measure_rows(self, tree: KinematicTree) -> tuple[Floats, ConstraintJacobianScale]:
        """Return the sizes of the rows (m, rad, or by their own Jacobian) and the scale of the
        Jacobian; raise where a constraint restricts no velocity, wherever the mechanism stands,
        unless other loops may make it redundant."""
        rng, n, length = np.random.default_rng(0), self.names.nv, self.length
        found = [
            np.abs(self.velocity_terms(self.move(self.starting_q, step), np.zeros(n), 0.3)[1])
            for step in (rng.uniform(-1, 1, n) for _ in range(2))
        ]
        elsewhere = np.max(found, axis=0)
        largest = elsewhere.max(axis=1, initial=0.0)
        owners, redundant = self.constraints.owners, loops_between_moving_links(tree)
        for owner in dict.fromkeys(owners):
            if owner not in redundant and all(
                largest[k] < CLOSURE_TOLERANCES.restricting_entry
                for k, o in enumerate(owners)
                if o == owner
            ):
                raise idle_constraint_error(owner)
        rows, columns = _row_and_column_sizes(self, np.array(length))
        sizes = np.where(rows > 0, rows, np.where(largest > 0, largest, 1.0))
        entries = np.where(rows[:, None] > 0, np.outer(rows, columns), elsewhere)
        return sizes, ConstraintJacobianScale(entries, columns, self.mechanism.closure)

    # -- values -----------------------------------------------------------------------------

    def residual(self, q: Floats, t: float) -> Floats:
        """Return the residual φ(q, t) of the constraints of positions, m or rad."""
        return self._residual_function(q, t)[0].ravel()

    def position_terms(self, q: Floats, t: float) -> tuple[Floats, Floats, Floats]:
        """Return φ, its Jacobian, and the upright conditions, which must be above zero."""
        phi, J, upright = self._position_function(q, t)
        return phi.ravel(), J, upright.ravel()

    def velocity_terms(self, q: Floats, qd: Floats, t: float) -> tuple[Floats, Floats]:
        """Return the violation J q̇ − b of velocities, and J of all constraints."""
        violation, J = self._velocity_function(q, qd, t)
        return violation.ravel(), J

    def jacobian(self, q: Floats, t: float) -> Floats:
        """Return J of all constraints at (q, t)."""
        return self.velocity_terms(q, np.zeros(self.names.nv), t)[1]

    def rate_matrix(self, q: Floats) -> Floats:
        """Return N with the rates N q̇ of the coordinates."""
        return self._rate_matrix_function(q)[0]

    def axle_rates(self, q: Floats) -> Floats:
        """Return how velocities turn the axles of wheels that roll on wheels apart, at t = 0."""
        return self._axle_rate_function(q, 0.0)[0]

    def is_upright(self, q: Floats, t: float) -> bool:
        """Return whether no joint is turned over and no wheel lies flat."""
        return bool((self.position_terms(q, t)[2] > 0).all())

    # -- steps ------------------------------------------------------------------------------

    def move(self, q: Floats, step: Floats) -> Floats:
        """Return q after unit time at the velocities `step`."""
        return self._move_function(q, step)[0].ravel()

    def move_in_parent_axes(self, q: Floats, step: Floats) -> Floats:
        """Return q after a step of the search: as `move`, but free joints are displaced in their
        parent's axes."""
        rotation = step.copy()
        for _, velocities in self.positions:
            rotation[velocities] = 0.0
        moved = self.move(q, rotation)
        for places, velocities in self.positions:
            moved[places] = q[places] + step[velocities]
        return moved

    def step_jacobian(self, q: Floats, J: Floats) -> Floats:
        """Return J with columns for steps of the search from J with columns for velocities."""
        if not self.positions:
            return J
        J, N = J.copy(), self.rate_matrix(q)
        for places, velocities in self.positions:
            J[:, velocities] = J[:, velocities] @ N[places, velocities].T
        return J

    def position_functions(self, t: float, rank_share: float) -> PositionConstraints:
        """Return the constraints of positions at time t for a search, as shares of the sizes of
        their rows; entries of the Jacobian below the share of their natural size are zero."""
        floor = rank_share * position_entry_sizes(self, np.array(self.length))
        sizes = self.row_sizes[list(self.constraints.position_rows)]

        def position_jacobian(q: Floats) -> Floats:
            J = self.step_jacobian(q, self.position_terms(q, t)[1])
            return np.where(np.abs(J) < floor, 0.0, J) / sizes[:, None]

        return PositionConstraints(
            lambda q: self.residual(q, t) / sizes, position_jacobian, self.move_in_parent_axes
        )

    def least_change(self, J: Floats, right: Floats, free: Sequence[int] | None = None) -> Floats:
        """Return the least x (…, len(free)) with J x = right (…, m), J of all rows or of those of
        positions, in the free columns (default: all); `Mechanism.closure` decides the rank."""
        chosen = list(range(self.names.nv)) if free is None else list(free)
        rows = self.jacobian_rows(J)
        J, sizes = J[:, chosen], self.row_sizes[rows]
        return solve_constraint_least_change(
            J / sizes[:, None],
            right / sizes,
            rank_share=CLOSURE_TOLERANCES.fine_rank_share,
            rank=jacobian_rank(J, self.scale.select_rows(rows).select_columns(chosen)),
        )

    # -- how open, and of which rank ----------------------------------------------------------

    def largest_residual(self, q: Floats, t: float) -> float:
        """Return the largest residual of all rows (m, rad)."""
        return float(np.abs(self.residual(q, t)).max(initial=0.0))

    def counted_residual(self, q: Floats, t: float, held: Sequence[int] = ()) -> float:
        """Return the largest residual that counts (m, rad) while the steps `held` stay zero: see
        `closable_residual`."""
        phi, J, _ = self.position_terms(q, t)
        return self.closable_residual(phi, self.step_jacobian(q, J), held=held)

    def closable_residual(
        self, left: Floats, J: Floats, unit: float = 1.0, held: Sequence[int] = ()
    ) -> float:
        """Return the largest of the residuals `left` of rows whose Jacobian is J that counts, while
        the columns `held` stay zero.

        Nearly redundant rows leave something open that no motion closes. That does not count
        within the closure (in multiples of `unit`), and neither does what motions could close
        where it is not larger than that: by least squares or row by row, it is spread otherwise.
        """
        whole = float(np.abs(left).max(initial=0.0))
        rows = self.jacobian_rows(J)
        shares = left / self.row_sizes[rows]
        if (
            whole <= CLOSURE_TOLERANCES.closed_residual
            or not np.isfinite(J).all()
            or not np.abs(shares).max() <= self.scale.closure * unit
        ):
            return whole
        free = [k for k in range(J.shape[1]) if k not in held]
        scale = self.scale.select_rows(rows).select_columns(free)
        rank = jacobian_rank(J[:, free], scale)
        directions = np.linalg.svd(J[:, free] / self.row_sizes[rows, None] * scale.columns)[0]
        closable = directions[:, :rank] @ (directions[:, :rank].T @ shares)
        spread = CLOSURE_TOLERANCES.redundant_row_spread * np.abs(shares - closable).max()
        if np.abs(closable).max() <= spread:
            return 0.0
        return float(np.abs(closable * self.row_sizes[rows]).max())

    def jacobian_rank(self, J: Floats) -> int:
        """Return the rank of a Jacobian of all rows, or of those of positions."""
        return jacobian_rank(J, self.scale.select_rows(self.jacobian_rows(J)))

    def choose_pivots(self, J: Floats, kept: tuple[int, ...] = ()) -> PivotChoice:
        """Return the pivots of J of all rows; the velocities in `kept` stay independent."""
        return choose_constraint_pivots(
            J, self.scale, kept, self.names.qd, position_rows=self.constraints.position_rows
        )

    def jacobian_rows(self, J: Floats) -> list[int]:
        """Return the rows that a Jacobian has: all, or those of positions."""
        everything = list(range(len(self.row_sizes)))
        rows = everything if len(J) == len(everything) else list(self.constraints.position_rows)
        if len(J) != len(rows):
            raise AssertionError(f"a Jacobian of {len(J)} rows")
        return rows


def position_entry_sizes(system: ConstraintSystem, lengths: Floats) -> Floats:
    """Return the natural sizes (…, m, n) of the entries of the Jacobian of positions, of mechanisms
    of the given lengths (…), m."""
    rows, columns = _row_and_column_sizes(system, lengths)
    chosen = list(system.constraints.position_rows)
    return np.asarray(rows[..., chosen, None] * columns[..., None, :])


def _row_and_column_sizes(system: ConstraintSystem, lengths: Floats) -> tuple[Floats, Floats]:
    """Return the natural sizes of rows (…, m) and columns (…, n) of the Jacobian, of mechanisms of
    the given lengths (…), m; 0 for rows of unknown size."""
    length, units = lengths[..., None], np.array(system.constraints.row_units)
    rows = np.where(units == "m", length, np.where(units == "1", 1.0, 0.0))
    return rows, np.where(system.is_angular, 1.0, 1 / length)


def _turning_velocities(tree: KinematicTree) -> Floats:
    """Return 1 for velocities that turn, else 0; chosen coordinates are taken to turn."""
    if tree.transfer is not None:
        return np.ones(tree.nv)
    joints = [joint for _, joint in tree.mechanism.joints_depth_first() if joint.moves]
    return np.array([float(freedom.is_rotation) for joint in joints for freedom in joint.dofs])


@lru_cache(maxsize=32)
def constraint_system(mechanism: Mechanism) -> ConstraintSystem:
    """Return the constraints of a mechanism as functions of numbers."""
    return ConstraintSystem(mechanism)
