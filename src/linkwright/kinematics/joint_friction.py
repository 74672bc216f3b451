"""Dry friction along a degree of freedom or a length, as a function of its velocity.

    f(v) = −(F + (F_s − F) e^{−(v/v_s)²}) s(v),     s = sign(v), sign(0) = 0

F may differ for both directions. With a smoothing velocity v₀, s = tanh(v/v₀). What sticks is
decided by `simulation.events`.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar


@dataclass(frozen=True)
class FrictionLaw:
    """Kinetic friction `forward` and `backward` (None: the same), the velocity of `smoothing` (0:
    none), and Stribeck's velocity (0: none) below which friction rises to `static_ratio` times."""

    forward: Scalar = 0.0
    backward: Scalar | None = None
    smoothing: Scalar = 0.0
    stribeck: Scalar = 0.0
    static_ratio: Scalar = 1.0

    def force(self, velocity: Array) -> Array:
        """Return the friction force along the velocity."""
        side = friction_sign(velocity, self.smoothing)
        force = -self.forward * side
        if self.backward is not None:
            mean, half = (self.forward + self.backward) / 2, (self.forward - self.backward) / 2
            force = -mean * side - half * side**2
        if isinstance(self.stribeck, float) and self.stribeck == 0.0:
            return force
        return force * (1 + (self.static_ratio - 1) * ca.exp(-((velocity / self.stribeck) ** 2)))

    def sharp_levels(self, ratio: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """Return the share that `simulation.events` handles, if nothing is smooth: its force in a
        slide, the ratio of its limit at rest to that, and what slides add in both directions."""
        backward = self.forward if self.backward is None else self.backward
        force = (self.forward + backward) / 2
        if isinstance(self.stribeck, ca.SX) or self.stribeck != 0.0:
            return ratio * force, 1.0, 0.0  # it falls gradually, from its static level on
        return force, ratio, (ratio - 1) * (self.forward - backward) / 2


def friction_sign(speed: Scalar, smoothing: Scalar) -> Scalar:
    """Return sign(speed) with sign(0) = 0; tanh(speed/smoothing) where the mechanism has a
    smoothing speed."""
    if isinstance(smoothing, float):
        return ca.sign(speed) if smoothing == 0.0 else ca.tanh(speed / smoothing)
    sharp = ca.eq(smoothing, 0)
    smooth = ca.tanh(speed / ca.if_else(sharp, 1, smoothing))
    return ca.if_else(sharp, ca.sign(speed), smooth)
