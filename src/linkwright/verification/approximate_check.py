"""The check of approximate dynamics: with iterated multipliers it must be the exact one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..formulations import derive, formulation_module
from .numeric_checks import CHECKED_LOOP_STATES, judge_measurement
from .verification_report import SKIPPED_VERDICT, Check
from .verified_equations import VerifiedEquations

CHECKED_ITERATIONS = 12
"""Iterations of the multipliers if none are chosen: each reduces the error by the factor
1/(1 + β a), which is 1/10 or less at the default β for all but very light bodies."""

MAX_ITERATED_DISAGREEMENT = 1e-6
"""The largest difference of accelerations from the exact ones, relative to the largest of them."""


def check_approximate_limit(subject: VerifiedEquations, by: Sequence[str]) -> Check:
    """Check the accelerations of approximate dynamics with iterated multipliers, if `by` names
    it."""
    name = "approximate dynamics"
    meaning = "springs in place of constraints become exact as their multipliers are corrected"
    cite = "Approximate dynamics with iterated multipliers has the exact accelerations."
    try:
        worst = _largest_disagreement(subject, by)
    except LinkwrightError as error:
        return Check(name, SKIPPED_VERDICT, error.what, meaning, cite)
    return judge_measurement(name, worst, MAX_ITERATED_DISAGREEMENT, "approximate", meaning, cite)


def _largest_disagreement(subject: VerifiedEquations, by: Sequence[str]) -> float:
    """The largest difference from exact accelerations at random states; an error where the
    mechanism has no approximate dynamics."""
    mechanism = subject.mechanism
    if "approximate" not in by:
        raise UnsupportedError("not among the formulations")
    if subject.eqs.by == "approximate" or not subject.has_functions("forward_dynamics"):
        raise UnsupportedError("the equations have no exact accelerations")
    if (reason := formulation_module("approximate").supports(mechanism)) is not None:
        raise UnsupportedError(reason)
    chosen = mechanism.approximate
    count = (chosen.iterations if chosen is not None else 0) or CHECKED_ITERATIONS
    springs = VerifiedEquations(
        derive(mechanism, by="approximate", parameters="numeric", iterations=count)
    )
    worst = 0.0
    for state in subject.random_states(CHECKED_LOOP_STATES):
        exact, found = (one.function_value("forward_dynamics", state) for one in (subject, springs))
        worst = max(worst, float(np.abs(found - exact).max() / max(1e-300, np.abs(exact).max())))
    return worst
