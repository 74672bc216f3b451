"""Parts of accelerations against hand calculation, as in Shigley and Norton."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.show.acceleration_components import AccelerationPart

Z = np.array([0.0, 0.0, 1.0])


def quick_return() -> lw.Mechanism:
    """A crank of 0.15 m about (0, 0.4) whose pin B drives a block on a rocker about the origin."""
    return lw.Mechanism(
        name="quick-return",
        gravity=[0, "-9.81", 0],
        independent=["q1"],
        bodies={
            "crank": {"mass": 1, "center": [0.1, 0, 0], "inertia": [0, 0, 0.01]},
            "rocker": {"mass": 2, "center": [0.3, 0, 0], "inertia": [0, 0, 0.05]},
            "block": {"mass": 0.3, "inertia": [0, 0, 0.001]},
        },
        joints={
            "q1": {"type": "revolute", "child": "crank", "origin": [0, 0.4, 0]},
            "q2": {"type": "revolute", "child": "rocker"},
            "s": {"type": "prismatic", "parent": "rocker", "child": "block", "axis": [1, 0, 0]},
        },
        loops={"B": {"type": "revolute", "parent": "crank", "child": "block",
                     "origin": [0.15, 0, 0]}},
        assembly={"q1": "30 deg", "q2": "75 deg", "s": 0.5},
    )  # fmt: skip


def moving_state(arm: lw.Mechanism, start: dict[str, float], rate: float) -> tuple[np.ndarray, ...]:
    """A closed configuration, its velocities at a rate of the input, and its accelerations."""
    q = np.asarray(lw.assemble(arm, start, list(arm.independent)))
    eqs = lw.derive(arm, parameters="numeric")
    G, _, _ = eqs.function("independent_map")(q)
    qd = np.array(G).ravel() * rate
    qdd = np.array(eqs.function("forward_dynamics")(q, qd, np.zeros(len(q)))[0]).ravel()
    return q, qd, qdd


def parts_by_name(
    arm: lw.Mechanism, q: np.ndarray, qd: np.ndarray
) -> dict[tuple[str, ...], AccelerationPart]:
    return {(p.kind, p.point, p.body): p for p in show.acceleration_parts(arm, q, qd)}


def test_quick_return_has_a_coriolis_part() -> None:
    """Norton's equation 7.19: a_B = a^n + a^t of the coincident point, 2 ω × v_slip, a_slip, and of
    the crank −ω² r and α × r; both ways lead to the same point."""
    arm = quick_return()
    q, (w1, w2, ds), (al1, al2, dds) = moving_state(arm, {"q1": 0.6, "q2": 1.3, "s": 0.5}, 5.0)
    along = np.array([np.cos(q[1]), np.sin(q[1]), 0])
    across = np.cross(Z, along)
    crank = 0.15 * np.array([np.cos(q[0]), np.sin(q[0]), 0])
    found = parts_by_name(arm, q, np.array([w1, w2, ds]))
    wanted = {
        ("normal", "B", "crank"): -(w1**2) * crank,
        ("tangential", "B", "crank"): al1 * np.cross(Z, crank),
        ("normal", "s", "rocker"): -(w2**2) * q[2] * along,
        ("tangential", "s", "rocker"): al2 * q[2] * across,
        ("Coriolis", "s", "block"): 2 * w2 * ds * across,
        ("sliding", "s", "block"): dds * along,
    }
    assert set(found) == set(wanted)
    for key, vector in wanted.items():
        np.testing.assert_allclose(found[key].vector, vector, atol=1e-9)
    ends = [found[k].start + found[k].vector
            for k in (("tangential", "B", "crank"), ("sliding", "s", "block"))]  # fmt: skip
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)


def test_slider_crank_and_four_bar() -> None:
    """−ω² r and α r of crank, rod, coupler and rocker; chains of arrows close at the pins."""
    arm = lw.gallery("slider-crank")
    q, qd, qdd = moving_state(arm, {"theta1": 1.0, "theta2": -0.2, "x": 1.1}, 6.0)
    found = parts_by_name(arm, q, qd)
    rod = np.array([np.cos(q[1]), np.sin(q[1]), 0])
    np.testing.assert_allclose(found["normal", "pin", "rod"].vector, -(qd[1] ** 2) * rod, atol=1e-9)
    tangential = found["tangential", "pin", "rod"]
    np.testing.assert_allclose(tangential.vector, qdd[1] * np.cross(Z, rod), atol=1e-9)
    assert tangential.base == "q2"
    np.testing.assert_allclose(tangential.start + tangential.vector, [qdd[2], 0, 0], atol=1e-8)
    np.testing.assert_allclose(found["sliding", "q3", "piston"].vector, [qdd[2], 0, 0], atol=1e-9)
    bar = lw.gallery("four-bar")
    q, qd, qdd = moving_state(bar, {"theta1": 1.0, "theta2": 0.57, "theta3": 1.75}, 2.0)
    found = parts_by_name(bar, q, qd)
    ends = []
    for body, length, k in (("coupler", 3.0, 1), ("rocker", 2.5, 2)):
        r = length * np.array([np.cos(q[k]), np.sin(q[k]), 0])
        normal, turning = (found[kind, "pin", body] for kind in ("normal", "tangential"))
        np.testing.assert_allclose(normal.vector, -(qd[k] ** 2) * r, atol=1e-8)
        np.testing.assert_allclose(turning.vector, qdd[k] * np.cross(Z, r), atol=1e-8)
        ends.append(turning.start + turning.vector)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)


@pytest.mark.parametrize(
    ("arm", "start", "labels"),
    [
        (quick_return(), {"q1": 0.6, "q2": 1.3, "s": 0.5},
         {"$a^n_{B}$", "$a^t_{B}$", "$a^c_{s}$", "$a^s_{s}$"}),
        (lw.gallery("four-bar"), {"theta1": 1.0, "theta2": 0.57, "theta3": 1.75},
         {"$a^n_{q_{2}}$", r"$a^t_{\\mathrm{pin}/q_{2}}$", r"$a^t_{\\mathrm{pin}}$"}),
    ],
)  # fmt: skip
def test_polygons_label_the_parts(
    arm: lw.Mechanism, start: dict[str, float], labels: set[str]
) -> None:
    q, qd, _ = moving_state(arm, start, 4.0)
    (axes,) = show.acceleration_polygon(arm, q, qd).axes
    assert {label.replace("\\\\", "\\") for label in labels} <= {t.get_text() for t in axes.texts}
    named = {line.get_label() for line in axes.lines}
    assert {"normal", "tangential"} <= named
    assert ("Coriolis" in named) == (arm.name == "quick-return")
