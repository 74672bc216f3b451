"""Starts of an ensemble are those of its runs one by one; wrong ones are rejected."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ArgumentError, AssemblyError, LinkwrightError, UnsupportedError
from linkwright.simulation.ensemble_parameters import find_rejected_parameters
from linkwright.simulation.ensemble_starts import EnsembleRuns
from tests.constrained.test_quaternion_assembly import pinned

TOP = lw.load(
    "name='top'\ngravity=[0,0,-9.81]\n[bodies.b]\nmass=2\ninertia=[0.1,0.2,0.3]\n"
    "[joints.f]\ntype='free'\nchild='b'\n"
)


@pytest.mark.parametrize("name", ["five-bar", "3-rrr"])
def test_loops_with_more_degrees_of_freedom_than_values_are_assembled_alike(name: str) -> None:
    """q1 alone leaves a degree of freedom or two: the rest is the configuration of `assemble`."""
    mechanism = lw.gallery(name)
    angles = lw.assemble(mechanism)[0] + np.array([-0.5, 0.0, 0.7])
    found = lw.simulate(mechanism, 0.01, q0={"q1": angles})
    for k, angle in enumerate(angles):
        alone = lw.assemble(mechanism, {"q1": angle}, hold=["q1"])
        np.testing.assert_allclose(found["q"].values[k, 0], alone, atol=1e-9)


def test_a_part_of_a_quaternion_or_one_of_another_length_is_rejected() -> None:
    with pytest.raises(AssemblyError, match=r"f\.qw alone is given"):
        lw.simulate(TOP, 0.1, q0={"f.qw": [0.5, 1.0]})
    with pytest.raises(AssemblyError, match=r"length 0\.5"):
        lw.simulate(TOP, 0.1, q0={"f.qw": [1.0, 0.5], "f.qx": 0.0, "f.qy": 0.0, "f.qz": 0.0})


def test_starts_may_be_texts_with_a_unit() -> None:
    found = lw.simulate(
        lw.gallery("elbow"), 0.1, q0={"q1": "30 deg"}, parameters={"m2": [1.0, 2.0]}
    )
    np.testing.assert_allclose(found["q"].values[:, 0, 0], np.pi / 6, rtol=1e-15)


@pytest.mark.parametrize("count", [8, 64, 300])
def test_all_runs_with_rejected_parameters_fail_among_many(count: int) -> None:
    masses = np.linspace(1, 2, count)
    masses[[5, 7]] = -1, -2
    found = lw.simulate(lw.gallery("elbow"), 0.01, parameters={"m2": masses})
    failed = [k for k, status in enumerate(found["status"].values) if "negative" in status]
    assert failed == [5, 7]
    assert np.isnan(found["q"].values[5]).all()


def test_an_ensemble_does_not_make_the_mechanism_of_every_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The parameters of 64 runs took as long to check as 2,000 runs."""
    made = []
    make = lw.Mechanism.with_parameters
    monkeypatch.setattr(
        lw.Mechanism,
        "with_parameters",
        lambda self, **given: made.append(given) or make(self, **given),
    )
    masses = np.random.default_rng(0).uniform(1, 2, (2, 64))
    found = lw.simulate(lw.gallery("elbow"), 0.01, parameters={"m1": masses[0], "m2": masses[1]})
    assert (found["status"].values == "finished").all()
    checked = {(one["m1"], one["m2"]) for one in made}
    extremes = {int(k) for row in masses for k in (row.argmin(), row.argmax())}
    assert {tuple(masses[:, k]) for k in extremes} <= checked
    assert len(made) <= 16


def test_empty_and_two_dimensional_starts_are_rejected() -> None:
    arm = lw.gallery("elbow")
    with pytest.raises(ArgumentError, match="at least one run"):
        lw.simulate(arm, 0.1, q0={"q1": []})
    with pytest.raises(ArgumentError, match="at least one run"):
        lw.simulate(arm, 0.1, torque={"q1": []})
    with pytest.raises(ArgumentError, match=r"shape \(2, 2\)"):
        lw.simulate(arm, 0.1, q0={"q1": np.ones((2, 2))})


def test_an_array_of_torques_is_rejected_where_there_are_actuators() -> None:
    with pytest.raises(UnsupportedError, match="give a table by actuator: tau1"):
        lw.simulate(lw.gallery("four-bar"), 0.1, torque=np.ones((2, 3)))


def test_tables_of_an_ensemble_may_be_lists() -> None:
    arm, times, rows = lw.gallery("elbow"), [0.0, 0.1], [[0.0, 1.0], [1.0, 2.0]]
    as_tuple = lw.simulate(arm, 0.1, torque={"q1": (times, rows, "linear")})
    as_list = lw.simulate(arm, 0.1, torque={"q1": [times, rows, "linear"]})
    np.testing.assert_array_equal(as_tuple["q"].values, as_list["q"].values)


def test_wrong_inputs_and_stops_are_named() -> None:
    arm = lw.gallery("elbow")
    with pytest.raises(LinkwrightError, match="neither a number, text, nor"):
        lw.simulate(arm, 0.1, torque={"q1": ["1", "t", "2", "3"]})
    with pytest.raises(LinkwrightError, match="stops = 'bounce' is not known"):
        lw.simulate(arm, 0.1, q0={"q1": [0.1]}, stops="bounce")


def test_a_few_rejected_runs_do_not_have_all_others_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A block with one bad design took a hundred times as long. Truth: each run by itself."""
    arm, rng = lw.gallery("elbow"), np.random.default_rng(3)
    names, values = ["m1", "m2", "l1"], rng.uniform(-0.1, 2.0, (200, 3))
    values[17] = 1.0, np.nan, 1.0
    wanted = {}
    for run, row in enumerate(values.tolist()):
        try:
            arm.with_parameters(**dict(zip(names, row, strict=True)))
        except LinkwrightError as error:
            wanted[run] = str(error)
    assert 10 < len(wanted) < 60
    made, make = [], lw.Mechanism.with_parameters
    monkeypatch.setattr(
        lw.Mechanism, "with_parameters", lambda self, **p: made.append(p) or make(self, **p)
    )
    found = find_rejected_parameters(arm, names, values)
    assert {run: str(error) for run, error in found.items()} == wanted
    assert len(made) < len(wanted) + 40


@pytest.mark.parametrize("law", ["k*(L - 2)", "k*(L - 2) + c*Ldot"])
def test_parameters_of_laws_of_the_motion_vary_in_ensembles(law: str) -> None:
    """The law has names of its own, L and Ldot, which are no numbers; c alone is in no other
    number. Truth: the damped oscillator in closed form."""
    slide = lw.Mechanism(
        name="slide", parameters={"k": 4.0, "c": 0.5}, bodies={"b": {"mass": 1.0}},
        frames={"far": {"body": "ground", "origin": [-2, 0, 0]}},
        joints={"x": {"type": "prismatic", "child": "b", "axis": [1, 0, 0]}},
        lengths={"spring": {"path": ["far", "b"], "force": law}},
    )  # fmt: skip
    c = np.linspace(0.1, 1.0, 20)
    found = lw.simulate(slide, 1.0, q0={"x": 0.3}, parameters={"c": c}, samples=2)["q"].values
    rate = c / 2 if "c" in law else 0 * c
    wave = np.sqrt(4 - rate**2)
    wanted = 0.3 * np.exp(-rate) * (np.cos(wave) + rate / wave * np.sin(wave))
    np.testing.assert_allclose(found[:, -1, 0], wanted, atol=1e-9)


def test_rejected_combinations_of_parameters_fail_among_many() -> None:
    """m1 - m2 is negative in one run, though neither of them is extreme there."""
    slide = lw.Mechanism(
        name="slide", parameters={"a": 3.0, "b": 1.0}, bodies={"b": {"mass": "a - b"}},
        joints={"x": {"type": "prismatic", "child": "b"}},
    )  # fmt: skip
    a, b = np.linspace(3, 4, 300), np.linspace(0.5, 1.5, 300)
    a[7], b[7], b[100], a[100] = 2.0, 0.2, 2.6, 3.9
    a[9], b[9] = 2.1, 2.2
    found = lw.simulate(slide, 0.01, parameters={"a": a, "b": b}, samples=2)
    failed = [k for k, status in enumerate(found["status"].values) if "negative" in status]
    assert failed == [9]


def test_coordinates_of_free_joints_by_name_are_kept_in_every_run() -> None:
    """x and z of a free body are held in the world's axes, however the closing turns it."""
    mechanism, x = pinned(), np.array([0.9, 0.7, -0.4])
    model = lw.compile(mechanism)
    found = lw.simulate(mechanism, 0.01, q0={"f.x": x, "f.z": -0.3}, samples=2)["q"].values
    np.testing.assert_allclose(found[:, 0, model.q_names.index("f.x")], x, atol=1e-14)
    np.testing.assert_allclose(found[:, 0, model.q_names.index("f.z")], -0.3, atol=1e-14)
    assert np.abs(model.constraint_residual(found[:, 0])).max() < 1e-12
    for k, own in enumerate(x):
        alone = lw.simulate(mechanism, 0.01, q0={"f.x": own, "f.z": -0.3}, samples=2)
        np.testing.assert_array_equal(found[k], alone.q)


def test_coordinates_that_are_not_given_are_those_of_assemble() -> None:
    """Lengths differ by run: entries of the Jacobian count as in each run's own mechanism."""
    bars, lengths = lw.gallery("four-bar"), np.array([2.9, 3.0, 3.1])
    found = lw.simulate(bars, 0.01, parameters={"l2": lengths}, samples=2)["q"].values
    for k, length in enumerate(lengths):
        own = lw.assemble(bars.with_parameters(l2=length))
        np.testing.assert_allclose(found[k, 0], own, rtol=0, atol=1e-14)


def test_loops_of_all_runs_close_without_a_mechanism_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(runs: EnsembleRuns, run: int) -> lw.Mechanism:
        raise AssertionError(f"run {run} is assembled by itself")

    monkeypatch.setattr(EnsembleRuns, "mechanism_of", refuse)
    lengths = np.linspace(2.9, 3.1, 40)
    found = lw.simulate(
        lw.gallery("four-bar"), 0.1, {"theta1": 1.0}, parameters={"l2": lengths}, samples=2
    )
    assert set(found["status"].values) == {"finished"}
