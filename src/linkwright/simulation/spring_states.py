"""What only approximate dynamics has: superabundant coordinates, energies and forces of springs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..formulations import derive
from ..types import Floats
from .events.sharp_friction import without_sharp_friction
from .state_space import StateSpace

if TYPE_CHECKING:
    from .run import Run


def superabundant_histories(space: StateSpace, y: Floats) -> dict[str, Floats]:
    """Return the superabundant coordinates, then their rates, by name from the columns of y."""
    state = space.equations.state
    if state is None or state.energies is None:
        return {}
    nq, half = space.names.nq, len(state.names) // 2
    return {state.names[k]: y[k] for k in (*range(nq, half), *range(nq + half, 2 * half))}


def energies_with_springs(
    space: StateSpace, times: Floats, y: Floats
) -> tuple[Floats, Floats] | None:
    """Return the kinetic and potential energies of the columns of y with their own coordinates and
    springs, J; None if they are those of (q, q̇)."""
    state = space.equations.state
    if state is None or state.energies is None:
        return None
    at = ca.Function("energies", [space.x, space.symbols[3]], list(state.energies()[:2]))
    kinetic, potential = (np.asarray(x).ravel() for x in at(y[: space.size], times[None]))
    return kinetic, potential


def spring_multipliers(run: Run) -> Floats:
    """Return λ = −β(f + γḟ), (times, rows); with iterations, the corrected ones."""
    eqs = derive(without_sharp_friction(run.mechanism), by="approximate", parameters="numeric")
    assert eqs.state is not None
    own, half = list(run.superabundant.values()), len(run.superabundant) // 2
    x = np.vstack([run.q.T, *own[:half], run.qd.T, *own[half:]])
    tau = run.tau if run.pushes is None else run.tau + run.pushes
    inputs = [eqs.state.x, eqs.symbols["tau"], eqs.symbols["t"]]
    at = ca.Function("multipliers", inputs, [eqs.extra("multipliers")])
    return np.asarray(at(x, tau.T, run.t[None]), dtype=float).T
