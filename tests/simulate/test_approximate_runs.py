"""Runs of approximate dynamics: how far joints open, forces of springs, files, and advice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.formulations.approximate_penalties import MAX_OPENING_SHARE, mechanism_size

PENDULUMS_AND_LOOPS = [
    "triple-pendulum", "chain-3", "elbow", "remote-elbow", "vukobratovic-arm", "cart-pole",
    "four-bar", "n-four-bar", "slider-crank", "slider-crank-sundials", "five-bar",
]  # fmt: skip
SLOW_ONES = ["chain-6", "six-axis", "puma560", "bricard", "stewart", "3-rrr", "two-arms"]


TWO = """
name = "two"
gravity = [0, -9.81, 0]
[bodies.a]
mass = 1
inertia = { zz = 0.1 }
[bodies.b]
mass = 2
center = [1, 0, 0]
inertia = { zz = 0.1 }
[joints.q1]
type = "revolute"
child = "a"
[joints.q2]
type = "revolute"
parent = "a"
child = "b"
origin = [1, 0, 0]
[approximate]
beta = "20 kN/m"
gamma = "5 ms"
bodies = ["b"]
"""
"""A pendulum of two bodies, the second of which is a point of its own."""


@pytest.mark.parametrize(
    "name",
    [*PENDULUMS_AND_LOOPS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_ONES)],
)
def test_joints_open_by_less_than_a_ten_thousandth(name: str) -> None:
    """By default, in compiled code, and with the energy of the springs accounted for."""
    mechanism = lw.gallery(name).without("friction", "limits")
    run = lw.simulate(mechanism, 1.0, by="approximate", samples=101)
    assert run.finished
    assert run.statistics["compiled"] == 1
    assert 0 < run.closure.max() < MAX_OPENING_SHARE * mechanism_size(mechanism)
    assert run.accounted
    assert run.warnings == ()


@pytest.fixture(scope="module")
def pendulum() -> lw.Run:
    """The paper's pendulum, with the default β and γ."""
    return lw.simulate(lw.gallery("triple-pendulum"), 1.0, by="approximate", samples=501)


def test_the_pendulum_has_the_coordinates_and_constraints_of_the_paper(pendulum: lw.Run) -> None:
    """Seven coordinates, four constraints, 14 states; f = x − r(q) of the centres of mass."""
    data = pendulum.data
    names = ["x_link2", "y_link2", "x_link3", "y_link3"]
    assert list(data["own_state"].values) == [*names, *(f"d{name}" for name in names)]
    assert list(data["row"].values) == names
    places = pendulum.details.centers
    x = data["superabundant"].values[:, :4]
    f = x - np.hstack([places["link2"][:, :2], places["link3"][:, :2]])
    np.testing.assert_allclose(pendulum.closure, np.abs(f).max(axis=1), atol=1e-15)


def test_multipliers_are_the_forces_in_the_joints(pendulum: lw.Run) -> None:
    """λ of a centre of mass is the force on its point mass: m (ẍ − g), by differences of x; and the
    force in the last joint, by Newton and Euler."""
    x = np.array([pendulum.superabundant[name] for name in ("x_link3", "y_link3")])
    h = pendulum.t[1]
    a = (x[:, 2:] - 2 * x[:, 1:-1] + x[:, :-2]) / h**2
    force = (a + np.array([[0.0], [9.81]])).T
    late = pendulum.t[1:-1] > 0.1  # springs have come to rest
    np.testing.assert_allclose(pendulum.multipliers[1:-1, 2:][late], force[late], atol=0.02)
    exact = lw.simulate(lw.gallery("triple-pendulum"), 1.0, by="newton_euler", samples=501)
    pin = exact.reactions[:, 2, 3:5]
    error = np.abs(pendulum.multipliers[:, 2:] - pin)[pendulum.t > 0.1].max()
    assert error < 2e-3 * np.abs(pin).max()


def test_multipliers_of_loops_are_those_of_lagrange() -> None:
    """Once the springs have come to rest; iterated multipliers at once, at moderate β."""
    bar = lw.gallery("four-bar")
    exact = lw.simulate(bar, 0.5, by="multipliers", samples=51)
    size = np.abs(exact.multipliers).max()
    springs = lw.simulate(bar, 0.5, by="approximate", samples=51)
    rows = exact.multipliers.shape[1]
    np.testing.assert_allclose(
        springs.multipliers[20:, -rows:], exact.multipliers[20:], atol=1e-3 * size
    )
    iterated = lw.simulate(bar, 0.5, by="approximate", samples=51, beta=1e4, iterations=6)
    np.testing.assert_allclose(iterated.multipliers[:, -rows:], exact.multipliers, atol=1e-7 * size)
    np.testing.assert_allclose(iterated.q, exact.q, atol=1e-8)
    assert iterated.closure.max() < 1e-9


def test_errors_fall_as_beta_grows_and_gamma_damps() -> None:
    """Errors against Lagrange's motion are proportional to 1/β; without damping, the springs
    oscillate about the force with its full size, with damping hardly at all."""
    arm = lw.gallery("triple-pendulum")
    start = {"q0": {"theta1": -1.0, "theta2": -1.3, "theta3": -0.7}, "samples": 51}
    exact = lw.simulate(arm, 0.5, by="lagrange", **start)
    errors, openings = [], []
    for beta in (1e5, 1e6):
        run = lw.simulate(arm, 0.5, by="approximate", beta=beta, **start)
        errors.append(np.abs(run.q - exact.q).max())
        openings.append(run.closure.max())
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.05)
    assert openings[0] / openings[1] == pytest.approx(10, rel=0.05)
    pin = exact.reactions[:, 2, 4]

    def largest_deviation(gamma: float) -> float:
        run = lw.simulate(arm, 0.5, by="approximate", beta=1e5, gamma=gamma, **start)
        return float(np.abs(run.multipliers[:, 3] - pin)[run.t > 0.2].max())

    assert largest_deviation(0.0) > 1
    assert largest_deviation(2e-3) < 0.05


def test_choices_of_the_file_are_those_of_the_run(tmp_path: Path) -> None:
    """`[approximate]` of a file, a saved run, and its repetition."""
    two = lw.load(TWO)
    run = lw.simulate(two, 0.2, q0={"q1": 0.3}, qd0={"q2": 1}, by="approximate", samples=11)
    x, v = run.superabundant["x_b"], run.superabundant["dx_b"]
    q, qd = run.q, run.qd
    f = x - np.cos(q[:, 0]) - np.cos(q.sum(axis=1))
    rate = v + np.sin(q[:, 0]) * qd[:, 0] + np.sin(q.sum(axis=1)) * qd.sum(axis=1)
    np.testing.assert_allclose(run.multipliers[:, 0], -2e4 * (f + 5e-3 * rate), atol=1e-9)
    assert any("larger beta (now 2e+04 N/m)" in text for text in run.warnings)
    run.save(tmp_path / "run.nc")
    loaded = lw.load_run(tmp_path / "run.nc")
    np.testing.assert_array_equal(loaded.multipliers, run.multipliers)
    np.testing.assert_array_equal(lw.simulation.repeat(loaded).q, run.q)
    softer = lw.simulate(two, 0.2, qd0={"q2": 1}, by="approximate", samples=11, beta=1e3)
    assert softer.closure.max() > 5 * run.closure.max()


def test_joints_that_stick_leave_the_weight_to_springs() -> None:
    """A mode of friction projects every step, and events restart the run: the springs stay open."""
    joints = {"q1": {"friction": 100}, "q2": {"friction": 100}}
    two = lw.load(TWO)
    stuck = two.model_copy(
        update={
            "joints": {
                name: joint.model_copy(update=joints[name]) for name, joint in two.joints.items()
            }
        }
    )
    run = lw.simulate(stuck, 0.1, by="approximate", samples=11)
    np.testing.assert_allclose(run.q, 0, atol=1e-4)  # until the springs are loaded, they creep
    np.testing.assert_allclose(run.multipliers[-1], [0, 2 * 9.81], atol=1e-3)
    np.testing.assert_allclose(run.closure[-1], 2 * 9.81 / 2e4, rtol=1e-3)


def test_energy_is_accounted_for_where_constraints_and_coordinates_move() -> None:
    """A driven disk with a knife edge; and a pendulum in moving coordinates, q1 = p1 + sin(3 t)."""
    run = lw.simulate(lw.gallery("sharp-edged-disk"), 0.2, by="approximate", samples=11)
    assert run.accounted
    assert run.work_given[-1] != 0
    two = lw.load(TWO)
    moving = two.model_copy(
        update={
            "coordinates": {"names": ["p1", "p2"], "joints": {"q1": "p1 + sin(3*t)", "q2": "p2"}}
        }
    )
    run = lw.simulate(moving, 0.2, by="approximate", samples=11)
    assert run.accounted
    assert run.audit < 1e-9
    exact = lw.simulate(moving, 0.2, samples=11)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-2)


def test_fixed_steps_get_a_beta_that_they_can_bear() -> None:
    """A larger one is refused by advice that names it."""
    arm = lw.gallery("elbow")
    settings = {"by": "approximate", "integrator": "rk4", "step": 2e-3, "samples": 11}
    run = lw.simulate(arm, 0.2, **settings)
    assert run.finished
    assert "larger beta and a shorter step" in " ".join(run.warnings)
    run = lw.simulate(arm, 0.2, beta=1e8, **settings)
    assert not run.finished
    assert "beta = 1e+08 N/m may be too stiff for these steps" in run.status


def test_bodies_without_inertia_are_named() -> None:
    """Where springs could hold nothing, the formulation refuses the mechanism and says why."""
    points = lw.gallery("triple-pendulum").with_parameters(I1=0, I2=0, I3=0)
    with pytest.raises(UnsupportedError, match="moments of inertia, and link2, link3 have none"):
        lw.simulate(points, 0.1, by="approximate", samples=3)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"by": "lagrange", "beta": 1e5}, 'only approximate dynamics uses beta; use by="approx'),
        ({"by": "approximate", "beta": -1}, "approximate.beta: is not above zero"),
        ({"by": "approximate", "beta": 0}, "beta must be above 0"),
        ({"by": "approximate", "gamma": -1}, "approximate.gamma: is negative"),
        ({"by": "approximate", "iterations": -1}, "iterations: input should be greater"),
    ],
)
def test_wrong_choices_are_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(LinkwrightError, match=message):
        lw.simulate(lw.gallery("elbow"), 0.1, **choices)
