"""Generalized forces of actuators under constant controls, and their exact derivatives.

A servo's effort depends on its length and rate, and the forces τ = B(q) u of any actuator may
depend on the configuration: both add to A, and the inputs are the controls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..model.model import Model
from ..number_checks import check_number_table
from ..simulation.actuator_efforts import efforts_of_controls
from ..types import Floats
from .operating_points import OperatingPoint


@dataclass(frozen=True)
class ActuatorForces:
    """Generalized forces τ of the actuators, (nv,), and their derivatives by q along the tangent,
    by q̇ and by the controls."""

    tau: Floats
    by_q: Floats
    by_qd: Floats
    by_control: Floats


class ControlledActuators:
    """The actuators of a model under constant controls; those that are not named have 0."""

    def __init__(self, model: Model, controls: Mapping[str, float]) -> None:
        names = list(model.names.actuators)
        for name in controls:
            if name not in names:
                raise NameNotFoundError(
                    f"unknown actuator '{name}'", remedy=suggest_remedy(name, names)
                )
        given = check_number_table(controls, "controls")
        self.names = tuple(names)
        self.values = np.array([float(given.get(name, 0.0)) for name in names])
        self._function = _force_function(model)

    def forces_at(self, point: OperatingPoint) -> ActuatorForces:
        """Return the forces and their derivatives at a state."""
        found = self._function(point.q, point.qd, self.values, point.t)
        tau, by_q, by_qd, by_control = (np.array(part.full()) for part in found)
        return ActuatorForces(tau.ravel(), by_q, by_qd, by_control)


def _force_function(model: Model) -> ca.Function:
    """Return (q, q̇, c, t) to B u and its derivatives."""
    equations, mechanism = model.equations, model.mechanism
    slow = [name for name, one in mechanism.actuators.items() if one.activation is not None]
    if slow:
        raise UnsupportedError(
            f"the activation of '{slow[0]}' has a state of its own",
            where=mechanism.name,
            remedy="remove its activation, or give generalized forces in torque=",
        )
    symbols = equations.symbols
    controls = ca.SX.sym("c", len(mechanism.actuators))
    (B,) = equations.expressions("input_matrix")
    tau = B @ efforts_of_controls(equations, controls).u
    slopes = [ca.jacobian(tau, symbols["qd"]), ca.jacobian(tau, controls)]
    outputs = [tau, equations.tangent_jacobian(tau), *slopes]
    return ca.Function("actuators", [symbols["q"], symbols["qd"], controls, symbols["t"]], outputs)
