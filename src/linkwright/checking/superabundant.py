"""Names of the approximate equations: mass centres are coordinates too, and keep no constraint.

x2, dx2, ddx2       place, speed and acceleration of a chosen body, independent of the joints
f1, df1, JT11, J11  errors of the constraints, their rates, their Jacobian and its transpose
Q1, P1              external forces and forces of the constraints, in the order of the coordinates
beta, gamma         stiffness and damping of the constraints
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca

from ..formulations import derive
from ..formulations.approximate import Approximate
from ..kinematics.build import build_tree
from ..mechanism import Mechanism
from .declarations import NOTHING, Declarations
from .vocabulary import SX, Vocabulary, indices, spellings

HEADING = "approximate"
"""The section of a text whose names are these."""


class Superabundant(Vocabulary):
    """What names mean where points move freely and springs hold them."""

    inputs = ("q", "qd", "x", "xd", "tau", "u", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: Declarations = NOTHING) -> None:
        super().__init__(mechanism, declared)
        own = derive(mechanism, by="approximate")
        assert own.state is not None
        half = len(own.state.names) // 2
        points = own.state.names[self.names.nq : half]
        bodies = {name.split("_", 1)[1] for name in points}
        self.stiffness: SX = ca.vertcat(ca.SX.sym("beta"), ca.SX.sym("gamma"))
        beta: Any = self.stiffness[0]
        gamma: Any = self.stiffness[1]
        self.own = Approximate(build_tree(mechanism, "symbolic"), sorted(bodies), beta, gamma, 0)
        self.eqs = self.own.equations("approximate", {}, complete=False)
        self.points = [self._renamed(name) for name in points]
        symbols = self.own.symbols
        self.symbols |= {key: symbols[key] for key in ("q", "qd", "tau")}
        self.symbols |= {"x": self.own.x, "xd": self.own.xd}
        self.symbols["p"] = ca.vertcat(symbols["p"], self.stiffness)
        self.parameters = [*self.eqs.parameters, "beta", "gamma"]

    def _renamed(self, name: str) -> str:
        """x_link2 is x2, of the second body."""
        letter, body = name.split("_", 1)
        return f"{letter}{self.names.bodies.index(body) + 1}"

    @cached_property
    def given(self) -> dict[str, SX]:
        found = {name: self.symbols["p"][i] for i, name in enumerate(self.parameters)}
        coordinates = [*self.names.q, *self.points]
        columns = (self.own.z, self.own.zd, self.own.accelerations())
        for i, name in enumerate(coordinates):
            place, speed, acceleration = (column[i] for column in columns)
            found.setdefault(name, place)
            for one, two in spellings(name):
                found.setdefault(one, speed)
                found.setdefault(two, acceleration)
        for i, drive in enumerate(self.names.actuators or self.names.qd):
            words = (drive, f"tau{i + 1}") if self.names.actuators else (f"tau{i + 1}",)
            found |= dict.fromkeys(words, self.symbols["u"][i])
        return found

    def _find(self, name: str) -> SX | None:
        if name in self.given:
            return self.given[name]
        stem = name.rstrip("0123456789_")
        at = indices(name[len(stem) :]) if len(stem) < len(name) else []
        tables: dict[str, Callable[[], SX]] = {
            "f": lambda: self.own.f, "df": lambda: self.own.f_rate, "Q": lambda: self.own.forces,
            "P": lambda: self.own.J.T @ self.own.multipliers(),
            "J": lambda: ca.densify(self.own.J), "JT": lambda: ca.densify(self.own.J.T),
        }  # fmt: skip
        if stem not in tables or not at:
            return None
        whole = tables[stem]()
        rows, columns = whole.shape
        if len(at) != (2 if stem.startswith("J") else 1) or not 1 <= at[0] <= rows:
            return None
        if len(at) == 1:
            return whole[at[0] - 1]
        return whole[at[0] - 1, at[1] - 1] if 1 <= at[1] <= columns else None
