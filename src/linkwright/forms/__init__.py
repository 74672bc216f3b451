"""Closed forms that people can read: canonical polynomials, collected and printed."""

from .closed import ClosedForm, closed_form, form_of
from .equation_page import on_a_page, readable
from .sources import SHORT, Source, closed_only

__all__ = [
    "SHORT", "ClosedForm", "Source", "closed_form", "closed_only", "form_of", "on_a_page",
    "readable",
]  # fmt: skip
