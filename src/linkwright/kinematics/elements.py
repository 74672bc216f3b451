"""What a mechanism says in expressions of its motion: chosen coordinates, forces, actuators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..algebra.linear import Array, Scalar
from ..errors import UnsupportedError
from ..mechanism import Mechanism, coordinate_names, speed_names
from .coordinates import transferred
from .force_kinds import READERS
from .force_kinds.pad import read_pad
from .tree import Loads, Symbols, Transfer
from .values import Values

Scope = dict[str, Scalar]


def joint_variables(mechanism: Mechanism) -> list[str]:
    return [
        variable
        for name, joint in mechanism.joints_depth_first()
        for variable in coordinate_names(name, joint)
    ]


def chosen_coordinates(mechanism: Mechanism, values: Values, motion: Symbols) -> Transfer | None:
    """Joint variables as functions of the coordinates that the mechanism chooses, if it does."""
    chosen = mechanism.coordinates
    if chosen is None:
        return None
    values.at("coordinates")
    variables = joint_variables(mechanism)
    if chosen.joints:
        scope: Scope = dict(zip(chosen.own, ca.vertsplit(motion.q), strict=True))
        q = ca.vertcat(*(values.expression(chosen.joints[v], scope) for v in variables))
        _check_regular(ca.jacobian(q, motion.q), motion.q, values)
        return transferred(q, motion, (0.0,) * len(variables))
    old = ca.vertcat(*(ca.SX.sym(v) for v in variables))
    scope = dict(zip(variables, ca.vertsplit(old), strict=True))
    new = ca.vertcat(*(values.expression(e, scope) for e in chosen.new.values()))
    A = ca.jacobian(new, old)
    if ca.depends_on(A, old):
        raise UnsupportedError(
            "are not affine in the joint variables", where="coordinates.new",
            remedy="give the joint variables as functions of them, as coordinates.joints",
        )  # fmt: skip
    _check_regular(A, old, values)
    start = ca.substitute(new, old, ca.SX.zeros(len(variables)))
    inverse = ca.SX(np.linalg.inv(np.array(ca.DM(A)))) if A.is_constant() else ca.inv_minor(A)
    neutral = _at_nominal(start, old, values)(np.zeros(len(variables)))
    return transferred(
        ca.sparsify(inverse) @ (motion.q - start),
        motion,
        tuple(np.asarray(neutral, dtype=float).ravel().tolist()),
    )


def _at_nominal(expression: Array, variables: Array, values: Values) -> Callable[..., Any]:
    """A function of the variables, symbols of parameters at their values."""
    known = list(values.symbols)
    function = ca.Function(
        "at", [variables, ca.vertcat(*(values.symbols[name] for name in known))], [expression]
    )
    numbers = [float(values.symbol_values[name]) for name in known]
    return lambda x: function(x, numbers)


def _check_regular(G: Array, variables: Array, values: Values) -> None:
    """The new coordinates and the joints' variables must determine each other."""
    at, n = _at_nominal(G, variables, values), G.shape[0]
    rng = np.random.default_rng(0)
    found = [np.asarray(at(rng.uniform(0.1, 0.9, n)), dtype=float) for _ in range(3)]
    if all(not np.isfinite(g).all() or np.linalg.matrix_rank(g) < n for g in found):
        raise UnsupportedError(
            "do not determine the joint variables", where="coordinates",
            remedy="give functions that are independent of each other",
        )  # fmt: skip


def moving_names(mechanism: Mechanism, motion: Symbols, transfer: Transfer | None) -> Scope:
    """What names in forces stand for: t, coordinates and speeds, those of the joints too."""
    scope: Scope = {"t": motion.t}
    q, qd = motion.q, motion.qd
    if transfer is not None:
        assert mechanism.coordinates is not None
        own = mechanism.coordinates.own
        scope |= dict(zip(own, ca.vertsplit(q), strict=True))
        scope |= {f"d{name}": x for name, x in zip(own, ca.vertsplit(qd), strict=True)}
        q, qd = transfer.q, transfer.G @ qd
    i = k = 0
    for name, joint in mechanism.joints_depth_first():
        for variable in coordinate_names(name, joint):
            scope.setdefault(variable, q[i])
            i += 1
        for speed in speed_names(name, joint):
            scope.setdefault(speed if joint.by_quaternion else f"d{speed}", qd[k])
            k += 1
    return scope


def loads_of(
    mechanism: Mechanism, values: Values, scope: Scope, freedoms: Mapping[str, int]
) -> Loads:
    """Force elements and actuators as expressions."""
    forces = []
    for name, force in mechanism.forces.items():
        values.at(f"forces.{name}")
        forces.append(READERS[type(force)](name, force, values, scope, freedoms))
    moves = []
    for name, actuator in mechanism.actuators.items():
        values.at(f"actuators.{name}")
        moves.append(values.expression(actuator.moves, scope))
    pads = []
    for name, contact in mechanism.contacts.items():
        if contact.stiffness is not None:
            values.at(f"contacts.{name}")
            pads.append(read_pad(name, contact, values))
    return Loads(tuple(forces), tuple(moves), tuple(pads))
