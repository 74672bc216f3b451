"""The check that inertias are physical, as far as the motion determines them.

Published tables often give a body only its inertia about its joint, and measured tensors may
violate the triangle inequality slightly: no body has such tensors. But forces depend only on
combinations of inertial parameters. If physical bodies with the same combinations exist, and so
with the same motion, this is noted; if there are none, the check fails.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..formulations import derive
from ..formulations.base_inertial_parameters.physical_parameters import find_physical_parameters
from ..mechanism.validate.inertia_checks import find_unphysical_bodies
from ..types import Floats
from .verification_report import FAILED_VERDICT, NOTED_VERDICT, PASSED_VERDICT, Check
from .verified_equations import VerifiedEquations

CHECK_NAME = "inertias physical"


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
    return find_physical_parameters(given, columns)


def _given_inertial_parameters(tree: VerifiedEquations) -> Floats:
    """The inertial parameters of all bodies as the mechanism gives them."""
    own, p = tree.eqs.inertial_parameters, tree.eqs.symbols.get("p", ca.SX(0, 1))
    values = [float(value) for value in tree.eqs.parameters.values()]
    return np.asarray(ca.Function("own", [p], [own])(values), dtype=float).ravel()
