"""Displays of results: one line for `repr`, text for `print`, HTML in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape


class SummarizedResult(ABC):
    """A result with a short `repr`; `str` has more to tell where a class defines it."""

    @abstractmethod
    def summary(self) -> str:
        """A description in one line."""

    def __repr__(self) -> str:
        return f"<{self.summary()}>"

    def __str__(self) -> str:
        return self.summary()


class NotebookDisplayed(SummarizedResult):
    """A result that notebooks show as its text, in a fixed-width font."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
