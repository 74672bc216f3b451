"""The check that inertias are physical, as far as the motion determines them.

Published tables often give a body only its inertia about its joint, and measured tensors may
violate the triangle inequality slightly: no body has such tensors. But forces depend only on
combinations of inertial parameters. If physical bodies with the same combinations exist, and so
with the same motion, this is noted; if there are none, the check fails.

A body's inertial parameters are physical if its pseudo-inertia matrix is positive semidefinite,

    J = [[∫rrᵀ dm, ∫r dm], [∫rᵀ dm, m]] ⪰ 0,

which is linear in them. Among all parameters with the same forces, π + N z with N the null space of
the regressor, those without negative eigenvalues are sought: a convex problem.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.optimize import minimize

from ..formulations import derive
from ..mechanism.validate.inertia_checks import find_unphysical_bodies
from ..types import Floats
from .verification_report import FAILED_VERDICT, NOTED_VERDICT, PASSED_VERDICT, Check
from .verified_equations import VerifiedEquations

CHECK_NAME = "inertias physical"
PSEUDO_INERTIA_ENTRIES = (
    (3, 3),
    (0, 3),
    (1, 3),
    (2, 3),
    (0, 0),
    (0, 1),
    (1, 1),
    (0, 2),
    (1, 2),
    (2, 2),
)
"""The entries of J for m, mx, my, mz, xx, xy, yy, xz, yz, zz."""
INERTIA_TOLERANCE = 1e-9


def check_inertias_physical(subject: VerifiedEquations) -> Check:
    """Check the principal moments of each body; if some are not physical, look for physical bodies
    with the same forces."""
    mechanism = subject.mechanism
    found = dict(find_unphysical_bodies(mechanism))
    meaning = (
        "principal moments are positive, and none exceeds the sum of the others; no real "
        "body has other values, whatever the equations"
    )
    cite = "All inertia tensors are those of real bodies."
    if not found:
        count = len(mechanism.bodies)
        return Check(
            CHECK_NAME,
            PASSED_VERDICT,
            f"{count} {'body' if count == 1 else 'bodies'}",
            meaning,
            cite,
        )
    sentences = tuple(found.values())
    if find_physical_inertias(VerifiedEquations(derive(mechanism))) is None:
        return Check(CHECK_NAME, FAILED_VERDICT, sentences[0], meaning, cite, sentences)
    figure = f"{'; '.join(sentences)}; but real bodies with the same forces exist"
    meaning = (
        "forces depend on base parameters alone, and these are those of real bodies; "
        "energies and forces inside the joints are not theirs"
    )
    cite = "The base parameters are those of real bodies; single tensors as published are not."
    return Check(CHECK_NAME, NOTED_VERDICT, figure, meaning, cite)


def find_physical_inertias(tree: VerifiedEquations) -> Floats | None:
    """Ten inertial parameters for each body, physical, that give the same forces; None if there are
    none."""
    if not tree.has_functions("regressor"):
        return None
    given = _given_inertial_parameters(tree)
    columns = np.concatenate(
        [tree.function_value("regressor", x) for x in tree.random_states(len(given))]
    )
    _, sizes, rows = np.linalg.svd(columns)
    hidden = rows[np.count_nonzero(sizes > INERTIA_TOLERANCE * sizes[0]) :].T
    scale = np.abs(given).max()

    def unphysical_inertia_cost(z: Floats) -> tuple[float, Floats]:
        """The sum of squares of the negative eigenvalues, and its gradient."""
        total, slope = 0.0, np.zeros(len(given))
        for k, J in enumerate(_physical_check_matrices(given / scale + hidden @ z)):
            values, vectors = np.linalg.eigh(J)
            lacking = np.maximum(0.0, INERTIA_TOLERANCE - values)
            total += float(lacking @ lacking)
            rate = -2 * (vectors * lacking) @ vectors.T
            slope[10 * k : 10 * k + 10] = np.einsum("eij,ij->e", _PSEUDO_INERTIA_BASIS, rate)
        return total, hidden.T @ slope

    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 0.0, "gtol": 0.0}
    start = np.zeros(hidden.shape[1])
    found = minimize(unphysical_inertia_cost, start, jac=True, method="L-BFGS-B", options=options)
    own = scale * (given / scale + hidden @ found.x)
    least = min(np.linalg.eigvalsh(J)[0] for J in _physical_check_matrices(own))
    return own if least >= -INERTIA_TOLERANCE * scale else None


def _given_inertial_parameters(tree: VerifiedEquations) -> Floats:
    """The inertial parameters of all bodies as the mechanism gives them."""
    own, p = tree.eqs.inertial_parameters, tree.eqs.symbols.get("p", ca.SX(0, 1))
    values = [float(value) for value in tree.eqs.parameters.values()]
    return np.asarray(ca.Function("own", [p], [own])(values), dtype=float).ravel()


def _physical_check_basis() -> Floats:
    """The derivatives of the pseudo-inertia matrix J by the ten parameters; those of the tensor are
    half its trace minus itself."""
    found = np.zeros((10, 4, 4))
    for e, (i, j) in enumerate(PSEUDO_INERTIA_ENTRIES):
        found[e, i, j] = found[e, j, i] = 1.0 if 3 in (i, j) else -1.0
        if i == j < 3:
            found[e, :3, :3] += np.eye(3) / 2
    return found


_PSEUDO_INERTIA_BASIS = _physical_check_basis()


def _physical_check_matrices(numbers: Floats) -> Floats:
    """The pseudo-inertia matrix J of every body, bodies × 4 × 4."""
    return np.asarray(np.einsum("be,eij->bij", numbers.reshape(-1, 10), _PSEUDO_INERTIA_BASIS))
