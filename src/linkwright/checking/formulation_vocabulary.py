"""Names in the printed equations of a formulation: its own first, then those of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..expressions import Expression
from ..expressions.typeset import ExpressionTypesetter, LatexNotation
from ..forms.quantity_typesetting import typeset_rate_symbols
from ..formulations.kane_form import printed_center_letter
from ..mechanism import Mechanism
from ..types import SX
from ..written_equations import magnitudes_at_samples
from .declarations import NO_DECLARATIONS, TextDeclarations
from .frame_names import FrameNames
from .latex_parser import LatexStatementParser
from .printed_labels import latex_name_of_label, printed_quantity_labels
from .symbol_patterns import list_checker_symbols
from .text_symbols import StatementSymbols
from .vocabulary import CheckerVocabulary, MeaningLookup
from .written_line_values import LABELLING_FORMULATIONS, SPEED_NUMBER, WrittenLineValues

FORMULATIONS_WITH_NAMES = (
    *LABELLING_FORMULATIONS,
    "hamilton",
    "kane",
    "multipliers",
    "newton_euler",
)
"""Formulations whose printed equations define names that the checker does not know otherwise."""


_CENTER_POSITION = re.compile(r"(d{0,2}[xyz])_?c(\d{1,4})")
_JOINT_FORCE = re.compile(r"T(\d{1,4})")


class FormulationCheckerVocabulary(CheckerVocabulary):
    """The meaning of names under the heading of a formulation's printed equations.

    Symbols of papers keep their meaning, which does not come from the formulation; but where
    influence and recurrent print one, V1 or C[1,2], it means what their line says.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        declared: TextDeclarations = NO_DECLARATIONS,
        by: str = "",
        *,
        is_latex: bool = False,
    ) -> None:
        super().__init__(mechanism, declared)
        self.by, self.is_latex = by, is_latex
        self.written_lines = WrittenLineValues(self, by)
        self._has_other_speeds = False

    @cached_property
    def _free_symbol_names(self) -> frozenset[str]:
        """The names of the motion, of parameters and of forces, as they are printed."""
        moving = [f"{dots}{name}" for name in self.names.qd for dots in ("d", "dd")]
        own = (*self.parameters, *self.names.q, *self.names.actuators)
        speeds = [f"{dots}{x}" for _, x in self.velocities_without_coordinate for dots in ("", "d")]
        return frozenset((*own, *moving, *speeds, *list_checker_symbols(self.force_rows, self)))

    def _resolve_symbol(self, name: str) -> SX | None:
        if "@" in name or name in self._free_symbol_names:
            return super()._resolve_symbol(name)
        if (own := self._speed_of_file(name)) is not None:
            return own
        for find in (self._force_of_joint, self._center_coordinate):
            if (own := find(name)) is not None:
                return own
        name = self.canonical_name(name)
        if self._has_other_speeds or name not in self.written_lines:
            return super()._resolve_symbol(name)
        found = None
        if self.by not in LABELLING_FORMULATIONS:
            found = self.paper_expression(name)
        return self.written_lines.line_expression(name) if found is None else found

    @property
    def file_speeds(self) -> tuple[str, ...]:
        """The generalized speeds of the file, whose partial velocities are printed by number."""
        return tuple(x for x in self.mechanism.speeds if x in self) if self.by == "kane" else ()

    def _speed_of_file(self, name: str) -> SX | None:
        """A generalized speed that the file names, or its rate; u1, u2, … are the text's own."""
        speeds = self.mechanism.speeds if self.by == "kane" else {}
        stem = name if name in speeds else name.removeprefix("d")
        if stem not in speeds or SPEED_NUMBER.fullmatch(stem):
            return None
        value = self.written_lines.line_expression(stem)
        return (
            value if stem == name or value is None else self.values.derived_symbol(f"rate@{stem}")
        )

    def _force_of_joint(self, name: str) -> SX | None:
        """T2, the force of the second joint along its motion, in the equations of free bodies."""
        number = _JOINT_FORCE.fullmatch(name) if self.by == "newton_euler" else None
        joints = self.body_values.joints_of_velocities
        if number is None or not 1 <= int(number[1]) <= len(joints):
            return None
        return self.reaction_values.force_along_motion(joints[int(number[1]) - 1])

    def _center_coordinate(self, name: str) -> SX | None:
        """xc1 or ddxc1 in the equations of free bodies, where x1 is a name of the mechanism."""
        match = _CENTER_POSITION.fullmatch(name) if self.by == "newton_euler" else None
        return None if match is None else self.paper_expression("".join(match.groups()))

    def canonical_name(self, name: str) -> str:
        """The printed spelling of a name: in LaTeX the label f[1] for f1."""
        if name in self._free_symbol_names:
            return super().canonical_name(name)
        if name in self.written_lines:
            return name  # b_4, beside a parameter b4
        return self._labels_by_name.get(name.replace("_", "")) or super().canonical_name(name)

    @cached_property
    def _labels_by_name(self) -> dict[str, str]:
        """Printed names by the names that LaTeX has for them, where only one has that name."""
        if not self.is_latex:
            return {}
        joints = (*self.names.joints, *self.mechanism.loops)
        reactions = [f"{kind}{axis}_{x}" for x in joints for kind in "FM" for axis in "xyz123"]
        momenta = [f"{kind}_{name}" for name in self.names.qd for kind in ("p", "dp")]
        labels = [*self.written_lines.line_names, *printed_quantity_labels(self)]
        found: dict[str, list[str]] = {}
        for label in dict.fromkeys([*labels, *reactions, *momenta]):
            found.setdefault(latex_name_of_label(label).replace("_", ""), []).append(label)
        for name in self._free_symbol_names | {f"d{x}" for x in self.names.q}:
            if "." in name:
                found.setdefault(self._typeset_name(name), []).append(name)
        return {name: own[0] for name, own in found.items() if len(own) == 1}

    def _typeset_name(self, name: str) -> str:
        """What a name with a dot, ball.wx, is read as from its LaTeX."""
        rates = {f"d{x}": (x, 1) for x in self.names.q} | typeset_rate_symbols(self.eqs)
        setter = ExpressionTypesetter(LatexNotation(), rates)
        latex = setter.name(name).replace(r"\_", "").replace("{}", "")
        return LatexStatementParser(latex, StatementSymbols(), {}).parse_symbol().replace("_", "")

    def ambiguity_sentence(self, names: Iterable[str]) -> str:
        """A sentence for a name that LaTeX writes like another one of the printed set."""
        both = sorted({*names} & self._free_symbol_names & self._labels_by_name.keys())
        if not both:
            return ""
        return f"in LaTeX {both[0]} is written like {self._labels_by_name[both[0]]}"

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

    def adopt_text_speeds(
        self, lines: Sequence[tuple[str, Expression]], find: MeaningLookup
    ) -> None:
        """Forget the coefficients of printed dual velocities where a text has other speeds than the
        mechanism: its A21 is not ours, but what the text defines."""
        if self.by != "kane":
            return
        own, theirs = self.written_lines.speed_values(), dict(lines)
        apart = [self.translate_expression(theirs[x], find) - own[x] for x in own if x in theirs]
        are_others = bool(magnitudes_at_samples(apart, scale=1.0).any()) if apart else bool(theirs)
        if are_others != self._has_other_speeds:
            self._has_other_speeds = are_others
            self._expression_cache.clear()

    def paper_spelling(self, name: str) -> str:
        """The spelling in papers of an entry that is not one of the formulation's own."""
        return name if name in self.written_lines else super().paper_spelling(name)
