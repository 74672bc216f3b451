"""Closing of loops as a program: Gauss–Newton steps of least length with a line search.

The algorithm and its numbers are those of `kinematics.closing`. Rows of the Jacobian are made
orthogonal, the longest one first, so that redundant rows and singular configurations need no other
code.
"""

from __future__ import annotations

import math

from ..kinematics.closing import CLOSURE_TOLERANCES
from ..program import (
    Buffer,
    Procedure,
    Size,
    Vector,
    read_buffer_row,
    record,
    scratch,
    scratch_matrix,
    write_buffer_row,
)

_TOLERANCES = CLOSURE_TOLERANCES


@record
class ClosingFunctions:
    """The tapes of constraints of positions."""

    constraints: Procedure
    """t, q, p → residuals φ, and ∂φ/∂step, row by row."""
    move: Procedure
    """q, step → q after a small step."""


@record
class ClosingSizes:
    """Sizes of constraints of positions."""

    coordinates: Size
    velocities: Size
    rows: Size
    parameters: Size


def close_configuration(
    functions: ClosingFunctions,
    sizes: ClosingSizes,
    *,
    time: Buffer,
    configuration: Buffer,
    parameters: Buffer,
    free: Buffer,
    residual: Buffer,
) -> None:
    """Replace a configuration by one that closes the loops, near it.

    `free` is 1 for entries of a step that may change, and 0 for those that are held. `residual`
    becomes the largest residual that is left, and the number of steps.
    """
    q = scratch(sizes.coordinates)
    there = scratch(sizes.coordinates)
    p = scratch(sizes.parameters)
    mask = scratch(sizes.velocities)
    phi = scratch(sizes.rows)
    phi_there = scratch(sizes.rows)
    jacobian = scratch_matrix(sizes.rows, sizes.velocities)
    step = scratch(sizes.velocities)
    shorter = scratch(sizes.velocities)
    read_buffer_row(configuration, 0, q)
    read_buffer_row(parameters, 0, p)
    read_buffer_row(free, 0, mask)
    functions.constraints(time[0], q, p, phi, jacobian)
    left = largest_entry(sizes.rows, phi)
    count = 0
    is_going = left > _TOLERANCES.corrected_residual and math.isfinite(left)
    while is_going:
        find_least_step(sizes.rows, sizes.velocities, phi, jacobian, mask, step)
        limit_step(sizes.velocities, step)
        share = 1.0
        is_better = False
        tries = 0
        while not is_better and tries < _TOLERANCES.max_reductions:
            for i in range(sizes.velocities):
                shorter[i] = share * step[i]
            functions.move(q, shorter, there)
            functions.constraints(time[0], there, p, phi_there, jacobian)
            is_better = largest_entry_is_smaller(sizes.rows, phi_there, phi)
            share = share * _TOLERANCES.step_reduction
            tries += 1
        if is_better:
            for i in range(sizes.coordinates):
                q[i] = there[i]
            for i in range(sizes.rows):
                phi[i] = phi_there[i]
            left = largest_entry(sizes.rows, phi)
        count += 1
        is_open = left > _TOLERANCES.corrected_residual
        is_going = is_better and is_open and count < _TOLERANCES.max_iterations
    write_buffer_row(configuration, 0, q)
    residual[0] = left
    residual[1] = float(count)


def largest_entry(n: Size, values: Vector) -> float:
    """Return the largest size of an entry; NaN if there is one."""
    largest = 0.0
    for i in range(n):
        largest = largest if abs(values[i]) <= largest else abs(values[i])
    return largest


def largest_entry_is_smaller(n: Size, values: Vector, before: Vector) -> bool:
    """Return whether residuals fell: the largest one, or near a solution their squares."""
    size = largest_entry(n, before)
    found = largest_entry(n, values)
    total = 0.0
    total_before = 0.0
    for i in range(n):
        total = total + values[i] * values[i]
        total_before = total_before + before[i] * before[i]
    is_near = size < _TOLERANCES.stalled_residual
    return found < size or (is_near and total < total_before)


def limit_step(n: Size, step: Vector) -> None:
    """Shorten a step whose largest entry is too large."""
    largest = largest_entry(n, step)
    if largest > _TOLERANCES.longest_step:
        for i in range(n):
            step[i] = step[i] * (_TOLERANCES.longest_step / largest)


def find_least_step(
    rows: Size, n: Size, phi: Vector, jacobian: Vector, mask: Vector, step: Vector
) -> None:
    """Fill the shortest step with J·step = -φ; held entries stay zero.

    Gram–Schmidt with exchange of rows: each row that is left loses its part along the longest one,
    and its residual loses what that row's step already removes.
    """
    rest = scratch(rows)
    used = scratch(rows)
    largest = 0.0
    for j in range(n):
        step[j] = 0.0
    for i in range(rows):
        rest[i] = -phi[i]
        used[i] = 0.0
        total = 0.0
        for j in range(n):
            jacobian[i, j] = jacobian[i, j] * mask[j]
            total = total + jacobian[i, j] * jacobian[i, j]
        largest = max(largest, math.sqrt(total))
    for _ in range(rows):
        best = 0
        longest = 0.0
        for i in range(rows):
            total = 0.0
            for j in range(n):
                total = total + jacobian[i, j] * jacobian[i, j]
            if used[i] == 0.0 and total > longest:
                longest = total
                best = i
        if math.sqrt(longest) > _TOLERANCES.rank_share * largest:
            used[best] = 1.0
            along = rest[best] / longest
            for j in range(n):
                step[j] = step[j] + along * jacobian[best, j]
            for i in range(rows):
                if used[i] == 0.0:
                    product = 0.0
                    for j in range(n):
                        product = product + jacobian[i, j] * jacobian[best, j]
                    product = product / longest
                    for j in range(n):
                        jacobian[i, j] = jacobian[i, j] - product * jacobian[best, j]
                    rest[i] = rest[i] - product * rest[best]
