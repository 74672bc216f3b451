"""Pushes between bounds: the conditions of the minimum, for rows that take part among others."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.integrators.push_solver import find_bounded_pushes
from linkwright.integrators.step_method import MotionSizes
from linkwright.simulation.exported_motion import ExportedMotion


@pytest.mark.parametrize("seed", range(20))
def test_pushes_meet_their_conditions(seed: int) -> None:
    """A x + b of the chosen rows has the sign that its bound allows; other rows do not push."""
    rng = np.random.default_rng(seed)
    n, rank = 12, int(rng.integers(3, 10))  # rows depend on each other
    R = rng.normal(size=(n, rank))
    A = R @ R.T
    b = R @ rng.normal(size=rank)  # so that a minimum exists
    chosen = (rng.random(n) < 0.6).astype(float)
    least = np.where(rng.random(n) < 0.5, 0.0, -rng.random(n))
    most = np.where(least == 0.0, np.inf, -least)
    slides = rng.random(n) < 0.2
    least, most = np.where(slides, 0.3, least), np.where(slides, 0.3, most)
    x, w = np.full(n, np.nan), np.full(n, np.nan)
    sizes = MotionSizes(
        states=1, parameters=1, signals=n, first_speed=0, end_speed=1, event_columns=n,
        event_capacity=1, first_hold=0,
    )  # fmt: skip
    find_bounded_pushes(
        sizes, chosen=chosen, responses=A.ravel(), bias=b, least=least, most=most,
        pushes=x, accelerations=w,
    )  # fmt: skip
    on = chosen > 0
    np.testing.assert_array_equal(x[~on], 0.0)
    np.testing.assert_allclose(w[on], (A @ x + b)[on], atol=1e-12)
    assert np.all((x >= least)[on])
    assert np.all((x <= most)[on])
    can_fall, can_rise = on & (x > least), on & (x < most)
    assert np.all(w[can_fall] <= 1e-9)
    assert np.all(w[can_rise] >= -1e-9)


def test_gaps_and_velocities_need_no_dynamics() -> None:
    """Far from events, and where roots of gaps are sought, no motion evaluates forces of rows."""
    six = lw.gallery("six-axis")
    rough = {name: joint.model_copy(update={"friction": 0.5}) for name, joint in six.joints.items()}
    motion = ExportedMotion(six.model_copy(update={"joints": rough}), (), stops="impact")
    assert len(motion.rows) >= 6
    assert len(motion.stop_margins) < len(motion.rates) / 3
    assert len(motion.stop_motions) < len(motion.rates) / 3
    assert len(motion.impact) < 1.3 * len(motion.rates)
