"""Singular positions of arms against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.motion import singular_positions


def test_a_planar_elbow_is_singular_where_it_is_straight_or_folded() -> None:
    found = singular_positions(lw.gallery("elbow"))
    assert found.directions == 2
    assert set(found.values) == {"q2"}
    np.testing.assert_allclose(found.values["q2"], [0.0, np.pi], atol=1e-6)
    assert not found.has_others


def test_the_puma_is_singular_at_its_elbow_and_at_its_wrist() -> None:
    """The elbow is stretched where the wrist, at a3 along and d4 across the forearm, lies on the
    line through shoulder and elbow: tan q3 = −d4/a3 (here a3 = 0.0203, d4 = 0.4318, standard
    Denavit-Hartenberg); the shoulder's singular positions depend on two angles."""
    found = singular_positions(lw.gallery("puma560"))
    stretched = -np.arctan2(0.4318, 0.0203)
    np.testing.assert_allclose(found.values["q3"], [stretched, stretched + np.pi], atol=1e-6)
    np.testing.assert_allclose(found.values["q5"], [0.0], atol=1e-6)
    assert set(found.values) == {"q3", "q5"}
    assert found.has_others
    assert "depend on several coordinates" in str(found)


def test_the_stanford_arm_is_singular_without_reach() -> None:
    """Its slide at 0 puts the wrist on the shoulder's axis."""
    found = singular_positions(lw.gallery("stanford"))
    np.testing.assert_allclose(found.values["q3"], [0.0], atol=1e-6)


def test_a_cartesian_arm_has_no_singular_position() -> None:
    found = singular_positions(lw.gallery("cartesian"))
    assert found.values == {}
    assert found.lines() == ["no singular positions were found"]


def test_loops_are_refused_with_what_treats_them() -> None:
    with pytest.raises(UnsupportedError, match="analyze_linkage"):
        singular_positions(lw.gallery("four-bar"))
