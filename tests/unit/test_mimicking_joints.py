"""Joints that follow others: the leader must have exactly one coordinate."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import MechanismError


def pair(**leader: Any) -> lw.Mechanism:
    return lw.Mechanism(
        name="pair",
        bodies={"a": {"mass": 1, "inertia": [1, 1, 1]}, "b": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={
            "x": {"type": "revolute", "child": "a", **leader},
            "y": {"type": "revolute", "child": "b", "parent": "a", "mimic": {"joint": "x"}},
        },
    )


@pytest.mark.parametrize("leader", [{"type": "cylindrical"}, {"locked": "0.3"}])
def test_a_leader_has_exactly_one_coordinate(leader: dict[str, Any]) -> None:
    with pytest.raises(MechanismError, match="'x' does not have exactly one coordinate"):
        pair(**leader)


def test_a_follower_has_no_coordinate_of_its_own() -> None:
    assert list(lw.compile(pair()).q_names) == ["x"]
