"""Grashof's rule: which links of four-bar loops make full turns, and the names of these loops.

A loop of four pins has link lengths s ≤ p, q ≤ l. If s + l < p + q, the shortest link makes full
turns relative to all others (Grashof 1883); if s + l > p + q, no link does; where both sums are
equal, all pins come to lie on a line: a change point. A slide takes the place of a pin at infinite
distance: with the two finite lengths s ≤ l and the offset e of the slide, s + e < l. The codes are
those of Barker (1985), in the order ground, input, coupler, output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import UnsupportedError
from ..kinematics.assembly import assemble
from ..mechanism import Mechanism, mechanism_names
from ..number_checks import check_positive
from ..types import Floats
from .planar_linkage import LinkageJoint, LinkMotions, PlanarLinkage, planar_linkage
from .plane_vectors import plane_cross

CHANGE_POINT_SHARE = 1e-9
"""Sums of lengths that differ by less than this share are equal: a change point. Lengths from
files are exact to rounding; those measured at an assembled configuration to its closure."""

_ROLES = ("ground", "input", "coupler", "output")
_GRASHOF_CODES = ("GCCC", "GCRR", "GRCR", "GRRC")
_GRASHOF_NAMES = ("double-crank", "crank-rocker", "double-rocker", "rocker-crank")
_CHANGE_POINT_CODES = ("SCCC", "SCRR", "SRCR", "SRRC")
_INVERSIONS = (
    "slider-crank",
    "inverted slider-crank",
    "inverted slider-crank",
    "slider-crank with a fixed block",
)
"""Inversions of the slider-crank, by the fixed link: guide, one of the two links between pins,
block."""


@dataclass(frozen=True, repr=False)
class LoopClass(NotebookDisplayed):
    """The class of a loop of four links by Grashof's rule.

    Attributes
    ----------
    links : tuple of str
        The four links around the loop: ground (or the link that stands for it), input, coupler,
        output; of a loop with a slide the guide, the link at its pin, the next link, the block.
    lengths : tuple of float
        The lengths of these links, m; of a loop with a slide the offset of the slide, and the two
        lengths between pins.
    margin : float
        p + q − s − l (l − s − e with a slide), m: above 0 the shortest link makes full turns.
    code : str
        Barker's code, such as GCRR; empty for a loop with a slide or away from ground.
    name : str
        The type in words, such as "crank-rocker".
    shortest : str
        The shortest link.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.four_bar_class(6.0, 2.0, 7.0, 9.0)
    >>> found.name, found.code, found.margin
    ('crank-rocker', 'GCRR', 2.0)
    """

    links: tuple[str, ...]
    lengths: tuple[float, ...]
    margin: float
    code: str
    name: str
    shortest: str

    @property
    def is_grashof(self) -> bool:
        """Whether the shortest link makes full turns relative to the others."""
        return self.margin > CHANGE_POINT_SHARE * max(self.lengths)

    @property
    def is_change_point(self) -> bool:
        """Whether all pins can lie on a line, where the motion may change its branch."""
        return abs(self.margin) <= CHANGE_POINT_SHARE * max(self.lengths)

    def summary(self) -> str:
        """Return one line: the links, the type and the margin of Grashof's rule."""
        code = f" ({self.code})" if self.code else ""
        rule = "a change-point linkage" if self.is_change_point else "not a Grashof linkage"
        if self.is_grashof:
            rule = f"Grashof: {self.shortest}, the shortest, makes full turns"
        return f"{'-'.join(self.links)}: {self.name}{code}, {rule} (margin {self.margin:.6g} m)"


def four_bar_class(
    ground: float,
    input_: float,
    coupler: float,
    output: float,
    links: tuple[str, str, str, str] = _ROLES,
) -> LoopClass:
    """Return the class of a four-bar linkage by the lengths of its links.

    Parameters
    ----------
    ground, input_, coupler, output : float
        The lengths of the links, m, each between its two pins.
    links : tuple of str
        The names of the links, in the same order.

    Returns
    -------
    LoopClass
        The class; printed as text.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.linkages.four_bar_class(6.0, 2.0, 7.0, 9.0))
    ground-input-coupler-output: crank-rocker (GCRR), Grashof: input, the shortest, makes full turns (margin 2 m)
    """  # noqa: E501
    named = zip(_ROLES, (ground, input_, coupler, output), strict=True)
    lengths = tuple(check_positive(length, f"the length of {role}") for role, length in named)
    if 2 * max(lengths) > sum(lengths):
        longest = links[int(np.argmax(lengths))]
        raise UnsupportedError(
            f"the links cannot be assembled: {longest} is longer than the others together",
            remedy="check the lengths",
        )
    ordered = sorted(lengths)
    margin = ordered[1] + ordered[2] - ordered[0] - ordered[3]
    shortest = int(np.argmin(lengths))
    code, name = _four_bar_name(lengths, margin)
    return LoopClass(links, lengths, margin, code, name, links[shortest])


def _four_bar_name(lengths: tuple[float, ...], margin: float) -> tuple[str, str]:
    """Barker's code, and the type in words."""
    shortest, longest, small = (
        int(np.argmin(lengths)),
        int(np.argmax(lengths)),
        CHANGE_POINT_SHARE * max(lengths),
    )
    if margin > small:
        return _GRASHOF_CODES[shortest], _GRASHOF_NAMES[shortest]
    if margin < -small:
        return f"RRR{longest + 1}", "triple-rocker"
    ground, one, coupler, two = lengths
    if max(lengths) - min(lengths) <= small:
        return "S3X", "rhombus"
    if abs(ground - coupler) <= small and abs(one - two) <= small:
        return "S2X", "parallelogram or antiparallelogram"
    ordered = sorted(lengths)
    if ordered[1] - ordered[0] <= small and ordered[3] - ordered[2] <= small:
        return "S2X", "deltoid (kite)"
    return _CHANGE_POINT_CODES[shortest], f"change-point {_GRASHOF_NAMES[shortest]}"


def loop_classes(mechanism: Mechanism) -> tuple[LoopClass, ...]:
    """Return the classes of all four-link loops of a planar mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism. Loops of four pins, and of three pins and a slide, are classified; the input
        is the link of ground that moves with the first independent coordinate, or comes first in
        the file.

    Returns
    -------
    tuple of LoopClass
        One for each loop, those with ground first.

    Examples
    --------
    >>> import linkwright as lw
    >>> [one.name for one in lw.linkages.loop_classes(lw.gallery("four-bar"))]
    ['crank-rocker']
    """
    linkage = planar_linkage(mechanism)
    motions = _assembled_links(linkage)
    found = [
        _pinned_loop(linkage, motions, loop)
        if all(joint.kind == "pin" for joint in loop)
        else _sliding_loop(linkage, motions, loop)
        for loop in _four_link_loops(linkage)
    ]
    if not found:
        raise UnsupportedError(
            "has no loop of four links with pins and at most one slide, to which Grashof's rule "
            "applies",
            where=mechanism.name,
            remedy="use input_range, which finds whether an input of any linkage makes full turns",
        )
    return tuple(found)


def _assembled_links(linkage: PlanarLinkage) -> LinkMotions:
    """The links where the mechanism is assembled, at rest."""
    names = mechanism_names(linkage.mechanism)
    q = assemble(linkage.mechanism) if names.constraints else np.zeros(names.nq)
    return linkage.motions(np.zeros(1), q[None], np.zeros((1, names.nv)))


def _four_link_loops(linkage: PlanarLinkage) -> Iterator[tuple[LinkageJoint, ...]]:
    """All loops of four links: joints in order, that between the first and second link first."""
    count, seen = len(linkage.links), set()
    edges = {
        frozenset(joint.links): joint for joint in linkage.joints if joint.kind in ("pin", "slide")
    }
    for loop in permutations(range(count), 4):
        if loop[0] != min(loop) or loop[1] > loop[3]:
            continue
        pairs = [frozenset((loop[k], loop[(k + 1) % 4])) for k in range(4)]
        joints = tuple(edges[pair] for pair in pairs if pair in edges)
        if len(joints) == 4 and sum(joint.kind == "slide" for joint in joints) <= 1:
            key = frozenset(loop)
            if key not in seen:
                seen.add(key)
                yield joints


def _loop_links(joints: tuple[LinkageJoint, ...]) -> list[int]:
    """The links of a loop: link k lies between joints k − 1 and k."""
    return [next(iter(set(joints[k - 1].links) & set(joints[k].links))) for k in range(len(joints))]


def _joint_point(motions: LinkMotions, joint: LinkageJoint) -> Floats:
    """The point of a joint in the plane, at the first time."""
    return np.asarray(motions.points(joint.links[0], joint.point)[0])


def _pinned_loop(
    linkage: PlanarLinkage, motions: LinkMotions, joints: tuple[LinkageJoint, ...]
) -> LoopClass:
    """The class of a loop of four pins, with the link of lowest number as its ground."""
    links = _loop_links(joints)
    points = [_joint_point(motions, joint) for joint in joints]
    lengths = [float(np.linalg.norm(points[k] - points[k - 1])) for k in range(4)]
    one, two, three, four = (linkage.links[link] for link in links)
    names = (one, two, three, four)
    found = four_bar_class(lengths[0], lengths[1], lengths[2], lengths[3], names)
    if links[0] == 0:
        return found
    return replace(found, code="", name="four-bar loop away from ground")


def _sliding_loop(
    linkage: PlanarLinkage, motions: LinkMotions, joints: tuple[LinkageJoint, ...]
) -> LoopClass:
    """The class of a loop of three pins and a slide."""
    while joints[3].kind != "slide":  # the slide last: block, guide, then the pinned links
        joints = joints[1:] + joints[:1]
    links, slide = _loop_links(joints), joints[3]
    if slide.links[0] != links[0]:  # the guide, to which the direction is fixed, comes first
        joints = (*joints[2::-1], slide)
        links = _loop_links(joints)
    points = [_joint_point(motions, joint) for joint in joints[:3]]
    along = motions.directions(slide.links[0], slide.direction)[0]
    lengths = [float(np.linalg.norm(points[k + 1] - points[k])) for k in range(2)]
    offset = abs(float(plane_cross(along, points[2] - points[0])))
    names = tuple(linkage.links[link] for link in links)
    name = _INVERSIONS[links.index(0)] if 0 in links else "slider-crank loop away from ground"
    shortest = names[1 + int(lengths[1] < lengths[0])]
    margin = abs(lengths[1] - lengths[0]) - offset
    return LoopClass(names, (offset, *lengths), margin, "", name, shortest)
