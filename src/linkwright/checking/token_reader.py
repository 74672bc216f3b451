"""A list of tokens with a place in it, and what to say where it cannot be read on."""

from __future__ import annotations

from ..errors import ExpressionError
from ..expressions.tokens import shorten_expression_text

MAX_PARSER_STEPS = 60_000


class StatementTokenReader:
    """A list of tokens, the last of which is empty, with the position of the next one."""

    def __init__(self, text: str, tokens: list[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.position = 0
        self.step_count = 0

    @property
    def token(self) -> str:
        """The current token; empty at the end."""
        return self.tokens[self.position]

    def peek(self, ahead: int = 1) -> str:
        """The token some places ahead; empty behind the end."""
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self) -> str:
        """Take the current token and go to the next; an error at the end."""
        if not self.token:
            raise self.missing_token_error()
        self.step_count += 1
        if self.step_count > MAX_PARSER_STEPS:
            raise self.parse_error("the sums are too long")
        self.position += 1
        return self.tokens[self.position - 1]

    def accept(self, *words: str) -> str | None:
        """Take the current token if it is one of the words; else None."""
        return self.take() if self.token and self.token in words else None

    def expect(self, word: str) -> None:
        """Take a given word; an error if another token stands here."""
        if not self.accept(word):
            raise self.parse_error(f"'{word}' is missing before '{self.token or 'the end'}'")

    def parse_error(self, what: str, remedy: str = "") -> ExpressionError:
        """An error about the equation that is being read, with its text."""
        return ExpressionError(
            f"{what} in '{shorten_expression_text(' '.join(self.text.split()))}'", remedy=remedy
        )

    def missing_token_error(self) -> ExpressionError:
        """The error for an equation that ends too early."""
        return self.parse_error("something is missing at the end")

    def unexpected_token_error(self) -> ExpressionError:
        """The error for the current token, with what stands before it."""
        if not self.token:
            return self.missing_token_error()
        behind = "".join(self.tokens[max(0, self.position - 6) : self.position])
        place = f" after '{behind}'" if behind else ""
        return self.parse_error(f"unexpected '{self.token}'{place}")
