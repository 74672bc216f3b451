"""Constraints with their equations: one file a kind, and the table of those that files may have.

A kind is a subclass of `Restraint` and a function that makes it from the mechanism's description.
docs/extend/constraint.md adds one, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...mechanism import (
    CouplingConstraint,
    DistanceConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
    KnifeEdgeConstraint,
    RollingConstraint,
    SurfaceConstraint,
)
from ..tree import Restraint
from ..values import Values
from .equation import read_coupling, read_drive, read_equation, read_gear
from .knife_edge import read_edge
from .rod import read_rod
from .setting import Scope
from .surface import read_surface
from .wheel import read_wheel

READERS: dict[type, Callable[[str, Any, Values, Scope], Restraint]] = {
    EquationConstraint: read_equation,
    CouplingConstraint: read_coupling,
    GearConstraint: read_gear,
    DriveConstraint: read_drive,
    DistanceConstraint: read_rod,
    SurfaceConstraint: read_surface,
    RollingConstraint: read_wheel,
    KnifeEdgeConstraint: read_edge,
}
"""Makes a constraint from its name, its description, the numbers, and what names stand for."""
