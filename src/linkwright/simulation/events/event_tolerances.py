"""Numbers that decide about events, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EventTolerances:
    """Numbers of the search for events and of the modes that follow them."""

    # -- states ----------------------------------------------------------------------------------

    closed_gap: float = 1e-9
    """Gaps below this are closed, m or rad: larger than errors of a projection (1e-12), smaller
    than anything that can be seen."""
    still_velocity: float = 1e-9
    """Velocities below this are zero, m/s or rad/s: larger than what rounding leaves of a velocity
    that passes zero at an event."""
    rebound_share: float = 1e-6
    """An impact slower than this share of the fastest one of its contact does not rebound, so that
    ever faster bounces come to rest."""

    # -- search ----------------------------------------------------------------------------------

    pieces_per_step: int = 8
    """Number of equal parts of a step; values are computed at their ends, and a parabola finds a
    dip between two of them. Dense outputs have degree 7 at most, and so no more extrema than
    parts."""
    beginning: float = 1e-13
    """Gaps and velocities below this have just begun to grow; they count as being on the side to
    which they move."""
    same_instant_share: float = 1e-11
    """Events that differ by less than this share of the time are at one instant: roots are found to
    1e-15."""

    # -- the user's events -----------------------------------------------------------------------

    same_passage_share: float = 1e-9
    """Passages of one event that differ by less than this share of the time are one passage."""
    soon_share: float = 1e-6
    """Changes by one event that follow each other within this share of the time may never end."""
    leap: float = 1e-12
    """An action that changes the value of an event by less than this leaves it on the same side."""
    rate_step: float = 1e-7
    """The step of the difference quotients for rates of events, s."""

    # -- Zeno ------------------------------------------------------------------------------------

    max_events_per_instant: int = 200
    """More events than this at one instant never end: chains of impacts in real mechanisms are
    shorter."""
    instant_share: float = 1e-12
    """For this count, events that differ by less than this share of the time are at one instant."""
    max_crowded_events: int = 300
    """This many events within `crowded_share` never end."""
    crowded_share: float = 1e-4
    """The share of the time within which events are crowded."""


EVENT_TOLERANCES = EventTolerances()


@dataclass(frozen=True)
class ForceSolverOptions:
    """Numbers of the solvers for forces of modes and impulses of impacts."""

    rank_share: float = 1e-10
    """Singular values of scaled force equations below this share are zero: rows of redundant
    contacts and constraints differ by rounding only."""
    max_mode_iterations: int = 300
    """Iterations for the limits of friction and for the mode; ten are usual, and friction that
    locks itself never ends."""
    max_reaction_iterations: int = 200
    """Iterations for friction that depends on reactions; secant steps need about ten."""
    box_rounds: int = 400
    """Rounds of Gauss–Seidel for a complementarity problem, each ended by an exact solve."""
    box_sweeps: int = 12
    """Gauss–Seidel sweeps in a round: by then the bounds that hold seldom change."""
    box_residual_share: float = 1e-11
    """The residual of an exact solve that is accepted, as a share of the right-hand side."""
    rounding_share: float = 1e-12
    """Accelerations below this share of those that the applied forces would cause one by one are
    rounding: where a stop opens, all others may cancel."""
    compression_rounds: int = 200
    """Rounds of sweeps and Newton steps for the end of compression."""
    compression_sweeps: int = 10
    """Sweeps in a round: by then contacts that open, stick and slide are known."""
    compression_newton_steps: int = 8
    """Newton steps in a round; they converge quadratically or not at all."""
    compression_rank_share: float = 1e-12
    """Singular values of Newton's equations below this share are zero."""
    softness_share: float = 1e-6
    """The softness of friction at rest, as a share of the response of its joint, by which its least
    forces are found where several are possible."""
    soft_rounds: int = 3
    """Solutions with this softness; each leaves about this share of the error of the last one."""
    mode_residual_share: float = 1e-13
    """Residual accelerations that are accepted in the choice of a mode, as a share of the largest
    without contacts: rounding of the dynamics."""
    compression_residual_share: float = 1e-14
    """Residual velocities that are accepted, as a share of the fastest: rounding."""
    max_impact_rounds: int = 100
    """Rounds of impacts at one instant; in the second half of them nothing rebounds, so that they
    end."""


FORCE_SOLVER = ForceSolverOptions()
