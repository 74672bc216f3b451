"""Counterweights: point masses that are fixed to bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanism import Mechanism


@dataclass(frozen=True)
class Counterweight:
    """A point mass on a body.

    Attributes
    ----------
    body : str
        The body that carries it.
    mass : float
        Mass, kg.
    center : tuple of float
        Its place in the axes of the body, m.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_forces(lw.gallery("four-bar"), radius=0.5)
    >>> weight = balance.counterweights[0]
    >>> weight.body, round(weight.mass, 3)
    ('crank', 2.0)
    """

    body: str
    mass: float
    center: tuple[float, ...]

    def __str__(self) -> str:
        place = ", ".join(f"{0.0 if abs(x) < 1e-12 else x:.6g}" for x in self.center)
        return f"{self.body}: {self.mass:.6g} kg at ({place}) m"


def with_counterweights(mechanism: Mechanism, weights: Sequence[Counterweight]) -> Mechanism:
    """Return the mechanism with counterweights as bodies that are fixed to theirs."""
    for one in weights:
        center = np.where(np.abs(one.center) < 1e-15, 0.0, one.center).tolist()
        name = f"{one.body}_counterweight"
        mechanism = mechanism.with_payload(one.body, one.mass, center, name=name)
    return mechanism
