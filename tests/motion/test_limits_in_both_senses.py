"""Limits of velocity and effort hold for motions in the negative sense as well: times by hand."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.motion import Trajectory, at_limits, bounds_of, quintic
from linkwright.motion.coordinate_bounds import trajectory_range_violations
from linkwright.motion.timing import limit_violations, peak_rates_and_efforts

WAY = 1.5
PEAK_VELOCITY = 15 / 8
PEAK_ACCELERATION = 10 / np.sqrt(3)
"""Of the quintic, for a way of 1 in a time of 1."""


def slider(**limits: float) -> lw.Mechanism:
    """2 kg, without weight and friction."""
    return lw.Mechanism(
        name="slider", gravity=[0, 0, 0], bodies={"b": {"mass": 2}},
        joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "b", "limits": limits}},
    )  # fmt: skip


def way(sense: int, duration: float = 1.0) -> Trajectory:
    return quintic([0.2], [0.2 + sense * WAY], duration)


@pytest.mark.parametrize("sense", [1, -1])
def test_the_shortest_time_by_velocity(sense: int) -> None:
    found = at_limits(slider(velocity=0.6), way(sense))
    assert found.duration == pytest.approx(PEAK_VELOCITY * WAY / 0.6, rel=1e-9)
    low, high = found.extremes(1)
    assert max(-low[0], high[0]) == pytest.approx(0.6, rel=1e-9)


@pytest.mark.parametrize("sense", [1, -1])
def test_the_shortest_time_by_effort(sense: int) -> None:
    """One sense starts, the other one stops with the largest force: 2 kg times the acceleration."""
    found = at_limits(slider(effort=5.0), way(sense), samples=4001)
    assert found.duration == pytest.approx(np.sqrt(2 * PEAK_ACCELERATION * WAY / 5), rel=1e-6)


@pytest.mark.parametrize("sense", [1, -1])
def test_peaks_are_sizes(sense: int) -> None:
    velocity, acceleration, effort = peak_rates_and_efforts(slider(), way(sense, 2.0))
    assert velocity[0] == pytest.approx(PEAK_VELOCITY * WAY / 2, rel=1e-9)
    assert acceleration[0] == pytest.approx(PEAK_ACCELERATION * WAY / 4, rel=1e-9)
    assert effort[0] == pytest.approx(2 * PEAK_ACCELERATION * WAY / 4, rel=1e-4)


@pytest.mark.parametrize("sense", [1, -1])
def test_violations_are_told_in_both_senses(sense: int) -> None:
    top = PEAK_VELOCITY * WAY
    assert limit_violations(slider(velocity=top * 1.001), way(sense)) == ()
    (told,) = limit_violations(slider(velocity=top * 0.99), way(sense))
    assert "the speed of x is up to 2.8125" in told
    force = 2 * PEAK_ACCELERATION * WAY
    assert limit_violations(slider(effort=force * 1.001), way(sense)) == ()
    (told,) = limit_violations(slider(effort=force * 0.99), way(sense))
    assert "the drive of x is up to 17.3" in told


def test_ranges_are_told_at_both_ends() -> None:
    """From 0.2 by 1.5 either way."""
    limits = {"lower": -1.31, "upper": 1.71}
    assert limit_violations(slider(**limits), way(1)) == ()
    assert limit_violations(slider(**limits), way(-1)) == ()
    (told,) = limit_violations(slider(lower=-1.29, upper=2.0), way(-1))
    assert told == "x goes from -1.3 to 0.2, its range is -1.29 to 2"
    (told,) = limit_violations(slider(lower=-2.0, upper=1.69), way(1))
    assert told == "x goes from 0.2 to 1.7, its range is -2 to 1.69"


@pytest.mark.parametrize("beyond", [1e-3, 1e-6, 1e-12, 0.0])
def test_ranges_are_exact_but_for_rounding(beyond: float) -> None:
    """A motion from 0.2 to 1.7 in a range that ends a little before either end."""
    for limits in ({"lower": 0.2 + beyond}, {"upper": 1.7 - beyond}):
        told = trajectory_range_violations(slider(**limits), way(1))
        assert len(told) == (1 if beyond > 1e-9 else 0)


def test_a_follower_narrows_the_range_of_its_leader() -> None:
    """y = −2 x + 0.5 within −1.5 … 2.5 and 3 m/s means x within −1 … 1 and 1.5 m/s."""
    pair = lw.Mechanism(
        name="pair", bodies={"b": {"mass": 2}, "c": {"mass": 1}},
        joints={
            "x": {"type": "prismatic", "child": "b", "limits": {"lower": -5, "upper": 0.8,
                                                                "velocity": 4}},
            "y": {"type": "prismatic", "child": "c", "limits": {"lower": -1.5, "upper": 2.5,
                                                                "velocity": 3},
                  "mimic": {"joint": "x", "multiplier": -2, "offset": 0.5}},
        },
    )  # fmt: skip
    bounds = bounds_of(pair)
    assert bounds.lower.tolist() == [-1.0]
    assert bounds.upper.tolist() == [0.8]
    assert bounds.velocity.tolist() == [1.5]
