"""Motions against closed forms and the numbers of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import linkwright as lw
from linkwright.errors import LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.formulations import FORMULATIONS
from linkwright.simulation.steppers import stepper_choice
from tests.commands import ok, run

PENDULUM = lw.Mechanism(
    name="pendulum", gravity=[0, "-9.81", 0], bodies={"rod": {"mass": 1, "center": [1, 0, 0]}},
    joints={"q": {"type": "revolute", "child": "rod"}},
)  # fmt: skip
INTEGRATORS = ("dop853", "rk45", "radau", "bdf", "lsoda")


def test_pendulum_for_a_hundred_seconds() -> None:
    """IFToMM A01, released from the horizontal: elliptic functions, to 1e-9 at 100 s."""
    found = lw.simulate(PENDULUM, 100.0, q0=[np.pi], rtol=1e-13, atol=1e-13, samples=101)
    w = np.sqrt(9.81)
    s = np.sqrt(0.5) * ellipj(ellipk(0.5) - w * found.t, 0.5)[0]
    np.testing.assert_allclose(np.cos(found.q[:, 0]), -2 * s * np.sqrt(1 - s**2), atol=1e-9)
    assert found.audit < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [2e-13, 1e-13, 6e-14])
def test_the_error_that_the_documentation_claims_for_a_hundred_seconds(tolerance: float) -> None:
    """About 1e-10, whichever way the errors of steps happen to add up at a tolerance."""
    found = lw.simulate(PENDULUM, 100.0, q0=[np.pi], rtol=tolerance, atol=tolerance, samples=11)
    s = np.sqrt(0.5) * ellipj(ellipk(0.5) - np.sqrt(9.81) * found.t, 0.5)[0]
    np.testing.assert_allclose(np.cos(found.q[:, 0]), -2 * s * np.sqrt(1 - s**2), atol=2e-10)


def test_the_readme_counts_the_integrators() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"{len(stepper_choice.INTEGRATORS)} integrators" in readme


@pytest.mark.parametrize(
    "by", [by for by in FORMULATIONS if by not in ("approximate", "multipliers")]
)
def test_triple_pendulum(by: str) -> None:
    """Every formulation in its own states gives the reference's angles; those of free bodies need
    inertia, which the reference has not: there they are compared among each other."""
    bare = by != "newton_euler"
    arm = lw.gallery("triple-pendulum")
    if bare:
        arm = arm.with_parameters(I1=0, I2=0, I3=0)
    found = lw.simulate(arm, 3.0, q0=[0, 0, 0], by=by, samples=31, rtol=1e-12, atol=1e-13)
    wanted = {
        10: (-1.712889431890, -1.734778857568, -2.430988777792),
        17: (-3.302345005463, -3.066737664237, -2.709559652438),
        30: (-1.076589347986, -0.438075146371, -0.167969711761),
    }
    if not bare:
        other = lw.simulate(arm, 3.0, q0=[0, 0, 0], samples=31, rtol=1e-12, atol=1e-13)
        wanted = {k: other.q[k] for k in wanted}
    for k, angles in wanted.items():
        np.testing.assert_allclose(found.q[k], angles, atol=3e-9)
    assert found.audit < 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_slider_crank_of_sundials(integrator: str) -> None:
    crank = lw.gallery("slider-crank-sundials")
    tolerance = 1e-9 if integrator in ("dop853", "rk45") else 1e-10
    found = lw.simulate(crank, 10.0, integrator=integrator, samples=11, rtol=tolerance, atol=1e-11)
    q = [1.315420570882, -1.429996967647, 1.275675848650]
    x = [1.001491807231, 0.939030613578, 1.023578558980]
    np.testing.assert_allclose(found.q[[1, 5, 10], 0], q, atol=3e-8)
    np.testing.assert_allclose(found.q[[1, 5, 10], 1], x, atol=3e-8)
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-7


def test_bricard() -> None:
    """IFToMM A04, an over-constrained loop: the point that starts at (1, −1, 0)."""
    linkage = lw.gallery("bricard")
    found = lw.simulate(linkage, 10.0, samples=11, rtol=1e-11, atol=1e-12)
    model = lw.compile(linkage)
    names = list(linkage.frames)
    start = {name: model.placement(name)(found.q[0])[:3, 3] for name in names}
    name = next(n for n, p in start.items() if np.allclose(p, [1, -1, 0]))
    points = model.placement(name)(found.q)[:, :3, 3]
    np.testing.assert_allclose(points[1], [0.274481319, -0.886707939, -0.462330003], atol=2e-8)
    np.testing.assert_allclose(points[2], [-0.778135373, -0.980352683, -0.197252671], atol=2e-8)
    np.testing.assert_allclose(points[10], [0.999730987, -0.999999964, -0.000268977], atol=2e-6)
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-8


def test_four_bar_keeps_its_energy() -> None:
    found = lw.simulate(lw.gallery("four-bar"), 10.0)
    assert found.finished
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-8


def test_free_fall_on_a_slide() -> None:
    slide = lw.Mechanism(
        bodies={"block": {"mass": 3}}, joints={"s": {"type": "prismatic", "child": "block"}}
    )
    found = lw.simulate(slide, 2.0, qd0={"s": 5.0})
    np.testing.assert_allclose(found.q[:, 0], 5 * found.t - 9.81 * found.t**2 / 2, atol=1e-12)


def test_spin_of_an_axisymmetric_body() -> None:
    """Without torque, ω turns about the figure axis at (1 − Iz/Ix) ωz; quaternions stay of
    length 1, and angular momentum is constant."""
    body = lw.Mechanism(
        gravity=[0, 0, 0], bodies={"top": {"mass": 1, "inertia": [2, 2, 1]}},
        joints={"f": {"type": "free", "child": "top"}},
    )  # fmt: skip
    start = {"f.wx": 0.3, "f.wz": 2.0}
    found = lw.simulate(body, 10.0, qd0=start, rtol=1e-11, atol=1e-12)
    rate = (1 - 1 / 2) * 2.0
    np.testing.assert_allclose(found.qd[:, 0], 0.3 * np.cos(rate * found.t), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found.q[:, 3:], axis=1), 1, atol=1e-14)
    h = lw.compile(body).momentum(found.q, found.qd)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-8)


def test_reversal_of_time() -> None:
    arm = lw.gallery("stanford").without("friction", "damping")
    there = lw.simulate(arm, 1.0, qd0={"q1": 1.0, "q2": -0.5})
    back = lw.simulate(arm, 1.0, q0=there.q[-1], qd0=-there.qd[-1])
    np.testing.assert_allclose(back.q[-1], there.q[0], atol=1e-6)


def test_work_of_drives_and_losses() -> None:
    """A damped joint under a sine: what goes in and what is lost is what energy changes by."""
    arm = replaced_damping(lw.gallery("elbow"), 0.4)
    found = lw.simulate(arm, 3.0, torque={"q1": "4*sin(3*t) - 0.2*dq1", "q2": 0.5})
    assert found.audit < 1e-8
    assert np.ptp(found.energy) > 1
    table = ([0.0, 1.0, 3.0], [0.0, 2.0, 1.0])
    by_table = lw.simulate(arm, 3.0, torque={"q1": table}, rtol=1e-8, atol=1e-9)
    by_function = lw.simulate(
        arm, 3.0, torque=lambda t, q, qd: [np.interp(t, *table), 0.0], rtol=1e-8, atol=1e-9
    )
    np.testing.assert_allclose(by_table.q, by_function.q, atol=1e-6)


def replaced_damping(arm: lw.Mechanism, damping: float) -> lw.Mechanism:
    joints = {n: j.model_copy(update={"damping": damping}) for n, j in arm.joints.items()}
    return arm.model_copy(update={"joints": joints})


def test_driven_crank_does_work() -> None:
    """A rheonomic constraint does what its force times velocity says."""
    linkage = lw.gallery("four-bar").model_copy(
        update={
            "independent": (),
            "constraints": {"motor": {"type": "drive", "on": "theta1", "position": "1 + 2*t"}},
        }
    )
    found = lw.simulate(linkage, 2.0)
    np.testing.assert_allclose(found.q[:, 0], 1 + 2 * found.t, atol=1e-9)
    assert found.audit < 1e-8
    assert np.ptp(found.work) > 1


@pytest.mark.parametrize("name", ["rolling-disk", "car", "sharp-edged-disk", "stewart", "five-bar"])
def test_constrained_mechanisms_keep_their_constraints(name: str) -> None:
    mechanism = lw.gallery(name)
    first = lw.compile(mechanism).independent_names[0]
    found = lw.simulate(mechanism, 1.0, qd0={first: 0.4})
    assert found.finished
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-7


def test_singular_configurations_are_reported() -> None:
    """Cranks of the row of windows lie flat on the way; a four-bar that swings has no such time."""
    windows = lw.simulate(lw.gallery("n-four-bar"), 1.0, qd0={"theta0": -1.0})
    flat = windows.t[np.argmin(np.abs(np.sin(windows.q[:, 0])))]
    assert len(windows.singular) >= 1
    assert np.abs(np.array(windows.singular) - flat).min() < 0.02
    assert lw.simulate(lw.gallery("four-bar"), 1.0).singular == ()


def test_wrong_requests() -> None:
    for options, what in (
        ({"integrator": "magic"}, "unknown integrator 'magic'"),
        ({"t": -1.0}, "must be a"),
        ({"q0": [1, 2]}, "q0 is not 1 finite"),
        ({"q0": {"p": 1}}, "unknown coordinate 'p'"),
        ({"torque": {"p": 1}}, "unknown velocity 'p'"),
        ({"torque": {"q": "1 +"}}, "1 +"),
        ({"torque": [1, 2]}, "shape"),
        ({"torque": {"q": ([0, 0], [1, 1])}}, "increasing times"),
    ):
        with pytest.raises((LinkwrightError, NameNotFoundError, UnsupportedError), match=None) as e:
            lw.simulate(PENDULUM, **{"t": 0.1, **options})
        assert what in str(e.value)
    with pytest.raises(LinkwrightError, match="do not close at q0"):
        lw.simulate(lw.gallery("four-bar"), 0.1, q0=[0.0, 0.0, 0.0])


def test_command(tmp_path) -> None:
    text = ok("simulate", "four-bar", "theta1=60deg", "-t", "0.5", "-o", str(tmp_path / "run.csv"))
    assert "status: finished" in text
    assert (tmp_path / "run.csv").exists()
    assert run("simulate", "elbow", "-t", "1", "--integrator", "x").returncode == 2


def test_disk_that_rolls_in_a_circle() -> None:
    """A lean θ and a turn Ω that last: Euler's equation along the tangent gives the spin ω about
    the axle, ω Ω cos θ (J + m r²) = sin θ (I Ω² cos θ − m g r); the centre goes round at r ω."""
    m, r, g, theta, turn = 1.0, 0.5, 9.81, 0.3, -2.0
    I, J = m * r**2 / 4, m * r**2 / 2
    s, c = np.sin(theta), np.cos(theta)
    spin = s * (I * turn**2 * c - m * g * r) / (turn * c * (J + m * r**2))
    start = {"x": 0.0, "y": 0.0, "psi": 0.0, "theta": theta, "phi": 0.0}
    rates = {"psi": turn, "theta": 0.0, "phi": spin - turn * s}
    run = lw.simulate(lw.gallery("rolling-disk"), 3.0, q0=start, qd0=rates, samples=31)
    q = dict(zip(run.data["coordinate"].values.tolist(), run.q.T, strict=True))
    angle, around = turn * run.t, r * spin / turn
    wanted = {
        "x": around * np.sin(angle), "y": around * (1 - np.cos(angle)), "z": r * c + 0 * angle,
        "psi": angle, "theta": theta + 0 * angle, "phi": (spin - turn * s) * run.t,
    }  # fmt: skip
    for name, values in wanted.items():
        np.testing.assert_allclose(q[name], values, atol=1e-7, err_msg=name)
