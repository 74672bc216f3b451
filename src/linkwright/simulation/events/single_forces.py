"""Forces of single rows in a mode, also where rows share a load, and the event functions of these
forces."""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from ...types import SX
from .event_tolerances import EVENT_TOLERANCES
from .load_sharing import FREE, NO_FORCE
from .mode_forces import ModeForces
from .mode_layout import FAST, SLOW, SlipNumbers
from .redundant_systems import LeastNormSystem


class SingleForces:
    """Forces of single rows, as `solve_mode_forces` finds them: of least norm where they are not
    unique, with slip forces weighted by their friction limits."""

    def __init__(self, forces: ModeForces) -> None:
        self.forces, self.rows, self.groups = forces, forces.rows, forces.groups

    @cached_property
    def by_row(self) -> SX:
        """The force of each row that is held."""
        found = ca.SX.zeros(self.rows.count)
        for k, (rows, signs) in enumerate(self.groups.all):
            each = self.by_group[k] / ca.fmax(self._counts[k], 1)
            for row, sign in zip(rows, signs, strict=True):
                found[row] = sign * self.forces.held_rows[row] * each
        return found

    @cached_property
    def by_group(self) -> SX:
        """x as dependent rows share it: of least norm, with slip forces weighted by their friction
        limits."""
        if not self.forces.is_redundant:
            return self.forces.x
        columns, total = self._columns_and_total()
        weights = self._group_weights(columns.shape[1])
        found = weights * LeastNormSystem(_scale_columns(columns, weights)).solve(total)
        if len(self.forces.layout.slips) > 1:
            weights = self._slip_weights(weights, found)
            found = weights * LeastNormSystem(_scale_columns(columns, weights)).solve(total)
        return found[: len(self.groups)]

    @cached_property
    def _counts(self) -> list[SX]:
        """The number of held rows of each group."""
        return [ca.sum1(self.forces.held_rows[rows]) for rows, _ in self.groups.all]

    def _columns_and_total(self) -> tuple[SX, SX]:
        """Return columns of all forces that are not unique (of loops too), and their sum."""
        of = self.forces
        columns, known = of.R.T @ of.mixing, of.R.T @ of.known
        if not of.code.constrained:
            return columns, columns @ of.x
        wanted = ("mass_matrix", "bias", "constraint_jacobian")
        outputs = [of.code.model.equations.expressions(key)[0] for key in wanted]
        M, bias, J = of.code.in_rows(outputs, {"q": of.q, "qd": of.qd, "t": of.t})
        return ca.horzcat(columns, J.T), M @ of.accelerations + bias - of.tau - known

    def _group_weights(self, size: int) -> SX:
        """Return the weights with which unknowns of several held rows have the norm of these."""
        found = ca.SX.ones(size)
        for k, (rows, _) in enumerate(self.groups.all):
            if len(rows) > 1:
                found[k] = ca.sqrt(self._counts[k] + (1 - self.forces.held[k]))
        return found

    def _slip_weights(self, weights: SX, x: SX) -> SX:
        """Return weights with which no sticking contact slips before it must; they are used where
        two or more stick."""
        found = ca.SX(weights)
        sticking = [
            self.forces.mode[s.contact] * self.forces.mode[s.grip] for s in self.forces.layout.slips
        ]
        several = ca.SX(ca.sum1(ca.vertcat(*sticking)) > 1.5)
        for slip, sticks in zip(self.forces.layout.slips, sticking, strict=True):
            unilateral = self.rows.unilaterals[slip.contact]
            normal = x[self.groups.place(slip.contact)[0]]
            most = ca.fmax(unilateral.friction * ca.fmax(normal, 0), 1e-12)
            for row in filter(self.groups.is_live, unilateral.slip):
                found[self.groups.place(row)[0]] = 1 + several * sticks * (ca.sqrt(most) - 1)
        return found

    @cached_property
    def of_contacts(self) -> SX:
        """Forces of rigid contacts along the plane's x and y, and normal, one column each."""
        found = ca.SX.zeros(3, len(self.rows.contacts))
        for k in range(len(self.rows.contacts)):
            found[2, k] = self.by_row[self.rows.stop_count + k]
        for slip in self.forces.layout.slips:
            sticks, normal = self.forces.mode[slip.grip], self.by_row[slip.contact]
            of_stick = self.by_row[list(self.rows.unilaterals[slip.contact].slip)]
            force = sticks * of_stick + (1 - sticks) * normal * self.forces.drag(slip)
            found[:2, slip.contact - self.rows.stop_count] = force
        return found


def watched_numbers(forces: ModeForces, single: SingleForces) -> SX:
    """Return numbers that are above zero until something happens in the mode.

    They are gaps of what is open and normal forces of what is closed; how far joints, then contacts
    with friction, are from a change between stick and slip; last, for contacts that slide in space,
    how far they are from the speed at which their friction changes law. A gap without a speed is
    watched as if it were larger: where friction sticks just at a stop that carries nothing,
    rounding would close it again and again.
    """
    gaps, V = forces.rows.gap_expressions(forces.q, forces.t), forces.rows.R @ forces.qd
    found = []
    for i in range(forces.layout.unilaterals):
        is_still = ca.SX(V[i] ** 2 < EVENT_TOLERANCES.still_velocity**2)
        gap = gaps[i] + EVENT_TOLERANCES.closed_gap * is_still
        carried = single.by_row[i] + NO_FORCE
        found.append(forces.mode[i] * carried + (1 - forces.mode[i]) * gap)
    for k, joint_friction in enumerate(forces.rows.joint_frictions):
        sign, limit = forces.sign(k), joint_friction.force * joint_friction.ratio + NO_FORCE
        carried = ca.fabs(single.by_row[joint_friction.row])
        holds = forces.held_rows[joint_friction.row]
        found.append(sign * V[joint_friction.row] + holds * (limit - carried))
    found += [_watched_slip(forces, single, slip) for slip in forces.layout.slips]
    found += [_watched_speed(forces, slip) for slip in forces.layout.slips if slip.is_spatial]
    return ca.vertcat(ca.SX(0, 1), *found)


def _watched_slip(forces: ModeForces, single: SingleForces, slip: SlipNumbers) -> SX:
    """Return how much more a contact that sticks can bear, or its speed if it slides slowly."""
    active, grip = forces.mode[slip.contact], forces.mode[slip.grip]
    unilateral = forces.rows.unilaterals[slip.contact]
    fast = forces.mode[slip.fast]
    along = ca.dot(forces.slip_speed(slip), forces.mode[list(slip.direction)])
    most = unilateral.friction * unilateral.ratio * single.by_row[slip.contact]
    bears = most + NO_FORCE - ca.norm_2(single.by_row[list(unilateral.slip)])
    slide = fast * FREE + (1 - fast) * along
    found: SX = active * (grip * bears + (1 - grip) * slide) + (1 - active) * FREE
    return found


def _watched_speed(forces: ModeForces, slip: SlipNumbers) -> SX:
    """Return how far a slide in space is from the speed at which its friction changes law."""
    speed, fast = ca.norm_2(forces.slip_speed(slip)), forces.mode[slip.fast]
    slides = forces.mode[slip.contact] * (1 - forces.mode[slip.grip])
    return slides * (fast * (speed - SLOW) + (1 - fast) * (FAST - speed)) + (1 - slides) * FREE


def _scale_columns(A: SX, weights: SX) -> SX:
    found: SX = A * ca.repmat(weights.T, A.shape[0], 1)
    return found
