"""Texts and whether they are proved, and the pendulum that several tests check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import linkwright as lw
from linkwright.errors import LinkwrightError

PROVED = ("identical", "equivalent")


def statuses(
    name: str | lw.Mechanism, text: str, names: Mapping[str, str] | None = None
) -> list[str]:
    mechanism = lw.gallery(name) if isinstance(name, str) else name
    return [finding.status for finding in lw.check(mechanism, text, names=names)]


def is_proved(name: str | lw.Mechanism, text: str, names: Mapping[str, str] | None = None) -> bool:
    """Whether all of it is proved; what cannot be read is not."""
    try:
        return all(x in (*PROVED, "definition") for x in statuses(name, text, names))
    except LinkwrightError:
        return False


def pendulum(**changed: Any) -> lw.Mechanism:
    said: dict[str, Any] = {
        "name": "pendulum",
        "gravity": [0, "-g", 0],
        "parameters": {"m": 1, "l": "1/2", "g": 9.81, "J": "1/12"},
        "bodies": {"rod": {"mass": "m", "center": [0, "-l", 0], "inertia": {"zz": "J"}}},
        "joints": {"theta": {"type": "revolute", "child": "rod"}},
    }
    return lw.Mechanism(**{**said, **changed})
