"""Linear models: ẋ = A x + B u, y = C x + D u about a state, or along a motion.

x = (a, ȧ) are small changes of the independent coordinates and speeds. Under constraints
q̇ = G ȧ + k, and a change of a changes q̇ by W = ∂(Gȧ + k)/∂a, which J W = −∂(J q̇ + φ_t)/∂a gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest_remedy
from ..kinematics.assembly import assemble
from ..kinematics.closing import CLOSURE_TOLERANCES, jacobian_pseudoinverse, project_velocities
from ..mechanism import Mechanism
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_number, check_number_table, check_vector
from ..types import Floats, VectorLike
from .checked import check_mechanism
from .run import Run
from .start import placed, with_unit_quaternions


@dataclass(frozen=True, repr=False)
class Linear(NotebookDisplayed):
    """ẋ = A x + B u, y = C x + D u; x are changes of the independent coordinates `names` and their
    rates, u of the drives `inputs`, y of `outputs`. Along a motion all have a leading axis of
    times `t`."""

    names: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    t: Floats

    def summary(self) -> str:
        """The number of states, inputs and outputs."""
        columns = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        sizes = ", ".join(f"{len(names)} {what}" for what, names in columns.items())
        times = f" at {np.size(self.t)} times" if np.ndim(self.A) > 2 else ""
        return f"Linear model of {sizes}{times}"

    def __str__(self) -> str:
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
        return (*self.names, *(f"d{name}" for name in self.names))

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A, 1/s."""
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
    check_mechanism(mechanism)
    model = compiled(mechanism, threads=1)
    names = model.names
    wanted = tuple(names.qd if outputs is None else outputs)
    readings = [_reading(model, name) for name in wanted]
    if along is not None:
        if q is not None or qd is not None or torque is not None:
            raise LinkwrightError("along= and a state are both given", remedy="give one of them")
        times, rows = along.t, list(zip(along.t, along.q, along.qd, along.tau, strict=True))
    else:
        t = check_number(t, "t")
        here = _coordinates(mechanism, model, q, t)
        speeds = _speeds(model, here, qd, t)
        times, rows = np.array([t]), [(t, here, speeds, forces_at(model, torque))]
    found = [_about(model, readings, *row) for row in rows]
    A, B, C, D = (np.array(part) for part in zip(*found, strict=True))
    if along is None:
        A, B, C, D = A[0], B[0], C[0], D[0]
    inputs = names.actuators or names.qd
    return Linear(model.independent_names, tuple(inputs), wanted, A, B, C, D, times)


def _coordinates(mechanism: Mechanism, model: Model, q: Any, t: float) -> Floats:
    """q that closes at time t; what is given by name is kept."""
    if q is not None and not isinstance(q, Mapping):
        here = with_unit_quaternions(model, check_vector(q, model.nq, "q"))
        model.check_closed(here, t)
        return here
    given = check_number_table(q or {}, "q")
    if not model.names.constraints:
        return with_unit_quaternions(model, placed(model.neutral(), given, model.q_names, "q"))
    return assemble(mechanism, given, list(given), t=t)


def _speeds(model: Model, q: Floats, qd: Any, t: float) -> Floats:
    """q̇ that the constraints allow at time t: the least of those with the given ones."""
    names = model.names
    if qd is not None and not isinstance(qd, Mapping):
        given = check_vector(qd, names.nv, "qd")
        model.check_closed(q, t, qd=given)
        return given
    known = check_number_table(qd or {}, "qd")
    speeds = placed(np.zeros(names.nv), known, names.qd, "speed")
    if not names.constraints:
        return speeds
    clock = [t] if names.is_time_dependent else []
    fixed = [names.qd.index(name) for name in known]
    speeds = project_velocities(
        model.constraint_jacobian(q, *clock), speeds,
        model.constraint_velocity(q, speeds, *clock), hold=fixed,
        rank_share=CLOSURE_TOLERANCES.fine_rank_share,
    )  # fmt: skip
    model.check_closed(q, t, qd=speeds)
    return speeds


def forces_at(model: Model, torque: Any) -> Floats:
    """Constant τ: nothing, (nv) numbers, or numbers by speed or actuator."""
    if torque is None:
        return np.zeros(model.nv)
    if not isinstance(torque, Mapping):
        return check_vector(torque, model.nv, "torque")
    drives = list(model.names.actuators or model.names.qd)
    u = np.zeros(len(drives))
    for name, value in check_number_table(torque, "torque").items():
        if name not in drives:
            raise NameNotFoundError(
                f"there is no drive '{name}'", remedy=suggest_remedy(name, drives)
            )
        u[drives.index(name)] = value
    B = model.input_matrix(model.home())
    elsewhere = model.input_matrix(model.integrate(model.home(), np.full(model.nv, 0.37)))
    if not np.allclose(B, elsewhere, rtol=1e-12, atol=1e-12):
        raise UnsupportedError(
            "the actuators' forces along the speeds depend on where it stands",
            where=model.mechanism.name, remedy=f"give {model.nv} forces along the speeds",
        )  # fmt: skip
    found: Floats = B @ u
    return found


def independent_map(model: Model, q: Floats, clock: list[float]) -> Floats:
    if not model.names.constraints:
        return np.eye(model.nv)
    found: Floats = model.independent_map(q, *clock)[0]
    return found


def _about(
    model: Model, readings: Sequence[tuple[str, Any]], t: float, q: Floats, qd: Floats, tau: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    names = model.names
    clock = [float(t)] if names.is_time_dependent else []
    by_q, by_qd, by_tau = model.forward_dynamics_derivatives(q, qd, tau, *clock)
    G = independent_map(model, q, clock)
    W = _convected(model, q, qd, G, clock)
    B = model.input_matrix(q)
    moved = np.hstack([by_q @ G + by_qd @ W, by_qd @ G])  # q̈ by x
    rows = [names.qd.index(name) for name in model.independent_names]
    n = len(rows)
    A = np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), moved[rows]])
    pushed = by_tau @ B
    none = np.zeros((model.nv, n))
    orders = {"q": np.hstack([G, none]), "qd": np.hstack([W, G]), "qdd": moved}
    C, D = np.zeros((len(readings), 2 * n)), np.zeros((len(readings), B.shape[1]))
    for k, (order, row) in enumerate(readings):
        weights = row(q)
        C[k] = weights @ orders[order]
        if order == "qdd":
            D[k] = weights @ pushed
    return A, np.vstack([np.zeros((n, B.shape[1])), pushed[rows]]), C, D


def _convected(model: Model, q: Floats, qd: Floats, G: Floats, clock: list[float]) -> Floats:
    """W; γ is of second degree in the speeds, so that differences of it give J's slope exactly."""
    names, W = model.names, np.zeros_like(G)
    if not qd.any() and not names.is_time_dependent:
        return W
    if qd.any() and names.nq != names.nv:
        raise UnsupportedError(
            "in motion, speeds must be rates of coordinates", where=model.mechanism.name,
            remedy="linearize at rest, or use rotation = \"cardan\"",
        )  # fmt: skip
    if not names.constraints:
        return W
    if names.position_row_count < len(names.constraints):
        raise UnsupportedError(
            "in motion, constraints must be of positions", where=model.mechanism.name,
            remedy="linearize at rest",
        )  # fmt: skip
    J = model.constraint_jacobian(q, *clock)
    rows = [names.qd.index(name) for name in names.independent]
    others = [k for k in range(model.nv) if k not in rows]
    slope = [
        (model.constraint_bias(q, qd + g, *clock) - model.constraint_bias(q, qd - g, *clock)) / 4
        for g in G.T
    ]
    W[others] = -jacobian_pseudoinverse(
        J[:, others], CLOSURE_TOLERANCES.rank_share
    ) @ np.column_stack(slope)
    return W


def _reading(model: Model, name: str) -> tuple[str, Any]:
    """Which order of the motion an output reads, and its weights of all speeds at q."""
    for order, prefix in (("q", ""), ("qd", "d"), ("qdd", "dd")):
        rest = name.removeprefix(prefix)
        if (name.startswith(prefix) or not prefix) and rest in model.names.qd:
            weights = np.eye(model.nv)[model.names.qd.index(rest)]
            return order, lambda q, w=weights: w
    frame, _, axis = name.rpartition(".")
    places = [*model.mechanism.frames, *model.mechanism.bodies]
    if frame in places and axis in ("x", "y", "z"):
        return "q", lambda q: model.jacobian(frame)(q)[3 + "xyz".index(axis)]
    known = [*model.names.qd, *(f"{place}.x" for place in places)]
    raise NameNotFoundError(f"there is no output '{name}'", remedy=suggest_remedy(name, known))
