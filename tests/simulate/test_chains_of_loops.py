"""IFToMM's A02, N four-bar windows in a row, as published: 10 s with N = 40, by its exact solution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.kinematics.closing import solve_constraint_least_change
from linkwright.simulation.compiled_correction import (
    MIN_COMPILED_CONSTRAINTS,
    compile_correction,
)
from tests.constrained.test_large_loops import scissor_chain
from tests.references.scissor_chain import ScissorChain
from tests.simulate.known import n_four_bar

LARGE = MIN_COMPILED_CONSTRAINTS // 2 + 1
"""Windows from which on corrections are compiled."""


@pytest.mark.parametrize(
    ("windows", "t", "passages"),
    [(LARGE, 1.0, 1), pytest.param(40, 10.0, 10, marks=pytest.mark.slow)],
)
def test_windows_move_as_the_exact_solution(windows: int, t: float, passages: int) -> None:
    """To 1e-8 of positions and energy, through every flat configuration."""
    run = lw.simulate(
        lw.gallery(f"n-four-bar-{windows}"), t, qd0={"theta0": -1.0}, samples=51, rtol=1e-11,
        atol=1e-12,
    )  # fmt: skip
    assert run.finished
    tips = np.array([np.cos(run.q[:, ::2]), np.sin(run.q[:, ::2])])
    wanted = n_four_bar(windows, run.t).T[:, :, None]
    np.testing.assert_allclose(tips, np.broadcast_to(wanted, tips.shape), atol=1e-8)
    assert np.ptp(run.energy) < 1e-8 * run.kinetic.max()
    assert len(run.singular) == passages
    assert run.closure.max() < 1e-10


@pytest.mark.parametrize(("stages", "t"), [(4, 0.8), pytest.param(12, 1.2, marks=pytest.mark.slow)])
def test_scissors_stretch_and_go_on(stages: int, t: float) -> None:
    """When they are straight, all loops are singular at once: SciPy on their two angles."""
    chain, mechanism = ScissorChain(stages), scissor_chain(stages)
    run = lw.simulate(mechanism, t, samples=21)
    assert run.finished
    assert len(run.singular) == 1
    assert run.statistics["compiled"] > 0.9
    names = list(lw.compile(mechanism).names.qd)
    a, m = run.q[:, names.index("a0")], run.q[:, names.index("m0")]
    peer = solve_ivp(
        lambda _, y: np.concatenate([y[2:], chain.angular_accelerations(y[:2], y[2:])]),
        (0, t), [a[0] + m[0] / 2, -m[0] / 2, 0, 0], t_eval=run.t, method="DOP853", rtol=1e-12,
        atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose([a + m / 2, -m / 2], peer.y[:2], atol=3e-9)
    assert run.audit < 1e-8


def test_compiled_corrections_are_those_of_singular_values() -> None:
    """In the metric of the mass matrix; near a flat configuration, singular values must decide."""
    model = lw.compile(lw.gallery(f"n-four-bar-{LARGE}"))
    correction = compile_correction(model)
    assert correction is not None
    rng = np.random.default_rng(0)
    for angle in (1.5, 0.7, 0.1, 1e-2, 1e-3):  # near flat configurations by sparse LU
        q = np.zeros(model.nv)
        q[::2] = angle
        J, wanted = model.constraint_jacobian(q), rng.normal(size=model.nv)
        step = correction.correct(0.0, q, -J @ wanted)
        assert step is not None
        least = solve_constraint_least_change(
            J, J @ wanted, rank_share=1e-9, metric=model.mass_matrix(q)
        )
        np.testing.assert_allclose(step, least, rtol=1e-9, atol=1e-9)
        qd = wanted - least
        qdd = correction.accelerations(0.0, q, qd, wanted)
        scale = np.abs(model.forward_dynamics(q, qd, wanted)).max()
        np.testing.assert_allclose(qdd, model.forward_dynamics(q, qd, wanted), atol=1e-9 * scale)
    assert correction.correct(0.0, np.zeros(model.nv), np.zeros(len(J))) is None


def test_the_smallest_pivot_shows_how_near_a_flat_configuration_is() -> None:
    """Like the smallest singular value, it is proportional to the angle there."""
    model = lw.compile(lw.gallery(f"n-four-bar-{LARGE}"))
    correction = compile_correction(model)
    assert correction is not None
    q, angles, found = np.zeros(model.nv), np.array([1e-1, 1e-2, 1e-3, 1e-4]), []
    for angle in angles:
        q[::2] = angle
        J = model.constraint_jacobian(q)[correction.rows]
        singular = np.linalg.svd(J, compute_uv=False)
        found.append((correction.weakest(0.0, q), singular[-1] / singular[0]))
    pivots, values = np.array(found).T / angles
    np.testing.assert_allclose(pivots / pivots[-1], values / values[-1], rtol=0.02)
    assert (pivots >= values).all()
    assert correction.weakest(0.0, np.zeros(model.nv)) < 1e-7


@pytest.mark.parametrize("name", ["n-four-bar-2", "stewart", "bricard"])
def test_few_and_redundant_constraints_are_left_to_singular_values(name: str) -> None:
    assert compile_correction(lw.compile(lw.gallery(name))) is None
