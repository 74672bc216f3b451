"""Symbols and numbers: whatever stays a symbol, its value gives what the number gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.quantities import SIGNATURES
from tests.random_trees import KINDS, RandomTree, trees

CHEAP = [
    name for name in SIGNATURES if "derivatives" not in name and "regressor" not in name
]  # fmt: skip
WITH_AXES = [kind for kind in KINDS if kind not in ("ball", "free", "free-cardan", "cardan")]


def values(eqs: lw.Equations, name: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    function = eqs.function_at_values(name)
    q = np.asarray(eqs.function_at_values("integrate")(eqs.neutral, rng.uniform(-1, 1, eqs.nv)))
    inputs = [
        q if function.name_in(i) in ("q", "q1") else rng.uniform(-1, 1, function.size_in(i))
        for i in range(function.n_in())
    ]
    results = function.call(inputs)
    return np.concatenate([np.asarray(result, dtype=float).ravel() for result in results])


def assert_the_same(mechanism: lw.Mechanism, **parameters: object) -> None:
    one = lw.derive(mechanism, parameters="numeric")
    other = lw.derive(mechanism, **parameters)  # type: ignore[arg-type]
    for name in CHEAP:
        wanted = values(one, name, 1)
        scale = max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(
            values(other, name, 1), wanted, rtol=0, atol=1e-9 * scale, err_msg=name
        )


@settings(max_examples=15, deadline=None)
@given(trees(max_bodies=4))
def test_symbolic_and_numeric_derivations_are_one(tree: RandomTree) -> None:
    assert_the_same(tree.mechanism, parameters="symbolic")


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(trees(max_bodies=3, kinds=WITH_AXES), st.integers(0, 100))
def test_locked_and_mimicking_joints_too(tree: RandomTree, seed: int) -> None:
    """One joint locked, and two more at the end of which one follows the other."""
    rng = np.random.default_rng(seed)
    mechanism = tree.mechanism
    name, joint = next((n, j) for n, j in mechanism.joints.items() if j.dofs)
    held = rng.uniform(-1, 1, len(joint.coordinates)).round(3).tolist()
    last = list(mechanism.bodies)[-1]
    body = {"mass": 1.5, "center": [0.1, 0.2, 0.3], "inertia": [0.2, 0.3, 0.4]}
    quaternion = rng.uniform(-1, 1, 4).round(3).tolist()
    more = {
        "leader": {
            "type": "revolute", "parent": last, "child": "one", "axis": [0.3, 1, 0.2],
            "origin": {"xyz": [0.1, 0, 0.2], "quaternion": quaternion},
        },
        "follower": {
            "type": "prismatic", "parent": "one", "child": "two", "axis": [1, 0, 0.5],
            "mimic": {"joint": "leader", "multiplier": -1.7, "offset": 0.3},
        },
    }  # fmt: skip
    changed = lw.Mechanism(
        name="more",
        gravity=mechanism.gravity,
        bodies={**mechanism.bodies, "one": body, "two": body},
        joints={**mechanism.reduced({name: held if len(held) > 1 else held[0]}).joints, **more},
    )
    assert_the_same(changed, parameters="symbolic")


NAMES_THAT_MEET = [
    # a frame and a joint of one name; a joint called like another's child
    {
        "bodies": {"a": {"mass": 1}, "b": {"mass": 2, "center": [0.3, 0, 0]}},
        "joints": {
            "j": {"type": "revolute", "child": "a", "origin": [0.5, 0, 0], "child_origin": [0.2, 0.1, 0]},
            "j_child": {"type": "revolute", "parent": "a", "child": "b", "origin": [0.7, 0.3, 0.2]},
        },
        "frames": {"j": {"body": "b", "origin": [0.9, 0.8, 0.7]}},
    },
    # freedoms whose names meet; parameters named as numbers would be
    {
        "parameters": {"m_a": 3, "m_a_2": 5, "n_1_3": 0.7},
        "bodies": {"a": {"mass": 7, "center": ["m_a/100", "m_a_2/100", "n_1_3/3"]},
                   "b": {"mass": 2, "inertia": [0.1, 0.2, 0.25]}},
        "joints": {
            "j": {"type": "cylindrical", "child": "a", "damping": [0.3, 0.4], "axis": [1, 2, 3]},
            "j_phi": {"type": "revolute", "parent": "a", "child": "b", "damping": 0.9, "axis": [0, 1, 0]},
        },
    },
]  # fmt: skip


@pytest.mark.parametrize("fields", NAMES_THAT_MEET)
def test_numbers_keep_apart_whatever_they_are_called(fields: dict) -> None:
    assert_the_same(lw.Mechanism(**fields), parameters="symbolic")


KEPT = {
    "axis": {"type": "revolute", "axis": ["sin(k)", 0, "cos(k)"]},
    "sign": {"type": "revolute", "axis": [0, 0, "k+1"]},
    "one entry": {"type": "prismatic", "axis": ["k", 0, 1]},
    "second axis": {"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, "k"]},
    "plane": {"type": "planar", "axis": ["k", 0, 1], "axis2": [1, "k", 0]},
    "locked ball": {"type": "spherical", "locked": ["1-k", "k", 0, 0]},
    "locked": {"type": "cylindrical", "locked": ["k", "2*k"], "axis": [0, 1, 1]},
    "smoothing": {"type": "revolute", "friction": 0.8, "smoothing": "k"},
    "origin": {"type": "revolute", "origin": {"rpy": ["k", 0, 0], "xyz": [0, 0, "k"]}},
    "mass": {"type": "revolute"},
}


@pytest.mark.parametrize("joint", list(KEPT))
@pytest.mark.parametrize("value", [0.0, 0.4, -1.6])
def test_a_kept_parameter_can_take_any_value(joint: str, value: float) -> None:
    """Kept as an input at k, or written into the mechanism: the same."""
    if joint == "smoothing" and value < 0:
        pytest.skip("negative")

    def arm(k: float) -> lw.Mechanism:
        body = {"mass": 2, "center": [0.3, 0.1, 0.2], "inertia": [0.3, 0.4, 0.5]}
        return lw.Mechanism(
            parameters={"k": k},
            bodies={"a": body | {"mass": "k^2"} if joint == "mass" else body, "b": body},
            joints={
                "q": {"child": "a"} | KEPT[joint],
                "q_last": {"type": "revolute", "parent": "a", "child": "b", "axis": [0.1, 1, 0]},
            },
        )

    for nominal in (0.0, 1.0):
        kept = lw.derive(arm(nominal), parameters=["k"])
        fixed = lw.derive(arm(value), parameters="numeric")
        rng = np.random.default_rng(0)
        q, v, a = rng.uniform(-1, 1, (3, fixed.nv))
        wanted = np.asarray(fixed.function("inverse_dynamics")(q, v, a))
        found = np.asarray(kept.function("inverse_dynamics")(q, v, a, value))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9, err_msg=joint)


def test_a_number_that_is_one_can_be_kept() -> None:
    arm = lw.Mechanism(
        bodies={"a": {"mass": 1, "center": [0.5, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "a", "axis": [0, 1, 0]}},
    )
    model = lw.compile(arm, parameters=["m1"])
    np.testing.assert_allclose(model.gravity([0.0], [3.0]), 3 * model.gravity([0.0], [1.0]))


def test_sharp_and_smooth_friction_with_a_symbol() -> None:
    arm = lw.Mechanism(
        parameters={"vs": 0},
        bodies={"a": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={"q": {"type": "revolute", "child": "a", "friction": 2, "smoothing": "vs"}},
    )
    model = lw.compile(arm, parameters=["vs"])
    speeds = np.array([[-1.0], [0.0], [1.0]])
    np.testing.assert_array_equal(model.passive([0.0], speeds, [0.0]), [[2.0], [0.0], [-2.0]])
    np.testing.assert_allclose(
        model.passive([0.0], speeds, [0.5]), -2 * np.tanh(speeds / 0.5), rtol=1e-12
    )
