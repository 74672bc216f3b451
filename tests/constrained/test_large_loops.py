"""Chains of loops: right by closed forms, sparse, and of a cost that grows as their length."""

from __future__ import annotations

import itertools
import random

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.algebra.elimination_order import count_fill, elimination_order
from linkwright.algebra.linear_algebra import solve_symmetric_matrix
from linkwright.formulations import FORMULATIONS
from tests.references.scissor_chain import ScissorChain

BAR = {"mass": 1, "inertia": {"zz": "1/12"}}


def scissor_chain(stages: int) -> lw.Mechanism:
    """Every bar hangs on the one before it: a tree as deep as it can be, with a loop for each
    stage but one."""
    bodies, joints, loops, assembly = {}, {}, {}, {}
    for i in range(stages):
        bodies[f"A{i}"] = {**BAR, "center": [0.5, 0, 0]}
        bodies[f"B{i}"] = {**BAR, "center": [0, 0, 0]}
        origin = {"parent": f"B{i - 1}", "origin": [0.5, 0, 0]} if i else {}
        joints[f"a{i}"] = {"type": "revolute", "child": f"A{i}", **origin}
        joints[f"m{i}"] = {
            "type": "revolute", "parent": f"A{i}", "origin": [0.5, 0, 0], "child": f"B{i}",
        }  # fmt: skip
        assembly |= {f"a{i}": 1.4 if i else 0.5, f"m{i}": -1.4}
        if i:
            loops[f"tip{i}"] = {
                "type": "revolute", "parent": f"A{i - 1}", "origin": [1, 0, 0], "child": f"B{i}",
                "child_origin": [-0.5, 0, 0],
            }  # fmt: skip
    return lw.Mechanism(
        name=f"scissors-{stages}", gravity=[0, -9.81, 0], bodies=bodies, joints=joints,
        loops=loops, assembly=assembly,
    )  # fmt: skip


def five_bar_row(windows: int, seed: int) -> lw.Mechanism:
    """Cranks on ground, and two couplers between the tips of neighbours: each window adds a degree
    of freedom. Joints and loops come in any order."""
    bodies, joints, loops, assembly = {}, {}, {}, {}
    bar = {**BAR, "center": [0.5, 0, 0]}
    for i in range(windows + 1):
        bodies[f"crank{i}"] = bar
        joints[f"a{i}"] = {"type": "revolute", "child": f"crank{i}", "origin": [i, 0, 0]}
        assembly[f"a{i}"] = 1.5
        for side, here in (("left", i > 0), ("right", i < windows)):
            if here:
                bodies[f"{side}{i}"] = bar
                joints[f"{side[0]}{i}"] = {
                    "type": "revolute", "parent": f"crank{i}", "origin": [1, 0, 0],
                    "child": f"{side}{i}",
                }  # fmt: skip
                assembly[f"{side[0]}{i}"] = 0.5 if side == "left" else -0.5
        if i > 0:
            loops[f"pin{i}"] = {
                "type": "revolute", "parent": f"right{i - 1}", "origin": [1, 0, 0],
                "child": f"left{i}", "child_origin": [1, 0, 0],
            }  # fmt: skip
    shuffled = [list(table.items()) for table in (joints, loops)]
    for table in shuffled:
        random.Random(seed).shuffle(table)
    return lw.Mechanism(
        name=f"five-bars-{windows}", gravity=[0, -9.81, 0], bodies=bodies,
        joints=dict(shuffled[0]), loops=dict(shuffled[1]), assembly=assembly,
    )  # fmt: skip


CHAINS = {
    "four bars": lambda n: lw.gallery(f"n-four-bar-{n}"),
    "five bars": lambda n: five_bar_row(n, 1),
    "scissors": scissor_chain,
}


@pytest.mark.parametrize("chain", CHAINS)
def test_accelerations_take_operations_in_proportion_to_the_number_of_loops(chain: str) -> None:
    short, longer = (
        lw.derive(CHAINS[chain](n), parameters="numeric").function("forward_dynamics")
        for n in (7, 14)
    )
    assert longer.n_instructions() < 2.2 * short.n_instructions()


@pytest.mark.parametrize(
    ("name", "most"),
    [("four-bar", 240), ("3-rrr", 900), ("bricard", 1000), ("two-arms", 3000), ("stewart", 4800)],
)
def test_loops_share_the_derivatives_of_the_bodies_that_close_them(name: str, most: int) -> None:
    # differentiated loop by loop: 1558 for 3-rrr, 7694 for stewart
    assert lw.compile(lw.gallery(name)).operations("forward_dynamics") <= most


@pytest.mark.parametrize("by", [by for by in FORMULATIONS if by != "approximate"])
def test_scissors_move_as_their_closed_form(by: str) -> None:
    """Seven stages for recursion, which then needs no mass matrix; three for all others."""
    stages = 7 if by == "recursive" else 3
    reference, mechanism = ScissorChain(stages), scissor_chain(stages)
    model = lw.compile(lw.derive(mechanism, by=by, parameters="numeric"))
    places = [model.names.qd.index(f"{x}{i}") for i in range(stages) for x in "am"]
    for seed in range(3):
        alpha, beta, *rates = np.random.default_rng(seed).uniform(0.3, 1.2, 4)
        q, qd = (np.zeros(model.nv) for _ in range(2))
        q[places] = reference.coordinates(alpha, beta)
        qd[places] = reference.coordinates(*rates)
        qdd = model.forward_dynamics(q, qd, np.zeros(model.nv))
        wanted = reference.accelerations(np.array([alpha, beta]), np.array(rates))
        np.testing.assert_allclose(qdd[places], wanted, rtol=1e-9, atol=1e-9)


def test_a_loop_depends_on_the_joints_between_its_bodies_alone() -> None:
    J = lw.compile(scissor_chain(5)).constraint_jacobian(lw.assemble(scissor_chain(5)))
    assert (np.count_nonzero(J, axis=1) <= 3).all()


# -- the order of elimination --------------------------------------------------------------


def test_a_star_and_shuffled_chains_are_eliminated_without_fill() -> None:
    star = [set(range(1, 6)), *({0} for _ in range(5))]
    assert count_fill(star, range(6)) == 10
    assert count_fill(star, elimination_order(star)) == 0
    places = list(range(30))
    random.Random(2).shuffle(places)
    chain: list[set[int]] = [set() for _ in places]
    for one, other in itertools.pairwise(places):
        chain[one].add(other)
        chain[other].add(one)
    assert count_fill(chain, elimination_order(chain)) == 0


def test_what_fills_nothing_keeps_its_order() -> None:
    tridiagonal = [{k for k in (i - 1, i + 1) if 0 <= k < 9} for i in range(9)]
    assert elimination_order(tridiagonal) == list(range(9))
    full = [set(range(5)) - {i} for i in range(5)]
    assert elimination_order(full) == list(range(5))


def test_sparse_symmetric_equations_are_solved_as_by_numpy() -> None:
    """An arrow, whose first unknown couples all others, and a full matrix."""
    rng = np.random.default_rng(0)
    arrow = np.diag(rng.uniform(2, 3, 12))
    arrow[0, 1:] = arrow[1:, 0] = rng.uniform(-0.3, 0.3, 11)
    factor = rng.normal(size=(6, 6))
    for A in (arrow, factor @ factor.T):
        pattern = ca.sparsify(ca.DM(A)).sparsity()
        symbol = ca.SX.sym("A", pattern)
        b = rng.normal(size=(len(A), 2))
        x = ca.Function("x", [symbol], [solve_symmetric_matrix(symbol, ca.SX(b))])
        np.testing.assert_allclose(
            x(ca.DM(A)[pattern]), np.linalg.solve(A, b), rtol=1e-12, atol=1e-12
        )
        if A is arrow:
            assert x.n_instructions() < 12 * 20
