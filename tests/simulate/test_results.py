"""What a run holds, against formulas by hand; files of runs, and runs made again."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwright as lw
from linkwright.errors import LinkwrightError, MissingExtraError, UnsupportedError
from linkwright.mechanism import replace_part_fields
from linkwright.simulation import Event, Run, load_run, repeat
from linkwright.simulation.provenance import largest_difference
from tests.commands import ok, run

G = 9.81


def pendulum(**joint: object) -> lw.Mechanism:
    """A point mass of 2 kg on a massless rod of 1.5 m; the angle is from the hanging position."""
    return lw.Mechanism(
        name="pendulum", gravity=[0, "-9.81", 0],
        bodies={"rod": {"mass": 2, "center": [0, "-1.5", 0]}},
        joints={"q": {"type": "revolute", "child": "rod", **joint}},
        frames={"bob": {"body": "rod", "origin": [0, "-1.5", 0]}},
    )  # fmt: skip


@pytest.fixture(scope="module")
def swing() -> Run:
    return lw.simulate(pendulum(), 2.0, q0={"q": 1.0}, qd0={"q": 0.7}, rtol=1e-11, atol=1e-12)


def test_pendulum_by_hand(swing: Run) -> None:
    """The rod pulls its bob with m l ω² + m g cos θ; places, momenta and energies are textbook's."""
    theta, omega, m, length = swing.q[:, 0], swing.qd[:, 0], 2.0, 1.5
    out = np.stack([np.sin(theta), -np.cos(theta), 0 * theta], axis=1)
    moment, force = swing.reactions[:, 0, :3], swing.reactions[:, 0, 3:]
    pull = m * length * omega**2 + m * G * np.cos(theta)
    np.testing.assert_allclose(-np.einsum("tk,tk->t", force, out), pull, atol=1e-9)
    across = np.cross(np.broadcast_to([0.0, 0.0, 1.0], out.shape), out)
    np.testing.assert_allclose(np.einsum("tk,tk->t", force, across), 0, atol=1e-9)
    np.testing.assert_allclose(moment, 0, atol=1e-9)
    np.testing.assert_allclose(swing.frames["bob"], length * out, atol=1e-14)
    np.testing.assert_allclose(swing.momenta[:, 0], m * length**2 * omega, rtol=1e-13)
    linear = m * length * omega[:, None] * across
    np.testing.assert_allclose(swing.details.momentum[:, 3:], linear, atol=1e-12)
    np.testing.assert_allclose(swing.kinetic, m * (length * omega) ** 2 / 2, rtol=1e-13)
    np.testing.assert_allclose(swing.potential, -m * G * length * np.cos(theta), rtol=1e-13)


def test_elbow_by_hand() -> None:
    """Energies of both links, and p = D q̇ with the book's inertia matrix."""
    found = lw.simulate(lw.gallery("elbow"), 1.0, q0=[0.3, 0.4], qd0=[1.0, -2.0], samples=51)
    (q1, q2), (w1, w2) = found.q.T, found.qd.T
    w = w1 + w2
    square = w1**2 + 0.25 * w**2 + w1 * w * np.cos(q2)
    kinetic = {
        "link1": (0.25 + 1 / 12) * w1**2 / 2, "link2": (square + w**2 / 12) / 2,
    }  # fmt: skip
    height1, height2 = 0.5 * np.sin(q1), np.sin(q1) + 0.5 * np.sin(q1 + q2)
    for name, height in (("link1", height1), ("link2", height2)):
        np.testing.assert_allclose(found.details.kinetic[name], kinetic[name], rtol=1e-12)
        np.testing.assert_allclose(found.details.weight[name], G * height, atol=1e-12)
        np.testing.assert_allclose(found.details.centers[name][:, 1], height, atol=1e-13)
    d11 = 0.25 + 1 + 0.25 + np.cos(q2) + 1 / 6
    d12 = 0.25 + 0.5 * np.cos(q2) + 1 / 12
    momenta = np.stack([d11 * w1 + d12 * w2, d12 * w1 + (0.25 + 1 / 12) * w2], axis=1)
    np.testing.assert_allclose(found.momenta, momenta, atol=1e-12)


@pytest.mark.parametrize("name", ["puma560", "slider-crank-sundials", "stanford", "six-axis"])
def test_parts_make_up_the_whole(name: str) -> None:
    """Bodies and motors have all kinetic energy, weight and springs all potential energy."""
    mechanism = lw.gallery(name).without("friction")
    found = lw.simulate(mechanism, 0.2, samples=11, rtol=1e-6, atol=1e-7)
    parts = found.details
    kinetic = sum(parts.kinetic.values()) + sum(parts.rotors.values())
    potential = sum(parts.weight.values()) + sum(parts.springs.values())
    np.testing.assert_allclose(kinetic, found.kinetic, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(potential, found.potential, rtol=1e-11, atol=1e-11)
    assert bool(parts.rotors) == (name != "slider-crank-sundials")
    assert bool(parts.springs) == (name == "slider-crank-sundials")


def test_works_apart() -> None:
    """A damper loses ∫ c q̇²; the drive gives ∫ τ q̇; a given force its own; a spring nothing."""
    arm = replace_part_fields(
        pendulum(damping=0.8, stiffness=3), forces={"push": {"type": "joint", "on": "q", "force": "cos(t)"}}
    )  # fmt: skip
    found = lw.simulate(arm, 4.0, torque={"q": "2*sin(3*t)"}, samples=2001, rtol=1e-11, atol=1e-12)
    t, w = found.t, found.qd[:, 0]

    def total(power: np.ndarray) -> np.ndarray:
        return CubicSpline(t, power).antiderivative()(t)

    np.testing.assert_allclose(found.work_losses, total(-0.8 * w**2), atol=1e-8)
    np.testing.assert_allclose(found.work_inputs, total(2 * np.sin(3 * t) * w), atol=1e-8)
    np.testing.assert_allclose(found.work_given, total(np.cos(t) * w), atol=1e-8)
    np.testing.assert_allclose(
        found.work, found.work_inputs + found.work_given + found.work_losses, atol=1e-14
    )
    np.testing.assert_allclose(found.details.springs["q"], 1.5 * found.q[:, 0] ** 2, atol=1e-13)
    assert found.audit < 1e-9
    assert found.accounted


@pytest.mark.parametrize("by", ["recursive", "hamilton"])
def test_work_of_a_driven_constraint_is_given(by: str) -> None:
    """A motor that turns a pendulum at 2 rad/s does what weight takes: m g l (cos 0 − cos 2t)."""
    driven = replace_part_fields(
        pendulum(), constraints={"motor": {"type": "drive", "on": "q", "position": "2*t"}}
    )
    found = lw.simulate(driven, 1.0, by=by, samples=21, qd0={"q": 2.0})
    np.testing.assert_allclose(found.work_given, 2 * G * 1.5 * (1 - np.cos(2 * found.t)), atol=1e-8)
    np.testing.assert_allclose(found.work_inputs, 0, atol=1e-15)
    np.testing.assert_allclose(
        found.multipliers[:, 0], 2 * G * 1.5 * np.sin(found.q[:, 0]), rtol=1e-7
    )


def test_multipliers_and_reactions_of_a_loop() -> None:
    """The pin's force moves the rocker: about its ground pivot, Euler's equation by hand."""
    found = lw.simulate(lw.gallery("four-bar"), 1.0, samples=11, torque={"tau1": 3.0})
    model = lw.compile(lw.gallery("four-bar"))
    force = found.reactions[:, [*model.joint_names, *model.loop_names].index("pin"), 3:]
    at_pin = 2.5 * np.stack([np.cos(found.q[:, 2]), np.sin(found.q[:, 2])], axis=1)
    moment = at_pin[:, 0] * force[:, 1] - at_pin[:, 1] * force[:, 0]
    weight = -G * 1.25 * np.cos(found.q[:, 2])
    np.testing.assert_allclose(moment + weight, 2.5**2 / 3 * found.qdd[:, 2], atol=1e-8)
    J = model.constraint_jacobian(found.q)
    pushed = np.einsum("tij,ti->tj", J, found.multipliers)
    needed = model.required_forces(found.q, found.qd, found.qdd) - found.tau
    np.testing.assert_allclose(pushed, needed, atol=1e-8)
    assert found.u is not None
    np.testing.assert_array_equal(found.u, np.full((11, 1), 3.0))


def test_multipliers_beside_a_stop() -> None:
    """A gear x = y hangs 3 kg at y from 2 kg at x, which rest on a stop: the gear bears 3 g, the
    stop 5 g."""
    fall = {"type": "prismatic", "axis": [0, 0, -1]}
    pair = lw.Mechanism(
        name="pair", gravity=[0, 0, -G], bodies={"a": {"mass": 2}, "b": {"mass": 3}},
        joints={"x": {**fall, "child": "a", "limits": {"upper": 0}}, "y": {**fall, "child": "b"}},
        constraints={"gear": {"type": "gear", "factors": {"x": 1, "y": -1}}},
    )  # fmt: skip
    found = lw.simulate(pair, 0.1, samples=3, stops="impact")
    assert found.pushes is not None
    np.testing.assert_allclose(found.pushes, [[-5 * G, 0]] * 3, atol=1e-9)
    np.testing.assert_allclose(found.multipliers, [[3 * G]] * 3, rtol=1e-12)


def test_dataset(swing: Run) -> None:
    """Every number with its name and unit; entries of one kind say which."""
    data = lw.simulate(lw.gallery("slider-crank"), 0.1, samples=5).data
    assert data["q_units"].sel(coordinate="x").item() == "m"
    assert data["q_units"].sel(coordinate="theta1").item() == "rad"
    assert data["tau_units"].sel(speed="x").item() == "N"
    assert list(data["row"].values) == [f"pin[{k}]" for k in range(5)]
    assert data["reactions"].dims == ("time", "joint", "component")
    assert data["mass_centers"].sel(body="piston", axis="x").values == pytest.approx(
        data["q"].sel(coordinate="x").values
    )
    assert all("units" in variable.attrs for variable in data.data_vars.values())
    assert list(swing.data["frame"].values) == ["bob"]
    ball = lw.simulate(
        lw.Mechanism(bodies={"b": {"mass": 1, "inertia": [1, 1, 1]}},
                     joints={"f": {"type": "free", "child": "b"}}), 0.1, samples=3,
    ).data  # fmt: skip
    assert list(ball["q_units"].values) == ["m"] * 3 + ["1"] * 4
    assert list(ball["qd_units"].values) == ["rad/s"] * 3 + ["m/s"] * 3


def test_files(tmp_path, swing: Run) -> None:
    """NetCDF keeps every bit; tables have names at the top."""
    swing.save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc")
    for field in ("t", "q", "qd", "qdd", "tau", "work", "work_inputs", "work_given", "kinetic"):
        np.testing.assert_array_equal(getattr(again, field), getattr(swing, field))
    assert again.mechanism == swing.mechanism
    assert again.mechanism.digest == swing.data.attrs["digest"]
    assert (again.settings, again.versions) == (swing.settings, swing.versions)
    assert "numpy" in again.versions
    np.testing.assert_array_equal(again.reactions, swing.reactions)
    swing.save(tmp_path / "run.csv")
    head, first, *_ = (tmp_path / "run.csv").read_text().splitlines()
    names = head.split(",")
    assert names[:5] == ["t", "q", "dq", "ddq", "tau_q"]
    assert float(first.split(",")[names.index("bob_x")]) == 1.5 * np.sin(1.0)
    with pytest.raises(LinkwrightError, match="not a format for runs"):
        swing.save(tmp_path / "run.txt")
    with pytest.raises(LinkwrightError, match="is not a run"):
        load_run(tmp_path / "none.nc")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv", "run.nc"]


def test_parquet(tmp_path, swing: Run, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtraError, match=r"linkwright\[parquet\]"):
            swing.save(tmp_path / "run.parquet")
    parquet = pytest.importorskip("pyarrow.parquet")
    swing.save(tmp_path / "run.parquet")
    table = parquet.read_table(tmp_path / "run.parquet")
    np.testing.assert_array_equal(table["q"].to_numpy(), swing.q[:, 0])
    assert table.schema.metadata[b"status"] == b"finished"


@pytest.mark.parametrize("name", lw.gallery())
def test_mechanisms_come_back_from_their_text(name: str) -> None:
    """The canonical text that a run keeps is the mechanism, hash and all."""
    from linkwright.files import load
    from linkwright.writers import write_mechanism_text

    mechanism = lw.gallery(name)
    again = load(write_mechanism_text(mechanism, "toml")[0])
    assert again == mechanism
    assert again.digest == mechanism.digest


def test_runs_are_made_again(tmp_path) -> None:
    """From its own file, bit for bit, whatever was given; a Python function is refused."""
    linkage = lw.gallery("four-bar")
    table = ([0.0, 0.3, 1.0], [0.0, 2.0, 1.0], "cubic")
    first = lw.simulate(
        linkage, 1.0, q0={"theta1": 0.8}, qd0={"theta1": 1.1}, torque={"tau1": table},
        integrator="radau", rtol=1e-7, atol=1e-8, samples=21, by="lagrange",
    )  # fmt: skip
    first.save(tmp_path / "run.nc")
    second = repeat(tmp_path / "run.nc")
    assert largest_difference(first, second) == 0.0
    np.testing.assert_array_equal(first.work, second.work)
    assert first.settings == second.settings
    arm = lw.gallery("elbow")
    third = lw.simulate(arm, 0.2, q0=np.array([0.1, 0.2]), torque=[1.0, 0.5], max_step=0.01)
    assert largest_difference(third, repeat(third)) == 0.0
    by_function = lw.simulate(arm, 0.1, torque=lambda t, q, qd: [0.0, 0.0])
    by_function.save(tmp_path / "run.nc")
    with pytest.raises(UnsupportedError, match="torque was a function of Python"):
        repeat(tmp_path / "run.nc")
    assert largest_difference(first, third) == np.inf


def test_runs_with_events_are_made_again(tmp_path) -> None:
    """Events of texts are kept whole: when, what to do, and which way."""
    events = {
        "flip": Event("q + 0.3", {"dq": "-0.8*dq"}, "falling"), "end": Event("q - 0.2", "stop", "rising"),
        "low": "q",
    }  # fmt: skip
    first = lw.simulate(pendulum(), 3.0, q0={"q": 0.4}, qd0={"q": -0.5}, events=events)
    first.save(tmp_path / "run.nc")
    again = repeat(tmp_path / "run.nc")
    assert {event.name for event in first.events} == set(events)
    assert again.events == first.events
    assert largest_difference(first, again) == 0.0
    by_function = lw.simulate(pendulum(), 0.1, events={"e": Event(lambda t, q, qd: q[0])})
    with pytest.raises(UnsupportedError, match="events was a function"):
        repeat(by_function)


def test_statistics() -> None:
    """RK45 takes six evaluations a trial, two at the start; a jump of the drive costs trials."""
    found = lw.simulate(
        pendulum(), 2.0, torque={"q": "4.5 + 4.5*tanh(3000*(t - 1))"}, integrator="rk45",
        rtol=1e-6, atol=1e-7,
    ).statistics  # fmt: skip
    assert found["rejected"] > 2
    assert found["evaluations"] == 2 + 6 * (found["steps"] + found["rejected"])
    assert found["seconds"] > 0
    for integrator in ("dop853", "radau"):
        other = lw.simulate(pendulum(), 0.5, q0=[1.0], integrator=integrator, samples=3).statistics
        assert 0 <= other["rejected"] < other["steps"]


def test_energy_that_is_not_accounted_for_is_shown(swing: Run) -> None:
    assert "energy audit" in repr(swing)
    assert "not accounted" not in repr(swing)
    from dataclasses import replace

    wrong = replace(swing, work=swing.work + 0.1 * swing.t)
    assert not wrong.accounted
    assert "energy is not accounted for" in repr(wrong)


def test_command_repeats(tmp_path) -> None:
    file = str(tmp_path / "run.nc")
    drive = {"q2": "sin(t)"}
    lw.simulate(lw.gallery("elbow"), 0.3, q0={"q1": 0.4}, torque=drive, samples=21).save(file)
    summary = json.loads(ok("simulate", "--repeat", file, "--json"))
    assert summary["difference"] == 0.0
    assert summary["status"] == "finished"
    assert run("simulate", "--repeat", file, "q1=2").returncode == 2


def test_audit_of_samples_at_rest() -> None:
    """A mass that swings back and forth, seen only where it turns: v = (1 − cos 4πt)/4π is 0 there,
    and ½v² = 1/8π² between is what errors are a share of."""
    block = lw.Mechanism(
        name="block", gravity=[0, 0, 0], bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "b"}},
    )  # fmt: skip
    seen = lw.simulate(block, 1.0, torque={"x": "sin(4*pi*t)"}, samples=3, max_step=0.01)
    assert seen.statistics["largest_kinetic_energy"] == pytest.approx(1 / (8 * np.pi**2), rel=1e-2)
    assert seen.audit < 1e-7
    assert seen.accounted


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "slider-crank"])
def test_energy_at_rest_is_accounted_for(name: str) -> None:
    """Where nothing moves, rounding of the potential is no lost energy."""
    from linkwright.linearization import equilibria

    linkage = lw.gallery(name)
    for rest in equilibria(linkage, starts=4):
        still = lw.simulate(linkage, 0.5, q0=rest.q, samples=5)
        assert still.finished
        if rest.kind == "stable":
            assert still.accounted


def test_a_chart_that_is_singular_at_the_start_ends_the_run() -> None:
    """At t = 0 numbers have room for ever smaller steps: these end, and say so."""
    ball = lw.Mechanism(
        name="ball", gravity=["1.0", "-2.0", "-9.81"],
        bodies={"b": {"mass": 1, "center": ["0.1", "0.2", "-0.3"],
                      "inertia": {"xx": "0.2", "yy": "0.3", "zz": "0.25", "xy": "0.02"}}},
        joints={"j": {"type": "spherical", "rotation": "cardan", "child": "b",
                      "origin": {"xyz": ["0.3", "0.1", "0.2"], "rpy": ["0.4", "-0.7", "1.1"]}}},
    )  # fmt: skip
    run = lw.simulate(ball, 0.1, q0=[0.3, np.pi / 2, 0.1], samples=3)
    assert not run.finished
    assert "too small" in run.status or "singular" in run.status


def test_pushes_of_stops_count_among_the_forces() -> None:
    """A mass that rests on its stop carries another by a constraint: by hand, the stop pushes up
    with the weight of both, and the constraint with that of the second."""
    g, first, second = 9.81, 2.0, 3.0
    pair = lw.Mechanism(
        name="pair",
        bodies={"a": {"mass": first}, "c": {"mass": second}},
        joints={
            "x": {"type": "prismatic", "child": "a", "limits": {"lower": 0, "restitution": 0}},
            "y": {"type": "prismatic", "child": "c"},
        },
        constraints={"tie": {"type": "equation", "position": "y - x"}},
    )
    run = lw.simulate(pair, 0.2, samples=3)
    weights = np.array([first, second]) * g
    np.testing.assert_allclose(run.pushes, np.full((3, 2), [weights.sum(), 0.0]), atol=1e-9)
    np.testing.assert_allclose(run.details.tau, run.tau + run.pushes, rtol=0, atol=0)
    np.testing.assert_allclose(run.multipliers, np.full((3, 1), weights[1]), rtol=1e-9)
    np.testing.assert_allclose(run.reactions[:, :, 5], np.full((3, 2), weights), rtol=1e-9)
    np.testing.assert_allclose(run.qdd, 0, atol=1e-9)
