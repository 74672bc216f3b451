"""Names in the printed equations of a formulation: its own first, then those of papers."""

from __future__ import annotations

from functools import cached_property

from ..formulations.kane_form import printed_center_letter
from ..mechanism import Mechanism
from ..types import SX
from .declarations import NO_DECLARATIONS, TextDeclarations
from .frame_names import FrameNames
from .symbol_patterns import list_checker_symbols
from .vocabulary import CheckerVocabulary
from .written_line_values import LABELLING_FORMULATIONS, WrittenLineValues

FORMULATIONS_WITH_NAMES = (*LABELLING_FORMULATIONS, "kane", "newton_euler")
"""Formulations whose printed equations define names that the checker does not know otherwise."""


class FormulationCheckerVocabulary(CheckerVocabulary):
    """The meaning of names under the heading of a formulation's printed equations.

    Symbols of papers keep their meaning, which does not come from the formulation; but where
    influence and recurrent print one, V1 or C[1,2], it means what their line says.
    """

    def __init__(
        self, mechanism: Mechanism, declared: TextDeclarations = NO_DECLARATIONS, by: str = ""
    ) -> None:
        super().__init__(mechanism, declared)
        self.by = by
        self.written_lines = WrittenLineValues(self, by)

    @cached_property
    def _free_symbol_names(self) -> frozenset[str]:
        """The names of the motion, of parameters and of forces, as the mechanism spells them."""
        rows = (self.mechanism_rows, self.force_rows)
        return frozenset(name for some in rows for name in list_checker_symbols(some, self))

    def _resolve_symbol(self, name: str) -> SX | None:
        if "@" in name or name in self._free_symbol_names or name not in self.written_lines:
            return super()._resolve_symbol(name)
        found = None
        if self.by not in LABELLING_FORMULATIONS:
            found = self.paper_expression(name)
        return self.written_lines.line_expression(name) if found is None else found

    @cached_property
    def center_names(self) -> dict[str, int]:
        """The names of the bodies' centres of mass in printed dual vectors, with their numbers."""
        if self.by != "kane":
            return {}
        meant = printed_center_letter([*self.mechanism.frames, *self.names.q, *self.parameters])
        return {f"{meant}{k + 1}": k for k in range(len(self.names.bodies))}

    @property
    def frame_names(self) -> FrameNames:
        """The names that have axes and a velocity, with centres of mass in dual vectors."""
        own = super().frame_names
        return FrameNames((*own, *self.center_names), own.mechanism_names)

    def quantity_expression(self, function: str, *frame: str) -> SX:
        """A quantity of the mechanism, of a frame, or of a centre of mass with the body's axes."""
        if frame and frame[0] in self.center_names:
            return self.body_values.center_quantity(function, self.center_names[frame[0]])
        return super().quantity_expression(function, *frame)

    def paper_spelling(self, name: str) -> str:
        """The spelling in papers of an entry that is not one of the formulation's own."""
        return name if name in self.written_lines else super().paper_spelling(name)
