"""The page of a folder's marks: a table, the model solution, and every text with its equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.resources import files

from .. import __version__
from ..checking.homework import Homework, Marks
from ..checking.presence import MISSING, PRESENT
from ..checking.report import (
    DEFINITION,
    DIFFERS,
    EQUIVALENT,
    IDENTICAL,
    UNDECIDED,
    UNREADABLE,
    Finding,
    Repair,
)
from ..errors import ExpressionError
from ..expressions import Expression, names, parse
from ..expressions.broken import Breaker
from ..expressions.typeset import MathmlSetter, Typesetter
from ..forms.page_fonts import math_font_css, text_font_css
from .markup import Html, html, joined

_WORDS = {
    IDENTICAL: "right", EQUIVALENT: "equivalent", DIFFERS: "wrong", UNDECIDED: "undecided",
    UNREADABLE: "unreadable", DEFINITION: "definition",
}  # fmt: skip
_HEADINGS = {
    "equations": "Equations", "identical": "Right", "equivalent": "Equivalent", "wrong": "Wrong",
    "with_repair": "Repair found", "undecided": "Undecided", "unreadable": "Unreadable",
    "present": "Present", "missing": "Missing",
}  # fmt: skip
_LONGEST = 1_500
"""Characters of an equation that is still typeset; a longer one is shown as text."""


def marks_page(homework: Homework) -> str:
    """The HTML of a page with nothing from elsewhere in it."""
    body = joined([
        _head(homework), _table(homework), _solution(homework),
        joined(_text(homework, i, text) for i, text in enumerate(homework)), _rule(homework),
    ])  # fmt: skip
    style = files("linkwright.report").joinpath("marks.css").read_text(encoding="utf-8")
    return html(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>Marks: {}</title><style>{}</style></head><body>{}</body></html>\n",
        homework.mechanism, Html(text_font_css() + math_font_css() + style), body,
    )  # fmt: skip


def _head(homework: Homework) -> Html:
    count = len(homework)
    mean = sum(text.mark for text in homework) / count if count else 0.0
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    skipped = html(
        '<p class="warning">Not checked, since they are not .txt, .tex or .md: {}</p>',
        ", ".join(homework.skipped),
    )  # fmt: skip
    return html(
        '<header><h1>Marks: {}</h1><p class="lead">{} in {}; mean mark {}. Linkwright {}, {}.</p>'
        "{}</header>",
        homework.mechanism, _counted(count, "text"), homework.folder, _percent(mean), __version__,
        when, skipped if homework.skipped else "",
    )  # fmt: skip


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    """Rounded down, so that 100 % is all."""
    return f"{int(100 * share + 1e-9)} %"


# -- the table ------------------------------------------------------------------------------


def _table(homework: Homework) -> Html:
    columns = _columns(homework)
    top = joined(html('<th class="number">{}</th>', word) for word in columns.values())
    rows = joined(
        _row(i, text, list(columns), bool(homework.solution)) for i, text in enumerate(homework)
    )
    return html(
        '<div class="scroll"><table><thead><tr><th>Text</th><th>Mark</th>{}<th>Remark</th></tr>'
        "</thead><tbody>{}</tbody></table></div>",
        top, rows,
    )  # fmt: skip


def _columns(homework: Homework) -> dict[str, str]:
    """Headings by the names of columns; verdicts that occur nowhere have no column."""
    rows = [text.row() for text in homework]
    rare = {"equivalent", "undecided", "unreadable"}
    rare = {key for key in rare if not any(row[key] for row in rows)}
    rare |= set() if homework.solution else {"present", "missing"}
    return {key: word for key, word in _HEADINGS.items() if key not in rare}


def _row(i: int, text: Marks, columns: list[str], has_solution: bool) -> Html:
    row = text.row()
    numbers = joined(
        html('<td class="number{}">{}</td>', _faint(row[key]), row[key]) for key in columns
    )
    share = int(100 * text.mark + 1e-9)
    return html(
        '<tr><td class="name"><a href="#text{}">{}</a></td><td class="mark {}">'
        '<span class="bar"><i style="width:{}%"></i></span>{}</td>{}'
        '<td class="remark{}">{}</td></tr>',
        i, text.name, "full" if text.passed else "part", share, _percent(text.mark), numbers,
        " problem" if text.problem else "", text.problem if has_solution else text.remark,
    )  # fmt: skip


def _faint(cell: object) -> str:
    return " none" if str(cell) == "0" else ""


# -- the model solution ---------------------------------------------------------------------


def _solution(homework: Homework) -> Html:
    """The equations that are asked for, and how many texts have each."""
    if not homework.solution:
        return Html("")
    count = len(homework)
    rows = []
    for i, equation in enumerate(homework.solution):
        verdicts = [text.solution[i] for text in homework]
        tally = [verdicts.count(PRESENT), count - verdicts.count(PRESENT) - verdicts.count(MISSING)]
        cells = joined(
            html('<td class="number{}">{}</td>', _faint(x), x)
            for x in (*tally, verdicts.count(MISSING))
        )
        rows.append(html("<tr><td>{}</td>{}</tr>", _typeset(equation, homework, {}), cells))
    return html(
        '<section><h2>Model solution</h2><p class="lead">How many of the {} have each equation.</p>'
        '<div class="scroll"><table><thead><tr><th>Equation</th><th class="number">Present</th>'
        '<th class="number">Wrong</th><th class="number">Missing</th></tr></thead>'
        "<tbody>{}</tbody></table></div></section>",
        _counted(count, "text"), joined(rows),
    )  # fmt: skip


# -- one text -------------------------------------------------------------------------------


def _text(homework: Homework, i: int, text: Marks) -> Html:
    parts: list[Html] = []
    if text.problem:
        parts.append(html('<p class="problem">{}</p>', text.problem))
    if text.report is not None:
        lines = [*text.lines, *[""] * (len(text.report) - len(text.lines))]
        names_ = text.report.names
        pairs = zip(text.report, lines, strict=True)
        items = joined(_finding(homework, x, line, names_) for x, line in pairs)
        parts.append(html('<ol class="equations">{}</ol>', items))
        parts.append(_remarks(text))
    if text.missing and not text.problem:
        missing = joined(html("<li>{}</li>", _typeset(x, homework, {})) for x in text.missing)
        parts.append(html('<p class="absent">Missing:</p><ul class="absent">{}</ul>', missing))
    return html(
        '<section class="text{}" id="text{}"><h2>{} <small>{}</small></h2>{}</section>',
        " whole" if text.report is not None else "", i, text.name, _percent(text.mark),
        joined(parts),
    )  # fmt: skip


def _remarks(text: Marks) -> Html:
    assert text.report is not None
    said = ", ".join(f"{theirs} as {ours}" for theirs, ours in text.report.names.items())
    notes = [text.report.note] if text.report.note else []
    notes += [f"Symbols were read so: {said}."] if said else []
    return html('<p class="note">{}</p>', " ".join(notes)) if notes else Html("")


def _finding(homework: Homework, x: Finding, line: str, said: Mapping[str, str]) -> Html:
    """One equation: its verdict, how it was read, the text's own line, and what is wrong."""
    word = _WORDS.get(x.status, x.status)
    if x.is_said_wrong:
        word += ", as the text says" if x.status == DIFFERS else ", but the text calls it wrong"
    own = html('<code class="own">{}</code>', line) if line else Html("")
    whole = Html("") if x.status == UNREADABLE and line else _typeset(x.equation, homework, said)
    return html(
        '<li class="{}"><div class="verdict"><b>{}</b><span>({})</span></div>'
        '<div class="body">{}{}{}</div></li>',
        x.status, word, x.number, whole, own, _explained(homework, x, said),
    )  # fmt: skip


def _explained(homework: Homework, x: Finding, said: Mapping[str, str]) -> Html:
    parts: list[Html] = []
    if x.under:
        parts.append(html("<p>Holds where {}.</p>", x.under))
    if x.note:
        parts.append(html("<p>{}.</p>", x.note.rstrip(".")))
    if x.difference:
        shown = _typeset(x.difference, homework, said)
        parts.append(html("<p>Left side minus right side: {}</p>", shown))
    parts += [_repair(homework, repair, i, said) for i, repair in enumerate(x.repairs)]
    return joined(parts)


def _repair(homework: Homework, repair: Repair, i: int, said: Mapping[str, str]) -> Html:
    return html(
        '<p class="repair">{} {}: {}</p>',
        "Or" if i else "It becomes right when", repair.what,
        _typeset(repair.equation, homework, said),
    )  # fmt: skip


def _rule(homework: Homework) -> Html:
    text = (
        "The mark is p / (p + missing + wrong + undecided + unreadable), where p counts "
        "the equations of the model solution that follow from the text's right equations."
        if homework.solution
        else "The mark is the share of the text's equations that are right or equivalent."
    )
    return html(
        '<footer><p class="note">{} Definitions do not count. “Right” and “equivalent” are proved, '
        "with a chance of error below 2<sup>−50</sup>; “wrong” is certain; “undecided” is for a "
        "person to judge.</p></footer>",
        text,
    )  # fmt: skip


# -- formulas -------------------------------------------------------------------------------


def _typeset(text: str, homework: Homework, said: Mapping[str, str]) -> Html:
    """An equation or expression as MathML that breaks where the page ends; else as it is."""
    if len(text) > _LONGEST:
        return html("<code>{}</code>", text)
    try:
        sides = [parse(side) for side in text.split(" = ")]
    except ExpressionError:
        return html("<code>{}</code>", text)
    breaker = Breaker(Typesetter(MathmlSetter(), _dotted(sides, homework.coordinates, said)))
    pieces: list[str] = []
    for i, side in enumerate(sides):
        pieces += ["<mo>=</mo>"] if i else []
        pieces += breaker.pieces(side)
    shown = joined(Html(f"<math>{piece}</math> ") for piece in pieces)
    return html('<span class="formula">{}</span>', shown)


def _dotted(
    sides: Iterable[Expression], coordinates: Iterable[str], said: Mapping[str, str]
) -> dict[str, tuple[str, int]]:
    """Which names are set with dots: rates of coordinates, ours and theirs."""
    used = frozenset[str]().union(*(names(side) for side in sides))
    ours = {*coordinates}
    ours |= {theirs for theirs, meaning in said.items() if meaning in ours}
    return {
        f"{'d' * k}{name}": (name, k) for name in ours for k in (1, 2) if f"{'d' * k}{name}" in used
    }
