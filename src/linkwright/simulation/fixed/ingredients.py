"""What steps are made of: accelerations, ⊕, power, constraints, as functions of expressions.

Formulations have symbols of their own; as `casadi.Function`s their expressions can be evaluated
at the stages of a step, and become part of its tape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import casadi as ca

from ...algebra.linear_algebra import cross
from ...equations import Equations
from ...formulations import derive
from ...mechanism.coordinates import joint_coordinate_names, joint_velocity_names
from ...types import SX
from ..inputs import Drive, first


class Ingredients:
    """Of the equations of one mechanism under a drive.

    What a drive hands over from outside (values of tables, what a controller follows) is an input
    of a step, with one row for each of the `shares` of the step at which the method asks for it.
    `power` gives the works that are added up. `kept` are symbols of parameters, by name, that stay
    inputs; all other parameters have their values.
    """

    def __init__(
        self, equations: Equations, drive: Drive | None = None, power: Any = None,
        shares: tuple[float, ...] = (0.0,), kept: Mapping[str, SX] | None = None,
    ) -> None:  # fmt: skip
        self.equations, self.names, self.works = equations, equations.names, power
        self.shares, self.kept = shares, dict(kept or {})
        self.p = ca.vertcat(*self.kept.values()) if self.kept else ca.SX.sym("p", 0)
        tau, w, z, rate = equations.symbols["tau"], ca.SX.sym("w"), ca.SX(0, 1), ca.SX(0, 1)
        if drive is not None and drive.function is None:
            tau, w, rate = tau + drive.tau, drive.w, drive.z_rate
            z = first(drive.z, len(drive.state_names))
        self.outside = ca.SX.sym("outside", len(shares), w.shape[0])
        symbols = [equations.symbols[key] for key in ("q", "qd", "tau", "t")]
        self._drive = self.function(equations, "drive", [tau, rate], [*symbols, z, w])

    def function(
        self, eqs: Equations, name: str, outputs: list[SX], inputs: list[SX]
    ) -> Callable[..., Any]:
        """A function of inputs that are symbols of the equations, with the parameters that are not
        kept at their values."""
        if eqs.parameters:
            values = [self.kept.get(key, float(value)) for key, value in eqs.parameters.items()]
            outputs = ca.substitute(outputs, [eqs.symbols["p"]], [ca.vertcat(*values)])
        made = ca.Function(name, [*inputs, self.p], [ca.densify(ca.SX(x)) for x in outputs])
        return lambda *given: made(*given, self.p)

    def driven(self, q: SX, qd: SX, z: SX, tau: SX, t: SX, share: float) -> tuple[SX, SX]:
        """All forces along the speeds at a share of the step, and ż of a controller."""
        w = self.outside[self.shares.index(share), :].T
        found: tuple[SX, SX] = self._drive(q, qd, tau, t, z, w)
        return found

    def tau(self, q: SX, qd: SX, tau: SX, t: SX, share: float) -> SX:
        """The same forces, of a drive without states of its own."""
        return self.driven(q, qd, ca.SX(0, 1), tau, t, share)[0]

    # -- the motion ----------------------------------------------------------------------

    @cached_property
    def _acceleration(self) -> Any:
        found = self.equations.expressions("forward_dynamics")
        pivot = found[1] if len(found) > 1 else ca.SX(1)
        inputs = [self.equations.symbols[key] for key in ("q", "qd", "tau", "t")]
        return self.function(self.equations, "acceleration", [found[0], pivot], inputs)

    def acceleration(self, q: SX, qd: SX, tau: SX, t: SX) -> tuple[SX, SX]:
        """q̈, and the smallest pivot of the constraints."""
        found: tuple[SX, SX] = self._acceleration(q, qd, tau, t)
        return found

    @cached_property
    def _required(self) -> Any:
        eqs = self.full
        name = "required_forces" if self.names.constraints else "inverse_dynamics"
        inputs = [eqs.symbols[key] for key in ("q", "qd", "qdd", "t")]
        return self.function(eqs, "required", [eqs.expressions(name)[0]], inputs)

    def required(self, q: SX, qd: SX, qdd: SX, t: SX) -> SX:
        """M q̈ + C q̇ + g − f."""
        found: SX = self._required(q, qd, qdd, t)
        return found

    @cached_property
    def _mass(self) -> Any:
        return self.function(self.full, "mass", [self.full.M], [self.full.symbols["q"]])

    def mass(self, q: SX) -> SX:
        found: SX = self._mass(q)
        return found

    @cached_property
    def full(self) -> Equations:
        """Equations that have all functions, with numbers in them but for the parameters kept."""
        eqs = self.equations
        complete = {"mass_matrix", "required_forces" if self.names.constraints else "bias"}
        just_kept = set(eqs.parameters) <= set(self.kept)
        if just_kept and complete <= set(eqs.function_names()) and eqs.is_complete:
            return eqs
        return derive(eqs.mechanism, by="recursive", parameters=list(self.kept) or "numeric")

    def power(self, q: SX, qd: SX, qdd: SX, tau: SX, t: SX) -> SX:
        """Rates of the works."""
        return ca.SX(1, 1) if self.works is None else self.works(q, qd, qdd, tau, t)

    # -- the manifold --------------------------------------------------------------------

    @cached_property
    def _moved(self) -> Any:
        s = self.equations.symbols
        return ca.Function(
            "moved", [s["q"], s["step"]], list(self.equations.expressions("integrate"))
        )

    def moved(self, q: SX, step: SX) -> SX:
        """q ⊕ step, exact on quaternions."""
        return q + step if self.names.nq == self.names.nv else self._moved(q, step)

    def chart_rate(self, u: SX, speeds: SX) -> SX:
        """u̇ for q = q₀ ⊕ u: speeds + ½[u, speeds] + ¹⁄₁₂[u, [u, speeds]], Munthe-Kaas; what is left
        out is of the fourth order in u."""
        if self.names.nq == self.names.nv:
            return speeds
        first = self.bracket(u, speeds)
        return speeds + first / 2 + self.bracket(u, first) / 12

    def bracket(self, a: SX, b: SX) -> SX:
        """[a, b] of the Lie algebra: of turns a × b, of free bodies with their slides too."""
        parts, at = [], 0
        for name, joint in self.equations.mechanism.joints_depth_first():
            n = len(joint_velocity_names(name, joint))
            x, y = a[at : at + n], b[at : at + n]
            if len(joint_coordinate_names(name, joint)) == n:
                parts.append(ca.SX.zeros(n))
            else:
                parts.append(cross(x[:3], y[:3]))
                if n == 6:
                    parts.append(cross(x[:3], y[3:]) + cross(x[3:], y[:3]))
            at += n
        return ca.vertcat(*parts)
