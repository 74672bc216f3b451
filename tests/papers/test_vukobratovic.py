"""Vukobratović and Potkonjak (1979): the gripper goes straight up at 2 m/s² for one second."""

from __future__ import annotations

import numpy as np

import linkwright as lw
from linkwright.formulations.recurrent import at_instant


def test_the_example() -> None:
    """Drives of the recurrent method, instant by instant; then accelerations back from these."""
    arm = lw.gallery("vukobratovic-arm")
    model = lw.compile(arm)
    place, jacobian, drift = (
        getattr(model, name)("gripper")
        for name in ("placement", "jacobian", "frame_bias_acceleration")
    )
    q, v = np.array([np.pi, -np.pi / 2, -np.pi / 2]), np.zeros(3)
    start, h, drives = place(q)[:3, 3], 1e-3, []
    for _ in range(1000):
        J = jacobian(q)[3:]
        a = np.linalg.solve(J, np.array([0, 0, 2.0]) - drift(q, v)[3:])
        W, V = at_instant(arm, q, v) if not len(drives) % 100 else (None, None)
        P = model.inverse_dynamics(q, v, a)
        if W is not None and V is not None:
            np.testing.assert_allclose(W @ a - V, P, atol=1e-9 * abs(P).max())
            np.testing.assert_allclose(np.linalg.solve(W, P + V), a, atol=1e-8)
        drives.append(P)
        middle_q, middle_v = q + h / 2 * v, v + h / 2 * a
        J = jacobian(middle_q)[3:]
        a = np.linalg.solve(J, np.array([0, 0, 2.0]) - drift(middle_q, middle_v)[3:])
        q, v = q + h * middle_v, v + h * a
    np.testing.assert_allclose(place(q)[:3, 3] - start, [0, 0, 1], atol=1e-5)
    assert np.abs(np.array(drives)[:, 0]).max() < 1e-9, "nothing turns the column"
