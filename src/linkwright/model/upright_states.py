"""Configurations in which the equations of loops hold, but a joint is turned over by half a turn or
a wheel lies flat: no such configuration closes the loops."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism import Mechanism
from ..types import Booleans, Floats

if TYPE_CHECKING:
    import casadi as ca

MAX_KEPT_CONDITIONS = 8
"""How many mechanisms keep the function of their upright configurations."""


def are_states_upright(
    mechanism: Mechanism, parameters: tuple[str, ...], q: Floats, t: Floats, p: Floats
) -> Booleans:
    """Return which states (…, nq) have no joint turned over and no wheel that lies flat.

    `t` is (…) and `p` (…, count) has the values of `parameters`.
    """
    conditions = _upright_conditions(mechanism, parameters)
    leading = np.broadcast_shapes(q.shape[:-1], np.shape(t), p.shape[:-1])
    count = int(np.prod(leading))
    columns = [
        np.broadcast_to(x, (*leading, x.shape[-1])).reshape(count, x.shape[-1]).T
        for x in (q, np.asarray(t, dtype=float)[..., None], p)
    ]
    numbers: Floats = np.asarray(conditions(*columns), dtype=float)
    found: Booleans = np.all(numbers > 0, axis=0).reshape(leading)
    return found


@lru_cache(maxsize=MAX_KEPT_CONDITIONS)
def _upright_conditions(mechanism: Mechanism, parameters: tuple[str, ...]) -> ca.Function:
    """Return the function (q, t, p) → numbers that are above zero in upright configurations."""
    import casadi as ca

    from ..kinematics.constraint_equations import constraint_equations
    from ..kinematics.tree_builder import build_kinematic_tree

    tree = build_kinematic_tree(mechanism, list(parameters) or "numeric")
    constraints = constraint_equations(tree)
    assert constraints is not None
    p = ca.vertcat(ca.SX(0, 1), *tree.symbols.values())
    found = ca.vertcat(ca.SX(1), ca.SX(constraints.upright_conditions))
    return ca.Function("upright", [tree.motion.q, tree.motion.t, p], [ca.densify(found)])
