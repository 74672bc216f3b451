"""How much more members that may break can bear, as expressions for compiled code."""

from __future__ import annotations

import casadi as ca

from ...types import SX
from .breakage import ConstraintOverload, JointOverload, overload_functions
from .dynamics import DynamicsCode


class LoadExpressions:
    """The remaining strengths of all members, in the order of `overload_functions`."""

    def __init__(self, code: DynamicsCode) -> None:
        self.code = code
        self.functions = overload_functions(code)

    def remaining_strengths(self, q: SX, qd: SX, forces: SX, t: SX, contacts: SX) -> SX:
        """Return the strengths that are left under generalized forces, with those of stops,
        contacts and friction; `contacts` are the forces of rigid contacts, one column each."""
        equations = self.code.model.equations
        names = ["forward_dynamics"] + ["multipliers"] * self.code.constrained
        symbols = [equations.symbols[key] for key in ("q", "qd", "tau", "t")]
        outputs = [equations.expressions(name)[0] for name in names]
        qdd, *multipliers = ca.Function("motion", symbols, outputs).call([q, qd, forces, t])
        lam = multipliers[0] if multipliers else ca.SX(0, 1)
        sizes = self._sizes(q, qd, qdd, t, lam, contacts)
        found = []
        for function in self.functions:
            match function:
                case JointOverload(strength=strength, place=place):
                    found.append(strength - sizes[place])
                case ConstraintOverload(strength=strength, multipliers=places):
                    found.append(strength - ca.norm_2(lam[list(places)]))
        return ca.vertcat(ca.SX(0, 1), *found)

    def _sizes(self, *state: SX) -> SX:
        """Return the sizes of forces and moments of all members."""
        inputs, outputs = self.code.wrench_expressions
        symbols = [symbol for _, symbol, _ in inputs]
        sizes: SX = ca.Function("sizes", symbols, [outputs[1][1]])(*state)
        return sizes
