"""What still fits on a page that a person would read."""

from __future__ import annotations

from typing import Any

from ..algebra.exact.quotient_ring import BudgetError
from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError
from .closed import ClosedForm, closed_form

PAGE = 6000
"""Characters of a page: sixty lines."""
TERMS, TERMS_ON_THE_WAY, SECONDS = 1200, 4000, 2.0
"""Most terms that are printed, most of a polynomial on the way to them, and the time for it."""


def readable(
    eqs: Equations, name: str, *frame: str, page: int = PAGE, **options: Any
) -> ClosedForm | None:
    """The closed form of a quantity, or None where it is longer than a page (in characters)."""
    try:
        budget = {"terms": TERMS_ON_THE_WAY, "seconds": SECONDS} | options
        form = closed_form(eqs, name, *frame, **budget)
        fits = form.terms <= TERMS and len(form.text()) <= page
    except BudgetError:
        return None
    return form if fits else None


def on_a_page(eqs: Equations) -> str | None:
    """M, C and g in LaTeX, those of them that there are and that are readable."""
    parts = []
    for name in ("M", "C", "g"):
        try:
            form = readable(eqs, name)
        except (NameNotFoundError, UnsupportedError):
            continue
        if form is not None:
            parts.append(f"$${form.latex()}$$")
    return "\n\n".join(parts) or None
