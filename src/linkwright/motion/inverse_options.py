"""The numbers that tune inverse kinematics, each with the reason for its value.

How far loops may stay open is not among them: see `ClosureTolerances` in kinematics.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InverseKinematicsOptions:
    """Steps, restarts and tolerances of the solver. Lengths are shares of the solver's own length
    (what 1 rad moves the frames by), damping factors shares of its square."""

    # -- steps ---------------------------------------------------------------------------------
    first_damping: float = 1e-3
    """The first steps are nearly Gauss–Newton's, but finite where the Jacobian is singular."""
    least_damping: float = 1e-13
    """Below this, damping is lost in the rounding of Jᵀ J."""
    largest_damping: float = 1e12
    """A target that still gets no nearer with this damping factor is stuck."""
    null_space_damping: float = 1e-10
    """The damping of steps that hold the frames: large enough that singular directions are not
    followed, small enough that frames stray by less than the tolerance."""
    longest_step: float = 0.5
    """No coordinate changes by more in a step, rad or m: further out the linear model is void."""
    far_lengths: float = 100.0
    """Targets farther than this make a difference of costs that rounding spoils: the gain of a
    step is then summed from differences of positions."""
    active_bound_slope: float = 1e-6
    """A coordinate at the end of its range is held there by at least this share of the error's
    slope; below, it may leave."""
    posture_deviation: float = 0.02
    """The distance that frames may deviate on the way to the posture, as a share of the length;
    the way back is one or two steps."""

    # -- loops (augmented Lagrangian) -----------------------------------------------------------
    loop_weight: float = 10.0
    """The first weight of stiff loops, for targets as far as the length: loops then stay with
    their assembly. Every other attempt begins with weight 1, so that frames may pass."""
    loop_weight_growth: float = 10.0
    """The factor of the weight where multipliers did not lessen the residual enough …"""
    sufficient_gap_reduction: float = 0.1
    """… that is, to this share of what it was."""
    loop_share_of_gradient: float = 0.1
    """Loops are closed to this share of the bound for the gradient, so that they do not decide
    what is nearest."""
    open_loop_cost: float = 1e250
    """The cost of a gap of 1: more than that of anything closed."""

    # -- when a target is done -------------------------------------------------------------------
    flat_gradient: float = 1e-9
    """The gradient of the cost, as a share of the error, to which targets are pursued."""
    nearest_gradient: float = 1e-6
    """The same below which a point counts as the nearest: Newton's next step would be 1e-12."""
    rough_gradient: float = 1e-4
    """The same for attempts; only the best of them is pursued."""
    near_miss_share: float = 1e-3
    """What misses a target by less than this share of the length is likely to stand where the
    Jacobian is singular."""
    same_cost_share: float = 1e-3
    """The share by which the costs of two rough attempts at the same point differ."""
    equal_cost_share: float = 1e-12
    """The share by which the costs of two exact solutions at the same point differ: rounding."""
    posture_cost_share: float = 1e-12
    """The share of the cost that a posture may add."""
    patience_steps: int = 10
    """Steps like the last after which an attempt must have beaten the best so far."""
    steps_per_check: int = 3
    """Steps between two looks at what is done, so that no answer depends on the other targets."""
    max_checks: int = 40
    """120 steps: damped Gauss–Newton far from the target takes some tens."""
    max_loop_checks: int = 120
    """The same with loops, whose multipliers take outer iterations."""
    gauss_newton_checks: int = 3
    """Then Newton's step is tried too: it costs second derivatives, and is needed only where
    targets are out of reach."""
    max_null_space_steps: int = 100
    """Steps toward the posture, which is a wish: where it takes more, it is left there."""
    null_space_rest: float = 1e-10
    """The posture is as near as the frames allow where it attracts by less, rad or m."""
    smallest_pace: float = 1e-9
    """The share of the way to the posture below which a step is given up."""

    # -- restarts --------------------------------------------------------------------------------
    sample_count: int = 512
    """Random configurations that restarts begin at, the nearest to the target first."""
    targets_per_chunk: int = 256
    """Targets whose samples are sorted at once: bounds the memory."""
    far_restarts: int = 20
    """Restarts for targets out of `far_reach`, which are out of reach in all likelihood."""
    far_reach: float = 1.5
    """Targets farther than this multiple of the samples' reach count as far."""
    agreed_attempts: int = 20
    """The number of attempts that must end at the same best point before it counts as the nearest:
    many where samples have been as far, so that no target is given up that others would reach."""
    agreed_attempts_outside: int = 8
    """The same for targets farther than all samples."""
    first_perturbation: float = 0.1
    """The distance of the first restart from the start, rad; later ones begin at samples."""
    perturbations: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-2, 1e-3, 1e-4)
    """Attempts that miss a target by little are displaced by this much, rad, and continue from
    there."""
    max_more_descents: int = 4
    """The number of times that an answer that could still get nearer is followed further."""


INVERSE_OPTIONS = InverseKinematicsOptions()
"""The options that inverse kinematics uses."""
