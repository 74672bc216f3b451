"""Decimals that multiply moving quantities stay exact: derivatives do not round them."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw

BODY = {"mass": "m", "center": [0.5, 0, 0], "inertia": {"zz": "0.7*m*l^2"}}
SECOND = {"type": "revolute", "child": "follower", "origin": ["l", 0, 0]}


def geared(law: str | None, **more: Any) -> lw.Mechanism:
    return lw.Mechanism(
        name="geared",
        parameters={"m": 1, "l": 1, "g": 9.81},
        gravity=[0, "-g", 0],
        bodies={"driver": BODY, "follower": BODY},
        joints={"a": {"type": "revolute", "child": "driver"}, "b": SECOND},
        coordinates={"names": ["p"], "joints": {"a": "p", "b": law}} if law else None,
        **more,
    )


def test_squares_of_a_decimal_ratio_are_printed_as_they_are() -> None:
    form = lw.derive(geared("0.3*p")).closed_form("M")
    assert str(form) == "M[1,1] = m*(cx1^2 + 0.09*cx2^2 + 0.763*l^2)"


@pytest.mark.parametrize("by", ["lagrange", "kane", "influence", "hamilton"])
@pytest.mark.parametrize("law", ["0.3*p", "-p/7", "p + 0.3*sin(2*p)", "0.3*sin(2*p) + p^2/5"])
def test_printed_sets_with_a_decimal_law_are_proved(by: str, law: str) -> None:
    mechanism = geared(law)
    printed = lw.derive(mechanism, by=by).equation_set()
    report = lw.check(mechanism, f"[{by}]\n{printed}")
    assert [str(f.equation) for f in report if f.sentence().startswith("differs")] == []


def test_the_same_law_as_a_constraint_is_proved() -> None:
    law = {"type": "equation", "position": "b + a - 0.3*sin(a)"}
    mechanism = geared(None, constraints={"law": law})
    report = lw.check(mechanism, f"[kane]\n{lw.derive(mechanism, by='kane').equation_set()}")
    assert [str(f.equation) for f in report if f.sentence().startswith("differs")] == []
