"""A plain integrator for short motions: Runge–Kutta of order 4, then projection onto the constraints.

It stands in for the simulator: every step ends where positions and speeds hold the constraints, by
Gauss–Newton steps of least length.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linkwright as lw

State = tuple[np.ndarray, np.ndarray]
Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


def integrate(
    model: lw.Model,
    q: np.ndarray,
    qd: np.ndarray,
    until: float,
    steps: int,
    *,
    start: float = 0.0,
    in_time: bool = False,
    torque: Torque | None = None,
) -> State:
    """The state at `until`; functions of a mechanism that depends on t are called with it."""
    assert model.nq == model.nv, "coordinates whose rates are the speeds"
    t, h = start, (until - start) / steps
    for step in range(steps):
        t = start + step * h
        q, qd = _runge_kutta(model, q, qd, t, h, in_time, torque)
        q, qd = project(model, q, qd, *((t + h,) if in_time else ()))
    return q, qd


def project(model: lw.Model, q: np.ndarray, qd: np.ndarray, *t: float) -> State:
    """The nearest state that holds the constraints; t where they depend on it."""
    for _ in range(20):
        phi = model.constraint_residual(q, *t)
        if np.abs(phi).max(initial=0.0) < 1e-14:
            break
        q = q - _least(model.constraint_jacobian(q, *t)[: len(phi)], phi)
    return q, qd - _least(model.constraint_jacobian(q, *t), model.constraint_velocity(q, qd, *t))


def _least(J: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The shortest x with J x = rest, rows that repeat others among them."""
    return np.linalg.lstsq(J, rest, rcond=1e-11)[0]


def _runge_kutta(
    model: lw.Model,
    q: np.ndarray,
    qd: np.ndarray,
    t: float,
    h: float,
    in_time: bool,
    torque: Torque | None,
) -> State:
    def slope(t: float, q: np.ndarray, v: np.ndarray) -> State:
        tau = np.zeros(model.nv) if torque is None else torque(t, q, v)
        return v, model.forward_dynamics(q, v, tau, *((t,) if in_time else ()))

    a = slope(t, q, qd)
    b = slope(t + h / 2, q + h / 2 * a[0], qd + h / 2 * a[1])
    c = slope(t + h / 2, q + h / 2 * b[0], qd + h / 2 * b[1])
    d = slope(t + h, q + h * c[0], qd + h * c[1])
    first, second = (w + 2 * x + 2 * y + z for w, x, y, z in zip(a, b, c, d, strict=True))
    return q + h / 6 * first, qd + h / 6 * second
