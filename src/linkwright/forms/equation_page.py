"""Limits on the size of closed forms that are printed on a page."""

from __future__ import annotations

from ..algebra.exact.polynomial_budget import BudgetError
from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError
from .closed_forms import ClosedForm, closed_form

PAGE_CHARACTERS = 6000
"""Characters of a page of about sixty lines."""
MAX_PRINTED_TERMS, MAX_INTERMEDIATE_TERMS, MAX_FORM_SECONDS = 1200, 4000, 2.0
"""Limits on printed terms, on terms of intermediate polynomials, and on the time in seconds."""


def readable_closed_form(
    eqs: Equations, name: str, *frame: str, page: int = PAGE_CHARACTERS
) -> ClosedForm | None:
    """The closed form of a quantity, or None if it is longer than a page of `page` characters."""
    try:
        form = closed_form(
            eqs, name, *frame, terms=MAX_INTERMEDIATE_TERMS, seconds=MAX_FORM_SECONDS
        )
        fits = form.terms <= MAX_PRINTED_TERMS and len(form.text()) <= page
    except BudgetError:
        return None
    return form if fits else None


def readable_equations_latex(eqs: Equations) -> str | None:
    """M, C and g in LaTeX, as far as they exist and are readable."""
    parts = []
    for name in ("M", "C", "g"):
        try:
            form = readable_closed_form(eqs, name)
        except (NameNotFoundError, UnsupportedError):
            continue
        if form is not None:
            parts.append(f"$${form.latex()}$$")
    return "\n\n".join(parts) or None
