"""Driven mechanisms and the forces that motions take, against formulas by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.mechanism import replace_part_fields
from linkwright.simulation import repeat, solve_inverse, solve_kinematics
from linkwright.simulation.provenance import largest_difference
from tests.commands import ok, run

G = 9.81


def test_slider_crank_by_hand() -> None:
    """x = l1 cos θ + √(l2² − l1² sin² θ) and its derivatives; dead centres where crank and rod
    are in line, and where the crank is upright."""
    found = solve_kinematics(
        lw.gallery("slider-crank"), {"theta1": "0.5 + 3*t + 0.4*t^2"}, 2.0, samples=201
    )
    theta, w, a = 0.5 + 3 * found.t + 0.4 * found.t**2, 3 + 0.8 * found.t, 0.8
    s, c, l1, l2 = np.sin(theta), np.cos(theta), 0.3, 1.0
    root = np.sqrt(l2**2 - l1**2 * s**2)
    by_theta = -l1 * s - l1**2 * s * c / root
    second = -l1 * c - l1**2 * (c**2 - s**2) / root - (l1**2 * s * c) ** 2 / root**3
    np.testing.assert_allclose(found.q[:, 2], l1 * c + root, atol=1e-13)
    np.testing.assert_allclose(found.q[:, 1], -np.arcsin(l1 * s / l2), atol=1e-13)
    np.testing.assert_allclose(found.qd[:, 2], by_theta * w, atol=1e-12)
    np.testing.assert_allclose(found.qdd[:, 2], second * w**2 + by_theta * a, atol=1e-11)
    assert found.finished
    assert found.closure.max() < 1e-13
    crank = {one.what[0]: [] for one in found.singular}
    for one in found.singular:
        assert one.kind == "dead centre"
        crank[one.what[0]].append(one.q[0])
    np.testing.assert_allclose(crank["x"], np.pi * np.arange(1, 3), atol=1e-10)
    np.testing.assert_allclose(crank["theta2"], np.pi * (np.arange(3) + 0.5), atol=1e-10)


def test_dead_centres_of_a_crank_rocker() -> None:
    """The rocker turns back where crank and coupler are in line: triangles, law of cosines."""
    found = solve_kinematics(lw.gallery("four-bar"), over=("theta1", 0.0, 2 * np.pi), samples=121)
    l1, l2, l3, l4 = 1.0, 3.0, 2.5, 3.5
    outer = np.arccos((l4**2 + (l1 + l2) ** 2 - l3**2) / (2 * l4 * (l1 + l2)))
    inner = np.pi + np.arccos((l4**2 + (l2 - l1) ** 2 - l3**2) / (2 * l4 * (l2 - l1)))
    rocker = [one for one in found.singular if one.what == ("theta3",)]
    np.testing.assert_allclose([one.t for one in rocker], [outer, inner], atol=1e-10)
    swing = [np.pi - np.arccos((l3**2 + l4**2 - r**2) / (2 * l3 * l4)) for r in (l1 + l2, l2 - l1)]
    np.testing.assert_allclose([one.q[2] for one in rocker], swing, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "lengths", "over", "rough", "end"),
    [
        ("four-bar", (1.5, 2.0, 2.0, 4.0), ("theta1", 0.3, 3.0), {"theta2": 0.6, "theta3": 2.0},
         np.arccos((1.5**2 + 4**2 - 4**2) / (2 * 1.5 * 4))),
        ("four-bar", (1.5, 2.0, 2.0, 4.0), ("theta1", 0.3, -3.0), {"theta2": 0.6, "theta3": 2.0},
         -np.arccos((1.5**2 + 4**2 - 4**2) / (2 * 1.5 * 4))),
        ("slider-crank", (), ("x", 1.0, 2.0), {"theta1": 1.2}, 1.3),
        ("slider-crank", (), ("x", 1.0, 0.0), {"theta1": 1.2}, 0.7),
    ],
)  # fmt: skip
def test_limit_positions(name: str, lengths: tuple, over: tuple, rough: dict, end: float) -> None:
    """Where the drive cannot go on: coupler and rocker in line, crank and rod in line."""
    linkage = lw.gallery(name)
    if lengths:
        linkage = linkage.with_parameters(**{f"l{k + 1}": x for k, x in enumerate(lengths)})
    found = solve_kinematics(linkage, over=over, rough=rough, samples=101)
    last = found.singular[-1]
    place = list(lw.compile(linkage).q_names).index(over[0])
    assert last.kind == "limit"
    assert last.q[place] == pytest.approx(end, abs=1e-10)
    assert found.status.startswith("stopped at t = ")
    assert f"'{over[0]}' cannot go on" in found.status
    assert 0 < abs(found.q[-1, place] - end) <= abs(over[2] - over[1]) / 99
    assert found.closure.max() < 1e-11


def test_limit_of_a_driven_constraint() -> None:
    """The same limit where a motor in the file drives the crank: nothing is given beside."""
    linkage = lw.gallery("four-bar").with_parameters(l1=1.5, l2=2.0, l3=2.0, l4=4.0)
    driven = replace_part_fields(
        linkage, independent=(), assembly={"theta1": 0.5, "theta2": 0.6, "theta3": 2.0},
        constraints={"motor": {"type": "drive", "on": "theta1", "position": "0.5 + t"}},
    )  # fmt: skip
    found = solve_kinematics(driven, t=2.0, samples=21)
    assert found.singular[-1].kind == "limit"
    assert found.singular[-1].t == pytest.approx(np.arccos(1.5**2 / 12) - 0.5, abs=1e-10)
    moved = solve_inverse(driven, t=0.5, samples=101)
    np.testing.assert_allclose(moved.tau, 0, atol=1e-12)
    np.testing.assert_allclose(moved.work_given, moved.energy - moved.energy[0], atol=1e-6)


@pytest.mark.parametrize("samples", [101, 102])
def test_branches_meet(samples: int) -> None:
    """A row of windows with flat cranks: the motion goes on with parallel cranks, and the change
    point is found, on a sample (101) or between two."""
    linkage = lw.gallery("n-four-bar")
    found = solve_kinematics(linkage, over=("theta0", np.pi - 1, np.pi + 1), samples=samples)
    assert found.finished
    (point,) = [one for one in found.singular if one.kind == "branch point"]
    assert point.q[0] == pytest.approx(np.pi, abs=1e-9)
    cranks = [k for k, n in enumerate(lw.compile(linkage).q_names) if n.startswith("theta")]
    np.testing.assert_allclose(found.q[:, cranks], found.q[:, [0] * len(cranks)], atol=1e-9)
    np.testing.assert_allclose(found.qd[:, cranks], 1, atol=1e-7)
    assert [one.kind for one in found.singular] == ["branch point"]


def test_a_tree_along_a_path() -> None:
    """Expressions, tables and numbers; the tool's velocity and acceleration by hand."""
    t = np.linspace(0, 2, 401)
    found = solve_kinematics(
        lw.gallery("elbow"), {"q1": "sin(t)", "q2": (t, t**3)}, 2.0, samples=41
    )
    t = found.t
    a, b, b1, b2 = np.sin(t), np.sin(t) + t**3, np.cos(t) + 3 * t**2, -np.sin(t) + 6 * t
    place, velocity, acceleration = found.frame("tool")
    np.testing.assert_allclose(place[:, 0], np.cos(a) + np.cos(b), atol=1e-9)
    rate = -np.sin(a) * np.cos(t) - np.sin(b) * b1
    np.testing.assert_allclose(velocity[:, 0], rate, atol=1e-8)
    second = (
        -np.cos(a) * np.cos(t) ** 2 + np.sin(a) * np.sin(t) - np.cos(b) * b1**2 - np.sin(b) * b2
    )
    np.testing.assert_allclose(acceleration[:, 0], second, atol=1e-6)


def test_torque_of_a_slider_crank_by_virtual_work() -> None:
    """At constant crank speed the torque is dE/dθ, of the energy by hand, by a complex step."""
    w = 4.0
    found = solve_inverse(lw.gallery("slider-crank"), {"theta1": f"0.2 + {w}*t"}, 1.5, samples=301)
    l1, lc1, lc2, m1, m2, m3, I1, I2 = 0.3, 0.1, 0.4, 1.2, 0.8, 0.5, 0.02, 0.07

    def energy(theta: np.ndarray) -> np.ndarray:
        s, c = np.sin(theta), np.cos(theta)
        root = np.sqrt(1 - l1**2 * s**2)
        rod = -l1 * c / root  # its angle by θ
        x = -l1 * s - l1**2 * s * c / root
        sin2, cos2 = -l1 * s, root
        vx, vy = -l1 * s - lc2 * sin2 * rod, l1 * c + lc2 * cos2 * rod
        T = (I1 + m1 * lc1**2 + m2 * (vx**2 + vy**2) + I2 * rod**2 + m3 * x**2) * w**2 / 2
        return T + G * (m1 * lc1 * s + m2 * (l1 * s + lc2 * sin2))

    torque = np.imag(energy(found.q[:, 0] + 1e-30j)) / 1e-30
    np.testing.assert_allclose(found.tau[:, 0], torque, atol=1e-9)
    np.testing.assert_allclose(found.tau[:, 1:], 0, atol=1e-12)
    assert found.u is not None
    np.testing.assert_allclose(found.u[:, 0], torque, atol=1e-9)
    np.testing.assert_allclose(found.power.sum(axis=1), torque * w, atol=1e-8)
    assert found.audit < 1e-7
    assert largest_difference(found, repeat(found)) == 0.0


@pytest.mark.parametrize(
    ("motion", "place"), [({"theta1": "0.2 + 4*t"}, 0), ({"x": "1 + 0.1*sin(3*t)"}, 2)]
)
def test_without_actuators_driven_coordinates_bear_the_force(motion: dict, place: int) -> None:
    """The power of one force alone is the rate of the energy."""
    bare = replace_part_fields(lw.gallery("slider-crank"), ["actuators"], independent=())
    found = solve_inverse(bare, motion, 1.0, rough={"theta1": 1.2}, samples=401)
    assert found.u is None
    np.testing.assert_array_equal(np.delete(found.tau, place, axis=1), 0.0)
    rate = np.gradient(found.energy, found.t, edge_order=2)
    power = found.tau[:, place] * found.qd[:, place]
    np.testing.assert_allclose(power[1:-1], rate[1:-1], atol=3e-3 * abs(rate).max())
    assert found.audit < 1e-6


@pytest.mark.parametrize(
    ("name", "torque"),
    [
        ("elbow", {"q1": "3*sin(2*t)", "q2": "1 - dq2"}),
        ("triple-pendulum", {"tau1": "5*cos(t)", "tau2": "t"}),
        ("four-bar", {"tau1": "10*sin(3*t)"}),
        ("slider-crank-sundials", {}),
    ],
)
def test_inverse_of_a_run_returns_its_torques(name: str, torque: dict) -> None:
    """Forward and back: τ, u and the works of the simulation."""
    arm = lw.gallery(name)
    there = lw.simulate(arm, 1.0, torque=torque or None, samples=201, rtol=1e-11, atol=1e-12)
    back = solve_inverse(arm, there)
    np.testing.assert_allclose(back.tau, there.tau, atol=1e-7)
    np.testing.assert_allclose(back.work_inputs, there.work_inputs, atol=1e-5)
    np.testing.assert_allclose(back.reactions, there.reactions, atol=1e-6)
    if torque and there.u is not None:
        np.testing.assert_allclose(back.u, there.u, atol=1e-7)


def test_drives_that_cannot_do_it() -> None:
    """A pole that shall stand still while its cart shakes needs a torque that nobody gives."""
    arm = replace_part_fields(lw.gallery("cart-pole"), actuators={"push": {"moves": "x"}})
    found = solve_inverse(arm, {"x": "sin(3*t)", "theta": 0.5}, 1.0, samples=21)
    assert not found.finished
    assert "the actuators cannot give" in found.status
    assert "'theta'" in found.status
    model = lw.compile(arm)
    np.testing.assert_allclose(found.tau, model.inverse_dynamics(found.q, found.qd, found.qdd))


def test_wrong_requests() -> None:
    bar = lw.gallery("four-bar")
    for what, call in (
        ("unknown coordinate 'theta9'", lambda: solve_kinematics(bar, {"theta9": 1})),
        ("1 coordinate is free and 0 driven", lambda: solve_kinematics(bar)),
        ("only 1 can be", lambda: solve_kinematics(bar, {"theta1": "t", "theta2": "t"})),
        ("must be a", lambda: solve_kinematics(bar, {"theta1": "t"}, t=-1.0)),
        ("constraints of speeds", lambda: solve_kinematics(lw.gallery("rolling-disk"), {})),
        ("is not a motion", lambda: solve_inverse(bar, [1, 2])),  # type: ignore[arg-type]
        (
            "with other coordinates",
            lambda: solve_inverse(bar, solve_kinematics(lw.gallery("elbow"), {})),
        ),
        ("both given", lambda: solve_kinematics(bar, {"theta1": "t"}, over=("theta1", 0, 1))),
    ):
        with pytest.raises((LinkwrightError, UnsupportedError)) as error:
            call()
        assert what in str(error.value)


def test_commands(tmp_path) -> None:
    """A limit has exit status 1; a motion may come from a table over time."""
    short = ("--over", "x=1:2", "--rough", "theta1=1", "--samples", "21")
    done = run("kinematics", "slider-crank", *short, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["singular"][-1]["kind"] == "limit"
    assert found["singular"][-1]["q"][2] == pytest.approx(1.3, abs=1e-10)
    assert "cannot go on" in done.stderr
    path, file = tmp_path / "path.csv", tmp_path / "run.csv"
    path.write_text("t,q1\n" + "\n".join(f"{t},{np.sin(t)}" for t in np.linspace(0, 1, 101)))
    words = (f"q1={path}", "q2=0.5*t", "-t", "1", "-o", str(file), "--json")
    summary = json.loads(ok("inverse", "elbow", *words))
    assert summary["status"] == "finished"
    hand = solve_inverse(lw.gallery("elbow"), {"q1": "sin(t)", "q2": "0.5*t"})
    assert summary["largest_forces"]["q1"] == pytest.approx(np.abs(hand.tau[:, 0]).max(), rel=1e-5)
    assert file.read_text().startswith("t,q1,q2,dq1")
