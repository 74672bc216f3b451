"""Approximate dynamics: the errors that theory gives, exact multipliers, the choice of points."""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.errors import LinkwrightError, MechanismError, UnsupportedError
from linkwright.formulations.approximate_penalties import mechanism_size, suggest_penalty_factors
from tests.agreement.test_formulations import close, value


def end_of_motion(eqs: lw.Equations, q: np.ndarray, duration: float = 0.3) -> np.ndarray:
    Q, V, TAU = (eqs.symbols[key] for key in ("q", "qd", "tau"))
    if eqs.state is None:
        x, rates, start = (
            ca.vertcat(Q, V),
            ca.vertcat(V, *eqs.expressions("forward_dynamics")),
            ca.vertcat(Q, V),
        )
    else:
        x, rates, start = eqs.state.x, eqs.state.rates(), eqs.state.from_motion()
    F = ca.Function("F", [x, TAU], [rates])
    x0 = np.asarray(ca.Function("x", [Q, V], [start])(q, np.zeros(eqs.nv))).ravel()
    run = solve_ivp(lambda t, x: np.asarray(F(x, np.zeros(eqs.nv))).ravel(), (0, duration), x0,
                    method="DOP853", rtol=1e-9, atol=1e-11)  # fmt: skip
    return run.y[: eqs.nv, -1]


def test_the_error_of_approximate_dynamics_falls_as_beta_grows() -> None:
    arm = lw.gallery("chain-3")
    q = np.array([-0.3, 0.5, 0.2])
    truth = end_of_motion(lw.derive(arm, parameters="numeric"), q)
    errors = []
    for beta in (1e3, 1e4, 1e5):
        eqs = lw.derive(arm, by="approximate", parameters="numeric", beta=beta, gamma=0.01)
        errors.append(np.abs(end_of_motion(eqs, q) - truth).max())
    assert errors[0] < 0.05
    for large, small in pairwise(errors):
        assert small < 0.2 * large, errors


def test_iterated_multipliers_are_exact_at_moderate_beta() -> None:
    arm = lw.gallery("chain-3")
    eqs = lw.derive(arm, by="approximate", parameters="numeric", beta=1e3, gamma=0.05, iterations=6)
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, 3))
    truth = value(lw.derive(arm, parameters="numeric"), "forward_dynamics", q, v, tau)
    close(value(eqs, "forward_dynamics", q, v, tau), truth, "accelerations", 1e-9)


def test_coordinates_of_approximate_dynamics_can_be_chosen() -> None:
    arm = lw.gallery("chain-3")
    assert len(lw.derive(arm, by="approximate").state.names) == 14  # type: ignore[union-attr]
    one = lw.derive(
        arm, by="approximate", bodies=["link3"], beta=1e4, gamma=0.01, parameters="numeric"
    )
    assert one.state is not None
    assert one.state.names[3:5] == ("x_link3", "y_link3")
    q = np.array([-0.3, 0.5, 0.2])
    truth = end_of_motion(lw.derive(arm, parameters="numeric"), q)
    assert np.abs(end_of_motion(one, q) - truth).max() < 0.01
    with pytest.raises(MechanismError, match=r"approximate\.bodies: unknown body 'link9'"):
        lw.derive(arm, by="approximate", bodies=["link9"])
    with pytest.raises(UnsupportedError, match="gamma must be above 0 with iterations"):
        lw.derive(arm, by="approximate", gamma=0, iterations=2)
    with pytest.raises(LinkwrightError, match="has no option 'betta'; did you mean 'beta'"):
        lw.derive(arm, by="approximate", betta=1)
    arm = lw.gallery("stanford-rrp")  # the mass on its slide must stay
    assert lw.derive(arm, by="approximate").state.names[3:] == (  # type: ignore[union-attr]
        "x_link2", "y_link2", "z_link2", "dtheta1", "dtheta2", "ds3", "dx_link2", "dy_link2", "dz_link2",
    )  # fmt: skip


def test_approximate_dynamics_needs_inertia() -> None:
    bob = {"mass": 1, "center": [1, 0, 0]}
    pendulum = lw.Mechanism(
        bodies={"a": bob, "b": bob},
        joints={"q1": {"type": "revolute", "child": "a"},
                "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [1, 0, 0]}},
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="divides by moments of inertia, and b has none"):
        lw.derive(pendulum, by="approximate", bodies=["b"])
    massless = {"a": bob, "b": {"inertia": {"zz": 1}}}
    with pytest.raises(UnsupportedError, match="'b' has no mass, so its centre of mass cannot"):
        lw.derive(pendulum.model_copy(update={"bodies": massless}), by="approximate", bodies="b")


def test_beta_is_chosen_for_the_opening_or_for_fixed_steps() -> None:
    """A hanging chain of 3 kg pulls its pins apart by g/500 of what is allowed; with fixed steps,
    √(β a) h = 1 for the largest eigenvalue a of J M⁻¹ Jᵀ."""
    arm = lw.gallery("chain-3")
    beta, gamma = suggest_penalty_factors(arm)
    assert beta == pytest.approx(3 * 500 / (1e-4 * mechanism_size(arm)), rel=5e-3)
    softer, critical = suggest_penalty_factors(arm, step=1e-3)
    a = 1e6 / softer
    assert critical == pytest.approx(2e-3, rel=1e-2)
    assert gamma == pytest.approx(8 / np.sqrt(beta * a), rel=1e-2)


def test_one_joint_without_superabundant_coordinates_has_energies() -> None:
    """A pendulum has no points of its own: its energies are those of the joint."""
    pendulum = lw.load("""
    bodies.rod = { mass = 1, center = [1, 0, 0], inertia = [1, 1, 1] }
    joints.q = { type = "revolute", child = "rod", axis = [0, 1, 0] }
    """)
    run = lw.simulate(pendulum, t=1, q0=[0.3], qd0=[0], by="approximate", rtol=1e-11, atol=1e-12)
    assert run.accounted
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-8)


def test_quaternions_are_refused_with_a_sentence() -> None:
    ball = lw.Mechanism(
        bodies={
            "head": {"mass": 2, "center": [0, 0, -0.3], "inertia": [0.02, 0.03, 0.015]},
            "tail": {"mass": 1, "center": [0.2, 0, 0], "inertia": [0.001, 0.02, 0.02]},
        },
        joints={
            "s": {"type": "spherical", "child": "head"},
            "e": {"type": "revolute", "parent": "head", "child": "tail", "origin": [0, 0, -0.6]},
        },
    )
    with pytest.raises(UnsupportedError, match="quaternion"):
        lw.simulate(ball, 0.1, by="approximate")


def test_a_slide_with_inertia_is_taken() -> None:
    """A turning column and a slide: nothing is constrained, so the motion is the exact one."""
    arm = lw.Mechanism(
        bodies={
            "column": {"mass": 3, "center": [0.02, 0.03, 0], "inertia": [0.03, 0.04, 0.05]},
            "slider": {"mass": 1.5, "center": [0.1, 0, 0.2], "inertia": [0.01, 0.01, 0.004]},
        },
        joints={
            "turn": {"type": "revolute", "child": "column"},
            "push": {
                "type": "prismatic", "axis": [1, 0, 0], "parent": "column", "child": "slider",
                "stiffness": 80,
            },
        },
    )  # fmt: skip
    ends = [
        lw.simulate(arm, 0.5, q0=[0.1, 0.3], qd0=[1.0, 0.0], by=by, rtol=1e-9, atol=1e-11).q[-1]
        for by in ("approximate", "lagrange")
    ]
    assert np.allclose(ends[0], ends[1], rtol=0, atol=1e-7)
