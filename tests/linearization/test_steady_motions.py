"""Steady motions with rolling and quaternions: published numbers and closed forms by hand."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.linearization import linearize, steady_motion, sweep_eigenvalues
from tests.commands import ok, run
from tests.constrained.rolling_examples import values
from tests.references import bicycle

BICYCLE = lw.gallery("bicycle")
G = 9.81

PUBLISHED_WEAVE, PUBLISHED_CAPSIZE = 4.292382536341090, 6.024262015388370

PUBLISHED_EIGENVALUES = {
    0.0: [-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393],
    1.0: [
        -7.11008014637442, -3.13423125066578,
        3.52696170990070 - 0.80774027519930j, 3.52696170990070 + 0.80774027519930j,
    ],
    5.0: [
        -14.07838969279822, -0.77534188219585 - 4.46486771378823j,
        -0.77534188219585 + 4.46486771378823j, -0.32286642900409,
    ],
    10.0: [
        -24.62459635017404, -3.72016840437287 - 10.90681139476287j,
        -3.72016840437287 + 10.90681139476287j, 0.16105338653172,
    ],
}  # fmt: skip
"""Table 2 of Meijaard, Papadopoulos, Ruina and Schwab (2007)."""


def quaternion_bicycle() -> lw.Mechanism:
    """The bicycle whose frame turns by a quaternion; its lean is about the joint's y."""
    folder = files("linkwright.mechanism.gallery_files")
    text = (folder / "bicycle.toml").read_text(encoding="utf-8")
    text = text[: text.index("[coordinates.new]")]
    text = text.replace('rotation = "cardan"\n', "").replace("\nz = ", '\n"frame.x" = ')
    return lw.load(
        text.replace('["phi", "thetaR", "delta"]', '["frame.wy", "rear_axle", "steering"]')
    )


@pytest.mark.parametrize("v", [0.0, 1.0, 5.0, 10.0])
def test_eigenvalues_of_the_bicycle_are_the_published_ones(v: float) -> None:
    found = steady_motion(BICYCLE, qd={"v": v})
    assert found.linear.states[:7] == ("x", "y", "psi", "phi", "thetaR", "delta", "thetaF")
    assert found.linear.ignorable == ("x", "y", "psi", "thetaR", "thetaF")
    lean_and_steer = found.linear.keep_states(["phi", "delta", "dphi", "ddelta"])
    wanted = np.array(PUBLISHED_EIGENVALUES[v], dtype=complex)
    np.testing.assert_allclose(np.sort_complex(lean_and_steer.eigenvalues), wanted, atol=1e-11)
    A = bicycle.canonical(values(BICYCLE)).state_matrix(v)
    np.testing.assert_allclose(lean_and_steer.A, A, atol=1e-11)
    assert found.kind == {0.0: "unstable", 1.0: "unstable", 5.0: "neutral", 10.0: "unstable"}[v]


def test_quaternions_have_the_same_eigenvalues() -> None:
    """Small rotations in the frame's axes: dδθ/dt = δω − ω × δθ, and the like for positions."""
    other = quaternion_bicycle()
    model = lw.compile(other)
    assert model.nq == model.nv + 1
    found = steady_motion(other, qd={"rear_axle": 5.0 / 0.3})
    assert found.linear.states[-3:] == ("frame.wy", "drear_axle", "dsteering")
    moving = np.sort_complex(found.eigenvalues[np.abs(found.eigenvalues) > 1e-6])
    np.testing.assert_allclose(moving, PUBLISHED_EIGENVALUES[5.0], atol=1e-9)


def test_weave_and_capsize_speeds_by_one_call() -> None:
    found = sweep_eigenvalues(BICYCLE, "v", np.linspace(0.0, 10.0, 21))
    weave, capsize = found.crossings
    assert weave.value == pytest.approx(PUBLISHED_WEAVE, rel=1e-13)
    assert weave.is_oscillatory
    assert not weave.is_growing_beyond
    assert capsize.value == pytest.approx(PUBLISHED_CAPSIZE, rel=1e-13)
    assert not capsize.is_oscillatory
    assert capsize.is_growing_beyond
    assert found.stable_ranges() == [(weave.value, capsize.value)]


def test_a_disk_rolls_upright_above_its_critical_speed() -> None:
    """A thin uniform disk: φ̇² > g/3r (Routh); below it falls at once, above it only swings."""
    found = sweep_eigenvalues(lw.gallery("rolling-disk"), "phi", np.linspace(1.0, 4.0, 7))
    (critical,) = found.crossings
    assert critical.value == pytest.approx(np.sqrt(G / (3 * 0.5)), rel=1e-10)
    assert not critical.is_growing_beyond
    assert found.unit == "rad/s"


def test_a_disk_rolls_in_a_circle() -> None:
    """Lean θ, heading rate ψ̇ and spin φ̇ of a steady circle, from the moment about the contact:
    (J + m r²) ψ̇ φ̇ cos θ + (J + m r² − I) ψ̇² sin θ cos θ + m g r sin θ = 0, by hand."""
    theta, psi = 0.3, 1.0
    m, r = 1.0, 0.5
    I, J = m * r**2 / 4, m * r**2 / 2
    spin = -(m * G * r * np.tan(theta) + (J + m * r**2 - I) * psi**2 * np.sin(theta))
    spin /= (J + m * r**2) * psi
    disk = lw.gallery("rolling-disk")
    found = steady_motion(disk, {"theta": theta}, {"psi": psi})
    assert found.linear.ignorable == ("x", "y", "psi", "phi")
    assert found.qd[5] == pytest.approx(spin, rel=1e-12)
    motion = lw.simulate(disk, 2.0, q0=found.q, qd0=found.qd, samples=5)
    np.testing.assert_allclose(motion.q[:, 4], theta, atol=1e-9)


def test_a_top_sleeps_and_precesses() -> None:
    """Lagrange's top: it stands upright for (J Ω)² > 4 I m g l; leaning, it precesses at rates
    p with I p² cos θ − J Ω p + m g l = 0, where Ω is the spin about its axis."""
    m, l, I, J = 1.0, 0.3, 0.2, 0.05
    top = lw.Mechanism(
        name="top",
        bodies={"a": {}, "b": {}, "top": {"mass": m, "center": [0, 0, l],
                "inertia": [I - m * l**2, I - m * l**2, J]}},
        joints={"psi": {"type": "revolute", "child": "a"},
                "theta": {"type": "revolute", "parent": "a", "child": "b", "axis": [1, 0, 0]},
                "phi": {"type": "revolute", "parent": "b", "child": "top"}},
    )  # fmt: skip
    theta, spin_rate = 0.6, 40.0
    found = steady_motion(top, {"theta": theta}, {"phi": spin_rate})
    p = found.qd[0]
    omega = spin_rate + p * np.cos(theta)
    assert I * p**2 * np.cos(theta) - J * omega * p + m * G * l == pytest.approx(0, abs=1e-9)
    assert found.kind == "neutral"
    ball = lw.Mechanism(
        name="ball",
        bodies={
            "top": {"mass": m, "center": [0, 0, l], "inertia": [I - m * l**2, I - m * l**2, J]}
        },
        joints={"ball": {"type": "spherical", "child": "top"}},
    )
    critical = np.sqrt(4 * I * m * G * l) / J
    for share, grows in ((0.98, True), (1.02, False)):
        rate = share * critical
        linear = linearize(ball, qd={"ball.wz": rate})
        assert linear.states[:3] == ("ball.rx", "ball.ry", "ball.rz")
        # in the top's own axes: λ = ±iΩ shifted roots of I λ² − i J Ω λ − m g l = 0
        roots = np.roots([I, -1j * J * rate, -m * G * l]) - 1j * rate
        upright = linear.keep_states(["ball.rx", "ball.ry", "ball.wx", "ball.wy"])
        for root in roots:
            assert np.abs(upright.eigenvalues - root).min() < 1e-8
        assert bool(upright.eigenvalues.real.max() > 1e-6) is grows


def test_what_is_not_steady_says_so() -> None:
    with pytest.raises(LinkwrightError, match="no steady motion was found: "):
        steady_motion(BICYCLE, {"delta": 0.05}, {"v": 5.0})
    with pytest.raises(LookupError, match="unknown speed 'w9'"):
        steady_motion(BICYCLE, qd={"w9": 5.0})
    with pytest.raises(LinkwrightError, match=r"the speed '.*' = .* contradicts"):
        steady_motion(BICYCLE, qd={"v": 5.0, "thetaR": 1.0})
    driven = lw.Mechanism(
        bodies={"b": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={"q": {"type": "revolute", "child": "b"}},
        constraints={"motor": {"type": "drive", "on": "q", "position": "2*t"}},
    )
    with pytest.raises(UnsupportedError, match="depends on time has no steady motion"):
        steady_motion(driven)
    with pytest.raises(LookupError, match="unknown speed, coordinate or parameter 'w9'"):
        sweep_eigenvalues(BICYCLE, "w9", [1.0, 2.0])
    with pytest.raises(LinkwrightError, match="must increase"):
        sweep_eigenvalues(BICYCLE, "v", [2.0, 1.0])
    moving = linearize(lw.gallery("elbow"), {"q1": 0.3}, {"q1": 1.0})
    assert not moving.is_steady


def governor() -> lw.Mechanism:
    """A bob on a shaft of constant speed Ω, which hangs for Ω² < g/l; beyond, it swings out."""
    return lw.Mechanism(
        name="governor",
        parameters={"l": 1.0},
        bodies={"shaft": {"mass": 1, "inertia": [1, 1, 1]}, "bob": {"mass": 2, "center": [0, 0, "-l"]}},
        joints={"shaft": {"type": "revolute", "child": "shaft"},
                "q": {"type": "revolute", "parent": "shaft", "child": "bob", "axis": [0, 1, 0]}},
    )  # fmt: skip


def test_a_governor_leaves_its_axis_over_a_speed() -> None:
    found = sweep_eigenvalues(governor(), "shaft", [2.0, 3.0, 4.0], q={"q": 0.0})
    assert [one.value for one in found.crossings] == pytest.approx([np.sqrt(G)], rel=1e-10)
    out = steady_motion(governor(), [0.0, 1.0], {"shaft": 4.0})
    assert np.cos(out.q[1]) == pytest.approx(G / 16, rel=1e-10)


@pytest.mark.slow
def test_a_governor_leaves_its_axis_over_a_parameter() -> None:
    found = sweep_eigenvalues(governor(), "l", [0.4, 0.8, 1.2], q={"q": 0.0}, qd={"shaft": 4.0})
    assert [one.value for one in found.crossings] == pytest.approx([G / 16], rel=1e-9)


def test_the_command_sweeps_a_speed(tmp_path: Path) -> None:
    picture, arrays = tmp_path / "bicycle.svg", tmp_path / "bicycle.npz"
    shown = ok(
        "linearize", "bicycle", "--speed", "v=3..7", "--samples", "5",
        "--plot", str(picture), "-o", str(arrays),
    )  # fmt: skip
    assert "v = 4.292382536: an oscillation of 3.43503 rad/s ceases to grow" in shown
    assert "v = 6.024262015: a motion begins to grow" in shown
    assert "no small motion grows for v from 4.29238 to 6.02426" in shown
    assert "6.024" in picture.read_text(encoding="utf-8")
    found = np.load(arrays)
    np.testing.assert_allclose(found["v"], np.linspace(3, 7, 5))
    assert found["eigenvalues"].shape == (5, 5)


def test_commands_about_steady_motions() -> None:
    found = json.loads(ok("steady", "rolling-disk", "theta=0.3", "--speed", "psi=1", "--json"))
    assert found["kind"] == "neutral"
    assert found["q"][4] == pytest.approx(0.3)
    shown = ok("steady", "bicycle", "--speed", "v=5")
    assert "ignorable coordinates: x, y, psi, thetaR, thetaF" in shown
    for words, said in (
        (["--speed", "v=0.."], "'v=0..' is not a range; write v=0..10"),
        (["--speed", "v=5..1"], "'v=5..1' does not increase"),
        (["--speed", "v=0..1", "--speed", "x=0..1"], "v and x are ranges"),
        (["--speed", "v=5", "--plot", "x.svg"], "--plot shows eigenvalues over a range"),
        (["--speed", "v=0..5", "--bode", "x.svg"], "--bode needs one state, and v is a range"),
    ):
        done = run("linearize", "bicycle", *words)
        assert done.returncode == 2
        assert said in done.stderr


def test_the_velocities_of_a_pose_are_those_of_the_state(tmp_path: Path) -> None:
    """A rotor with drag 3 ω²: the slope of its rate at ω = 2 is −12."""
    text = """name = "rotor"
[bodies.a]
mass = 1
inertia = { zz = 1 }
[joints.q1]
type = "revolute"
child = "a"
[forces.drag]
type = "joint"
on = "q1"
force = "-3*dq1^2"
[poses.fast]
q = { q1 = 0.3 }
qd = { q1 = 2 }
"""
    (tmp_path / "rotor.toml").write_text(text, encoding="utf-8")
    words = ("linearize", "rotor.toml", "fast", "--speed", "fast", "--json")
    found = json.loads(ok(*words, cwd=tmp_path))
    np.testing.assert_allclose(found["A"], [[0, 1], [0, -12]], atol=1e-12)
