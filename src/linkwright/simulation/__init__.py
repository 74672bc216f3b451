"""Motion of a mechanism in time."""

from __future__ import annotations

from .events.user_event import Event
from .fixed_steps.rollouts import rollout
from .inverse_motion import solve_inverse
from .kinematic_motion import Kinematics
from .kinematic_solver import solve_kinematics
from .provenance import repeat
from .run import Happened, Run
from .simulation_call import simulate
from .storage import load_run

__all__ = [
    "Event", "Happened", "Kinematics", "Run", "load_run", "repeat", "rollout", "simulate",
    "solve_inverse", "solve_kinematics",
]  # fmt: skip
