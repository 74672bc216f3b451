"""Sets of equations as typeset sections: text, LaTeX, MathML and plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from ..algebra.exact.polynomial_budget import BudgetError, ExactPolynomialBudget
from ..equations import Equations
from ..expressions import Expression, expression_text
from ..expressions.typeset import ExpressionTypesetter, LatexNotation, MathmlNotation
from ..ports import Port
from ..readings.listing import read_tape_as_listing
from ..written_equations import (
    EquationLine,
    EquationSection,
    EquationSet,
    general_equation_set,
)
from .closed_forms import equations_for_closed_form, make_closed_form
from .equation_page import (
    MAX_FORM_SECONDS,
    MAX_INTERMEDIATE_TERMS,
    MAX_PRINTED_TERMS,
    PAGE_CHARACTERS,
)
from .form_sources import FormSource, record_form_source_tape
from .quantity_typesetting import (
    TypesetQuantity,
    typeset_mathml_rows,
    typeset_quantity,
    typeset_rate_symbols,
    typesettable_functions,
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
        return setter.entry(self.left) if "[" in self.left else setter.name(self.left)


@dataclass(frozen=True)
class TypesetSection:
    """A section with its lines typeset: `steps` are named parts that the lines share."""

    source: EquationSection
    steps: tuple[TypesetLine, ...]
    lines: tuple[TypesetLine, ...]
    quantities: tuple[TypesetQuantity, ...]
    rates: Mapping[str, tuple[str, int]]

    def heading(self) -> str:
        """The title, the law and the paper's numbers on one line."""
        title = ": ".join(part for part in (self.source.title, self.source.law) if part)
        return f"{title}  {self.source.reference}".rstrip()

    def text(self) -> str:
        """The section as text."""
        parts = [self.heading()]
        parts += [f"  {self.source.note}"] if self.source.note else []
        parts += [f"    {step.text()}" for step in self.steps]
        parts += [f"  {line.text()}" for line in self.lines]
        parts += [one.text() for one in self.quantities]
        return "\n".join(parts)

    def latex(self) -> str:
        """The section as a paragraph, its law and an `align*` environment."""
        setter = ExpressionTypesetter(LatexNotation(), self.rates)
        rows = []
        for line in (*self.steps, *self.lines):
            tag = f" \\tag{{{line.number}}}" if line.number else ""
            rows.append(f"{line.typeset_left(setter)} &= {setter.typeset(line.right)}{tag}")
        source = self.source
        parts = [f"\\paragraph{{{source.title}}} {source.reference}".rstrip()]
        parts += [f"\\[ {source.law_latex} \\]"] if source.law_latex else []
        parts += [source.note] if source.note else []
        if rows:
            body = " \\\\\n  ".join(rows)
            parts.append(f"\\begin{{align*}}\n  {body}\n\\end{{align*}}")
        return "\n".join([*parts, *(one.latex() for one in self.quantities)])

    def mathml(self) -> str:
        """The lines as a table in a <math> element, then the quantities, each in its own."""
        setter = ExpressionTypesetter(MathmlNotation(), self.rates)
        rows = []
        for line in (*self.steps, *self.lines):
            first, *more = typeset_mathml_rows(setter, line.typeset_left(setter), line.right)
            tag = f"<mtd><mtext>({line.number})</mtext></mtd>" if line.number else ""
            rows += [first.removesuffix("</mtr>") + tag + "</mtr>", *more]
        table = f"<mtable>{''.join(rows)}</mtable>"
        own = f'<math display="block" displaystyle="true">{table}</math>' if rows else ""
        return own + "".join(one.mathml() for one in self.quantities)

    def json(self) -> dict[str, object]:
        """The section as plain data."""
        source = self.source
        return {
            "title": source.title,
            "law": source.law,
            "reference": source.reference,
            "note": source.note,
            "steps": [line.text() for line in self.steps],
            "equations": [line.text() for line in self.lines],
            "functions": [one.name for one in self.quantities],
        }


@dataclass(frozen=True)
class TypesetEquationSet:
    """A set of equations by a formulation, with all its sections typeset."""

    by: str
    source: EquationSet
    sections: tuple[TypesetSection, ...]

    def text(self) -> str:
        """The set as text: sizes, sections, and the meanings of its symbols."""
        parts = [f"{self.source.title}\n{self.source.counts.text()}"]
        parts += [section.text() for section in self.sections]
        if self.source.symbols:
            rows = [f"  {name}: {meaning}" for name, meaning in self.source.symbols.items()]
            parts.append("\n".join(["Symbols", *rows]))
        return "\n\n".join(parts) + "\n"

    def latex(self) -> str:
        """The set as LaTeX."""
        return "\n\n".join(section.latex() for section in self.sections)

    def html(self) -> str:
        """The set as HTML: a heading and formulas in MathML for each section."""
        parts = []
        for section in self.sections:
            note = f"<p>{escape(section.source.note)}</p>" if section.source.note else ""
            parts.append(f"<h3>{escape(section.heading())}</h3>{note}{section.mathml()}")
        return "".join(parts)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


def typeset_equation_set(equations: Equations) -> TypesetEquationSet:
    """Typeset the equations in the form of their formulation."""
    source = equation_set_source(equations)
    rates = {**typeset_rate_symbols(equations), **source.rates}
    sections = tuple(
        _typeset_section(equations, source, k, rates) for k in range(len(source.sections))
    )
    return TypesetEquationSet(equations.by, source, sections)


def typeset_quantities(
    equations: Equations, names: Sequence[str] | None, *, steps: bool = False
) -> TypesetEquationSet:
    """Typeset quantities by name, those of the equation of motion by default, as one section."""
    source = general_equation_set(equations.names, typesettable_functions(equations))
    (section,) = source.sections
    section = replace(section, quantities=tuple(names or section.quantities))
    sheets = tuple(typeset_quantity(equations, name, steps=steps) for name in section.quantities)
    typeset = TypesetSection(section, (), (), sheets, typeset_rate_symbols(equations))
    return TypesetEquationSet(equations.by, replace(source, sections=(section,)), (typeset,))


def equation_set_source(equations: Equations) -> EquationSet:
    """The set of equations that the formulation prints: its own, or the general one."""
    if equations.own_equation_set is not None:
        return equations.own_equation_set()
    return general_equation_set(equations.names, typesettable_functions(equations))


def _typeset_section(
    equations: Equations, source: EquationSet, k: int, rates: Mapping[str, tuple[str, int]]
) -> TypesetSection:
    """The k-th section in closed form, or with named steps where that is longer than a page."""
    section = source.sections[k]
    quantities = tuple(typeset_quantity(equations, name) for name in section.quantities)
    steps: tuple[TypesetLine, ...] = ()
    lines: tuple[TypesetLine, ...] = ()
    if section.lines:
        steps, lines = _closed_section_lines(equations, k) or _listed_section_lines(
            equations, section
        )
    return TypesetSection(section, steps, lines, quantities, rates)


def _section_source(section: EquationSection) -> FormSource:
    """The right sides of a section, and the left sides that are expressions, as outputs."""
    outputs = []
    for k, line in enumerate(section.lines):
        outputs.append((Port(f"right{k}", ()), line.right))
        if not isinstance(line.left, str):
            outputs.append((Port(f"left{k}", ()), line.left))
    return FormSource(section.title, section.law, tuple(outputs))


def _closed_section_lines(
    equations: Equations, k: int
) -> tuple[tuple[TypesetLine, ...], tuple[TypesetLine, ...]] | None:
    """The named groups and the lines of the k-th section in closed form; None if they are longer
    than a page."""
    symbolic, exact = equations_for_closed_form(equations, "symbolic")
    section = equation_set_source(symbolic).sections[k]
    budget = ExactPolynomialBudget(MAX_INTERMEDIATE_TERMS, MAX_FORM_SECONDS)
    try:
        form = make_closed_form(symbolic, _section_source(section), exact, budget)
        if form.terms > MAX_PRINTED_TERMS:
            return None
        written = form.collect_terms()
    except BudgetError:
        return None
    steps = tuple(TypesetLine(name, value) for name, value in written.groups)
    lines = _lines_from_entries(section.lines, written.entries_by_name())
    length = sum(len(line.text()) for line in (*steps, *lines))
    return (steps, lines) if length <= PAGE_CHARACTERS else None


def _listed_section_lines(
    equations: Equations, section: EquationSection
) -> tuple[tuple[TypesetLine, ...], tuple[TypesetLine, ...]]:
    """The steps of the computation and the lines in terms of these."""
    tape, names = record_form_source_tape(equations, _section_source(section))
    found = read_tape_as_listing(tape, names, equations.literals)
    steps = tuple(TypesetLine(step.name, step.value) for step in found.steps)
    entries = {name: part[0].value for name, part in found.results.items()}
    return steps, _lines_from_entries(section.lines, entries)


def _lines_from_entries(
    lines: tuple[EquationLine, ...], entries: Mapping[str, Expression]
) -> tuple[TypesetLine, ...]:
    """The lines with the expressions of `_section_source`'s outputs."""
    return tuple(
        TypesetLine(
            line.left if isinstance(line.left, str) else entries[f"left{k}"],
            entries[f"right{k}"],
            line.number,
        )
        for k, line in enumerate(lines)
    )
