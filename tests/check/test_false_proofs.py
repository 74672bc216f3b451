"""Verdicts that were once wrong, each by its cause: false proofs, false alarms, lost readings."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from tests.check.proved_texts import PROVED, is_proved, pendulum, statuses

# -- roots that the mechanism brings -------------------------------------------------------------


def test_the_height_of_a_leaning_disk_is_on_the_side_where_it_is_assembled() -> None:
    assert is_proved("rolling-disk", "z = r*cos(theta)")
    assert not is_proved("rolling-disk", "z = -r*cos(theta)")


def test_the_weight_of_a_leaning_disk_has_one_sign() -> None:
    assert is_proved("rolling-disk", "V = m*g*r*cos(theta)")
    assert not is_proved("rolling-disk", "V = -m*g*r*cos(theta)")
    assert is_proved("rolling-disk", "dz = -r*sin(theta)*dtheta")
    assert not is_proved("rolling-disk", "dz = r*sin(theta)*dtheta")


def test_the_name_of_the_lean_does_not_change_the_verdict() -> None:
    for word in ("theta", "lean"):
        said = {word: "theta"} if word != "theta" else {}
        assert is_proved("rolling-disk", f"z = r*cos({word})", said)
        assert not is_proved("rolling-disk", f"z = -r*cos({word})", said)


def test_one_wrong_equation_does_not_stop_the_others() -> None:
    text = "phi2 = m2*lc2*zeta*cos(q1 + q2)\nd22 = m2*lc2^2 + 2*I2\nd12 = d21"
    first, second, third = statuses("elbow", text)
    assert (second, third) == ("differs", "identical")
    assert first in PROVED


# -- repairs -------------------------------------------------------------------------------------

POLE = "(I + mp*l^2/4)*ddtheta + 1/2*mp*l*cos(theta)*ddx + 1/2*mp*g*l*sin(theta)"


@pytest.mark.parametrize(
    "text",
    [
        "1/12*mp*l^2*ddtheta + 1/2*mp*l*cos(theta)*ddx + 1/2*mp*g*l*sin(theta) - tau2 = 0",
        "tau2 = 1/12*mp*l^2*ddtheta + 1/2*mp*l*cos(theta)*ddx + 1/2*mp*g*l*sin(theta)",
    ],
)
def test_a_changed_coefficient_is_named_and_not_patched(text: str) -> None:
    (finding,) = lw.check(lw.gallery("cart-pole"), text)
    assert finding.status == "differs"
    assert "1/12" in finding.repairs[0].what
    assert "1/3" in finding.repairs[0].equation
    assert is_proved("cart-pole", finding.repairs[0].equation)


def test_a_lagrangian_with_a_total_derivative_is_equivalent() -> None:
    L = "1/2*(J + m*l^2)*dtheta^2 + m*g*l*cos(theta)"
    (finding,) = lw.check(pendulum(), f"L = {L} + m*l*cos(theta)*dtheta")
    assert finding.status == "equivalent"
    (finding,) = lw.check(pendulum(), f"L = {L} + m*l*cos(theta)*dtheta^2")
    assert finding.status == "differs"


# -- what 3,000 generated cases found ------------------------------------------------------------


def ball_on_a_slide() -> lw.Mechanism:
    return lw.Mechanism(
        name="ball", gravity=[0, 0, "-g"], parameters={"ms": 2, "m": 1, "c": "1/2", "A": 0.3, "g": 9.81},
        bodies={"slide": {"mass": "ms"}, "bob": {"mass": "m", "center": [0, 0, "-c"], "inertia": ["A", "A", "A"]}},
        joints={
            "b": {"type": "spherical", "parent": "slide", "child": "bob"},
            "h": {"type": "prismatic", "axis": [0, 0, 1], "child": "slide"},
        },
    )  # fmt: skip


def test_quaternions_have_length_one() -> None:
    arm = ball_on_a_slide()
    assert is_proved(arm, "b.qw^2 + b.qx^2 + b.qy^2 + b.qz^2 = 1")
    assert not is_proved(arm, "b.qw^2 + b.qx^2 + b.qy^2 + b.qz^2 = 2")


def test_a_derivative_beside_a_ball_joint_takes_its_own_column() -> None:
    arm = lw.Mechanism(
        name="ball", gravity=[0, 0, "-g"], parameters={"ms": 2, "m": 1, "c": "1/2", "g": 9.81},
        bodies={"bob": {"mass": "m", "center": [0, 0, "-c"], "inertia": [1, 1, 1]}, "slide": {"mass": "ms"}},
        joints={
            "b": {"type": "spherical", "child": "bob"},
            "h": {"type": "prismatic", "axis": [0, 0, 1], "child": "slide"},
        },
    )  # fmt: skip
    assert is_proved(arm, "V_h = ms*g")
    assert not is_proved(arm, "V_h = 0")


def test_derivatives_of_underactuated_mechanisms() -> None:
    arm = lw.Mechanism(
        name="acrobot", gravity=[0, "-g", 0], parameters={"m": 1, "l": 1, "g": 9.81},
        bodies={"a": {"mass": "m", "center": ["l", 0, 0]}, "b": {"mass": "m", "center": ["l", 0, 0]}},
        joints={
            "q1": {"type": "revolute", "child": "a"},
            "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": ["l", 0, 0]},
        },
        actuators={"u": {"moves": "q2"}},
    )  # fmt: skip
    assert is_proved(arm, "L_q1 = -m*g*l*(2*cos(q1) + cos(q1 + q2))")
    assert is_proved(arm, "dL_dq2 - L_q2 = u")
    assert is_proved(arm, "dL_dq1 = L_q1")
    assert not is_proved(arm, "dL_dq1 - L_q1 = u")


def test_a_leading_bracket_is_a_factor() -> None:
    text = r"(m_1 + m_2) \phi_2 = m_2 l_{c2} g \cos(q_1+q_2)"
    assert not is_proved("elbow", text)
    right = r"(m_c + m_p) \ddot x + \frac{1}{2} m_p l \cos(\theta) \ddot\theta - \frac{1}{2} m_p l \sin(\theta) \dot\theta^2 = \tau_1"  # fmt: skip
    assert is_proved("cart-pole", right)
    assert is_proved("elbow", r"(3) \phi_2 = m_2 l_{c2} g \cos(q_1+q_2)")
    assert is_proved("elbow", r"(6.4.18) \phi_2 = m_2 l_{c2} g \cos(q_1+q_2)")


def test_a_square_behind_brackets_belongs_to_the_brackets() -> None:
    arm = pendulum(bodies={"rod": {"mass": "m", "inertia": {"zz": "J"}}})
    assert is_proved(arm, r"T = \frac{1}{2} J (\dot\theta)^2")
    assert not is_proved(arm, r"T = \frac{1}{2} J^2 \dot\theta")


def test_what_one_friction_force_does_not_touch_is_decided() -> None:
    joints = {"theta": {"type": "revolute", "child": "rod", "friction": 0.2}}
    arm = pendulum(joints=joints)
    assert is_proved(arm, "V = -m*g*l*cos(theta)\nT = 1/2*(J + m*l^2)*dtheta^2\nx1 = l*sin(theta)")
    assert statuses(arm, "x1 = l*cos(theta)") == ["differs"]


def test_what_one_skew_angle_does_not_touch_is_decided() -> None:
    arm = lw.Mechanism(
        name="slope", gravity=[0, "-g", 0], parameters={"m": 1, "l": 1, "I": 0.1, "g": 9.81},
        bodies={
            "rod": {"mass": "m", "center": ["l*cos(pi/3)", "l*sin(pi/3)", 0], "inertia": {"zz": "I"}},
            "block": {"mass": "m", "inertia": {"zz": "I"}},
        },
        joints={
            "q1": {"type": "revolute", "child": "rod"},
            "s": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "origin": {"rpy": [0, 0, "60 deg"]}},
        },
        constraints={"bar": {"type": "distance", "between": ["rod", "block"], "length": "l"}},
        assembly={"s": 1},
    )  # fmt: skip
    right = "w1 = dq1\nds = 0\nM11 = I + m*l^2\nx2 = s/2"
    assert is_proved(arm, right)
    assert not is_proved(arm, "V2 = m*g*s/2")
    assert statuses(arm, "V2 = m*g*s*sqrt(3)/2") != ["differs"]
    assert statuses(arm, "w1 = 2*dq1\nM11 = I - m*l^2\nx2 = s") == ["differs"] * 3


def test_what_holds_for_open_loops_is_decided_where_they_cannot_be_closed() -> None:
    text = (
        "w1 = dq1\nV1 = m1*g*(1/2*l1*sin(q1) - R/2)\nw1 = 2*dq1\nV1 = m1*g*(1/2*l1*cos(q1) - R/2)"
    )
    assert statuses("3-rrr", text) == ["identical", "identical", "differs", "differs"]


def test_numbers_multiplied_out_are_recognised() -> None:
    arm = pendulum(parameters={"m": 2, "l": 1, "g": "9.81", "J": 1})
    assert is_proved(arm, "V = -19.62*cos(theta)")
    assert is_proved(arm, "tau = 3*ddtheta + 19.62*sin(theta)")
    assert not is_proved(arm, "tau = 3*ddtheta + 19.64*sin(theta)")
    assert is_proved("elbow", "phi2 = 4.905*cos(q1 + q2)")


def test_only_energies_are_free_up_to_a_constant() -> None:
    assert is_proved(pendulum(), "V = m*g*l*(1 - cos(theta))")
    assert not is_proved(pendulum(), "x1 = l*sin(theta) + l")
    assert not is_proved(pendulum(), "m = 5*l")
    assert not is_proved(pendulum(), "J = m*l^2/3 + 1")
    assert not is_proved(pendulum(), "V = m*g*l*(1 - cos(theta)) + theta")


# -- constants, Lagrangians and angles -----------------------------------------------------------


@pytest.mark.parametrize("names", [{}, {"V": "T"}], ids=["defined", "said"])
def test_a_letter_that_the_text_gives_another_meaning_is_no_energy(names: dict[str, str]) -> None:
    definition = "" if names else "V := T\n"
    assert statuses("elbow", f"{definition}V = T + 5", names)[-1] == "differs"


@pytest.mark.parametrize("constant", ["pi*m1", "m1*cos(l1)", "m1*sqrt(l1)", "m1*exp(l1)"])
def test_a_constant_of_an_energy_may_be_any_function_of_parameters(constant: str) -> None:
    assert statuses("elbow", f"V = V + {constant}") == ["equivalent"]
    assert "equivalent" not in statuses("elbow", f"V = V + {constant.replace('l1', 'q1')}*q1")


@pytest.mark.parametrize("length", ["l1", "l2", "l3", "l4"])
def test_a_constant_of_an_energy_may_have_a_length_that_closes_a_loop(length: str) -> None:
    assert statuses("four-bar", f"V = V + m2*g*{length}") == ["equivalent"]


def test_a_total_derivative_is_one_for_all_motions_and_under_constraints_too() -> None:
    """Of two pendulums one is not driven: twice its Lagrangian has the same motions."""
    mechanism = two_pendulums(actuators={"motor": {"moves": "a"}})
    own = {k: f"1/2*m*l^2*d{k}^2 + m*g*l*cos({k})" for k in "ab"}
    assert statuses(mechanism, f"L = {own['a']} + {own['b']}") == ["identical"]
    assert statuses(mechanism, f"L = {own['a']} + 2*({own['b']})") == ["differs"]
    assert statuses("four-bar", "L = L + theta1*dtheta1") == ["equivalent"]
    assert statuses("four-bar", "L = L + theta1*dtheta2") == ["differs"]


def two_pendulums(**changed: Any) -> lw.Mechanism:
    rod = {"mass": "m", "center": [0, "-l", 0]}
    return lw.Mechanism(
        name="two pendulums",
        gravity=[0, "-g", 0],
        parameters={"m": 1, "l": "1/2", "g": 9.81},
        bodies={"one": rod, "two": rod},
        joints={
            "a": {"type": "revolute", "child": "one"},
            "b": {"type": "revolute", "child": "two"},
        },
        **changed,
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("cos(2) = 2*cos(1)^2 - 1", "cos(2) = 2*cos(1)^2 + 1"),
        ("cos(q1*q2)^2 = (1 + cos(2*q1*q2))/2", "cos(q1*q2)^2 = (1 - cos(2*q1*q2))/2"),
        (
            "cos(l1*q1 + q2) = cos(l1*q1)*cos(q2) - sin(l1*q1)*sin(q2)",
            "cos(l1*q1 + q2) = cos(l1*q1)*cos(q2) + sin(l1*q1)*sin(q2)",
        ),
    ],
)
def test_angles_that_are_products_are_not_taken_for_independent(text: str, wrong: str) -> None:
    assert "differs" not in statuses("elbow", text)
    assert statuses("elbow", wrong) == ["differs"]


@pytest.mark.parametrize("term", ["ddq1^2", "tau1", "tau1^2*q2", "ddq1"])
def test_a_lagrangian_has_no_accelerations_and_no_forces(term: str) -> None:
    assert statuses("elbow", f"L = T - V + {term}") == ["differs"]
    assert not is_proved("four-bar", f"L = T - V + {term.replace('q', 'theta')}")


def test_an_equation_with_seven_roots_is_decided() -> None:
    roots = " + ".join(f"sqrt(l1 + {k})" for k in range(7))
    assert statuses("elbow", f"phi2 = {roots}") == ["differs"]


@pytest.mark.parametrize("right", ["m2*g", None, float("nan"), b"m2"])
def test_what_is_no_sympy_expression_is_refused_in_one_sentence(right: object) -> None:
    with pytest.raises(LinkwrightError):
        lw.check(lw.gallery("elbow"), {"phi2": right})


def test_a_condition_names_only_what_the_equation_depends_on() -> None:
    report = lw.check(lw.gallery("elbow"), "M22 = 1/3\nphi2 = 4.905*cos(q1 + q2)")
    said = [set(finding.under.split(", ")) for finding in report]
    assert said[0] == {"I2 = 1/12", "lc2 = 0.5", "m2 = 1"}
    assert said[1] == {"lc2 = 0.5", "m2 = 1", "g = 9.81"}
    (whole,) = lw.check(pendulum(), "tau = (1/12 + 1/4)*ddtheta + 4.905*sin(theta)")
    assert set(whole.under.split(", ")) == {"J = 1/12", "l = 0.5", "m = 1", "g = 9.81"}


# -- functions of the constraints, which are zero on every motion ------------------------------------
# The residuals of four-bar by hand: the pin of the coupler minus that of the rocker, in the axes of the
# coupler, whose direction is theta2. With e = (cos, sin), along = e(theta2)·(closing vector).

CLOSING = (
    "l4 + l3*cos(theta3) - l1*cos(theta1) - l2*cos(theta2)",
    "l3*sin(theta3) - l1*sin(theta1) - l2*sin(theta2)",
)
ALONG = f"cos(theta2)*({CLOSING[0]}) + sin(theta2)*({CLOSING[1]})"
ACROSS = f"cos(theta2)*({CLOSING[1]}) - sin(theta2)*({CLOSING[0]})"


@pytest.mark.parametrize(("name", "right"), [("f1", ALONG), ("f2", ACROSS)])
def test_a_residual_is_compared_where_the_loop_is_open(name: str, right: str) -> None:
    assert statuses("four-bar", f"{name} = {right}") == ["identical"]
    for wrong in (
        f"-({right})",
        f"2*({right})",
        f"{right} + l1*sin(theta1)*({ALONG})",
        "f3" if name == "f1" else "f1",
    ):
        assert not is_proved("four-bar", f"{name} = {wrong}"), wrong
    assert not is_proved("four-bar", f"{name} - l1*(1 - ({right})) + l1 = 0")


def test_a_residual_of_another_form_is_said_to_vanish_too() -> None:
    (finding,) = lw.check(lw.gallery("four-bar"), f"f1 = {CLOSING[0]}")
    assert finding.status == "differs"
    assert "vanish where the constraints hold" in finding.sentence()
    (finding,) = lw.check(lw.gallery("four-bar"), "f1 = l1*cos(theta1)")
    assert "vanish" not in finding.sentence()
    assert "f1 is the residual of constraint 1; write f[1]" in finding.sentence()


@pytest.mark.parametrize("text", ["f1 = 0", "0 = f2", "f1^2 + f2^2 = 0", f"{CLOSING[0]} = 0"])
def test_the_constraint_itself_is_still_proved(text: str) -> None:
    assert is_proved("four-bar", text)


def test_the_sign_of_a_residual_is_repaired_where_the_loop_is_open() -> None:
    (finding,) = lw.check(lw.gallery("four-bar"), f"f1 = {ALONG.replace('l3*sin', 'l1*sin')}")
    assert finding.status == "differs"
    (finding,) = lw.check(
        lw.gallery("four-bar"),
        "f1 = -l2 - l1*cos(theta1 - theta2) - l4*cos(theta2) + l3*cos(theta2 - theta3)",
    )
    assert "l4*cos(theta2)" in finding.repairs[0].what


def test_an_entry_of_the_jacobian_that_vanishes_when_closed_is_told_apart() -> None:
    # ∂f1/∂theta2 at fixed theta1, theta3 is ACROSS: zero where the loop is closed
    assert statuses("four-bar", f"J12 = {ACROSS} - l2*0") == ["identical"]
    (finding,) = lw.check(lw.gallery("four-bar"), f"J12 = -({ACROSS})")
    assert (finding.status, finding.note) == ("equivalent", "where the constraints hold")
    assert not is_proved("four-bar", "J11 = -l1*sin(theta1 - theta2)")
    assert is_proved("four-bar", "J11 = l1*sin(theta1 - theta2)")


# -- degenerate assumptions -----------------------------------------------------------------------


def test_damped_errors_are_not_assumed_undamped() -> None:
    """At γ = 0 the errors e = f + γ ḟ of velocity constraints vanish, with any factor."""
    line = "(m1 + m2)*ddq1 - m2*l*sin(q3)*ddq3 = Q2 + beta_s*sin({})*e2"
    disk = "sharp-edged-disk"
    assert statuses(disk, f"[approximate]\n{line.format('q3')}") == ["identical"]
    assert statuses(disk, f"[approximate]\n{line.format('q1')}") == ["differs"]


def test_the_closure_of_a_platform_s_leg_is_undecided_for_lack_of_exact_states() -> None:
    """A length and two angles of each leg follow by two roots, twelve in all."""
    leg = (
        "d1*sin(u1.2) = platform.x - rb*cos(beta) + rp*cos(platform.ry)"
        "*(cos(pi/3 - alpha)*cos(platform.rz) - sin(pi/3 - alpha)*sin(platform.rz))"
    )
    right, wrong = lw.check(lw.gallery("stewart"), f"{leg}\n{leg.replace('- rb', '+ rb')}")
    assert right.status == "undecided"
    assert right.note.startswith("its loops could not be closed exactly at random points")
    assert wrong.status == "differs"
