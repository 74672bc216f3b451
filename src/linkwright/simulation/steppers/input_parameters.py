"""Inputs w for integrators that take the rates as expressions.

Between two restarts a table is one polynomial of t, and the forces of a sampled controller are
constant: both are parameters of the expressions. What only Python knows is called back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from ...types import Floats
from ..feedback import Feedback
from ..right_hand_side import RightHandSide
from ..time_tables import NUMBERS_PER_PIECE

MAX_FAULTS = 100
"""After this many inputs that are not finite, a call of a solver ends; it would go on in ever
shorter steps."""

Expression = TypeVar("Expression")

_NONE = np.zeros(0)


class InputParameters:
    """The `count` parameters of one right-hand side, from which w follows at t.

    `is_called` is True if only Python can compute w.
    """

    def __init__(self, rhs: RightHandSide) -> None:
        self.rhs, force_law = rhs, rhs.force_law
        law = None if force_law.is_sampled else force_law.feedback
        self.has_constants = law is not None and _takes_constants(law)
        self.is_called = force_law.function is not None or (
            law is not None and not self.has_constants
        )
        self.size = int(rhs.expressions.w.numel())
        self.count = 0
        if force_law.is_sampled or self.has_constants:
            self.count = self.size
        elif force_law.tables:
            self.count = NUMBERS_PER_PIECE * len(force_law.tables)

    def w(self, parameters: list[Expression], t: Expression) -> list[Expression]:
        """Return the entries of w as expressions (of any kind) of the parameters and t."""
        if self.rhs.force_law.is_sampled or self.has_constants:
            return parameters
        if not self.count:
            zero: Any = 0 * t  # type: ignore[operator]
            return [zero] * self.size
        found = []
        for k in range(0, self.count, NUMBERS_PER_PIECE):
            piece: list[Any] = [*parameters[k : k + NUMBERS_PER_PIECE]]
            a, b, c, d, begin = piece
            x = t - begin
            found.append(((a * x + b) * x + c) * x + d)
        return found

    def values(self, t: float, held: Floats | None = None) -> Floats:
        """Return the parameters from t on, up to the next restart; `held` are held forces."""
        if held is not None:
            return held
        if self.has_constants:
            return self.rhs.force_law.outer(t, _NONE, _NONE)
        if not self.rhs.force_law.tables:
            return np.zeros(0)
        return np.concatenate([table.piece(t) for table in self.rhs.force_law.tables])


def _takes_constants(law: Feedback) -> bool:
    """Whether a controller takes numbers that stay the same: gains, or a set point."""
    return bool(law.gains or law.follows) and not law.has_moving_reference


class InputCallback(ca.Callback):
    """(t, y) → w by Python, with a Jacobian by differences.

    CasADi does not pass on exceptions: they are kept until `check`.
    """

    def __init__(self, inputs: Callable[[float, Floats], Floats], states: int, size: int) -> None:
        ca.Callback.__init__(self)
        self.inputs, self.sizes, self.out = inputs, (1, states), size
        self.error: BaseException | None = None
        self.faults = 0
        self.construct("outer", {"enable_fd": True})

    def get_n_in(self) -> int:
        """Return the number of inputs (CasADi)."""
        return 2

    def get_n_out(self) -> int:
        """Return the number of outputs (CasADi)."""
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        """Return the shape of an input (CasADi)."""
        return ca.Sparsity.dense(self.sizes[i], 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        """Return the shape of the output (CasADi)."""
        return ca.Sparsity.dense(self.out, 1)

    def eval(self, arguments: Sequence[ca.DM]) -> list[ca.DM]:
        """Return w, or zeros after an exception; the solver then ends soon, and its result is not
        used."""
        y = np.asarray(arguments[1], dtype=float).ravel()
        try:
            if self.error is None:
                found = self.inputs(float(arguments[0]), y)
                self._count_faults(found)
                return [ca.DM(found)]
        except BaseException as error:  # Ctrl-C too
            self.error = error
        return [ca.DM.zeros(self.out)]

    def _count_faults(self, found: Floats) -> None:
        """End a call whose inputs are repeatedly not finite."""
        self.faults += not np.isfinite(found).all()
        if self.faults > MAX_FAULTS:
            raise _NotFiniteError

    def check(self) -> bool:
        """Return whether the solver's result may be used; raise the exception that was kept."""
        error, self.error, self.faults = self.error, None, 0
        if error is not None and not isinstance(error, _NotFiniteError):
            raise error
        return error is None


class _NotFiniteError(Exception):
    """Inputs are not finite wherever the solver evaluates them."""
