"""A list of tokens with a place in it, and what to say where it cannot be read on."""

from __future__ import annotations

from ..errors import ExpressionError
from ..expressions.tokens import shorten_text

MAX_PARSER_STEPS = 60_000


class TokenReader:
    """Tokens, the last of which is empty, and the place where the next is taken."""

    def __init__(self, text: str, tokens: list[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.position = 0
        self.step_count = 0

    @property
    def token(self) -> str:
        return self.tokens[self.position]

    def peek(self, ahead: int = 1) -> str:
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self) -> str:
        if not self.token:
            raise self.missing_token_error()
        self.step_count += 1
        if self.step_count > MAX_PARSER_STEPS:
            raise self.parse_error("the sums are too long")
        self.position += 1
        return self.tokens[self.position - 1]

    def accept(self, *words: str) -> str | None:
        return self.take() if self.token and self.token in words else None

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.parse_error(f"'{word}' is missing before '{self.token or 'the end'}'")

    def parse_error(self, what: str, remedy: str = "") -> ExpressionError:
        return ExpressionError(
            f"{what} in '{shorten_text(' '.join(self.text.split()))}'", remedy=remedy
        )

    def missing_token_error(self) -> ExpressionError:
        return self.parse_error("something is missing at the end")

    def unexpected_token_error(self) -> ExpressionError:
        if not self.token:
            return self.missing_token_error()
        behind = "".join(self.tokens[max(0, self.position - 6) : self.position])
        place = f" after '{behind}'" if behind else ""
        return self.parse_error(f"unexpected '{self.token}'{place}")
