"""Followers ψ = g(φ): cams and non-circular gears, as chosen coordinates and as constraints."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw

GEARS = lw.Mechanism(
    name="non-circular gears", gravity=[0, "-g", 0],
    parameters={"I1": 0.2, "I2": 0.5, "m": 2, "l": 0.3, "e": 0.4, "g": 9.81},
    bodies={"one": {"mass": 1, "inertia": ["I1", "I1", "I1"]},
            "two": {"mass": "m", "center": ["l", 0, 0], "inertia": ["I2", "I2", "I2"]}},
    joints={"driver": {"type": "revolute", "child": "one"},
            "follower": {"type": "revolute", "child": "two", "origin": [1, 0, 0]}},
    coordinates={"names": ["phi"],
                 "joints": {"driver": "phi", "follower": "-phi + e*sin(phi)"}},
)  # fmt: skip
"""ψ = g(φ) = −φ + e sin φ: the transmission varies between −1 − e and −1 + e in a turn."""

CAM = lw.Mechanism(
    name="cam", gravity=[0, "-g", 0], parameters={"J": 0.02, "m": 0.5, "h": 0.03, "k": 800, "g": 9.81},
    bodies={"shaft": {"mass": 1, "inertia": ["J", "J", "J"]}, "tappet": {"mass": "m"}},
    joints={"turn": {"type": "revolute", "child": "shaft"},
            "lift": {"type": "prismatic", "child": "tappet", "axis": [0, 1, 0], "stiffness": "k"}},
    coordinates={"names": ["phi"], "joints": {"turn": "phi", "lift": "h*(1 - cos(2*phi))/2"}},
)  # fmt: skip
"""A tappet that a cam with two noses lifts twice in a turn, against a spring."""

BY_HAND = {
    "gears": (GEARS, """
        T = (I1 + (I2 + m*l^2)*(e*cos(phi) - 1)^2)*dphi^2/2
        (I1 + (I2 + m*l^2)*(e*cos(phi) - 1)^2)*ddphi - (I2 + m*l^2)*(e*cos(phi) - 1)*e*sin(phi)*dphi^2 + m*g*l*cos(e*sin(phi) - phi)*(e*cos(phi) - 1) = tau1
    """),
    "cam": (CAM, """
        T = (J + m*h^2*sin(2*phi)^2)*dphi^2/2
        (J + m*h^2*sin(2*phi)^2)*ddphi + 2*m*h^2*sin(2*phi)*cos(2*phi)*dphi^2 + (m*g + k*h*(1 - cos(2*phi))/2)*h*sin(2*phi) = tau1
    """),
}  # fmt: skip
"""Freeman and Tesar: I*(φ) φ̈ + I₂ g′ g″ φ̇² + T g′ = τ with I* = I₁ + I₂ g′²."""


@pytest.mark.parametrize("name", list(BY_HAND))
def test_a_follower_has_the_equation_by_hand(name: str) -> None:
    mechanism, text = BY_HAND[name]
    report = lw.check(mechanism, "\n".join(line.strip() for line in text.strip().splitlines()))
    assert report.passed, str(report)


def test_formulations_are_proved_to_agree() -> None:
    report = lw.verify(GEARS)
    assert report.passed, str(report)
    assert report["formulations agree"].verdict == "proved", str(report)


def test_a_constraint_gives_the_same_motion() -> None:
    """The follower as a constraint: the same acceleration; its multiplier drives the follower."""
    tied = GEARS.model_copy(update={"coordinates": None, "constraints": {
        "mesh": {"type": "equation", "position": "follower + driver - e*sin(driver)"}}})  # fmt: skip
    one, other = lw.compile(GEARS), lw.compile(tied)
    phi, rate, torque = 0.7, 1.3, 0.4
    slope = 0.4 * np.cos(phi) - 1
    q, qd = [phi, 0.4 * np.sin(phi) - phi], [rate, slope * rate]
    qdd = one.forward_dynamics([phi], [rate], [torque])[0]
    both = other.forward_dynamics(q, qd, [torque, 0.0])
    assert both[0] == pytest.approx(qdd, rel=1e-12)
    weight = 2 * 9.81 * 0.3 * np.cos(q[1])
    force = (0.5 + 2 * 0.3**2) * both[1] + weight
    assert other.multipliers(q, qd, [torque, 0.0])[0] == pytest.approx(force, rel=1e-12)
    run = lw.simulate(GEARS, 0.5, q0=[0.2], qd0=[1.0], rtol=1e-10, atol=1e-12)
    held = lw.simulate(tied, 0.5, q0={"driver": 0.2}, qd0={"driver": 1.0}, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run.q[:, 0], held.q[:, 0], atol=1e-8)
    assert np.ptp(run.kinetic + run.potential) < 1e-8
