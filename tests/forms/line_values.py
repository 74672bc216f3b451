"""Values of the lines of a set of equations, one after the other."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

import linkwright as lw
from linkwright.quantities import quantity_entry_names
from linkwright.written_equations import EquationLine


def value_of(expression: ca.SX, known: dict[str, float]) -> float:
    """An expression at the values of its symbols by name."""
    symbols = ca.symvar(ca.SX(expression))
    values = [known[symbol.name()] for symbol in symbols]
    return float(ca.Function("value", symbols, [expression]).call(values)[0])


def line_values(lines: Iterable[EquationLine], known: dict[str, float]) -> dict[str, float]:
    """`known` with the values of the lines that define a name by a scalar, in their order."""
    found = dict(known)
    for line in lines:
        if isinstance(line.left, str) and isinstance(line.right, ca.SX):
            found[line.left] = value_of(line.right, found)
    return found


def motion_values(mechanism: lw.Mechanism, seed: int = 2) -> dict[str, float]:
    """A closed configuration, velocities and forces with the accelerations of `recursive`, by the
    names of their symbols."""
    eqs = lw.derive(mechanism, parameters="numeric")
    rng, clock = np.random.default_rng(seed), 0.0 if mechanism.loops_and_constraints() else 0.37
    at = eqs.names.time_arguments(clock)
    q, qd = rng.uniform(0.2, 0.8, eqs.nq), rng.uniform(0.3, 1, eqs.nv)
    tau = rng.uniform(-1, 1, eqs.nv)
    if eqs.names.constraints:
        q = np.array(eqs.home)
        G, k, _ = (np.array(x) for x in eqs.function("independent_map")(q, *at))
        qd = (G @ rng.uniform(0.3, 1, (G.shape[1], 1)) + k).ravel()
    made = eqs.function("forward_dynamics")(q, qd, tau, *at)
    qdd = np.array(made[0] if isinstance(made, tuple) else made).ravel()
    found = {"t": clock, **dict(zip(eqs.names.q, q, strict=True))}
    named = quantity_entry_names(eqs.names)
    for key, column in (("qd", qd), ("qdd", qdd), ("tau", tau)):
        found |= dict(zip(named[key], column, strict=True))
    return found
