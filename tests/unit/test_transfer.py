"""Transfer of models to other coordinates, against the worked example of the reference."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.formulations.influence.coordinate_transfer import (
    InfluenceDynamics,
    dependent_coefficients,
    dynamics_at_instant,
    frame_influence,
    invert_coefficients,
    transfer_dynamics,
)

ELBOW = lw.Mechanism(
    name="elbow of point masses",
    gravity=[0, 0, 0],
    bodies={"one": {"mass": 1, "center": [1, 0, 0]}, "two": {"mass": 1, "center": [1, 0, 0]}},
    joints={
        "q1": {"type": "revolute", "child": "one"},
        "q2": {"type": "revolute", "parent": "one", "child": "two", "origin": [1, 0, 0]},
    },
    frames={"tip": {"body": "two", "origin": [1, 0, 0]}},
)
PHI, RATE, ACCELERATION = np.array([0.3, 0.9]), np.array([1.0, -2.0]), np.array([0.5, 0.7])


def at_instant(phi: np.ndarray) -> tuple[InfluenceDynamics, np.ndarray, np.ndarray]:
    """The model in φ, and G, H of the tip's x and y."""
    eqs = lw.derive(ELBOW, by="influence", parameters="numeric")
    return dynamics_at_instant(eqs, phi, RATE), *frame_influence(eqs, "tip", phi, rows=(3, 4))


def test_from_six_joints_to_the_twist_of_the_hand() -> None:
    """Wrench at the hand = J⁻ᵀ τ, with weight, damping and a spring; symbols at their values."""
    arm = lw.gallery("stanford")
    joints = {
        n: j.model_copy(update={"damping": 0.4, "stiffness": 3}) for n, j in arm.joints.items()
    }
    arm = arm.model_copy(update={"joints": joints})
    eqs = lw.derive(arm, by="influence")
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, 6))
    G, H = frame_influence(eqs, "link6", q, rows=range(6))
    hand = transfer_dynamics(dynamics_at_instant(eqs, q, v), invert_coefficients(G, H))
    twist, rate = G @ v, G @ a + np.einsum("pmn,m,n->p", H, v, v)
    tau = np.asarray(eqs.function_at_values("inverse_dynamics")(q, v, a)).ravel()
    wrench = np.linalg.solve(G.T, tau)
    np.testing.assert_allclose(
        hand.generalized_force(twist, rate), wrench, atol=1e-9 * abs(wrench).max()
    )


def test_the_worked_example() -> None:
    dynamics, G, H = at_instant(PHI)
    np.testing.assert_allclose(
        dynamics.inertia, [[4.243219937, 1.621609968], [1.621609968, 1]], atol=1e-9
    )
    motion = invert_coefficients(G, H)
    np.testing.assert_allclose(
        motion.G, [[0.462588161, 1.189846888], [-1.682176659, -1.567109820]], atol=1e-9
    )
    hand = transfer_dynamics(dynamics, motion)
    np.testing.assert_allclose(
        hand.inertia, [[1.213987807, 0.550409084], [0.550409084, 2.415735618]], atol=1e-9
    )
    planes = [
        [[0.956923460, 0.473760286], [0, 0.603749050]],
        [[2.461352229, 1.218583287], [0, 1.552934098]],
    ]
    for plane, wanted in zip(hand.power, planes, strict=True):
        symmetric = (plane + plane.T) / 2
        np.testing.assert_allclose(np.triu(symmetric), wanted, atol=1e-8)
    rate = G @ RATE
    acceleration = G @ ACCELERATION + np.einsum("pmn,m,n->p", H, RATE, RATE)
    np.testing.assert_allclose(rate, [0.636518879, 0.592978735], atol=1e-9)
    np.testing.assert_allclose(acceleration, [-2.583901250, -0.315061743], atol=1e-9)
    np.testing.assert_allclose(
        dynamics.generalized_force(RATE, ACCELERATION), [3.256736946, 2.294131894], atol=1e-9
    )
    np.testing.assert_allclose(
        hand.generalized_force(rate, acceleration), [-2.352607170, 0.279861701], atol=1e-8
    )


def test_there_and_back() -> None:
    dynamics, G, H = at_instant(PHI)
    motion = invert_coefficients(G, H)
    again = invert_coefficients(motion.G, motion.H)
    np.testing.assert_allclose(again.G, G, atol=1e-12)
    np.testing.assert_allclose(again.H, H, atol=1e-11)
    back = transfer_dynamics(transfer_dynamics(dynamics, motion), again)
    np.testing.assert_allclose(back.inertia, dynamics.inertia, atol=1e-11)
    one, other = (
        back.generalized_force(RATE, ACCELERATION),
        dynamics.generalized_force(RATE, ACCELERATION),
    )
    np.testing.assert_allclose(one, other, atol=1e-10)
    itself = dependent_coefficients(G, H, motion)
    np.testing.assert_allclose(itself.G, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(itself.H, 0, atol=1e-11)


def test_singular_configurations_name_the_direction_that_is_lost() -> None:
    _, G, H = at_instant(np.array([0.0, 0.0]))
    with pytest.raises(UnsupportedError, match=r"moves along \[1\.0, (-)?0\.0\]"):
        invert_coefficients(G, H)
    with pytest.raises(UnsupportedError, match="1 coordinates cannot take the place of 2"):
        invert_coefficients(G[:1], H[:1])


# -- springs ----------------------------------------------------------------------------------

STIFF, FREE, HOOK = 200.0, 0.3, np.array([0.5, 0.7, 0.2])


def hooked(arm: lw.Mechanism, frame: str, hook: np.ndarray = HOOK) -> lw.Mechanism:
    """The arm with a spring between a frame and a point of ground."""
    spring = {
        "type": "spring", "between": ["hook", frame], "stiffness": STIFF, "damping": 2,
        "length": FREE,
    }  # fmt: skip
    frames = {**arm.frames, "hook": {"body": "ground", "origin": hook.tolist()}}
    return arm.model_copy(update={"frames": frames, "forces": {"spring": spring}})


def hessian_of_a_hooked_point(x: np.ndarray, hook: np.ndarray) -> np.ndarray:
    """Of ½ k (L − l0)², L = |x − hook|: k ((1 − l0/L) 1 + l0/L n nᵀ)."""
    apart = x - hook
    L = np.linalg.norm(apart)
    n = apart / L
    found: np.ndarray = STIFF * ((1 - FREE / L) * np.eye(len(x)) + FREE / L * np.outer(n, n))
    return found


@pytest.mark.parametrize("q", [[0.3, 0.8], [-2.0, 1.1], [1.4, -0.6]])
def test_stiffness_of_a_spring_at_the_tip_of_the_elbow(q: list[float]) -> None:
    """In the tip's x and y the spring's energy does not know of the arm."""
    hook = HOOK * [1, 1, 0]
    eqs = lw.derive(hooked(lw.gallery("elbow"), "tool", hook), by="influence")
    hand = transfer_dynamics(
        dynamics_at_instant(eqs, q, [0, 0]),
        invert_coefficients(*frame_influence(eqs, "tool", q, (3, 4))),
    )
    T = np.asarray(eqs.function_at_values("placement", "tool")(q))
    wanted = hessian_of_a_hooked_point(T[:2, 3], hook[:2])
    np.testing.assert_allclose(hand.stiffness, wanted, rtol=1e-10, atol=1e-9)


def test_stiffness_of_a_spring_at_the_hand_of_a_spatial_arm() -> None:
    arm = lw.gallery("stanford-rrp")
    name = list(arm.bodies)[-1]
    arm = arm.model_copy(
        update={"frames": {**arm.frames, "hand": {"body": name, "origin": ["0.1", "0.2", "0.3"]}}}
    )
    eqs = lw.derive(hooked(arm, "hand"), by="influence", parameters="numeric")
    q = [0.4, 0.9, 0.7]
    hand = transfer_dynamics(
        dynamics_at_instant(eqs, q, [0.1, 0.2, 0.3]),
        invert_coefficients(*frame_influence(eqs, "hand", q)),
    )
    T = np.asarray(eqs.function("placement", "hand")(q))
    wanted = hessian_of_a_hooked_point(T[:3, 3], HOOK)
    np.testing.assert_allclose(hand.stiffness, wanted, rtol=1e-10, atol=1e-9)


def test_stiffness_of_springs_in_the_joints() -> None:
    """The elbow's own springs in x and y of its tip, by inverse kinematics in 40 digits."""
    arm = lw.gallery("elbow")
    joints = {
        name: joint.model_copy(update={"stiffness": k, "rest": rest})
        for (name, joint), k, rest in zip(arm.joints.items(), (30, 50), (0.1, -0.4), strict=True)
    }
    eqs = lw.derive(arm.model_copy(update={"joints": joints}), by="influence")
    q = [0.3, 0.8]

    def energy(x: mp.mpf, y: mp.mpf) -> mp.mpf:
        second = mp.acos((x**2 + y**2 - 2) / 2)
        first = mp.atan2(y, x) - mp.atan2(mp.sin(second), 1 + mp.cos(second))
        return 15 * (first - mp.mpf("0.1")) ** 2 + 25 * (second + mp.mpf("0.4")) ** 2

    with mp.workdps(40):
        a, b = mp.mpf(q[0]), mp.mpf(q[0]) + mp.mpf(q[1])
        at = (mp.cos(a) + mp.cos(b), mp.sin(a) + mp.sin(b))
        xx, xy, yy = (float(mp.diff(energy, at, n)) for n in ((2, 0), (1, 1), (0, 2)))
    hand = transfer_dynamics(
        dynamics_at_instant(eqs, q, [0, 0]),
        invert_coefficients(*frame_influence(eqs, "tool", q, (3, 4))),
    )
    np.testing.assert_allclose(hand.stiffness, [[xx, xy], [xy, yy]], rtol=1e-10)
    back = invert_coefficients(*frame_influence(eqs, "tool", q, (3, 4)))
    again = transfer_dynamics(hand, invert_coefficients(back.G, back.H))
    np.testing.assert_allclose(again.stiffness, np.diag([30, 50]), atol=1e-9)
