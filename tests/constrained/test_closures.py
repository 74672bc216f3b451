"""Every joint type as a loop: a tree cut at a joint of that type moves as before the cut.

The cut tree holds the body behind the joint by a free joint instead, and the joint itself is
a loop. Accelerations of all bodies and what goes through the joint must not change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import linkwright as lw
from tests.constrained.free_joint import free_coordinates
from tests.random_trees import RandomTree, random_tree

EQUATIONS = {
    "revolute": 5, "continuous": 5, "prismatic": 5, "helical": 5, "cylindrical": 4,
    "turn-slide": 4, "universal": 4, "planar": 3, "ball": 3, "fixed": 6,
}  # fmt: skip
TIGHT = {"rtol": 1e-9, "atol": 1e-9}
OTHERS = ["revolute", "helical", "cylindrical", "universal", "ball", "cardan", "planar"]
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
"""Even ones cut the first joint, which stands on ground, odd ones the second."""

REVERSIBLE = [kind for kind in EQUATIONS if kind not in ("universal", "turn-slide")]
"""Types that are the same seen from the child."""


@dataclass(frozen=True)
class Cut:
    """A chain of three bodies, whole and cut at joint `at`, each compiled."""

    tree: RandomTree
    whole: lw.Model
    mechanism: lw.Mechanism
    cut: lw.Model
    at: int
    rotation: str

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cut tree's coordinates and speeds of a state of the whole one."""
        nq, _ = self.sizes
        T = self.whole.placement(self.body)(q)
        velocity = self.whole.frame_velocity(self.body)(q, v)
        free, speeds = free_coordinates(T, velocity, self.rotation)
        return np.concatenate([q[: nq[0]], free, q[nq[1] :]]), self.replace(v, speeds)

    def replace(self, v: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """A vector of the whole tree's speeds with others in the place of the cut joint's."""
        _, nv = self.sizes
        return np.concatenate([v[: nv[0]], speeds, v[nv[1] :]])

    def loaded(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A state of the whole tree, and forces on its joints but the one that is cut."""
        q, v, tau = self.tree.state(seed)
        _, (first, last) = self.sizes
        tau[first:last] = 0
        return q, v, 3 * tau

    @property
    def first(self) -> int:
        return self.sizes[1][0]

    @property
    def body(self) -> str:
        return f"b{self.at}"

    @property
    def sizes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where the cut joint's coordinates and speeds begin and end."""
        bodies, k = self.tree.bodies, self.at
        nq, nv = (np.cumsum([0, *(getattr(b, size) for b in bodies)]) for size in ("nq", "nv"))
        return (nq[k], nq[k + 1]), (nv[k], nv[k + 1])


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
    return Cut(tree, lw.compile(tree.mechanism), mechanism, lw.compile(mechanism), at, rotation)


def each(test: Callable[..., None]) -> Callable[..., None]:
    """For all joint types, seeds, and forms of the free joint."""
    for name, values in (
        ("rotation", ["quaternion", "cardan"]),
        ("seed", SEEDS),
        ("kind", EQUATIONS),
    ):
        test = pytest.mark.parametrize(name, values)(test)
    return test


@each
def test_the_cut_chain_moves_as_the_whole_one(kind: str, seed: int, rotation: str) -> None:
    pair = cut(kind, seed, rotation)
    for trial in range(3):
        q, v, tau = pair.loaded(trial)
        here = pair.state(q, v)
        expected = pair.whole.forward_dynamics(q, v, tau)
        found = pair.cut.forward_dynamics(*here, pair.replace(tau, np.zeros(6)))
        for body in ("b0", "b1", "b2"):
            np.testing.assert_allclose(
                pair.cut.frame_acceleration(body)(*here, found),
                pair.whole.frame_acceleration(body)(q, v, expected),
                **TIGHT,
            )
        free = found[pair.first : pair.first + 6]
        np.testing.assert_allclose(found, pair.replace(expected, free), **TIGHT)


@each
def test_equations_hold_wherever_the_tree_goes(kind: str, seed: int, rotation: str) -> None:
    pair = cut(kind, seed, rotation)
    for trial in range(3):
        q, v, _ = pair.tree.state(trial)
        cut_q, cut_v = pair.state(q, v)
        residual = pair.cut.constraint_residual(cut_q)
        assert residual.shape == (EQUATIONS[kind],)
        np.testing.assert_allclose(residual, 0, atol=1e-12)
        np.testing.assert_allclose(pair.cut.constraint_velocity(cut_q, cut_v), 0, atol=1e-11)
    mobility = lw.mobility(pair.mechanism, cut_q)
    assert mobility.equations == mobility.rank == EQUATIONS[kind]
    assert mobility.freedom == pair.whole.nv
    assert not mobility.redundant


@each
def test_equations_are_broken_by_any_other_motion(kind: str, seed: int, rotation: str) -> None:
    """J has no more null vectors than the tree has freedoms, and is the residual's derivative."""
    pair = cut(kind, seed, rotation)
    q, v, _ = pair.tree.state(5)
    cut_q, _ = pair.state(q, v)
    J = pair.cut.constraint_jacobian(cut_q)
    assert np.linalg.matrix_rank(J, tol=1e-8) == EQUATIONS[kind]
    steps = 1e-5 * np.eye(pair.cut.nv)
    ahead, behind = (pair.cut.integrate(cut_q, sign * steps) for sign in (1, -1))
    residual = pair.cut.constraint_residual
    np.testing.assert_allclose((residual(ahead) - residual(behind)).T / 2e-5, J, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", EQUATIONS)
def test_forces_through_the_joint_are_those_of_the_whole_chain(kind: str, seed: int) -> None:
    pair = cut(kind, seed, "quaternion")
    q, v, tau = pair.loaded(seed)
    expected = pair.whole.reactions(q, v, pair.whole.forward_dynamics(q, v, tau))
    loads = (*pair.state(q, v), pair.replace(tau, np.zeros(6)))
    found = pair.cut.reactions(*loads)
    np.testing.assert_allclose(found[pair.at], 0, atol=1e-9)
    np.testing.assert_allclose(found[3], expected[pair.at], **TIGHT)
    others = np.delete(np.arange(3), pair.at)
    np.testing.assert_allclose(found[others], expected[others], **TIGHT)
    # and the multipliers are this wrench at the free joint
    through = pair.cut.constraint_jacobian(loads[0]).T @ pair.cut.multipliers(*loads)
    moment, force = np.split(expected[pair.at], 2)
    T = pair.whole.placement(pair.body)(q)
    base = np.eye(4) if pair.at == 0 else pair.whole.placement("b0")(q)
    arm = (base @ pair.tree.bodies[pair.at].origin)[:3, 3] - T[:3, 3]
    wrench = np.array([moment + np.cross(arm, force), force]) @ T[:3, :3]
    np.testing.assert_allclose(through[pair.first :][:6], wrench.ravel(), **TIGHT)


@pytest.mark.parametrize("seed", SEEDS[:2])
@pytest.mark.parametrize("kind", REVERSIBLE)
def test_parent_and_child_of_a_loop_may_change_places(kind: str, seed: int) -> None:
    pair = cut(kind, seed, "quaternion")
    loop = pair.mechanism.loops["cut"]
    swapped = {key: getattr(loop, key) for key in loop.model_fields_set} | {
        "parent": loop.child, "child": loop.parent,
        "origin": loop.child_origin, "child_origin": loop.origin,
    }  # fmt: skip
    other = lw.compile(
        lw.Mechanism(
            gravity=pair.mechanism.gravity, bodies=pair.mechanism.bodies,
            joints=pair.mechanism.joints, loops={"cut": swapped},
        )
    )  # fmt: skip
    q, v, tau = pair.loaded(seed)
    loads = (*pair.state(q, v), pair.replace(tau, np.zeros(6)))
    np.testing.assert_allclose(other.constraint_residual(loads[0]), 0, atol=1e-12)
    found, expected = other.forward_dynamics(*loads), pair.cut.forward_dynamics(*loads)
    np.testing.assert_allclose(found, expected, **TIGHT)
    forces = [one.reactions(*loads)[3, 3:] for one in (other, pair.cut)]
    np.testing.assert_allclose(forces[0], -forces[1], **TIGHT)
