"""Ensembles: many runs of one mechanism at once, with different starts and parameters.

The same compiled program makes all runs on several threads, with one run per lane. Each run has its
own steps. `simulate` repeats a run that the program cannot finish, for example near a singular
configuration.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..errors import (
    LinkwrightError,
    NameNotFoundError,
    UnsupportedError,
    suggest_remedy,
)
from ..formulations import derive
from ..mechanism import Mechanism, require_mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..number_checks import check_finite_array, check_positive, check_whole_number
from ..types import Floats, ForceLike, VectorLike
from .argument_checks import sample_times
from .compiled_motion import METHODS, CompiledMotion
from .ensemble_events import EventsLike, check_ensemble_events, check_ensemble_limits
from .ensemble_inputs import EnsembleInputs
from .ensemble_runs import Ensemble, EnsembleRecipe
from .ensemble_starts import EnsembleStart
from .events.event_parts import find_event_parts
from .feedback import Feedback
from .inputs import check_inputs_without, drive_of
from .right_hand_side import RightHandSide
from .settings import STOPS

if TYPE_CHECKING:
    import xarray

_RESULTS = (
    "q", "qd", "status", "steps", "evaluations", "compiled", "run", "time", "coordinate", "speed",
    "end_time", "q_end", "qd_end", "event", "event_run", "event_time", "event_name", "event_note",
)  # fmt: skip

KEPT_ENSEMBLES = 8
"""How many mechanisms with varied parameters keep their code in memory."""


def simulate_ensemble(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    *,
    parameters: Mapping[str, VectorLike] | None = None,
    torque: ForceLike | Feedback | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 2,
    max_step: float = math.inf,
    events: EventsLike | None = None,
    stops: str = "stop",
    threads: int | None = None,
) -> xarray.Dataset:
    """Simulate many runs of a mechanism at once, with adaptive steps.

    Each run has its own steps. A run that cannot continue does not affect the others, and its
    status says why. Limits of joints end a run, and each run has its own events. Ensembles do not
    support contacts, stops with restitution, sticking friction and members that break; a mechanism
    that has them is rejected (remove them with `Mechanism.without`).

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t : float
        Duration, s.
    q0, qd0 : (runs, n) arrays, or mappings of names to numbers or (runs,) arrays, optional
        Coordinates (rad or m) and velocities (rad/s or m/s) at the start. Arrays must satisfy the
        constraints. Values given by name are held, and the others follow from the constraints.
    parameters : mapping of names to numbers or (runs,) arrays, optional
        Values of parameters in SI units (default: the values in the mechanism).
    torque : array, mapping or Feedback, optional
        Generalized forces (N·m or N) of all runs, as in `simulate`, but not a Python function. They
        may differ from run to run: a (runs, n) array, or by name a (runs,) array or a table
        (times, values) with values of shape (runs, times).
    integrator : {"dop853", "rk45", "rodas"}
        The integrator.
    rtol, atol : float
        Relative and absolute tolerance of a step.
    samples : int
        Number of equally spaced times in the result; 2: start and end.
    max_step : float, optional
        Largest step, s (default: no limit).
    events : mapping, optional
        By name: an expression that crosses zero, or an `Event` that is recorded or stops the run.
    stops : {"stop", "ignore"}
        A run ends at the limits of joints, or they have no effect.
    threads : int, optional
        Number of threads (default: one for each core).

    Returns
    -------
    xarray.Dataset
        `q` (run, time, coordinate), `qd` (run, time, speed), `status`, `steps`, `evaluations`
        (run), and the given parameters (run). Samples that a run did not reach are NaN; `end_time`
        (run), `q_end` and `qd_end` tell where it ended. Events are listed in `event_run`,
        `event_time`, `event_name` and `event_note` (event), run by run.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.simulate_ensemble(lw.gallery("elbow"), 0.5, q0={"q1": [0.0, 0.5, 1.0]})
    >>> found["q"].shape
    (3, 2, 2)
    """
    require_mechanism(mechanism)
    times = sample_times(t, samples)
    if integrator not in METHODS:
        raise UnsupportedError(
            f"ensembles cannot use '{integrator}'", remedy=f"use one of {', '.join(METHODS)}"
        )
    if stops not in STOPS:
        remedy = f"use one of {', '.join(STOPS)}"
        raise LinkwrightError(f"stops = {stops!r} is not known", remedy=remedy)
    options = {
        "rtol": check_positive(rtol, "rtol"),
        "atol": check_positive(atol, "atol"),
        "max_step": check_positive(max_step, "max_step", or_infinite=True),
    }
    given = {
        name: check_finite_array(values, f"parameters['{name}']")
        for name, values in (parameters or {}).items()
    }
    _check_parameters(mechanism, given)
    check_inputs_without(mechanism, torque, tuple(given))
    inputs = EnsembleInputs(torque, mechanism, t)
    motion = _ensemble_motion(
        mechanism, tuple(given), integrator, torque=inputs.shared, events=events, stops=stops
    )
    model = _ensemble_model(mechanism, tuple(given))
    start = EnsembleStart(model, mechanism, q0, qd0, given, runs=inputs.count)
    recipe = EnsembleRecipe(mechanism, start, inputs, times, options, events, stops)
    ensemble = Ensemble(motion, recipe)
    ensemble.run(_thread_count(threads))
    return ensemble.dataset(integrator)


def _thread_count(threads: int | None) -> int:
    if threads is not None:
        return check_whole_number(threads, "threads", 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_parameters(mechanism: Mechanism, given: Mapping[str, Floats]) -> None:
    for name, values in given.items():
        if name not in mechanism.parameters:
            raise NameNotFoundError(
                f"there is no parameter '{name}'", where=mechanism.name,
                remedy=suggest_remedy(name, list(mechanism.parameters)),
            )  # fmt: skip
        if name in _RESULTS:
            raise LinkwrightError(
                f"a parameter '{name}' would hide the result of that name",
                where=mechanism.name,
                remedy="rename the parameter",
            )
        if values.ndim > 1:
            raise LinkwrightError(
                f"parameters['{name}'] has shape {values.shape}",
                remedy="give one number, or one for each run",
            )


def _ensemble_motion(
    mechanism: Mechanism,
    names: tuple[str, ...],
    integrator: str,
    *,
    torque: Any,
    events: EventsLike | None,
    stops: str,
) -> CompiledMotion:
    """Return the program of a mechanism with varied parameters; it is cached only if there is no
    torque and no event of the user."""
    if torque is None and events is None:
        return _kept_motion(mechanism, names, integrator, stops)
    return _make_motion(mechanism, names, integrator, torque=torque, events=events, stops=stops)


@lru_cache(maxsize=KEPT_ENSEMBLES)
def _kept_motion(
    mechanism: Mechanism, names: tuple[str, ...], integrator: str, stops: str
) -> CompiledMotion:
    return _make_motion(mechanism, names, integrator, torque=None, events=None, stops=stops)


@lru_cache(maxsize=KEPT_ENSEMBLES)
def _ensemble_model(mechanism: Mechanism, names: tuple[str, ...]) -> Model:
    return compile_model(mechanism, parameters=names, threads=1)


def _make_motion(
    mechanism: Mechanism,
    names: tuple[str, ...],
    integrator: str,
    *,
    torque: Any,
    events: EventsLike | None,
    stops: str,
) -> CompiledMotion:
    if stops != "ignore":
        check_ensemble_limits(mechanism, names)
    equations = derive(mechanism, parameters=list(names) if names else "numeric")
    system = RightHandSide(equations, drive_of(equations, torque))
    parts = find_event_parts(mechanism, system, events, stops, "together")
    if parts is None:
        return CompiledMotion(system, integrator, None)
    check_ensemble_events(mechanism, parts, system, events, names)
    return CompiledMotion(system, integrator, parts.begin_run(system))
