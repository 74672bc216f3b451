"""The states x in which a formulation has its motions, and (q, q̇) in place of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..equations import Equations
from ..types import Floats


class MotionStates:
    """The states x of equations by (q, q̇), and (q, q̇) by x."""

    def __init__(self, equations: Equations) -> None:
        self.equations, self.names = equations, equations.names

    @cached_property
    def symbols(self) -> tuple[Any, Any, Any, Any]:
        s = self.equations.symbols
        return s["q"], s["qd"], s["tau"], s["t"]

    @cached_property
    def _maps(self) -> tuple[Any, Any, Any]:
        """x, x from (q, q̇), and (q, q̇) from x, as expressions; where x leaves open which of
        several coordinates are meant, those near them stand last in it."""
        q, qd, *_ = self.symbols
        state = self.equations.state
        if state is None:
            x = ca.vertcat(q, qd)
            return x, x, (q, qd)
        near = q[list(state.ambiguous_coordinates), 0]
        x, made = (
            ca.vertcat(state.x, state.nearby_coordinates),
            ca.vertcat(state.from_motion(), near),
        )
        return x, made, state.to_motion()

    @property
    def motion_expressions(self) -> tuple[Any, Any]:
        """(q, q̇) by the symbols of the states."""
        q, qd = self._maps[2]
        return q, qd

    def state_from_motion(self, q: Any, qd: Any) -> Any:
        """The states x of expressions of q and q̇."""
        return self._from_motion(q, qd)

    @property
    def state(self) -> Any:
        """The symbols x of the states, without works."""
        return self._maps[0]

    @cached_property
    def size(self) -> int:
        return int(self._maps[0].shape[0])

    @cached_property
    def _from_motion(self) -> Any:
        q, qd, *_ = self.symbols
        return ca.Function("x", [q, qd], [self._maps[1]])

    @cached_property
    def _to_motion(self) -> Any:
        return ca.Function("motion", [self._maps[0]], [ca.vertcat(*self._maps[2])])

    def motion(self, y: Floats) -> tuple[Floats, Floats]:
        """(q, q̇) of states; y may have one column a time."""
        split = self.names.nq
        if y.ndim == 1 and self.equations.state is None:
            return y[:split], y[split : self.size]
        rows = np.atleast_2d(y.T)[:, : self.size].T
        if self.equations.state is None:
            found = rows
        else:
            found = np.asarray(self._to_motion(rows), dtype=float)
        return found[:split].T.reshape(*y.shape[1:], -1), found[split:].T.reshape(*y.shape[1:], -1)
