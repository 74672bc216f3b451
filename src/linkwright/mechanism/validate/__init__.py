"""Checks of a whole mechanism: names, tree, parameters, units, signs, directions, elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .constraints import check_constraints
from .contacts import check_contacts
from .directions import check_directions
from .elements import check_elements
from .numbers import check_numbers, parameter_values, scope_of
from .physics import unphysical_bodies
from .structure import check_structure

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["check_mechanism", "parameter_values", "unphysical_bodies"]


def check_mechanism(mechanism: Mechanism) -> None:
    """Raises a `MechanismError` that names the place and the remedy, or returns."""
    check_structure(mechanism)
    scope = scope_of(mechanism)
    check_numbers(mechanism, scope)
    check_directions(mechanism, scope)
    check_elements(mechanism, scope)
    check_constraints(mechanism, scope)
    check_contacts(mechanism, scope)
