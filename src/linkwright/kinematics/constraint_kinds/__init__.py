"""Equations of constraints, one file for each kind, and the table of the kinds that files may have.

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
    LengthConstraint,
    RollingConstraint,
    RollingEllipsoidConstraint,
    SurfaceConstraint,
)
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from .body_states import SymbolScope
from .ellipsoid import read_ellipsoid_restraint
from .equation import (
    read_coupling_restraint,
    read_drive_restraint,
    read_equation_restraint,
    read_gear_restraint,
)
from .knife_edge import read_knife_edge_restraint
from .length import read_length_restraint
from .rod import read_rod_restraint
from .surface import read_surface_restraint
from .wheel import read_wheel_restraint

RESTRAINT_READERS: dict[
    type, Callable[[str, Any, KinematicParameters, SymbolScope, KinematicTree], Restraint]
] = {
    EquationConstraint: read_equation_restraint,
    CouplingConstraint: read_coupling_restraint,
    GearConstraint: read_gear_restraint,
    DriveConstraint: read_drive_restraint,
    DistanceConstraint: read_rod_restraint,
    LengthConstraint: read_length_restraint,
    SurfaceConstraint: read_surface_restraint,
    RollingConstraint: read_wheel_restraint,
    RollingEllipsoidConstraint: read_ellipsoid_restraint,
    KnifeEdgeConstraint: read_knife_edge_restraint,
}
"""Makes a constraint from its name, its description, the numbers, what names stand for, and the
tree, whose restraints are not known yet."""
