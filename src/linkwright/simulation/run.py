"""A simulated motion: what moved, what it took, and whether energy is accounted for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..conveniences import find_convenience
from ..mechanism import Mechanism
from ..mechanism.mechanism_units import coordinate_range_table
from ..types import Floats
from .details import Details, Named

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


FINISHED = "finished"


class Happened(NamedTuple):
    """An event of a run: when, of what, and what it did."""

    t: float
    name: str
    what: str


@dataclass(frozen=True, repr=False)
class Run:
    """Histories over time, rows of states. `status` is "finished", or says why it stopped, where,
    and what to try; then the part up to there is kept. `singular` are times at which the
    constraints came near to losing rank, where a motion may branch and digits are lost.

    `work` is what all but weight and springs have done: the inputs (`work_inputs`), given forces
    and driven constraints (`work_given`), and losses. `u` are forces of actuators, if there are
    any. `control` are histories of a controller's own states by name.
    """

    mechanism: Mechanism
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats
    kinetic: Floats
    potential: Floats
    work: Floats
    work_inputs: Floats
    work_given: Floats
    closure: Floats
    status: str
    statistics: Mapping[str, float]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    singular: tuple[float, ...] = ()
    u: Floats | None = None
    control: Mapping[str, Floats] = field(default_factory=dict)
    events: tuple[Happened, ...] = ()
    pushes: Floats | None = None
    """Forces of dry friction, stops and rigid contacts along the speeds, where there are any."""
    borne: Floats | None = None
    """Reactions of joints and loops, where rigid contacts press on bodies."""
    sensitivity: xarray.Dataset | None = None
    """Derivatives of q and q̇ by parameters and the start, if `simulate` was asked for them."""
    next: Run | None = None
    """How it went on after a member broke: a run of the mechanism that is left."""

    @property
    def parts(self) -> tuple[Run, ...]:
        """This run and those that follow it, one for every mechanism on the way."""
        return (self, *(self.next.parts if self.next is not None else ()))

    # -- energy ------------------------------------------------------------------------------

    @property
    def energy(self) -> Floats:
        """Kinetic and potential, J."""
        return self.kinetic + self.potential

    @property
    def work_losses(self) -> Floats:
        """What dampers, friction and impacts have done, J; below zero."""
        return self.work - self.work_inputs - self.work_given

    @property
    def balance(self) -> Floats:
        """How far kinetic + potential − work is from its first value, J."""
        total = self.energy - self.work
        found: Floats = total - total[0]
        return found

    @property
    def audit(self) -> float:
        """How far kinetic + potential − work strays, as a share of the largest energy: kinetic, on
        the whole way, or what the potential or a work changes by. Where next to nothing moves, of
        1e-5 of the energy that there is, whose rounding it then is."""
        moving = float(self.statistics.get("largest_kinetic_energy", 0.0))
        changes = (self.potential, self.work_inputs, self.work_given, self.work_losses)
        resting = 1e-5 * np.abs(self.energy).max()
        size = max(np.abs(self.kinetic).max(), moving, *map(np.ptp, changes), resting, 1e-300)
        return float(np.abs(self.balance).max() / size)

    @property
    def audit_limit(self) -> float:
        """The most that an audit may be: a thousand times the tolerance of the integration."""
        return max(1e-9, 1000 * float(self.settings.get("rtol") or 1e-9))

    @property
    def accounted(self) -> bool:
        """Whether the energy audit holds."""
        return self.audit <= self.audit_limit

    @property
    def finished(self) -> bool:
        """Whether it, or what came of it after members broke, reached its end."""
        return self.status == FINISHED if self.next is None else self.next.finished

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it (Ctrl-C)."""
        return self.status.startswith("interrupted")

    # -- what follows from the histories -----------------------------------------------------

    @cached_property
    def details(self) -> Details:
        """Energies of every part, momenta, reactions, places; made when asked for."""
        if self.pushes is None:
            return Details(self.mechanism, self.t, self.q, self.qd, self.qdd, self.tau)
        from .events.rows import without_sharp_friction  # which is among the pushes

        bare, forces = without_sharp_friction(self.mechanism), self.tau + self.pushes
        return Details(bare, self.t, self.q, self.qd, self.qdd, forces)

    @property
    def power(self) -> Floats:
        """Of the inputs, one column a speed, W."""
        return self.tau * self.qd

    @property
    def momenta(self) -> Floats:
        """p = M q̇, one column a speed."""
        return self.details.momenta

    @property
    def multipliers(self) -> Floats:
        """λ, one column for every equation of constraint, in the order of
        `Model.constraint_names`."""
        return self.details.multipliers

    @property
    def reactions(self) -> Floats:
        """(times, joints and loops, 6): moment and force on the child, world axes, about the
        joint's origin."""
        return self.details.reactions if self.borne is None else self.borne

    @property
    def frames(self) -> Named:
        """Origins of the mechanism's frames over time, m."""
        return self.details.frames

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything with names and units."""
        from .dataset import dataset

        return dataset(self)

    def plot(self, *names: str, **options: Any) -> Figure:
        """Histories over time: "q", "energy", "tau", "reactions", …; see `show.plot`."""
        figure: Figure = find_convenience("Run.plot")(self, *names, **options)
        return figure

    def cyclograph(self, every: float | None = None, **options: Any) -> Figure:
        """Stick figures every so many seconds, one over the other; see `show.cyclograph`."""
        figure: Figure = find_convenience("Run.cyclograph")(self, every, **options)
        return figure

    def animate(self, path: str | Path, **options: Any) -> Path:
        """The motion as .mp4, .gif or .html, by the ending; see `show.animate`."""
        written: Path = find_convenience("Run.animate")(self, path, **options)
        return written

    def save(self, path: str | Path, histories_only: bool = False) -> None:
        """NetCDF by the ending .nc, a table by .csv or .parquet; nothing half-written is left. Runs
        that follow go into files of their own: run.part2.nc, …

        `histories_only` is quick: the file has what `load_run` needs, and leaves out what follows
        from it (reactions, multipliers, energies of bodies, places of frames).
        """
        from .storage import save

        save(self, Path(path), histories_only)

    # -- in words ----------------------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before trusting the motion."""
        found = []
        if not self.finished:
            found.append(self.status)
        if not self.accounted:
            remedy = "smaller tolerances, or an integrator for stiff systems"
            if self.settings.get("mode") == "inverse":
                remedy = "more samples"
            found.append(
                f"energy is not accounted for: kinetic + potential − work strays by "
                f"{self.audit:.2g} of the largest energy (more than {self.audit_limit:.0e}); "
                f"try {remedy}"
            )
        found += self._other_steps()
        if self.singular:
            times = ", ".join(f"{t:.6g}" for t in self.singular[:5])
            more = " …" if len(self.singular) > 5 else ""
            found.append(f"the constraints came near to losing rank at t = {times}{more} s")
        return (*found, *self._assembly_notes)

    @cached_property
    def _assembly_notes(self) -> tuple[str, ...]:
        """What the assembly of the start moved far from where the file has it."""
        given, constrained = (
            self.settings.get("q0"),
            self.mechanism.loops or self.mechanism.constraints,
        )
        assembled = given is None or isinstance(given, Mapping)
        if not (constrained and assembled and "by" in self.settings and self.t[0] == 0):
            return ()
        from ..kinematics.assembly_search import describe_far_assembly_moves
        from ..kinematics.constraint_system import constraint_system

        moves = describe_far_assembly_moves(
            constraint_system(self.mechanism), self.q[0], tuple(given or ())
        )
        return tuple(f"assembly moved {move}" for move in moves)

    def _other_steps(self) -> list[str]:
        """Where a run of fixed steps made others than those asked for."""
        step, made = self.settings.get("step"), self.statistics.get("steps")
        if step is None or made is None or not self.finished or self.next is not None:
            return []
        asked = math.ceil((self.t[-1] - self.t[0]) / step - 1e-6)
        if made == asked:
            return []
        return [
            f"{made:g} steps were made where {asked} of {step:g} s were asked for: "
            "a step ends where an event happens or a sampled controller acts"
        ]

    def _repr_html_(self) -> str:
        head = repr(self).strip("<>").partition("\n")[0]
        return coordinate_range_table(self.mechanism, self.q, self.warnings).to_html(head)

    def __repr__(self) -> str:
        head = (
            f"<Run of {self.mechanism.name}: {self.t[-1]:g} s in {len(self.t)} samples, "
            f"energy audit {self.audit:.1e}"
        )
        return "\n  ".join([head, *self.warnings]) + ">"
