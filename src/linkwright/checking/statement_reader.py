r"""Texts to equations: plain text, the notation of the gallery's `*.equations.txt`, LaTeX.

# a comment                        [hamilton]  a heading; names defined before it are forgotten
(60) left = right                  an equation with its number: (12), (6.4.18), (12a), (A.3), (7')
(table 1): left = right            an equation with a label of words
! (61) left = right                as printed, and said to be wrong
(32) A1 := expression              a name for an expression
(22) … M{i}{j} …, i = 1..6, j = 1..6       one equation for each i and j
sum(i = 1..6: …{i}…)               a sum
M = [a, b; c, d]                   the entries M11, M12, M21, M22
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ..errors import ExpressionError
from ..expressions import Expression
from ..expressions.tokens import MAX_EXPRESSION_LENGTH, shorten_expression_text
from ..mechanism import Mechanism
from .latex_parser import parse_latex_equations
from .statement_chunks import SECTION_HEADING, chunk_latex, chunk_plain_text, split_latex_equations
from .text_parser import parse_plain_equations
from .text_symbols import StatementSymbols, collect_text_symbols

MAX_TEXT_LENGTH = 200_000
MAX_STATEMENTS = 3_000
MAX_STATEMENT_INDEX = 100

_EQUATION_NUMBER = r"(?:[A-Za-z][.-])?\d+(?:[.-]\d+)*[a-z]?'*"
_LABELLED_STATEMENT = re.compile(
    rf"(?P<wrong>!\s*)?(?:\((?P<words>[^()=]{{1,30}})\):\s*|\((?P<paren>{_EQUATION_NUMBER})\)\s+(?![*/=^]|\\cdot|\\times)"
    rf"|[Ee]q(?:uation|\.)?\s*\(?(?P<named>{_EQUATION_NUMBER})\)?[.:]?\s+|(?P<plain>\d{{1,4}}[\d.]{{0,12}})[.):]\s+)?(?P<body>.+)",
    re.S,
)
_NUMBER_AT_END = re.compile(
    r"(?:\\q?quad|\\hfill|\\eqno|\\hspace\*?\{[^{}]*\}|(?:\\ ){2})(?:\s|\\q?quad|\\[,;: ])*"
    rf"\(({_EQUATION_NUMBER})\)\s*$"
)
_DOUBTFUL_NUMBER_AT_END = re.compile(
    rf"(?<!sin)(?<!cos)(?<!tan)[\s\]}})]\(({_EQUATION_NUMBER})\)\s*$"
)
_LATEX_TAG = re.compile(r"\\tag\(\(?([^()]*)\)?\)")
_INDEX_RANGE = re.compile(r",\s*(\w+) = (\d+)\.\.(\d+)\s*$")
_SUM_OPENING = re.compile(r"sum\((\w+) = (\d+)\.\.(\d+): ")
_LATEX_INDEX_RANGE = re.compile(
    r"[,;]?(?:\s|\\q?quad|\\[,;: ])*\(?\s*"
    r"(?:\\(?:text|mathrm|mbox)\{\s*(?:for|with)?\s*(?:all)?\s*\}|for|\\forall)?"
    r"(?:\s|\\[,;: ])*(?P<letters>[a-z](?:\s*,\s*[a-z])*)\s*(?:=|\\in)\s*\\?\{?\s*"
    r"(?P<first>\d+)\s*,(?:\s*\d+\s*,)*\s*(?:(?:\\[lc]?dots|\.\.+|…)\s*,?\s*)?(?P<last>\d+|[nN])\s*\\?\}?\s*\)?\s*$"
)


@dataclass(frozen=True)
class Statement:
    """One equation, or the definition of the name on its left."""

    number: str
    left: Expression
    right: Expression
    text: str
    section: str = ""
    is_definition: bool = False
    is_said_wrong: bool = False


@dataclass(frozen=True)
class UnreadableStatement:
    """An equation that cannot be read, and why."""

    number: str
    text: str
    error: ExpressionError
    section: str = ""
    is_said_wrong: bool = False


def require_statement_text_size(text: str) -> str:
    """The text, unless it is too long."""
    if len(text) > MAX_TEXT_LENGTH:
        raise ExpressionError(
            f"the text has {len(text)} characters, more than {MAX_TEXT_LENGTH}",
            remedy="check it in parts",
        )
    return text


def read_statements(
    text: str, mechanism: Mechanism | None = None
) -> list[Statement | UnreadableStatement]:
    """All equations of a text, in its order; those that cannot be read with the reason.

    Where none can be read, the first reason is raised.
    """
    text = re.sub(r"(?m)(?<!\\)#.*", "", text)
    is_latex = re.search(r"\\[A-Za-z]|[_^]\{\w*\d|_\{[A-Za-z]{2,}|\^\{|\$", text) is not None
    symbols = collect_text_symbols(mechanism, text)
    found: list[Statement | UnreadableStatement] = []
    section = ""
    for chunk in chunk_latex(text) if is_latex else chunk_plain_text(text):
        if heading := SECTION_HEADING.fullmatch(chunk):
            section = heading[1]
            continue
        default = str(1 + len({x.number for x in found}))
        for line in _read_statement_chunk(chunk, is_latex, default, symbols):
            found.append(replace(line, section=section))
            if len(found) > MAX_STATEMENTS:
                raise ExpressionError(
                    f"more than {MAX_STATEMENTS} equations", remedy="check in parts"
                )
    if not found:
        raise ExpressionError("the text contains no equation", remedy="write left = right")
    failed = [line for line in found if isinstance(line, UnreadableStatement)]
    if len(failed) == len(found):
        raise failed[0].error
    return found


# -- from a chunk to equations --------------------------------------------------------------


def _read_statement_chunk(
    chunk: str, is_latex: bool, default: str, symbols: StatementSymbols
) -> Iterator[Statement | UnreadableStatement]:
    """The equations of a chunk; the chunk itself, with the reason, if it cannot be read."""
    number, body, is_said_wrong = _split_equation_number(chunk, default, symbols)
    try:
        sides = list(islice(_parse_statement_sides(body, is_latex, symbols), MAX_STATEMENTS + 1))
    except ExpressionError as error:
        yield UnreadableStatement(number, chunk, error, is_said_wrong=is_said_wrong)
        return
    for left, right, is_definition in sides:
        yield Statement(
            number, left, right, chunk, is_definition=is_definition, is_said_wrong=is_said_wrong
        )


def _split_equation_number(
    chunk: str, default: str, symbols: StatementSymbols
) -> tuple[str, str, bool]:
    """The number of an equation, its text, and whether it is said to be wrong."""
    match = _LABELLED_STATEMENT.fullmatch(chunk)
    assert match is not None
    body = match["body"]
    if match["paren"] and _is_factor_label(match["paren"], body, symbols):
        return default, _trim_equation_text(chunk.removeprefix("!")), bool(match["wrong"])
    number = match["words"] or match["paren"] or match["named"] or match["plain"] or default
    if tag := _LATEX_TAG.search(body):
        number, body = tag[1], body.replace(tag[0], "")
    elif at_end := _NUMBER_AT_END.search(body, max(0, len(body) - 60)):
        number, body = at_end[1], body[: at_end.start()]
    return number, _trim_equation_text(body), bool(match["wrong"])


def _trim_equation_text(body: str) -> str:
    """Strip punctuation, spaces and a box around an equation."""
    plain = re.sub(r"(?:\\[,;:! ]|[,;.&\s])+$", "", body[-200:])
    plain = (body[:-200] + plain).strip(",;& \n")
    box = re.fullmatch(r"\\(?:boxed|fbox)\s*\{(.*)\}", plain, re.S)
    return box[1] if box else plain


def _is_factor_label(label: str, body: str, symbols: StatementSymbols) -> bool:
    """Whether (2m) before an equation is twice a symbol m of the text or mechanism."""
    letter = label.rstrip("'")[-1]
    if not letter.isalpha():
        return False
    return (
        symbols.is_mechanism_name(letter)
        or re.search(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])", body) is not None
    )


def _parse_statement_sides(
    body: str, is_latex: bool, symbols: StatementSymbols
) -> Iterator[tuple[Expression, Expression, bool]]:
    """The left side, right side and whether it is a definition, for all equations in one piece
    of text."""
    if len(body) > MAX_EXPRESSION_LENGTH:
        raise ExpressionError(
            f"an equation has {len(body)} characters, more than {MAX_EXPRESSION_LENGTH}",
            remedy="split it with names of your own",
        )
    if doubtful := _DOUBTFUL_NUMBER_AT_END.search(body, max(0, len(body) - 60)):
        raise ExpressionError(
            f"'({doubtful[1]})' at the end may be the equation's number, or a factor",
            remedy=f"write ({doubtful[1]}) before the equation, or *{doubtful[1]}",
        )
    if not is_latex:
        for written in expand_index_ranges(body):
            yield from parse_plain_equations(written, symbols)
        return
    ranges: dict[str, range] = {}
    while match := _LATEX_INDEX_RANGE.search(body, max(0, len(body) - 120)):
        last = str(symbols.velocity_count) if match["last"] in ("n", "N") else match["last"]
        for letter in match["letters"].split(","):
            ranges[letter.strip()] = span = _statement_index_span(match["first"], last)
            if not span:
                raise ExpressionError(f"the index {letter.strip()} has no values")
        body = body[: match.start()]
    for part in split_latex_equations(body):
        yield from parse_latex_equations(part, symbols, ranges)


def expand_index_ranges(body: str, count: int = 1) -> Iterator[str]:
    """One line for each value of the indices at its end, sums written out."""
    match = _INDEX_RANGE.search(body)
    if match is None:
        yield _expand_statement_sums(body)
        return
    span = _statement_index_span(match[2], match[3])
    if count * len(span) > MAX_STATEMENTS:
        raise ExpressionError(f"more than {MAX_STATEMENTS} equations", remedy="check in parts")
    for i in span:
        yield from expand_index_ranges(
            body[: match.start()].replace(f"{{{match[1]}}}", str(i)), count * len(span)
        )


def _statement_index_span(first: str, last: str) -> range:
    if len(first) > 4 or len(last) > 4 or int(last) > MAX_STATEMENT_INDEX:
        raise ExpressionError(
            f"the index {shorten_expression_text(last)} is larger than {MAX_STATEMENT_INDEX}"
        )
    return range(int(first), int(last) + 1)


def _expand_statement_sums(text: str) -> str:
    while openings := list(_SUM_OPENING.finditer(text)):
        opening = openings[-1]  # nothing to sum inside it
        depth, end = 1, opening.end()
        while depth:
            if end >= len(text):
                raise ExpressionError(
                    f"a parenthesis is not closed in '{shorten_expression_text(text)}'"
                )
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        term, index = text[opening.end() : end - 1], f"{{{opening[1]}}}"
        span = _statement_index_span(opening[2], opening[3])
        total = " + ".join(f"({term.replace(index, str(i))})" for i in span)
        text = f"{text[: opening.start()]}({total}){text[end:]}"
        if len(text) > MAX_TEXT_LENGTH:
            raise ExpressionError(f"a sum has more than {MAX_TEXT_LENGTH} characters")
    return text
