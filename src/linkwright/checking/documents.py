r"""The equations of a document: a LaTeX file with a preamble and prose, or a page of Markdown.

Displayed formulas (`\[ \]`, `$$ $$`, equation, align, …; in Markdown also fenced blocks) are kept,
and the prose around them is left out. Where nothing is displayed, formulas within lines that have
an `=` are kept (`$x = 1$`); where there are none of these either, the document is all equations.
"""

from __future__ import annotations

import re

_DISPLAY_ENVIRONMENTS = (
    "equation|align|alignat|gather|multline|eqnarray|displaymath|flalign|math"  # with or without *
)
_DISPLAYED_FORMULA = re.compile(
    rf"\\begin\{{(?P<name>(?:{_DISPLAY_ENVIRONMENTS})\*?)\}}.*?\\end\{{(?P=name)\}}"
    r"|\\\[.*?\\\]|\$\$.*?\$\$",
    re.S,
)
_INLINE_EQUATION = re.compile(r"(?<![\\$])\$(?!\$)([^$]*?=[^$]*?)(?<!\\)\$|\\\((.*?=.*?)\\\)", re.S)
_FENCED_BLOCK = re.compile(r"^ {0,3}(```|~~~)[^\n]*\n(.*?)^ {0,3}\1", re.S | re.M)
_DOCUMENT_BODY = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.S)


def extract_document_equations(text: str, ending: str) -> str:
    """The part of a text that is equations; `ending` is .txt, .tex or .md."""
    text = text.replace("\r\n", "\n")
    if ending == ".txt":
        return text
    if ending == ".md":
        return _extract_formulas_of_homework(text, [*_FENCED_BLOCK.finditer(text)])
    plain = re.sub(r"(?<!\\)%.*", "", text)
    body = _DOCUMENT_BODY.search(plain)
    return _extract_formulas_of_homework(body[1] if body else plain, [])


def _extract_formulas_of_homework(text: str, blocks: list[re.Match[str]]) -> str:
    """Displayed formulas and fenced blocks in their order."""
    rest = _FENCED_BLOCK.sub(lambda match: " " * len(match[0]), text) if blocks else text
    places = {match.start(): match[2] for match in blocks}
    places |= {match.start(): match[0] for match in _DISPLAYED_FORMULA.finditer(rest)}
    kept = [places[at] for at in sorted(places)]
    kept = kept or [f"${match[1] or match[2]}$" for match in _INLINE_EQUATION.finditer(rest)]
    return "\n\n".join(kept) if kept else text
