"""`simulate`: one run of a mechanism, or an ensemble of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast, overload

from numpy.typing import ArrayLike

from ..formulations.approximate_penalties import mechanism_with_penalties
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_whole_number
from ..types import Floats, ForceLike, VectorLike
from .ensemble_inputs import TorqueLike
from .ensemble_parameters import read_parameters
from .ensembles import is_ensemble, simulate_runs, simulator_with_parameters
from .events.user_event import Event
from .feedback import Feedback
from .run import Run
from .sensitivities import simulate_with_derivatives
from .settings import Settings
from .simulator import Simulator

if TYPE_CHECKING:
    import xarray

StartOfRun: TypeAlias = str | Sequence[float] | Floats | Mapping[str, float | str]
"""The start of one run."""

ForceOfRun: TypeAlias = (
    Feedback | Sequence[float] | Floats | Mapping[str, object] | Callable[..., ArrayLike] | str
)
"""The inputs of one run. Types do not tell arrays of different shapes apart: a type checker takes a
call with (runs, n) arrays, or with forces by name that differ, for one run."""


@overload
def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: StartOfRun | None = None,
    qd0: StartOfRun | None = None,
    by: str = "recursive",
    torque: ForceOfRun | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 501,
    max_step: float = math.inf,
    progress: bool | None = None,
    step: float | None = None,
    stabilization: str | Mapping[str, float] = "projection",
    coordinates: str = "all",
    events: Mapping[str, str | Callable[..., float] | Event] | None = None,
    stops: str = "stop",
    impacts: str = "together",
    closure: float | None = None,
    sensitivity: Sequence[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    threads: int | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> Run: ...


@overload
def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    by: str = "recursive",
    torque: TorqueLike | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 501,
    max_step: float = math.inf,
    progress: bool | None = None,
    step: float | None = None,
    stabilization: str | Mapping[str, float] = "projection",
    coordinates: str = "all",
    events: Mapping[str, str | Callable[..., float] | Event] | None = None,
    stops: str = "stop",
    impacts: str = "together",
    closure: float | None = None,
    sensitivity: Sequence[str] | None = None,
    parameters: Mapping[str, VectorLike] | None = None,
    threads: int | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> xarray.Dataset: ...


def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    by: str = "recursive",
    torque: TorqueLike | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 501,
    max_step: float = math.inf,
    progress: bool | None = None,
    step: float | None = None,
    stabilization: str | Mapping[str, float] = "projection",
    coordinates: str = "all",
    events: Mapping[str, str | Callable[..., float] | Event] | None = None,
    stops: str = "stop",
    impacts: str = "together",
    closure: float | None = None,
    sensitivity: Sequence[str] | None = None,
    parameters: Mapping[str, VectorLike] | None = None,
    threads: int | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> Run | xarray.Dataset:
    """Simulate the motion of a mechanism over t seconds: one run, or an ensemble of runs.

    The call is an ensemble if some start, parameter or force has one value for each run. Ensembles
    run on SIMD lanes and on several threads, each run with its own steps, events and mode; a run
    that cannot continue does not affect the others. Long runs show their progress on a terminal;
    Ctrl-C keeps what was computed.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t : float
        Duration, s.
    q0, qd0 : array, mapping of names to numbers, or name of a pose, optional
        Coordinates (rad, m) and velocities at the start; values that a table does not name are
        those at home (where loops close) and at rest. In an ensemble (runs, n) arrays, or by name
        numbers and (runs,) arrays.
    by : str
        The formulation: "recursive", "lagrange", "hamilton", "newton_euler", "kane", "influence",
        "recurrent", "multipliers" or "approximate".
    torque : array, callable, mapping, Feedback or str, optional
        Generalized forces, N m or N: numbers, a function of (t, q, q̇), a controller, or a table by
        velocity or actuator of numbers, expressions ("2*sin(t) - q1") and (times, values) or
        (times, values, "cubic"). By actuator, these are controls: efforts, unless the actuator has
        a gain or bias; the name of a pose stands for its controls. In an ensemble
        also a (runs, n) array, by name (runs,) arrays and tables with (runs, times) values, or a
        list with one controller for each run; not a function.
    integrator : str
        The integrator: "dop853", "rk45", "rodas", "radau", "bdf", "lsoda", "cvodes", "idas",
        "taylor"; with fixed steps "euler", "heun", "rk4", "semi-implicit", "midpoint",
        "variational".
    rtol, atol : float
        Tolerances of a step: relative, and absolute (rad, m and their rates).
    samples : int
        Number of equally spaced times in the result.
    max_step, step : float, optional
        Largest step, and the step of integrators with fixed steps, s.
    progress : bool, optional
        Show progress (default: on a terminal).
    stabilization : str or mapping
        How constraints are enforced: "projection", "baumgarte" or {"alpha": 10, "beta": 10}.
    coordinates : {"all", "minimal"}
        "minimal" integrates loops in as many coordinates as there are degrees of freedom.
    events : mapping, optional
        By name: an expression or function that crosses zero, or an `Event` with an action.
    stops : {"stop", "impact", "ignore"}
        At limits without a restitution the run ends, or they act as stops, or they have no effect;
        limits with a restitution are stops.
    impacts : {"together", "one by one"}
        How impacts at one instant are solved.
    closure : float, optional
        Tolerance of nearly redundant constraints, relative to their size (default: the
        mechanism's).
    sensitivity : sequence of str, optional
        Names of parameters, "q0", "qd0" or single ones such as "q0.theta1": `run.sensitivity` has
        the derivatives of q and q̇ with respect to these.
    parameters : mapping of names to numbers or (runs,) arrays, optional
        Values of parameters in SI units, or texts with a unit (default: the values in the
        mechanism).
    threads : int, optional
        Number of threads of an ensemble (default: one for each core).
    beta, gamma, iterations : float, float, int, optional
        Options of `by="approximate"`: stiffness of the constraints (N/m), time constant of their
        damping (s), and number of corrections of the multipliers (default: those of the mechanism,
        or chosen so that joints open by less than 1e-4 of its size; for fixed steps, so that these
        are stable).

    Returns
    -------
    Run or xarray.Dataset
        The motion with forces, energies and events; for an ensemble a dataset with `q` (run, time,
        coordinate), `qd` (run, time, speed), `status`, `steps`, `evaluations`, `compiled`,
        `why_in_python` (run), and the given parameters (run). Samples that a run did not reach are
        NaN; `end_time` (run), `q_end` and `qd_end` tell where it ended. Events are listed in
        `event_run`, `event_time`, `event_name` and `event_note` (event), run by run.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.simulate(lw.gallery("elbow"), 0.1, q0={"q1": 0.5}, samples=3).q.shape
    (3, 2)
    >>> lw.simulate(lw.gallery("elbow"), 0.1, q0={"q1": [0.0, 0.5]}, samples=3)["q"].shape
    (2, 3, 2)
    """
    require_mechanism(mechanism)
    if threads is not None:
        check_whole_number(threads, "threads", 1)
    settings = Settings(
        t=t,
        q0=q0,
        qd0=qd0,
        by=by,
        integrator=integrator,
        rtol=rtol,
        atol=atol,
        samples=samples,
        max_step=max_step,
        step=step,
        stabilization=stabilization,
        coordinates=coordinates,
        events=events,
        stops=stops,
        impacts=impacts,
        sensitivity=sensitivity,
    )
    mechanism = mechanism_with_penalties(
        mechanism.with_closure(closure), by, beta, gamma, iterations, settings.fixed_step
    )
    if is_ensemble(q0, qd0, parameters, torque):
        return simulate_runs(
            mechanism, settings, torque, parameters, threads=threads, progress=progress
        )
    force = cast("ForceLike | Feedback | None", torque)
    return simulate_run(mechanism, settings, force, parameters, progress=progress)


def simulate_run(
    mechanism: Mechanism,
    settings: Settings,
    torque: ForceLike | Feedback | None = None,
    parameters: Mapping[str, VectorLike] | None = None,
    *,
    progress: bool | None = None,
) -> Run:
    """Return one run, with its sensitivities if they are asked for."""
    simulator = Simulator(mechanism, settings, torque, progress)
    if parameters:
        values = {name: float(x) for name, x in read_parameters(mechanism, parameters).items()}
        settings = replace(settings, parameters=values)
        simulator = simulator_with_parameters(mechanism, settings, torque, values, progress)
    return simulate_with_derivatives(simulator)
