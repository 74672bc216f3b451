"""The formulations side by side, as Bayseç and Kapucu (1996) compare them.

Times are those of this machine, the least of several runs; ratios between formulations are what
counts. Integration is SciPy's, of the formulation's own states, from a state near rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, UnsupportedError
from ..formulations import FORMULATIONS, derive, formulation
from ..kinematics.assembly import closed_state
from ..mechanism import Mechanism, names_of
from ..readings.llvm import compile_tape
from ..tape import count_operations, normalised, record, scheduled

if TYPE_CHECKING:
    from ..equations import Equations

Floats = NDArray[np.float64]
TOLERANCE = 1e-8
PUBLISHED = {"lagrange": "1", "hamilton": "1", "approximate": "1.3", "newton_euler": "25"}
"""Times of integration that Bayseç and Kapucu found for the triple pendulum, to Lagrange's."""


@dataclass(frozen=True)
class Row:
    """One formulation: sizes, operations of one evaluation of ẋ = F(x, τ), and times.

    Equations and states are those of the paper; what is evaluated and integrated of
    `newton_euler` are its accelerations of the freedoms, all else being eliminated.

    `disagreement` is the largest relative difference to the recursive formulation: of
    accelerations and drives in random states, of `approximate` at the end of the motion.
    """

    by: str
    equations: int
    states: int
    operations: int
    derive_seconds: float
    compile_seconds: float
    evaluate_microseconds: float
    integrate_seconds: float
    disagreement: float


@dataclass(frozen=True)
class Comparison:
    """Rows by formulation, and the reasons of those that cannot treat the mechanism."""

    mechanism: str
    rows: tuple[Row, ...]
    refused: dict[str, str]

    def __str__(self) -> str:
        head = ("formulation", "equations", "states", "operations", "derive s", "compile s",
                "evaluate µs", "integrate s", "to Lagrange", "in the paper",
                "disagreement")  # fmt: skip
        table = [head]
        base = next((r.integrate_seconds for r in self.rows if r.by == "lagrange"), None)
        for r in self.rows:
            table.append((
                r.by, str(r.equations), str(r.states), str(r.operations),
                f"{r.derive_seconds:.3f}", f"{r.compile_seconds:.3f}",
                f"{r.evaluate_microseconds:.2f}", f"{r.integrate_seconds:.3f}",
                f"{r.integrate_seconds / base:.1f}" if base else "",
                PUBLISHED.get(r.by, ""), f"{r.disagreement:.1e}",
            ))  # fmt: skip
        widths = [max(len(row[k]) for row in table) for k in range(len(head))]
        lines = ["  ".join(_aligned(row, widths)) for row in table]
        lines += [f"{by}: cannot treat it, {reason}" for by, reason in self.refused.items()]
        return "\n".join([f"{self.mechanism}", *lines])


def _aligned(row: tuple[str, ...], widths: list[int]) -> list[str]:
    return [
        row[0].ljust(widths[0]),
        *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
    ]


def compare(
    mechanism: Mechanism, by: Sequence[str] | None = None, duration: float = 1.0
) -> Comparison:
    """All formulations (or those named) on one mechanism, over `duration` seconds of motion."""
    if names_of(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no joint with a freedom",
            remedy="add one, or unlock one",
        )
    reference = _Study(mechanism, "recursive", duration)
    rows, refused = [], {}
    for name in by or FORMULATIONS:
        reason = formulation(name).supports(mechanism)
        if reason is not None:
            refused[name] = reason
            continue
        try:
            study = _Study(mechanism, name, duration)
        except UnsupportedError as error:
            refused[name] = error.what
            continue
        rows.append(study.row(reference))
    return Comparison(mechanism.name, tuple(rows), refused)


class _Study:
    """One formulation of a mechanism, derived, compiled, and integrated."""

    def __init__(self, mechanism: Mechanism, by: str, duration: float) -> None:
        import casadi as ca

        start = time.perf_counter()
        eqs: Equations = derive(mechanism, by=by, parameters="numeric")
        self.eqs, self.duration = eqs, duration
        q, qd, tau = (eqs.symbols[key] for key in ("q", "qd", "tau"))
        if eqs.state is None:
            x, qdd = ca.vertcat(q, qd), eqs.expressions(_FORWARD)[0]
            rates = ca.vertcat(eqs.rates @ qd, qdd)
            start_state = x
        else:
            x, rates, start_state = eqs.state.x, eqs.state.rates(), eqs.state.from_motion()
        self.time = [eqs.symbols["t"]] if eqs.names.in_time else []
        inputs = dict(zip(("x", "tau", "t"), (x, tau, *self.time), strict=False))
        function = ca.Function(
            "rates", list(inputs.values()), [ca.cse(rates)], list(inputs), ["rate"]
        )
        self.derive_seconds = time.perf_counter() - start
        start = time.perf_counter()
        self.tape = scheduled(normalised(record(function)))
        self.rates: Callable[..., Floats] = compile_tape(self.tape, threads=1)
        self.compile_seconds = time.perf_counter() - start
        self.from_motion = ca.Function("x", [q, qd], [start_state])
        back = (q, qd) if eqs.state is None else eqs.state.to_motion()
        self.to_motion = ca.Function("q", [x], [ca.vertcat(*back)])

    def start(self) -> tuple[Floats, Floats]:
        """A state near rest, the same for all formulations."""
        return self.state(np.random.default_rng(0), 0.5, 0.0)

    def state(self, rng: np.random.Generator, reach: float, t: float) -> tuple[Floats, Floats]:
        """Random q and q̇ that the constraints allow."""
        eqs = self.eqs
        step, qd = rng.uniform(-reach, reach, (2, eqs.nv))
        if eqs.names.constraints:
            return closed_state(eqs.mechanism, 0.2 * step, qd, t)
        q = eqs.folded("integrate")(eqs.neutral, step)
        return np.asarray(q, dtype=float).ravel(), qd

    def integrated(self) -> tuple[Floats, float]:
        """(q, q̇) at the end, and the seconds that it took."""
        from scipy.integrate import solve_ivp

        x = np.asarray(self.from_motion(*self.start()), dtype=float).ravel()
        tau, times = np.zeros(self.eqs.nv), []
        with np.errstate(all="ignore"):
            first = self.rates(x, tau, *[[0.0]] * len(self.time))
        if not np.isfinite(first).all():
            raise LinkwrightError(
                f"the motion by {self.eqs.by} cannot begin: its rates are not finite near rest",
                where=self.eqs.mechanism.name, remedy="choose other coordinates",
            )  # fmt: skip
        for _ in range(3):
            begin = time.perf_counter()
            run = solve_ivp(
                lambda t, x: self.rates(x, tau, *[[t]] * len(self.time)), (0, self.duration), x,
                method="DOP853",
                rtol=TOLERANCE, atol=TOLERANCE,
            )  # fmt: skip
            times.append(time.perf_counter() - begin)
        if not run.success:
            raise LinkwrightError(
                f"the motion by {self.eqs.by} cannot be integrated: {run.message}"
            )
        return np.asarray(self.to_motion(run.y[:, -1]), dtype=float).ravel(), min(times)

    def evaluate_microseconds(self) -> float:
        x = np.asarray(self.from_motion(*self.start()), dtype=float).ravel()
        tau, least = np.zeros(self.eqs.nv), np.inf
        for _ in range(20):
            begin = time.perf_counter()
            for _ in range(100):
                self.rates(x, tau, *[[0.0]] * len(self.time))
            least = min(least, time.perf_counter() - begin)
        return float(least / 100 * 1e6)

    def disagreement(self, reference: _Study, end: Floats) -> float:
        known = set(self.eqs.function_names())
        if not {_FORWARD, "mass_matrix"} <= known:
            return _relative(end, reference.integrated()[0])
        worst = 0.0
        rng = np.random.default_rng(1)
        drives = "required_forces" if self.eqs.names.constraints else "inverse_dynamics"
        for _ in range(5):
            state = self.state(rng, 1.0, 0.3 * len(self.time))
            forces = rng.uniform(-1, 1, self.eqs.nv)
            for name in (_FORWARD, drives):
                given = (*state, forces, *[0.3] * len(self.time))
                one, other = (_values(s.eqs.folded(name)(*given)) for s in (self, reference))
                worst = float(np.maximum(worst, _relative(one, other)))  # keeps NaN
        return worst

    def row(self, reference: _Study) -> Row:
        end, seconds = self.integrated()
        eqs = self.eqs
        module = formulation(eqs.by)
        states = self.tape.inputs[0].size
        equations = states if eqs.by == "hamilton" else states // 2
        if hasattr(module, "size"):
            equations, states = module.size(eqs.mechanism)
        return Row(
            by=eqs.by,
            equations=equations,
            states=states,
            operations=count_operations(self.tape),
            derive_seconds=self.derive_seconds,
            compile_seconds=self.compile_seconds,
            evaluate_microseconds=self.evaluate_microseconds(),
            integrate_seconds=seconds,
            disagreement=self.disagreement(reference, end),
        )


_FORWARD = "forward_dynamics"


def _values(result: Any) -> Floats:
    """Of a function's first output; a second one is the smallest pivot."""
    return np.asarray(result[0] if isinstance(result, tuple) else result, dtype=float).ravel()


def _relative(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max() / max(1e-300, np.abs(other).max()))
