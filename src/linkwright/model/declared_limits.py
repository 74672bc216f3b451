"""The limits of velocities and efforts that a mechanism declares: of its joints and actuators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..expressions import Expression, evaluate_expression_exactly
from ..mechanism import Actuator, Joint, Mechanism, mechanism_names
from ..mechanism.joints import PerDof
from ..types import Booleans, Floats
from .model import compile as compile_model

_COLUMN_SAMPLES = 2
"""Configurations at which columns of the input matrix are compared: constant ones agree."""


@dataclass(frozen=True)
class DeclaredLimits:
    """The largest |q̇| and |τ| of each velocity, ∞ where a mechanism declares none."""

    velocity: Floats
    effort: Floats


def declared_limits(mechanism: Mechanism) -> DeclaredLimits:
    """Return the limits by joints and by ranges of actuators. A limit of 0 counts as not stated, as
    files write it. Of a range that is not symmetric, the larger end counts."""
    count = mechanism_names(mechanism).nv
    velocity, effort = np.full(count, np.inf), np.full(count, np.inf)
    if mechanism.coordinates is not None:
        return DeclaredLimits(velocity, effort)
    at = 0
    for _, joint in mechanism.joints_depth_first():
        if joint.moves:
            for found, limit in ((velocity, joint.limits.velocity), (effort, joint.limits.effort)):
                for k, value in enumerate(joint_limit_values(mechanism, joint, limit)):
                    found[at + k] = value or np.inf
            at += len(joint.dofs)
    return DeclaredLimits(velocity, np.minimum(effort, _actuator_effort_limits(mechanism, count)))


def joint_limit_values(mechanism: Mechanism, joint: Joint, limit: PerDof | None) -> Iterator[float]:
    """Yield a limit of a joint for each of its degrees of freedom; nothing where none is stated."""
    if limit is not None:
        for entry in joint.each(limit):
            yield float(evaluate_expression_exactly(entry, mechanism.values))


def _actuator_effort_limits(mechanism: Mechanism, count: int) -> Floats:
    """Return the largest |τ| (nv,) that actuators can exert: ∞ where they have no ranges, and where
    one acts that drives other velocities too."""
    tops = np.array([_largest_effort(mechanism, one) for one in mechanism.actuators.values()])
    if not np.isfinite(tops).any():
        return np.full(count, np.inf)
    columns, is_single = _input_columns(mechanism)
    acts = columns != 0
    limits: Floats = (np.abs(columns) * np.where(acts, tops, 0.0)).sum(axis=1)
    shared = acts[:, ~is_single].any(axis=1)
    limits[shared | ~acts.any(axis=1)] = np.inf
    return limits


def _input_columns(mechanism: Mechanism) -> tuple[Floats, Booleans]:
    """Return the input matrix (nv, actuators) at some configuration, and which of its columns are
    constant and have one entry."""
    model = compile_model(mechanism, threads=1)
    random, found = np.random.default_rng(0), []
    for _ in range(_COLUMN_SAMPLES):
        q = model.integrate(model.home(), random.uniform(0.2, 1.0, model.nv))
        found.append(np.asarray(model.input_matrix(q), dtype=float))
    is_constant = np.isclose(found[0], found[1], rtol=1e-9, atol=0).all(axis=0)
    return found[0], is_constant & ((found[0] != 0).sum(axis=0) == 1)


def _largest_effort(mechanism: Mechanism, actuator: Actuator) -> float:
    """Return the largest |u| that ranges of efforts and, without a bias, of controls allow."""

    def value(number: Expression) -> float:
        return float(evaluate_expression_exactly(number, mechanism.values))

    top = np.inf
    if actuator.effort_range is not None:
        top = max(abs(value(end)) for end in actuator.effort_range)
    follows = actuator.activation is None or actuator.activation.time_constant is not None
    gain = [value(number) for number in actuator.affine_gain]
    bias = [value(number) for number in actuator.bias]
    if actuator.control_range is not None and follows and not any((*gain[1:], *bias)):
        top = min(top, abs(gain[0]) * max(abs(value(end)) for end in actuator.control_range))
    return float(top)
