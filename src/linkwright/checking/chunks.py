"""A text in pieces, one for each equation: plain text by lines, LaTeX by its environments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .text_parser import plain_signs

HEADING = re.compile(r"\[([\w ,-]+)\]")
_LABEL = r"\(?[A-Za-z]?\.?\d+(?:[.-]\d+)*[a-z]?'*\)?[.:]?"
_INNERMOST = re.compile(
    r"\\begin\{((?:[bpvBV]?(?:small)?matrix|array)\*?)\}((?:(?!\\begin\{).)*?)\\end\{\1\}", re.S
)
_EQUATIONS = (
    "equation|align|aligned|alignat|alignedat|flalign|gather|gathered|split|eqnarray|multline|cases"
    "|displaymath|math|dcases|subequations|array"
)
_ENVIRONMENT = re.compile(
    rf"\\(?:begin|end)\{{(?:{_EQUATIONS}|document|center|empheq)\*?\}}(?:\{{[lcr|@{{}}\s\d]*\}})?"
)
_MATH = re.compile(rf"\$\$?|(?<!\\)\\[\[(]|\\begin\{{((?:{_EQUATIONS})\*?)\}}")
_MAX_NESTING = 8
_KEPT = "\x00"
"""Stands around the number of a matrix that was taken out of the text."""
_BREAKS = re.compile(
    r"\\\\(?:\[[^\]]*\])?|\\(?:label|ref|eqref)\{[^}]*\}|\\(?:newline|par)(?![A-Za-z])"
)
_BETWEEN = re.compile(
    r"\\(?:text|mathrm|mbox|quad|qquad)\s*\{\s*,?(?:and|where|with|or|,|;|so|then|thus)?\s*,?\}"
    r"|\\(?:Rightarrow|implies|Longrightarrow|iff|Leftrightarrow|therefore)(?![A-Za-z])"
)
_PIECES = re.compile(r"\\(?:begin|end)(?![A-Za-z])|\\[^A-Za-z]|.", re.S)
_OPENING, _CLOSING = "([{", ")]}"


# -- plain text -----------------------------------------------------------------------------


def plain_chunks(text: str) -> list[str]:
    """Lines without comments; one that begins or ends with an operator continues."""
    chunks: list[str] = []
    for line in plain_signs(text).splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        goes_on = chunks and (chunks[-1][-1] in "+-*/=(,^" or _is_open(chunks[-1]))
        goes_on = goes_on and not _are_two_equations(chunks[-1], stripped)
        begins = stripped[0] in "+*/=" or (stripped[0] == "-" and "=" not in stripped)
        if goes_on or (begins and chunks and not HEADING.fullmatch(chunks[-1])):
            chunks[-1] += f" {stripped}"
        else:
            chunks.append(stripped)
    return chunks


def _are_two_equations(before: str, line: str) -> bool:
    """Whether both have an equals sign outside brackets: then an open bracket or an operator at the
    end of the first is a mistake in it, and no reason to join them."""
    if before.rstrip("& ").endswith("=") or line.lstrip("& ").startswith("="):
        return False
    return _has_equality(before) and _has_equality(line)


def _has_equality(text: str) -> bool:
    """Whether there is an = outside brackets, before any bracket is closed that was not opened."""
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (letter == "=" and not depth):
            return depth == 0
    return False


def _is_open(chunk: str) -> bool:
    return not HEADING.match(chunk) and any(
        chunk.count(a) > chunk.count(b) for a, b in ("()", "[]")
    )


# -- LaTeX ----------------------------------------------------------------------------------


def latex_chunks(text: str) -> list[str]:
    """What stands between \\\\, $ and blank lines; what has no sign of equality continues."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if "=" in match[2]:  # a system of equations
            body = re.sub(r"^\s*\{[^{}]*\}", "", match[2]) if match[1] == "array" else match[2]
            return f"\n\n{body}\n\n"
        kept.append(match[0])
        return f"{_KEPT}{len(kept) - 1}{_KEPT}"

    plain = re.sub(r"(?<!\\)%.*", "", text.replace(_KEPT, " "))
    for _ in range(_MAX_NESTING):
        plain = _INNERMOST.sub(keep, plain)
    chunks: list[str] = []
    for line in _lines_of(_mathematics(plain)):
        if chunks and _continues(line, chunks[-1]):
            chunks[-1] += f" {line}"
        else:
            chunks.append(line)
    return [_restored(chunk, kept) for chunk in chunks]


def _restored(text: str, kept: list[str]) -> str:
    while _KEPT in text:
        text = re.sub(f"{_KEPT}(\\d+){_KEPT}", lambda m: kept[int(m[1])], text)
    return text


def _mathematics(text: str) -> str:
    """Without prose that has no equation, where the text marks its formulas."""
    pieces: list[str] = []
    last, at = "", 0
    for start, inside, end, is_environment in _formulas(text):
        continues = re.match(r"\s*[-+=]", inside) is not None or last.endswith(("+", "-", "="))
        is_kept = "=" in inside or continues or is_environment
        pieces += [_prose(text[at:start]), "\n\n", inside if is_kept else "", "\n\n"]
        last = inside.rstrip() if is_kept else last
        at = end
    pieces.append(_prose(text[at:]) if pieces else text)
    return "".join(pieces)


def _formulas(text: str) -> Iterator[tuple[int, str, int, bool]]:
    """Where each formula begins, its text, where it ends, and whether it is an environment."""
    at = 0
    unclosed: set[str] = set()
    while match := _MATH.search(text, at):
        opening = match[0]
        closing = (
            f"\\end{{{match[1]}}}"
            if match[1]
            else {"\\[": "\\]", "\\(": "\\)"}.get(opening, opening)
        )
        end = -1 if closing in unclosed else text.find(closing, match.end())
        at = match.end()
        if end < 0:
            unclosed.add(closing)
            continue
        at = end + len(closing)
        yield match.start(), text[match.end() : end], at, bool(match[1])


def _prose(text: str) -> str:
    """Lines with equations, headings, and numbers of equations."""
    lines = (line.strip() for line in text.splitlines())
    is_kept = re.compile(rf"!?\s*{_LABEL}|\[[\w ,-]+\]|!|.*=.*|\\tag.*")
    return "\n\n".join(line for line in lines if is_kept.fullmatch(line))


def _lines_of(text: str) -> list[str]:
    plain = re.sub(r"\\tag\*?\{([^}]*)\}", r"\\tag(\1)", text)
    plain = _BREAKS.sub("\n\n", _ENVIRONMENT.sub("\n\n", plain))
    plain = re.sub(r"(?<!\\)\\[\[\]()]|\$+", "\n\n", plain)
    plain = "\n\n".join(map(_columns_apart, re.split(r"\n\s*\n", plain)))
    lines = (line.strip().strip("& ").rstrip(".").strip() for line in plain.splitlines())
    return [
        line for line in lines if line and not re.fullmatch(r"\\(?:left|right)?\s*[.{}|\\]*", line)
    ]


def _columns_apart(row: str) -> str:
    """Equations that stand beside each other in one row, x &= 1 & y &= 2, one below the other."""
    if len(re.findall(r"&\s*=", row)) < 2:
        return row
    equations: list[str] = []
    for cell in row.replace("\n", " ").split("&"):
        if equations and cell.lstrip().startswith("="):
            equations[-1] += cell
        elif cell.strip():
            equations.append(cell)
    return "\n\n".join(equations)


def _continues(line: str, before: str) -> bool:
    if HEADING.fullmatch(before) or HEADING.fullmatch(line) or _are_two_equations(before, line):
        return False
    if (
        re.fullmatch(r"[,;. ]+", line)
        or line.lstrip("& ").startswith("=")
        or before.rstrip("& ").endswith(("=", "+", "-", "(", "["))
    ):
        return True
    return "=" not in line or "=" not in before or _depth(before) > 0


def _depth(text: str) -> int:
    return sum(text.count(c) for c in _OPENING) - sum(text.count(c) for c in _CLOSING)


def split_equations(chunk: str) -> list[str]:
    """Equations of LaTeX in one line, with commas, semicolons or words between them."""
    parts, depth = [""], 0
    for piece in _PIECES.findall(_BETWEEN.sub(" ;; ", chunk)):
        depth += piece in ("\\begin", *_OPENING)
        depth -= piece in ("\\end", *_CLOSING)
        if piece in ",;" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += piece
    parts = [re.sub(r"^(?:\s|\\q?quad(?![A-Za-z])|\\[,;: ])+", "", part).strip() for part in parts]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not all(_is_equation(part) for part in parts):
        return [chunk]
    return parts


def _is_equation(part: str) -> bool:
    """Whether it has both sides, and is no range of an index."""
    if re.fullmatch(r"\(?\s*[i-nr-s]\s*=\s*\d+\s*\)?", part):
        return False
    depth = 0
    for i, letter in enumerate(part):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "=" and depth <= 0:
            return bool(part[:i].strip()) and bool(part[i + 1 :].strip())
    return False
