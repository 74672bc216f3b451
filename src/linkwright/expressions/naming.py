"""Which words expressions can use as names."""

from __future__ import annotations

import re

from .tokens import normalise
from .tree import FUNCTIONS, PI

_WORD = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def is_variable(text: str) -> bool:
    """Whether an expression can name it: `q1`, or `base.x` with a dot."""
    reads_back = _WORD.fullmatch(text) is not None and normalise(text) == text
    return reads_back and text != PI and text not in FUNCTIONS


def is_name(text: str) -> bool:
    """Whether a parameter can be called so: letters, digits and _, a letter first."""
    return "." not in text and is_variable(text)
