"""Every formulation on every mechanism that it can treat: the same accelerations, the same forces."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.formulations import (
    FORMULATIONS,
    formulation_module,
    walker_orin,
)
from linkwright.formulations.recurrent import recurrent_matrices
from tests.random_trees import RandomTree, random_tree, trees

EXACT = [by for by in FORMULATIONS if by not in ("recursive", "approximate", "multipliers")]
GALLERY = [
    *(name for name in lw.gallery() if not (lw.gallery(name).loops or lw.gallery(name).constraints)),
    "chain-3", "chain-9",
]  # fmt: skip
SEEDS = st.integers(0, 2**20)


def value(eqs: lw.Equations, name: str, *inputs: np.ndarray) -> np.ndarray:
    return np.asarray(eqs.function_at_values(name)(*inputs), dtype=float)


def close(one: np.ndarray, other: np.ndarray, what: str, tolerance: float = 1e-9) -> None:
    scale = max(1e-3, np.abs(other).max())
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale, err_msg=what)


def assert_agreement(mechanism: lw.Mechanism, by: str, seed: int) -> None:
    ours, truth = (lw.derive(mechanism, by=b, parameters="numeric") for b in (by, "recursive"))
    rng = np.random.default_rng(seed)
    q = value(truth, "integrate", truth.neutral, rng.uniform(-1.5, 1.5, truth.nv))
    v, a = rng.uniform(-1, 1, (2, truth.nv))
    tau = value(truth, "inverse_dynamics", q, v, a)
    close(value(ours, "inverse_dynamics", q, v, a), tau, "inverse dynamics")
    qdd = value(truth, "forward_dynamics", q, v, tau)
    close(value(ours, "forward_dynamics", q, v, tau), qdd, "forward dynamics")
    for name, inputs in (("mass_matrix", [q]), ("gravity", [q]), ("bias", [q, v])):
        close(value(ours, name, *inputs), value(truth, name, *inputs), name)
    if truth.nq == truth.nv:
        C = value(truth, "coriolis_matrix", q, v)
        close(value(ours, "coriolis_matrix", q, v), C, "coriolis_matrix")


LARGE = ("six-axis", "seven-axis", "stanford", "puma560", "quadruped", "chain-9")


def gallery_by() -> list[object]:
    """All by all; large ones by what makes long expressions are for the slow tests."""
    long = [(name, by) for name in LARGE for by in EXACT if by not in ("lagrange", "newton_euler")]
    return [
        pytest.param(by, name, marks=pytest.mark.slow if (name, by) in long else ())
        for name in GALLERY
        for by in EXACT
    ]


@pytest.mark.parametrize(("by", "name"), gallery_by())
def test_gallery(by: str, name: str) -> None:
    mechanism = lw.gallery(name)
    reason = formulation_module(by).supports(mechanism)
    if reason is not None:
        with pytest.raises(UnsupportedError, match="cannot treat"):
            lw.derive(mechanism, by=by)
        pytest.skip(reason)
    for seed in range(2):
        assert_agreement(mechanism, by, seed)


@pytest.mark.parametrize("by", EXACT)
@settings(max_examples=12, deadline=None)
@given(tree=trees(max_bodies=4), seed=SEEDS)
def test_random_trees(by: str, tree: RandomTree, seed: int) -> None:
    if formulation_module(by).supports(tree.mechanism) is None:
        assert_agreement(tree.mechanism, by, seed)


@pytest.mark.parametrize("by", EXACT)
def test_symbols(by: str) -> None:
    """With all numbers as symbols, and the symbols' values put in: the same."""
    symbolic, numeric = (
        lw.derive(lw.gallery("elbow"), by=by, parameters=p) for p in ("symbolic", "numeric")
    )
    assert set(symbolic.parameters) >= {"m1", "m2", "l1", "lc1", "lc2", "I1", "I2", "g"}
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    for name in ("inverse_dynamics", "forward_dynamics"):
        close(value(symbolic, name, q, v, a), value(numeric, name, q, v, a), name, 1e-13)


@pytest.mark.parametrize("by", EXACT)
def test_compiled(by: str) -> None:
    model, truth = (
        lw.compile(lw.derive(lw.gallery("stanford"), by=by)),
        lw.compile(lw.gallery("stanford")),
    )
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 20, 6))
    for name in ("inverse_dynamics", "forward_dynamics"):
        close(getattr(model, name)(q, v, a), getattr(truth, name)(q, v, a), name, 1e-10)


# -- what each has for itself -------------------------------------------------------------


def test_lagrange_both_ways_are_one() -> None:
    """Christoffel symbols written out, and the sums over all that lies beyond."""
    arm = lw.gallery("puma560")
    q, v = np.random.default_rng(0).uniform(-1, 1, (2, 6))
    results = []
    for algorithm in ("composite", "christoffel"):
        eqs = lw.derive(arm, by="lagrange", parameters="numeric", algorithm=algorithm)
        results.append([value(eqs, name, *x) for name, x in
                        (("mass_matrix", [q]), ("coriolis_matrix", [q, v]), ("gravity", [q]))])  # fmt: skip
    for one, other in zip(*results, strict=True):
        close(one, other, "", 1e-13)


def test_christoffel_symbols_of_a_long_chain() -> None:
    """The papers' algorithm beyond the size where the default changes, against `recursive`."""
    chain = lw.gallery("chain-11")
    q, v = np.random.default_rng(0).uniform(-1, 1, (2, 11))
    eqs = lw.derive(chain, by="lagrange", parameters="numeric", algorithm="christoffel")
    truth = lw.derive(chain, parameters="numeric")
    for name, x in (("mass_matrix", [q]), ("bias", [q, v])):
        close(value(eqs, name, *x), value(truth, name, *x), name, 1e-12)


def test_lagrange_of_long_chains_grows_as_the_square() -> None:
    nodes = []
    for n in (20, 40):
        eqs = lw.derive(lw.gallery(f"chain-{n}"), by="lagrange", parameters="numeric")
        nodes.append(ca.n_nodes(ca.veccat(eqs.M, eqs.C, eqs.g)))
    assert nodes[1] < 4.5 * nodes[0]


def test_christoffel_symbols_of_the_elbow() -> None:
    """Spong and Vidyasagar, (6.4.19): c_211 = c_121 = c_221 = h, c_112 = −h, others 0."""
    eqs = lw.derive(lw.gallery("elbow"), by="lagrange", parameters="numeric")
    symbols = ca.Function("c", [eqs.symbols["q"]], eqs.extra("christoffel"))
    q2 = 0.7
    h = -1.0 * 1.0 * 0.5 * np.sin(q2)
    one, two = (np.asarray(c) for c in symbols([0.3, q2]))
    np.testing.assert_allclose(one, [[0, h], [h, h]], atol=1e-15)
    np.testing.assert_allclose(two, [[-h, 0], [0, 0]], atol=1e-15)


@settings(max_examples=15, deadline=None)
@given(trees(max_bodies=4), SEEDS)
def test_reactions_of_free_bodies_are_those_of_the_recursion(tree: RandomTree, seed: int) -> None:
    q, v, a = tree.state(seed)
    if formulation_module("newton_euler").supports(tree.mechanism):
        return
    free, truth = (
        lw.derive(tree.mechanism, by=by, parameters="numeric")
        for by in ("newton_euler", "recursive")
    )
    symbols = [free.symbols[key] for key in ("q", "qd", "qdd")]
    tau = value(truth, "inverse_dynamics", q, v, a)
    for extra, function, last in (
        ("joint_wrenches", "reactions_of_motion", a),
        ("joint_wrenches", "reactions", tau),
        ("joint_wrenches_in_bodies", "body_reactions", tau),
    ):
        found = free.extra(extra)
        wanted = value(truth, function, q, v, last)
        for name, wrench in found.items():
            one = np.asarray(ca.Function("w", symbols, [wrench])(q, v, a)).ravel()
            close(one, wanted[truth.names.joints.index(name)], name)


def test_free_bodies_of_the_planar_triple_pendulum() -> None:
    """15 equations, 9 accelerations of which 6 remain reactions: 18 states (Bayseç, Kapucu)."""
    from linkwright.formulations.newton_euler import size

    assert size(lw.gallery("chain-3")) == (15, 18)
    assert size(lw.gallery("stanford")) == (66, 78)  # quaternions have four entries


def test_free_bodies_that_may_leave_the_plane() -> None:
    """A kept parameter tilts an axis: the plane of its nominal value is not assumed."""
    body = {"mass": 1, "center": [0.5, 0.1, 0.2], "inertia": [0.1, 0.2, 0.3]}
    arm = lw.Mechanism(
        parameters={"al": 0}, bodies={"a": body, "b": body},
        joints={"q1": {"type": "revolute", "child": "a"},
                "q2": {"type": "revolute", "parent": "a", "child": "b",
                       "origin": {"xyz": [1, 0, 0], "rpy": ["al", 0, 0]}}},
    )  # fmt: skip
    found = [
        np.asarray(
            lw.derive(arm, by=by, parameters=["al"]).function("forward_dynamics")(
                [0.1, 0.2], [0.3, 0.4], [1, 2], [0.5]
            )
        )
        for by in ("newton_euler", "recursive")
    ]
    close(*found, "forward dynamics")


def test_partial_velocities_follow_the_coordinates() -> None:
    """With absolute angles a link turns by its own angle alone; a slide is ε times its turn."""
    pendulum = lw.derive(lw.gallery("triple-pendulum"), by="kane", parameters="numeric")
    turns = pendulum.extra("partial_velocities")["link3"]
    at = ca.Function("w", [pendulum.symbols["q"]], [turns[f"theta{k}"].real for k in (1, 2, 3)])
    for omega, wanted in zip(at([0.3, 0.5, -0.2]), (0, 0, 1), strict=True):
        np.testing.assert_allclose(np.asarray(omega).ravel(), [0, 0, wanted], atol=1e-14)
    tree = random_tree(3, ["cylindrical"], [0])
    partials = lw.derive(tree.mechanism, by="kane").extra("partial_velocities")["b0"]
    assert list(partials) == ["j0.phi", "j0.x"]


def test_canonical_equations() -> None:
    """p = M q̇, H = T + V here, and (q, p) moves as (q, q̇) does."""
    eqs = lw.derive(lw.gallery("stanford"), by="hamilton", parameters="numeric")
    state = eqs.state
    assert state is not None
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    Q, V, TAU = (eqs.symbols[key] for key in ("q", "qd", "tau"))
    p = np.asarray(ca.Function("p", [Q, V], [eqs.extra("momenta")])(q, v)).ravel()
    close(p, value(eqs, "mass_matrix", q) @ v, "momenta", 1e-13)
    x = np.asarray(ca.Function("x", [Q, V], [state.from_motion()])(q, v)).ravel()
    close(x, np.concatenate([q, p]), "state", 1e-13)
    H = float(ca.Function("H", [state.x], [eqs.extra("hamiltonian")])(x))
    energy = value(eqs, "kinetic_energy", q, v) + value(eqs, "potential_energy", q)
    assert pytest.approx(energy.item(), rel=1e-12) == H
    rates = np.asarray(ca.Function("F", [state.x, TAU], [state.rates()])(x, tau)).ravel()
    close(rates[:6], v, "q̇ = ∂H/∂p", 1e-12)
    M, h = value(eqs, "mass_matrix", q), 1e-6
    M_rate = (value(eqs, "mass_matrix", q + h * v) - value(eqs, "mass_matrix", q - h * v)) / (2 * h)
    qdd = value(eqs, "forward_dynamics", q, v, tau).ravel()
    close(rates[6:], M @ qdd + M_rate @ v, "ṗ = d(M q̇)/dt", 1e-7)


def test_influence_power_array_has_the_christoffel_symbols() -> None:
    arm = lw.gallery("stanford")
    by_influence, by_lagrange = (
        lw.derive(arm, by=by, parameters="numeric") for by in ("influence", "lagrange")
    )
    q = np.random.default_rng(0).uniform(-1, 1, 6)
    planes = ca.Function("P", [by_influence.symbols["q"]], by_influence.extra("inertia_power"))(q)
    symbols = ca.Function("c", [by_lagrange.symbols["q"]], by_lagrange.extra("christoffel"))(q)
    for P, c in zip(planes, symbols, strict=True):
        close((np.asarray(P) + np.asarray(P).T) / 2, np.asarray(c), "P*", 1e-12)


def test_influence_coefficients_are_first_and_second_derivatives() -> None:
    arm = lw.gallery("stanford")
    eqs = lw.derive(arm, by="influence", parameters="numeric")
    turn, point = eqs.extra("coefficients")["link6"]
    (T,) = eqs.expressions("placement", "link6")
    Q = eqs.symbols["q"]
    q = np.random.default_rng(0).uniform(-1, 1, 6)
    for k in range(3):
        G = ca.jacobian(T[k, 3], Q)
        both = ca.Function("both", [Q], [point.G[k, :], G, point.H[k], ca.jacobian(G, Q)])
        one, other, second, hessian = (np.asarray(x) for x in both(q))
        close(one, other, "G", 1e-13)
        close(second, hessian, "H", 1e-12)
    J, v = np.asarray(eqs.function("jacobian", "link6")(q)), np.ones(6)
    rotation = ca.Function("r", [Q], [turn.G, *turn.H])(q)
    close(np.asarray(rotation[0]), J[:3], "G of rotation", 1e-13)
    bias = np.asarray(eqs.function("frame_bias_acceleration", "link6")(q, v)).ravel()
    close(np.array([v @ np.asarray(H) @ v for H in rotation[1:]]), bias[:3], "H of rotation", 1e-12)


def test_recurrent_at_one_instant() -> None:
    """The paper's procedure: W and V as numbers, accelerations from drives, drives from them."""
    arm = lw.gallery("stanford").without("friction", "damping")
    truth = lw.derive(arm, parameters="numeric")
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    W, V = recurrent_matrices(arm, q, v)
    P = value(truth, "inverse_dynamics", q, v, a).ravel()
    close(W @ a - V, P, "drives", 1e-12)
    close(np.linalg.solve(W, P + V), a, "accelerations", 1e-11)
    damped = lw.gallery("stanford")
    joints = {
        name: joint.model_copy(update={"damping": 2}) for name, joint in damped.joints.items()
    }
    damped = damped.model_copy(update={"joints": joints})
    W, V = recurrent_matrices(damped, q, v)
    truth = lw.derive(damped, parameters="numeric")
    close(W @ a - V, value(truth, "inverse_dynamics", q, v, a).ravel(), "damped", 1e-12)


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_walker_and_orins_ways_to_the_accelerations(method: int) -> None:
    eqs = lw.derive(lw.gallery("stanford"), parameters="numeric")
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    wanted = value(eqs, "forward_dynamics", q, v, tau).ravel()
    close(
        walker_orin.walker_orin_accelerations(eqs, q, v, tau, method), wanted, "accelerations", 1e-8
    )
    with pytest.raises(UnsupportedError, match="unknown method 5"):
        walker_orin.walker_orin_accelerations(eqs, q, v, tau, 5)


def test_kane_with_cylindrical_joints_needs_one_product_for_both_freedoms() -> None:
    """One product for two equations. What it saves is little here: CasADi drops the zeros of a
    slide's partial as soon as they are written."""
    tree = random_tree(3, ["cylindrical"] * 3, [0, 1, 2])
    counts = []
    for shortcut in (False, True):
        eqs = lw.derive(tree.mechanism, by="kane", parameters="numeric", shortcut=shortcut)
        counts.append(ca.n_nodes(eqs.expressions("inverse_dynamics")[0]))
        q, v, a = tree.state(1)
        truth = lw.derive(tree.mechanism, parameters="numeric")
        close(
            value(eqs, "inverse_dynamics", q, v, a), value(truth, "inverse_dynamics", q, v, a), ""
        )
    assert counts[1] < counts[0], counts


def test_kane_with_speeds_of_the_users_choice() -> None:
    """u = Y q̇ + Z of the elbow: the speed of the tip's link, and one that depends on q."""
    arm = lw.gallery("elbow")
    eqs = lw.derive(arm, by="kane", parameters="numeric",
                    speeds={"u1": "dq1 + dq2", "u2": "l1*cos(q1)*dq1 - dq2 + 0.3"})  # fmt: skip
    state = eqs.state
    assert state is not None
    assert state.names == ("q1", "q2", "u1", "u2")
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    Q, V, TAU = (eqs.symbols[key] for key in ("q", "qd", "tau"))
    x = np.asarray(ca.Function("x", [Q, V], [state.from_motion()])(q, v)).ravel()
    np.testing.assert_allclose(x[2:], [v.sum(), np.cos(q[0]) * v[0] - v[1] + 0.3], rtol=1e-14)
    rates = np.asarray(ca.Function("F", [state.x, TAU], [state.rates()])(x, tau)).ravel()
    qdd = value(eqs, "forward_dynamics", q, v, tau).ravel()
    np.testing.assert_allclose(rates[:2], v, rtol=1e-12)
    expected = [qdd.sum(), np.cos(q[0]) * qdd[0] - np.sin(q[0]) * v[0] ** 2 - qdd[1]]
    np.testing.assert_allclose(rates[2:], expected, rtol=1e-11)
    for few in ({"u1": "dq1"}, "u1 = dq1; u2 = 2*dq1"):
        with pytest.raises(UnsupportedError, match="1 independent generalized speed for 2 degrees"):
            lw.derive(arm, by="kane", speeds=few)
    with pytest.raises(UnsupportedError, match="linear in the velocities"):
        lw.derive(arm, by="kane", speeds={"u1": "dq1^2", "u2": "dq2"})


@pytest.mark.slow
def test_comparison() -> None:
    found = lw.compare(lw.gallery("chain-3"), duration=0.2)
    rows = {row.by: row for row in found.rows}
    assert [*rows, *found.refused] == list(FORMULATIONS)
    assert "no loops" in found.refused["multipliers"]
    assert (rows["newton_euler"].equations, rows["newton_euler"].states) == (15, 18)
    assert (rows["lagrange"].states, rows["hamilton"].states) == (6, 6)
    assert all(row.disagreement < 1e-9 for by, row in rows.items() if by != "approximate")
    assert rows["approximate"].disagreement < 0.05
    assert "newton_euler" in str(found)
    some = lw.compare(lw.gallery("quadruped"), by=["recursive", "lagrange"], duration=0.01)
    assert "are not rates of coordinates" in some.refused["lagrange"]


def test_comparison_refuses_what_cannot_move_or_begin() -> None:
    still = lw.gallery("elbow").reduced({"q1": 0, "q2": 0})
    with pytest.raises(UnsupportedError, match="cannot move"):
        lw.compare(still)
    away = lw.gallery("elbow").model_copy(
        update={"coordinates": {"names": ["x", "y"], "joints": {"q1": "log(x - 0.3)", "q2": "y"}}}
    )
    with pytest.raises(LinkwrightError, match="rates are not finite"):
        lw.compare(away, ["lagrange"], 0.01)
