"""Agrawal (1988), the Stanford arm: (29)–(32) by every formulation. `test_printed_equations` has all."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.formulations import FORMULATIONS

ARM = lw.gallery("stanford-rrp")
EXACT = [by for by in FORMULATIONS if by != "approximate"]


def printed(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """T1, T2, F3 of (29)–(32)."""
    x = {name: float(number) for name, number in ARM.values.items()}
    m1, m2, m3, d2, g2 = (x[key] for key in ("m1", "m2", "m3", "d2", "g2"))
    k13, k21, k23, k31, k33 = (x[key] for key in ("k13", "k21", "k23", "k31", "k33"))
    S, C, s3 = np.sin(q[1]), np.cos(q[1]), q[2]
    F3 = m3 * (d2 * S * a[0] + a[2] - s3 * S**2 * v[0] ** 2 - s3 * v[1] ** 2)
    K = m3 * (k33**2 - k31**2 - s3**2)
    T2 = (m2 * k23**2 + m3 * s3**2 + m3 * k31**2) * a[1] + m3 * s3 * d2 * C * a[0]
    T2 += 2 * m3 * s3 * v[1] * v[2] + K * S * C * v[0] ** 2
    A1 = m1 * k13**2 + (m2 + m3) * d2**2 + m2 * (k21**2 + g2**2) + m3 * k33**2 * C**2
    A1 += m3 * s3**2 * S**2 - 2 * m2 * g2 * d2 + m3 * k31**2 * S**2
    T1 = A1 * a[0] + m3 * d2 * s3 * C * a[1] + m3 * d2 * S * a[2] - m3 * d2 * s3 * S * v[1] ** 2
    T1 += 2 * m3 * d2 * C * v[1] * v[2] - 2 * K * S * C * v[0] * v[1]
    T1 += 2 * m3 * s3 * S**2 * v[0] * v[2]
    return np.array([T1, T2, F3])


@pytest.mark.parametrize("by", EXACT)
def test_equations_of_motion(by: str) -> None:
    eqs = lw.derive(ARM, by=by, parameters="numeric")
    for q, v, a in np.random.default_rng(0).uniform(-1, 1, (5, 3, 3)):
        found = np.asarray(eqs.function("inverse_dynamics")(q, v, a)).ravel()
        np.testing.assert_allclose(found, printed(q, v, a), rtol=0, atol=1e-12)
