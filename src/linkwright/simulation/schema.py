"""The content that a run file must have, checked on loading: attributes, sizes, names, numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError, LinkwrightError
from ..files.toml_reader import read_toml
from ..mechanism import Mechanism, MechanismNames, mechanism_names
from ..types import Floats
from .run import Happened
from .sensitivity_data import read_sensitivities

if TYPE_CHECKING:
    import xarray


HISTORIES = {
    "t": "time", "q": "q", "qd": "qd", "qdd": "qdd", "tau": "tau", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "work": "work", "work_inputs": "work_inputs",
    "work_given": "work_given", "closure": "closure_error",
}  # fmt: skip
"""Fields of a run, and their names in its file."""

_LAST_MAY_FAIL = {"qdd", "tau", "u", "push", "reactions"}
"""Histories whose last row need not be finite: a run may stop where accelerations are not."""

_NUMBER, _TEXT = (int, float), (str,)
"""Types of numbers and texts in JSON."""
_SETTINGS: dict[str, tuple[type, ...]] = {
    "t": _NUMBER, "q0": (list, dict), "qd0": (list, dict), "by": _TEXT, "integrator": _TEXT,
    "rtol": _NUMBER, "atol": _NUMBER, "samples": (int,), "max_step": _NUMBER, "step": _NUMBER,
    "stabilization": (str, dict), "coordinates": _TEXT, "events": (dict,), "stops": _TEXT,
    "impacts": _TEXT, "torque": (str, list, dict, *_NUMBER), "controller": (str, dict),
    "after": _TEXT, "mode": _TEXT, "motion": (str, dict), "over": _TEXT, "rough": (dict,),
    "sensitivity": (list,),
    "parameters": (dict,),
}  # fmt: skip
"""Settings that a file may have, with their types."""

RunFields = dict[str, Any]
"""Keyword arguments of `Run`; their types are those of its fields."""


def read_mechanism(data: xarray.Dataset) -> Mechanism:
    """Return the mechanism of the file, which must be the one whose digest the file has."""
    try:
        mechanism = read_toml(_read_text(data, "mechanism"))
    except LinkwrightError as error:
        raise FileError(f"its mechanism cannot be read: {error}") from None
    if mechanism.digest != _read_text(data, "digest"):
        raise FileError("its mechanism is not the one of its digest: one of them was changed")
    return mechanism


def read_attributes(data: xarray.Dataset) -> RunFields:
    """Return settings, statistics, versions, events, singular times and the status."""
    found: RunFields = {"status": _read_text(data, "status")}
    found |= {key: _read_json(data, key, dict) for key in ("settings", "statistics", "versions")}
    found |= {key: _read_json(data, key, list) for key in ("singular", "events", "effort_notes")}
    _check_settings(found["settings"])
    for name, value in found["statistics"].items():
        check = _check_text if name == "why_in_python" else _check_number
        check(value, f"statistics '{name}'")
    for name, value in found["versions"].items():
        _check_text(value, f"version '{name}'")
    found["singular"] = tuple(_check_number(t, "a singular time") for t in found["singular"])
    found["events"] = tuple(_read_event(event) for event in found["events"])
    found["effort_notes"] = tuple(_check_text(x, "an effort note") for x in found["effort_notes"])
    return found


def read_histories(data: xarray.Dataset, mechanism: Mechanism) -> RunFields:
    """Return all histories, with the sizes and names that the mechanism has."""
    names = mechanism_names(mechanism)
    _check_labels(data, "coordinate", names.q)
    _check_labels(data, "speed", names.qd)
    times = _read_array(data, "time", (None,))
    if not len(times):
        raise FileError("it has no times")
    sizes = _array_sizes(len(times), names)
    found: RunFields = {
        field: _read_array(data, key, sizes[key]) for field, key in HISTORIES.items()
    }
    for field, key in (("u", "u"), ("pushes", "push")):
        found[field] = _read_array(data, key, sizes[key]) if key in data else None
    has_rigid_contacts = any(contact.is_rigid for contact in mechanism.contacts.values())
    found["borne"] = (
        _read_array(data, "reactions", sizes["reactions"]) if has_rigid_contacts else None
    )
    found["control"] = {
        str(x.attrs["state"]): _read_array(data, str(key), (len(times),))
        for key, x in data.data_vars.items()
        if "state" in x.attrs
    }
    found["superabundant"] = _read_superabundant(data, len(times))
    found["sensitivity"] = read_sensitivities(data, mechanism)
    return found


def _read_superabundant(data: xarray.Dataset, count: int) -> dict[str, Floats]:
    """Return the superabundant coordinates of approximate dynamics and their rates by name."""
    if "superabundant" not in data:
        return {}
    names = [str(name) for name in data["own_state"].to_numpy()] if "own_state" in data else []
    values = _read_array(data, "superabundant", (count, len(names)))
    return dict(zip(names, values.T, strict=True))


def check_times(times: Floats, settings: dict[str, object]) -> None:
    """Raise an error if times do not increase; along the path of a coordinate they may fall."""
    if not settings.get("over") and not (np.diff(times) >= 0).all():
        raise FileError("its times do not increase")


def _array_sizes(n: int, names: MechanismNames) -> dict[str, tuple[int | None, ...]]:
    """Return the sizes of all arrays for n times."""
    found: dict[str, tuple[int | None, ...]] = dict.fromkeys(HISTORIES.values(), (n,))
    found |= dict.fromkeys(("qd", "qdd", "tau", "push"), (n, names.nv))
    joints = len(names.joints) + len(names.loops)
    return found | {
        "q": (n, names.nq),
        "u": (n, len(names.actuators)),
        "reactions": (n, joints, 6),
    }


def _read_array(data: xarray.Dataset, key: str, shape: tuple[int | None, ...]) -> Floats:
    """Return an array of the wanted shape (None: any size) with finite numbers."""
    if key not in data:
        raise FileError(f"it has no '{key}'")
    found = data[key].to_numpy()
    wanted = tuple(found.shape[k : k + 1] == (n,) or n is None for k, n in enumerate(shape))
    if found.ndim != len(shape) or not all(wanted):
        sizes = " × ".join("any" if n is None else str(n) for n in shape)
        raise FileError(f"'{key}' has the shape {found.shape}, where its mechanism needs {sizes}")
    if found.dtype.kind != "f":
        raise FileError(f"'{key}' holds no floating-point numbers")
    rows = found[:-1] if key in _LAST_MAY_FAIL else found
    if not np.isfinite(rows).all():
        raise FileError(f"'{key}' has entries that are not finite")
    return np.asarray(found, dtype=float)


def _check_labels(data: xarray.Dataset, key: str, names: Sequence[str]) -> None:
    """Raise where the labels of an axis are not the names of the mechanism."""
    found = [str(label) for label in data[key].to_numpy()] if key in data.coords else None
    if found != list(names):
        raise FileError(f"its {key} names are not those of its mechanism")


def _read_text(data: xarray.Dataset, key: str) -> str:
    """Return an attribute that is text."""
    return _check_text(data.attrs.get(key), f"attribute '{key}'")


def _check_text(value: object, what: str) -> str:
    """Return the value; raise if it is not text."""
    if not isinstance(value, str):
        raise FileError(f"its {what} is missing or is not text")
    return value


def _read_json(data: xarray.Dataset, key: str, kind: type) -> Any:
    """Return an attribute that is JSON of the given kind."""
    try:
        found = json.loads(_read_text(data, key), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, kind):
        raise FileError(f"its attribute '{key}' is not what `save` writes")
    return found


def _refuse_constant(text: str) -> float:
    """Raise for NaN and Infinity, which are not JSON."""
    raise ValueError(text)


def _check_number(value: object, what: str) -> float:
    """Return the value; raise if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, _NUMBER) or not np.isfinite(float(value)):
        raise FileError(f"its {what} is not a finite number")
    return value


def _read_event(event: object) -> Happened:
    """Return an event from its list of time, name and meaning."""
    if not isinstance(event, list) or len(event) != 3:
        raise FileError("its attribute 'events' is not what `save` writes")
    t, name, what = event
    _check_number(t, "time of an event")
    return Happened(t, _check_text(name, "event's name"), _check_text(what, "event's meaning"))


def _check_settings(settings: dict[str, object]) -> None:
    """Raise for unknown settings and values of another type."""
    for key, value in settings.items():
        if key not in _SETTINGS:
            raise FileError(f"it has an unknown setting '{key}'")
        has_type = isinstance(value, _SETTINGS[key]) and not isinstance(value, bool)
        if value is not None and not has_type:
            raise FileError(f"its setting '{key}' cannot be {value!r}")
