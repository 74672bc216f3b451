"""A run as an `xarray.Dataset`: every number with its name and unit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanism import mechanism_names
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from .sensitivity_data import add_sensitivities

if TYPE_CHECKING:
    import xarray

    from .details import Details, Named
    from .kinematic import Kinematics
    from .run import Run

AXES = ["x", "y", "z"]
WRENCH = ["mx", "my", "mz", "fx", "fy", "fz"]

SEED = 0
"""Of the one search that draws at random: the starts of assembly."""

Entry = tuple[Any, ...]


def dataset(run: Run, histories_only: bool = False) -> xarray.Dataset:
    """Everything that a run has; or only what it cannot compute from the rest."""
    import xarray

    if histories_only:
        variables = _own(run) | (_reactions(run) if run.borne is not None else {})
        data = xarray.Dataset(variables, _own_labels(run), attributes_of_file(run))
        return add_sensitivities(data, run.sensitivity)
    variables = _own(run) | _of_parts(run.details) | _of_constraints(run)
    data = xarray.Dataset(variables, _coordinates(run), attributes_of_file(run))
    return add_sensitivities(data, run.sensitivity)


def dataset_of_kinematics(found: Kinematics) -> xarray.Dataset:
    """Motions of coordinates and frames."""
    import xarray

    variables = _motions(found)
    variables["closure_error"] = ("time", found.closure, {"units": "m or rad"})
    frames = list(found.mechanism.frames)
    if frames:
        parts = [np.stack(x, axis=1) for x in zip(*map(found.frame, frames), strict=True)]
        for key, values, unit in zip(
            ("frame_positions", "frame_velocities", "frame_accelerations"), parts,
            ("m", "m/s", "m/s^2"), strict=True,
        ):  # fmt: skip
            variables[key] = (("time", "frame", "axis"), values, {"units": unit})
    labels: dict[str, Any] = {"frame": frames, "axis": AXES} if frames else {}
    singular = [
        {"t": one.t, "kind": one.kind, "what": list(one.what), "q": one.q.tolist()}
        for one in found.singular
    ]
    attributes = {
        **_origin(found), "settings": json.dumps(dict(found.settings)),
        "singular": json.dumps(singular),
    }  # fmt: skip
    return xarray.Dataset(variables, {**_motion_labels(found), **labels}, attributes)


def _motions(run: Run | Kinematics) -> dict[str, Entry]:
    pairs = {
        "q": ("coordinate", run.q, "rad or m"), "qd": ("speed", run.qd, "rad/s or m/s"),
        "qdd": ("speed", run.qdd, "rad/s^2 or m/s^2"),
    }  # fmt: skip
    return {
        key: (("time", dim), values, {"units": unit, "units_of_each": f"{key}_units"})
        for key, (dim, values, unit) in pairs.items()
    }


def _motion_labels(run: Run | Kinematics) -> dict[str, Any]:
    names, units = mechanism_names(run.mechanism), velocity_units(run.mechanism)
    clock, over = {"units": "s"}, run.settings.get("over")
    if over:
        unit = coordinate_units(run.mechanism)[names.q.index(over)]
        clock = {"units": unit, "long_name": f"way of {over}, by which rates are taken"}
    found: dict[str, Any] = {
        "time": ("time", run.t, clock),
        "coordinate": list(names.q), "speed": list(names.qd),
        "q_units": ("coordinate", coordinate_units(run.mechanism)),
        "turns": ("speed", [unit == "rad" for unit in units]),
    }  # fmt: skip
    for key in ("qd", "qdd"):
        found[f"{key}_units"] = ("speed", [UNITS_OF_RATES[key][unit] for unit in units])
    return found


def _own(run: Run) -> dict[str, Entry]:
    found = _motions(run)
    about = {"units": "N m or N", "units_of_each": "tau_units"}
    found["tau"] = (("time", "speed"), run.tau, about)
    if run.pushes is not None:
        found["push"] = (("time", "speed"), run.pushes, about)
    if run.u is not None:
        found["u"] = (("time", "actuator"), run.u, {"units": "N m or N"})
    for key, values in {
        "kinetic_energy": run.kinetic, "potential_energy": run.potential, "energy": run.energy,
        "work": run.work, "work_inputs": run.work_inputs, "work_given": run.work_given,
        "work_losses": run.work_losses, "energy_error": run.balance,
    }.items():  # fmt: skip
        found[key] = ("time", values, {"units": "J"})
    found["closure_error"] = ("time", run.closure, {"units": "m or rad"})
    for name, values in run.control.items():
        found[f"control_{name}"] = ("time", values, {"state": name})
    return found


def _of_parts(details: Details) -> dict[str, Entry]:
    """Energies and places of bodies, motors, springs and frames; momenta."""
    found: dict[str, Entry] = {}
    for key, named, dimension, unit, axes in (
        ("kinetic_energy_of_bodies", details.kinetic, "body", "J", []),
        ("potential_energy_of_bodies", details.weight, "body", "J", []),
        ("kinetic_energy_of_motors", details.rotors, "motor", "J", []),
        ("potential_energy_of_springs", details.springs, "spring", "J", []),
        ("mass_centers", details.centers, "body", "m", ["axis"]),
        ("frame_positions", details.frames, "frame", "m", ["axis"]),
    ):
        if named:
            found[key] = (("time", dimension, *axes), _stacked(named), {"units": unit})
    found["momenta"] = (
        ("time", "speed"), details.momenta, {"units": UNITS_OF_RATES["p"]["rad or m"]},
    )  # fmt: skip
    if details.has_mass:
        angular, linear = details.momentum[:, :3], details.momentum[:, 3:]
        found["center_of_mass"] = (("time", "axis"), details.center_of_mass, {"units": "m"})
        found["angular_momentum"] = (
            ("time", "axis"), angular, {"units": "kg m^2/s", "about": "the mass centre"},
        )  # fmt: skip
        found["linear_momentum"] = (("time", "axis"), linear, {"units": "kg m/s"})
    return found


def _reactions(run: Run) -> dict[str, Entry]:
    about = "what the parent does to the child, at the joint's origin, world axes"
    return {
        "reactions": (
            ("time", "joint", "component"), run.reactions, {"units": "N m or N", "what": about},
        ),
    }  # fmt: skip


def _of_constraints(run: Run) -> dict[str, Entry]:
    found = _reactions(run)
    if run.multipliers.shape[1]:
        found["multipliers"] = (("time", "row"), run.multipliers, {"units": "N or N m"})
    return found


def _stacked(named: Named) -> Any:
    return np.stack(list(named.values()), axis=1)


def _own_labels(run: Run) -> dict[str, Any]:
    names, units = mechanism_names(run.mechanism), velocity_units(run.mechanism)
    found = _motion_labels(run)
    found["tau_units"] = ("speed", [UNITS_OF_RATES["tau"][unit] for unit in units])
    if run.u is not None:
        found["actuator"] = list(names.actuators)
    if run.borne is not None:
        found |= {"component": WRENCH, "joint": [*names.joints, *names.loops]}
    return found


def _coordinates(run: Run) -> dict[str, Any]:
    names, details = mechanism_names(run.mechanism), run.details
    found = _own_labels(run)
    found |= {"axis": AXES, "component": WRENCH, "joint": [*names.joints, *names.loops]}
    units = [UNITS_OF_RATES["p"][unit] for unit in velocity_units(run.mechanism)]
    found["momenta_units"] = ("speed", units)
    for dimension, labels in {
        "body": details.kinetic, "motor": details.rotors, "spring": details.springs,
        "frame": details.frames, "row": row_names(names.constraints),
    }.items():  # fmt: skip
        if labels:
            found[dimension] = list(labels)
    return found


def row_names(owners: Sequence[str]) -> list[str]:
    """pin[0], pin[1], …: the rows of every loop and constraint."""
    return [f"{owner}[{owners[:k].count(owner)}]" for k, owner in enumerate(owners)]


def _origin(run: Run | Kinematics) -> dict[str, Any]:
    from .. import __version__
    from ..writers import write_mechanism_text

    return {
        "title": f"motion of {run.mechanism.name}",
        "source": f"linkwright {__version__}",
        "mechanism": write_mechanism_text(run.mechanism, "toml")[0],
        "digest": run.mechanism.digest,
        "status": run.status,
    }


def attributes_of_file(run: Run) -> dict[str, Any]:
    return _origin(run) | {
        "energy_audit": run.audit,
        "seed": SEED,
        "versions": json.dumps(dict(run.versions)),
        "settings": json.dumps(dict(run.settings)),
        "statistics": json.dumps(dict(run.statistics)),
        "singular": json.dumps(list(run.singular)),
        "events": json.dumps([list(event) for event in run.events]),
    }
