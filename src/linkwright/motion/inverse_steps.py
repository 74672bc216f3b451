"""One step of inverse kinematics as a tape, for many targets at once.

    (Jᵀ J + λ) Δq = Jᵀ e        (Levenberg–Marquardt; λ follows the gain of each step: Nielsen)

e are the errors of all frames. For a rotation R that should be T, e is √2 sin θ along the axis of
the turn from R to T: with this, Jᵀ J and Jᵀ e are those of the nine differences T − R, so that the
cost ½|T − R|² is smooth everywhere and each step is exactly Gauss–Newton's. Where there are fewer
rows than joints, Jᵀ (J Jᵀ + λ)⁻¹ e is the same step with a smaller matrix. Coordinates at the end
of their range that would leave it take no part.

Loops φ = 0 are held by an augmented Lagrangian: the cost has ½w|φ + s|² − ½w|s|² in addition, and
where a lane comes to rest with loops open, s grows by φ (`update_multipliers`). With φ = 0 the
gradient is the Lagrangian's with the multipliers w s: a flat place is the nearest that closed loops
allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import solve_symmetric_matrix
from ..equations import Equations
from ..readings.llvm import compile_expressions
from ..tape import vector_tape_expressions
from ..types import SX, Booleans, Floats, Integers
from .coordinate_bounds import CoordinateBounds
from .frame_targets import TARGET_SIZES
from .inverse_options import INVERSE_OPTIONS


@dataclass(frozen=True)
class _InverseKinematicsTrial:
    """The end of a step, the decrease of the cost, and the decrease that was predicted."""

    q: SX
    cost: SX
    errors: SX
    gain: SX
    expected: SX

    def better_of(self, other: _InverseKinematicsTrial) -> _InverseKinematicsTrial:
        """The one of two steps that reduces the cost more."""
        even = ca.logic_and(other.gain == self.gain, other.cost < self.cost)
        take, theirs = ca.logic_or(other.gain > self.gain, even), vars(other)
        return _InverseKinematicsTrial(
            **{k: ca.if_else(take, theirs[k], mine) for k, mine in vars(self).items()}
        )


@dataclass(frozen=True)
class InverseKinematicsIteration:
    """Steps for frames with targets of given kinds. `length` is what 1 rad is worth in metres."""

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

    def add_multipliers(self, wanted: Floats, stiff: bool) -> Floats:
        """Targets (lanes, asked) with s = 0 and the w that their lanes begin with: loops that give
        way let frames pass from one assembly to another, stiff ones stay with theirs."""
        if not self.loop_row_count:
            return wanted
        far = np.maximum(np.abs(wanted).max(axis=1), self.length)
        w = INVERSE_OPTIONS.loop_weight * far / self.length if stiff else np.ones(len(wanted))
        return np.hstack([wanted, np.zeros((len(wanted), self.loop_row_count)), w[:, None]])

    def loop_residual_norm(self, figures: Floats) -> Floats:
        """The norm of the loop residuals φ in each lane."""
        return np.asarray(np.linalg.norm(figures[:, 4 : 4 + self.loop_row_count], axis=1))

    @property
    def first_damping(self) -> Floats:
        """The damping factor λ and its growth factor ν with which every lane begins."""
        return np.array([INVERSE_OPTIONS.first_damping * self.length**2, 2.0])

    def is_stuck(self, pace: Floats, wanted: Floats) -> Booleans:
        """Whether the damping factor of each lane has grown so large that steps no longer help."""
        return pace[:, 0] >= INVERSE_OPTIONS.largest_damping * self.length**2 * (
            wanted[:, -1] if self.loop_row_count else 1.0
        )

    def update_multipliers(self, slack: Integers, *state: Floats) -> list[Floats]:
        """Targets, paces and residual norms after s grows by the residuals, and w where these
        have hardly decreased."""
        (wanted, pace, gaps), now = (array.copy() for array in state[:3]), state[3][slack]
        slow = self.loop_residual_norm(now) > INVERSE_OPTIONS.sufficient_gap_reduction * gaps[slack]
        more, s = (
            np.where(slow, INVERSE_OPTIONS.loop_weight_growth, 1.0)[:, None],
            wanted[slack, self.target_size : -1] + now[:, 4:],
        )
        wanted[slack, self.target_size :] = np.hstack([s / more, wanted[slack, -1:] * more])
        pace[slack], gaps[slack] = (
            np.minimum(pace[slack], self.first_damping),
            self.loop_residual_norm(now),
        )
        return [wanted, pace, gaps]

    @cached_property
    def _target_errors(self) -> tuple[SX, SX, SX, SX, SX]:
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
            there.append(pull * self._loop_residual)
            missing.append(-pull * (self._loop_residual + s))
            rows.append(missing[-1])
            cost += self.target[-1] * (
                ca.sumsqr(self._loop_residual) / 2 + ca.dot(self._loop_residual, s)
            )
        errors = ca.vertcat(far, turned, self._loop_residual)
        return ca.vertcat(*rows), cost, errors, ca.vertcat(*there), ca.vertcat(*missing)

    @cached_property
    def _loop_residual(self) -> SX:
        """The residuals φ of the loops at time 0."""
        if not self.loop_row_count:
            return ca.SX(0, 1)
        gap = self.equations.expressions("constraint_residual")[0]
        return ca.substitute(gap, self.equations.symbols["t"], 0)

    @cached_property
    def _full_error_gradient(self) -> SX:
        """The slope that would be all of the error, which is that of the frames and of the gap."""
        cost = self._target_errors[1]
        if self.loop_row_count:
            frames = ca.sumsqr(self._target_errors[4][: -self.loop_row_count])
            cost = (frames + self.target[-1] * ca.sumsqr(self._loop_residual)) / 2
        return ca.sqrt(2 * cost) * self.length

    @cached_property
    def _target_jacobian(self) -> SX:
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
    def _error_function(self) -> Any:
        return ca.Function("measure", [self.q, self.target], list(self._target_errors[1:]))

    def _step_within_bounds(self, step: SX) -> SX:
        """q ⊕ step, held within the ranges."""
        if self.equations.nq == self.equations.nv:
            q = self.q + step
        else:
            (q,) = self.equations.expressions("integrate")
            q = ca.substitute(q, self.equations.symbols["step"], step)
        low, high = ca.DM(self.bounds.lower), ca.DM(self.bounds.upper)
        return ca.fmin(ca.fmax(q, low), high)

    def _free_coordinates(self, gradient: SX) -> SX:
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

    def _damped_least_squares(self, J: SX, e: SX, damping: SX | float) -> SX:
        """The damped least-squares solution of J Δq = e."""
        rows, columns = J.shape
        if rows <= columns:
            step: SX = J.T @ solve_symmetric_matrix(J @ J.T + damping * ca.SX.eye(rows), e)
        else:
            step = solve_symmetric_matrix(J.T @ J + damping * ca.SX.eye(columns), J.T @ e)
        return step

    @cached_property
    def gauss_newton_step(self) -> np.ufunc:
        """(q, target, (λ, ν)) → (q, (λ, ν), (cost, slope, far, turned, φ…)): one step, if it helps.

        `slope` is the cost's gradient along what may move, as a share of the error itself.
        """
        return self._compile_step("gauss_newton_step", by_curvature=False)

    @cached_property
    def newton_step(self) -> np.ufunc:
        """The same with Newton's step, from the cost's own second derivatives, where it is the
        better one: out of reach, where errors stay, Gauss and Newton's is slow."""
        return self._compile_step("newton_step", by_curvature=True)

    def _compile_step(self, name: str, by_curvature: bool) -> np.ufunc:
        e, cost, errors, _, _ = self._target_errors
        pace = ca.SX.sym("pace", 2)
        gradient = self._target_jacobian.T @ e
        free = self._free_coordinates(gradient)
        trial = self._try_gauss_newton(e, free, pace[0])
        if by_curvature:
            trial = trial.better_of(self._try_newton(gradient, free, pace[0]))
        better = trial.gain > 0
        slope = ca.sqrt(ca.sumsqr(free * gradient)) / (self._full_error_gradient + 1e-300)
        figures = ca.vertcat(
            ca.if_else(better, trial.cost, cost), slope, ca.if_else(better, trial.errors, errors)
        )
        return self._compile_iteration(
            name,
            {"q": self.q, "target": self.target, "pace": pace},
            {
                "q_out": ca.if_else(better, trial.q, self.q),
                "pace_out": self._update_damping(pace, trial.gain, trial.expected, better),
                "figures": figures,
            },
        )

    def _try_gauss_newton(self, e: SX, free: SX, damping: SX) -> _InverseKinematicsTrial:
        J = self._target_jacobian @ ca.diag(free)
        step = _limit_inverse_kinematics_step(self._damped_least_squares(J, e, damping))
        return self._try_step(step, ca.dot(e, J @ step) - ca.sumsqr(J @ step) / 2)

    def _try_newton(self, gradient: SX, free: SX, damping: SX) -> _InverseKinematicsTrial:
        """Newton's step: (H + λ) Δq = Jᵀ e with the cost's second derivatives H."""
        bend = ca.diag(free) @ self._cost_hessian(gradient) @ ca.diag(free)
        damped = bend + damping * ca.SX.eye(self.equations.nv)
        step = _limit_inverse_kinematics_step(solve_symmetric_matrix(damped, free * gradient))
        return self._try_step(step, ca.dot(gradient, step) - ca.dot(step, bend @ step) / 2)

    def _try_step(self, step: SX, expected: SX) -> _InverseKinematicsTrial:
        """The result of a step. Far from the target, the gain is computed without a difference
        of costs, which would be lost to rounding."""
        q, (_, before, _, here, missing) = self._step_within_bounds(step), self._target_errors
        cost, errors, there, left = self._error_function(q, self.target)
        gain = ca.dot(there - here, missing + left) / 2
        if not self.loop_row_count:
            gain = ca.if_else(
                before > (INVERSE_OPTIONS.far_lengths * self.length) ** 2 / 2, gain, before - cost
            )
        return _InverseKinematicsTrial(q, cost, errors, gain, expected)

    def _update_damping(self, pace: SX, gained: SX, expected: SX, better: SX) -> SX:
        """λ and ν after a step: λ falls as the step did what was expected, and else grows by ν."""
        gain = ca.fmin(ca.fmax(gained / (ca.fmax(expected, 0) + 1e-300), 0), 1)
        eased = pace[0] * ca.fmax(1 / 3, 1 - (2 * gain - 1) ** 3)
        return ca.vertcat(
            ca.if_else(
                better,
                ca.fmax(eased, INVERSE_OPTIONS.least_damping * self.length**2),
                pace[0] * pace[1],
            ),
            ca.if_else(better, 2, 2 * pace[1]),
        )

    def _cost_hessian(self, gradient: SX) -> SX:
        """Second derivatives of the cost along the tangent, whose gradient is −Jᵀe."""
        bend = -self.equations.tangent_jacobian(gradient)
        return (bend + bend.T) / 2

    @property
    def posture_cost_allowance(self) -> float:
        """The amount by which the cost may grow while the posture is sought."""
        return (INVERSE_OPTIONS.posture_deviation * self.length) ** 2 / 2

    @cached_property
    def null_space_step(self) -> np.ufunc:
        """(q, target, posture, α, most) → (q, α, still): toward the posture, frames held in place.

        Δq = α p + J⁺ (e − α J p),   p = posture − q;   `still` is how far p can still lead,
        `most` the cost that may not be passed
        """
        damping = INVERSE_OPTIONS.null_space_damping * self.length**2
        e = self._target_errors[0]

        def undone(p: SX, free: SX) -> tuple[SX, SX]:
            J = self._target_jacobian @ ca.diag(free)
            left_out, back = (self._damped_least_squares(J, x, damping) for x in (J @ p, e))
            return left_out, back

        return self._compile_null_space_step(
            "null_space_step", ca.SX.ones(self.equations.nv), undone
        )

    @cached_property
    def curved_null_space_step(self) -> np.ufunc:
        """The same where frames cannot arrive, and J says less than the cost's curvature H about
        what holds them: Δq = α p + H⁺ (Jᵀ e − α H p)."""
        gradient = self._target_jacobian.T @ self._target_errors[0]
        curvature, eye = self._cost_hessian(gradient), ca.SX.eye(self.equations.nv)
        pushing = ca.fabs(gradient) > INVERSE_OPTIONS.active_bound_slope * self._full_error_gradient

        def undone(p: SX, free: SX) -> tuple[SX, SX]:
            H = ca.diag(free) @ curvature @ ca.diag(free)
            damped = H + INVERSE_OPTIONS.null_space_damping * self.length**2 * eye
            return solve_symmetric_matrix(damped, H @ p), solve_symmetric_matrix(
                damped, free * gradient
            )

        return self._compile_null_space_step(
            "curved_null_space_step", self._free_coordinates(pushing * gradient), undone
        )

    def _compile_null_space_step(
        self, name: str, free: SX, undone: Callable[[SX, SX], tuple[SX, SX]]
    ) -> np.ufunc:
        """`undone`: what a motion p of free coordinates must leave out, and the way back."""
        posture, pace = ca.SX.sym("posture", self.equations.nq), ca.SX.sym("pace")
        most = ca.SX.sym("most")
        p = self._coordinate_difference(self.q, posture)
        outward = free * p - undone(free * p, free)[0]
        free = free * self._free_coordinates(outward)
        left_out, back = undone(free * p, free)
        along = free * p - left_out
        q = self._step_within_bounds(pace * along + back)
        cost = self._error_function(q, self.target)[0]
        nearer = ca.sumsqr(self._coordinate_difference(q, posture)) < ca.sumsqr(p)
        good = ca.logic_and(nearer, cost < most)
        return self._compile_iteration(
            name,
            {"q": self.q, "target": self.target, "posture": posture, "pace": pace, "most": most},
            {
                "q_out": ca.if_else(good, q, self.q),
                "pace_out": ca.if_else(good, ca.fmin(1, 1.5 * pace), pace / 2),
                "still": ca.sqrt(ca.sumsqr(along)),
            },
        )

    def _coordinate_difference(self, q: SX, other: SX) -> SX:
        if self.equations.nq == self.equations.nv:
            return other - q
        (step,) = self.equations.expressions("difference")
        s = self.equations.symbols
        return ca.substitute(step, ca.vertcat(s["q"], s["q1"]), ca.vertcat(q, other))

    def _compile_iteration(
        self, name: str, inputs: dict[str, SX], outputs: dict[str, SX]
    ) -> np.ufunc:
        return compile_expressions(
            name, vector_tape_expressions(inputs), vector_tape_expressions(outputs)
        )


def _limit_inverse_kinematics_step(step: SX) -> SX:
    """The step, scaled so that no coordinate changes by more than the largest allowed amount."""
    return step * ca.fmin(1, INVERSE_OPTIONS.longest_step / (ca.norm_inf(step) + 1e-300))


def _target_rotation_error(R: SX, T: SX) -> SX:
    """Σ r × t over the columns: 2 sin θ along the axis of the turn from R to T."""
    return sum((ca.cross(R[:, k], T[:, k]) for k in range(3)), ca.SX.zeros(3))
