"""The one tokenizer of numbers, names and operators; it evaluates nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import ExpressionError

MAX_EXPRESSION_LENGTH = 10_000

_TOKEN_PATTERN = re.compile(
    r"\s*(?:"
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\.\w+)*)"
    r"|(?P<operator>\*\*|[-+*/^(),])"
    r"|(?P<end>$)"
    r")"
)
_INDEXED_TOKEN_PATTERN = re.compile(_TOKEN_PATTERN.pattern.replace("[-+*/^(),]", r"[-+*/^(),\[\]]"))
"""The same, with the brackets of indices."""

_PLAIN_SPELLINGS = str.maketrans({"·": "*", "×": "*", "−": "-", "π": "pi", "²": "^2", "³": "^3"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind ("number", "name", "operator" or "end"), its text and its position."""

    kind: str  # "number", "name", "operator" or "end"
    text: str
    start: int


def tokenize_expression(text: str, *, has_indices: bool = False) -> list[Token]:
    """Splits normalized text into tokens; the last one is of kind "end"."""
    pattern = _INDEXED_TOKEN_PATTERN if has_indices else _TOKEN_PATTERN
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise ExpressionError(
            f"the expression has {len(text)} characters, more than {MAX_EXPRESSION_LENGTH}",
            remedy="split it with named parameters",
        )
    tokens: list[Token] = []
    at = 0
    while not tokens or tokens[-1].kind != "end":
        match = pattern.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            raise ExpressionError(f"cannot read '{rest[0]}' in '{shorten_expression_text(text)}'")
        kind = match.lastgroup or "end"
        word = match.group(kind)
        tokens.append(Token(kind, "^" if word == "**" else word, match.start(kind)))
        at = match.end()
    return tokens


def normalize_expression_spelling(text: str) -> str:
    """The text with typographic characters (·, −, π, ²) replaced by plain ones."""
    return text.translate(_PLAIN_SPELLINGS)


def shorten_expression_text(text: str, width: int = 60) -> str:
    """The text, cut to `width` characters with an ellipsis."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
