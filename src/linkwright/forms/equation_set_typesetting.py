"""Sets of equations as typeset sections: text, LaTeX, MathML and plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape

from ..algebra.exact.polynomial_budget import BudgetError, ExactPolynomialBudget
from ..equations import Equations
from ..errors import UnsupportedError
from ..expressions import Expression, expression_text
from ..expressions.tree import Sum
from ..expressions.typeset import ExpressionTypesetter, LatexNotation, MathmlNotation
from ..readings.listing import read_tape_as_listing
from ..written_equations import (
    EquationLine,
    EquationSection,
    EquationSet,
    general_equation_set,
)
from .closed_forms import equations_for_closed_form, make_closed_form
from .equation_lines import (
    line_outputs,
    line_right_expression,
    table_latex,
    table_mathml,
    table_text,
    write_short_denominators,
)
from .equation_page import (
    MAX_FORM_SECONDS,
    MAX_INTERMEDIATE_TERMS,
    MAX_PRINTED_TERMS,
    PAGE_CHARACTERS,
)
from .equation_symbols import (
    grouped_symbols,
    with_actuator_efforts,
    with_clashing_names,
    with_standard_symbols,
)
from .form_sources import FormSource, record_form_source_tape
from .fraction_writing import FractionWriter
from .kinematic_equations import with_kinematic_equations
from .latex_prose import latex_formula, latex_prose
from .quantity_typesetting import (
    TypesetQuantity,
    split_form_lines,
    typeset_long_left_side,
    typeset_mathml_rows,
    typeset_quantity,
    typeset_rate_symbols,
    typesettable_functions,
)

_DERIVATIVE_LABEL = re.compile(r"(?P<rate>d/dt )?∂(?P<of>\w+)/∂(?P<by>[\w.]+)")
"""The label of a partial derivative, ∂L/∂dq1, or of its rate, d/dt ∂L/∂dq1."""

_LISTING_NOTE = (
    "Written out, these equations are longer than a page: {first} to {last} are parts of them, in "
    "the order of computation."
)


@dataclass(frozen=True)
class TypesetLine:
    """An equation with expressions in place of CasADi's; `left` is a name or an expression."""

    left: str | Expression
    right: Expression
    number: str = ""

    def text(self) -> str:
        """The equation as text, with its number behind it."""
        left = self.left if isinstance(self.left, str) else expression_text(self.left)
        number = f"    ({self.number})" if self.number else ""
        return f"{left} = {expression_text(self.right)}{number}"

    def typeset_left(self, setter: ExpressionTypesetter) -> str:
        """The left side in the setter's notation."""
        if not isinstance(self.left, str):
            return setter.typeset(self.left)
        if found := _DERIVATIVE_LABEL.fullmatch(self.left):
            return setter.derivative(found["of"], found["by"], is_rate=bool(found["rate"]))
        return setter.entry(self.left) if "[" in self.left else setter.name(self.left)


@dataclass(frozen=True)
class TypesetSection:
    """A section with its lines typeset: `steps` are named parts that the lines share."""

    source: EquationSection
    steps: tuple[TypesetLine, ...]
    lines: tuple[TypesetLine, ...]
    quantities: tuple[TypesetQuantity, ...]
    rates: Mapping[str, tuple[str, int]]
    is_listed: bool = False

    @property
    def note(self) -> str:
        """The sentences for the reader; also why there are steps, where there are."""
        first = self.steps[0].left if self.is_listed and self.steps else ""
        why = _LISTING_NOTE.format(first=first, last=self.steps[-1].left) if first else ""
        return " ".join(part for part in (self.source.note, why) if part)

    def heading(self) -> str:
        """The title, the law and the paper's numbers on one line."""
        title = ": ".join(part for part in (self.source.title, self.source.law) if part)
        return f"{title}  {self.source.reference}".rstrip()

    @property
    def cells(self) -> list[Expression]:
        """The right sides of all lines, as the section's table has them."""
        return [line.right for line in self.lines]

    def text(self) -> str:
        """The section as text."""
        parts = [self.heading()] if self.heading() else []
        parts += [f"  {self.note}"] if self.note else []
        parts += [f"    {step.text()}" for step in self.steps]
        table = self.source.table and table_text(self.source.table, self.cells)
        parts += [table] if table else [f"  {line.text()}" for line in self.lines]
        parts += [one.text() for one in self.quantities]
        return "\n".join(parts)

    def latex(self) -> str:
        """The section as a paragraph, its law and an `align*` environment."""
        setter = ExpressionTypesetter(LatexNotation(), self.rates)
        rows = []
        for line in (*self.steps, *(() if self.source.table else self.lines)):
            tag = f" \\tag{{{line.number}}}" if line.number else ""
            rows.append(f"{line.typeset_left(setter)} &= {setter.typeset(line.right)}{tag}")
        source = self.source
        heading = f"\\paragraph{{{latex_prose(source.title)}}} {source.reference}".rstrip()
        parts = [heading] if source.title else []
        law = source.law_latex or latex_formula(source.law)
        parts += [f"\\[ {law} \\]"] if law else []
        parts += [latex_prose(self.note)] if self.note else []
        if rows:
            body = " \\\\\n  ".join(rows)
            parts.append(f"\\begin{{align*}}\n  {body}\n\\end{{align*}}")
        if self.source.table:
            parts.append(table_latex(self.source.table, self.cells, self.rates))
        return "\n".join([*parts, *(one.latex() for one in self.quantities)])

    def mathml(self) -> str:
        """The lines as a table in a <math> element, then the quantities, each in its own."""
        setter = ExpressionTypesetter(MathmlNotation(), self.rates)
        rows = []
        for line in (*self.steps, *(() if self.source.table else self.lines)):
            if isinstance(line.left, Sum) and len(split_form_lines(line.left)) > 1:
                first, *more = typeset_long_left_side(setter, line.left, line.right)
            else:
                first, *more = typeset_mathml_rows(setter, line.typeset_left(setter), line.right)
            tag = f"<mtd><mtext>({line.number})</mtext></mtd>" if line.number else ""
            rows += [first.removesuffix("</mtr>") + tag + "</mtr>", *more]
        table = f'<mtable displaystyle="true">{"".join(rows)}</mtable>'
        own = f'<math display="block">{table}</math>' if rows else ""
        if self.source.table:
            own += table_mathml(self.source.table, self.cells, self.rates)
        return own + "".join(one.mathml() for one in self.quantities)

    def json(self) -> dict[str, object]:
        """The section as plain data."""
        source = self.source
        return {
            "title": source.title,
            "law": source.law,
            "reference": source.reference,
            "note": self.note,
            "steps": [line.text() for line in self.steps],
            "equations": [line.text() for line in self.lines],
            "functions": [one.name for one in self.quantities],
        }


@dataclass(frozen=True, repr=False)
class TypesetEquationSet:
    """A set of equations by a formulation, with all its sections typeset.

    `print` shows it as text; notebooks show its formulas. `by` is the formulation, `sections` are
    the typeset sections, and `source` is the set before typesetting.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.derive(lw.gallery("elbow"), by="lagrange").equation_set()
    >>> found
    <TypesetEquationSet by lagrange: 2 equations, 2 unknowns, 4 states; M is 2 × 2>
    """

    by: str
    source: EquationSet
    sections: tuple[TypesetSection, ...]

    def text(self) -> str:
        """Return the set as text: sizes, sections, and the meanings of its symbols."""
        parts = [f"{self.source.title}\n{self.source.counts.text()}"]
        parts += [section.text() for section in self.sections]
        symbols = grouped_symbols(self.source.symbols)
        if symbols:
            rows = [f"  {', '.join(names)}: {meaning}" for names, meaning in symbols]
            parts.append("\n".join(["Symbols", *rows]))
        return "\n\n".join(parts) + "\n"

    def latex(self) -> str:
        """Return the set as LaTeX, with the meanings of its symbols at the end."""
        parts = [section.latex() for section in self.sections]
        setter = ExpressionTypesetter(LatexNotation(), self.rates)
        rows = [
            f"  \\item[${', '.join(map(setter.entry, names))}$] {latex_prose(meaning)}"
            for names, meaning in grouped_symbols(self.source.symbols)
        ]
        if rows:
            listed = "\n".join(["\\begin{description}", *rows, "\\end{description}"])
            parts.append(f"\\paragraph{{Symbols}}\n{listed}")
        return "\n\n".join(parts)

    @property
    def rates(self) -> Mapping[str, tuple[str, int]]:
        """The names of time derivatives, with the symbol and the number of its dots."""
        return self.sections[0].rates if self.sections else {}

    def html(self) -> str:
        """Return the set as HTML: a heading and formulas in MathML for each section."""
        parts = []
        for section in self.sections:
            note = f"<p>{escape(section.note)}</p>" if section.note else ""
            parts.append(f"<h3>{escape(section.heading())}</h3>{note}{section.mathml()}")
        return "".join(parts)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<TypesetEquationSet by {self.by}: {self.source.counts.text()}>"

    def _repr_html_(self) -> str:
        return self.html()


def typeset_equation_set(equations: Equations, *, steps: bool = False) -> TypesetEquationSet:
    """Typeset the equations in the form of their formulation, or their derivation line by line."""
    source = with_actuator_efforts(equations, equation_set_source(equations, steps))
    symbolic, exact = equations_for_closed_form(equations, "symbolic")
    closed = source
    if symbolic is not equations:
        closed = with_actuator_efforts(symbolic, equation_set_source(symbolic, steps))
    rates = {**typeset_rate_symbols(equations), **source.rates}
    sections = []
    for section, closed_section in zip(source.sections, closed.sections, strict=True):
        found: SectionLines | None = (), ()
        if section.lines:
            found = _closed_section_lines(symbolic, closed_section, exact, closed)
        if found is None and closed_section.shorter is not None and section.shorter is not None:
            section = section.shorter
            found = _closed_section_lines(symbolic, closed_section.shorter, exact, closed)
        is_listed = found is None
        if found is None:
            found = _listed_section_lines(equations, section, list(source.symbols))
        sheets = tuple(typeset_quantity(equations, name) for name in section.quantities)
        sections.append(TypesetSection(section, *found, sheets, rates, is_listed))
    source = with_clashing_names(equations, with_standard_symbols(equations, source))
    return TypesetEquationSet(equations.by, source, tuple(sections))


def typeset_quantities(
    equations: Equations, names: Sequence[str] | None, *, steps: bool = False
) -> TypesetEquationSet:
    """Typeset quantities by name, those of the equation of motion by default, as one section."""
    source = general_equation_set(equations.names, typesettable_functions(equations))
    (section,) = source.sections
    if names:
        own = equation_set_source(equations)
        law = section.law if set(names) <= set(section.quantities) else ""
        section = replace(section, law=law, quantities=tuple(names))
        source = replace(source, title=own.title, counts=own.counts)
    sheets = tuple(typeset_quantity(equations, name, steps=steps) for name in section.quantities)
    typeset = TypesetSection(section, (), (), sheets, typeset_rate_symbols(equations))
    return TypesetEquationSet(equations.by, replace(source, sections=(section,)), (typeset,))


def equation_set_source(equations: Equations, steps: bool = False) -> EquationSet:
    """The set of equations that the formulation prints: its own, or the general one; or the steps
    of its derivation."""
    if steps and equations.derivation_steps is None:
        raise UnsupportedError(
            f"the formulation '{equations.by}' cannot print its derivation line by line",
            remedy='derive by="lagrange", or ask for the steps of one quantity, such as M',
        )
    make = equations.derivation_steps if steps else equations.own_equation_set
    if make is None:
        general = general_equation_set(equations.names, typesettable_functions(equations))
        return with_kinematic_equations(equations, general)
    key = "form", "steps" if steps else "set"
    if key not in equations._built:
        equations._built[key] = with_kinematic_equations(equations, make())
    own: EquationSet = equations._built[key]
    return own


SectionLines = tuple[tuple["TypesetLine", ...], tuple["TypesetLine", ...]]
"""The named parts that the lines of a section share, and the lines."""


def _section_source(section: EquationSection) -> FormSource:
    """The right sides of a section, and the left sides that are expressions, as outputs."""
    outputs = []
    for k, line in enumerate(section.lines):
        outputs += line_outputs(k, line)
    return FormSource(section.title, section.law, tuple(outputs))


def _closed_section_lines(
    symbolic: Equations,
    section: EquationSection,
    exact: Mapping[str, Fraction],
    whole: EquationSet,
) -> SectionLines | None:
    """The named groups and the lines of a section of a whole set in closed form; None if they are
    longer than a page."""
    budget = ExactPolynomialBudget(MAX_INTERMEDIATE_TERMS, MAX_FORM_SECONDS)
    try:
        form = make_closed_form(symbolic, _section_source(section), exact, budget)
        roles = form.roles.with_constants(whole.constants).with_functions(whole.functions)
        form = replace(form, roles=roles)
        if form.terms > MAX_PRINTED_TERMS:
            return None
        written = write_short_denominators(form.collect_terms())
    except BudgetError:
        return None
    steps = tuple(TypesetLine(name, value) for name, value in written.groups)
    lines = _lines_from_entries(section.lines, written.entries_by_name())
    length = sum(len(line.text()) for line in (*steps, *lines))
    return (steps, lines) if length <= PAGE_CHARACTERS else None


def _listed_section_lines(
    equations: Equations, section: EquationSection, symbols: Sequence[str]
) -> SectionLines:
    """The steps of the computation and the lines in terms of these; no step has the name of one of
    the `symbols` of the set."""
    tape, names = record_form_source_tape(equations, _section_source(section))
    found = read_tape_as_listing(tape, {**names, "symbols": symbols}, equations.literals)
    write = FractionWriter.for_listing(equations).write_fractions
    steps = tuple(TypesetLine(step.name, write(step.value)) for step in found.steps)
    entries = {name: write(part[0].value) for name, part in found.results.items()}
    return steps, _lines_from_entries(section.lines, entries)


def _lines_from_entries(
    lines: tuple[EquationLine, ...], entries: Mapping[str, Expression]
) -> tuple[TypesetLine, ...]:
    """The lines with the expressions of `_section_source`'s outputs."""
    return tuple(
        TypesetLine(
            line.left if isinstance(line.left, str) else entries[f"left{k}"],
            line_right_expression(k, line, entries),
            line.number,
        )
        for k, line in enumerate(lines)
    )
