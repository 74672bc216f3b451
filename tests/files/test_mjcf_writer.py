"""Mechanisms written as MJCF: MuJoCo computes our mass matrix and forces, and they read back."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import linkwright as lw
from linkwright.errors import LossWarning
from linkwright.files import load
from linkwright.mechanism import Mechanism, replace_part_fields
from linkwright.writers.mjcf_writer import write_mjcf
from tests.commands import ok
from tests.files.test_mjcf import ARM, Twin
from tests.files.test_mjcf_actuators import EVERY_KIND
from tests.files.test_mjcf_passive import PASSIVE
from tests.files.test_mjcf_poses import KEYED
from tests.random_trees import RandomTree, trees

TEXTS = {"arm": ARM, "actuators": EVERY_KIND, "passive": PASSIVE, "keyed": KEYED}


def written_twin(mechanism: Mechanism) -> Twin:
    """MuJoCo's model of the written file beside our model of the mechanism itself."""
    twin = Twin(write_mjcf(mechanism)[0])
    twin.model = lw.compile(mechanism)
    return twin


def check_mujocos_dynamics(twin: Twin, seed: int) -> None:
    """M by mj_fullM and the forces by mj_inverse, both in our velocities, to 1e-12 of their size."""
    q, v, a = twin.state(seed)
    m, d = twin.m, twin.d
    d.qpos, d.qvel, d.qacc = q, twin.speeds(q, v), twin.rates(q, v, a)
    mujoco.mj_inverse(m, d)
    A = np.array([twin.speeds(q, e) for e in np.eye(m.nv)]).T
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    for ours, theirs in (
        (twin.model.mass_matrix(q), A.T @ full @ A),
        (twin.model.inverse_dynamics(q, v, a), A.T @ d.qfrc_inverse),
    ):
        scale = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, atol=1e-12 * scale)


@pytest.mark.parametrize("name", TEXTS)
def test_files_of_mujoco_survive(name: str) -> None:
    mechanism = load(TEXTS[name])
    text, lost = write_mjcf(mechanism)
    assert all("shapes" in what for what in lost)
    for seed in range(3):
        check_mujocos_dynamics(written_twin(mechanism), seed)
    back = load(text)
    assert list(back.actuators) == list(mechanism.actuators)
    assert [a.activation for a in back.actuators.values()] == [
        a.activation for a in mechanism.actuators.values()
    ]
    ours, theirs = lw.compile(mechanism), lw.compile(back)
    for pose in mechanism.poses:
        np.testing.assert_allclose(
            ours.inverse_dynamics(pose, pose, np.zeros(ours.nv)),
            theirs.inverse_dynamics(pose, pose, np.zeros(ours.nv)),
            atol=1e-12,
        )
        assert mechanism.poses[pose].controls == back.poses[pose].controls


@pytest.mark.parametrize("name", ["elbow", "six-axis", "stanford", "cart-pole", "vukobratovic-arm"])
def test_the_gallery_is_mujocos(name: str) -> None:
    arm = lw.gallery(name).without("friction")
    check_mujocos_dynamics(written_twin(arm), 1)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trees(max_bodies=4))
def test_random_trees_read_back(tree: RandomTree) -> None:
    """All kinds of joints: their motions follow each other in one body of MJCF. Random inertias
    are not those of real bodies, which MuJoCo refuses: the bodies get others."""
    bodies = {
        name: replace_part_fields(body, inertia=[[0.5, 0.05, 0.1], [0.05, 0.6, 0], [0.1, 0, 0.7]])
        for name, body in tree.mechanism.bodies.items()
    }
    mechanism = replace_part_fields(tree.mechanism.without("friction"), bodies=bodies)
    text, lost = write_mjcf(mechanism)
    back = load(text)
    ours, theirs = lw.compile(mechanism), lw.compile(back)
    assume(not any(word in what for what in lost for word in ("pitch", "free", "differ")))
    assert ours.nv == theirs.nv
    rng = np.random.default_rng(0)
    q = ours.integrate(ours.neutral(), rng.uniform(-1, 1, ours.nv))
    v, a = rng.uniform(-1, 1, (2, ours.nv))
    M, tau = ours.mass_matrix(q), ours.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(theirs.mass_matrix(q), M, atol=1e-12 * max(1, np.abs(M).max()))
    np.testing.assert_allclose(
        theirs.inverse_dynamics(q, v, a), tau, atol=1e-12 * max(1, np.abs(tau).max())
    )


@pytest.mark.parametrize("name", ["stewart", "two-arms", "five-bar", "bricard"])
def test_loops_become_equalities(name: str) -> None:
    """Hinges are two connects on one axis, redundant by one row; the same motions remain."""
    mechanism = lw.gallery(name)
    ours, theirs = lw.compile(mechanism), lw.compile(load(write_mjcf(mechanism)[0]))
    assert theirs.dof == ours.dof
    q = ours.home()
    assert np.abs(theirs.constraint_residual(q)).max() < 1e-9
    J, K = ours.constraint_jacobian(q), theirs.constraint_jacobian(q)
    rank = np.linalg.matrix_rank(J, tol=1e-7)
    assert np.linalg.matrix_rank(K, tol=1e-7) == rank
    assert np.linalg.matrix_rank(np.vstack([J, K]), tol=1e-7) == rank


def test_what_is_lost_is_named(tmp_path: Path) -> None:
    _, lost = write_mjcf(lw.gallery("four-bar"))
    assert "the coordinates theta1, theta2, theta3" in lost
    _, lost = write_mjcf(lw.gallery("stick-slip"))
    assert "force spring" in lost
    with pytest.warns(LossWarning):
        lw.save(lw.gallery("stick-slip"), tmp_path / "slip.xml")
    assert load(tmp_path / "slip.xml").name == "stick-slip"


def test_the_command_line_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    ok("export", "six-axis", "--to", "mjcf", "-o", str(file))
    assert mujoco.MjModel.from_xml_path(str(file)).nv == 6
    assert list(lw.export(lw.gallery("elbow"), to="mjcf").files) == ["elbow.xml"]
