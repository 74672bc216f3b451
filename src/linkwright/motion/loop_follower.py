"""Motions of mechanisms with loops: some coordinates lead, the others follow by closing the loops.

With l the leading ones and f the others, φ(l, f) = 0 has f by Newton's steps; J_f ḟ = −J_l l̇ and
J_f f̈ = −J_l l̈ − γ are their rates. Between knots all are quintics with just these ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_accelerations,
    project_velocities,
    smallest_jacobian_singular_share,
)
from ..mechanism import Mechanism
from ..mechanism.coordinates import has_moving_coordinates
from ..model.model import Model
from ..types import Floats
from .coordinate_bounds import bounds_of
from .point_motions import hermite_trajectory, quintic
from .trajectory import Trajectory

_MIN_SIGN_FLIP = 0.5
_FIRST_KNOTS, _MAX_KNOTS = 64, 4096


def check_fixed_coordinates(mechanism: Mechanism) -> None:
    """Raise an error where coordinates depend on time, so that q alone does not place bodies."""
    if has_moving_coordinates(mechanism):
        raise UnsupportedError(
            "plans and inverse kinematics do not support coordinates that depend on t",
            where=mechanism.name,
            remedy="plan in coordinates without t, and convert the motion",
        )


def check_plannable_loops(mechanism: Mechanism, model: Model) -> None:
    """Raise an error for coordinates and constraints with which no motion can be planned."""
    check_fixed_coordinates(mechanism)
    names = model.names
    if names.position_row_count < len(names.constraints) or (
        names.constraints and names.is_time_dependent
    ):
        what = "in time" if names.is_time_dependent else "of velocities"
        raise UnsupportedError(
            f"plans do not support constraints {what}", where=mechanism.name, remedy="use simulate"
        )


@dataclass(frozen=True)
class LoopTrajectoryFollower:
    """The loops of a mechanism along a motion; the leading coordinates are chosen at the start."""

    mechanism: Mechanism
    model: Model
    start_configuration: Floats

    @cached_property
    def leading_coordinates(self) -> list[int]:
        """The independent coordinates, on which all others depend. Those with actuators come
        first, then those that the mechanism calls independent, then the others in their order."""
        J = self.model.constraint_jacobian(self.start_configuration)
        named, names = self.mechanism.independent, self.model.names.q
        order = sorted(
            range(self.model.nv),
            key=lambda k: (k not in self._actuated_coordinates, names[k] not in named),
        )
        found: list[int] = []
        rank = self.model.nv - self.model.dof
        for k in order:
            rest = [j for j in range(self.model.nv) if j not in (*found, k)]
            drives = (
                smallest_jacobian_singular_share(J[:, rest], rank)
                > CLOSURE_TOLERANCES.plan_rank_share
            )
            if self.model.nv - len(found) > rank and drives:
                found.append(k)
        return sorted(found)

    @cached_property
    def _actuated_coordinates(self) -> set[int]:
        """The coordinates that actuators move."""
        if not self.model.names.actuators:
            return set()
        B = np.abs(self.model.input_matrix(self.start_configuration)).max(axis=1)
        return {int(k) for k in np.nonzero(B)[0]}

    @cached_property
    def following_coordinates(self) -> list[int]:
        """The coordinates that follow the leading ones through the loops."""
        return [k for k in range(self.model.nv) if k not in self.leading_coordinates]

    def close_state(self, lead: Trajectory, t: float, near: Floats) -> Floats:
        """(q, q̇, q̈) at time t with the loops closed, on the branch nearest to `near`."""
        q, qd, qdd = near.copy(), np.zeros_like(near), np.zeros_like(near)
        q[self.leading_coordinates], qd[self.leading_coordinates], qdd[self.leading_coordinates] = (
            lead(t)
        )
        functions = PositionConstraints(
            self.model.constraint_residual, lambda q: self._regular_jacobian(q, lead, t)
        )
        closure = close_positions(functions, q, hold=self.leading_coordinates)
        if not closure.has_converged:
            raise self._stuck_error(lead, t, "cannot be closed")
        J = self._regular_jacobian(closure.q, lead, t)
        qd = project_velocities(J, qd, J @ qd, hold=self.leading_coordinates)
        bias = self.model.constraint_bias(closure.q, qd)
        qdd = project_accelerations(J, qdd, bias, hold=self.leading_coordinates)
        return np.array([closure.q, qd, qdd])

    def _regular_jacobian(self, q: Floats, lead: Trajectory, t: float) -> Floats:
        """The Jacobian of the loops; an error where the following coordinates reach a dead
        centre."""
        J: Floats = self.model.constraint_jacobian(q)
        f = self.following_coordinates
        if (
            not smallest_jacobian_singular_share(J[:, f], len(f))
            > CLOSURE_TOLERANCES.plan_rank_share
        ):
            raise self._stuck_error(lead, t, "come to a dead centre")
        return J

    def _weakest_direction(self, q: Floats) -> Floats:
        """u ⊗ v of the smallest singular value of J_f; its sign changes where that value passes
        0."""
        J: Floats = self.model.constraint_jacobian(q)[:, self.following_coordinates]
        left, _, right = np.linalg.svd(J, full_matrices=False)
        return np.outer(left[:, -1], right[-1]).ravel()

    def _stuck_error(self, lead: Trajectory, t: float, what: str) -> LinkwrightError:
        share = 100 * (t - lead.knots[0]) / lead.duration
        return LinkwrightError(
            f"the loops {what} after {share:.3g} % of the way",
            where=self.mechanism.name,
            remedy="go through another target, or start elsewhere",
        )

    def follow_trajectory(self, lead: Trajectory, begin: Floats) -> Trajectory:
        """The trajectory of all coordinates; its loops are closed at the knots."""
        knots = _FIRST_KNOTS
        while knots <= _MAX_KNOTS:
            found = self._join_states(lead, begin, knots)
            middle = (found.knots[1:] + found.knots[:-1]) / 2
            left = np.abs(self.model.constraint_residual(found(middle)[0])).max()
            if left <= max(CLOSURE_TOLERANCES.tracked_residual, self.model.leeway):
                return found
            knots *= 2
        raise self._stuck_error(lead, lead.knots[-1], "cannot be followed finely enough")

    def find_trajectory_end(self, begin: Floats, goal: Floats) -> Floats | None:
        """The end of the straight motion of the leading coordinates: the goal, up to full turns;
        None where it is another assembly or the loops prevent the motion."""
        start, end = begin[self.leading_coordinates], goal[self.leading_coordinates]
        try:
            found = self.follow_trajectory(quintic(start, end, 1.0), begin).end
        except LinkwrightError:
            return None
        off = found - goal
        turns = bounds_of(self.mechanism).full_turns
        off[turns] -= 2 * np.pi * np.round(off[turns] / (2 * np.pi))
        return found if np.abs(off).max() < CLOSURE_TOLERANCES.same_configuration else None

    def _join_states(self, lead: Trajectory, begin: Floats, knots: int) -> Trajectory:
        times = lead.finer(knots)
        states = [self.close_state(lead, times[0], begin)]
        weakest = self._weakest_direction(states[0][0])
        for t, later in pairwise(times):
            h, (q, qd, qdd) = later - t, states[-1]
            states.append(self.close_state(lead, later, q + h * qd + h * h / 2 * qdd))
            before, weakest = weakest, self._weakest_direction(states[-1][0])
            if before @ weakest < -_MIN_SIGN_FLIP:
                raise self._stuck_error(lead, (t + later) / 2, "come to a dead centre")
        rows = np.array(states)
        return hermite_trajectory(times, rows[:-1], rows[1:])
