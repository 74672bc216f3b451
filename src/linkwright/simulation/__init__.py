"""Motion of a mechanism in time."""

from __future__ import annotations

from .ensembles import simulate_ensemble
from .events.user_event import Event
from .fixed_steps.rollouts import rollout
from .inverse_motion import solve_inverse
from .kinematic_motion import Kinematics
from .kinematic_solver import solve_kinematics
from .linear_model import Linear, linearize
from .provenance import repeat
from .run import Happened, Run
from .simulator import simulate
from .statics import Equilibrium, equilibria, equilibrium
from .storage import load_run

__all__ = [
    "Equilibrium", "Event", "Happened", "Kinematics", "Linear", "Run", "equilibria", "equilibrium",
    "linearize", "load_run", "repeat", "rollout", "simulate", "simulate_ensemble",
    "solve_inverse", "solve_kinematics",
]  # fmt: skip
