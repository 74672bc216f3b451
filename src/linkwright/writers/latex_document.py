"""Exported functions as a LaTeX document: the steps of their computation as equations."""

from __future__ import annotations

import re

from ..expressions import Expression, Number, Product, Sum
from ..expressions.tree import rebuild_expression
from ..expressions.typeset import ExpressionTypesetter, LatexNotation, has_leading_minus
from ..forms.latex_prose import latex_prose
from ..forms.quantity_typesetting import split_form_lines
from ..readings.listing import TapeAssignment, read_tape_as_listing
from ..readings.targets.exported_code import ExportedCode, ExportedFunction
from ..readings.targets.safe_names import write_comment_text

_LATEX_SPECIALS = {
    "^": r"\^{}", "~": r"\~{}", "<": r"\textless{}", ">": r"\textgreater{}", "π": r"$\pi$",
}  # fmt: skip


MAX_LENGTH = 100
"""Characters of a row on paper, at most."""


def write_latex_document(code: ExportedCode) -> str:
    """Return a document that LaTeX compiles: every function with its steps and its results."""
    lines = [
        r"\documentclass{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage{amsmath}",
        r"\usepackage[a4paper,margin=20mm]{geometry}",
        r"\allowdisplaybreaks",
        r"\begin{document}",
        f"\\section*{{{escape_latex_text(code.heading[0])}}}",
        r"\begin{itemize}",
        *(f"\\item[] {escape_latex_text(line)}" for line in code.heading[2:]),
        r"\end{itemize}",
        "",
    ]
    for function in code.functions:
        lines += [*_write_function_section(function), ""]
    return "\n".join([*lines, r"\end{document}", ""])


def escape_latex_text(text: str) -> str:
    """Return words that LaTeX sets as they are; other than ASCII and π by their code points."""
    safe = write_comment_text(text)
    plain = "".join(c if c.isascii() or c in _LATEX_SPECIALS else f"<U+{ord(c):04X}>" for c in safe)
    escaped = re.sub(r"([_&%#${}])", r"\\\1", plain.replace("\\", "/"))
    return "".join(_LATEX_SPECIALS.get(c, c) for c in escaped)


def _write_function_section(function: ExportedFunction) -> list[str]:
    """Return the section of one function."""
    frame = f" of {function.frame}" if function.frame else ""
    title = escape_latex_text(f"{function.quantity}{frame}".replace("_", " "))
    names = {note.port.name: note.entry_names for note in function.inputs}
    taken = [name.replace("_", "") for several in names.values() for name in several]
    listing = read_tape_as_listing(function.tape, {**names, "others": taken})
    setter = ExpressionTypesetter(LatexNotation(), _rates_in_dots(function))
    rows = [
        row for step in listing.steps for row in _align_rows(setter, setter.name(step.name), step)
    ]
    for note in function.outputs:
        for k, one in enumerate(listing.results[note.port.name]):
            label = setter.name(note.entries[k]) if note.entries else setter.entry(one.name)
            rows += _align_rows(setter, label, one)
    return [
        f"\\section*{{{title}}}",
        latex_prose(f"{function.description[0].upper()}{function.description[1:]}")
        + f" ({function.operation_count} operations).",
        r"\begin{align*}",
        " \\\\\n".join(rows),
        r"\end{align*}",
    ]


def _rates_in_dots(function: ExportedFunction) -> dict[str, tuple[str, int]]:
    """Names of rates, with the coordinate and its number of dots."""
    found: dict[str, tuple[str, int]] = {}
    for note in (*function.inputs, *function.outputs):
        dots = {"qd": 1, "qdd": 2}.get(note.port.name)
        if dots:
            found |= {name: (name[dots:], dots) for name in note.entries}
    return found


def _align_rows(setter: ExpressionTypesetter, left: str, step: TapeAssignment) -> list[str]:
    """Return one equation, in several rows if its right side is long."""
    first, *more = split_form_lines(_numbers_first(step.value))
    rows = [f"{left} &= {setter.typeset(first)}"]
    rows += [f"&\\quad {_leading_sign(piece)}{setter.typeset(piece)}" for piece in more]
    return [part for row in rows for part in _break_row(row)]


def _break_row(row: str) -> list[str]:
    """Return a row in pieces that fit the page, broken before signs, rather not in parentheses."""
    places = [
        (row[: match.start()].count("(") - row[: match.start()].count(")"), match.start())
        for match in re.finditer(r" [+-] (?=\S)", row)
        if row[: match.start()].count("{") == row[: match.start()].count("}")
    ]
    fitting = [(depth, at) for depth, at in places if 0 < _printed_length(row[:at]) <= MAX_LENGTH]
    if _printed_length(row) <= MAX_LENGTH or not fitting:
        return [row]
    half = [place for place in fitting if _printed_length(row[: place[1]]) > MAX_LENGTH // 3]
    _, at = min(half or fitting, key=lambda place: (place[0], -place[1]))
    return [row[:at], *_break_row("&\\quad" + row[at:])]


def _printed_length(row: str) -> int:
    """Return about the number of characters that a row has on paper."""
    plain = re.sub(r"\\(quad|,|d+ot|operatorname)|[_^{}&]", "", row)
    return len(re.sub(r"\\([a-z]+)", r"\1", plain))


def _numbers_first(expression: Expression) -> Expression:
    """The expression with numbers before the other factors of products."""
    made = rebuild_expression(expression, _numbers_first)
    if not isinstance(made, Product):
        return made
    return Product(tuple(sorted(made.factors, key=lambda factor: not isinstance(factor, Number))))


def _leading_sign(piece: Expression) -> str:
    leading = piece.terms[0] if isinstance(piece, Sum) else piece
    return "" if has_leading_minus(leading) else "+ "
