"""Springs and dampers between points in printed equations, by their lengths and tensions.

Written out, the force of one spring has a hundred terms and more. By name it has few:
f = −S · L ∂L/∂q, with the length L and S = (k (L − l0) + c L̇)/L.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar
from ..kinematics.body_forces import BodyForce, SpringLength, spring_lengths
from ..kinematics.force_kinds.spring import PointSpring
from ..kinematics.kinematic_tree import ForceElement
from ..kinematics.world_kinematics import WorldKinematics
from ..written_equations import EquationLine, EquationSection, EquationSet
from .formulation import Formulation

SPRING_SECTION = "Springs and dampers"
_KEPT_PROPERTIES = ("constraints", "reduction")
"""Properties of a formulation that do not depend on springs, and take time."""
AnyFormulation = TypeVar("AnyFormulation", bound=Formulation)


@dataclass(frozen=True)
class NamedSpring(ForceElement):
    """A spring whose length L and tension by length S are symbols; it is a force without energy."""

    spring: PointSpring
    length: Scalar
    tension: Scalar

    label = "spring"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the pull S (x_b − x_a) on the bodies at both ends."""
        (a, x_a), (b, x_b) = (world.frame_origin(name) for name in self.spring.between)
        pull, none = self.tension * (x_b - x_a), ca.SX.zeros(3)
        one, other = (world.body_name(name) for name in self.spring.between)
        return [BodyForce(one, a, x_a, pull, none), BodyForce(other, b, x_b, -pull, none)]

    @property
    def energy(self) -> Scalar:
        """The elastic energy k (L − l0)²/2, J, in the symbol of the length."""
        return self.spring.stiffness * (self.length - self.spring.length) ** 2 / 2

    @property
    def meanings(self) -> dict[str, str]:
        """The meanings of the two symbols."""
        name = self.spring.name
        return {
            self.length.name(): f"length of {name}",
            self.tension.name(): f"tension of {name}, divided by its length",
        }


def spring_definition_lines(one: SpringLength, L: Scalar, S: Scalar) -> list[EquationLine]:
    """The lines that define the symbols L and S of a spring, without roots and denominators."""
    spring = one.spring
    if isinstance(spring.damping, float) and spring.damping == 0.0:
        pulled = spring.stiffness * (L - spring.length)
        return [EquationLine(L**2, ca.SX(one.length_squared)), EquationLine(L * S, pulled)]
    pulled = spring.stiffness * (L - spring.length) * L + spring.damping * one.length_rate
    return [EquationLine(L**2, ca.SX(one.length_squared)), EquationLine(L**2 * S, pulled)]


def equation_set_with_named_springs(
    own: AnyFormulation, write: Callable[[AnyFormulation], EquationSet]
) -> EquationSet:
    """The set that `write` makes, in which springs between points stand by their tensions; a
    section before the first that contains one defines them."""
    springs = spring_lengths(own.tree, own.q, own.qd)
    if not springs or own.tree.names.has_moving_coordinates:
        return write(own)
    tree = own.tree
    taken = {*tree.symbols, *tree.mechanism.parameters, *tree.names.q, *tree.names.actuators}
    named = [_named_spring(one.spring, taken) for one in springs]
    made = write(_formulation_with(own, {id(one.spring): one for one in named}))
    lines = [
        line
        for one, spring in zip(springs, named, strict=True)
        for line in spring_definition_lines(one, spring.length, spring.tension)
    ]
    meanings = {name: what for one in named for name, what in one.meanings.items()}
    sections = list(made.sections)
    uses = (k for k, one in enumerate(sections) if not _symbol_names(one).isdisjoint(meanings))
    sections.insert(next(uses, 0), EquationSection(SPRING_SECTION, tuple(lines)))
    return replace(
        made,
        sections=tuple(sections),
        symbols={**made.symbols, **meanings},
        definitions=tuple(
            pair
            for one, spring in zip(springs, named, strict=True)
            for pair in _spring_definitions(one, spring)
        ),
    )


def _spring_definitions(one: SpringLength, named: NamedSpring) -> list[tuple[Scalar, Scalar]]:
    """The symbols of a spring with their explicit expressions."""
    length = ca.sqrt(one.length_squared)
    tension = one.spring.stiffness * (length - one.spring.length)
    tension += one.spring.damping * one.length_rate / length
    return [(named.length, length), (named.tension, tension / length)]


def _symbol_names(section: EquationSection) -> set[str]:
    """The names of the symbols in the lines of a section."""
    sides = [line.whole_right() for line in section.lines]
    sides += [line.left for line in section.lines if not isinstance(line.left, str)]
    return {symbol.name() for symbol in ca.symvar(ca.vertcat(ca.SX(0, 1), *map(ca.vec, sides)))}


def has_named_springs(own: Formulation) -> bool:
    """Whether springs have names in a formulation that is being printed."""
    return any(isinstance(one, NamedSpring) for one in own.tree.forces.passive_elements)


def named_spring_energy(own: Formulation) -> Scalar:
    """The elastic energy of the springs that have names in a formulation that is being printed."""
    elements = own.tree.forces.passive_elements
    return sum((one.energy for one in elements if isinstance(one, NamedSpring)), ca.SX(0))


def _named_spring(spring: PointSpring, taken: set[str]) -> NamedSpring:
    """The spring with symbols that are not taken by others."""
    short = f"L_{spring.name}", f"S_{spring.name}"
    L, S = (f"length_{spring.name}", f"tension_{spring.name}") if taken & {*short} else short
    return NamedSpring(spring.name, spring, ca.SX.sym(L), ca.SX.sym(S))


def _formulation_with(own: AnyFormulation, named: dict[int, NamedSpring]) -> AnyFormulation:
    """A copy of the formulation with named springs in place of others."""
    forces = own.tree.forces
    elements = tuple(named.get(id(element), element) for element in forces.force_elements)
    made = copy(own)
    made.tree = replace(own.tree, forces=replace(forces, force_elements=elements))
    for kind in type(own).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, cached_property) and name not in _KEPT_PROPERTIES:
                vars(made).pop(name, None)
    return made
