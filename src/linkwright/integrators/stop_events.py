"""One motion through the events of its stops and its dry friction, as programs: impacts, rest and
release.

A stop, or a contact without friction, keeps its gap above zero. Newton's rule holds for all gaps
that close at one instant (`solve_pushes`): with e v⁻ the velocity after an impact alone, no gap is
left slower than that, and only those at it had an impulse. An impact that is slow compared with the
fastest one of its stop does not rebound. What is at rest then holds the motion until its force
would pull. A stop without a restitution ends the motion.

A joint with dry friction slides in one direction until its velocity is zero, or sticks until its
friction reaches its limit. Friction has no impulse. `hold_choice` finds which rows (stops, contacts
and joints with friction) hold the motion.
"""

from __future__ import annotations

import math
from enum import IntEnum

from ..program import Buffer, IntBuffer, Procedure, Size, Vector, record, scratch, vector
from .hold_choice import LEVELS, LIMIT_SHARE, Hold, Level, RowStates, choose_holds, solve_pushes
from .step_method import MotionFunctions, MotionSizes, StepMethod
from .trajectories import integrate_with_sizes
from .trajectory_records import Clock, Progress, StopReason, TrajectoryBuffers

CLOSED_GAP = 1e-9
"""Gaps below this are closed, m or rad, where the integrator of `trajectories` finds events."""

STILL_VELOCITY = 1e-9
"""Velocities below this are zero, m/s or rad/s."""

REBOUND_SHARE = 1e-6
"""An impact slower than this share of the fastest one of its stop does not rebound, where the
integrator of `trajectories` finds events."""

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

SLIDE_END = 1e-12
"""A slide ends where its velocity is this far below zero, m/s or rad/s: where it begins, it may be
below zero by rounding."""

DEEP_GAP = 1e-6
"""Stops of which a rounding error, or a gap that rode along, left less than this below zero are
closed exactly, m or rad: below zero, a gap would count as passed before what really happens next.
Deeper ones are where somebody put them."""

MAX_EVENTS = 10_000
"""Events of one call; more of them never end."""

MAX_SHORT_FLIGHTS = 400
"""Events in a row that are closer than `SHORT_FLIGHT`; more of them never end."""


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
    """The tapes of rows; the first inputs of all are t, y and p."""

    motions: Procedure
    """→ gaps, velocities, and the numbers of `Level` of friction."""
    forces: Procedure
    """→ the forces of rows that hold the motion, or that are known."""
    accelerations: Procedure
    """→ accelerations of the rows without their forces."""
    responses: Procedure
    """→ A by rows: accelerations of the rows for units of the forces; velocities do not matter."""
    impact: Procedure
    """t, y, p, impulses, shifts → y after impulses of the rows, and after displacements by the
    responses to forces of the rows."""


@record
class StopBuffers:
    """What rows keep from call to call, one entry each."""

    restitution: Buffer
    """Below zero: the stop ends the motion."""
    fastest: Buffer
    """The largest velocities at which the stops were hit."""
    hits: IntBuffer
    """How often."""
    closed_gap: Buffer
    """Gaps below this are closed."""
    rebound_share: Buffer
    """An impact slower than this share of the fastest one of its stop does not rebound."""
    known: IntBuffer
    """1: what friction does is known from the call before, and nothing has changed since."""
    end: IntBuffer
    """One `MotionEnd`, and the stop that ended the motion."""


@record
class RowPlaces:
    """How many rows are stops, and where p has the numbers of rows: a `Hold` for each, and for each
    joint with friction the force that it has while it does not hold."""

    stops: Size
    first_hold: Size
    first_push: Size


def advance_motion(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    stop_functions: StopFunctions,
    stop_buffers: StopBuffers,
    *,
    method: StepMethod,
    sizes: MotionSizes,
    rows: RowPlaces,
) -> None:
    """Integrate one motion to its stop time, through the events on its way."""
    is_going = True
    events = 0
    short_flights = 0
    stop_buffers.end[0] = MotionEnd.FAILED
    if sizes.signals > rows.stops and stop_buffers.known[0] == 0:
        for i in range(rows.stops, sizes.signals):
            buffers.parameters[rows.first_hold + i] = Hold.FREE
        settle_stops(buffers, stop_functions, stop_buffers, sizes, rows, still=STILL_VELOCITY)
        buffers.clock[Clock.STEP] = 0.0  # what is known of the rates is of another mode
        is_going = stop_buffers.end[0] != MotionEnd.LIMIT
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
            events = MAX_EVENTS if short_flights > MAX_SHORT_FLIGHTS else events
            still = CROWDED_VELOCITY if short_flights > SHORT_FLIGHTS else STILL_VELOCITY
            if sizes.signals > 0:
                settle_stops(buffers, stop_functions, stop_buffers, sizes, rows, still=still)
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
    rows: RowPlaces,
    *,
    still: float,
) -> None:
    """Let rows act at the present state: impacts, then which of them hold the motion. Velocities
    below `still` are zero."""
    n: Size = sizes.signals
    at = RowStates(
        gaps=scratch(sizes.signals), velocities=scratch(sizes.signals),
        accelerations=scratch(sizes.signals), forces=scratch(sizes.signals),
        responses=scratch(sizes.signals * sizes.signals),
        levels=scratch(LEVELS * (sizes.signals - rows.stops)), closed=scratch(sizes.signals),
        pushes=scratch(sizes.signals), bias=scratch(sizes.signals), least=scratch(sizes.signals),
        most=scratch(sizes.signals), chosen=scratch(sizes.signals), opens=scratch(sizes.signals),
        may_idle=scratch(sizes.signals), rests=scratch(sizes.signals), holds=scratch(sizes.signals),
    )  # fmt: skip
    y = scratch(sizes.states)
    p = scratch(sizes.parameters)
    for i in range(sizes.states):
        y[i] = buffers.states[i]
    for i in range(sizes.parameters):
        p[i] = buffers.parameters[i]
    t = buffers.clock[Clock.TIME]
    find_motions(stop_functions, stop_buffers, sizes, rows, t, y, p=p, at=at)
    stop_functions.responses(t, y, p, at.responses)
    overlaps = has_small_overlap(n, rows, at)
    if overlaps:
        solve_pushes(sizes, at)
        shift_state(stop_functions, sizes, t, y, p, at=at)
        find_motions(stop_functions, stop_buffers, sizes, rows, t, y, p=p, at=at)
        stop_functions.responses(t, y, p, at.responses)
    find_releases(stop_functions, n, rows, t, y, p, at=at)
    count = 0
    is_going = is_approached(n, at)
    while is_going and count < IMPACT_ROUNDS:
        is_late = 2 * count >= IMPACT_ROUNDS
        find_rebounds(stop_buffers, sizes, at, still, is_late=is_late)
        is_going = False
        if stop_buffers.end[0] != MotionEnd.LIMIT:
            solve_pushes(sizes, at)
            push_state(stop_functions, sizes, t, y, p, at=at)
            find_motions(stop_functions, stop_buffers, sizes, rows, t, y, p=p, at=at)
            is_going = is_approached(n, at)
        count += 1
    find_rest(stop_buffers, n, rows, p, at, still=still, has_impact=count > 0)
    solve_pushes(sizes, at)
    push_state(stop_functions, sizes, t, y, p, at=at)
    find_motions(stop_functions, stop_buffers, sizes, rows, t, y, p=p, at=at)
    stop_functions.accelerations(t, y, p, at.bias)
    for i in range(n):
        slides = i >= rows.stops and at.chosen[i] == 0.0
        way = Hold.FORWARD if at.velocities[i] > 0.0 else Hold.BACKWARD
        at.chosen[i] = way if slides else at.chosen[i]
    choose_holds(sizes, rows.stops, at)
    for i in range(sizes.states):
        buffers.states[i] = y[i]
    for i in range(n):
        buffers.parameters[rows.first_hold + i] = at.holds[i]
    for i in range(rows.stops, n):
        buffers.parameters[rows.first_push + i - rows.stops] = at.pushes[i]


def find_motions(
    stop_functions: StopFunctions,
    stop_buffers: StopBuffers,
    sizes: MotionSizes,
    rows: RowPlaces,
    t: float,
    y: Vector,
    *,
    p: Vector,
    at: RowStates,
) -> None:
    """Fill how the rows move, and which stops are closed."""
    stop_functions.motions(t, y, p, at.gaps, at.velocities, at.levels)
    for i in range(sizes.signals):
        holds = p[rows.first_hold + i] == Hold.HOLDS
        is_closed = holds or at.gaps[i] <= stop_buffers.closed_gap[0]
        at.closed[i] = 1.0 if i < rows.stops and is_closed else 0.0


def find_releases(
    stop_functions: StopFunctions,
    n: Size,
    rows: RowPlaces,
    t: float,
    y: Vector,
    p: Vector,
    *,
    at: RowStates,
) -> None:
    """Find the stops that would pull, and the joints whose friction has reached its limit."""
    has_opened = False
    has_forces = False
    for i in range(n):
        at.forces[i] = 0.0
        has_forces = has_forces or p[rows.first_hold + i] == Hold.HOLDS
    if has_forces:
        stop_functions.forces(t, y, p, at.forces)
    for i in range(n):
        is_over = at.forces[i] <= 0.0
        if i >= rows.stops:
            limit = at.levels[LEVELS * (i - rows.stops) + Level.AT_REST]
            is_over = abs(at.forces[i]) >= LIMIT_SHARE * limit
        at.opens[i] = 1.0 if p[rows.first_hold + i] == Hold.HOLDS and is_over else 0.0
        has_opened = has_opened or at.opens[i] > 0.0
    for i in range(n):
        at.may_idle[i] = 0.0 if has_opened and p[rows.first_hold + i] != Hold.HOLDS else 1.0


def find_rest(
    stop_buffers: StopBuffers,
    n: Size,
    rows: RowPlaces,
    p: Vector,
    at: RowStates,
    *,
    still: float,
    has_impact: bool,
) -> None:
    """Choose the rows at rest, and any pushes that make their velocities zero. A slide ends where
    its velocity has passed zero."""
    for i in range(n):
        slow = max(still, stop_buffers.rebound_share[0] * stop_buffers.fastest[i])
        hold = p[rows.first_hold + i]
        v = -at.velocities[i] if hold == Hold.BACKWARD else at.velocities[i]
        turns = (hold == Hold.FORWARD or hold == Hold.BACKWARD) and v <= 0.0 and not has_impact
        can_hold = stop_buffers.restitution[i] >= 0.0 and at.responses[n * i + i] > 0.0
        rests = abs(v) <= slow and at.closed[i] > 0.0 and at.opens[i] == 0.0 and can_hold
        if i >= rows.stops:
            rests = turns or abs(v) <= slow
        at.chosen[i] = 1.0 if rests else 0.0
        at.bias[i] = at.velocities[i]
        at.least[i] = -math.inf
        at.most[i] = math.inf


def push_state(
    stop_functions: StopFunctions,
    sizes: MotionSizes,
    t: float,
    y: Vector,
    p: Vector,
    *,
    at: RowStates,
) -> None:
    """Change the velocities by impulses of the rows."""
    after = scratch(sizes.states)
    none = vector(sizes.signals)
    stop_functions.impact(t, y, p, at.pushes, none, after)
    for i in range(sizes.states):
        y[i] = after[i]


def shift_state(
    stop_functions: StopFunctions,
    sizes: MotionSizes,
    t: float,
    y: Vector,
    p: Vector,
    *,
    at: RowStates,
) -> None:
    """Change the coordinates as impulses of the rows change the velocities."""
    after = scratch(sizes.states)
    none = vector(sizes.signals)
    stop_functions.impact(t, y, p, none, at.pushes, after)
    for i in range(sizes.states):
        y[i] = after[i]


def has_small_overlap(n: Size, rows: RowPlaces, at: RowStates) -> bool:
    """Choose the closed stops whose gaps are a little below zero, and any pushes that make these
    gaps zero; return whether there are some."""
    found = False
    for i in range(n):
        is_small = i < rows.stops and at.gaps[i] < 0.0 and at.gaps[i] > -DEEP_GAP
        at.chosen[i] = 1.0 if is_small and at.closed[i] > 0.0 else 0.0
        at.bias[i] = at.gaps[i]
        at.least[i] = -math.inf
        at.most[i] = math.inf
        found = found or at.chosen[i] > 0.0
    return found


def is_approached(n: Size, at: RowStates) -> bool:
    """Return whether a closed stop is approached."""
    found = False
    for i in range(n):
        if at.closed[i] > 0.0 and -at.velocities[i] > STILL_VELOCITY:
            found = True
    return found


def find_rebounds(
    stop_buffers: StopBuffers, sizes: MotionSizes, at: RowStates, still: float, *, is_late: bool
) -> None:
    """Choose the stops that take part in an impact, with (1 + e) v as bias and pushes that never
    pull; note that the motion ends where one of those that are hit has no restitution, or where
    constraints push against it."""
    n: Size = sizes.signals
    for i in range(n):
        speed = -at.velocities[i]
        is_hit = at.closed[i] > 0.0 and speed > STILL_VELOCITY
        can_move = at.responses[n * i + i] > 0.0 and stop_buffers.restitution[i] >= 0.0
        takes_part = at.closed[i] > 0.0 and speed >= -STILL_VELOCITY and can_move
        is_slow = speed <= max(stop_buffers.rebound_share[0] * stop_buffers.fastest[i], still)
        e = 0.0 if is_slow or is_late else stop_buffers.restitution[i]
        at.chosen[i] = 1.0 if takes_part else 0.0
        at.bias[i] = -(1.0 + e) * speed
        at.least[i] = 0.0
        at.most[i] = math.inf
        if is_hit:
            stop_buffers.fastest[i] = max(stop_buffers.fastest[i], speed)
            stop_buffers.hits[i] = stop_buffers.hits[i] + 1
        if is_hit and not can_move:
            stop_buffers.end[0] = MotionEnd.LIMIT
            stop_buffers.end[1] = i
