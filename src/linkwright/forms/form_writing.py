"""Closed forms as text, JSON, LaTeX, MathML and SymPy, with names for repeated groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.exact.quotients import Quotient
from ..expressions import (
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    negate_expression,
)
from ..expressions.typeset import ExpressionTypesetter, LatexNotation, MathmlNotation
from ..ports import Port
from .constant_groups import ConstantGroups
from .fraction_writing import FractionWriter
from .linear_systems import StatedSystem
from .spring_terms import SpringFormWriter
from .sympy_output import SympyForm, form_expression_to_sympy
from .term_collection import FormTermCollector
from .term_order import FormTermOrder
from .trig_terms import FormTermReader, TermSum

if TYPE_CHECKING:
    import sympy

    from .closed_forms import ClosedForm

MIN_SIZE_FOR_GROUPS = 500
"""The fewest characters of a form in which repeated constants get names."""
MAX_ZEROS_LISTED = 6
"""The most zero entries that are listed one by one."""
_MIN_GROUPED_SAVING = 0.15
"""Constants get names where that saves this share of a form's characters."""
_MAX_MATRIX_CHARACTERS = 90
"""The most characters of a matrix row; wider matrices are typeset entry by entry."""


@dataclass(frozen=True)
class WrittenForm:
    """Named groups with their values, then entries; entries that are equal share a value. `stated`
    are linear systems for unknowns in the entries."""

    groups: tuple[tuple[str, Expression], ...]
    rows: tuple[tuple[tuple[str, ...], Expression], ...]
    stated: tuple[StatedSystem, ...] = ()

    def entries_by_name(self) -> dict[str, Expression]:
        """The value of each entry by its label."""
        return {name: value for names, value in self.rows for name in names}

    def with_fractions(self, decimals: Iterable[Fraction]) -> WrittenForm:
        """The form with fractions in place of decimals that the user did not write."""
        write = FractionWriter.from_decimals(decimals).write_fractions
        groups = tuple((name, write(value)) for name, value in self.groups)
        rows = tuple((names, write(value)) for names, value in self.rows)
        return WrittenForm(groups, rows, self.stated)


def write_closed_form(form: ClosedForm, by: str, groups: bool | None) -> WrittenForm:
    """Collect the terms of every entry and name repeated constants and denominators."""
    reader = FormTermReader(
        form.reading.ring,
        form.symbol_order,
        form.written_angles,
        constants=form.roles.all_constants,
    )
    collector = FormTermCollector(reader, FormTermOrder(reader, form.roles))
    below: dict[str, tuple[str, Expression]] = {}
    taken = reader.taken_names
    taken |= form.reserved_names

    sums = [reader.polynomial_terms(value.numerator) for value in form.values]
    in_springs = (value for one in form.springs for value in one.printed_values)
    collector.choose_ways([*sums, *(reader.polynomial_terms(v.numerator) for v in in_springs)], by)

    def collect_form_entry(value: Quotient, terms: TermSum | None = None) -> Expression:
        top = collector.collect_terms(terms or reader.polynomial_terms(value.numerator))
        return _form_entry_over_denominator(collector, top, value, below, taken)

    springs = SpringFormWriter(
        form.springs, collect_form_entry, lambda: _unused_form_group_name("L", taken, numbered=True)
    )
    rows: dict[Expression, list[str]] = {}
    for k, (label, value, terms) in enumerate(zip(form.labels, form.values, sums, strict=True)):
        expression = springs.force_entry(collect_form_entry(value, terms), k)
        rows.setdefault(expression, []).append(label)
    zeros = rows.pop(ZERO, None)
    made = tuple((tuple(names), value) for value, names in rows.items())
    made += ((tuple(zeros), ZERO),) if zeros else ()
    functions = [
        (name, _collected_root(collector, name, value))
        for name, (value, _) in reader.definitions.items()
    ]
    denominators = [(name, value) for name, value in below.values() if value != Name(name)]
    written = WrittenForm((*functions, *denominators, *springs.groups), made, form.stated)
    if groups is False:
        return written.with_fractions(form.decimals)
    named = _name_constant_form_groups(written, form.roles.all_constants, taken, bool(groups))
    return named.with_fractions(form.decimals)


def _collected_root(collector: FormTermCollector, name: str, value: Expression) -> Expression:
    """The definition of a named function; what a root is taken of is collected like an entry."""
    inside = collector.reader.roots.get(name)
    if inside is None or inside.denominator is not None:
        return value
    terms = collector.reader.polynomial_terms(inside.numerator)
    return Call("sqrt", (collector.collect_terms(terms),))


def form_entry_label(name: str, index: tuple[int, ...]) -> str:
    """The label of an entry, such as M[1,2], counted from 1 as in books."""
    return f"{name}[{','.join(str(i + 1) for i in index)}]" if index else name


def _form_entry_over_denominator(
    collector: FormTermCollector,
    top: Expression,
    value: Quotient,
    below: dict[str, tuple[str, Expression]],
    taken: set[str],
) -> Expression:
    """A numerator over the value's denominator, which gets a name."""
    if value.denominator is None:
        return top
    key = str(value.denominator)
    if key not in below:
        bottom = collector.collect_terms(collector.reader.polynomial_terms(value.denominator))
        name = bottom.name if isinstance(bottom, Name) else _unused_form_group_name("D", taken)
        below[key] = name, bottom
    divisor = Reciprocal(Name(below[key][0]))
    if isinstance(top, Sum) and all(isinstance(term, Negation) for term in top.terms):
        top = Negation(Sum(tuple(negate_expression(term) for term in top.terms)))
    if isinstance(top, Negation):
        return Negation(_divide_form_entry(top.operand, divisor))
    return _divide_form_entry(top, divisor)


def _divide_form_entry(top: Expression, divisor: Reciprocal) -> Expression:
    """The product of a numerator and the reciprocal of a name."""
    factors = top.factors if isinstance(top, Product) else (top,)
    return Product((*factors, divisor))


def _unused_form_group_name(stem: str, taken: set[str], numbered: bool = False) -> str:
    """A name with the given stem that is not taken; it is taken from now on."""
    name, k = (f"{stem}1" if numbered else stem), 1
    while name in taken:
        k += 1
        name = f"{stem}{k}"
    taken.add(name)
    return name


def _name_constant_form_groups(
    written: WrittenForm, constants: frozenset[str], taken: set[str], always: bool
) -> WrittenForm:
    """The form with names a1, a2, … for repeated sums and products of constants, always or where
    that shortens it."""
    values = [value for _, value in (*written.groups, *written.rows)]
    size = sum(len(expression_text(value)) for value in values)
    if not always and size < MIN_SIZE_FOR_GROUPS:
        return written
    stem = next(s for s in ("a", "b", "k", "n", "a_") if f"{s}1" not in taken)
    found = ConstantGroups(values, constants)
    found.choose_groups(lambda: _unused_form_group_name(stem, taken, numbered=True))
    if not always and found.saved_characters < _MIN_GROUPED_SAVING * size:
        return written
    definitions = [(name.name, part) for part, name in found.chosen.items()]
    groups = [(name, found.replace_groups(value)) for name, value in written.groups]
    rows = tuple((names, found.replace_groups(value)) for names, value in written.rows)
    return WrittenForm((*definitions, *groups), rows, written.stated)


# -- formats ----------------------------------------------------------------------------------


def write_form_lines(written: WrittenForm) -> list[str]:
    """The groups and entries as lines of text."""
    groups = [f"{name} = {expression_text(value)}" for name, value in written.groups]
    systems = [line for system in written.stated for line in system.text()]
    return systems + groups + write_entry_lines(written.rows)


def write_entry_lines(rows: Sequence[tuple[tuple[str, ...], Expression]]) -> list[str]:
    """The entries as lines of text; many zero entries share one line."""
    lines = []
    for labels, value in rows:
        many = value == ZERO and len(labels) > MAX_ZEROS_LISTED and len(rows) > 1
        left = "all others" if many else " = ".join(labels)
        lines.append(f"{left} = {expression_text(value)}")
    return lines


def form_to_json(written: WrittenForm) -> dict[str, object]:
    """The groups and entries as plain data, expressions as text; also the systems that are only
    stated, if there are any."""
    systems = [line for system in written.stated for line in system.text()]
    return ({"systems": systems} if systems else {}) | {
        "groups": {name: expression_text(value) for name, value in written.groups},
        "entries": {
            name: expression_text(value) for name, value in written.entries_by_name().items()
        },
    }


def form_to_latex(
    written: WrittenForm, ports: Sequence[Port], dotted: Mapping[str, tuple[str, int]]
) -> str:
    """LaTeX: matrices if their rows are short, otherwise entry by entry."""
    setter = ExpressionTypesetter(LatexNotation(), dotted)
    entries = written.entries_by_name()
    lines = [line for system in written.stated for line in system.latex(dotted)]
    lines += [f"{setter.name(name)} &= {setter.typeset(value)}" for name, value in written.groups]
    narrow = all(_is_narrow_form_matrix(port, entries) for port in ports)
    if narrow:
        lines += [
            f"{setter.name(p.name)} &= {_form_latex_matrix(setter, p, entries)}" for p in ports
        ]
    else:
        for labels, value in written.rows:
            left = " = ".join(setter.entry(label) for label in labels)
            lines.append(f"{left} &= {setter.typeset(value)}")
    body = " \\\\\n  ".join(lines)
    return f"\\begin{{aligned}}\n  {body}\n\\end{{aligned}}"


def _is_narrow_form_matrix(port: Port, entries: Mapping[str, Expression]) -> bool:
    """Whether the rows of a matrix are short enough for one line."""
    if len(port.shape) > 2:
        return False
    columns = port.shape[1] if len(port.shape) == 2 else 1
    texts = [
        len(expression_text(entries[form_entry_label(port.name, i)]))
        for i in np.ndindex(*port.shape)
    ]
    rows = [sum(texts[k : k + columns]) for k in range(0, len(texts), columns)]
    return max(rows, default=0) <= _MAX_MATRIX_CHARACTERS


def _form_latex_matrix(
    setter: ExpressionTypesetter, port: Port, entries: Mapping[str, Expression]
) -> str:
    """An output as a `bmatrix`, or as an expression if it is a scalar."""
    set_ = [
        setter.typeset(entries[form_entry_label(port.name, i)]) for i in np.ndindex(*port.shape)
    ]
    if not port.shape:
        return set_[0]
    columns = port.shape[1] if len(port.shape) == 2 else 1
    rows = [" & ".join(set_[k : k + columns]) for k in range(0, len(set_), columns)]
    return "\\begin{bmatrix} " + " \\\\ ".join(rows) + " \\end{bmatrix}"


def form_to_html(written: WrittenForm, dotted: Mapping[str, tuple[str, int]]) -> str:
    """A MathML table with one row for each group and entry."""
    setter = ExpressionTypesetter(MathmlNotation(), dotted)

    def form_mathml_row(left: str, value: Expression) -> str:
        right = setter.typeset(value)
        return f"<mtr><mtd>{left}</mtd><mtd><mo>=</mo></mtd><mtd>{right}</mtd></mtr>"

    rows = [row for system in written.stated for row in system.mathml_rows(dotted)]
    rows += [form_mathml_row(setter.name(name), value) for name, value in written.groups]
    for labels, value in written.rows:
        left = "<mo>=</mo>".join(setter.entry(label) for label in labels)
        rows.append(form_mathml_row(f"<mrow>{left}</mrow>", value))
    return f'<math display="block"><mtable displaystyle="true">{"".join(rows)}</mtable></math>'


def form_to_sympy(written: WrittenForm, ports: Sequence[Port]) -> SympyForm:
    """SymPy's objects for all outputs, groups substituted; a dictionary if there are several."""
    known: dict[sympy.Expr, sympy.Expr] = {}
    for name, value in written.groups:
        known[form_expression_to_sympy(Name(name))] = form_expression_to_sympy(value).subs(known)
    entries = {
        name: form_expression_to_sympy(value).subs(known)
        for name, value in written.entries_by_name().items()
    }
    found = {port.name: _arrange_sympy_form(port, entries) for port in ports}
    return found if len(found) > 1 else next(iter(found.values()))


def _arrange_sympy_form(port: Port, entries: Mapping[str, sympy.Expr]) -> sympy.Basic:
    """The entries of an output as a SymPy expression, matrix or array."""
    import sympy

    flat = [entries[form_entry_label(port.name, index)] for index in np.ndindex(*port.shape)]
    if not port.shape:
        return flat[0]
    if len(port.shape) > 2:
        return sympy.ImmutableDenseNDimArray(flat, port.shape)
    columns = port.shape[1] if len(port.shape) == 2 else 1
    return sympy.ImmutableMatrix(port.shape[0], columns, flat)
