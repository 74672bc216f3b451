"""Many targets at once: the loops over the compiled steps of inverse kinematics.

Lanes that are done are left out of the next steps; what is done is looked at every few steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import LinkwrightError
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..types import Booleans, Floats, Integers
from .inverse_options import INVERSE_OPTIONS
from .inverse_steps import InverseKinematicsIteration

_ROUNDING_SHARE = float(np.finfo(float).eps)
"""The share of points that rounding is; the cost's slope cannot be seen below its root."""


@dataclass(frozen=True)
class InverseKinematicsLanes:
    """All targets, one in each lane, and the loops over the compiled iteration steps."""

    iteration: InverseKinematicsIteration
    target_numbers: Floats
    tolerance: float

    def is_reached(self, figures: Floats) -> Booleans:
        """Whether distance and angle are within the tolerance and the loops are closed, by lane."""
        missed = np.maximum(figures[:, 2], figures[:, 3])
        return (missed <= self.tolerance) & (
            self.iteration.loop_residual_norm(figures)
            <= min(CLOSURE_TOLERANCES.tracked_residual, self.tolerance)
        )

    def is_nearest(self, figures: Floats, lanes: Integers) -> Booleans:
        """Whether the cost is stationary up to rounding and the loops are closed, by lane."""
        size = np.abs(self.target_numbers[lanes]).max(axis=1)
        missed = np.maximum(figures[:, 2], self.iteration.length * figures[:, 3])
        unseen = np.sqrt(_ROUNDING_SHARE * (size + self.iteration.length) / (missed + 1e-300))
        flat: Booleans = figures[:, 1] < INVERSE_OPTIONS.nearest_gradient + unseen
        return flat & (
            self.iteration.loop_residual_norm(figures) <= CLOSURE_TOLERANCES.tracked_residual
        )

    def is_near_miss(self, figures: Floats) -> Booleans:
        """Whether the error is so small that the target is hardly out of reach, by lane."""
        return figures[:, 0] < (INVERSE_OPTIONS.near_miss_share * self.iteration.length) ** 2 / 2

    def with_multipliers(self, lanes: Integers, held: Floats | None, stiff: bool = False) -> Floats:
        """Targets of lanes with the loop multipliers of the figures `held`, or with first ones."""
        wanted = self.iteration.add_multipliers(self.target_numbers[lanes], stiff)
        if held is not None and self.iteration.loop_row_count:
            wanted[:, self.iteration.target_size :] = held[:, 4 + self.iteration.loop_row_count :]
        return wanted

    def minimize_errors(
        self,
        begin: Floats,
        lanes: Integers,
        flat: float = INVERSE_OPTIONS.flat_gradient,
        rival: Floats | None = None,
        held: Floats | None = None,
        stiff: bool = False,
    ) -> tuple[Floats, Floats]:
        """Steps until reached, flat with loops closed, or stuck; lanes that are done stand still.

        `rival` are costs that others came to: what will not fall below these is left off.
        """
        wanted, before = self.with_multipliers(lanes, held, stiff), np.full(len(begin), np.inf)
        width = 4 + self.iteration.loop_row_count + wanted.shape[1] - self.iteration.target_size
        q, here, figures = begin.copy(), begin, np.full((len(begin), width), np.inf)
        at, pace, gaps = (
            np.arange(len(begin)),
            np.tile(self.iteration.first_damping, (len(begin), 1)),
            before,
        )
        rival = before if rival is None else rival
        for burst in range(
            INVERSE_OPTIONS.max_loop_checks
            if self.iteration.loop_row_count
            else INVERSE_OPTIONS.max_checks
        ):
            step = (
                self.iteration.gauss_newton_step
                if burst < INVERSE_OPTIONS.gauss_newton_checks
                else self.iteration.newton_step
            )
            for _ in range(INVERSE_OPTIONS.steps_per_check):
                with np.errstate(all="ignore"):
                    here, pace, now = step(here, wanted, pace)
            q[at], figures[at, : now.shape[1]] = here, now
            figures[at, now.shape[1] :] = wanted[:, self.iteration.target_size :]
            stuck, shut = (
                self.iteration.is_stuck(pace, wanted),
                self.iteration.loop_residual_norm(now)
                <= INVERSE_OPTIONS.loop_share_of_gradient * flat,
            )
            rest = (now[:, 1] < flat) | stuck
            done = (
                self.is_reached(now)
                | (rest & shut)
                | is_target_descent_too_slow(before, now[:, 0], rival)
            )
            (slack,) = np.nonzero(~shut & (stuck | (now[:, 1] < INVERSE_OPTIONS.rough_gradient)))
            if len(slack):
                wanted, pace, gaps = self.iteration.update_multipliers(
                    slack, wanted, pace, gaps, now
                )
            (live,) = np.nonzero(~done)
            if not len(live):
                break
            at = at[live]
            here, wanted, pace, before, rival, gaps = take_target_lanes(
                live, here, wanted, pace, now[:, 0], rival, gaps
            )
        gap = self.iteration.loop_residual_norm(figures)
        figures[:, 0] = np.where(
            gap
            > max(
                CLOSURE_TOLERANCES.tracked_residual, INVERSE_OPTIONS.loop_share_of_gradient * flat
            ),
            INVERSE_OPTIONS.open_loop_cost * gap,
            figures[:, 0],
        )
        return q, figures

    def approach_posture(
        self,
        step: Callable[..., tuple[Floats, Floats, Floats]],
        q: Floats,
        figures: Floats,
        posture: Floats,
        lanes: Integers,
    ) -> Floats:
        """Take null-space steps toward the posture until they lead no further."""
        found, at, wanted = q.copy(), np.arange(len(q)), self.with_multipliers(lanes, figures)
        pace, most = np.ones((len(q), 1)), figures[:, :1] + self.iteration.posture_cost_allowance
        for _ in range(INVERSE_OPTIONS.max_null_space_steps // INVERSE_OPTIONS.steps_per_check):
            for _ in range(INVERSE_OPTIONS.steps_per_check):
                with np.errstate(all="ignore"):
                    q, pace, still = step(q, wanted, posture, pace, most)
            found[at] = q
            (live,) = np.nonzero(
                (still[:, 0] > INVERSE_OPTIONS.null_space_rest)
                & (pace[:, 0] > INVERSE_OPTIONS.smallest_pace)
            )
            if not len(live):
                break
            at = at[live]
            q, wanted, posture, pace, most = take_target_lanes(live, q, wanted, posture, pace, most)
        return found


def flatten_frame_targets(arrays: list[Floats]) -> tuple[tuple[int, ...], list[Floats]]:
    """The common leading axes, and all arrays with these axes merged into one."""
    shapes = [a.shape[:-1] for a in arrays]
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError:
        raise LinkwrightError(
            f"targets, start and posture have the shapes {', '.join(map(str, shapes))}",
            remedy="give the same number of each, or one",
        ) from None
    sizes = [(*batch, a.shape[-1]) for a in arrays]
    return batch, [
        np.broadcast_to(a, n).reshape(-1, n[-1]) for a, n in zip(arrays, sizes, strict=True)
    ]


def take_target_lanes(chosen: Integers, *arrays: Floats) -> list[Floats]:
    """The rows of the chosen lanes, of each array."""
    return [array.take(chosen, axis=0) for array in arrays]


def is_target_descent_too_slow(before: Floats, cost: Floats, rival: Floats) -> Booleans:
    """Whether the cost falls too slowly to get below that of a rival solution."""
    gain = before - cost
    return (gain > 0) & (
        INVERSE_OPTIONS.patience_steps * gain < cost - (1 - INVERSE_OPTIONS.same_cost_share) * rival
    )
