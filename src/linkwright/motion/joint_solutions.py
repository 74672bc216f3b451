"""Solutions of inverse kinematics: joints, whether they reach their targets, and the errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..displays import NotebookDisplayed
from ..types import Booleans, Floats
from .target_lanes import InverseKinematicsLanes

TARGET_REACHED, NEAREST_FOUND, SEARCH_UNFINISHED = "reached", "nearest", "unfinished"


MAX_SHOWN_SOLUTIONS = 10
"""Solutions that are printed; the others are counted."""


@dataclass(frozen=True, repr=False)
class Joints(NotebookDisplayed):
    """Solutions of inverse kinematics.

    Attributes
    ----------
    q : (…, nq) array
        Coordinates, rad or m.
    status : (…) array of str
        "reached" where all frames are at their targets within the tolerance, "nearest" where no
        small motion brings them nearer (both with loops closed to 1e-9), else "unfinished".
    distance, angle : (…) array
        Largest errors of the frames, m and rad.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.motion.inverse_kinematics(lw.gallery("elbow"), {"tool": [1.0, 1.0]})
    >>> found.status.item(), bool(found.distance < 1e-6)
    ('reached', True)
    """

    q: Floats
    status: NDArray[np.str_]
    distance: Floats
    angle: Floats

    def summary(self) -> str:
        """Return one line: how many targets are reached, and the largest errors."""
        count = np.size(self.reached)
        reached = f"{int(np.sum(self.reached))} of {count} reached"
        errors = f"{np.max(self.distance):.2g} m, {np.max(self.angle):.2g} rad"
        return f"Joints of {count} target{'s' * (count != 1)}: {reached}, largest errors {errors}"

    def __str__(self) -> str:
        rows = np.atleast_2d(self.q).reshape(-1, self.q.shape[-1])
        told = [
            f"{status}: q = {np.round(q, 6).tolist()}"
            for q, status in zip(rows[:MAX_SHOWN_SOLUTIONS], self.status.ravel(), strict=False)
        ]
        rest = (
            [f"… and {len(rows) - MAX_SHOWN_SOLUTIONS} more"]
            if len(rows) > MAX_SHOWN_SOLUTIONS
            else []
        )
        return "\n".join([self.summary(), *told, *rest])

    @property
    def reached(self) -> Booleans:
        """True where the target is reached, (…)."""
        reached: Booleans = self.status == TARGET_REACHED
        return reached


def inverse_kinematics_solutions(
    q: Floats, figures: Floats, lanes: InverseKinematicsLanes, batch: Sequence[int]
) -> Joints:
    """The solutions of all lanes, with the leading axes `batch` of the targets."""
    flat = lanes.is_nearest(figures, np.arange(len(figures)))
    status = np.where(
        lanes.is_reached(figures), TARGET_REACHED, np.where(flat, NEAREST_FOUND, SEARCH_UNFINISHED)
    )
    return Joints(
        q.reshape(*batch, -1),
        status.reshape(batch),
        figures[:, 2].reshape(batch),
        figures[:, 3].reshape(batch),
    )
