"""Entries that printed sets write with indices, M[1,2], are read by the checker."""

from __future__ import annotations

import pytest

import linkwright as lw

RIGHT = """M[1,2] = M[2,1] = 1/2*m2*l1*l2*cos(theta1 - theta2)
C[1,2] = 1/2*m2*l1*l2*sin(theta1 - theta2)*dtheta2
g[2] = 1/2*m2*g*l2*cos(theta2)
J[2,1] = -l1*cos(theta1 - theta2)"""


def test_printed_entries_of_the_four_bar_are_proved() -> None:
    report = lw.check(lw.gallery("four-bar"), RIGHT)
    assert {x.status for x in report} == {"identical"}, str(report)


@pytest.mark.parametrize("line", RIGHT.splitlines())
def test_a_printed_entry_with_another_sign_differs(line: str) -> None:
    left, _, right = line.rpartition(" = ")
    report = lw.check(lw.gallery("four-bar"), f"{left} = -({right})")
    assert "differs" in {x.status for x in report}, str(report)


def test_an_entry_without_a_symbol_is_not_a_product() -> None:
    text = "g[1] = g[2] = 0\nf[1] = 0\nB[1,1] = 1\nPhi[1] = 0"
    statuses = [x.status for x in lw.check(lw.gallery("car"), text)]
    assert statuses == ["identical", "identical", "unreadable", "unreadable", "unreadable"]
