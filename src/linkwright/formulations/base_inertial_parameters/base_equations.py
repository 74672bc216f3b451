"""Equations of motion in base parameters.

All inertial parameters that are not base parameters are zero. The forces at the joints are the same
for every motion; quantities of single bodies (energies, momenta, reactions) are not and are absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace

import casadi as ca

from ...algebra.spatial import ZERO_INERTIA
from ...equations import Equations
from ...errors import UnsupportedError
from ...kinematics.kinematic_tree import KinematicTree
from ...kinematics.symbolic_regrouping import regroup_symbolic_link_inertias
from ...kinematics.tree_builder import build_kinematic_tree
from ...mechanism import Mechanism
from ...types import SX
from ..recursive import recursive_equations
from .parameter_groups import BaseParameters, base_parameter_column_names, base_parameters
from .regrouping import inertia_from_base_parameters

_BODY_FUNCTIONS = (
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "momentum",
    "reactions",
    "body_reactions",
    "reactions_of_motion",
)
_ABSENCE_REASON = 'base parameters are not the bodies\' own; derive with parameters="symbolic"'


def derive_base(mechanism: Mechanism, by: str = "recursive") -> Equations:
    """Return the equations of motion with base parameters and lengths as symbols.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism without loops and constraints.
    by : str
        The formulation; only "recursive" has base parameters.

    Returns
    -------
    Equations
        The equations, the same as of `derive(mechanism, parameters="base")`.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.identify.derive_base(lw.gallery("elbow")).nv
    2
    """
    if by != "recursive":
        raise UnsupportedError(
            f"the formulation '{by}' needs masses and centres of mass, which base parameters lack",
            remedy="use by='recursive'",
        )
    base = base_parameters(mechanism)
    tree, inertial_parameters = _substitute_base_parameters(
        build_kinematic_tree(mechanism, "symbolic"), base
    )
    eqs = recursive_equations(tree, regroup_symbolic_link_inertias(tree))
    return replace(
        eqs,
        inertial_parameters=inertial_parameters,
        builders={name: made for name, made in eqs.builders.items() if name not in _BODY_FUNCTIONS},
        absent_functions=dict.fromkeys(_BODY_FUNCTIONS, _ABSENCE_REASON),
    )


def _substitute_base_parameters(
    tree: KinematicTree, base: BaseParameters
) -> tuple[KinematicTree, SX]:
    """The tree with base parameters in place of its inertias, and the vector that multiplies the
    regressor."""
    own = {name: ca.SX.sym(name) for name in base.parameters}
    by_kept = {base.parameters[name].kept: symbol for name, symbol in own.items()}
    bodies = tree.names.bodies
    column = ca.vertcat(*(by_kept.get(name, 0.0) for name in base_parameter_column_names(bodies)))
    links = [replace(link, inertia=ZERO_INERTIA) for link in tree.links]
    for number, place in enumerate(tree.bodies[name] for name in bodies):
        inertia = inertia_from_base_parameters(column[10 * number : 10 * number + 10]).transform(
            place.R, place.p
        )
        links[place.link] = replace(links[place.link], inertia=inertia)
    bare = replace(tree, links=tuple(links), inertias={}, masses={})
    needed = _base_tree_symbol_names(replace(bare, symbols={}, symbol_values={})) - set(own)
    symbols = {name: symbol for name, symbol in tree.symbols.items() if name in needed}
    values = {name: tree.symbol_values[name] for name in symbols}
    base_values = {name: parameter.value for name, parameter in base.parameters.items()}
    changed = replace(bare, symbols=symbols | own, symbol_values=values | base_values)
    return changed, column


def _base_tree_symbol_names(part: object) -> set[str]:
    """The names of all symbols in the parts of a tree."""
    if isinstance(part, ca.SX):
        return {symbol.name() for symbol in ca.symvar(part)}
    if isinstance(part, Mechanism | str):
        return set()
    if is_dataclass(part):
        return set().union(
            *(_base_tree_symbol_names(getattr(part, field.name)) for field in fields(part))
        )
    if isinstance(part, Mapping):
        return set().union(*(_base_tree_symbol_names(value) for value in part.values()))
    if isinstance(part, Sequence):
        return set().union(*(_base_tree_symbol_names(value) for value in part))
    return set()
