"""The results of an ensemble: samples, ends, statuses and events of all runs, as one dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanism import Mechanism, mechanism_names
from ..types import Floats, Integers
from .run import FINISHED, Happened, Run

if TYPE_CHECKING:
    import xarray

RESULT_NAMES = (
    "q", "qd", "status", "steps", "evaluations", "compiled", "why_in_python", "run", "time",
    "coordinate", "speed", "end_time", "q_end", "qd_end", "event", "event_run", "event_time",
    "event_name", "event_note", "wrt", "sensitivity_q", "sensitivity_qd", "sensitivity_until",
    "sensitivity_status", "tau",
)  # fmt: skip
"""Names in the dataset, which no parameter may have."""


@dataclass(frozen=True)
class RunSummary:
    """One run: states at its times (one row each), how it ended, counts and events."""

    times: Floats
    q: Floats
    qd: Floats
    status: str
    statistics: Mapping[str, float | str]
    events: Sequence[Happened] = ()
    controls: Floats | None = None
    """States of the controller or activations, one row for each time, if there are any."""
    end: tuple[float, Floats, Floats] | None = None
    """Time, q and q̇ that the run reached, if that is not the last of its times."""
    tau: Floats | None = None
    """Generalized forces of the inputs, one row for each time, if they are known."""


def summary_of_run(found: Run) -> RunSummary:
    """Return what an ensemble keeps of a run that was made alone."""
    motion = found.t, found.q, found.qd
    return RunSummary(*motion, found.status, found.statistics, found.events, tau=found.tau)


@dataclass(frozen=True, eq=False)
class EnsembleDerivatives:
    """∂q (runs, times, coordinates, wrt) and ∂q̇ of all runs, NaN where there are none; where they
    end, and why."""

    wrt: tuple[str, ...]
    q: Floats
    qd: Floats
    until: Floats
    status: list[str]


class EnsembleResults:
    """The results of all runs of an ensemble; they are NaN until a run has some."""

    def __init__(self, mechanism: Mechanism, times: Floats, count: int) -> None:
        self.mechanism, self.times, self.names = mechanism, times, mechanism_names(mechanism)
        self.q = np.full((count, len(times), self.names.nq), np.nan)
        self.qd = np.full((count, len(times), self.names.nv), np.nan)
        self.status = [""] * count
        self.steps, self.evaluations = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.compiled, self.why_in_python = np.ones(count, bool), [""] * count
        self.end_time = np.zeros(count)
        self.q_end = np.full((count, self.names.nq), np.nan)
        self.qd_end = np.full((count, self.names.nv), np.nan)
        self.events: dict[int, Sequence[Happened]] = {}
        self.controls: Floats | None = None
        """States of the controllers (runs, times, states), if they are kept."""
        self.tau: Floats | None = None
        """Generalized forces of the inputs (runs, times, nv), if they are asked for."""
        self.own_tau: dict[int, Floats] = {}
        """Those of runs that were made alone."""

    def keep_controls(self, count: int) -> None:
        """Keep `count` states of the controllers."""
        self.controls = np.full((len(self), len(self.times), count), np.nan)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.status)

    def set_finished(self, runs: Integers, q: Floats, qd: Floats) -> None:
        """Set the samples of runs that have reached their end."""
        self.q[runs], self.qd[runs] = q, qd
        self.q_end[runs], self.qd_end[runs] = q[:, -1], qd[:, -1]
        self.end_time[runs] = self.times[-1]
        for run in runs:
            self.status[int(run)] = FINISHED

    def set_run(self, run: int, found: RunSummary) -> None:
        """Set the results of one run."""
        size = min(len(found.times), len(self.times))
        is_sample = np.asarray(found.times[:size] == self.times[:size])
        count = size if is_sample.all() else int(np.argmin(is_sample))
        self.q[run, :count], self.qd[run, :count] = found.q[:count], found.qd[:count]
        end = found.end or (float(found.times[-1]), found.q[-1], found.qd[-1])
        self.end_time[run], self.q_end[run], self.qd_end[run] = end
        self.status[run] = found.status
        self.steps[run] = found.statistics["steps"]
        self.evaluations[run] = found.statistics["evaluations"]
        self.compiled[run] = found.statistics.get("compiled", 1) == 1
        self.why_in_python[run] = str(found.statistics.get("why_in_python", ""))
        self.events[run] = found.events
        if self.controls is not None and found.controls is not None:
            self.controls[run, :count] = found.controls[:count]
        if found.tau is not None:
            self.own_tau[run] = found.tau[:count]

    def set_forces(self, tau: Floats) -> None:
        """Set the generalized forces of the inputs; those of runs made alone are known."""
        self.tau = tau
        for run, own in self.own_tau.items():
            tau[run, : len(own)] = own

    def dataset(
        self,
        parameters: Mapping[str, Floats],
        attributes: Mapping[str, object],
        derivatives: EnsembleDerivatives | None = None,
    ) -> xarray.Dataset:
        """Return the results with named dimensions."""
        import xarray

        variables: dict[str, Any] = {
            "q": (("run", "time", "coordinate"), self.q, {"units": "rad or m"}),
            "qd": (("run", "time", "speed"), self.qd, {"units": "rad/s or m/s"}),
            "status": ("run", np.array(self.status)),
            "steps": ("run", self.steps),
            "evaluations": ("run", self.evaluations),
            "compiled": ("run", self.compiled),
            "why_in_python": ("run", np.array(self.why_in_python)),
            "end_time": ("run", self.end_time, {"units": "s"}),
            "q_end": (("run", "coordinate"), self.q_end, {"units": "rad or m"}),
            "qd_end": (("run", "speed"), self.qd_end, {"units": "rad/s or m/s"}),
            **self._event_variables(),
            **{name: ("run", values.copy()) for name, values in parameters.items()},
        }
        if self.tau is not None:
            variables["tau"] = (("run", "time", "speed"), self.tau, {"units": "N m or N"})
        labels: dict[str, Any] = {
            "time": ("time", self.times, {"units": "s"}),
            "coordinate": list(self.names.q),
            "speed": list(self.names.qd),
        }
        if derivatives is not None:
            labels["wrt"] = list(derivatives.wrt)
            variables |= {
                "sensitivity_q": (("run", "time", "coordinate", "wrt"), derivatives.q),
                "sensitivity_qd": (("run", "time", "speed", "wrt"), derivatives.qd),
                "sensitivity_until": ("run", derivatives.until, {"units": "s"}),
                "sensitivity_status": ("run", np.array(derivatives.status)),
            }
        return xarray.Dataset(variables, labels, {"mechanism": self.mechanism.name, **attributes})

    def _event_variables(self) -> dict[str, Any]:
        """Return the events of all runs, run by run, those of each run in order of time."""
        rows = [(k, event) for k in sorted(self.events) for event in self.events[k]]
        return {
            "event_run": ("event", np.array([k for k, _ in rows], np.int64)),
            "event_time": ("event", np.array([e.t for _, e in rows], float), {"units": "s"}),
            "event_name": ("event", np.array([e.name for _, e in rows], dtype=str)),
            "event_note": ("event", np.array([e.what for _, e in rows], dtype=str)),
        }
