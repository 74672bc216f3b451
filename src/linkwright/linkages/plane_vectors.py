"""Vectors of the plane."""

from __future__ import annotations

import numpy as np

from ..types import Floats


def quarter_turn(vectors: Floats) -> Floats:
    """Return vectors (…, 2) turned by 90° to the left."""
    return np.stack([-vectors[..., 1], vectors[..., 0]], axis=-1)


def plane_cross(one: Floats, other: Floats) -> Floats:
    """Return the cross products (…) of vectors (…, 2): positive where the second is to the left."""
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
