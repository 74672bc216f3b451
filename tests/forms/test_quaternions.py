"""Mechanisms with quaternions: which formulations derive them, and what the others say."""

from __future__ import annotations

import re

import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError

NEED_RATES = ("lagrange", "hamilton", "recurrent", "influence", "approximate")


def ball_pendulum(**joint: str) -> lw.Mechanism:
    """A body on a spherical joint."""
    body = {"mass": 2, "center": [0, 0, -0.5], "inertia": [0.3, 0.2, 0.25]}
    return lw.Mechanism.model_validate(
        {
            "name": "ball-pendulum",
            "bodies": {"bob": body},
            "joints": {"s": {"type": "spherical", "child": "bob", **joint}},
        }
    )


@pytest.mark.parametrize("by", NEED_RATES)
def test_need_of_rates_is_said_with_its_cure(by: str) -> None:
    """The message names the joint, the entry to write and formulations that take quaternions;
    each piece of advice works."""
    with pytest.raises(UnsupportedError) as refused:
        lw.derive(ball_pendulum(), by=by)
    text = str(refused.value)
    assert 'rotation = "cardan" in joints.s' in text
    advised = re.findall(r"'(recursive|newton_euler|kane)'", text)
    assert advised == ["recursive", "newton_euler", "kane"]
    for other in advised:
        assert lw.derive(ball_pendulum(), by=other).nq == 4
    assert lw.derive(ball_pendulum(rotation="cardan"), by=by).nq == 3
