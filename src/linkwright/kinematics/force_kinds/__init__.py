"""Forces of mechanisms: one file a kind, and the table of those that files may have.

A kind is a subclass of `ForceElement` and a function that makes it from the mechanism's
description. docs/extend/force-element.md adds one, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...algebra.linear import Scalar
from ...mechanism import JointForce, Spring, Wrench
from ..tree import ForceElement
from ..values import Values
from .joint_force import read_joint_force
from .spring import read_spring
from .wrench import read_wrench

READERS: dict[
    type, Callable[[str, Any, Values, dict[str, Scalar], Mapping[str, int]], ForceElement]
] = {
    Spring: read_spring,
    Wrench: read_wrench,
    JointForce: read_joint_force,
}
"""Makes a force from its name, its description, the numbers, what names in expressions stand for,
and the index of every degree of freedom among the tree's speeds."""
