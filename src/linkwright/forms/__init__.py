"""Closed forms that people can read: canonical polynomials, collected and printed."""

from .closed import ClosedForm, closed_form
from .page import on_a_page, readable

__all__ = ["ClosedForm", "closed_form", "on_a_page", "readable"]
