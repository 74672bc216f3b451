"""Candidates for a misprint: their kinds, their words, and terms with another coefficient."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ..expressions import (
    ONE,
    Expression,
    Negation,
    Number,
    Product,
    Reciprocal,
    decimal_literal_text,
    negate_expression,
)
from .node_paths import NodePath, replace_statement_node

MISPRINT_KINDS = (
    "sign", "factor", "coefficient", "dot", "exponent", "function", "index", "quotient",
    "missing factor", "extra factor", "extra term", "missing angle", "symbol", "missing factors",
    "missing term",
)  # fmt: skip
"""From the likeliest to the least."""


@dataclass(frozen=True)
class MisprintCandidate:
    """A correction of the node at `path` (numbers of children from the root)."""

    kind: str
    what: str
    path: NodePath
    correction: Expression
    is_whole: bool = False

    def apply_correction(self, root: Expression) -> Expression:
        """The side of an equation with the misprint corrected."""
        return replace_statement_node(root, self.path, self.correction)


def stem_of_text_name(name: str) -> str:
    """The name without its numbers."""
    return re.sub(r"[\d_]", "", name)


def name_misprint_kind(name: str, other: str) -> str:
    """The kind of misprint that writes one name for another."""
    longer, shorter = sorted((name, other), key=len, reverse=True)
    if longer in (f"d{shorter}", f"dd{shorter}"):
        return "dot"
    apart = [set(pair) for pair in zip(name, other, strict=False) if pair[0] != pair[1]]
    of_axis = len(name) == len(other) > 1 and len(apart) == 1 and apart[0] <= set("xyz")
    return "index" if of_axis or stem_of_text_name(other) == stem_of_text_name(name) else "symbol"


def repaired_coefficient_text(value: Fraction) -> str:
    """The number as text: 1/12 and 1/4 as fractions, 9.81 and 0.1 as decimals."""
    decimal = decimal_literal_text(value)
    is_plain = value.denominator == 1 or value.denominator % 10 == 0 or value.denominator > 16
    return decimal if decimal is not None and is_plain else str(value)


def unsigned_statement_term(term: Expression) -> Expression:
    """The term without its sign."""
    if isinstance(term, Negation):
        return term.operand
    return Number(abs(term.value)) if isinstance(term, Number) else term


def coefficient_candidate(term: Expression, ratio: Fraction, text: str) -> MisprintCandidate:
    """The candidate that multiplies a term by a ratio, with a description such as "is halved"."""
    old, bare = _split_statement_coefficient(unsigned_statement_term(term))
    now = old * ratio
    new = bare if now == 1 else multiply_repaired_term(bare, Number(now))
    new = negate_expression(new) if isinstance(term, Negation) else new
    words = {Fraction(2): "doubled", Fraction(1, 2): "halved"}
    if ratio in words and 1 in (old, now):
        return MisprintCandidate("factor", f"the term {text} is {words[ratio]}", (), new)
    if old == 1:
        what = f"the factor {repaired_coefficient_text(ratio)} is added to the term {text}"
    else:
        before, after = repaired_coefficient_text(old), repaired_coefficient_text(now)
        what = f"the coefficient {before} of the term {text} is {after}"
    return MisprintCandidate("coefficient", what, (), new)


def _split_statement_coefficient(term: Expression) -> tuple[Fraction, Expression]:
    """The number in a term, and the rest."""
    number, rest = Fraction(1), []
    for factor in term.factors if isinstance(term, Product) else (term,):
        match factor:
            case Number(value):
                number *= value
            case Reciprocal(Number(value)) if value:
                number /= value
            case _:
                rest.append(factor)
    return number, Product(tuple(rest)) if len(rest) > 1 else rest[0] if rest else ONE


def multiply_repaired_term(term: Expression, factor: Expression) -> Expression:
    """The product, with the sign outside and numbers first."""
    if isinstance(term, Negation):
        return negate_expression(multiply_repaired_term(term.operand, factor))
    if term == ONE:
        return factor
    factors = term.factors if isinstance(term, Product) else (term,)
    if not isinstance(factor, Number):
        added = factor.factors if isinstance(factor, Product) else (factor,)
        return Product((*factors, *added))
    if isinstance(factors[0], Number):
        number = Number(factors[0].value * factor.value)
        rest = factors[1:]
        kept = rest if number == ONE and rest else (number, *rest)
        return kept[0] if len(kept) == 1 else Product(kept)
    return Product((factor, *factors))
