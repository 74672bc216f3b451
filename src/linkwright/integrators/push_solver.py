"""Pushes between bounds, as programs: forces or impulses of the rows that take part in an event.

A x + b is zero, or not below zero where x is at its lower bound, or not above zero at its upper
one. Of many rows usually few take part, so the problem has only these, one after the other.
"""

from __future__ import annotations

from ..program import Size, Vector, record, scratch
from .step_method import MotionSizes

DEPENDENT_SHARE = 1e-9
"""A row of which the others that hold the motion leave less than this share of its own response
to a force depends on them, like the fourth leg of a table."""

PUSH_ACCURACY = 1e-13
"""Accelerations that pushes may leave, as a share of the terms that cancel: rounding."""

NO_ACCELERATION = 1e-100
"""Accelerations that are none, where numbers lose their digits."""

SWEEPS = 12
"""Sweeps of Gauss–Seidel in a round: by then the bounds that hold seldom change."""

MAX_ROUNDS = 400
"""Rounds; a few are usual."""


@record
class PushProblem:
    """The rows that take part: vectors of `count` numbers, of which the others are not used."""

    count: int
    places: Vector
    """Their numbers among all rows."""
    responses: Vector
    """A by rows."""
    bias: Vector
    """Velocities or accelerations without the pushes."""
    least: Vector
    """The lower bounds of the pushes."""
    most: Vector
    """The upper bounds."""
    pushes: Vector
    accelerations: Vector
    """A x + b."""
    moves: Vector
    """1 for rows whose push is inside its bounds and does not depend on those of others."""


def find_bounded_pushes(
    sizes: MotionSizes,
    *,
    chosen: Vector,
    responses: Vector,
    bias: Vector,
    least: Vector,
    most: Vector,
    pushes: Vector,
    accelerations: Vector,
) -> None:
    """Find the pushes of the chosen rows, and their accelerations A x + b; others do not push.

    x minimizes ½ xᵀA x + bᵀx. Gauss–Seidel finds which bounds hold, also where rows depend on each
    other; between its sweeps, x moves toward the minimum with these bounds.
    """
    n: Size = sizes.signals
    of = PushProblem(
        count=0, places=scratch(sizes.signals),
        responses=scratch(sizes.signals * sizes.signals), bias=scratch(sizes.signals),
        least=scratch(sizes.signals), most=scratch(sizes.signals), pushes=scratch(sizes.signals),
        accelerations=scratch(sizes.signals), moves=scratch(sizes.signals),
    )  # fmt: skip
    of.count = collect_rows(n, chosen, of.places)
    for i in range(of.count):
        place = int(of.places[i])
        of.bias[i] = bias[place]
        of.least[i] = least[place]
        of.most[i] = most[place]
        of.pushes[i] = min(max(least[place], 0.0), most[place])
    copy_responses(n, of.count, of.places, responses, of.responses)
    is_right = False
    count = 0
    while not is_right and count < MAX_ROUNDS:
        for _ in range(SWEEPS):
            sweep_pushes(of)
        is_right = move_to_minimum(sizes, of)
        count += 1
    for i in range(n):
        pushes[i] = 0.0
        accelerations[i] = bias[i]
    for i in range(of.count):
        place_found = int(of.places[i])
        pushes[place_found] = of.pushes[i]
        accelerations[place_found] = of.accelerations[i]


def collect_rows(n: Size, chosen: Vector, places: Vector) -> int:
    """Fill the numbers of the rows that are chosen; return how many."""
    count = 0
    for i in range(n):
        if chosen[i] > 0.0:
            places[count] = float(i)
            count += 1
    return count


def copy_responses(n: Size, count: int, places: Vector, responses: Vector, few: Vector) -> None:
    """Copy the rows and columns of A that take part."""
    for i in range(count):
        row = n * int(places[i])
        for k in range(count):
            few[count * i + k] = responses[row + int(places[k])]


def sweep_pushes(of: PushProblem) -> None:
    """Improve the pushes one after another."""
    for i in range(of.count):
        first = of.count * i
        own = of.responses[first + i]
        if own > 0.0:
            rest = of.bias[i]
            for k in range(of.count):
                rest += of.responses[first + k] * of.pushes[k]
            of.pushes[i] = min(max(of.pushes[i] - rest / own, of.least[i]), of.most[i])


def move_to_minimum(sizes: MotionSizes, of: PushProblem) -> bool:
    """Move the pushes between their bounds to where the accelerations of their rows are zero, or as
    far toward it as the bounds allow; return whether all pushes are right then."""
    left = scratch(sizes.signals * sizes.signals)
    step = scratch(sizes.signals)
    share = 1.0
    first = -1
    for i in range(of.count * of.count):
        left[i] = of.responses[i]
    find_accelerations(of)
    for i in range(of.count):
        step[i] = -of.accelerations[i]
    for i in range(of.count):
        pivot = left[of.count * i + i]
        is_inside = of.least[i] < of.pushes[i] and of.pushes[i] < of.most[i]
        moves = is_inside and pivot > DEPENDENT_SHARE * of.responses[of.count * i + i]
        of.moves[i] = 1.0 if moves else 0.0
        if moves:
            for k in range(of.count):
                if k != i:
                    step[k] -= left[of.count * k + i] / pivot * step[i]
            eliminate_row(of.count, i, left)
    for i in range(of.count):
        step[i] = step[i] / left[of.count * i + i] if of.moves[i] > 0.0 else 0.0
        room = of.most[i] - of.pushes[i] if step[i] > 0.0 else of.least[i] - of.pushes[i]
        if abs(step[i]) > 0.0 and share * abs(step[i]) > abs(room):
            share = room / step[i]
            first = i
    for i in range(of.count):
        bound = of.most[i] if step[i] > 0.0 else of.least[i]
        of.pushes[i] = bound if i == first else of.pushes[i] + share * step[i]
    is_right = has_right_pushes(of)
    return first < 0 and is_right


def eliminate_row(count: int, i: int, left: Vector) -> None:
    """Take the share of a row out of all other rows of a matrix."""
    row = count * i
    for k in range(count):
        if k != i:
            other = count * k
            share = left[other + i] / left[row + i]
            for j in range(count):
                left[other + j] -= share * left[row + j]


def find_accelerations(of: PushProblem) -> None:
    """Find A x + b."""
    for i in range(of.count):
        total = of.bias[i]
        first = of.count * i
        for k in range(of.count):
            total += of.responses[first + k] * of.pushes[k]
        of.accelerations[i] = total


def has_right_pushes(of: PushProblem) -> bool:
    """Return whether the pushes at their bounds have accelerations of the right sign, and the
    others none."""
    size = 0.0
    worst = 0.0
    find_accelerations(of)
    for i in range(of.count):
        first = of.count * i
        w = of.accelerations[i] if of.responses[first + i] > 0.0 else 0.0
        if of.least[i] < of.most[i]:
            terms = abs(of.bias[i])
            for k in range(of.count):
                terms += abs(of.responses[first + k] * of.pushes[k])
            size = max(size, terms)
            worst = max(worst, w if of.pushes[i] > of.least[i] else 0.0)
            worst = max(worst, -w if of.pushes[i] < of.most[i] else 0.0)
    return worst <= max(PUSH_ACCURACY * size, NO_ACCELERATION)
