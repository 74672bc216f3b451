"""Inputs, outputs, discrete models, frequency responses and root loci against SciPy,
python-control and differences."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, MissingExtraError, UnsupportedError
from linkwright.linearization import Linear, close_loop, linearize
from tests.commands import ok

ARM = lw.gallery("elbow")
STATE = {"q1": -0.7, "q2": 0.4}, {"q1": 0.5, "q2": -0.3}


def ordered(values: np.ndarray) -> np.ndarray:
    """Eigenvalues of undamped oscillations by their frequency: real parts are rounding."""
    return np.asarray(values)[np.argsort(np.imag(values))]


def test_a_neighbouring_steady_motion_is_not_stability() -> None:
    """A bicycle that is pushed forward keeps its new speed: an eigenvalue is 0 up to rounding."""
    upright = linearize(lw.gallery("bicycle"), qd={"v": 5.0}).drop_ignorable()
    assert sorted(abs(upright.eigenvalues))[0] < 1e-9
    assert not upright.is_stable
    assert not upright.discretize(0.01).is_stable
    speed = ("dthetaR",)
    others = upright.keep_states([name for name in upright.states if name not in speed])
    assert others.is_stable
    assert others.discretize(0.01).is_stable


def hanging() -> Linear:
    return linearize(ARM, {"q1": "-90 deg"}, inputs=["q1"], outputs=["q1", "tool.x"])


def test_outputs_of_frames_are_derivatives_of_their_motion() -> None:
    """Against central differences of the compiled motions of the frame."""
    words = ["tool.x", "tool.y", "tool.vx", "tool.vy", "tool.wz", "tool.ax", "tool.alphaz", "ddq2"]
    linear = linearize(ARM, *STATE, outputs=words)
    model, h = lw.compile(ARM), 1e-6

    def measured(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        q, qd = x[:2], x[2:]
        qdd = model.forward_dynamics(q, qd, tau)
        place, V = model.placement("tool")(q)[:3, 3], model.frame_velocity("tool")(q, qd)
        A = model.frame_acceleration("tool")(q, qd, qdd)
        return np.array([place[0], place[1], V[3], V[4], V[2], A[3], A[2], qdd[1]])

    x, rest = np.array([-0.7, 0.4, 0.5, -0.3]), np.zeros(2)
    for k, e in enumerate(h * np.eye(4)):
        slope = (measured(x + e, rest) - measured(x - e, rest)) / (2 * h)
        np.testing.assert_allclose(linear.C[:, k], slope, atol=1e-7)
    for k, e in enumerate(np.eye(2)):
        np.testing.assert_allclose(linear.D[:, k], measured(x, e) - measured(x, rest), atol=1e-10)


def test_inputs_are_generalized_forces_and_forces_on_frames() -> None:
    """A force on a frame acts as Jᵀ of it; the order is as asked."""
    model = lw.compile(ARM)
    linear = linearize(ARM, *STATE, inputs=["tool.fy", "q2", "tool.mz"])
    q = np.array([-0.7, 0.4])
    J, inverse = model.jacobian("tool")(q), np.linalg.inv(model.mass_matrix(q))
    wanted = inverse @ np.column_stack([J[4], [0, 1], J[2]])
    np.testing.assert_allclose(linear.B[2:], wanted, rtol=1e-12, atol=1e-13)
    with pytest.raises(LookupError, match="unknown input 'nose'"):
        linearize(ARM, inputs=["nose"])


def test_discrete_models_and_scipy() -> None:
    linear = hanging()
    ours, theirs = linear.discretize(0.02), linear.to_scipy().to_discrete(0.02)
    for key in "ABCD":
        np.testing.assert_allclose(getattr(ours, key), getattr(theirs, key), atol=1e-13)
    assert ours.to_scipy().dt == 0.02
    np.testing.assert_allclose(ours.frequencies, linear.frequencies, rtol=1e-10)
    assert "sampled every 0.02 s" in ours.summary()
    with pytest.raises(LinkwrightError, match="already discrete"):
        ours.discretize(0.1)
    with pytest.raises(LinkwrightError, match="dt must be positive"):
        linear.discretize(0.0)


def test_python_control_has_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    control = pytest.importorskip("control")
    linear = hanging()
    theirs = linear.to_control()
    assert theirs.state_labels == list(linear.states)
    assert theirs.output_labels == ["q1", "tool_x"]
    np.testing.assert_allclose(ordered(theirs.poles()), ordered(linear.eigenvalues), atol=1e-12)
    omega = np.array([0.1, 1.0, 7.0])
    ours = linear.frequency_response(omega)
    np.testing.assert_allclose(ours, np.moveaxis(theirs(1j * omega), -1, 0), rtol=1e-9)
    discrete = linear.discretize(0.05)
    np.testing.assert_allclose(
        discrete.frequency_response(omega),
        np.moveaxis(discrete.to_control()(np.exp(1j * omega * 0.05)), -1, 0),
        rtol=1e-9,
    )
    roots = control.root_locus_map(theirs[0, 0], gains=[0.0, 5.0, 50.0]).loci
    found = close_loop(linear, "q1", "q1", [0.0, 5.0, 50.0])
    for one, other in zip(found.eigenvalues, roots, strict=True):
        np.testing.assert_allclose(ordered(one), ordered(other), atol=1e-8)
    np.testing.assert_allclose(ordered(found.zeros), ordered(theirs[0, 0].zeros()), atol=1e-8)
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingExtraError, match=r"install linkwright\[control\]"):
        linear.to_control()


def test_states_that_act_on_others_cannot_be_dropped() -> None:
    cart = linearize(lw.gallery("cart-pole"), {"theta": np.pi})
    assert cart.ignorable == ("x",)
    small = cart.drop_ignorable()
    assert small.states == ("theta", "dx", "dtheta")
    assert small.outputs == ("theta",)
    np.testing.assert_allclose(
        np.sort(np.append(small.eigenvalues.real, 0.0)), np.sort(cart.eigenvalues.real), atol=1e-9
    )
    with pytest.raises(LinkwrightError, match="'theta' acts on 'dx'"):
        cart.keep_states(["dx"])
    with pytest.raises(LookupError, match="unknown state 'phi'"):
        cart.keep_states(["phi"])


def test_models_along_a_motion_have_no_single_state_space() -> None:
    run = lw.simulate(ARM, 0.2, samples=3)
    with pytest.raises(UnsupportedError, match="the linear model has 3 times"):
        linearize(ARM, along=run).to_scipy()


def test_branches_of_root_loci_meet_without_gaps() -> None:
    """Under u = −k θ the eigenvalues of a cart-pole meet at 0 and part at right angles."""
    linear = linearize(lw.gallery("cart-pole"), inputs=["x"], outputs=["theta"])
    loop = close_loop(linear)
    size = np.abs(linear.eigenvalues).max()
    near = np.abs(loop.eigenvalues) < size
    steps = np.where(near[:-1], np.abs(np.diff(loop.eigenvalues, axis=0)), 0)
    assert steps.max() < 0.011 * size
    x = loop.eigenvalues[near]
    assert (np.minimum(np.abs(x.real), np.abs(x.imag)) < 1e-6 * size).all()


def test_pictures_of_linear_models(tmp_path: Path) -> None:
    linear = hanging()
    figure = lw.show.bode(linear, outputs=["q1"], frequencies=[0.5, 1.0], path=tmp_path / "b.svg")
    size, phase = (axes.get_lines()[0].get_ydata() for axes in figure.axes)
    wanted = linear.frequency_response([0.5, 1.0])[:, 0, 0]
    np.testing.assert_allclose(size, 20 * np.log10(np.abs(wanted)))
    np.testing.assert_allclose(phase, np.degrees(np.angle(wanted)), atol=1e-9)
    ticks = lw.show.bode(lw.linearize(lw.gallery("cart-pole"))).axes[1].get_yticks()
    assert (ticks % 15 == 0).all()
    strut = lw.Mechanism(
        name="strut", gravity=[0, 0, 0], bodies={"body": {"mass": 300}, "wheel": {"mass": 40}},
        joints={"zb": {"type": "prismatic", "child": "body"},
                "zw": {"type": "prismatic", "child": "wheel", "stiffness": 180000}},
        lengths={"strut": {"factors": {"zb": 1, "zw": -1}, "stiffness": 16000, "damping": 1200}},
        actuators={"act": {"length": "strut"}},
    )  # fmt: skip
    for outputs in (["zb"], ["zb", "ddzb"]):  # over 250 and 440 degrees
        pushed = lw.linearize(strut, inputs=["act"], outputs=outputs)
        ticks = lw.show.bode(pushed).axes[1].get_yticks()
        assert set(np.diff(ticks)) <= {45, 90}, ticks
    locus = lw.show.root_locus(linear, gains=[0.0, 1.0], path=tmp_path / "r.svg")
    assert len(locus.axes[0].get_lines()) == 4 + 2 + 1  # branches, poles and zeros, the axis
    with pytest.raises(LookupError, match="has no input 'q9'"):
        lw.show.bode(linear, "q9")
    with pytest.raises(LinkwrightError, match="frequencies must be positive"):
        lw.show.bode(linear, frequencies=[0.0])
    done = json.loads(
        ok("linearize", "elbow", "q1=-90deg", "--inputs", "q1", "--sample-time", "10ms",
           "--bode", str(tmp_path / "c.svg"), "--root-locus", str(tmp_path / "d.svg"), "--json")
    )  # fmt: skip
    assert done["sample_time"] == 0.01
    assert done["pictures"] == [str(tmp_path / "c.svg"), str(tmp_path / "d.svg")]
    np.testing.assert_allclose(done["A"], linear.discretize(0.01).A, atol=1e-12)
    assert {path.name for path in tmp_path.iterdir()} == {"b.svg", "c.svg", "d.svg", "r.svg"}


SERVO = """
name = "servo arm"
gravity = [0, 0, -9.81]
[bodies.arm]
mass = 2.0
center = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.q]
type = "revolute"
child = "arm"
axis = [0, -1, 0]
[actuators.servo]
joint = "q"
gear = 2.0
gain = [200, 0, 0]
bias = [0, -200, -10]
[actuators.rope]
moves = "sin(q)"
"""


def test_controls_of_servos_are_inputs(tmp_path: Path) -> None:
    """I q̈ = −m g l cos q + 2·(200 (c − 2q) − 10·2q̇) + cos q · r, by hand about its rest."""
    arm = lw.load(SERVO)
    inertia, weight, pull = 0.1 + 2 * 0.5**2, 2 * 9.81 * 0.5, 3.0
    rest = lw.linearization.steady_motion(arm, controls={"servo": 0.8, "rope": pull})
    q = float(rest.q[0])
    assert (pull - weight) * np.cos(q) + 400 * (0.8 - 2 * q) == pytest.approx(0, abs=1e-9)
    linear = linearize(arm, rest.q, controls={"servo": 0.8, "rope": pull})
    stiffness = 800 + (pull - weight) * np.sin(q)
    np.testing.assert_allclose(
        linear.A, [[0, 1], [-stiffness / inertia, -40 / inertia]], rtol=1e-10
    )
    np.testing.assert_allclose(linear.B[1], [400 / inertia, np.cos(q) / inertia], rtol=1e-12)
    assert linear.inputs == ("servo", "rope")
    assert linear.is_steady
    efforts = linearize(arm, rest.q)  # without controls: efforts, and no servo
    np.testing.assert_allclose(efforts.B[1], [2 / inertia, np.cos(q) / inertia], rtol=1e-12)
    with pytest.raises(LookupError, match="unknown actuator 'motor'"):
        linearize(arm, controls={"motor": 1.0})
    slow = lw.load(SERVO.replace("gear = 2.0", "gear = 2.0\nactivation = { time_constant = 0.1 }"))
    with pytest.raises(UnsupportedError, match="activation of 'servo' has a state of its own"):
        linearize(slow, controls={})
    file = tmp_path / "servo.toml"
    file.write_text(SERVO, encoding="utf-8")
    words = [str(file), "--control", "servo=0.8", "--control", "rope=3", "--json"]
    assert json.loads(ok("steady", *words))["q"] == pytest.approx([q])
    assert json.loads(ok("linearize", words[0], f"q={q!r}", *words[1:]))["A"][1][
        0
    ] == pytest.approx(-stiffness / inertia)
