"""The common base of formulations: symbols, kinematics, energies, and the assembly of equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial

import casadi as ca

from ..algebra.linear_algebra import Array
from ..algebra.operators import direct_casadi_operators
from ..equations import Equations, ExpressionBuilder, FormulationState
from ..kinematics.body_forces import (
    BodyForce,
    SpringLength,
    declared_body_forces,
    declared_joint_forces,
    generalized_body_forces,
    spring_body_forces,
    spring_lengths,
)
from ..kinematics.constraint_equations import ConstraintEquations, constraint_equations
from ..kinematics.frame_kinematics import (
    frame_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
)
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.mobility_analysis import redundant_row_leeway, reference_configuration
from ..kinematics.tree_coordinates import (
    coordinate_difference,
    coordinate_rate_matrix,
    gather_forces,
    integrate_coordinates,
    neutral_coordinates,
)
from ..kinematics.tree_totals import (
    joint_passive_forces,
    tree_center_of_mass,
    tree_kinetic_energy,
    tree_momentum,
    tree_potential_energy,
)
from ..mechanism import Mechanism
from ..quantities import ACTUATED_SIGNATURES, MOVING_SIGNATURES
from ..written_equations import EquationSet
from .reduced_dynamics import ReducedDynamics
from .shared_functions import SHARED_FRAME_FUNCTIONS, SHARED_FUNCTIONS

QUATERNION_FORMULATIONS = "'recursive', 'newton_euler' or 'kane'"
"""The formulations that treat joints that turn by quaternions, as messages name them."""


def reject_quaternions(mechanism: Mechanism) -> str | None:
    """The reason why a formulation whose velocities are rates of coordinates cannot treat the
    mechanism, or None."""
    for name, joint in mechanism.joints.items():
        if joint.by_quaternion and joint.moves:
            return (
                f"velocities of '{name}' are not rates of coordinates, since it turns by a "
                f'quaternion (write rotation = "cardan" in joints.{name} for three angles, or '
                f"use {QUATERNION_FORMULATIONS})"
            )
    return None


class Formulation:
    """Builders of the quantities that all formulations share, each named as its function.

    The class has more than 20 methods because there is one for every such quantity.
    """

    def __init__(self, tree: KinematicTree) -> None:
        self.tree = self.regrouped_tree = tree
        own = tree.motion
        self.q, self.qd, self.qdd, self.tau = own.q, own.qd, own.qdd, own.tau
        n, bodies = tree.nv, len(tree.names.bodies)
        self.symbols: dict[str, Array] = {
            "q": own.q,
            "qd": own.qd,
            "qdd": own.qdd,
            "tau": own.tau,
            "v": ca.SX.sym("v", n),
            "vd": ca.SX.sym("vd", n),
            "step": ca.SX.sym("step", n),
            "q1": ca.SX.sym("q1", tree.nq),
            "wrenches": ca.SX.sym("w", bodies, 6),
            "t": own.t,
            "lambda": ca.SX.sym("lambda", len(tree.names.constraints)),
            "p": ca.vertcat(*tree.symbols.values()),
        }

    def assemble_equations(
        self,
        by: str,
        builders: Mapping[str, ExpressionBuilder],
        extras: Mapping[str, ExpressionBuilder] | None = None,
        state: FormulationState | None = None,
        *,
        complete: bool = True,
        accelerations: ExpressionBuilder | None = None,
        equation_set: Callable[[], EquationSet] | None = None,
        derivation_steps: Callable[[], EquationSet] | None = None,
    ) -> Equations:
        """The equations from a formulation's own builders and the common ones; `complete` says
        whether the other functions follow from these. The builders are those of the tree;
        constraints are added to it, with the formulation's own constrained `accelerations` if it
        gives any. `equation_set` makes the formulation's own form, `derivation_steps` its
        derivation line by line."""
        tree = self.tree
        free = Equations(
            mechanism=tree.mechanism,
            by=by,
            symbols=self.symbols,
            names=tree.names,
            parameters=tree.symbol_values,
            literals=tree.literals,
            rate_matrix=coordinate_rate_matrix(tree, self.q),
            neutral=tuple(neutral_coordinates(tree)),
            builders={name: getattr(self, name) for name in self.common_functions}
            | {name: partial(build, self) for name, build in SHARED_FUNCTIONS.items()}
            | self._add_transport(builders),
            frame_builders={name: getattr(self, name) for name in _FRAME_FUNCTIONS}
            | {name: partial(build, self) for name, build in SHARED_FRAME_FUNCTIONS.items()},
            inertial_parameters=self.inertial_parameters(),
            extras=extras or {},
            state=state,
            is_complete=complete,
            passive_parts=self.passive_parts,
            own_equation_set=equation_set and direct_casadi_operators()(equation_set),
            derivation_steps=derivation_steps and direct_casadi_operators()(derivation_steps),
        )
        if self.constraints is None:
            return free
        from .constrained_equations import add_constraints_to_equations

        return add_constraints_to_equations(self, free, accelerations)

    def _add_transport(self, own: Mapping[str, ExpressionBuilder]) -> dict[str, ExpressionBuilder]:
        """The builders of a formulation; for moving coordinates with those that `Equations`
        completes without transport forces."""
        found, d = dict(own), self.transport
        if self.tree.names.has_moving_coordinates and "mass_matrix" in own:
            if "inverse_dynamics" not in own:
                found["inverse_dynamics"] = lambda: (
                    own["mass_matrix"]() @ self.qdd
                    + own["coriolis_matrix"]() @ self.qd
                    + (d() + own["gravity"]() - self.element_forces())
                )
            if "coriolis_matrix" not in own:
                found["coriolis_matrix"] = lambda: (
                    ca.jacobian(own["inverse_dynamics"]() + self.element_forces() - d(), self.qd)
                    / 2
                )
        return found

    @property
    def common_functions(self) -> tuple[str, ...]:
        """The names of the functions that this class builds for the mechanism."""
        names = self.tree.names
        moving = MOVING_SIGNATURES if names.has_moving_coordinates else ()
        return (*_COMMON_FUNCTIONS, *moving, *(ACTUATED_SIGNATURES if names.actuators else ()))

    @cached_property
    def constraints(self) -> ConstraintEquations | None:
        """The equations of loops and constraints, if there are any."""
        return constraint_equations(self.tree)

    @cached_property
    def reduction(self) -> ReducedDynamics:
        """The reduction to independent velocities, chosen where the mechanism is assembled."""
        assert self.constraints is not None
        mechanism = self.tree.mechanism
        _, choice = reference_configuration(mechanism)
        return ReducedDynamics(self.tree, self.constraints, choice, redundant_row_leeway(mechanism))

    @property
    def home(self) -> tuple[float, ...]:
        """The coordinates q at which the mechanism is assembled."""
        return reference_configuration(self.tree.mechanism)[0]

    def evaluate_at_home(self, expression: Array) -> list[float]:
        """The entries of an expression of q as numbers, at rest in the assembled configuration."""
        tree = self.tree
        inputs = [self.q, self.qd, tree.motion.t, self.symbols["p"]]
        values = [float(value) for value in tree.symbol_values.values()]
        found = ca.Function("at", inputs, [expression])(self.home, 0.0, 0.0, values)
        return [float(x) for x in ca.densify(ca.DM(found)).nonzeros()]

    def passive(self) -> Array:
        """Generalized forces of dampers, friction and springs, nv."""
        return self._passive_with_springs(spring_body_forces(self.tree, self.q, self.qd))

    def _passive_with_springs(self, springs: list[BodyForce]) -> Array:
        """Generalized forces of the joints' passive elements and of the given springs between
        bodies."""
        joints = gather_forces(self.tree, joint_passive_forces(self.tree, self.q, self.qd))
        return joints + generalized_body_forces(self.tree, self.q, springs)

    def passive_parts(self) -> tuple[tuple[SpringLength, ...], Array]:
        """The springs that closed forms print by their lengths, and the rest of `passive`."""
        others = spring_body_forces(self.tree, self.q, self.qd, only_linear=True)
        return spring_lengths(self.tree, self.q, self.qd), self._passive_with_springs(others)

    def external(self) -> Array:
        """Generalized forces of the wrenches and joint forces that the mechanism declares, nv."""
        given = generalized_body_forces(self.tree, self.q, declared_body_forces(self.tree, self.q))
        return given + declared_joint_forces(self.tree)

    def element_forces(self) -> Array:
        """All forces of the mechanism's own elements: f = passive + external."""
        return self.passive() + self.external()

    def input_matrix(self) -> Array:
        """B with τ = B u, one column for each actuator; the identity where there are none."""
        driven = self.tree.forces.transmissions
        if not driven:
            return ca.SX.eye(self.tree.nv)
        return ca.horzcat(*(drive.input_column(self.tree, self.q) for drive in driven))

    def actuator_lengths(self) -> Array:
        """The lengths or angles that the actuators drive."""
        driven = self.tree.forces.transmissions
        return ca.vertcat(*(drive.length(self.tree, self.q) for drive in driven))

    def kinetic_energy(self) -> Array:
        """T(q, q̇) of all bodies and rotors."""
        return tree_kinetic_energy(self.tree, self.q, self.qd)

    def transport_momentum(self) -> Array:
        """a = ∂T/∂q̇ at q̇ = 0."""
        at_rest = ca.SX.zeros(self.tree.nv)
        return ca.substitute(ca.gradient(self.kinetic_energy(), self.qd), self.qd, at_rest)

    def transport(self) -> Array:
        """d = (∂M/∂t + ∂a/∂q − ∂aᵀ/∂q) q̇ + ∂a/∂t − ∂T₀/∂q, from T = T₂ + T₁ + T₀."""
        T, a, t = self.kinetic_energy(), self.transport_momentum(), self.tree.motion.t
        T_0 = ca.substitute(T, self.qd, ca.SX.zeros(self.tree.nv))
        p_rate = ca.jacobian(ca.gradient(T, self.qd), t) + ca.jtimes(a, self.q, self.qd)
        return ca.densify(p_rate - ca.gradient(ca.dot(a, self.qd) + T_0, self.q))

    def jacobi_energy(self) -> Array:
        """h = q̇ᵀ∂T/∂q̇ − T + V = T₂ − T₀ + V."""
        T = self.kinetic_energy()
        return ca.dot(ca.gradient(T, self.qd), self.qd) - T + self.potential_energy()

    def potential_energy(self) -> Array:
        """V(q) of weight and springs."""
        return tree_potential_energy(self.tree, self.q)

    def center_of_mass(self) -> Array:
        """The centre of mass of all bodies, in world axes."""
        return tree_center_of_mass(self.tree, self.q)

    def momentum(self) -> Array:
        """Angular and linear momentum of all bodies about the world's origin, 6."""
        return tree_momentum(self.tree, self.q, self.qd)

    def integrate(self) -> Array:
        """The coordinates after a step along the tangent space at q."""
        return integrate_coordinates(self.tree, self.q, self.symbols["step"])

    def difference(self) -> Array:
        """The step along the tangent space from the coordinates q to q1."""
        return coordinate_difference(self.tree, self.q, self.symbols["q1"])

    def placement(self, frame: str) -> Array:
        """The placement of a frame in the world, 4 × 4."""
        return frame_placement(self.tree, self.q, self.tree.find_frame(frame))

    def jacobian(self, frame: str) -> Array:
        """The Jacobian of a frame's twist (ω, v) in world axes, 6 × nv."""
        return frame_jacobian(self.tree, self.q, self.tree.find_frame(frame))

    def frame_velocity(self, frame: str) -> Array:
        """The twist (ω, v) of a frame in world axes."""
        return frame_velocity(self.tree, self.q, self.qd, self.tree.find_frame(frame))

    def frame_acceleration(self, frame: str) -> Array:
        """The acceleration (α, a) of a frame in world axes."""
        return frame_acceleration(self.tree, self.q, self.qd, self.qdd, self.tree.find_frame(frame))

    def frame_bias_acceleration(self, frame: str) -> Array:
        """The acceleration (α, a) of a frame at q̈ = 0, J̇ q̇."""
        return frame_acceleration(self.tree, self.q, self.qd, None, self.tree.find_frame(frame))

    def inertial_parameters(self) -> Array:
        """π = (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each body about its frame's
        origin."""
        entries = []
        for place in (self.tree.bodies[name] for name in self.tree.names.bodies):
            own = self.tree.links[place.link].inertia.transform(place.R.T, -(place.R.T @ place.p))
            entries += [own.m, *(own.h[i] for i in range(3))]
            entries += [own.I[i, j] for i, j in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]]
        return ca.vertcat(*entries)


_COMMON_FUNCTIONS = (
    "passive",
    "external",
    "input_matrix",
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "momentum",
    "integrate",
    "difference",
)
_FRAME_FUNCTIONS = (
    "placement",
    "jacobian",
    "frame_velocity",
    "frame_acceleration",
    "frame_bias_acceleration",
)
