"""Sweeps of eigenvalues over a quantity: its unit."""

from __future__ import annotations

import pytest

import linkwright as lw
from linkwright.linearization.motion_families import find_motion_family


@pytest.mark.parametrize(
    ("name", "unit"), [("v", "m/s"), ("wphi", "rad/s"), ("rR", "m"), ("q:phi", "rad"), ("mR", "")]
)
def test_the_unit_of_a_sweep_is_what_the_file_says(name: str, unit: str) -> None:
    """rR has a unit in the file, mR has none."""
    assert find_motion_family(lw.gallery("bicycle"), name, None, None, None).unit == unit
