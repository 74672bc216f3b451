"""The reduction to independent velocities as it is printed: loops closed along fixed axes.

The residuals of a loop are measured in the axes of its parent, which turn. Where the loop is
closed, the same velocities follow from the distance of both origins along axes that do not turn, in
shorter expressions: for a four-bar, those of its vector loop.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..kinematics.constraint_equations import ConstraintEquations
from ..kinematics.constraint_kinds.body_states import ConstrainedBodyStates
from ..kinematics.constraint_kinds.loop import LoopRestraint
from ..kinematics.tree_coordinates import coordinate_rate_matrix
from .formulation import Formulation
from .kane_speeds import solve_by_blocks
from .reduced_dynamics import ReducedDynamics


class WrittenReduction(ReducedDynamics):
    """The reduction with dependent velocities by minors, without the factors of an elimination."""

    def solve_dependent(self, right: Array) -> Array:
        """A_p⁻¹ times a matrix."""
        return solve_by_blocks(ca.sparsify(self.constraints.J[self.rows, self.p]), right)


def written_reduction(shared: Formulation) -> ReducedDynamics:
    """The reduction with loops along fixed axes; the formulation's own where that does not give the
    same velocities."""
    own = shared.reduction
    found = WrittenReduction(shared.tree, _constraints_along_fixed_axes(shared), own.choice)
    G, other = (np.array(shared.evaluate_at_home(ca.densify(x.G))) for x in (own, found))
    is_close = np.isfinite(other).all() and np.allclose(G, other, rtol=1e-7, atol=1e-9)
    return found if is_close else own


def _constraints_along_fixed_axes(shared: Formulation) -> ConstraintEquations:
    """The constraints with the distances of loops along axes that are fixed to ground."""
    tree, own = shared.tree, shared.tree.motion
    constraints = shared.constraints
    assert constraints is not None
    N, setting = coordinate_rate_matrix(tree, own.q), ConstrainedBodyStates(tree)
    velocity = ca.densify(constraints.velocity)
    for tie in tree.restraints.entries:
        closure = tie.kind.closure if isinstance(tie, LoopRestraint) else None
        if not isinstance(tie, LoopRestraint) or closure is None:
            continue
        if closure.held_directions == "bca":
            first = constraints.owners.index(tie.name)
            apart = _distance_along_fixed_axes(tie, setting, own.q)
            rate = ca.jacobian(apart, own.q) @ N @ own.qd + ca.jacobian(apart, own.t)
            velocity[first : first + 3] = rate
    bias = ca.jtimes(velocity, own.q, N @ own.qd) + ca.jacobian(velocity, own.t)
    J = ca.jacobian(velocity, own.qd)
    return replace(constraints, velocity=velocity, J=J, bias=ca.densify(bias))


def _distance_along_fixed_axes(
    loop: LoopRestraint, setting: ConstrainedBodyStates, q: Array
) -> Array:
    """The distance of a loop's origins along the axes that its parent has at q = 0."""
    parent, child = setting.place_pair(loop.loop_frames, loop.bodies)
    axes = ca.substitute(ca.SX(parent.R @ loop.first_axis), q, ca.SX.zeros(q.shape))
    return axes.T @ (child.p - parent.p)
