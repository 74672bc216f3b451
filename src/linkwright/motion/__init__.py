"""Moving on purpose: inverse kinematics, trajectories, their timing."""

from .coordinate_bounds import CoordinateBounds, bounds_of
from .inverse_solver import InverseKinematics, Joints, inverse_kinematics
from .motion_plan import MotionPlan, plan_to, planned
from .timing import at_limits
from .tool_paths import ToolPath, arc, circular, follow, line, straight
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
