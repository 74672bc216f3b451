"""Inertias that MuJoCo accepts and that give the same motion as those of a mechanism.

MuJoCo refuses bodies whose largest principal moment exceeds the sum of the others, as published and
measured tensors sometimes have it. Forces depend only on combinations of inertial parameters: where
moments that have no effect on the motion are raised if that is enough; else, where real bodies with
the same combinations exist, these are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..expressions import ZERO
from ..formulations import derive
from ..formulations.base_inertial_parameters.physical_parameters import find_physical_parameters
from ..kinematics.kinematic_tree import GROUND as GROUND_LINK
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import neutral_coordinates
from ..mechanism import Mechanism, replace_part_fields
from ..types import Floats

_LEAST_SHARE = 1e-8
"""The smallest eigenvalue of a written pseudo-inertia, as a share of the largest parameter."""
_HIDDEN_SHARE = 1e-13
"""Forces of a change, as a share of all forces, that are rounding."""
_REMOVED_PARTS = (
    "loops",
    "constraints",
    "assembly",
    "independent",
    "constraint_order",
    "coordinates",
    "speeds",
    "actuators",
    "poses",
    "forces",
    "contacts",
    "lengths",
)
"""What has no effect on the regressor of the open tree."""


@dataclass(frozen=True)
class WrittenInertia:
    """Mass, centre of mass (3,) and inertia (3, 3) about it, in the axes of a body."""

    mass: float
    center: Floats
    tensor: Floats


class EquivalentInertias:
    """The inertial parameters of a mechanism, and what changes of them the motion shows."""

    def __init__(self, mechanism: Mechanism) -> None:
        bare = replace_part_fields(mechanism, _REMOVED_PARTS).without(
            "motors", "friction", "damping", "springs", "limits"
        )
        self.has_own_weights = any(
            body.gravity_compensation != ZERO for body in mechanism.bodies.values()
        )
        equations = derive(bare, parameters="numeric")
        functions = equations.functions()
        self.tree = build_kinematic_tree(bare)
        self.names = tuple(equations.names.bodies)
        self.given = np.asarray(ca.evalf(ca.SX(equations.inertial_parameters)), float).ravel()
        start = np.array(neutral_coordinates(self.tree), dtype=float)
        rng, rows = np.random.default_rng(0), []
        for _ in range(len(self.given)):
            step, v, a = rng.normal(size=(3, equations.nv))
            q = functions["integrate"](start, step)
            rows.append(np.asarray(functions["regressor"](q, v, a), dtype=float))
        self.columns = np.concatenate(rows)

    def is_hidden(self, tensors: Mapping[str, Floats]) -> bool:
        """Return whether tensors by body, in the axes of links, can be added without an effect on
        the motion."""
        change = np.zeros_like(self.given).reshape(-1, 10)
        for body, tensor in tensors.items():
            link = self.tree.bodies[body].link
            if link == GROUND_LINK:
                continue
            first = next(k for k, n in enumerate(self.names) if self.tree.bodies[n].link == link)
            R = np.asarray(ca.DM(ca.SX(self.tree.bodies[self.names[first]].R)), dtype=float)
            own = R.T @ tensor @ R
            change[first, 4:] += own[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        size = float(np.abs(self.columns @ self.given).max())
        return float(np.abs(self.columns @ change.ravel()).max()) <= _HIDDEN_SHARE * size

    def find_real_bodies(self) -> dict[str, WrittenInertia] | None:
        """Return inertias of real bodies with the same motion, by the first body of each link; None
        if there are none, or if weights of single bodies matter."""
        if self.has_own_weights:
            return None
        found = find_physical_parameters(self.given, self.columns, _LEAST_SHARE)
        if found is None:
            return None
        return {
            name: _written_inertia(numbers)
            for name, numbers in zip(self.names, found.reshape(-1, 10), strict=True)
        }


def _written_inertia(numbers: Floats) -> WrittenInertia:
    """Return mass, centre and tensor about it from ten parameters about the origin."""
    m, h = float(numbers[0]), numbers[1:4]
    xx, xy, yy, xz, yz, zz = numbers[4:]
    c = h / m
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return WrittenInertia(m, c, about_origin - m * (c @ c * np.eye(3) - np.outer(c, c)))
