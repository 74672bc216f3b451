"""Functions of constrained mechanisms in batches: compiled, and where a pivot got small, solved
again with pivoting.

The compiled functions eliminate velocities in an order that was chosen where the mechanism is
assembled. They also return their smallest pivot, as a share of its size there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AssemblyError, UnsupportedError
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    jacobian_pseudoinverse,
    jacobian_rank_of_singular_values,
    smallest_jacobian_singular_share,
    solve_constraint_least_change,
)
from ..quantities import quantity_ports
from ..types import Booleans, Floats
from .closed_states import check_states_closed
from .near_redundancy import largest_constraint_rank
from .upright_states import are_states_upright

if TYPE_CHECKING:
    from .model import Model


MIN_PIVOT_SHARE = 1e-2
"""States whose smallest pivot is below this are solved again: errors grow as its inverse square."""

MIN_SINGULAR_VALUE_SHARE = CLOSURE_TOLERANCES.state_rank_share
"""Singular values of J below this share of the largest are zero."""


ALL_STATES_NOTE = "Defined for every state; check=True still refuses states that do not close."
CLOSED_STATES_NOTE = (
    "States must hold the constraints: where q does not close, or qd or qdd contradict them, the\n"
    "result has no meaning. model.closed(q) tests it; check=True raises an\n"
    "AssemblyError that names the first such state and the constraint."
)


class GuardedFunction:
    """A compiled function whose last output is its smallest pivot; that one it keeps to itself.

    States in which it is small, or that give no finite numbers, are solved by singular values.
    `ufunc` is the compiled function itself.
    """

    def __init__(self, name: str, ufunc: np.ufunc, model: Model, documentation: str) -> None:
        self.name, self.ufunc, self.model = name, ufunc, model
        self.__doc__ = documentation

    def __call__(self, *inputs: Any, out: Any = None, check: bool = False) -> Any:
        if check:
            check_input_states(self.model, self.name, inputs)
        given = () if out is None else out if isinstance(out, tuple) else (out,)
        with np.errstate(all="ignore"):
            *found, pivot = (
                self.ufunc(*inputs, out=(*given, None)) if given else self.ufunc(*inputs)
            )
        weak = np.atleast_1d(~(np.asarray(pivot) >= MIN_PIVOT_SHARE))
        if weak.any():
            found = self._solve_weak_states(inputs, found, weak.ravel())
        return found[0] if len(found) == 1 else tuple(found)

    def _solve_weak_states(self, inputs: Any, found: list[Floats], weak: Booleans) -> list[Floats]:
        states = _GuardedBatch(self.model, self.name, inputs)
        flat = [
            array.reshape(states.count, *port.shape)
            for array, port in zip(found, states.outputs, strict=False)
        ]
        for k in np.flatnonzero(weak):
            for array, result in zip(flat, states.solve_state(int(k)), strict=True):
                array[k] = result
        for array, mended in zip(found, flat, strict=True):
            array[...] = mended.reshape(array.shape)
        return found

    def __getattr__(self, name: str) -> Any:
        """Everything else is the ufunc's: `signature`, `nin`, …"""
        return getattr(self.__dict__["ufunc"], name)


class NumericFallback:
    """A function of which nothing is compiled, because some output is empty: no equations of
    positions, or no degree of freedom."""

    def __init__(self, name: str, model: Model, documentation: str) -> None:
        self.name, self.model = name, model
        self.__doc__ = documentation

    def __call__(self, *inputs: Any, check: bool = False) -> Any:
        if check:
            check_input_states(self.model, self.name, inputs)
        states = _GuardedBatch(self.model, self.name, inputs)
        given = [port for port in states.outputs if port.name != "pivot"]
        found = [np.zeros((states.count, *port.shape)) for port in given]
        for k in range(states.count if any(port.size for port in given) else 0):
            for array, result in zip(found, states.solve_state(k), strict=True):
                array[k] = result
        shaped = [
            array.reshape(*states.batch, *port.shape)
            for array, port in zip(found, given, strict=True)
        ]
        return shaped[0] if len(shaped) == 1 else tuple(shaped)


def check_input_states(model: Model, name: str, inputs: Sequence[ArrayLike]) -> None:
    """Raise an error where the inputs of a function violate the constraints."""
    wanted, _ = quantity_ports(model.names, name, model.parameters)
    given = {port.name: value for port, value in zip(wanted, inputs, strict=False)}
    if "q" not in given:
        return
    check_states_closed(
        model,
        np.asarray(given["q"], dtype=float),
        given.get("t", 0.0),
        given.get("p"),
        qd=given.get("qd"),
        qdd=given.get("qdd"),
    )


class _GuardedBatch:
    """The inputs of a constrained function, one state after the other."""

    def __init__(self, model: Model, name: str, inputs: Any) -> None:
        self.model, self.name = model, name
        self.inputs, self.outputs = quantity_ports(model.names, name, model.parameters)
        pairs = [
            (np.asarray(x, dtype=float), port.shape)
            for x, port in zip(inputs, self.inputs, strict=True)
        ]
        leading = [x.shape[: x.ndim - len(shape)] for x, shape in pairs]
        self.batch: tuple[int, ...] = np.broadcast_shapes(*leading)
        self.count = int(np.prod(self.batch, dtype=int))
        self.rows = [
            np.broadcast_to(x, (*self.batch, *shape)).reshape(self.count, *shape)
            for x, shape in pairs
        ]

    def solve_state(self, k: int) -> tuple[Floats, ...]:
        """The outputs of state k, solved with pivoting; NaN where an input is NaN."""
        state = {port.name: row[k] for port, row in zip(self.inputs, self.rows, strict=True)}
        if not all(np.isfinite(x).all() for x in state.values()):
            return self._nan_outputs()
        try:
            return GuardedState(self.model, state).solve_function(self.name)
        except np.linalg.LinAlgError:
            return self._nan_outputs()

    def _nan_outputs(self) -> tuple[Floats, ...]:
        outputs = [port for port in self.outputs if port.name != "pivot"]
        return tuple(np.full(port.shape, np.nan) for port in outputs)


def close_batch_positions(model: Model, q: Floats, t: Floats, p: Floats) -> Floats:
    """Close the positions of all states of a batch by Newton steps of the dependent velocities."""
    if not model.names.position_row_count:
        return q.copy()
    kept = [model.names.qd.index(name) for name in model.names.independent]
    parameters = [p] if model.parameters else []
    rest = model.names.time_arguments(t) + parameters
    leading = [x.shape[:-1] for x in (q, *parameters)]
    batch = np.broadcast_shapes(*leading, *(x.shape for x in model.names.time_arguments(t)))
    q = np.broadcast_to(q, (*batch, model.nq))
    position_rows = list(model.names.position_rows)
    functions = PositionConstraints(
        lambda q: model.constraint_residual(q, *rest),
        lambda q: model.constraint_jacobian(q, *rest)[..., position_rows, :],
        lambda q, step: model.integrate(q, step, *parameters),
    )
    closure = close_positions(functions, q, hold=kept, rank_share=MIN_SINGULAR_VALUE_SHARE)
    left = closure.residual.ravel()
    if not (left < CLOSURE_TOLERANCES.closed_residual).all() and not (left <= model.leeway).all():
        worst = int(np.argmax(np.where(np.isnan(left), np.inf, left)))
        raise AssemblyError(
            f"state {worst + 1} of {len(left)} cannot be closed: {left[worst]:.3g} is left",
            where=model.mechanism.name,
            remedy="give closer rough values",
        )
    upright = are_states_upright(model.mechanism, model.parameters, closure.q, t, p).ravel()
    if not upright.all():
        raise AssemblyError(
            f"state {int(np.argmin(upright)) + 1} of {len(upright)} closes only with "
            "a joint turned over, or a wheel that lies flat",
            where=model.mechanism.name,
            remedy="give closer rough values",
        )
    return closure.q


class GuardedState:
    """One state of a constrained mechanism, solved by singular values for any rank of J."""

    def __init__(self, model: Model, state: dict[str, Floats]) -> None:
        self.model, self.state = model, state
        self.J = self.call_model_function("constraint_jacobian")
        if not np.isfinite(self.J).all():
            raise np.linalg.LinAlgError("the constraints have no finite Jacobian")
        left, sizes, right = np.linalg.svd(self.J)
        kept = min(
            jacobian_rank_of_singular_values(
                sizes, MIN_SINGULAR_VALUE_SHARE, CLOSURE_TOLERANCES.idle_row_entry
            ),
            largest_constraint_rank(model),
        )
        self.rank = kept
        self.null_space = right[kept:].T
        self.pseudo_inverse = right[:kept].T @ (left[:, :kept] / sizes[:kept]).T

    def call_model_function(self, name: str, **others: Floats) -> Floats:
        """The result of a compiled function at this state; `others` are further inputs by name."""
        known = self.state | others
        wanted, _ = quantity_ports(self.model.names, name, self.model.parameters)
        with np.errstate(all="ignore"):
            found: Floats = getattr(self.model, name)(*(known[port.name] for port in wanted))
        return found

    @property
    def position_arguments(self) -> list[Floats]:
        """The arguments after q of functions of positions: t and p, where they have these."""
        known = [self.state["p"]] if self.model.parameters else []
        moving = self.model.names.has_moving_coordinates
        return [self.state["t"], *known] if moving else known

    def solve_function(self, name: str) -> tuple[Floats, ...]:
        """The outputs of a function without its pivot; an error where it has no solution here."""
        if not hasattr(self, name):
            raise UnsupportedError(
                f"{name} cannot be computed where {' and '.join(self.model.names.independent)} "
                "hardly drive the mechanism",
                where=self.model.mechanism.name,
                remedy="name other independent velocities",
            )
        found = getattr(self, name)()
        return found if isinstance(found, tuple) else (found,)

    def forward_dynamics(self) -> Floats:
        """Accelerations q̈ under the forces τ; contradictory constraint rows hold on average."""
        M, F = (
            self.call_model_function("mass_matrix"),
            self.state["tau"] - self.call_model_function("bias"),
        )
        drift: Floats = -self.pseudo_inverse @ self.call_model_function("constraint_bias")
        Z = self.null_space
        found: Floats = drift + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (F - M @ drift))
        return found

    def wrench_forces(self) -> Floats:
        """The generalized forces of the wrenches on the bodies."""
        q, wrenches, last = self.state["q"], self.state["wrenches"], self.position_arguments
        bodies = zip(self.model.body_names, wrenches, strict=True)
        found: Floats = sum(self.model.jacobian(body)(q, *last).T @ w for body, w in bodies)
        return found

    def forward_dynamics_with_wrenches(self) -> Floats:
        """Accelerations q̈ under generalized forces and wrenches on the bodies."""
        under = self.state | {"tau": self.state["tau"] + self.wrench_forces()}
        return GuardedState(self.model, under).forward_dynamics()

    def inverse_dynamics_with_wrenches(self) -> Floats:
        """Generalized forces τ = B u of least u for the given q̈, under wrenches on the bodies."""
        found: Floats = self.call_model_function("input_matrix") @ self.least_actuator_forces(
            self.wrench_forces()
        )
        return found

    def multipliers(self) -> Floats:
        """Constraint forces λ of least norm, which act as +Jᵀλ."""
        qdd = self.forward_dynamics()
        needed = self.call_model_function("required_forces", qdd=qdd) - self.state["tau"]
        found: Floats = self.pseudo_inverse.T @ needed
        return found

    def reactions(self) -> Floats:
        """Reactions of joints and loops, rows (moment, force) in world axes, of least norm."""
        qdd, lam = self.forward_dynamics(), self.multipliers()
        spare = np.linalg.svd(self.J.T)[2][self.rank :]

        def rows(force: Floats) -> Floats:
            found: Floats = self.call_model_function(
                "reactions_of_motion", qdd=qdd, **{"lambda": force}
            )
            return found

        still = rows(lam)
        if not len(spare):
            return still
        W = np.array([(rows(lam + z) - still).ravel() for z in spare]).T
        least: Floats = still.ravel() - W @ solve_constraint_least_change(
            W, still.ravel(), rank_share=MIN_SINGULAR_VALUE_SHARE
        )
        return least.reshape(still.shape)

    def body_reactions(self) -> Floats:
        """The reactions in the axes of each joint's child body."""
        rows, mechanism = self.reactions(), self.model.mechanism
        joints = [mechanism.joints[name] for name in self.model.joint_names]
        last = self.position_arguments
        for row, joint in zip(rows, (*joints, *mechanism.loops.values()), strict=True):
            R = self.model.placement(joint.child)(self.state["q"], *last)[:3, :3]
            row[:3], row[3:] = R.T @ row[:3], R.T @ row[3:]
        return rows

    def least_actuator_forces(self, others: Floats) -> Floats:
        """Actuator efforts u of least norm for the given q̈, when `others` act along q̇ as well."""
        B = self.call_model_function("input_matrix")
        A = self.null_space.T @ B
        sizes = np.linalg.svd(A, compute_uv=False)
        if len(A) and (
            len(sizes) < len(A) or not sizes[-1] > MIN_SINGULAR_VALUE_SHARE * np.linalg.norm(B, 2)
        ):
            raise UnsupportedError(
                f"the actuators cannot move all {len(A)} degrees of freedom here",
                where=self.model.mechanism.name,
                remedy="declare more actuators, or leave this configuration",
            )
        needed = self.null_space.T @ (self.call_model_function("required_forces") - others)
        return solve_constraint_least_change(A, needed, rank_share=MIN_SINGULAR_VALUE_SHARE)

    def actuator_forces(self) -> Floats:
        """Actuator efforts u of least norm for the given accelerations."""
        return self.least_actuator_forces(np.zeros(self.model.nv))

    def inverse_dynamics(self) -> Floats:
        """Generalized forces τ = B u of least u for the given accelerations."""
        found: Floats = self.call_model_function("input_matrix") @ self.actuator_forces()
        return found

    def independent_map(self) -> tuple[Floats, Floats]:
        """G and k with q̇ = G a + k, where a are the independent velocities."""
        names = self.model.names
        a = [names.qd.index(name) for name in names.independent]
        p = [k for k in range(names.nv) if k not in a]
        if p and smallest_jacobian_singular_share(self.J[:, p], len(p)) <= MIN_SINGULAR_VALUE_SHARE:
            left, sizes, _ = np.linalg.svd(self.J[:, p])
            left = left[:, jacobian_rank_of_singular_values(sizes, MIN_SINGULAR_VALUE_SHARE) :]
            tied = np.abs(left.T @ self.J[:, a]).max(axis=0, initial=0.0)
            stuck = [
                n
                for n, x in zip(names.independent, tied, strict=True)
                if x > MIN_SINGULAR_VALUE_SHARE
            ]
            raise UnsupportedError(
                f"{' and '.join(stuck or names.independent)} cannot drive the mechanism here",
                where=self.model.mechanism.name,
                remedy="name other independent velocities",
            )
        back = -jacobian_pseudoinverse(self.J[:, p], MIN_SINGULAR_VALUE_SHARE)
        still = self.call_model_function("constraint_velocity", qd=np.zeros(names.nv))
        G, k = np.zeros((names.nv, len(a))), np.zeros(names.nv)
        G[a, range(len(a))] = 1
        G[p], k[p] = back @ self.J[:, a], back @ still
        return G, k
