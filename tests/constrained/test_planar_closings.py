"""The same planar loops closed in other ways: joint types, planes in space, dead points."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from tests.references.four_bar import FourBar
from tests.references.rigid import rpy
from tests.references.slider_crank import SliderCrank, Sundials
from tests.references.three_rrr import ThreeRRR


def close(one: object, other: object, tolerance: float = 1e-9) -> None:
    scale = max(1.0, float(np.abs(other).max()))
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize(
    ("kind", "equations"), [("revolute", 5), ("spherical", 3), ("cylindrical", 4), ("universal", 4)]
)
def test_pin_of_another_type(kind: str, equations: int) -> None:
    """In the plane they all leave a turning piston pin."""
    plain, reference = lw.gallery("slider-crank"), SliderCrank()
    pin = {"type": kind, "parent": "rod", "child": "piston", "origin": ["l2", 0, 0]}
    model = lw.compile(replace_part_fields(plain, loops={"pin": pin}))
    assert len(model.constraint_names) == equations
    q = reference.configuration(0.8)
    tau = np.array([1.0, 0.5, -2.0])
    found = model.forward_dynamics(q, reference.influence(q)[0] * 3.0, tau)
    close(found, reference.accelerations(q, 3.0, tau))


@pytest.mark.parametrize("branch", [1, -1])
def test_slider_that_closes_the_loop(branch: int) -> None:
    """The piston hangs on the rod, and its slide is cut instead of its pin."""
    plain, reference = lw.gallery("slider-crank"), SliderCrank()
    pin = {"type": "revolute", "parent": "rod", "child": "piston", "origin": ["l2", 0, 0]}
    slide = {"type": "prismatic", "child": "piston", "axis": [1, 0, 0]}
    joints = {**plain.joints, "q3": pin}
    cut = replace_part_fields(
        plain, ["independent", "coordinates", "actuators"], joints=joints,
        loops={"slide": slide}, assembly={"q1": 1.0, "q2": -1.3, "q3": 0.3},
    )  # fmt: skip
    assert lw.mobility(cut).dof == 1
    z = reference.configuration(0.8, branch)
    G, _ = reference.influence(z)
    q = np.array([z[0], z[1] - z[0], -z[1]])
    rates = np.array([1.0, G[1] - 1, -G[1]])
    model = lw.compile(cut)
    close(model.constraint_residual(q), 0.0, 1e-12)
    truth = reference.accelerations(z, 3.0, np.zeros(3))
    found = model.forward_dynamics(q, 3.0 * rates, np.zeros(3))
    close(found, [truth[0], truth[1] - truth[0], -truth[1]])


@pytest.mark.parametrize("theta", [0.4, 2.0, -2.6])
def test_pin_in_a_slot(theta: float) -> None:
    """Quick return: the crank's pin slides in a lever, tan ψ = r sin θ/(d + r cos θ), d = 1.5, r = 1."""
    rod = {"mass": 1, "center": [0.5, 0, 0], "inertia": {"zz": "1/12"}}
    slot = {"type": "turn-slide", "parent": "crank", "child": "lever", "origin": [1, 0, 0]}
    lever = lw.Mechanism(
        gravity=[0, 0, "-9.81"],
        bodies={"crank": rod, "lever": rod},
        joints={
            "theta": {"type": "revolute", "child": "crank"},
            "psi": {"type": "revolute", "child": "lever", "origin": [-1.5, 0, 0]},
        },
        loops={"slot": slot},
        assembly={"theta": 0.4},
    )
    assert lw.mobility(lever).dof == 1
    c, s = np.cos(theta), np.sin(theta)
    square = 3.25 + 3 * c
    G = (1 + 1.5 * c) / square
    H = (-1.5 * s * square + 3 * s * (1 + 1.5 * c)) / square**2
    rate, tau = 1.7, np.array([0.8, -0.3])
    first = (tau[0] + G * tau[1] - G * H * rate**2 / 3) / ((1 + G**2) / 3)
    q, qd = np.array([theta, np.arctan2(s, 1.5 + c)]), rate * np.array([1.0, G])
    model = lw.compile(lever)
    close(model.constraint_residual(q), 0.0, 1e-12)
    close(model.forward_dynamics(q, qd, tau), [first, G * first + H * rate**2])


def tilted_four_bar(turn: tuple[float, float, float]) -> lw.Mechanism:
    """The four-bar on a base that stands askew, with weight in its plane as before."""
    plain = lw.gallery("four-bar")
    base = {"type": "fixed", "child": "base", "origin": {"xyz": [0.3, -1, 2], "rpy": list(turn)}}
    joints = {name: replace_part_fields(joint, parent="base") if joint.parent == "ground" else joint
              for name, joint in plain.joints.items()}  # fmt: skip
    weight = rpy(*turn) @ [0.0, -9.81, 0.0]
    return replace_part_fields(
        plain,
        bodies={"base": {}, **plain.bodies},
        joints={"base": base, **joints},
        gravity=weight.tolist(),
    )


@pytest.mark.parametrize("turn", [(0.4, 0.0, 0.0), (0.7, -0.5, 1.9)])
def test_plane_that_stands_askew(turn: tuple[float, float, float]) -> None:
    """Of five equations three hold by themselves, although no entry of theirs is written as 0."""
    tilted, reference = tilted_four_bar(turn), FourBar()
    found = lw.mobility(tilted)
    assert (found.dof, found.rank, found.equations) == (1, 2, 5)
    q = reference.angles(2.0)
    tau = np.array([1.0, -0.5, 0.3])
    model = lw.compile(tilted)
    truth = reference.accelerations(q, 1.5, tau)
    qd = reference.influence(q)[0] * 1.5
    close(model.forward_dynamics(q, qd, tau), truth)
    forces = reference.mass_matrix(q) @ truth + reference.bias(q, qd) - tau
    close(model.constraint_jacobian(q).T @ model.multipliers(q, qd, tau), forces)


# Dead points: coupler and rocker of a linkage whose crank cannot go round, in one line

ROCKERS = {"l1": 2.0, "l2": 1.0, "l3": 2.5, "l4": 3.0}


def dead_point(beyond: float) -> tuple[np.ndarray, np.ndarray]:
    """θ and rates near the crank's dead point, the rocker turned on by `beyond`."""
    reference = FourBar(**ROCKERS)
    crank = np.arccos((4 + 9 - 3.5**2) / 12)
    theta3 = np.angle(2 * np.exp(1j * crank) - 3) + beyond
    mirror = FourBar(l1=2.5, l2=1.0, l3=2.0, l4=3.0)  # driven from its other end
    one, other = (mirror.angles(np.pi - theta3, branch) for branch in (1, -1))
    near = min((one, other), key=lambda a: abs(np.exp(1j * (np.pi - a[2])) - np.exp(1j * crank)))
    theta = np.array([np.pi - near[2], -near[1], theta3])
    rates = mirror.influence(near)[0] * -1.5
    assert reference.l1 == mirror.l3
    return theta, np.array([-rates[2], -rates[1], 1.5])


@pytest.mark.parametrize("beyond", [0.0, 1e-10, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1])
def test_accelerations_through_a_dead_point(beyond: float) -> None:
    """The crank cannot drive here; the mechanism moves on all the same."""
    theta, rates = dead_point(beyond)
    model = lw.compile(lw.gallery("four-bar").with_parameters(**ROCKERS))
    close(model.constraint_residual(theta), 0.0, 1e-12)
    close(model.constraint_velocity(theta, rates), 0.0, 1e-12)
    tau = np.array([1.0, -0.5, 0.3])
    truth, _ = FourBar(**ROCKERS).by_multipliers(theta, rates, tau)
    close(model.forward_dynamics(theta, rates, tau), truth)


def test_no_warning_where_a_pivot_vanishes() -> None:
    model = lw.compile(lw.gallery("slider-crank-sundials"))
    model.forward_dynamics([0.0, 1.5, 0.0], [1.0, 0.0, -0.5], np.zeros(3))


@pytest.mark.parametrize("function", ["multipliers", "reactions", "inverse_dynamics"])
def test_forces_where_a_pivot_vanishes(function: str) -> None:
    """Crank and rod in line, where the crank drives as well as anywhere."""
    model, reference = lw.compile(lw.gallery("slider-crank-sundials")), Sundials()
    found = []
    for angle in (0.0, 1e-9, 1e-3):
        q = reference.configuration(angle)
        qd = reference.influence(q)[0]
        third = np.zeros(3)
        if function == "inverse_dynamics":
            third = reference.accelerations(q, 1.0, third)
        found.append(getattr(model, function)(q, qd, third))
    close(found[0], found[2], 0.02)
    close(found[1], found[0], 1e-7)


def test_accuracy_near_a_vanishing_pivot() -> None:
    """With speeds that the library chooses itself, past a pose where these cannot drive."""
    planar, rates, tau = ThreeRRR().mechanism(1), np.array([1.0, -2.0, 1.5]), np.ones(7)
    model = lw.compile(replace_part_fields(lw.gallery("3-rrr"), ["independent"]))
    for beyond in np.geomspace(1e-6, 1e-2, 60):
        a = np.array([0.0330461 + beyond, 0.0476677, 0.03602913])
        q, qd = planar.coordinates(a, rates)
        close(model.forward_dynamics(q, qd, tau), planar.accelerations(a, rates, tau))


def test_forces_where_the_chosen_speed_cannot_drive() -> None:
    """Left to itself the library takes x, which stands still where crank and rod are in line."""
    model = lw.compile(replace_part_fields(lw.gallery("slider-crank"), ["independent"]))
    reference, tau = SliderCrank(), np.array([1.0, 0.5, -0.3])
    q = reference.configuration(1e-9)
    qd = reference.influence(q)[0] * 2.0
    truth = reference.accelerations(q, 2.0, tau)
    forces = model.mass_matrix(q) @ truth + model.bias(q, qd) - tau
    close(model.constraint_jacobian(q).T @ model.multipliers(q, qd, tau), forces)
