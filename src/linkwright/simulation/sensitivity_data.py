"""Sensitivities as an `xarray.Dataset`, and as a part of the file of a run.

In the file they have a time axis of their own, since they may end before the run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..types import Floats

if TYPE_CHECKING:
    import xarray

PREFIX = "sensitivity_"
"""Prefix of the names of variables, of the time axis and of the status in the file of a run."""


def sensitivity_dataset(
    mechanism: Mechanism,
    times: Floats,
    derivatives: tuple[Floats, Floats],
    wrt: Sequence[str],
    status: str,
) -> xarray.Dataset:
    """Return derivatives of q and q̇ (times, coordinates, wrt) with names and units."""
    import xarray

    names, units = mechanism_names(mechanism), velocity_units(mechanism)
    rates = [UNITS_OF_RATES["qd"][unit] for unit in units]
    of_start = {f"q0.{name}": unit for name, unit in zip(names.qd, units, strict=True)}
    of_start |= {f"qd0.{name}": unit for name, unit in zip(names.qd, rates, strict=True)}
    variables = {
        key: (("time", dimension, "wrt"), values, {"units": f"{key}_units by wrt_units"})
        for key, dimension, values in zip(
            ("q", "qd"), ("coordinate", "speed"), derivatives, strict=True
        )
    }
    labels: dict[str, Any] = {
        "time": ("time", times, {"units": "s"}),
        "coordinate": list(names.q),
        "speed": list(names.qd),
        "wrt": list(wrt),
        "q_units": ("coordinate", coordinate_units(mechanism)),
        "qd_units": ("speed", rates),
        "wrt_units": ("wrt", [of_start.get(name, "SI unit") for name in wrt]),
    }
    attributes = {"mechanism": mechanism.name, "until": float(times[-1]), "status": status}
    return xarray.Dataset(variables, labels, attributes)


def add_sensitivities(data: xarray.Dataset, found: xarray.Dataset | None) -> xarray.Dataset:
    """Return the data of a run with its sensitivities, if there are any."""
    if found is None:
        return data
    own = found.rename(time=f"{PREFIX}time", q=f"{PREFIX}q", qd=f"{PREFIX}qd")
    own = own.drop_vars(["q_units", "qd_units"])
    return data.merge(own).assign_attrs({f"{PREFIX}status": found.attrs["status"]})


def sensitivity_columns(found: xarray.Dataset | None, rows: int) -> dict[str, Floats]:
    """Return sensitivities as columns of a table, `sensitivity_q_theta3_by_l2`; NaN after their
    end."""
    columns: dict[str, Floats] = {}
    if found is None:
        return columns
    for key, labels in (("q", "coordinate"), ("qd", "speed")):
        values = found[key].to_numpy()
        for i, name in enumerate(found[labels].to_numpy()):
            for k, wrt in enumerate(found["wrt"].to_numpy()):
                rest = np.full(rows - len(values), np.nan)
                columns[f"{PREFIX}{key}_{name}_by_{wrt}"] = np.append(values[:, i, k], rest)
    return columns


def read_sensitivities(data: xarray.Dataset, mechanism: Mechanism) -> xarray.Dataset | None:
    """Return the sensitivities of a file, checked; None if it has none."""
    if f"{PREFIX}q" not in data:
        return None
    names = mechanism_names(mechanism)
    keys = [f"{PREFIX}{key}" for key in ("time", "q", "qd")]
    status = data.attrs.get(f"{PREFIX}status")
    if "wrt" not in data.coords or any(key not in data for key in keys):
        raise FileError("its sensitivities are not complete")
    if not isinstance(status, str):
        raise FileError(f"its attribute '{PREFIX}status' is missing or is not text")
    wrt = [str(name) for name in data["wrt"].to_numpy()]
    times, q, qd = (data[key].to_numpy() for key in keys)
    shapes = (len(times),), (len(times), names.nq, len(wrt)), (len(times), names.nv, len(wrt))
    for key, values, shape in zip(keys, (times, q, qd), shapes, strict=True):
        if values.shape != shape or values.dtype.kind != "f" or not np.isfinite(values).all():
            raise FileError(f"'{key}' does not hold {' × '.join(map(str, shape))} finite numbers")
    return sensitivity_dataset(mechanism, times, (q, qd), wrt, status)
