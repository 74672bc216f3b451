"""A drive with a law: τ and the rates of its own states z, expressions of (t, q, q̇, z, r).

r is what the law follows, a reference known over time, which enters the compiled code as an input.
A law without a period acts at every instant; with one it is sampled, and its τ is held between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError
from ..readings.llvm import compile_tape
from ..tape import Port, normalised, record, scheduled

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Feedback:
    """`law` is a CasADi function (t, q, q̇, z, r) → (τ, ż); `names` and `start` are of z, which
    is integrated with the motion; `reference` gives r at (t, z)."""

    law: Any
    names: tuple[str, ...]
    start: tuple[float, ...]
    reference: Callable[[float, Floats], Floats]
    period: float | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Of q and q̇."""
        return int(self.law.size1_in(1)), int(self.law.size1_in(2))

    @cached_property
    def compiled(self) -> Any:
        """The law as a ufunc of (t, q, q̇, z, r); empty z and r have one idle entry."""
        import casadi as ca

        names = ("t", "q", "qd", "z", "r")
        inputs = [
            ca.SX.sym(name, max(1, int(self.law.size1_in(k)))) for k, name in enumerate(names)
        ]
        given = [x[: self.law.size1_in(k)] for k, x in enumerate(inputs)]
        tau, rate = self.law(*given)
        rate = rate if self.names else ca.SX.zeros(1)
        function = ca.Function("law", inputs, ca.cse([tau, rate]), list(names), ["tau", "rate"])
        ports = [Port(name, (int(x.shape[0]),)) for name, x in zip(names, inputs, strict=True)]
        outputs = [Port("tau", (int(tau.shape[0]),)), Port("rate", (int(rate.shape[0]),))]
        return compile_tape(scheduled(normalised(record(function, ports, outputs))), threads=1)

    def __call__(self, t: float, q: Floats, qd: Floats, z: Floats) -> tuple[Floats, Floats]:
        """(τ, ż) of an instant."""
        tau, rate = self.compiled([t], q, qd, _filled(z), _filled(self.reference(t, z)))
        return tau, rate[: len(self.names)]

    def check_fits(self, nq: int, nv: int, where: str) -> None:
        if self.sizes != (nq, nv):
            raise LinkwrightError(
                f"the controller is made for {self.sizes[1]} speeds, the mechanism has {nv}",
                where=where, remedy="make it for this mechanism",
            )  # fmt: skip


def _filled(values: Floats) -> Floats:
    return values if len(values) else np.zeros(1)
