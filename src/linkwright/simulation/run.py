"""A simulated motion: what moved, what it took, and whether energy is accounted for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from ..mechanism import Mechanism

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

FINISHED = "finished"


@dataclass(frozen=True)
class Run:
    """Histories over time, rows of states. `status` is "finished", or says why it stopped and
    what to try; then the part up to there is kept. `singular` are times at which the constraints
    came near to losing rank, where a motion may branch and digits are lost."""

    mechanism: Mechanism
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats
    kinetic: Floats
    potential: Floats
    work: Floats
    closure: Floats
    status: str
    statistics: Mapping[str, float]
    settings: Mapping[str, Any]
    singular: tuple[float, ...] = ()

    @property
    def energy(self) -> Floats:
        """Kinetic and potential, J."""
        return self.kinetic + self.potential

    @property
    def audit(self) -> float:
        """How far kinetic + potential − work strays, as a share of the largest energy."""
        balance = self.energy - self.work
        size = max(np.abs(self.kinetic).max(), np.ptp(self.potential), 1e-300)
        return float(np.abs(balance - balance[0]).max() / size)

    @property
    def finished(self) -> bool:
        return self.status == FINISHED

    @property
    def data(self) -> xarray.Dataset:
        """Everything with names and units."""
        import xarray

        from ..mechanism import names_of

        names = names_of(self.mechanism)
        turning = _turning(self.mechanism)
        return xarray.Dataset(
            {
                "q": (("time", "coordinate"), self.q, {"units": "rad or m"}),
                "qd": (("time", "speed"), self.qd, {"units": "rad/s or m/s"}),
                "qdd": (("time", "speed"), self.qdd, {"units": "rad/s² or m/s²"}),
                "tau": (("time", "speed"), self.tau, {"units": "N·m or N"}),
                "kinetic_energy": ("time", self.kinetic, {"units": "J"}),
                "potential_energy": ("time", self.potential, {"units": "J"}),
                "work": ("time", self.work, {"units": "J"}),
                "closure_error": ("time", self.closure, {"units": "m or rad"}),
            },
            coords={
                "time": ("time", self.t, {"units": "s"}),
                "coordinate": list(names.q),
                "speed": list(names.qd),
                "turns": ("speed", turning),
            },
            attrs={
                "mechanism": self.mechanism.model_dump_json(exclude_unset=True),
                "digest": self.mechanism.digest,
                "status": self.status,
                "settings": json.dumps(dict(self.settings)),
                "statistics": json.dumps(dict(self.statistics)),
                "singular": json.dumps(list(self.singular)),
            },
        )

    def plot(self, *names: str, **options: Any) -> Figure:
        """Histories over time: "q", "energy", "tau", "reactions", …; see `show.plot`."""
        from ..show import plot

        return plot(self, *names, **options)

    def cyclograph(self, every: float | None = None, **options: Any) -> Figure:
        """Stick figures every so many seconds, one over the other; see `show.cyclograph`."""
        from ..show import cyclograph

        return cyclograph(self, every, **options)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """The motion as .mp4, .gif or .html, by the ending; see `show.animate`."""
        from ..show import animate

        return animate(self, path, **options)

    def save(self, path: str | Path) -> None:
        """NetCDF by the ending .nc, a table by .csv; nothing half-written is left behind."""
        target = Path(path)
        half = target.with_name(f".{target.name}.part")
        try:
            if target.suffix == ".nc":
                self.data.to_netcdf(half, engine="scipy")
            elif target.suffix == ".csv":
                half.write_text(self._csv(), encoding="utf-8")
            else:
                raise FileError(
                    f"'{target.suffix}' is no format of runs", where=str(target),
                    remedy="use .nc or .csv",
                )  # fmt: skip
            half.replace(target)
        except OSError as error:
            raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
        finally:
            half.unlink(missing_ok=True)

    def _csv(self) -> str:
        from ..mechanism import names_of

        names = names_of(self.mechanism)
        heads = ["t", *names.q, *(f"d{n}" for n in names.qd), "kinetic", "potential", "work"]
        rows = np.column_stack(
            [self.t, self.q, self.qd, self.kinetic, self.potential, self.work]
        )  # fmt: skip
        lines = [",".join(heads), *(",".join(repr(float(x)) for x in row) for row in rows)]
        return "\n".join(lines) + "\n"


def load_run(path: str | Path) -> Run:
    """A run from the NetCDF file that `Run.save` has written."""
    import xarray

    try:
        with xarray.open_dataset(path, engine="scipy") as data:
            data.load()
        attributes = {key: json.loads(data.attrs[key]) for key in
                      ("mechanism", "settings", "statistics", "singular")}  # fmt: skip
        arrays: dict[str, Any] = {field: data[key].to_numpy() for field, key in _KEPT.items()}
        mechanism = Mechanism(**attributes["mechanism"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"is no run: {error}", where=str(path), remedy="name a .nc file that save has written"
        ) from None
    return Run(
        mechanism=mechanism, **arrays, status=data.attrs["status"],
        statistics=attributes["statistics"], settings=attributes["settings"],
        singular=tuple(attributes["singular"]),
    )  # fmt: skip


_KEPT = {
    "t": "time", "q": "q", "qd": "qd", "qdd": "qdd", "tau": "tau", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "work": "work", "closure": "closure_error",
}  # fmt: skip
"""Fields of a run, and what they are called in its file."""


def _turning(mechanism: Mechanism) -> list[bool]:
    if mechanism.coordinates is not None:
        return [True] * len(mechanism.coordinates.own)
    joints = [joint for _, joint in mechanism.joints_depth_first() if joint.moves]
    return [freedom.turns for joint in joints for freedom in joint.freedoms]
