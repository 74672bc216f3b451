"""Sums of lengths and coordinates that a mass matrix contains as squares and factors."""

from __future__ import annotations

import pytest

import linkwright as lw

BOOM = """
name = "boom"
gravity = [0, 0, -9.81]
[parameters]
m = 1.5
e = 0.1
a = 0.3
b = 0.2
c = 0.4
m2 = 3
[bodies.foot]
[bodies.turret]
mass = "m2"
center = ["c", 0, 0]
[bodies.tip]
mass = "m"
[joints.turn]
type = "revolute"
child = "foot"
[joints.tilt]
type = "revolute"
parent = "foot"
child = "turret"
axis = [0, -1, 0]
origin = [0, "e", 0]
[joints.reach]
type = "prismatic"
parent = "turret"
child = "tip"
axis = [1, 0, 0]
origin = ["a + b", 0, 0]
"""


@pytest.mark.parametrize(
    "entry",
    [
        "M[1,1] = (m + m2)*e^2 + (m*(a + b + reach)^2 + m2*c^2)*cos(tilt)^2",
        "M[1,2] = M[2,1] = (m*(a + b + reach) + m2*c)*e*sin(tilt)",
        "M[2,2] = m*(a + b + reach)^2 + m2*c^2",
    ],
)
def test_squares_and_factors_of_three_terms_are_found(entry: str) -> None:
    """By hand: a point mass at ρ = a + b + x from the axis of tilt, e beside it; m2 at c."""
    printed = str(lw.derive(lw.load(BOOM), by="lagrange").closed_form("M"))
    assert entry in printed.splitlines()


def test_a_length_that_a_sum_shares_is_taken_out_beside_other_terms() -> None:
    """The turret's product of inertia lacks e."""
    center = 'center = ["c", 0, 0]'
    inertia = "inertia = { xx = 0.01, yy = 0.05, zz = 0.05, xy = 0.003 }"
    skew = lw.load(BOOM.replace(center, f"{center}\n{inertia}"))
    printed = str(lw.derive(skew, by="lagrange").closed_form("M"))
    assert "m*e*(a + b + reach)" in printed
