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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import solve_symmetric_matrix
from ..readings.llvm import compile_expressions
from ..tape import vector_tape_expressions
from ..types import SX, Booleans, Floats, Integers
from .inverse_options import INVERSE_OPTIONS
from .inverse_problem import InverseKinematicsProblem


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
class InverseKinematicsIteration(InverseKinematicsProblem):
    """The steps that solve a problem of inverse kinematics, as machine code."""

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
        e, cost, errors, _, _ = self.target_errors
        pace = ca.SX.sym("pace", 2)
        gradient = self.target_jacobian.T @ e
        free = self.free_coordinates(gradient)
        trial = self._try_gauss_newton(e, free, pace[0])
        if by_curvature:
            trial = trial.better_of(self._try_newton(gradient, free, pace[0]))
        better = trial.gain > 0
        slope = ca.sqrt(ca.sumsqr(free * gradient)) / (self.full_error_gradient + 1e-300)
        figures = ca.vertcat(
            ca.if_else(better, trial.cost, cost), slope, ca.if_else(better, trial.errors, errors)
        )
        return _compile_iteration(
            name,
            {"q": self.q, "target": self.target, "pace": pace},
            {
                "q_out": ca.if_else(better, trial.q, self.q),
                "pace_out": self._update_damping(pace, trial.gain, trial.expected, better),
                "figures": figures,
            },
        )

    def _try_gauss_newton(self, e: SX, free: SX, damping: SX) -> _InverseKinematicsTrial:
        J = self.target_jacobian @ ca.diag(free)
        step = _limit_inverse_kinematics_step(_solve_damped_least_squares(J, e, damping))
        return self._try_step(step, ca.dot(e, J @ step) - ca.sumsqr(J @ step) / 2)

    def _try_newton(self, gradient: SX, free: SX, damping: SX) -> _InverseKinematicsTrial:
        """Newton's step: (H + λ) Δq = Jᵀ e with the cost's second derivatives H."""
        bend = ca.diag(free) @ self.cost_hessian(gradient) @ ca.diag(free)
        damped = bend + damping * ca.SX.eye(self.equations.nv)
        step = _limit_inverse_kinematics_step(solve_symmetric_matrix(damped, free * gradient))
        return self._try_step(step, ca.dot(gradient, step) - ca.dot(step, bend @ step) / 2)

    def _try_step(self, step: SX, expected: SX) -> _InverseKinematicsTrial:
        """The result of a step. Far from the target, the gain is computed without a difference
        of costs, which would be lost to rounding."""
        q, (_, before, _, here, missing) = self.step_within_bounds(step), self.target_errors
        cost, errors, there, left = self.error_function(q, self.target)
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
        e = self.target_errors[0]

        def undone(p: SX, free: SX) -> tuple[SX, SX]:
            J = self.target_jacobian @ ca.diag(free)
            left_out, back = (_solve_damped_least_squares(J, x, damping) for x in (J @ p, e))
            return left_out, back

        return self._compile_null_space_step(
            "null_space_step", ca.SX.ones(self.equations.nv), undone
        )

    @cached_property
    def curved_null_space_step(self) -> np.ufunc:
        """The same where frames cannot arrive, and J says less than the cost's curvature H about
        what holds them: Δq = α p + H⁺ (Jᵀ e − α H p)."""
        gradient = self.target_jacobian.T @ self.target_errors[0]
        curvature, eye = self.cost_hessian(gradient), ca.SX.eye(self.equations.nv)
        pushing = ca.fabs(gradient) > INVERSE_OPTIONS.active_bound_slope * self.full_error_gradient

        def undone(p: SX, free: SX) -> tuple[SX, SX]:
            H = ca.diag(free) @ curvature @ ca.diag(free)
            damped = H + INVERSE_OPTIONS.null_space_damping * self.length**2 * eye
            return solve_symmetric_matrix(damped, H @ p), solve_symmetric_matrix(
                damped, free * gradient
            )

        return self._compile_null_space_step(
            "curved_null_space_step", self.free_coordinates(pushing * gradient), undone
        )

    def _compile_null_space_step(
        self, name: str, free: SX, undone: Callable[[SX, SX], tuple[SX, SX]]
    ) -> np.ufunc:
        """`undone`: what a motion p of free coordinates must leave out, and the way back."""
        posture, pace = ca.SX.sym("posture", self.equations.nq), ca.SX.sym("pace")
        most = ca.SX.sym("most")
        p = self.coordinate_difference(self.q, posture)
        outward = free * p - undone(free * p, free)[0]
        free = free * self.free_coordinates(outward)
        left_out, back = undone(free * p, free)
        along = free * p - left_out
        q = self.step_within_bounds(pace * along + back)
        cost = self.error_function(q, self.target)[0]
        nearer = ca.sumsqr(self.coordinate_difference(q, posture)) < ca.sumsqr(p)
        good = ca.logic_and(nearer, cost < most)
        return _compile_iteration(
            name,
            {"q": self.q, "target": self.target, "posture": posture, "pace": pace, "most": most},
            {
                "q_out": ca.if_else(good, q, self.q),
                "pace_out": ca.if_else(good, ca.fmin(1, 1.5 * pace), pace / 2),
                "still": ca.sqrt(ca.sumsqr(along)),
            },
        )


def _limit_inverse_kinematics_step(step: SX) -> SX:
    """The step, scaled so that no coordinate changes by more than the largest allowed amount."""
    return step * ca.fmin(1, INVERSE_OPTIONS.longest_step / (ca.norm_inf(step) + 1e-300))


def _solve_damped_least_squares(J: SX, e: SX, damping: SX | float) -> SX:
    """The damped least-squares solution of J Δq = e."""
    rows, columns = J.shape
    if rows <= columns:
        step: SX = J.T @ solve_symmetric_matrix(J @ J.T + damping * ca.SX.eye(rows), e)
    else:
        step = solve_symmetric_matrix(J.T @ J + damping * ca.SX.eye(columns), J.T @ e)
    return step


def _compile_iteration(name: str, inputs: dict[str, SX], outputs: dict[str, SX]) -> np.ufunc:
    """The step from named inputs to named outputs as machine code."""
    return compile_expressions(
        name, vector_tape_expressions(inputs), vector_tape_expressions(outputs)
    )
