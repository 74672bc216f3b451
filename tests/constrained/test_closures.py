"""Every joint type as a loop: a tree cut at a joint of that type moves as before the cut.

The cut tree holds the body behind the joint by a free joint instead, and the joint itself is
a loop. Accelerations of all bodies and what goes through the joint must not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import linkwright as lw
from tests.random_trees import RandomTree, random_tree

EQUATIONS = {
    "revolute": 5, "continuous": 5, "prismatic": 5, "helical": 5, "cylindrical": 4,
    "turn-slide": 4, "universal": 4, "planar": 3, "ball": 3, "fixed": 6,
}  # fmt: skip
OTHERS = ["revolute", "helical", "cylindrical", "universal", "ball", "cardan", "planar"]
SEEDS = range(4)


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
        nq, nv = self.sizes
        T = self.whole.placement(self.body)(q)
        velocity = self.whole.frame_velocity(self.body)(q, v)
        free, speeds = _free(T, velocity, self.rotation)
        return np.concatenate([q[: nq[0]], free, q[nq[1] :]]), self.replace(v, speeds)

    def replace(self, v: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """A vector of the whole tree's speeds with others in the place of the cut joint's."""
        _, nv = self.sizes
        return np.concatenate([v[: nv[0]], speeds, v[nv[1] :]])

    @property
    def body(self) -> str:
        return f"b{self.at}"

    @property
    def sizes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where the cut joint's coordinates and speeds begin and end."""
        bodies, k = self.tree.bodies, self.at
        nq, nv = (np.cumsum([0, *(getattr(b, size) for b in bodies)]) for size in ("nq", "nv"))
        return (nq[k], nq[k + 1]), (nv[k], nv[k + 1])


def _free(T: np.ndarray, velocity: np.ndarray, rotation: str) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds of a free joint with a given placement and velocity (world axes)."""
    R, p, w, v = T[:3, :3], T[:3, 3], velocity[:3], velocity[3:]
    if rotation == "quaternion":
        K = np.array([
            [R.trace(), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, 2 * R[0, 0] - R.trace(), R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, 2 * R[1, 1] - R.trace(), R[1, 2] + R[2, 1]],
            [0, 0, 0, 2 * R[2, 2] - R.trace()],
        ])  # fmt: skip
        unit = np.linalg.eigh(K, UPLO="U")[1][:, -1]
        return np.append(p, unit), np.append(R.T @ w, R.T @ v)
    angles = [np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])]
    c, s = np.cos(angles[0]), np.sin(angles[0])
    axes = np.array([[1, 0, 0], [0, c, s], R[:, 2]]).T  # of the three angles, in the world
    return np.append(p, angles), np.append(v, np.linalg.solve(axes, w))


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


each = pytest.mark.parametrize(
    ("kind", "seed", "rotation"),
    [(kind, seed, "quaternion") for kind in EQUATIONS for seed in SEEDS]
    + [(kind, seed, "cardan") for kind in EQUATIONS for seed in SEEDS[:1]],
)


@each
def test_the_cut_chain_moves_as_the_whole_one(kind: str, seed: int, rotation: str) -> None:
    pair = cut(kind, seed, rotation)
    rng = np.random.default_rng(seed)
    for trial in range(3):
        q, v, _ = pair.tree.state(trial)
        (_, _), (first, last) = pair.sizes
        tau = rng.uniform(-5, 5, len(v))
        tau[first:last] = 0
        expected = pair.whole.forward_dynamics(q, v, tau)
        cut_q, cut_v = pair.state(q, v)
        found = pair.cut.forward_dynamics(cut_q, cut_v, pair.replace(tau, np.zeros(6)))
        for body in ("b0", "b1", "b2"):
            np.testing.assert_allclose(
                pair.cut.frame_acceleration(body)(cut_q, cut_v, found),
                pair.whole.frame_acceleration(body)(q, v, expected),
                rtol=1e-9, atol=1e-9,
            )  # fmt: skip
        np.testing.assert_allclose(
            np.delete(found, np.s_[first : first + 6]), np.delete(expected, np.s_[first:last]),
            rtol=1e-9, atol=1e-9,
        )  # fmt: skip


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
def test_multipliers_are_what_goes_through_the_joint(kind: str, seed: int) -> None:
    pair = cut(kind, seed, "quaternion")
    q, v, _ = pair.tree.state(seed)
    (_, _), (first, last) = pair.sizes
    tau = np.random.default_rng(seed).uniform(-5, 5, len(v))
    tau[first:last] = 0
    row = pair.whole.reactions(q, v, pair.whole.forward_dynamics(q, v, tau))[pair.at]
    cut_q, cut_v = pair.state(q, v)
    multipliers = pair.cut.multipliers(cut_q, cut_v, pair.replace(tau, np.zeros(6)))
    found = (pair.cut.constraint_jacobian(cut_q).T @ multipliers)[first : first + 6]
    T = pair.whole.placement(pair.body)(q)
    base = np.eye(4) if pair.at == 0 else pair.whole.placement("b0")(q)
    arm = (base @ pair.tree.bodies[pair.at].origin)[:3, 3] - T[:3, 3]
    moment = row[:3] + np.cross(arm, row[3:])
    expected = np.append(T[:3, :3].T @ moment, T[:3, :3].T @ row[3:])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
