"""Kinematic equations of mechanisms whose velocities are not rates of coordinates, in sets of
equations."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..equations import Equations
from ..mechanism import Mechanism
from ..mechanism.coordinates import joint_coordinate_names, joint_velocity_names
from ..written_equations import EquationSection, EquationSet, kinematic_section, law_in_velocities


def with_kinematic_equations(equations: Equations, source: EquationSet) -> EquationSet:
    """The set with q̇ = N(q) v before it and laws in v, where joints turn by quaternions."""
    names = equations.names
    if not names.has_own_velocities:
        return source
    rates = ca.densify(equations.rate_matrix @ equations.symbols["qd"])

    def section_in_velocities(section: EquationSection) -> EquationSection:
        law, latex = (law_in_velocities(names, x) for x in (section.law, section.law_latex))
        shorter = section.shorter and section_in_velocities(section.shorter)
        return replace(section, law=law, law_latex=latex, shorter=shorter)

    return replace(
        source,
        sections=(kinematic_section(names, rates), *map(section_in_velocities, source.sections)),
        symbols={**quaternion_joint_symbols(equations.mechanism), **source.symbols},
        rates={**{f"d{name}": (name, 1) for name in names.q}, **source.rates},
    )


def quaternion_joint_symbols(mechanism: Mechanism) -> dict[str, str]:
    """The meanings of coordinates and velocities of joints that turn by quaternions."""
    found: dict[str, str] = {}
    for name, joint in mechanism.joints_depth_first():
        if not (joint.by_quaternion and joint.moves):
            continue
        *place, w, x, y, z = joint_coordinate_names(name, joint)
        turn = joint_velocity_names(name, joint)
        child, frame = joint.child, f"the axes of {joint.child} at {name}"
        if place:
            found[", ".join(place)] = f"position of {child}, in {joint.parent}"
        found[", ".join((w, x, y, z))] = f"unit quaternion of the orientation of {child}"
        found[", ".join(turn[:3])] = (
            f"angular velocity of {child} relative to {joint.parent}, in {frame}"
        )
        if turn[3:]:
            found[", ".join(turn[3:])] = (
                f"velocity of {child} at {name} relative to {joint.parent}, in {frame}"
            )
    return found
