"""Assembly with quaternions: what is held stays, and what is returned is a configuration."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError

ROD = {"mass": 1, "center": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1]}


def pinned(**loop: object) -> lw.Mechanism:
    """A rod on a ball and a free one that is pinned to its tip."""
    return lw.Mechanism(
        bodies={"a": ROD, "b": ROD},
        joints={"j": {"type": "spherical", "child": "a"}, "f": {"type": "free", "child": "b"}},
        loops={"pin": {"type": "spherical", "parent": "a", "child": "b", "origin": [1, 0, 0], **loop}},
    )  # fmt: skip


def test_a_position_that_is_held_stays_or_is_refused() -> None:
    """Speeds of a free joint are along its body's axes, so x has none of its own once it is turned."""
    turned = {"f.x": 0.7, "f.qw": 0.7, "f.qz": 0.7, "j.qy": 0.3}
    try:
        q = lw.assemble(pinned(), values=turned, hold=["f.x"])
    except LinkwrightError:
        return
    assert q[4] == 0.7


@pytest.mark.parametrize(
    "rough", [{"f.qw": 0.0}, {"j.qw": 0.0, "f.x": 1.0}, {"f.x": 1.0, "f.qw": 2.0}]
)
def test_quaternions_are_returned_with_length_one_or_refused(rough: dict[str, float]) -> None:
    try:
        q = lw.assemble(pinned(), values=rough)
    except LinkwrightError:
        return
    np.testing.assert_allclose([np.linalg.norm(q[:4]), np.linalg.norm(q[7:])], 1, atol=1e-12)


def test_a_loop_has_no_form_of_rotation() -> None:
    with pytest.raises(LinkwrightError, match="rotation"):
        pinned(rotation="cardan")


def test_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(LinkwrightError):
        lw.assemble(pinned(), values={"f.x": "a"})  # type: ignore[dict-item]
