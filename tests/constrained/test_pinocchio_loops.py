"""Loops against Pinocchio's constraint dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.kinematics.assembly import closed_state_near_home
from tests.pin_loops import PinLoops


@pytest.mark.parametrize("name", ["stewart", "two-arms"])
def test_accelerations(name: str) -> None:
    gravity = {"gravity": [0, 0, "-9.81"]}  # which URDF cannot say
    mechanism = lw.gallery(name).model_copy(update=gravity)
    model, peer = lw.compile(mechanism), PinLoops(mechanism)
    rng = np.random.default_rng(0)
    for _ in range(5):
        step, speeds = rng.uniform(-1, 1, (2, model.nv))
        q, qd = closed_state_near_home(mechanism, 0.1 * step, speeds)
        tau = rng.uniform(-10, 10, model.nv)
        wanted = peer.accelerations(peer.q(q), qd, tau)
        found = model.forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(found, wanted, atol=1e-10 * np.abs(wanted).max())
