"""Newton's and Euler's equations as Bayseç and Kapucu print them, (23)–(46).

In a plane, positions, accelerations and reactions are written in world axes, as in the paper. In
space each body has its own axes, those of the link behind its joint, and its equations contain the
angular velocity, the accelerations and the weight of its parent by name: lines do not become longer
with the number of links.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, cross
from ..kinematics.recursions import LinkKinematics, advance_link_motion, link_accelerations
from ..kinematics.tree_coordinates import gather_columns, gather_forces, spread_accelerations
from ..written_equations import EquationCounts, EquationLine, EquationSection, EquationSet
from .free_body_equations import NewtonEulerFormulation, newton_euler_body_mass
from .free_body_states import newton_euler_states_per_body
from .free_body_terms import FreeBodyTerms


def newton_euler_equation_set(free: NewtonEulerFormulation) -> EquationSet:
    """Balances of forces and moments body by body, joint conditions, and the reduced system."""
    terms = FreeBodyTerms(free)
    form = (SpatialFreeBodyForm if terms.geometry.is_spatial else PlanarFreeBodyForm)(terms)
    sections = [
        *form.kinematic_sections(),
        *_optional_section("Springs and dampers", terms.spring_lines),
        *form.balance_sections(),
        *_optional_section("Joint forces", terms.joint_force_lines),
        *form.condition_sections(),
    ]
    counted = [*form.balances, *form.conditions, *terms.joint_force_lines, *terms.closing_rows]
    size, states = len(free.names), newton_euler_states_per_body(free.k) * len(free.names)
    counts = EquationCounts(
        len(counted),
        len(terms.unknowns) + free.tree.nv,
        states,
        {"the matrix of the reduced system": (form.reduced_size,) * 2},
    )
    sections.append(EquationSection("Numbers of equations", note=_count_note(terms, size)))
    return EquationSet(
        "Newton's and Euler's equations of free bodies, numbered as in Bayseç and Kapucu (1996)",
        tuple(sections),
        counts,
        symbols=terms.meanings,
        rates=form.rates,
    )


def _optional_section(title: str, lines: Iterable[EquationLine]) -> list[EquationSection]:
    """A section of lines, if there are any."""
    lines = tuple(lines)
    return [EquationSection(title, lines)] if lines else []


def _count_note(terms: FreeBodyTerms, bodies: int) -> str:
    """The paper's counts in words."""
    free, names = terms.free, terms.tree.names
    k, loops = free.k, len(terms.tree.mechanism.loops)
    rows = len(terms.closing_rows)
    n, m, joints = names.nv - rows, k * bodies, bodies + loops
    held = m - n
    return (
        f"N = {bodies} moving bodies, {k} coordinates each, m = {k}N = {m}; J = {joints} joints "
        f"with {held} conditions in all (2J in the paper: joints of one degree of freedom in a "
        f"plane); n = {n} degrees of freedom. Forces for a given motion, or motions under given "
        f"forces: {k}N + {held} = 2m - n = {2 * m - n} equations. To integrate: 2m = {2 * m} "
        f"first-order equations; the paper counts 3m - n = {3 * m - n} with multipliers, which are "
        "not states."
    )


class PlanarFreeBodyForm:
    """The equations of bodies that move in a plane or do not turn, in world axes."""

    def __init__(self, terms: FreeBodyTerms) -> None:
        self.terms, self.free, self.joints = terms, terms.free, terms.geometry.joints
        self.D = ca.SX(terms.geometry.directions)
        rate = spread_accelerations(terms.tree, self.free.qd, self.free.qdd)
        self.states = link_accelerations(
            terms.tree, self.free.link_displacements, self.free.v, rate, np.zeros(3)
        )
        self.balances: list[EquationLine] = []
        self.conditions: list[EquationLine] = []
        bodies = range(len(self.joints))
        self.rates = {
            f"{'d' * dots}{x}{b + 1}": (f"{x}{b + 1}", dots)
            for b in bodies
            for x in terms.geometry.axis_letters
            for dots in (1, 2)
        }
        for b in bodies:
            terms.position(b), terms.acceleration(b)
        closing = len(terms.closing_rows)
        self.reduced_size = len(bodies) * len(terms.geometry.directions) + terms.tree.nv + closing

    def kinematic_sections(self) -> list[EquationSection]:
        """None: positions follow the balances, as in the paper."""
        return []

    # -- balances ------------------------------------------------------------------------------

    def given_forces(self, b: int) -> tuple[Array, Array]:
        """The force on a body of its weight and loads, and their moment about its centre of
        mass."""
        force = self.free.bodies[b].m * ca.SX(self.terms.tree.gravity)
        moment = ca.SX.zeros(3)
        for load in self.terms.loads:
            if load.body == b:
                force += load.force
                moment += load.moment + cross(load.arm, load.force)
        return force, moment

    def joint_wrench(self, b: int) -> tuple[Array, Array]:
        """The force of all joints on a body, and their moment about its centre of mass."""
        own = self.joints[b]
        force, moment = own.force, own.moment + cross(own.own_arm, own.force)
        for joint in self.joints:
            if joint.parent == b:
                passed = joint.to_parent @ joint.force
                force = force - passed
                turned = joint.to_parent @ joint.moment + cross(joint.parent_arm, passed)
                moment = moment - turned
        return ca.SX(force), ca.SX(moment)

    def angular_acceleration(self, b: int) -> Array:
        """The angular acceleration of a body about the normals of the plane, in q̈."""
        body = self.free.bodies[b]
        alpha = body.R @ self.states[body.link].alpha
        return ca.SX(self.terms.geometry.normals) @ alpha

    def inertia(self, b: int) -> Array:
        """The moment of inertia of a body about the normal of the plane."""
        n = ca.SX(self.terms.geometry.normals)
        return n @ self.free.bodies[b].I @ n.T

    def balance_sections(self) -> list[EquationSection]:
        """Newton's and Euler's equations of each body, (23)–(31)."""
        found = []
        normals = ca.SX(self.terms.geometry.normals)
        for b, body in enumerate(self.free.bodies):
            weight, turned = self.given_forces(b)
            force, moment = self.joint_wrench(b)
            pushed = body.m * self.terms.acceleration(b)
            lines = _paired_lines(pushed, self.D @ (force + weight))
            about = normals @ (moment + turned)
            lines += _paired_lines(self.inertia(b) @ self.angular_acceleration(b), about)
            self.balances += lines
            title = f"Forces on {body.name} (body {b + 1})"
            law, latex = "m r̈ = Σ F,  I α = Σ M", r"m \ddot{r} = \sum F, \quad I \alpha = \sum M"
            found.append(EquationSection(title, tuple(lines), law, latex, reference="(23)–(31)"))
        return found

    # -- joint conditions ----------------------------------------------------------------------

    def condition_sections(self) -> list[EquationSection]:
        """Positions of the centres of mass (32)–(37), their second derivatives (38)–(43), and the
        equations without reactions (44)–(46)."""
        terms, positions = self.terms, []
        for b, joint in enumerate(self.joints):
            before, after = terms.geometry.world_rotation(joint.parent), self.D
            c_parent = terms.geometry.centers[joint.parent] if joint.parent >= 0 else np.zeros(3)
            own = terms.geometry.world_rotation(b) @ terms.geometry.centers[b]
            apart = after @ (before @ (joint.relative.p - c_parent) + own)
            here, parent = terms.position(b), terms.position(joint.parent)
            for k in range(here.numel()):
                positions.append(EquationLine(here[k].name(), parent[k] + apart[k]))
            J, bias = terms.second_derivative(apart)
            unknown = terms.acceleration(b) - terms.acceleration(joint.parent) - J @ self.free.qdd
            self.conditions += _paired_lines(unknown, bias)
        return [
            EquationSection(
                "Positions of the centres of mass", tuple(positions), reference="(32)–(37)"
            ),
            *_optional_section("Joints that close loops", terms.closing_positions),
            EquationSection(
                "Joint conditions, differentiated twice",
                (*self.conditions, *terms.closing_rows),
                reference="(38)–(43)",
            ),
            EquationSection(
                "Balances without reactions",
                tuple(self.reduced_lines()),
                reference="(44)–(46)",
                note="With the conditions above: "
                f"{self.reduced_size} equations for the accelerations"
                + (" and the forces of loops and constraints." if terms.closing_rows else "."),
            ),
        ]

    def reduced_lines(self) -> list[EquationLine]:
        """The balances along each coordinate, into which the reactions have been substituted."""
        free, tree, n = self.free, self.terms.tree, self.terms.tree.nv
        P = ca.SX(free.P)
        motions = free.carried_motions()
        left, right = ca.SX.zeros(n), ca.SX(self.terms.generalized_forces)
        for b, body in enumerate(free.bodies):
            reach = gather_columns(tree, motions[b]).T
            inertial = ca.vertcat(
                self.inertia(b) @ self.angular_acceleration(b),
                body.m * self.terms.acceleration(b),
            )
            force, moment = self.given_forces(b)
            left += reach @ inertial
            right += reach @ (P @ ca.vertcat(moment, force))
        own = gather_forces(tree, self.terms.own_joint_forces)
        resting = ca.substitute(own, free.qdd, ca.SX.zeros(n))
        return _paired_lines(left - (own - resting), right + resting)


def _paired_lines(left: Array, right: Array) -> list[EquationLine]:
    """A line for each entry of two columns."""
    left, right = ca.SX(left), ca.SX(right)
    return [EquationLine(left[k], right[k]) for k in range(left.numel())]


class SpatialFreeBodyForm(PlanarFreeBodyForm):
    """The equations of bodies in space, each in the axes of its own link."""

    def __init__(self, terms: FreeBodyTerms) -> None:
        self.terms, self.free, self.joints = terms, terms.free, terms.geometry.joints
        self.D = ca.SX.eye(3)
        self.balances, self.conditions = [], []
        self.rates = {}
        self.reduced_size = 6 * len(self.joints) + terms.tree.nv + len(terms.closing_rows)

    def body_vector(self, letter: str, what: str, b: int, is_unknown: bool = False) -> Array:
        """The symbols of a vector of a body along the axes of its link; zeros for ground, but the
        given acceleration for its gravity."""
        if b < 0:
            return ca.SX(self.terms.tree.gravity) if letter == "g" else ca.SX.zeros(3)
        said = f"{what} of {self.free.names[b]}, axis "
        return ca.vertcat(
            *(self.terms.symbol(f"{letter}{b + 1}_{c}", said + str(c), is_unknown=is_unknown)
              for c in (1, 2, 3))
        )  # fmt: skip

    def angular_velocity(self, b: int) -> Array:
        """ω of a body."""
        return self.body_vector("w", "angular velocity", b)

    def angular_acceleration(self, b: int) -> Array:
        """α of a body."""
        return self.body_vector("alpha", "angular acceleration", b, True)

    def center_acceleration(self, b: int) -> Array:
        """The acceleration of a body's centre of mass."""
        return self.body_vector("a", "acceleration of the centre of mass", b, True)

    def weight_direction(self, b: int) -> Array:
        """The acceleration of gravity in a body's axes."""
        return self.body_vector("g", "acceleration of gravity in the axes", b)

    def moved_state(self, b: int) -> LinkKinematics:
        """ω, α and the acceleration of a link's origin, from those of the parent by name."""
        joint, tree = self.joints[b], self.terms.tree
        omega, alpha = self.angular_velocity(joint.parent), self.angular_acceleration(joint.parent)
        state = LinkKinematics(omega, alpha, self.center_acceleration(joint.parent))
        if joint.parent >= 0:
            origin = state.point_acceleration(-self.terms.geometry.centers[joint.parent])
            state = LinkKinematics(omega, alpha, origin)
        rate = spread_accelerations(tree, self.free.qd, self.free.qdd)
        for i in joint.span.links:
            state = advance_link_motion(
                tree.links[i], self.free.link_displacements[i], self.free.v, rate, state
            )
        return state

    def kinematic_sections(self) -> list[EquationSection]:
        """Angular velocities and the direction of gravity in the axes of each body."""
        omegas, weights = [], []
        for b, joint in enumerate(self.joints):
            omegas += _named_lines(self.angular_velocity(b), self.moved_state(b).omega)
            gravity = self.weight_direction(joint.parent)
            weights += _named_lines(self.weight_direction(b), joint.relative.R.T @ gravity)
        return [
            EquationSection("Angular velocities", tuple(omegas)),
            EquationSection("Gravity in the axes of the bodies", tuple(weights)),
        ]

    def given_forces(self, b: int) -> tuple[Array, Array]:
        """The force on a body of its weight and loads, and their moment about its centre of
        mass."""
        force, moment = self.free.bodies[b].m * self.weight_direction(b), ca.SX.zeros(3)
        for load in self.terms.loads:
            if load.body == b:
                force += load.force
                moment += load.moment + cross(load.arm, load.force)
        return force, moment

    def balance_sections(self) -> list[EquationSection]:
        """Newton's and Euler's equations of each body."""
        found = []
        for b, body in enumerate(self.free.bodies):
            mass = newton_euler_body_mass(self.terms.tree, body.link)
            weight, turned = self.given_forces(b)
            force, moment = self.joint_wrench(b)
            omega = self.angular_velocity(b)
            pushed = mass.m * self.center_acceleration(b)
            spun = mass.I @ self.angular_acceleration(b) + cross(omega, mass.I @ omega)
            lines = _paired_lines(
                ca.vertcat(pushed, spun), ca.vertcat(force + weight, moment + turned)
            )
            self.balances += lines
            found.append(
                EquationSection(
                    f"Forces on {body.name} (body {b + 1})",
                    tuple(lines),
                    law="m a = Σ F,  I α + ω × I ω = Σ M",
                    law_latex=r"m a = \sum F, \quad I \alpha + \omega \times I \omega = \sum M",
                    reference="(23)–(31)",
                )
            )
        return found

    def condition_sections(self) -> list[EquationSection]:
        """Accelerations that the joints allow."""
        for b in range(len(self.joints)):
            state, c = self.moved_state(b), self.terms.geometry.centers[b]
            self.conditions += _named_lines(self.angular_acceleration(b), state.alpha)
            self.conditions += _named_lines(
                self.center_acceleration(b), state.point_acceleration(c)
            )
        return [
            EquationSection(
                "Accelerations that the joints allow",
                (*self.conditions, *self.terms.closing_rows),
                reference="(38)–(43)",
                note="From the tips inward, the balances give the reactions of each joint; what is "
                "left of them, along the free directions of the joints, and these conditions are "
                f"{self.reduced_size} equations without reactions.",
            )
        ]


def _named_lines(symbols: Array, values: Array) -> list[EquationLine]:
    """A line for each symbol of a column with its value."""
    values = ca.SX(values)
    return [EquationLine(symbols[k].name(), values[k]) for k in range(symbols.numel())]
