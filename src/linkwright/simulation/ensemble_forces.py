"""Generalized forces of the inputs of an ensemble along its runs."""

from __future__ import annotations

import numpy as np

from ..types import Floats
from .ensemble_results import EnsembleResults
from .ensemble_runs import EnsembleRecipe


def can_find_forces(recipe: EnsembleRecipe) -> bool:
    """Whether forces follow from the states: not those that a sampled controller holds."""
    return not recipe.prepared.rhs.force_law.is_sampled


def ensemble_forces(recipe: EnsembleRecipe, results: EnsembleResults) -> Floats:
    """Return τ (runs, times, nv) along all runs; NaN where a run has no sample."""
    law = recipe.prepared.rhs.force_law
    w = recipe.inputs.outer_values(results.times, len(results), law)
    assert results.controls is not None
    z = results.controls if results.controls.shape[-1] else np.zeros((1, 1, 1))
    tau = law.forces_along(results.times, results.q, results.qd, z, w)
    return np.where(np.isnan(results.q[..., :1]), np.nan, tau)
