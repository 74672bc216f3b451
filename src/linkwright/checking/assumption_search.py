"""Assumptions about what a text does not name: values of parameters, zero actuator efforts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca

from ..expressions import Expression, Number, names_in_expression
from ..expressions.tree import child_expressions
from .motion_sampler import CheckAssumptions
from .statement_reader import Statement
from .symbol_meanings import SymbolMeanings
from .vocabulary import CheckerVocabulary

MAX_SIMPLE_NUMBER = 12
"""Numbers up to this, and fractions of them, have no multiples that stand for them."""
MAX_VALUE_MULTIPLE = 8
"""A number that is this many times a parameter's value, or that part of it, stands for it."""


@dataclass
class AssumptionFinder:
    """The settings under which the equations of a section are tried; `used_names` are those of our
    names that occur in its text; nothing is assumed about these."""

    meanings: SymbolMeanings
    statements: Sequence[Statement]
    used_names: Sequence[str]

    @property
    def vocabulary(self) -> CheckerVocabulary:
        """The vocabulary of the mechanism that the text is about."""
        return self.meanings.vocabulary

    def assumption_choices(self) -> list[CheckAssumptions]:
        """The possible assumptions, fewest first: values of numbers without a name; then what
        parameters are made of, and no drives but those that the text names."""
        declared = self.vocabulary.mechanism.parameters
        silent = self._unnamed_efforts()
        base = self._assumed_values()
        made = {
            name: expression
            for name, expression in declared.items()
            if names_in_expression(expression)
            and name in self.vocabulary.parameters
            and name not in self.used_names
        }
        unnamed = {
            name: x for name, x in self._unnamed_parameter_values().items() if name not in declared
        }
        bounds = (base, {**base, **made}, {**base, **unnamed}, self._values_of_unnamed_text())
        found = [CheckAssumptions(bound, who) for who in (frozenset(), silent) for bound in bounds]
        own = {"gamma"} - declared.keys() - set(self.used_names)
        has_damping = any(re.fullmatch(r"e\d+", name) for name in self.used_names)  # e = f + γ ḟ
        if own & set(self.vocabulary.parameters) and not has_damping:
            found.insert(1, CheckAssumptions({**base, "gamma": Fraction(0)}))
        return list({str(setting): setting for setting in found}.values())

    def _assumed_values(self) -> dict[str, Any]:
        """Values of parameters that the text does not name, if it has numbers that are not mere
        factors: of all parameters if it names none, else of those without a name and of those
        whose value the text has."""
        declared = self.vocabulary.mechanism.parameters
        if not self._numbers_in_text:
            return {}
        if values := self._values_of_unnamed_text():
            return values
        return {
            name: value
            for name, value in self._unnamed_parameter_values().items()
            if name not in declared or self._is_value_in_text(value)
        }

    @cached_property
    def _numbers_in_text(self) -> set[Fraction]:
        """Numbers of the text that are not mere factors."""
        sides = [side for line in self.statements for side in (line.left, line.right)]
        every = {number for side in sides for number in numbers_in_statement_side(side)}
        return {number for number in every if number.denominator > 2 or number > 12}

    def _is_value_in_text(self, value: object) -> bool:
        """Whether the text has a value, or a simple multiple of it: 4.905*2 for 9.81."""
        if not isinstance(value, Fraction) or not value:
            return False
        if (
            value in self._numbers_in_text
            or max(value.numerator, value.denominator) <= MAX_SIMPLE_NUMBER
        ):
            return value in self._numbers_in_text
        shares = [abs(number / value) for number in self._numbers_in_text]
        return any(
            max(share.numerator, share.denominator) <= MAX_VALUE_MULTIPLE for share in shares
        )

    def _values_of_unnamed_text(self) -> dict[str, Any]:
        """The values of all parameters, where the text names none, but has numbers."""
        named = any(name in self.used_names for name in self.vocabulary.eqs.parameters)
        return self._unnamed_parameter_values() if self._numbers_in_text and not named else {}

    def _unnamed_parameter_values(self) -> dict[str, Any]:
        """Values of parameters that the text does not name."""
        return {
            name: value
            for name, value in self.vocabulary.eqs.parameters.items()
            if name not in self.used_names and name not in self.vocabulary.hidden_parameters
        }

    def _unnamed_efforts(self) -> frozenset[str]:
        own = self.vocabulary.names
        drives = own.actuators or tuple(f"tau{i + 1}" for i in range(own.nv))
        return frozenset(drives) - efforts_behind_text_names(self.meanings, self.used_names)


def relevant_assumptions(
    meanings: SymbolMeanings, pair: tuple[Expression, Expression], setting: CheckAssumptions
) -> CheckAssumptions:
    """The setting without values of parameters that an equation does not depend on. Where
    constraints or missing drives decide the motion, it depends on all; in approximate equations
    all of the motion is free."""
    own = meanings.vocabulary
    drives, is_free = len(own.names.actuators) or own.names.nv, "x" in own.inputs
    is_decided = bool(own.names.constraints or setting.absent_efforts or drives < own.names.nv)
    if is_decided and not is_free:
        return setting
    found = ca.vertcat(
        *(ca.SX(own.require_expression(name)) for name in meanings.needed_names(pair))
    )
    if not is_free and any(ca.depends_on(found, own.symbols[key]) for key in ("tau", "u")):
        found = ca.vertcat(found, *own.eqs.expressions("inverse_dynamics"))
    symbols = dict(zip(own.parameters, ca.vertsplit(own.symbols["p"]), strict=True))
    kept = {name for name in setting.parameter_values if ca.depends_on(found, symbols[name])}
    while more := {
        name
        for word in kept
        if isinstance(value := setting.parameter_values[word], Expression)
        for name in names_in_expression(value) & setting.parameter_values.keys() - kept
    }:
        kept |= more
    bound = {name: value for name, value in setting.parameter_values.items() if name in kept}
    return CheckAssumptions(bound, setting.absent_efforts)


def numbers_in_statement_side(expression: Expression) -> list[Fraction]:
    """The absolute values of all numbers in one side of an equation."""
    if isinstance(expression, Number):
        return [abs(expression.value)]
    return [
        number
        for child in child_expressions(expression)
        for number in numbers_in_statement_side(child)
    ]


def efforts_behind_text_names(meanings: SymbolMeanings, wanted: Sequence[str]) -> frozenset[str]:
    """The drives that the wanted names depend on, by actuator or tau1, tau2, …"""
    vocabulary = meanings.vocabulary
    own = vocabulary.names
    named = own.actuators or tuple(f"tau{i + 1}" for i in range(own.nv))
    columns = ("u", "tau") if not own.actuators else ("u",)
    if own.actuators and any(
        ca.depends_on(vocabulary.require_expression(name), vocabulary.symbols["tau"])
        for name in wanted
    ):
        return frozenset(named)
    return frozenset(
        drive
        for i, drive in enumerate(named)
        if any(
            ca.depends_on(vocabulary.require_expression(name), vocabulary.symbols[key][i])
            for name in wanted
            for key in columns
        )
    )
