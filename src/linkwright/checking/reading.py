"""Texts to equations: plain text, the notation of the gallery's `*.equations.txt`, LaTeX.

# a comment                        [hamilton]  a heading; names defined before it are forgotten
(60) left = right                  an equation with its number
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

from ..errors import ExpressionError
from ..expressions import Expression, Name, parse
from ..expressions.latex import parse_latex
from ..expressions.tokens import normalise, shorten

MAX_TEXT = 200_000
MAX_LINES = 3_000
MAX_INDEX = 100

_NUMBER = re.compile(
    r"(?P<wrong>!\s*)?(?:\((?P<paren>[^()=]{1,30})\)\s+(?![-+*/=^])"
    r"|(?:[Ee]q(?:uation|\.)?\s*)?\(?(?P<plain>\d+[\d.]*)\)?[.):]\s+)?(?P<body>.+)",
    re.S,
)
_RANGE = re.compile(r",\s*(\w+) = (\d+)\.\.(\d+)\s*$")
_INNERMOST = re.compile(r"sum\((\w+) = (\d+)\.\.(\d+): ")
_MATRIX = re.compile(
    r"\\begin\{[bpvBV]?(?:small)?matrix\}(.*?)\\end\{[bpvBV]?(?:small)?matrix\}", re.S
)
_DEPENDENCE = re.compile(  # of M(q), C_{12}(q, \dot q), \phi_1(\mathbf{q}), q_1(t)
    r"((?:(?<![A-Za-z\\])[MDCGHVTKLUPJBgd]|\\phi|\\tau|\\theta|(?<![A-Za-z\\])q)\}?(?:_\d|_\{[\d,]+\})?)"
    r"\s*\\?(?:left)?\(\s*(?:\\(?:mathbf|boldsymbol|bm|vec|dot|ddot|theta)\b|[{}\sqt,])+"
    r"\\?(?:right)?\)"
)
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\{(?:equation|align|aligned|alignat|gather|gathered|split|eqnarray|multline"
    r"|cases|displaymath|math|document|array)\*?\}(?:\{[lcr|]*\})?"
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


def checked_size(text: str) -> str:
    """The text, unless it is too long."""
    if len(text) > MAX_TEXT:
        raise ExpressionError(
            f"the text has {len(text)} characters, more than {MAX_TEXT}", remedy="check it in parts"
        )
    return text


def read_text(text: str) -> list[Line]:
    """All equations of a text."""
    text = re.sub(r"(?m)(?<!\\)#.*", "", text)
    is_latex = re.search(r"\\[A-Za-z]|[_^]\{\w*\d", text) is not None
    chunks = _latex_chunks(text) if is_latex else _plain_chunks(text)
    found: list[Line] = []
    section = ""
    for chunk in chunks:
        if heading := re.fullmatch(r"\[([\w ,-]+)\]", chunk):
            section = heading[1]
            continue
        for line in _lines(chunk, is_latex, str(1 + len({x.number for x in found}))):
            found.append(replace(line, section=section))
            if len(found) > MAX_LINES:
                raise ExpressionError(f"more than {MAX_LINES} equations", remedy="check in parts")
    if not found:
        raise ExpressionError("there is no equation in the text", remedy="write left = right")
    return found


# -- from text to chunks, one for each equation ---------------------------------------------


def _plain_chunks(text: str) -> list[str]:
    """Lines without comments; one that begins or ends with an operator continues."""
    chunks: list[str] = []
    for line in normalise(text).splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        goes_on = chunks and (chunks[-1][-1] in "+-*/=(,^" or _open(chunks[-1]))
        begins = stripped[0] in "+*/" or (stripped[0] == "-" and "=" not in stripped)
        if goes_on or (begins and chunks):
            chunks[-1] += f" {stripped}"
        else:
            chunks.append(stripped)
    return chunks


def _open(chunk: str) -> bool:
    return not chunk.startswith("[") and chunk.count("(") > chunk.count(")")


def _latex_chunks(text: str) -> list[str]:
    """What stands between \\\\, $ and blank lines; what has no sign of equality continues."""
    plain = re.sub(r"(?<!\\)%.*", "", text)
    matrices: list[str] = []

    def kept(match: re.Match[str]) -> str:
        matrices.append(match[0])
        return f"\x00{len(matrices) - 1}\x00"

    plain = _ENVIRONMENT.sub("\n\n", _MATRIX.sub(kept, plain))
    plain = re.sub(r"\\\[|\\\]|\\\(|\\\)|\$+|\\\\(?:\[[^\]]*\])?|\\label\{[^}]*\}", "\n\n", plain)
    plain = re.sub(r"\\tag\*?\{([^}]*)\}", r"\\tag(\1)", plain)
    chunks: list[str] = []
    for part in re.split(r"\n\s*\n", plain):
        for line in part.splitlines():
            stripped = line.strip().strip(",;.& ").strip()
            if not stripped:
                continue
            goes_on = chunks and ("=" not in stripped or "=" not in chunks[-1])
            if goes_on and not re.fullmatch(r"\[([\w ,-]+)\]", chunks[-1]):
                chunks[-1] += f" {stripped}"
            else:
                chunks.append(stripped)
    return [re.sub("\x00(\\d+)\x00", lambda m: matrices[int(m[1])], chunk) for chunk in chunks]


# -- from a chunk to equations --------------------------------------------------------------


def _lines(chunk: str, is_latex: bool, default: str) -> Iterator[Line]:
    match = _NUMBER.fullmatch(chunk)
    assert match is not None
    number = match["paren"] or match["plain"] or default
    body = match["body"]
    if tag := re.search(r"\\tag\(([^)]*)\)", body):
        number, body = tag[1], body.replace(tag[0], "")
    common = Line(number, Name("x"), Name("x"), chunk, is_said_wrong=bool(match["wrong"]))
    for written in [body] if is_latex else each(body):
        for left, right, is_definition in _sides(written, is_latex, chunk):
            for name, entry in _entries(left, right, is_latex):
                yield replace(
                    common,
                    left=_parsed(name, is_latex),
                    right=_parsed(entry, is_latex),
                    is_definition=is_definition,
                )


def _parsed(text: str, is_latex: bool) -> Expression:
    return parse_latex(text) if is_latex else parse(text)


def _sides(body: str, is_latex: bool, chunk: str) -> Iterator[tuple[str, str, bool]]:
    """Left and right; a chain a = b = c is a = b and a = c."""
    text = re.sub(r"\\(?:equiv|triangleq|coloneqq)\b", ":=", body) if is_latex else body
    if is_latex:
        text = _DEPENDENCE.sub(r"\1", text)
    is_definition = ":=" in text
    parts = text.replace(":=", "=").split("=")
    if len(parts) < 2:
        raise ExpressionError(
            f"there is no '=' in '{shorten(chunk)}'", remedy="write equations as left = right"
        )
    for right in parts[1:]:
        yield parts[0], right, is_definition


def each(body: str) -> Iterator[str]:
    """One line for each value of the indices at its end, sums written out."""
    match = _RANGE.search(body)
    if match is None:
        yield _summed(body)
        return
    for i in _span(match[2], match[3]):
        yield from each(body[: match.start()].replace(f"{{{match[1]}}}", str(i)))


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


# -- matrices -------------------------------------------------------------------------------


def _entries(left: str, right: str, is_latex: bool) -> Iterator[tuple[str, str]]:
    """The equation itself; of a matrix, one for each entry."""
    for name, value in ((left, right), (right, left)):
        rows = _latex_rows(value) if is_latex else _plain_rows(value)
        if rows is None:
            continue
        word = name.strip()
        for i, row in enumerate(rows, 1):
            for j, entry in enumerate(row, 1):
                single = len(rows) == 1 or len(row) == 1
                index = str(max(i, j)) if single else f"{i}{j}" if max(i, j) < 10 else f"{i},{j}"
                yield (f"{word}_{{{index}}}" if is_latex else word + index), entry
        return
    yield left, right


def _latex_rows(text: str) -> list[list[str]] | None:
    match = _MATRIX.fullmatch(re.sub(r"\\(?:left|right)\s*[\[\]()]", "", text).strip())
    if match is None:
        return None
    rows = re.split(r"\\\\(?:\[[^\]]*\])?", match[1])
    return [[cell.strip() for cell in row.split("&")] for row in rows if row.strip()]


def _plain_rows(text: str) -> list[list[str]] | None:
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    inner = stripped[1:-1].strip()
    if inner.startswith("["):
        return [_split(row.strip().strip("[]"), ",") for row in _split(inner, ",")]
    return [_split(row, ",") for row in _split(inner, ";")]


def _split(text: str, mark: str) -> list[str]:
    """At marks outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
