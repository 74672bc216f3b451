"""Friction that differs by direction or falls with the velocity, against closed forms and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.errors import MechanismError


def block(friction: str, load: str = "0", mass: float = 2) -> lw.Mechanism:
    """A block on rails with friction and a load along them."""
    return lw.load(f"""
    bodies.a = {{ mass = {mass} }}
    joints.x = {{ type = "prismatic", child = "a", axis = [1, 0, 0], {friction} }}
    forces.f = {{ type = "joint", on = "x", force = "{load}" }}
    """)


def test_friction_differs_by_direction_in_all_functions() -> None:
    model = lw.compile(block("friction = 3, friction_backward = 1"))
    assert model.passive([0.0], [2.0]) == -3
    assert model.passive([0.0], [-2.0]) == 1
    assert model.passive([0.0], [0.0]) == 0
    smooth = lw.compile(block("friction = 3, friction_backward = 1, smoothing = 0.01"))
    assert_allclose(smooth.passive([0.0], [2.0]), [-3], rtol=1e-12)
    assert_allclose(smooth.passive([0.0], [-2.0]), [1], rtol=1e-12)
    fall = np.exp(-1)
    stribeck = lw.compile(
        block("friction = 3, friction_backward = 1, static_ratio = 1.5, stribeck = 0.2")
    )
    assert_allclose(stribeck.passive([0.0], [0.2]), [-3 * (1 + 0.5 * fall)], rtol=1e-12)
    assert_allclose(stribeck.passive([0.0], [-0.2]), [1 + 0.5 * fall], rtol=1e-12)


@pytest.mark.parametrize("by", ["lagrange", "newton_euler", "kane", "hamilton", "recurrent"])
def test_friction_laws_agree_in_formulations(by: str) -> None:
    arm = lw.load("""
    bodies.a = { mass = 1, inertia = [1, 1, 1] }
    bodies.b = { mass = 1, inertia = [1, 1, 1] }
    joints.p = { type = "revolute", child = "a", friction = 2, friction_backward = 1 }
    joints.q = { type = "revolute", parent = "a", child = "b", origin = [1, 0, 0], friction = 1, \
static_ratio = 2, stribeck = 0.5 }
    """)
    functions = lw.derive(arm, by=by, parameters="numeric").functions()
    wanted = [1, -1 - np.exp(-((0.3 / 0.5) ** 2))]
    assert_allclose(np.array(functions["passive"]([0, 0], [-0.4, 0.3])).ravel(), wanted, rtol=1e-12)
    text = str(lw.derive(arm, by=by).closed_form("f"))
    assert "sign(dp)" in text
    assert "exp(" in text


@pytest.mark.parametrize(("v", "friction"), [(2.0, 3.0), (-2.0, 1.0)])
def test_slides_end_where_their_own_friction_stops_them(v: float, friction: float) -> None:
    """The way is m v²/(2 F) with the F of the direction."""
    run = lw.simulate(block("friction = 3, friction_backward = 1"), t=6, q0=[0], qd0=[v])
    assert_allclose(run.q[-1], np.sign(v) * 2 * v**2 / (2 * friction), rtol=1e-9)
    assert run.qd[-1] == 0
    assert run.accounted


@pytest.mark.parametrize(("side", "friction"), [(1, 3.0), (-1, 1.0)])
def test_slides_begin_at_the_static_level_of_their_direction(side: int, friction: float) -> None:
    """Under the load ± t the block sticks until t = r F and then slides against F."""
    ends = block("friction = 3, friction_backward = 1, static_ratio = 1.2", f"{side}*t")
    run = lw.simulate(ends, t=5, q0=[0], qd0=[0])
    begin = 1.2 * friction
    assert_allclose(run.events[0].t, begin, rtol=1e-9)
    speed = ((25 - begin**2) / 2 - friction * (5 - begin)) / 2
    assert_allclose(run.qd[-1], [side * speed], rtol=1e-9)
    assert run.accounted


def test_stribeck_slide_against_scipy() -> None:
    """The block breaks loose at r F and slides by a law that SciPy integrates by itself."""
    friction, ratio, v_s, mass = 2.0, 1.6, 0.3, 2.0
    law = f"friction = {friction}, static_ratio = {ratio}, stribeck = {v_s}"
    run = lw.simulate(block(law, "t", mass), t=6, q0=[0], qd0=[0], rtol=1e-10, atol=1e-12)
    begin = friction * ratio

    def slide(t: float, y: list[float]) -> list[float]:
        level = friction * (1 + (ratio - 1) * np.exp(-((y[1] / v_s) ** 2)))
        return [y[1], (t - level) / mass]

    alone = solve_ivp(slide, (begin, 6), [0, 0], rtol=1e-11, atol=1e-13)
    assert_allclose(run.events[0].t, begin, rtol=1e-9)
    assert_allclose([run.q[-1, 0], run.qd[-1, 0]], alone.y[:, -1], rtol=1e-7)
    assert run.accounted


def test_stick_slip_of_a_dragged_block() -> None:
    """A spring drags a block at constant velocity: with Stribeck's friction it sticks and slides,
    with constant friction it ends in uniform motion; a period lasts as SciPy's own slide says."""
    friction, ratio, v_s, k, v = 1.0, 1.8, 0.2, 4.0, 0.1
    law = f"friction = {friction}, static_ratio = {ratio}, stribeck = {v_s}"
    run = lw.simulate(block(law, f"{k}*({v}*t - x)", 1.0), t=20, q0=[0], qd0=[0])
    begins = [e.t for e in run.events if e.what.startswith("slides")]
    assert len(begins) >= 3

    def slide(t: float, y: list[float]) -> list[float]:
        level = friction * (1 + (ratio - 1) * np.exp(-((y[1] / v_s) ** 2)))
        return [y[1], k * (friction * ratio / k + v * t - y[0]) - level]

    def rests(t: float, y: list[float]) -> float:
        return y[1] + 1e-12 if t > 1e-3 else 1.0

    rests.terminal = True  # type: ignore[attr-defined]
    one = solve_ivp(slide, (0, 20), [0, 0], events=rests, rtol=1e-11, atol=1e-13)
    slid, lasted = float(one.y[0, -1]), float(one.t[-1])
    stretch = friction * ratio + k * (v * lasted - slid)  # of the spring where it sticks again
    period = lasted + (friction * ratio - stretch) / (k * v)
    assert_allclose(np.diff(begins), period, rtol=1e-6)
    assert run.accounted


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("friction_backward = 1", "has no friction"),
        ("stribeck = 1", "has no friction"),
        ("friction = 1, friction_backward = -1", "negative"),
        ("friction = 1, stribeck = 1, friction_coefficient = 0.1", "cannot fall with the speed"),
    ],
)
def test_wrong_friction_is_refused(keys: str, message: str) -> None:
    with pytest.raises(MechanismError, match=message):
        block(keys)
