"""Rows of velocities along which forces may act and cease: stops, rigid contacts, dry friction.

Each has rows V = R(q) q̇, whose rates are R q̈ + γ: the closing velocity of a stop or contact (with a
gap of which it is the rate), two velocities of slip, the velocity of a joint with friction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ...algebra.linear_algebra import Scalar
from ...errors import UnsupportedError
from ...expressions import Expression, expression_to_float, names_in_expression
from ...kinematics.body_forces import BodyForce
from ...kinematics.constraint_kinds.body_states import ConstrainedBodyStates
from ...kinematics.parameter_values import KinematicParameters
from ...kinematics.tree_builder import build_kinematic_tree
from ...kinematics.tree_coordinates import (
    coordinate_rate_matrix,
    spread_coordinates,
    spread_velocities,
)
from ...mechanism import Contact, Joint, Mechanism, joint_coordinate_name, mechanism_names
from ...types import SX, Booleans, Floats
from ..ensemble_parameters import first_varied_name, names_in_tree
from .coding import compile_expressions
from .row_elements import JointFriction, UnilateralConstraint, is_absent, with_numbers

FAR = 1e12
"""Limits beyond this are none."""


class ModeRows:
    """The rows of a mechanism; those of unilateral constraints first, in their order.

    Numbers that depend on `parameters` are expressions of the symbols `p`; `with_values` returns
    the rows of one run, in which they are numbers. Names in `geometry` stay symbols in gaps and
    velocities only: limits, restitutions and friction keep the values of the mechanism.

    The class has more than 20 methods because each kind of row has its own.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        stops: str,
        parameters: Sequence[str] = (),
        *,
        geometry: Sequence[str] = (),
    ) -> None:
        self.mechanism, self.stops, self.parameters = mechanism, stops, tuple(parameters)
        known = names_in_tree(mechanism, parameters)
        self.tree = build_kinematic_tree(mechanism, (*known, *geometry) or "numeric")
        self._symbols = KinematicParameters(mechanism, self.parameters)
        self._symbols.symbols |= {n: x for n, x in self.tree.symbols.items() if n in known}
        self._geometry = KinematicParameters(mechanism, tuple(geometry) or "numeric")
        self.values = np.array([float(mechanism.values[name]) for name in self.parameters])
        """Values of the parameters."""
        self._least: list[SX] = []
        """Expressions of p that are zero or less in runs without some part."""
        self.unilaterals: list[UnilateralConstraint] = []
        self.joint_frictions: list[JointFriction] = []
        self._gaps: list[SX] = []
        self._speeds: list[SX] = []
        self._contacts: list[tuple[SX, SX]] = []
        self._setting = ConstrainedBodyStates(self.tree)
        if stops != "ignore":
            self._add_stops()
            self._add_length_stops()
        self._add_contacts()
        self._compliant_gaps = [
            self._gap(name, contact)
            for name, contact in mechanism.contacts.items()
            if not contact.is_rigid
        ]
        self._add_joint_frictions()
        self._add_length_frictions()
        self._check_coordinates_at_rest()
        self._compile()

    def _check_coordinates_at_rest(self) -> None:
        """Raise where coordinates depend on time, so that velocities of rows are not R q̇."""
        if self._speeds and self.tree.names.has_moving_coordinates:
            raise UnsupportedError(
                "stops, rigid contacts and dry friction do not support coordinates that depend on "
                "t",
                where=self.mechanism.name,
                remedy='simulate with stops="ignore"; give contacts a stiffness and friction a '
                "smoothing; or drive joints by constraints",
            )

    def number(self, expression: Expression) -> Scalar:
        """Return the value of an expression of parameters."""
        names = names_in_expression(expression)
        if first_varied_name(self.mechanism, names, self.parameters) is None:
            return expression_to_float(expression, self.mechanism.values)
        return self._symbols.read_scalar(expression, "")

    def _note_part(self, size: Scalar) -> None:
        """Note the size of a part; runs in which it is zero have other rows."""
        if isinstance(size, ca.SX):
            self._least.append(size)

    @property
    def any(self) -> bool:
        """Whether there are rows or compliant contacts."""
        return bool(self._speeds or self._compliant_gaps)

    # -- stops ---------------------------------------------------------------------------

    def _add_stops(self) -> None:
        """Add the stops of all joints with limits."""
        full = spread_coordinates(self.tree, self.tree.motion.q)
        v = spread_velocities(self.tree, self.tree.motion.qd)
        for span in self.tree.joints:
            joint = self.mechanism.joints[span.name]
            limits = (joint.limits.lower, joint.limits.upper)
            if limits == (None, None) or not joint.dofs or joint.locked is not None:
                continue
            if joint.by_quaternion:
                raise UnsupportedError(
                    "coordinates of a quaternion have no stops",
                    where=f"joints.{span.name}",
                    remedy='give rotation = "cardan", or simulate with stops="ignore"',
                )
            for k, index in enumerate(span.links):
                link = self.tree.links[index]
                self._add_stop(span.name, joint, k, full[link.q], v[link.v])

    def _add_stop(self, name: str, joint: Joint, k: int, q: SX, v: SX) -> None:
        """Add the stops of one coordinate."""
        ends: dict[str, Scalar] = {}
        for side, limit in (("lower", joint.limits.lower), ("upper", joint.limits.upper)):
            if limit is not None:
                ends[side] = self.number(joint.each(limit)[k])
        label = joint_coordinate_name(name, joint.coordinates[k])
        turns = joint.dofs[k].is_rotation
        self._add_ends(label, ends, joint.limits.restitution, (q, v), turns=turns)

    def _add_ends(
        self,
        label: str,
        ends: dict[str, Scalar],
        restitution: Expression | None,
        position_and_rate: tuple[SX, SX],
        *,
        turns: bool,
    ) -> None:
        """Add the stops at the ends of the range of a coordinate or length."""
        if len(ends) == 2:
            if is_absent(ends["upper"] - ends["lower"]):
                return
            self._note_part(ends["upper"] - ends["lower"])
        e = None if restitution is None else self.number(restitution)
        if self.stops == "impact" and e is None:
            e = 0.0
        position, rate = position_and_rate
        for side, end in ends.items():
            if isinstance(end, ca.SX) or abs(end) < FAR:
                sign = 1 if side == "lower" else -1
                self.unilaterals.append(UnilateralConstraint(f"{label} {side}", e, turns=turns))
                self._gaps.append(sign * (position - end))
                self._speeds.append(sign * rate)

    # -- contacts ------------------------------------------------------------------------

    def _add_contacts(self) -> None:
        """Add the rigid contacts, and rows of slip where they have friction."""
        slips = []
        for name, contact in self.mechanism.contacts.items():
            if not contact.is_rigid:
                continue
            plane, tip = (
                self._setting.frame_pose(contact.plane),
                self._setting.frame_pose(contact.point).p,
            )
            at = tip - self._size(contact.radius, f"r_{name}") * plane.R[:, 2]
            slip = self._setting.point_velocity(contact.point, at) - self._setting.point_velocity(
                contact.plane, at
            )
            bodies = (
                self._setting.body_name(contact.point),
                self._setting.body_name(contact.plane),
            )
            mu = self.number(contact.friction)
            self.unilaterals.append(
                UnilateralConstraint(
                    name,
                    self.number(contact.restitution),
                    *bodies,
                    friction=mu,
                    ratio=self.number(contact.static_ratio),
                )
            )
            self._gaps.append(self._gap(name, contact))
            self._speeds.append(ca.dot(plane.R[:, 2], slip))
            self._contacts.append((at, plane.R))
            slips.append([ca.dot(plane.R[:, k], slip) for k in (0, 1)])
        self.stop_count = len(self.unilaterals) - len(slips)
        for k, pair in enumerate(slips):
            here = self.stop_count + k
            if not is_absent(self.unilaterals[here].friction):
                self._note_part(self.unilaterals[here].friction)
                first = len(self._speeds)
                self.unilaterals[here] = replace(self.unilaterals[here], slip=(first, first + 1))
                self._speeds += pair

    def _size(self, expression: Expression, name: str) -> Scalar:
        """Return a number that may be an expression of the names in `geometry`; its own name, if it
        has none, is `name`."""
        if self.parameters:
            return self.number(expression)
        return self._geometry.read_scalar(expression, name)

    def _gap(self, name: str, contact: Contact) -> SX:
        """Return the gap of a contact as an expression."""
        plane, tip = (
            self._setting.frame_pose(contact.plane),
            self._setting.frame_pose(contact.point).p,
        )
        return ca.SX(ca.dot(plane.R[:, 2], tip - plane.p) - self._size(contact.radius, f"r_{name}"))

    # -- friction ------------------------------------------------------------------------

    def _add_joint_frictions(self) -> None:
        """Add the joints with dry friction."""
        v = spread_velocities(self.tree, self.tree.motion.qd)
        for place, span in enumerate(self.tree.joints):
            joint = self.mechanism.joints[span.name]
            indices = [v_ for i in span.links for v_ in self._speeds_of(i)]
            for k, index in enumerate(indices):
                self._add_joint_friction(span.name, joint, k, index, place, v[index])

    def _speeds_of(self, link: int) -> range:
        """Return the indices of a link's velocities in the tree."""
        own = self.tree.links[link].velocity_range
        return range(own.start, own.stop)

    def _add_joint_friction(
        self, name: str, joint: Joint, k: int, index: int, place: int, v: SX
    ) -> None:
        """Add the dry friction of one velocity."""
        law = self.tree.joint_effects[index].friction
        is_sharp = expression_to_float(joint.each(joint.smoothing)[k], self.mechanism.values) == 0
        ratio = self._size(joint.static_ratio, f"r_{name}")
        force, ratio, shift = law.sharp_levels(ratio) if is_sharp else (0.0, ratio, 0.0)
        arm = self.number(joint.friction_coefficient)
        slides = not joint.dofs[k].is_rotation
        if joint.pin_radius is not None:
            arm *= self.number(joint.pin_radius)
        if not (is_absent(force) and is_absent(arm)):
            self._note_part(force + arm)
            label = joint_coordinate_name(name, joint.dofs[k].ending)
            row, axis = len(self._speeds), index if slides else -1
            self.joint_frictions.append(
                JointFriction(label, row, force, ratio, arm, place, axis, shift)
            )
            self._speeds.append(v)

    # -- lengths -------------------------------------------------------------------------

    def _add_length_stops(self) -> None:
        """Add the stops of all lengths with limits."""
        for name, given in self.mechanism.lengths.items():
            length, limits = self.tree.lengths[name], given.limits
            ends = {"lower": limits.lower, "upper": limits.upper}
            self._add_ends(
                name,
                {side: self.number(end) for side, end in ends.items() if end is not None},
                limits.restitution,
                (
                    length.value(self._setting.world),
                    length.rate(self._setting.world, self._setting.v),
                ),
                turns=False,
            )

    def _add_length_frictions(self) -> None:
        """Add the lengths with dry friction."""
        for name, given in self.mechanism.lengths.items():
            force = self.number(given.friction)
            if not is_absent(force) and self.number(given.smoothing) == 0.0:
                self._note_part(force)
                ratio = self.number(given.static_ratio)
                self.joint_frictions.append(JointFriction(name, len(self._speeds), force, ratio))
                world, v = self._setting.world, self._setting.v
                self._speeds.append(self.tree.lengths[name].rate(world, v))

    # -- numbers -------------------------------------------------------------------------

    @property
    def symbols(self) -> dict[str, list[SX]]:
        """The symbols of the geometry by name."""
        tables = (self.tree.symbols, self._geometry.symbols)
        names = dict.fromkeys(name for table in tables for name in table)
        return {n: [ca.SX(table[n]) for table in tables if n in table] for n in names}

    def _compile(self) -> None:
        """Derive R and γ of all rows."""
        own = self.tree.motion
        self.used_parameters = frozenset(self._symbols.symbols)
        symbol = self._symbols.parameter_symbol
        symbols = [symbol(name, self.mechanism.values[name]) for name in self.parameters]
        self.p = ca.vertcat(ca.SX(0, 1), *symbols)
        self.V = ca.vertcat(ca.SX(0, 1), *self._speeds)
        self.R = ca.densify(ca.jacobian(self.V, own.qd))
        self.gamma = ca.densify(
            ca.jtimes(self.V, own.q, coordinate_rate_matrix(self.tree, own.q) @ own.qd)
        )
        self.count, self.compliant_count = len(self._speeds), len(self._compliant_gaps)

    def with_values(self, values: Floats) -> ModeRows:
        """Return the rows of a run, in which parameters have these values; both share their
        code."""
        found, _ = copy(self), self._watched
        found.values = values
        found.unilaterals = [with_numbers(one, self.p, values) for one in self.unilaterals]
        found.joint_frictions = [with_numbers(x, self.p, values) for x in self.joint_frictions]
        return found

    def lacks_parts(self, values: Floats) -> Booleans:
        """Return in which runs, with values (runs, parameters), a part is missing that others have:
        friction that is zero, or stops at the same place."""
        if not self._least:
            return np.zeros(len(values), bool)
        least = ca.Function("least", [self.p], [ca.mmin(ca.vertcat(*self._least))])
        found: Booleans = np.asarray(least(values.T), dtype=float)[0] <= 0
        return found

    def watched(
        self, q: Floats, qd: Floats, t: Floats | float, values: Floats | None = None
    ) -> list[Floats]:
        """Return gaps, velocities V, and gaps of compliant contacts."""
        return self._watched(q, qd, t, self.values if values is None else values)

    @cached_property
    def _watched(self) -> Callable[..., list[Floats]]:
        """The function (q, q̇, t, p) → gaps, velocities V, gaps of compliant contacts."""
        own, names = self.tree.motion, mechanism_names(self.mechanism)
        gaps, compliant_gaps = (
            ca.vertcat(ca.SX(0, 1), *part) for part in (self._gaps, self._compliant_gaps)
        )
        return compile_expressions(
            "watched",
            [
                ("q", own.q, (names.nq,)),
                ("qd", own.qd, (names.nv,)),
                ("t", own.t, ()),
                ("p", self.p, (len(self.parameters),)),
            ],
            [
                ("gaps", gaps, (len(self._gaps),)),
                ("V", self.V, (self.count,)),
                ("compliant_gaps", compliant_gaps, (self.compliant_count,)),
            ],
        )

    def gap_expressions(self, q: SX, t: SX) -> SX:
        """Return gaps of stops and contacts, and of compliant contacts, as expressions of q and
        t."""
        gaps, own = ca.vertcat(ca.SX(0, 1), *self._gaps, *self._compliant_gaps), self.tree.motion
        return ca.substitute(gaps, ca.vertcat(own.q, own.t), ca.vertcat(q, t))

    def gaps_and_speeds(self, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """Return gaps and velocities of one state; they do not depend on time."""
        gaps, V, _ = self.watched(q, qd, 0.0)
        return gaps, V

    def axis(self, speed: int) -> SX:
        """Return the axis, in the world, of one of the tree's degrees of freedom."""
        axes = self._setting.world.joint_axes
        found: SX = next(axis.s for axis in axes if axis.velocity_index == speed)
        return found

    @property
    def contacts(self) -> list[tuple[UnilateralConstraint, SX, SX]]:
        """Rigid contacts: the row, where it touches, and its axes (normal last)."""
        found = self.unilaterals[self.stop_count :]
        return [(b, at, R) for b, (at, R) in zip(found, self._contacts, strict=True)]

    def contact_loads(self, push: SX) -> list[BodyForce]:
        """Return the forces of rigid contacts on both bodies; the columns of `push` are forces
        along the plane's x and y, and normal."""
        found = []
        for k, (unilateral, at, R) in enumerate(self.contacts):
            force = R @ push[:, k]
            for body, sign in ((unilateral.body, 1), (unilateral.other, -1)):
                if body != "ground":
                    link = self.tree.bodies[body].link
                    found.append(BodyForce(body, link, at, sign * force, ca.SX.zeros(3)))
        return found
