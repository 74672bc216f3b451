"""Forces of force elements, one file for each kind, and the table of the kinds that files may have.

A kind is a subclass of `ForceElement` and a function that makes it from the mechanism's
description. docs/extend/force-element.md adds one, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra.linear_algebra import Scalar
from ...mechanism import (
    BushingElement,
    DragElement,
    JointForce,
    LengthLoad,
    Spring,
    TyreElement,
    WrenchElement,
)
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from .bushing import read_bushing_element
from .drag import read_drag_element
from .joint_force import read_joint_force_element
from .length_force import read_length_load
from .spring import read_spring_element
from .tyre import read_tyre_element
from .wrench import read_wrench_element

FORCE_READERS: dict[
    type,
    Callable[[str, Any, KinematicParameters, dict[str, Scalar], KinematicTree], ForceElement],
] = {
    Spring: read_spring_element,
    WrenchElement: read_wrench_element,
    JointForce: read_joint_force_element,
    LengthLoad: read_length_load,
    BushingElement: read_bushing_element,
    DragElement: read_drag_element,
    TyreElement: read_tyre_element,
}
"""Makes a force from its name, its description, the numbers, what names in expressions stand for,
and the tree, whose forces are not known yet."""
