"""Lengths that stop, stick and pull in runs, against closed forms."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.integrate import quad

import linkwright as lw

G = 9.81
MASSES = """
bodies.heavy = {{ mass = 3 }}
bodies.light = {{ mass = 1 }}
frames.left = {{ body = "ground", origin = [-1, 0, 2] }}
frames.right = {{ body = "ground", origin = [1, 0, 2] }}
joints.z1 = {{ type = "prismatic", child = "heavy", origin = [-1, 0, 0] }}
joints.z2 = {{ type = "prismatic", child = "light", origin = [1, 0, 0] }}
lengths.rope = {{ path = ["heavy", "left", "right", "light"], {} }}
"""


def test_slack_rope_becomes_taut() -> None:
    """Both masses fall 0.2 m freely; the impact without rebound leaves v (m₁ − m₂)/(m₁ + m₂)."""
    machine = lw.load(MASSES.format("limits = { upper = 6, restitution = 0 }"))
    run = lw.simulate(machine, t=0.5, q0=[0.2, 0.2], qd0=[0, 0])
    fall = np.sqrt(2 * 0.2 / G)
    after = -G * fall / 2 - G / 2 * (0.5 - fall)
    assert run.events[0].name == "rope upper"
    assert_allclose(run.events[0].t, fall, rtol=1e-9)
    assert_allclose(run.qd[-1], [after, -after], rtol=1e-9)
    assert run.accounted


def test_friction_of_a_rope_sticks_and_slides() -> None:
    """Friction F along the rope: while its length grows, both masses are held by F."""
    machine = lw.load(MASSES.format("friction = 8"))
    run = lw.simulate(machine, t=0.5, q0=[0, 0], qd0=[0, 0])
    assert_allclose(run.qd[-1], [(8 - 3 * G) / 3 * 0.5, (8 - G) * 0.5], rtol=1e-9)
    held = lw.load(MASSES.format("friction = 100"))
    run = lw.simulate(held, t=0.5, q0=[0, 0], qd0=[0, 0])
    assert_allclose(run.qd[-1], [-G / 4, G / 4], rtol=1e-9)  # the length sticks: Atwood's machine
    assert run.accounted


def test_cubic_law_has_the_period_of_the_quartic_well() -> None:
    """m ẍ = −k x³ from x₀: the period is 4 ∫ dx/ẋ, and the energy k x⁴/4 is kept."""
    text = """
    gravity = [0, 0, 0]
    bodies.a = { mass = 2 }
    joints.x = { type = "prismatic", child = "a", axis = [1, 0, 0] }
    lengths.d = { factors = { x = 1 }, force = "5*L^3" }
    """
    x0 = 0.7
    # substitution x = x₀ sin θ removes the root at the end of the quarter
    quarter = quad(lambda a: np.sqrt(2 * 2 / 5) / (x0 * np.sqrt(1 + np.sin(a) ** 2)), 0, np.pi / 2)
    run = lw.simulate(lw.load(text), t=4 * quarter[0], q0=[x0], qd0=[0], rtol=1e-11, atol=1e-12)
    assert_allclose(run.q[-1], [x0], rtol=1e-8)
    assert_allclose(run.potential[0], 5 * x0**4 / 4, rtol=1e-12)
    assert np.ptp(run.energy) < 1e-9 * run.energy[0]


def test_damped_law_is_audited() -> None:
    text = """
    bodies.a = { mass = 1, inertia = [0.1, 0.1, 0.1] }
    joints.q = { type = "revolute", child = "a", axis = [0, 1, 0] }
    frames.tip = { body = "a", origin = [0.5, 0, 0] }
    frames.hook = { body = "ground", origin = [0, 0, 1] }
    lengths.s = { path = ["hook", "tip"], force = "40*(L - 0.8)^3 + 0.5*Ldot" }
    """
    run = lw.simulate(lw.load(text), t=3, q0=[0.2], qd0=[1])
    assert run.accounted
    assert run.work_losses[-1] < -1e-3
