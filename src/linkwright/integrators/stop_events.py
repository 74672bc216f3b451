"""One motion through the events of its stops, as programs: impacts, rest and release.

A stop, or a contact without friction, keeps its gap above zero. Newton's rule holds for all gaps
that close at one instant (`solve_pushes`): with e v⁻ the velocity after an impact alone, no gap is
left slower than that, and only those at it had an impulse. An impact that is slow compared with the
fastest one of its stop does not rebound. What is at rest then holds the motion until its force
would pull. A stop without a restitution ends the motion.
"""

from __future__ import annotations

import math
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

RIDING_GAP = 1e-9
"""A stop that rides along acts again where its gap is this far below zero, m or rad."""

DEPENDENT_SHARE = 1e-9
"""A stop of which the others that hold the motion leave less than this share of its own response
to a force depends on them, like the fourth leg of a table."""

SMALL_ACCELERATION = 1e-10
"""Accelerations below this share of the largest one are zero: rounding."""

SMALL_PUSH = 1e-12
"""Pushes below this share of the largest one are zero: rounding."""

PUSH_ACCURACY = 1e-15
"""Gauss–Seidel ends where its changes are below this share of the largest force."""

MAX_SWEEPS = 20_000
"""Sweeps of Gauss–Seidel; some ten are usual."""

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


class Hold(IntEnum):
    """What a stop does between events."""

    FREE = 0
    HOLDS = 1
    """Its force keeps the gap at zero."""
    RIDES = 2
    """Its gap stays at zero because others, on which it depends, hold theirs."""


@record
class StopFunctions:
    """The tapes of stops; the first inputs of all are t, y and p."""

    states: Procedure
    """→ gaps, their velocities, their accelerations without forces of stops, the forces of the
    stops that hold, and A by rows: accelerations of the gaps for units of the forces."""
    impact: Procedure
    """t, y, p, impulses → y after impulses of the stops."""


@record
class StopStates:
    """What the stops are like at one state, one entry each."""

    gaps: Vector
    velocities: Vector
    accelerations: Vector
    forces: Vector
    responses: Vector
    """A by rows."""
    closed: Vector
    """1 or 0."""
    pushes: Vector
    """Impulses or forces."""
    bias: Vector
    """Velocities or accelerations without them."""
    chosen: Vector
    """1 for stops that take part."""
    may_idle: Vector
    """1 for stops that may hold the motion without a force: not those that did not while another
    one opens, since both may open at once, as two legs of a table that tips over."""


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

    The entries of p from `first_hold` on are a `Hold` for each stop.
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
    at = StopStates(
        gaps=scratch(sizes.signals), velocities=scratch(sizes.signals),
        accelerations=scratch(sizes.signals), forces=scratch(sizes.signals),
        responses=scratch(sizes.signals * sizes.signals), closed=scratch(sizes.signals),
        pushes=scratch(sizes.signals), bias=scratch(sizes.signals), chosen=scratch(sizes.signals),
        may_idle=scratch(sizes.signals),
    )  # fmt: skip
    opens = scratch(sizes.signals)
    y = scratch(sizes.states)
    p = scratch(sizes.parameters)
    for i in range(sizes.states):
        y[i] = buffers.states[i]
    for i in range(sizes.parameters):
        p[i] = buffers.parameters[i]
    t = buffers.clock[Clock.TIME]
    find_states(stop_functions, stop_buffers, sizes, first_hold, t, y, p=p, at=at)
    has_opened = False
    for i in range(n):
        opens[i] = 1.0 if p[first_hold + i] == Hold.HOLDS and at.forces[i] <= 0.0 else 0.0
        has_opened = has_opened or opens[i] > 0.0
    count = 0
    is_going = is_approached(n, at)
    while is_going and count < IMPACT_ROUNDS:
        is_late = 2 * count >= IMPACT_ROUNDS
        find_rebounds(stop_buffers, sizes, at, still, is_late=is_late)
        is_going = False
        if stop_buffers.end[0] != MotionEnd.LIMIT:
            solve_pushes(sizes, at, least=0.0)
            push_state(stop_functions, sizes, t, y, p, at=at)
            find_states(stop_functions, stop_buffers, sizes, first_hold, t, y, p=p, at=at)
            is_going = is_approached(n, at)
        count += 1
    for i in range(n):
        slow = max(still, REBOUND_SHARE * stop_buffers.fastest[i])
        is_still = at.closed[i] > 0.0 and abs(at.velocities[i]) <= slow and opens[i] == 0.0
        can_hold = stop_buffers.restitution[i] >= 0.0 and at.responses[n * i + i] > 0.0
        at.chosen[i] = 1.0 if is_still and can_hold else 0.0
        at.bias[i] = at.velocities[i]
    solve_pushes(sizes, at, least=-math.inf)
    push_state(stop_functions, sizes, t, y, p, at=at)
    find_states(stop_functions, stop_buffers, sizes, first_hold, t, y, p=p, at=at)
    for i in range(n):
        at.bias[i] = at.accelerations[i]
        at.may_idle[i] = 0.0 if has_opened and p[first_hold + i] != Hold.HOLDS else 1.0
    solve_pushes(sizes, at, least=0.0)
    choose_holds(sizes, at)
    for i in range(sizes.states):
        buffers.states[i] = y[i]
    for i in range(n):
        buffers.parameters[first_hold + i] = at.chosen[i]


def find_states(
    stop_functions: StopFunctions,
    stop_buffers: StopBuffers,
    sizes: MotionSizes,
    first_hold: Size,
    t: float,
    y: Vector,
    *,
    p: Vector,
    at: StopStates,
) -> None:
    """Fill what the stops are like, and which of them are closed."""
    stop_functions.states(
        t, y, p, at.gaps, at.velocities, at.accelerations, at.forces, at.responses
    )
    for i in range(sizes.signals):
        holds = p[first_hold + i] == Hold.HOLDS
        at.closed[i] = 1.0 if holds or at.gaps[i] <= stop_buffers.closed_gap[0] else 0.0


def push_state(
    stop_functions: StopFunctions,
    sizes: MotionSizes,
    t: float,
    y: Vector,
    p: Vector,
    *,
    at: StopStates,
) -> None:
    """Change the velocities by impulses of the stops."""
    after = scratch(sizes.states)
    stop_functions.impact(t, y, p, at.pushes, after)
    for i in range(sizes.states):
        y[i] = after[i]


def is_approached(n: Size, at: StopStates) -> bool:
    """Return whether a closed stop is approached."""
    found = False
    for i in range(n):
        if at.closed[i] > 0.0 and -at.velocities[i] > STILL_VELOCITY:
            found = True
    return found


def find_rebounds(
    stop_buffers: StopBuffers, sizes: MotionSizes, at: StopStates, still: float, *, is_late: bool
) -> None:
    """Choose the stops that take part in an impact, with (1 + e) v as bias; note that the motion
    ends where one of those that are hit has no restitution, or where constraints push against
    it."""
    n: Size = sizes.signals
    for i in range(n):
        speed = -at.velocities[i]
        is_hit = at.closed[i] > 0.0 and speed > STILL_VELOCITY
        can_move = at.responses[n * i + i] > 0.0 and stop_buffers.restitution[i] >= 0.0
        takes_part = at.closed[i] > 0.0 and speed >= -STILL_VELOCITY and can_move
        is_slow = speed <= max(REBOUND_SHARE * stop_buffers.fastest[i], still)
        e = 0.0 if is_slow or is_late else stop_buffers.restitution[i]
        at.chosen[i] = 1.0 if takes_part else 0.0
        at.bias[i] = -(1.0 + e) * speed
        if is_hit:
            stop_buffers.fastest[i] = max(stop_buffers.fastest[i], speed)
            stop_buffers.hits[i] = stop_buffers.hits[i] + 1
        if is_hit and not can_move:
            stop_buffers.end[0] = MotionEnd.LIMIT
            stop_buffers.end[1] = i


def solve_pushes(sizes: MotionSizes, at: StopStates, *, least: float) -> None:
    """Find the pushes x of the chosen stops: A x + b is zero, or x at its least value and A x + b
    not below zero. Gauss–Seidel converges also where stops depend on each other."""
    n: Size = sizes.signals
    for i in range(n):
        at.pushes[i] = 0.0
    change = 1.0
    largest = 0.0
    count = 0
    while count < MAX_SWEEPS and change > PUSH_ACCURACY * largest:
        change = 0.0
        largest = 0.0
        for i in range(n):
            if at.chosen[i] > 0.0:
                rest = at.bias[i]
                for k in range(n):
                    rest += at.responses[n * i + k] * at.pushes[k]
                found = max(at.pushes[i] - rest / at.responses[n * i + i], least)
                change = max(change, abs(found - at.pushes[i]))
                largest = max(largest, abs(found))
                at.pushes[i] = found
        count += 1


def choose_holds(sizes: MotionSizes, at: StopStates) -> None:
    """Turn the choice of stops at rest into their `Hold`: those that push, or do not accelerate,
    hold the motion, those with the largest pushes first; what depends on them rides along.
    A is eliminated for each one that holds."""
    n: Size = sizes.signals
    left = scratch(sizes.signals * sizes.signals)
    largest = 0.0
    push = 0.0
    for i in range(n):
        for k in range(n):
            left[n * i + k] = at.responses[n * i + k]
    for i in range(n):
        for k in range(n):
            at.accelerations[i] += at.responses[n * i + k] * at.pushes[k]
        if at.chosen[i] > 0.0:
            largest = max(largest, max(abs(at.bias[i]), abs(at.accelerations[i])))
        push = max(push, at.pushes[i])
    for i in range(n):
        is_still = at.accelerations[i] <= SMALL_ACCELERATION * max(largest, 1e-6)
        rests = at.pushes[i] > SMALL_PUSH * push or (is_still and at.may_idle[i] > 0.0)
        at.bias[i] = 1.0 if at.chosen[i] > 0.0 and rests else 0.0
        at.chosen[i] = Hold.FREE
    best = 0
    while best >= 0:
        best = find_candidate(n, at)
        if best >= 0:
            at.bias[best] = 0.0
            pivot = left[n * best + best]
            holds = pivot > DEPENDENT_SHARE * at.responses[n * best + best]
            at.chosen[best] = Hold.HOLDS if holds else Hold.RIDES
            if holds:
                for i in range(n):
                    if i != best:
                        share = left[n * i + best] / pivot
                        for k in range(n):
                            left[n * i + k] -= share * left[n * best + k]


def find_candidate(n: Size, at: StopStates) -> int:
    """Return the stop with the largest push of those whose bias is 1; -1 if there is none."""
    found = -1
    most = -1.0
    for i in range(n):
        if at.bias[i] > 0.0 and at.pushes[i] > most:
            most = at.pushes[i]
            found = i
    return found
