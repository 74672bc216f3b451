"""What the rows of velocities belong to: stops and contacts, and dry friction.

Their numbers may be expressions of parameters that differ between runs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import casadi as ca

from ...algebra.linear_algebra import Scalar
from ...errors import LinkwrightError
from ...types import SX, Floats


@dataclass(frozen=True)
class UnilateralConstraint:
    """A stop or a contact: its gap stays above zero. Without a restitution it ends the run."""

    name: str
    restitution: Scalar | None
    body: str = ""
    other: str = ""
    friction: Scalar = 0.0
    ratio: Scalar = 1.0
    slip: tuple[int, ...] = ()
    """Rows of its slip; none where it has no friction."""
    turns: bool = False
    """Whether its gap is an angle."""

    def said(self, speed: float, impulse: float) -> str:
        """Return the description of an impact."""
        of_speed, of_impulse = ("rad/s", "N m s") if self.turns else ("m/s", "N s")
        return f"hit at {speed:.6g} {of_speed}, impulse {impulse:.6g} {of_impulse}"


@dataclass(frozen=True)
class JointFriction:
    """A degree of freedom or length with dry friction: `force`, and `arm` times the joint's
    reaction. While it slides, `shift` is added along its velocity (see `sharp_friction`)."""

    name: str
    row: int
    force: Scalar
    ratio: Scalar
    arm: Scalar = 0.0
    joint: int = -1
    axis: int = -1
    shift: Scalar = 0.0
    """For a prismatic joint, the index of its velocity: the reaction along its axis does not
    press."""


Element = TypeVar("Element", UnilateralConstraint, JointFriction)


def is_absent(number: Scalar) -> bool:
    """Return whether a number is zero; one that depends on parameters is not."""
    return not isinstance(number, ca.SX) and number <= 0


def with_numbers(element: Element, p: SX, values: Floats) -> Element:
    """Return a stop, a contact or friction with numbers in place of expressions of p."""
    given = {one.name: getattr(element, one.name) for one in fields(element)}
    found: dict[str, Any] = {
        key: float(ca.evalf(ca.substitute(x, p, values)))
        for key, x in given.items()
        if isinstance(x, ca.SX)
    }
    return replace(element, **found) if found else element


def start_beyond_error(name: str, gap: float, where: str = "") -> LinkwrightError:
    """Return the error of a motion that starts beyond a stop or contact, where its gap is
    negative."""
    return LinkwrightError(
        f"the motion starts {-gap:.3g} beyond '{name}'",
        where=where,
        remedy='start on the right side of it, or use stops="ignore" for limits',
    )
