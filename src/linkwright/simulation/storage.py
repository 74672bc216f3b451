"""Files of runs: NetCDF, written and read; tables (CSV, Parquet), written only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError, FileError, MissingExtraError, type_in_words
from ..files.partial_files import partial_file_name
from ..mechanism import mechanism_names
from ..types import Floats
from .dataset import dataset_of_run, file_attributes
from .run import Run
from .schema import check_times, read_attributes, read_histories, read_mechanism
from .sensitivity_data import sensitivity_columns

if TYPE_CHECKING:
    import xarray

    from .kinematic_motion import Kinematics

RUN_FORMATS = (".nc", ".csv", ".parquet")
"""Extensions of the files in which runs are saved."""


def check_format(path: Path) -> None:
    """Raise an error unless runs can be saved in a file with this extension."""
    if path.suffix not in RUN_FORMATS:
        raise FileError(
            f"'{path.suffix}' is not a format for runs",
            where=str(path),
            remedy=f"use {', '.join(RUN_FORMATS[:-1])} or {RUN_FORMATS[-1]}",
        )
    if path.suffix == ".parquet":
        _import_pyarrow()


def prepare_saving(target: Path) -> None:
    """Load the library that writes the file, so that an interrupted run is saved at once."""
    check_format(target)
    if target.suffix == ".nc":
        import scipy.io  # noqa: F401
        import xarray  # noqa: F401


def save(run: Run | Kinematics, target: Path, histories_only: bool = False) -> None:
    """Write a run, and the runs that follow it, into files that are complete or absent."""
    check_format(target)
    partial = partial_file_name(target)
    try:
        if target.suffix == ".nc":
            _dataset_for_file(run, target, histories_only).to_netcdf(partial, engine="scipy")
        elif target.suffix == ".csv":
            partial.write_text(_csv_text(table_columns(run, histories_only)), encoding="utf-8")
        else:
            _write_parquet(run, partial, histories_only)
        if isinstance(run, Run) and run.next is not None:
            save(run.next, _next_file(target), histories_only)
        partial.replace(target)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    finally:
        partial.unlink(missing_ok=True)


def _dataset_for_file(run: Run | Kinematics, target: Path, histories_only: bool) -> xarray.Dataset:
    """Return the data, with the name of the next run's file if a member broke."""
    if not isinstance(run, Run):
        return run.data
    data = dataset_of_run(run, histories_only)
    return data if run.next is None else data.assign_attrs(next=_next_file(target).name)


def _next_file(path: Path) -> Path:
    """Return the file of the run that follows: run.nc, run.part2.nc, run.part3.nc, …"""
    stem, _, number = path.stem.rpartition(".part")
    if stem and number.isdigit():
        return path.with_name(f"{stem}.part{int(number) + 1}{path.suffix}")
    return path.with_name(f"{path.stem}.part2{path.suffix}")


def table_columns(run: Run | Kinematics, histories_only: bool = False) -> dict[str, Floats]:
    """Return columns by name: t, q1, dq1, ddq1, tau_q1, energies, works, sensitivities, and (unless
    `histories_only`) the positions of frames; motions only for kinematics."""
    names = mechanism_names(run.mechanism)
    found = {"t": run.t}
    found |= dict(zip(names.q, run.q.T, strict=True))
    for prefix, values in (("d", run.qd), ("dd", run.qdd)):
        found |= {f"{prefix}{n}": x for n, x in zip(names.qd, values.T, strict=True)}
    if isinstance(run, Run):
        found |= _force_and_energy_columns(run) | sensitivity_columns(run.sensitivity, len(run.t))
    for frame, places in {} if histories_only else run.frames.items():
        found |= {f"{frame}_{axis}": x for axis, x in zip("xyz", places.T, strict=True)}
    return found


def _force_and_energy_columns(run: Run) -> dict[str, Floats]:
    """Return the columns of forces, actuator efforts, energies and works."""
    names = mechanism_names(run.mechanism)
    found = {f"tau_{n}": x for n, x in zip(names.qd, run.tau.T, strict=True)}
    if run.u is not None:
        found |= {f"u_{n}": x for n, x in zip(names.actuators, run.u.T, strict=True)}
    return found | {
        "kinetic": run.kinetic,
        "potential": run.potential,
        "work": run.work,
        "work_inputs": run.work_inputs,
        "work_given": run.work_given,
        "work_losses": run.work_losses,
    }


def _csv_text(table: dict[str, Floats]) -> str:
    """Return a table as CSV, with all digits."""
    rows = np.column_stack(list(table.values())).tolist()
    lines = [",".join(table), *(",".join(map(repr, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _import_pyarrow() -> ModuleType:
    """Return pyarrow; raise if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet files need pyarrow, which is not installed",
            remedy='pip install "linkwright[parquet]", or save as .nc or .csv',
        ) from None
    module: ModuleType = pyarrow
    return module


def _write_parquet(run: Run | Kinematics, path: Path, histories_only: bool) -> None:
    """Write a table with the attributes of the run as metadata."""
    pyarrow = _import_pyarrow()
    attributes = file_attributes(run) if isinstance(run, Run) else run.data.attrs
    metadata = {key: str(value) for key, value in attributes.items()}
    table = pyarrow.table(table_columns(run, histories_only)).replace_schema_metadata(metadata)
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
    runs: dict[Path, Run] = {}
    file: Path | None = Path(path)
    while file is not None:
        if file in runs:
            raise _invalid_run(path, f"'{file.name}' follows itself")
        runs[file], next_name = _read_run(file)
        file = None if next_name is None else file.with_name(next_name)
    first, *others = reversed(runs.values())
    for run in others:
        first = replace(run, next=first)
    return first


def _read_run(path: Path) -> tuple[Run, str | None]:
    """Return a run without those that follow, and the name of the next one's file."""
    data = _read_dataset(path)
    try:
        mechanism = read_mechanism(data)
        attributes, histories = read_attributes(data), read_histories(data, mechanism)
        check_times(histories["t"], attributes["settings"])
        next_name = data.attrs.get("next")
        if next_name is not None and not _is_file_name(next_name):
            raise FileError("its attribute 'next' does not name a file beside it")
    except FileError as error:
        raise _invalid_run(path, error.what) from None
    return Run(mechanism=mechanism, **attributes, **histories), next_name


def _read_dataset(path: Path) -> xarray.Dataset:
    """Return the content of the file, without decoding."""
    import xarray

    try:
        _check_is_file(path)
        with xarray.open_dataset(
            path, engine="scipy", decode_times=False, mask_and_scale=False
        ) as data:
            return data.load()
    except FileError as error:
        raise _invalid_run(path, error.what) from None
    except Exception:  # readers raise many kinds on damaged bytes, in words of their own
        raise _invalid_run(path, "its bytes are damaged, or it is not a NetCDF file") from None


def _check_is_file(path: Path) -> None:
    """Raise for folders, pipes and devices."""
    if path.exists() and not path.is_file():
        raise FileError("it is a folder, pipe or device")


def _is_file_name(name: object) -> bool:
    """Return whether the name is that of a file in the same folder."""
    return isinstance(name, str) and bool(name) and Path(name).name == name


def _invalid_run(path: str | Path, why: str) -> FileError:
    """Return the error of a file that does not contain a run."""
    return FileError(
        f"is not a run: {why}", where=str(path), remedy="name a .nc file that save has written"
    )
