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
    """Parts of a step that are looked at; a dip between two of them is looked for by a parabola.
    Dense outputs have degree 7 at most, and have no more extrema."""
    beginning: float = 1e-13
    """Gaps and velocities below this have just begun, and are taken to be on the side to which they
    go."""
    same_instant_share: float = 1e-11
    """Events as near as this, as a share of the time, are one instant: roots are found to 1e-15."""

    # -- the user's events -----------------------------------------------------------------------

    same_passage_share: float = 1e-9
    """Passages of one event as near as this, as a share of the time, are one."""
    soon_share: float = 1e-6
    """Changes by one event as near as this, as a share of the time, may have no end."""
    leap: float = 1e-12
    """A change of the state that changes the value of an event by less leaves it where it was."""
    rate_step: float = 1e-7
    """The step of the difference quotients for rates of events, s."""

    # -- Zeno ------------------------------------------------------------------------------------

    max_events_per_instant: int = 200
    """More events at one instant have no end: chains of impacts of real mechanisms are shorter."""
    instant_share: float = 1e-12
    """Events as near as this, as a share of the time, count as one instant then."""
    max_crowded_events: int = 300
    """So many events within `crowded_share` have no end."""
    crowded_share: float = 1e-4
    """The share of the time within which events are crowded."""


EVENT_TOLERANCES = EventTolerances()
