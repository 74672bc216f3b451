"""The generalized speeds in which Kane's equations are printed.

Without constraints and without speeds of the user's choice, equations are printed in q̇ and q̈.
Otherwise q̇ = G u + k is inserted. Where its coefficients are polynomials, as for a disk that rolls,
they are written out; where they have denominators, as for a loop, A and B of q̇_s = Σ A_sr u_r + B_s
(5) and b of q̈_s = Σ A_sr u̇_r + b_s keep these names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..written_equations import EquationLine, without_zero_entries
from .formulation import Formulation
from .kane_speeds import evaluate_at_samples
from .reduced_dynamics import ReducedDynamics
from .written_reduction import written_reduction

if TYPE_CHECKING:
    from .kane import KaneFormulation


@dataclass(frozen=True)
class WrittenSpeeds:
    """Generalized speeds u with their rates, as printed: q̇ = G u + k, q̈ = G u̇ + bias.

    `definitions` are the lines u = Y q̇ + Z and what follows for other speeds, `coefficients` the
    values of names A, B, b in G, k and the bias. `reduction` has the constraints from which these
    follow, unless the user has chosen the speeds.
    """

    kane: KaneFormulation
    names: tuple[str, ...]
    u: Array
    rates: Array
    G: Array
    k: Array
    bias_accelerations: Array
    definitions: tuple[EquationLine, ...]
    coefficients: tuple[tuple[str, Array], ...] = ()
    are_chosen: bool = True
    is_polynomial: bool = True
    reduction: ReducedDynamics | None = None

    @property
    def row_names(self) -> tuple[str, ...]:
        """The names of the speeds in tables: the user's, or u1, u2, …"""
        if self.kane.speeds is not None:
            return self.names
        return tuple(f"u{r + 1}" for r in range(self.u.numel()))

    @property
    def symbol_meanings(self) -> dict[str, str]:
        """The meanings of the speeds of the user's choice."""
        speeds = self.kane.speeds
        return {} if speeds is None else dict.fromkeys(speeds.names, "generalized speed")

    def insert(self, expression: Array) -> Array:
        """An expression of q̇ and q̈ in the speeds and their rates."""
        whole = ca.densify(ca.SX(expression))
        if not self.are_chosen:
            return whole
        motion = ca.vertcat(self.kane.qd, self.kane.qdd)
        velocities = self.G @ self.u + self.k
        accelerations = self.G @ self.rates + self.bias_accelerations
        return ca.substitute(whole, motion, ca.vertcat(velocities, accelerations))

    def lines(self) -> Iterator[EquationLine]:
        """The definitions of the speeds, and the velocities that depend on them."""
        yield from self.definitions
        if self.are_chosen:
            velocities = ca.densify(self.G @ self.u + self.k)
            for k, name in enumerate(self.kane.tree.names.velocity_symbols):
                if not ca.is_equal(velocities[k], self.kane.qd[k]):
                    yield EquationLine(name, velocities[k])

    def coefficient_systems(self, letters: str) -> list[tuple[Array, Array, Array]]:
        """The linear equations whose solutions are the coefficients with these letters:
        J_p A = −J_a and J_p B = −w of velocities, J_p b = −γ of accelerations at u̇ = 0."""
        own = self.reduction
        assert own is not None
        rows, p = list(own.rows), sorted(own.p)
        J, velocity = own.constraints.J[rows, :], own.constraints.velocity[rows]
        if letters == "b":
            return [(J[:, p], self.bias_accelerations[p], -own.constraints.bias[rows])]
        imposed = ca.substitute(velocity, self.kane.qd, 0 * self.kane.qd)
        columns = [(J[:, p], self.G[p, r], -J[:, k]) for r, k in enumerate(own.a)]
        return [*columns, (J[:, p], self.k[p], -imposed)]

    def is_diagonal(self, M: Array) -> bool:
        """Whether M has no entries off its diagonal, at random states."""
        return all(
            np.abs(at - np.diag(np.diag(at))).max() < 1e-12 * np.abs(at).max()
            for at in evaluate_at_samples(self.kane, M)
        )


def written_speeds(kane: KaneFormulation) -> WrittenSpeeds:
    """The speeds in which the equations of a mechanism are printed."""
    n, names = kane.tree.nv, tuple(kane.tree.names.velocity_symbols)
    if kane.speeds is not None:
        return _chosen_speeds(kane)
    if kane.constraints is None:
        lines = tuple(EquationLine(f"u{k + 1}", kane.qd[k]) for k in range(n))
        still = ca.SX.zeros(n)
        return WrittenSpeeds(
            kane, names, kane.qd, kane.qdd, ca.SX.eye(n), still, still, lines, are_chosen=False
        )
    own = written_reduction(kane)
    u = kane.qd[own.a]
    found = WrittenSpeeds(
        kane,
        tuple(names[k] for k in own.a),
        u,
        kane.qdd[own.a],
        own.G,
        own.imposed_velocities,
        own.bias_accelerations,
        tuple(EquationLine(f"u{r + 1}", u[r]) for r in range(len(own.a))),
        reduction=own,
    )
    pivots = own.constraints.J[own.rows, own.p]
    made = found if has_constant_determinant(kane, pivots) else _name_coefficients(found)
    velocities = made.G @ u + made.k
    inserted = ca.substitute(made.bias_accelerations, kane.qd, velocities)
    return _name_accelerations(replace(made, bias_accelerations=inserted))


def _chosen_speeds(kane: KaneFormulation) -> WrittenSpeeds:
    """The speeds of the user's choice, with those that depend on them."""
    own = kane.speeds
    assert own is not None
    lines = [EquationLine(name, ca.SX(value)) for name, value in kane.tree.speeds.items()]
    lines += [EquationLine(name, value) for name, value in own.dependent.items()]
    found = WrittenSpeeds(
        kane,
        own.names,
        own.u,
        ca.vertcat(*(ca.SX.sym(f"d{name}") for name in own.names)),
        own.G,
        ca.densify(ca.substitute(own.velocities, own.u, 0 * own.u)),
        own.bias_accelerations,
        tuple(lines),
    )
    inverse = ca.jacobian(own.definitions, kane.qd)
    if kane.constraints is not None:
        inverse = ca.vertcat(inverse, kane.constraints.J[kane.reduction.rows, :])
    is_plain = has_constant_determinant(kane, inverse)
    return found if is_plain else _name_accelerations(_name_coefficients(found))


def has_constant_determinant(shared: Formulation, matrix: Array) -> bool:
    """Whether the determinant of a matrix is the same in random configurations, so that its inverse
    has no denominators that depend on coordinates."""
    found = [np.linalg.det(at) for at in evaluate_at_samples(shared, matrix)]
    return bool(np.ptp(found) <= 1e-12 * np.abs(found).max())


def _name_coefficients(speeds: WrittenSpeeds) -> WrittenSpeeds:
    """The speeds with names for the coefficients of velocities that are not numbers."""
    G, A = _name_entries(speeds, "A", speeds.G)
    k, B = _name_entries(speeds, "B", speeds.k)
    return replace(speeds, G=G, k=k, coefficients=(*A, *B), is_polynomial=False)


def _name_accelerations(speeds: WrittenSpeeds) -> WrittenSpeeds:
    """The speeds with names for accelerations at u̇ = 0, where coefficients have names."""
    if speeds.is_polynomial:
        return speeds
    bias, b = _name_entries(speeds, "b", speeds.bias_accelerations)
    return replace(speeds, bias_accelerations=bias, coefficients=(*speeds.coefficients, *b))


def _name_entries(
    speeds: WrittenSpeeds, letter: str, value: Array
) -> tuple[Array, list[tuple[str, Array]]]:
    """An array with names in place of the entries that are not numbers, and their values."""
    tree = speeds.kane.tree
    taken = {*tree.symbols, *tree.mechanism.parameters, *tree.names.q, *speeds.names}
    stem = f"{letter}_" if any(name.startswith(letter) for name in taken) else letter
    made, values = without_zero_entries(ca.SX(value), scale=1.0), []
    for s in range(made.shape[0]):
        for r in range(made.shape[1]):
            if not made[s, r].is_constant():
                name = f"{stem}{s + 1}{r + 1 if made.shape[1] > 1 or letter == 'A' else ''}"
                values.append((name, made[s, r]))
                made[s, r] = ca.SX.sym(name)
    return made, values
