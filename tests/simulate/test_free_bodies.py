"""Newton's and Euler's equations in the states of free bodies, as paper 001 integrates them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.formulations.newton_euler import size

REFERENCE = {
    10: (-1.712889431890, -1.734778857568, -2.430988777792),
    17: (-3.302345005463, -3.066737664237, -2.709559652438),
}


def test_triple_pendulum_in_eighteen_states() -> None:
    """Bobs of hardly any inertia swing as the reference's; links keep their lengths, though every
    bob moves by itself."""
    arm = lw.gallery("triple-pendulum").with_parameters(I1=1e-7, I2=1e-7, I3=1e-7)
    eqs = lw.derive(arm, by="newton_euler", parameters="numeric")
    assert eqs.state is not None
    assert len(eqs.state.names) == 18 == size(arm)[1]
    start = ca.Function("x", [eqs.symbols["q"], eqs.symbols["qd"]], [eqs.state.from_motion()])
    rates = ca.Function("f", [eqs.state.x, eqs.symbols["tau"]], [eqs.state.rates()])
    found = solve_ivp(
        lambda t, x: np.asarray(rates(x, 0)).ravel(), (0, 1.7),
        np.asarray(start([0, 0, 0], [0, 0, 0])).ravel(), method="DOP853", rtol=1e-11, atol=1e-12,
        t_eval=[1.0, 1.7],
    ).y  # fmt: skip
    names = list(eqs.state.names)
    turns, x, y = (
        found[[names.index(f"{c}_link{k}") for k in (1, 2, 3)]] for c in ("turn", "x", "y")
    )
    for k, angles in enumerate(REFERENCE.values()):
        np.testing.assert_allclose(turns[:, k], angles, atol=1e-5)
    for a, b, turn in zip([0, *x[:2]], x, turns, strict=True):
        np.testing.assert_allclose(b - a, np.cos(turn), atol=1e-8)
    for a, b, turn in zip([0, *y[:2]], y, turns, strict=True):
        np.testing.assert_allclose(b - a, np.sin(turn), atol=1e-8)


def mechanisms() -> dict[str, lw.Mechanism]:
    def body(mass: float) -> dict:
        return {"mass": mass, "center": ["0.3", "0.1", 0], "inertia": {"zz": "0.2"}}

    crane = lw.Mechanism(
        name="crane", gravity=[0, "-9.81", 0], bodies={"a": body(2), "b": body(1), "c": body(3)},
        joints={
            "turn": {"type": "revolute", "child": "a", "axis": [0, 0, -1]},
            "slide": {"type": "prismatic", "parent": "a", "child": "b", "axis": ["0.6", "0.8", 0],
                      "stiffness": 30},
            "copy": {"type": "revolute", "parent": "b", "child": "c",
                     "mimic": {"joint": "turn", "multiplier": "1/2", "offset": "0.3"}},
        },
    )  # fmt: skip
    plate = lw.Mechanism(
        name="plate", gravity=[0, 0, "-9.81"],
        bodies={"p": {"mass": 2, "center": ["0.1", 0, "0.2"], "inertia": {"yy": "0.3"}}},
        joints={"f": {"type": "planar", "child": "p", "axis": [0, 1, 0], "axis2": [1, 0, 0]}},
    )  # fmt: skip
    bent = lw.Mechanism(
        name="bent", gravity=[0, "-9.81", 0], bodies={"a": body(2), "b": body(1)},
        joints={"q1": {"type": "revolute", "child": "a"},
                "q2": {"type": "revolute", "parent": "a", "child": "b",
                       "origin": {"xyz": ["0.5", 0, 0]}}},
        coordinates={"names": ["u", "v"], "joints": {"q1": "u + 0.2*sin(v)", "q2": "v - 0.1*u^2"}},
    )  # fmt: skip
    return {"crane": crane, "plate": plate, "bent": bent, **{
        name: lw.gallery(name) for name in ("four-bar", "cartesian", "chain-1")
    }}  # fmt: skip


@pytest.mark.parametrize("name", mechanisms())
def test_free_bodies_move_as_all_do(name: str) -> None:
    """Turns, slides, mimicry, loops, chosen coordinates: the same motion as by recursion."""
    arm = mechanisms()[name]
    eqs = lw.derive(arm, by="newton_euler", parameters="numeric")
    assert eqs.state is not None
    assert len(eqs.state.names) == size(arm)[1]
    first = lw.compile(arm).independent_names[0]
    free, plain = (
        lw.simulate(arm, 0.5, qd0={first: 1.5}, by=by, samples=6, rtol=1e-10, atol=1e-11)
        for by in ("newton_euler", "recursive")
    )
    np.testing.assert_allclose(free.q, plain.q, atol=1e-7)
    assert free.audit < 1e-7
    assert free.closure.max() < 1e-10
