"""Bodies, joints, loops, constraints, forces, parameters: frozen data, exact numbers."""

from .actuators import Activation, Actuator
from .approximate_choices import ApproximateChoices
from .bodies import GROUND, Body, Frame, Inertia
from .constraints import (
    Constraint,
    CouplingConstraint,
    DistanceConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
    KnifeEdgeConstraint,
    LengthConstraint,
    RollingConstraint,
    SurfaceConstraint,
)
from .contacts import Contact
from .coordinates import (
    MechanismNames,
    joint_coordinate_name,
    joint_coordinate_names,
    joint_velocity_names,
    mechanism_names,
    quaternion_coordinate_offsets,
)
from .force_elements import (
    BushingElement,
    ChosenCoordinates,
    DragElement,
    ForceElement,
    JointForce,
    LengthLoad,
    Spring,
    TyreElement,
    WrenchElement,
)
from .joint_kinds import JOINT_KINDS, DegreeOfFreedom, JointKind
from .joints import Joint, Limits, Mimic, Motor
from .lengths import Length
from .mechanism import Mechanism
from .parts import (
    MechanismPart,
    PartNumberField,
    PartTable,
    Vector,
    part_numbers,
    plain_part_value,
    replace_part_fields,
)
from .placements import Orientation, Placement
from .poses import Pose, pose_numbers
from .rolling_ellipsoid import RollingEllipsoidConstraint
from .shapes import MeshShape, Shape, ShapeOfBody
from .strength import Strength
from .user_arguments import (
    check_constant_units,
    has_text,
    read_coordinate_numbers,
    require_mechanism,
)

__all__ = [
    "GROUND",
    "JOINT_KINDS",
    "Activation",
    "Actuator",
    "ApproximateChoices",
    "Body",
    "BushingElement",
    "ChosenCoordinates",
    "Constraint",
    "Contact",
    "CouplingConstraint",
    "DegreeOfFreedom",
    "DistanceConstraint",
    "DragElement",
    "DriveConstraint",
    "EquationConstraint",
    "ForceElement",
    "Frame",
    "GearConstraint",
    "Inertia",
    "Joint",
    "JointForce",
    "JointKind",
    "KnifeEdgeConstraint",
    "Length",
    "LengthConstraint",
    "LengthLoad",
    "Limits",
    "Mechanism",
    "MechanismNames",
    "MechanismPart",
    "MeshShape",
    "Mimic",
    "Motor",
    "Orientation",
    "PartNumberField",
    "PartTable",
    "Placement",
    "Pose",
    "RollingConstraint",
    "RollingEllipsoidConstraint",
    "Shape",
    "ShapeOfBody",
    "Spring",
    "Strength",
    "SurfaceConstraint",
    "TyreElement",
    "Vector",
    "WrenchElement",
    "check_constant_units",
    "has_text",
    "joint_coordinate_name",
    "joint_coordinate_names",
    "joint_velocity_names",
    "mechanism_names",
    "part_numbers",
    "plain_part_value",
    "pose_numbers",
    "quaternion_coordinate_offsets",
    "read_coordinate_numbers",
    "replace_part_fields",
    "require_mechanism",
]
