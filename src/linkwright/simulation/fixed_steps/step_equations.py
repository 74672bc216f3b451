"""The equations that a step evaluates: accelerations, q ⊕ step, power and forces.

Formulations have symbols of their own. As `casadi.Function`s, their expressions can be evaluated
at the stages of a step and become part of its tape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import casadi as ca

from ...algebra.linear_algebra import cross
from ...equations import Equations
from ...formulations import derive
from ...mechanism.coordinates import joint_coordinate_names, joint_velocity_names
from ...types import SX
from ..inputs import ForceLaw, first

StepFunction = Callable[..., Sequence[SX]]
"""A function of expressions that returns the list of its outputs."""

PowerFunction = Callable[..., SX]
"""The function (q, q̇, q̈, τ, t) → rates of the works."""


class StepEquations:
    """The equations of a mechanism under given inputs, as functions of expressions.

    Values that come from outside (tables, the reference of a controller) are inputs of a step, with
    one row for each of the `shares` of the step at which the method needs them. `power` gives the
    rates of the works. `kept` are symbols of parameters, by name, that stay inputs; all other
    parameters have their values.
    """

    def __init__(
        self,
        equations: Equations,
        force_law: ForceLaw | None = None,
        power: PowerFunction | None = None,
        shares: tuple[float, ...] = (0.0,),
        kept: Mapping[str, SX] | None = None,
    ) -> None:
        self.equations, self.names, self.power_function = equations, equations.names, power
        self.shares, self.kept = shares, dict(kept or {})
        self.p = ca.vertcat(*self.kept.values()) if self.kept else ca.SX.sym("p", 0)
        tau, w, z, rate = equations.symbols["tau"], ca.SX.sym("w"), ca.SX(0, 1), ca.SX(0, 1)
        if force_law is not None and force_law.function is None:
            tau, w, rate = tau + force_law.tau, force_law.w, force_law.z_rate
            z = first(force_law.z, len(force_law.state_names))
        self.outside = ca.SX.sym("outside", len(shares), w.shape[0])
        symbols = [equations.symbols[key] for key in ("q", "qd", "tau", "t")]
        self._forces = self.make_function(equations, "drive", [tau, rate], [*symbols, z, w])

    def make_function(
        self, equations: Equations, name: str, outputs: list[SX], inputs: list[SX]
    ) -> StepFunction:
        """Return a function of symbols of the equations; parameters that are not kept have their
        values."""
        if equations.parameters:
            values = [
                self.kept.get(key, float(value)) for key, value in equations.parameters.items()
            ]
            outputs = ca.substitute(outputs, [equations.symbols["p"]], [ca.vertcat(*values)])
        function = ca.Function(name, [*inputs, self.p], [ca.densify(ca.SX(x)) for x in outputs])
        return lambda *arguments: function.call([*arguments, self.p])

    def forces_and_control_rate(
        self, q: SX, qd: SX, tau: SX, t: SX, *, z: SX, share: float
    ) -> tuple[SX, SX]:
        """Return all generalized forces at a share of the step, and ż of a controller."""
        w = self.outside[self.shares.index(share), :].T
        forces, rate = self._forces(q, qd, tau, t, z, w)
        return forces, rate

    def total_forces(self, q: SX, qd: SX, tau: SX, t: SX, share: float) -> SX:
        """Return all generalized forces, for inputs without states of their own."""
        return self.forces_and_control_rate(q, qd, tau, t, z=ca.SX(0, 1), share=share)[0]

    # -- the motion ----------------------------------------------------------------------

    @cached_property
    def _acceleration(self) -> StepFunction:
        """The function (q, q̇, τ, t) → (q̈, pivot)."""
        outputs = self.equations.expressions("forward_dynamics")
        pivot = outputs[1] if len(outputs) > 1 else ca.SX(1)
        inputs = [self.equations.symbols[key] for key in ("q", "qd", "tau", "t")]
        return self.make_function(self.equations, "acceleration", [outputs[0], pivot], inputs)

    def acceleration(self, q: SX, qd: SX, tau: SX, t: SX) -> tuple[SX, SX]:
        """Return q̈, and the smallest pivot of the constraints."""
        qdd, pivot = self._acceleration(q, qd, tau, t)
        return qdd, pivot

    @cached_property
    def _required_forces(self) -> StepFunction:
        """The function (q, q̇, q̈, t) → τ, without the forces of constraints."""
        equations = self.complete_equations
        name = "required_forces" if self.names.constraints else "inverse_dynamics"
        inputs = [equations.symbols[key] for key in ("q", "qd", "qdd", "t")]
        return self.make_function(equations, "required", [equations.expressions(name)[0]], inputs)

    def required_forces(self, q: SX, qd: SX, qdd: SX, t: SX) -> SX:
        """Return M q̈ + C q̇ + g − f."""
        return self._required_forces(q, qd, qdd, t)[0]

    @cached_property
    def _mass_matrix(self) -> StepFunction:
        """The function (q, t) → M and a, the momenta at q̇ = 0."""
        equations, a = self.complete_equations, ca.SX.zeros(self.names.nv)
        if self.names.has_moving_coordinates:
            (a,) = equations.expressions("transport_momentum")
        inputs = [equations.symbols[key] for key in ("q", "t")]
        return self.make_function(equations, "mass", [equations.M, a], inputs)

    def mass_matrix(self, q: SX, t: SX) -> SX:
        """Return M."""
        return self._mass_matrix(q, t)[0]

    def momenta(self, q: SX, qd: SX, t: SX) -> SX:
        """Return p = M q̇ + a."""
        M, a = self._mass_matrix(q, t)
        return M @ qd + a

    @cached_property
    def complete_equations(self) -> Equations:
        """Equations that have all functions, and numbers for all parameters that are not kept."""
        equations = self.equations
        needed = {"mass_matrix", "required_forces" if self.names.constraints else "bias"}
        has_kept_only = set(equations.parameters) <= set(self.kept)
        has_functions = needed <= set(equations.function_names())
        if has_kept_only and has_functions and equations.is_complete:
            return equations
        return derive(equations.mechanism, by="recursive", parameters=list(self.kept) or "numeric")

    def power(self, q: SX, qd: SX, qdd: SX, tau: SX, t: SX) -> SX:
        """Return the rates of the works."""
        if self.power_function is None:
            return ca.SX(1, 1)
        return self.power_function(q, qd, qdd, tau, t)

    # -- the manifold --------------------------------------------------------------------

    @cached_property
    def _move_coordinates(self) -> ca.Function:
        """The function (q, step) → q ⊕ step."""
        s = self.equations.symbols
        outputs = list(self.equations.expressions("integrate"))
        return ca.Function("moved", [s["q"], s["step"]], outputs)

    def move_coordinates(self, q: SX, step: SX) -> SX:
        """Return q ⊕ step, exact on quaternions."""
        if self.names.nq == self.names.nv:
            return q + step
        after: SX = self._move_coordinates(q, step)
        return after

    def chart_rate(self, u: SX, velocities: SX) -> SX:
        """Return u̇ for q = q₀ ⊕ u, by Munthe-Kaas: v + ½[u, v] + ¹⁄₁₂[u, [u, v]].

        The terms that are left out are of the fourth order in u.
        """
        if self.names.nq == self.names.nv:
            return velocities
        once = self.lie_bracket(u, velocities)
        return velocities + once / 2 + self.lie_bracket(u, once) / 12

    def lie_bracket(self, a: SX, b: SX) -> SX:
        """Return [a, b] of the Lie algebra: ω × ω for rotations, of twists for free bodies, and 0
        for all other joints."""
        parts, start = [], 0
        for name, joint in self.equations.mechanism.joints_depth_first():
            n = len(joint_velocity_names(name, joint))
            x, y = a[start : start + n], b[start : start + n]
            if len(joint_coordinate_names(name, joint)) == n:
                parts.append(ca.SX.zeros(n))
            else:
                parts.append(cross(x[:3], y[:3]))
                if n == 6:
                    parts.append(cross(x[:3], y[3:]) + cross(x[3:], y[:3]))
            start += n
        return ca.vertcat(*parts)
