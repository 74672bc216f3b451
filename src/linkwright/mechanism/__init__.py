"""Bodies, joints, loops, constraints, forces, parameters: frozen data, exact numbers."""

from .bodies import GROUND, Body, Frame, Inertia, Placement, Rotated
from .constraints import (
    Constraint,
    CouplingConstraint,
    DistanceConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
    KnifeEdgeConstraint,
    RollingConstraint,
    SurfaceConstraint,
)
from .contacts import Contact
from .coordinates import (
    Names,
    coordinate_names,
    dotted,
    names_of,
    quaternion_starts,
    speed_names,
)
from .elements import Actuator, Coordinates, Force, JointForce, Spring, Wrench
from .given import numbers_from_text, require_mechanism
from .joint_kinds import JOINT_KINDS, Freedom, JointKind
from .joints import Joint, Limits, Mimic, Motor
from .mechanism import Mechanism, replaced
from .parts import Part, Quantity, Table, Vector, plain, quantities
from .strength import Strength

__all__ = [
    "GROUND",
    "JOINT_KINDS",
    "Actuator",
    "Body",
    "Constraint",
    "Contact",
    "Coordinates",
    "CouplingConstraint",
    "DistanceConstraint",
    "DriveConstraint",
    "EquationConstraint",
    "Force",
    "Frame",
    "Freedom",
    "GearConstraint",
    "Inertia",
    "Joint",
    "JointForce",
    "JointKind",
    "KnifeEdgeConstraint",
    "Limits",
    "Mechanism",
    "Mimic",
    "Motor",
    "Names",
    "Part",
    "Placement",
    "Quantity",
    "RollingConstraint",
    "Rotated",
    "Spring",
    "Strength",
    "SurfaceConstraint",
    "Table",
    "Vector",
    "Wrench",
    "coordinate_names",
    "dotted",
    "names_of",
    "numbers_from_text",
    "plain",
    "quantities",
    "quaternion_starts",
    "replaced",
    "require_mechanism",
    "speed_names",
]  # fmt: skip
