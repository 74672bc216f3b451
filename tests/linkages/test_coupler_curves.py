"""Coupler curves against circles and against positions by hand."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.linkages.linkage_files import example
from tests.references.four_bar import FourBar


def test_curve_of_the_four_bar_by_hand() -> None:
    curve = lw.linkages.coupler_curve(example("four-bar"), ("coupler", (1.5, 1.0)), samples=13)
    bars = FourBar()
    for theta1, point in zip(curve.input_values.tolist(), curve.position, strict=True):
        t2 = bars.angles(theta1)[1]
        x = np.cos(theta1) + 1.5 * np.cos(t2) - np.sin(t2)
        y = np.sin(theta1) + 1.5 * np.sin(t2) + np.cos(t2)
        assert point == pytest.approx([x, y, 0.0], abs=1e-12)
    assert curve.is_closed


def test_crank_pin_draws_its_circle() -> None:
    """Length 2πa, curvature 1/a, speed a; acceleration toward the centre."""
    curve = lw.linkages.coupler_curve(example("slider-crank"), ("crank", (0.3, 0.0)), samples=25)
    assert curve.length == pytest.approx(2 * np.pi * 0.3, rel=1e-13)
    assert curve.curvature == pytest.approx(1 / 0.3, rel=1e-12)
    assert curve.acceleration == pytest.approx(-curve.position, abs=1e-13)


def test_length_converges_like_a_periodic_sum() -> None:
    """The trapezoidal rule over a cycle gains digits with each sample: 121 and 361 agree."""
    lengths = [
        lw.linkages.coupler_curve(example("four-bar"), "B", samples=n).length for n in (121, 241)
    ]
    swing = np.ptp(
        [np.pi - np.arccos((3.5**2 + 2.5**2 - r**2) / (2 * 3.5 * 2.5)) for r in (2.0, 4.0)]
    )
    assert lengths[1] == pytest.approx(2 * 2.5 * swing, rel=2e-4)  # |v| has corners at its zeros
    assert abs(lengths[1] / lengths[0] - 1) < 1e-3


def test_an_arc_is_open_and_a_spatial_linkage_has_curves() -> None:
    arc = lw.linkages.coupler_curve(example("four-bar"), "A", over=(0.0, 1.0), samples=5)
    assert not arc.is_closed
    assert arc.length == pytest.approx(1.0)
    assert "open curve of A" in str(arc)
    bricard = lw.linkages.coupler_curve(lw.gallery("bricard"), "rod3", over=(0.1, 0.3), samples=3)
    assert np.isfinite(bricard.position).all()


def test_wrong_points_are_refused() -> None:
    bars = example("four-bar")
    for point, words in (
        ("C", "no frame or body 'C'"),
        (("couplr", (1, 2)), "no body 'couplr'; did you mean 'coupler'"),
        (("coupler", (1, 2, 3, 4)), "has 4 coordinates"),
    ):
        with pytest.raises(lw.LinkwrightError, match=words):
            lw.linkages.coupler_curve(bars, point)
