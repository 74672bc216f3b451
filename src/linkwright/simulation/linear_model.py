"""Linear models: ẋ = A x + B u, y = C x + D u about a state, or along a motion.

x = (a, ȧ) are small changes of the independent coordinates and velocities. Under constraints
q̇ = G ȧ + k, and a change of a changes q̇ by W = ∂(Gȧ + k)/∂a, which J W = −∂(J q̇ + φ_t)/∂a gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest_remedy
from ..kinematics.assembly import assemble
from ..kinematics.closing import CLOSURE_TOLERANCES, jacobian_pseudoinverse, project_velocities
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism, require_mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..number_checks import check_number, check_number_table, check_vector
from ..types import Floats, VectorLike
from .run import Run
from .start import placed, with_unit_quaternions

OutputReading = tuple[str, Callable[[Floats, float], Floats]]
"""The order of the motion that an output reads ("q", "qd" or "qdd"), and its weights of all
velocities at q."""

PROBE_STEP = 0.37
"""Step of all coordinates from home at which the input matrix is compared with that at home; it is
not a fraction of a turn."""

SAME_MATRIX_TOLERANCE = 1e-12
"""Input matrices that differ by less are equal up to rounding."""


@dataclass(frozen=True, repr=False)
class Linear(NotebookDisplayed):
    """A linear model ẋ = A x + B u, y = C x + D u.

    x are changes of the independent coordinates `names` and their rates, u changes of the
    actuator efforts or generalized forces `inputs`, and y changes of `outputs`. Along a motion `A`,
    `B`, `C` and `D` have a leading axis of times `t`.
    """

    names: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    t: Floats

    def summary(self) -> str:
        """Return the number of states, inputs and outputs."""
        columns = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        sizes = ", ".join(f"{len(names)} {what}" for what, names in columns.items())
        times = f" at {np.size(self.t)} times" if np.ndim(self.A) > 2 else ""
        return f"Linear model of {sizes}{times}"

    def __str__(self) -> str:
        """Return the names, and A and B about a state."""
        lines = [self.summary(), f"x: {', '.join(self.states)}", f"u: {', '.join(self.inputs)}"]
        lines.append(f"y: {', '.join(self.outputs)}")
        if np.ndim(self.A) == 2:
            lines += [f"{key} =\n{getattr(self, key).round(6)}" for key in ("A", "B")]
        return "\n".join(lines)

    def notebook_table(self) -> NotebookTable | None:
        """Return A and B side by side, for a notebook; None along a motion."""
        if np.ndim(self.A) > 2:
            return None
        entries = np.hstack([self.A, self.B]).tolist()
        rows = [(f"d({name})/dt", *row) for name, row in zip(self.states, entries, strict=True)]
        inputs = (f"u: {name}" for name in self.inputs)
        return NotebookTable(("", *self.states, *inputs), rows)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states: coordinates, then their rates."""
        return (*self.names, *(f"d{name}" for name in self.names))

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues of A, 1/s."""
        return np.linalg.eigvals(self.A).astype(complex)

    @property
    def frequencies(self) -> Floats:
        """|λ| of the oscillations about a state, rad/s, lowest first."""
        found = self.eigenvalues.ravel()
        return np.sort(np.abs(found[found.imag > 0]))

    @property
    def damping(self) -> Floats:
        """−Re λ/|λ| of the same oscillations."""
        found = self.eigenvalues.ravel()
        swing = found[found.imag > 0]
        swing = swing[np.argsort(np.abs(swing))]
        return np.asarray(-swing.real / np.abs(swing))

    @property
    def is_stable(self) -> bool:
        """Whether every small motion about the state dies out."""
        return bool((self.eigenvalues.real < 0).all())


def linearize(
    mechanism: Mechanism,
    q: VectorLike | None = None,
    qd: VectorLike | None = None,
    torque: VectorLike | None = None,
    t: float = 0.0,
    *,
    along: Run | None = None,
    outputs: Sequence[str] | None = None,
) -> Linear:
    """Return the linear model about a state, or along a run, by exact derivatives.

    By default the mechanism is at home, and at rest unless its constraints drive it. An array that
    contradicts the constraints raises an error.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd : array or mapping of names to numbers, optional
        The state, rad or m; what a table does not name follows from the constraints. In motion,
        generalized velocities must be rates of coordinates.
    torque : (nv,) array or mapping, optional
        Constant generalized forces, N m or N.
    t : float
        Time, s.
    along : Run, optional
        Linearize at all times of a run.
    outputs : sequence of str, optional
        Coordinates ("q1"), rates ("dq1", "ddq1") and positions of frames ("tool.x") (default: all
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
    names = model.names
    wanted = tuple(names.qd if outputs is None else outputs)
    readings = [_output_reading(model, name) for name in wanted]
    if along is not None:
        if q is not None or qd is not None or torque is not None:
            raise LinkwrightError("along= and a state are both given", remedy="give one of them")
        times, rows = along.t, list(zip(along.t, along.q, along.qd, along.tau, strict=True))
    else:
        t = check_number(t, "t")
        coordinates = _closed_coordinates(mechanism, model, q, t)
        velocities = _consistent_velocities(model, coordinates, qd, t)
        times, rows = np.array([t]), [(t, coordinates, velocities, constant_forces(model, torque))]
    matrices = [_linear_matrices(model, readings, *row) for row in rows]
    A, B, C, D = (np.array(part) for part in zip(*matrices, strict=True))
    if along is None:
        A, B, C, D = A[0], B[0], C[0], D[0]
    inputs = names.actuators or names.qd
    return Linear(model.independent_names, tuple(inputs), wanted, A, B, C, D, times)


def _closed_coordinates(
    mechanism: Mechanism, model: Model, q: VectorLike | None, t: float
) -> Floats:
    """Return q that satisfies the constraints at time t and keeps coordinates given by name."""
    q = read_pose(mechanism, q)
    if q is not None and not isinstance(q, Mapping):
        coordinates = with_unit_quaternions(model, check_vector(q, model.nq, "q"))
        model.check_closed(coordinates, t)
        return coordinates
    given = check_number_table(q or {}, "q")
    if not model.names.constraints:
        return with_unit_quaternions(model, placed(model.neutral(), given, model.q_names, "q"))
    return assemble(mechanism, given, list(given), t=t)


def _consistent_velocities(model: Model, q: Floats, qd: VectorLike | None, t: float) -> Floats:
    """Return the smallest q̇ that satisfies the constraints at time t and keeps the given ones."""
    names = model.names
    if qd is not None and not isinstance(qd, Mapping):
        given = check_vector(qd, names.nv, "qd")
        model.check_closed(q, t, qd=given)
        return given
    known = check_number_table(qd or {}, "qd")
    velocities = placed(np.zeros(names.nv), known, names.qd, "speed")
    if not names.constraints:
        return velocities
    clock = [t] if names.is_time_dependent else []
    fixed = [names.qd.index(name) for name in known]
    velocities = project_velocities(
        model.constraint_jacobian(q, *clock),
        velocities,
        model.constraint_velocity(q, velocities, *clock),
        hold=fixed,
        rank_share=CLOSURE_TOLERANCES.fine_rank_share,
    )
    model.check_closed(q, t, qd=velocities)
    return velocities


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
            raise NameNotFoundError(
                f"there is no {kind} '{name}'", remedy=suggest_remedy(name, drives)
            )
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


def independent_velocity_map(model: Model, q: Floats, clock: list[float]) -> Floats:
    """Return G with q̇ = G ȧ + k; without constraints the identity."""
    if not model.names.constraints:
        return np.eye(model.nv)
    G: Floats = model.independent_map(q, *clock)[0]
    return G


def _linear_matrices(
    model: Model,
    readings: Sequence[OutputReading],
    t: float,
    q: Floats,
    qd: Floats,
    tau: Floats,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return A, B, C and D about a state."""
    names = model.names
    clock = [float(t)] if names.is_time_dependent else []
    by_q, by_qd, by_tau = model.forward_dynamics_derivatives(q, qd, tau, *clock)
    G = independent_velocity_map(model, q, clock)
    W = _velocity_map_derivative(model, q, qd, G, clock)
    B = model.input_matrix(q, *names.position_time_arguments(float(t)))
    qdd_by_x = np.hstack([by_q @ G + by_qd @ W, by_qd @ G])
    rows = [names.qd.index(name) for name in model.independent_names]
    n = len(rows)
    A = np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), qdd_by_x[rows]])
    qdd_by_u = by_tau @ B
    none = np.zeros((model.nv, n))
    orders = {"q": np.hstack([G, none]), "qd": np.hstack([W, G]), "qdd": qdd_by_x}
    C, D = np.zeros((len(readings), 2 * n)), np.zeros((len(readings), B.shape[1]))
    for k, (order, weights_at) in enumerate(readings):
        weights = weights_at(q, float(t))
        C[k] = weights @ orders[order]
        if order == "qdd":
            D[k] = weights @ qdd_by_u
    return A, np.vstack([np.zeros((n, B.shape[1])), qdd_by_u[rows]]), C, D


def _velocity_map_derivative(
    model: Model, q: Floats, qd: Floats, G: Floats, clock: list[float]
) -> Floats:
    """Return W. γ is of second degree in the velocities, so that its central differences are exact
    derivatives of J q̇."""
    names, W = model.names, np.zeros_like(G)
    if not qd.any() and not names.is_time_dependent:
        return W
    if qd.any() and names.nq != names.nv:
        raise UnsupportedError(
            "for a state in motion, velocities must be rates of coordinates",
            where=model.mechanism.name,
            remedy='linearize at rest, or use rotation = "cardan"',
        )
    if not names.constraints:
        return W
    if names.position_row_count < len(names.constraints):
        raise UnsupportedError(
            "for a state in motion, all constraints must be holonomic",
            where=model.mechanism.name,
            remedy="linearize at rest",
        )
    J = model.constraint_jacobian(q, *clock)
    rows = [names.qd.index(name) for name in names.independent]
    others = [k for k in range(model.nv) if k not in rows]
    derivatives = [
        (model.constraint_bias(q, qd + g, *clock) - model.constraint_bias(q, qd - g, *clock)) / 4
        for g in G.T
    ]
    W[others] = -jacobian_pseudoinverse(
        J[:, others], CLOSURE_TOLERANCES.rank_share
    ) @ np.column_stack(derivatives)
    return W


def _output_reading(model: Model, name: str) -> OutputReading:
    """Return how an output is read: a coordinate, its first or second rate, or a position."""
    for order, prefix in (("q", ""), ("qd", "d"), ("qdd", "dd")):
        rest = name.removeprefix(prefix)
        if name.startswith(prefix) and rest in model.names.qd:
            return order, _constant_weights(np.eye(model.nv)[model.names.qd.index(rest)])
    frame, _, axis = name.rpartition(".")
    places = [*model.mechanism.frames, *model.mechanism.bodies]
    if frame in places and axis in ("x", "y", "z"):
        at = model.names.position_time_arguments
        return "q", lambda q, t: model.jacobian(frame)(q, *at(t))[3 + "xyz".index(axis)]
    known = [*model.names.qd, *(f"{place}.x" for place in places)]
    raise NameNotFoundError(f"there is no output '{name}'", remedy=suggest_remedy(name, known))


def _constant_weights(weights: Floats) -> Callable[[Floats, float], Floats]:
    """Return a function of q and t that always returns the same weights."""
    return lambda q, t: weights
