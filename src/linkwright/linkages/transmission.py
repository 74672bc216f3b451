"""Transmission angles: how well the force on the output link is directed along its motion.

The transmission angle μ is 90° less the pressure angle, which lies between the force that drives
the output link and the velocity of the point at which it acts. In a four-bar linkage it is the
angle between coupler and rocker, in a slider-crank 90° less that of the rod and the slide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Floats
from .linkage_statics import LinkageStatics, ground_joint, joint_points
from .planar_linkage import LinkageJoint, LinkMotions, PlanarLinkage
from .plane_vectors import plane_cross, quarter_turn

_UNLOADED_SHARE = 1e-9
"""Joints whose forces are below this share of the largest lead only to links without loads."""


@dataclass(frozen=True)
class TransmissionAngles:
    """Transmission angles over all positions.

    Attributes
    ----------
    angles : (n,) array or None
        The angles, rad, 0 to π/2; None where the concept does not apply.
    reason : str
        Why there are none.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.analyze_linkage(lw.gallery("four-bar"), samples=73)
    >>> found.transmission.angles.shape, found.transmission.reason
    ((73,), '')
    """

    angles: Floats | None
    reason: str = ""


def transmission_angles(
    linkage: PlanarLinkage, motions: LinkMotions, statics: LinkageStatics, output: int
) -> TransmissionAngles:
    """Return the transmission angles at an output link that is joined to ground."""
    name, ground = linkage.links[output], ground_joint(linkage, output)
    if ground is None:
        return TransmissionAngles(
            None, f"the transmission angle needs an output joined to ground; {name} is not"
        )
    driving = _driving_joints(linkage, motions, statics, output)
    if not driving:
        return TransmissionAngles(
            None, f"the input moves {name} directly or by gears, without a transmission angle"
        )
    if len(driving) != 1:
        return TransmissionAngles(
            None,
            "the transmission angle needs one joint that drives the output; "
            f"{name} is driven at {len(driving)}",
        )
    pin = _force_pin(linkage, driving[0], output)
    if pin is None:
        return TransmissionAngles(
            None,
            f"the transmission angle needs a pin that carries the force to {name}; "
            f"'{driving[0].name}' has none",
        )
    points = joint_points(motions, pin)
    ways = _output_directions(linkage, motions, output, ground, points)
    forces = statics.force_on(linkage, driving[0], output)
    along, across = np.abs((forces * ways).sum(axis=1)), np.abs(plane_cross(forces, ways))
    return TransmissionAngles(np.arctan2(along, across))


def _driving_joints(
    linkage: PlanarLinkage, motions: LinkMotions, statics: LinkageStatics, output: int
) -> list[LinkageJoint]:
    """The joints that carry forces to the output link from links other than ground."""
    sizes = np.linalg.norm(statics.joint_forces, axis=-1).max(axis=0)
    length = float(np.ptp(motions.origins, axis=1).max()) or 1.0
    least = _UNLOADED_SHARE * max(float(sizes.max()), 1 / max(length, 1.0))
    return [
        joint
        for joint in linkage.joints_of(output)
        if joint.other_link(output) and sizes[linkage.joints.index(joint)] > least
    ]


def _force_pin(linkage: PlanarLinkage, joint: LinkageJoint, output: int) -> LinkageJoint | None:
    """The pin through which the driving force passes: the joint itself, or that of its block."""
    if joint.kind == "pin":
        return joint
    block = joint.other_link(output)
    others = [each for each in linkage.joints_of(block) if each is not joint]
    return others[0] if len(others) == 1 and others[0].kind == "pin" else None


def _output_directions(
    linkage: PlanarLinkage,
    motions: LinkMotions,
    output: int,
    ground: LinkageJoint,
    points: Floats,
) -> Floats:
    """The directions (positions, 2) in which points of the output link move."""
    if ground.kind == "slide":
        return motions.directions(ground.links[0], ground.direction)
    return quarter_turn(points - joint_points(motions, ground))
