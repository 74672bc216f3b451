"""A recorded run as data of a live page: samples that the page interpolates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats, Integers

if TYPE_CHECKING:
    from ..simulation.run import Run

MAX_RECORDED_NUMBERS = 60_000
"""Numbers of a run that a page contains: q and q̇ at all kept times, about 0.6 MB of text."""
MAX_RECORDED_ROWS = 1_500
_DIGITS = 7


def thinned_run_rows(run: Run) -> Integers:
    """Return the rows of a run that a page keeps: all, or evenly spaced ones with both ends."""
    columns = run.q.shape[1] + run.qd.shape[1] + 3
    most = max(50, min(MAX_RECORDED_ROWS, MAX_RECORDED_NUMBERS // columns))
    count = len(run.t)
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def recorded_run_data(run: Run) -> dict[str, object]:
    """Return times, coordinates, velocities, energies and events of a run."""
    rows = thinned_run_rows(run)
    return {
        "t": run.t[rows].tolist(),
        "q": _rounded(run.q[rows]),
        "qd": _rounded(run.qd[rows]),
        "kinetic": _rounded(run.kinetic[rows]),
        "potential": _rounded(run.potential[rows]),
        "events": [{"t": one.t, "name": one.name, "what": one.what} for one in run.events[:200]],
        "end": run.q[-1].tolist(),
        "end_velocity": run.qd[-1].tolist(),
        "start": run.q[0].tolist(),
        "start_velocity": run.qd[0].tolist(),
        "forces": _recorded_forces(run),
    }


def _rounded(values: Floats) -> list[object]:
    """Values with as many digits as a plot or picture needs."""
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    digits = max(0, _DIGITS - int(np.floor(np.log10(size))))
    return list((np.round(values, digits) + 0.0).tolist())


def _recorded_forces(run: Run) -> dict[str, object] | None:
    """Return accelerations and the reactions of joints and loops at some times: what acted in the
    run (efforts, stops, contacts, dry friction) is in them. None if they are not known."""
    try:
        reactions = run.reactions.reshape(len(run.t), -1)
    except LinkwrightError:
        return None
    columns = reactions.shape[1] + run.qdd.shape[1] + 1
    count = min(len(run.t), MAX_RECORDED_ROWS, MAX_RECORDED_NUMBERS // columns)
    rows = np.unique(np.linspace(0, len(run.t) - 1, max(2, count)).astype(np.int64))
    if not (np.isfinite(reactions[rows]).all() and np.isfinite(run.qdd[rows]).all()):
        return None
    found = {"reactions": reactions[rows], "qdd": run.qdd[rows]}
    return {"t": run.t[rows].tolist()} | {key: _rounded(x) for key, x in found.items()}
