"""Named poses wherever coordinates are given: they mean the numbers that the pose has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import linearization, linkages


def with_pose(name: str, q: dict[str, float], qd: dict[str, float] | None = None) -> lw.Mechanism:
    mechanism = lw.gallery(name)
    fields = {key: getattr(mechanism, key) for key in mechanism.model_fields_set}
    return lw.Mechanism(**{**fields, "poses": {"home": {"q": q, "qd": qd or {}}}})


ELBOW = with_pose("elbow", {"q1": 0.3, "q2": 0.4})
BARS = with_pose("four-bar", {"theta1": 1.0}, {"theta1": 2.0})
ARM = with_pose("six-axis", {"q2": -0.6, "q3": 0.9, "q5": 0.7})
TABLE = {"theta1": 1.0}
CRANK = lw.assemble(BARS, TABLE, hold=["theta1"])

PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "assemble_velocities": lambda q, _: lw.assemble_velocities(
        BARS, CRANK if q != "home" else q, {"theta1": 2.0}
    ),
    "solve_kinematics": lambda _, rough: (
        lw.solve_kinematics(BARS, {"theta1": "1 + t"}, 0.2, rough=rough, samples=4).q
    ),
    "solve_inverse": lambda _, rough: (
        lw.solve_inverse(BARS, {"theta1": "1 + t"}, 0.2, rough=rough, samples=4).tau
    ),
    "analyze_linkage": lambda _, rough: linkages.analyze_linkage(BARS, rough=rough).velocity_ratio,
    "coupler_curve": lambda _, rough: (
        linkages.coupler_curve(BARS, ("coupler", (1, 1)), rough=rough).position
    ),
    "input_range": lambda _, rough: linkages.input_range(BARS, rough=rough).start,
    "shaking_forces": lambda _, rough: linkages.shaking_forces(BARS, rough=rough).force,
    "instant_centers": lambda q, _: linkages.instant_centers(BARS, q).q,
    "close": lambda q, _: lw.compile(BARS).close(q),
    "simulate": lambda q, _: lw.simulate(BARS, 0.1, q0=q, samples=3).q,
    "mass_matrix": lambda q, _: lw.compile(BARS).mass_matrix(q),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pose_of_the_crank_is_its_table(name: str) -> None:
    """A pose that gives some coordinates of a loop keeps them, as a table does."""
    call = PAIRS[name]
    np.testing.assert_allclose(call("home", "home"), call(TABLE, TABLE), atol=1e-12)


def test_velocities_of_a_pose_are_kept() -> None:
    expected = lw.assemble_velocities(BARS, CRANK, {"theta1": 2.0})
    np.testing.assert_allclose(lw.assemble_velocities(BARS, "home", "home"), expected, atol=1e-12)
    run = lw.simulate(BARS, 0.1, q0="home", qd0="home", samples=2)
    np.testing.assert_allclose(run.qd[0], expected, atol=1e-12)


def test_poses_of_open_chains() -> None:
    sweep = linearization.sweep_eigenvalues(ELBOW, "m1", [1.0, 2.0], q="home")
    again = linearization.sweep_eigenvalues(ELBOW, "m1", [1.0, 2.0], q=[0.3, 0.4])
    np.testing.assert_allclose(sweep.eigenvalues, again.eigenvalues)
    near, there = lw.show.clearances(ELBOW, "home"), lw.show.clearances(ELBOW, [[0.3, 0.4]])
    assert [one.distance for one in near] == [one.distance for one in there]
    law = lw.control.operational(ARM, "tool", lambda t: [0.5, 0.0, 0.5], 25.0, posture="home")
    with pytest.raises(lw.LinkwrightError, match="has no pose 'hme'; did you mean 'home'"):
        lw.control.operational(ARM, "tool", lambda t: [0.5, 0, 0.5], 25.0, posture="hme")
    assert law is not None


@pytest.mark.slow
def test_the_page_starts_at_a_pose() -> None:
    page = lw.report.page(ELBOW, "elbow", 0.1, q0="home", by="recursive")
    assert "q1=0.3" in page
