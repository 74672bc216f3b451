"""Efforts of actuators from their controls: gain, bias, ranges, and first-order activation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca

from ..equations import Equations
from ..expressions import Expression, evaluate_expression_exactly
from ..mechanism import Actuator, Mechanism
from ..mechanism.effort_bounds import number_range
from ..types import SX
from .effort_limits import Demand, clip


@dataclass(frozen=True)
class ActuatorEfforts:
    """Efforts u as expressions of controls, states q, q̇ and activations z with the rates `z_rate`;
    `names` and `start` belong to z. `asked` are controls and efforts before they are clipped, one
    for each of the `demands`."""

    u: SX
    z: SX
    z_rate: SX
    names: tuple[str, ...] = ()
    start: tuple[float, ...] = ()
    asked: SX = field(default_factory=lambda: ca.SX(0, 1))
    demands: tuple[Demand, ...] = ()


def efforts_of_controls(
    equations: Equations, controls: SX, start: Mapping[str, float] | None = None
) -> ActuatorEfforts:
    """Return the efforts that controls (actuators) cause; `start` has activations by actuator, the
    others begin at 0."""
    mechanism, begin = equations.mechanism, start or {}
    z = ca.SX.sym("z", max(1, sum(a.activation is not None for a in mechanism.actuators.values())))
    if all(actuator.is_plain for actuator in mechanism.actuators.values()):
        return ActuatorEfforts(controls, z, ca.SX.zeros(0, 1))
    lengths, rates = _driven_lengths(equations)
    names: list[str] = []
    efforts, z_rates = [], []
    asked: list[SX] = []
    demands: list[Demand] = []
    for k, (name, actuator) in enumerate(mechanism.actuators.items()):
        law = _ActuatorLaw(mechanism, actuator)
        control = law.within(controls[k], actuator.control_range)
        if actuator.control_range is not None:
            asked.append(controls[k])
            demands.append(law.demand(f"the control of '{name}'", actuator.control_range))
        if actuator.activation is not None:
            state = z[len(names)]
            z_rates.append(law.activation_rate(state, control))
            control = law.within(state, actuator.activation.range)
            names.append(name)
        effort = law.effort(control, lengths[k], rates[k])
        efforts.append(law.within(effort, actuator.effort_range))
        if actuator.effort_range is not None:
            asked.append(effort)
            demands.append(law.demand(f"the effort of '{name}'", actuator.effort_range))
    return ActuatorEfforts(
        ca.vertcat(*efforts),
        z,
        ca.vertcat(*z_rates) if z_rates else ca.SX.zeros(0, 1),
        tuple(f"activation_{name}" for name in names),
        tuple(float(begin.get(name, 0.0)) for name in names),
        ca.vertcat(*asked) if asked else ca.SX(0, 1),
        tuple(demands),
    )


def _driven_lengths(equations: Equations) -> tuple[SX, SX]:
    """Return what the actuators drive, and its rates."""
    s = equations.symbols
    (lengths,) = equations.expressions("actuator_lengths")
    (B,) = equations.expressions("input_matrix")
    return lengths, B.T @ s["qd"] + ca.jacobian(lengths, s["t"])


@dataclass(frozen=True)
class _ActuatorLaw:
    """The numbers of an actuator, as expressions of its control, length and rate."""

    mechanism: Mechanism
    actuator: Actuator

    def number(self, expression: Expression) -> float:
        """Return the value of a number of the actuator."""
        return float(evaluate_expression_exactly(expression, self.mechanism.values))

    def within(self, value: SX, bounds: tuple[Expression, ...] | None) -> SX:
        """Return a value clipped to bounds."""
        return value if bounds is None else clip(value, number_range(self.mechanism, bounds))

    def demand(self, what: str, bounds: tuple[Expression, ...]) -> Demand:
        """Return what is clipped to a range, in words and numbers."""
        return Demand(what, *number_range(self.mechanism, bounds))

    def activation_rate(self, state: SX, control: SX) -> SX:
        """Return the rate of the activation, which stops where it would leave its range."""
        activation = self.actuator.activation
        assert activation is not None
        rate = control
        if activation.time_constant is not None:
            rate = (control - state) / self.number(activation.time_constant)
        if activation.range is None:
            return rate
        low, high = map(self.number, activation.range)
        leaves = ca.logic_or(
            ca.logic_and(state >= high, rate > 0), ca.logic_and(state <= low, rate < 0)
        )
        return ca.if_else(leaves, 0, rate)

    def effort(self, control: SX, length: SX, rate: SX) -> SX:
        """Return (gain₀ + gain₁ l + gain₂ l̇) c + bias₀ + bias₁ l + bias₂ l̇, not yet clipped."""
        gain, bias = (
            self._affine(numbers, length, rate)
            for numbers in (self.actuator.affine_gain, self.actuator.bias)
        )
        return gain * control + bias

    def _affine(self, numbers: tuple[Expression, ...], length: SX, rate: SX) -> SX:
        """Return the affine function of length and rate with three coefficients."""
        constant, by_length, by_rate = map(self.number, numbers)
        total = ca.SX(constant)
        if by_length:
            total += by_length * length
        return total + by_rate * rate if by_rate else total
