"""Quantities of single bodies: centres of mass, their motion and Jacobians, energies.

Bodies are numbered as everywhere else in the program: in the order of the joints, depth first, what
is fixed together being one body.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from ..equations import Equations
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.made_up_names import part_number
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, mechanism_names
from ..types import SX

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary

_CENTER_FRAME_NAME = "mass_center_of_body_{}"


def frames_for_center_symbols(mechanism: Mechanism) -> dict[str, dict[str, object]]:
    """A frame at the declared centre of mass of every numbered body."""
    return {
        _CENTER_FRAME_NAME.format(k): {"body": name, "origin": mechanism.bodies[name].center}
        for k, name in enumerate(mechanism_names(mechanism).bodies, 1)
    }


def parameters_hidden_from_texts(eqs: Equations) -> dict[str, str]:
    """Numbers of centres of mass have names by their frame and by their body: the former, with the
    latter, which is the one that people see."""
    found = {}
    for k, body in enumerate(eqs.names.bodies, 1):
        number = part_number(body, eqs.names.bodies)
        for axis in "xyz":
            ours = f"{axis}_{_CENTER_FRAME_NAME.format(k)}"
            for bodys in (f"c{axis}{number}", f"c{axis}_{body}"):
                if ours in eqs.parameters and eqs.parameters[ours] == eqs.parameters.get(bodys):
                    found[ours] = bodys
    return found


class CheckerBodySymbols:
    """Values of the symbols of single bodies: x1, v1, K1, …."""

    def __init__(self, vocabulary: CheckerVocabulary) -> None:
        self.vocabulary = vocabulary

    @cached_property
    def _tree(self) -> KinematicTree:
        return build_kinematic_tree(self.vocabulary.mechanism, "symbolic")

    @property
    def joints_of_velocities(self) -> list[str]:
        """The joint of each velocity of the tree, of joints with a given motion too."""
        links = self._tree.links
        spans = [(x.name, links[i]) for x in self._tree.joints for i in x.links]
        return [name for name, link in spans for _ in range(link.kind.velocity_count)]

    def body_name(self, k: int) -> str:
        """The name of the k-th body in the mechanism's file."""
        return self.vocabulary.names.bodies[k]

    def is_composite_body(self, k: int) -> bool:
        """Whether several bodies of the file are fixed together in this one."""
        places = self._tree.bodies
        link = places[self.body_name(k)].link
        return sum(place.link == link for place in places.values()) > 1

    def link_rotation(self, body: str) -> SX:
        """The axes of the link that a body is fixed to, of which the third is its joint's axis, as
        columns in world axes."""
        R = self.vocabulary.quantity_expression("placement", body)[:3, :3]
        return ca.SX(R @ self._in_own_parameters(self._tree.bodies[body].R).T)

    def center_quantity(self, function: str, k: int) -> SX:
        """`placement`, `jacobian`, `frame_velocity` or `frame_acceleration` of the centre of mass,
        in the axes of the body."""
        one = self.vocabulary.quantity_expression
        if not self.is_composite_body(k):
            return one(function, _CENTER_FRAME_NAME.format(k + 1))
        body = self.body_name(k)
        place = one("placement", body)
        m, h, _ = self.inertial_parameters(k)
        r = place[:3, :3] @ (h / m)
        if function == "placement":
            center = ca.vertcat(place[:3, 3] + r, 1)
            return ca.horzcat(place[:, :3], center)
        own = one(function, body)
        moved = own[3:, :] - ca.skew(r) @ own[:3, :]
        if function == "frame_acceleration":
            w = one("frame_velocity", body)[:3]
            moved += ca.cross(w, ca.cross(w, r))
        return ca.vertcat(own[:3, :], moved)

    def center_position(self, axis: int, k: int) -> SX:
        """A coordinate of the k-th centre of mass, world axes."""
        return self.center_quantity("placement", k)[axis, 3]

    def center_velocity(self, axis: int, k: int) -> SX:
        """A component of the velocity of the k-th centre of mass, world axes."""
        return self.center_quantity("frame_velocity", k)[3 + axis]

    def center_acceleration(self, axis: int, k: int) -> SX:
        """A component of the acceleration of the k-th centre of mass, world axes."""
        return self.center_quantity("frame_acceleration", k)[3 + axis]

    def angular_velocity(self, axis: int, k: int) -> SX:
        """A component of the angular velocity of the k-th body, world axes."""
        return self.center_quantity("frame_velocity", k)[axis]

    def center_jacobian_entry(self, axis: int, k: int, i: int) -> SX:
        """The velocity of the k-th centre of mass along a world axis, per unit of velocity i."""
        return self.center_quantity("jacobian", k)[3 + axis, i]

    def angular_jacobian_entry(self, axis: int, k: int, i: int) -> SX:
        """The angular velocity of the k-th body about a world axis, per unit of velocity i."""
        return self.center_quantity("jacobian", k)[axis, i]

    def center_speed(self, k: int) -> SX:
        """The magnitude of the velocity of the k-th centre of mass."""
        return ca.sqrt(ca.sumsqr(self.center_quantity("frame_velocity", k)[3:]))

    def kinetic_energy(self, k: int) -> SX:
        """½ m v² + v·(ω × mc) + ½ ωᵀIω in the body's axes."""
        m, h, inertia = self.inertial_parameters(k)
        R = self.vocabulary.quantity_expression("placement", self.body_name(k))[:3, :3]
        V = self.vocabulary.quantity_expression("frame_velocity", self.body_name(k))
        w, v = R.T @ V[:3], R.T @ V[3:]
        return m * ca.sumsqr(v) / 2 + ca.dot(v, ca.cross(w, h)) + ca.dot(w, inertia @ w) / 2

    def inertial_parameters(self, k: int) -> tuple[SX, SX, SX]:
        """Mass, first moment and inertia about the origin of the body's frame."""
        m, x, y, z, xx, xy, yy, xz, yz, zz = ca.vertsplit(
            self.vocabulary.eqs.inertial_parameters[10 * k : 10 * k + 10]
        )
        rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        return m, ca.vertcat(x, y, z), ca.vertcat(*(ca.horzcat(*row) for row in rows))

    def central_inertia(self, k: int) -> tuple[SX, SX]:
        """Mass, and inertia about the centre of mass along the axes of the body."""
        m, h, about_origin = self.inertial_parameters(k)
        if ca.SX(m).is_zero():
            return m, about_origin
        return m, about_origin - (ca.sumsqr(h) * ca.SX.eye(3) - h @ h.T) / m

    def potential_energy(self, k: int) -> SX:
        """The potential energy of the body's weight."""
        m, h, _ = self.inertial_parameters(k)
        T = self.vocabulary.quantity_expression("placement", self.body_name(k))
        return -ca.dot(self.gravity_acceleration, m * T[:3, 3] + T[:3, :3] @ h)

    @cached_property
    def gravity_acceleration(self) -> SX:
        """The vector of gravity, in the symbols of the equations."""
        return self._in_own_parameters(self._tree.gravity)

    def _in_own_parameters(self, constant: SX) -> SX:
        """A constant array of the tree, in the parameters of the equations."""
        named = {str(x): x for x in ca.vertsplit(self.vocabulary.symbols["p"])}
        symbols = ca.symvar(ca.SX(constant))
        theirs = ca.vertcat(*(named[str(x)] for x in symbols))
        return ca.SX(
            ca.substitute(ca.SX(constant), ca.vertcat(*symbols), theirs) if symbols else constant
        )
