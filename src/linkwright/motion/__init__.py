"""Moving on purpose: inverse kinematics, trajectories, their timing."""

from .inverse import InverseKinematics, Joints, inverse_kinematics
from .limits import CoordinateBounds, bounds_of
from .paths import ToolPath, arc, circular, follow, line, straight
from .plan import MotionPlan, plan_to, planned
from .timing import at_limits
from .trajectory import Trajectory, accelerated, quintic, through, trapezoid

__all__ = [
    "CoordinateBounds",
    "InverseKinematics",
    "Joints",
    "MotionPlan",
    "ToolPath",
    "Trajectory",
    "accelerated",
    "arc",
    "at_limits",
    "bounds_of",
    "circular",
    "follow",
    "inverse_kinematics",
    "line",
    "plan_to",
    "planned",
    "quintic",
    "straight",
    "through",
    "trapezoid",
]  # fmt: skip
