"""Generalized speeds u = Y q̇ + Z of Kane's method (4), and what constraints make of them (5).

Of all speeds that are given, the first that are independent of each other and of the constraints
are taken, one for each degree of freedom, so that q̇ = G u + k. The others follow from them:
u_r = Σ A_rs u_s + B_r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, LUFactorization
from ..errors import UnsupportedError
from ..kinematics.pivots import find_constraint_pivots, jacobian_rank, scale_constraint_jacobian
from ..kinematics.tree_coordinates import coordinate_rate_matrix
from ..types import Floats
from .formulation import Formulation

LARGEST_MINOR_BLOCK = 3
"""Blocks of Y up to this size are inverted by minors, which need no pivot that may vanish; beyond,
the number of products grows faster than that of an elimination."""


@dataclass(frozen=True)
class GeneralizedSpeeds:
    """Independent generalized speeds u with their names, and q̇ = G u + k.

    `definitions` are u = Y q̇ + Z as functions of q, q̇ and t, `velocities` q̇ as a function of q, u
    and t, `bias_accelerations` q̈ at u̇ = 0. `dependent` are the other speeds that were given, as
    functions of q, u and t (5).
    """

    names: tuple[str, ...]
    u: Array
    definitions: Array
    velocities: Array
    bias_accelerations: Array
    dependent: dict[str, Array]

    @cached_property
    def G(self) -> Array:
        """G of q̇ = G u + k, nv × degrees of freedom."""
        return ca.densify(ca.jacobian(self.velocities, self.u))


def read_given_speeds(shared: Formulation) -> GeneralizedSpeeds:
    """Return the generalized speeds of the mechanism; those that are not linear in q̇ or that are
    too few are refused."""
    tree = shared.tree
    given = ca.SX(ca.vertcat(*tree.speeds.values()))
    if ca.depends_on(ca.jacobian(given, shared.qd), shared.qd):
        raise UnsupportedError(
            "generalized speeds must be linear in the velocities",
            where=tree.mechanism.name,
            remedy="write u = Y q̇ + Z, with Y and Z functions of coordinates and t",
        )
    chosen = choose_independent_speeds(shared, given)
    names = tuple(tree.speeds)
    u = ca.vertcat(*(ca.SX.sym(names[k]) for k in chosen))
    velocities = velocities_from_speeds(shared, given[chosen], u)
    rates = coordinate_rate_matrix(tree, shared.q) @ velocities
    bias = ca.jtimes(velocities, shared.q, rates) + ca.jacobian(velocities, tree.motion.t)
    others = [k for k in range(len(names)) if k not in chosen]
    return GeneralizedSpeeds(
        names=tuple(names[k] for k in chosen),
        u=u,
        definitions=given[chosen],
        velocities=velocities,
        bias_accelerations=bias,
        dependent={names[k]: ca.substitute(given[k], shared.qd, velocities) for k in others},
    )


def choose_independent_speeds(shared: Formulation, given: Array) -> list[int]:
    """Return the indices of the first generalized speeds that are independent of each other and of
    the constraints, one for each degree of freedom."""
    rows = ca.jacobian(given, shared.qd)
    held = np.zeros((0, shared.tree.nv))
    if shared.constraints is not None:
        held = evaluate_at_sample(shared, shared.constraints.J[list(shared.reduction.rows), :])
    freedom, chosen = shared.tree.nv - len(held), list[int]()
    at = evaluate_at_sample(shared, rows)
    for k in range(len(at)):
        if jacobian_rank(np.vstack([held, at[[*chosen, k]]])) == len(held) + len(chosen) + 1:
            chosen.append(k)
    if len(chosen) < freedom:
        raise UnsupportedError(
            f"{len(chosen)} independent generalized speed{'s' * (len(chosen) != 1)} for "
            f"{freedom} degree{'s' * (freedom != 1)} of freedom",
            where=shared.tree.mechanism.name,
            remedy="give one for each degree of freedom, independent of the others and of the "
            "constraints",
        )
    return chosen


def velocities_from_speeds(shared: Formulation, given: Array, u: Array) -> Array:
    """Return q̇ as a function of the generalized speeds u: Y q̇ + Z = u, with J q̇ + V₀ = 0."""
    rows, right = given, u
    if shared.constraints is not None:
        chosen = list(shared.reduction.rows)
        rows = ca.vertcat(given, shared.constraints.velocity[chosen])
        right = ca.vertcat(u, ca.SX.zeros(len(chosen)))
    S = ca.sparsify(ca.jacobian(rows, shared.qd))
    known = right - ca.substitute(rows, shared.qd, ca.SX.zeros(shared.tree.nv))
    return solve_by_blocks(S, known, evaluate_at_sample(shared, S))


def solve_by_blocks(S: Array, right: Array, sample: Floats | None = None) -> Array:
    """Return x with S x = right, a row for each row of S, by the blocks of its triangular form;
    `sample` are the values of S by which pivots of large blocks are chosen."""
    _, lines, columns, line_ends, column_ends, *_ = S.sparsity().btf()
    x: dict[int, Array] = {}
    for k in range(len(line_ends) - 1):
        rows = list(lines[line_ends[k] : line_ends[k + 1]])
        own = list(columns[column_ends[k] : column_ends[k + 1]])
        rest = right[rows, :]
        if x:
            rest = rest - S[rows, list(x)] @ ca.vertcat(*x.values())
        block, i, j = ca.densify(S[rows, own]), list(range(len(own))), list(range(len(own)))
        if len(own) > LARGEST_MINOR_BLOCK:
            if sample is not None:
                at = scale_constraint_jacobian(sample[np.ix_(rows, own)])
                i, j = find_constraint_pivots(at, j, len(own))
            solved = LUFactorization(block[i, j]).solve(rest[i, :])
        else:
            solved = rest / block if len(own) == 1 else ca.inv_minor(block) @ rest
        x |= {own[column]: solved[n, :] for n, column in enumerate(j)}
    return ca.vertcat(*(x[k] for k in range(len(x))))


def evaluate_at_sample(shared: Formulation, matrix: Array) -> Floats:
    """Return a matrix of q as numbers, in the assembled or in a random configuration."""
    if shared.constraints is None:
        return evaluate_at_samples(shared, matrix)[0]
    return _evaluate_at(shared, matrix, np.array(shared.home))


def evaluate_at_samples(shared: Formulation, matrix: Array) -> list[Floats]:
    """Return a matrix of q as numbers in three random configurations, closed or not."""
    rng = np.random.default_rng(0)
    return [_evaluate_at(shared, matrix, rng.uniform(0.2, 1.2, shared.tree.nq)) for _ in range(3)]


def _evaluate_at(shared: Formulation, matrix: Array, q: Floats) -> Floats:
    """Return a matrix of q as numbers."""
    tree, known = shared.tree, [shared.q, shared.tree.motion.t, shared.symbols["p"]]
    values = [float(value) for value in tree.symbol_values.values()]
    at = ca.Function("at", known, [ca.densify(matrix)])
    return np.asarray(at(q, 0.0, values), dtype=float)
