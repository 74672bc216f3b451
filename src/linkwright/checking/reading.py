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
from ..expressions.tokens import MAX_LENGTH, shorten
from ..mechanism import Mechanism
from .chunks import HEADING, latex_chunks, plain_chunks, split_equations
from .latex_parser import read_latex
from .symbols import Symbols, symbols_of
from .text_parser import read_plain

MAX_TEXT = 200_000
MAX_LINES = 3_000
MAX_INDEX = 100

_NUMBER = r"(?:[A-Za-z][.-])?\d+(?:[.-]\d+)*[a-z]?'*"
_LABEL = re.compile(
    rf"(?P<wrong>!\s*)?(?:\((?P<words>[^()=]{{1,30}})\):\s*|\((?P<paren>{_NUMBER})\)\s+(?![*/=^]|\\cdot|\\times)"
    rf"|[Ee]q(?:uation|\.)?\s*\(?(?P<named>{_NUMBER})\)?[.:]?\s+|(?P<plain>\d{{1,4}}[\d.]{{0,12}})[.):]\s+)?(?P<body>.+)",
    re.S,
)
_AT_END = re.compile(
    r"(?:\\q?quad|\\hfill|\\eqno|\\hspace\*?\{[^{}]*\}|(?:\\ ){2})(?:\s|\\q?quad|\\[,;: ])*"
    rf"\(({_NUMBER})\)\s*$"
)
_DOUBTFUL_END = re.compile(rf"(?<!sin)(?<!cos)(?<!tan)[\s\]}})]\(({_NUMBER})\)\s*$")
_TAG = re.compile(r"\\tag\(\(?([^()]*)\)?\)")
_RANGE = re.compile(r",\s*(\w+) = (\d+)\.\.(\d+)\s*$")
_INNERMOST = re.compile(r"sum\((\w+) = (\d+)\.\.(\d+): ")
_LATEX_RANGE = re.compile(
    r"[,;]?(?:\s|\\q?quad|\\[,;: ])*\(?\s*"
    r"(?:\\(?:text|mathrm|mbox)\{\s*(?:for|with)?\s*(?:all)?\s*\}|for|\\forall)?"
    r"(?:\s|\\[,;: ])*(?P<letters>[a-z](?:\s*,\s*[a-z])*)\s*(?:=|\\in)\s*\\?\{?\s*"
    r"(?P<first>\d+)\s*,(?:\s*\d+\s*,)*\s*(?:(?:\\[lc]?dots|\.\.+|…)\s*,?\s*)?(?P<last>\d+|[nN])\s*\\?\}?\s*\)?\s*$"
)


@dataclass(frozen=True)
class Line:
    """One equation, or the definition of the name on its left."""

    number: str
    left: Expression
    right: Expression
    text: str
    section: str = ""
    is_definition: bool = False
    is_said_wrong: bool = False


@dataclass(frozen=True)
class Unreadable:
    """An equation that cannot be read, and why."""

    number: str
    text: str
    error: ExpressionError
    section: str = ""
    is_said_wrong: bool = False


def checked_size(text: str) -> str:
    """The text, unless it is too long."""
    if len(text) > MAX_TEXT:
        raise ExpressionError(
            f"the text has {len(text)} characters, more than {MAX_TEXT}", remedy="check it in parts"
        )
    return text


def read_text(text: str, mechanism: Mechanism | None = None) -> list[Line | Unreadable]:
    """All equations of a text, in its order; those that cannot be read with the reason.

    Where none can be read, the first reason is raised.
    """
    text = re.sub(r"(?m)(?<!\\)#.*", "", text)
    is_latex = re.search(r"\\[A-Za-z]|[_^]\{\w*\d|_\{[A-Za-z]{2,}|\^\{|\$", text) is not None
    symbols = symbols_of(mechanism, text)
    found: list[Line | Unreadable] = []
    section = ""
    for chunk in latex_chunks(text) if is_latex else plain_chunks(text):
        if heading := HEADING.fullmatch(chunk):
            section = heading[1]
            continue
        default = str(1 + len({x.number for x in found}))
        for line in _lines(chunk, is_latex, default, symbols):
            found.append(replace(line, section=section))
            if len(found) > MAX_LINES:
                raise ExpressionError(f"more than {MAX_LINES} equations", remedy="check in parts")
    if not found:
        raise ExpressionError("there is no equation in the text", remedy="write left = right")
    failed = [line for line in found if isinstance(line, Unreadable)]
    if len(failed) == len(found):
        raise failed[0].error
    return found


# -- from a chunk to equations --------------------------------------------------------------


def _lines(
    chunk: str, is_latex: bool, default: str, symbols: Symbols
) -> Iterator[Line | Unreadable]:
    """The equations of a chunk; the chunk itself, with the reason, if it cannot be read."""
    number, body, is_said_wrong = _numbered(chunk, default, symbols)
    try:
        sides = list(islice(_sides(body, is_latex, symbols), MAX_LINES + 1))
    except ExpressionError as error:
        yield Unreadable(number, chunk, error, is_said_wrong=is_said_wrong)
        return
    for left, right, is_definition in sides:
        yield Line(
            number, left, right, chunk, is_definition=is_definition, is_said_wrong=is_said_wrong
        )


def _numbered(chunk: str, default: str, symbols: Symbols) -> tuple[str, str, bool]:
    """The number of an equation, its text, and whether it is said to be wrong."""
    match = _LABEL.fullmatch(chunk)
    assert match is not None
    body = match["body"]
    if match["paren"] and _is_factor(match["paren"], body, symbols):
        return default, _trimmed(chunk.removeprefix("!")), bool(match["wrong"])
    number = match["words"] or match["paren"] or match["named"] or match["plain"] or default
    if tag := _TAG.search(body):
        number, body = tag[1], body.replace(tag[0], "")
    elif at_end := _AT_END.search(body, max(0, len(body) - 60)):
        number, body = at_end[1], body[: at_end.start()]
    return number, _trimmed(body), bool(match["wrong"])


def _trimmed(body: str) -> str:
    """Without what punctuation and spaces stand round it, and without a box."""
    plain = re.sub(r"(?:\\[,;:! ]|[,;.&\s])+$", "", body[-200:])
    plain = (body[:-200] + plain).strip(",;& \n")
    box = re.fullmatch(r"\\(?:boxed|fbox)\s*\{(.*)\}", plain, re.S)
    return box[1] if box else plain


def _is_factor(label: str, body: str, symbols: Symbols) -> bool:
    """Whether (2m) before an equation is twice a symbol m of the text or mechanism."""
    letter = label.rstrip("'")[-1]
    if not letter.isalpha():
        return False
    return (
        symbols.is_own(letter)
        or re.search(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])", body) is not None
    )


def _sides(
    body: str, is_latex: bool, symbols: Symbols
) -> Iterator[tuple[Expression, Expression, bool]]:
    """Left, right and whether it is a definition, of all equations in the text of one."""
    if len(body) > MAX_LENGTH:
        raise ExpressionError(
            f"an equation has {len(body)} characters, more than {MAX_LENGTH}",
            remedy="split it with names of your own",
        )
    if doubtful := _DOUBTFUL_END.search(body, max(0, len(body) - 60)):
        raise ExpressionError(
            f"'({doubtful[1]})' at the end may be the equation's number, or a factor",
            remedy=f"write ({doubtful[1]}) before the equation, or *{doubtful[1]}",
        )
    if not is_latex:
        for written in each(body):
            yield from read_plain(written, symbols)
        return
    ranges: dict[str, range] = {}
    while match := _LATEX_RANGE.search(body, max(0, len(body) - 120)):
        last = str(symbols.size) if match["last"] in ("n", "N") else match["last"]
        for letter in match["letters"].split(","):
            ranges[letter.strip()] = span = _span(match["first"], last)
            if not span:
                raise ExpressionError(f"the index {letter.strip()} has no values")
        body = body[: match.start()]
    for part in split_equations(body):
        yield from read_latex(part, symbols, ranges)


def each(body: str, count: int = 1) -> Iterator[str]:
    """One line for each value of the indices at its end, sums written out."""
    match = _RANGE.search(body)
    if match is None:
        yield _summed(body)
        return
    span = _span(match[2], match[3])
    if count * len(span) > MAX_LINES:
        raise ExpressionError(f"more than {MAX_LINES} equations", remedy="check in parts")
    for i in span:
        yield from each(body[: match.start()].replace(f"{{{match[1]}}}", str(i)), count * len(span))


def _span(first: str, last: str) -> range:
    if len(first) > 4 or len(last) > 4 or int(last) > MAX_INDEX:
        raise ExpressionError(f"the index {shorten(last)} is larger than {MAX_INDEX}")
    return range(int(first), int(last) + 1)


def _summed(text: str) -> str:
    while openings := list(_INNERMOST.finditer(text)):
        opening = openings[-1]  # nothing to sum inside it
        depth, end = 1, opening.end()
        while depth:
            if end >= len(text):
                raise ExpressionError(f"a parenthesis is not closed in '{shorten(text)}'")
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        term, index = text[opening.end() : end - 1], f"{{{opening[1]}}}"
        span = _span(opening[2], opening[3])
        total = " + ".join(f"({term.replace(index, str(i))})" for i in span)
        text = f"{text[: opening.start()]}({total}){text[end:]}"
        if len(text) > MAX_TEXT:
            raise ExpressionError(f"a sum has more than {MAX_TEXT} characters")
    return text
