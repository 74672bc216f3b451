"""Forces of force elements, one file for each kind, and the table of the kinds that files may have.

A kind is a subclass of `ForceElement` and a function that makes it from the mechanism's
description. docs/extend/force-element.md adds one, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...algebra.linear_algebra import Scalar
from ...mechanism import JointForce, Spring, WrenchElement
from ..kinematic_tree import ForceElement
from ..parameter_values import KinematicParameters
from .joint_force import read_joint_force_element
from .spring import read_spring_element
from .wrench import read_wrench_element

FORCE_READERS: dict[
    type,
    Callable[[str, Any, KinematicParameters, dict[str, Scalar], Mapping[str, int]], ForceElement],
] = {
    Spring: read_spring_element,
    WrenchElement: read_wrench_element,
    JointForce: read_joint_force_element,
}
"""Makes a force from its name, its description, the numbers, what names in expressions stand for,
and the index of every degree of freedom among the tree's velocities."""
