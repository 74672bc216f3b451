"""Influence coefficients of closed loops, legs and redundant arms (reference/transfer.md)."""

from __future__ import annotations

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.formulations.influence.coordinate_transfer import (
    add_dynamics,
    closure_coefficients,
    dynamics_at_instant,
    frame_influence,
    invert_coefficients,
    leg_coefficients,
    operational_dynamics,
    transfer_dynamics,
)
from linkwright.kinematics.assembly import nearest_constrained_velocities
from linkwright.mechanism import replace_part_fields

THETA = np.array([1.0, 0.5705956522, 1.7456700684])


def closure(eqs: lw.Equations, q: np.ndarray, rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """G and H of rows of a closure."""
    J, s = eqs.J[rows, :], eqs.symbols
    planes = [ca.jacobian(J[k, :].T, s["q"]) for k in range(len(rows))]
    A, *H = ca.Function("A", [s["q"], s["p"]], [J, *planes])(q, list(eqs.parameters.values()))
    return np.asarray(A), np.array([np.asarray(plane) for plane in H])


@pytest.fixture(scope="module")
def four_bar() -> lw.Equations:
    return lw.derive(lw.gallery("four-bar"), by="influence", parameters="numeric")


def test_four_bar_by_numbers(four_bar: lw.Equations) -> None:
    """G, H, I*, P*, load of the worked example, from the numbers of one instant."""
    q = lw.assemble(four_bar.mechanism, {"theta1": 1.0, "theta2": 0.57, "theta3": 1.75}, ["theta1"])
    np.testing.assert_allclose(q, THETA, atol=1e-10)
    motion = closure_coefficients(*closure(four_bar, q, [0, 1]), inputs=[0])
    np.testing.assert_allclose(motion.G.ravel(), [1, -0.2450961291, 0.1804794372], atol=1e-10)
    np.testing.assert_allclose(motion.H.ravel(), [0, 0.2610655893, 0.4586621930], atol=1e-10)
    model = transfer_dynamics(dynamics_at_instant(four_bar, q, 2 * motion.G.ravel()), motion)
    np.testing.assert_allclose(model.inertia, [[0.9128753066]], atol=1e-10)
    np.testing.assert_allclose(model.power, [[[0.5271203651]]], atol=1e-10)
    np.testing.assert_allclose(model.loads, [4.5302683718], atol=1e-9)


def test_four_bar_by_symbols(four_bar: lw.Equations) -> None:
    """The same as results of the formulation; symmetric P* is half the slope of I*."""
    Q = four_bar.symbols["q"]
    G, I, P = (four_bar.extra(f"input_{x}") for x in ("G", "inertia", "power"))
    H = ca.vertcat(*four_bar.extra("input_H"))
    at = ca.Function("at", [Q], [G, H, I, P[0]])
    found = [np.asarray(x).ravel() for x in at(THETA)]
    np.testing.assert_allclose(found[0], [1, -0.2450961291, 0.1804794372], atol=2e-10)
    np.testing.assert_allclose(found[1], [0, 0.2610655893, 0.4586621930], atol=2e-10)
    np.testing.assert_allclose([*found[2], *found[3]], [0.9128753066, 0.5271203651], atol=2e-10)
    slope = ca.Function("slope", [Q], [ca.jtimes(I, Q, G)])
    np.testing.assert_allclose(float(slope(THETA)) / 2, found[3][0], rtol=1e-12)
    assert four_bar.extra("inputs") == ("theta1",)


def test_stiffness_of_a_sprung_loop(four_bar: lw.Equations) -> None:
    """A spring between ground and the coupler's end, in the crank's angle: d²V/dθ1² by the loop's
    closed form in 40 digits."""
    sprung = four_bar.mechanism.model_copy(
        update={
            "frames": {"end": {"body": "rocker", "origin": ["l3", 0, 0]},
                       "hook": {"body": "ground", "origin": [1, 4, 0]}},
            "forces": {"spring": {"type": "spring", "between": ["hook", "end"], "stiffness": 30,
                                  "length": "0.6"}},
        }
    )  # fmt: skip
    eqs = lw.derive(sprung, by="influence", parameters="numeric")
    motion = closure_coefficients(*closure(eqs, THETA, [0, 1]), inputs=[0])
    model = transfer_dynamics(dynamics_at_instant(eqs, THETA, 0 * THETA), motion)

    def energy(crank: mp.mpf) -> mp.mpf:
        x, y = mp.mpf("3.5") - mp.cos(crank), -mp.sin(crank)  # from the crank's pin to the pivot
        r = mp.hypot(x, y)
        inner = mp.acos((r**2 + mp.mpf("2.5") ** 2 - 9) / (2 * r * mp.mpf("2.5")))
        rocker = mp.atan2(-y, -x) - inner
        end = (mp.mpf("3.5") + 2.5 * mp.cos(rocker), 2.5 * mp.sin(rocker))
        return 15 * (mp.hypot(end[0] - 1, end[1] - 4) - mp.mpf("0.6")) ** 2

    with mp.workdps(40):
        slope, curvature = (float(mp.diff(energy, THETA[0], n)) for n in (1, 2))
    np.testing.assert_allclose(model.spring_loads, [slope], rtol=1e-8)
    np.testing.assert_allclose(model.stiffness, [[curvature]], rtol=1e-8)
    loop = [eqs.extra(f"input_{x}") for x in ("spring_loads", "stiffness")]
    found = [float(x) for x in ca.Function("K", [eqs.symbols["q"]], loop)(THETA)]
    np.testing.assert_allclose(found, [slope, curvature], rtol=1e-8)


def test_inputs_that_cannot_drive_are_named(four_bar: lw.Equations) -> None:
    """Crank and coupler in line: the rocker stands at its end and cannot be driven."""
    q = lw.assemble(four_bar.mechanism, {"theta1": 0.3, "theta2": 0.3}, ["theta1"])
    A, H = closure(four_bar, q, [0, 1])
    closure_coefficients(A, H, inputs=[0])
    lined = A.copy()
    lined[:, 1] = 3 * lined[:, 0]
    with pytest.raises(UnsupportedError, match="inputs theta3 cannot drive"):
        closure_coefficients(lined, H, inputs=[2], names=["theta1", "theta2", "theta3"])
    with pytest.raises(UnsupportedError, match="do not determine 3 joints"):
        closure_coefficients(A, H, inputs=[0, 1])


def test_mechanism_names_inputs_that_cannot_drive() -> None:
    """A joint that is held moves nothing, here or elsewhere."""
    held = replace_part_fields(
        lw.gallery("elbow"), independent=["q1"],
        constraints={"hold": {"type": "coupling", "joint": "q1", "coefficients": ["1/3"]}},
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="'q1' cannot drive"):
        lw.compile(held)
    with pytest.raises(UnsupportedError, match="2 velocities are named for 1 degree of freedom"):
        lw.compile(replace_part_fields(held, independent=["q1", "q2"]))
    assert lw.mobility(held).independent == ("q2",)


def three_joints(axes: list[list[float]], origin: list[float]) -> lw.Mechanism:
    """A spatial arm of three turning joints."""
    bodies, joints, parent = {}, {}, "ground"
    for k, axis in enumerate(axes, 1):
        bodies[f"l{k}"] = {
            "mass": 1 + 0.2 * k, "center": [0.3, 0.05 * k, 0.1], "inertia": [0.02, 0.03, 0.04],
        }  # fmt: skip
        place = origin if k == 1 else [0.6, 0.1, 0]
        joints[f"q{k}"] = {
            "type": "revolute", "parent": parent, "child": f"l{k}", "axis": axis, "origin": place,
        }  # fmt: skip
        parent = f"l{k}"
    return lw.Mechanism(bodies=bodies, joints=joints,
                        frames={"hand": {"body": parent, "origin": [0.5, 0, 0]}})  # fmt: skip


AXES = [[0, 0, 1], [0, 1, 0], [0.2, 1, 0.1]]


def test_legs_in_parallel() -> None:
    """Three arms hold a point mass: the sum of their models in its position is that of the
    mechanism with three spherical loops."""
    mass, places = 2.5, ([0, 0, 0], [1.2, 0, 0], [0.6, 1, 0])
    arms = [three_joints(AXES, place) for place in places]
    bodies = {"ball": {"mass": mass, "inertia": [0.1, 0.1, 0.1]}}
    joints = {"ball": {"type": "free", "child": "ball", "rotation": "cardan"}}
    loops = {}
    for i, arm in enumerate(arms):
        bodies |= {f"{n}_{i}": b for n, b in arm.bodies.items()}
        joints |= {
            f"{n}_{i}": replace_part_fields(
                j, parent="ground" if j.parent == "ground" else f"{j.parent}_{i}", child=f"{j.child}_{i}"
            )
            for n, j in arm.joints.items()
        }  # fmt: skip
        loops[f"hold{i}"] = {"type": "spherical", "parent": f"l3_{i}", "child": "ball",
                             "origin": [0.5, 0, 0]}  # fmt: skip
    rough = {"ball.x": 0.6, "ball.y": 0.35, "ball.z": 0.3}
    whole = lw.Mechanism(bodies=bodies, joints=joints, loops=loops, assembly=rough)
    names = lw.compile(whole)
    q = lw.assemble(whole)
    rng = np.random.default_rng(3)
    qd = nearest_constrained_velocities(whole, q, rng.uniform(-1, 1, names.nv))
    parts, speed = [], qd[:3]
    for i, arm in enumerate(arms):
        own = slice(6 + 3 * i, 9 + 3 * i)
        eqs = lw.derive(arm, by="influence", parameters="numeric")
        u = frame_influence(eqs, "hand", q[own])
        leg = leg_coefficients(u, (np.eye(3), np.zeros((3, 3, 3))))
        np.testing.assert_allclose(leg.G @ speed, qd[own], atol=1e-10)
        parts.append(transfer_dynamics(dynamics_at_instant(eqs, q[own], qd[own]), leg))
    model = add_dynamics(parts)
    M = model.inertia + mass * np.eye(3)
    still = model.generalized_force(speed, np.zeros(3)) + mass * np.array([0, 0, 9.81])
    tau = np.zeros(names.nv)
    push = rng.uniform(-5, 5, 3)
    tau[:3] = push
    qdd = names.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(np.linalg.solve(M, push - still), qdd[:3], rtol=1e-9)


def test_redundant_arm() -> None:
    """Λ is the Schur complement of I* for any posture; b follows from the motion."""
    arm = lw.Mechanism(**{k: getattr(lw.gallery("chain-4"), k) for k in
                          ("gravity", "parameters", "bodies", "joints", "frames")})  # fmt: skip
    eqs = lw.derive(arm, by="influence", parameters="numeric")
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1, 1, (2, 4))
    own, u = dynamics_at_instant(eqs, q, v), frame_influence(eqs, "tool", q, rows=(3, 4))
    inertia, bias = operational_dynamics(own, u, v)
    s = np.array([[np.cos(q[0]), 2 * q[1], 0, 0], [0, 0, 1, 0.3]])
    H_s = np.zeros((2, 4, 4))
    H_s[0, 0, 0], H_s[0, 1, 1] = -np.sin(q[0]), 2
    whole = invert_coefficients(np.vstack([u[0], s]), np.concatenate([u[1], H_s]))
    I = transfer_dynamics(own, whole).inertia
    schur = I[:2, :2] - I[:2, 2:] @ np.linalg.solve(I[2:, 2:], I[2:, :2])
    np.testing.assert_allclose(inertia, schur, rtol=1e-10)
    force = rng.uniform(-3, 3, 2)
    qdd = np.asarray(eqs.function_at_values("forward_dynamics")(q, v, u[0].T @ force)).ravel()
    hand = u[0] @ qdd + np.einsum("pmn,m,n->p", u[1], v, v)
    np.testing.assert_allclose(inertia @ hand + bias, force, rtol=1e-9)


def test_coefficients_with_time() -> None:
    """A four-bar whose ground pivot moves: q̈ by H, H_t, h_tt is that of multipliers."""
    moving = replace_part_fields(
        lw.gallery("four-bar"),
        ["loops", "independent"],
        constraints={
            "x": {"type": "equation", "position":
                  "l1*cos(theta1) + l2*cos(theta2) - l3*cos(theta3) - l4 - 0.2*sin(3*t)"},
            "y": {"type": "equation", "position":
                  "l1*sin(theta1) + l2*sin(theta2) - l3*sin(theta3)*(1 + 0.1*t)"},
        },
    )  # fmt: skip
    one, other = (lw.derive(moving, by=by, parameters="numeric")
                  for by in ("influence", "multipliers"))  # fmt: skip
    t, tau = 0.4, np.array([1.0, -0.5, 0.3])
    q = lw.assemble(moving, t=t)
    qd = nearest_constrained_velocities(moving, q, [2.0, 0, 0], t)
    first, second = (np.asarray(e.function("forward_dynamics")(q, qd, tau, t)[0]).ravel()
                     for e in (one, other))  # fmt: skip
    np.testing.assert_allclose(first, second, rtol=1e-11)
