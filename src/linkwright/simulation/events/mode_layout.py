"""The numbers of a mode, and the unknown forces of a mechanism's rows."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...types import Floats
from .dynamics import DynamicsCode
from .modes import SLOW_SLIP_VELOCITY, Mode
from .rows import ModeRows

SLOW, FAST = 12 * SLOW_SLIP_VELOCITY, 24 * SLOW_SLIP_VELOCITY
"""Speeds of slip in space, m/s. A slide that is faster than `SLOW` has friction against its speed;
one that is slower than `FAST` turns gradually from the direction in which it began. Between the two
both are the same within 0.5 %, and a mode may have either. `SLOW` is above the speed from which on
`Mode.turned` follows the direction."""

SAME = 1e-12
"""Entries of R that are nearer than this to each other at several configurations are equal."""


@dataclass(frozen=True)
class SlipNumbers:
    """Places of a contact's numbers among those of the mode: whether it sticks (1, 0), the
    direction in which it began to slide, and whether it is fast (1, 0)."""

    contact: int
    grip: int
    direction: tuple[int, int]
    fast: int
    is_spatial: bool


class ModeLayout:
    """The order of a mode's numbers: active stops and contacts (1, 0), the signs of sliding joints
    (0: it sticks), whether joints hold the motion (1, 0), the shares of their limits of those that
    ride along, then the numbers of each contact with friction."""

    def __init__(self, rows: ModeRows, sample_rows: list[Floats]) -> None:
        self.rows = rows
        self.unilaterals, self.joint_frictions = len(rows.unilaterals), len(rows.joint_frictions)
        self.slips = []
        n = self.joint_frictions
        self.first_sign, self.first_hold, self.first_share, first = (
            self.unilaterals + k * n for k in range(4)
        )
        for i, unilateral in enumerate(rows.unilaterals):
            if unilateral.slip:
                ways = np.hstack([R[list(unilateral.slip)] for R in sample_rows])
                is_spatial = bool(np.linalg.matrix_rank(ways, tol=SAME) > 1)
                places = first, (first + 1, first + 2), first + 3
                self.slips.append(SlipNumbers(i, *places, is_spatial))
                first += 4
        self.size = first

    def numbers(self, mode: Mode, V: Floats) -> Floats:
        """Return the numbers of a mode at a state whose rows have the speeds V."""
        found = np.zeros(self.size)
        found[list(mode.resting)] = 1.0
        found[self.first_sign : self.first_hold] = mode.sliding
        found[[self.first_hold + k for k in mode.holding]] = 1.0
        for k, share in mode.riding:
            found[self.first_share + k] = share
        toward = dict(mode.toward)
        for slip in self.slips:
            found[slip.grip] = slip.contact in mode.grip
            found[list(slip.direction)] = toward.get(slip.contact, (1.0, 0.0))
            v = V[list(self.rows.unilaterals[slip.contact].slip)]
            found[slip.fast] = slip.is_spatial and np.hypot(*v) > (SLOW + FAST) / 2
        return found

    @property
    def watched_count(self) -> int:
        """How many numbers of stops, contacts and friction are watched: one for each stop and
        contact, joint with friction and contact with friction, and one for each in space."""
        return self._first_law + sum(slip.is_spatial for slip in self.slips)

    @property
    def _first_law(self) -> int:
        return self.unilaterals + self.joint_frictions + len(self.slips)

    def slip_place(self, contact: int) -> int:
        """Return the place of a contact among those with friction."""
        return [slip.contact for slip in self.slips].index(contact)

    def law_place(self, contact: int) -> int:
        """Return the place, in what is watched, of the speed at which a contact's law changes."""
        spatial = [slip.contact for slip in self.slips if slip.is_spatial]
        return self._first_law + spatial.index(contact)


class RowGroups:
    """The unknown forces: stops and joint friction of one coordinate share an unknown, and rows
    that have no speed (slips across the plane of a planar motion) have none. Each group has its
    rows and their signs."""

    def __init__(self, rows: ModeRows, sample_rows: list[Floats]) -> None:
        self.all: list[tuple[list[int], list[int]]] = []
        of_joints = {
            *range(rows.stop_count),
            *(joint_friction.row for joint_friction in rows.joint_frictions),
        }
        for k in range(rows.count):
            if any(np.abs(R[k]).max(initial=0.0) > SAME for R in sample_rows):
                self._add(k, of_joints, sample_rows)
        self._places = {
            row: (k, sign)
            for k, (members, signs) in enumerate(self.all)
            for row, sign in zip(members, signs, strict=True)
        }

    def _add(self, k: int, of_joints: set[int], sample_rows: list[Floats]) -> None:
        """Add a row to the group of the same coordinate, or to one of its own."""
        for rows, signs in self.all:
            if {k, rows[0]} <= of_joints:
                sign = relative_sign([R[rows[0]] for R in sample_rows], [R[k] for R in sample_rows])
                if sign:
                    rows.append(k)
                    signs.append(sign)
                    return
        self.all.append(([k], [1]))

    def __len__(self) -> int:
        return len(self.all)

    def is_live(self, row: int) -> bool:
        """Whether a row has an unknown."""
        return row in self._places

    def place(self, row: int) -> tuple[int, int]:
        """Return the unknown to which a row belongs, and its sign there."""
        return self._places[row]


def relative_sign(first: list[Floats], second: list[Floats]) -> int:
    """Return 1 if two rows are equal at all configurations, −1 if opposite, 0 otherwise."""
    for sign in (1, -1):
        if all(np.abs(b - sign * a).max() <= SAME for a, b in zip(first, second, strict=True)):
            return sign
    return 0


def sample_configurations(code: DynamicsCode) -> list[Floats]:
    """Return the assembled configuration, and configurations near it."""
    model = code.model_with(code.rows.values)
    home = model.home() if code.constrained else model.neutral()
    steps = np.random.default_rng(1).uniform(-0.5, 0.5, (3, model.nv))
    if model.nq == model.nv:
        return [home, *(home + steps)]
    return [home, *(np.asarray(model.integrate(home, step), dtype=float) for step in steps)]


def sample_parameters(code: DynamicsCode) -> list[Floats]:
    """Return values of the parameters that are inputs, as many as configurations: the mechanism's,
    and others near them, where rows that are equal by chance differ."""
    values = code.rows.values
    shares = np.random.default_rng(2).uniform(0.01, 0.1, (3, len(values)))
    return [values, *(values + share * np.where(values == 0, 1.0, values) for share in shares)]


def sample_rows(code: DynamicsCode) -> list[Floats]:
    """Return R at these configurations."""
    R = ca.Function("R", [code.rows.tree.motion.q, code.rows.p], [code.rows.R])
    samples = zip(sample_configurations(code), sample_parameters(code), strict=True)
    return [np.asarray(R(q, p), dtype=float) for q, p in samples]
