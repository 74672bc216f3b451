"""Integrators as programs: written once, printed for every target."""

from .adaptive import Clock, Progress, StopReason, integrate_trajectories
from .tableaus import DOP853, DORMAND_PRINCE, RungeKuttaPair

__all__ = [
    "DOP853",
    "DORMAND_PRINCE",
    "Clock",
    "Progress",
    "RungeKuttaPair",
    "StopReason",
    "integrate_trajectories",
]
