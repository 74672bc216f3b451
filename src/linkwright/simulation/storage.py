"""Runs in files: NetCDF out and in, tables (CSV, Parquet) out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, FileError, MissingExtraError, type_in_words
from ..files.partial_files import partial_file_name
from ..mechanism import mechanism_names
from .dataset import attributes_of_file, dataset
from .run import Run
from .schema import attributes_of, check_times, histories_of, mechanism_of

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


def prepare_saving(target: Path) -> None:
    """Loads the library that writes the file, which takes time that an interrupted run has not."""
    check_format(target)
    if target.suffix == ".nc":
        import scipy.io  # noqa: F401
        import xarray  # noqa: F401


def save(run: Run | Kinematics, target: Path, histories_only: bool = False) -> None:
    """Writes a file whole or not at all."""
    check_format(target)
    half = partial_file_name(target)
    try:
        if target.suffix == ".nc":
            _with_next(run, target, histories_only).to_netcdf(half, engine="scipy")
        elif target.suffix == ".csv":
            half.write_text(_csv(columns(run, histories_only)), encoding="utf-8")
        else:
            _write_parquet(run, half, histories_only)
        if isinstance(run, Run) and run.next is not None:
            save(run.next, _later(target), histories_only)
        half.replace(target)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    finally:
        half.unlink(missing_ok=True)


def _with_next(run: Run | Kinematics, target: Path, histories_only: bool) -> xarray.Dataset:
    """The data; a run that goes on after a member broke has another file beside its own."""
    if not isinstance(run, Run):
        return run.data
    data = dataset(run, histories_only)
    return data if run.next is None else data.assign_attrs(next=_later(target).name)


def _later(path: Path) -> Path:
    """The file of the run that follows: run.nc, run.part2.nc, run.part3.nc, …"""
    stem, _, number = path.stem.rpartition(".part")
    if stem and number.isdigit():
        return path.with_name(f"{stem}.part{int(number) + 1}{path.suffix}")
    return path.with_name(f"{path.stem}.part2{path.suffix}")


def columns(run: Run | Kinematics, histories_only: bool = False) -> dict[str, Any]:
    """A table by the names of its columns: t, q1, dq1, ddq1, tau_q1, energies, works, and (unless
    `histories_only`) the positions of frames; of kinematics, only motions."""
    names = mechanism_names(run.mechanism)
    found = {"t": run.t}
    found |= dict(zip(names.q, run.q.T, strict=True))
    for prefix, values in (("d", run.qd), ("dd", run.qdd)):
        found |= {f"{prefix}{n}": x for n, x in zip(names.qd, values.T, strict=True)}
    if isinstance(run, Run):
        found |= _forces(run)
    for frame, places in {} if histories_only else run.frames.items():
        found |= {f"{frame}_{axis}": x for axis, x in zip("xyz", places.T, strict=True)}
    return found


def _forces(run: Run) -> dict[str, Any]:
    names = mechanism_names(run.mechanism)
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


def _write_parquet(run: Run | Kinematics, path: Path, histories_only: bool) -> None:
    pyarrow = _pyarrow()
    about = attributes_of_file(run) if isinstance(run, Run) else run.data.attrs
    kept = {k: str(v) for k, v in about.items()}
    table = pyarrow.table(columns(run, histories_only)).replace_schema_metadata(kept)
    pyarrow.parquet.write_table(table, path)


def load_run(path: str | Path) -> Run:
    """Return a run from a NetCDF file that `Run.save` has written, with the runs that follow it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Run
        The run.

    Examples
    --------
    >>> import tempfile
    >>> import linkwright as lw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lw.simulate(lw.gallery("elbow"), 0.1, samples=3).save(f"{folder}/run.nc")
    ...     lw.load_run(f"{folder}/run.nc").q.shape
    (3, 2)
    """
    if not isinstance(path, str | Path):
        raise ArgumentError(
            f"{type_in_words(path)} is not a file", remedy='write load_run("run.nc")'
        )
    runs: list[Run] = []
    later: Path | None = Path(path)
    seen: list[Path] = []
    while later is not None:
        if later in seen:
            raise _no_run(path, f"'{later.name}' follows itself")
        seen.append(later)
        run, following = _read_run(later)
        runs.append(run)
        later = None if following is None else later.with_name(following)
    found = runs.pop()
    for run in reversed(runs):
        found = replace(run, next=found)
    return found


def _read_run(path: Path) -> tuple[Run, str | None]:
    """A run without those that follow, and the name of the next one's file."""
    data = _read_dataset(path)
    try:
        mechanism = mechanism_of(data)
        attributes, histories = attributes_of(data), histories_of(data, mechanism)
        check_times(histories["t"], attributes["settings"])
        following = data.attrs.get("next")
        if following is not None and not _is_name(following):
            raise FileError("its attribute 'next' does not name a file beside it")
    except FileError as error:
        raise _no_run(path, error.what) from None
    return Run(mechanism=mechanism, **attributes, **histories), following


def _read_dataset(path: Path) -> xarray.Dataset:
    """What the file holds, as it is written there."""
    import xarray

    try:
        _check_is_file(path)
        with xarray.open_dataset(
            path, engine="scipy", decode_times=False, mask_and_scale=False
        ) as data:
            return data.load()
    except FileError as error:
        raise _no_run(path, error.what) from None
    except Exception as error:  # what readers raise on damaged bytes has no end
        raise _no_run(path, " ".join(str(error).split()) or type(error).__name__) from None


def _check_is_file(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise FileError("it is a folder, pipe or device")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name) and Path(name).name == name


def _no_run(path: str | Path, why: str) -> FileError:
    return FileError(
        f"is no run: {why}", where=str(path), remedy="name a .nc file that save has written"
    )
