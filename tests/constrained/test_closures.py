"""Every joint type as a loop: a tree cut at a joint of that type moves as before the cut.

The cut tree holds the body behind the joint by a free joint instead, and the joint itself is
a loop. Accelerations of all bodies and what goes through the joint must not change. How the
whole tree moves is said by the plain reference, `references.rigid`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import linkwright as lw
from tests.constrained.free_joint import Motion, free_joint
from tests.random_trees import RandomTree, random_tree
from tests.references import rigid

EQUATIONS = {
    "revolute": 5, "continuous": 5, "prismatic": 5, "helical": 5, "cylindrical": 4,
    "turn-slide": 4, "universal": 4, "planar": 3, "ball": 3, "fixed": 6,
}  # fmt: skip
REVERSIBLE = [kind for kind in EQUATIONS if kind not in ("universal", "turn-slide")]
"""Types that are the same seen from the child."""

OTHERS = ["revolute", "helical", "cylindrical", "universal", "ball", "cardan", "planar"]
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
"""Even ones cut the first joint, which stands on ground, odd ones the second."""

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@dataclass(frozen=True)
class Cut:
    """A chain of three bodies, whole and cut at joint `at`."""

    tree: RandomTree
    mechanism: lw.Mechanism
    model: lw.Model
    at: int
    rotation: str

    def value(self, function: str, *inputs: np.ndarray, frame: tuple[str, ...] = ()) -> np.ndarray:
        """Of a function of the cut tree, not compiled: that would take longer than all the rest."""
        return evaluate(self.mechanism, function, frame)(*inputs)

    def state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, speeds and forces of the whole tree; none on the joint that is cut."""
        q, v, tau = self.tree.state(seed)
        _, (first, last) = self.spans
        tau[first:last] = 0
        return q, v, 3 * tau

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Of the whole tree."""
        bodies, gravity = self.tree.bodies, self.tree.gravity
        bias = rigid.inverse_dynamics(bodies, q, v, np.zeros(len(v)), gravity)
        return np.linalg.solve(rigid.mass_matrix(bodies, q), tau - bias)

    def motion(self, body: int, q: np.ndarray, v: np.ndarray, vd: np.ndarray) -> Motion:
        jet = rigid.motions(self.tree.bodies, q, v, vd)[body]
        (R, Rd, Rdd), (p, pd, pdd) = (
            [m[:3, part] for m in (jet.x, jet.d, jet.dd)] for part in (np.s_[:3], 3)
        )
        turn, turnd = rigid.vee(Rd @ R.T), rigid.vee(Rdd @ R.T + Rd @ Rd.T)
        return Motion(R, p, np.append(turn, pd), np.append(turnd, pdd))

    def moved(self, q: np.ndarray, v: np.ndarray, vd: np.ndarray) -> tuple[np.ndarray, ...]:
        """q, q̇, q̈ of the cut tree in a motion of the whole one."""
        own = free_joint(self.motion(self.at, q, v, vd), self.rotation)
        (a, b), (c, d) = self.spans
        parts = ((q, a, b), (v, c, d), (vd, c, d))
        return tuple(
            np.concatenate([x[:first], free, x[last:]])
            for free, (x, first, last) in zip(own, parts, strict=True)
        )

    def forces(self, tau: np.ndarray) -> np.ndarray:
        _, (first, last) = self.spans
        return np.concatenate([tau[:first], np.zeros(6), tau[last:]])

    @property
    def spans(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where the cut joint's coordinates and speeds begin and end in those of the whole tree."""
        sizes = [[0, *(getattr(b, size) for b in self.tree.bodies)] for size in ("nq", "nv")]
        nq, nv = np.cumsum(sizes, axis=1)
        return (nq[self.at], nq[self.at + 1]), (nv[self.at], nv[self.at + 1])


@cache
def cut(kind: str, seed: int, rotation: str) -> Cut:
    """A chain with a joint of this kind, first or second, and random others."""
    rng, at = np.random.default_rng(seed), seed % 2
    kinds = [str(other) for other in rng.choice(OTHERS, 3)]
    kinds[at] = kind
    tree = random_tree(seed, kinds, [0, 1, 2], losses=False, motors=False)
    joints = dict(tree.mechanism.joints)
    loops = {"cut": joints[f"j{at}"]}
    joints[f"j{at}"] = {"type": "free", "child": f"b{at}", "rotation": rotation}
    mechanism = lw.Mechanism(
        gravity=tree.mechanism.gravity, bodies=tree.mechanism.bodies, joints=joints, loops=loops
    )
    return Cut(tree, mechanism, lw.compile(mechanism), at, rotation)


@cache
def equations(mechanism: lw.Mechanism) -> lw.Equations:
    return lw.derive(mechanism, parameters="numeric")


@cache
def evaluate(
    mechanism: lw.Mechanism, function: str, frame: tuple[str, ...] = ()
) -> Callable[..., np.ndarray]:
    """The first output: some functions return their smallest pivot behind it."""
    made = equations(mechanism).function(function, *frame)
    shape = (-1,) if made.size2_out(0) == 1 else made.size_out(0)
    return lambda *inputs: np.array(made.call(inputs)[0]).reshape(shape)


def each(test: Callable[..., None]) -> Callable[..., None]:
    """For all joint types, seeds, and forms of the free joint."""
    rotations = ["quaternion", "cardan"]
    for name, values in (("rotation", rotations), ("seed", SEEDS), ("kind", EQUATIONS)):
        test = pytest.mark.parametrize(name, values)(test)
    return test


@each
def test_the_cut_chain_moves_as_the_whole_one(kind: str, seed: int, rotation: str) -> None:
    pair = cut(kind, seed, rotation)
    for trial in range(3):
        q, v, tau = pair.state(trial)
        vd = pair.accelerations(q, v, tau)
        *here, expected = pair.moved(q, v, vd)
        found = pair.model.forward_dynamics(*here, pair.forces(tau))
        np.testing.assert_allclose(found, expected, **TIGHT)
        last = pair.value("frame_acceleration", *here, found, frame=("b2",))
        np.testing.assert_allclose(last, pair.motion(2, q, v, vd).acceleration, **TIGHT)


@each
def test_equations_hold_wherever_the_tree_goes(kind: str, seed: int, rotation: str) -> None:
    """In position, speed and acceleration; and J is the residual's derivative, of full rank."""
    pair = cut(kind, seed, rotation)
    for trial in range(3):
        q, v, vd = pair.moved(*pair.tree.state(trial))
        residual, J = pair.value("constraint_residual", q), pair.value("constraint_jacobian", q)
        assert residual.shape == (EQUATIONS[kind],)
        np.testing.assert_allclose(residual, 0, atol=1e-12)
        np.testing.assert_allclose(pair.value("constraint_velocity", q, v), 0, atol=1e-10)
        np.testing.assert_allclose(J @ vd + pair.value("constraint_bias", q, v), 0, **TIGHT)
        for k, step in enumerate(1e-5 * np.eye(len(v))):
            ends = [pair.value("integrate", q, sign * step) for sign in (1, -1)]
            ahead, behind = (pair.value("constraint_residual", end) for end in ends)
            np.testing.assert_allclose((ahead - behind) / 2e-5, J[:, k], atol=1e-8)
    mobility = lw.mobility(pair.mechanism, q)
    assert mobility.equations == mobility.rank == EQUATIONS[kind]
    assert mobility.dof == sum(body.nv for body in pair.tree.bodies)
    assert not mobility.redundant


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", EQUATIONS)
def test_forces_through_the_joint_are_those_of_the_whole_chain(kind: str, seed: int) -> None:
    pair = cut(kind, seed, "quaternion")
    q, v, tau = pair.state(seed)
    vd = pair.accelerations(q, v, tau)
    expected = evaluate(pair.tree.mechanism, "reactions")(q, v, tau)
    *here, _ = pair.moved(q, v, vd)
    found = pair.value("reactions", *here, pair.forces(tau))
    np.testing.assert_allclose(found[pair.at], 0, atol=1e-9)
    np.testing.assert_allclose(found[3], expected[pair.at], **TIGHT)
    others = np.delete(np.arange(3), pair.at)
    np.testing.assert_allclose(found[others], expected[others], **TIGHT)
    # and the multipliers are this wrench at the free joint
    multipliers = pair.value("multipliers", *here, pair.forces(tau))
    through = pair.value("constraint_jacobian", here[0]).T @ multipliers
    moment, force = np.split(expected[pair.at], 2)
    body, base = pair.motion(pair.at, q, v, vd), pair.tree.bodies[pair.at].origin[:3, 3]
    if pair.at:
        first = pair.motion(0, q, v, vd)
        base = first.p + first.R @ base
    wrench = np.array([moment + np.cross(base - body.p, force), force]) @ body.R
    start = pair.spans[1][0]
    np.testing.assert_allclose(through[start : start + 6], wrench.ravel(), **TIGHT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", REVERSIBLE)
def test_parent_and_child_of_a_loop_may_change_places(kind: str, seed: int) -> None:
    pair = cut(kind, seed, "quaternion")
    loop = pair.mechanism.loops["cut"]
    swapped = {key: getattr(loop, key) for key in loop.model_fields_set} | {
        "parent": loop.child, "child": loop.parent,
        "origin": loop.child_origin, "child_origin": loop.origin,
    }  # fmt: skip
    parts = {key: getattr(pair.mechanism, key) for key in ("gravity", "bodies", "joints")}
    other = lw.Mechanism(**parts, loops={"cut": swapped})
    q, v, tau = pair.state(seed)
    *here, expected = pair.moved(q, v, pair.accelerations(q, v, tau))
    np.testing.assert_allclose(evaluate(other, "constraint_residual")(here[0]), 0, atol=1e-12)
    found = lw.compile(other).forward_dynamics(*here, pair.forces(tau))
    np.testing.assert_allclose(found, expected, **TIGHT)
    forces = [
        evaluate(one, "reactions")(*here, pair.forces(tau))[3, 3:]
        for one in (other, pair.mechanism)
    ]
    np.testing.assert_allclose(forces[0], -forces[1], **TIGHT)
