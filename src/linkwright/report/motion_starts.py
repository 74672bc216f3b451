"""Starts of motions: given by the user, or chosen to show what a gallery mechanism does."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import LinkwrightError
from ..files import gallery
from ..formulations import derive
from ..mechanism import Mechanism
from ..mechanism.gallery_files import gallery_names
from ..simulation.inputs import read_force_law
from ..simulation.right_hand_side import RightHandSide
from ..simulation.start import start_of

DEFAULT_SECONDS = 5.0
"""The default duration of a motion."""


@dataclass(frozen=True)
class PageMotionStart:
    """The state at which a motion begins, its actuator efforts, and its duration."""

    seconds: float = DEFAULT_SECONDS
    q0: Mapping[str, float] = field(default_factory=dict)
    qd0: Mapping[str, float] = field(default_factory=dict)
    efforts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_given(self) -> bool:
        """Whether a state or an effort is given."""
        return bool(self.q0 or self.qd0 or self.efforts)

    def command_arguments(self) -> str:
        """The arguments after the file in a command, with all digits, without the duration."""
        velocities = "".join(f" --speed{word}" for word in page_command_assignments(self.qd0))
        efforts = "".join(
            f" --drive {shlex.quote(f'{name}={text}')}" for name, text in self.efforts.items()
        )
        return "".join(page_command_assignments(self.q0)) + velocities + efforts

    def place_text(self) -> str:
        """The initial coordinates in words."""
        there = ", ".join(f"{name} = {value:g}" for name, value in self.q0.items())
        return f"{there}, the rest at home" if there else "home"


def page_command_assignments(values: Mapping[str, float]) -> list[str]:
    """Values as arguments NAME=VALUE of a command, with all digits."""
    return [
        f" {shlex.quote(f'{name}={page_number_text(value)}')}" for name, value in values.items()
    ]


def page_number_text(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def check_page_motion_start(mechanism: Mechanism, start: PageMotionStart) -> None:
    """Refuses a start with unknown names, open constraints, or efforts that cannot be read or are
    not finite."""
    equations = derive(mechanism, parameters="numeric")
    drive = read_force_law(equations, dict(start.efforts))
    model = RightHandSide(equations, drive).model
    q, qd = start_of(mechanism, model, dict(start.q0), dict(start.qd0))
    with np.errstate(all="ignore"):
        by_actuator = drive.actuators(0.0, q, qd)
        forces = drive(0.0, q, qd) if by_actuator is None else by_actuator
    driven = equations.names.actuators or equations.names.qd
    for name, force in zip(driven, forces, strict=True):
        if not np.isfinite(force):
            raise LinkwrightError(
                f"the actuator effort '{name}' is not a finite number at the start",
                where=mechanism.name,
                remedy=f"change '{start.efforts.get(name, name)}', or where the motion starts",
            )


def page_shows_gallery_mechanism(mechanism: Mechanism) -> bool:
    """Whether a mechanism is the unchanged gallery mechanism of its name."""
    name = mechanism.name
    return name in gallery_names() and gallery(name).digest == mechanism.digest


def default_page_motion_start(mechanism: Mechanism) -> PageMotionStart:
    """The gallery's start of a mechanism, or home at rest."""
    known = mechanism.name in _GALLERY_STARTS and page_shows_gallery_mechanism(mechanism)
    return _GALLERY_STARTS[mechanism.name] if known else PageMotionStart()


_STEWART_EFFORTS = {
    f"f{k}": f"210 + 4000*(0.991 + 0.12*sin(3*t + {k}) - d{k}) - 400*dd{k}" for k in range(1, 7)
}
_TWO_ARM_EFFORTS = {
    "tau_a1": "1.4 - 20*da1",
    "tau_a2": "-26 - 20*da2",
    "tau_a3": "-10.9 - 20*da3",
    "tau_b1": "0.5 + 600*(-0.175 + 0.15*(1 - cos(2*t)) - b1) - 60*db1",
    "tau_b2": "-22.4 + 600*(-0.872 + 0.10*(1 - cos(4*t)) - b2) - 60*db2",
    "tau_b3": "-8.6 + 600*(1.396 - 0.15*(1 - cos(2*t)) - b3) - 60*db3",
}
"""Both arms bear the weight at home; arm b swings the body, arm a follows."""
_QUADRUPED_VELOCITIES = {
    "trunk.vz": 3.0,
    "trunk.vx": 0.5,
    "trunk.wy": 1.5,
    "lf_hip": 2.0,
    "rf_hip": -2.0,
    "lh_hip": -2.0,
    "rh_hip": 2.0,
}
_GALLERY_STARTS = {
    "bicycle": PageMotionStart(
        3.0, qd0={"x": 4.6, "phi": 0.5, "thetaR": 4.6 / 0.3, "thetaF": 4.6 / 0.35}
    ),
    "bouncing-ball": PageMotionStart(5.0, qd0={"fall.x": 0.4}),
    "car": PageMotionStart(5.0, q0={"delta": 0.3}, qd0={"x": 2.0, "delta": -0.2}),
    "cart-pole": PageMotionStart(5.0, q0={"theta": 2.0}),
    "cartesian": PageMotionStart(0.6, qd0={"q1": 3.0, "q2": 0.5}),
    "quadruped": PageMotionStart(0.7, qd0=_QUADRUPED_VELOCITIES),
    "rattleback": PageMotionStart(5.0, q0={"alpha": 0.01, "beta": 0.01}, qd0={"psi": -5.0}),
    "rolling-disk": PageMotionStart(5.0, q0={"theta": 0.2}, qd0={"phi": 4.0, "psi": 0.5}),
    "six-axis": PageMotionStart(5.0, q0={"q2": 1.0, "q3": 0.5}),
    "seven-axis": PageMotionStart(5.0, q0={"q2": 0.8, "q4": 0.6}),
    "stanford": PageMotionStart(0.8, q0={"q2": 1.2, "q3": 0.3}, qd0={"q1": 2.0, "q4": 3.0}),
    "stanford-rrp": PageMotionStart(3.0, qd0={"theta1": 1.5, "theta2": -0.8, "s3": 0.1}),
    "stewart": PageMotionStart(4.0, efforts=_STEWART_EFFORTS),
    "stick-slip": PageMotionStart(8.0, qd0={"pull": 0.2}),
    "two-arms": PageMotionStart(6.0, efforts=_TWO_ARM_EFFORTS),
    "trolley-trailers": PageMotionStart(6.0, qd0={"x": 1.0, "theta0": 0.5}),
}
"""Mechanisms of the gallery that would rest, fall or tumble from home: what they do is seen so."""
