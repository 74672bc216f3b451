"""A simulated motion: what moved, what it took, and whether energy is accounted for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from ..mechanism import Mechanism

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]

FINISHED = "finished"


class Happened(NamedTuple):
    """An event of a run: when, of what, and what it did."""

    t: float
    name: str
    what: str


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
    events: tuple[Happened, ...] = ()
    pushes: Floats | None = None
    """Forces of dry friction, stops and rigid contacts along the speeds, where there are any."""
    next: Run | None = None
    """How it went on after a member broke: a run of the mechanism that is left."""

    @property
    def parts(self) -> tuple[Run, ...]:
        """This run and those that follow it, one for every mechanism on the way."""
        return (self, *(self.next.parts if self.next is not None else ()))

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
        """Whether it, or what came of it after members broke, reached its end."""
        return self.status == FINISHED if self.next is None else self.next.finished

    @property
    def data(self) -> xarray.Dataset:
        """Everything with names and units."""
        import xarray

        from ..mechanism import names_of

        names = names_of(self.mechanism)
        turning = _turning(self.mechanism)
        pushes = np.zeros_like(self.qd) if self.pushes is None else self.pushes
        return xarray.Dataset(
            {
                "push": (("time", "speed"), pushes, {"units": "N·m or N"}),
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
                "events": json.dumps([list(event) for event in self.events]),
                "next": "",
            },
        )

    def save(self, path: str | Path) -> None:
        """NetCDF by the ending .nc, a table by .csv; nothing half-written is left behind. Runs
        that follow go into files of their own: run.part2.nc, …"""
        target = Path(path)
        half = target.with_name(f".{target.name}.part")
        try:
            if target.suffix == ".nc":
                data = self.data
                data.attrs["next"] = "" if self.next is None else _later(target).name
                data.to_netcdf(half, engine="scipy")
            elif target.suffix == ".csv":
                half.write_text(self._csv(), encoding="utf-8")
            else:
                raise FileError(
                    f"'{target.suffix}' is no format of runs", where=str(target),
                    remedy="use .nc or .csv",
                )  # fmt: skip
            if self.next is not None:
                self.next.save(_later(target))
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
                      ("mechanism", "settings", "statistics", "singular", "events")}  # fmt: skip
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
        events=tuple(Happened(*event) for event in attributes["events"]),
        next=load_run(Path(path).with_name(data.attrs["next"])) if data.attrs["next"] else None,
    )  # fmt: skip


def _later(path: Path) -> Path:
    """The file of the run that follows: run.nc, run.part2.nc, run.part3.nc, …"""
    stem, _, number = path.stem.rpartition(".part")
    if stem and number.isdigit():
        return path.with_name(f"{stem}.part{int(number) + 1}{path.suffix}")
    return path.with_name(f"{path.stem}.part2{path.suffix}")


_KEPT = {
    "t": "time", "q": "q", "qd": "qd", "qdd": "qdd", "tau": "tau", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "work": "work", "closure": "closure_error",
    "pushes": "push",
}  # fmt: skip
"""Fields of a run, and what they are called in its file."""


def _turning(mechanism: Mechanism) -> list[bool]:
    if mechanism.coordinates is not None:
        return [True] * len(mechanism.coordinates.own)
    joints = [joint for _, joint in mechanism.joints_depth_first() if joint.moves]
    return [freedom.turns for joint in joints for freedom in joint.freedoms]
