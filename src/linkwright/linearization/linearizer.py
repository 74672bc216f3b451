"""Linear models about a state, or along a motion, by exact derivatives.

With δθ = P a, δv = W a + G b and dδθ/dt = δv + L δθ (`tangent_states`), the states x = (a, b) have

    ȧ = (W + L P) a + G b        in the rows of the independent coordinates
    ḃ = (Q P + V W) a + V G b + T B u    in the rows of the independent velocities

where Q, V and T are the derivatives of the accelerations by q, q̇ and τ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import Mechanism, require_mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..number_checks import check_number
from ..simulation.run import Run
from ..types import Booleans, Floats, VectorLike
from .control_inputs import ControlledActuators
from .linear_model import COUPLING_SHARE, Linear
from .linear_ports import (
    LinearInput,
    LinearOutput,
    default_linear_inputs,
    find_linear_input,
    find_linear_output,
    output_matrix_rows,
)
from .operating_points import (
    OperatingPoint,
    VelocityMeasures,
    closed_coordinates,
    consistent_velocities,
    constant_forces,
)
from .tangent_states import (
    independent_coordinates,
    state_rates,
    tangent_names,
    tangent_states,
    velocity_state_names,
)

PROBES = 2
"""Random states near a state at which A is computed to find what depends on what."""

PROBE_SIZE = 0.05
"""Size of the changes of coordinates and velocities of these states, rad, m and their rates."""


def linearize(
    mechanism: Mechanism,
    q: VectorLike | None = None,
    qd: VectorLike | None = None,
    torque: VectorLike | None = None,
    t: float = 0.0,
    *,
    along: Run | None = None,
    controls: Mapping[str, float] | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> Linear:
    """Return the linear model about a state, or along a run, by exact derivatives.

    By default the mechanism is at home, and at rest unless its constraints drive it. An array that
    contradicts the constraints raises an error. The states are independent coordinates and
    velocities; under nonholonomic constraints there are more coordinates than velocities.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd : array or mapping of names to numbers, optional
        The state, rad or m; values that a table does not name follow from the constraints. A
        table of velocities may also name generalized speeds (`[speeds]` of the file).
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N.
    t : float
        Time, s.
    along : Run, optional
        Linearize at all times of a run.
    controls : mapping of actuators to numbers, optional
        Constant controls, in the unit of each actuator's law, such as rad for a position servo
        (default: 0). The laws of servos and forces that depend on the configuration are then part
        of the model, and its inputs are controls.
    inputs : sequence of str, optional
        Actuators, generalized forces by their velocity ("q1"), forces and moments on frames
        ("tool.fx", "tool.mz") (default: all actuators, or all generalized forces).
    outputs : sequence of str, optional
        Coordinates ("q1"), rates ("dq1", "ddq1"), and of frames positions ("tool.x"), velocities
        ("tool.vx", "tool.wz") and accelerations ("tool.ax", "tool.alphaz") (default: all
        coordinates).

    Returns
    -------
    Linear
        The matrices A, B, C and D with the names of states, inputs and outputs.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.linearize(lw.gallery("elbow"), {"q1": -0.5}).A.shape
    (4, 4)
    """
    require_mechanism(mechanism)
    model = compile_model(mechanism, threads=1)
    linearizer = Linearizer(model, inputs, outputs, controls)
    if along is not None:
        if any(given is not None for given in (q, qd, torque, controls)):
            raise LinkwrightError("along= and a state are both given", remedy="give one of them")
        rows = zip(along.t.tolist(), along.q, along.qd, along.tau, strict=True)
        return linearizer.linearize_motion([OperatingPoint(*row) for row in rows])
    t = check_number(t, "t")
    tau = constant_forces(model, torque)
    coordinates = closed_coordinates(mechanism, model, q, t)
    velocities = consistent_velocities(VelocityMeasures(mechanism, model), coordinates, qd, t)
    return linearizer.linearize_state(OperatingPoint(t, coordinates, velocities, tau))


class Linearizer:
    """Linear models of one mechanism with the same inputs and outputs at many states."""

    def __init__(
        self,
        model: Model,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        controls: Mapping[str, float] | None = None,
    ) -> None:
        self.model = model
        self.controlled = None if controls is None else ControlledActuators(model, controls)
        wanted = tangent_names(model.mechanism, model.names) if outputs is None else outputs
        given = default_linear_inputs(model) if inputs is None else inputs
        self.outputs: list[LinearOutput] = [find_linear_output(model, name) for name in wanted]
        self.inputs: list[LinearInput] = [self._find_input(name) for name in given]
        self._coordinates: tuple[int, ...] | None = None
        self._ignorable: tuple[str, ...] | None = None

    def _find_input(self, name: str) -> LinearInput:
        """Return an input by name: where controls are given, those of actuators."""
        actuators = self.controlled
        if actuators is None or name not in actuators.names:
            return find_linear_input(self.model, name)
        column = actuators.names.index(name)
        return LinearInput(name, lambda point: actuators.forces_at(point).by_control[:, column])

    def coordinates_at(self, point: OperatingPoint) -> tuple[int, ...]:
        """Return the independent coordinates, chosen at the first state."""
        if self._coordinates is None:
            self._coordinates = independent_coordinates(self.model, point.q, point.t)
        return self._coordinates

    def linearize_state(self, point: OperatingPoint) -> Linear:
        """Return the linear model about one state."""
        linear = self._make_linear(point, self.matrices(point))
        return self._with_ignorable(linear, [point])

    def linearize_motion(self, points: Sequence[OperatingPoint]) -> Linear:
        """Return the linear models at all states of a motion, as one with a leading axis."""
        found = [self._make_linear(point, self.matrices(point)) for point in points]
        A, B, C, D, rates = (
            np.array([getattr(one, key) for one in found]) for key in ("A", "B", "C", "D", "rates")
        )
        one, t = found[0], np.array([point.t for point in points])
        whole = Linear(one.states, one.inputs, one.outputs, A, B, C, D, t, rates)
        return self._with_ignorable(whole, points[:1])

    def matrices(self, point: OperatingPoint) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return A, B, C, D and the rates of the states about a state."""
        model, nv = self.model, self.model.nv
        clock = model.names.time_arguments(point.t)
        own = tangent_states(model, point, self.coordinates_at(point))
        driven = None if self.controlled is None else self.controlled.forces_at(point)
        q, qd, tau = point.q, point.qd, point.tau + (0.0 if driven is None else driven.tau)
        by_q, by_qd, by_tau = model.forward_dynamics_derivatives(q, qd, tau, *clock)
        if driven is not None:
            by_q, by_qd = by_q + by_tau @ driven.by_q, by_qd + by_tau @ driven.by_qd
        qdd = model.forward_dynamics(q, qd, tau, *clock)
        columns = [one.forces(point) for one in self.inputs]
        forces = np.column_stack(columns) if columns else np.zeros((nv, 0))
        by_x, qdd_by_u = state_rates(own, by_q, by_qd), by_tau @ forces
        rows, moving = list(own.coordinates), list(own.velocities)
        B = np.vstack([np.zeros((len(rows), forces.shape[1])), qdd_by_u[moving]])
        changes = (by_x.configuration, by_x.velocity, by_x.acceleration)
        C, D = output_matrix_rows(self.outputs, point, qdd, changes, qdd_by_u)
        return by_x.A, B, C, D, np.concatenate([point.qd[rows], qdd[moving]])

    def _make_linear(
        self, point: OperatingPoint, matrices: tuple[Floats, Floats, Floats, Floats, Floats]
    ) -> Linear:
        """Return the matrices with the names of states, inputs and outputs."""
        A, B, C, D, rates = matrices
        inputs, outputs = (
            tuple(one.name for one in ports) for ports in (self.inputs, self.outputs)
        )
        return Linear(self.state_names, inputs, outputs, A, B, C, D, np.array([point.t]), rates)

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of the states: independent coordinates, then independent velocities."""
        model = self.model
        positions = tangent_names(model.mechanism, model.names)
        velocities = velocity_state_names(model.mechanism, model.names)
        chosen = [positions[k] for k in self._coordinates or ()]
        moving = [velocities[model.names.qd.index(name)] for name in model.independent_names]
        return (*chosen, *moving)

    # -- ignorable coordinates -----------------------------------------------------------

    def _with_ignorable(self, linear: Linear, points: Sequence[OperatingPoint]) -> Linear:
        """Return the model with its ignorable coordinates, which are found at the first states."""
        if self._ignorable is None:
            self._ignorable = self._find_ignorable(linear, points)
        return replace(linear, ignorable=self._ignorable)

    def _find_ignorable(self, linear: Linear, points: Sequence[OperatingPoint]) -> tuple[str, ...]:
        """Return the coordinates on which no velocity depends, also through others, at the given
        states and near them."""
        acts = np.abs(linear.A).reshape(-1, *linear.A.shape[-2:]).max(axis=0)
        for point in points:
            for other in self.neighbours(point):
                acts = np.maximum(acts, np.abs(self.matrices(other)[0]))
        needed = self._needed_states(acts > COUPLING_SHARE * acts.max(initial=0.0))
        return tuple(name for name, kept in zip(linear.states, needed, strict=True) if not kept)

    def _needed_states(self, acts: Booleans) -> Booleans:
        """Return the velocities, and the states on which they depend, also through others."""
        count = len(self.model.independent_names)
        needed = np.arange(len(acts)) >= len(acts) - count
        while True:
            more = needed | acts[needed].any(axis=0)
            if (more == needed).all():
                return needed
            needed = more

    def neighbours(self, point: OperatingPoint) -> list[OperatingPoint]:
        """Return states near a state, on the constraints."""
        rng = np.random.default_rng(0)
        found = []
        for _ in range(PROBES):
            n = len(self.state_names)
            try:
                found.append(self.moved_point(point, PROBE_SIZE * rng.uniform(-1, 1, n)))
            except LinkwrightError:  # nothing closes there
                continue
        return found

    def moved_point(self, point: OperatingPoint, change: Floats) -> OperatingPoint:
        """Return the state after a change of the independent states, on the constraints."""
        model = self.model
        own = tangent_states(model, point, self.coordinates_at(point))
        n = len(own.coordinates)
        q = model.integrate(point.q, own.P @ change[:n])
        names, clock = model.names, model.names.time_arguments(point.t)
        velocities = point.qd + own.G @ change[n:] + own.W @ change[:n]
        if not names.constraints:
            return OperatingPoint(point.t, q, velocities, point.tau)
        if names.position_rows:
            q = model.close(q, point.t)
        G, k = model.independent_map(q, *clock)
        return OperatingPoint(point.t, q, G @ velocities[list(own.velocities)] + k, point.tau)
