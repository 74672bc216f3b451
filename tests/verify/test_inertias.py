"""verify judges inertias by what a motion can tell of them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.formulations.base_inertial_parameters.physical_parameters import (
    find_physical_parameters,
)
from linkwright.verification.inertias import find_physical_inertias
from linkwright.verification.verified_equations import VerifiedEquations


def arm_with(inertia: list[object], second: list[object]) -> lw.Mechanism:
    """Two links with crossing axes, the first upright: of it only zz acts."""
    return lw.Mechanism(
        gravity=[0, 0, -9.81],
        bodies={
            "a": {"inertia": inertia},
            "b": {"mass": 1, "center": [1, 0, 0], "inertia": second},
        },
        joints={
            "q1": {"type": "revolute", "child": "a"},
            "q2": {"type": "revolute", "parent": "a", "child": "b", "axis": [0, 1, 0]},
        },
    )


REAL = [0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    ("first", "second", "verdict", "said"),
    [
        (REAL, REAL, "passed", "2 bodies"),
        ([0, 0, 0.35], REAL, "noted", "but real bodies with the same forces exist"),
        ([-0.1, 0.2, 0.35], REAL, "noted", "has the negative principal moment -0.1"),
        ([0, 0, -0.1], REAL, "failed", "bodies.a.inertia has the negative principal moment"),
        (REAL, [0, 0, 0.35], "failed", "bodies.b.inertia breaks the triangle inequality"),
    ],
)
def test_inertias_are_of_real_bodies_so_far_as_they_act(
    first: list[object], second: list[object], verdict: str, said: str
) -> None:
    check = lw.verify(arm_with(first, second), by=["kane"])["inertias physical"]
    assert (check.verdict, said in check.figure) == (verdict, True), check.figure


def test_published_puma_passes() -> None:
    """Link 1 of the tables has an inertia about its joint and nothing else; link 3 is measured."""
    report = lw.verify(lw.gallery("puma560"), by=["kane"])
    assert report.passed
    assert all(link in report["inertias physical"].figure for link in ("link1", "link3"))


def test_real_bodies_have_the_same_forces() -> None:
    """Real by Pinocchio's pseudo-inertia, with the forces of the published numbers."""
    arm = lw.gallery("puma560")
    found = find_physical_inertias(VerifiedEquations(lw.derive(arm)))
    assert found is not None
    model = lw.compile(arm)
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.uniform(-1, 1, (3, 6))
    Y = model.regressor(q, qd, qdd)
    given = np.asarray(model.inertial_parameters).ravel()
    assert np.abs(found - given).max() > 1e-3
    np.testing.assert_allclose(Y @ found, Y @ given, atol=1e-9)
    for own in found.reshape(-1, 10):
        J = pin.PseudoInertia.FromDynamicParameters(own).toMatrix()
        assert np.linalg.eigvalsh(J)[0] > -1e-8


def test_memory_grows_with_the_rows_of_regressors_not_with_their_square() -> None:
    """A hand with 60 bodies has 30,000 rows; a square matrix of these takes 7 GB."""
    columns = np.random.default_rng(0).normal(size=(6000, 20))
    given = np.tile([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1], 2)
    tracemalloc.start()
    try:
        found = find_physical_parameters(given, columns)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(found, given)
    assert peak < 10 * columns.nbytes
