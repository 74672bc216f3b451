"""Runs and kinematics as an `xarray.Dataset`: every number with its name and unit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism import mechanism_names
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..types import Floats
from .sensitivity_data import add_sensitivities

if TYPE_CHECKING:
    import xarray

    from .details import Details, NamedHistories
    from .kinematic_motion import Kinematics
    from .run import Run

AXES = ["x", "y", "z"]
"""Labels of vectors."""

WRENCH = ["mx", "my", "mz", "fx", "fy", "fz"]
"""Labels of moments and forces."""

SEED = 0
"""Seed of the only random search: that for starts of the assembly."""

DatasetVariable = tuple[str | tuple[str, ...], Floats, dict[str, str]]
"""Dimensions, values and attributes."""

DatasetLabels = Mapping[str, object]
"""Labels of dimensions, and arrays along them such as units, by name."""


def dataset_of_run(run: Run, histories_only: bool = False) -> xarray.Dataset:
    """Return all data of a run, or only those that do not follow from the others."""
    import xarray

    if histories_only:
        variables = _history_variables(run)
        variables |= _reaction_variables(run) if run.borne is not None else {}
        data = xarray.Dataset(variables, _history_labels(run), file_attributes(run))
        return add_sensitivities(data, run.sensitivity)
    variables = _history_variables(run) | _part_variables(run.details)
    variables |= _reaction_variables(run) | _multiplier_variables(run)
    data = xarray.Dataset(variables, _all_labels(run), file_attributes(run))
    return add_sensitivities(data, run.sensitivity)


def dataset_of_kinematics(motion: Kinematics) -> xarray.Dataset:
    """Return the motions of coordinates and frames."""
    import xarray

    variables = _motion_variables(motion)
    variables["closure_error"] = ("time", motion.closure, {"units": "m or rad"})
    labels = dict(_motion_labels(motion))
    frames = list(motion.mechanism.frames)
    if frames:
        columns = zip(*map(motion.frame, frames), strict=True)
        position, velocity, acceleration = (np.stack(column, axis=1) for column in columns)
        axes = ("time", "frame", "axis")
        variables["frame_positions"] = (axes, position, {"units": "m"})
        variables["frame_velocities"] = (axes, velocity, {"units": "m/s"})
        variables["frame_accelerations"] = (axes, acceleration, {"units": "m/s^2"})
        labels |= {"frame": frames, "axis": AXES}
    singular = [
        {"t": one.t, "kind": one.kind, "what": list(one.what), "q": one.q.tolist()}
        for one in motion.singular
    ]
    attributes = {
        **_source_attributes(motion),
        "settings": json.dumps(dict(motion.settings)),
        "singular": json.dumps(singular),
    }
    return xarray.Dataset(variables, labels, attributes)


def _motion_variables(run: Run | Kinematics) -> dict[str, DatasetVariable]:
    """Return q, q̇ and q̈."""
    pairs = {
        "q": ("coordinate", run.q, "rad or m"),
        "qd": ("speed", run.qd, "rad/s or m/s"),
        "qdd": ("speed", run.qdd, "rad/s^2 or m/s^2"),
    }
    return {
        key: (("time", dim), values, {"units": unit, "units_of_each": f"{key}_units"})
        for key, (dim, values, unit) in pairs.items()
    }


def _motion_labels(run: Run | Kinematics) -> DatasetLabels:
    """Return times, names of coordinates and velocities, and their units."""
    names, units = mechanism_names(run.mechanism), velocity_units(run.mechanism)
    clock, over = {"units": "s"}, run.settings.get("over")
    if over:
        unit = coordinate_units(run.mechanism)[names.q.index(over)]
        clock = {"units": unit, "long_name": f"travel of {over}; rates are with respect to it"}
    return {
        "time": ("time", run.t, clock),
        "coordinate": list(names.q),
        "speed": list(names.qd),
        "q_units": ("coordinate", coordinate_units(run.mechanism)),
        "turns": ("speed", [unit == "rad" for unit in units]),
        "qd_units": ("speed", [UNITS_OF_RATES["qd"][unit] for unit in units]),
        "qdd_units": ("speed", [UNITS_OF_RATES["qdd"][unit] for unit in units]),
    }


def _history_variables(run: Run) -> dict[str, DatasetVariable]:
    """Return the histories that a run stores."""
    found = _motion_variables(run)
    about = {"units": "N m or N", "units_of_each": "tau_units"}
    found["tau"] = (("time", "speed"), run.tau, about)
    if run.pushes is not None:
        found["push"] = (("time", "speed"), run.pushes, about)
    if run.u is not None:
        found["u"] = (("time", "actuator"), run.u, {"units": "N m or N"})
    energies = {
        "kinetic_energy": run.kinetic,
        "potential_energy": run.potential,
        "energy": run.energy,
        "work": run.work,
        "work_inputs": run.work_inputs,
        "work_given": run.work_given,
        "work_losses": run.work_losses,
        "energy_error": run.balance,
    }
    for key, values in energies.items():
        found[key] = ("time", values, {"units": "J"})
    found["closure_error"] = ("time", run.closure, {"units": "m or rad"})
    for name, values in run.control.items():
        found[f"control_{name}"] = ("time", values, {"state": name})
    if run.superabundant:
        values = _stack_histories(dict(run.superabundant))
        found["superabundant"] = (("time", "own_state"), values, {"units": "m or m/s"})
    return found


def _part_variables(details: Details) -> dict[str, DatasetVariable]:
    """Return energies and positions of bodies, motors, springs and frames, and momenta."""
    found: dict[str, DatasetVariable] = {}
    for key, named, dimension, unit, axes in (
        ("kinetic_energy_of_bodies", details.kinetic, "body", "J", []),
        ("potential_energy_of_bodies", details.weight, "body", "J", []),
        ("kinetic_energy_of_motors", details.rotors, "motor", "J", []),
        ("potential_energy_of_springs", details.springs, "spring", "J", []),
        ("mass_centers", details.centers, "body", "m", ["axis"]),
        ("frame_positions", details.frames, "frame", "m", ["axis"]),
    ):
        if named:
            found[key] = (("time", dimension, *axes), _stack_histories(named), {"units": unit})
    unit_of_momenta = UNITS_OF_RATES["p"]["rad or m"]
    found["momenta"] = (("time", "speed"), details.momenta, {"units": unit_of_momenta})
    if details.has_mass:
        angular, linear = details.momentum[:, :3], details.momentum[:, 3:]
        found["center_of_mass"] = (("time", "axis"), details.center_of_mass, {"units": "m"})
        about = {"units": "kg m^2/s", "about": "the centre of mass"}
        found["angular_momentum"] = (("time", "axis"), angular, about)
        found["linear_momentum"] = (("time", "axis"), linear, {"units": "kg m/s"})
    return found


def _reaction_variables(run: Run) -> dict[str, DatasetVariable]:
    """Return the reactions of joints and loops."""
    about = "what the parent does to the child, at the joint's origin, world axes"
    attributes = {"units": "N m or N", "what": about}
    return {"reactions": (("time", "joint", "component"), run.reactions, attributes)}


def _multiplier_variables(run: Run) -> dict[str, DatasetVariable]:
    """Return the multipliers, if there are constraints."""
    if not run.multipliers.shape[1]:
        return {}
    return {"multipliers": (("time", "row"), run.multipliers, {"units": "N or N m"})}


def _stack_histories(named: NamedHistories) -> Floats:
    """Return the histories of all names as one array, (times, names, …)."""
    return np.stack(list(named.values()), axis=1)


def _history_labels(run: Run) -> dict[str, object]:
    """Return the labels of the histories that a run stores."""
    names, units = mechanism_names(run.mechanism), velocity_units(run.mechanism)
    found = dict(_motion_labels(run))
    found["tau_units"] = ("speed", [UNITS_OF_RATES["tau"][unit] for unit in units])
    if run.u is not None:
        found["actuator"] = list(names.actuators)
    if run.borne is not None:
        found |= {"component": WRENCH, "joint": [*names.joints, *names.loops]}
    if run.superabundant:
        found["own_state"] = list(run.superabundant)
    return found


def _all_labels(run: Run) -> DatasetLabels:
    """Return the labels of all data of a run."""
    names, details = mechanism_names(run.mechanism), run.details
    found = _history_labels(run)
    found |= {"axis": AXES, "component": WRENCH, "joint": [*names.joints, *names.loops]}
    units = [UNITS_OF_RATES["p"][unit] for unit in velocity_units(run.mechanism)]
    found["momenta_units"] = ("speed", units)
    parts = {
        "body": list(details.kinetic),
        "motor": list(details.rotors),
        "spring": list(details.springs),
        "frame": list(details.frames),
        "row": _multiplier_names(run),
    }
    return found | {dimension: labels for dimension, labels in parts.items() if labels}


def _multiplier_names(run: Run) -> list[str]:
    """Return the names of the multipliers: superabundant coordinates, then constraint rows."""
    points = list(run.superabundant)[: len(run.superabundant) // 2]
    return [*points, *constraint_row_names(mechanism_names(run.mechanism).constraints)]


def constraint_row_names(owners: Sequence[str]) -> list[str]:
    """Return names of the rows of every loop and constraint: pin[0], pin[1], …"""
    return [f"{owner}[{owners[:k].count(owner)}]" for k, owner in enumerate(owners)]


def _source_attributes(run: Run | Kinematics) -> dict[str, str]:
    """Return title, version, mechanism and status."""
    from .. import __version__
    from ..writers import write_mechanism_text

    return {
        "title": f"motion of {run.mechanism.name}",
        "source": f"linkwright {__version__}",
        "mechanism": write_mechanism_text(run.mechanism, "toml")[0],
        "digest": run.mechanism.digest,
        "status": run.status,
    }


def file_attributes(run: Run) -> dict[str, object]:
    """Return all attributes of a run's file."""
    return _source_attributes(run) | {
        "energy_audit": run.audit,
        "seed": SEED,
        "versions": json.dumps(dict(run.versions)),
        "settings": json.dumps(dict(run.settings)),
        "statistics": json.dumps(dict(run.statistics)),
        "singular": json.dumps(list(run.singular)),
        "effort_notes": json.dumps(list(run.effort_notes)),
        "events": json.dumps([list(event) for event in run.events]),
    }
