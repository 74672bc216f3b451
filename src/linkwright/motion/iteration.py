"""One step of inverse kinematics as a tape, for many targets at once.

    (Jᵀ J + λ) Δq = Jᵀ e        (Levenberg–Marquardt; λ follows the gain of each step: Nielsen)

e are the errors of all frames. Of a rotation R that should be T it is √2 sin θ along the axis of
the turn from R to T: with this, Jᵀ J and Jᵀ e are those of the nine differences T − R, so that the
cost ½|T − R|² is smooth everywhere and each step is exactly Gauss–Newton's. Where there are fewer
rows than joints, Jᵀ (J Jᵀ + λ)⁻¹ e is the same step with a smaller matrix. Coordinates at the end
of their range that would leave it take no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from ..algebra.linear import solve_symmetric
from ..equations import Equations
from ..readings.llvm import compile_tape
from ..tape import Port, normalised, record, scheduled
from .limits import Bounds
from .targets import SIZES

SX = Any
LEAST = 1e-13
"""The least λ, as a share of the length's square."""
FARTHEST = 0.5
"""The most that a coordinate changes in a step, rad or m."""
PUSH = 1e-6
"""The slope, as a share of the error, that holds a coordinate at the end of its range."""
STRAY = 0.02
"""How far frames may stray while the posture is sought, as a share of the length."""


@dataclass(frozen=True)
class _Trial:
    """Where a step leads, and by how much it should lessen the cost."""

    q: SX
    cost: SX
    errors: SX
    expected: SX

    def or_better(self, other: _Trial) -> _Trial:
        take = other.cost < self.cost
        pairs = ((getattr(other, k), getattr(self, k)) for k in ("q", "cost", "errors", "expected"))
        return _Trial(*(ca.if_else(take, yes, no) for yes, no in pairs))


@dataclass(frozen=True)
class Iteration:
    """Steps for frames with targets of given kinds. `length` is what 1 rad is worth in metres."""

    equations: Equations
    frames: Sequence[tuple[str, str]]
    bounds: Bounds
    length: float

    @cached_property
    def q(self) -> SX:
        return self.equations.symbols["q"]

    @cached_property
    def target(self) -> SX:
        return ca.SX.sym("target", sum(SIZES[kind] for _, kind in self.frames))

    @cached_property
    def _errors(self) -> tuple[SX, SX, SX]:
        """e, the cost and the largest error of a position and of a rotation."""
        rows, cost, at = [], ca.SX(0), 0
        far, turned = ca.SX(0), ca.SX(0)
        for frame, kind in self.frames:
            (T,) = self.equations.expressions("placement", frame)
            wanted = self.target[at : at + SIZES[kind]]
            at += SIZES[kind]
            point = wanted[: min(3, SIZES[kind])] - T[: min(3, SIZES[kind]), 3]
            rows.append(point)
            cost += ca.sumsqr(point) / 2
            far = ca.fmax(far, ca.sqrt(ca.sumsqr(point)))
            if kind == "pose":
                R = ca.reshape(wanted[3:], 3, 3).T
                apart = R - T[:3, :3]
                cost += self.length**2 * ca.sumsqr(apart) / 2
                turned = ca.fmax(turned, ca.sqrt(ca.sumsqr(apart) / 2))
                rows.append(self.length / ca.sqrt(2) * _turn(T[:3, :3], R))
        if positions := self.equations.names.positions:
            t = self.equations.symbols["t"]
            gap = ca.substitute(self.equations.expressions("constraint_residual")[0], t, 0)
            rows.append(-gap[:positions])
            cost += ca.sumsqr(gap) / 2
            far = ca.fmax(far, ca.sqrt(ca.sumsqr(gap)))
        return ca.vertcat(*rows), cost, ca.vertcat(far, turned)

    @cached_property
    def _jacobian(self) -> SX:
        rows = []
        for frame, kind in self.frames:
            (J,) = self.equations.expressions("jacobian", frame)
            rows.append(J[3 : 3 + min(3, SIZES[kind]), :])
            if kind == "pose":
                rows.append(self.length * ca.sqrt(2) * J[:3, :])
        if positions := self.equations.names.positions:
            t = self.equations.symbols["t"]
            J = ca.substitute(self.equations.expressions("constraint_jacobian")[0], t, 0)
            rows.append(J[:positions, :])
        return ca.vertcat(*rows)

    @cached_property
    def _measure(self) -> Any:
        return ca.Function("measure", [self.q, self.target], list(self._errors))

    def _moved(self, step: SX) -> SX:
        """q ⊕ step, held within the ranges."""
        if self.equations.nq == self.equations.nv:
            q = self.q + step
        else:
            (q,) = self.equations.expressions("integrate")
            q = ca.substitute(q, self.equations.symbols["step"], step)
        low, high = ca.DM(self.bounds.lower), ca.DM(self.bounds.upper)
        return ca.fmin(ca.fmax(q, low), high)

    def _free(self, gradient: SX) -> SX:
        """1 for speeds that may change, 0 for those whose coordinate would leave its range."""
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

    def _least(self, J: SX, e: SX, damping: SX) -> SX:
        """The damped least-squares solution of J Δq = e."""
        rows, columns = J.shape
        if rows <= columns:
            return J.T @ solve_symmetric(J @ J.T + damping * ca.SX.eye(rows), e)
        return solve_symmetric(J.T @ J + damping * ca.SX.eye(columns), J.T @ e)

    @cached_property
    def descend(self) -> Any:
        """(q, target, (λ, ν)) → (q, (λ, ν), (cost, far, turned, slope)): one step, if it helps.

        `slope` is the cost's gradient along what may move, as a share of the error itself.
        """
        return self._step("descend", by_curvature=False)

    @cached_property
    def settle(self) -> Any:
        """The same with Newton's step, from the cost's own second derivatives, where it is the
        better one: out of reach, where errors stay, Gauss and Newton's is slow."""
        return self._step("settle", by_curvature=True)

    def _step(self, name: str, by_curvature: bool) -> Any:
        e, cost, errors = self._errors
        pace = ca.SX.sym("pace", 2)
        gradient = self._jacobian.T @ e
        free = self._free(gradient)
        trial = self._by_least_squares(e, free, pace[0])
        if by_curvature:
            trial = trial.or_better(self._by_curvature(gradient, free, pace[0]))
        better = trial.cost < cost
        slope = ca.sqrt(ca.sumsqr(free * gradient)) / (ca.sqrt(2 * cost) * self.length + 1e-300)
        figures = ca.vertcat(ca.if_else(better, trial.cost, cost),
                             ca.if_else(better, trial.errors, errors), slope)  # fmt: skip
        return self._compiled(
            name, {"q": self.q, "target": self.target, "pace": pace},
            {"q_out": ca.if_else(better, trial.q, self.q),
             "pace_out": self._next_pace(pace, cost - trial.cost, trial.expected, better),
             "figures": figures},
        )  # fmt: skip

    def _by_least_squares(self, e: SX, free: SX, damping: SX) -> _Trial:
        J = self._jacobian @ ca.diag(free)
        step = _shortened(self._least(J, e, damping))
        return self._tried(step, ca.dot(e, J @ step) - ca.sumsqr(J @ step) / 2)

    def _by_curvature(self, gradient: SX, free: SX, damping: SX) -> _Trial:
        """Newton's step: (H + λ) Δq = Jᵀ e with the cost's second derivatives H."""
        bend = ca.diag(free) @ self._curvature(gradient) @ ca.diag(free)
        damped = bend + damping * ca.SX.eye(self.equations.nv)
        step = _shortened(solve_symmetric(damped, free * gradient))
        return self._tried(step, ca.dot(gradient, step) - ca.dot(step, bend @ step) / 2)

    def _tried(self, step: SX, expected: SX) -> _Trial:
        q = self._moved(step)
        _, cost, errors = self._measure(q, self.target)
        return _Trial(q, cost, errors, expected)

    def _next_pace(self, pace: SX, gained: SX, expected: SX, better: SX) -> SX:
        """λ and ν after a step: λ falls as the step did what was expected, and else grows by ν."""
        gain = ca.fmin(ca.fmax(gained / (ca.fmax(expected, 0) + 1e-300), 0), 1)
        eased = pace[0] * ca.fmax(1 / 3, 1 - (2 * gain - 1) ** 3)
        return ca.vertcat(
            ca.if_else(better, ca.fmax(eased, LEAST * self.length**2), pace[0] * pace[1]),
            ca.if_else(better, 2, 2 * pace[1]),
        )

    def _curvature(self, gradient: SX) -> SX:
        """Second derivatives of the cost along the tangent, whose gradient is −Jᵀe."""
        bend = -self.equations.along_q(gradient)
        return (bend + bend.T) / 2

    @property
    def stray(self) -> float:
        """What the cost may grow by while the posture is sought."""
        return (STRAY * self.length) ** 2 / 2

    @cached_property
    def glide(self) -> Any:
        """(q, target, posture, α, most) → (q, α, still): toward the posture, frames held in place.

        Δq = α p + J⁺ (e − α J p),   p = posture − q;   `still` is how far p can still lead,
        `most` the cost that may not be passed
        """
        damping = LEAST * self.length**2 * 1e3
        e, _, _ = self._errors

        def undone(p: SX, free: SX) -> tuple[SX, SX]:
            J = self._jacobian @ ca.diag(free)
            return self._least(J, J @ p, damping), self._least(J, e, damping)

        return self._glide("glide", ca.SX.ones(self.equations.nv), undone)

    @cached_property
    def drift(self) -> Any:
        """The same where frames cannot arrive, and J says less than the cost's curvature H about
        what holds them: Δq = α p + H⁺ (Jᵀ e − α H p)."""
        e, cost, _ = self._errors
        gradient = self._jacobian.T @ e
        curvature, eye = self._curvature(gradient), ca.SX.eye(self.equations.nv)
        pushing = ca.fabs(gradient) > PUSH * ca.sqrt(2 * cost) * self.length

        def undone(p: SX, free: SX) -> tuple[SX, SX]:
            H = ca.diag(free) @ curvature @ ca.diag(free)
            damped = H + LEAST * self.length**2 * 1e3 * eye
            return solve_symmetric(damped, H @ p), solve_symmetric(damped, free * gradient)

        return self._glide("drift", self._free(pushing * gradient), undone)

    def _glide(self, name: str, free: SX, undone: Callable[[SX, SX], tuple[SX, SX]]) -> Any:
        """`undone`: what a motion p of free coordinates must leave out, and the way back."""
        posture, pace = ca.SX.sym("posture", self.equations.nq), ca.SX.sym("pace")
        most = ca.SX.sym("most")
        p = self._apart(self.q, posture)
        outward = free * p - undone(free * p, free)[0]
        free = free * self._free(outward)
        left_out, back = undone(free * p, free)
        along = free * p - left_out
        q = self._moved(pace * along + back)
        _, cost, _ = self._measure(q, self.target)
        nearer = ca.sumsqr(self._apart(q, posture)) < ca.sumsqr(p)
        good = ca.logic_and(nearer, cost < most)
        return self._compiled(
            name,
            {"q": self.q, "target": self.target, "posture": posture, "pace": pace, "most": most},
            {"q_out": ca.if_else(good, q, self.q),
             "pace_out": ca.if_else(good, ca.fmin(1, 1.5 * pace), pace / 2),
             "still": ca.sqrt(ca.sumsqr(along))},
        )  # fmt: skip

    def _apart(self, q: SX, other: SX) -> SX:
        if self.equations.nq == self.equations.nv:
            return other - q
        (step,) = self.equations.expressions("difference")
        s = self.equations.symbols
        return ca.substitute(step, ca.vertcat(s["q"], s["q1"]), ca.vertcat(q, other))

    def _compiled(self, name: str, inputs: dict[str, SX], outputs: dict[str, SX]) -> Any:
        function = ca.Function(
            name, list(inputs.values()), ca.cse(list(outputs.values())), list(inputs),
            list(outputs),
        )  # fmt: skip
        sizes = ({k: int(x.shape[0]) for k, x in part.items()} for part in (inputs, outputs))
        ports = [[Port(key, (size,)) for key, size in part.items()] for part in sizes]
        return compile_tape(scheduled(normalised(record(function, *ports))))


def _shortened(step: SX) -> SX:
    """The step, with no coordinate changing by more than is sensible."""
    return step * ca.fmin(1, FARTHEST / (ca.norm_inf(step) + 1e-300))


def _turn(R: SX, T: SX) -> SX:
    """Σ r × t over the columns: 2 sin θ along the axis of the turn from R to T."""
    return sum((ca.cross(R[:, k], T[:, k]) for k in range(3)), ca.SX.zeros(3))
