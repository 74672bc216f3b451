"""Runs in files: NetCDF out and in, tables (CSV, Parquet) out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError, LinkwrightError, MissingExtraError
from ..files import load
from ..mechanism import names_of
from .run import Happened, Run

if TYPE_CHECKING:
    import xarray

    from .kinematic import Kinematics

FORMATS = (".nc", ".csv", ".parquet")


def check_format(path: Path) -> None:
    if path.suffix not in FORMATS:
        raise FileError(
            f"'{path.suffix}' is no format of runs", where=str(path),
            remedy=f"use {', '.join(FORMATS[:-1])} or {FORMATS[-1]}",
        )  # fmt: skip
    if path.suffix == ".parquet":
        _pyarrow()


def save(run: Run | Kinematics, target: Path) -> None:
    """Writes a file whole or not at all."""
    check_format(target)
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.suffix == ".nc":
            _with_next(run, target).to_netcdf(half, engine="scipy")
        elif target.suffix == ".csv":
            half.write_text(_csv(columns(run)), encoding="utf-8")
        else:
            _write_parquet(run, half)
        if isinstance(run, Run) and run.next is not None:
            save(run.next, _later(target))
        half.replace(target)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    finally:
        half.unlink(missing_ok=True)


def _with_next(run: Run | Kinematics, target: Path) -> xarray.Dataset:
    """The data; a run that goes on after a member broke has another file beside its own."""
    if not isinstance(run, Run) or run.next is None:
        return run.data
    return run.data.assign_attrs(next=_later(target).name)


def _later(path: Path) -> Path:
    """The file of the run that follows: run.nc, run.part2.nc, run.part3.nc, …"""
    stem, _, number = path.stem.rpartition(".part")
    if stem and number.isdigit():
        return path.with_name(f"{stem}.part{int(number) + 1}{path.suffix}")
    return path.with_name(f"{path.stem}.part2{path.suffix}")


def columns(run: Run | Kinematics) -> dict[str, Any]:
    """A table by the names of its columns: t, q1, dq1, ddq1, tau_q1, energies, works, and the
    positions of frames; of kinematics, only motions."""
    names = names_of(run.mechanism)
    found = {"t": run.t}
    found |= dict(zip(names.q, run.q.T, strict=True))
    for prefix, values in (("d", run.qd), ("dd", run.qdd)):
        found |= {f"{prefix}{n}": x for n, x in zip(names.qd, values.T, strict=True)}
    if isinstance(run, Run):
        found |= _forces(run)
    for frame, places in run.frames.items():
        found |= {f"{frame}_{axis}": x for axis, x in zip("xyz", places.T, strict=True)}
    return found


def _forces(run: Run) -> dict[str, Any]:
    names = names_of(run.mechanism)
    found = {f"tau_{n}": x for n, x in zip(names.qd, run.tau.T, strict=True)}
    if run.u is not None:
        found |= {f"u_{n}": x for n, x in zip(names.actuators, run.u.T, strict=True)}
    found |= {
        "kinetic": run.kinetic, "potential": run.potential, "work": run.work,
        "work_inputs": run.work_inputs, "work_given": run.work_given,
        "work_losses": run.work_losses,
    }  # fmt: skip
    return found


def _csv(table: dict[str, Any]) -> str:
    rows = np.column_stack(list(table.values())).tolist()
    lines = [",".join(table), *(",".join(map(repr, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet files need pyarrow, which is not installed",
            remedy='pip install "linkwright[parquet]", or save as .nc or .csv',
        ) from None
    return pyarrow


def _write_parquet(run: Run | Kinematics, path: Path) -> None:
    pyarrow = _pyarrow()
    kept = {k: str(v) for k, v in run.data.attrs.items()}
    table = pyarrow.table(columns(run)).replace_schema_metadata(kept)
    pyarrow.parquet.write_table(table, path)


def load_run(path: str | Path) -> Run:
    """A run from the NetCDF file that `Run.save` has written."""
    import xarray

    try:
        with xarray.open_dataset(path, engine="scipy") as data:
            data.load()
        attributes = {key: json.loads(data.attrs[key]) for key in
                      ("settings", "statistics", "singular", "versions", "events")}  # fmt: skip
        arrays: dict[str, Any] = {name: data[key].to_numpy() for name, key in _KEPT.items()}
        mechanism = load(str(data.attrs["mechanism"]))
        contacts = mechanism.contacts.values()
        status = str(data.attrs["status"])
    except (OSError, ValueError, KeyError, TypeError, LinkwrightError) as error:
        raise FileError(
            f"is no run: {error}", where=str(path), remedy="name a .nc file that save has written"
        ) from None
    return Run(
        mechanism=mechanism, **arrays, status=status,
        statistics=attributes["statistics"], settings=attributes["settings"],
        versions=attributes["versions"], singular=tuple(attributes["singular"]),
        u=data["u"].to_numpy() if "u" in data else None,
        pushes=data["push"].to_numpy() if "push" in data else None,
        borne=data["reactions"].to_numpy() if any(c.rigid for c in contacts) else None,
        events=tuple(Happened(*event) for event in attributes["events"]),
        next=load_run(Path(path).with_name(data.attrs["next"])) if "next" in data.attrs else None,
        control={x.attrs["state"]: x.to_numpy() for x in data.values() if "state" in x.attrs},
    )  # fmt: skip


_KEPT = {
    "t": "time", "q": "q", "qd": "qd", "qdd": "qdd", "tau": "tau", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "work": "work", "work_inputs": "work_inputs",
    "work_given": "work_given", "closure": "closure_error",
}  # fmt: skip
"""Fields of a run, and what they are called in its file."""
