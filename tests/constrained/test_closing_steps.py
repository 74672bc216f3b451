"""The one place that closes constraints: positions, velocities, accelerations, and its numbers.

Truth is from closed forms, SciPy, and the linear equations of least change (KKT).
"""

import ast
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import linkwright
from linkwright.kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    jacobian_null_space,
    project_accelerations,
    project_velocities,
    search_positions,
    smallest_jacobian_singular_share,
    solve_constraint_least_change,
)
from linkwright.simulation.stabilization import Baumgarte

ROOT = Path(linkwright.__file__).parent


def least_change_by_kkt(J: np.ndarray, right: np.ndarray, metric: np.ndarray) -> np.ndarray:
    m, n = J.shape
    K = np.block([[metric, J.T], [J, np.zeros((m, m))]])
    return np.linalg.solve(K, np.r_[np.zeros(n), right])[:n]


def on_a_circle(radius: float = 2.0) -> PositionConstraints:
    """x² + y² = r², for any number of states."""
    return PositionConstraints(
        lambda q: (q**2).sum(axis=-1, keepdims=True) - radius**2, lambda q: 2 * q[..., None, :]
    )


@pytest.mark.parametrize("seed", range(3))
def test_least_change_in_a_metric_is_that_of_the_kkt_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J, right, A = rng.normal(size=(3, 6)), rng.normal(size=3), rng.normal(size=(6, 6))
    metric = A @ A.T + np.eye(6)
    x = solve_constraint_least_change(J, right, rank_share=1e-9, metric=metric)
    np.testing.assert_allclose(x, least_change_by_kkt(J, right, metric), rtol=1e-9)
    doubled = solve_constraint_least_change(
        np.vstack([J, J]), np.r_[right, right], rank_share=1e-9, rank=3, metric=metric
    )
    np.testing.assert_allclose(doubled, x, rtol=1e-9)


def test_least_change_of_many_states_is_that_of_each() -> None:
    rng = np.random.default_rng(0)
    J, right = rng.normal(size=(4, 3, 5)), rng.normal(size=(4, 3))
    J[1, 2] = J[1, 0]  # a rank of 2
    J[3] = np.nan
    found = solve_constraint_least_change(J, right, rank_share=1e-9)
    for k in range(3):
        expected = scipy.linalg.lstsq(J[k], right[k], cond=1e-9)[0]
        np.testing.assert_allclose(found[k], expected, rtol=1e-9)
        np.testing.assert_allclose(
            solve_constraint_least_change(J[k], right[k], rank_share=1e-9), expected, rtol=1e-9
        )
    assert np.isnan(found[3]).all()


def test_a_point_goes_to_the_nearest_place_of_its_circle() -> None:
    closure = close_positions(on_a_circle(), np.array([1.2, 1.6]))
    np.testing.assert_allclose(closure.q, [1.2, 1.6], atol=1e-15)
    closure = close_positions(on_a_circle(), np.array([3.0, 4.0]))
    np.testing.assert_allclose(closure.q, [1.2, 1.6], rtol=1e-12)
    assert closure.has_converged
    assert closure.residual <= CLOSURE_TOLERANCES.closed_residual


def test_what_is_held_stays_exactly() -> None:
    closure = close_positions(on_a_circle(), np.array([1.2, 1.0]), hold=[0])
    assert closure.q[0] == 1.2
    assert closure.q[1] == pytest.approx(1.6, rel=1e-12)


def test_states_of_a_batch_close_as_each_alone_and_failures_stay() -> None:
    q = np.array([[3.0, 4.0], [0.3, -0.1], [np.nan, 1.0], [0.0, 0.0], [1.2, 1.6]])
    closure = close_positions(on_a_circle(), q)
    for k in (0, 1, 4):
        alone = close_positions(on_a_circle(), q[k])
        np.testing.assert_allclose(closure.q[k], alone.q, rtol=1e-14)
        assert closure.residual[k] <= CLOSURE_TOLERANCES.closed_residual
    assert closure.has_converged.tolist()[:3] == [True, True, False]
    assert np.isnan(closure.residual[2])
    assert np.isnan(close_positions(on_a_circle(), q[2]).residual)
    np.testing.assert_array_equal(closure.q[3], q[3])  # no step leads anywhere, and it says so:
    assert closure.residual[3] == 4.0


def test_rows_that_contradict_are_met_in_the_mean_and_the_rest_is_reported() -> None:
    """x = 1 and x = 1 + 2e-7: no x meets both, and the mean is the best."""
    functions = PositionConstraints(
        lambda q: np.array([q[0] - 1, q[0] - 1 - 2e-7]), lambda q: np.array([[1.0], [1.0]])
    )
    for tolerance in (CLOSURE_TOLERANCES.closed_residual, 0.0):
        closure = close_positions(functions, np.array([0.7]), tolerance=tolerance)
        assert closure.has_converged
        assert closure.q[0] == pytest.approx(1 + 1e-7, abs=1e-14)
        assert closure.residual == pytest.approx(1e-7, rel=1e-6)


def test_what_cannot_close_is_left_at_its_best() -> None:
    """x² + 1 = 0: Newton jumps about, and the best that it met is returned."""
    seen: list[float] = []

    def residual(q: np.ndarray) -> np.ndarray:
        seen.append(float(q[0] ** 2 + 1))
        return np.array([seen[-1]])

    functions = PositionConstraints(residual, lambda q: np.array([[2 * q[0]]]))
    closure = close_positions(functions, np.array([0.7]), max_iterations=10)
    assert not closure.has_converged
    assert closure.residual == min(seen)
    assert len(seen) == 11


def test_a_search_closes_where_newton_alone_diverges() -> None:
    functions = PositionConstraints(
        lambda q: np.arctan(q - 0.5), lambda q: np.diag(1 / (1 + (q - 0.5) ** 2))
    )
    start = np.array([3.0])
    assert not close_positions(functions, start, max_iterations=5).residual < 1e-3
    q = search_positions(functions, start, rank_share=1e-12)
    assert q[0] == pytest.approx(0.5, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_rates_hold_the_constraints_and_change_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J, b, bias = rng.normal(size=(2, 5)), rng.normal(size=2), rng.normal(size=2)
    wish, A = rng.normal(size=5), rng.normal(size=(5, 5))
    metric = A @ A.T + np.eye(5)
    qd = project_velocities(J, wish, J @ wish - b, metric=metric)
    np.testing.assert_allclose(J @ qd, b, atol=1e-12)
    expected = wish + least_change_by_kkt(J, b - J @ wish, metric)
    np.testing.assert_allclose(qd, expected, rtol=1e-9)
    qdd = project_accelerations(J, wish, bias, hold=[1, 3])
    np.testing.assert_allclose(J @ qdd + bias, 0, atol=1e-12)
    assert qdd[[1, 3]].tolist() == wish[[1, 3]].tolist()
    free = [0, 2, 4]
    change = scipy.linalg.lstsq(J[:, free], -(J @ wish + bias))[0]
    np.testing.assert_allclose(qdd[free], wish[free] + change, rtol=1e-9)


def test_null_space_and_weakest_direction() -> None:
    rng = np.random.default_rng(0)
    J = rng.normal(size=(2, 5))
    J = np.vstack([J, J[0] - 2 * J[1]])
    Z, expected = jacobian_null_space(J, 1e-9), scipy.linalg.null_space(J, rcond=1e-9)
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-12)
    sizes = scipy.linalg.svdvals(J)
    assert smallest_jacobian_singular_share(J, 2) == pytest.approx(sizes[1] / sizes[0])
    assert smallest_jacobian_singular_share(J, 4) == 0.0


def test_tolerances_are_frozen_and_each_has_a_reason() -> None:
    with pytest.raises(FrozenInstanceError):
        CLOSURE_TOLERANCES.closed_residual = 1.0  # type: ignore[misc]
    for place in ("kinematics/closing/tolerances.py", "motion/inverse_options.py"):
        (table,) = [
            node
            for node in ast.parse((ROOT / place).read_text(encoding="utf-8")).body
            if isinstance(node, ast.ClassDef)
        ]
        for number, reason in zip(table.body, table.body[1:], strict=False):
            if isinstance(number, ast.AnnAssign):
                assert isinstance(reason, ast.Expr), ast.unparse(number)
                assert len(ast.unparse(reason)) > 20
    assert len({field.name for field in fields(CLOSURE_TOLERANCES)}) == len(
        fields(CLOSURE_TOLERANCES)
    )


def test_closing_needs_nothing_but_numpy() -> None:
    for path in (ROOT / "kinematics" / "closing").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                outside = node.level == 0 and node.module is not None
                allowed = {"__future__", "collections", "dataclasses", "typing", "numpy"}
                assert node.level < 2 or node.module == "types", path
                assert not outside or str(node.module).split(".")[0] in allowed, path


def test_no_other_module_solves_for_constraints_by_itself() -> None:
    """Pseudoinverses and least squares of Jacobians belong to kinematics/closing; the simulator's
    contact forces (not constraints of positions or rates) have their own."""
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT).as_posix()
        if place.startswith(("kinematics/closing/", "simulation/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("pinv", "lstsq"), place


def test_baumgarte_terms_by_numbers_are_the_least_in_the_mass_metric() -> None:
    """Near bad pivots the simulator takes them from here instead of from compiled code."""
    model = linkwright.compile(linkwright.gallery("four-bar"), threads=1)
    q, qd = model.home() + 1e-3, np.linspace(-1, 1, model.nv)
    rows = 6 * model.constraint_velocity(q, qd)
    rows[: model.names.position_row_count] += 16 * model.constraint_residual(q)
    added = Baumgarte(3.0, 4.0).number(model, q, qd, [])
    J, M = model.constraint_jacobian(q), model.mass_matrix(q)
    left, sizes, right = scipy.linalg.svd(J)
    rank = model.nv - model.dof
    independent = sizes[:rank, None] * right[:rank]  # φ̈ in the directions that count
    expected = least_change_by_kkt(independent, -left.T[:rank] @ rows, M)
    np.testing.assert_allclose(added, expected, rtol=1e-7)
