"""A list of tokens with a place in it, and what to say where it cannot be read on."""

from __future__ import annotations

from ..errors import ExpressionError
from ..expressions.tokens import shorten

MAX_STEPS = 60_000


class TokenReader:
    """Tokens, the last of which is empty, and the place where the next is taken."""

    def __init__(self, text: str, tokens: list[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        self.steps = 0

    @property
    def token(self) -> str:
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self) -> str:
        if not self.token:
            raise self.missing()
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.fail("the sums are too long")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *words: str) -> str | None:
        return self.take() if self.token and self.token in words else None

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.fail(f"'{word}' is missing before '{self.token or 'the end'}'")

    def fail(self, what: str, remedy: str = "") -> ExpressionError:
        return ExpressionError(f"{what} in '{shorten(' '.join(self.text.split()))}'", remedy=remedy)

    def missing(self) -> ExpressionError:
        return self.fail("something is missing at the end")

    def unexpected(self) -> ExpressionError:
        if not self.token:
            return self.missing()
        behind = "".join(self.tokens[max(0, self.at - 6) : self.at])
        place = f" after '{behind}'" if behind else ""
        return self.fail(f"unexpected '{self.token}'{place}")
