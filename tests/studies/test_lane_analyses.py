"""Linear models and inverse motions of all designs at once: closed forms, and one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from linkwright.studies import design_evaluation

from . import study_functions

PENDULUM = lw.load(
    "name='pendulum'\ngravity=[0,-9.81,0]\n[parameters]\nm=2.0\nl=0.7\nd=0.3\nk=1.5\n"
    "[bodies.bob]\nmass='m'\ncenter=['l',0,0]\ninertia=[0,0,0]\n"
    "[joints.q]\ntype='revolute'\nchild='bob'\naxis=[0,0,1]\ndamping='d'\nstiffness='k'\n"
)
"""A point mass on a rod with a torsional damper and spring; q = −π/2 hangs down."""
FOUR_BAR = lw.gallery("four-bar")
L3 = float(FOUR_BAR.values["l3"])


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Note which designs are analysed by themselves."""
    noted: list[tuple[str, int]] = []
    for name, make in list(design_evaluation.DESIGN_ANALYSES.items()):

        def noting(group: Any, lane: int, seed: int, name: str = name, make: Any = make) -> object:
            noted.append((name, int(group.lanes[lane])))
            return make(group, lane, seed)

        monkeypatch.setitem(design_evaluation.DESIGN_ANALYSES, name, noting)
    return noted


def test_eigenvalues_of_pendulums_have_their_closed_form(alone: list[tuple[str, int]]) -> None:
    """m l² q̈ + d q̇ + (k + m g l) δq = τ − k q about q = −π/2, with τ that holds the spring."""
    rng = np.random.default_rng(0)
    lengths, masses, torques = rng.uniform(0.3, 2, 40), rng.uniform(0.5, 3, 40), np.zeros(40)
    found = lw.study(
        PENDULUM,
        {"l": lengths, "m": masses, "torque.q": torques},
        {
            "swing": "imag(linearize.eigenvalues)[0]", "decay": "max(real(linearize.eigenvalues))",
            "frequency": "linearize.frequencies[0]", "ratio": "linearize.damping[0]",
            "stable": "linearize.stable",
        },
        design="list", linearize={"q": {"q": "-90 deg"}},
    )  # fmt: skip
    inertia = masses * lengths**2
    natural = np.sqrt((1.5 + masses * 9.81 * lengths) / inertia)
    decay = 0.3 / (2 * inertia)
    np.testing.assert_allclose(found.data["swing"], np.sqrt(natural**2 - decay**2), rtol=1e-12)
    np.testing.assert_allclose(found.data["decay"], -decay, rtol=1e-11)
    np.testing.assert_allclose(found.data["frequency"], natural, rtol=1e-12)
    np.testing.assert_allclose(found.data["ratio"], decay / natural, rtol=1e-11)
    assert (found.data["stable"] == 1).all()
    assert not alone


def test_torques_of_pendulums_have_their_closed_form(alone: list[tuple[str, int]]) -> None:
    rng = np.random.default_rng(1)
    lengths, masses = rng.uniform(0.3, 2, 40), rng.uniform(0.5, 3, 40)
    motion = {"motion": {"q": "0.4*sin(3*t)"}, "t": 2.0, "samples": 21}
    found = lw.study(
        PENDULUM,
        {"l": lengths, "m": masses},
        {"torque": "inverse.tau1", "peak": "max(inverse.power)", "end": "inverse.ddq[-1]"},
        design="list", inverse=motion,
    )  # fmt: skip
    t = np.linspace(0, 2, 21)
    q, qd, qdd = 0.4 * np.sin(3 * t), 1.2 * np.cos(3 * t), -3.6 * np.sin(3 * t)
    weight = 9.81 * (masses * lengths)[:, None] * np.cos(q)
    wanted = (masses * lengths**2)[:, None] * qdd + 0.3 * qd + 1.5 * q + weight
    np.testing.assert_allclose(found.data["torque"], wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.data["peak"], (wanted * qd).max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.data["end"], qdd[-1], rtol=1e-13)
    assert not alone


def test_a_motion_that_names_a_parameter_is_that_of_its_design() -> None:
    motion = {"motion": {"q": "l*t"}, "t": 1.0, "samples": 3}
    measure = {"end": "inverse.q[-1]", "torque": "inverse.tau1[-1]"}
    found = lw.study(PENDULUM, {"l": [0.5, 1.0]}, measure, inverse=motion)
    np.testing.assert_allclose(found.data["end"], [0.5, 1.0], rtol=1e-14)
    lengths = np.array([0.5, 1.0])
    wanted = 0.3 * lengths + 1.5 * lengths + 2 * 9.81 * lengths * np.cos(lengths)
    np.testing.assert_allclose(found.data["torque"], wanted, rtol=1e-13)


def test_a_joint_may_have_the_name_of_all_coordinates() -> None:
    measure = {"end": "q[-1]", "fast": "max(abs(dq))"}
    found = lw.study(PENDULUM, {"l": [0.5, 1.0]}, measure, t=0.1, samples=11)
    for k, length in enumerate((0.5, 1.0)):
        run = lw.simulate(PENDULUM, 0.1, parameters={"l": length}, samples=11)
        assert float(found.data["end"][k]) == run.q[-1, 0]
        assert float(found.data["fast"][k]) == abs(run.qd[:, 0]).max()


@pytest.mark.slow
def test_loops_and_spinning_bodies_are_those_of_single_models(alone: list[tuple[str, int]]) -> None:
    top = lw.load(
        "name='top'\ngravity=[0,0,-9.81]\n[parameters]\nC=0.02\n[bodies.b]\nmass=1\ncenter=[0,0,0.1]\n"
        "inertia=[0.01,0.01,'C']\n[joints.s]\ntype='spherical'\nchild='b'\n"
    )
    cases: list[tuple[lw.Mechanism, dict[str, Any], dict[str, Any]]] = [
        (FOUR_BAR, {"l3": [0.9 * L3, L3], "q0.theta1": [-1.0, -1.2]}, {"qd0": {"theta1": 2.0}}),
        (top, {"C": [0.01, 0.02], "qd0.s.wz": [30.0, 50.0]}, {}),
    ]
    for mechanism, vary, given in cases:
        measure = {"real": "real(linearize.eigenvalues)", "imag": "imag(linearize.eigenvalues)"}
        found = lw.study(mechanism, vary, measure, design="list", **given)
        assert not alone
        for k in range(2):
            factors = found.factors_of(k)
            q = {n[3:]: x for n, x in factors.items() if n.startswith("q0.")}
            qd = {n[4:]: x for n, x in factors.items() if n.startswith("qd0.")}
            one = lw.linearize(found.mechanism_of(k), q, given.get("qd0", {}) | qd)
            wanted = np.poly(one.eigenvalues)
            own = found.data["real"][k].to_numpy() + 1j * found.data["imag"][k].to_numpy()
            # characteristic polynomials: multiple eigenvalues of the top amplify rounding
            np.testing.assert_allclose(
                np.poly(own), wanted, rtol=1e-9, atol=1e-9 * abs(wanted).max()
            )


@pytest.mark.slow
@pytest.mark.parametrize("has_actuators", [True, False])
def test_inverse_motions_of_loops_are_those_of_single_designs(
    alone: list[tuple[str, int]], has_actuators: bool
) -> None:
    bar = (
        FOUR_BAR if has_actuators else replace_part_fields(FOUR_BAR, ["actuators"], independent=())
    )
    motion: dict[str, Any] = {"motion": {"theta1": "t"}, "t": 0.5, "samples": 6}
    measure = {"effort": "max(abs(inverse.tau_theta1))", "energy": "inverse.energy[-1]"}
    found = lw.study(bar, {"l3": [0.9 * L3, L3]}, measure, inverse=motion)
    assert not alone
    for k in range(2):
        run = lw.solve_inverse(found.mechanism_of(k), {"theta1": "t"}, 0.5, samples=6)
        assert float(found.data["effort"][k]) == pytest.approx(abs(run.tau[:, 0]).max(), rel=1e-11)
        assert float(found.data["energy"][k]) == pytest.approx(run.energy[-1], rel=1e-12)


def test_a_bad_design_changes_no_bit_of_the_others(alone: list[tuple[str, int]]) -> None:
    measure = {
        "frequency": "linearize.frequencies[0]", "torque": "max(inverse.tau1)", "free": "inverse.t[-1]",
    }  # fmt: skip
    given: dict[str, Any] = {"linearize": {"q": {"q": "-90 deg"}}}
    given["inverse"] = {"motion": {"q": "t"}, "t": 1.0, "samples": 5}
    masses = [1.0, -1.0, 2.0, 0.0, 3.0]  # a rod without a mass has no acceleration
    found = lw.study(PENDULUM, {"m": masses}, measure, **given, block=5)  # no pilots
    assert found.data["status"].to_numpy().tolist() == [1, 3, 1, 3, 1]
    assert "mass" in found.failures[1]
    assert sorted(set(alone)) == [("inverse", 1), ("linearize", 1), ("linearize", 3)]
    alone.clear()
    good = lw.study(PENDULUM, {"m": [1.0, 2.0, 3.0]}, measure, **given)
    ones = lw.study(PENDULUM, {"m": [1.0, 2.0, 3.0]}, measure, **given, block=1)
    assert not alone
    for name in measure:
        np.testing.assert_array_equal(found.data[name][[0, 2, 4]], good.data[name])
        np.testing.assert_array_equal(ones.data[name], good.data[name])


@pytest.mark.slow
def test_what_lanes_cannot_do_is_done_one_by_one(alone: list[tuple[str, int]]) -> None:
    """Functions of linear models, and nonholonomic constraints."""
    measure = {"f": study_functions.lowest_frequency, "g": "linearize.frequencies[0]"}
    found = lw.study(PENDULUM, {"l": [0.5, 1.0]}, measure, linearize={"q": {"q": "-90 deg"}})
    assert set(alone) == {("linearize", 0), ("linearize", 1)}
    lengths = np.array([0.5, 1.0])
    wanted = np.sqrt((1.5 + 2 * 9.81 * lengths) / (2 * lengths**2))
    np.testing.assert_allclose(found.data["f"], wanted, rtol=1e-12)
    np.testing.assert_array_equal(found.data["f"], found.data["g"])
    alone.clear()
    disk = lw.gallery("rolling-disk")
    name = next(iter(disk.parameters))
    lw.study(disk, {name: [float(disk.values[name])]}, {"n": "max(abs(linearize.eigenvalues))"})
    assert alone


@pytest.mark.parametrize("dampings", [[10.0, 0.5, 0.2], [0.5, 10.0, 0.2], [10.0, 11.0, 0.2]])
def test_designs_that_lack_frequencies_take_none_from_others(dampings: list[float]) -> None:
    """Overdamped designs have one frequency less; if the first one is, those of all were cut.

    Truth: ω² = k/m, and an oscillation where c² < 4 k m.
    """
    two = lw.Mechanism(
        name="two", parameters={"c": 0.5}, bodies={"a": {"mass": 1.0}, "b": {"mass": 1.0}},
        joints={
            "x": {"type": "prismatic", "child": "a", "stiffness": 4.0, "damping": "c"},
            "y": {"type": "prismatic", "child": "b", "stiffness": 9.0, "damping": 0.1},
        },
    )  # fmt: skip
    measure = {"all": "linearize.frequencies", "last": "linearize.frequencies[1]"}
    found = lw.study(two, {"c": dampings}, measure)
    wanted = [[3.0, np.nan] if c > 4 else [2.0, 3.0] for c in dampings]
    np.testing.assert_allclose(found.data["all"], wanted, atol=1e-12)
    np.testing.assert_allclose(found.data["last"], np.array(wanted)[:, 1], atol=1e-12)
    assert found.failures == {
        k: "measure 'last' is not a number" for k, c in enumerate(dampings) if c > 4
    }


def test_a_design_without_equilibrium_is_a_failure_and_cuts_no_others() -> None:
    slope = lw.Mechanism(
        name="slope", gravity=[-1, 0, 0], parameters={"k": 1.0}, bodies={"a": {"mass": 2.0}},
        joints={"x": {"type": "prismatic", "child": "a", "axis": [1, 0, 0], "stiffness": "k"}},
    )  # fmt: skip
    found = lw.study(slope, {"k": [0.0, 4.0]}, {"where": "equilibria.q", "n": "equilibria.count"})
    assert found.failures == {0: "equilibria: no equilibrium was found"}
    np.testing.assert_allclose(found.data["where"], [np.nan, -0.5], atol=1e-9)


PUMP = lw.load(
    "name='pump'\nindependent=['a']\n[parameters]\nr=0.05\nL=0.18\ne=0.01\n"
    "[bodies.crank]\nmass=1\n[bodies.rod]\nmass=1\n[bodies.piston]\nmass=1\n"
    "[joints.a]\ntype='revolute'\nchild='crank'\n"
    "[joints.b]\ntype='revolute'\nparent='crank'\nchild='rod'\norigin=['r',0,0]\n"
    "[joints.s]\ntype='prismatic'\naxis=[1,0,0]\nchild='piston'\norigin=[0,'e',0]\n"
    "[loops.pin]\ntype='revolute'\nparent='rod'\nchild='piston'\norigin=['L',0,0]\n"
    "[assembly]\na=0.5\nb=-0.6\ns='r + L'\n"
)
"""A crank r, a rod L, and a piston that slides at the height e: L² = (s − r cos a)² + (e − r sin a)²."""


def test_pistons_have_their_closed_form(alone: list[tuple[str, int]]) -> None:
    rng = np.random.default_rng(3)
    vary = {"r": rng.uniform(0.03, 0.06, 40), "L": rng.uniform(0.15, 0.3, 40)}
    vary["e"] = rng.uniform(-0.02, 0.02, 40)
    found = lw.study(
        PUMP,
        vary,
        {
            "s": "kinematics.s", "v": "kinematics.ds", "acceleration": "max(kinematics.dds)",
            "open": "max(kinematics.closure)", "angle": "degrees(min(linkage.transmission_angle))",
            "ratio": "max(linkage.velocity_ratio)",
        },
        design="list", kinematics={"motion": {"a": "0.5 + 2*t"}, "t": 4.0, "samples": 161},
        linkage={"samples": 361}, block=40,
    )  # fmt: skip
    assert not alone
    assert (found.data["status"] == 1).all()
    assert float(found.data["open"].max()) < 1e-14
    r, L, e = (vary[name][:, None] for name in "rLe")

    def piston(a: np.ndarray[Any, Any]) -> tuple[Any, Any]:
        """Return s and ds/da."""
        height = e - r * np.sin(a)
        along = np.sqrt(L**2 - height**2)
        return r * np.cos(a) + along, -r * np.sin(a) + height * r * np.cos(a) / along

    a = 0.5 + 2 * np.linspace(0, 4, 161)
    np.testing.assert_allclose(found.data["s"], piston(a)[0], rtol=1e-13)
    np.testing.assert_allclose(found.data["v"], 2 * piston(a)[1], atol=1e-14)
    steps = np.array([-1e-4, 0, 1e-4])
    second = np.stack([piston(a + step)[1] for step in steps])
    accelerations = 4 * (second[2] - second[0]) / 2e-4
    np.testing.assert_allclose(found.data["acceleration"], accelerations.max(axis=1), rtol=1e-6)
    # the rod presses on the piston along its own direction; the least angle is at sin a = ±1
    least = 90 - np.degrees(np.arcsin(((np.abs(e) + r) / L)[:, 0]))
    np.testing.assert_allclose(found.data["angle"], least, rtol=1e-10)
    whole = piston(np.linspace(0, 2 * np.pi, 361))[1]
    np.testing.assert_allclose(found.data["ratio"], whole.max(axis=1), rtol=1e-12)


def test_motions_near_singular_positions_are_followed_one_by_one(
    alone: list[tuple[str, int]],
) -> None:
    """With l2 + l3 < l1 + l4 the crank makes no full turn; a coarse motion is refined in between."""
    motion: dict[str, Any] = {"motion": {"theta1": "2*pi*t"}, "t": 1.0, "samples": 5}
    measure = {"angle": "kinematics.theta3", "bend": "min(linkage.transmission_angle)"}
    grounds = [3.5, 5.0, 9.0]  # full turns, a rocker, and bars that cannot meet
    given = {"kinematics": motion, "linkage": {"samples": 19}}
    found = lw.study(FOUR_BAR, {"l4": grounds}, measure, **given, block=3)
    assert found.data["status"].to_numpy().tolist() == [1, 2, 3]
    assert "cannot be assembled" in found.failures[2]
    assert set(alone) == {(name, lane) for name in ("kinematics", "linkage") for lane in (1, 2)}
    for k in range(2):
        one = lw.solve_kinematics(found.mechanism_of(k), motion["motion"], 1.0, samples=5)
        np.testing.assert_allclose(
            found.data["angle"][k, : len(one.t)], one.q[:, 2], rtol=0, atol=1e-14
        )
        assert np.isnan(found.data["angle"][k, len(one.t) :]).all()
    alone.clear()
    good = lw.study(FOUR_BAR, {"l4": grounds[:1]}, measure, **given, block=1)
    assert not alone
    for name in measure:
        np.testing.assert_array_equal(good.data[name][0], found.data[name][0])


def test_histories_have_all_samples_though_the_first_design_stops() -> None:
    """The first four-bar stops where cos theta1 = (l1² + l4² − (l2 + l3)²) / (2 l1 l4) = −0.425, at
    t = 0.3366; the other goes on."""
    motion: dict[str, Any] = {"motion": {"theta1": "1 + 3*t"}, "t": 1.0, "samples": 11}
    names = ("kinematics.theta1", "inverse.theta1")
    given = {"kinematics": motion, "inverse": motion}
    for name in names:
        found = lw.study(FOUR_BAR, {"l4": [5.0, 3.5]}, {"angle": name}, **given)
        assert found.data["status"].to_numpy().tolist() == [2, 1]
        np.testing.assert_allclose(found.data["angle_time"], np.linspace(0, 1, 11))
        np.testing.assert_allclose(found.data["angle"][1], 1 + 3 * np.linspace(0, 1, 11))
        np.testing.assert_array_equal(np.isnan(found.data["angle"][0]), np.arange(11) > 3)
    block = lw.load(
        "name='block'\ngravity=[0,0,0]\n[bodies.b]\nmass=1\n[joints.x]\ntype='prismatic'\n"
        "axis=[1,0,0]\nchild='b'\nlimits={lower=-1,upper=0.35}\n"
    )
    for more in ({}, {"effort": "work_inputs[-1]"}):  # together, and one by one
        runs = lw.study(
            block, {"qd0.x": [1.0, 0.2]}, {"x": "x", "last": "x[-1]", **more}, t=1.0, samples=11,
        )  # fmt: skip
        assert runs.data["status"].to_numpy().tolist() == [2, 1]
        np.testing.assert_allclose(runs.data["x_time"], np.linspace(0, 1, 11))
        np.testing.assert_allclose(runs.data["x"][1], 0.2 * np.linspace(0, 1, 11), atol=1e-12)
        np.testing.assert_allclose(runs.data["last"], [0.3, 0.2])
