"""The bicycle runs as the benchmark of Meijaard, Papadopoulos, Ruina and Schwab (2007) says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from tests.constrained.rolling_examples import values
from tests.references import bicycle, contacts
from tests.references.bicycle import Canonical

BIKE = lw.gallery("bicycle")
PHI, THETA, REAR, DELTA = 4, 5, 6, 7
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837


@cache
def model() -> lw.Model:
    return lw.compile(BIKE)


@cache
def canonical() -> Canonical:
    return bicycle.canonical(values(BIKE))


def test_reference_has_the_printed_matrices() -> None:
    """Their section 5a, to all digits that they print."""
    found = canonical()
    M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
    C1 = [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]
    K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
    K2 = [[0, 76.59734589573222], [0, 2.65431523794604]]
    for ours, theirs in zip((found.M, found.C1, found.K0, found.K2), (M, C1, K0, K2), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-14 * np.abs(theirs).max())


def test_reference_has_the_printed_speeds() -> None:
    weave = np.linalg.eigvals(canonical().state_matrix(WEAVE))
    assert np.abs(weave.real[np.abs(weave.imag) > 0.1]).max() < 1e-12
    assert np.abs(np.linalg.eigvals(canonical().state_matrix(CAPSIZE))).min() < 1e-12


def running(v: float, lean: float, steer: float, rates: tuple[float, float]) -> np.ndarray:
    """Lean and steer accelerations of a bicycle whose rear wheel turns at v/r."""
    start = {"phi": lean, "delta": steer}
    q = lw.assemble(BIKE, values=start, hold=["x", "y", "psi", "phi", "thetaR", "delta", "thetaF"])
    J = model().constraint_jacobian(q)
    chosen = np.eye(9)[[PHI, DELTA, REAR]]
    given = np.concatenate([np.zeros(len(J)), rates, [v / values(BIKE)["rR"]]])
    speeds, *_ = np.linalg.lstsq(np.vstack([J, chosen]), given, rcond=None)
    return model().forward_dynamics(q, speeds, np.zeros(9))[[PHI, DELTA]]


@cache
def state_matrix(v: float) -> np.ndarray:
    """Of (lean, steer, their rates), by central differences."""
    h, columns = 1e-5, []
    for x in np.eye(4):
        ahead, behind = (running(v, s * x[0], s * x[1], (s * x[2], s * x[3])) for s in (h, -h))
        columns.append((ahead - behind) / (2 * h))
    return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), np.array(columns).T])


@pytest.mark.parametrize("v", [0.0, 2.0, WEAVE, 5.0, CAPSIZE, 9.0])
def test_linearised_about_upright_running(v: float) -> None:
    """State matrix and eigenvalues are the benchmark's."""
    found, wanted = state_matrix(v), canonical().state_matrix(v)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    ours, theirs = (np.sort_complex(np.linalg.eigvals(A)) for A in (found, wanted))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_weave_and_capsize_speeds() -> None:
    """Below the first it weaves, between them it keeps upright by itself, above it falls slowly."""
    growing = {v: np.linalg.eigvals(state_matrix(v)).real.max() for v in (4.2, 4.4, 5.9, 6.1)}
    assert [bool(rate > 0) for rate in growing.values()] == [True, False, False, True]
    assert abs(np.linalg.eigvals(state_matrix(WEAVE)).real.max()) < 1e-5
    assert abs(np.linalg.eigvals(state_matrix(CAPSIZE)).real.max()) < 1e-5


def test_upright_running_is_steady() -> None:
    np.testing.assert_allclose(running(5.0, 0.0, 0.0, (0.0, 0.0)), 0, atol=1e-12)


def test_assembled_bicycle_touches_with_both_wheels() -> None:
    p = values(BIKE)
    held = {"phi": 0.3, "delta": -0.5, "psi": 1.0}
    q = lw.assemble(BIKE, values=held, hold=list(held))
    assert [q[4], q[DELTA], q[3]] == list(held.values())
    gaps = contacts.gaps(bicycle.bodies(p), bicycle.wheels(p), q)
    np.testing.assert_allclose(gaps, 0, atol=1e-12)
    assert 0 < abs(q[THETA]) < 0.1
