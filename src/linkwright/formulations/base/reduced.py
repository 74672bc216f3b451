"""Equations of motion in base parameters.

Every inertial number that is not a base parameter is zero. The forces at the joints are the same
for every motion; what single bodies have (energies, momenta, reactions) is not, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import casadi as ca

from ...algebra.spatial import NO_INERTIA
from ...equations import Equations
from ...errors import UnsupportedError
from ...kinematics.build import build_tree
from ...kinematics.regrouped import regrouped_symbols
from ...kinematics.tree import Tree
from ...mechanism import Mechanism
from ..recursive import equations_of
from .base_parameters import BaseParameters, base_parameters, parameter_names
from .regrouping import inertia_of

_OF_BODIES = (
    "kinetic_energy", "potential_energy", "center_of_mass", "momentum", "reactions",
    "body_reactions", "reactions_of_motion",
)  # fmt: skip
_WHY = 'base parameters are not the bodies\' own; derive with parameters="symbolic"'


def derive_base(mechanism: Mechanism, by: str = "recursive") -> Equations:
    """The recursive equations with base parameters and lengths as symbols."""
    if by != "recursive":
        raise UnsupportedError(
            f"the formulation '{by}' needs masses and mass centres, which base parameters lack",
            remedy="use by='recursive'",
        )
    base = base_parameters(mechanism)
    tree, inertial_parameters = _with_base(build_tree(mechanism, "symbolic"), base)
    eqs = equations_of(tree, regrouped_symbols(tree))
    return replace(
        eqs,
        inertial_parameters=inertial_parameters,
        builders={name: made for name, made in eqs.builders.items() if name not in _OF_BODIES},
        absent=dict.fromkeys(_OF_BODIES, _WHY),
    )


def _with_base(tree: Tree, base: BaseParameters) -> tuple[Tree, Any]:
    """The tree with base parameters for its inertia, and the vector that the regressor takes."""
    own = {name: ca.SX.sym(name) for name in base.parameters}
    by_kept = {base.parameters[name].kept: symbol for name, symbol in own.items()}
    bodies = tree.names.bodies
    column = ca.vertcat(*(by_kept.get(name, 0.0) for name in parameter_names(bodies)))
    links = [replace(link, inertia=NO_INERTIA) for link in tree.links]
    for number, place in enumerate(tree.bodies[name] for name in bodies):
        inertia = inertia_of(column[10 * number : 10 * number + 10]).moved(place.R, place.p)
        links[place.link] = replace(links[place.link], inertia=inertia)
    bare = replace(tree, links=tuple(links), inertias={}, masses={})
    needed = _symbols_in(replace(bare, symbols={}, symbol_values={})) - set(own)
    symbols = {name: symbol for name, symbol in tree.symbols.items() if name in needed}
    values = {name: tree.symbol_values[name] for name in symbols}
    base_values = {name: parameter.value for name, parameter in base.parameters.items()}
    changed = replace(bare, symbols=symbols | own, symbol_values=values | base_values)
    return changed, column


def _symbols_in(part: Any) -> set[str]:
    """Names of all symbols in what a tree is made of."""
    if isinstance(part, ca.SX):
        return {symbol.name() for symbol in ca.symvar(part)}
    if isinstance(part, Mechanism | str):
        return set()
    if is_dataclass(part):
        return set().union(*(_symbols_in(getattr(part, field.name)) for field in fields(part)))
    if isinstance(part, Mapping):
        return set().union(*(_symbols_in(value) for value in part.values()))
    if isinstance(part, Sequence):
        return set().union(*(_symbols_in(value) for value in part))
    return set()
