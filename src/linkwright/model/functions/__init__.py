"""Declarations of the compiled functions of a `Model`: names, arguments, shapes, units."""

from .constraints import ConstraintFunctions
from .dynamics import DynamicsFunctions
from .frames import FrameAcceleration, FrameFunctions, FramePosition, FrameVelocity
from .states import StateFunctions
from .terms import TermFunctions

__all__ = [
    "ConstraintFunctions",
    "DynamicsFunctions",
    "FrameAcceleration",
    "FrameFunctions",
    "FramePosition",
    "FrameVelocity",
    "StateFunctions",
    "TermFunctions",
]
