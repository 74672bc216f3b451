"""Compiled functions under constraints: one signature, honest help, states that do not close."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import AssemblyError
from linkwright.mechanism import replace_part_fields
from linkwright.quantities import GUARDED_QUANTITIES, quantity_ports

FOUR_BAR = lw.compile(lw.gallery("four-bar"), threads=1)


def closed_state(tau: list[float]) -> dict[str, np.ndarray]:
    """At the four-bar's home with its crank at 2 rad/s, under forces."""
    q = FOUR_BAR.home()
    G, k = FOUR_BAR.independent_map(q)
    qd = G @ [2.0] + k
    forces = np.array(tau)
    return {"q": q, "qd": qd, "tau": forces, "qdd": FOUR_BAR.forward_dynamics(q, qd, forces),
            "wrenches": np.zeros((3, 6))}  # fmt: skip


@pytest.mark.parametrize("name", ["elbow", "four-bar", "slider-crank"])
def test_reactions_take_forces_with_and_without_constraints(name: str) -> None:
    """(q, qd, tau) for all; the same as those of the motion that τ brings about."""
    model = lw.compile(lw.gallery(name), threads=1)
    for function in ("reactions", "body_reactions"):
        assert [port.name for port in quantity_ports(model.names, function)[0]] == [
            "q",
            "qd",
            "tau",
        ]
    tau = np.random.default_rng(0).uniform(-1, 1, model.nv)
    q, rest = model.home(), np.zeros(model.nv)
    qdd = model.forward_dynamics(q, rest, tau)
    more = [model.multipliers(q, rest, tau)] if model.names.constraints else []
    wanted = model.reactions_of_motion(q, rest, qdd, *more)
    in_plane = [2, 3, 4]  # planar loops leave the rest undetermined
    found = model.reactions(q, rest, tau)
    np.testing.assert_allclose(found[:, in_plane], wanted[:, in_plane], atol=1e-9)
    again = model.reactions(q, rest, model.inverse_dynamics(q, rest, qdd))
    if not model.names.constraints:
        np.testing.assert_allclose(again, found, atol=1e-9)


def test_reactions_of_a_body_without_mass_follow_from_its_motion() -> None:
    """A mass at the end of a rod that has none: the hinge bears m (a + g); forces say nothing of
    the acceleration of a joint that moves no mass."""
    arm = lw.Mechanism(
        gravity=[0, 0, "-10"],
        bodies={"bob": {"mass": 2}, "ring": {}},
        joints={"z": {"type": "prismatic", "child": "bob", "axis": [0, 0, 1]},
                "ring": {"type": "revolute", "parent": "bob", "child": "ring"}},
    )  # fmt: skip
    model = lw.compile(arm, threads=1)
    rows = model.reactions_of_motion([0.0, 0.0], [0.0, 0.0], [3.0, 1.0])
    np.testing.assert_allclose(rows[0], [0, 0, 0, 0, 0, 26.0], atol=1e-12)
    with pytest.raises(lw.LinkwrightError, match="'ring' can move without moving mass"):
        model.reactions  # noqa: B018


@pytest.mark.parametrize("function", GUARDED_QUANTITIES)
def test_help_lists_just_the_outputs_that_are_returned(function: str) -> None:
    state = closed_state([0.3, 0.0, 0.0])
    wanted, _ = quantity_ports(FOUR_BAR.names, function)
    one = getattr(FOUR_BAR, function)
    results = one(*(state[port.name] for port in wanted))
    text = str(one.__doc__)
    assert "pivot" not in text
    heading = next(line for line in text.splitlines() if " -> " in line)
    count = len(results) if isinstance(results, tuple) else 1
    assert len(heading.split(" -> ")[1].split(", ")) == count
    assert "check=True" in text
    one(*(state[port.name] for port in wanted), check=True)


def test_closed_tells_states_apart() -> None:
    q = FOUR_BAR.home()
    open_ = q + np.array([0, 0.1, 0])
    many = np.array([[q, open_], [q + 1e-10, q + np.nan]])
    np.testing.assert_array_equal(FOUR_BAR.closed(many), [[True, False], [True, False]])
    assert FOUR_BAR.closed(q)
    assert not FOUR_BAR.closed(open_)
    assert FOUR_BAR.closed(open_, tolerance=1.0)
    assert FOUR_BAR.closed(FOUR_BAR.close(open_))
    assert lw.compile(lw.gallery("elbow")).closed(np.zeros((4, 2))).tolist() == [True] * 4


def test_closed_follows_time_and_parameters() -> None:
    """A slide that a drive holds at v t: closed at another place later, and for another v."""
    driven = lw.Mechanism(
        parameters={"v": 2},
        bodies={"cart": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "cart", "axis": [1, 0, 0]}},
        constraints={"motor": {"type": "drive", "on": "x", "position": "v*t"}},
    )
    model = lw.compile(driven, threads=1)
    assert model.closed([[0.0], [1.0]], [0.0, 0.5]).all()
    assert not model.closed([1.0], 0.0)
    kept = lw.compile(driven, parameters=["v"], threads=1)
    assert kept.closed([1.0], 0.5)
    assert not kept.closed([1.0], 0.5, [3.0])
    np.testing.assert_allclose(kept.close([0.0], 0.5, [3.0]), [1.5])


def test_check_names_the_state_and_the_constraint() -> None:
    state = closed_state([0.0, 0.0, 0.0])
    q, qd, tau = (np.array([state[key]] * 3) for key in ("q", "qd", "tau"))
    bad = q.copy()
    bad[1, 1] += 0.1
    with pytest.raises(AssemblyError, match=r"row 1 of 3 states does not close: 'pin' is open by"):
        FOUR_BAR.forward_dynamics(bad, qd, tau, check=True)
    fast = qd.copy()
    fast[2, 2] += 1.0
    with pytest.raises(
        AssemblyError, match="row 2 of 3 states has velocities that contradict 'pin'"
    ):
        FOUR_BAR.multipliers(q, fast, tau, check=True)
    with pytest.raises(AssemblyError, match="the state has accelerations that contradict 'pin'"):
        FOUR_BAR.inverse_dynamics(q[0], qd[0], [1.0, 0.0, 0.0], check=True)
    with pytest.raises(AssemblyError, match=r"'pin' is open by nan"):
        FOUR_BAR.reactions(q[0] * np.nan, qd[0], tau[0], check=True)
    free = lw.compile(lw.gallery("rolling-disk"), threads=1)  # speeds alone are restricted
    sliding = np.ones(free.nv)
    with pytest.raises(AssemblyError, match="velocities that contradict"):
        free.forward_dynamics(free.home(), sliding, 0 * sliding, check=True)


def test_a_locked_mechanism_is_checked_too() -> None:
    """No freedom is left: nothing is compiled, and the states are checked all the same."""
    held = replace_part_fields(
        lw.gallery("elbow"),
        constraints={
            "a": {"type": "coupling", "joint": "q1", "coefficients": ["1/3"]},
            "b": {"type": "coupling", "joint": "q2", "coefficients": ["1/4"]},
        },
    )
    model = lw.compile(held, threads=1)
    assert model.independent_map([1 / 3, 1 / 4], check=True)[0].shape == (2, 0)
    with pytest.raises(AssemblyError, match=r"'b' is open by 0\.75"):
        model.independent_map([1 / 3, 1.0], check=True)


def test_every_function_takes_check_with_and_without_constraints() -> None:
    """So that code for any mechanism can ask for it; where all states are closed, it says nothing."""
    tree, q = lw.compile(lw.gallery("elbow"), threads=1), FOUR_BAR.home()
    zero = np.zeros(2)
    found = tree.forward_dynamics(zero, zero, tau=zero, check=True)
    np.testing.assert_array_equal(found, tree.forward_dynamics(zero, zero, zero))
    np.testing.assert_array_equal(FOUR_BAR.mass_matrix(q, check=True), FOUR_BAR.mass_matrix(q))
    for function in (FOUR_BAR.mass_matrix, FOUR_BAR.placement(FOUR_BAR.body_names[0])):
        function(q + 0.1, check=False)
        with pytest.raises(AssemblyError, match="'pin' is open by"):
            function(q + 0.1, check=True)


def test_multipliers_are_named_in_the_order_of_the_rows() -> None:
    """Two wheels on an axle, in file order: of each the height, then what rolls; a run says which
    is which. The heights carry half the weight each, by hand."""
    wheel = {"mass": 0.1, "inertia": [1e-3, 2e-3, 1e-3]}
    rolling = {"type": "rolling", "radius": 0.1, "axle": [0, 1, 0]}
    axle = lw.Mechanism(
        gravity=[0, 0, -10],
        bodies={"axle": {"mass": 1, "inertia": [0.1, 0.1, 0.1]}, "l": wheel, "r": wheel},
        joints={
            "free": {"type": "free", "child": "axle"},
            "left": {"type": "revolute", "parent": "axle", "child": "l", "axis": [0, 1, 0], "origin": [0, 0.3, 0]},
            "right": {"type": "revolute", "parent": "axle", "child": "r", "axis": [0, 1, 0], "origin": [0, -0.3, 0]},
        },
        constraints={"b": {**rolling, "wheel": "l"}, "a": {**rolling, "wheel": "r"}},
        assembly={"free.z": 0.1},
    )  # fmt: skip
    assert lw.compile(axle, threads=1).constraint_names == ("b", "b", "b", "a", "a", "a")
    found = lw.simulate(axle, t=0.01, samples=2).data.multipliers
    assert found.row.values.tolist() == ["b[0]", "b[1]", "b[2]", "a[0]", "a[1]", "a[2]"]
    np.testing.assert_allclose(found.sel(row=["b[0]", "a[0]"]), 6, rtol=1e-9)


def test_a_joint_that_is_turned_over_does_not_close() -> None:
    """At half a turn all three sines of a weld vanish, but the bodies do not fit."""
    bodies = {name: {"mass": 1, "inertia": [1, 1, 1]} for name in ("a", "b")}
    joints = {name: {"type": "spherical", "child": name} for name in bodies}
    weld = {"weld": {"type": "fixed", "parent": "a", "child": "b"}}
    model = lw.compile(lw.Mechanism(bodies=bodies, joints=joints, loops=weld))
    over = [1, 0, 0, 0, 0, 1, 0, 0]
    assert np.abs(model.constraint_residual(over)).max() < 1e-15
    np.testing.assert_array_equal(model.closed([over, model.neutral()]), [False, True])
    for refused in (model.check_closed, model.close):
        with pytest.raises(AssemblyError, match="turned over"):
            refused(over)
