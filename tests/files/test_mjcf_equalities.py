"""MJCF's equalities as exact constraints: accelerations against multipliers made of MuJoCo's
own mass matrix, bias and Jacobian of the equalities, which is what it would do if it were hard.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.files import load
from tests.files.test_mjcf import Twin

PARTS = """
<body name="left" pos="0.1 0 1" euler="10 20 30">
  <joint name="l1" type="ball" pos="0 0 0.05" damping="0.1"/>
  <geom type="box" size="0.1 0.05 0.2" pos="0 0.02 -0.1"/>
  <body name="left2" pos="0 0.1 -0.3" euler="0 40 0">
    <joint name="l2" axis="1 0 1" ref="20" stiffness="3" springref="10"/>
    <joint name="l3" type="slide" axis="0 1 1" ref="0.1"/>
    <geom type="capsule" size="0.04" fromto="0 0 0 0.2 0 -0.3"/>
    <site name="left_hand" pos="0.2 0 -0.3" euler="30 0 10"/>
  </body>
</body>
<body name="right" pos="0.6 0 1">
  <joint name="r1" axis="0 1 0" ref="-15"/>
  <joint name="r2" axis="1 0 0" pos="0 0 0.02"/>
  <geom type="box" size="0.1 0.05 0.2" pos="0 0 -0.1" euler="0 0 20"/>
  <body name="right2" pos="0 0 -0.4">
    <joint name="r3" axis="0 1 0" range="0 1" limited="true"/>
    <geom type="capsule" size="0.04" fromto="0 0 0 -0.2 0 -0.2"/>
    <site name="right_hand" pos="-0.2 0 -0.2" euler="0 50 0"/>
  </body>
</body>
<body name="box" pos="0.3 0.4 0.6" euler="20 0 40">
  <freejoint name="air"/>
  <geom type="box" size="0.2 0.1 0.05" pos="0.01 0.02 0.03"/>
  <site name="lid" pos="0 0.1 0.05" euler="0 0 30"/>
</body>
"""
EQUALITIES = {
    "connect": '<connect body1="left2" body2="right2" anchor="0.2 0.1 -0.3"/>',
    "connect to the world": '<connect body1="box" anchor="0.2 0.1 0.05"/>',
    "connect sites": '<connect site1="left_hand" site2="lid"/>',
    "connect twice": '<connect body1="left2" body2="box" anchor="0 0 -0.1"/>'
    '<connect body1="box" body2="right2" anchor="0.2 0 0"/>',
    "weld": '<weld body1="right2" body2="box"/>',
    "weld the other way": '<weld body1="box" body2="left2"/>',
    "weld with a pose": '<weld body1="left2" body2="box" relpose="0.1 0.2 -0.3 0.9 0.1 0.3 -0.2"/>',
    "weld with an anchor": '<weld body1="left2" body2="box" anchor="0.1 0 0.2" torquescale="3"/>',
    "weld without torque": '<weld body1="left2" body2="box" anchor="0.1 0 0.2" torquescale="0"/>',
    "weld with both": '<weld body1="box" body2="left2" anchor="0.1 0 0.2" '
    'relpose="0.1 0.2 -0.3 0.9 0.1 0.3 -0.2"/>',
    "weld to the world": '<weld body1="box"/><connect body1="left2" body2="box" anchor="0 0 0"/>',
    "weld sites": '<weld site1="left_hand" site2="lid"/>',
    "joint": '<joint joint1="r1" joint2="l3" polycoef="0.1 2 0.5 -0.3 0.2"/>',
    "joint alone": '<joint joint1="l3" polycoef="0.05 0 0 0 0"/>',
    "joints": '<joint joint1="r1" joint2="r3" polycoef="0 -1.5 0 0 0"/><joint joint1="r2"/>',
    "all": '<connect body1="left2" body2="box" anchor="0 0 -0.1"/>'
    '<weld body1="right2" body2="box"/><joint joint1="r1" joint2="r3"/>',
}


class Closed(Twin):
    """A model with equalities, and what MuJoCo says of these."""

    def __init__(self, equalities: str) -> None:
        text = (
            '<mujoco><option jacobian="dense" gravity="0.3 -0.2 -9.8"/>'
            f"<worldbody>{PARTS}</worldbody><equality>{equalities}</equality></mujoco>"
        )
        super().__init__(text)
        self.mechanism = load(text)

    def equalities(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual and Jacobian, without the rows that a weld with `torquescale` 0 leaves empty."""
        self.d.qpos = q
        self.d.qvel[:] = 0
        mujoco.mj_forward(self.m, self.d)
        J = self.d.efc_J.reshape(-1, self.m.nv)
        rows = (self.d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & J.any(axis=1)
        return self.d.efc_pos[rows], J[rows]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """J̇ v along the motion, by differences of order 4."""
        slopes, h = [], 1e-3
        for share in (-2, -1, 1, 2):
            there = q.copy()
            mujoco.mj_integratePos(self.m, there, v, share * h)
            slopes.append(self.equalities(there)[1] @ v)
        return (slopes[0] - 8 * slopes[1] + 8 * slopes[2] - slopes[3]) / (12 * h)

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """In MuJoCo's speeds, by multipliers."""
        gamma, (_, J) = self.bias(q, v), self.equalities(q)
        self.d.qvel = v
        mujoco.mj_forward(self.m, self.d)
        M = np.zeros((self.m.nv, self.m.nv))
        for row, e in zip(M, np.eye(self.m.nv), strict=True):
            mujoco.mj_mulM(self.m, self.d, row, e)
        forces = tau + self.d.qfrc_passive - self.d.qfrc_bias
        K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        found = np.linalg.lstsq(K, np.append(forces, -gamma), rcond=1e-12)[0]
        return found[: self.m.nv]


def rough(twin: Closed, seed: int) -> dict[str, float]:
    """Values around MuJoCo's reference pose, which is where its equalities close."""
    step = np.random.default_rng(seed).uniform(-0.2, 0.2, twin.m.nv)
    q = twin.m.qpos0.copy()
    mujoco.mj_integratePos(twin.m, q, step, 1.0)
    return dict(zip(twin.model.q_names, q, strict=True))


@pytest.mark.parametrize("name", EQUALITIES)
def test_accelerations_are_those_of_multipliers_made_by_mujoco(name: str) -> None:
    twin = Closed(EQUALITIES[name])
    for seed in range(3):
        q = lw.assemble(twin.mechanism, values=rough(twin, seed))
        residual, J = twin.equalities(q)
        np.testing.assert_allclose(residual, 0, atol=1e-11)
        assert twin.model.constraint_jacobian(q).shape == J.shape
        rng = np.random.default_rng(seed)
        v, tau = rng.uniform(-1, 1, (2, twin.m.nv))
        theirs = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
        to_theirs = np.array([twin.speeds(q, e) for e in np.eye(twin.m.nv)]).T
        ours = np.linalg.solve(to_theirs, theirs)
        np.testing.assert_allclose(twin.model.constraint_velocity(q, ours), 0, atol=1e-10)
        found = twin.model.forward_dynamics(q, ours, to_theirs.T @ tau)
        expected = twin.accelerations(q, theirs, tau)
        np.testing.assert_allclose(twin.rates(q, ours, found), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", EQUALITIES)
def test_rows_span_what_mujoco_forbids(name: str) -> None:
    twin = Closed(EQUALITIES[name])
    q = lw.assemble(twin.mechanism, values=rough(twin, 7))
    to_theirs = np.array([twin.speeds(q, e) for e in np.eye(twin.m.nv)]).T
    both = np.vstack([twin.equalities(q)[1] @ to_theirs, twin.model.constraint_jacobian(q)])
    rank = lw.mobility(twin.mechanism, q).rank
    assert np.linalg.matrix_rank(both, tol=1e-9) == rank


def test_the_reference_pose_is_where_assembly_starts() -> None:
    twin = Closed(EQUALITIES["connect"])
    np.testing.assert_allclose(lw.assemble(twin.mechanism), twin.m.qpos0, atol=1e-9)


ROUNDED = """
<mujoco><worldbody>
  <body name="a"><joint name="a" axis="0 1 0"/><geom size=".02 .02 .2" type="box"/></body>
  <body name="b" pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size=".02 .02 .2" type="box"/>
    <body name="c" pos="0 0 .5"><joint name="c" axis="0 1 0"/>
      <geom size=".02 .02 .2" type="box"/></body></body>
</worldbody><equality>
  <connect name="p" body1="c" body2="a" anchor="-0.9999 0 0"/>
  <connect name="p2" body1="c" body2="a" anchor="-1 0.1 0"/>
</equality></mujoco>
"""


def test_redundant_connects_of_rounded_numbers_assemble() -> None:
    """Two points of one hinge, 1e-4 apart by rounding: one tolerance takes them for one hinge, and
    the parallelogram keeps its degree of freedom; with the default they hold it still."""
    assert lw.compile(load(ROUNDED)).dof == 0
    loose = load(ROUNDED, closure=1e-3)
    assert lw.compile(loose).dof == 1
    run = lw.simulate(loose, 0.02, qd0={"a": 1.0})
    assert run.finished
    assert run.q[-1, 0] == pytest.approx(0.02, rel=0.1)


def test_a_linkage_that_rounding_locks_says_which_closure_frees_it() -> None:
    """A four-bar closed by two connects on one axle; its axis is tilted by 1e-5, so that exactly it
    cannot move."""
    text = """<mujoco><worldbody>
        <body euler="0 -60 0"><joint name="a" axis="0 1 0"/><geom size=".02" pos=".1 0 0"/>
          <body name="k" pos=".2 0 0" euler="0 52.335 0"><joint name="b" axis="0 1 0"/>
            <geom size=".02" pos=".2 0 0"/></body></body>
        <body name="r" pos=".5 0 0" euler="0 -100.2 0"><joint name="c" axis="0 1 TILT"/>
          <geom size=".02" pos=".15 0 0"/></body></worldbody><equality>
        <connect body1="k" body2="r" anchor=".4 .05 0"/>
        <connect body1="k" body2="r" anchor=".4 -.05 0"/></equality></mujoco>"""
    locked = lw.mobility(lw.load(text.replace("TILT", "1e-5")))
    assert locked.dof == 0
    assert "rounded numbers may lock it: closure = 1e-05 leaves 1 degree of freedom" in str(locked)
    freed = lw.load(text.replace("TILT", "1e-5"), closure=1e-5)
    assert lw.mobility(freed).dof == 1
    exact = lw.mobility(lw.load(text.replace("TILT", "0")))
    assert (exact.dof, exact.looser) == (1, None)
