"""Small motions: equilibria, steady and periodic motions, and linear models about them."""

from __future__ import annotations

from .eigenvalue_sweep import EigenvalueSweep, StabilityCrossing, sweep_eigenvalues
from .linear_model import Linear
from .linearizer import linearize
from .statics import Equilibrium, equilibria, equilibrium
from .steady_motions import SteadyMotion, steady_motion

__all__ = [
    "EigenvalueSweep", "Equilibrium", "Linear", "StabilityCrossing", "SteadyMotion", "equilibria",
    "equilibrium", "linearize", "steady_motion", "sweep_eigenvalues",
]  # fmt: skip
