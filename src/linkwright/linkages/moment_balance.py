"""Balancing of the shaking moment, beside that of the force: inertias that turn against the links.

With the shaking force balanced, the shaking moment is that of the rates of the links' rotation
alone where every link behaves like masses at its pins (Berkof 1973): the angular momentum is
Σ Jₖ ωₖ with constants Jₖ. A disk on a link adds to its Jₖ; a counter-rotor, an inertia that a gear
pair turns against a link with a pin on ground, subtracts from it. Their inertias are the solution
of a least-squares problem with inertias that are not negative. A disk on a link without a pin on
ground stands at a pin of it, where its mass does not change the part of the moment that it cures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..expressions import expression_to_float
from ..mechanism import GROUND, Body, Joint, Mechanism, replace_part_fields, require_mechanism
from ..model.model import compile as compile_model
from ..number_checks import check_positive
from ..types import Floats
from .balancing import CenterAtRestError, ForceBalance, balance_forces, link_pivot, point_in_body
from .counterweights import Counterweight
from .input_sweeps import sweep_input
from .linkage_statics import ground_joint
from .planar_linkage import PlanarLinkage, planar_linkage

_BALANCED_SHARE = 1e-9
"""Angular momentum that is left, as a share of the largest before, below which it is balanced."""
_SAMPLES = 61
_TINY_SHARE = 1e-9
"""Inertias below this share of the largest are rounding."""


@dataclass(frozen=True)
class BalanceDisk:
    """A solid disk that balances a shaking moment.

    Attributes
    ----------
    body : str
        The link to which it is fixed, or against which it turns.
    inertia : float
        About its axis, kg m².
    mass, radius : float
        kg and m: the inertia is mass · radius²/2.
    ratio : float
        Its angular velocity over that of the link: 1 if it is fixed to the link, negative for a
        counter-rotor.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_moments(lw.gallery("four-bar"), 0.5, disk_radius=1.0)
    >>> disk = balance.disks[0]
    >>> disk.body, abs(disk.inertia - disk.mass * disk.radius**2 / 2) < 1e-12
    ('coupler', True)
    """

    body: str
    inertia: float
    mass: float
    radius: float
    ratio: float

    def __str__(self) -> str:
        what = f"{self.inertia:.6g} kg m2 (a disk of {self.mass:.6g} kg, radius {self.radius:g} m)"
        if self.ratio == 1:
            return f"{self.body}: {what}, fixed to it"
        return f"{self.body}: {what}, turning {self.ratio:g} times as fast as it"


@dataclass(frozen=True, repr=False)
class MomentBalance(NotebookDisplayed):
    """Counterweights, disks and counter-rotors of a linkage.

    Attributes
    ----------
    mechanism : Mechanism
        The balanced mechanism; counter-rotors are bodies `…_counterrotor`, disks `…_disk`.
    counterweights : tuple of Counterweight
        The counterweights, which balance the shaking force.
    disks : tuple of BalanceDisk
        The disks, which balance the shaking moment.
    left : float
        The largest angular momentum that is left over a cycle, as a share of the largest without
        disks: 0 to rounding for full balance.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_moments(lw.gallery("four-bar"), 0.5, disk_radius=1.0)
    >>> balance.is_full, len(balance.disks)
    (True, 3)
    """

    mechanism: Mechanism
    counterweights: tuple[Counterweight, ...]
    disks: tuple[BalanceDisk, ...]
    left: float

    @property
    def is_full(self) -> bool:
        """Whether the shaking moment vanishes at all positions."""
        return self.left <= _BALANCED_SHARE

    def summary(self) -> str:
        """Return one line: how many counterweights and disks, and whether the balance is full."""
        kind = "full force and moment balance"
        if not self.is_full:
            kind = f"{self.left:.3g} of the angular momentum is left"
        return f"{len(self.counterweights)} counterweights, {len(self.disks)} disks: {kind}"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self.counterweights), *map(str, self.disks)])

    def notebook_table(self) -> NotebookTable:
        """Return counterweights and disks as rows."""
        rows = [(one.body, "counterweight", one.mass, 0.0) for one in self.counterweights]
        rows += [
            (one.body, "disk" if one.ratio == 1 else "counter-rotor", one.mass, one.inertia)
            for one in self.disks
        ]
        return NotebookTable(("body", "kind", "mass (kg)", "inertia (kg m2)"), rows)


def balance_moments(
    mechanism: Mechanism,
    radius: float | Mapping[str, float] = 0.1,
    bodies: Sequence[str] | None = None,
    *,
    disk_radius: float = 0.1,
    ratio: float = 1.0,
    input: str | None = None,  # noqa: A002
    rough: Mapping[str, float] | str | None = None,
) -> MomentBalance:
    """Return masses and disks that balance the shaking force and moment of a planar linkage.

    Parameters
    ----------
    mechanism : Mechanism
        A planar mechanism of one degree of freedom.
    radius, bodies, input, rough
        As in `balance_forces`, whose counterweights come first.
    disk_radius : float
        The radius of the disks, m, from which their masses follow.
    ratio : float
        How many times as fast as their links counter-rotors turn, in the other sense; the higher,
        the smaller their inertias.

    Returns
    -------
    MomentBalance
        The balance; it may be partial, `left` says how much is left. A four-bar with its centres of
        mass on the lines of its pins can be balanced fully if its coupler has less inertia than
        the same mass at its pins; the disk on it compensates the difference.

    Examples
    --------
    >>> import linkwright as lw
    >>> balance = lw.linkages.balance_moments(lw.gallery("four-bar"), 0.5, disk_radius=1.0)
    >>> [(one.body, round(one.inertia, 6), one.ratio) for one in balance.disks]
    [('coupler', 1.5, 1.0), ('crank', 5.833333, -1.0), ('rocker', 6.458333, -1.0)]
    """
    require_mechanism(mechanism)
    check_positive(disk_radius, "disk_radius")
    check_positive(ratio, "ratio")
    found = _force_balance(mechanism, radius, bodies, input, rough)
    first = _MomentProblem(found.mechanism, disk_radius, ratio, input, rough)
    fixed = [one for one in first.solve()[0] if one.ratio == 1 and first.is_carried(one.body)]
    if fixed:
        weighted = mechanism
        for one in fixed:
            weighted = first.with_disk(weighted, one)
        found = _force_balance(weighted, radius, bodies, input, rough)
    second = _MomentProblem(found.mechanism, disk_radius, ratio, input, rough)
    others, left = second.solve()
    balanced = found.mechanism
    for one in others:
        balanced = second.with_disk(balanced, one)
    return MomentBalance(balanced, found.counterweights, (*fixed, *others), left)


def _force_balance(
    mechanism: Mechanism,
    radius: float | Mapping[str, float],
    bodies: Sequence[str] | None,
    input: str | None,  # noqa: A002
    rough: Mapping[str, float] | str | None,
) -> ForceBalance:
    """Return the counterweights; none where the centre of mass is already at rest."""
    try:
        return balance_forces(mechanism, radius, bodies, input=input, rough=rough)
    except CenterAtRestError:
        return ForceBalance(mechanism, (), 0.0)


class _MomentProblem:
    """The angular momentum of a linkage over its cycle, and what disks on its links add."""

    def __init__(
        self,
        mechanism: Mechanism,
        disk_radius: float,
        ratio: float,
        input: str | None,  # noqa: A002
        rough: Mapping[str, float] | str | None,
    ) -> None:
        self.linkage: PlanarLinkage = planar_linkage(mechanism)
        self.radius, self.ratio = disk_radius, ratio
        motion = sweep_input(mechanism, input, rough=rough, samples=_SAMPLES)
        self.momentum = self._angular_momentum(mechanism, motion.q, motion.qd, motion.t)
        self.motions = self.linkage.motions(motion.t, motion.q, motion.qd)
        self.rates = self.motions.angular_velocity

    def _angular_momentum(self, mechanism: Mechanism, q: Floats, qd: Floats, t: Floats) -> Floats:
        model = compile_model(mechanism, threads=1)
        clock = [t] if model.names.is_time_dependent else []
        found: Floats = np.asarray(model.momentum(q, qd, *clock))[:, :3] @ self.linkage.normal
        return found

    def is_carried(self, body: str) -> bool:
        """Return whether a link has no pin on ground, so that others carry it."""
        joint = ground_joint(self.linkage, self.linkage.link_number(body))
        return joint is None or joint.kind != "pin"

    def counter_joint(self, link: int) -> str | None:
        """Return the joint on ground against which a counter-rotor of a link can turn."""
        joint = ground_joint(self.linkage, link)
        is_driven = joint is not None and joint.kind == "pin" and joint.velocity_index is not None
        return joint.name if joint is not None and is_driven and joint.links[0] == 0 else None

    def solve(self) -> tuple[list[BalanceDisk], float]:
        """Return disks and counter-rotors, and the share of the angular momentum that is left."""
        from scipy.optimize import nnls

        links = range(1, len(self.linkage.links))
        choices = [(k, 1.0) for k in links if np.abs(self.rates[:, k]).max() > 0]
        choices += [(k, -self.ratio) for k, _ in choices if self.counter_joint(k) is not None]
        columns = np.column_stack([ratio * self.rates[:, k] for k, ratio in choices])
        inertias, _ = nnls(columns, -self.momentum)
        least = _TINY_SHARE * float(inertias.max(initial=0.0))
        kept = np.where(inertias > least, inertias, 0.0)
        largest = float(np.abs(self.momentum).max())
        left = float(np.abs(self.momentum + columns @ kept).max()) / largest if largest else 0.0
        disks = [
            BalanceDisk(
                self.linkage.links[k], float(J), 2 * float(J) / self.radius**2, self.radius, ratio
            )
            for (k, ratio), J in zip(choices, kept, strict=True)
            if J
        ]
        return disks, left

    def with_disk(self, mechanism: Mechanism, disk: BalanceDisk) -> Mechanism:
        """Return a mechanism with a disk on a link, or turning against it."""
        link = self.linkage.link_number(disk.body)
        if disk.ratio == 1:
            return self._with_fixed_disk(mechanism, link, disk)
        name = self.counter_joint(link)
        assert name is not None
        joint = mechanism.joints[name]
        body = f"{disk.body}_counterrotor"
        axis = np.array([expression_to_float(x, mechanism.values) for x in joint.axis])
        follower = Joint(
            type="revolute",
            parent=GROUND,
            child=body,
            axis=list(joint.axis),
            origin=joint.origin,
            mimic={"joint": name, "multiplier": disk.ratio},
        )
        rotor = Body(mass=disk.mass, inertia=_disk_tensor(disk, axis / np.linalg.norm(axis)))
        return replace_part_fields(
            mechanism,
            bodies={**mechanism.bodies, body: rotor},
            joints={**mechanism.joints, body: follower},
        )

    def _with_fixed_disk(self, mechanism: Mechanism, link: int, disk: BalanceDisk) -> Mechanism:
        """Return a mechanism with a disk at a pin of a link."""
        pivot = link_pivot(self.linkage, self.motions, link)
        center = point_in_body(self.linkage, disk.body, pivot)
        right, up = self.motions.placements[0, link, :, :3]
        normal = np.cross(right, up)  # of the plane, in the axes of the link
        turn = np.asarray(self.linkage.tree.bodies[disk.body].R, dtype=float)
        tensor = _disk_tensor(disk, turn.T @ normal)
        return mechanism.with_payload(
            disk.body, disk.mass, center.tolist(), tensor, name=f"{disk.body}_disk"
        )


def _disk_tensor(disk: BalanceDisk, axis: Floats) -> list[list[float]]:
    """Return the inertia of a solid disk about its centre, with its axis in a direction."""
    along = np.outer(axis, axis)
    tensor: list[list[float]] = (disk.inertia * (along + (np.eye(3) - along) / 2)).tolist()
    return tensor
