"""The stops of a motion that leaves Linkwright: gaps, velocities and event columns.

Rigid contacts without friction are stops, too: a gap that stays above zero, and a restitution.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import UnsupportedError
from ..formulations.recursive.recursive_newton_euler import newton_euler_joint_reactions
from ..integrators import EVENT_COLUMN_SIZE, EventColumn
from ..mechanism import Mechanism
from ..mechanism.strength import breaking_members
from ..types import SX, Floats, Integers
from .events.rows import ModeRows


class ExportedStops:
    """The limits of a mechanism's joints, and its rigid contacts, that act in an exported motion.

    Limits and restitutions keep the values that they have in the mechanism; `kept` are symbols of
    parameters that stay inputs. Dry friction is refused, since Python decides what sticks or
    slides.
    """

    def __init__(self, mechanism: Mechanism, stops: str, kept: Mapping[str, SX]) -> None:
        self._rows, self._kept = ModeRows(mechanism, stops, geometry=tuple(kept)), kept
        _check_motion_is_smooth(mechanism, self._rows)

    @property
    def contact_count(self) -> int:
        """The number of rigid contacts; they are the last of the stops."""
        return len(self._rows.contacts)

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
        return self._with_parameters([self._rows.gap_expressions(q, t)[: len(self)]])[0]

    def velocity_rows(self, q: SX, qd: SX, t: SX) -> tuple[SX, SX]:
        """Return R and γ: gaps have the rates R q̇, and these the rates R q̈ + γ."""
        own, n = self._rows.tree.motion, len(self)
        symbols, values = ca.vertcat(own.q, own.qd, own.t), ca.vertcat(q, qd, t)
        R, gamma = ca.substitute([self._rows.R[:n, :], self._rows.gamma[:n]], [symbols], [values])
        R, gamma = self._with_parameters([R, gamma])
        return R, gamma

    def contact_reactions(self, q: SX, t: SX, forces: SX) -> SX:
        """Return the wrenches that the forces of contacts add to the reactions of joints, one row
        each, where these count them as generalized forces only."""
        own, n = self._rows.tree.motion, len(self) - self.contact_count
        push = ca.vertcat(ca.SX.zeros(2, self.contact_count), forces[n:].T)
        still, loads = ca.SX.zeros(own.qd.shape[0]), self._rows.contact_loads(push)
        rest, pushed = (
            newton_euler_joint_reactions(self._rows.tree, own.q, still, still, others=x)
            for x in ([], loads)
        )
        found = ca.SX(pushed - rest)
        found = ca.substitute(found, ca.vertcat(own.q, own.t), ca.vertcat(q, t))
        return self._with_parameters([found])[0]

    @cached_property
    def held_velocities(self) -> list[tuple[int, float]]:
        """For each stop the velocity that it holds and the rate of its gap at a unit of it; empty
        where a stop holds several velocities, or its row is not constant."""
        n = len(self)
        R, gamma = self._rows.R[:n, :], self._rows.gamma[:n]
        if not n or not R.is_constant() or not gamma.is_zero():
            return []
        rows = np.array(ca.DM(R))
        found = [(int(row.nonzero()[0][0]), row) for row in rows if np.count_nonzero(row) == 1]
        return [(at, float(row[at])) for at, row in found] if len(found) == n else []

    def _with_parameters(self, found: list[SX]) -> list[SX]:
        """Return expressions by the symbols of parameters that stay inputs."""
        pairs = [(s, self._kept[name]) for name, own in self._rows.symbols.items() for s in own]
        if not pairs:
            return found
        symbols, values = (ca.vertcat(*side) for side in zip(*pairs, strict=True))
        return list(ca.substitute(found, [symbols], [values]))


def _check_motion_is_smooth(mechanism: Mechanism, rows: ModeRows) -> None:
    """Refuse dry friction, also of rigid contacts, and members that break."""
    if rows.joint_frictions:
        first = rows.joint_frictions[0]
        leave_out = 'leave it out: without("friction"), --without friction'
        raise UnsupportedError(
            f"dry friction of '{first.name}' sticks and slides, which exported motions do not "
            "support",
            where=mechanism.name,
            remedy=leave_out if first.arm > 0 else f"give it a smoothing, or {leave_out}",
        )
    rough = [contact.name for contact, _, _ in rows.contacts if contact.slip]
    if rough:
        raise UnsupportedError(
            f"the contact '{rough[0]}' is rigid and has friction, which exported motions do not "
            "support",
            where=mechanism.name,
            remedy="set its friction to 0, give it a stiffness, or leave it out: "
            'without("contacts"), --without contacts',
        )
    for name in breaking_members(mechanism):
        raise UnsupportedError(
            f"'{name}' breaks under a load, which exported motions do not support",
            where=mechanism.name,
            remedy="remove 'breaks'",
        )
