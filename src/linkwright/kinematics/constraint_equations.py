"""Equations of loops and constraints, and the conditions on velocities and accelerations that
follow.

    φ(q, t) = 0                          holonomic: loops, gears, drives, rods, surfaces
    ψ = A(q, t) q̇ − b(q, t) = 0          non-holonomic: rolling, knife edges
    V = (φ̇, ψ) = J q̇ − …,   V̇ = J q̈ + γ   J stacks ∂φ/∂q and A

A force λ of a row acts on the mechanism as +Jᵀλ, and on the bodies it ties together as wrenches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar
from ..errors import MechanismError
from .body_forces import BodyForce
from .constraint_kinds.body_states import ConstrainedBodyStates, ConstraintRows
from .kinematic_tree import KinematicTree, Restraint
from .tree_coordinates import coordinate_rate_matrix


def restraint_rows(tie: Restraint, setting: ConstrainedBodyStates) -> ConstraintRows:
    """Return the equations of one loop or constraint."""
    return tie.constraint_rows(setting)


@dataclass(frozen=True)
class ConstraintEquations:
    """All equations of a tree, as expressions of q, q̇, t.

    `owners` names the loop or constraint of every row, `row_units` its unit: "m", "1" (sines of
    angles), or "" if unknown. Rows are in file order; `position_rows` are those of φ, in the order
    of its entries.
    """

    owners: tuple[str, ...]
    row_units: tuple[str, ...]
    position_rows: tuple[int, ...]
    residual: Array
    velocity: Array
    J: Array
    bias: Array
    upright_conditions: Array

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def residual_of_all_rows(self) -> Array:
        """The residual φ in the rows of positions, zeros in those of velocities."""
        rows: Array = ca.SX.zeros(len(self))
        rows[list(self.position_rows)] = self.residual
        return rows

    @property
    def row_names(self) -> list[str]:
        """The names of the rows, numbered within the owner: pin[0], pin[1], …"""
        seen: dict[str, int] = {}
        names = []
        for owner in self.owners:
            names.append(f"{owner}[{seen.setdefault(owner, 0)}]")
            seen[owner] += 1
        return names


def constraint_equations(tree: KinematicTree) -> ConstraintEquations | None:
    """Return the equations of a tree's loops and constraints; None if it has none."""
    ties = tree.restraints.entries
    if not ties:
        return None
    setting, own = ConstrainedBodyStates(tree), tree.motion
    found = [(tie, restraint_rows(tie, setting)) for tie in ties]
    residual = _stack_constraint_rows([row for _, rows in found for row in rows.positions])
    nonholonomic = _stack_constraint_rows([row for _, rows in found for row in rows.velocities])
    N = coordinate_rate_matrix(tree, own.q)
    # All equations are differentiated at once and forward: the derivatives of a body's motion are
    # then common to all loops that the body closes, as a platform does with its legs.
    rates = ca.jtimes(residual, own.q, N @ own.qd) + ca.jacobian(residual, own.t)
    slopes = ca.vertcat(ca.jacobian(residual, own.q) @ N, ca.jacobian(nonholonomic, own.qd))
    order = _file_order_of_rows([rows for _, rows in found])
    velocity, J = ca.vertcat(rates, nonholonomic)[order], slopes[order, :]
    owners = [tie.name for tie, rows in found for _ in (*rows.positions, *rows.velocities)]
    units = [
        unit
        for tie, rows in found
        for part in (rows.positions, rows.velocities)
        for unit in _restraint_row_units(tie, part)
    ]
    _check_constraint_rows_restrict(J, owners, loops_between_moving_links(tree))
    gamma = ca.jtimes(velocity, own.q, N @ own.qd) + ca.jacobian(velocity, own.t)
    upright = _stack_constraint_rows([row for _, rows in found for row in rows.upright])
    return ConstraintEquations(
        tuple(owners),
        tuple(units),
        tuple(k for k, row in enumerate(order) if row < residual.shape[0]),
        residual,
        velocity,
        J,
        ca.densify(gamma),
        upright,
    )


def _file_order_of_rows(parts: Sequence[ConstraintRows]) -> list[int]:
    """Return the places of the rows in file order, positions of a part before its velocities, where
    all positions are stacked on all velocities."""
    order: list[int] = []
    position, velocity = 0, sum(len(rows.positions) for rows in parts)
    for rows in parts:
        order += range(position, position + len(rows.positions))
        order += range(velocity, velocity + len(rows.velocities))
        position, velocity = position + len(rows.positions), velocity + len(rows.velocities)
    return order


def _stack_constraint_rows(rows: Sequence[Scalar]) -> Array:
    """Stack scalar rows to a column; without rows it has no entries."""
    return ca.vertcat(ca.SX(0, 1), *rows)


def axle_misalignment_rates(tree: KinematicTree) -> Array:
    """Return the rates that equations of rolling assume to be zero: those that turn parallel axles
    apart."""
    setting = ConstrainedBodyStates(tree)
    return _stack_constraint_rows(
        [row for tie in tree.restraints.entries for row in tie.assumed_zero_rates(setting)]
    )


def _restraint_row_units(tie: Restraint, rows: list[Scalar]) -> list[str]:
    """Return the units of a restraint's equations, one per row."""
    return tie.row_units(len(rows))


def loops_between_moving_links(tree: KinematicTree) -> set[str]:
    """Return the loops between bodies that move relative to each other. Such a loop may be
    redundant, like the second hinge of a door."""
    ties = tree.restraints.entries
    return {tie.name for tie in ties if len({place.link for place in tie.loop_frames}) == 2}


def _check_constraint_rows_restrict(J: Array, owners: list[str], redundant: set[str]) -> None:
    """Raise where a constraint restricts no velocity; loops in `redundant` may do so."""
    touched = {owners[row] for row in ca.sparsify(J).sparsity().get_triplet()[0]}
    for owner in owners:
        if owner not in touched and owner not in redundant:
            raise idle_constraint_error(owner)


def idle_constraint_error(owner: str) -> MechanismError:
    """Return the error for a constraint that restricts no velocity."""
    return MechanismError(
        f"'{owner}' restricts nothing: what it ties together does not move",
        remedy="remove it, or name bodies that move against each other",
    )


def constraint_body_forces(
    tree: KinematicTree, constraints: ConstraintEquations, force: Array
) -> list[BodyForce]:
    """Return the wrenches of multipliers λ on the bodies that loops and constraints connect.

    The virtual power of a wrench is λ times the rate of its row. Equations between coordinates
    act along these, and have no wrench.
    """
    found = []
    for tie in tree.restraints.entries:
        for body in _restrained_bodies(tie, ConstrainedBodyStates(tree)):
            shift, push = ca.SX.sym("shift", 6), ca.SX.sym("push", 6)
            rows = restraint_rows(tie, ConstrainedBodyStates(tree, {body: shift}, {body: push}))
            own = [force[k] for k, owner in enumerate(constraints.owners) if owner == tie.name]
            count = len(rows.positions)
            moment_and_force = _constraint_row_gradient(rows.positions, own[:count], shift)
            moment_and_force += _constraint_row_gradient(rows.velocities, own[count:], push)
            at = [ca.vertcat(shift, push)], [ca.SX.zeros(12)]
            (total,) = ca.substitute([moment_and_force], *at)
            link = tree.bodies[body].link
            found.append(BodyForce(body, link, ca.SX.zeros(3), total[3:], total[:3], tie.name))
    return found


def _constraint_row_gradient(rows: list[Scalar], forces: list[Scalar], symbol: Array) -> Array:
    """Return ∂(Σ λ row)/∂symbol."""
    pairs = zip(rows, forces, strict=True)
    return ca.gradient(sum((row * force for row, force in pairs), ca.SX(0)), symbol)


def _restrained_bodies(tie: Restraint, setting: ConstrainedBodyStates) -> list[str]:
    """Return the bodies, without ground, that a restraint acts on."""
    bodies = [setting.body_name(name) for name in tie.attached_names]
    return [body for body in dict.fromkeys(bodies) if body != "ground"]
