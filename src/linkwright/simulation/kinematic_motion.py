"""`Kinematics`: the motion of a driven mechanism over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conveniences import find_convenience
from ..mechanism import Mechanism
from ..mechanism.mechanism_units import coordinate_range_table
from ..model.model import Model
from ..model.model import compile as compile_model
from ..types import Floats
from .run import FINISHED
from .singularities import Singularity

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Kinematics:
    """Positions, velocities and accelerations over time, one row for each time.

    `t`, `q`, `qd` and `qdd` are the histories of `mechanism`, `closure` the residual of the
    constraints (m, rad), and `driven` the coordinates whose motion is given. Where a position
    cannot be reached, `status` says so, and the motion up to there is kept. `singular` are the dead
    centres, limits and branch points in the order of time. `settings` are those of
    `solve_kinematics`, in the form that a file stores.

    Examples
    --------
    >>> import linkwright as lw
    >>> motion = lw.solve_kinematics(lw.gallery("four-bar"), {"theta1": "1 + t"}, 0.1, samples=3)
    >>> motion.driven, motion.finished, bool(motion.closure.max() < 1e-9)
    (('theta1',), True, True)
    """

    mechanism: Mechanism
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    closure: Floats
    driven: tuple[str, ...]
    singular: tuple[Singularity, ...]
    status: str
    settings: Mapping[str, Any]

    @property
    def finished(self) -> bool:
        """Whether the motion reached its end."""
        return self.status == FINISHED

    @cached_property
    def model(self) -> Model:
        """The compiled functions of the mechanism."""
        return compile_model(self.mechanism, threads=1)

    @property
    def frames(self) -> dict[str, Floats]:
        """Origins of the mechanism's frames over time, m."""
        return {name: self.frame(name)[0] for name in self.mechanism.frames}

    def frame(self, name: str) -> tuple[Floats, Floats, Floats]:
        """Return position, velocity and acceleration of the frame `name`.

        Each is an array (times, 3) in the world: m, m/s, m/s².
        """
        model, t = self.model, self.model.names.position_time_arguments(self.t)
        position = model.placement(name)(self.q, *t)[:, :3, 3]
        velocity = model.frame_velocity(name)(self.q, self.qd, *t)[:, 3:]
        acceleration = model.frame_acceleration(name)(self.q, self.qd, self.qdd, *t)[:, 3:]
        return position, velocity, acceleration

    @cached_property
    def data(self) -> xarray.Dataset:
        """All histories with names and units, and the motion of all frames."""
        from .dataset import dataset_of_kinematics

        return dataset_of_kinematics(self)

    def plot(self, *names: str, **options: object) -> Figure:
        """Return a figure of the histories `names`, such as "q", "qd" and "qdd".

        `options` are those of `show.plot`.
        """
        chosen = names or ("q", "qd", "qdd")
        figure: Figure = find_convenience("Kinematics.plot")(self, *chosen, **options)
        return figure

    def cyclograph(self, every: float | None = None, **options: object) -> Figure:
        """Return a figure of stick figures at intervals of `every` (s, or the swept coordinate).

        `options` are those of `show.cyclograph`.
        """
        figure: Figure = find_convenience("Kinematics.cyclograph")(self, every, **options)
        return figure

    def animate(self, path: str | Path, **options: object) -> Path:
        """Return the path of the film that is written to `path`: .mp4, .gif or .html.

        `options` are those of `show.animate`.
        """
        film: Path = find_convenience("Kinematics.animate")(self, path, **options)
        return film

    def save(self, path: str | Path) -> None:
        """Save the motion in the file `path`: NetCDF (.nc), or a table (.csv, .parquet)."""
        from .storage import save

        save(self, Path(path))

    def _repr_html_(self) -> str:
        """Return the ranges of the coordinates as a table for a notebook."""
        head, *notes = repr(self).strip("<>").split("\n  ")
        return coordinate_range_table(self.mechanism, self.q, notes).to_html(head)

    def __repr__(self) -> str:
        """Return the number of positions, the status, and the singular positions."""
        head = f"<Kinematics of {self.mechanism.name}: {len(self.t)} positions"
        lines = [head, *([] if self.finished else [self.status]), *map(str, self.singular)]
        return "\n  ".join(lines) + ">"
