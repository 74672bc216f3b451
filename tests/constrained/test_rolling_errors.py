"""What goes wrong easily with mechanisms that roll and cut, each with its smallest example."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.mechanism import replace_part_fields
from tests.commands import ok
from tests.constrained.rolling_examples import EXAMPLES

FLAT = """
[bodies.wheel]
mass = 1
inertia = [1, 1, 1]
[joints.wheel]
type = "planar"
child = "wheel"
[constraints.roll]
type = "rolling"
wheel = "wheel"
radius = 0.3
"""


def test_car_is_derived_on_the_command_line() -> None:
    assert "car" in ok("derive", "car", "--by", "kane")


@pytest.mark.filterwarnings("ignore")
def test_wheel_that_can_only_lie_flat_is_refused() -> None:
    with pytest.raises(LinkwrightError):
        _ = lw.compile(lw.load(FLAT)).forward_dynamics


def test_disk_is_not_assembled_flat() -> None:
    with pytest.raises(LinkwrightError):
        lw.assemble(lw.gallery("rolling-disk"), values={"theta": np.pi / 2}, hold=["theta"])


def test_edge_against_its_own_body_is_refused() -> None:
    disk = lw.gallery("sharp-edged-disk")
    edge = replace_part_fields(disk.constraints["edge"], relative_to="R")
    whole = replace_part_fields(
        disk, ["independent"], constraints={**disk.constraints, "edge": edge}
    )
    with pytest.raises(LinkwrightError, match="edge"):
        lw.compile(whole)


def test_gears_with_crossed_axles_are_refused() -> None:
    planet = EXAMPLES["planet"]().mechanism
    crossed = replace_part_fields(planet.joints["planet"], axis=[1, 0, 0])
    with pytest.raises(LinkwrightError, match="parallel"):
        lw.compile(replace_part_fields(planet, joints={**planet.joints, "planet": crossed}))


def test_misspelt_wheel_is_found_where_it_stands() -> None:
    disk = lw.gallery("rolling-disk")
    rolling = replace_part_fields(disk.constraints["rolling"], wheel="dsik")
    with pytest.raises(LinkwrightError, match=r"rolling\.wheel"):
        replace_part_fields(disk, constraints={"rolling": rolling})


def test_mobility_of_gears_does_not_say_that_angles_are_free() -> None:
    assert "2 coordinates can take any value" not in str(
        lw.mobility(EXAMPLES["planet"]().mechanism)
    )
