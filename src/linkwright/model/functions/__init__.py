"""Declarations of the compiled functions of a `Model`: names, arguments, shapes, units."""

from .constraints import ConstraintFunctions
from .dynamics import DynamicsFunctions
from .frames import FrameAcceleration, FrameFunctions, FramePosition, FrameVelocity
from .momenta import MomentumFunctions
from .states import StateFunctions
from .terms import TermFunctions

__all__ = [
    "ConstraintFunctions",
    "DynamicsFunctions",
    "FrameAcceleration",
    "FrameFunctions",
    "FramePosition",
    "FrameVelocity",
    "MomentumFunctions",
    "StateFunctions",
    "TermFunctions",
]
