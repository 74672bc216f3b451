"""Short runs that several tests draw."""

from __future__ import annotations

from functools import cache

import linkwright as lw
from linkwright.simulation import Run


@cache
def elbow() -> Run:
    return lw.simulate(lw.gallery("elbow"), t=0.5, q0=[0.3, 0.4], torque=[1.0, -0.5], samples=51)


@cache
def cart_pole() -> Run:
    return lw.simulate(lw.gallery("cart-pole"), t=0.5, q0=[0.1, 0.5], qd0=[1.0, 0.0], samples=51)


@cache
def four_bar() -> Run:
    return lw.simulate(lw.gallery("four-bar"), t=0.4, qd0={"theta1": 2.0}, samples=41)
