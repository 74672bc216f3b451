"""Drag in a fluid at rest or in wind: forces against the square of a relative velocity."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...mechanism import DragElement
from ..body_forces import BodyForce
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class FluidDrag(ForceElement):
    """Drag at the origin of a frame or body: −ρ c A |u| u/2 at the velocity u relative to the
    fluid; with three areas, component by component in the axes of the frame."""

    on: str
    half_density: Scalar
    areas: tuple[Scalar, ...]
    wind: Array
    is_printed: bool = False
    """Whether equations show |u| as a root, whose derivative at u = 0 is 0/0."""

    label = "drag"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the drag on the body."""
        link, at = world.frame_origin(self.on)
        u = world.point_velocity(link, at, v) - self.wind
        if len(self.areas) == 1:
            force = -self.half_density * self.areas[0] * self._speed(u) * u
        else:
            R = ca.SX(world.frame_rotation(self.on))
            own = R.T @ u
            each = [area * ca.fabs(own[k]) * own[k] for k, area in enumerate(self.areas)]
            force = -self.half_density * (R @ ca.vertcat(*each))
        return [BodyForce(world.body_name(self.on), link, at, force, ca.SX.zeros(3))]

    def _speed(self, u: Array) -> Array:
        """Return |u|; in numbers with the derivative 0 at u = 0."""
        square = dot(u, u)
        if self.is_printed:
            return ca.sqrt(square)
        is_zero = ca.eq(square, 0)
        return ca.if_else(is_zero, 0, ca.sqrt(ca.if_else(is_zero, 1, square)))


@dataclass(frozen=True)
class WindDrag(FluidDrag):
    """Drag in wind, which does work on the mechanism: a load that the file declares."""

    is_declared = True


def read_drag_element(
    name: str,
    given: DragElement,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> FluidDrag:
    """Return the drag with its numbers; the wind may be an expression of the motion."""
    coefficient = values.read_ratio(given.coefficient, f"c_{name}")
    half = values.read_scalar(given.density, f"rho_{name}") * coefficient / 2
    many = isinstance(given.area, tuple)
    areas = [
        values.read_scalar(area, f"A_{name}_{axis}" if many else f"A_{name}")
        for axis, area in zip("xyz", given.areas, strict=False)
    ]
    wind = [values.read_motion_expression(entry, scope) for entry in given.wind]
    kind = WindDrag if given.has_wind else FluidDrag
    return kind(name, given.on, half, tuple(areas), ca.vertcat(*wind), values.is_exact)
