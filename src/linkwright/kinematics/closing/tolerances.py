"""The numbers that decide when constraints are closed, and when a Jacobian has lost rank."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClosureTolerances:
    """All numbers of the closing of constraints, each with the reason for its value.

    Residuals are in metres or radians (sines of angles) for mechanisms of sizes near 1; shares are
    singular values as parts of the largest one.
    """

    # -- how well constraints of positions are closed ---------------------------------------
    closed_residual: float = 1e-12
    """An assembled configuration is closed: some thousand roundings of sizes near 1."""
    corrected_residual: float = 1e-13
    """Corrections of states along a motion stop here; a better closure costs a step more, and is
    lost in the next step of the integrator."""
    rounding_residual: float = 1e-15
    """A state that is set once and kept (a body at rest on a stop, a state that an event changes)
    is closed as far as rounding of sizes near 1 lets it be."""
    continued_residual: float = 1e-11
    """A configuration reached from a closed neighbour is closed: ten times `closed_residual`,
    because the neighbour may be near a singular configuration, where rounding is magnified."""
    tracked_residual: float = 1e-9
    """The residual that answers of inverse kinematics, planned motions between knots and changed
    states may leave open: a nanometre, far below what is built or measured."""
    accepted_residual: float = 1e-8
    """States that somebody gives count as closed below this: eight digits are what tables and
    files keep. For velocities and accelerations, in proportion to them where they exceed 1."""
    lost_residual: float = 1e-6
    """A simulation whose closure is further open than this has lost it, and stops."""
    visible_share: float = 1e-7
    """Residuals below this share of a drawing's size cannot be seen at any zoom."""
    ball_residual: float = 1e-55
    """States of some 75 digits are closed to 55: the rest is the uncertainty of their balls."""
    implied_row_share: float = 1e-11
    """Rows that others imply to within this share are redundant exactly, but for rounding."""
    nearly_redundant_residual: float = 1e-10
    """Rows that stay open by more than this in an assembled configuration are nearly redundant:
    a hundred times `closed_residual`."""

    # -- how well velocities and accelerations hold the constraints -------------------------
    velocity_residual: float = 1e-9
    """Velocities that were projected hold the constraints to this share of the largest one."""
    given_velocity_residual: float = 1e-8
    """The same for velocities that were given, as for `accepted_residual`."""
    task_residual: float = 1e-6
    """Rates of a path are refused if they miss its velocity or acceleration by this share: the
    configuration is singular, since elsewhere rounding is all that they miss."""

    # -- where a Jacobian loses rank ---------------------------------------------------------
    rank_share: float = 1e-9
    """Singular values below this share are zero: half of the digits of a rounded Jacobian."""
    fine_rank_share: float = 1e-10
    """The same where coordinates are held: near the limits of what is held, singular values are
    small and count."""
    state_rank_share: float = 1e-6
    """The same at states of a motion that are closed only to some digits: exactly redundant rows
    then have singular values of the size of the residuals. Below it a drive is at a limit."""
    plan_rank_share: float = 1e-5
    """A planned motion stops here before a dead centre: beyond, the time law would need
    accelerations 1e5 times as large as elsewhere."""
    rounding_share: float = 1e-13
    """Entries and singular values below this share are rounding errors."""
    idle_row_entry: float = 1e-14
    """Rows that always hold have entries of this size, by rounding."""
    restricting_entry: float = 1e-12
    """Entries of a scaled Jacobian below this restrict nothing."""
    axle_rate: float = 1e-8
    """The rate at which axles of two wheels that roll on each other may leave their common
    direction."""

    # -- iterations ----------------------------------------------------------------------------
    max_iterations: int = 60
    """Newton doubles the digits with each step, and far away each step goes up to
    `longest_step`: what is not closed after this many does not converge."""
    max_corrections: int = 8
    """States along a motion, and of a film between its samples, are near: two or three steps
    close them, and eight show that they diverge."""
    longest_step: float = 1.0
    """Far from a solution the linear model of angles is good for about a radian."""
    longest_sampled_step: float = 0.5
    """Half of that for random states without line search, to stay on their branch."""
    step_reduction: float = 1 / 3
    """The line search shortens a step that does not help to this share: a third finds the order
    of magnitude of a good step in few evaluations."""
    max_reductions: int = 8
    """A step 3⁻⁸ times as long that still does not help is at a minimum, or at rounding."""
    max_restarts: int = 120
    """Random starts of an assembly: planar loops of the gallery show their last branch by the
    22nd; loops in space have more branches, and some have no end of them."""
    restarts_to_full_reach: int = 40
    """Restarts go out gradually: full turns are tried from about this one on."""
    same_configuration: float = 1e-6
    """Closed configurations nearer to each other than this are one: less than two branches
    differ by, more than rounding near a singular configuration."""

    # -- choosing among closures -------------------------------------------------------------
    same_closure_distance: float = 1e-3
    """A finer closure that moves coordinates by less than this is the same configuration."""
    redundant_row_spread: float = 10.0
    """Which of nearly redundant rows close is a choice: least squares in other units, or with other
    velocities held, spread what stays open by this many times its size, no more."""
    stalled_residual: float = 1e-6
    """Below this, rows that are nearly redundant may keep the largest residual from falling;
    the sum of squares then says whether a step helps."""
    reported_turn: float = 0.5
    """Assembly reports coordinates that it turned by more than this (rad) …"""
    reported_shift: float = 0.25
    """… or shifted by more than this share of the mechanism's size."""
    quaternion_length_error: float = 1e-3
    """Given quaternions may differ in length from 1 by this much: three digits are enough."""


CLOSURE_TOLERANCES = ClosureTolerances()
"""The tolerances that the whole package uses."""
