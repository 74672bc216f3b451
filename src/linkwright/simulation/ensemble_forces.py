"""Generalized forces of the inputs of an ensemble along its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..types import Floats
from .ensemble_results import EnsembleResults
from .inputs import ForceLaw

if TYPE_CHECKING:
    from .ensemble_runs import EnsembleRecipe


def depend_on_parameters(law: ForceLaw) -> bool:
    """Return whether forces depend on parameters that the equations keep as symbols: a law's
    functions of numbers have the mechanism's values for these."""
    equations = law.equations
    found = ca.vertcat(ca.vec(ca.SX(law.tau)), ca.vec(ca.SX(law.z_rate)))
    return bool(equations.parameters) and bool(ca.depends_on(found, equations.symbols["p"]))


def can_find_forces(recipe: EnsembleRecipe) -> bool:
    """Whether forces follow from the states: not those that a sampled controller holds, or that
    depend on parameters that differ."""
    law = recipe.prepared.rhs.force_law
    return not (law.is_sampled or depend_on_parameters(law))


def ensemble_forces(recipe: EnsembleRecipe, results: EnsembleResults) -> Floats:
    """Return τ (runs, times, nv) along all runs; NaN where a run has no sample."""
    law = recipe.prepared.rhs.force_law
    w = recipe.inputs.outer_values(results.times, len(results), law)
    assert results.controls is not None
    z = results.controls if results.controls.shape[-1] else np.zeros((1, 1, 1))
    tau = law.forces_along(results.times, results.q, results.qd, z, w)
    return np.where(np.isnan(results.q[..., :1]), np.nan, tau)
