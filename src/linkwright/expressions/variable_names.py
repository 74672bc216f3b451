"""The words that expressions can use as names."""

from __future__ import annotations

import re

from .tokens import normalize_expression_spelling
from .tree import FUNCTION_ARITIES, PI

_NAME_PATTERN = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def is_expression_name(text: str) -> bool:
    """Whether an expression can use the text as a name: `q1`, or `base.x` with a dot."""
    reads_back = (
        _NAME_PATTERN.fullmatch(text) is not None and normalize_expression_spelling(text) == text
    )
    return reads_back and text != PI and text not in FUNCTION_ARITIES


def is_undotted_expression_name(text: str) -> bool:
    """Whether a parameter can have this name: letters, digits and _, a letter first."""
    return "." not in text and is_expression_name(text)
