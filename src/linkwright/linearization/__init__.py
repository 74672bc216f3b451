"""Small motions: equilibria, steady and periodic motions, and linear models about them."""

from __future__ import annotations

from .eigenvalue_sweep import EigenvalueSweep, StabilityCrossing, sweep_eigenvalues
from .feedback_gains import FeedbackLoop, close_loop
from .linear_model import Linear
from .linearizer import linearize
from .periodic_motions import PeriodicMotion, periodic_motion
from .statics import Equilibrium, equilibria, equilibrium
from .steady_motions import SteadyMotion, steady_motion

__all__ = [
    "EigenvalueSweep", "Equilibrium", "FeedbackLoop", "Linear", "PeriodicMotion",
    "StabilityCrossing", "SteadyMotion", "close_loop", "equilibria", "equilibrium", "linearize",
    "periodic_motion", "steady_motion", "sweep_eigenvalues",
]  # fmt: skip
