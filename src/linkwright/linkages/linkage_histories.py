"""Ratios, mechanical advantage and transmission angles of a linkage along a motion of its input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..mechanism import GROUND
from ..types import Floats
from .linkage_statics import ground_joint, linkage_statics, rotation_sense
from .planar_linkage import LinkMotions, MotionRows, PlanarLinkage
from .transmission import TransmissionAngles, transmission_angles

_NO_RATIO = 1e-12
"""Velocity ratios below this are rounding errors: the output stands still, and its mechanical
advantage is infinite."""


@dataclass(frozen=True)
class LinkageHistories:
    """The arrays of a `LinkageAnalysis`; `output` is the number of the output link."""

    output: int
    output_unit: str
    input_values: Floats
    velocity_ratio: Floats
    acceleration_ratio: Floats
    mechanical_advantage: Floats
    transmission: TransmissionAngles

    @property
    def transmission_angle(self) -> Floats:
        """The transmission angles, rad; if there are none, the error says why."""
        if self.transmission.angles is None:
            raise UnsupportedError(self.transmission.reason)
        return self.transmission.angles


def linkage_histories(
    linkage: PlanarLinkage, motion: MotionRows, index: int, output: str | None
) -> LinkageHistories:
    """Return what a linkage does along a motion of coordinate number `index`, the input."""
    values = motion.q[:, index]
    sign = 1.0 if values[-1] >= values[0] else -1.0
    motions = linkage.motions(motion.t, motion.q, motion.qd, motion.qdd)
    link = _output_link(linkage, motions, output, sign)
    ratio, change, unit = _output_ratios(linkage, motions, link)
    with np.errstate(divide="ignore"):
        advantage = np.where(np.abs(ratio) > _NO_RATIO, 1 / (sign * ratio), np.inf)
    angles = _transmission(linkage, motion, motions, index, link)
    return LinkageHistories(link, unit, values, sign * ratio, change, advantage, angles)


def _transmission(
    linkage: PlanarLinkage, motion: MotionRows, motions: LinkMotions, index: int, link: int
) -> TransmissionAngles:
    """The transmission angles, or why there are none."""
    try:
        statics = linkage_statics(linkage, motion, motions, index, link)
    except UnsupportedError as error:
        return TransmissionAngles(None, f"no transmission angle: {error.what}")
    return transmission_angles(linkage, motions, statics, link)


def _output_link(
    linkage: PlanarLinkage, motions: LinkMotions, output: str | None, sign: float
) -> int:
    """The number of the output link."""
    if output is not None:
        number = linkage.link_number(output)
        if number == 0:
            raise LinkwrightError(f"the output cannot be {GROUND}", remedy="name a moving body")
        return number
    numbers = range(1, len(linkage.links))
    grounded = [k for k in numbers if ground_joint(linkage, k) is not None]
    others = [k for k in grounded if not _moves_with_input(linkage, motions, k, sign)]
    return (others or grounded or list(numbers))[-1]


def _moves_with_input(linkage: PlanarLinkage, motions: LinkMotions, link: int, sign: float) -> bool:
    """Whether a link moves exactly as the input does."""
    return bool(np.abs(_output_ratios(linkage, motions, link)[0] - sign).max() < 1e-9)


def _output_ratios(
    linkage: PlanarLinkage, motions: LinkMotions, link: int
) -> tuple[Floats, Floats, str]:
    """The first and second derivative of the output with respect to the travel of the input, and
    its unit: along its slide on ground, else its angle."""
    joint = ground_joint(linkage, link)
    if joint is None or joint.kind == "pin":
        sense = rotation_sense(linkage, link)
        omega, alpha = motions.angular_velocity, motions.angular_acceleration
        return sense * omega[:, link], sense * alpha[:, link], "rad"
    along = motions.directions(joint.links[0], joint.direction)
    velocity, acceleration = motions.velocity[:, link], motions.acceleration[:, link]
    return (velocity * along).sum(1), (acceleration * along).sum(1), "m"
