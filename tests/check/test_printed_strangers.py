"""Printed sets of mechanisms whose names or forces meet symbols of the printed equations."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from tests.check.printed_equations import printed_text
from tests.check.proved_texts import pendulum, statuses
from tests.check.test_printed_sets import assert_all_proved


def rubbed_pendulum(others: dict[str, Any] | None = None, **changed: Any) -> lw.Mechanism:
    joint = {"type": "revolute", "child": "rod", "friction": 0.3, "smoothing": 0.8, **changed}
    return pendulum(**(others or {}), joints={"theta": joint})


def with_parameters(name: str, *added: str) -> lw.Mechanism:
    """A mechanism of the gallery with more parameters, which nothing uses."""
    mechanism = lw.gallery(name)
    both = {**mechanism.parameters, **dict.fromkeys(added, 0.3)}
    return lw.Mechanism(**{**mechanism.model_dump(exclude_unset=True), "parameters": both})


@pytest.mark.parametrize("by", ["lagrange", "hamilton", "newton_euler", "kane", "recurrent"])
def test_smooth_friction_is_proved(by: str) -> None:
    mechanism = rubbed_pendulum()
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


def test_wrong_smooth_friction_differs() -> None:
    right = "f[1] = -F_theta*tanh(dtheta/vs_theta)"
    wrong = ["tanh(2*dtheta/vs_theta)", "tanh(dtheta)", "sign(dtheta)", "tanh(-dtheta/vs_theta)"]
    assert statuses(rubbed_pendulum(), right) == ["identical"]
    for other in wrong:
        text = f"f[1] = -F_theta*{other}"
        assert statuses(rubbed_pendulum(), text) == ["differs"], text


def test_a_smoothing_velocity_of_zero_is_sharp() -> None:
    """The printed line is that of the mechanism's own value."""
    parameters = {"m": 1, "l": "1/2", "g": 9.81, "J": "1/12", "v": 0}
    mechanism = rubbed_pendulum({"parameters": parameters}, smoothing="v")
    assert "sign(dtheta)" in printed_text(mechanism, "lagrange")
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, "lagrange")))
    assert statuses(mechanism, "f[1] = -F_theta*tanh(dtheta)") == ["differs"]


@pytest.mark.parametrize(
    ("name", "by", "added"),
    [
        ("four-bar", "kane", ("b2", "b3")),  # accelerations at u̇ = 0 are then b_2, b_3
        ("four-bar", "influence", ("K11", "P111")),
        ("elbow", "newton_euler", ("x1", "y2")),  # centres of mass are then xc1, yc1, …
        ("elbow", "newton_euler", ("x1", "xc1")),
        ("elbow", "recurrent", ("M11", "bias2")),  # what W11 and V2 are in papers
    ],
)
def test_parameters_with_names_of_printed_symbols(name: str, by: str, added: tuple[str]) -> None:
    mechanism = with_parameters(name, *added)
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


@pytest.mark.parametrize("by", ["newton_euler", "approximate", "lagrange"])
def test_an_actuator_may_have_the_name_of_a_mass(by: str) -> None:
    """MJCF files call motors m1; a mass without a name then has another one."""
    mechanism = lw.Mechanism(
        name="driven",
        gravity=[0, -9.81, 0],
        bodies={"rod": {"mass": 2, "center": [0.3, 0, 0], "inertia": {"zz": 0.1}}},
        joints={"q": {"type": "revolute", "child": "rod"}},
        actuators={"m1": {"joint": "q", "gear": 20}},
    )
    assert "m1" not in lw.derive(mechanism).parameters
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))


def skew_arm(first: list[float] | None, second: list[float]) -> lw.Mechanism:
    """Two links whose joints turn about oblique axes; the first joint may be a ball."""
    turn = {"type": "revolute", "axis": first} if first else {"type": "spherical"}
    return lw.Mechanism(
        name="skew",
        gravity=[0, 0, "-g"],
        parameters={"g": 9.81, "L": 0.3},
        bodies={
            "a": {"mass": 1, "center": [0, 0, "L"], "inertia": [0.01, 0.02, 0.03]},
            "b": {"mass": 0.2, "center": [0.1, 0, 0], "inertia": [0.001, 0.001, 0.001]},
        },
        joints={
            "q1": {**turn, "child": "a"},
            "q2": {
                "type": "revolute", "axis": second, "parent": "a", "child": "b",
                "origin": [0, 0, "L"],
            },
        },
    )  # fmt: skip


@pytest.mark.parametrize("by", ["lagrange", "newton_euler", "kane", "recurrent", "approximate"])
@pytest.mark.parametrize("axes", [([1, 2, 2], [0, 1, 1]), ([1, 1, 1], [1, 2, -3])])
def test_oblique_axes_of_small_numbers_stay_numbers(by: str, axes: tuple[list[float], ...]) -> None:
    mechanism = skew_arm(*axes)
    text = printed_text(mechanism, by)
    assert "axis_" not in text
    assert "0.7" not in text
    assert_all_proved(lw.check(mechanism, text))


def test_lengths_of_oblique_axes_are_read_as_books_write_them() -> None:
    """By hand: J n = (I + m c²) n + (Izz − Iyy)/2 k with k = (0, −1, 1)/√2, and z = (n + k)/√2."""
    mechanism = skew_arm([0, 0, 1], [0, 1, 1])
    along = "m2*cx2^2 + (Iyy2 + Izz2)/2"
    entry = f"{along} - (Iyy2 - Izz2)/2*cos(q2)"
    assert statuses(mechanism, f"M22 = {along}") == ["identical"]
    assert statuses(mechanism, f"M12 = ({entry})/sqrt(2)") == ["identical"]
    for wrong in ("/sqrt(3)", "/2", "*sqrt(2)"):
        assert statuses(mechanism, f"M12 = ({entry}){wrong}") == ["differs"]


def test_an_oblique_axis_below_a_quaternion_is_proved() -> None:
    mechanism = skew_arm(None, [0, 1, 1])
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, "recursive")))


@pytest.mark.parametrize("by", ["lagrange", "newton_euler", "kane"])
@pytest.mark.parametrize("turn", [[1, 1, 1, 0], [2, 1, 0, -3], [0.5, 0.25, 0, 0]])
def test_quaternions_of_small_numbers_turn_by_fractions(by: str, turn: list[float]) -> None:
    """R has the entries of Rodrigues' formula over the squared length, for example 2/3."""
    mechanism = skew_arm([0, 0, 1], [0, 1, 0])
    joint = mechanism.joints["q2"]
    origin = {"xyz": joint.origin.xyz, "quaternion": turn}
    tilted = replace_part_fields(
        mechanism, joints={**mechanism.joints, "q2": replace_part_fields(joint, origin=origin)}
    )
    text = printed_text(tilted, by)
    assert "/" in text
    assert "0." not in text
    assert_all_proved(lw.check(tilted, text))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["kane", "influence"])
def test_roots_of_many_legs_exist_at_some_points(by: str) -> None:
    """Each computed leg has a root at half of the points; some lines of 3-rrr need six."""
    mechanism = lw.gallery("3-rrr")
    assert_all_proved(lw.check(mechanism, printed_text(mechanism, by)))
