"""The state about which a mechanism is linearized: what is given by name is kept, the rest follows
from the constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest_remedy
from ..kinematics.assembly import assemble
from ..kinematics.closing import CLOSURE_TOLERANCES, project_velocities
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, read_coordinate_numbers
from ..model.model import Model
from ..number_checks import check_number_table, check_vector
from ..simulation.start import placed, with_unit_quaternions
from ..types import Floats, VectorLike

PROBE_STEP = 0.37
"""Step of all coordinates from home at which the input matrix is compared with that at home; it is
not a fraction of a turn."""

SAME_MATRIX_TOLERANCE = 1e-12
"""Input matrices that differ by less are equal up to rounding."""

HELD_VELOCITY_TOLERANCE = 1e-9
"""The largest violation of a velocity that is given by name, relative to the largest one: rounding
of a least-squares solution."""


@dataclass(frozen=True)
class OperatingPoint:
    """A state at time t with constant generalized forces τ."""

    t: float
    q: Floats
    qd: Floats
    tau: Floats


class VelocityMeasures:
    """Velocities by name: generalized velocities, and the generalized speeds `[speeds]` of the
    file, each as a row y and a number z with u = yᵀ q̇ + z."""

    def __init__(self, mechanism: Mechanism, model: Model) -> None:
        self.mechanism, self.model = mechanism, model

    @property
    def names(self) -> list[str]:
        """The names of all velocities and speeds."""
        return [*self.model.names.qd, *self.mechanism.speeds]

    @cached_property
    def _speed_function(self) -> ca.Function:
        """(q, t) to the rows y and numbers z of all generalized speeds."""
        tree = build_kinematic_tree(self.mechanism, "numeric")
        own, u = tree.motion, ca.vertcat(*tree.speeds.values())
        at_rest = ca.substitute(u, own.qd, ca.SX.zeros(tree.nv))
        return ca.Function("speeds", [own.q, own.t], [ca.jacobian(u, own.qd), at_rest])

    def row(self, name: str, q: Floats, t: float) -> tuple[Floats, float]:
        """Return y and z of the velocity `name` at q and t."""
        velocities, speeds = list(self.model.names.qd), list(self.mechanism.speeds)
        if name in velocities:
            return np.eye(self.model.nv)[velocities.index(name)], 0.0
        if name not in speeds:
            raise NameNotFoundError(
                f"unknown speed '{name}'", remedy=suggest_remedy(name, self.names)
            )
        rows, rest = (np.array(part.full()) for part in self._speed_function(q, t))
        return rows[speeds.index(name)], float(rest[speeds.index(name), 0])


def closed_coordinates(
    mechanism: Mechanism, model: Model, q: VectorLike | None, t: float
) -> Floats:
    """Return q that satisfies the constraints at time t and keeps coordinates given by name."""
    q = read_coordinate_numbers(mechanism, read_pose(mechanism, q), "q")
    if q is not None and not isinstance(q, Mapping):
        coordinates = with_unit_quaternions(model, check_vector(q, model.nq, "q"))
        model.check_closed(coordinates, t)
        return coordinates
    given = check_number_table(q or {}, "q")
    if not model.names.constraints:
        return with_unit_quaternions(model, placed(model.neutral(), given, model.q_names, "q"))
    return assemble(mechanism, given, list(given), t=t)


def consistent_velocities(
    measures: VelocityMeasures,
    q: Floats,
    qd: VectorLike | None,
    t: float,
    near: Floats | None = None,
) -> Floats:
    """Return the velocities that satisfy the constraints at time t and keep the given ones: those
    nearest to `near`, by default to zero."""
    model = measures.model
    names = model.names
    qd = read_pose_velocities(measures.mechanism, qd, q)
    qd = read_coordinate_numbers(measures.mechanism, qd, "qd")
    if qd is not None and not isinstance(qd, Mapping):
        given = check_vector(qd, names.nv, "qd")
        model.check_closed(q, t, qd=given)
        return given
    known = check_number_table(qd or {}, "qd")
    held = [measures.row(name, q, t) for name in known]
    rows = np.array([y for y, _ in held]).reshape(len(held), names.nv)
    missing = np.array([z - value for (_, z), value in zip(held, known.values(), strict=True)])
    guess = np.zeros(names.nv) if near is None else near
    missing = missing + rows @ guess
    if names.constraints:
        clock = names.time_arguments(t)
        rows = np.vstack([model.constraint_jacobian(q, *clock), rows])
        missing = np.concatenate([model.constraint_velocity(q, guess, *clock), missing])
    if not len(rows):
        return guess
    velocities = project_velocities(
        rows, guess, missing, rank_share=CLOSURE_TOLERANCES.fine_rank_share
    )
    _check_held_velocities(measures, known, rows @ (velocities - guess) + missing)
    if names.constraints:
        model.check_closed(q, t, qd=velocities)
    return velocities


def _check_held_velocities(
    measures: VelocityMeasures, known: dict[str, float], violations: Floats
) -> None:
    """Raise an error where velocities that are given by name contradict each other."""
    left = np.abs(violations[len(violations) - len(known) :])
    scale = max([1.0, *map(abs, known.values())])
    if len(left) and left.max() > HELD_VELOCITY_TOLERANCE * scale:
        name = list(known)[int(np.argmax(left))]
        raise LinkwrightError(
            f"the speed '{name}' = {known[name]:g} contradicts the constraints or the other speeds "
            f"by {left.max():.3g}",
            where=measures.mechanism.name,
            remedy="give fewer speeds: the others follow",
        )


def constant_forces(model: Model, torque: VectorLike | None) -> Floats:
    """Return constant τ from (nv) numbers, or numbers by velocity or actuator; None stands for
    zeros."""
    if torque is None:
        return np.zeros(model.nv)
    if not isinstance(torque, Mapping):
        return check_vector(torque, model.nv, "torque")
    drives = list(model.names.actuators or model.names.qd)
    u = np.zeros(len(drives))
    for name, value in check_number_table(torque, "torque").items():
        if name not in drives:
            kind = "actuator" if model.names.actuators else "velocity"
            raise NameNotFoundError(f"unknown {kind} '{name}'", remedy=suggest_remedy(name, drives))
        u[drives.index(name)] = value
    starts, ends = (model.names.position_time_arguments(t) for t in (0.0, PROBE_STEP))
    B = model.input_matrix(model.home(), *starts)
    probe = model.integrate(model.home(), np.full(model.nv, PROBE_STEP))
    tolerance = SAME_MATRIX_TOLERANCE
    if not np.allclose(B, model.input_matrix(probe, *ends), rtol=tolerance, atol=tolerance):
        raise UnsupportedError(
            "the generalized forces of the actuators depend on the configuration",
            where=model.mechanism.name,
            remedy=f"give {model.nv} generalized forces",
        )
    tau: Floats = B @ u
    return tau
