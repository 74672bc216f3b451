"""What drives hand over from outside, for integrators that take the rates as expressions.

Between two restarts a table is one polynomial of t, and the forces of a sampled controller are
constant: both are parameters of the expressions. What only Python knows is called back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ...errors import UnsupportedError
from ...types import Floats
from ..system import System
from ..time_tables import NUMBERS_PER_PIECE

_FAULTS = 100
"""Values of a drive that are not finite, in one call of a solver."""


class Outer:
    """Of one system: `count` parameters, and w by these and t; `called` where only Python knows."""

    def __init__(self, system: System, integrator: str) -> None:
        self.system, drive = system, system.drive
        if system.beside is not None:
            raise UnsupportedError(
                f"'{integrator}' knows no stops, contacts and friction that sticks",
                where=system.equations.mechanism.name, remedy="use dop853, radau or bdf",
            )  # fmt: skip
        law = drive.feedback is not None and not system.sampled
        self.called = drive.function is not None or law
        self.size = int(system.w.numel())
        self.count = 0
        if system.sampled:
            self.count = self.size
        elif drive.tables:
            self.count = NUMBERS_PER_PIECE * len(drive.tables)

    def w(self, parameters: list[Any], t: Any) -> list[Any]:
        """Entries of w by its parameters, in any kind of expressions."""
        if self.system.sampled:
            return parameters
        if not self.count:
            return [0 * t] * self.size
        found = []
        for k in range(0, self.count, NUMBERS_PER_PIECE):
            a, b, c, d, begin = parameters[k : k + NUMBERS_PER_PIECE]
            x = t - begin
            found.append(((a * x + b) * x + c) * x + d)
        return found

    def values(self, t: float) -> Floats:
        """The parameters from t on, up to the next restart."""
        if self.system.sampled:
            return self.system.held[-1][1]
        if not self.count:
            return np.zeros(0)
        return np.concatenate([table.piece(t) for table in self.system.drive.tables])


class Called(ca.Callback):
    """(t, y) → w by Python; its slope by differences. What it complains of, which CasADi would
    not hand on, is kept."""

    def __init__(self, outer: Callable[[float, Floats], Floats], states: int, size: int) -> None:
        ca.Callback.__init__(self)
        self.outer, self.sizes, self.out = outer, (1, states), size
        self.complaint: BaseException | None = None
        self.faults = 0
        self.construct("outer", {"enable_fd": True})

    def get_n_in(self) -> int:
        return 2

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self.sizes[i], 1)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.out, 1)

    def eval(self, arguments: Sequence[Any]) -> list[Any]:
        y = np.asarray(arguments[1], dtype=float).ravel()
        try:
            if self.complaint is None:
                found = self.outer(float(arguments[0]), y)
                self._count_faults(found)
                return [ca.DM(found)]
        except BaseException as error:  # Ctrl-C too
            self.complaint = error
        return [ca.DM.zeros(self.out)]  # lets the solver end soon; what it finds is not taken

    def _count_faults(self, found: Floats) -> None:
        """Ends a call whose drive is not finite time and again: the solver would creep on."""
        self.faults += not np.isfinite(found).all()
        if self.faults > _FAULTS:
            raise _NotFiniteError

    def check(self) -> bool:
        """Whether what the solver found may be taken; raises what was kept."""
        complaint, self.complaint, self.faults = self.complaint, None, 0
        if complaint is not None and not isinstance(complaint, _NotFiniteError):
            raise complaint
        return complaint is None


class _NotFiniteError(Exception):
    """A drive is not finite wherever a solver turns."""
