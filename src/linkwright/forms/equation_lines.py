"""Lines of a set of equations: the expressions that are typeset for them, and tables of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape

from ..expressions import (
    ZERO,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    negate_expression,
)
from ..expressions.calculus import product_expression, sum_expression
from ..expressions.tree import Ratio, rebuild_expression
from ..expressions.typeset import (
    ExpressionTypesetter,
    LatexNotation,
    MathmlNotation,
    subtracted_term_expression,
)
from ..ports import Port
from ..types import SX
from ..written_equations import DUAL_UNIT, EquationLine, EquationTable, WrittenDualVector
from .form_writing import WrittenForm

MAX_TABLE_CHARACTERS = 170
"""The widest table in text; wider ones are printed line by line."""

MAX_INLINE_DENOMINATOR = 24
"""Denominators up to this number of characters are written in place, longer ones get a name."""


def line_outputs(k: int, line: EquationLine) -> list[tuple[Port, SX]]:
    """The expressions in the k-th line, as outputs of a form."""
    made: list[tuple[Port, SX]] = []
    if isinstance(line.right, WrittenDualVector):
        for part, three in (("real", line.right.real), ("dual", line.right.dual)):
            made += [(Port(f"{part}{k}_{i}", ()), three[i]) for i in range(three.numel())]
    else:
        made.append((Port(f"right{k}", ()), line.right))
    if not isinstance(line.left, str):
        made.append((Port(f"left{k}", ()), line.left))
    return made


def line_right_expression(
    k: int, line: EquationLine, entries: Mapping[str, Expression]
) -> Expression:
    """The right side of the k-th line, from the entries of its outputs."""
    if not isinstance(line.right, WrittenDualVector):
        return entries[f"right{k}"]
    terms: list[Expression] = []
    for i, unit in enumerate(line.right.axes):
        dual = _product_with_sign([Name(DUAL_UNIT)], entries[f"dual{k}_{i}"])
        parts = _sum_terms(entries[f"real{k}_{i}"]) + _sum_terms(dual)
        if unit and parts:
            parts = [_product_with_sign([], sum_expression(parts), [Name(unit)])]
        terms += parts
    return sum_expression(terms)


def _sum_terms(expression: Expression) -> list[Expression]:
    """The terms of a sum; none of zero."""
    if isinstance(expression, Sum):
        return list(expression.terms)
    return [] if expression == ZERO else [expression]


def _product_with_sign(
    before: list[Expression], factor: Expression, behind: Sequence[Expression] = ()
) -> Expression:
    """The product of a factor and names before and after it, its sign in front."""
    if factor == ZERO:
        return ZERO
    terms = factor.terms if isinstance(factor, Sum) else (factor,)
    positives = [x for x in map(subtracted_term_expression, terms) if x is not None]
    if len(positives) == len(terms):
        positive = sum_expression(positives)
        return Negation(_product_with_sign(before, positive, behind))
    own = list(factor.factors if isinstance(factor, Product) else (factor,))
    number = [own.pop(0)] if before and isinstance(own[0], Number | Ratio) else []
    return product_expression([*number, *before, *own, *behind])


def write_short_denominators(written: WrittenForm) -> WrittenForm:
    """The form with short denominators in place of their names."""
    short = {
        name: value
        for name, value in written.groups
        if name.startswith("D") and len(expression_text(value)) <= MAX_INLINE_DENOMINATOR
    }

    def replace_denominators(expression: Expression) -> Expression:
        match expression:
            case Product((Sum(terms) as top, Reciprocal(Name(name) as plain))):
                below = short.get(name, plain)
                return _divide_term_by_term(terms, below) or Product((top, Reciprocal(below)))
            case Reciprocal(Name(name)) if name in short:
                return Reciprocal(short[name])
            case Product((Number(value), *rest)) if value == -1:
                return _negate_terms(replace_denominators(product_expression(rest)))
            case Negation(operand):
                return _negate_terms(replace_denominators(operand))
        return rebuild_expression(expression, replace_denominators)

    groups = tuple((n, replace_denominators(v)) for n, v in written.groups if n not in short)
    rows = tuple((names, replace_denominators(value)) for names, value in written.rows)
    return WrittenForm(groups, rows, written.stated)


def _negate_terms(expression: Expression) -> Expression:
    """The negative of an expression; of a sum, with the sign in front of each term."""
    if isinstance(expression, Sum):
        return Sum(tuple(negate_expression(term) for term in expression.terms))
    return negate_expression(expression)


def _divide_term_by_term(
    terms: tuple[Expression, ...], denominator: Expression
) -> Expression | None:
    """The quotient of a sum as the sum of its terms' quotients; None where nothing cancels, or the
    result is longer."""
    found: list[Expression] = []
    has_cancelled = False
    for term in terms:
        positive = subtracted_term_expression(term)
        above, below = _single_factors(positive or term), []
        for factor in _single_factors(denominator):
            if factor in above:
                above.remove(factor)
                has_cancelled = True
            else:
                below.append(factor)
        divisor = [Reciprocal(_product_of_powers(below))] if below else []
        quotient = product_expression([*_single_factors(_product_of_powers(above), 0), *divisor])
        found.append(quotient if positive is None else Negation(quotient))
    divided, whole = sum_expression(found), Product((Sum(terms), Reciprocal(denominator)))
    is_short = len(expression_text(divided)) <= len(expression_text(whole))
    return divided if has_cancelled and is_short else None


def _single_factors(expression: Expression, largest_power: int = 9) -> list[Expression]:
    """The factors of a product, with powers up to a size as repeated factors."""
    found: list[Expression] = []
    for factor in expression.factors if isinstance(expression, Product) else (expression,):
        match factor:
            case Power(base, Number(n)) if n.denominator == 1 and 0 < n <= largest_power:
                found += [base] * int(n)
            case _:
                found.append(factor)
    return found


def _product_of_powers(factors: list[Expression]) -> Expression:
    """The product of factors, repeated ones as powers, in their order."""
    counts = Counter(factors)
    powers = [x if n == 1 else Power(x, Number(Fraction(n))) for x, n in counts.items()]
    return product_expression(powers)


# -- tables -----------------------------------------------------------------------------------


def table_text(table: EquationTable, cells: Sequence[Expression]) -> str | None:
    """The table as aligned text, with rows as columns where that is narrower; None if it is too
    wide."""
    rows = _table_rows(table, [*map(expression_text, cells)])
    grid = [[table.corner, *table.columns], *rows]
    for some in (grid, [list(column) for column in zip(*grid, strict=True)]):
        widths = [max(map(len, column)) for column in zip(*some, strict=True)]
        if sum(widths) + 3 * len(widths) <= MAX_TABLE_CHARACTERS:
            padded = (
                "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                for row in some
            )
            return "\n".join(f"  {line}".rstrip() for line in padded)
    return None


def table_latex(
    table: EquationTable, cells: Sequence[Expression], rates: Mapping[str, tuple[str, int]]
) -> str:
    """The table as an `array` environment."""
    setter = ExpressionTypesetter(LatexNotation(), rates)
    head = [f"\\text{{{table.corner}}}", *map(setter.name, table.columns)]
    body = _table_rows(table, [setter.typeset(cell) for cell in cells], setter)
    rows = " \\\\\n  ".join(" & ".join(row) for row in body)
    columns = f"l|{'l' * len(table.columns)}"
    first = f"{' & '.join(head)} \\\\ \\hline"
    return f"\\[ \\begin{{array}}{{{columns}}}\n  {first}\n  {rows}\n\\end{{array}} \\]"


def table_mathml(
    table: EquationTable, cells: Sequence[Expression], rates: Mapping[str, tuple[str, int]]
) -> str:
    """The table as a <math> element."""
    setter = ExpressionTypesetter(MathmlNotation(), rates)
    head = [f"<mtext>{escape(table.corner)}</mtext>", *map(setter.name, table.columns)]
    body = _table_rows(table, [setter.typeset(cell) for cell in cells], setter)
    rows = "".join(
        f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in [head, *body]
    )
    return f'<math display="block"><mtable rowlines="solid">{rows}</mtable></math>'


def _table_rows(
    table: EquationTable, cells: list[str], setter: ExpressionTypesetter | None = None
) -> list[list[str]]:
    """The rows of cells, each after its name."""
    n = len(table.columns)
    names = [name if setter is None else setter.name(name) for name in table.rows]
    return [[name, *cells[n * i : n * (i + 1)]] for i, name in enumerate(names)]
