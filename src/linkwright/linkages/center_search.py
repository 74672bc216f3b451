"""Instant centres of all pairs of links of a planar mechanism (Aronhold, Kennedy).

Two links have one point in common with the same velocity: the pin between them, or the pole of
their relative motion. It lies at infinity where they translate relative to each other. The three
centres of three links lie on a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..kinematics.assembly import assemble, assemble_velocities
from ..kinematics.closing import CLOSURE_TOLERANCES, jacobian_null_space
from ..kinematics.constraint_system import constraint_system
from ..kinematics.plane_of_motion import without_rounding_noise
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism, mechanism_names
from ..number_checks import check_vector
from ..types import Floats
from .planar_linkage import LinkMotions, PlanarLinkage, planar_linkage
from .plane_vectors import quarter_turn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NO_TURN_SHARE = 1e-10
"""Links whose relative rotation moves points by less than this share of their velocity translate:
rounding and the closing of loops leave such rotations."""

_REST_SHARE = 1e-12
"""Relative velocities below this share of the fastest link's are rounding errors."""


@dataclass(frozen=True)
class InstantCenter:
    """The instant centre of two links.

    Attributes
    ----------
    links : tuple of str
        The two links.
    numbers : tuple of int
        Their numbers, from 1 for ground, as textbooks count.
    kind : str
        "pin" (the links share it), "pole", "infinity" (they translate relative to each other) or
        "rest" (they do not move relative to each other, and any point is a centre).
    point : (3,) array
        The centre in the world, m; NaN where it is at infinity or undefined.
    direction : (3,) array
        The unit vector toward a centre at infinity, normal to the relative velocity; else zero.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.instant_centers(lw.gallery("four-bar"), {"theta1": 1.0})
    >>> center = found.between("crank", "coupler")
    >>> center.label, center.kind
    ('I23', 'pin')
    """

    links: tuple[str, str]
    numbers: tuple[int, int]
    kind: str
    point: Floats
    direction: Floats

    @property
    def label(self) -> str:
        """The name of textbooks: I12, I1,10."""
        one, other = self.numbers
        return f"I{one}{',' if max(self.numbers) > 9 else ''}{other}"

    def place_text(self) -> str:
        """Return where the centre is, in words."""
        if self.kind == "infinity":
            return f"at infinity along ({_numbers_text(self.direction)})"
        if self.kind == "rest":
            return "undefined: the links do not move relative to each other"
        return f"({_numbers_text(self.point)}) m"


def _numbers_text(values: Floats) -> str:
    """Numbers with six digits, and 0 for rounding errors."""
    return ", ".join(f"{x:.6g}" for x in without_rounding_noise(values))


@dataclass(frozen=True, repr=False)
class InstantCenters(NotebookDisplayed):
    """All N(N − 1)/2 instant centres of a planar mechanism of N links at a configuration.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd : (nq,) and (nv,) arrays
        The configuration and the velocities, rad or m, rad/s or m/s.
    links : tuple of str
        The links, ground first; their numbers start from 1.
    centers : tuple of InstantCenter
        The centres, in the order of the numbers.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.instant_centers(lw.gallery("four-bar"), {"theta1": 1.0})
    >>> found.links, len(found.centers)
    (('ground', 'crank', 'coupler', 'rocker'), 6)
    """

    mechanism: Mechanism
    q: Floats
    qd: Floats
    links: tuple[str, ...]
    centers: tuple[InstantCenter, ...]

    def between(self, one: str, other: str) -> InstantCenter:
        """Return the centre of the links `one` and `other`."""
        linkage = planar_linkage(self.mechanism)
        wanted = {linkage.link_number(one) + 1, linkage.link_number(other) + 1}
        for center in self.centers:
            if set(center.numbers) == wanted:
                return center
        raise LinkwrightError(
            f"'{one}' and '{other}' are one link", remedy="name bodies of two links"
        )

    def summary(self) -> str:
        """Return one line: the numbers of links and centres."""
        counts = f"{len(self.centers)} instant centres of {len(self.links)} links"
        return f"{self.mechanism.name}: {counts}"

    def __str__(self) -> str:
        numbered = ", ".join(f"{k + 1} {name}" for k, name in enumerate(self.links))
        rows = [f"{one.label:6} {one.kind:8} {one.place_text()}" for one in self.centers]
        return "\n".join([self.summary(), f"links: {numbered}", *rows])

    def notebook_table(self) -> NotebookTable:
        """Return the centres as rows."""
        rows = [(c.label, *c.links, c.kind, c.place_text()) for c in self.centers]
        return NotebookTable(("centre", "link", "link", "kind", "place"), rows)

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of the mechanism with its centres.

        It is written to `path`, if given; `options`: see `show.instant_center_figure`.
        """
        draw = find_convenience("InstantCenters.plot")
        figure: Figure = draw(self, path=path, **options)
        return figure


def instant_centers(
    mechanism: Mechanism,
    q: ArrayLike | dict[str, float] | str | None = None,
    qd: ArrayLike | None = None,
    *,
    t: float = 0.0,
) -> InstantCenters:
    """Return the instant centres of all pairs of links of a planar mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q : (nq,) array, a table by name, or the name of a pose, optional
        The configuration, rad or m; a table fixes the coordinates that it names, and the others
        close the loops (default: where the mechanism is assembled).
    qd : (nv,) array, optional
        Velocities, rad/s or m/s; needed with more than one degree of freedom, where the centres
        depend on them.
    t : float
        Time, s, where the constraints depend on it.

    Returns
    -------
    InstantCenters
        The centres; printed as a table, drawn by `plot`.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.instant_centers(lw.gallery("four-bar"), {"theta1": 1.0})
    >>> len(found.centers), found.between("crank", "coupler").point.round(3)
    (6, array([0.54 , 0.841, 0.   ]))
    """
    linkage = planar_linkage(mechanism)
    here = _configuration(mechanism, q, t)
    rates = _velocities(mechanism, here, qd, t)
    motions = linkage.motions(np.array([t]), here[None], rates[None])
    pairs = combinations(range(len(linkage.links)), 2)
    centers = tuple(_instant_center(linkage, motions, i, j) for i, j in pairs)
    return InstantCenters(mechanism, here, rates, linkage.links, centers)


def _configuration(
    mechanism: Mechanism, q: ArrayLike | dict[str, float] | str | None, t: float
) -> Floats:
    """The configuration: given, or assembled with the values of a table."""
    names = mechanism_names(mechanism)
    q = read_pose(mechanism, q)
    if q is not None and not isinstance(q, dict):
        return check_vector(q, names.nq, "q", list(names.q))
    values = dict(q or {})
    for name in values:
        if name not in names.q:
            raise NameNotFoundError(
                f"{mechanism.name} has no coordinate '{name}'",
                remedy=suggest_remedy(name, list(names.q)),
            )
    if names.constraints:
        return assemble(mechanism, values, list(values), t=t)
    return np.array([float(values.get(name, 0.0)) for name in names.q])


def _velocities(mechanism: Mechanism, q: Floats, qd: ArrayLike | None, t: float) -> Floats:
    """The velocities: given, or those of the only degree of freedom."""
    names = mechanism_names(mechanism)
    if qd is not None:
        return check_vector(qd, names.nv, "qd", list(names.qd))
    free = np.eye(names.nv)
    if names.constraints:
        J = constraint_system(mechanism).jacobian(q, t)
        free = jacobian_null_space(J, CLOSURE_TOLERANCES.state_rank_share)
    if free.shape[1] == 1:
        return np.asarray(free[:, 0])
    if free.shape[1] == 0:  # constraints drive the mechanism
        return np.asarray(assemble_velocities(mechanism, q, None, t=t))
    raise LinkwrightError(
        f"{free.shape[1]} degrees of freedom are left here, and the instant centres depend on how "
        "they move",
        where=mechanism.name,
        remedy="give the velocities qd",
    )


def _instant_center(linkage: PlanarLinkage, motions: LinkMotions, i: int, j: int) -> InstantCenter:
    """The centre of the links i and j."""
    names, numbers = (linkage.links[i], linkage.links[j]), (i + 1, j + 1)
    nowhere, none = np.full(3, np.nan), np.zeros(3)
    pins = [joint for joint in linkage.joints_between(i, j) if joint.kind == "pin"]
    if len(pins) == 1:
        point = motions.points(pins[0].links[0], pins[0].point)[0]
        return InstantCenter(names, numbers, "pin", linkage.to_world(point), none)
    slides = [joint for joint in linkage.joints_between(i, j) if joint.kind == "slide"]
    if slides:
        along = motions.directions(slides[0].links[0], slides[0].direction)[0]
        return _center_at_infinity(linkage, names, numbers, along)
    origins, omegas, velocities = (
        motions.origins[0],
        motions.angular_velocity[0],
        motions.velocity[0],
    )
    size = float(np.ptp(origins, axis=0).max()) or 1.0
    omega = float(omegas[j] - omegas[i])
    at = origins[j]
    velocity = velocities[j] - motions.point_velocities(i, at[None])[0]
    fastest = max(float(np.abs(omegas).max()) * size, float(np.abs(velocities).max()))
    speed = float(np.linalg.norm(velocity))
    if max(abs(omega) * size, speed) <= _REST_SHARE * fastest:
        return InstantCenter(names, numbers, "rest", nowhere, none)
    if abs(omega) * size <= _NO_TURN_SHARE * speed:
        return _center_at_infinity(linkage, names, numbers, velocity / speed)
    point = at + quarter_turn(velocity) / omega
    return InstantCenter(names, numbers, "pole", linkage.to_world(point), none)


def _center_at_infinity(
    linkage: PlanarLinkage, names: tuple[str, str], numbers: tuple[int, int], along: Floats
) -> InstantCenter:
    """The centre of two links that translate relative to each other."""
    toward = linkage.to_world(quarter_turn(along))
    return InstantCenter(names, numbers, "infinity", np.full(3, np.nan), toward)
