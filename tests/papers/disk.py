"""Agrawal's sharp-edged disk: the quantities that he names, at a random instant that his constraint
allows, as our formulations give them and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linkwright as lw
from tests.papers.ours import Instant, components, in_world
from tests.papers.printed import Value
from tests.references import contacts, rigid, sharp_edged_disk

NAME = "sharp-edged-disk"
Scope = dict[str, float | Value]


class State:
    """Coordinates (beta, q1, q2, q3) and speeds, which the constraint allows or not; no loads but
    weight."""

    def __init__(self, now: Instant, allowed: bool = True) -> None:
        self.x = now.numbers
        rng = np.random.default_rng(now.seed + 3)
        self.q = rng.uniform(0.2, 1.2, 4)
        self.u = rng.uniform(0.2, 1.2, 2)
        self.disk = sharp_edged_disk.Disk(**self.x)
        self.v = sharp_edged_disk.rates(self.disk, self.q, *self.u)
        if not allowed:
            self.v[1:] = rng.uniform(0.2, 1.2, 3)
        self.t = self.q[0] / self.disk.omega

    def known(self, a: np.ndarray) -> Scope:
        """Parameters, coordinates and speeds with their rates; u1 = v·x and u2 = v·y turn with q3."""
        _, dq1, dq2, dq3 = self.v
        S, C = np.sin(self.q[3]), np.cos(self.q[3])
        u1, u2 = self.u
        found = {**self.x, "dq1": dq1, "dq2": dq2, "dq3": dq3, "u1": u1, "u2": u2, "u3": dq3}
        found |= dict(zip(("q1", "q2", "q3"), self.q[1:], strict=True))
        return found | {
            "du1": a[1] * C + a[2] * S + u2 * dq3,
            "du2": -a[1] * S + a[2] * C - u1 * dq3,
        }


def by_formulation(now: Instant, by: str) -> Scope:
    """What every formulation has."""
    state = State(now)
    found = lw.derive(now.arm, by=by, parameters="numeric").function("forward_dynamics")
    qdd, _ = found(state.q, state.v, np.zeros(4), state.t)
    return state.known(np.asarray(qdd).ravel())


def ours(now: Instant, allowed: bool = True) -> Scope:
    state = State(now, allowed)
    eqs = lw.derive(now.arm, by="kane", parameters="numeric")
    found: Any = eqs.function("forward_dynamics")(state.q, state.v, np.zeros(4), state.t)
    a = np.asarray(found[0]).ravel()
    G, k = eqs.function("independent_map")(state.q, state.t)
    followed = np.asarray(G) @ state.v[1:3] + np.asarray(k).ravel()
    assert np.allclose(followed, state.v, atol=1e-12) is allowed
    S, C = np.sin(state.q[3]), np.cos(state.q[3])
    partials = np.asarray(G) @ np.array([[C, -S], [S, C]])  # of q1', q2' by u1, u2

    def of(name: str, frame: str, *at: np.ndarray) -> np.ndarray:
        return np.asarray(eqs.function(name, frame)(*at))

    moving = {
        frame: (
            of("placement", frame, state.q),
            of("frame_velocity", frame, state.q, state.v).ravel(),
            of("frame_acceleration", frame, state.q, state.v, a).ravel(),
            of("jacobian", frame, state.q) @ partials,
        )
        for frame in "BPD"
    }
    return state.known(a) | dual_vectors(state, moving)


def by_hand(now: Instant, allowed: bool = True) -> Scope:
    """Placements as jets in time, accelerations by d'Alembert in closed form."""
    state = State(now, allowed)
    a = sharp_edged_disk.accelerations(state.disk, state.q, state.v, np.zeros(4))
    X, Y, Z = np.eye(3)
    bodies = [
        contacts.link(-1, "revolute", Y),
        contacts.link(0, "prismatic", X),
        contacts.link(1, "prismatic", Y),
        contacts.link(2, "revolute", Z),
        contacts.link(3, "fixed", Z, [state.x["l"], 0, 0]),
    ]
    places = {"B": 0, "P": 3, "D": 4}
    still = sharp_edged_disk.rates(state.disk, state.q, 0.0, 0.0)
    unit = [sharp_edged_disk.rates(state.disk, state.q, *u) - still for u in np.eye(2)]
    moves = [rigid.motions(bodies, state.q, v, np.zeros(4)) for v in unit]
    jets = rigid.motions(bodies, state.q, state.v, a)
    moving = {}
    for frame, b in places.items():
        columns = np.array([_rates(move[b])[0] for move in moves]).T
        moving[frame] = (jets[b].x, *_rates(jets[b]), columns)
    return state.known(a) | dual_vectors(state, moving)


def _rates(jet: rigid.Jet) -> tuple[np.ndarray, np.ndarray]:
    """(ω, v) and (ω', v') of a frame's origin, world axes."""
    R, d, dd = (part[:3, :3] for part in (jet.x, jet.d, jet.dd))
    turning = rigid.vee(dd @ R.T + d @ d.T)
    return (
        np.concatenate([rigid.vee(d @ R.T), jet.d[:3, 3]]),
        np.concatenate([turning, jet.dd[:3, 3]]),
    )


def _at_any_speeds(scope: Callable[[Instant, bool], Scope]) -> Callable[[Instant], Scope]:
    return lambda now: {key: x for key, x in scope(now, False).items() if key[0] != "u"}


def dual_vectors(state: State, moving: dict[str, tuple[np.ndarray, ...]]) -> Scope:
    """From placement, velocity, acceleration and partials of the plates and of P and D on the rod."""

    def motor(T: np.ndarray, rates: np.ndarray) -> Value:
        return in_world(T, T[:3, :3].T @ rates[:3], T[:3, :3].T @ rates[3:])

    (B, vB, *_), (P, vP, *_), (D, vD, *_) = (moving[frame] for frame in "BPD")
    C = B.copy()
    C[:3, 3] = P[:3, 3]
    V_C = motor(C, np.concatenate([vB[:3], vP[3:]]))  # turns with the plates, moves with P
    known: Scope = {"V_OB": motor(B, vB), "V_OC": V_C, "V_PC": V_C}
    known |= {"V_PR": motor(P, vP), "V_D": motor(D, vD), "BV_D": motor(D, vD) - motor(B, vB)}
    for name, T in (("OB", B), ("PC", C), ("PR", P), ("D", D)):
        for i, letter in enumerate("xyz"):
            known[f"{letter}_{name}"] = in_world(T, np.eye(3)[i], np.zeros(3))
    for frame, name, mass in (("P", "PR", state.x["m1"]), ("D", "D", state.x["m2"])):
        T, velocity, acceleration, partials = moving[frame]
        turned = T[:3, :3].T
        known |= components(f"V{frame}", turned @ velocity[:3], turned @ velocity[3:])
        known |= components(f"H{frame}", mass * turned @ velocity[3:], np.zeros(3))
        known |= components(f"F{frame}", mass * turned @ acceleration[3:], np.zeros(3))
        known |= {f"v{r}_{name}": motor(T, partials[:, r - 1]) for r in (1, 2)}
    return known


OURS = {(NAME, "kane"): ours, (NAME, "any speeds"): _at_any_speeds(ours)}
BY_HAND = {(NAME, "kane"): by_hand, (NAME, "any speeds"): _at_any_speeds(by_hand)}
"""By mechanism and section of the file."""
