"""Warnings about a run: what a user should know before trusting the motion."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..expressions import expression_to_float
from ..formulations.approximate_penalties import (
    MAX_OPENING_SHARE,
    choose_penalties,
    mechanism_size,
)
from ..kinematics.assembly_search import describe_far_assembly_moves
from ..kinematics.constraint_system import constraint_system
from ..mechanism import mechanism_names
from ..mechanism.coordinates import joint_velocity_names
from ..mechanism.effort_bounds import effort_ranges_by_velocity
from .run import Run

SHOWN_TIMES = 5
"""The largest number of singular times that a warning lists."""

LIMIT_SLACK = 1e-6
"""Share by which an effort may exceed its limit by rounding."""

STEP_COUNT_SLACK = 1e-6
"""Share of a step by which the duration may miss a whole number of steps: rounding."""


def run_warnings(run: Run) -> tuple[str, ...]:
    """Return all warnings, the most important ones first."""
    found = [] if run.finished else [run.status]
    found += _audit_warnings(run) + _step_warnings(run) + _opening_warnings(run)
    if run.singular:
        times = ", ".join(f"{t:.6g}" for t in run.singular[:SHOWN_TIMES])
        more = " …" if len(run.singular) > SHOWN_TIMES else ""
        found.append(f"the constraints came near to losing rank at t = {times}{more} s")
    return (*found, *_limit_warnings(run), *_assembly_warnings(run))


def _audit_warnings(run: Run) -> list[str]:
    """Return a warning where the energy audit fails."""
    if run.accounted:
        return []
    remedy = "smaller tolerances, or an integrator for stiff systems"
    if run.settings.get("mode") == "inverse":
        remedy = "more samples"
    elif run.has_spring_forces:
        remedy = "a larger beta, smaller tolerances, or integrator='rodas'"
    return [
        f"energy is not accounted for: kinetic + potential − work changes by "
        f"{run.audit:.2g} of the largest energy (more than {run.audit_limit:.0e}); "
        f"try {remedy}"
    ]


def _step_warnings(run: Run) -> list[str]:
    """Return a warning where a run with fixed steps made other steps than those asked for."""
    step, made = run.settings.get("step"), run.statistics.get("steps")
    if step is None or made is None or not run.finished or run.next is not None:
        return []
    asked, made = math.ceil((run.t[-1] - run.t[0]) / step - STEP_COUNT_SLACK), float(made)
    if made == asked:
        return []
    return [
        f"{made:g} steps were made where {asked} of {step:g} s were asked for: "
        "a step ends where an event happens or a sampled controller acts"
    ]


def _opening_warnings(run: Run) -> list[str]:
    """Return a warning where springs let joints and loops of approximate dynamics open far."""
    if not (run.has_spring_forces and run.finished):
        return []
    chosen = choose_penalties(run.mechanism)
    if not chosen.beta and chosen.left_out:
        return [f"no constraint is held by springs. {chosen.why_left_out()}"]
    share = float(np.nanmax(run.closure)) / mechanism_size(run.mechanism)
    if share <= MAX_OPENING_SHARE:
        return []
    shorter = " and a shorter step" if run.settings.get("step") else ""
    return [
        f"the springs of approximate dynamics let joints open by {share:.1g} of the mechanism's "
        f"size (more than {MAX_OPENING_SHARE:.0e}); try a larger beta{shorter} "
        f"(now {chosen.beta:.3g} N/m)"
    ]


def _limit_warnings(run: Run) -> list[str]:
    """Return warnings about efforts: those that were clipped to limits, and those beyond limits,
    which given motions need."""
    mechanism, names = run.mechanism, mechanism_names(run.mechanism)
    found = list(run.effort_notes)
    if mechanism.coordinates is not None or not np.isfinite(run.tau).all():
        return found
    for name, (low, high) in effort_ranges_by_velocity(mechanism).items():
        effort = run.tau[:, names.qd.index(name)]
        slack = LIMIT_SLACK * max(abs(x) for x in (low, high) if math.isfinite(x))
        if effort.max() > high + slack or effort.min() < low - slack:
            over = effort.max() - high > low - effort.min()
            reached, most = (effort.max(), high) if over else (effort.min(), low)
            found.append(
                f"the effort along {name} reaches {reached:.4g}, beyond its limit of {most:.4g}; "
                "the run does not impose this limit"
            )
    return [*found, *_velocity_warnings(run)]


def _velocity_warnings(run: Run) -> list[str]:
    """Return warnings about velocities beyond the limits of joints, which no run imposes; 0 counts
    as not stated."""
    names, found = mechanism_names(run.mechanism), []
    for joint_name, joint in run.mechanism.joints.items():
        if joint.limits.velocity is None:
            continue
        speeds = joint_velocity_names(joint_name, joint)
        for name, entry in zip(speeds, joint.each(joint.limits.velocity), strict=False):
            most = expression_to_float(entry, run.mechanism.values)
            reached = float(np.abs(run.qd[:, names.qd.index(name)]).max())
            if most and reached > most * (1 + LIMIT_SLACK):
                found.append(
                    f"the velocity of {name} reaches {reached:.4g}, beyond its limit of "
                    f"{most:.4g}; the run does not impose this limit"
                )
    return found


def _assembly_warnings(run: Run) -> list[str]:
    """Return warnings about coordinates that assembly moved far from the values of the file."""
    given = run.settings.get("q0")
    is_constrained = run.mechanism.loops or run.mechanism.constraints
    is_assembled = given is None or isinstance(given, Mapping)
    if not (is_constrained and is_assembled and "by" in run.settings and run.t[0] == 0):
        return []
    moves = describe_far_assembly_moves(
        constraint_system(run.mechanism), run.q[0], tuple(given or ())
    )
    return [f"assembly moved {move}" for move in moves]
