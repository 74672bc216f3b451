"""Steps of fixed length as a program: a loop around the tape of one step."""

from __future__ import annotations

from ..program import Buffer, IntBuffer, Procedure, Size, read_buffer_row, scratch, write_buffer_row


class StepPorts:
    """Which inputs and outputs the tape of a step has besides q, q̇, τ, t and dt."""

    def __init__(self, *, has_parameters: bool, may_fail: bool) -> None:
        self.has_parameters, self.may_fail = has_parameters, may_fail


def repeat_steps(
    step: Procedure,
    ports: StepPorts,
    *,
    coordinates: Size,
    velocities: Size,
    parameters: Size,
    clock: Buffer,
    count: IntBuffer,
    configuration: Buffer,
    rates: Buffer,
    forces: Buffer,
    values: Buffer,
) -> None:
    """Make steps until all are made, or until one is not reliable, which is not taken.

    `clock` has t and dt; `count` has the number of steps to make, and then of those that were made.
    """
    q = scratch(coordinates)
    qd = scratch(velocities)
    q_end = scratch(coordinates)
    qd_end = scratch(velocities)
    tau = scratch(velocities)
    p = scratch(parameters)
    is_reliable = scratch(1)
    read_buffer_row(configuration, 0, q)
    read_buffer_row(rates, 0, qd)
    read_buffer_row(forces, 0, tau)
    read_buffer_row(values, 0, p)
    is_reliable[0] = 1.0
    t = clock[0]
    dt = clock[1]
    made = 0
    while made < count[0] and is_reliable[0] > 0.0:
        if ports.has_parameters:
            if ports.may_fail:
                step(q, qd, tau, t, dt, p, q_end, qd_end, is_reliable)
            else:
                step(q, qd, tau, t, dt, p, q_end, qd_end)
        elif ports.may_fail:
            step(q, qd, tau, t, dt, q_end, qd_end, is_reliable)
        else:
            step(q, qd, tau, t, dt, q_end, qd_end)
        if is_reliable[0] > 0.0:
            made += 1
            t = clock[0] + dt * float(made)
            for i in range(coordinates):
                q[i] = q_end[i]
            for i in range(velocities):
                qd[i] = qd_end[i]
    write_buffer_row(configuration, 0, q)
    write_buffer_row(rates, 0, qd)
    clock[0] = t
    count[0] = made
