"""The errors of frames with targets, as expressions of the coordinates within their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from ..equations import Equations
from ..types import SX
from .coordinate_bounds import CoordinateBounds
from .frame_targets import TARGET_SIZES


@dataclass(frozen=True)
class InverseKinematicsProblem:
    """Frames with targets of given kinds, and their errors. `length` is what 1 rad is worth in
    metres."""

    equations: Equations
    frames: Sequence[tuple[str, str]]
    bounds: CoordinateBounds
    length: float

    @cached_property
    def q(self) -> SX:
        """The symbols of the generalized coordinates."""
        return self.equations.symbols["q"]

    @property
    def target_size(self) -> int:
        """The count of numbers of `target` that are the frames'; those of the loops, s and w,
        follow."""
        return sum(TARGET_SIZES[kind] for _, kind in self.frames)

    @cached_property
    def loop_row_count(self) -> int:
        """The number of constraint rows φ(q) = 0 that loops and constraints of positions have."""
        return int(self.equations.names.position_row_count)

    @cached_property
    def target(self) -> SX:
        """The symbols of the targets of all frames, and of s and w of the loops."""
        return ca.SX.sym(
            "target", self.target_size + (self.loop_row_count + 1 if self.loop_row_count else 0)
        )

    @cached_property
    def target_errors(self) -> tuple[SX, SX, SX, SX, SX]:
        """e, the cost, the errors (the largest of a position, of a rotation, then the loops'), what
        is there and what is missing."""
        rows, there, missing, at = [], [], [], 0
        cost, far, turned = ca.SX(0), ca.SX(0), ca.SX(0)
        for frame, kind in self.frames:
            (T,) = self.equations.expressions("placement", frame)
            wanted = self.target[at : at + TARGET_SIZES[kind]]
            at += TARGET_SIZES[kind]
            there.append(T[: min(3, TARGET_SIZES[kind]), 3])
            missing.append(wanted[: min(3, TARGET_SIZES[kind])] - there[-1])
            rows.append(missing[-1])
            cost += ca.sumsqr(missing[-1]) / 2
            far = ca.fmax(far, ca.sqrt(ca.sumsqr(missing[-1])))
            if kind == "pose":
                R = ca.reshape(wanted[3:], 3, 3).T
                apart = R - T[:3, :3]
                there.append(self.length * ca.vec(T[:3, :3]))
                missing.append(self.length * ca.vec(apart))
                cost += self.length**2 * ca.sumsqr(apart) / 2
                turned = ca.fmax(turned, ca.sqrt(ca.sumsqr(apart) / 2))
                rows.append(self.length / ca.sqrt(2) * _target_rotation_error(T[:3, :3], R))
        if self.loop_row_count:
            pull, s = ca.sqrt(self.target[-1]), self.target[self.target_size : -1]
            there.append(pull * self.loop_residual)
            missing.append(-pull * (self.loop_residual + s))
            rows.append(missing[-1])
            cost += self.target[-1] * (
                ca.sumsqr(self.loop_residual) / 2 + ca.dot(self.loop_residual, s)
            )
        errors = ca.vertcat(far, turned, self.loop_residual)
        return ca.vertcat(*rows), cost, errors, ca.vertcat(*there), ca.vertcat(*missing)

    @cached_property
    def loop_residual(self) -> SX:
        """The residuals φ of the loops at time 0."""
        if not self.loop_row_count:
            return ca.SX(0, 1)
        gap = self.equations.expressions("constraint_residual")[0]
        return ca.substitute(gap, self.equations.symbols["t"], 0)

    @cached_property
    def full_error_gradient(self) -> SX:
        """The slope that would be all of the error, which is that of the frames and of the gap."""
        cost = self.target_errors[1]
        if self.loop_row_count:
            frames = ca.sumsqr(self.target_errors[4][: -self.loop_row_count])
            cost = (frames + self.target[-1] * ca.sumsqr(self.loop_residual)) / 2
        return ca.sqrt(2 * cost) * self.length

    @cached_property
    def target_jacobian(self) -> SX:
        """J of all frames and loops, whose rows are those of e."""
        rows = []
        for frame, kind in self.frames:
            (J,) = self.equations.expressions("jacobian", frame)
            rows.append(J[3 : 3 + min(3, TARGET_SIZES[kind]), :])
            if kind == "pose":
                rows.append(self.length * ca.sqrt(2) * J[:3, :])
        if self.loop_row_count:
            J = self.equations.expressions("constraint_jacobian")[0]
            J = J[list(self.equations.names.position_rows), :]
            J = ca.substitute(J, self.equations.symbols["t"], 0)
            rows.append(ca.sqrt(self.target[-1]) * J)
        return ca.vertcat(*rows)

    @cached_property
    def error_function(self) -> Any:
        """(q, target) → all but e of the errors at other coordinates."""
        return ca.Function("measure", [self.q, self.target], list(self.target_errors[1:]))

    def cost_hessian(self, gradient: SX) -> SX:
        """Second derivatives of the cost along the tangent, whose gradient is −Jᵀe."""
        bend = -self.equations.tangent_jacobian(gradient)
        return (bend + bend.T) / 2

    def step_within_bounds(self, step: SX) -> SX:
        """q ⊕ step, held within the ranges."""
        if self.equations.nq == self.equations.nv:
            q = self.q + step
        else:
            (q,) = self.equations.expressions("integrate")
            q = ca.substitute(q, self.equations.symbols["step"], step)
        low, high = ca.DM(self.bounds.lower), ca.DM(self.bounds.upper)
        return ca.fmin(ca.fmax(q, low), high)

    def free_coordinates(self, gradient: SX) -> SX:
        """1 for velocities that may change, 0 for those whose coordinate would leave its range."""
        flags = [ca.SX(1)] * self.equations.nv
        if self.equations.nq == self.equations.nv:
            for k in range(self.equations.nv):
                low, high = float(self.bounds.lower[k]), float(self.bounds.upper[k])
                outward = ca.logic_or(
                    ca.logic_and(self.q[k] <= low, gradient[k] < 0),
                    ca.logic_and(self.q[k] >= high, gradient[k] > 0),
                )
                if abs(low) != float("inf") or abs(high) != float("inf"):
                    flags[k] = 1 - outward
        return ca.vertcat(*flags)

    def coordinate_difference(self, q: SX, other: SX) -> SX:
        """The step that leads from coordinates to others."""
        if self.equations.nq == self.equations.nv:
            return other - q
        (step,) = self.equations.expressions("difference")
        s = self.equations.symbols
        return ca.substitute(step, ca.vertcat(s["q"], s["q1"]), ca.vertcat(q, other))


def _target_rotation_error(R: SX, T: SX) -> SX:
    """Σ r × t over the columns: 2 sin θ along the axis of the turn from R to T."""
    return sum((ca.cross(R[:, k], T[:, k]) for k in range(3)), ca.SX.zeros(3))
