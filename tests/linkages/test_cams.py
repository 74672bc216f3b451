"""Cams: splines against closed forms; eccentric circles, whose profiles are known; mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw

TURN = np.linspace(0, 2 * np.pi, 72, endpoint=False)
STEP = 2 * np.pi / 72
R, ROLLER, E = 0.05, 0.012, 0.015
"""Radius of an eccentric circular cam, of its roller, and the eccentricity, m."""


def test_spline_and_its_derivatives() -> None:
    """Splines of degree 5 differ from sin by about step^6, and lose a power with each
    derivative."""
    motion = lw.linkages.cam_motion(TURN, np.sin(TURN))
    x = np.linspace(-7, 9, 400)
    exact = [np.sin(x), np.cos(x), -np.sin(x), -np.cos(x)]
    for k, values in enumerate(exact):
        assert motion(x, k) == pytest.approx(values, abs=STEP ** (6 - k))
    assert motion(TURN) == pytest.approx(np.sin(TURN), abs=1e-15)
    assert motion(x + 2 * np.pi, 2) == pytest.approx(motion(x, 2), abs=1e-12)


def test_cycloidal_rise_between_dwells() -> None:
    """Largest velocity 2h/β, largest acceleration 2πh/β² (any textbook)."""
    h, beta = 0.02, np.radians(120)
    rise = np.clip((TURN - 1.0) / beta, 0, 1) - np.clip((TURN - 3.5) / beta, 0, 1)
    lift = h * (rise - np.sin(2 * np.pi * rise) / (2 * np.pi))
    motion = lw.linkages.cam_motion(TURN, lift)
    assert abs(motion.data["velocity"]).max() == pytest.approx(2 * h / beta, rel=1e-3)
    assert abs(motion.data["acceleration"]).max() == pytest.approx(
        2 * np.pi * h / beta**2, rel=0.02
    )


def test_eccentric_circle_with_a_flat_follower() -> None:
    """The lift of a circle is E(1 − cos φ), the distance of its tangent."""
    motion = lw.linkages.cam_motion(TURN, E * (1 - np.cos(TURN)))
    cam = lw.linkages.flat_cam(motion, R - E)
    radii = np.linalg.norm(cam.profile - [0, -E], axis=1)
    assert radii == pytest.approx(R, abs=1e-8)
    assert cam.curvature_radius == pytest.approx(R, abs=E * STEP**4)
    assert not cam.is_undercut


@pytest.mark.parametrize("offset", [0.0, 0.01, -0.01])
def test_eccentric_circle_with_a_roller(offset: float) -> None:
    """The roller's centre stays R + r from the circle's, which turns at the distance E."""
    reach, start = R + ROLLER, np.array([0, -E])
    x, y = -np.sin(TURN) * start[1], np.cos(TURN) * start[1]
    height = y + np.sqrt(reach**2 - (offset - x) ** 2)
    base = np.hypot(offset, height.min()) - ROLLER
    lift = height - np.sqrt((base + ROLLER) ** 2 - offset**2)
    motion = lw.linkages.cam_motion(TURN, lift)
    cam = lw.linkages.roller_cam(motion, base, ROLLER, offset)
    assert np.linalg.norm(cam.profile - start, axis=1) == pytest.approx(R, abs=1e-7)
    assert cam.curvature_radius == pytest.approx(R, abs=1e-5)
    center = np.stack([-np.sin(cam.angles) * -E, np.cos(cam.angles) * -E], axis=1)
    tall = center[:, 1] + np.sqrt(reach**2 - (offset - center[:, 0]) ** 2)
    normal = np.stack([offset - center[:, 0], tall - center[:, 1]], axis=1)
    expected = np.arctan2(-normal[:, 0], normal[:, 1])
    assert cam.pressure_angle == pytest.approx(expected, abs=1e-6)
    assert not cam.is_undercut


def test_eccentric_circle_with_a_swinging_roller() -> None:
    """A four-bar linkage: eccentricity, R + r, arm and distance of the pins."""
    arm, distance, reach = 0.09, 0.12, R + ROLLER
    start = np.array([0, -E])
    center = np.stack([-np.sin(TURN) * start[1], np.cos(TURN) * start[1]], axis=1)
    away = np.array([distance, 0.0]) - center
    span = np.linalg.norm(away, axis=1)
    corner = np.arccos((arm**2 + span**2 - reach**2) / (2 * arm * span))
    psi = corner + np.arctan2(center[:, 1], distance - center[:, 0])
    trace = np.array([distance, 0]) + arm * np.stack([-np.cos(psi), np.sin(psi)], axis=1)
    assert np.linalg.norm(trace - center, axis=1) == pytest.approx(reach)
    base = np.linalg.norm(trace, axis=1).min() - ROLLER
    first = np.arccos((distance**2 + arm**2 - (base + ROLLER) ** 2) / (2 * distance * arm))
    motion = lw.linkages.cam_motion(TURN, psi - first)
    cam = lw.linkages.swinging_cam(motion, base, arm, distance, ROLLER)
    assert np.linalg.norm(cam.profile - start, axis=1) == pytest.approx(R, abs=1e-6)
    assert cam.curvature_radius == pytest.approx(R, abs=1e-4)


def test_undercut_is_found() -> None:
    """A roller that is larger than the bend of the pitch curve."""
    motion = lw.linkages.cam_motion(TURN, 0.01 * (1 - np.cos(6 * TURN)))
    assert lw.linkages.roller_cam(motion, 0.03, 0.03).is_undercut
    assert not lw.linkages.roller_cam(motion, 0.5, 0.002).is_undercut
    assert lw.linkages.flat_cam(motion, 0.03).is_undercut
    assert "UNDERCUT" in str(lw.linkages.flat_cam(motion, 0.03))


@pytest.mark.parametrize("degree", [3, 5])
def test_expression_is_the_spline(degree: int) -> None:
    """In a mechanism: q̈ of the lift at constant speed is the spline's second derivative."""
    table = 0.01 * (1 - np.cos(TURN[::3])) + 0.002 * np.sin(2 * TURN[::3])
    motion = lw.linkages.cam_motion(TURN[::3], table, degree)
    valve = cam_mechanism(motion)
    path = lw.solve_kinematics(valve, {"phi": "20*t - 3"}, 0.5, samples=23)
    assert path.q[:, 1] == pytest.approx(motion(path.q[:, 0]), abs=1e-13)
    assert path.qd[:, 1] == pytest.approx(20 * motion(path.q[:, 0], 1), abs=1e-11)
    assert path.qdd[:, 1] == pytest.approx(400 * motion(path.q[:, 0], 2), abs=1e-9)


def cam_mechanism(motion: lw.linkages.CamMotion) -> lw.Mechanism:
    """A cam and a follower of 0.5 kg that a constraint ties to it."""
    return lw.Mechanism(
        name="valve",
        gravity=[0, -9.81, 0],
        bodies={
            "cam": {"mass": 1.0, "inertia": {"zz": 0.01}},
            "valve": {"mass": 0.5},
        },
        joints={
            "phi": {"type": "revolute", "child": "cam"},
            "lift": {"type": "prismatic", "child": "valve", "axis": [0, 1, 0]},
        },
        constraints={
            "contact": {"type": "equation", "position": f"lift - ({motion.expression('phi')})"}
        },
        independent=["phi"],
    )


def test_contact_force_of_a_cam() -> None:
    """The multiplier is m (g + s″ω²); the cam's torque is this force times s′."""
    motion = lw.linkages.cam_motion(TURN[::3], 0.01 * (1 - np.cos(TURN[::3])))
    valve = cam_mechanism(motion)
    path = lw.solve_kinematics(valve, {"phi": "20*t"}, 0.3, samples=7)
    run = lw.solve_inverse(valve.model_copy(update={"actuators": {"u": {"moves": "phi"}}}), path)
    force = 0.5 * (9.81 + 400 * motion(path.q[:, 0], 2))
    assert run.multipliers[:, 0] == pytest.approx(force, rel=1e-9)
    assert run.tau[:, 0] == pytest.approx(force * motion(path.q[:, 0], 1), abs=1e-10)
    found = lw.linkages.analyze_linkage(valve, "phi", "valve", samples=9)
    assert found.velocity_ratio == pytest.approx(motion(found.input_values, 1), abs=1e-11)


def test_contact_force_where_the_lift_begins() -> None:
    """There s′ is 0 up to the rounding of the spline's expression: the cam stays independent."""
    motion = lw.linkages.cam_motion(TURN[::2], 0.005 * (1 - np.cos(TURN[::2])))
    valve = cam_mechanism(motion).model_copy(update={"independent": ()})
    assert lw.mobility(valve).independent == ("phi",)
    model = lw.compile(valve)
    for phi in (0.0, 1e-9, 1e-6, 0.1):
        force = 0.5 * (9.81 + 400 * motion(phi, 2))  # at constant speed, which its torque keeps
        q, qd = [phi, motion(phi)], [20.0, 20.0 * motion(phi, 1)]
        tau = [force * motion(phi, 1), 0.0]
        assert model.multipliers(q, qd, tau)[0] == pytest.approx(force, rel=1e-9)
        assert model.forward_dynamics(q, qd, tau) == pytest.approx(
            [0.0, 400 * motion(phi, 2)], rel=1e-9, abs=1e-9
        )


def test_wrong_tables_are_refused() -> None:
    for angles, values, words in (
        (TURN, TURN[:5], "72 angles and 5 values"),
        (TURN[:4], TURN[:4], "at least 6"),
        (TURN[::-1], TURN, "must increase within one turn"),
        (np.degrees(TURN), TURN, "must increase within one turn"),
        (
            np.append(TURN, 2 * np.pi),
            np.arange(73.0),
            "begins with 0 and ends a turn later with 72",
        ),
        (TURN, np.full(72, np.nan), "values"),
    ):
        with pytest.raises(lw.LinkwrightError, match=words):
            lw.linkages.cam_motion(angles, values)
    motion = lw.linkages.cam_motion(TURN, np.sin(TURN))
    for make, words in (
        (lambda: lw.linkages.cam_motion(TURN, TURN * 0, 4), "degree cannot be 4"),
        (lambda: lw.linkages.roller_cam(motion, -1), "base_radius"),
        (lambda: lw.linkages.roller_cam(motion, 1, -1), "roller_radius cannot be -1"),
        (lambda: lw.linkages.roller_cam(motion, 1, 0, 2), "offset 2 m is not inside"),
        (lambda: lw.linkages.swinging_cam(motion, 1, 0.1, 5), "cannot touch the base circle"),
    ):
        with pytest.raises(lw.LinkwrightError, match=words):
            make()
