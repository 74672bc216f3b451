"""The stops of a motion that leaves Linkwright: gaps, velocities and event columns."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import UnsupportedError
from ..integrators import EVENT_COLUMN_SIZE, EventColumn
from ..mechanism import Mechanism
from ..mechanism.strength import breaking_members
from ..types import SX, Floats, Integers
from .events.rows import ModeRows


class ExportedStops:
    """The limits of a mechanism's joints that act in an exported motion.

    Limits keep the values that they have in the mechanism. Dry friction and rigid contacts are
    refused, since Python decides which of them stick or slide.
    """

    def __init__(self, mechanism: Mechanism, stops: str) -> None:
        self._rows = ModeRows(mechanism, stops)
        _check_motion_is_smooth(mechanism, self._rows)

    def __len__(self) -> int:
        return len(self._rows.unilaterals)

    @cached_property
    def names(self) -> list[str]:
        """The names of the stops: coordinate and side."""
        return [stop.name for stop in self._rows.unilaterals]

    @property
    def restitutions(self) -> Floats:
        """The restitutions; -1 for stops that end the motion."""
        given = [stop.restitution for stop in self._rows.unilaterals]
        return np.array([-1.0 if e is None else e for e in given])

    @property
    def event_columns(self) -> Integers:
        """The rows of `EventColumn`: every signal is watched as it falls below zero."""
        table = np.zeros((len(self), EVENT_COLUMN_SIZE), np.int64)
        table[:, EventColumn.SIGNAL] = np.arange(len(self))
        table[:, EventColumn.SIGN] = -1
        table[:, [EventColumn.LEAVES, EventColumn.IS_GAP]] = 1
        return table

    def gaps(self, q: SX, t: SX) -> SX:
        """Return the gaps as expressions."""
        return self._rows.gap_expressions(q, t)[: len(self)]

    def velocity_rows(self, q: SX, qd: SX, t: SX) -> tuple[SX, SX]:
        """Return R and γ: gaps have the rates R q̇, and these the rates R q̈ + γ."""
        own, n = self._rows.tree.motion, len(self)
        symbols, values = ca.vertcat(own.q, own.qd, own.t), ca.vertcat(q, qd, t)
        R, gamma = ca.substitute([self._rows.R[:n, :], self._rows.gamma[:n]], [symbols], [values])
        return R, gamma


def _check_motion_is_smooth(mechanism: Mechanism, rows: ModeRows) -> None:
    """Refuse dry friction, rigid contacts and members that break."""
    if rows.joint_frictions:
        first = rows.joint_frictions[0]
        leave_out = 'leave it out: without("friction"), --without friction'
        raise UnsupportedError(
            f"dry friction of '{first.name}' sticks and slides, which exported motions do not "
            "support",
            where=mechanism.name,
            remedy=leave_out if first.arm > 0 else f"give it a smoothing, or {leave_out}",
        )
    if rows.contacts:
        raise UnsupportedError(
            f"the contact '{rows.contacts[0][0].name}' is rigid, which exported motions do not "
            "support",
            where=mechanism.name,
            remedy='give it a stiffness, or leave it out: without("contacts"), --without contacts',
        )
    for name in breaking_members(mechanism):
        raise UnsupportedError(
            f"'{name}' breaks under a load, which exported motions do not support",
            where=mechanism.name,
            remedy="remove 'breaks'",
        )
