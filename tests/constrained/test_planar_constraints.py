"""Gears, drives, distances, surfaces and equations in the plane, each against a closed form by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy import cos, sin

import linkwright as lw
from linkwright.errors import AssemblyError
from linkwright.mechanism import replace_part_fields
from tests.constrained.integrate import integrate
from tests.references.four_bar import FourBar

G = 9.81


def close(one: object, other: object, tolerance: float = 1e-11) -> None:
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=tolerance, atol=tolerance)


def wheels(constraints: dict[str, object], **inertias: float) -> lw.Mechanism:
    """Wheels on ground, each with its inertia."""
    return lw.Mechanism(
        bodies={f"wheel_{q}": {"inertia": {"zz": str(J)}} for q, J in inertias.items()},
        joints={q: {"type": "revolute", "child": f"wheel_{q}"} for q in inertias},
        constraints=constraints,
    )


def bead(constraints: dict[str, object], **more: object) -> lw.Mechanism:
    """A point of 2 kg that moves in the plane of x and y, with weight along −y."""
    return lw.Mechanism(**{
        "gravity": [0, "-9.81", 0],
        "bodies": {"carriage": {}, "bead": {"mass": 2}},
        "joints": {
            "x": {"type": "prismatic", "child": "carriage", "axis": [1, 0, 0]},
            "y": {"type": "prismatic", "parent": "carriage", "child": "bead", "axis": [0, 1, 0]},
        },
        "constraints": constraints,
        **more,
    })  # fmt: skip


# Gears


def test_pair_of_gears() -> None:
    """Radii 0.2 and 0.5: 0.2 q1 + 0.5 q2 = 0."""
    pair = wheels({"teeth": {"type": "gear", "factors": {"q1": 0.2, "q2": 0.5}}}, q1=0.3, q2=2.0)
    model, ratio = lw.compile(pair), -0.4
    tau = np.array([1.5, -0.7])
    first = (tau[0] + ratio * tau[1]) / (0.3 + ratio**2 * 2.0)
    q = np.array([1.0, ratio])
    close(model.forward_dynamics(q, 3 * q, tau), [first, ratio * first])
    assert lw.mobility(pair).dof == 1
    contact = (0.3 * first - tau[0]) / 0.2
    close(model.multipliers(q, 3 * q, tau), [contact])


def test_a_gear_is_a_mimicking_joint() -> None:
    """The arm whose elbow follows the shoulder, by a gear and by `mimic`."""
    arm = lw.gallery("elbow")
    gear = {"type": "gear", "factors": {"q2": 1, "q1": 2}, "offset": 0.3}
    geared = replace_part_fields(arm, constraints={"gear": gear})
    second = replace_part_fields(
        arm.joints["q2"], mimic={"joint": "q1", "multiplier": -2, "offset": 0.3}
    )
    mimicking = replace_part_fields(arm, joints={**arm.joints, "q2": second})
    q1, v, tau = 0.4, 1.1, np.array([2.0, 0.5])
    one = lw.compile(mimicking).forward_dynamics([q1], [v], [tau[0] - 2 * tau[1]])
    both = lw.compile(geared).forward_dynamics([q1, 0.3 - 2 * q1], [v, -2 * v], tau)
    close(both, [one[0], -2 * one[0]])


def test_rack_and_pinion() -> None:
    rack = lw.Mechanism(
        bodies={"pinion": {"inertia": {"zz": "0.02"}}, "rack": {"mass": 3}},
        joints={
            "q": {"type": "revolute", "child": "pinion"},
            "s": {"type": "prismatic", "child": "rack", "axis": [1, 0, 0]},
        },
        constraints={"teeth": {"type": "gear", "factors": {"s": 1, "q": "-40 mm"}, "offset": 0.1}},
    )
    model, r = lw.compile(rack), 0.04
    q = lw.assemble(rack, {"q": 2.0}, hold=["q"])
    close(q, [2.0, 0.1 + r * 2.0])
    first = (0.3 + r * 5.0) / (0.02 + 3 * r**2)
    close(model.forward_dynamics(q, [0.0, 0.0], [0.3, 5.0]), [first, r * first])


def test_differential() -> None:
    """left + right = 2 cage: two freedoms, and half the cage's moment for each side."""
    shafts = wheels(
        {"bevels": {"type": "gear", "factors": {"left": 1, "right": 1, "cage": -2}}},
        left=0.5, right=0.8, cage=1.5,
    )  # fmt: skip
    tau, inertias = np.array([0.4, -1.1, 2.5]), np.array([0.5, 0.8, 1.5])
    factors = np.array([1.0, 1.0, -2.0])
    moment = -(factors @ (tau / inertias)) / (factors @ (factors / inertias))
    truth = (tau + factors * moment) / inertias
    model, q = lw.compile(shafts), np.array([0.3, 0.1, 0.2])
    close(model.forward_dynamics(q, [1.0, 3.0, 2.0], tau), truth)
    close(model.multipliers(q, [1.0, 3.0, 2.0], tau), [moment])
    assert lw.mobility(shafts).dof == 2


def test_coupling_of_higher_order() -> None:
    """q2 = 0.1 + 0.5 q1 + 0.3 q1²: rates matter."""
    cam = {"type": "coupling", "joint": "q2", "other": "q1", "coefficients": [0.1, 0.5, 0.3]}
    pair = wheels({"cam": cam}, q1=0.3, q2=2.0)
    q1, v, tau = 0.7, -1.3, np.array([0.4, 1.2])
    slope, bend = 0.5 + 0.6 * q1, 0.6
    first = (tau[0] + slope * tau[1] - 2.0 * slope * bend * v**2) / (0.3 + 2.0 * slope**2)
    state = [q1, 0.1 + 0.5 * q1 + 0.3 * q1**2], [v, slope * v]
    found = lw.compile(pair).forward_dynamics(*state, tau)
    close(found, [first, slope * first + bend * v**2])


def test_coupling_that_holds() -> None:
    held = wheels({"brake": {"type": "coupling", "joint": "q1", "coefficients": [0.2]}}, q1=3, q2=2)
    model = lw.compile(held)
    state = np.array([0.2, 1.0]), np.array([0.0, 2.0]), np.array([5.0, 7.0])
    close(model.forward_dynamics(*state), [0.0, 3.5])
    close(model.constraint_jacobian(state[0]).T @ model.multipliers(*state), [-5.0, 0.0])


def test_a_gear_said_twice() -> None:
    """Redundant, and named; accelerations are those of one."""
    teeth = {"type": "gear", "factors": {"q1": 1, "q2": 2}}
    twice = {"type": "gear", "factors": {"q1": 2, "q2": 4}}
    pair = wheels({"once": teeth, "twice": twice}, q1=0.3, q2=2.0)
    found = lw.mobility(pair)
    assert (found.dof, found.rank, len(found.redundant)) == (1, 1, 1)
    single = lw.compile(wheels({"once": teeth}, q1=0.3, q2=2.0))
    state = np.array([0.4, -0.2]), np.array([2.0, -1.0]), np.array([1.0, 3.0])
    close(lw.compile(pair).forward_dynamics(*state), single.forward_dynamics(*state))


def test_gears_that_contradict_each_other() -> None:
    def teeth(offset: int) -> dict[str, object]:
        return {"type": "gear", "factors": {"q1": 1, "q2": 2}, "offset": offset}

    with pytest.raises(AssemblyError, match="cannot close"):
        lw.assemble(wheels({"one": teeth(0), "other": teeth(1)}, q1=1, q2=1))


# Drives


def driven_four_bar() -> lw.Mechanism:
    drive = {"type": "drive", "on": "theta1", "position": "1 + 2*t + 0.3*sin(5*t)"}
    return replace_part_fields(
        lw.gallery("four-bar"), ["independent"], constraints={"motor": drive}
    )


@pytest.mark.parametrize("t", [0.0, 0.7])
def test_driven_crank(t: float) -> None:
    """θ̈ = G f̈ + H ḟ², whatever the loads; the drive's moment is what Lagrange's equation asks."""
    f, fd, fdd = 1 + 2 * t + 0.3 * sin(5 * t), 2 + 1.5 * cos(5 * t), -7.5 * sin(5 * t)
    reference, model = FourBar(), lw.compile(driven_four_bar())
    q = reference.angles(f)
    close(lw.assemble(driven_four_bar(), t=t), q, 1e-10)
    first, second = reference.influence(q)
    qd, tau = first * fd, np.array([0.5, -2.0, 1.0])
    close(model.constraint_residual(q, t), 0.0, 1e-12)
    close(model.constraint_velocity(q, qd, t), 0.0, 1e-12)
    close(model.forward_dynamics(q, qd, tau, t), first * fdd + second * fd**2, 1e-9)
    inertia, slope = reference.inertia(q)
    moment = inertia * fdd + slope * fd**2 - reference.load(q) - first @ tau
    multipliers = model.multipliers(q, qd, tau, t)
    close(multipliers[-1], moment, 1e-9)
    work = multipliers @ model.constraint_jacobian(q, t) @ qd
    close(work, moment * fd, 1e-9)
    assert lw.mobility(driven_four_bar(), t=t).dof == 0


def test_driven_crank_moves_on() -> None:
    reference, model = FourBar(), lw.compile(driven_four_bar())
    q = reference.angles(1.0)
    qd = reference.influence(q)[0] * 3.5
    q, qd = integrate(model, q, qd, 0.5, 200, in_time=True)
    close(q, reference.angles(2 + 0.3 * sin(2.5)), 1e-8)
    close(qd, reference.influence(q)[0] * (2 + 1.5 * cos(2.5)), 1e-8)


# Distances


def test_a_distance_acts_on_a_slider() -> None:
    """Drake's silent case: in continuous time its distance constraint did nothing.

    A slider on a level rail and one on an upright rail, a rod of 2 m between them:
    x ẍ + y ÿ + ẋ² + ẏ² = 0, m1 ẍ = x μ, m2 ÿ = −m2 g + y μ.
    """
    ladder = lw.Mechanism(
        gravity=[0, "-9.81", 0],
        bodies={"a": {"mass": 1.5}, "b": {"mass": 0.8}},
        joints={
            "x": {"type": "prismatic", "child": "a", "axis": [1, 0, 0]},
            "y": {"type": "prismatic", "child": "b", "axis": [0, 1, 0]},
        },
        constraints={"rod": {"type": "distance", "between": ["a", "b"], "length": 2}},
        assembly={"x": 1, "y": 1},
    )
    angle, rate = 0.9, 1.3
    x, y = 2 * cos(angle), 2 * sin(angle)
    xd, yd = -y * rate, x * rate
    pull = (y * G - xd**2 - yd**2) / (x**2 / 1.5 + y**2 / 0.8)
    truth = [x * pull / 1.5, -G + y * pull / 0.8]
    found = lw.compile(ladder).forward_dynamics([x, y], [xd, yd], [0.0, 0.0])
    close(found, truth)
    assert abs(found[0]) > 1


def test_a_distance_holds_a_single_slider() -> None:
    """One slider that would fall, tied to ground: no freedom is left."""
    tied = lw.Mechanism(
        gravity=[0, "-9.81", 0],
        bodies={"slider": {"mass": 3}},
        joints={"y": {"type": "prismatic", "child": "slider", "axis": [0, 1, 0]}},
        frames={"hook": {"body": "ground", "origin": [3, 0, 0]}},
        constraints={"rod": {"type": "distance", "between": ["hook", "slider"], "length": 5}},
        assembly={"y": 1},
    )
    model, q = lw.compile(tied), lw.assemble(tied)
    close(q, [4.0], 1e-11)
    close(model.forward_dynamics(q, [0.0], [0.0]), [0.0])
    pull = model.constraint_jacobian(q).T @ model.multipliers(q, [0.0], [0.0])
    close(pull, [3 * G])
    assert lw.mobility(tied).dof == 0


ROD = {"type": "distance", "between": ["ground", "bead"], "length": 1}


def test_pendulum_on_a_rod() -> None:
    """IFToMM's A01 with a distance constraint: released at x = −1, where it is at t = 1."""
    pendulum = bead({"rod": ROD}, assembly={"x": -1})
    model = lw.compile(pendulum)
    q, _ = integrate(model, lw.assemble(pendulum), np.zeros(2), 1.0, 1000)
    close(q, [0.9862917511318753, -0.1650108531255412], 1e-9)


def test_rod_that_grows() -> None:
    """Length L(t) at the angle θ: r̈ has L̈ − Lθ̇² along the rod, and the weight's share across."""
    pendulum = bead({"rod": {**ROD, "length": "1 + 0.2*sin(3*t)"}}, assembly={"x": 1})
    t, angle, rate = 0.4, -0.6, 1.7
    L, Ld, Ldd = 1 + 0.2 * sin(3 * t), 0.6 * cos(3 * t), -1.8 * sin(3 * t)
    along, across = np.array([cos(angle), sin(angle)]), np.array([-sin(angle), cos(angle)])
    q, qd = L * along, Ld * along + L * rate * across
    model = lw.compile(pendulum)
    close(model.constraint_velocity(q, qd, t), 0.0, 1e-12)
    truth = (Ldd - L * rate**2) * along - G * cos(angle) * across
    close(model.forward_dynamics(q, qd, [0.0, 0.0], t), truth, 1e-10)


# Surfaces


@pytest.mark.parametrize("how", ["surface", "equation"])
def test_bead_on_a_parabola(how: str) -> None:
    """y = 0.8 x²: (1 + s²) ẍ + s s' ẋ² = (τx + s τy)/m − g s, s = 1.6 x."""
    curve = {
        "surface": {"type": "surface", "point": "bead", "surface": "y - 0.8*x^2"},
        "equation": {"type": "equation", "position": "y - 0.8*x^2"},
    }[how]
    x, v, tau = 0.6, -1.2, np.array([1.0, 0.4])
    s, bend = 1.6 * x, 1.6
    first = ((tau[0] + s * tau[1]) / 2 - G * s - s * bend * v**2) / (1 + s**2)
    found = lw.compile(bead({"wire": curve})).forward_dynamics([x, 0.8 * x**2], [v, s * v], tau)
    close(found, [first, s * first + bend * v**2])


def test_bead_on_an_ellipse() -> None:
    """x = 2 cos u, y = sin u: (4 s² + c²) ü + 3 s c u̇² + g c = Q/m."""
    wire = {"type": "surface", "point": "bead", "surface": "x^2/a^2 + y^2/b^2 - 1"}
    ellipse = bead({"wire": wire}, parameters={"a": 2, "b": 1}, assembly={"x": 1.5, "y": 0.5})
    model = lw.compile(ellipse)
    close(model.constraint_residual(lw.assemble(ellipse)), 0.0, 1e-12)
    u, rate, tau = 0.8, 1.4, np.array([0.3, -0.9])
    c, s = cos(u), sin(u)
    load = (-2 * s * tau[0] + c * tau[1]) / 2
    second = (load - G * c - 3 * s * c * rate**2) / (4 * s**2 + c**2)
    truth = [-2 * (s * second + c * rate**2), c * second - s * rate**2]
    found = model.forward_dynamics([2 * c, s], [-2 * s * rate, c * rate], tau)
    close(found, truth)


def test_block_on_a_wedge() -> None:
    """A surface that moves: the wedge gives way, A = m g s c/(M + m s²) to the other side."""
    slope = 0.5
    wedge = lw.Mechanism(
        gravity=[0, "-9.81", 0],
        bodies={"wedge": {"mass": 5}, "carriage": {}, "block": {"mass": 2}},
        joints={
            "X": {"type": "prismatic", "child": "wedge", "axis": [1, 0, 0]},
            "x": {"type": "prismatic", "child": "carriage", "axis": [1, 0, 0]},
            "y": {"type": "prismatic", "parent": "carriage", "child": "block", "axis": [0, 1, 0]},
        },
        constraints={
            "face": {"type": "surface", "point": "block", "frame": "wedge", "surface": "y - x/2"}
        },
    )
    c, s = 1 / np.hypot(1, slope), slope / np.hypot(1, slope)
    away = 2 * G * s * c / (5 + 2 * s**2)
    q, qd = np.array([0.3, 0.9, 0.3]), np.array([0.2, 1.2, 0.5])
    found = lw.compile(wedge).forward_dynamics(q, qd, np.zeros(3))
    close(found, [away, -away * 5 / 2, slope * (-away * 5 / 2 - away)])


# Equations of velocities


def test_velocity_that_could_be_integrated() -> None:
    """dy = 1.6 x dx is the parabola again, wherever it starts."""
    rail = {"type": "equation", "velocity": "dy - 1.6*x*dx"}
    model = lw.compile(bead({"wire": rail}))
    curve = lw.compile(bead({"wire": {"type": "equation", "position": "y - 0.8*x^2"}}))
    x, v, tau = 0.6, -1.2, np.array([1.0, 0.4])
    state = [v, 1.6 * x * v], tau
    truth = curve.forward_dynamics([x, 0.8 * x**2], *state)
    close(model.forward_dynamics([x, 5.0], *state), truth)


def test_velocities_alone_have_no_residual() -> None:
    model = lw.compile(bead({"wire": {"type": "equation", "velocity": "dy - 1.6*x*dx"}}))
    assert model.constraint_residual([0.6, 5.0]).shape == (0,)


def test_velocity_with_time() -> None:
    """dx = 0.5 cos 2t + y: ẍ = −sin 2t + ẏ, and y falls."""
    belt = {"type": "equation", "velocity": "dx - 0.5*cos(2*t) - y"}
    model, t = lw.compile(bead({"belt": belt})), 0.3
    y, yd = 0.7, -0.2
    qd = [0.5 * cos(2 * t) + y, yd]
    close(model.constraint_velocity([0.0, y], qd, t), [0.0])
    close(model.forward_dynamics([0.0, y], qd, [3.0, 0.0], t), [-sin(2 * t) + yd, -G])


def test_skate() -> None:
    """A body that cannot slip sideways: u̇ = F·e/m, θ̈ = τ/I; three coordinates, two freedoms."""
    skate = lw.Mechanism(
        bodies={"body": {"mass": 2, "inertia": {"zz": "0.5"}}},
        joints={"p": {"type": "planar", "child": "body"}},
        constraints={
            "blade": {"type": "equation", "velocity": "sin(p.theta)*dp.x - cos(p.theta)*dp.y"}
        },
    )
    theta, u, w, tau = 0.7, 1.5, -2.0, np.array([0.8, 0.3, 0.9])
    along, across = np.array([cos(theta), sin(theta)]), np.array([-sin(theta), cos(theta)])
    truth = along * (tau[:2] @ along) / 2 + across * u * w
    qd = [*(u * along), w]
    found = lw.compile(skate).forward_dynamics([0.2, 0.4, theta], qd, tau)
    close(found, [*truth, 0.9 / 0.5])
    mobility = lw.mobility(skate, [0.2, 0.4, theta])
    assert (mobility.dof, mobility.configuration) == (2, 3)
