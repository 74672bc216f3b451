"""Mechanisms with loops beside Pinocchio's constraint dynamics."""

from __future__ import annotations

import numpy as np
from tests.pin_loops import PinLoops
from timing import best, repeated

import linkwright as lw
from linkwright.kinematics.assembly import closed_state_near_home

BATCH = 4096
NAMES = ("four-bar", "bricard", "two-arms", "stewart")
PEERS = ("two-arms", "stewart")


def cell(name: str, seconds: float) -> tuple[str, str]:
    """Time a state with the ratio to `pin.constraintDynamics` called from Python; operations."""
    mechanism = lw.gallery(name).model_copy(update={"gravity": [0, 0, "-9.81"]})
    model = lw.compile(mechanism, threads=1)
    rng = np.random.default_rng(0)
    q, qd = closed_state_near_home(
        mechanism, 0.05 * rng.uniform(-1, 1, model.nv), np.ones(model.nv)
    )
    tau = rng.uniform(-1, 1, model.nv)
    rows, out = [np.tile(x, (BATCH, 1)) for x in (q, qd, tau)], np.empty((BATCH, model.nv))

    def ours() -> None:
        model.forward_dynamics(*rows, out=out)

    operations = str(model.operations("forward_dynamics"))
    if name not in PEERS:
        (time,) = best(ours, seconds=seconds)
        return f"{time / BATCH * 1e9:.0f} ns", operations
    peer = PinLoops(mechanism)
    theirs = peer.q(q)
    error = np.abs(model.forward_dynamics(q, qd, tau) - peer.accelerations(theirs, qd, tau)).max()
    if not error < 1e-8:
        raise SystemExit(f"{name}: the results differ by {error:.1e}; nothing was timed")
    time, other = best(ours, repeated(peer.accelerations, theirs, qd, tau), seconds=seconds)
    each = time / BATCH
    return f"{each * 1e9:.0f} ns, **{other / 1000 / each:.0f}×**", operations
