"""The angles in which the closed forms of a mechanism are written.

Within a sequence of parallel axes these are absolute angles from its first axis (q2, q2 + q3): with
joint angles the number of terms of a planar chain would double with every link. Elsewhere they are
the joint angles.
"""

from __future__ import annotations

import casadi as ca

from ..algebra.exact.exact_angles import ExactAngle, exact_angles_on_tape
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import spread_coordinates
from ..mechanism import Mechanism
from ..tape import record_tape


def form_angles(mechanism: Mechanism) -> list[ExactAngle]:
    """The angles of closed forms, as combinations of coordinates; dependent ones are left out
    later."""
    tree = build_kinematic_tree(mechanism, "symbolic")
    own = _joint_form_angles(tree)
    absolute: dict[int, ExactAngle | None] = {}
    for index, link in enumerate(tree.links):
        if not link.kind.turns_about_axis:
            continue
        form, (turn, sign) = own[link.q], _previous_parallel_form_angle(tree, index)
        before = absolute.get(turn)
        absolute[index] = (
            form if form is None or before is None else _add_angle_forms(form, before, sign)
        )
    found: list[ExactAngle] = []
    for form in absolute.values():
        if form and form not in found:
            found.append(form)
    return found


def form_angles_as_written(mechanism: Mechanism) -> list[ExactAngle]:
    """Joint angles as the mechanism's coordinates define them, so that p2 − p1 is not printed as p1
    − p2."""
    if mechanism.coordinates is None or not mechanism.coordinates.joints:
        return []
    tree = build_kinematic_tree(mechanism, "symbolic")
    return [form for form in _joint_form_angles(tree) if form]


def form_quaternion_symbols(mechanism: Mechanism) -> list[tuple[str, ...]]:
    """Groups of four coordinates whose squares sum to 1."""
    tree = build_kinematic_tree(mechanism, "symbolic")
    if tree.transfer is not None or tree.followers:
        return []
    return [
        tree.names.q[link.coordinate_range.stop - 4 : link.coordinate_range.stop]
        for link in tree.links
        if link.kind.has_quaternion
    ]


def _joint_form_angles(tree: KinematicTree) -> list[ExactAngle | None]:
    """The coordinates of the tree as linear forms of the model's coordinates; None where they are
    not linear."""
    q, p = tree.motion.q, ca.vertcat(*tree.symbols.values())
    inputs = [q, tree.motion.t, p]
    function = ca.Function(
        "joints", inputs, [spread_coordinates(tree, q)], ["q", "t", "p"], ["joints"]
    )
    tape = record_tape(function)
    names = [list(tree.names.q), ["t"], list(tree.symbols)]
    return exact_angles_on_tape(tape, names, tape.results[0].tolist())


def _previous_parallel_form_angle(tree: KinematicTree, index: int) -> tuple[int, int]:
    """The last rotating link before this one if its axis is parallel, and whether it points the
    same way (1 or −1)."""
    R, link = tree.links[index].R, tree.links[index].parent
    while link != GROUND and not tree.links[link].kind.has_rotation:
        R, link = tree.links[link].R @ R, tree.links[link].parent
    axis = ca.SX(R)[:, 2]
    if link == GROUND or not (axis[0].is_zero() and axis[1].is_zero()):
        return GROUND, 0
    if axis[2].is_one():
        return link, 1
    return (link, -1) if axis[2].is_minus_one() else (GROUND, 0)


def _add_angle_forms(form: ExactAngle, before: ExactAngle, sign: int) -> ExactAngle:
    """form + sign · before."""
    total = dict(form)
    for monomial, multiple in before:
        total[monomial] = total.get(monomial, 0 * multiple) + sign * multiple
    return tuple(sorted((m, c) for m, c in total.items() if c))
