"""Instant centres: counts, geometry by hand, Kennedy's theorem, ratios of velocities."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import linkwright as lw
from tests.linkages.linkage_files import EXAMPLES, example
from tests.references.four_bar import FourBar


def cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def intersection(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Where the lines through p, q and through r, s meet."""
    x = cross(r - p, s - r) / cross(q - p, s - r)
    return p + x * (q - p)


def test_four_bar_by_hand() -> None:
    bars, theta1 = FourBar(), 1.0
    theta = bars.angles(theta1)
    O2, O4 = np.zeros(2), np.array([3.5, 0.0])
    A = np.array([np.cos(theta1), np.sin(theta1)])
    B = O4 + 2.5 * np.array([np.cos(theta[2]), np.sin(theta[2])])
    found = lw.linkages.instant_centers(example("four-bar"), {"theta1": theta1})
    assert len(found.centers) == 6
    expected = {
        ("ground", "crank"): O2,
        ("ground", "rocker"): O4,
        ("crank", "coupler"): A,
        ("coupler", "rocker"): B,
        ("ground", "coupler"): intersection(O2, A, O4, B),
        ("crank", "rocker"): intersection(O2, O4, A, B),
    }
    for links, point in expected.items():
        assert found.between(*links).point[:2] == pytest.approx(point, abs=1e-12), links
    ratio = bars.influence(theta)[0][2]
    I24 = found.between("crank", "rocker").point[0]
    by_centers = I24 / (I24 - 3.5)  # I12 I24 / I14 I24
    assert by_centers == pytest.approx(ratio)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", *EXAMPLES])
def test_three_centres_lie_on_a_line(name: str) -> None:
    """Kennedy: in homogeneous coordinates, with centres at infinity as directions."""
    found = lw.linkages.instant_centers(example(name))
    count = len(found.links)
    assert len(found.centers) == count * (count - 1) // 2
    places = {}
    for one in found.centers:
        at = [*one.direction[:2], 0.0] if one.kind == "infinity" else [*one.point[:2], 1.0]
        places[one.numbers] = np.array(at) / np.linalg.norm(at)
    for i, j, k in combinations(range(1, count + 1), 3):
        three = np.array([places[i, j], places[i, k], places[j, k]])
        assert abs(np.linalg.det(three)) < 1e-11, (i, j, k)


def test_translating_and_resting_links() -> None:
    """In a parallelogram coupler and ground translate, crank and rocker do not move relatively."""
    bars = lw.gallery("four-bar").with_parameters(l1=1.0, l2=3.0, l3=1.0, l4=3.0)
    found = lw.linkages.instant_centers(bars, {"theta1": 1.0, "theta2": 0.0, "theta3": 1.0})
    coupler, rocker = found.between("ground", "coupler"), found.between("crank", "rocker")
    assert coupler.kind == "infinity"
    assert abs(coupler.direction[:2] @ [-np.sin(1.0), np.cos(1.0)]) < 1e-12
    assert np.isnan(coupler.point).all()
    assert rocker.kind == "infinity"
    assert found.between("ground", "crank").kind == "pin"
    assert "at infinity along" in str(found)


def test_two_degrees_of_freedom_need_velocities() -> None:
    arm = lw.gallery("elbow")
    with pytest.raises(lw.LinkwrightError, match="2 degrees of freedom are left here"):
        lw.linkages.instant_centers(arm, [0.0, 0.0])
    found = lw.linkages.instant_centers(arm, [0.0, 0.0], [1.0, -3.0])
    assert found.between("ground", "link2").point == pytest.approx([1.5, 0, 0])
    resting = lw.linkages.instant_centers(arm, [0.3, 0.4], [1.0, 0.0])
    assert resting.between("link1", "link2").kind == "pin"
    with pytest.raises(lw.LinkwrightError, match="one link"):
        found.between("link1", "link1")


@pytest.mark.slow
def test_a_dead_centre_of_the_input_has_centres() -> None:
    """Where θ1 is at its limit, its rate is zero, and the others move."""
    bars = lw.gallery("four-bar").with_parameters(l1=2.0, l4=4.8)
    limit = lw.linkages.input_range(bars).limits[-1]
    found = lw.linkages.instant_centers(bars, limit.q)
    assert found.between("ground", "coupler").kind == "pole"
