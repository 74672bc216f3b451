"""Loops that others make redundant, exactly or but for rounded numbers, change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import AssemblyError, LinkwrightError, MechanismError
from linkwright.files.toml_reader import read_toml
from linkwright.model.guard import GuardedState
from linkwright.simulation import solve_kinematics
from linkwright.writers.toml_writer import write_toml

DOOR: dict[str, Any] = {"mass": 20, "center": [0.4, 0.1, 1], "inertia": [6, 7, 1.5]}
AXES = {"along z": [0, 0, 1], "askew": [1, 2, 3]}
HEIGHTS = (1.0, 2.0)


def door(axis: list[float], heights: tuple[float, ...] = HEIGHTS, off: float = 0.0) -> lw.Mechanism:
    """A door on one hinge of the tree, and on others that are coaxial, but for `off`."""
    e = np.array(axis) / np.linalg.norm(axis)
    loops = {
        f"hinge{k}": {
            "type": "revolute", "parent": "ground", "child": "door", "axis": axis,
            "origin": (h * e + off).tolist(), "child_origin": (h * e).tolist(),
        }
        for k, h in enumerate(heights)
    }  # fmt: skip
    hinge = {"type": "revolute", "child": "door", "axis": axis}
    return lw.Mechanism(
        gravity=[0, -2, -9.81], bodies={"door": DOOR}, joints={"hinge": hinge}, loops=loops
    )


def acceleration_of_a_hinged_door(axis: list[float], q: float) -> float:
    """By hand: I_e θ'' = e · (c × m g)."""
    from scipy.spatial.transform import Rotation

    e = np.array(axis) / np.linalg.norm(axis)
    c0, m = np.array(DOOR["center"]), DOOR["mass"]
    inertia = e @ np.diag(DOOR["inertia"]) @ e + m * (c0 @ c0 - (c0 @ e) ** 2)
    c = Rotation.from_rotvec(q * e).apply(c0)
    return float(e @ np.cross(c, m * np.array([0, -2, -9.81])) / inertia)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
@pytest.mark.parametrize("off", [0.0, 1e-8])
def test_a_door_on_three_hinges_moves_as_on_one(axis: list[float], off: float) -> None:
    mechanism = door(axis, off=off)
    found = lw.mobility(mechanism)
    assert (found.dof, found.equations, found.rank) == (1, 10, 0)
    assert bool(found.nearly) == (off > 0)
    run = lw.simulate(mechanism, t=0.3, q0={"hinge": 0.4}, samples=4)
    assert run.finished, run.status
    for q, qdd in zip(run.q[:, 0], run.qdd[:, 0], strict=True):
        assert qdd == pytest.approx(acceleration_of_a_hinged_door(axis, q), rel=1e-9)


def test_a_shaft_in_two_bearings_shares_its_weight() -> None:
    """Reactions of all hinges together carry the shaft, least in the sum of squares."""
    mechanism = door([0, 0, 1], (1.0,))
    model = lw.compile(mechanism)
    q, rest = np.array([0.3]), np.zeros(1)
    qdd = model.forward_dynamics(q, rest, rest)
    rows = model.reactions(q, rest, rest)
    acceleration = model.frame_acceleration("door")(q, rest, qdd)
    c = model.center_of_mass(q)
    center = acceleration[3:] + np.cross(acceleration[:3], c)
    wanted = DOOR["mass"] * (center - np.array([0, -2, -9.81]))
    np.testing.assert_allclose(rows[:, 3:].sum(axis=0), wanted, rtol=1e-9)
    assert np.abs(rows[1, 3:]).max() > 1


def test_a_second_hinge_beside_the_axis_is_refused_for_its_gap() -> None:
    with pytest.raises(AssemblyError, match=r"'hinge0' cannot close: it stays 0\.00"):
        lw.mobility(door([0, 0, 1], off=1e-3))


def test_a_refusal_names_the_closure_that_allows_rounded_numbers() -> None:
    errors = np.zeros((3, 5))
    errors[2, 3] = 3e-5  # the third crank's pin
    rounded = platform(3, errors)
    with pytest.raises(AssemblyError, match="rounded, allow that: closure=1e-0") as refused:
        lw.assemble(rounded, {"c0": 1.0}, ["c0"])
    closure = str(refused.value).split("closure=")[1]
    q = lw.assemble(rounded.with_closure(float(closure)), {"c0": 1.0}, ["c0"])
    np.testing.assert_allclose(q, [1, -1, 1, 1], atol=1e-3)  # four bars in parallel
    with pytest.raises(AssemblyError, match=r"check the lengths$"):
        lw.assemble(platform(3, 1000 * errors), {"c0": 1.0}, ["c0"])


def test_a_loop_within_one_body_is_still_refused() -> None:
    loop = {"type": "revolute", "parent": "door", "child": "door"}
    with pytest.raises(MechanismError):
        lw.mobility(lw.Mechanism(bodies={"door": DOOR}, joints={"q": {"type": "revolute", "child": "door"}},
                                 loops={"pin": loop}))  # fmt: skip


# -- rounded numbers ----------------------------------------------------------------------


def platform(cranks: int, errors: np.ndarray) -> lw.Mechanism:
    """A coupler that `cranks` parallel cranks carry: two would do. All lengths have errors."""
    body = {"mass": 1, "center": [0.1, 0.02, 0], "inertia": [0.01, 0.01, 0.01]}
    length = 0.3 + errors[:, 0]
    bodies = {"coupler": body, **{f"c{k}": body for k in range(cranks)}}
    joints: dict[str, Any] = {
        f"c{k}": {"type": "revolute", "child": f"c{k}", "origin": [0.2 * k + errors[k, 1], 0, 0]}
        for k in range(cranks)
    }
    joints["top"] = {"type": "revolute", "parent": "c0", "child": "coupler", "origin": [length[0], 0, 0]}  # fmt: skip
    loops = {
        f"pin{k}": {
            "type": "revolute", "parent": "coupler", "child": f"c{k}",
            "origin": [0.2 * k + errors[k, 2], errors[k, 3], errors[k, 4]],
            "child_origin": [length[k], 0, 0],
        }
        for k in range(1, cranks)
    }  # fmt: skip
    assembly = {"top": -1.0, **{f"c{k}": 1.0 for k in range(cranks)}}
    return lw.Mechanism(
        gravity=[0, -9.81, 0], bodies=bodies, joints=joints, loops=loops, assembly=assembly,
        independent=["c0"],
    )  # fmt: skip


@settings(max_examples=4, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=15, max_size=15))
def test_duplicates_that_are_off_by_1e_8_leave_mobility_and_motion(off: list[int]) -> None:
    """The third crank repeats what two hold: with errors in the ninth decimal, freedom, places and
    speeds are those of three exact cranks, to the order of the errors."""
    errors = 1e-9 * np.array(off, dtype=float).reshape(3, 5)
    rounded, exact = platform(3, errors), platform(3, np.zeros((3, 5)))
    found = lw.mobility(rounded)
    assert found.dof == lw.mobility(exact).dof == 1
    q, wanted = (lw.assemble(m, {"c0": 1.0}, ["c0"]) for m in (rounded, exact))
    np.testing.assert_allclose(q, wanted, atol=1e-6)
    qd = [lw.assemble_velocities(m, x, {"c0": 2.0}) for m, x in ((rounded, q), (exact, wanted))]
    np.testing.assert_allclose(qd[0], qd[1], atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"coordinates": "minimal"},
                                     {"integrator": "rk4", "step": 1e-3}])  # fmt: skip
def test_loops_of_rounded_numbers_move_as_exact_ones(options: dict[str, Any]) -> None:
    errors = 1e-8 * np.random.default_rng(1).uniform(-1, 1, (3, 5))
    runs = [
        lw.simulate(platform(3, e), t=0.1, q0={"c0": 1.0}, samples=3, **options)
        for e in (errors, 0 * errors)
    ]
    assert all(run.finished for run in runs), runs[0].status
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-6)
    np.testing.assert_allclose(runs[0].qdd, runs[1].qdd, rtol=1e-5, atol=1e-5)
    assert runs[0].accounted


def test_given_speeds_of_rounded_loops_are_kept() -> None:
    """Errors of 3e-7 are within the closure of 1e-6: rows that repeat others stop no crank."""
    mechanism = platform(3, 3e-7 * np.random.default_rng(1).uniform(-1, 1, (3, 5)))
    q = lw.assemble(mechanism, {"c0": 1.0}, ["c0"])
    qd = lw.assemble_velocities(mechanism, q, {"c0": 2.0})
    alone = lw.simulate(mechanism, t=0.01, q0=q, qd0=qd, samples=2).qd[0]
    np.testing.assert_allclose(alone, qd, atol=1e-5)


def test_given_motions_of_rounded_loops_are_those_of_exact_ones() -> None:
    errors = 1e-8 * np.random.default_rng(1).uniform(-1, 1, (3, 5))
    found = [
        solve_kinematics(platform(3, e), {"c0": "1 + t"}, 0.3, samples=4)
        for e in (errors, 0 * errors)
    ]
    assert all(one.finished for one in found), found[0].status
    np.testing.assert_allclose(found[0].q, found[1].q, atol=1e-6)
    np.testing.assert_allclose(found[0].qdd, found[1].qdd, atol=1e-5)


def test_info_notes_rows_that_are_nearly_redundant() -> None:
    text = str(lw.mobility(platform(3, np.full((3, 5), 1e-8) * np.arange(3)[:, None])))
    assert "nearly redundant, closed by least squares: " in text
    assert "nearly" not in str(lw.mobility(platform(3, np.zeros((3, 5)))))


def test_the_tolerance_is_one_and_can_be_set() -> None:
    """With 1e-5 m of misfit, the default refuses, and closure=1e-3 takes it, everywhere alike."""
    errors = np.zeros((3, 5))
    errors[2, 4] = 1e-5
    rough = platform(3, errors)
    with pytest.raises(AssemblyError, match="'pin2' cannot close"):
        lw.mobility(rough)
    np.testing.assert_allclose(lw.assemble(rough, closure=1e-3)[:2], [1, -1], atol=1e-3)
    assert lw.simulate(rough, t=0.01, samples=2, closure=1e-3).finished
    text = write_toml(rough.with_closure(1e-3))
    assert read_toml(text).closure == 1e-3
    assert lw.mobility(lw.load(write_toml(rough), closure=1e-3)).dof == 1


def test_the_command_line_sets_the_tolerance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A door whose hinges are 0.1 mm off closes, if it may."""
    from linkwright.cli.main import app

    def command(*words: str) -> str:
        app(words, standalone_mode=False)
        return capsys.readouterr().out

    file = tmp_path / "door.toml"
    file.write_text(write_toml(door([0, 0, 1], (1.0,), off=1e-4)))
    with pytest.raises(AssemblyError, match="'hinge0' cannot close"):
        command("assemble", str(file))
    assert "nearly redundant" in command("assemble", str(file), "--closure", "1e-3")
    assert "nearly redundant" in command("info", str(file), "--closure", "1e-3")
    assert "closure = 0.001" in command("export", str(file), "--to", "toml", "--closure", "1e-3")
    with pytest.raises(MechanismError, match="closure"):
        command("info", str(file), "--closure", "0.5")
    with pytest.raises(LinkwrightError, match="leave it out"):
        command("info", "elbow", "--closure", "1e-3")


def test_every_command_that_assembles_has_the_tolerance() -> None:
    from typer.main import get_command

    from linkwright.cli.main import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    options = {name: {option.name for option in x.params} for name, x in commands.items()}
    reads = {name for name, given in options.items() if "base" in given}
    assert {"simulate", "assemble", "info", "evaluate", "verify", "derive", "report"} <= reads
    assert reads == {name for name, given in options.items() if "closure" in given}


def test_functions_that_need_no_closure_compile_all_the_same() -> None:
    errors = np.zeros((3, 5))
    errors[2, 0] = 0.5
    model, exact = lw.compile(platform(3, errors)), lw.compile(platform(3, np.zeros((3, 5))))
    q = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(model.mass_matrix(q), exact.mass_matrix(q), rtol=1e-14)
    assert model.constraint_residual(q).shape == (10,)
    for use in (lambda: model.forward_dynamics, model.home, lambda: model.dof):
        with pytest.raises(AssemblyError, match="cannot close"):
            use()


FOUR_BAR_OF_MUJOCO = """
<mujoco><option gravity="0 0 -9.81"/><worldbody>
<body name="crank" pos="0 0 1"><joint name="crank" axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0.14142136 0 0"/>
  <body name="coupler" pos="0.14142136 0 0"><joint name="coupler" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.33333333 0 0"/></body></body>
<body name="rocker" pos="0.33333333 0 1"><joint name="rocker" axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0.14142136 0 0"/></body>
</worldbody><equality>EQUALITY</equality></mujoco>
"""


def test_a_hinge_of_two_connects_that_are_1e_8_apart_is_a_hinge() -> None:
    """As models of real robots write it: in a plane, one connect does the same."""
    pytest.importorskip("mujoco")
    head = '<connect body1="coupler" body2="rocker" anchor='
    two = f'{head}"0.33333333 0.05 0"/>{head}"0.33333334 -0.05 0.00000001"/>'
    texts = [FOUR_BAR_OF_MUJOCO.replace("EQUALITY", x) for x in (two, f'{head}"0.33333333 0 0"/>')]
    runs = [lw.simulate(lw.load(x), t=0.1, q0={"crank": -1.0}, samples=3) for x in texts]
    assert all(run.finished for run in runs), runs[0].status
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-6)
    np.testing.assert_allclose(runs[0].qdd, runs[1].qdd, rtol=1e-5)


@pytest.mark.parametrize(("off", "closure"), [(1e-8, None), (1e-3, 1e-2)])
def test_stops_and_friction_see_the_same_rank_as_the_motion(
    off: float, closure: float | None
) -> None:
    """Hinges that are off by less than the closure restrict nothing, in events and at states that
    are solved by singular values too: the door swings against its stop as on exact hinges."""
    options = {
        "limits": {"lower": -3, "upper": 0.5, "restitution": 0.5},
        "friction_coefficient": 0.1, "pin_radius": 0.01,
    }  # fmt: skip
    runs = []
    for each in (off, 0.0):
        exact = door([0, 0, 1], (1.0,), off=each)
        hinge = exact.joints["hinge"].model_validate(
            {"type": "revolute", "child": "door", "axis": [0, 0, 1], **options}
        )
        stopped = exact.model_copy(update={"joints": {"hinge": hinge}})
        start = {"q0": {"hinge": 0.4}, "qd0": {"hinge": 2.0}, "closure": closure}
        runs.append(lw.simulate(stopped, t=0.3, samples=3, **start))
    assert all(run.finished for run in runs), runs[0].status
    assert runs[0].events[0].name == runs[1].events[0].name
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-3 * off)


def test_hinges_off_by_less_than_a_wide_closure_do_not_lock_the_door() -> None:
    model = lw.compile(door([0, 0, 1], off=1e-3).with_closure(1e-2))
    wanted = acceleration_of_a_hinged_door([0, 0, 1], 0.4)
    assert model.forward_dynamics([0.4], [0.0], [0.0])[0] == pytest.approx(wanted, rel=1e-9)
    state = {"q": np.array([0.4]), "qd": np.zeros(1), "tau": np.zeros(1)}
    assert GuardedState(model, state).forward_dynamics()[0] == pytest.approx(wanted, rel=1e-9)
