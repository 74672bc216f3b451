"""The page of a folder's marks: a table, the model solution, and every text with its equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from markupsafe import Markup

from .. import __version__
from ..checking.check_report import (
    DEFINITION,
    DIFFERS,
    EQUIVALENT,
    IDENTICAL,
    UNDECIDED,
    UNREADABLE,
)
from ..checking.homework import Homework
from ..checking.solution_presence import CLAIM_MISSING, CLAIM_PRESENT
from ..errors import ExpressionError
from ..expressions import Expression, names_in_expression, parse_expression
from ..expressions.formula_breaks import ExpressionBreaker
from ..expressions.typeset import ExpressionTypesetter, MathmlNotation
from ..forms.page_fonts import formula_font_css, text_font_css
from .rendering import read_page_asset, render_template

_VERDICT_WORDS = {
    IDENTICAL: "right",
    EQUIVALENT: "equivalent",
    DIFFERS: "wrong",
    UNDECIDED: "undecided",
    UNREADABLE: "unreadable",
    DEFINITION: "definition",
}
_COLUMN_HEADINGS = {
    "equations": "Equations",
    "identical": "Right",
    "equivalent": "Equivalent",
    "wrong": "Wrong",
    "with_repair": "Repair found",
    "undecided": "Undecided",
    "unreadable": "Unreadable",
    "present": "Present",
    "missing": "Missing",
}
_MAX_TYPESET_LENGTH = 1_500
"""Characters of an equation that is still typeset; a longer one is shown as text."""


def marks_page(homework: Homework) -> str:
    """Returns the page of marks as HTML that fetches nothing."""
    text = render_template(
        "marks.html",
        homework=homework,
        columns=_marks_columns(homework),
        solution=_solution_table_rows(homework),
        words=_VERDICT_WORDS,
        typeset=lambda text, names: typeset_checked_equation(text, homework.coordinates, names),
        mean=sum(text.mark for text in homework) / (len(homework) or 1),
        style=Markup(text_font_css() + formula_font_css()) + read_page_asset("marks.css"),
        version=__version__,
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return f"{text}\n"


def _marks_columns(homework: Homework) -> dict[str, str]:
    """The column headings by name, without verdicts that do not occur."""
    rows = [text.row() for text in homework]
    rare = {"equivalent", "undecided", "unreadable"}
    rare = {key for key in rare if not any(row[key] for row in rows)}
    rare |= set() if homework.solution else {"present", "missing"}
    return {key: word for key, word in _COLUMN_HEADINGS.items() if key not in rare}


def _solution_table_rows(homework: Homework) -> list[tuple[str, tuple[int, int, int]]]:
    """The equations of the model solution, each with the number of texts in which it is present,
    wrong and missing."""
    rows = []
    for i, equation in enumerate(homework.solution):
        verdicts = [text.solution[i] for text in homework]
        present, missing = verdicts.count(CLAIM_PRESENT), verdicts.count(CLAIM_MISSING)
        rows.append((equation, (present, len(verdicts) - present - missing, missing)))
    return rows


def typeset_checked_equation(
    text: str, coordinates: Iterable[str], said: Mapping[str, str]
) -> Markup:
    """Returns an equation as MathML with line breaks; as text if it cannot be parsed or is too
    long."""
    if len(text) > _MAX_TYPESET_LENGTH:
        return Markup("<code>{}</code>").format(text)
    try:
        sides = [parse_expression(side) for side in text.split(" = ")]
    except ExpressionError:
        return Markup("<code>{}</code>").format(text)
    breaker = ExpressionBreaker(
        ExpressionTypesetter(MathmlNotation(), _dotted_page_names(sides, coordinates, said))
    )
    pieces: list[str] = []
    for i, side in enumerate(sides):
        pieces += ["<mo>=</mo>"] if i else []
        pieces += breaker.formula_pieces(side)
    return render_template("typeset.html", pieces=[Markup(piece) for piece in pieces])


def _dotted_page_names(
    sides: Iterable[Expression], coordinates: Iterable[str], said: Mapping[str, str]
) -> dict[str, tuple[str, int]]:
    """The names that are typeset with dots: rates of the coordinates, by our names and by those of
    the text."""
    used = frozenset[str]().union(*(names_in_expression(side) for side in sides))
    ours = {*coordinates}
    ours |= {theirs for theirs, meaning in said.items() if meaning in ours}
    return {
        f"{'d' * k}{name}": (name, k) for name in ours for k in (1, 2) if f"{'d' * k}{name}" in used
    }
