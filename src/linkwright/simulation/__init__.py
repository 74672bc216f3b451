"""Motion of a mechanism in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..mechanism import Mechanism
from ..types import ForceLike, VectorLike
from .checked import check_mechanism, sample_times
from .events import Event
from .feedback import Feedback
from .fixed.rollouts import rollout
from .inverse import solve_inverse
from .kinematic import Kinematics, solve_kinematics
from .linear import Linear, linearize
from .motion import Motion
from .provenance import repeat, written
from .run import Happened, Run
from .solvers import options_of, solver_named
from .start import start_of
from .statics import Equilibrium, equilibria, equilibrium
from .storage import load_run

__all__ = [
    "Equilibrium", "Event", "Happened", "Kinematics", "Linear", "Run", "equilibria", "equilibrium",
    "linearize", "load_run", "repeat", "rollout", "simulate", "solve_inverse", "solve_kinematics",
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
) -> Run:
    """The motion over t seconds from (q0, qd0), as a `Run` at `samples` equal times.

    q0 and qd0 are arrays, or tables of some coordinates and speeds by name; the rest is at home
    (where loops close) and at rest. `torque`: numbers, a function of (t, q, q̇), or a table by
    speed or actuator of numbers, expressions ("2*sin(t) - q1") and (times, values[, "cubic"]).
    `step` is for integrators of fixed steps. Constraints are held by `stabilization`: "projection",
    "baumgarte" or {"alpha": 10, "beta": 10}; coordinates="minimal" integrates loops in as many
    coordinates as there are freedoms.
    `events` by name: an expression or function that passes zero, or an `Event` with an action.
    `stops`: limits with a restitution are stops; without, the run ends there ("stop"), or they
    are stops all the same ("impact"), or none ("ignore"). `impacts` at one instant are solved
    "together", or "one by one". `closure`: see `Mechanism.closure` (default: the mechanism's own).
    Long runs show their progress on a terminal unless it is turned
    off; Ctrl-C keeps what was computed.
    """
    check_mechanism(mechanism)
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
    motion = Motion(make, options, written(settings), events, progress)
    system = motion.system(mechanism, torque)
    q, qd = start_of(mechanism, system.model, q0, qd0)
    return motion.run(mechanism, system, torque, times, q, qd)
