"""A text in pieces, one for each equation: plain text by lines, LaTeX by its environments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .text_parser import normalize_typography

SECTION_HEADING = re.compile(r"\[([\w ,-]+)\]")
_LABEL_IN_PROSE = r"\(?[A-Za-z]?\.?\d+(?:[.-]\d+)*[a-z]?'*\)?[.:]?"
_INNERMOST_MATRIX = re.compile(
    r"\\begin\{((?:[bpvBV]?(?:small)?matrix|array)\*?)\}((?:(?!\\begin\{).)*?)\\end\{\1\}", re.S
)
_EQUATION_ENVIRONMENTS = (
    "equation|align|aligned|alignat|alignedat|flalign|gather|gathered|split|eqnarray|multline|cases"
    "|displaymath|math|dcases|subequations|array"
)
_ENVIRONMENT_COMMAND = re.compile(
    rf"\\(?:begin|end)\{{(?:{_EQUATION_ENVIRONMENTS}|document|center|empheq)\*?\}}(?:\{{[lcr|@{{}}\s\d]*\}})?"
)
_FORMULA_OPENING = re.compile(
    rf"\$\$?|(?<!\\)\\[\[(]|\\begin\{{((?:{_EQUATION_ENVIRONMENTS})\*?)\}}"
)
_MAX_MATRIX_NESTING = 8
_MATRIX_PLACEHOLDER = "\x00"
"""Stands around the number of a matrix that was taken out of the text."""
_LATEX_LINE_BREAKS = re.compile(
    r"\\\\(?:\[[^\]]*\])?|\\(?:label|ref|eqref)\{[^}]*\}|\\(?:newline|par)(?![A-Za-z])"
)
_EQUATION_SEPARATORS = re.compile(
    r"\\(?:text|mathrm|mbox|quad|qquad)\s*\{\s*,?(?:and|where|with|or|,|;|so|then|thus)?\s*,?\}"
    r"|\\(?:Rightarrow|implies|Longrightarrow|iff|Leftrightarrow|therefore)(?![A-Za-z])"
)
_LATEX_PIECES = re.compile(r"\\(?:begin|end)(?![A-Za-z])|\\[^A-Za-z]|.", re.S)
_OPENING_BRACKETS, _CLOSING_BRACKETS = "([{", ")]}"


# -- plain text -----------------------------------------------------------------------------


def chunk_plain_text(text: str) -> list[str]:
    """The lines without comments; a line that begins or ends with an operator continues the
    equation."""
    chunks: list[str] = []
    for line in normalize_typography(text).splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        goes_on = chunks and (chunks[-1][-1] in "+-*/=(,^" or _has_open_bracket(chunks[-1]))
        goes_on = goes_on and not _are_two_equations(chunks[-1], stripped)
        begins = stripped[0] in "+*/=" or (stripped[0] == "-" and "=" not in stripped)
        if goes_on or (begins and chunks and not SECTION_HEADING.fullmatch(chunks[-1])):
            chunks[-1] += f" {stripped}"
        else:
            chunks.append(stripped)
    return chunks


def _are_two_equations(before: str, line: str) -> bool:
    """Whether both have an equals sign outside brackets: then an open bracket or an operator at the
    end of the first is a mistake in it, and no reason to join them."""
    if before.rstrip("& ").endswith("=") or line.lstrip("& ").startswith("="):
        return False
    return _has_equals_sign(before) and _has_equals_sign(line)


def _has_equals_sign(text: str) -> bool:
    """Whether there is an = outside brackets, before any bracket is closed that was not opened."""
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (letter == "=" and not depth):
            return depth == 0
    return False


def _has_open_bracket(chunk: str) -> bool:
    return not SECTION_HEADING.match(chunk) and any(
        chunk.count(a) > chunk.count(b) for a, b in ("()", "[]")
    )


# -- LaTeX ----------------------------------------------------------------------------------


def chunk_latex(text: str) -> list[str]:
    r"""The pieces between \\, $ and blank lines; a piece without a sign of equality continues
    the last one."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if "=" in match[2]:  # a system of equations
            body = re.sub(r"^\s*\{[^{}]*\}", "", match[2]) if match[1] == "array" else match[2]
            return f"\n\n{body}\n\n"
        kept.append(match[0])
        return f"{_MATRIX_PLACEHOLDER}{len(kept) - 1}{_MATRIX_PLACEHOLDER}"

    plain = re.sub(r"(?<!\\)%.*", "", text.replace(_MATRIX_PLACEHOLDER, " "))
    for _ in range(_MAX_MATRIX_NESTING):
        plain = _INNERMOST_MATRIX.sub(keep, plain)
    chunks: list[str] = []
    for line in _split_latex_lines(_drop_latex_prose(plain)):
        if chunks and _continues_equation(line, chunks[-1]):
            chunks[-1] += f" {line}"
        else:
            chunks.append(line)
    return [_restore_latex_matrices(chunk, kept) for chunk in chunks]


def _restore_latex_matrices(text: str, kept: list[str]) -> str:
    while _MATRIX_PLACEHOLDER in text:
        text = re.sub(
            f"{_MATRIX_PLACEHOLDER}(\\d+){_MATRIX_PLACEHOLDER}", lambda m: kept[int(m[1])], text
        )
    return text


def _drop_latex_prose(text: str) -> str:
    """Drop prose that has no equation, where the text marks its formulas."""
    pieces: list[str] = []
    last, at = "", 0
    for start, inside, end, is_environment in _find_latex_formulas(text):
        continues = re.match(r"\s*[-+=]", inside) is not None or last.endswith(("+", "-", "="))
        is_kept = "=" in inside or continues or is_environment
        pieces += [_keep_equation_lines(text[at:start]), "\n\n", inside if is_kept else "", "\n\n"]
        last = inside.rstrip() if is_kept else last
        at = end
    pieces.append(_keep_equation_lines(text[at:]) if pieces else text)
    return "".join(pieces)


def _find_latex_formulas(text: str) -> Iterator[tuple[int, str, int, bool]]:
    """The start, text and end of each formula, and whether it is an environment."""
    at = 0
    unclosed: set[str] = set()
    while match := _FORMULA_OPENING.search(text, at):
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


def _keep_equation_lines(text: str) -> str:
    """The lines with equations, headings, and numbers of equations."""
    lines = (line.strip() for line in text.splitlines())
    is_kept = re.compile(rf"!?\s*{_LABEL_IN_PROSE}|\[[\w ,-]+\]|!|.*=.*|\\tag.*")
    return "\n\n".join(line for line in lines if is_kept.fullmatch(line))


def _split_latex_lines(text: str) -> list[str]:
    plain = re.sub(r"\\tag\*?\{([^}]*)\}", r"\\tag(\1)", text)
    plain = _LATEX_LINE_BREAKS.sub("\n\n", _ENVIRONMENT_COMMAND.sub("\n\n", plain))
    plain = re.sub(r"(?<!\\)\\[\[\]()]|\$+", "\n\n", plain)
    plain = "\n\n".join(map(_split_aligned_columns, re.split(r"\n\s*\n", plain)))
    lines = (line.strip().strip("& ").rstrip(".").strip() for line in plain.splitlines())
    return [
        line for line in lines if line and not re.fullmatch(r"\\(?:left|right)?\s*[.{}|\\]*", line)
    ]


def _split_aligned_columns(row: str) -> str:
    """The equations that stand side by side in one row, x &= 1 & y &= 2, one below the other."""
    if len(re.findall(r"&\s*=", row)) < 2:
        return row
    equations: list[str] = []
    for cell in row.replace("\n", " ").split("&"):
        if equations and cell.lstrip().startswith("="):
            equations[-1] += cell
        elif cell.strip():
            equations.append(cell)
    return "\n\n".join(equations)


def _continues_equation(line: str, before: str) -> bool:
    if (
        SECTION_HEADING.fullmatch(before)
        or SECTION_HEADING.fullmatch(line)
        or _are_two_equations(before, line)
    ):
        return False
    if (
        re.fullmatch(r"[,;. ]+", line)
        or line.lstrip("& ").startswith("=")
        or before.rstrip("& ").endswith(("=", "+", "-", "(", "["))
    ):
        return True
    return "=" not in line or "=" not in before or _bracket_depth_of_statement(before) > 0


def _bracket_depth_of_statement(text: str) -> int:
    return sum(text.count(c) for c in _OPENING_BRACKETS) - sum(
        text.count(c) for c in _CLOSING_BRACKETS
    )


def split_latex_equations(chunk: str) -> list[str]:
    """The equations in one line of LaTeX, with commas, semicolons or words between them."""
    parts, depth = [""], 0
    for piece in _LATEX_PIECES.findall(_EQUATION_SEPARATORS.sub(" ;; ", chunk)):
        depth += piece in ("\\begin", *_OPENING_BRACKETS)
        depth -= piece in ("\\end", *_CLOSING_BRACKETS)
        if piece in ",;" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += piece
    parts = [re.sub(r"^(?:\s|\\q?quad(?![A-Za-z])|\\[,;: ])+", "", part).strip() for part in parts]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not all(_has_both_sides(part) for part in parts):
        return [chunk]
    return parts


def _has_both_sides(part: str) -> bool:
    """Whether it has both sides, and is not a range of an index."""
    if re.fullmatch(r"\(?\s*[i-nr-s]\s*=\s*\d+\s*\)?", part):
        return False
    depth = 0
    for i, letter in enumerate(part):
        depth += (letter in _OPENING_BRACKETS) - (letter in _CLOSING_BRACKETS)
        if letter == "=" and depth <= 0:
            return bool(part[:i].strip()) and bool(part[i + 1 :].strip())
    return False
