"""Actuators of a mechanism as general actuators of MJCF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import casadi as ca

from ..expressions import Expression, expression_to_float
from ..kinematics.transmissions import LengthTransmission
from ..mechanism import GROUND, Actuator
from .mjcf_elements import add_mjcf_element
from .mjcf_geometry import MjcfGeometry
from .mjcf_tendon_paths import read_tendon_paths

_LEAST_GEARS = 6


class MjcfActuatorWriter:
    """Writes actuators, and notes those that MJCF cannot hold; `written` are the others."""

    def __init__(self, geometry: MjcfGeometry) -> None:
        self.geometry, self.mechanism = geometry, geometry.mechanism
        self.lost: list[str] = []
        self.written: list[str] = []
        self.combinations: dict[str, dict[str, float]] = {}
        """Factors by coordinate of what `moves` says, by actuator."""
        transmissions = geometry.tree.forces.transmissions
        for (name, actuator), drive in zip(
            self.mechanism.actuators.items(), transmissions, strict=True
        ):
            if actuator.moves is not None and isinstance(drive, LengthTransmission):
                factors = self.linear_factors(drive)
                if factors is not None:
                    self.combinations[name] = factors

    def number(self, expression: Expression) -> float:
        """Return a number of the mechanism."""
        return expression_to_float(expression, self.mechanism.values)

    def linear_factors(self, drive: LengthTransmission) -> dict[str, float] | None:
        """Return the factors by coordinate of a linear combination; None for other expressions."""
        tree = self.geometry.tree
        slope = ca.jacobian(ca.SX(drive.driven), tree.motion.q)
        start = ca.substitute(ca.SX(drive.driven), tree.motion.q, ca.SX.zeros(tree.nq))
        if not slope.is_constant() or not start.is_constant() or float(ca.evalf(start)):
            return None
        numbers = [float(x) for x in ca.densify(ca.evalf(slope)).nonzeros()]
        return {n: x for n, x in zip(tree.names.q, numbers, strict=True) if x}

    def write_tendons(self, section: ET.Element) -> None:
        """Add a fixed tendon for each combination of several coordinates."""
        for name, factors in self.combinations.items():
            if len(factors) > 1:
                tendon = add_mjcf_element(section, "fixed", name=f"{name}:moves")
                for coordinate, factor in factors.items():
                    add_mjcf_element(tendon, "joint", joint=coordinate, coef=factor)

    def write_actuators(self, section: ET.Element, site_name: Callable[[str], str]) -> None:
        """Add all actuators that MJCF can hold."""
        for name, actuator in self.mechanism.actuators.items():
            driven = self.transmission(name, actuator, site_name)
            if driven is None:
                self.lost.append(f"actuator {name}")
                continue
            self.written.append(name)
            add_mjcf_element(section, "general", name=name, **driven, **self.law(actuator))

    def transmission(
        self, name: str, actuator: Actuator, site_name: Callable[[str], str]
    ) -> dict[str, object] | None:
        """Return what an actuator drives; None if MJCF has nothing like it."""
        if name in self.combinations:
            factors = self.combinations[name]
            if len(factors) > 1:
                return {"tendon": f"{name}:moves"}
            ((coordinate, factor),) = factors.items()
            return {"joint": coordinate, "gear": _gears([factor])}
        if actuator.length is not None and isinstance(actuator.gear, Expression):
            length = self.mechanism.lengths[actuator.length]
            if not read_tendon_paths(self.mechanism, length).is_tendon:
                return None
            return {"tendon": actuator.length, "gear": _gears([self.number(actuator.gear)])}
        if actuator.frame is not None and actuator.axes in (None, actuator.frame):
            push = [self.number(x) for x in (*actuator.force, *actuator.moment)]
            return {"site": site_name(actuator.frame), "gear": push}
        if actuator.frame is not None:
            return self.free_joint_push(actuator.frame, actuator)
        if actuator.joint is None:
            return None
        joint = self.mechanism.joints[actuator.joint]
        gears = [self.number(x) for x in joint.each(actuator.gear)]
        if len(gears) > 1 and not (joint.by_quaternion and joint.kind.closure is not None):
            return None
        return {"joint": actuator.joint, "gear": _gears(gears)}

    def free_joint_push(self, body: str, actuator: Actuator) -> dict[str, object] | None:
        """Return a push of a free body in the axes of the world; None for other pushes."""
        if actuator.axes != GROUND or body not in self.mechanism.bodies:
            return None
        name, joint = self.geometry.joint(body)
        if not joint.by_quaternion or joint.kind.closure is not None:
            return None
        poses = (self.geometry.body_poses[body], self.geometry.own_pose(body))
        if not all(pose.is_identity for pose in poses):
            return None
        push = [self.number(x) for x in (*actuator.force, *actuator.moment)]
        return {"jointinparent": name, "gear": push}

    def law(self, actuator: Actuator) -> dict[str, object]:
        """Return gain, bias, ranges and activation."""
        gain, bias = ([self.number(x) for x in y] for y in (actuator.affine_gain, actuator.bias))
        found: dict[str, object] = {"gainprm": gain, "biasprm": bias}
        found["gaintype"] = "affine" if any(gain[1:]) else "fixed"
        found["biastype"] = "affine" if any(bias) else "none"
        ranges = {"ctrl": actuator.control_range, "force": actuator.effort_range}
        if actuator.activation is not None:
            constant = actuator.activation.time_constant
            found["dyntype"] = "integrator" if constant is None else "filterexact"
            if constant is not None:
                found["dynprm"] = [self.number(constant)]
            ranges["act"] = actuator.activation.range
        for word, bounds in ranges.items():
            if bounds is not None:
                found[f"{word}limited"] = "true"
                found[f"{word}range"] = [self.number(x) for x in bounds]
        return found


def _gears(numbers: list[float]) -> list[float]:
    """Return six gears, the last ones 0."""
    return numbers + [0.0] * (_LEAST_GEARS - len(numbers))
