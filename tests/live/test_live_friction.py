"""Dry friction on live pages: it is smoothed as sharply as a page can afford, and said."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node

BLOCKS = """
name = "blocks"
[bodies.heavy]
mass = 5.0
[bodies.light]
mass = 0.001
[joints.x]
type = "prismatic"
child = "heavy"
axis = [1, 0, 0]
friction = 1.0
[joints.y]
type = "prismatic"
child = "light"
axis = [0, 1, 0]
friction = 1.0
"""


@needs_node
def test_light_bodies_slow_down_by_friction_that_sets_in_later() -> None:
    """m v̇ = -F tanh(v/v₀) has the solution sinh(v/v₀) = sinh(v₁/v₀) exp(-F t/(m v₀))."""
    scene = lw.live.scene(lw.load(BLOCKS))
    (note,) = scene.notes
    assert "smoothed at 0.005 to 0.025 m/s" in note
    start, end = 0.02, 5e-5
    found = run_modules(
        "state simulation",
        STATE + f"state.qd.fill({start}); simulation.advance({end}); return state.qd",
        scene,
    )
    for speed, mass, sharp in zip(found, (5.0, 0.001), (0.005, 0.025), strict=True):
        decay = np.exp(-end / (mass * sharp))
        assert speed == pytest.approx(sharp * np.arcsinh(np.sinh(start / sharp) * decay), rel=1e-8)
        assert 1 / (mass * sharp) <= 80_000 / 2


def test_friction_by_a_reaction_is_shown_without_motion() -> None:
    """It cannot be smoothed: the page has the picture, and says why nothing runs."""
    text = (
        BLOCKS.split("[bodies.light]")[0]
        + """
    [joints.x]
    type = "prismatic"
    child = "heavy"
    axis = [1, 0, 0]
    friction_coefficient = 0.3
    """
    )
    scene = lw.live.scene(lw.load(text))
    assert "cannot simulate" in scene.notes[0]
    assert "rates" not in scene.data["table"]["functions"]  # type: ignore[index]
