"""Constraints of a mechanism as equalities of MJCF, and the tendons that some of them need.

A joint or tendon equality of MuJoCo holds x1 − x1⁰ = Σ cₖ (x2 − x2⁰)ᵏ, where x⁰ are values in the
configuration of the file, in which all coordinates of the writer are 0 but those of followers.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.polynomial import Polynomial

from ..expressions import Expression, expression_to_float, names_in_expression
from ..kinematics.parameter_values import KinematicParameters
from ..mechanism import CouplingConstraint, GearConstraint, LengthConstraint, Spring
from ..mechanism.constraints import Constraint, DistanceConstraint, EquationConstraint
from ..mechanism.lengths import Length
from .mjcf_elements import add_mjcf_element
from .mjcf_geometry import MjcfGeometry
from .mjcf_tendon_paths import read_tendon_paths

_MOST_COEFFICIENTS = 5


@dataclass(frozen=True)
class MjcfTendon:
    """A tendon of the writer: a path over two sites, or factors by coordinate; its attributes."""

    sites: tuple[str, ...] = ()
    factors: Mapping[str, float] | None = None
    effects: Mapping[str, object] | None = None


class MjcfConstraintWriter:
    """Writes constraints as equalities; springs, rods and sums of coordinates become tendons."""

    def __init__(self, geometry: MjcfGeometry, site_name: Callable[[str], str]) -> None:
        self.geometry, self.mechanism = geometry, geometry.mechanism
        self.tendons: dict[str, MjcfTendon] = {}
        self.held: dict[str, float] = {}
        """Values at which tendons of constraints are held, by constraint."""
        self.springs: list[str] = []
        """The force elements that became tendons."""
        for name, part in self.mechanism.constraints.items():
            self.add_tendon(name, part, site_name)
        for name, force in self.mechanism.forces.items():
            if isinstance(force, Spring):
                self.add_spring(name, force, site_name)

    def number(self, expression: Expression) -> float:
        """Return a number of the mechanism."""
        return expression_to_float(expression, self.mechanism.values)

    def is_constant(self, expression: Expression) -> bool:
        """Return whether a number does not depend on time."""
        return "t" not in names_in_expression(expression)

    def add_tendon(self, name: str, part: Constraint, site_name: Callable[[str], str]) -> None:
        """Add the tendon that a constraint holds, if it needs one."""
        if isinstance(part, DistanceConstraint) and self.is_constant(part.length):
            self.tendons[name] = MjcfTendon(tuple(map(site_name, part.between)))
            self.held[name] = self.number(part.length)
        elif isinstance(part, GearConstraint) and len(part.factors) != 2:
            factors = {key: self.number(x) for key, x in part.factors.items()}
            self.tendons[name] = MjcfTendon(factors=factors)
            self.held[name] = self.number(part.offset)
        elif isinstance(part, EquationConstraint) and part.position is not None:
            found = self.linear_equation(part.position)
            if found is not None:
                self.tendons[name] = MjcfTendon(factors=found[0])
                self.held[name] = found[1]

    def add_spring(self, name: str, spring: Spring, site_name: Callable[[str], str]) -> None:
        """Add the tendon of a spring and damper between two points."""
        effects = {
            "stiffness": self.number(spring.stiffness),
            "damping": self.number(spring.damping),
            "springlength": self.number(spring.length),
        }
        self.tendons[name] = MjcfTendon(tuple(map(site_name, spring.between)), effects=effects)
        self.springs.append(name)

    def linear_equation(self, position: Expression) -> tuple[dict[str, float], float] | None:
        """Return factors by coordinate and the value of their sum, where an equation is linear in
        coordinates of hinges and slides; None for other equations."""
        tree = self.geometry.tree
        scope = dict(zip(tree.names.q, ca.vertsplit(tree.motion.q), strict=True))
        if "t" in names_in_expression(position) or self.mechanism.coordinates is not None:
            return None
        values = KinematicParameters(self.mechanism, "numeric")
        value = ca.SX(values.read_motion_expression(position, scope))
        slope = ca.jacobian(value, tree.motion.q)
        if not slope.is_constant() or tree.nq != tree.nv:
            return None
        numbers = [float(x) for x in ca.densify(ca.evalf(slope)).nonzeros()]
        zero = ca.substitute(value, tree.motion.q, ca.SX.zeros(tree.nq))
        factors = {name: x for name, x in zip(tree.names.q, numbers, strict=True) if x}
        return (factors, -float(ca.evalf(zero))) if factors else None

    def write_tendons(self, section: ET.Element) -> None:
        """Add the tendons of constraints and springs."""
        for name, tendon in self.tendons.items():
            tag = "spatial" if tendon.sites else "fixed"
            element = add_mjcf_element(section, tag, name=name, **(tendon.effects or {}))
            for site in tendon.sites:
                add_mjcf_element(element, "site", site=site)
            for coordinate, factor in (tendon.factors or {}).items():
                add_mjcf_element(element, "joint", joint=coordinate, coef=factor)

    def write_constraint(self, section: ET.Element, name: str, part: Constraint) -> bool:
        """Add a constraint as an equality; return False for those that MJCF cannot hold."""
        found = next(self.equality(name, part), None)
        if found is None or len(found[2]) > _MOST_COEFFICIENTS:
            return False
        kind, partners, numbers = found
        ends = {f"{kind}{k}": x for k, x in enumerate(partners, 1)}
        polynomial = numbers + [0.0] * (_MOST_COEFFICIENTS - len(numbers))
        add_mjcf_element(section, kind, name=name, **ends, polycoef=polynomial)
        return True

    def equality(self, name: str, part: Constraint) -> Iterator[tuple[str, list[str], list[float]]]:
        """Yield kind, partners and coefficients of a constraint's equality, if there is one."""
        if name in self.tendons:
            yield "tendon", [name], [self.held[name] - self.start_length(self.tendons[name])]
        elif isinstance(part, CouplingConstraint):
            partners = [x for x in (part.joint, part.other) if x is not None]
            yield "joint", partners, [*map(self.number, part.coefficients)]
        elif isinstance(part, GearConstraint):
            (one, first), (other, second) = part.factors.items()
            gear, offset = self.number(first), self.number(part.offset)
            yield "joint", [one, other], [offset / gear, -self.number(second) / gear]
        elif isinstance(part, LengthConstraint) and self.has_tendons(part):
            partners = [x for x in (part.length, part.other) if x is not None]
            starts = [self.named_length(x) for x in partners]
            series = Polynomial([self.number(x) for x in part.coefficients])
            if len(partners) > 1:
                series = series(Polynomial([starts[1], 1.0]))
            yield "tendon", partners, [float(x) for x in (series - starts[0]).coef]

    def has_tendons(self, part: LengthConstraint) -> bool:
        """Return whether the lengths of a constraint are tendons, and its numbers constant."""
        lengths = [self.mechanism.lengths[x] for x in (part.length, part.other) if x is not None]
        return all(map(self.is_constant, part.coefficients)) and all(map(self.is_tendon, lengths))

    def is_tendon(self, length: Length) -> bool:
        """Return whether one tendon can have this length."""
        return read_tendon_paths(self.mechanism, length).is_tendon

    def named_length(self, name: str) -> float:
        """Return a length of the mechanism in the configuration of the file."""
        value = self.geometry.tree.lengths[name].value(self.geometry.world)
        return float(ca.evalf(ca.SX(value)))

    def start_length(self, tendon: MjcfTendon) -> float:
        """Return the length of a tendon in the configuration of the file: 0 for sums of
        coordinates."""
        if not tendon.sites:
            return 0.0
        one, other = (self.geometry.own_pose(x.removesuffix(":origin")).p for x in tendon.sites)
        return float(np.linalg.norm(other - one))
