"""What holds a motion at one instant: stops that push, joints whose dry friction sticks or slides.

A row is a stop, a contact or a joint with dry friction: a velocity V along which a force may act.
Stops come first, then friction. The forces x of the rows at rest are between bounds, and A x + b is
zero, at least zero at the lower bound, or at most zero at the upper one (`solve_pushes`): a stop
pushes and never pulls, and friction is limited. Friction at its limit slides against it, with the
force of a slide, so that others may begin to slide, too.
"""

from __future__ import annotations

import math
from enum import IntEnum

from ..program import Size, Vector, record, scratch
from .push_solver import (
    DEPENDENT_SHARE,
    collect_rows,
    copy_responses,
    eliminate_row,
    find_bounded_pushes,
)
from .step_method import MotionSizes

BLOCKED_SHARE = 1e-9
"""Where constraints leave less than this share of the motion that a force along a row would cause
in the heaviest direction, they leave none."""

SMALL_ACCELERATION = 1e-10
"""Accelerations below this share of the largest one are zero: rounding."""

SMALL_PUSH = 1e-12
"""Pushes below this share of the largest one are zero: rounding."""

LEVELS = 3
"""Numbers of `Level`."""

SMALLEST_LIMIT = 1e-300
"""A limit of friction by which numbers can be divided."""

LIMIT_SHARE = 1 - 1e-9
"""A joint whose force was found to reach its limit has this share of it at least."""


class Level(IntEnum):
    """Numbers of the dry friction of a joint."""

    AT_REST = 0
    """The largest force at rest."""
    IN_SLIDE = 1
    """The force against a slide."""
    SHIFT = 2
    """What is added to it in both directions."""


class Hold(IntEnum):
    """What a row does between events."""

    FREE = 0
    """A stop without a force."""
    HOLDS = 1
    """Its force keeps its gap or its velocity at zero."""
    RIDES = 2
    """It stays at zero because others, on which it depends, hold theirs."""
    FORWARD = 3
    """Friction of a joint that slides in the positive direction."""
    BACKWARD = 4
    """Friction of a joint that slides in the negative direction."""


@record
class RowStates:
    """What the rows are like at one state, one entry each."""

    gaps: Vector
    velocities: Vector
    accelerations: Vector
    forces: Vector
    responses: Vector
    """A by rows."""
    levels: Vector
    """The numbers of `Level` for each joint with friction."""
    closed: Vector
    """1 or 0, for stops."""
    pushes: Vector
    """Impulses or forces."""
    bias: Vector
    """Velocities or accelerations without them."""
    least: Vector
    """The lower bounds of the pushes."""
    most: Vector
    """The upper bounds."""
    chosen: Vector
    """0 for rows that do not take part; `FORWARD` or `BACKWARD` for joints that slide; else 1."""
    opens: Vector
    """1 for stops that would pull, and joints whose friction has reached its limit."""
    may_idle: Vector
    """1 for rows that may begin to hold the motion without a force, or with all the force that they
    can have: not those that did not hold it while another one opens, since both may open at once,
    as two legs of a table that tips over, or two joints of a loop that begin to slide."""
    rests: Vector
    """1 for rows that may hold the motion."""
    holds: Vector
    """The choice: a `Hold` for each row."""


def solve_pushes(sizes: MotionSizes, at: RowStates) -> None:
    """Find the pushes x of the rows that take part, between their bounds, and A x + b."""
    find_bounded_pushes(
        sizes, chosen=at.chosen, responses=at.responses, bias=at.bias, least=at.least,
        most=at.most, pushes=at.pushes, accelerations=at.accelerations,
    )  # fmt: skip


def choose_holds(sizes: MotionSizes, stops: Size, at: RowStates) -> None:
    """Choose the `Hold` of each row under the accelerations `at.bias` without forces of rows, and
    find the forces. What begins to slide changes the forces of others, which may slide, too."""
    n: Size = sizes.signals
    for i in range(n):
        at.least[i] = 0.0
        at.most[i] = math.inf
        if i >= stops:
            at.most[i] = at.levels[LEVELS * (i - stops) + Level.AT_REST]
            at.least[i] = -at.most[i]
            if at.chosen[i] != Hold.HOLDS:
                slide_joint(stops, at, i)
    is_going = True
    while is_going:
        solve_pushes(sizes, at)
        is_going = begin_slides(n, stops, at)
        if not is_going:
            is_going = hold_rows(sizes, stops, at)


def slide_joint(stops: Size, at: RowStates, i: int) -> None:
    """Give the friction of a joint that slides its only value."""
    level: Size = LEVELS * (i - stops)
    size = at.levels[level + Level.IN_SLIDE]
    force = -size if at.chosen[i] == Hold.FORWARD else size
    at.least[i] = force + at.levels[level + Level.SHIFT]
    at.most[i] = at.least[i]


def begin_slides(n: Size, stops: Size, at: RowStates) -> bool:
    """Find the joints that begin to slide, and the stops that rest.
    Friction that cannot hold its joint falls to what it is in a slide: return whether some has."""
    largest = 0.0
    push = 0.0
    for i in range(n):
        if at.chosen[i] > 0.0:
            largest = max(largest, max(abs(at.bias[i]), abs(at.accelerations[i])))
        push = max(push, at.pushes[i] if i < stops else 0.0)
    small = SMALL_ACCELERATION * max(largest, 1e-6)
    has_fallen = False
    for i in range(stops):
        is_still = at.accelerations[i] <= small
        rests = at.pushes[i] > SMALL_PUSH * push or (is_still and at.may_idle[i] > 0.0)
        at.rests[i] = 1.0 if at.chosen[i] > 0.0 and rests else 0.0
    for i in range(stops, n):
        rests = at.chosen[i] == Hold.HOLDS
        is_small = abs(at.accelerations[i]) <= small
        is_at_bound = at.pushes[i] <= at.least[i] or at.pushes[i] >= at.most[i]
        is_blocked = at.responses[n * i + i] <= 0.0
        at.rests[i] = 1.0 if rests and (is_small or not (is_at_bound or is_blocked)) else 0.0
        if rests and not is_small and is_blocked:  # it passes through the end of its range
            at.chosen[i] = Hold.FORWARD if at.accelerations[i] > 0.0 else Hold.BACKWARD
            slide_joint(stops, at, i)
            has_fallen = True
        elif rests and not is_small and is_at_bound:
            level: Size = LEVELS * (i - stops)
            middle = at.levels[level + Level.SHIFT]
            most = middle + at.levels[level + Level.IN_SLIDE]
            has_fallen = has_fallen or at.most[i] != most
            at.most[i] = most
            at.least[i] = 2.0 * middle - most
    return has_fallen


def hold_rows(sizes: MotionSizes, stops: Size, at: RowStates) -> bool:
    """Let rows at rest hold the motion: stops with the largest pushes first, then joints that can
    bear most beside what they bear. What depends on them rides along with a constant force; A is
    eliminated for each one that holds. A joint that has reached its limit and cannot be relieved by
    others begins to slide: return whether one has."""
    n: Size = sizes.signals
    left = scratch(sizes.signals * sizes.signals)
    places = scratch(sizes.signals)
    count = collect_rows(n, at.rests, places)
    copy_responses(n, count, places, at.responses, left)
    for i in range(n):
        forward = at.accelerations[i] > 0.0
        at.holds[i] = Hold.FREE
        if i >= stops and at.chosen[i] == Hold.HOLDS:
            at.holds[i] = Hold.FORWARD if forward else Hold.BACKWARD
        elif i >= stops:
            at.holds[i] = at.chosen[i]
    has_begun = False
    found = 0
    while found >= 0:
        found = find_candidate(count, places, stops, at)
        if found >= 0:
            best = int(places[found])
            at.rests[best] = 0.0
            pivot = left[count * found + found]
            holds = pivot > DEPENDENT_SHARE * at.responses[n * best + best]
            at.holds[best] = Hold.HOLDS if holds else Hold.RIDES
            is_spent = abs(at.pushes[best]) >= LIMIT_SHARE * at.most[best]
            begins = at.opens[best] > 0.0 or at.may_idle[best] == 0.0
            if holds and best >= stops and begins and is_spent:
                at.chosen[best] = Hold.BACKWARD if at.pushes[best] > 0.0 else Hold.FORWARD
                slide_joint(stops, at, best)
                has_begun = True
            if holds:
                eliminate_row(count, found, left)
    return has_begun


def find_candidate(count: int, places: Vector, stops: Size, at: RowStates) -> int:
    """Return which of the rows that may rest holds the motion next; -1 if there is none."""
    found = -1
    most = -1.0
    for k in range(count):
        i = int(places[k])
        rank = at.pushes[i] + 1.0
        if i >= stops:
            rank = 1.0 - abs(at.pushes[i]) / max(at.most[i], SMALLEST_LIMIT)
        if at.rests[i] > 0.0 and rank > most:
            most = rank
            found = k
    return found
