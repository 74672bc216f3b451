"""Limits of efforts that a mechanism declares, imposed on the forces of a simulation.

Forces along velocities are clipped to the limits of joints and to what their actuators can exert;
where actuators with independent columns of a constant input matrix act on several velocities, their
efforts are clipped, and the forces follow. What is clipped is a `Demand`, from which a run says how
far its inputs went beyond the limits.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..equations import Equations
from ..errors import LimitWarning
from ..kinematics.actuator_groups import ActuatorGroup, group_actuators, has_independent_columns
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.effort_bounds import (
    UNBOUNDED,
    EffortRange,
    actuator_effort_range,
    effort_ranges_by_velocity,
    joint_effort_ranges,
)
from ..types import SX, Booleans, Floats

DEMAND_SLACK = 1e-6
"""Share of the range by which rounding may exceed a limit."""


@dataclass(frozen=True)
class Demand:
    """Something that is clipped to a range: what it is in words, and the two bounds."""

    what: str
    low: float
    high: float

    def sentence(self, asked: Floats) -> str | None:
        """Return what a run says where the values asked for (samples,) left the range."""
        slack = DEMAND_SLACK * max(abs(x) for x in (self.low, self.high, 0.0) if math.isfinite(x))
        beyond = (asked < self.low - slack) | (asked > self.high + slack)
        if not beyond.any():
            return None
        over = np.maximum(asked - self.high, self.low - asked)
        worst = float(asked[int(np.nanargmax(over))])
        bound = self.high if worst > self.high else self.low
        return (
            f"{self.what} was clipped to its limit of {bound:.4g}: the inputs ask for up to "
            f"{worst:.4g}, beyond the limit in {_percent(beyond)} of the samples"
        )


def _percent(beyond: Booleans) -> str:
    share = 100 * float(np.mean(beyond))
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


@dataclass(frozen=True)
class LimitedForces:
    """τ within its limits; `asked` are the values of the `demands` before they were clipped."""

    tau: SX
    asked: SX
    demands: tuple[Demand, ...]


def clip(value: SX, bounds: EffortRange) -> SX:
    """Return a value within bounds; what is not a number stays so."""
    low, high = bounds
    found = value if math.isinf(high) else ca.if_else(value > high, high, value)
    return found if math.isinf(low) else ca.if_else(value < low, low, found)


def limit_joint_forces(equations: Equations, tau: SX) -> LimitedForces:
    """Return forces of actuators within the limits of joints."""
    mechanism = equations.mechanism
    ranges = {} if mechanism.coordinates is not None else joint_effort_ranges(mechanism)
    return _limit_entries(equations, tau, ranges)


def limit_given_forces(equations: Equations, tau: SX) -> LimitedForces:
    """Return forces that are given by velocity within what joints and actuators allow."""
    mechanism = equations.mechanism
    ranges = {} if mechanism.coordinates is not None else effort_ranges_by_velocity(mechanism)
    found = _limit_entries(equations, tau, ranges)
    names = list(mechanism.actuators)
    limited, asked, demands = found.tau, [found.asked], list(found.demands)
    for group, block in _imposed_groups(equations):
        rows = list(group.rows)
        u = ca.DM(np.linalg.pinv(block)) @ ca.vertcat(*(limited[i] for i in rows))
        efforts = [
            clip(u[k], actuator_effort_range(mechanism, mechanism.actuators[names[c]]))
            for k, c in enumerate(group.columns)
        ]
        change = ca.DM(block) @ (ca.vertcat(*efforts) - u)
        entries = ca.vertsplit(limited)
        for k, i in enumerate(rows):
            entries[i] += change[k]
        limited = ca.vertcat(*entries)
        asked.append(u)
        demands += [
            Demand(f"the effort of the actuator '{names[c]}'", *bounds)
            for c in group.columns
            for bounds in [actuator_effort_range(mechanism, mechanism.actuators[names[c]])]
        ]
    return LimitedForces(limited, ca.vertcat(*asked), tuple(demands))


def clip_given_arrays(mechanism: Mechanism, forces: Floats) -> Floats:
    """Return forces (…, nv) that are given as numbers within the limits of single velocities; warn
    where these change them."""
    ranges = {} if mechanism.coordinates is not None else effort_ranges_by_velocity(mechanism)
    if not ranges or not forces.any():
        return forces
    names, within = mechanism_names(mechanism).qd, forces.copy()
    for name, bounds in ranges.items():
        k = names.index(name)
        within[..., k] = np.clip(forces[..., k], *bounds)
        demand = Demand(f"the effort along {name}", *bounds)
        sentence = demand.sentence(forces[..., k].ravel())
        if sentence is not None:
            warnings.warn(sentence, LimitWarning, stacklevel=3)
    return within


def effort_bounds(mechanism: Mechanism) -> tuple[Floats, Floats] | None:
    """Return the lower and upper limits of given forces by velocity, infinite where there are
    none; None without any."""
    ranges = {} if mechanism.coordinates is not None else effort_ranges_by_velocity(mechanism)
    if not ranges:
        return None
    names = mechanism_names(mechanism).qd
    found = np.array([ranges.get(name, (-np.inf, np.inf)) for name in names], float)
    return found[:, 0].copy(), found[:, 1].copy()


def declares_effort_limits(mechanism: Mechanism) -> bool:
    """Return whether joints or actuators have limits of efforts or controls."""
    actuators = mechanism.actuators.values()
    has_ranges = any(one.control_range or one.effort_range for one in actuators)
    return has_ranges or bool(joint_effort_ranges(mechanism))


def limits_not_imposed(mechanism: Mechanism, B: Floats | None) -> Iterator[str]:
    """Yield sentences on limits that forces given by velocity do not respect; B (…, nv, actuators)
    are input matrices of a run."""
    if mechanism.coordinates is not None and joint_effort_ranges(mechanism):
        yield "the run does not impose the limits of joints' efforts: they are not coordinates"
    names = list(mechanism.actuators)
    if B is None:
        return
    for group in group_actuators(B):
        ranges = [
            actuator_effort_range(mechanism, mechanism.actuators[names[c]]) for c in group.columns
        ]
        if all(bounds == UNBOUNDED for bounds in ranges) or _is_single(mechanism, group):
            continue
        block = group.block(B)
        is_constant = bool(np.ptp(block.reshape(-1, *block.shape[-2:]), axis=0).max() == 0)
        if not (is_constant and has_independent_columns(block)):
            listed = ", ".join(names[c] for c in group.columns)
            yield (
                f"the run does not impose the ranges of the actuators {listed}, which act together "
                "on velocities; give controls by actuator instead of forces"
            )


def _is_single(mechanism: Mechanism, group: ActuatorGroup) -> bool:
    """Return whether the ranges of a group are those of one velocity already."""
    if len(group.rows) > 1 or mechanism.coordinates is not None:
        return False
    return mechanism_names(mechanism).qd[group.rows[0]] in effort_ranges_by_velocity(mechanism)


def _limit_entries(equations: Equations, tau: SX, ranges: dict[str, EffortRange]) -> LimitedForces:
    """Return the forces with single entries clipped."""
    entries, asked, demands = ca.vertsplit(ca.densify(ca.SX(tau))), [], []
    for name, bounds in ranges.items():
        k = equations.names.qd.index(name)
        asked.append(entries[k])
        demands.append(Demand(f"the effort along {name}", *bounds))
        entries[k] = clip(entries[k], bounds)
    return LimitedForces(
        ca.vertcat(*entries), ca.vertcat(*asked) if asked else ca.SX(0, 1), tuple(demands)
    )


def _imposed_groups(equations: Equations) -> Iterator[tuple[ActuatorGroup, Floats]]:
    """Yield the groups on several velocities whose efforts can be clipped, with their blocks."""
    mechanism = equations.mechanism
    actuators = list(mechanism.actuators.values())
    if all(actuator_effort_range(mechanism, one) == UNBOUNDED for one in actuators):
        return
    (expression,) = equations.expressions("input_matrix")
    values = [float(value) for value in equations.parameters.values()]
    if values:
        expression = ca.substitute(expression, equations.symbols["p"], ca.DM(values))
    if not ca.SX(expression).is_constant():
        constant = ca.simplify(ca.SX(expression))
        if not constant.is_constant():
            return
        expression = constant
    B = np.array(ca.evalf(ca.densify(ca.SX(expression))), dtype=float)
    for group in group_actuators(B):
        block = group.block(B)
        if not _is_single(mechanism, group) and has_independent_columns(block):
            yield group, block
