"""Rest, frequencies and linear models against closed forms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.cli.commands.linearize_command import linearize as linearize_command
from linkwright.errors import AssemblyError, LinkwrightError
from linkwright.linearization import equilibria, equilibrium, linearize
from tests.commands import ok

G = 9.81


def test_pendulum_hangs_and_stands() -> None:
    """A uniform rod: ω² = 3g/2l hanging, and runs away at the same rate standing."""
    found = equilibria(lw.gallery("chain-1"))
    assert sorted(one.is_stable for one in found) == [False, True]
    rate = np.sqrt(1.5 * G)
    for one in found:
        assert one.frequencies == pytest.approx([rate if one.is_stable else -rate], rel=1e-12)


def test_angles_of_an_equilibrium_are_within_half_a_turn() -> None:
    """3π/2 and 2π are the hanging pose: both links point down."""
    found = equilibrium(lw.gallery("elbow"), [5.0, 6.3])
    np.testing.assert_allclose(found.q, [-np.pi / 2, 0.0], atol=1e-9)


def test_double_pendulum() -> None:
    """Two equal point masses on equal rods: ω² = (2 ± √2) g/l."""
    point = {"mass": 1, "center": [1, 0, 0]}
    arm = lw.Mechanism(
        gravity=[0, -9.81, 0], bodies={"a": point, "b": point},
        joints={"q1": {"type": "revolute", "child": "a"},
                "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [1, 0, 0]}},
    )  # fmt: skip
    rest = equilibrium(arm, [-1.4, 0.1])
    assert rest.is_stable
    np.testing.assert_allclose(rest.q, [-np.pi / 2, 0], atol=1e-12)
    np.testing.assert_allclose(
        rest.frequencies, np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * G), rtol=1e-12
    )
    absolute = np.cumsum(rest.modes, axis=0)
    np.testing.assert_allclose(absolute[1] / absolute[0], [np.sqrt(2), -np.sqrt(2)], rtol=1e-10)
    assert len(equilibria(arm)) == 4


def test_four_bar_rests_where_its_potential_is_flat() -> None:
    linkage = lw.gallery("four-bar")
    model, rest = lw.compile(linkage), equilibrium(linkage)
    here = model.independent_map(rest.q)[0][:, 0]
    slope = model.gravity(rest.q) @ here
    assert abs(slope) < 1e-9
    h = 1e-4
    around = [model.close(rest.q + s * h * np.eye(3)[0]) for s in (-1, 0, 1)]
    V = [float(model.potential_energy(q)) for q in around]
    second = (V[0] - 2 * V[1] + V[2]) / h**2
    np.testing.assert_allclose(rest.stiffness[0, 0], second, rtol=1e-4)
    assert rest.is_stable is bool(second > 0)


def test_linear_model_of_the_cart_pole() -> None:
    """About the pole upright: the textbook's matrix, by Lagrange's equations by hand."""
    arm = lw.gallery("cart-pole")
    model = lw.compile(arm)
    standing = next(one for one in equilibria(arm) if one.frequencies[0] < -1)
    found = linearize(arm, standing.q)
    M, h = model.mass_matrix(standing.q), 1e-6
    K = np.column_stack(
        [(model.gravity(standing.q + h * e) - model.gravity(standing.q - h * e)) / (2 * h)
         for e in np.eye(2)]
    )  # fmt: skip
    np.testing.assert_allclose(found.A[2:, :2], -np.linalg.solve(M, K), atol=1e-6)
    np.testing.assert_allclose(found.B[2:], np.linalg.solve(M, model.input_matrix(standing.q)))
    assert found.eigenvalues.real.max() > 0


def test_linear_model_of_a_loop() -> None:
    """Its eigenvalues are the frequencies of the equilibrium; a small motion swings at them."""
    linkage = lw.gallery("four-bar")
    rest = next(one for one in equilibria(linkage, starts=12) if one.is_stable)
    found = linearize(linkage, rest.q)
    np.testing.assert_allclose(
        np.abs(found.eigenvalues.imag), rest.frequencies[0] * np.ones(2), rtol=1e-9
    )
    period = 2 * np.pi / rest.frequencies[0]
    q0 = lw.compile(linkage).close(rest.q + 1e-5 * np.eye(3)[0])
    run = lw.simulate(linkage, period, q0=q0, samples=3, rtol=1e-11, atol=1e-14)
    swing = run.q[:, 0] - rest.q[0]
    np.testing.assert_allclose(swing, [1e-5, -1e-5, 1e-5], rtol=2e-3)


def test_where_nothing_rests() -> None:
    slide = lw.Mechanism(
        bodies={"b": {"mass": 1}}, joints={"s": {"type": "prismatic", "child": "b"}}
    )
    with pytest.raises(LinkwrightError, match="no equilibrium was found"):
        equilibrium(slide)
    held = equilibrium(slide, torque=[9.81])
    assert held.frequencies == pytest.approx([0])


def test_inverted_pendulum() -> None:
    """A damped rod on its tip: λ² + (c/I) λ − m g l/2I = 0; a torque on it gives 1/I."""
    inertia, c = 1 / 3, 0.4
    rod = lw.Mechanism(
        gravity=[0, "-9.81", 0],
        bodies={"rod": {"mass": 1, "center": ["1/2", 0, 0], "inertia": {"zz": "1/12"}}},
        joints={"q": {"type": "revolute", "child": "rod", "damping": c}},
        frames={"tip": {"body": "rod", "origin": [1, 0, 0]}},
    )  # fmt: skip
    found = linearize(rod, {"q": np.pi / 2}, outputs=["tip.x", "dq", "ddq"])
    wanted = np.roots([1, c / inertia, -G / 2 / inertia])
    np.testing.assert_allclose(sorted(found.eigenvalues.real), sorted(wanted), rtol=1e-12)
    assert not found.is_stable
    np.testing.assert_allclose(found.B, [[0], [1 / inertia]])
    np.testing.assert_allclose(
        found.C, [[-1, 0], [0, 1], [G / 2 / inertia, -c / inertia]], atol=1e-12
    )
    np.testing.assert_allclose(found.D, [[0], [0], [1 / inertia]])
    hanging = linearize(rod, {"q": -np.pi / 2})
    w = np.sqrt(G / 2 / inertia)
    assert hanging.frequencies == pytest.approx([w], rel=1e-12)
    assert hanging.damping == pytest.approx([c / inertia / 2 / w], rel=1e-12)
    assert hanging.is_stable
    rest = equilibrium(rod, {"q": -1.2})
    assert rest.damping[0, 0] == pytest.approx(c)
    assert rest.stiffness[0, 0] == pytest.approx(G / 2)
    assert rest.kind == "stable"


@pytest.mark.parametrize("name", ["elbow", "four-bar"])
def test_linear_model_along_a_motion(name: str) -> None:
    """Against differences of the accelerations, the loop closed again at every neighbour."""
    arm = lw.gallery(name)
    model = lw.compile(arm)
    rows = [model.qd_names.index(n) for n in model.independent_names]
    motion = lw.simulate(arm, 0.6, qd0={model.independent_names[0]: 2.0}, samples=4)
    found = linearize(arm, along=motion)
    n, h = len(rows), 1e-5
    assert found.A.shape == (4, 2 * n, 2 * n)

    def rates(q: np.ndarray, a: np.ndarray, speed: np.ndarray, tau: np.ndarray) -> np.ndarray:
        there = q.copy()
        there[rows] = a
        if model.names.constraints:
            there = model.close(there)
        G_ = model.independent_map(there)[0] if model.names.constraints else np.eye(n)
        return model.forward_dynamics(there, G_ @ speed, tau)[rows]

    for k in (1, 3):
        q, speed, tau = motion.q[k], motion.qd[k][rows], motion.tau[k]
        for j, e in enumerate(h * np.eye(n)):
            by_a = rates(q, q[rows] + e, speed, tau) - rates(q, q[rows] - e, speed, tau)
            by_s = rates(q, q[rows], speed + e, tau) - rates(q, q[rows], speed - e, tau)
            np.testing.assert_allclose(found.A[k, n:, j], by_a / (2 * h), rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(found.A[k, n:, n + j], by_s / (2 * h), rtol=1e-6, atol=1e-6)


OMEGA = 4.0


def driven_pendulum() -> lw.Mechanism:
    """A mass on a light rod of 1 m, hinged to a shaft that a drive turns at Ω."""
    return lw.Mechanism(
        name="governor",
        bodies={"shaft": {"mass": 1, "inertia": [1, 1, 1]}, "bob": {"mass": 2, "center": [0, 0, -1]}},
        joints={"shaft": {"type": "revolute", "child": "shaft"},
                "q": {"type": "revolute", "parent": "shaft", "child": "bob", "axis": [0, 1, 0]}},
        constraints={"motor": {"type": "drive", "on": "shaft", "position": f"{OMEGA}*t"}},
    )  # fmt: skip


@pytest.mark.parametrize("time", [0.0, 0.7])
@pytest.mark.parametrize("qd", [None, {}, {"q": 0.0}, [OMEGA, 0.0]])
def test_a_drive_in_time_sets_the_speeds_of_a_linear_model(time: float, qd: object) -> None:
    """q̈ = Ω² sin q cos q − g sin q: hanging, λ² = Ω² − g; on its circle, λ² = −Ω² sin² q."""
    hanging = linearize(driven_pendulum(), qd=qd, t=time)
    root = np.sqrt(OMEGA**2 - G)
    np.testing.assert_allclose(np.sort(hanging.eigenvalues.real), [-root, root], rtol=1e-12)
    circle = np.arccos(G / OMEGA**2)
    there = linearize(driven_pendulum(), {"q": circle}, qd, t=time)
    np.testing.assert_allclose(there.frequencies, [OMEGA * np.sin(circle)], rtol=1e-9)


def test_arrays_that_contradict_the_constraints_are_no_state_of_a_linear_model() -> None:
    shaft = driven_pendulum()
    with pytest.raises(AssemblyError, match=r"velocities that contradict 'motor' by 4"):
        linearize(shaft, qd=[0.0, 0.0])
    with pytest.raises(AssemblyError, match=r"velocities that contradict 'motor' by 4"):
        linearize(shaft, [0.0, 0.2], [0.0, 0.0])
    with pytest.raises(AssemblyError, match=r"does not close: 'motor' is open by 2.8"):
        linearize(shaft, [0.0, 0.2], t=0.7)
    linkage = lw.gallery("four-bar")
    with pytest.raises(AssemblyError, match="velocities that contradict 'pin'"):
        linearize(linkage, qd=[1.0, 0.0, 0.0])
    with pytest.raises(AssemblyError, match="does not close: 'pin'"):
        linearize(linkage, [1.0, 0.0, 0.0])


def test_indifferent_motions_count_once() -> None:
    """A cart rests anywhere: its pole hangs or stands."""
    found = equilibria(lw.gallery("cart-pole"), starts=12)
    assert sorted(one.kind for one in found) == ["indifferent", "unstable"]
    assert min(one.frequencies[0] for one in found) < -1


def test_wrong_statics() -> None:
    arm = lw.gallery("elbow")
    with pytest.raises(LookupError, match="unknown output 'nose'"):
        linearize(arm, outputs=["nose"])
    with pytest.raises(LookupError, match="unknown velocity 'q9'"):
        equilibrium(arm, torque={"q9": 1})


def test_commands() -> None:
    found = json.loads(ok("equilibrium", "elbow", "--json"))
    assert [one["kind"] for one in found] == ["stable", *["unstable"] * 3]
    linear = json.loads(ok("linearize", "elbow", "q1=-90deg", "--outputs", "tool.x,q1", "--json"))
    assert np.shape(linear["A"]) == (4, 4)
    assert linear["outputs"] == ["tool.x", "q1"]
    assert linear["frequencies"] == pytest.approx(found[0]["frequencies"])


def test_matrices_are_written_and_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damped pendulum that hangs: θ̈ = −g/l θ + (τ − c θ̇)/(m l²), ζ = c/(2 m l² ω)."""
    m, l, c = 2.0, 0.5, 0.3
    pendulum = lw.Mechanism(
        name="pendulum", gravity=[0, -G, 0], bodies={"bob": {"mass": m, "center": [0, -l, 0]}},
        joints={"q": {"type": "revolute", "child": "bob", "damping": c}},
    )  # fmt: skip
    file = tmp_path / "pendulum.npz"
    outcome = linearize_command(
        pendulum, state={}, speed={}, drive={}, inputs=None, outputs=["q", "dq"], output=file,
        control={}, sample_time=None, plot=None, bode=None, root_locus=None,
    )  # fmt: skip
    found, I = np.load(file), m * l**2
    np.testing.assert_allclose(found["A"], [[0, 1], [-G / l, -c / I]], rtol=1e-12)
    np.testing.assert_allclose(found["B"], [[0], [1 / I]], rtol=1e-12)
    np.testing.assert_array_equal(found["C"], np.eye(2))
    np.testing.assert_array_equal(found["D"], np.zeros((2, 1)))
    assert [*found["states"]] == ["q", "dq"]
    assert [*found["outputs"]] == ["q", "dq"]
    outcome.show()
    omega = np.sqrt(G / l)
    said = f"frequencies (rad/s), damping: {omega:.6g}, {c / (2 * I * omega):.4g}"
    assert capsys.readouterr().out.splitlines()[-1] == said
