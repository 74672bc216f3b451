"""Bodies, joints, loops, constraints, forces, parameters: frozen data, exact numbers."""

from .bodies import GROUND, Body, Frame, Inertia, Placement, Rotated
from .coordinates import Names, dotted, names_of
from .elements import Constraint, CouplingConstraint, EquationConstraint, Force, Spring, Wrench
from .joints import JOINT_TYPES, Freedom, Joint, Limits, Mimic, Motor
from .mechanism import Mechanism, replaced
from .parts import Part, Quantity, Table, Vector, plain, quantities

__all__ = [
    "GROUND", "JOINT_TYPES", "Body", "Constraint", "CouplingConstraint", "EquationConstraint",
    "Force", "Frame", "Freedom", "Inertia", "Joint", "Limits", "Mechanism", "Mimic", "Motor",
    "Names", "Part", "Placement", "Quantity", "Rotated", "Spring", "Table", "Vector", "Wrench",
    "dotted", "names_of", "plain", "quantities", "replaced",
]  # fmt: skip
