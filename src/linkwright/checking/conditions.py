"""What may be assumed of what a text does not name: values of parameters, drives that are zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca

from ..expressions import Expression, Number, names
from ..expressions.tree import children
from .meaning import Meanings
from .points import Setting
from .prover import drives_of
from .reading import Line
from .vocabulary import Vocabulary

MOST_SIMPLE = 12
"""Numbers up to this, and fractions of them, have no multiples that stand for them."""
MOST_MULTIPLE = 8
"""A number that is this many times a parameter's value, or that part of it, stands for it."""


@dataclass
class Conditions:
    """The settings under which the equations of a section are tried; `used` are the names of ours
    that its text has, of which nothing is ever assumed."""

    meanings: Meanings
    lines: Sequence[Line]
    used: Sequence[str]

    @property
    def vocabulary(self) -> Vocabulary:
        return self.meanings.vocabulary

    def settings(self) -> list[Setting]:
        """What may be assumed, from the least: values of numbers without a name; then what
        parameters are made of, and no drives but those that the text names."""
        declared = self.vocabulary.mechanism.parameters
        silent = self._silent()
        base = self._values()
        made = {
            name: expression
            for name, expression in declared.items()
            if names(expression) and name in self.vocabulary.parameters and name not in self.used
        }
        unnamed = {name: x for name, x in self._fractions().items() if name not in declared}
        bounds = (base, {**base, **made}, {**base, **unnamed}, self._all_values())
        found = [Setting(bound, who) for who in (frozenset(), silent) for bound in bounds]
        own = {"gamma"} - declared.keys() - set(self.used)
        if own & set(self.vocabulary.parameters):
            found.insert(1, Setting({**base, "gamma": Fraction(0)}))
        return list({str(setting): setting for setting in found}.values())

    def _values(self) -> dict[str, Any]:
        """Where the text has numbers that are no mere factors: values of parameters that it does
        not name: all if it names none, else those without a name, and those that it has."""
        declared = self.vocabulary.mechanism.parameters
        if not self._written:
            return {}
        if values := self._all_values():
            return values
        return {
            name: value
            for name, value in self._fractions().items()
            if name not in declared or self._is_written(value)
        }

    @cached_property
    def _written(self) -> set[Fraction]:
        """Numbers of the text that are no mere factors."""
        sides = [side for line in self.lines for side in (line.left, line.right)]
        every = {number for side in sides for number in numbers(side)}
        return {number for number in every if number.denominator > 2 or number > 12}

    def _is_written(self, value: object) -> bool:
        """Whether the text has a value, or a simple multiple of it: 4.905*2 for 9.81."""
        if not isinstance(value, Fraction) or not value:
            return False
        if value in self._written or max(value.numerator, value.denominator) <= MOST_SIMPLE:
            return value in self._written
        shares = [abs(number / value) for number in self._written]
        return any(max(share.numerator, share.denominator) <= MOST_MULTIPLE for share in shares)

    def _all_values(self) -> dict[str, Any]:
        """Of all parameters, where the text names none, but has numbers."""
        named = any(name in self.used for name in self.vocabulary.eqs.parameters)
        return self._fractions() if self._written and not named else {}

    def _fractions(self) -> dict[str, Any]:
        """Values of parameters that the text does not name."""
        return {
            name: value
            for name, value in self.vocabulary.eqs.parameters.items()
            if name not in self.used and name not in self.vocabulary.hidden
        }

    def _silent(self) -> frozenset[str]:
        own = self.vocabulary.names
        drives = own.actuators or tuple(f"tau{i + 1}" for i in range(own.nv))
        return frozenset(drives) - drives_of(self.meanings, self.used)


def relevant_setting(
    meanings: Meanings, pair: tuple[Expression, Expression], setting: Setting
) -> Setting:
    """The setting without values of parameters that an equation does not depend on. Where
    constraints or missing drives decide the motion, it depends on all."""
    own = meanings.vocabulary
    drives = len(own.names.actuators) or own.names.nv
    if own.names.constraints or setting.silent or drives < own.names.nv or "x" in own.inputs:
        return setting
    found = ca.vertcat(*(ca.SX(own.known(name)) for name in meanings.wanted(pair)))
    if any(ca.depends_on(found, own.symbols[key]) for key in ("tau", "u")):
        found = ca.vertcat(found, *own.eqs.expressions("inverse_dynamics"))
    symbols = dict(zip(own.parameters, ca.vertsplit(own.symbols["p"]), strict=True))
    kept = {name for name in setting.bound if ca.depends_on(found, symbols[name])}
    while more := {
        name
        for word in kept
        if isinstance(value := setting.bound[word], Expression)
        for name in names(value) & setting.bound.keys() - kept
    }:
        kept |= more
    bound = {name: value for name, value in setting.bound.items() if name in kept}
    return Setting(bound, setting.silent)


def numbers(expression: Expression) -> list[Fraction]:
    if isinstance(expression, Number):
        return [abs(expression.value)]
    return [number for child in children(expression) for number in numbers(child)]
