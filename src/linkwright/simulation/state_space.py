"""The states y of a motion, and their conversion to (q, q̇).

y holds the states x of a formulation, the states z of a controller and, last, three works: of the
inputs, of what is given (external forces, driven constraints), and W of all but conservative
forces, losses included; so that kinetic + potential − W is constant along a motion. Where (q, q̇) of
x depend on time, the last entry of x is a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..equations import Equations
from ..model.model import Model
from ..model.model import compile as compiled
from ..types import SX, Floats
from .projection import Projection

WORK_COUNT = 3
"""The last entries of y: work of inputs, of given forces, and of all."""


class StateSpace:
    """The states of equations: from y to (q, q̇) and back, and onto the constraints.

    It has no data of a run, so that all runs of the equations can share it. `start_of_controller`
    are the values of z at the start; `is_projected` says whether states are put back onto the
    constraints.
    """

    def __init__(
        self,
        equations: Equations,
        start_of_controller: Sequence[float] = (),
        *,
        is_projected: bool = True,
    ) -> None:
        self.equations, self.names = equations, equations.names
        self.start_of_controller = tuple(start_of_controller)
        self._is_projected = is_projected

    # -- expressions -----------------------------------------------------------------------------

    @cached_property
    def symbols(self) -> tuple[SX, SX, SX, SX]:
        """The symbols q, q̇, τ and t of the equations."""
        s = self.equations.symbols
        return s["q"], s["qd"], s["tau"], s["t"]

    @cached_property
    def _maps(self) -> tuple[SX, SX, tuple[SX, SX]]:
        """x, x from (q, q̇, t), and (q, q̇) from x, as expressions.

        Where x does not determine the coordinates uniquely, its last entries are coordinates near
        them; a clock, if there is one, follows.
        """
        q, qd, _, t = self.symbols
        state = self.equations.state
        if state is None:
            x = ca.vertcat(q, qd)
            return x, x, (q, qd)
        near = q[list(state.ambiguous_coordinates), 0]
        x = ca.vertcat(state.x, state.nearby_coordinates)
        made, motion = ca.vertcat(state.from_motion(), near), list(state.to_motion())
        if ca.depends_on(ca.vertcat(made, *motion), t):
            clock = ca.SX.sym("clock")
            x, made = ca.vertcat(x, clock), ca.vertcat(made, t)
            motion = ca.substitute(motion, [t], [clock])
        return x, made, (motion[0], motion[1])

    @cached_property
    def has_clock(self) -> bool:
        """Whether the last entry of x is the time."""
        state = self.equations.state
        if state is None:
            return False
        return bool(self.size > state.x.shape[0] + state.nearby_coordinates.shape[0])

    @property
    def x(self) -> SX:
        """The symbols of the formulation's states."""
        return self._maps[0]

    @property
    def motion_expressions(self) -> tuple[SX, SX]:
        """(q, q̇) as expressions of the symbols x."""
        q, qd = self._maps[2]
        return q, qd

    @cached_property
    def state_from_motion(self) -> ca.Function:
        """The function (q, q̇, t) → x; parameters that equations keep remain symbols."""
        q, qd, _, t = self.symbols
        return ca.Function("x", [q, qd, t], [self._maps[1]], {"allow_free": True})

    @cached_property
    def _to_motion(self) -> ca.Function:
        """The function x → (q, q̇)."""
        return ca.Function("motion", [self._maps[0]], [ca.vertcat(*self._maps[2])])

    @cached_property
    def _rate_matrix(self) -> ca.Function:
        """The function q → N."""
        return ca.Function("N", [self.symbols[0]], [self.equations.rate_matrix])

    # -- numbers ---------------------------------------------------------------------------------

    @cached_property
    def model(self) -> Model:
        """The compiled functions of the equations."""
        kept = tuple(self.equations.parameters)
        return compiled(self.equations, parameters=kept, threads=1)

    @cached_property
    def size(self) -> int:
        """The number of entries of x."""
        return int(self._maps[0].shape[0])

    def motion(self, y: Floats) -> tuple[Floats, Floats]:
        """Return (q, q̇) of states; y may have one column for each time."""
        split = self.names.nq
        if y.ndim == 1 and self.equations.state is None:
            return y[:split], y[split : self.size]
        rows = np.atleast_2d(y.T)[:, : self.size].T
        if self.equations.state is None:
            found = rows
        else:
            found = np.asarray(self._to_motion(rows), dtype=float)
        return found[:split].T.reshape(*y.shape[1:], -1), found[split:].T.reshape(*y.shape[1:], -1)

    def controller_states(self, y: Floats) -> Floats:
        """Return the entries z of y."""
        return y[self.size : len(y) - WORK_COUNT]

    def start(self, q: Floats, qd: Floats, t: float = 0.0) -> Floats:
        """Return y at the start of a motion, at the time t; no work is done yet."""
        if self.equations.state is None:
            return np.concatenate([q, qd, self.start_of_controller, np.zeros(WORK_COUNT)])
        x = np.asarray(self.state_from_motion(q, qd, t), dtype=float).ravel()
        return np.concatenate([x, self.start_of_controller, np.zeros(WORK_COUNT)])

    def with_motion(self, y: Floats, q: Floats, qd: Floats, t: float | None = None) -> Floats:
        """Return y with another motion (at the time t; default: that of y), but the same controller
        states and works."""
        now = float(y[self.size - 1]) if self.has_clock and t is None else t or 0.0
        x = self.start(q, qd, now)[: self.size]
        if self.equations.state is not None and self.equations.state.energies is not None:
            x += y[: self.size] - self.start(*self.motion(y), now)[: self.size]  # springs stay open
        return np.concatenate([x, y[self.size :]])

    def coordinate_rates(self, q: Floats) -> Floats:
        """Return N with the rates of the coordinates N q̇."""
        if self.names.nq == self.names.nv:
            return np.eye(self.names.nv)
        return np.asarray(self._rate_matrix(q), dtype=float)

    # -- constraints -----------------------------------------------------------------------------

    @property
    def can_leave_joints(self) -> bool:
        """Whether errors can open joints of free bodies, or change lengths of quaternions."""
        state = self.equations.state
        has_free_bodies = state is not None and state.rates_from_motion is not None
        return has_free_bodies or self.names.nq != self.names.nv

    @cached_property
    def projection(self) -> Projection | None:
        """The projection onto the constraints; None where there are none to hold."""
        return Projection(self.model) if self.names.constraints and self._is_projected else None

    def normalize(self, q: Floats) -> Floats:
        """Return q with quaternions of length 1."""
        if self.names.nq == self.names.nv:
            return q
        found: Floats = self.model.integrate(q, np.zeros(self.names.nv))
        return found

    def joint_gap(self, y: Floats) -> Floats:
        """Return how far free bodies, and centres of mass that springs hold, are from where joints
        put them, for each column of y.

        It is zero for formulations in whose states joints cannot open.
        """
        state = self.equations.state
        if state is None:
            return np.zeros(y.shape[1])
        rows = slice(0, len(state.names))
        if state.rates_from_motion is None:  # x of approximate dynamics; 0 in q
            rows = slice(0, len(state.names) // 2)
        q, qd = self.motion(y)
        clock = y[self.size - 1 : self.size] if self.has_clock else np.zeros((1, y.shape[1]))
        held = np.asarray(self.state_from_motion(q.T, qd.T, clock), dtype=float)
        found: Floats = np.abs(y[rows] - held[rows]).max(axis=0, initial=0.0)
        return found
