"""Planar mechanisms with loops, against closed forms: positions, mobility, accelerations, forces."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.cli.commands.assemble_command import assemble
from linkwright.errors import AssemblyError
from linkwright.formulations import FORMULATIONS
from linkwright.mechanism import replace_part_fields
from tests.constrained.integrate import integrate, project
from tests.references.five_bar import FiveBar
from tests.references.four_bar import FourBar
from tests.references.n_four_bar import NFourBar
from tests.references.planar import Planar
from tests.references.slider_crank import SliderCrank, Sundials
from tests.references.three_rrr import ThreeRRR

Accelerations = Callable[[np.ndarray], np.ndarray]
Sample = tuple[np.ndarray, np.ndarray, Accelerations]
"""A closed configuration, speeds that keep it closed, and accelerations as a function of tau."""


def _of_crank(reference: FourBar | SliderCrank, rng: np.random.Generator) -> Sample:
    angle, rate, branch = rng.uniform(-3, 3), rng.uniform(-2, 2), int(rng.choice([-1, 1]))
    if isinstance(reference, FourBar):
        q = reference.angles(angle, branch)
    else:
        q = reference.configuration(angle, branch)
    return q, reference.influence(q)[0] * rate, lambda tau: reference.accelerations(q, rate, tau)


def _of_sundials(rng: np.random.Generator) -> Sample:
    reference, rate = Sundials(), rng.uniform(-2, 2)
    z = reference.configuration(rng.uniform(-3, 3))
    return z, reference.influence(z)[0] * rate, lambda tau: reference.accelerations(z, rate, tau)


def _of_pose(planar: Planar, middle: np.ndarray, reach: float, rng: np.random.Generator) -> Sample:
    a = middle + rng.uniform(-reach, reach, planar.freedom)
    ad = rng.uniform(-2, 2, planar.freedom)
    return *planar.coordinates(a, ad), lambda tau: planar.accelerations(a, ad, tau)


def _of_windows(n: int, rng: np.random.Generator) -> Sample:
    reference, theta = NFourBar(n), rng.uniform(0.3, 2.8)
    q, qd = reference.configuration(theta), reference.configuration(rng.uniform(-2, 2))
    return q, qd, lambda tau: reference.accelerations(theta, tau)


SAMPLES: dict[str, Callable[[np.random.Generator], Sample]] = {
    "four-bar": lambda rng: _of_crank(FourBar(), rng),
    "slider-crank": lambda rng: _of_crank(SliderCrank(), rng),
    "slider-crank-sundials": _of_sundials,
    "five-bar": lambda rng: _of_pose(
        FiveBar().mechanism(int(rng.choice([-1, 1]))), np.array([2.1, 1.0]), 0.5, rng
    ),
    "3-rrr": lambda rng: _of_pose(
        ThreeRRR().mechanism(int(rng.choice([-1, 1]))), np.zeros(3), 0.08, rng
    ),
    "n-four-bar": lambda rng: _of_windows(2, rng),
    "n-four-bar-7": lambda rng: _of_windows(7, rng),
}
FREEDOM = {"five-bar": 2, "3-rrr": 3}


@cache
def model_of(name: str) -> lw.Model:
    return lw.compile(lw.gallery(name))


def close(one: object, other: object, tolerance: float = 1e-9) -> None:
    """Within the tolerance, of the largest number if that is above 1."""
    scale = max(1.0, float(np.abs(other).max()))
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


def equal(one: object, printed: object, digits: float = 6e-11) -> None:
    """All digits that are printed."""
    np.testing.assert_allclose(one, printed, rtol=0, atol=digits)


# Positions


@pytest.mark.parametrize("name", SAMPLES)
def test_assembly_closes(name: str) -> None:
    q = lw.assemble(lw.gallery(name))
    close(model_of(name).constraint_residual(q), 0.0, 1e-12)


@pytest.mark.parametrize("theta1", [-2.5, 0.0, 1.0, 3.0])
@pytest.mark.parametrize("branch", [1, -1])
def test_four_bar_closes_on_both_branches(theta1: float, branch: int) -> None:
    """With a held crank, what is known roughly of one other angle chooses the branch."""
    truth = FourBar().angles(theta1, branch)
    around = {"theta3": (truth[2] - 0.5, truth[2] + 0.5)}
    q = lw.assemble(lw.gallery("four-bar"), {"theta1": theta1}, hold=["theta1"], ranges=around)
    assert q[0] == theta1
    close(np.exp(1j * q), np.exp(1j * truth), 1e-11)


def test_a_partial_guess_is_enough() -> None:
    """Only the crank and the sign of the rod's angle are said."""
    plain = replace_part_fields(lw.gallery("four-bar"), assembly={})
    q = lw.assemble(plain, {"theta1": 1.0}, hold=["theta1"], ranges={"theta3": (0.0, np.pi)})
    close(q, FourBar().angles(1.0), 1e-11)


def test_what_cannot_close_says_so() -> None:
    short = lw.gallery("four-bar").with_parameters(l4=7.0)
    with pytest.raises(AssemblyError, match=r"'pin' cannot close: it stays 0\.\d+ \(m") as caught:
        lw.assemble(short)
    assert caught.value.residuals["pin"] > 0.5
    with pytest.raises(AssemblyError, match="'theta3' outside its range"):
        lw.assemble(lw.gallery("four-bar"), hold=["theta1"], ranges={"theta3": (0.0, 0.1)})


# Mobility


@pytest.mark.parametrize("name", SAMPLES)
def test_mobility(name: str) -> None:
    """A revolute closure is five equations in space, of which the plane needs two."""
    mechanism = lw.gallery(name)
    q, *_ = SAMPLES[name](np.random.default_rng(1))
    for found in (lw.mobility(mechanism), lw.mobility(mechanism, q)):
        assert found.dof == FREEDOM.get(name, 1)
        assert found.rank == 2 * len(mechanism.loops)
        assert found.equations == 5 * len(mechanism.loops)
        assert len(found.independent) == found.dof


@pytest.mark.parametrize("n", [1, 2, 7])
def test_flat_windows_gain_freedoms(n: int) -> None:
    """From 1 to N + 1 where the cranks lie flat."""
    flat = np.zeros(2 * n + 1)
    assert lw.mobility(lw.gallery(f"n-four-bar-{n}"), flat).dof == n + 1


def test_a_second_coupler_is_redundant() -> None:
    """A parallelogram with a middle bar moves, although it counts to freedom 0."""
    row = lw.gallery("n-four-bar-1")
    bar = {"type": "revolute", "child": "bar", "origin": [0.5, 0, 0]}
    double = replace_part_fields(
        row,
        ["independent", "coordinates"],
        bodies={**row.bodies, "bar": {"mass": 1, "center": [0.5, 0, 0], "inertia": {"zz": "1/12"}}},
        joints={**row.joints, "bar": {**bar, "parent": "crank0"}},
        loops={**row.loops, "second": {**bar, "parent": "crank1", "child_origin": [1, 0, 0]}},
        assembly={"a0": 1, "b1": -1, "a1": 1, "bar": -1},
    )
    found = lw.mobility(double)
    assert (found.dof, found.rank, found.equations) == (1, 3, 10)
    assert found.redundant
    model = lw.compile(double)
    q = lw.assemble(double)
    order = [model.q_names.index(name) for name in ("a0", "b1", "a1", "bar")]
    rates = np.zeros(4)
    rates[order] = [1.0, -1.0, 1.0, -1.0]
    close(model.constraint_velocity(q, 2 * rates), 0.0, 1e-12)
    inertia = 2 / 3 + 1 + 0.25
    weight = 9.81 * (1 + 1 + 0.5)
    theta = q[order[0]]
    truth = -weight * np.cos(theta) / inertia
    close(model.forward_dynamics(q, 2 * rates, np.zeros(4)), truth * rates)


# Accelerations and forces


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(6))
def test_accelerations(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, truth = SAMPLES[name](rng)
    model = model_of(name)
    tau = rng.uniform(-3, 3, model.nv)
    close(model.constraint_residual(q), 0.0, 1e-12)
    close(model.constraint_velocity(q, qd), 0.0, 1e-12)
    close(model.forward_dynamics(q, qd, tau), truth(tau))


@pytest.mark.parametrize("by", [by for by in FORMULATIONS if by != "approximate"])
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "n-four-bar-7"])
def test_formulations(by: str, name: str) -> None:
    function = lw.derive(lw.gallery(name), by=by, parameters="numeric").function_at_values(
        "forward_dynamics"
    )
    rng = np.random.default_rng(7)
    for _ in range(3):
        q, qd, truth = SAMPLES[name](rng)
        tau = rng.uniform(-3, 3, len(qd))
        close(np.asarray(function(q, qd, tau)[0]).ravel(), truth(tau))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(3))
def test_constraint_forces(name: str, seed: int) -> None:
    """M q̈ + bias = τ + Jᵀλ, J q̈ + γ = 0, and ideal constraints do no work."""
    rng = np.random.default_rng(seed)
    q, qd, _ = SAMPLES[name](rng)
    model = model_of(name)
    tau = rng.uniform(-3, 3, model.nv)
    qdd = model.forward_dynamics(q, qd, tau)
    J, multipliers = model.constraint_jacobian(q), model.multipliers(q, qd, tau)
    forces = model.mass_matrix(q) @ qdd + model.bias(q, qd) - tau
    close(J.T @ multipliers, forces)
    close(J @ qdd + model.constraint_bias(q, qd), 0.0, 1e-9 * max(1.0, np.abs(qdd).max()))
    close(multipliers @ J @ qd, 0.0, 1e-10 * max(1.0, np.abs(forces).max()))
    assert np.abs(forces).max() > 1e-3


@pytest.mark.parametrize("name", SAMPLES)
def test_states_in_a_batch(name: str) -> None:
    rng = np.random.default_rng(5)
    samples = [SAMPLES[name](rng) for _ in range(20)]
    q, qd = (np.array([sample[k] for sample in samples]) for k in (0, 1))
    tau = rng.uniform(-3, 3, q.shape)
    truth = [sample[2](load) for sample, load in zip(samples, tau, strict=True)]
    for ours, theirs in zip(model_of(name).forward_dynamics(q, qd, tau), truth, strict=True):
        close(ours, theirs)


def test_four_bar_of_the_reference() -> None:
    """Every number of transfer.md, to all digits printed; the closed form gives them too."""
    reference, model = FourBar(), model_of("four-bar")
    q = lw.assemble(lw.gallery("four-bar"), {"theta1": 1.0}, hold=["theta1"])
    equal(q, [1.0, 0.5705956522, 1.7456700684])
    G, H = reference.influence(q)
    equal(G, [1, -0.2450961291, 0.1804794372])
    equal(H, [0, 0.2610655893, 0.4586621930])
    equal(G @ model.mass_matrix(q) @ G, 0.9128753066)
    equal(-G @ model.gravity(q), -4.5302683718)
    P = G @ (model.mass_matrix(q) @ H + model.bias(q, G) - model.gravity(q))
    equal(P, 0.5271203651)
    qdd = model.forward_dynamics(q, 2 * G, np.zeros(3))
    equal(qdd, [-7.2723512008, 2.8266874859, 0.5221389198])
    assert reference.inertia(q) == pytest.approx((0.9128753066, 0.5271203651), abs=6e-11)


@pytest.mark.parametrize("theta1", [0.4, 2.2])
def test_four_bar_of_other_sizes(theta1: float) -> None:
    """The reference's own cut equations, with parameters kept as inputs."""
    sizes = {"l1": 0.4, "l2": 1.1, "l3": 0.9, "l4": 1.2, "m1": 0.3, "m2": 0.7, "m3": 1.9}
    reference = FourBar(**sizes)
    q = reference.angles(theta1, -1)
    qd = reference.influence(q)[0] * 1.7
    tau = np.array([0.5, -0.2, 0.3])
    truth = reference.accelerations(q, 1.7, tau)
    model = lw.compile(lw.gallery("four-bar"), parameters=list(sizes))
    p = np.array(list(sizes.values()))
    close(model.forward_dynamics(q, qd, tau, p), truth)
    force = reference.mass_matrix(q) @ truth + reference.bias(q, qd) - tau
    close(model.constraint_jacobian(q, p).T @ model.multipliers(q, qd, tau, p), force)


# Short motions


@pytest.mark.parametrize(
    ("t", "state"),
    [
        (1, (1.315420570882, 1.001491807231, -0.504973470642, -0.508792976910)),
        (5, (-1.429996967647, 0.939030613578, 0.517894756490, 0.054991610538)),
        (10, (1.275675848650, 1.023578558980, -0.498813049183, -0.239914997196)),
    ],
)
def test_slider_crank_of_sundials(t: int, state: tuple[float, ...]) -> None:
    """Published numbers; the reference agrees in all digits, ours by a plain integrator."""
    z, rate = Sundials().run(t)
    equal([*z, rate], state, 2e-12)
    start = lw.assemble(lw.gallery("slider-crank-sundials"), hold=["q"])
    q, qd = integrate(model_of("slider-crank-sundials"), start, np.zeros(3), t, 250 * t)
    equal([*q, qd[0]], state, 1e-8)


@pytest.mark.parametrize(
    ("n", "t", "truth"),
    [
        (2, 1, (-0.1950203019494351, -0.9807992056621738, -6.676678036881158, 1.327578325160487)),
        (2, 10, (0.3284581115408154, 0.9445185381786010, 1.423051470206944, -0.4948688454870430)),
        (40, 1, (-0.1153568806321099, -0.9933241113004502, -6.669987523941772, 0.7746000986623433)),
    ],
)
def test_reference_of_windows(n: int, t: float, truth: tuple[float, ...]) -> None:
    equal(np.concatenate(NFourBar(n).run(t)), truth, 2e-13)


def test_windows_fall_through_flat_cranks() -> None:
    """At t = 0.714 the cranks lie flat, where the freedom jumps; the motion goes on in parallel."""
    model, reference = model_of("n-four-bar"), NFourBar(2)
    q, qd = reference.configuration(np.pi / 2), reference.configuration(-1.0)
    q, qd = integrate(model, q, qd, 1.0, 1000)
    tip = model.placement("B0")(q)[:2, 3]
    speed = qd[0] * np.array([-tip[1], tip[0]])
    equal([tip, speed], reference.run(1.0), 1e-8)


def test_energy_of_the_four_bar() -> None:
    """Constant along a motion of one second, after which the loop is still closed."""
    model, reference = model_of("four-bar"), FourBar()
    q = reference.angles(1.0)
    qd = reference.influence(q)[0] * 2.0
    energy = model.kinetic_energy(q, qd) + model.potential_energy(q)
    assert energy == pytest.approx(reference.energy(q, 2.0), rel=1e-12)
    for _ in range(4):
        q, qd = integrate(model, q, qd, 0.25, 250)
        assert model.kinetic_energy(q, qd) + model.potential_energy(q) == pytest.approx(
            energy, rel=1e-9
        )
        close(model.constraint_residual(q), 0.0, 1e-12)


def test_projection_keeps_what_is_consistent() -> None:
    q, qd, _ = SAMPLES["3-rrr"](np.random.default_rng(2))
    for ours, given in zip(project(model_of("3-rrr"), q, qd), (q, qd), strict=True):
        close(ours, given, 1e-12)


def test_the_command_prints_every_branch(capsys: pytest.CaptureFixture[str]) -> None:
    """The open and the crossed four-bar at 60°, by Freudenstein's equation."""
    four_bar, at = lw.gallery("four-bar"), {"theta1": np.pi / 3}
    wanted = [FourBar().angles(np.pi / 3, branch) for branch in (1, -1)]
    for every, heading in ((True, "branch 1 branch 2"), (False, "value (rad, m)")):
        assemble(four_bar, values=at, hold=["theta1"], ranges={}, every=every).show()
        head, *rows = (line.split() for line in capsys.readouterr().out.splitlines()[:4])
        assert " ".join(head) == f"coordinate {heading}"
        assert [row[0] for row in rows] == ["theta1", "theta2", "theta3"]
        found = np.array([row[1:] for row in rows], float).T
        assert len(found) == (2 if every else 1)
        for q, angles in zip(found, wanted, strict=False):
            np.testing.assert_allclose(np.exp(1j * q), np.exp(1j * angles), atol=1e-11)
