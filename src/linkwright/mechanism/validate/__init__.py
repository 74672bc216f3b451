"""Checks of a whole mechanism: names, tree, parameters, units, signs, directions, elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .axis_checks import check_axes_and_orientations
from .constraint_checks import check_constraints
from .contact_checks import check_contacts
from .force_checks import check_force_elements, check_generalized_speeds
from .inertia_checks import unphysical_body_messages
from .length_checks import check_lengths
from .part_number_checks import (
    check_part_numbers,
    evaluate_mechanism_parameters,
    mechanism_parameter_scope,
)
from .pose_checks import check_poses
from .shape_checks import check_shapes
from .structure_checks import check_structure

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["check_mechanism", "evaluate_mechanism_parameters", "unphysical_body_messages"]


def check_mechanism(mechanism: Mechanism) -> None:
    """Raise a `MechanismError` that names the place and the remedy, if the mechanism has a
    fault."""
    check_structure(mechanism)
    scope = mechanism_parameter_scope(mechanism)
    check_part_numbers(mechanism, scope)
    check_axes_and_orientations(mechanism, scope)
    check_lengths(mechanism, scope)
    check_force_elements(mechanism, scope)
    check_generalized_speeds(mechanism, scope)
    check_constraints(mechanism, scope)
    check_contacts(mechanism, scope)
    check_shapes(mechanism, scope)
    check_poses(mechanism, scope)
