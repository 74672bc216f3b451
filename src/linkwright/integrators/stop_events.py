"""One motion through the events of its stops, as programs: impacts, rest and release.

A stop keeps its gap above zero. Where the gap closes, the velocity of approach v becomes -e v; an
impact that is slow compared with the fastest one of its stop does not rebound, and the stop then
holds the motion until its force would pull. A stop without a restitution ends the motion.
"""

from __future__ import annotations

from enum import IntEnum

from ..program import Buffer, IntBuffer, Procedure, Size, Vector, record, scratch
from .step_method import MotionFunctions, MotionSizes, StepMethod
from .trajectories import integrate_with_sizes
from .trajectory_records import Clock, Progress, StopReason, TrajectoryBuffers

CLOSED_GAP = 1e-9
"""Gaps below this are closed, m or rad, where the integrator of `trajectories` finds events."""

STILL_VELOCITY = 1e-9
"""Velocities below this are zero, m/s or rad/s."""

REBOUND_SHARE = 1e-6
"""An impact slower than this share of the fastest one of its stop does not rebound."""

IMPACT_ROUNDS = 100
"""Impacts at one instant; in the second half of them nothing rebounds, so that they end."""

SHORT_FLIGHT = 1e-8
"""Between events that are closer than this, s, a body does not move by what numbers resolve."""

SHORT_FLIGHTS = 20
"""After so many of these in a row, velocities below `CROWDED_VELOCITY` are zero."""

CROWDED_VELOCITY = 1e-5
"""Velocities of bodies that have come to rest but for rounding, m/s or rad/s."""

MAX_EVENTS = 10_000
"""Events of one call; more of them never end."""


class MotionEnd(IntEnum):
    """How a call of `advance_motion` ended."""

    REACHED = 0
    """At the time that was asked for."""
    LIMIT = 1
    """At a stop without a restitution."""
    FAILED = 2
    """Where no step is possible: the progress has the reason."""


@record
class StopFunctions:
    """The tapes of stops; the first inputs of all are t, y and p."""

    states: Procedure
    """→ gaps, velocities of the gaps, and forces of the stops that hold."""
    impact: Procedure
    """t, y, p, shares → y after an impact with the stops whose share is not 0, which is 1 + e."""


@record
class StopBuffers:
    """What stops keep from call to call, one entry each."""

    restitution: Buffer
    """Below zero: the stop ends the motion."""
    fastest: Buffer
    """The largest velocities at which the stops were hit."""
    hits: IntBuffer
    """How often."""
    closed_gap: Buffer
    """Gaps below this are closed."""
    end: IntBuffer
    """One `MotionEnd`, and the stop that ended the motion."""


def advance_motion(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    stop_functions: StopFunctions,
    stop_buffers: StopBuffers,
    *,
    method: StepMethod,
    sizes: MotionSizes,
    first_hold: Size,
) -> None:
    """Integrate one motion to its stop time, through the events on its way.

    The entries of p from `first_hold` on say which stops hold the motion: 1 or 0.
    """
    is_going = True
    events = 0
    short_flights = 0
    stop_buffers.end[0] = MotionEnd.FAILED
    while is_going:
        buffers.ticket[0] = 0
        start = buffers.clock[Clock.TIME]
        integrate_with_sizes(buffers, functions, method, sizes)
        reason = buffers.progress[Progress.REASON]
        is_going = False
        if reason == StopReason.REACHED_STOP:
            stop_buffers.end[0] = MotionEnd.REACHED
        elif reason == StopReason.MARGIN_ALARM and buffers.progress[Progress.QUIET] == 0:
            buffers.progress[Progress.QUIET] = 1
            is_going = True
        elif reason == StopReason.EVENT and events < MAX_EVENTS:
            is_short = buffers.clock[Clock.TIME] - start <= SHORT_FLIGHT
            short_flights = short_flights + 1 if is_short else 0
            still = CROWDED_VELOCITY if short_flights > SHORT_FLIGHTS else STILL_VELOCITY
            if sizes.signals > 0:
                settle_stops(buffers, stop_functions, stop_buffers, sizes, first_hold, still)
            events += 1
            is_going = stop_buffers.end[0] != MotionEnd.LIMIT
            if buffers.clock[Clock.TIME] >= buffers.clock[Clock.STOP] and is_going:
                stop_buffers.end[0] = MotionEnd.REACHED
                is_going = False


def settle_stops(
    buffers: TrajectoryBuffers,
    stop_functions: StopFunctions,
    stop_buffers: StopBuffers,
    sizes: MotionSizes,
    first_hold: Size,
    still: float,
) -> None:
    """Let stops act at the present state: impacts, then which of them hold the motion.
    Velocities below `still` are zero."""
    n: Size = sizes.signals
    gaps = scratch(sizes.signals)
    velocities = scratch(sizes.signals)
    forces = scratch(sizes.signals)
    shares = scratch(sizes.signals)
    y = scratch(sizes.states)
    after = scratch(sizes.states)
    p = scratch(sizes.parameters)
    for i in range(sizes.states):
        y[i] = buffers.states[i]
    for i in range(sizes.parameters):
        p[i] = buffers.parameters[i]
    t = buffers.clock[Clock.TIME]
    count = 0
    worst = 0
    while worst >= 0 and count < IMPACT_ROUNDS:
        stop_functions.states(t, y, p, gaps, velocities, forces)
        worst = find_fastest_approach(sizes.signals, stop_buffers.closed_gap[0], gaps, velocities)
        if worst >= 0:
            speed = -velocities[worst]
            e = stop_buffers.restitution[worst]
            if e < 0.0:
                stop_buffers.end[0] = MotionEnd.LIMIT
                stop_buffers.end[1] = worst
                worst = -1
            else:
                is_slow = speed <= max(REBOUND_SHARE * stop_buffers.fastest[worst], still)
                e = 0.0 if is_slow or 2 * count >= IMPACT_ROUNDS else e
                stop_buffers.fastest[worst] = max(stop_buffers.fastest[worst], speed)
                stop_buffers.hits[worst] = stop_buffers.hits[worst] + 1
                for i in range(n):
                    shares[i] = 0.0
                shares[worst] = 1.0 + e
                stop_functions.impact(t, y, p, shares, after)
                for i in range(sizes.states):
                    y[i] = after[i]
        count += 1
    for i in range(n):
        least = max(still, REBOUND_SHARE * stop_buffers.fastest[i])
        is_closed = gaps[i] <= stop_buffers.closed_gap[0] or p[first_hold + i] > 0.0
        is_still = abs(velocities[i]) <= least
        can_hold = stop_buffers.restitution[i] >= 0.0
        p[first_hold + i] = 1.0 if is_closed and is_still and can_hold else 0.0
    for _ in range(2):  # twice, since a stop may move what another one holds
        for i in range(n):
            for k in range(n):
                shares[k] = 0.0
            shares[i] = p[first_hold + i]
            stop_functions.impact(t, y, p, shares, after)
            for k in range(sizes.states):
                y[k] = after[k]
    release_stops(
        stop_functions, sizes, first_hold,
        t=t, y=y, p=p, gaps=gaps, velocities=velocities, forces=forces,
    )  # fmt: skip
    for i in range(sizes.states):
        buffers.states[i] = y[i]
    for i in range(n):
        buffers.parameters[first_hold + i] = p[first_hold + i]


def find_fastest_approach(n: Size, closed_gap: float, gaps: Vector, velocities: Vector) -> int:
    """Return the closed stop that is approached fastest; -1 if none is."""
    found = -1
    fastest = STILL_VELOCITY
    for i in range(n):
        if gaps[i] <= closed_gap and -velocities[i] > fastest:
            fastest = -velocities[i]
            found = i
    return found


def release_stops(
    stop_functions: StopFunctions,
    sizes: MotionSizes,
    first_hold: Size,
    *,
    t: float,
    y: Vector,
    p: Vector,
    gaps: Vector,
    velocities: Vector,
    forces: Vector,
) -> None:
    """Release stops whose forces would pull, the strongest first, until none of them does."""
    worst = 0
    while worst >= 0:
        stop_functions.states(t, y, p, gaps, velocities, forces)
        worst = -1
        pull = 0.0
        for i in range(sizes.signals):
            if p[first_hold + i] > 0.0 and forces[i] < pull:
                pull = forces[i]
                worst = i
        if worst >= 0:
            p[first_hold + worst] = 0.0
