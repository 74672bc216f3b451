"""Values of the names that a formulation's own printed equations define.

They come from the formulation's expressions before these are written in closed form, so that the
printed text is compared with what it was made from.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from ..errors import LinkwrightError
from ..forms.equation_set_typesetting import equation_set_source
from ..formulations import derive
from ..types import SX

if TYPE_CHECKING:
    from .checked_mechanism import CheckedMechanism

LABELLING_FORMULATIONS = ("influence", "recurrent")
"""Formulations that print entries of arrays of their own: Gc1[1,2], Z1[1,2]."""
_SPRING_LENGTH, _SPRING_TENSION = re.compile(r"L_\w+"), re.compile(r"S_\w+")
SPEED_NUMBER = re.compile(r"u\d+")
"""A generalized speed of printed dual vectors."""


class WrittenLineValues:
    """The lines of a formulation's equations that define a name, in the checker's symbols."""

    def __init__(self, vocabulary: CheckedMechanism, by: str) -> None:
        self.vocabulary, self.by = vocabulary, by
        self._known: dict[str, SX | None] = {}
        self._speed_lines: dict[str, SX] = {}

    @cached_property
    def _lines(self) -> dict[str, SX]:
        """The right sides by the name on the left, the first of several; none where the
        formulation refuses the mechanism."""
        found: dict[str, SX] = {}
        try:
            self._equations = derive(self.vocabulary.mechanism, by=self.by)
        except LinkwrightError:
            return found
        for line in equation_set_source(self._equations).lines():
            if not isinstance(line.right, ca.SX):
                continue
            if not isinstance(line.left, str):
                found = _spring_symbol_value(line.left, line.right) | found
            elif self.by == "kane" and SPEED_NUMBER.fullmatch(line.left):
                self._speed_lines.setdefault(line.left, line.right)
            else:
                found.setdefault(line.left, line.right)
        return found

    def speed_values(self) -> dict[str, SX]:
        """The generalized speeds of printed dual vectors, which a text defines itself."""
        found = {name: self.line_expression(name) for name in (*self._lines, *self._speed_lines)}
        return {
            x: value
            for x, value in found.items()
            if value is not None and SPEED_NUMBER.fullmatch(x)
        }

    @property
    def line_names(self) -> list[str]:
        """The names that lines define."""
        return list(self._lines)

    def spring_names(self) -> list[str]:
        """The names of lengths and tensions of springs between points."""
        return [
            name
            for name in self._lines
            if _SPRING_LENGTH.fullmatch(name) or _SPRING_TENSION.fullmatch(name)
        ]

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def line_expression(self, name: str) -> SX | None:
        """The value of a name that a line defines; None if no line does, or a symbol in it has no
        value."""
        if name not in self._known:
            self._known[name] = None  # a line that leads back to itself has no value
            line = self._lines.get(name, self._speed_lines.get(name))
            if line is not None:
                self._known[name] = self._in_checker_symbols(ca.SX(line))
        return self._known[name]

    def _in_checker_symbols(self, expression: SX) -> SX | None:
        """An expression of the formulation's symbols in those of the checker."""
        symbols = ca.symvar(expression)
        found = [self._symbol_value(symbol) for symbol in symbols]
        values = [value for value in found if value is not None]
        if len(values) < len(symbols):
            return None
        if not symbols:
            return expression
        return ca.SX(ca.substitute(expression, ca.vertcat(*symbols), ca.vertcat(*values)))

    def _symbol_value(self, symbol: SX) -> SX | None:
        if symbol.element_hash() in self._shared_symbols:
            return self._shared_symbols[symbol.element_hash()]
        return self.line_expression(symbol.name())

    @cached_property
    def _shared_symbols(self) -> dict[int, SX]:
        """The checker's symbols of the motion, forces and parameters, by the formulation's."""
        own, theirs = self.vocabulary, self._equations.symbols
        found: dict[int, SX] = {}
        for key in ("q", "qd", "qdd", "tau", "lambda", "t"):
            if key in theirs and key in own.symbols:
                pairs = zip(ca.vertsplit(theirs[key]), ca.vertsplit(own.symbols[key]), strict=True)
                found |= {one.element_hash(): other for one, other in pairs}
        named = dict(zip(own.parameters, ca.vertsplit(own.symbols["p"]), strict=True))
        parameters = ca.vertsplit(theirs["p"]) if self._equations.parameters else []
        for name, symbol in zip(self._equations.parameters, parameters, strict=True):
            if name in named:
                found[symbol.element_hash()] = named[name]
        return found


def _spring_symbol_value(left: SX, right: SX) -> dict[str, SX]:
    """The length L of a spring from L² = …, or its tension over its length S from L² S = …."""
    for symbol in ca.symvar(ca.SX(left)):
        slope = ca.jacobian(left, symbol)
        if _SPRING_TENSION.fullmatch(symbol.name()) and not ca.depends_on(slope, symbol):
            return {symbol.name(): right / slope}
    (symbol, *others) = ca.symvar(ca.SX(left)) or [ca.SX.sym("none")]
    is_length = _SPRING_LENGTH.fullmatch(symbol.name()) and not others
    return {symbol.name(): ca.sqrt(right)} if is_length else {}
