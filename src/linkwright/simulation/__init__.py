"""Motion of a mechanism in time."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..formulations import derive
from ..mechanism import Mechanism
from .fixed.rollouts import rollout
from .inputs import drive_of
from .inverse import inverse
from .kinematic import Kinematics, kinematics
from .linear import Linear, linearize
from .march import March, Mending
from .progress import Watch
from .provenance import repeat, written
from .record import recorded
from .run import Run
from .solvers import options_of, solver_named
from .stabilization import stabilization_of
from .start import start_of
from .statics import Equilibrium, equilibria, equilibrium
from .storage import load_run
from .system import System

__all__ = [
    "Equilibrium", "Kinematics", "Linear", "Run", "equilibria", "equilibrium", "inverse",
    "kinematics", "linearize", "load_run", "repeat", "rollout", "simulate",
]  # fmt: skip


def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: Any = None,
    qd0: Any = None,
    by: str = "recursive",
    torque: Any = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 501,
    max_step: float = math.inf,
    step: float | None = None,
    stabilization: Any = "projection",
    coordinates: str = "all",
    progress: bool | None = None,
) -> Run:
    """The motion over t seconds from (q0, qd0), as a `Run` at `samples` equal times.

    q0 and qd0 are arrays, or tables of some coordinates and speeds by name; the rest is at home
    (where loops close) and at rest. `torque`: numbers, a function of (t, q, q̇), or a table by
    speed or actuator of numbers, expressions ("2*sin(t) - q1") and (times, values[, "cubic"]).
    `step` is for integrators of fixed steps. Constraints are held by `stabilization`: "projection",
    "baumgarte" or {"alpha": 10, "beta": 10}; coordinates="minimal" integrates loops in as many
    coordinates as there are freedoms.
    Long runs show their progress on a terminal unless it is turned off; Ctrl-C keeps what was
    computed.
    """
    make = solver_named(integrator, coordinates)
    if not (0 < t < math.inf and samples >= 2):
        raise LinkwrightError(
            f"{t:g} s in {samples} samples is no motion", remedy="give t above 0, samples from 2"
        )
    equations = derive(mechanism, by=by, parameters="numeric")
    held = stabilization_of(stabilization, equations)
    system = System(equations, drive_of(equations, torque), held)
    mending = Mending(system)
    times = np.linspace(0.0, t, samples)
    options = options_of(
        integrator, rtol=rtol, atol=atol, max_step=max_step, step=step, spacing=float(times[1])
    )
    begin = time.perf_counter()
    y0 = system.start(*start_of(mechanism, system.model, q0, qd0))
    with np.errstate(all="ignore"), Watch(mechanism.name, t, progress) as watch:
        march = March(make(system, 0.0, y0, t, options), mending)
        status = march.along(times, watch)
    settings = {
        "t": t, "q0": q0, "qd0": qd0, "by": by, "torque": system.drive.written,
        "integrator": integrator, "rtol": rtol, "atol": atol, "samples": samples,
        "max_step": max_step, "step": step, "stabilization": stabilization,
        "coordinates": coordinates,
    }  # fmt: skip
    statistics = {
        "steps": march.steps, "evaluations": system.evaluations,
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip
    return recorded(
        mechanism, system, times[: len(march.found)], np.array(march.found).T, status=status,
        statistics=statistics, settings=written(settings),
        singular=() if mending.projection is None else mending.projection.singular(),
    )  # fmt: skip
