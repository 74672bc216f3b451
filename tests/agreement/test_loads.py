"""Force elements and chosen coordinates: against hand formulas, and in all formulations alike."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.formulations import formulation_module
from tests.agreement.test_formulations import EXACT, assert_agreement, close, value
from tests.random_trees import RandomTree, trees


def loaded(mechanism: lw.Mechanism, rng: np.random.Generator) -> lw.Mechanism:
    """The mechanism with a spring, a wrench in moving axes, and a force along a freedom."""
    bodies = list(mechanism.bodies)
    points = {
        f"point{k}": {"body": body, "origin": rng.uniform(-0.3, 0.3, 3).round(3).tolist()}
        for k, body in enumerate(bodies)
    }
    freedoms = [
        (name, joint) for name, joint in mechanism.joints.items() if joint.moves and joint.dofs
    ]
    name, joint = freedoms[int(rng.integers(len(freedoms)))]
    ending = joint.dofs[0].ending
    freedom = f"{name}.{ending}" if ending else name
    speed = freedom if joint.by_quaternion else f"d{freedom}"
    last = f"point{len(bodies) - 1}"
    forces = {
        "spring": {
            "type": "spring", "between": ["anchor", last], "stiffness": 12, "damping": 0.7,
            "length": 0.4,
        },
        "push": {
            "type": "wrench", "on": "point0", "axes": last,
            "force": ["2.5", f"0.3*{speed}", "1 - 0.2*tanh(" + speed + ")"],
            "moment": [0.1, 0.2, "0.5*sin(0.3)"],
        },
        "drive": {"type": "joint", "on": freedom, "force": f"0.4*cos({speed}) - 0.1"},
    }  # fmt: skip
    anchor = {"body": "ground", "origin": [2, 1, 3]}
    return mechanism.model_copy(
        update={"frames": {**mechanism.frames, **points, "anchor": anchor}, "forces": forces}
    )


@pytest.mark.slow
@pytest.mark.parametrize("by", ["recursive", *EXACT])
@settings(max_examples=8, deadline=None)
@given(tree=trees(max_bodies=3), seed=st.integers(0, 1000))
def test_loads_act_alike_in_all_formulations(by: str, tree: RandomTree, seed: int) -> None:
    mechanism = loaded(tree.mechanism, np.random.default_rng(seed))
    if formulation_module(by).supports(mechanism) is None:
        assert_agreement(mechanism, by, seed)
        eqs = lw.derive(mechanism, by=by, parameters="numeric")
        bare = lw.derive(tree.mechanism, by="recursive", parameters="numeric")
        q, v, a = tree.state(seed)
        with_loads = value(eqs, "inverse_dynamics", q, v, a)
        own = value(eqs, "external", q, v) + value(eqs, "passive", q, v)
        joints = value(bare, "passive", q, v)
        close(with_loads, value(bare, "inverse_dynamics", q, v, a) - (own - joints), "by hand")


@settings(max_examples=15, deadline=None)
@given(trees(max_bodies=3, losses=False), st.integers(0, 1000))
def test_loads_are_those_of_the_jacobians(tree: RandomTree, seed: int) -> None:
    """Springs, by hand: f = Jᵀ F of both ends; and minus the gradient of the energy."""
    mechanism = loaded(tree.mechanism, np.random.default_rng(seed))
    eqs = lw.derive(mechanism, parameters="numeric")
    q, v, _ = tree.state(seed)
    last = f"point{len(tree.mechanism.bodies) - 1}"
    T = np.asarray(eqs.function("placement", last)(q))
    J = np.asarray(eqs.function("jacobian", last)(q))
    apart = T[:3, 3] - np.array([2, 1, 3])
    length = np.linalg.norm(apart)
    rate = apart @ J[3:] @ v / length
    pull = -(12 * (length - 0.4) + 0.7 * rate) * apart / length
    close(value(eqs, "passive", q, v).ravel(), J[3:].T @ pull, "spring and damper")
    Q = eqs.symbols["q"]
    (V,) = eqs.expressions("potential_energy")
    slope = ca.Function("g", [Q], [ca.jacobian(V, Q) @ eqs.rate_matrix])
    still = value(eqs, "passive", q, 0 * v).ravel() - value(eqs, "gravity", q).ravel()
    close(still, -np.asarray(slope(q)).ravel(), "gradient")
    R = T[:3, :3]
    J0 = np.asarray(eqs.function("jacobian", "point0")(q))
    drive = mechanism.forces["drive"]
    index = eqs.names.qd.index(drive.on)  # type: ignore[union-attr]
    s = v[index]
    force = R @ np.array([2.5, 0.3 * s, 1 - 0.2 * np.tanh(s)])
    moment = R @ np.array([0.1, 0.2, 0.5 * np.sin(0.3)])
    wanted = J0[3:].T @ force + J0[:3].T @ moment
    wanted[index] += 0.4 * np.cos(s) - 0.1
    close(value(eqs, "external", q, v).ravel(), wanted, "wrench and drive")


def test_reactions_of_welded_bodies_carry_their_own_loads() -> None:
    """A force on the rod is nothing to the tool that is welded to it; on a base, to its weld."""
    body = {"mass": 1, "inertia": [1, 1, 1]}
    arm = lw.Mechanism(
        gravity=[0, 0, 0],
        bodies={"base": body, "rod": body, "tool": body},
        joints={"weld0": {"type": "fixed", "child": "base"},
                "q": {"type": "revolute", "parent": "base", "child": "rod"},
                "weld": {"type": "fixed", "parent": "rod", "child": "tool"}},
        frames={"end": {"body": "rod", "origin": [2, 0, 0]}},
        forces={"f": {"type": "wrench", "on": "rod", "force": [0, 0, 5]},
                "b": {"type": "wrench", "on": "base", "force": [0, 0, 7]},
                "s": {"type": "spring", "between": ["base", "end"], "stiffness": 3}},
    )  # fmt: skip
    model = lw.compile(arm)
    tau = model.inverse_dynamics([0.0], [0.0], [0.0])
    r = dict(zip(model.joint_names, model.reactions([0.0], [0.0], tau), strict=True))
    np.testing.assert_allclose(r["weld"], 0, atol=1e-12)
    np.testing.assert_allclose(r["q"][3:], [6, 0, -5], atol=1e-12)
    np.testing.assert_allclose(r["weld0"][3:], [0, 0, -12], atol=1e-12)


def test_wrenches_act_at_the_origins_of_bodies() -> None:
    """A hinge at (−0.5, −0.2) of its body: τ balances the moment + r × F about the hinge."""
    arm = lw.Mechanism(
        name="arm", gravity=[0, 0, 0], bodies={"plate": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={"q": {"type": "revolute", "child": "plate", "child_origin": [-0.5, -0.2, 0]}},
    )  # fmt: skip
    angle, (moment, fx, fy) = 0.3, (7.0, 3.0, 5.0)
    x = 0.5 * np.cos(angle) - 0.2 * np.sin(angle)
    y = 0.5 * np.sin(angle) + 0.2 * np.cos(angle)
    eqs = lw.derive(arm, parameters="numeric")
    wrench = np.array([[0, 0, moment, fx, fy, 0]])
    found = eqs.function("inverse_dynamics_with_wrenches")(angle, 0, 0, wrench)
    assert float(found) == pytest.approx(-(moment + x * fy - y * fx), rel=1e-12)


def test_reactions_carry_the_loads() -> None:
    """A weightless rod at rest: its joint holds the wrench at its end."""
    rod = lw.Mechanism(
        gravity=[0, 0, 0],
        bodies={"rod": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={"q": {"type": "revolute", "child": "rod"}},
        frames={"end": {"body": "rod", "origin": [2, 0, 0]}},
        forces={"f": {"type": "wrench", "on": "end", "force": [0, 3, 5]}},
    )
    model = lw.compile(rod)
    r = model.reactions_of_motion([0.0], [0.0], [-6.0])
    np.testing.assert_allclose(r, model.reactions([0.0], [0.0], [-12.0]), atol=1e-12)
    np.testing.assert_allclose(r, [[0, 10, -12, 0, -3, -5]], atol=1e-12)
    free = lw.derive(rod, by="newton_euler", parameters="numeric")
    symbols = [free.symbols[key] for key in ("q", "qd", "qdd")]
    w = ca.Function("w", symbols, [free.extra("joint_wrenches")["q"]])(0, 0, -6)
    np.testing.assert_allclose(np.asarray(w).ravel(), r[0], atol=1e-12)


def test_time_is_an_input_where_forces_depend_on_it() -> None:
    arm = lw.gallery("elbow").model_copy(
        update={"forces": {"f": {"type": "joint", "on": "q2", "force": "3*sin(2*t)"}}}
    )
    model = lw.compile(arm)
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 7, 2))
    t = np.linspace(0, 1, 7)
    bare = lw.compile(lw.gallery("elbow"))
    tau = bare.inverse_dynamics(q, v, a)
    tau[:, 1] -= 3 * np.sin(2 * t)
    np.testing.assert_allclose(model.inverse_dynamics(q, v, a, t), tau, rtol=1e-12)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau, t), a, atol=1e-10)
    assert model.mass_matrix.signature == "(2)->(2,2)"
    assert model.external.signature == "(2),(2),()->(2)"
    rows = {row.by: row for row in lw.compare(arm, ["recursive", "hamilton"], 0.1).rows}
    assert rows["hamilton"].disagreement < 1e-12
    kept = lw.compile(arm, parameters=["m2"])
    np.testing.assert_allclose(kept.inverse_dynamics(q, v, a, t, [1.0]), tau, rtol=1e-12)
