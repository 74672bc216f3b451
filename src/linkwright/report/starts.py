"""How a motion begins: as a user says, or, for mechanisms of the gallery, as shows what they do."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..files import gallery
from ..mechanism import Mechanism
from ..mechanism.gallery import gallery_names

SECONDS = 5.0
"""Of motion, where nobody says."""


@dataclass(frozen=True)
class Start:
    """Where and how fast a motion begins, what drives it, and how long it is."""

    seconds: float = SECONDS
    q0: Mapping[str, float] = field(default_factory=dict)
    qd0: Mapping[str, float] = field(default_factory=dict)
    drives: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_said(self) -> bool:
        return bool(self.q0 or self.qd0 or self.drives)

    def words(self) -> str:
        """What follows a file in a command, to the last digit, but for the time."""
        speeds = "".join(f" --speed{word}" for word in assigned(self.qd0))
        drives = "".join(
            f" --drive {shlex.quote(f'{name}={text}')}" for name, text in self.drives.items()
        )
        return "".join(assigned(self.q0)) + speeds + drives

    def where(self) -> str:
        there = ", ".join(f"{name} = {value:g}" for name, value in self.q0.items())
        return f"{there}, the rest at home" if there else "home"


def assigned(values: Mapping[str, float]) -> list[str]:
    return [f" {shlex.quote(f'{name}={exactly(value)}')}" for name, value in values.items()]


def exactly(value: float) -> str:
    """As short as can be with all digits."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def is_of_gallery(mechanism: Mechanism) -> bool:
    """Whether it is, unchanged, what the gallery has under its name."""
    name = mechanism.name
    return name in gallery_names() and gallery(name).digest == mechanism.digest


def usual_start(mechanism: Mechanism) -> Start:
    """The gallery's own, or from home at rest."""
    known = mechanism.name in _STARTS and is_of_gallery(mechanism)
    return _STARTS[mechanism.name] if known else Start()


_LEGS = {
    f"f{k}": f"210 + 4000*(0.991 + 0.12*sin(3*t + {k}) - d{k}) - 400*dd{k}" for k in range(1, 7)
}
_THROWN = {
    "trunk.vz": 3.0, "trunk.vx": 0.5, "trunk.wy": 1.5,
    "lf_hip": 2.0, "rf_hip": -2.0, "lh_hip": -2.0, "rh_hip": 2.0,
}  # fmt: skip
_STARTS = {
    "bicycle": Start(3.0, qd0={"x": 4.6, "phi": 0.5, "thetaR": 4.6 / 0.3, "thetaF": 4.6 / 0.35}),
    "bouncing-ball": Start(5.0, qd0={"fall.x": 0.4}),
    "car": Start(5.0, q0={"delta": 0.3}, qd0={"x": 2.0, "delta": -0.2}),
    "cart-pole": Start(5.0, q0={"theta": 2.0}),
    "cartesian": Start(0.6, qd0={"q1": 3.0, "q2": 0.5}),
    "quadruped": Start(0.7, qd0=_THROWN),
    "rolling-disk": Start(5.0, q0={"theta": 0.2}, qd0={"phi": 4.0, "psi": 0.5}),
    "six-axis": Start(5.0, q0={"q2": 1.0, "q3": 0.5}),
    "seven-axis": Start(5.0, q0={"q2": 0.8, "q4": 0.6}),
    "stanford": Start(0.8, q0={"q2": 1.2, "q3": 0.3}, qd0={"q1": 2.0, "q4": 3.0}),
    "stanford-rrp": Start(3.0, qd0={"theta1": 1.5, "theta2": -0.8, "s3": 0.1}),
    "stewart": Start(4.0, drives=_LEGS),
    "stick-slip": Start(8.0, qd0={"pull": 0.2}),
    "two-arms": Start(2.0),
    "trolley-trailers": Start(6.0, qd0={"x": 1.0, "theta0": 0.5}),
}
"""Mechanisms of the gallery that would rest, fall or tumble from home: what they do is seen so."""
