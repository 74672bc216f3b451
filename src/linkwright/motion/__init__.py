"""Moving on purpose: inverse kinematics, trajectories, their timing."""

from .inverse import InverseKinematics, Joints, inverse_kinematics
from .limits import Bounds, bounds_of
from .paths import Path, arc, circular, follow, line, straight
from .plan import Plan, plan_to, planned
from .timing import at_limits
from .trajectory import Trajectory, accelerated, quintic, through, trapezoid

__all__ = [
    "Bounds", "InverseKinematics", "Joints", "Path", "Plan", "Trajectory", "accelerated", "arc",
    "at_limits", "bounds_of", "circular", "follow", "inverse_kinematics", "line", "plan_to",
    "planned", "quintic", "straight", "through", "trapezoid",
]  # fmt: skip
