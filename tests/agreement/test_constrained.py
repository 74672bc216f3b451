"""Formulations agree under constraints: on the gallery's mechanisms and on random loops."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import AssemblyError, UnsupportedError
from linkwright.expressions import expression_to_float
from linkwright.formulations import FORMULATIONS, formulation_module
from linkwright.kinematics.assembly import nearest_constrained_velocities
from linkwright.kinematics.assembly_search import close_configuration
from linkwright.kinematics.constraint_system import constraint_system
from linkwright.mechanism import mechanism_names
from linkwright.mechanism.gallery_files import gallery_names
from tests.random_loops import loops

EXACT = [by for by in FORMULATIONS if by not in ("recursive", "approximate")]
TIME = 0.37
CONSTRAINED = [name for name in gallery_names() if mechanism_names(lw.gallery(name)).constraints]
SEEDS = st.integers(0, 10**6)


def value(eqs: lw.Equations, name: str, *inputs: object) -> np.ndarray:
    found = eqs.function(name)(*inputs)
    return np.asarray(found[0] if isinstance(found, tuple) else found, dtype=float).squeeze()


@cache
def derived(mechanism: lw.Mechanism, by: str) -> lw.Equations:
    return lw.derive(mechanism, by=by, parameters="numeric")


def random_state(mechanism: lw.Mechanism, seed: int) -> tuple[np.ndarray, ...]:
    """q that closes near home, speeds that the constraints allow, forces; and the time."""
    rng = np.random.default_rng(seed)
    system = constraint_system(mechanism)
    names = mechanism_names(mechanism)
    t = TIME if names.is_time_dependent else 0.0
    home = lw.assemble(mechanism)
    for scale in (0.3, 0.1, 0.03, 0.0):
        q, left = close_configuration(
            system, system.move(home, rng.uniform(-scale, scale, names.nv)), t
        )
        if left < 1e-11:
            break
    else:
        reject()  # constraints of time may have no solution then
    try:
        qd = nearest_constrained_velocities(mechanism, q, rng.uniform(-1, 1, names.nv), t)
    except AssemblyError:
        reject()  # what moves in time may be too much to ask
    return q, qd, rng.uniform(-1, 1, names.nv), t


def is_regular(mechanism: lw.Mechanism, q: np.ndarray, t: float) -> bool:
    """Whether the state is well away from singular ones."""
    J = constraint_system(mechanism).jacobian(q, t)
    sizes = np.linalg.svd(J, compute_uv=False)
    sizes = sizes[sizes > 1e-9 * sizes[0]]
    return bool(sizes[-1] > 0.02 * sizes[0])


def assert_agreement(mechanism: lw.Mechanism, by: str, seed: int) -> None:
    truth = derived(mechanism, "recursive")
    q, qd, tau, t = random_state(mechanism, seed)
    time = [t] if truth.names.is_time_dependent else []
    try:
        ours = derived(mechanism, by)
    except UnsupportedError as error:
        if by not in ("multipliers", "hamilton") or "without moving mass" not in str(error):
            raise  # only these need inertia in every coordinate
        pytest.skip(str(error))
    M, b = value(truth, "mass_matrix", q), value(truth, "bias", q, qd, *time)
    J, gamma = (
        value(truth, "constraint_jacobian", q, *time).reshape(-1, truth.nv),
        np.atleast_1d(value(truth, "constraint_bias", q, qd, *time)),
    )
    wanted = svd_accelerations(M, tau - b, J, gamma)
    scale = max(1.0, np.abs(wanted).max())
    for eqs in (truth, ours):
        qdd = value(eqs, "forward_dynamics", q, qd, tau, *time)
        np.testing.assert_allclose(qdd, wanted, atol=1e-9 * scale, rtol=0, err_msg=eqs.by)
    h = value(truth, "required_forces", q, qd, wanted, *time)
    close = {"atol": 1e-9 * max(1.0, np.abs(h).max()), "rtol": 0}
    np.testing.assert_allclose(value(ours, "required_forces", q, qd, wanted, *time), h, **close)
    assert_multipliers(ours, J, h - tau, qd, (q, qd, tau, *time))


def svd_accelerations(M: np.ndarray, F: np.ndarray, J: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The constrained accelerations by plain linear algebra."""
    rank = np.linalg.matrix_rank(J, tol=1e-9 * np.linalg.norm(J, 2))
    free = np.linalg.svd(J)[2][rank:].T
    drift = -np.linalg.pinv(J, rcond=1e-9) @ gamma
    return drift + free @ np.linalg.solve(free.T @ M @ free, free.T @ (F - M @ drift))


def assert_multipliers(
    eqs: lw.Equations, J: np.ndarray, force: np.ndarray, qd: np.ndarray, inputs: tuple
) -> None:
    """Jᵀλ is what drives leave over; ideal constraints do the work of their own motion alone."""
    lam = np.atleast_1d(value(eqs, "multipliers", *inputs))
    size = max(1.0, np.abs(lam).max())
    np.testing.assert_allclose(J.T @ lam, force, atol=1e-8 * size, rtol=0)
    q, _, _, *time = inputs
    own = np.atleast_1d(value(eqs, "constraint_velocity", q, np.zeros_like(qd), *time))
    assert abs(qd @ force + lam @ own) < 1e-8 * size
    least = np.linalg.pinv(J.T, rcond=1e-9) @ force
    np.testing.assert_allclose(lam, least, atol=1e-7 * size, rtol=0, err_msg="least norm")


@pytest.mark.parametrize("by", EXACT)
@pytest.mark.parametrize("name", CONSTRAINED)
def test_gallery(by: str, name: str) -> None:
    mechanism = lw.gallery(name)
    reason = formulation_module(by).supports(mechanism)
    if reason is not None:
        with pytest.raises(UnsupportedError, match="cannot treat"):
            lw.derive(mechanism, by=by)
        pytest.skip(reason)
    for seed in range(2):
        assert_agreement(mechanism, by, seed)


@pytest.mark.parametrize("by", EXACT)
@settings(max_examples=10, deadline=None)
@given(mechanism=loops(), seed=SEEDS)
def test_random_loops(by: str, mechanism: lw.Mechanism, seed: int) -> None:
    assume(formulation_module(by).supports(mechanism) is None)
    report = lw.mobility(mechanism)
    q, _, _, t = random_state(mechanism, seed)
    assume(report.dof > 0 and is_regular(mechanism, q, t))
    assert_agreement(mechanism, by, seed)


@settings(max_examples=10, deadline=None)
@given(mechanism=loops(), seed=SEEDS)
def test_reactions(mechanism: lw.Mechanism, seed: int) -> None:
    """Free bodies and recursion have the same; ground takes what the whole momentum needs."""
    q, qd, tau, t = random_state(mechanism, seed)
    assume(is_regular(mechanism, q, t))
    truth, free = derived(mechanism, "recursive"), derived(mechanism, "newton_euler")
    time = [t] if truth.names.is_time_dependent else []
    rows = value(truth, "reactions", q, qd, tau, *time)
    s = free.symbols
    inputs = [s["q"], s["qd"], s["tau"], *([s["t"]] if time else [])]
    wrenches = ca.Function("w", inputs, list(free.extra("joint_wrenches").values()))
    ours = np.array([np.asarray(w).ravel() for w in wrenches(q, qd, tau, *time)])
    size = max(1.0, np.abs(rows).max())
    np.testing.assert_allclose(ours, rows, atol=1e-8 * size, rtol=0)
    qdd = value(truth, "forward_dynamics", q, qd, tau, *time)
    np.testing.assert_allclose(
        from_ground(mechanism, truth, rows), momentum_rate(mechanism, truth, q, qd, qdd),
        atol=1e-8 * size, rtol=0,
    )  # fmt: skip


def from_ground(mechanism: lw.Mechanism, eqs: lw.Equations, rows: np.ndarray) -> np.ndarray:
    """Moment about the world's origin, and force, of all joints and loops at ground."""
    joints = {**{n: mechanism.joints[n] for n in eqs.names.joints}, **mechanism.loops}
    total = np.zeros(6)
    for row, joint in zip(rows, joints.values(), strict=True):
        if joint.parent == "ground":
            at = np.array([expression_to_float(x) for x in joint.origin.xyz])
            total += [*(row[:3] + np.cross(at, row[3:])), *row[3:]]
    return total


def momentum_rate(
    mechanism: lw.Mechanism, eqs: lw.Equations, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    """Of the whole mechanism about the world's origin, less what its weight does."""
    (h,), (c,) = eqs.expressions("momentum"), eqs.expressions("center_of_mass")
    s = eqs.symbols
    whole = ca.vertcat(h[:3] + ca.cross(c, h[3:]), h[3:])
    rate = ca.jtimes(whole, s["q"], eqs.rate_matrix @ s["qd"]) + ca.jtimes(whole, s["qd"], s["qdd"])
    found, at = ca.Function("h", [s["q"], s["qd"], s["qdd"]], [rate, c])(q, qd, qdd)
    mass = sum(float(b.mass.value) for b in mechanism.bodies.values())
    weight = mass * np.array([float(g.value) for g in mechanism.gravity])
    push = np.concatenate([np.cross(np.asarray(at).ravel(), weight), weight])
    return np.asarray(found).ravel() - push


SHORT = 0.2
"""Seconds of the motions that `approximate` is compared by."""


@pytest.mark.parametrize("name", ["four-bar", "slider-crank-sundials", "sharp-edged-disk"])
def test_approximate_motions_converge(name: str) -> None:
    """The error of positions falls as 1/β, and so does what is left of the constraints."""
    from scipy.integrate import solve_ivp

    if name not in CONSTRAINED:
        pytest.skip("not in the gallery")
    mechanism = lw.gallery(name)
    truth = derived(mechanism, "recursive")
    n, in_time = truth.nv, truth.names.is_time_dependent
    q = lw.assemble(mechanism)
    rng = np.random.default_rng(0)
    qd, tau = (
        nearest_constrained_velocities(mechanism, q, rng.uniform(-1, 1, n)),
        rng.uniform(-1, 1, n),
    )
    exact = truth.function("forward_dynamics")

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        found = exact(x[:n], x[n:], tau, *([t] if in_time else []))[0]
        return np.concatenate([x[n:], np.asarray(found).ravel()])

    tight = {"rtol": 1e-10, "atol": 1e-11}
    end = solve_ivp(rates, (0, SHORT), np.concatenate([q, qd]), **tight).y[:, -1]
    errors = []
    for beta in (1e6, 1e7):
        eqs = lw.derive(mechanism, by="approximate", parameters="numeric", beta=beta, gamma=1e-3)
        s, state = eqs.symbols, eqs.state
        assert state is not None
        x = ca.Function("x", [s["q"], s["qd"]], [state.from_motion()])(q, qd)
        F = ca.Function(
            "F", [state.x, s["t"]], [ca.substitute(state.rates(), s["tau"], ca.DM(tau))]
        )
        run = solve_ivp(
            lambda t, y, F=F: np.asarray(F(y, t)).ravel(), (0, SHORT), np.asarray(x).ravel(),
            method="LSODA", **tight,
        )  # fmt: skip
        errors.append(np.abs(run.y[:n, -1] - end[:n]).max())
    assert errors[0] < 1e-2
    assert 5 < errors[0] / errors[1] < 20, errors


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_iterated_multipliers(name: str) -> None:
    """Corrected until the constraints hold in the accelerations: exact for any β."""
    mechanism = lw.gallery(name)
    q, qd, tau, _ = random_state(mechanism, 3)
    wanted = value(derived(mechanism, "recursive"), "forward_dynamics", q, qd, tau)
    eqs = lw.derive(mechanism, by="approximate", parameters="numeric", iterations=4)
    found = value(eqs, "forward_dynamics", q, qd, tau)
    np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_reactions_of_approximate_dynamics(name: str) -> None:
    """In a state that is open just so far that stiff constraints pull as exact ones do."""
    mechanism, beta = lw.gallery(name), 1e8
    truth = derived(mechanism, "recursive")
    q, qd, tau, _ = random_state(mechanism, 2)
    J = value(truth, "constraint_jacobian", q)
    lam = value(truth, "multipliers", q, qd, tau)
    opened = q - np.linalg.pinv(J) @ lam / beta
    eqs = lw.derive(
        mechanism, by="approximate", parameters="numeric", bodies=[], beta=beta, gamma=0.0
    )
    s, wrenches = eqs.symbols, eqs.extra("joint_wrenches")
    at = ca.Function("w", [s["q"], s["qd"], s["tau"]], list(wrenches.values()))
    found = np.array([np.asarray(w).ravel() for w in at(opened, qd, tau)])
    wanted = value(truth, "reactions", q, qd, tau)
    assert list(wrenches) == [*truth.names.joints, *mechanism.loops]
    np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max(), rtol=0)
