"""left − right in closed form: in the ring of our own forms, and printed by the same rules."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import casadi as ca

from ..algebra.exact.polynomial_budget import ExactPolynomialBudget
from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..expressions import (
    PI,
    ExactNumber,
    Expression,
    Name,
    Number,
    PiMultiple,
    Sum,
    expression_text,
)
from ..expressions.tree import child_expressions
from ..forms import ClosedForm, FormSource, make_closed_form
from ..ports import Port
from ..types import SX
from .motion_sampler import CheckAssumptions
from .symbol_meanings import SymbolMeanings
from .vocabulary import CheckerVocabulary

MAX_DIFFERENCE_TERMS, MAX_DIFFERENCE_SECONDS = 2000, 0.5
MAX_EXPANDED_NODES = 20_000
MAX_SHOWN_TERMS = 8
MAX_COLLECTED_CHARACTERS = 240
"""Characters of a difference that is collected as a book would; a longer one is a sum, and cut."""


class EquationDifference:
    """The terms that an equation lacks or has too many of."""

    def __init__(self, form: ClosedForm) -> None:
        self.closed_form = form

    def expanded_terms(self) -> list[Expression]:
        """The terms of the difference, expanded; none if it is a quotient."""
        written = self.closed_form.collect_terms("none", groups=False)
        (_, expression), *_ = written.rows
        if written.groups or any(one.denominator is not None for one in self.closed_form.values):
            return []
        return list(expression.terms) if isinstance(expression, Sum) else [expression]

    def shortened_text(self) -> str:
        """The difference as text with collected terms; only its first terms if it is long."""
        written = self.closed_form.collect_terms("auto", groups=False)
        (_, expression), *_ = written.rows
        said = [f"{name} = {expression_text(value)}" for name, value in written.groups]
        text = ", ".join([expression_text(expression), *said])
        terms = self.expanded_terms()
        if len(text) <= MAX_COLLECTED_CHARACTERS or len(terms) <= MAX_SHOWN_TERMS:
            return text
        shown = expression_text(Sum(tuple(terms[:MAX_SHOWN_TERMS])))
        return f"{shown} + … ({len(terms) - MAX_SHOWN_TERMS} more terms)"


def statement_difference(
    meanings: SymbolMeanings, pair: tuple[Expression, Expression], setting: CheckAssumptions
) -> EquationDifference | None:
    """The difference; None where it is too long, or constraints or missing actuators decide the
    motion."""
    vocabulary = meanings.vocabulary
    if (
        vocabulary.names.constraints
        or setting.absent_efforts
        or _has_too_many_nodes(meanings, pair)
    ):
        return None
    numbers = StatementNumberSymbols(vocabulary.eqs)
    try:
        left, right = (
            vocabulary.translate_expression(side, meanings.find_meaning, numbers) for side in pair
        )
        residual = _substitute_assumed_values(
            vocabulary, _substitute_efforts_in_statement(vocabulary, left - right), setting, numbers
        )
        made = FormSource("difference", "left - right", ((Port("d", ()), residual),))
        known = _names_by_symbol_hash(vocabulary)
        budget = ExactPolynomialBudget(MAX_DIFFERENCE_TERMS, MAX_DIFFERENCE_SECONDS)
        form = make_closed_form(vocabulary.eqs, made, numbers.exact_values, budget, known)
        return EquationDifference(replace(form, decimals=form.decimals | _decimals_in_pair(pair)))
    except LinkwrightError:
        return None


def _decimals_in_pair(pair: tuple[Expression, Expression]) -> frozenset[Fraction]:
    """The numbers of an equation with finitely many decimals and a 5 in the denominator, which
    people write as decimals."""
    pending, found = list(pair), set[Fraction]()
    while pending:
        node = pending.pop()
        if isinstance(node, Number) and node.value.denominator % 5 == 0:
            found.add(node.value)
        pending += child_expressions(node)
    return frozenset(found)


def _has_too_many_nodes(meanings: SymbolMeanings, pair: tuple[Expression, Expression]) -> bool:
    """Whether an equation has more nodes than can be expanded, its definitions written out."""
    sizes: dict[str, int] = {}

    def size(node: Expression) -> int:
        if not isinstance(node, Name):
            return 1 + sum(map(size, child_expressions(node)))
        if node.name not in sizes:
            sizes[node.name] = MAX_EXPANDED_NODES  # of one that is defined by itself
            inner = meanings.find_meaning(node.name)
            sizes[node.name] = size(inner) if isinstance(inner, Expression) else 1
        return sizes[node.name]

    return sum(map(size, pair)) >= MAX_EXPANDED_NODES


class StatementNumberSymbols:
    """Numbers become symbols with a value, so that none passes through floating point."""

    def __init__(self, eqs: Equations) -> None:
        self.exact_values: dict[str, Fraction] = {}
        self.symbols: dict[str, SX] = {}
        if PI in eqs.parameters:
            self.symbols[PI] = eqs.symbols["p"][list(eqs.parameters).index(PI)]

    def __call__(self, value: ExactNumber) -> SX:
        if isinstance(value, PiMultiple):
            return self(value.coefficient) * self.symbol_for_number(PI)
        name = f"number {value}"
        self.exact_values[name] = Fraction(value)
        return self.symbol_for_number(name)

    def symbol_for_number(self, name: str) -> SX:
        """The CasADi symbol that stands for an inexact number."""
        return self.symbols.setdefault(name, ca.SX.sym(name))


def _substitute_efforts_in_statement(vocabulary: CheckerVocabulary, residual: SX) -> SX:
    """The residual with actuator efforts replaced by those that the motion requires."""
    symbols, eqs = vocabulary.symbols, vocabulary.eqs
    if not (ca.depends_on(residual, symbols["u"]) or ca.depends_on(residual, symbols["tau"])):
        return residual
    (tau,) = eqs.expressions("inverse_dynamics")
    u = tau
    if vocabulary.names.actuators:
        if len(vocabulary.names.actuators) != vocabulary.names.nv:
            raise UnsupportedError("actuators do not determine all accelerations")
        u = ca.solve(eqs.expressions("input_matrix")[0], tau)
    return ca.substitute(residual, ca.vertcat(symbols["u"], symbols["tau"]), ca.vertcat(u, tau))


def _substitute_assumed_values(
    vocabulary: CheckerVocabulary,
    residual: SX,
    setting: CheckAssumptions,
    numbers: StatementNumberSymbols,
) -> SX:
    """Replace parameters by their assumed values, where they have some."""
    symbols = dict(zip(vocabulary.parameters, ca.vertsplit(vocabulary.symbols["p"]), strict=True))
    for name, value in setting.parameter_values.items():
        if isinstance(value, Fraction | float):
            numbers.exact_values[name] = Fraction(value)
            continue
        made = numbers(value) if isinstance(value, PiMultiple) else None
        if made is None:
            made = vocabulary.translate_expression(value, _keep_mechanism_symbol_name, numbers)  # type: ignore[arg-type]
        residual = ca.substitute(residual, symbols[name], made)
    return residual


def _keep_mechanism_symbol_name(name: str) -> str:
    return name


def _names_by_symbol_hash(vocabulary: CheckerVocabulary) -> dict[int, str]:
    """The mechanism's names of CasADi's symbols, by what identifies them."""
    own, given = vocabulary.names, vocabulary.atomic_symbols
    motion = [f"{dots}{name}" for dots in ("d", "dd") for name in own.qd]
    proper = [*vocabulary.parameters, *own.q, *motion, *own.actuators]
    found: dict[int, str] = {}
    for name in dict.fromkeys([*(x for x in proper if x in given), *given]):
        symbol = given[name]
        if ca.SX(symbol).is_symbolic() and symbol.name() not in vocabulary.hidden_parameters:
            found.setdefault(symbol.element_hash(), name)
    return found
