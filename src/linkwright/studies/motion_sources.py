"""Names of measures in motions: ensembles, single runs, kinematics and inverse motions.

`find` returns the value of a name for all designs, None for an unknown name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism import Mechanism, mechanism_names
from ..model.model import Model
from ..model.model import compile as compile_model
from ..simulation.events.sharp_friction import without_sharp_friction
from ..simulation.kinematic_motion import Kinematics
from ..simulation.run import Run
from ..types import Floats
from .lane_values import MeasuredValue, SampleClock, number_value

if TYPE_CHECKING:
    import xarray

AXES = ("x", "y", "z")
_SAME_TIME_SHARE = 1e-9
"""Times nearer than this share of the duration are one: integrators sum up their steps."""

ENERGIES = ("kinetic_energy", "potential_energy", "energy")


def coordinate_columns(mechanism: Mechanism) -> dict[str, tuple[str, int]]:
    """Return where single coordinates, rates, accelerations and forces stand: "dq1" → ("qd", 0)."""
    names = mechanism_names(mechanism)
    found = {name: ("q", k) for k, name in enumerate(names.q)}
    for k, (speed, symbol) in enumerate(zip(names.qd, names.velocity_symbols, strict=True)):
        found |= {symbol: ("qd", k), f"d{symbol}": ("qdd", k)}
        found |= {f"tau{k + 1}": ("tau", k), f"tau_{speed}": ("tau", k)}
    return found


def place_names(mechanism: Mechanism) -> list[str]:
    """Return the names of the coordinates of frames and bodies: tool.x."""
    return [f"{one}.{axis}" for one in (*mechanism.frames, *mechanism.bodies) for axis in AXES]


def has_smooth_forces(mechanism: Mechanism) -> bool:
    """Whether accelerations follow from q, q̇ and τ: no contacts, stops or sticking friction."""
    limited = any(joint.limits.restitution is not None for joint in mechanism.joints.values())
    return not mechanism.contacts and not limited and without_sharp_friction(mechanism) == mechanism


def ensemble_names(mechanism: Mechanism, by: str) -> set[str]:
    """Return the names that an ensemble knows, without single runs."""
    found = {"t", "q", "qd", "tau", "power", *place_names(mechanism)}
    found |= set() if by == "approximate" else set(ENERGIES)
    smooth = has_smooth_forces(mechanism) and by != "approximate"
    found |= {"qdd"} if smooth else set()
    columns = coordinate_columns(mechanism)
    return found | {name for name, (what, _) in columns.items() if what != "qdd" or smooth}


@dataclass(frozen=True, eq=False)
class EnsembleSource:
    """The motions of an ensemble, a dataset with `tau`."""

    mechanism: Mechanism
    data: xarray.Dataset
    parameters: dict[str, Floats]

    @cached_property
    def clock(self) -> SampleClock:
        """The samples, and how many each run reached."""
        is_there = np.isfinite(self.data["q"].to_numpy()).all(axis=2)
        counts = np.where(is_there.all(axis=1), is_there.shape[1], np.argmin(is_there, axis=1))
        return SampleClock(self.data["time"].to_numpy(), counts)

    @cached_property
    def model(self) -> Model:
        """The compiled functions; parameters that differ are inputs."""
        return compile_model(self.mechanism, threads=1, parameters=list(self.parameters))

    @cached_property
    def arguments(self) -> list[Floats]:
        """The last inputs of functions: parameters, if some differ."""
        if not self.parameters:
            return []
        return [np.stack(list(self.parameters.values()), axis=-1)[:, None, :]]

    def times(self, depends: bool) -> list[Floats]:
        """Return the times, where a function depends on them."""
        return [self.clock.times] if depends else []

    @cached_property
    def qdd(self) -> Floats:
        """Accelerations."""
        q, qd, tau = (self.data[key].to_numpy() for key in ("q", "qd", "tau"))
        clock = self.times(self.model.names.is_time_dependent)
        found: Floats = self.model.forward_dynamics(q, qd, tau, *clock, *self.arguments)
        return found

    def find(self, name: str) -> MeasuredValue | None:
        """Return the value of a name."""
        if name == "t":
            return MeasuredValue(self.clock.times[None, :, None], self.clock)
        columns = coordinate_columns(self.mechanism)
        what, k = columns.get(name, (name, None))  # a joint may have the name q
        if what in ("q", "qd", "qdd", "tau"):
            whole = self._find_vector(what)
            if whole is None:
                return None
            return MeasuredValue(whole if k is None else whole[..., k, None], self.clock)
        if name == "power":
            if "tau" not in self.data:
                return None
            power = (self.data["tau"].to_numpy() * self.data["qd"].to_numpy()).sum(axis=2)
            return MeasuredValue(power[..., None], self.clock)
        return self._find_model_value(name)

    def _find_vector(self, what: str) -> Floats | None:
        """Return coordinates, velocities, accelerations or forces; None if they are not known."""
        if what == "qdd":
            return self.qdd if "tau" in self.data else None
        return self.data[what].to_numpy() if what in self.data else None

    def _find_model_value(self, name: str) -> MeasuredValue | None:
        """Return an energy, or a coordinate of a frame or body."""
        q, qd = self.data["q"].to_numpy(), self.data["qd"].to_numpy()
        model, clock = self.model, self.times(self.model.names.has_moving_coordinates)
        if name == "kinetic_energy":
            found = model.kinetic_energy(q, qd, *clock, *self.arguments)
        elif name == "potential_energy":
            found = model.potential_energy(q, *clock, *self.arguments)
        elif name == "energy":
            found = model.kinetic_energy(q, qd, *clock, *self.arguments)
            found = found + model.potential_energy(q, *clock, *self.arguments)
        elif name in place_names(self.mechanism):
            owner, _, axis = name.rpartition(".")
            places = model.placement(owner)(q, *clock, *self.arguments)
            found = places[..., AXES.index(axis), 3]
        else:
            return None
        return MeasuredValue(np.asarray(found)[..., None], self.clock)


def _clearance(motion: Run | Kinematics) -> Floats:
    """Return the smallest distance between links that no joint connects."""
    from ..show import clearances

    found = clearances(motion.mechanism, motion.q, motion.t)
    return np.array(min((one.smallest for one in found), default=np.inf))


def _effort(motion: Run | Kinematics, actuator: int) -> Floats:
    """Return the effort of an actuator; NaN where it is not known."""
    u = motion.u if isinstance(motion, Run) else None
    return np.full(len(motion.t), np.nan) if u is None else u[:, actuator]


_RUN_HISTORIES: dict[str, Callable[[Run], Floats]] = {
    "kinetic_energy": lambda run: run.kinetic,
    "potential_energy": lambda run: run.potential,
    "energy": lambda run: run.energy,
    "energy_error": lambda run: run.balance,
    "work": lambda run: run.work,
    "work_inputs": lambda run: run.work_inputs,
    "work_losses": lambda run: run.work_losses,
    "power": lambda run: run.power.sum(axis=1),
    "momenta": lambda run: run.momenta,
    "multipliers": lambda run: run.multipliers,
    "reactions": lambda run: run.reactions.reshape(len(run.t), -1),
}
"""Histories that only runs have."""


def _count_reached(t: Floats, times: Floats) -> int:
    """Return how many of the times a motion reached, of which the last one may be another."""
    count = min(len(t), len(times))
    is_there = np.abs(t[:count] - times[:count]) <= _SAME_TIME_SHARE * times[-1]
    return int(is_there.sum())


@dataclass(frozen=True, eq=False)
class SingleMotions:
    """Motions that were made one by one; None where one could not be made."""

    motions: Sequence[Run | Kinematics | None]

    @cached_property
    def example(self) -> Run | Kinematics | None:
        """One of the motions."""
        return next((one for one in self.motions if one is not None), None)

    @cached_property
    def clock(self) -> SampleClock:
        """The samples that all motions were asked for, and how many each reached. The moment at
        which a motion stops between two of them is none."""
        if self.example is None:
            return SampleClock(np.zeros(0), np.zeros(len(self.motions), np.int64))
        asked = self.example.settings
        times = np.linspace(0.0, float(asked["t"]), int(asked["samples"]))
        counts = [0 if one is None else _count_reached(one.t, times) for one in self.motions]
        return SampleClock(times, np.array(counts, np.int64))

    def find(self, name: str) -> MeasuredValue | None:
        """Return the value of a name."""
        if self.example is None:
            return None
        if name == "t":
            return MeasuredValue(self.clock.times[None, :, None], self.clock)
        if name == "clearance":
            return self._stack_numbers(_clearance)
        columns = coordinate_columns(self.example.mechanism)
        if name in columns:
            what, k = columns[name]
            return self._stack(lambda one: getattr(one, what)[:, k]) if self._has(what) else None
        if name in ("q", "qd", "qdd", "tau", "closure"):
            return self._stack(lambda one: getattr(one, name)) if self._has(name) else None
        if name in place_names(self.example.mechanism):
            return self._find_place(name)
        if not isinstance(self.example, Run):
            return None
        return self._find_run_value(name)

    def _has(self, what: str) -> bool:
        return hasattr(self.example, what)

    def _find_place(self, name: str) -> MeasuredValue | None:
        owner, _, axis = name.rpartition(".")

        def place(one: Run | Kinematics) -> Floats:
            model = compile_model(one.mechanism, threads=1)
            clock = model.names.position_time_arguments(one.t)
            found: Floats = model.placement(owner)(one.q, *clock)[..., AXES.index(axis), 3]
            return found

        return self._stack(place)

    def _find_run_value(self, name: str) -> MeasuredValue | None:
        if name in _RUN_HISTORIES:
            history = _RUN_HISTORIES[name]
            return self._stack(lambda one: history(one) if isinstance(one, Run) else one.t)
        head, _, joint = name.partition(".")
        assert self.example is not None
        names = mechanism_names(self.example.mechanism)
        joints = [*names.joints, *names.loops]
        if head in ("force", "moment") and joint in joints:
            place, rows = joints.index(joint), slice(3, 6) if head == "force" else slice(0, 3)
            return self._stack(
                lambda one: (
                    np.linalg.norm(one.reactions[:, place, rows], axis=-1)
                    if isinstance(one, Run)
                    else one.t
                )
            )
        if head == "u" and joint in names.actuators:
            k = names.actuators.index(joint)
            return self._stack(
                lambda one: (
                    one.u[:, k]
                    if isinstance(one, Run) and one.u is not None
                    else np.full(len(one.t), np.nan)
                )
            )
        return None

    def _stack(self, history: Callable[[Run | Kinematics], Floats]) -> MeasuredValue:
        """Return a history of all motions, NaN beyond their ends."""
        rows = [None if one is None else np.asarray(history(one)) for one in self.motions]
        width = max(1 if row is None or row.ndim == 1 else row.shape[1] for row in rows)
        found = np.full((len(rows), len(self.clock.times), width), np.nan)
        for k, row in enumerate(rows):
            if row is not None:
                count = self.clock.counts[k]
                found[k, :count] = row[:count].reshape(count, -1)
        return MeasuredValue(found, self.clock)

    def _stack_numbers(self, number: Callable[[Run | Kinematics], Floats]) -> MeasuredValue:
        return number_value([np.nan if one is None else float(number(one)) for one in self.motions])


def motion_names(mechanism: Mechanism) -> list[str]:
    """Return the names of all values of a motion, for messages."""
    names = mechanism_names(mechanism)
    joints = [*names.joints, *names.loops]
    found = ["t", "q", "qd", "qdd", "tau", *coordinate_columns(mechanism), *_RUN_HISTORIES]
    found += ["closure", "clearance", *place_names(mechanism)]
    found += [f"{what}.{joint}" for what in ("force", "moment") for joint in joints]
    return found + [f"u.{one}" for one in names.actuators]
