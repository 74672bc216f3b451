"""Names of the approximate equations: centres of mass are coordinates too, and keep no constraint.

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
from ..formulations.approximate import ApproximateFormulation
from ..kinematics.tree_builder import build_tree
from ..mechanism import Mechanism
from ..types import SX
from .declarations import NO_DECLARATIONS, TextDeclarations
from .paper_symbols import PaperSymbols, rate_spellings, split_symbol_indices
from .vocabulary import Vocabulary

APPROXIMATE_HEADING = "approximate"
"""The section of a text whose names are these."""


class NoPaperSymbols(PaperSymbols):
    """No symbol has a meaning beside the names of these equations."""

    def find_expression(self, name: str) -> SX | None:
        return None

    def has_invalid_index(self, name: str) -> bool:
        return False

    @property
    def force_symbols(self) -> dict[str, SX]:
        return {}


class ApproximateVocabulary(Vocabulary):
    """The meaning of names where points move freely and springs hold them."""

    inputs = ("q", "qd", "x", "xd", "tau", "u", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: TextDeclarations = NO_DECLARATIONS) -> None:
        super().__init__(mechanism, declared)
        self.paper_symbols = NoPaperSymbols(self)
        own = derive(mechanism, by="approximate")
        assert own.state is not None
        half = len(own.state.names) // 2
        points = own.state.names[self.names.nq : half]
        bodies = {name.split("_", 1)[1] for name in points}
        self.spring_parameters: SX = ca.vertcat(ca.SX.sym("beta"), ca.SX.sym("gamma"))
        beta: Any = self.spring_parameters[0]
        gamma: Any = self.spring_parameters[1]
        self.spring_equations = ApproximateFormulation(
            build_tree(mechanism, "symbolic"), sorted(bodies), beta, gamma, 0
        )
        self.eqs = self.spring_equations.assemble_equations("approximate", {}, complete=False)
        self.point_names = [self._numbered_point_name(name) for name in points]
        symbols = self.spring_equations.symbols
        self.symbols |= {key: symbols[key] for key in ("q", "qd", "tau")}
        self.symbols |= {"x": self.spring_equations.x, "xd": self.spring_equations.xd}
        self.symbols["p"] = ca.vertcat(symbols["p"], self.spring_parameters)
        self.parameters = [*self.eqs.parameters, "beta", "gamma"]

    def _numbered_point_name(self, name: str) -> str:
        """x_link2 is x2, of the second body."""
        letter, body = name.split("_", 1)
        return f"{letter}{self.names.bodies.index(body) + 1}"

    @cached_property
    def mechanism_symbols(self) -> dict[str, SX]:
        found = {name: self.symbols["p"][i] for i, name in enumerate(self.parameters)}
        coordinates = [*self.names.q, *self.point_names]
        columns = (
            self.spring_equations.z,
            self.spring_equations.zd,
            self.spring_equations.accelerations(),
        )
        for i, name in enumerate(coordinates):
            place, speed, acceleration = (column[i] for column in columns)
            found.setdefault(name, place)
            for one, two in rate_spellings(name):
                found.setdefault(one, speed)
                found.setdefault(two, acceleration)
        for i, drive in enumerate(self.names.actuators or self.names.qd):
            words = (drive, f"tau{i + 1}") if self.names.actuators else (f"tau{i + 1}",)
            found |= dict.fromkeys(words, self.symbols["u"][i])
        found.setdefault("t", self.symbols["t"])
        return found

    def _resolve_symbol(self, name: str) -> SX | None:
        if name in self.mechanism_symbols:
            return self.mechanism_symbols[name]
        stem = name.rstrip("0123456789_")
        own = self.spring_equations
        tables: dict[str, Callable[[], SX]] = {
            "f": lambda: own.f, "df": lambda: own.f_rate, "Q": lambda: own.generalized_forces,
            "P": lambda: own.J.T @ own.multipliers(),
            "J": lambda: ca.densify(ca.SX(own.J)), "JT": lambda: ca.densify(ca.SX(own.J.T)),
        }  # fmt: skip
        if stem not in tables or stem == name:
            return None
        whole = tables[stem]()
        sizes = whole.shape if stem.startswith("J") else whole.shape[:1]
        at = split_symbol_indices(name[len(stem) :], sizes)
        return whole[tuple(i - 1 for i in at)] if at else None
