"""Inputs and outputs of a function: names and shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Port:
    """An input or output: its name and its shape, () for a scalar. Entries are row-major."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)
