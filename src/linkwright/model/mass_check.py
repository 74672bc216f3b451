"""Whether forward dynamics exists: the mass matrix must be positive definite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import UnsupportedError
from ..types import Floats

if TYPE_CHECKING:
    from ..equations import Equations


MIN_MASS_EIGENVALUE = 1e-12
"""Eigenvalues of the scaled mass matrix that count as zero."""
_SAMPLED_STATES = 3


class CheckedMassMatrix(NamedTuple):
    """A scaled mass matrix S M S and the diagonal of S."""

    M: Floats
    scale: Floats


_FUNCTIONS_INVERTING_MASS = {
    "forward_dynamics",
    "forward_dynamics_with_wrenches",
    "forward_dynamics_derivatives",
    "reactions",
    "body_reactions",
}
"""Functions that divide by the mass matrix, or by what constraints leave of it."""

_FUNCTIONS_INVERTING_TREE_MASS = {
    "mass_matrix_inverse",
    "operational_inertia",
    "inverse_operational_inertia",
}
"""Functions that divide by the mass matrix of the tree, also under constraints."""


def check_function_mass_invertible(equations: Equations, function: str) -> None:
    """Raise an error for a function that divides by a singular mass matrix."""
    if function in _FUNCTIONS_INVERTING_TREE_MASS:
        _check_mass_matrices(
            equations, _sample_checked_mass_matrices(equations), equations.names.qd
        )
    if function in _FUNCTIONS_INVERTING_MASS and "mass_matrix" in equations.function_names():
        check_compilable_mass_matrix(equations)


def check_compilable_mass_matrix(equations: Equations) -> None:
    """Raises where the mass matrix is positive definite nowhere: at random states, and under
    constraints, for what these leave, where the mechanism is assembled. Where that is a singular
    configuration, in which the independent velocities do not determine the others, nothing is
    said."""
    if equations.names.constraints:
        matrices, names = _checked_mass_matrix_at_home(equations), equations.names.independent
    else:
        matrices, names = _sample_checked_mass_matrices(equations), equations.names.qd
    _check_mass_matrices(equations, matrices, names)


def _check_mass_matrices(
    equations: Equations, matrices: Sequence[CheckedMassMatrix], names: Sequence[str]
) -> None:
    """Raise an error where none of the matrices is positive definite."""
    if not names or not matrices:
        return
    found = [_lowest_eigenvalue(one) for one in matrices if np.isfinite(one.M).all()]
    if not found:
        raise UnsupportedError(
            "the mass matrix overflows",
            where=equations.mechanism.name,
            remedy="check units, and multipliers of mimic joints",
        )
    size, direction = max(found, key=lambda one: one[0])
    if size <= MIN_MASS_EIGENVALUE:
        raise _mass_matrix_error(equations, size, direction, names)


def _sample_checked_mass_matrices(equations: Equations) -> list[CheckedMassMatrix]:
    """M at random states, scaled to a diagonal of ±1 (or 0); its columns are what unit
    accelerations add to inverse dynamics, which is at hand."""
    forces = "required_forces" if equations.names.constraints else "inverse_dynamics"
    inverse, integrate = (equations.function_at_values(name) for name in (forces, "integrate"))
    rng, n = np.random.default_rng(0), equations.nv
    rest, units = np.zeros((n, n + 1)), np.hstack([np.zeros((n, 1)), np.eye(n)])
    time = equations.names.time_arguments(np.zeros((1, n + 1)))
    found = []
    for _ in range(_SAMPLED_STATES):
        q = np.asarray(integrate(equations.neutral, rng.uniform(0.1, 1.0, n)))
        columns = np.asarray(inverse(np.repeat(q, n + 1, axis=1), rest, units, *time), dtype=float)
        M = columns[:, 1:] - columns[:, :1]
        diagonal, largest = np.abs(np.diag(M)), np.abs(M).max()
        scale = np.where(diagonal > 1e-30 * largest, diagonal, largest or 1.0) ** -0.5
        found.append(CheckedMassMatrix(scale[:, None] * M * scale, scale))
    return found


def _checked_mass_matrix_at_home(equations: Equations) -> list[CheckedMassMatrix]:
    """GᵀMG at home, divided by the largest entry of M; empty where G does not exist there."""
    home = equations.home
    time = equations.names.time_arguments(0.0)
    moved = equations.names.position_time_arguments(0.0)
    M = np.asarray(equations.function_at_values("mass_matrix")(home, *moved), dtype=float)
    G = np.asarray(equations.function_at_values("independent_map")(home, *time)[0], dtype=float)
    if np.isfinite(M).all() and not np.isfinite(G).all():
        return []
    scale = np.full(G.shape[1], max(np.abs(M).max(), 1e-300) ** -0.5)
    return [CheckedMassMatrix(scale[:, None] * (G.T @ M @ G) * scale, scale)]


def _lowest_eigenvalue(mass: CheckedMassMatrix) -> tuple[float, Floats]:
    """The lowest eigenvalue and its eigenvector, a motion of the velocities."""
    sizes, vectors = np.linalg.eigh((mass.M + mass.M.T) / 2)
    return float(sizes[0]), vectors[:, 0] * mass.scale


def _mass_matrix_error(
    equations: Equations, size: float, direction: Floats, names: Sequence[str]
) -> UnsupportedError:
    shares = np.abs(direction)
    moving = [repr(n) for n, share in zip(names, shares, strict=True) if share > shares.max() / 10]
    motion = " and ".join(moving) if len(moving) < 4 else repr(names[int(np.argmax(shares))])
    if size < -MIN_MASS_EIGENVALUE:
        return UnsupportedError(
            f"the mass matrix is not positive definite: a motion of {motion} has negative kinetic "
            "energy",
            where=equations.mechanism.name,
            remedy="correct the masses and moments of inertia of the bodies that it moves",
        )
    return UnsupportedError(
        f"the mass matrix is singular: {motion} can move without moving mass",
        where=equations.mechanism.name,
        remedy="give the bodies beyond it mass and inertia, or the joint a motor with inertia",
    )
