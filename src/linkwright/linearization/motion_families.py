"""Families of steady motions over one quantity: a velocity, a coordinate or a parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import ExpressionError, NameNotFoundError, suggest_remedy
from ..expressions import (
    Expression,
    InferredDimension,
    dimension_text,
    infer_expression_dimension,
)
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..mechanism.validate.part_number_checks import mechanism_parameter_scope
from ..number_checks import check_vector
from ..types import Floats, VectorLike
from .steady_motions import SteadyMotion, SteadyMotionSolver

Start = tuple[Floats, Floats]
"""A state (q, q̇) from which a search starts."""

_DIMENSIONS = {
    unit: tuple(Fraction(exponent) for exponent in exponents)
    for unit, exponents in (
        ("rad", (0, 0, 0)),
        ("m", (0, 1, 0)),
        ("rad/s", (0, 0, -1)),
        ("m/s", (0, 1, -1)),
    )
}
"""Exponents of kg, m and s of coordinates and velocities."""

COORDINATE_PREFIX = "q:"
"""What marks the name of a coordinate whose velocity has the same name."""


@dataclass(frozen=True)
class MotionFamily:
    """Steady motions over the quantity `name`; `solve` finds one from a start, and `first_start` is
    that of the first."""

    name: str
    unit: str
    solve: Callable[[float, Start | None], SteadyMotion]
    first_start: Start | None


def find_motion_family(
    mechanism: Mechanism,
    name: str,
    q: VectorLike | None,
    qd: VectorLike | None,
    torque: VectorLike | None,
) -> MotionFamily:
    """Return the family over a quantity by its name; tables of `q` and `qd` are held, arrays are
    starts."""
    solver = SteadyMotionSolver(mechanism, torque)
    names = solver.model.names
    q = read_pose(mechanism, q)
    qd = read_pose_velocities(mechanism, qd)
    held_q = dict(q) if isinstance(q, Mapping) else {}
    held_qd = dict(qd) if isinstance(qd, Mapping) else {}
    first = _first_start(solver, q, qd)
    coordinate = name.removeprefix(COORDINATE_PREFIX)

    def solve_velocity(value: float, start: Start | None) -> SteadyMotion:
        return solver.solve(held_q, held_qd | {name: value}, start)

    def solve_coordinate(value: float, start: Start | None) -> SteadyMotion:
        near = held_qd or (None if start is None else start[1])
        return solver.solve(held_q | {coordinate: value}, near)

    def solve_parameter(value: float, start: Start | None) -> SteadyMotion:
        changed = mechanism.with_parameters(**{name: value})
        return SteadyMotionSolver(changed, torque).solve(held_q, held_qd, start)

    if name.startswith(COORDINATE_PREFIX) and coordinate in names.q:
        unit = coordinate_units(mechanism)[names.q.index(coordinate)]
        return MotionFamily(coordinate, unit, solve_coordinate, first)
    if name in names.qd:
        unit = UNITS_OF_RATES["qd"][velocity_units(mechanism)[names.qd.index(name)]]
        return MotionFamily(name, unit, solve_velocity, first)
    if name in mechanism.speeds:
        unit = _unit_by_dimension(mechanism, mechanism.speeds[name])
        return MotionFamily(name, "rad/s" if unit == "1/s" else unit, solve_velocity, first)
    if name in mechanism.parameters:
        unit = _unit_by_dimension(mechanism, mechanism.parameters[name])
        return MotionFamily(name, unit, solve_parameter, first)
    known = [*names.qd, *mechanism.speeds, *mechanism.parameters]
    known += [f"{COORDINATE_PREFIX}{word}" for word in names.q]
    raise NameNotFoundError(
        f"unknown speed, coordinate or parameter '{name}'", remedy=suggest_remedy(name, known)
    )


def _unit_by_dimension(mechanism: Mechanism, expression: Expression) -> str:
    """Return the SI unit of an expression of parameters, coordinates and velocities; "" for a plain
    number, and where the file's units do not determine it."""
    known, names = dict(mechanism_parameter_scope(mechanism).dimensions), mechanism_names(mechanism)
    rates = [UNITS_OF_RATES["qd"][unit] for unit in velocity_units(mechanism)]
    symbols = (*names.q, *names.velocity_symbols)
    for name, unit in zip(symbols, (*coordinate_units(mechanism), *rates), strict=True):
        known[name] = InferredDimension(_DIMENSIONS.get(unit))
    try:
        found = infer_expression_dimension(expression, known).dimension
    except ExpressionError:
        return ""
    if not any(found or ()) or any(part.denominator != 1 for part in found or ()):
        return ""
    kg, m, s = (int(part) for part in found or ())
    return dimension_text((kg, m, s))


def _first_start(
    solver: SteadyMotionSolver, q: VectorLike | None, qd: VectorLike | None
) -> Start | None:
    """Return the start that arrays give, or None."""
    given_q = None if q is None or isinstance(q, Mapping) else q
    given_qd = None if qd is None or isinstance(qd, Mapping) else qd
    if given_q is None and given_qd is None:
        return None
    model = solver.model
    start = model.home() if given_q is None else check_vector(given_q, model.nq, "q")
    rates = np.zeros(model.nv) if given_qd is None else check_vector(given_qd, model.nv, "qd")
    return start, rates
