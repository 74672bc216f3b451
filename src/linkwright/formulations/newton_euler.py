"""Newton's and Euler's equations of free bodies, as in Bayseç and Kapucu (1996), (23)–(46).

Every body is free: its mass centre has an acceleration a, it has an angular acceleration α, and
the joints are unknown wrenches w. With y the accelerations (α, a) of all bodies,

    N y = F + Xᵀ w          Newton and Euler: N = diag(I, m), F weight and −ω × Iω       (23)–(31)
    X y = S q̈ + c           what the joints allow: S their motions, c centripetal        (32)–(38)
    Sᵀ w = τ                drives along the freedoms

y and w are eliminated: with A = X N⁻¹ Xᵀ, w = A⁻¹(S q̈ + c − X N⁻¹ F), and S'w = τ gives q̈.
Mechanisms whose bodies all move in one plane keep three coordinates a body, (α, a_x, a_y): of the
triple pendulum, nine accelerations and six reactions, fifteen equations in all. Forces and
torques at every joint are results.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear import Array, cross, solve_symmetric
from ..algebra.spatial import Inertia
from ..equations import Equations
from ..errors import UnsupportedError
from ..kinematics.build import build_tree
from ..kinematics.coordinates import gather_columns, gather_forces, spread_speeds
from ..kinematics.recursions import accelerations, displacements, velocities
from ..kinematics.coordinates import spread_coordinates
from ..kinematics.tree import GROUND, Tree
from ..kinematics.values import Parameters
from ..kinematics.world import World
from ..mechanism import Mechanism
from .shared import Shared, beyond_trees


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return beyond_trees(mechanism)
