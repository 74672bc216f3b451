"""Motion of a mechanism in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..mechanism import Mechanism
from ..types import ForceLike, VectorLike
from .checked import check_mechanism, check_single_start, sample_times
from .ensembles import simulate_ensemble
from .events import Event
from .feedback import Feedback
from .fixed.rollouts import rollout
from .inverse import solve_inverse
from .kinematic import Kinematics, solve_kinematics
from .linear import Linear, linearize
from .motion import Motion
from .provenance import repeat, written
from .run import Happened, Run
from .sensitivities import Sensitivities
from .solvers import options_of, solver_named
from .start import start_of
from .statics import Equilibrium, equilibria, equilibrium
from .storage import load_run

__all__ = [
    "Equilibrium", "Event", "Happened", "Kinematics", "Linear", "Run", "equilibria", "equilibrium",
    "linearize", "load_run", "repeat", "rollout", "simulate", "simulate_ensemble",
    "solve_inverse", "solve_kinematics",
]  # fmt: skip


def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    by: str = "recursive",
    torque: ForceLike | Feedback | None = None,
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
) -> Run:
    """Simulate the motion of a mechanism over t seconds.

    Long runs show their progress on a terminal; Ctrl-C keeps what was computed.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t : float
        Duration, s.
    q0, qd0 : array or mapping of names to numbers, optional
        Coordinates (rad, m) and velocities at the start; what a table does not name is at home
        (where loops close) and at rest.
    by : str
        The formulation of the equations.
    torque : array, callable, mapping or Feedback, optional
        Generalized forces, N m or N: numbers, a function of (t, q, q̇), a controller, or a table by
        velocity or actuator of numbers, expressions ("2*sin(t) - q1") and (times, values) or
        (times, values, "cubic").
    integrator : str
        Such as "dop853".
    rtol, atol : float
        Relative and absolute tolerances of a step.
    samples : int
        Number of equal times of the result.
    max_step, step : float, optional
        Largest step, and the step of integrators with fixed steps, s.
    progress : bool, optional
        Show progress (default: on a terminal).
    stabilization : str or mapping
        How constraints hold: "projection", "baumgarte" or {"alpha": 10, "beta": 10}.
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
        Tolerance of nearly redundant constraints, m and rad (default: the mechanism's).
    sensitivity : sequence of str, optional
        Names of parameters, "q0", "qd0" or single ones as "q0.theta1": `run.sensitivity` has the
        derivatives of q and q̇ by these.

    Returns
    -------
    Run
        The motion with forces, energies and events.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.simulate(lw.gallery("elbow"), 0.1, q0={"q1": 0.5}, samples=3).q.shape
    (3, 2)
    """
    check_mechanism(mechanism)
    check_single_start(q0, qd0)
    mechanism = mechanism.with_closure(closure)
    make = solver_named(integrator, coordinates)
    times = sample_times(t, samples)
    options = options_of(
        integrator, rtol=rtol, atol=atol, max_step=max_step, step=step, spacing=float(times[1])
    )
    settings = {
        "t": t, "q0": q0, "qd0": qd0, "by": by, "integrator": integrator, "rtol": rtol,
        "atol": atol, "samples": samples, "max_step": max_step, "step": step,
        "stabilization": stabilization, "coordinates": coordinates, "events": events,
        "stops": stops, "impacts": impacts,
    }  # fmt: skip
    settings |= {} if sensitivity is None else {"sensitivity": sensitivity}
    derivatives = (
        None if sensitivity is None else Sensitivities(mechanism, sensitivity, torque, settings)
    )
    motion = Motion(make, options, written(settings), events, progress)
    prepared = motion.prepare(mechanism, torque)
    if derivatives is not None:
        derivatives.check_system(prepared.template)
    q, qd = start_of(mechanism, prepared.template.model, q0, qd0)
    run = motion.run(mechanism, prepared, torque, times, q, qd)
    return run if derivatives is None else derivatives.add_to(run, prepared)
