"""Equations beside a live picture: formulas whose symbols light up bodies and get values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from html import escape

from ..equations import Equations
from ..expressions import Expression, expression_text
from ..expressions.tree import Number
from ..expressions.typeset import ExpressionTypesetter, MathmlNotation
from ..forms.equation_set_typesetting import TypesetSection
from ..forms.quantity_typesetting import TypesetQuantity, typeset_quantity
from ..formulations import derive
from ..mechanism import Mechanism, mechanism_names

MAX_EQUATION_SPEEDS = 24
"""Velocities of a mechanism whose equations are written for a page at all; those of more take
seconds, and nobody reads them beside a picture."""
MAX_QUANTITY_TEXT, MAX_ENTRY_TEXT, MAX_OPEN_TEXT = 20_000, 1_000, 90
"""Characters of a quantity whose entries are shown, of an entry that is shown as a formula, and of
one that is not folded."""
MAX_ENTRIES = 120
"""Lines of one part of a formulation's equations, about three screens."""
_SHOWN_QUANTITIES = {
    "mass_matrix": "Mass matrix M",
    "coriolis_matrix": "Coriolis matrix C",
    "gravity": "Gravity g",
}
_LABEL_INDICES = re.compile(r"\[(\d+)(?:,\s*(\d+))?\]$")
_ZERO = Number(Fraction(0))


@dataclass(frozen=True)
class LiveEntry:
    """An entry of an equation on a live page: its label and formula as `<math>` elements, and its
    place among the numbers of the quantity, row by row.

    `formula` is empty if it has `characters` of text, too many to be read; `index` is -1 if the
    page cannot compute the entry.
    """

    label: str
    formula: str
    index: int = -1
    characters: int = 0
    is_folded: bool = False


@dataclass(frozen=True)
class LiveEquation:
    """A formula for a live page.

    `title` says what it is; `mathml` is a `<math>` element as text, whose symbols are marked by
    `data-symbol`; it is never taken from a file as it is. `entries` are shown one by one, with the
    values of `quantity` at the present state; `note` is a sentence below the title.

    Examples
    --------
    >>> import linkwright as lw
    >>> equation = lw.live.equations_of(lw.gallery("elbow"))[0]
    >>> equation.title, len(equation.entries), equation.quantity
    ('Mass matrix M', 3, 'mass_matrix')
    """

    title: str
    mathml: str = ""
    entries: tuple[LiveEntry, ...] = ()
    quantity: str = ""
    note: str = ""

    def data(self) -> dict[str, object]:
        """Return the equation as plain data."""
        return asdict(self)


class SymbolTypesetter(ExpressionTypesetter):
    """Typesets names as elements that say which symbol they are, so that a page can light it up."""

    def name(self, name: str, exponent: str = "") -> str:
        """Return a name as a symbol with its mark."""
        plain = self.dotted[name][0] if name in self.dotted else name
        return f'<mrow data-symbol="{escape(plain)}">{super().name(name, exponent)}</mrow>'


def equations_of(mechanism: Mechanism, by: str | None = None) -> tuple[LiveEquation, ...]:
    """Return the equations of motion of a mechanism as formulas for a live page.

    Long entries are folded; where a formula is too long to be read, the page has its value alone,
    and says how long it is.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    by : str, optional
        A formulation, whose equations are shown in its own form (default: M, C and g with their
        values at the present state).

    Returns
    -------
    tuple of LiveEquation
        Formulas whose symbols are marked.

    Examples
    --------
    >>> import linkwright as lw
    >>> [one.title for one in lw.live.equations_of(lw.gallery("elbow"))]
    ['Mass matrix M', 'Coriolis matrix C', 'Gravity g']
    """
    count = mechanism_names(mechanism).nv
    if count > MAX_EQUATION_SPEEDS:
        note = (
            f"{mechanism.name} has {count} velocities: its equations are too long to be read here."
        )
        return (LiveEquation("Equations of motion", note=f"{note} {_command(mechanism, by)}"),)
    if by is not None:
        form = derive(mechanism, by=by).equation_set()
        parts = (x for one in form.sections for x in _section_equations(mechanism, by, one))
        title = f"{form.source.title} ({by})"
        return (LiveEquation(title, note=form.source.counts.text()), *parts)
    equations = derive(mechanism)
    return tuple(
        _quantity_equation(equations, name, title) for name, title in _SHOWN_QUANTITIES.items()
    )


def _command(mechanism: Mechanism, by: str | None = None) -> str:
    """A sentence on the command that prints the equations."""
    chosen = f" --by {by}" if by else ""
    return f"The command “linkwright derive {mechanism.name}{chosen}” prints them."


def _quantity_equation(equations: Equations, name: str, title: str) -> LiveEquation:
    """A matrix or vector of the equation of motion, entry by entry."""
    sheet = typeset_quantity(equations, name, page=MAX_QUANTITY_TEXT)
    setter = SymbolTypesetter(MathmlNotation(), sheet.dotted_symbols)
    if not sheet.is_closed:
        note = f"{title} takes {sheet.operations} operations"
        note += f": its formulas are longer than {MAX_QUANTITY_TEXT:,} characters."
        rows = [(labels, value) for labels, value in sheet.rows if value != _ZERO]
        hidden = tuple(_entry(setter, equations.nv, labels, None) for labels, _ in rows)
        return LiveEquation(title, "", hidden, name, f"{note} {_command(equations.mechanism)}")
    shown = _sheet_entries(setter, equations.nv, sheet)
    note = "All entries are 0." if not shown else ""
    if shown and len(shown) < len(sheet.rows):
        note = "All other entries are 0."
    return LiveEquation(title, "", shown, name, note)


def _sheet_entries(
    setter: SymbolTypesetter, columns: int, sheet: TypesetQuantity
) -> tuple[LiveEntry, ...]:
    """The entries of a quantity that are not 0."""
    steps = [_entry(setter, 0, (name,), value) for name, value in sheet.steps]
    rows = [(labels, value) for labels, value in sheet.rows if value != _ZERO]
    return (*steps, *(_entry(setter, columns, labels, value) for labels, value in rows))


def _entry(
    setter: SymbolTypesetter, columns: int, labels: Sequence[str], value: Expression | None
) -> LiveEntry:
    """Entries that share a formula, which is None if it is not written at all; `columns` of their
    matrix, 0 if the page does not compute them."""
    equal = "<mo>=</mo>".join(setter.entry(x) if "[" in x else setter.name(x) for x in labels)
    index = _flat_index(labels[0], columns) if columns else -1
    return _written_entry(setter, equal, value, index)


def _written_entry(
    setter: SymbolTypesetter, left: str, value: Expression | None, index: int = -1
) -> LiveEntry:
    """An entry with its left side in MathML."""
    label = f"<math><mrow>{left}</mrow></math>"
    size = 0 if value is None else len(expression_text(value))
    if value is None or size > MAX_ENTRY_TEXT:
        return LiveEntry(label, "", index, size)
    formula = f"<math>{setter.typeset(value)}</math>"
    return LiveEntry(label, formula, index, size, size > MAX_OPEN_TEXT)


def _flat_index(label: str, columns: int) -> int:
    """The place of an entry such as M[2,1] among the numbers of its matrix, row by row."""
    found = _LABEL_INDICES.search(label)
    if found is None:
        return -1
    row, column = int(found[1]) - 1, found[2]
    return row if column is None else row * columns + int(column) - 1


def _section_equations(
    mechanism: Mechanism, by: str, section: TypesetSection
) -> Iterator[LiveEquation]:
    """Yield the lines of a section of a formulation's own equations, then its quantities."""
    setter, source = SymbolTypesetter(MathmlNotation(), section.rates), section.source
    lines = (*section.steps, *(() if source.table else section.lines))
    notes = [source.law, source.note]
    notes += ["Its table is too wide to be read here."] if source.table else []
    if len(lines) > MAX_ENTRIES:
        notes.append(f"These are {len(lines)} lines. {_command(mechanism, by)}")
        lines = ()
    entries = (_written_entry(setter, one.typeset_left(setter), one.right) for one in lines)
    note = " ".join(filter(None, notes))
    if lines or note:
        yield LiveEquation(source.title or "Law", "", tuple(entries), "", note)
    for one in section.quantities:
        shown, words = _sheet_entries(setter, 0, one), ""
        if len(shown) > MAX_ENTRIES:
            words = f"These are {len(shown)} lines. {_command(mechanism, by)}"
            shown = ()
        yield LiveEquation(f"{one.what[:1].upper()}{one.what[1:]}", "", shown, "", words)
