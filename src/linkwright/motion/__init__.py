"""Motion planning: inverse kinematics, trajectories, tool paths and their timing; screw axes."""

from .coordinate_bounds import CoordinateBounds, bounds_of
from .frame_planner import plan_to, planned
from .instantaneous_screws import ScrewAxis, screw_axis
from .inverse_solver import InverseKinematics, inverse_kinematics
from .joint_solutions import Joints
from .motion_plan import MotionPlan
from .path_geometry import ToolPath, circular, straight
from .point_motions import accelerated, quintic, through, trapezoid
from .timing import at_limits
from .tool_paths import arc, follow, line
from .tool_singularities import SingularPositions, singular_positions
from .trajectory import Trajectory

__all__ = [
    "CoordinateBounds",
    "InverseKinematics",
    "Joints",
    "MotionPlan",
    "ScrewAxis",
    "SingularPositions",
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
    "screw_axis",
    "singular_positions",
    "straight",
    "through",
    "trapezoid",
]
