"""Bearing forces against closed forms: a rotor out of balance, and cranks turned at a speed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.linkages import bearing_forces

GRAVITY = 9.81
ROTOR = """
name = "rotor"
gravity = [0, -9.81, 0]
[bodies.disk]
mass = 2.0
center = [0.1, 0, 0]
inertia = { zz = 0.3 }
[joints.q]
type = "revolute"
child = "disk"
"""


def test_a_rotor_out_of_balance_has_a_circle_as_polar_diagram(tmp_path: Path) -> None:
    """F = −m ω² r e(q) + m g up, and the torque that holds the weight: m g r cos q."""
    file = tmp_path / "rotor.toml"
    file.write_text(ROTOR)
    found = bearing_forces(lw.load(file), speed=20.0, samples=37)
    q = found.input_values
    inward = np.column_stack([np.cos(q), np.sin(q), 0 * q])
    wanted = -2.0 * 20.0**2 * 0.1 * inward + [0, 2.0 * GRAVITY, 0]
    np.testing.assert_allclose(found.force[:, 0], wanted, atol=1e-11 * np.abs(wanted).max())
    np.testing.assert_allclose(found.effort, 2.0 * GRAVITY * 0.1 * np.cos(q), atol=1e-11)
    assert found.largest_force["q"] == pytest.approx(80.0 + 2.0 * GRAVITY)
    assert str(found).endswith("q: 99.62 N at q = 270°")


@pytest.mark.parametrize(
    ("name", "mass", "reach"), [("four-bar", 1.0, 0.5), ("slider-crank", 1.2, 0.1)]
)
def test_the_crank_is_in_balance_with_its_inertia(name: str, mass: float, reach: float) -> None:
    """Ground on crank − crank on coupler + weight = m a, with a = −ω² r e(θ) of a turning crank."""
    speed = 7.0
    found = bearing_forces(lw.gallery(name), speed=speed, samples=25)
    turn = np.column_stack([np.cos(found.input_values), np.sin(found.input_values)])
    wanted = -mass * speed**2 * reach * turn
    left = found.force[:, 0, :2] - found.force[:, 1, :2] + [0, -mass * GRAVITY]
    np.testing.assert_allclose(left, wanted, atol=1e-9 * np.abs(found.force).max())
    assert found.names[-1] in lw.gallery(name).loops


def test_bearings_have_a_figure_and_a_dataset(tmp_path: Path) -> None:
    found = bearing_forces(lw.gallery("four-bar"), samples=19)
    assert found.data["bearing_force"].shape == (19, 4, 3)
    found.plot(tmp_path / "bearings.svg")
    assert (tmp_path / "bearings.svg").stat().st_size > 5000
    rows = found.largest_rows()
    assert [name for name, _, _ in rows] == list(found.names)
    assert "largest force" in found._repr_html_()


def test_what_has_no_cycle_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="between limits, where a constant speed"):
        bearing_forces(lw.gallery("four-bar"), "theta3")
