"""The energies and works of a run, and the audit of their balance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Floats

RESTING_SHARE = 1e-5
"""Share of the energy by which the audit divides where almost nothing moves: the rounding of the
energies is then far below the limit of the audit."""

AUDIT_PER_TOLERANCE = 1000
"""Limit of the audit as a multiple of the tolerance of the integration, whose errors add up."""

SMALLEST_AUDIT_LIMIT = 1e-9
"""Limit of the audit at tolerances near rounding."""

USUAL_TOLERANCE = 1e-9
"""Tolerance that counts for runs without one, such as those with fixed steps."""


RunStatistics = Mapping[str, float | str]
"""Counts of steps and evaluations, seconds, and in words why Python had to make steps."""


@dataclass(frozen=True, repr=False)
class RunEnergies:
    """Histories of energies and works, J, with the statistics and settings of their run.

    `work` is done by everything but gravity and springs: the inputs (`work_inputs`), given forces
    and driven constraints (`work_given`), and losses.
    """

    kinetic: Floats
    potential: Floats
    work: Floats
    work_inputs: Floats
    work_given: Floats
    statistics: RunStatistics
    settings: Mapping[str, Any]

    @property
    def energy(self) -> Floats:
        """Kinetic and potential energy, J."""
        return self.kinetic + self.potential

    @property
    def work_losses(self) -> Floats:
        """Work of dampers, friction and impacts, J; below zero."""
        return self.work - self.work_inputs - self.work_given

    @property
    def balance(self) -> Floats:
        """Change of kinetic + potential − work since the start, J; zero except for errors."""
        total = self.energy - self.work
        change: Floats = total - total[0]
        return change

    @property
    def audit(self) -> float:
        """Largest `balance`, as a share of the largest energy.

        The largest energy is the largest of the kinetic energy, the changes of the potential energy
        and of the works, and 1e-5 of the energy, which matters only where almost nothing moves.
        """
        fastest = float(self.statistics.get("largest_kinetic_energy", 0.0))
        changes = (self.potential, self.work_inputs, self.work_given, self.work_losses)
        resting = RESTING_SHARE * np.abs(self.energy).max()
        size = max(np.abs(self.kinetic).max(), fastest, *map(np.ptp, changes), resting, 1e-300)
        return float(np.abs(self.balance).max() / size)

    @property
    def audit_limit(self) -> float:
        """The largest audit that is accepted: a thousand times the tolerance of the integration."""
        tolerance = float(self.settings.get("rtol") or USUAL_TOLERANCE)
        return max(SMALLEST_AUDIT_LIMIT, AUDIT_PER_TOLERANCE * tolerance)

    @property
    def accounted(self) -> bool:
        """Whether the energy audit holds."""
        return self.audit <= self.audit_limit
