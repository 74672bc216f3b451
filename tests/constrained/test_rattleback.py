"""Ellipsoids that roll: the rattleback against its own equations, a ball against the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.errors import MechanismError
from tests.references.rattleback import Rattleback

INERTIA = np.array([[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]])
TILT = np.radians(0.5)


@pytest.mark.parametrize("spin", [-5.0, 5.0])
def test_rattleback_moves_as_its_own_equations_say(spin: float) -> None:
    """The vertical in the body and the spin about it; the error grows with the rattling, by 1e-11
    of the integrations times 1e3."""
    celt = lw.gallery("rattleback")
    starts = {"alpha": TILT, "beta": TILT}, {"psi": spin, "alpha": 0, "beta": 0}
    run = lw.simulate(celt, t=3.5, samples=36, q0=starts[0], qd0=starts[1], rtol=1e-11, atol=1e-12)
    place = [list(lw.compile(celt).q_names).index(name) for name in ("psi", "alpha", "beta")]
    first = Rotation.from_euler("ZXY", [0, TILT, TILT]).inv()
    alone = Rattleback(1.0, np.array([0.2, 0.03, 0.02]), 0.01, INERTIA, 9.81)
    found = alone.motion(first.apply([0, 0, 1]), first.apply([0, 0, spin]), run.t)
    turned = Rotation.from_euler("ZXY", run.q[:, place]).inv()
    assert_allclose(turned.apply([0, 0, 1]), found[:, :3], atol=1e-8)
    energies = np.array([alone.energy(y) for y in found])
    assert np.ptp(energies) < 1e-10
    assert_allclose(run.energy - run.energy[0], 0, atol=1e-10)
    spins = np.einsum("ij,ij->i", found[:, :3], found[:, 3:])
    # spun clockwise it rattles, stops and turns back; the other way it goes on
    assert (spins[-1] > 0.5) if spin < 0 else (spins.min() > 4)
    assert np.sign(run.qd[-1, place[0]]) == np.sign(spins[-1])


def test_sphere_rolls_down_a_slope_with_five_sevenths() -> None:
    """An ellipsoid with equal semi-axes is a ball: ẍ = 5/7 g sin(slope)."""
    slope = 0.2
    ball = lw.load(f"""
    gravity = [{9.81 * np.sin(slope)}, 0, {-9.81 * np.cos(slope)}]
    bodies.ball = {{ mass = 2, inertia = [0.0072, 0.0072, 0.0072] }}
    joints.air = {{ type = "free", child = "ball" }}
    constraints.roll = {{ type = "rolling-ellipsoid", ellipsoid = "ball", semi_axes = [0.095, 0.095, 0.095] }}
    assembly = {{ "air.z" = 0.095 }}
    """)
    model = lw.compile(ball)
    q = np.array([0, 0, 0.095, 1, 0, 0, 0])
    qdd = model.forward_dynamics(q, np.zeros(6), np.zeros(6))
    wanted = 9.81 * np.sin(slope) / (1 + 0.0072 / (2 * 0.095**2))
    assert_allclose(qdd, [0, wanted / 0.095, 0, wanted, 0, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("by", ["lagrange", "kane", "newton_euler", "hamilton", "multipliers"])
def test_formulations_agree_on_the_rattleback(by: str) -> None:
    celt = lw.gallery("rattleback")
    model = lw.compile(celt)
    other = lw.compile(lw.derive(celt, by=by, parameters="numeric"))
    run = lw.simulate(celt, t=0.5, q0={"alpha": 0.2, "beta": -0.1}, qd0={"psi": -4}, samples=5)
    tau = np.zeros_like(run.qd)
    wanted = model.forward_dynamics(run.q, run.qd, tau)
    assert_allclose(other.forward_dynamics(run.q, run.qd, tau), wanted, rtol=1e-8, atol=1e-8)


def test_wrong_ellipsoids_are_refused() -> None:
    text = """
    bodies.e = {{ mass = 1, inertia = [1, 1, 1] }}
    joints.air = {{ type = "free", child = "e" }}
    constraints.roll = {{ type = "rolling-ellipsoid", {} }}
    """
    for keys, message in {
        'ellipsoid = "e", semi_axes = [1, 0, 1]': "not a positive length",
        'ellipsoid = "e", semi_axes = [1, 1]': "has 2 numbers",
        'ellipsoid = "f", semi_axes = [1, 1, 1]': "unknown body or frame 'f'",
        'ellipsoid = "e", on = "e", semi_axes = [1, 1, 1]': "both ends are the same",
    }.items():
        with pytest.raises(MechanismError, match=message):
            lw.load(text.format(keys))
