"""The mechanisms that come along: all of them work, and say what their papers say."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import NameNotFoundError

NAMES = [
    "3-rrr", "bicycle", "bouncing-ball", "bricard", "car", "cart-pole", "cartesian", "chain-6", "elbow", "five-bar",
    "four-bar", "n-four-bar", "puma560", "quadruped", "rattleback", "remote-elbow", "rolling-disk", "seven-axis",
    "sharp-edged-disk", "six-axis", "slider-crank", "slider-crank-sundials", "stanford",
    "stanford-rrp", "stewart", "stick-slip", "triple-pendulum", "triple-pendulum-points",
    "trolley-trailers", "two-arms",
    "vukobratovic-arm",
]  # fmt: skip
TREES = [name for name in NAMES if not (lw.gallery(name).loops or lw.gallery(name).constraints)]


def test_names() -> None:
    assert lw.gallery() == NAMES
    for wrong in (
        "elbw",
        "chain-0",
        "chain-x",
        "chain-9999",
        "../elbow",
        "n-four-bar-0",
        "n-four-bar-201",
    ):
        with pytest.raises(NameNotFoundError):
            lw.gallery(wrong)


@pytest.mark.parametrize("name", TREES)
def test_forward_undoes_inverse(name: str) -> None:
    model = lw.compile(lw.gallery(name))
    rng = np.random.default_rng(0)
    q = model.integrate(model.neutral(), rng.uniform(-1, 1, (20, model.nv)))
    v, a = rng.uniform(-1, 1, (2, 20, model.nv))
    tau = model.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau), a, atol=1e-10)
    assert (np.linalg.eigvalsh(model.mass_matrix(q)) > 0).all()


def test_only_the_puma_is_unphysical() -> None:
    assert [name for name in NAMES if lw.gallery(name).warnings] == ["puma560"]


def test_chains_of_any_length() -> None:
    model = lw.compile(lw.gallery("chain-3"))
    tip = model.placement("tool")([np.pi / 2, -np.pi / 2, 0])[:3, 3]
    np.testing.assert_allclose(tip, [2, 1, 0], atol=1e-15)


def test_windows_of_any_number() -> None:
    assert lw.gallery("n-four-bar-2").joints == lw.gallery("n-four-bar").joints
    row = lw.gallery("n-four-bar-40")
    assert (len(row.bodies), len(row.joints), len(row.loops)) == (81, 81, 40)


def test_windows_are_squares_in_one_plane() -> None:
    """Cranks of 1 m on ground, upright, 1 m apart, and couplers between their tips."""
    model = lw.compile(lw.gallery("n-four-bar-2"))
    for name, place in (("crank2", [2, 0, 0]), ("coupler2", [1, 1, 0])):
        found = model.placement(name)(model.home())[:3, 3]
        np.testing.assert_allclose(found, place, atol=1e-12)


def test_stanford_has_all_six_axes() -> None:
    arm = lw.gallery("stanford")
    kinds = [joint.type for joint in arm.joints.values()]
    assert kinds == ["revolute", "revolute", "prismatic", "revolute", "revolute", "revolute"]
