"""Sensitivities of the runs of an ensemble."""

from __future__ import annotations

import numpy as np

from .ensemble_results import EnsembleDerivatives, EnsembleResults
from .ensemble_runs import Ensemble
from .run import Run
from .sensitivities import Sensitivities, SensitivityStarts, describe_jump

COMPLETE = "complete"
"""The status of sensitivities that reach the end of their run."""


def differentiate_runs(
    derivatives: Sensitivities, ensemble: Ensemble, threads: int
) -> EnsembleDerivatives | None:
    """Return the sensitivities of the runs that one program made; None if no run could start."""
    results, start, recipe = ensemble.results, ensemble.start, ensemble.recipe
    sound = [k for k in range(len(results)) if k not in ensemble.failures]
    if not sound:
        return None
    rows = np.array([k if k not in ensemble.failures else sound[0] for k in range(len(results))])
    columns = recipe.runs.parameters[rows].T
    parameters = dict(zip(recipe.runs.parameter_names, columns, strict=True))
    starts = SensitivityStarts(start.q[rows], start.qd[rows], parameters, threads)
    found = derivatives.integrate(ensemble.rhs, results.times, starts, recipe.inputs)
    until, status = np.full(len(results), np.nan), [""] * len(results)
    for k in range(len(results)):
        if k in ensemble.failures:
            status[k], count = results.status[k], 0
        else:
            count, why = _end_of_run(ensemble, k)
            count, why = min((count, why), (int(found.counts[k]), found.why[k]), key=lambda x: x[0])
            until[k] = results.times[count - 1]
            status[k] = f"until t = {until[k]:.10g} s: {why}" if why else COMPLETE
        found.q[k, count:], found.qd[k, count:] = np.nan, np.nan
    return EnsembleDerivatives(found.wrt, found.q, found.qd, until, status)


def _end_of_run(ensemble: Ensemble, run: int) -> tuple[int, str]:
    """Return how many samples a run has before its end or its first jump, and the jump."""
    times = ensemble.results.times
    count = int(np.searchsorted(times, ensemble.results.end_time[run], side="right"))
    begun = ensemble.begun_runs.get(run)
    jump = None if begun is None or begun.events is None else begun.events.log.first_jump
    if jump is None or jump.t > ensemble.results.end_time[run]:
        return count, ""
    return max(1, int(np.searchsorted(times, jump.t))), describe_jump(jump)


def collect_derivatives(
    results: EnsembleResults, runs: dict[int, Run]
) -> EnsembleDerivatives | None:
    """Return the sensitivities of runs that were made one by one; None if no run has some."""
    found = {k: run.sensitivity for k, run in runs.items() if run.sensitivity is not None}
    if not found:
        return None
    wrt = tuple(str(name) for name in next(iter(found.values()))["wrt"].values)
    shape = len(results), len(results.times)
    q = np.full((*shape, results.names.nq, len(wrt)), np.nan)
    qd = np.full((*shape, results.names.nv, len(wrt)), np.nan)
    until, status = np.full(len(results), np.nan), list(results.status)
    for k, own in found.items():
        own = own.sel(time=own["time"].isin(results.times), wrt=list(wrt))
        count = own.sizes["time"]
        q[k, :count], qd[k, :count] = own["q"].values, own["qd"].values
        until[k], status[k] = own.attrs["until"], own.attrs["status"]
    return EnsembleDerivatives(wrt, q, qd, until, status)
