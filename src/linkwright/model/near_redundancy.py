"""Nearly redundant constraints: rows that the others imply up to rounded numbers.

Which rows these are is decided once, where the mechanism is assembled (see `Mechanism.closure`).
Whoever solves with all rows of J at a state takes its rank from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats

if TYPE_CHECKING:
    from .model import Model


def largest_constraint_rank(model: Model) -> int:
    """The most rows of J that count as independent: where some are nearly redundant, as many as
    there are dependent velocities; all of them otherwise."""
    return model.nv - len(model.independent_names) if model.leeway else model.nv


def make_rows_redundant(model: Model, J: Floats, bias: Floats) -> tuple[Floats, Floats]:
    """J and γ of one state (J q̈ + γ = 0) with nearly redundant rows replaced by what the others
    imply, in the sense of least squares; as they are where no rows are nearly redundant."""
    if not model.leeway or not (np.isfinite(J).all() and np.isfinite(bias).all()):
        return J, bias
    left, sizes, right = np.linalg.svd(J, full_matrices=False)
    rank = min(largest_constraint_rank(model), len(sizes))
    kept = left[:, :rank]
    J, bias = (kept * sizes[:rank]) @ right[:rank], kept @ (kept.T @ bias)
    lengths = np.linalg.norm(J, axis=1)
    counts = lengths > model.mechanism.closure * lengths.max(initial=0.0)
    return J * counts[:, None], bias * counts
