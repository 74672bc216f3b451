"""Partial balance of a slider-crank by a counterweight on its crank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import UnsupportedError
from ..kinematics.assembly import assemble
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..number_checks import check_number, check_positive
from ..simulation.body_motions import moving_bodies
from ..types import Floats
from .counterweights import Counterweight, with_counterweights
from .linkage_statics import joint_points
from .planar_linkage import LinkageJoint, LinkMotions, PlanarLinkage, planar_linkage


@dataclass(frozen=True, repr=False)
class SliderCrankBalance(NotebookDisplayed):
    """The counterweight on the crank of a slider-crank, and the masses it comes from.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism with the counterweight.
    counterweight : Counterweight
        The counterweight on the crank.
    rotating_mass : float
        The mass that is taken to turn with the crank pin: the crank's own first moment over its
        length, and the rod's share at the crank pin, kg.
    reciprocating_mass : float
        The piston and the rod's share at its pin, kg.
    share : float
        The share of the reciprocating mass that is balanced.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_slider_crank(lw.gallery("slider-crank"), radius=0.2)
    >>> balance.counterweight.body, balance.share
    ('crank', 0.5)
    """

    mechanism: Mechanism
    counterweight: Counterweight
    rotating_mass: float
    reciprocating_mass: float
    share: float

    @property
    def counterweights(self) -> tuple[Counterweight, ...]:
        """The counterweight, as of other balances."""
        return (self.counterweight,)

    def summary(self) -> str:
        """Return one line: the counterweight, and what it balances."""
        return (
            f"{self.counterweight}: balances {self.rotating_mass:.6g} kg rotating and "
            f"{self.share:g} of {self.reciprocating_mass:.6g} kg reciprocating"
        )


def balance_slider_crank(
    mechanism: Mechanism, radius: float = 0.1, share: float = 0.5
) -> SliderCrankBalance:
    """Return a counterweight on the crank for all rotating and a share of the reciprocating mass.

    Its first moment is (rotating mass + share · reciprocating mass) · crank length, opposite the
    crank pin. The share 1/2 makes the primary shaking force equal in all directions; 2/3 is common
    in engines.

    Parameters
    ----------
    mechanism : Mechanism
        A slider-crank whose slide is on ground; the crank's centre of mass may lie anywhere.
    radius : float
        The distance of the counterweight from the crank's pin on ground, m.
    share : float
        The share of the reciprocating mass that is balanced, 0 to 1.

    Returns
    -------
    SliderCrankBalance
        The counterweight and the mechanism with it.

    Examples
    --------
    >>> import linkwright as lw
    >>> engine = lw.gallery("slider-crank")
    >>> round(lw.linkages.balance_slider_crank(engine, radius=0.2).counterweight.mass, 6)
    1.935
    """
    require_mechanism(mechanism)
    check_positive(radius, "radius")
    part = check_number(share, "share")
    linkage = planar_linkage(mechanism)
    crank, rod, piston, pins = _slider_crank_parts(linkage)
    names = mechanism_names(mechanism)
    q = assemble(mechanism)
    motions = linkage.motions(np.zeros(1), q[None], np.zeros((1, names.nv)))
    ground, knee, wrist = (joint_points(motions, pin)[0] for pin in pins)
    masses, centers = _link_masses(linkage, motions)
    along = (wrist - knee) / float((wrist - knee) @ (wrist - knee))
    rod_share = float((centers[rod] - knee) @ along)
    reciprocating = masses[piston] + masses[rod] * rod_share
    at_knee = masses[rod] * (1 - rod_share)
    arm = knee - ground
    moment = masses[crank] * (centers[crank] - ground) + (at_knee + part * reciprocating) * arm
    mass = float(np.linalg.norm(moment)) / radius
    center = ground - radius * moment / np.linalg.norm(moment)
    weight = Counterweight(linkage.links[crank], mass, _in_body(linkage, motions, crank, center))
    own = float(masses[crank] * ((centers[crank] - ground) @ arm) / (arm @ arm))
    return SliderCrankBalance(
        with_counterweights(mechanism, [weight]), weight, own + at_knee, reciprocating, part
    )


def _slider_crank_parts(
    linkage: PlanarLinkage,
) -> tuple[int, int, int, tuple[LinkageJoint, LinkageJoint, LinkageJoint]]:
    """Crank, rod and piston, and the pins ground–crank, crank–rod, rod–piston."""
    slides = [one for one in linkage.joints if one.kind == "slide" and 0 in one.links]
    if len(linkage.links) == 4 and len(linkage.joints) == 4 and len(slides) == 1:
        piston = slides[0].other_link(0)
        cranks = [
            one.other_link(0) for one in linkage.joints if one.kind == "pin" and 0 in one.links
        ]
        rods = [k for k in (1, 2, 3) if k != piston and k not in cranks]
        if len(cranks) == len(rods) == 1:
            crank, rod = cranks[0], rods[0]
            pairs = ((0, crank), (crank, rod), (rod, piston))
            pins = [linkage.joints_between(*pair) for pair in pairs]
            if all(len(one) == 1 and one[0].kind == "pin" for one in pins):
                return crank, rod, piston, (pins[0][0], pins[1][0], pins[2][0])
    raise UnsupportedError(
        "is not a slider-crank whose slide is on ground",
        where=linkage.mechanism.name,
        remedy="use balance_forces, which takes any planar linkage",
    )


def _link_masses(linkage: PlanarLinkage, motions: LinkMotions) -> tuple[Floats, Floats]:
    """The masses of the links, and their centres of mass in the plane."""
    count = len(linkage.links)
    masses, moments = np.zeros(count), np.zeros((count, 2))
    for body in moving_bodies(linkage.mechanism):
        link, place = linkage.link_number(body.name), linkage.tree.bodies[body.name]
        R, p = np.asarray(place.R, dtype=float), np.asarray(place.p, dtype=float).ravel()
        center = motions.points(link, p + R @ body.center_of_mass)[0]
        masses[link] += body.mass
        moments[link] += body.mass * center
    weights = np.where(masses > 0, masses, 1.0)[:, None]
    return masses, moments / weights


def _in_body(
    linkage: PlanarLinkage, motions: LinkMotions, link: int, point: Floats
) -> tuple[float, ...]:
    """A point of the plane in the axes of a link's first body."""
    at = motions.placements[0, link]
    local = at[:, :3].T @ (point - at[:, 3])
    place = linkage.tree.bodies[linkage.links[link]]
    R, p = np.asarray(place.R, dtype=float), np.asarray(place.p, dtype=float).ravel()
    return tuple((R.T @ (local - p)).tolist())
