"""Balancing: counterweights for which the shaking force of a planar linkage vanishes.

The shaking force vanishes where the common centre of mass stands still (Berkof and Lowen 1969). A
counterweight of mass m with its centre at b/m from a point P of its link adds m v_P + ω × b to the
momentum. The first moments b follow from linear equations: the momentum is zero at all positions.
m is |b| over the given radius; where P moves, m enters the equations of the links that
carry it, so that these are solved again: as often as links follow one another.

The slider-crank also has a closed form, for a single counterweight on the crank: the rod's mass
is divided between its pins, and a share of the reciprocating part is balanced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, UnsupportedError
from ..kinematics.closing import jacobian_pseudoinverse
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_positive
from ..simulation.body_motions import BodyMotions
from ..simulation.kinematic_motion import Kinematics
from ..types import Floats
from .counterweights import Counterweight, with_counterweights
from .inertia_loads import body_motions
from .input_sweeps import sweep_input
from .linkage_statics import ground_joint
from .planar_linkage import LinkMotions, PlanarLinkage, planar_linkage
from .plane_vectors import quarter_turn

_BALANCED_SHARE = 1e-9
"""Momentum that is left, as a share of the largest before, below which a linkage is balanced: the
closing of loops leaves 1e-12."""

_RESTING_SHARE = 1e-12
"""Momentum of all bodies, as a share of that of one, that is rounding."""

_BALANCE_RANK_SHARE = 1e-12
"""Singular values below this share of the largest belong to moments that have no effect."""

_MOST_ROUNDS = 12
"""Solutions of the equations, at most: one more than links that follow one another."""

_SAMPLES = 61
"""Positions at which the momentum must vanish: more than the unknowns of a linkage of 20 links."""


@dataclass(frozen=True, repr=False)
class ForceBalance(NotebookDisplayed):
    """Counterweights of a linkage.

    Attributes
    ----------
    mechanism : Mechanism
        The balanced mechanism: the counterweights are bodies of their own, named after their links.
    counterweights : tuple of Counterweight
        The counterweights.
    left : float
        The largest momentum that is left over a cycle, as a share of the largest without
        counterweights: 0 to rounding for full balance.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_forces(lw.gallery("four-bar"), radius=0.5)
    >>> balance.is_full, balance.left < 1e-9
    (True, True)
    """

    mechanism: Mechanism
    counterweights: tuple[Counterweight, ...]
    left: float

    @property
    def is_full(self) -> bool:
        """Whether the shaking force vanishes at all positions."""
        return self.left <= _BALANCED_SHARE

    def summary(self) -> str:
        """Return one line: how many counterweights, their mass, and whether the balance is full."""
        mass = sum(one.mass for one in self.counterweights)
        kind = "full force balance" if self.is_full else f"{self.left:.3g} of the momentum is left"
        return f"{len(self.counterweights)} counterweights of {mass:.6g} kg: {kind}"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self.counterweights)])

    def notebook_table(self) -> NotebookTable:
        """Return the counterweights as rows."""
        rows = [(one.body, one.mass, *one.center) for one in self.counterweights]
        return NotebookTable(("body", "mass (kg)", "x (m)", "y (m)", "z (m)"), rows)


def balance_forces(
    mechanism: Mechanism,
    radius: float | Mapping[str, float] = 0.1,
    bodies: Sequence[str] | None = None,
    *,
    input: str | None = None,  # noqa: A002
    rough: Mapping[str, float] | str | None = None,
) -> ForceBalance:
    """Return counterweights for which the shaking force of a planar linkage vanishes.

    Parameters
    ----------
    mechanism : Mechanism
        A planar mechanism of one degree of freedom.
    radius : float or mapping of bodies to numbers
        The distance of the counterweights from the pins of their links, m.
    bodies : sequence of str, optional
        The links that carry counterweights (default: as few as possible, those with a pin on ground
        first).
    input : str, optional
        The input coordinate (default: the independent one).
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.

    Returns
    -------
    ForceBalance
        The counterweights and the balanced mechanism. With `bodies`, the balance may be partial:
        `left` says how much is left. Without `bodies`, a partial balance is an error.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_forces(lw.gallery("four-bar"), radius=0.5)
    >>> [(one.body, round(one.mass, 3)) for one in balance.counterweights]
    [('crank', 2.0), ('rocker', 5.0)]
    """
    require_mechanism(mechanism)
    linkage = planar_linkage(mechanism)
    motion = sweep_input(mechanism, input, rough=rough, samples=_SAMPLES)
    problem = _BalanceProblem(linkage, motion, radius)
    if bodies is not None:
        links = [linkage.link_number(name) for name in bodies]
        weights, left = problem.solve(links)
        return _balance(linkage, weights, left)
    weights, left = problem.solve_with_fewest()
    if left > _BALANCED_SHARE:
        raise UnsupportedError(
            "no counterweights on its links balance the shaking force fully",
            where=mechanism.name,
            remedy="name bodies for the best partial balance (a slide needs a path of pins from "
            "each link to ground; see balance_slider_crank)",
        )
    return _balance(linkage, weights, left)


def _balance(linkage: PlanarLinkage, weights: Sequence[Counterweight], left: float) -> ForceBalance:
    """The result: the mechanism with its counterweights."""
    return ForceBalance(with_counterweights(linkage.mechanism, weights), tuple(weights), left)


class CenterAtRestError(LinkwrightError):
    """No counterweight can help a linkage whose centre of mass is already at rest."""


class _BalanceProblem:
    """The momentum of a linkage over its cycle, and what counterweights add to it."""

    def __init__(
        self, linkage: PlanarLinkage, motion: Kinematics, radius: float | Mapping[str, float]
    ) -> None:
        self.linkage, self.radius = linkage, radius
        self.motions: LinkMotions = linkage.motions(motion.t, motion.q, motion.qd)
        bodies: BodyMotions = body_motions(motion, motion.qd, motion.qdd)
        single = bodies.masses[:, None] * bodies.center_velocity
        total = single.sum(axis=-2)
        self.momentum = np.stack([total @ linkage.right, total @ linkage.up], axis=-1)
        self.largest = float(np.linalg.norm(self.momentum, axis=1).max())
        if self.largest <= _RESTING_SHARE * float(np.abs(single).max(initial=0.0)):
            raise CenterAtRestError(
                "its centre of mass is already at rest",
                where=linkage.mechanism.name,
                remedy="there is nothing to balance",
            )

    def radius_of(self, link: int) -> float:
        """The distance of a link's counterweight from its pin, m."""
        name = self.linkage.links[link]
        if not isinstance(self.radius, Mapping):
            return check_positive(self.radius, "radius")
        if name not in self.radius:
            raise LinkwrightError(f"radius lacks {name}", remedy=f"add radius[{name!r}]")
        return check_positive(self.radius[name], f"the radius of {name}")

    def solve_with_fewest(self) -> tuple[list[Counterweight], float]:
        """The fewest counterweights that balance fully; those on links with a pin on ground
        first."""
        links = range(1, len(self.linkage.links))
        pinned = [k for k in links if self._is_pinned_to_ground(k)]
        order = pinned + [k for k in links if k not in pinned]
        for count in range(1, len(order) + 1):
            for chosen in combinations(order, count):
                weights, left = self.solve(chosen)
                if left <= _BALANCED_SHARE:
                    return weights, left
        return [], np.inf

    def _is_pinned_to_ground(self, link: int) -> bool:
        joint = ground_joint(self.linkage, link)
        return joint is not None and joint.kind == "pin"

    def _share(self, rest: Floats) -> float:
        return float(np.linalg.norm(rest.reshape(-1, 2), axis=1).max()) / self.largest

    def _pivot(self, link: int) -> Floats:
        return link_pivot(self.linkage, self.motions, link)

    def _to_link(self, link: int, vector: Floats) -> Floats:
        """A vector of the plane at the first position, in the axes of the link."""
        return np.asarray(self.motions.placements[0, link, :, :3].T @ vector)

    def _moment_columns(self, links: Sequence[int]) -> Floats:
        """Momentum (2 n, 2 links) by unit first moments along the axes of the plane at the start,
        which turn with their links."""
        columns = []
        for link in links:
            for axis in np.eye(2):
                moved = self.motions.directions(link, self._to_link(link, axis))
                omega = self.motions.angular_velocity[:, link, None]
                columns.append((omega * quarter_turn(moved)).ravel())
        return np.column_stack(columns)

    def _mass_columns(self, link: int) -> Floats:
        """Momentum (2 n, 1) by a unit mass at the pin of a link."""
        points = self.motions.points(link, self._pivot(link))
        return self.motions.point_velocities(link, points).reshape(-1, 1)

    def solve(self, links: Sequence[int]) -> tuple[list[Counterweight], float]:
        """The counterweights on some links, and the share of the momentum that is left."""
        A, masses = self._moment_columns(links), np.zeros(len(links))
        carried = np.concatenate([self._mass_columns(link) for link in links], axis=1)
        radii = np.array([self.radius_of(link) for link in links])
        for _ in range(_MOST_ROUNDS):
            rest = self.momentum.ravel() + carried @ masses
            found = jacobian_pseudoinverse(A, _BALANCE_RANK_SHARE) @ -rest
            moments = found.reshape(-1, 2)
            needed = np.linalg.norm(moments, axis=1) / radii
            change = np.abs(needed - masses).max()
            masses = needed
            if change <= 1e-14 * masses.max():
                break
        rest = self.momentum.ravel() + carried @ masses + A @ moments.ravel()
        weights = [
            self._counterweight(link, mass, moment)
            for link, mass, moment in zip(links, masses.tolist(), moments, strict=True)
            if mass * self.radius_of(link) > 1e-12 * float(np.abs(moments).max())
        ]
        return weights, self._share(rest)

    def _counterweight(self, link: int, mass: float, moment: Floats) -> Counterweight:
        """A counterweight by its mass and first moment about the pin of its link."""
        name = self.linkage.links[link]
        center = self._pivot(link) + self._to_link(link, moment) / mass
        return Counterweight(name, mass, tuple(point_in_body(self.linkage, name, center).tolist()))


def link_pivot(linkage: PlanarLinkage, motions: LinkMotions, link: int) -> Floats:
    """The pin of a link from which what balances it is measured, in the link's axes: that with the
    fewest pins between it and ground, over which the counterweight is carried."""
    joints = linkage.joints_of(link)
    pins = [one for one in joints if one.kind == "pin"]
    steps, far = _pins_to_ground(linkage), len(linkage.links)
    chosen = min(pins or joints, key=lambda one: steps.get(one.other_link(link), far))
    world = motions.points(chosen.links[0], chosen.point)[0]
    return np.asarray(motions.placements[0, link, :, :3].T @ (world - motions.origins[0, link]))


def point_in_body(linkage: PlanarLinkage, body: str, point: Floats) -> Floats:
    """A point of a link in the axes of one of its bodies."""
    place = linkage.tree.bodies[body]
    R, p = np.asarray(place.R, dtype=float), np.asarray(place.p, dtype=float).ravel()
    return np.asarray(R.T @ (point - p))


def _pins_to_ground(linkage: PlanarLinkage) -> dict[int, int]:
    """The number of pins between each link and ground, for links with a path of pins alone."""
    steps, last = {0: 0}, [0]
    while last:
        following = {
            joint.other_link(link)
            for link in last
            for joint in linkage.joints_of(link)
            if joint.kind == "pin"
        } - set(steps)
        steps |= dict.fromkeys(following, steps[last[0]] + 1)
        last = sorted(following)
    return steps
