"""Floquet multipliers against Mathieu's equation, van der Pol's, and differences of simulations."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk, mathieu_a, mathieu_b

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.linearization import periodic_motion
from linkwright.linearization.linearizer import Linearizer
from linkwright.linearization.operating_points import OperatingPoint
from linkwright.linearization.periodic_motions import _Shooting
from tests.commands import ok


def point_mass(force: str) -> lw.Mechanism:
    """A unit mass on a line under a force law."""
    return lw.Mechanism(
        name="mass", gravity=[0, 0, 0], bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "b", "axis": [1, 0, 0]}},
        forces={"law": {"type": "joint", "on": "x", "force": force}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("a", "q", "trace"),
    [
        (mathieu_a(1, 1.5), 1.5, -2.0),
        (mathieu_b(1, 1.5), 1.5, -2.0),
        (mathieu_a(0, 1.5), 1.5, 2.0),
        (mathieu_b(2, 0.7), 0.7, 2.0),
    ],
)
def test_mathieu_equation_at_its_characteristic_values(a: float, q: float, trace: float) -> None:
    """x'' + (a − 2 q cos 2t) x = 0 has solutions of period π or 2π there: both multipliers over π
    are 1 or −1; SciPy gives the values a."""
    found = periodic_motion(point_mass(f"-({float(a)!r} - 2*{q!r}*cos(2*t))*x"), np.pi)
    assert np.trace(found.monodromy) == pytest.approx(trace, abs=1e-9)
    assert np.linalg.det(found.monodromy) == pytest.approx(1.0, abs=1e-10)
    assert not found.is_autonomous


def test_motions_without_losses_are_neutral() -> None:
    """Liouville: the product of the multipliers is 1, so that none can decay unless another grows;
    x'' + (a − 2 q cos 2t) x = 0 is stable for a = 0.3, q = 0.1, and not for a = 1, q = 0.1."""
    bounded = periodic_motion(point_mass("-(0.3 - 0.2*cos(2*t))*x"), np.pi)
    np.testing.assert_allclose(np.abs(bounded.multipliers), 1.0, atol=1e-9)
    assert not bounded.is_stable
    assert "neutrally stable" in bounded.summary()
    growing = periodic_motion(point_mass("-(1 - 0.2*cos(2*t))*x"), np.pi)
    assert growing.largest_growth > 1.05
    assert "unstable" in growing.summary()


def test_limit_cycle_of_van_der_pol() -> None:
    """The second multiplier is exp ∮ μ (1 − x²) dt, with x(t) by SciPy alone."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], (1 - y[0] ** 2) * y[1] - y[0], 1 - y[0] ** 2]

    found = periodic_motion(point_mass("(1 - x^2)*dx - x"), 6.0, {"x": 2.1})
    assert found.period == pytest.approx(6.6632868593231301, rel=1e-11)  # published
    assert found.is_stable
    start = [found.q[0], found.qd[0], 0.0]
    along = solve_ivp(rates, (0, found.period), start, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(along.y[:2, -1], start[:2], atol=1e-8)
    wanted = [1.0, np.exp(along.y[2, -1])]
    np.testing.assert_allclose(found.multipliers.real, wanted, rtol=1e-6)
    assert found.exponents[1].real == pytest.approx(along.y[2, -1] / found.period, rel=1e-6)


def test_conservative_motion_is_not_stable() -> None:
    """x'' = −sin x: the period is 4 K(sin²(A/2)), and both multipliers are 1, up to rounding on
    either side of the unit circle."""
    for start in (1.0, 1.1, 1.2, 1.3):
        found = periodic_motion(point_mass("-sin(x)"), 7.0, {"x": start})
        height = found.qd[0] ** 2 / 4 + np.sin(found.q[0] / 2) ** 2  # sin²(A/2), by energy
        assert found.period == pytest.approx(4 * ellipk(height), rel=1e-9)
        np.testing.assert_allclose(found.multipliers, 1, atol=1e-4)
        assert not found.is_stable


def test_driven_damped_oscillator_finds_its_periodic_motion() -> None:
    """x'' + 2 d x' + k x = cos 2t: amplitude and phase by hand; |μ| = exp(−d T)."""
    d, k, T = 0.1, 3.0, np.pi
    found = periodic_motion(point_mass(f"cos(2*t) - {k}*x - 2*{d}*dx"), T)
    response = 1 / (k - 4 + 2j * d * 2)
    assert found.q[0] == pytest.approx(response.real, abs=1e-9)
    assert found.qd[0] == pytest.approx((2j * response).real, abs=1e-9)
    np.testing.assert_allclose(np.abs(found.multipliers), np.exp(-d * T), rtol=1e-9)
    assert found.is_stable


def test_a_rotating_pendulum_is_periodic_after_a_full_turn() -> None:
    """Its energy decides the period; a full turn of the angle is no change of the motion."""
    rod, speed = lw.gallery("chain-1"), 9.0
    found = periodic_motion(rod, 0.8, {"q1": -np.pi / 2}, {"q1": speed})
    energy = found.qd[0] ** 2 / 6 + 9.81 / 2 * np.sin(found.q[0])
    angles = np.linspace(0, 2 * np.pi, 2001)[:-1]
    period = (2 * np.pi) * np.mean(1 / np.sqrt(6 * (energy - 9.81 / 2 * np.sin(angles))))
    assert found.period == pytest.approx(period, rel=1e-9)


@pytest.mark.parametrize("name", ["ball", "four-bar", "rolling-disk"])
def test_variational_equations_are_those_of_neighbouring_motions(name: str) -> None:
    """Changes of the end by changes of the start, by central differences of simulations; with
    quaternions, a loop, and rolling."""
    ball = lw.Mechanism(
        name="ball",
        bodies={"b": {"mass": 1, "center": [0.1, 0, -0.3], "inertia": [0.1, 0.2, 0.15]}},
        joints={"ball": {"type": "spherical", "child": "b", "damping": 0.1}},
    )
    arm = ball if name == "ball" else lw.gallery(name)
    model = lw.compile(arm)
    q0 = None if name != "rolling-disk" else {"theta": 0.2}
    qd0 = {"ball": {"ball.wx": 1.0, "ball.wz": 3.0}, "four-bar": {"theta1": 2.0},
           "rolling-disk": {"psi": 1.0, "phi": 4.0}}[name]  # fmt: skip
    whole = lw.simulate(arm, 0.5, q0=q0, qd0=qd0, samples=2, rtol=1e-12, atol=1e-13)
    linearizer = Linearizer(model)
    start = OperatingPoint(0.0, whole.q[0], whole.qd[0], np.zeros(model.nv))
    shooting = _Shooting(arm, linearizer)
    end, Phi = shooting.integrate_period(start, 0.5)
    np.testing.assert_allclose(model.difference(end.q, whole.q[-1]), 0, atol=1e-9)
    coordinates = list(linearizer.coordinates_at(start))
    rows = [model.names.qd.index(n) for n in model.independent_names]
    h, columns = 1e-5, []
    for unit in h * np.eye(len(Phi)):
        ends = []
        for sign in (1, -1):
            near = linearizer.moved_point(start, sign * unit)
            ended = lw.simulate(arm, 0.5, q0=near.q, qd0=near.qd, samples=2, rtol=1e-12, atol=1e-13)
            moved = model.difference(end.q, ended.q[-1])[coordinates]
            ends.append(np.concatenate([moved, ended.qd[-1][rows]]))
        columns.append((ends[0] - ends[1]) / (2 * h))
    np.testing.assert_allclose(Phi, np.array(columns).T, atol=2e-7)


def test_what_is_not_periodic_says_so() -> None:
    with pytest.raises(LinkwrightError, match="no periodic motion was found"):
        periodic_motion(point_mass("1 + cos(2*t)"), np.pi)
    with pytest.raises(LinkwrightError, match="period must be positive"):
        periodic_motion(lw.gallery("chain-1"), -1.0)


def test_the_command_prints_multipliers() -> None:
    shown = ok("periodic", "chain-1", "q1=-60deg", "--period", "1.7")
    assert "Periodic motion of 1.66395 s" in shown
    found = json.loads(ok("periodic", "chain-1", "q1=-60deg", "--period", "1.7", "--json"))
    assert found["stable"] is False
