"""`Run`: the result of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..conveniences import find_convenience
from ..live_displays import LiveDisplayed
from ..mechanism import Mechanism
from ..mechanism.mechanism_units import coordinate_range_table
from ..types import Floats
from .details import Details, NamedHistories
from .run_energies import RunEnergies

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


FINISHED = "finished"
"""Status of a run that reached its end."""


class Happened(NamedTuple):
    """An event of a run: its time `t`, its `name`, and `what` it did.

    Examples
    --------
    >>> import linkwright as lw
    >>> event = lw.simulation.Event("q1 + 0.5", direction="falling")
    >>> run = lw.simulate(lw.gallery("elbow"), 0.5, events={"low": event})
    >>> run.events[0].name, 0 < run.events[0].t < 0.5
    ('low', True)
    """

    t: float
    name: str
    what: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Run(RunEnergies, LiveDisplayed):
    """Histories over time, one row for each time in `t`.

    `q`, `qd` and `qdd` are coordinates, velocities and accelerations, `tau` the generalized forces
    of the inputs, `u` the actuator efforts, if there are actuators, and `control` the states of a
    controller by name. `closure` is the residual of the constraints, m and rad. `pushes` are the
    generalized forces of dry friction, stops and rigid contacts, if there are any, and `borne` the
    reactions of joints and loops where rigid contacts act on bodies. `superabundant` are the
    coordinates and rates that only `by="approximate"` has, by name: x_link2, …, dx_link2, …

    `kinetic` and `potential` are energies, J. `work` is done by everything but gravity and springs:
    the inputs (`work_inputs`), given forces and driven constraints (`work_given`), and losses.

    `effort_notes` says which controls and efforts were clipped to limits that the mechanism
    declares, and which limits were not imposed.
    `status` is "finished", or says why the run stopped, where, and what to try; the motion up to
    there is kept. `events` are those that happened. `singular` are times at which the constraints
    were close to losing rank, where a motion may branch and digits are lost. `next` is the run of
    the remaining mechanism after a member of `mechanism` broke. `sensitivity` are derivatives of q
    and q̇ by parameters and the start, if `simulate` was asked for them. `statistics`, `settings`
    and `versions` are those of the integration.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.5, samples=11)
    >>> run.status, run.q.shape
    ('finished', (11, 2))
    >>> energy = run.kinetic + run.potential - run.work
    >>> bool(abs(energy - energy[0]).max() < 1e-6)
    True
    """

    mechanism: Mechanism
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats
    closure: Floats
    status: str
    versions: Mapping[str, str]
    singular: tuple[float, ...] = ()
    u: Floats | None = None
    control: Mapping[str, Floats] = field(default_factory=dict)
    superabundant: Mapping[str, Floats] = field(default_factory=dict)
    effort_notes: tuple[str, ...] = ()
    events: tuple[Happened, ...] = ()
    pushes: Floats | None = None
    borne: Floats | None = None
    sensitivity: xarray.Dataset | None = None
    next: Run | None = None

    @property
    def parts(self) -> tuple[Run, ...]:
        """This run and those that follow it, one for each mechanism after a member broke."""
        return (self, *(self.next.parts if self.next is not None else ()))

    @property
    def finished(self) -> bool:
        """Whether the run, or the last one after members broke, reached its end."""
        return self.status == FINISHED if self.next is None else self.next.finished

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped by Ctrl-C."""
        return self.status.startswith("interrupted")

    # -- what follows from the histories -----------------------------------------------------

    @cached_property
    def details(self) -> Details:
        """Energies of every part, momenta, reactions, positions; computed when first read."""
        if self.pushes is None:
            return Details(self.mechanism, self.t, self.q, self.qd, self.qdd, self.tau)
        from .events.sharp_friction import (
            without_sharp_friction,
        )  # the pushes contain this friction

        mechanism, forces = without_sharp_friction(self.mechanism), self.tau + self.pushes
        return Details(mechanism, self.t, self.q, self.qd, self.qdd, forces)

    @property
    def power(self) -> Floats:
        """Power of the inputs, one column for each velocity, W."""
        return self.tau * self.qd

    @property
    def momenta(self) -> Floats:
        """Generalized momenta p = M q̇, one column for each velocity."""
        return self.details.momenta

    @cached_property
    def multipliers(self) -> Floats:
        """Multipliers λ, one column for each constraint row, in the order of
        `Model.constraint_names`; of `by="approximate"` those of its springs and dampers, with the
        superabundant coordinates first."""
        if not self.has_spring_forces:
            return self.details.multipliers
        from .spring_states import spring_multipliers

        return spring_multipliers(self)

    @property
    def has_spring_forces(self) -> bool:
        """Whether springs hold the constraints: `by="approximate"`."""
        return self.settings.get("by") == "approximate"

    @property
    def reactions(self) -> Floats:
        """Moment and force on the child at each joint and loop, (times, joints and loops, 6).

        In world axes, N m and N; moments are about the joint's origin.
        """
        return self.details.reactions if self.borne is None else self.borne

    @property
    def frames(self) -> NamedHistories:
        """Origins of the mechanism's frames over time, m."""
        return self.details.frames

    @cached_property
    def data(self) -> xarray.Dataset:
        """All data with names and units."""
        from .dataset import dataset_of_run

        return dataset_of_run(self)

    def plot(self, *names: str, **options: object) -> Figure:
        """Return a figure of the histories `names`, such as "q", "energy" and "tau".

        `options` are those of `show.plot`.
        """
        figure: Figure = find_convenience("Run.plot")(self, *names, **options)
        return figure

    def cyclograph(self, every: float | None = None, **options: object) -> Figure:
        """Return a figure of stick figures at intervals of `every` seconds.

        `options` are those of `show.cyclograph`.
        """
        figure: Figure = find_convenience("Run.cyclograph")(self, every, **options)
        return figure

    def animate(self, path: str | Path, **options: object) -> Path:
        """Return the path of the film that is written to `path`: .mp4, .gif or .html.

        `options` are those of `show.animate`.
        """
        film: Path = find_convenience("Run.animate")(self, path, **options)
        return film

    def save(self, path: str | Path, histories_only: bool = False) -> None:
        """Save the run in the file `path`: NetCDF (.nc), or a table (.csv, .parquet).

        Files are complete or absent. Runs that follow have files of their own: run.part2.nc, …
        `histories_only` is fast: the file has what `load_run` needs, without the data that follow
        from it (reactions, multipliers, energies of bodies, positions of frames).
        """
        from .storage import save

        save(self, Path(path), histories_only)

    # -- in words ----------------------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before trusting the motion."""
        from .run_warnings import run_warnings

        return run_warnings(self)

    def _repr_html_(self) -> str:
        """Return the ranges of the coordinates and the warnings as a table for a notebook."""
        head = repr(self).strip("<>").partition("\n")[0]
        return coordinate_range_table(self.mechanism, self.q, self.warnings).to_html(head)

    def __repr__(self) -> str:
        """Return the duration, the energy audit and the warnings."""
        head = (
            f"<Run of {self.mechanism.name}: {self.t[-1]:g} s in {len(self.t)} samples, "
            f"energy audit {self.audit:.1e}"
        )
        return "\n  ".join([head, *self.warnings]) + ">"
