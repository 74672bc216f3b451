"""Agrawal's sharp-edged disk: the quantities that he names, at a random instant that his constraint
allows, as our formulations give them and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linkwright as lw
from tests.papers.ours import Instant, components, in_world, numbers_of
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


SPEEDS = {"u1": "dq1*cos(q3) + dq2*sin(q3)", "u2": "-dq1*sin(q3) + dq2*cos(q3)"}
"""(42), (43)"""


def ours(now: Instant, allowed: bool = True) -> Scope:
    """With the rates and the non-holonomic partials of Kane's method in these speeds."""
    state = State(now, allowed)
    eqs = lw.derive(now.arm, by="kane", parameters="numeric", speeds=SPEEDS)
    found: Any = eqs.function("forward_dynamics")(state.q, state.v, np.zeros(4), state.t)
    a = np.asarray(found[0]).ravel()

    def of(name: str, frame: str, *at: np.ndarray) -> np.ndarray:
        return np.asarray(eqs.function(name, frame)(*at))

    center = of("placement", "c2", state.q)
    of_rod = eqs.extra("partial_velocities")["R"]
    partials = [
        in_world(center, *numbers_of((v.real, v.dual), [eqs.symbols["q"]], state.q))
        for v in (of_rod["u1"], of_rod["u2"])
    ]
    moving = {
        frame: (
            of("placement", frame, state.q),
            of("frame_velocity", frame, state.q, state.v).ravel(),
            of("frame_acceleration", frame, state.q, state.v, a).ravel(),
        )
        for frame in "BPD"
    }
    known = state.known(a) | dual_vectors(state, moving, partials)
    return known | (speed_rates(eqs, state) if allowed else {})


def speed_rates(eqs: lw.Equations, state: State) -> dict[str, float]:
    """du1, du2 of the states (q, u) themselves."""
    assert eqs.state is not None
    assert eqs.state.names == ("beta", "q1", "q2", "q3", "u1", "u2")
    inputs = [eqs.state.x, eqs.symbols["tau"]]
    (rates,) = numbers_of([eqs.state.rates()], inputs, [*state.q, *state.u], np.zeros(4))
    np.testing.assert_allclose(rates[:4, 0], state.v, atol=1e-14)
    return {"du1": float(rates[4, 0]), "du2": float(rates[5, 0])}


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
    moving = {frame: (jets[b].x, *_rates(jets[b])) for frame, b in places.items()}
    partials = [motor(move[3].x, _rates(move[3])[0]) for move in moves]
    return state.known(a) | dual_vectors(state, moving, partials)


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


def motor(T: np.ndarray, rates: np.ndarray) -> Value:
    """A dual vector, from (ω, v) of a frame's origin in world axes."""
    return in_world(T, T[:3, :3].T @ rates[:3], T[:3, :3].T @ rates[3:])


def dual_vectors(
    state: State, moving: dict[str, tuple[np.ndarray, ...]], partials: list[Value]
) -> Scope:
    """From placement, velocity and acceleration of the plates and of P and D on the rod, and from
    the partials of the rod."""
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
        T, velocity, acceleration = moving[frame]
        turned = T[:3, :3].T
        known |= components(f"V{frame}", turned @ velocity[:3], turned @ velocity[3:])
        known |= components(f"H{frame}", mass * turned @ velocity[3:], np.zeros(3))
        known |= components(f"F{frame}", mass * turned @ acceleration[3:], np.zeros(3))
        known |= {f"v{r}_{name}": partials[r - 1] for r in (1, 2)}
    return known


OURS = {(NAME, "kane"): ours, (NAME, "without edge"): _at_any_speeds(ours)}
BY_HAND = {(NAME, "kane"): by_hand, (NAME, "without edge"): _at_any_speeds(by_hand)}
"""By mechanism and section of the file."""
