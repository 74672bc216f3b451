"""Joints by the vectors of Vukobratović and Potkonjak (1979), against their (5)–(9) in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import MechanismError

ANGLE = 0.7


def transition_matrix(
    e: np.ndarray, e_child: np.ndarray, r_parent: np.ndarray, r_child: np.ndarray, angle: float
) -> np.ndarray:
    """A_i of a joint on ground by (5)–(9): the axes of the member at q = 0, then each turned by
    Rodrigues' formula."""
    e, e_child = e / np.linalg.norm(e), e_child / np.linalg.norm(e_child)
    a = -np.cross(e, np.cross(r_parent, e))
    a_child = np.cross(e_child, np.cross(r_child, e_child))
    a, a_child = a / np.linalg.norm(a), a_child / np.linalg.norm(a_child)
    fixed = np.array([e, a, np.cross(e, a)]).T
    own = np.array([e_child, a_child, np.cross(e_child, a_child)]).T
    columns = [
        u * np.cos(angle) + (1 - np.cos(angle)) * (e @ u) * e + np.cross(e, u) * np.sin(angle)
        for u in (fixed @ np.linalg.inv(own)).T
    ]
    return np.array(columns).T


def member(kind: str, **vectors: object) -> lw.Mechanism:
    """One member on ground, with its centre of mass off its origin."""
    return lw.Mechanism(
        bodies={"member": {"mass": 2, "center": [0.1, -0.2, 0.3], "inertia": [0.1, 0.2, 0.25]}},
        joints={"q": {"type": kind, "child": "member", "vectors": vectors}},
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "turn-slide"])
def test_the_member_stands_where_5_to_9_place_it(kind: str) -> None:
    """A_i, and the centre of mass at −r_{i−1,i} + r_ii; a slide goes along e, or along r⁰_ii."""
    e, e_child, r_parent, r_child = np.random.default_rng(7).uniform(-1, 1, (4, 3)).round(3)
    arm = member(
        kind, e=list(e), e_child=list(e_child), r_parent=list(r_parent), r_child=list(r_child)
    )
    model, x = lw.compile(arm), 0.4
    q = {"revolute": [ANGLE], "prismatic": [x], "turn-slide": [ANGLE, x]}[kind]
    angle = 0.0 if kind == "prismatic" else ANGLE
    A = transition_matrix(e, e_child, r_parent, r_child, angle)
    along = {
        "revolute": A @ r_child,
        "prismatic": A @ r_child + x * e / np.linalg.norm(e),
        "turn-slide": x * A @ r_child / np.linalg.norm(r_child),
    }[kind]
    np.testing.assert_allclose(model.placement("member")(q)[:3, :3], A, atol=1e-14)
    np.testing.assert_allclose(model.center_of_mass(q), along - r_parent, atol=1e-14)


@pytest.mark.parametrize(
    ("r_parent", "r_child"),
    [([0, 0, 0], [1, 0, 0]), ([0, 1, 0], [0, 0, 3]), ([0, 0, 1], [0, 0, 1])],
)
def test_the_axes_coincide_at_zero_where_5_is_undefined(
    r_parent: list[float], r_child: list[float]
) -> None:
    arm = member("revolute", e=[0, 0, 2], r_parent=r_parent, r_child=r_child)
    place = lw.compile(arm).placement("member")([0.0])
    np.testing.assert_array_equal(place[:3, :3], np.eye(3))


def test_named_lengths_stay_symbols() -> None:
    """M = I + m l² of a rod about its end, whose length is a parameter."""
    arm = lw.Mechanism(
        parameters={"m": 2, "l": 0.6, "J": 0.1},
        bodies={"rod": {"mass": "m", "inertia": {"zz": "J"}}},
        joints={
            "q": {
                "type": "revolute",
                "child": "rod",
                "vectors": {"e": [0, 0, 1], "r_parent": [0, 0, 0], "r_child": ["l", 0, 0]},
            }
        },
    )
    assert lw.check(arm, "M11 = J + m*l^2").passed


@pytest.mark.parametrize(
    ("kind", "vectors", "message"),
    [
        ("revolute", {"e": [0, 0, 0]}, r"joints.q.vectors.e: is zero; give a direction"),
        ("universal", {}, "has no meaning for a universal joint"),
        ("revolute", {"r_child": ["length", 0, 0]}, r"joints.q.vectors.r_child: 'length' has no"),
        ("turn-slide", {"r_child": [0, 0, 1]}, r"r_child: is along e; use a cylindrical joint"),
        ("revolute", {"e": [0, 0]}, r"joints.q.vectors.e: has 2 numbers; give 3"),
    ],
)
def test_wrong_vectors_are_named(kind: str, vectors: dict[str, object], message: str) -> None:
    given = {"e": [0, 0, 1], "r_parent": [0, 0, 0], "r_child": [1, 0, 0]} | vectors
    with pytest.raises(MechanismError, match=message):
        member(kind, **given)


def test_frames_and_vectors_exclude_each_other() -> None:
    vectors = {"e": [0, 0, 1], "r_parent": [0, 0, 0], "r_child": [1, 0, 0]}
    with pytest.raises(MechanismError, match="has both vectors and axis"):
        lw.Mechanism(
            bodies={"a": {"mass": 1}},
            joints={"q": {"type": "revolute", "child": "a", "axis": [0, 0, 1], "vectors": vectors}},
        )
    for place, message in (
        ({"z": [0, 0, 1]}, "x: is missing; give both z and x"),
        ({"z": [0, 0, 1], "x": [1, 0, 0], "rpy": [0, 0, 1]}, "has both axes and rpy"),
        ({"z": [0, 0, 1], "x": [0, 0, 2]}, "x: is parallel to z; give another direction"),
    ):
        with pytest.raises(MechanismError, match=message):
            lw.Mechanism(
                bodies={"a": {"mass": 1}},
                joints={"q": {"type": "revolute", "child": "a", "origin": place}},
            )
