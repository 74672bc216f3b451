"""Names of the approximate equations: centres of mass are coordinates too, and keep no constraint.

`APPROXIMATE_SYMBOLS` in `symbol_table` lists them.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from ..formulations import derive
from ..formulations.approximate_equations import ApproximateFormulation
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..types import SX
from .declarations import NO_DECLARATIONS, TextDeclarations
from .printed_labels import is_printed_label, paper_name_of_label
from .symbol_patterns import (
    RateSpelledName,
    add_names_without_underscores,
    list_checker_symbols,
)
from .symbol_table import APPROXIMATE_MECHANISM_SYMBOLS, APPROXIMATE_SYMBOLS
from .vocabulary import CheckerVocabulary
from .written_line_values import WrittenLineValues

APPROXIMATE_HEADING = "approximate"
"""The section of a text whose names are these."""


class ApproximateCheckerVocabulary(CheckerVocabulary):
    """The meaning of names where points move freely and springs hold them."""

    mechanism_rows = APPROXIMATE_MECHANISM_SYMBOLS
    force_rows = ()
    paper_rows = APPROXIMATE_SYMBOLS
    indexed_rows = APPROXIMATE_SYMBOLS
    inputs = ("q", "qd", "x", "xd", "tau", "u", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: TextDeclarations = NO_DECLARATIONS) -> None:
        super().__init__(mechanism, declared)
        own = derive(mechanism, by="approximate")
        assert own.state is not None
        half = len(own.state.names) // 2
        points = own.state.names[self.names.nq : half]
        bodies = {name.split("_", 1)[1] for name in points}
        taken = {*own.parameters, *self.names.q}
        letters = [name if name not in taken else f"{name}_s" for name in ("beta", "gamma")]
        self.spring_parameters: SX = ca.vertcat(*map(ca.SX.sym, letters))
        beta, gamma = ca.vertsplit(self.spring_parameters)
        self.spring_equations = ApproximateFormulation(
            build_kinematic_tree(mechanism, "symbolic"), sorted(bodies), beta, gamma, 0
        )
        self.eqs = self.spring_equations.assemble_equations("approximate", {}, complete=False)
        self.point_names = self.spring_equations.numbered_point_names
        symbols = self.spring_equations.symbols
        self.symbols |= {key: symbols[key] for key in ("q", "qd", "tau", "t")}
        self.symbols |= {"x": self.spring_equations.x, "xd": self.spring_equations.xd}
        self.symbols["p"] = ca.vertcat(symbols["p"], self.spring_parameters)
        self.parameters = [*self.eqs.parameters, *letters]

    @property
    def coordinate_names(self) -> list[str]:
        """The names of the generalized coordinates, then those of the centres of mass."""
        return [*self.names.q, *self.point_names]

    @property
    def coordinates_with_rates(self) -> list[tuple[int, str]]:
        """All coordinates: each has a velocity of its own."""
        return [(k, RateSpelledName(name)) for k, name in enumerate(self.coordinate_names)]

    @property
    def spring_count(self) -> int:
        """The number of constraints, each of which is a spring."""
        return int(self.spring_equations.f.shape[0])

    @property
    def spring_errors(self) -> SX:
        """f + γ ḟ of all constraints."""
        own = self.spring_equations
        return ca.SX(own.f + self.spring_parameters[1] * own.f_rate)

    @cached_property
    def spring_accelerations(self) -> SX:
        """The accelerations of all coordinates."""
        return ca.SX(self.spring_equations.accelerations())

    @cached_property
    def spring_jacobian(self) -> SX:
        """The derivatives of the constraints' errors by all coordinates."""
        return ca.densify(ca.SX(self.spring_equations.J))

    @cached_property
    def spring_forces(self) -> SX:
        """The forces of the constraints on all coordinates."""
        return ca.SX(self.spring_equations.J.T @ self.spring_equations.multipliers())

    @cached_property
    def mechanism_symbols(self) -> dict[str, SX]:
        """Parameters, coordinates with their rates, efforts and the time."""
        return add_names_without_underscores(list_checker_symbols(self.mechanism_rows, self))

    def why_index_fails(self, name: str) -> str:
        """The reason why a symbol of these equations, or of the exact ones, has no meaning here."""
        if why := super().why_index_fails(name):
            return why
        is_exact = any(
            row.matched_texts(name) is not None for row in CheckerVocabulary.indexed_rows
        )
        is_own = self.expression_in_rows(self.paper_rows, name) is not None
        return "it is not a symbol of the approximate equations" if is_exact and not is_own else ""

    def _resolve_symbol(self, name: str) -> SX | None:
        if is_printed_label(name):
            return self.expression_in_rows(self.paper_rows, paper_name_of_label(name))
        if name in self.mechanism_symbols:
            return self.mechanism_symbols[name]
        found = self.expression_in_rows(self.paper_rows, name)
        return self._force_element_symbols.get(name.replace("_", "")) if found is None else found

    @cached_property
    def _force_element_symbols(self) -> dict[str, SX]:
        """Lengths L and tensions by length S of springs between points, without underscores."""
        lines = WrittenLineValues(self, APPROXIMATE_HEADING)
        found = {name: lines.line_expression(name) for name in lines.spring_names()}
        return {name.replace("_", ""): x for name, x in found.items() if x is not None}
