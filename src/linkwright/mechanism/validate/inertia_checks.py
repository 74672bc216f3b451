"""Warnings on valid inertias that no real body has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...expressions import expression_to_float

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def unphysical_body_messages(mechanism: Mechanism) -> Iterator[str]:
    """Yield one sentence for each body whose inertia no distribution of mass has."""
    return (sentence for _, sentence in find_unphysical_bodies(mechanism))


def find_unphysical_bodies(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """Yield (name, sentence) for each body whose inertia no distribution of mass has."""
    import numpy as np

    for name, body in mechanism.bodies.items():
        tensor = body.inertia
        plane = tensor.model_fields_set == {"zz"}  # nothing else of the inertia matters
        xx, yy, zz, xy, xz, yz = (
            expression_to_float(entry, mechanism.values)
            for entry in (tensor.xx, tensor.yy, tensor.zz, tensor.xy, tensor.xz, tensor.yz)
        )
        a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        dust = 1e-9 * max(abs(a), abs(c))
        if a < -dust:
            yield name, f"bodies.{name}.inertia has the negative principal moment {a:.4g} kg*m^2"
        elif a + b < c - dust and not plane:
            yield (
                name,
                (
                    f"bodies.{name}.inertia breaks the triangle inequality: its principal moments "
                    f"are {a:.4g}, {b:.4g} and {c:.4g} kg*m^2, and {a:.4g} + {b:.4g} < {c:.4g}"
                ),
            )
