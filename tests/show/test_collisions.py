"""Distances of links along a motion, against geometry by hand."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.errors import LinkwrightError, NameNotFoundError
from linkwright.show.collision_search import drawn_segment_distance


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ([[0, 0, 0], [2, 0, 0]], [[1, -1, 0.7], [1, 1, 0.7]], 0.7),  # crossing, one above the other
        ([[0, 0, 0], [2, 0, 0]], [[0, 3, 0], [2, 3, 0]], 3.0),  # parallel
        ([[0, 0, 0], [2, 0, 0]], [[3, 0, 0], [5, 0, 0]], 1.0),  # on one line
        ([[0, 0, 0], [2, 0, 0]], [[5, 4, 0], [9, 9, 0]], 5.0),  # end to end: 3, 4, 5
        ([[0, 0, 0], [2, 0, 0]], [[1, 1, 0], [1, 5, 0]], 1.0),  # end over the middle
        ([[1, 1, 1], [1, 1, 1]], [[1, 1, 4], [1, 1, 4]], 3.0),  # points
        ([[0, 0, 0], [2, 0, 0]], [[1, 1, 0], [3, -1, 0]], 0.0),  # through its end
    ],
)
def test_distance_of_segments(
    first: list[list[float]], second: list[list[float]], distance: float
) -> None:
    a, b = np.array(first, dtype=float)[:, None], np.array(second, dtype=float)[:, None]
    for one, other in ((a, b), (b, a), (a[::-1], b)):
        np.testing.assert_allclose(drawn_segment_distance(*one, *other), distance, atol=1e-12)


def test_against_fine_sampling() -> None:
    """Random segments: the distance is that of 400 × 400 points on them, as near as these lie."""
    rng = np.random.default_rng(0)
    s = np.linspace(0, 1, 400)[:, None]
    for a, b, c, d in rng.normal(size=(20, 4, 3)):
        one, other = a + s * (b - a), c + s * (d - c)
        dense = np.linalg.norm(one[:, None] - other[None], axis=-1).min()
        exact = drawn_segment_distance(a[None], b[None], c[None], d[None])[0]
        assert exact <= dense + 1e-12
        assert dense - exact < 2e-3 * (1 + np.linalg.norm(b - a) + np.linalg.norm(d - c))


def test_a_chain_that_folds() -> None:
    """Links 1 and 3 stand upright on the ends of link 2, 1 m apart; folded on, their tips meet at
    an equilateral triangle, and thick links have met before."""
    chain, radius = lw.gallery("chain-3"), 0.1
    angles = np.radians(np.linspace(90, 120, 3001))
    q = np.column_stack([0 * angles, angles, angles])
    (found,) = show.clearances(chain, q, angles, radius)
    assert found.pair == ("link1", "link3")
    np.testing.assert_allclose(found.distance[0], 1 - 2 * radius, atol=1e-12)
    np.testing.assert_allclose(found.smallest, -2 * radius, atol=1e-9)
    np.testing.assert_allclose(found.time, np.radians(120))
    x, y = 1 + np.cos(angles) + np.cos(2 * angles), np.sin(angles) + np.sin(2 * angles)
    first = np.interp(0.0, 2 * radius - np.hypot(np.minimum(x, 0), y), angles)  # tip to foot
    ((begin, end),) = found.intervals
    np.testing.assert_allclose([begin, end], [first, np.radians(120)], atol=1e-6)
    assert found.touches
    assert "in each other" in str(found)


def test_along_a_run_with_obstacles() -> None:
    """A rod swings away from a peg: nearest is its tip, then the foot of the perpendicular."""
    run = lw.simulate(lw.gallery("chain-1"), t=0.5, samples=501)
    peg = {"peg": ((1.5, 0.0, -1.0), (1.5, 0.0, 1.0), 0.1)}
    (found,) = show.collisions(run, {"link1": 0.05}, obstacles=peg)
    q = run.q[:, 0]
    s = np.clip(1.5 * np.cos(q), 0, 1)
    distance = np.hypot(s * np.cos(q) - 1.5, s * np.sin(q))
    np.testing.assert_allclose(found.distance, distance - 0.15, atol=1e-12)
    assert (found.smallest, found.time) == pytest.approx((0.35, 0.0))
    assert found.intervals == []


def test_neighbours_and_ignored_pairs_are_left_out() -> None:
    chain = lw.gallery("chain-4")
    pairs = {found.pair for found in show.clearances(chain, [0.0, 1.0, 1.0, 1.0])}
    assert pairs == {("link1", "link3"), ("link2", "link4"), ("link1", "link4")}
    rest = show.clearances(chain, [0.0, 1.0, 1.0, 1.0], ignore=[("link3", "link1")])
    assert {found.pair for found in rest} == pairs - {("link1", "link3")}


def test_refusals() -> None:
    arm = lw.gallery("elbow")
    with pytest.raises(NameNotFoundError, match="unknown body 'link9'"):
        show.clearances(arm, [0.0, 0.0], radius={"link9": 1.0})
    with pytest.raises(LinkwrightError, match="radius"):
        show.clearances(arm, [0.0, 0.0], radius=-1.0)
    with pytest.raises(LinkwrightError, match="'wall' is not a capsule"):
        show.clearances(arm, [0.0, 0.0], obstacles={"wall": ((0, 0), (1, 1), 0.1)})
