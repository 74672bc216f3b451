"""Common parts of control laws: symbols, references, gains, effort bounds, sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..formulations import derive
from ..mechanism import Mechanism, mechanism_names
from ..motion import Trajectory, bounds_of
from ..number_checks import check_scalar_or_vector
from ..simulation.effort_limits import clip
from ..simulation.feedback import Feedback, Reference
from ..types import SX, Floats

ReferenceLike: TypeAlias = Trajectory | ArrayLike | Callable[[float], ArrayLike]
"""The reference of a controller: a trajectory, a set point, or a function t → (x, ẋ, ẍ)."""

FRICTION_FADE_VELOCITY = 0.01
"""Speeds below which friction is not fully compensated, rad/s or m/s."""


@dataclass(frozen=True)
class ControlledEquations:
    """The equations that a law knows, and the symbols that it is written in.

    `size` numbers are followed: their values x_r, rates v_r and second rates a_r. The equations
    are without Coulomb friction, which jumps where a joint turns back; `friction` is its force as
    a function of (q, velocities), for the velocities that are wanted, and fades where these do.
    `driven` is 1 for velocities that have a drive, and 0 for those that a loop leads or nothing
    moves; `joints` are the coordinates whose rates the velocities are, 0 where a quaternion has
    them.
    """

    equations: Equations
    size: int
    reference_symbols: SX
    friction: Any
    driven: Any
    controlled_coordinates: SX

    @property
    def t(self) -> SX:
        """The symbol of time, s."""
        return self.equations.symbols["t"]

    @property
    def q(self) -> SX:
        """The symbols of the generalized coordinates."""
        return self.equations.symbols["q"]

    @property
    def qd(self) -> SX:
        """The symbols of the generalized velocities."""
        return self.equations.symbols["qd"]

    @property
    def reference_parts(self) -> tuple[SX, SX, SX]:
        """The symbols of the reference: x_r, v_r, a_r."""
        n = self.size
        return (
            self.reference_symbols[:n],
            self.reference_symbols[n : 2 * n],
            self.reference_symbols[2 * n :],
        )


def controlled_equations(
    mechanism: Mechanism, size: int | None = None, *, by_model: bool = True
) -> ControlledEquations:
    """The equations and symbols of a control law; an error for mechanisms that it cannot treat.
    Laws without a model skip velocities that have no actuator or no coordinate."""
    bare = mechanism.without("friction")
    equations = derive(bare, parameters="numeric")
    names = equations.names
    if by_model and names.nq != names.nv:
        raise UnsupportedError(
            "model-based controllers need coordinates whose rates are the velocities",
            where=mechanism.name,
            remedy='give the ball or free joint rotation = "cardan", or use pid',
        )
    if by_model and names.constraints:
        raise UnsupportedError(
            "this control law does not support loops and constraints",
            where=mechanism.name,
            remedy="use pid",
        )
    own, q = _controlled_coordinate_of_velocity(bare), equations.symbols["q"]
    driven = _controlled_velocities(equations, own, all_of_them=by_model)
    joints = ca.vertcat(*(ca.SX(0) if k is None else q[k] for k in own))
    n, friction = size or names.nv, _friction_compensation(mechanism, equations)
    return ControlledEquations(equations, n, ca.SX.sym("r", 3 * n), friction, ca.DM(driven), joints)


def _controlled_coordinate_of_velocity(mechanism: Mechanism) -> list[int | None]:
    """The coordinate whose rate is each velocity; None where a quaternion has it."""
    names = mechanism_names(mechanism)
    if names.nq == names.nv:
        return list(range(names.nq))
    found: list[int | None] = []
    at = 0
    for _, joint in mechanism.joints_depth_first():
        if joint.moves:
            turning = joint.by_quaternion
            found += [None if turning else at + k for k in range(len(joint.dofs))]
            at += len(joint.coordinates)
    return found


def _controlled_velocities(
    equations: Equations, own: Sequence[int | None], *, all_of_them: bool
) -> Floats:
    """1 for every velocity that actuators drive independently. Without actuators, these are all
    that have a coordinate."""
    names = equations.names
    followable = np.array([k is not None for k in own])
    if not names.actuators:
        return np.where(followable, 1.0, 0.0)
    s = equations.symbols
    (B,) = equations.expressions("input_matrix")
    at = np.random.default_rng(0).uniform(0.2, 1.0, names.nq)
    numbers = np.asarray(ca.Function("B", [s["t"], s["q"]], [B])(0, at), dtype=float)
    driven = np.abs(numbers).max(axis=1) > 0
    asked = names.nv if all_of_them else int(driven.sum())
    if np.linalg.matrix_rank(numbers) < asked or (driven & ~followable).any():
        raise UnsupportedError(
            f"the actuators cannot drive {asked} velocities independently",
            where=equations.mechanism.name,
            remedy="give a law of your own as torque=",
        )
    return np.where(driven, 1.0, 0.0)


def _friction_compensation(mechanism: Mechanism, bare: Equations) -> Any:
    """A function (q, q̇) → the Coulomb friction in the passive forces, F tanh(|q̇|/SLOW)."""
    if bare.mechanism == mechanism:
        return lambda q, v: ca.SX.zeros(bare.nv)
    with_it, without = (
        _compensated_passive_forces(derive(mechanism, parameters="numeric")),
        _compensated_passive_forces(bare),
    )
    t = bare.symbols["t"]
    return lambda q, v: (
        (with_it(q, v, t) - without(q, v, t)) * ca.tanh(ca.fabs(v) / FRICTION_FADE_VELOCITY)
    )


def _compensated_passive_forces(equations: Equations) -> Any:
    """A function (q, q̇, t) → the forces of dampers, friction and springs."""
    symbols = [equations.symbols[key] for key in ("q", "qd", "t")]
    return ca.Function("passive", symbols, [equations.expressions("passive")[0]])


def read_reference(given: ReferenceLike, size: int) -> Reference:
    """The reference r(t): a trajectory, constant numbers, or a function t → (x, ẋ, ẍ)."""
    if isinstance(given, Trajectory):
        if given.size != size:
            raise LinkwrightError(
                f"the trajectory has {given.size} coordinates", remedy=f"give {size}"
            )
        return Reference(given.at, lambda times: np.concatenate(given(times), axis=1))
    if callable(given):
        return Reference(lambda t: _stack_control_reference(given(t), size))
    if np.shape(given) not in ((), (size,)):
        raise LinkwrightError(f"the set point must be {size} numbers", remedy=f"give {size}")
    still = np.concatenate([read_control_vector(given, size, "the set point"), np.zeros(2 * size)])
    return Reference(lambda t: still, lambda times: np.tile(still, (len(times), 1)), True)


def control_reference_expression(trajectory: Trajectory, clock: SX) -> SX:
    """(x, ẋ, ẍ) of a trajectory as an expression of the symbol `clock`."""
    knots = trajectory.knots
    inside = ca.fmin(ca.fmax(clock, float(knots[0])), float(knots[-1]))
    begin, rows = ca.SX(float(knots[0])), ca.SX(ca.DM(trajectory.coefficients[0]))
    for knot, piece in zip(knots[1:-1], trajectory.coefficients[1:], strict=True):
        passed = ca.ge(clock, float(knot))
        begin = ca.if_else(passed, float(knot), begin)
        rows = ca.if_else(passed, ca.SX(ca.DM(piece)), rows)
    u, x = ca.SX.sym("u"), ca.SX.zeros(trajectory.size)
    for k in reversed(range(rows.shape[0])):
        x = x * u + rows[k, :].T
    v = ca.jacobian(x, u)
    found = ca.substitute([x, v, ca.jacobian(v, u)], [u], [inside - begin])
    moving = ca.eq(inside, clock)
    return ca.vertcat(found[0], moving * found[1], moving * found[2])


def _stack_control_reference(values: Any, size: int) -> Floats:
    try:
        found = np.concatenate([np.asarray(x, dtype=float) for x in values])
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3 * size,):
        raise LinkwrightError(
            f"the reference does not give three lists of {size} numbers",
            remedy="return (x, rates, second rates)",
        )
    return found


MAX_GAIN = 1e50
"""The bound of gains and set points, as of a mechanism's numbers: products do not overflow."""


def read_control_vector(values: ArrayLike, size: int, what: str) -> Floats:
    """A vector of numbers below `MAX_GAIN`: one number for all, or one for each."""
    found = check_scalar_or_vector(values, size, what)
    if (np.abs(found) > MAX_GAIN).any():
        raise LinkwrightError(f"{what} is too large", remedy=f"stay below {MAX_GAIN:g}")
    return found


def read_gains(values: ArrayLike, size: int, what: str) -> ca.DM:
    """Control gains as a CasADi vector: one number for all, or one for each; none is negative."""
    found = read_control_vector(values, size, what)
    if (found < 0).any():
        raise LinkwrightError(f"{what} is negative", remedy="give 0 or more")
    return ca.DM(found)


EffortBounds = tuple[Floats, Floats]
"""The least and the greatest τ (nv,)."""


def effort_bounds(mechanism: Mechanism, most: ArrayLike | None, size: int) -> EffortBounds:
    """The bounds of τ: infinite, the mechanism's own ("limits"), or given as sizes."""
    if most is None:
        return np.full(size, -np.inf), np.full(size, np.inf)
    if isinstance(most, str):
        if most != "limits":
            raise LinkwrightError(
                f"'{most}' is not a bound of actuator efforts", remedy='give "limits" or numbers'
            )
        bounds = bounds_of(mechanism)
        return bounds.effort_lower, bounds.effort_upper
    found = check_scalar_or_vector(most, size, "the bound of actuator efforts", or_infinite=True)
    if not (found > 0).all():
        raise LinkwrightError(
            "a bound of actuator efforts is not above 0", remedy="give numbers above 0"
        )
    return -found, found


def saturate_effort(tau: SX, bounds: EffortBounds) -> SX:
    """τ with each entry within its bounds."""
    rows = zip(ca.vertsplit(tau), *(x.tolist() for x in bounds), strict=True)
    found: SX = ca.vertcat(*(clip(x, (low, high)) for x, low, high in rows))
    return found


def stop_integral_windup(error: SX, tau: SX, bounds: EffortBounds) -> SX:
    """The error for an integrator; 0 where it would push an effort farther beyond its bound."""
    parts = []
    rows = zip(ca.vertsplit(error), ca.vertsplit(tau), *(x.tolist() for x in bounds), strict=True)
    for e, x, low, high in rows:
        above, below = (ca.logic_and(x > high, e > 0), ca.logic_and(x < low, e < 0))
        stuck = [one for one, end in ((above, high), (below, low)) if np.isfinite(end)]
        parts.append(ca.if_else(ca.logic_or(stuck[0], stuck[-1]), 0, e) if stuck else e)
    found: SX = ca.vertcat(*parts)
    return found


@dataclass(frozen=True)
class ControllerStates:
    """The states of a control law: symbols, rates, names and initial values."""

    z: SX
    rates: SX
    names: tuple[str, ...]
    start: Sequence[float]


NO_CONTROLLER_STATES = ControllerStates(ca.SX.sym("z", 0), ca.SX.zeros(0, 1), (), ())


def feedback_law(
    of: ControlledEquations,
    tau: SX,
    reference: Reference | SX,
    period: float | None,
    states: ControllerStates = NO_CONTROLLER_STATES,
) -> Feedback:
    """The law in the form that the simulator takes; a symbolic reference becomes part of it."""
    if period is not None and not 0 < period < np.inf:
        raise LinkwrightError(
            f"the sampling time must be above 0 s (got {period:g})", remedy="give seconds above 0"
        )
    followed, rates = of.reference_symbols, states.rates
    if isinstance(reference, ca.SX):
        tau, rates = ca.substitute([tau, rates], [followed], [reference])
        followed, reference = ca.SX(0, 1), Reference(lambda t: np.zeros(0))
    law = ca.Function("law", [of.t, of.q, of.qd, states.z, followed], [tau, rates])
    return Feedback(law, states.names, tuple(map(float, states.start)), reference, period)
