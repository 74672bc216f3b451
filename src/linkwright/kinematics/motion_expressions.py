"""Expressions of the motion in a mechanism: chosen coordinates, forces, actuators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, Scalar
from ..errors import UnsupportedError
from ..expressions import ZERO
from ..mechanism import Mechanism, joint_coordinate_names, joint_velocity_names
from ..mechanism.coordinates import joint_variable_names
from .force_kinds import FORCE_READERS
from .force_kinds.compliant_contact import read_compliant_contact
from .force_kinds.gravity_compensation import read_gravity_compensation
from .force_kinds.length_force import read_length_force
from .force_kinds.quaternion_joint import read_quaternion_joint_elements
from .kinematic_tree import (
    ForceElement,
    JointTransfer,
    KinematicSymbols,
    KinematicTree,
    TreeForces,
)
from .parameter_values import KinematicParameters
from .transmissions import read_transmission
from .tree_coordinates import make_joint_transfer

SymbolScope = dict[str, Scalar]


def chosen_coordinate_transfer(
    mechanism: Mechanism, values: KinematicParameters, motion: KinematicSymbols
) -> JointTransfer | None:
    """Return joint variables as functions of the coordinates that the mechanism chooses; None if it
    chooses none."""
    chosen = mechanism.coordinates
    if chosen is None:
        return None
    values.enter_place("coordinates")
    variables = joint_variable_names(mechanism)
    scope: SymbolScope = {"t": motion.t}
    if chosen.joints:
        scope |= dict(zip(chosen.own_names, ca.vertsplit(motion.q), strict=True))
        q = ca.vertcat(*(values.read_motion_expression(chosen.joints[v], scope) for v in variables))
        G = ca.jacobian(q, motion.q)
        _check_regular_joint_transfer(G, ca.vertcat(motion.q, motion.t), values)
        return make_joint_transfer(q, motion, (0.0,) * len(chosen.own_names))
    old = ca.vertcat(*(ca.SX.sym(v) for v in variables))
    scope |= dict(zip(variables, ca.vertsplit(old), strict=True))
    new = ca.vertcat(*(values.read_motion_expression(e, scope) for e in chosen.new.values()))
    A = ca.jacobian(new, old)
    if ca.depends_on(A, old):
        raise UnsupportedError(
            "are not affine in the joint variables",
            where="coordinates.new",
            remedy="give the joint variables as functions of them, as coordinates.joints",
        )
    _check_regular_joint_transfer(A, ca.vertcat(old, motion.t), values)
    start = ca.substitute(new, old, ca.SX.zeros(len(variables)))
    inverse = ca.SX(np.linalg.inv(np.array(ca.DM(A)))) if A.is_constant() else ca.inv_minor(A)
    neutral = _coordinate_transfer_function(start, motion.t, values)(0.0)
    return make_joint_transfer(
        ca.sparsify(inverse) @ (motion.q - start),
        motion,
        tuple(np.asarray(neutral, dtype=float).ravel().tolist()),
    )


def _coordinate_transfer_function(
    expression: Array, variables: Array, values: KinematicParameters
) -> Callable[..., Any]:
    """Return a function of the variables, with symbols of parameters at their values."""
    known = list(values.symbols)
    function = ca.Function(
        "at", [variables, ca.vertcat(*(values.symbols[name] for name in known))], [expression]
    )
    numbers = [float(values.symbol_values[name]) for name in known]
    return lambda x: function(x, numbers)


def _check_regular_joint_transfer(G: Array, variables: Array, values: KinematicParameters) -> None:
    """Raise where the chosen coordinates do not determine the joint variables, or several of them
    describe one motion."""
    at, n = _coordinate_transfer_function(G, variables, values), G.shape[1]
    rng = np.random.default_rng(0)
    samples = (rng.uniform(0.1, 0.9, variables.shape[0]) for _ in range(3))
    found = [np.asarray(at(x), dtype=float) for x in samples]
    if all(not np.isfinite(g).all() or np.linalg.matrix_rank(g) < n for g in found):
        raise UnsupportedError(
            "are not independent of each other"
            if G.shape[0] > n
            else "do not determine the joint variables",
            where="coordinates",
            remedy="give functions that are independent of each other",
        )


def kinematic_symbol_scope(
    mechanism: Mechanism, motion: KinematicSymbols, transfer: JointTransfer | None
) -> SymbolScope:
    """Return the meaning of names in expressions: t, coordinates and velocities, those of the
    joints too."""
    scope: SymbolScope = {"t": motion.t}
    q, qd = motion.q, motion.qd
    if transfer is not None:
        assert mechanism.coordinates is not None
        own = mechanism.coordinates.own_names
        scope |= dict(zip(own, ca.vertsplit(q), strict=True))
        scope |= {f"d{name}": x for name, x in zip(own, ca.vertsplit(qd), strict=True)}
        q, qd = transfer.q, transfer.G @ qd + transfer.drift
    i = k = 0
    for name, joint in mechanism.joints_depth_first():
        for variable in joint_coordinate_names(name, joint):
            scope.setdefault(variable, q[i])
            i += 1
        for speed in joint_velocity_names(name, joint):
            scope.setdefault(speed if joint.by_quaternion else f"d{speed}", qd[k])
            k += 1
    return scope


def read_tree_forces(
    tree: KinematicTree, values: KinematicParameters, scope: SymbolScope
) -> TreeForces:
    """Return the force elements of the tree's mechanism, its actuators and compliant contacts as
    expressions."""
    mechanism = tree.mechanism
    forces: list[ForceElement] = []
    for name, force in mechanism.forces.items():
        values.enter_place(f"forces.{name}")
        forces.append(FORCE_READERS[type(force)](name, force, values, scope, tree))
    for name, length in mechanism.lengths.items():
        if length.has_forces:
            forces.append(read_length_force(name, length, values, tree.lengths[name]))
    forces += _read_part_elements(tree, values)
    drives = []
    for name, actuator in mechanism.actuators.items():
        values.enter_place(f"actuators.{name}")
        drives.append(read_transmission(mechanism, name, actuator, values, scope))
    pads = []
    for name, contact in mechanism.contacts.items():
        if contact.stiffness is not None:
            values.enter_place(f"contacts.{name}")
            pads.append(read_compliant_contact(name, contact, values))
    return TreeForces(tuple(forces), tuple(drives), tuple(pads))


def _read_part_elements(tree: KinematicTree, values: KinematicParameters) -> Iterator[ForceElement]:
    """Yield the elements that bodies and joints with quaternions describe in their own fields."""
    for name, body in tree.mechanism.bodies.items():
        if body.gravity_compensation != ZERO:
            values.enter_place(f"bodies.{name}")
            yield read_gravity_compensation(tree, name, body, values)
    for name, joint in tree.mechanism.joints.items():
        if joint.by_quaternion and joint.moves:
            yield from read_quaternion_joint_elements(tree, name, joint, values)


def read_generalized_speeds(
    mechanism: Mechanism, values: KinematicParameters, scope: SymbolScope
) -> dict[str, Scalar]:
    """Return the mechanism's generalized speeds as expressions."""
    found = {}
    for name, speed in mechanism.speeds.items():
        values.enter_place(f"speeds.{name}")
        found[name] = values.read_motion_expression(speed, scope)
    return found
