"""Actuators that act on the same velocities, and what they can exert there together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Floats

_ZERO_SHARE = 1e-12
"""Entries of an input matrix below this share of its largest one count as 0."""


@dataclass(frozen=True)
class ActuatorGroup:
    """Actuators (`columns` of the input matrix) and all velocities (`rows`) on which they act; no
    other actuator acts on these."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def block(self, B: Floats) -> Floats:
        """Return the group's part of input matrices (…, nv, actuators)."""
        return B[..., self.rows, :][..., self.columns]


def group_actuators(B: Floats) -> list[ActuatorGroup]:
    """Return the groups of actuators whose input matrix is B (…, nv, actuators), the union of what
    is not 0 over the leading axes."""
    acts = np.abs(B).reshape(-1, *B.shape[-2:]).max(axis=0, initial=0.0)
    acts = acts > _ZERO_SHARE * acts.max(initial=0.0)
    left, found = set(range(acts.shape[1])), []
    while left:
        columns, rows = {min(left)}, set[int]()
        while True:
            rows = {int(i) for k in columns for i in np.flatnonzero(acts[:, k])}
            more = columns | {int(k) for i in rows for k in np.flatnonzero(acts[i])}
            if more == columns:
                break
            columns = more
        left -= columns
        if rows:
            found.append(ActuatorGroup(tuple(sorted(rows)), tuple(sorted(columns))))
    return found


def has_independent_columns(block: Floats) -> bool:
    """Return whether the efforts of a group follow from the forces: its columns are independent
    at all states (…)."""
    if block.shape[-1] > block.shape[-2]:
        return False
    values = np.linalg.svd(block, compute_uv=False)
    return bool((values[..., -1] > _ZERO_SHARE * values[..., 0]).all())
