"""The rows of a motion that leaves Linkwright: its stops, then its joints with dry friction.

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
from ..integrators.hold_choice import LEVELS, Hold, Level
from ..integrators.stop_events import RIDING_GAP, SLIDE_END
from ..mechanism import Mechanism
from ..mechanism.strength import breaking_members
from ..types import SX, Floats, Integers
from .events.load_sharing import FREE, NO_FORCE
from .events.row_elements import is_absent
from .events.rows import ModeRows


class ExportedRows:
    """The limits of a mechanism's joints, its rigid contacts and its dry friction in an exported
    motion.

    Limits and restitutions keep the values that they have in the mechanism; `kept` are symbols of
    parameters that stay inputs. Friction of contacts, and friction that depends on reactions, are
    refused, since Python decides what sticks or slides.
    """

    def __init__(self, mechanism: Mechanism, stops: str, kept: Mapping[str, SX]) -> None:
        self._rows, self._kept = ModeRows(mechanism, stops, geometry=tuple(kept)), kept
        _check_motion_can_leave(mechanism, self._rows)
        self.stop_count = len(self._rows.unilaterals)
        """The number of stops and rigid contacts, which come first."""
        self.friction_count = len(self._rows.joint_frictions)

    @property
    def contact_count(self) -> int:
        """The number of rigid contacts; they are the last of the stops."""
        return len(self._rows.contacts)

    def __len__(self) -> int:
        return self.stop_count + self.friction_count

    @cached_property
    def names(self) -> list[str]:
        """The names of the rows: of stops coordinate and side."""
        stops = [stop.name for stop in self._rows.unilaterals]
        return [*stops, *(f"friction of {one.name}" for one in self._rows.joint_frictions)]

    @property
    def restitutions(self) -> Floats:
        """The restitutions; -1 for stops that end the motion."""
        given = [stop.restitution for stop in self._rows.unilaterals]
        stops = [-1.0 if e is None else e for e in given]
        return np.array([*stops, *([0.0] * self.friction_count)])

    @property
    def event_columns(self) -> Integers:
        """The rows of `EventColumn`: every signal is watched as it falls below zero."""
        table = np.zeros((len(self), EVENT_COLUMN_SIZE), np.int64)
        table[:, EventColumn.SIGNAL] = np.arange(len(self))
        table[:, EventColumn.SIGN] = -1
        table[:, [EventColumn.LEAVES, EventColumn.IS_GAP, EventColumn.IS_FORCE]] = 1
        return table

    def gaps(self, q: SX, t: SX) -> SX:
        """Return the gaps of stops, and zeros for joints with friction, as expressions."""
        gaps = self._rows.gap_expressions(q, t)[: self.stop_count, :]
        return ca.vertcat(self._with_parameters([gaps])[0], ca.SX.zeros(self.friction_count))

    @cached_property
    def levels(self) -> SX:
        """The numbers of `Level` of each joint with friction."""
        found = [
            level
            for one in self._rows.joint_frictions
            for level in (one.force * one.ratio, one.force, one.shift)
        ]
        return self._with_parameters([ca.vertcat(ca.SX(0, 1), *found)])[0]

    @property
    def limits(self) -> SX:
        """The largest force of each joint with friction at rest."""
        return self.levels[Level.AT_REST :: LEVELS, :]

    def velocity_rows(self, q: SX, qd: SX, t: SX) -> tuple[SX, SX]:
        """Return R and γ: velocities are R q̇, and their rates R q̈ + γ."""
        own = self._rows.tree.motion
        symbols, values = ca.vertcat(own.q, own.qd, own.t), ca.vertcat(q, qd, t)
        R, gamma = ca.substitute(list(self._own_rows), [symbols], [values])
        R, gamma = self._with_parameters([R, gamma])
        return R, gamma

    def held_signals(self, forces: SX) -> SX:
        """Return what is watched of rows that hold the motion, by their forces."""
        stops = self.stop_count
        return ca.vertcat(forces[:stops, :], self.limits + NO_FORCE - ca.fabs(forces[stops:, :]))

    def free_signals(self, q: SX, qd: SX, qdd: SX, t: SX, holds: SX) -> tuple[SX, SX]:
        """Return what is watched of rows that do not hold the motion, and its rate, by what each
        row does (`Hold`). Friction of which it is not known what it does is below zero."""
        R, gamma = self.velocity_rows(q, qd, t)
        rides, unknown = (ca.eq(holds, int(hold)) for hold in (Hold.RIDES, Hold.FREE))
        way = ca.eq(holds, int(Hold.FORWARD)) - ca.eq(holds, int(Hold.BACKWARD))
        speeds, rates, stops = R @ qd, way * (R @ qdd + gamma), self.stop_count
        gaps = self.gaps(q, t) + rides * RIDING_GAP
        slides = way * speeds + SLIDE_END + (rides - unknown) * FREE
        values = ca.vertcat(gaps[:stops, :], slides[stops:, :])
        return values, ca.vertcat(speeds[:stops, :], rates[stops:, :])

    @cached_property
    def _own_rows(self) -> tuple[SX, SX]:
        """R and γ in the symbols of the tree."""
        rows = [*range(self.stop_count), *(one.row for one in self._rows.joint_frictions)]
        return self._rows.R[rows, :], self._rows.gamma[rows, :]

    def contact_reactions(self, q: SX, t: SX, forces: SX) -> SX:
        """Return the wrenches that the forces of contacts add to the reactions of joints, one row
        each, where these count them as generalized forces only."""
        own, n = self._rows.tree.motion, self.stop_count - self.contact_count
        push = ca.vertcat(ca.SX.zeros(2, self.contact_count), forces[n : self.stop_count, :].T)
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
        """For each row the velocity that it holds and the row's own at a unit of it; empty where a
        row holds several velocities, or is not constant."""
        n, (R, gamma) = len(self), self._own_rows
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


def _check_motion_can_leave(mechanism: Mechanism, rows: ModeRows) -> None:
    """Refuse friction that depends on normal forces or reactions, and members that break."""
    for friction in rows.joint_frictions:
        if not is_absent(friction.arm):
            raise UnsupportedError(
                f"friction of '{friction.name}' depends on its reaction, which exported motions do "
                "not support",
                where=mechanism.name,
                remedy='give it a constant friction, or leave it out: without("friction"), '
                "--without friction",
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
