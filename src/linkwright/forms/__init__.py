"""Readable closed forms: canonical polynomials with collected terms, and their printing."""

from .closed_forms import ClosedForm, closed_form, make_closed_form
from .equation_page import readable_closed_form, readable_equations_latex
from .equation_set_typesetting import TypesetEquationSet, typeset_equation_set
from .form_sources import (
    SHORT_QUANTITY_NAMES,
    FormSource,
    closed_form_quantities,
    full_quantity_name,
)

__all__ = [
    "SHORT_QUANTITY_NAMES",
    "ClosedForm",
    "FormSource",
    "TypesetEquationSet",
    "closed_form",
    "closed_form_quantities",
    "full_quantity_name",
    "make_closed_form",
    "readable_closed_form",
    "readable_equations_latex",
    "typeset_equation_set",
]
