"""Newton's and Euler's equations as Bayseç and Kapucu print them, (23)–(46).

In a plane, positions, accelerations and reactions are written in world axes, as in the paper. In
space each body has its own axes, those of the link after its joint, and its equations contain the
angular velocity, the accelerations and the weight of its parent by name: lines do not become longer
with the number of links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
    states = newton_euler_states_per_body(free.k) * len(free.names)
    counts = EquationCounts(
        len(counted),
        len(terms.unknowns) + free.tree.nv,
        states,
        {"the matrix of the reduced system": (form.reduced_size,) * 2},
    )
    sections.append(EquationSection("Numbers of equations", note=_count_note(terms, len(counted))))
    return EquationSet(
        "Newton's and Euler's equations of free bodies, numbered as in Bayseç and Kapucu (1996)",
        tuple(sections),
        counts,
        symbols=_ordered_meanings(terms),
        rates=form.rates,
    )


def _optional_section(title: str, lines: Iterable[EquationLine]) -> list[EquationSection]:
    """A section of lines, if there are any."""
    lines = tuple(lines)
    return [EquationSection(title, lines)] if lines else []


def _count_note(terms: FreeBodyTerms, equations: int) -> str:
    """The paper's counts in words."""
    tree, k, N = terms.tree, terms.free.k, len(terms.free.names)
    n, m = tree.nv - len(terms.closing_rows), terms.free.k * len(terms.free.names)
    J = N + len(tree.mechanism.loops)
    states = newton_euler_states_per_body(k)
    turned = "" if states == 2 * k else " (orientations are quaternions)"
    is_planar = k == 3 and m - n == 2 * J
    conditions, formula = ("2J", "3N + 2J") if is_planar else ("m - n", f"{k}N + (m - n)")
    counted = (
        f"Moving bodies: N = {N}; joints: J = {J}; degrees of freedom: n = {n}. Free bodies "
        f"have m = {k}N = {m} coordinates and {conditions} = {m - n} conditions. That makes "
        f"{formula} = {2 * m - n} equations for accelerations and reactions, and {states}N = "
        f"{states * N} first-order equations{turned}. For Lagrange's equations with multipliers in "
        f"these m coordinates, the paper counts 2m - n = {2 * m - n} equations, and 3m - n = "
        f"{3 * m - n} of first order."
    )
    if equations == 2 * m - n:
        return counted
    more = " and leaves out components that vanish" if terms.geometry.is_spatial else ""
    return (
        f"{counted} The set above has {equations} equations: it includes "
        f"the accelerations of the joints{more}."
    )


def _ordered_meanings(terms: FreeBodyTerms) -> dict[str, str]:
    """The meanings of symbols: of centres of mass, joint by joint of reactions, of the others."""
    mechanism = terms.tree.mechanism
    places = [x for names in terms.position_names for x in names]
    joints = {name: k for k, name in enumerate((*mechanism.joints, *mechanism.loops))}

    def place(name: str) -> tuple[int, int]:
        if name in places:
            return 0, places.index(name)
        joint = name.partition("_")[2]
        return (1, joints[joint]) if joint in joints else (2, 0)

    return {name: terms.meanings[name] for name in sorted(terms.meanings, key=place)}


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
        self.rates = {f"dd{x}": (x, 2) for names in terms.position_names for x in names}
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
            found.append(EquationSection(f"Forces on {body.name}, body {b + 1}", tuple(lines)))
        law, latex = "m r̈ = Σ F,  I α = Σ M", r"m \ddot{r} = \sum F, \quad I \alpha = \sum M"
        return _with_law(found, law, latex)

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
                note="Together with the conditions above, these are "
                f"{self.reduced_size} equations for the accelerations"
                + (" and the forces of loops and constraints." if terms.closing_rows else "."),
            ),
        ]

    def reduced_lines(self) -> list[EquationLine]:
        """The balances along each coordinate, into which the reactions have been substituted."""
        free, tree, n = self.free, self.terms.tree, self.terms.tree.nv
        P = ca.SX(free.P)
        motions = free.carry_motions([P @ free.joint_motion_matrix(body) for body in free.bodies])
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


def _with_law(sections: list[EquationSection], law: str, latex: str) -> list[EquationSection]:
    """The sections of the bodies' balances, the first with the law."""
    if not sections:
        return []
    first = replace(sections[0], law=law, law_latex=latex, reference="(23)–(31)")
    return [first, *sections[1:]]


def _paired_lines(left: Array, right: Array) -> list[EquationLine]:
    """A line for each entry of two columns."""
    left, right = ca.SX(left), ca.SX(right)
    return [EquationLine(left[k], right[k]) for k in range(left.numel())]


class SpatialFreeBodyForm(PlanarFreeBodyForm):
    """The equations of bodies in space, each in the axes of its own link."""

    def __init__(self, terms: FreeBodyTerms) -> None:
        self.terms, self.free, self.joints = terms, terms.free, terms.geometry.joints
        self.balances, self.conditions = [], []
        self.rates = {}
        letters, ground = ("omega", "g", "alpha", "a"), ca.SX.zeros(3)
        self.vectors: dict[str, dict[int, Array]] = {letter: {-1: ground} for letter in letters}
        self.vectors["g"][-1] = ca.SX(terms.tree.gravity)
        self.lines: dict[tuple[str, int], list[EquationLine]] = {}
        self._name_vectors()
        self.conditions = [
            line for b in range(len(self.joints)) for line in self.body_lines("alpha a", b)
        ]
        self.reduced_size = len(self.conditions) + terms.tree.nv + len(terms.closing_rows)

    def _name_vectors(self) -> None:
        """Introduce symbols for the components of ω, g, α and a of each body that do not vanish,
        and the lines that define them."""
        kinds = (
            ("omega", "angular velocity", False),
            ("g", "gravity in the axes", False),
            ("alpha", "angular acceleration", True),
            ("a", "acceleration of the centre of mass", True),
        )
        for b, joint in enumerate(self.joints):
            state, gravity = self.moved_state(b), self.vectors["g"][joint.parent]
            center = self.terms.geometry.centers[b]
            values = (
                state.omega,
                joint.relative.R.T @ gravity,
                state.alpha,
                state.point_acceleration(center),
            )
            for (letter, what, is_unknown), value in zip(kinds, values, strict=True):
                parts, lines = ca.vertsplit(ca.densify(ca.SX(value))), []
                for c, part in enumerate(parts):
                    if part.is_zero():
                        continue
                    name = f"{letter}{b + 1}_{c + 1}"
                    said = f"{what} of {self.free.names[b]}, axis {c + 1}"
                    parts[c] = self.terms.symbol(name, said, is_unknown=is_unknown)
                    lines.append(EquationLine(parts[c].name(), part))
                self.vectors[letter][b], self.lines[letter, b] = ca.vertcat(*parts), lines

    def body_lines(self, letters: str, b: int) -> list[EquationLine]:
        """The lines that define some vectors of a body."""
        return [line for letter in letters.split() for line in self.lines[letter, b]]

    def moved_state(self, b: int) -> LinkKinematics:
        """ω, α and the acceleration of a link's origin, from those of the parent by name."""
        joint, tree = self.joints[b], self.terms.tree
        omega, alpha, a = (self.vectors[letter][joint.parent] for letter in ("omega", "alpha", "a"))
        state = LinkKinematics(omega, alpha, a)
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
        """Angular velocities and gravity in the axes of each body."""
        return [
            replace(section, note=self.axes_note(b))
            for b, name in enumerate(self.free.names)
            for section in _optional_section(
                f"Angular velocity ω of {name}, and gravity g in its axes",
                self.body_lines("omega g", b),
            )
        ]

    def axes_note(self, b: int) -> str:
        """What the axes 1, 2, 3 of a body are where they are not those of its frame."""
        name, joint = self.free.names[b], self.joints[b]
        frame = self.terms.tree.bodies.get(name)
        if frame is None or frame.link != joint.span.links[-1]:
            return ""
        R = ca.SX(frame.R)
        along = f"Axis 3 of {name} is that of its joint {joint.span.name}."
        if not R.is_constant():
            return along
        rows = np.array(ca.DM(R))
        if np.abs(np.abs(rows).max(axis=1) - 1).max() > 1e-12:
            return along
        columns = np.abs(rows).argmax(axis=1)
        axes = [
            f"{'-' if row[k] < 0 else ''}{'xyz'[k]}" for row, k in zip(rows, columns, strict=True)
        ]
        return "" if axes == [*"xyz"] else f"Axes 1, 2, 3 of {name} are its {', '.join(axes)}."

    def given_forces(self, b: int) -> tuple[Array, Array]:
        """The force on a body of its weight and loads, and their moment about its centre of
        mass."""
        force, moment = self.free.bodies[b].m * self.vectors["g"][b], ca.SX.zeros(3)
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
            omega, alpha, a = (self.vectors[letter][b] for letter in ("omega", "alpha", "a"))
            pushed = mass.m * a
            spun = mass.I @ alpha + cross(omega, mass.I @ omega)
            lines = _paired_lines(
                ca.vertcat(pushed, spun), ca.vertcat(force + weight, moment + turned)
            )
            self.balances += lines
            found.append(EquationSection(f"Forces on {body.name}, body {b + 1}", tuple(lines)))
        law = "m a = Σ F,  I α + ω × I ω = Σ M"
        latex = r"m a = \sum F, \quad I \alpha + \omega \times I \omega = \sum M"
        return _with_law(found, law, latex)

    def condition_sections(self) -> list[EquationSection]:
        """Accelerations that the joints allow."""
        found = [
            section
            for b, name in enumerate(self.free.names)
            for section in _optional_section(
                f"Accelerations α, a of {name} that its joint allows", self.body_lines("alpha a", b)
            )
        ]
        found += _optional_section("Loops and constraints, accelerations", self.terms.closing_rows)
        note = (
            "The balances give the reactions of each joint, from the tips inward. The balances "
            "along the free directions of the joints and these conditions are "
            f"{self.reduced_size} equations without reactions."
        )
        return [
            *found[:-1],
            *(replace(last, reference="(38)–(43)", note=note) for last in found[-1:]),
        ]
