"""Fixed steps, compiled whole: (q, q̇, τ, t) → (q, q̇) after `dt`, one state a SIMD lane.

An explicit method is a table of coefficients (Butcher's), run on y = (q, q̇) with q̇ → N(q) q̇ for
quaternions, which are brought back to length 1 after a step. The semi-implicit Euler method takes
the new speeds to move the positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..equations import Equations
from ..errors import UnsupportedError
from ..readings.llvm import compile_tape
from ..tape import Port, normalised, record, scheduled
from .inputs import expressions_of


@dataclass(frozen=True)
class Table:
    """Stages at times c with weights A of the slopes before, and weights b of the result."""

    c: tuple[float, ...]
    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


TABLES = {
    "euler": Table((0.0,), ((),), (1.0,)),
    "heun": Table((0.0, 1.0), ((), (1.0,)), (0.5, 0.5)),
    "rk4": Table((0.0, 0.5, 0.5, 1.0), ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
                 (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}  # fmt: skip
FIXED = (*TABLES, "semi-implicit")


def step_function(
    equations: Equations, method: str, drives: Mapping[str, Any] | None, threads: int | None
) -> Any:
    """The ufunc `(nq),(nv),(nv),(),()->(nq),(nv)` of (q, q̇, τ, t, dt)."""
    if equations.names.constraints:
        raise UnsupportedError(
            "fixed steps know no loops and constraints yet", where=equations.mechanism.name,
            remedy="use simulate with an adaptive integrator",
        )  # fmt: skip
    _refuse_events(equations)
    s, names = equations.symbols, equations.names
    dt = ca.SX.sym("dt")
    slope = _slope(equations, drives)
    q, qd, tau, t = (s[key] for key in ("q", "qd", "tau", "t"))
    after = _semi_implicit if method == "semi-implicit" else _explicit(TABLES[method])
    q_end, qd_end = after(slope, ca.vertcat(q, qd), tau, t, dt, names.nq)
    if names.nq != names.nv:
        (unit,) = equations.expressions("integrate")
        q_end = ca.substitute(
            unit, ca.vertcat(q, s["step"]), ca.vertcat(q_end, ca.SX.zeros(names.nv))
        )
    function = ca.Function(
        "step", [q, qd, tau, t, dt], ca.cse([q_end, qd_end]), ["q", "qd", "tau", "t", "dt"],
        ["q_end", "qd_end"],
    )  # fmt: skip
    inputs = [Port("q", (names.nq,)), Port("qd", (names.nv,)), Port("tau", (names.nv,)),
              Port("t", ()), Port("dt", ())]  # fmt: skip
    outputs = [Port("q_end", (names.nq,)), Port("qd_end", (names.nv,))]
    return compile_tape(scheduled(normalised(record(function, inputs, outputs))), threads=threads)


def _refuse_events(equations: Equations) -> None:
    """What only events of a simulation bring about is not left out in silence."""
    mechanism = equations.mechanism
    found = [(name, "rigid contact") for name, c in mechanism.contacts.items() if c.rigid]
    found += [
        (name, "friction by reaction") for name, joint in mechanism.joints.items()
        if "friction_coefficient" in joint.model_fields_set
    ]  # fmt: skip
    for name, what in found:
        raise UnsupportedError(
            f"fixed steps know no {what} ('{name}')", where=mechanism.name,
            remedy="use simulate, or without(\"contacts\", \"friction\")",
        )  # fmt: skip


Slope = Callable[[Any, Any, Any], Any]


def _slope(equations: Equations, drives: Mapping[str, Any] | None) -> Slope:
    """(y, τ, t) → ẏ; drives that are expressions add to τ."""
    s, names = equations.symbols, equations.names
    q, qd, tau, t = (s[key] for key in ("q", "qd", "tau", "t"))
    (qdd,) = equations.expressions("forward_dynamics")
    if drives:
        qdd = ca.substitute(qdd, tau, tau + expressions_of(equations, drives))
    rates = ca.Function("rates", [q, qd, tau, t], [ca.vertcat(equations.rates @ qd, qdd)])
    return lambda y, force, time: rates(y[: names.nq], y[names.nq :], force, time)


def _explicit(table: Table) -> Callable[..., tuple[Any, Any]]:
    def after(slope: Slope, y: Any, tau: Any, t: Any, dt: Any, nq: int) -> tuple[Any, Any]:
        slopes: list[Any] = []
        for c, row in zip(table.c, table.A, strict=True):
            stage = y + dt * sum((a * k for a, k in zip(row, slopes, strict=True) if a), ca.SX(0))
            slopes.append(slope(stage if row else y, tau, t + c * dt))
        total = sum((b * k for b, k in zip(table.b, slopes, strict=True)), ca.SX(0))
        end = y + dt * total
        return end[:nq], end[nq:]

    return after


def _semi_implicit(
    slope: Slope, y: Any, tau: Any, t: Any, dt: Any, nq: int
) -> tuple[Any, Any]:  # fmt: skip
    speeds = y[nq:] + dt * slope(y, tau, t)[nq:]
    moved = ca.vertcat(y[:nq], speeds)
    return y[:nq] + dt * slope(moved, tau, t)[:nq], speeds


def rollout(
    model: Any,
    q0: Any,
    qd0: Any,
    inputs: Any = None,
    dt: float = 1e-3,
    steps: int = 1000,
    *,
    method: str = "rk4",
    history: bool = False,
    threads: int | None = None,
) -> tuple[Any, Any]:
    """Many trajectories at once: (q, q̇) at the end, or with all steps as axis −2 (`history`).

    q0 (…, nq) and qd0 (…, nv) broadcast. `inputs`: nothing, forces (nv) or (…, nv), forces for
    every step and trajectory (…, steps, nv), or a table of expressions by speed or actuator
    ("2*sin(t) - q1").
    """
    if method not in FIXED:
        raise UnsupportedError(f"there is no method '{method}'", remedy=f"use {', '.join(FIXED)}")
    drives = inputs if isinstance(inputs, Mapping) else None
    step = step_function(model.equations, method, drives, threads)
    q, qd = np.asarray(q0, dtype=float), np.asarray(qd0, dtype=float)
    batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
    q = np.broadcast_to(q, (*batch, model.nq)).copy()
    qd = np.broadcast_to(qd, (*batch, model.nv)).copy()
    forces = np.zeros(model.nv) if inputs is None or drives else np.asarray(inputs, dtype=float)
    in_time = forces.ndim == len(batch) + 2
    kept = _histories(batch, steps, q, qd) if history else None
    other = np.empty_like(q), np.empty_like(qd)
    for k in range(steps):
        tau = forces[..., k, :] if in_time else forces
        step(q, qd, tau, k * dt, dt, out=other)
        (q, qd), other = other, (q, qd)
        if kept is not None:
            kept[0][..., k + 1, :], kept[1][..., k + 1, :] = q, qd
    return kept if kept is not None else (q, qd)


def _histories(batch: tuple[int, ...], steps: int, q: Any, qd: Any) -> tuple[Any, Any]:
    kept = tuple(np.empty((*batch, steps + 1, x.shape[-1])) for x in (q, qd))
    kept[0][..., 0, :], kept[1][..., 0, :] = q, qd
    return kept[0], kept[1]
