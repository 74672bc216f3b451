"""Integrators as programs, which are written once and printed for every target."""

from .event_records import EVENT_COLUMN_SIZE, EventColumn
from .explicit_steps import ExplicitMethod
from .rosenbrock_steps import RosenbrockMethod
from .rosenbrock_tableaus import RODAS5P, RosenbrockTableau
from .step_method import MotionFunctions, StepMethod
from .tableaus import DOP853, DORMAND_PRINCE, RungeKuttaPair
from .trajectories import LEAST_MARGIN, integrate_trajectories, integrate_with_sizes
from .trajectory_records import (
    Clock,
    Progress,
    Sizes,
    StopReason,
    TrajectoryBuffers,
)

__all__ = [
    "DOP853",
    "DORMAND_PRINCE",
    "EVENT_COLUMN_SIZE",
    "LEAST_MARGIN",
    "RODAS5P",
    "Clock",
    "EventColumn",
    "ExplicitMethod",
    "MotionFunctions",
    "Progress",
    "RosenbrockMethod",
    "RosenbrockTableau",
    "RungeKuttaPair",
    "Sizes",
    "StepMethod",
    "StopReason",
    "TrajectoryBuffers",
    "integrate_trajectories",
    "integrate_with_sizes",
]
