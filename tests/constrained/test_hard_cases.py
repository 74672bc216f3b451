"""What goes wrong easily: drives that cannot drive, rows that wake up, empty outputs, branches."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import AssemblyError, LinkwrightError, UnsupportedError
from linkwright.kinematics.assembly import assembly_branches, nearest_constrained_velocities
from linkwright.mechanism import replace_part_fields
from tests.commands import ok, run

LINK = {"mass": 1.3, "center": [0.3, 0.1, 0.05], "inertia": [0.1, 0.1, 0.1]}


def chain(n: int = 2, **fields: object) -> lw.Mechanism:
    """n links in the plane, one behind the other."""
    joints = {"q1": {"type": "revolute", "child": "b1"}}
    for k in range(2, n + 1):
        joints[f"q{k}"] = {
            "type": "revolute", "parent": f"b{k - 1}", "child": f"b{k}", "origin": [1, 0, 0],
        }  # fmt: skip
    return lw.Mechanism(
        gravity=[0, -9.81, 0], bodies={f"b{k}": LINK for k in range(1, n + 1)}, joints=joints,
        **fields,
    )  # fmt: skip


def equation(**field: str) -> dict[str, str]:
    return {"type": "equation", **field}


def two_links(**constraints: dict[str, str]) -> lw.Mechanism:
    """Two links on ground, side by side."""
    joints = {f"q{k}": {"type": "revolute", "child": f"b{k}"} for k in (1, 2)}
    return lw.Mechanism(
        gravity=[0, -9.81, 0], bodies={"b1": LINK, "b2": LINK}, joints=joints,
        constraints=constraints,
    )  # fmt: skip


# -- drives -------------------------------------------------------------------------------


def test_too_few_actuators_are_an_error() -> None:
    rod = {"type": "distance", "between": ["ground", "b3"], "length": 1.5}
    arm = chain(3, constraints={"rod": rod}, assembly={"q2": 1},
                actuators={"u": {"moves": "q1 + 0.5*q2 + 0.3*q3"}})  # fmt: skip
    model = lw.compile(arm)
    q = model.home()
    for function in (model.actuator_forces, model.inverse_dynamics):
        with pytest.raises(UnsupportedError, match="cannot move all 2 degrees of freedom"):
            function(q, np.zeros(3), np.zeros(3))


def test_a_drive_at_its_dead_centre_is_an_error() -> None:
    """Crank and coupler in line: a motor at the rocker cannot move the crank."""
    linkage = replace_part_fields(lw.gallery("four-bar"), actuators={"u": {"moves": "theta3"}})
    model = lw.compile(linkage)
    wide = model.actuator_forces(lw.assemble(linkage), np.zeros(3), np.zeros(3))
    assert np.abs(wide).max() < 1e3
    theta = np.arccos((3.5**2 + 4**2 - 2.5**2) / (2 * 3.5 * 4))
    q = lw.assemble(linkage, {"theta1": theta, "theta2": theta}, ["theta1", "theta2"])
    with pytest.raises(UnsupportedError, match="cannot move all 1 degrees of freedom"):
        model.actuator_forces(q, np.zeros(3), np.zeros(3))


def test_drives_of_least_norm_give_the_motion() -> None:
    linkage = replace_part_fields(lw.gallery("five-bar"), ["actuators"])
    model = lw.compile(linkage)
    q = model.home()
    rng = np.random.default_rng(0)
    qd = nearest_constrained_velocities(linkage, q, rng.uniform(-1, 1, model.nv))
    qdd = model.forward_dynamics(q, qd, rng.uniform(-1, 1, model.nv))
    tau = model.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
    free = np.linalg.svd(model.constraint_jacobian(q))[2][-2:]
    np.testing.assert_allclose(free.T @ (free @ tau), tau, atol=1e-10)  # none against constraints


# -- rows that wake up, or contradict each other -------------------------------------------


def kkt(model: lw.Model, q: list[float], qd: np.ndarray, *time: float) -> np.ndarray:
    M, b = model.mass_matrix(q), model.bias(q, qd, *time)
    J, gamma = model.constraint_jacobian(q, *time), model.constraint_bias(q, qd, *time)
    n, m = len(M), len(J)
    whole = np.block([[M, J.T], [J, np.zeros((m, m))]])
    return np.linalg.lstsq(whole, np.concatenate([-b, -gamma]), rcond=1e-10)[0][:n]


@pytest.mark.parametrize("t", [0.0, 1e-5, 0.1, 1.0])
def test_constraints_that_time_wakes(t: float) -> None:
    """g1 says nothing at t = 0, and as much as g2 later."""
    model = lw.compile(
        two_links(
            g1=equation(velocity="t*dq1 - t*dq2"), g2=equation(velocity="dq1 - 2*dq2")
        )
    )  # fmt: skip
    q, qd = [0.3, 0.5], np.zeros(2)
    found = model.forward_dynamics(q, qd, [0.0, 0.0], t)
    if t == 1e-5:  # hardly awake: within what rows may be violated by
        assert np.abs(model.constraint_jacobian(q, t) @ found).max() < 1e-3
    else:
        np.testing.assert_allclose(found, kkt(model, q, qd, t), atol=1e-9)


def test_constraint_that_holds_at_first() -> None:
    """The only row says nothing at t = 0."""
    model = lw.compile(two_links(g=equation(velocity="t*dq1 - t*dq2")))
    q, qd = [0.3, 0.5], np.zeros(2)
    for t in (0.0, 1.0):
        found = model.forward_dynamics(q, qd, [0.0, 0.0], t)
        np.testing.assert_allclose(found, kkt(model, q, qd, t), atol=1e-9)


def test_kept_parameters_that_tilt_a_loop() -> None:
    """At its nominal values the loop is planar; with others it restricts more."""
    linkage = lw.gallery("four-bar")
    loop = replace_part_fields(linkage.loops["pin"], axis=[0, "tilt", 1])
    tilted = replace_part_fields(
        linkage, loops={"pin": loop}, parameters={**linkage.parameters, "tilt": 0}
    )
    model = lw.compile(tilted, parameters=["tilt"])
    q, qd = model.home(), np.zeros(3)
    for tilt in (0.0, 0.2):
        qdd = model.forward_dynamics(q, qd, np.ones(3), [tilt])
        left = model.constraint_jacobian(q, [tilt]) @ qdd + model.constraint_bias(q, qd, [tilt])
        assert np.abs(left).max() < 1e-9


@pytest.mark.parametrize(
    "pair",
    [
        (equation(velocity="dq1 - 1"), equation(velocity="dq1 - 2")),
        ({"type": "drive", "on": "q1", "position": "t"},
         {"type": "drive", "on": "q1", "position": "2*t"}),
    ],
)  # fmt: skip
def test_demands_that_contradict_each_other(pair: tuple[dict[str, str], dict[str, str]]) -> None:
    both = chain(constraints=dict(zip(("one", "two"), pair, strict=True)))
    for attempt in (lambda m: lw.compile(m).forward_dynamics, lw.mobility):
        with pytest.raises(AssemblyError, match="no velocities satisfy the constraints"):
            attempt(both)


def test_equations_without_a_slope_are_avoided_or_refused() -> None:
    """√q1 = q2 has no slope at 0, where it is assembled first; elsewhere it has."""
    q = lw.assemble(chain(constraints={"root": equation(position="sqrt(q1) - q2")}))
    assert q[0] > 1e-3
    held = chain(constraints={"root": equation(position="sqrt(q1) - q2"),
                              "zero": equation(position="q1")})  # fmt: skip
    with pytest.raises(LinkwrightError, match="no finite"):
        _ = lw.compile(held).forward_dynamics


# -- empty outputs, weak pivots ---------------------------------------------------------------


def test_nothing_is_free() -> None:
    """All coordinates are driven: G is empty, k is their speed."""
    drives = {f"d{k}": {"type": "drive", "on": f"q{k}", "position": f"{k}*t"} for k in (1, 2)}
    model = lw.compile(chain(constraints=drives))
    G, k = model.independent_map([0.0, 0.0], 0.0)
    assert G.shape == (2, 0)
    np.testing.assert_allclose(k, [1, 2])
    G, k = model.independent_map(np.zeros((5, 2)), np.zeros(5))
    assert G.shape == (5, 2, 0)
    assert k.shape == (5, 2)
    np.testing.assert_allclose(model.forward_dynamics([0, 0], [1, 2], [0, 0], 0.0), [0, 0])


POINT = lw.Mechanism(
    gravity=[0, -9.81, 0],
    bodies={"slide": {"mass": 0.5}, "point": {"mass": 1}},
    joints={
        "x": {"type": "prismatic", "child": "slide", "axis": [1, 0, 0]},
        "y": {"type": "prismatic", "parent": "slide", "child": "point", "axis": [0, 1, 0]},
    },
    constraints={"rod": {"type": "distance", "between": ["ground", "point"], "length": 1}},
    assembly={"x": 0.8, "y": -0.6},
)


def test_reactions_where_a_pivot_is_weak() -> None:
    """The rod hangs down and turns at 1 rad/s: it carries the weight and the centripetal force."""
    model = lw.compile(POINT)
    for q, qd in (([0.0, -1.0], [1.0, 0.0]), ([-1.0, 0.0], [0.0, 1.0])):
        rows = model.reactions(q, qd, [0.0, 0.0])
        qdd = model.forward_dynamics(q, qd, [0.0, 0.0])
        lam = model.multipliers(q, qd, [0.0, 0.0])
        rod = lam[0] * np.array([*q, 0])
        slide = 1.5 * np.array([qdd[0], 0, 0]) + [0, 1.5 * 9.81 + qdd[1], 0] - rod
        np.testing.assert_allclose(rows[0, 3:], slide, atol=1e-9)
        turned = model.body_reactions(q, qd, [0.0, 0.0])
        np.testing.assert_allclose(turned, rows, atol=1e-12)  # nothing turns here
    assert model.forward_dynamics.signature == "(2),(2),(2)->(2),()"


def test_the_command_line_where_only_speeds_are_tied() -> None:
    zeros = ["q=0,0,0,0", "qd=0,0,0,0", "tau=0,0,0,0"]
    assert "qdd" in ok("evaluate", "car", "forward_dynamics", *zeros)
    found = run("evaluate", "four-bar", "forward_dynamics_with_wrenches", "q=1,2,3", "qd=0,0,0",
                "tau=0,0,0", f"wrenches={','.join(['0'] * 18)}")  # fmt: skip
    assert found.returncode == 1
    assert "does not hold" in found.stderr


def test_approximate_equations_are_compiled() -> None:
    linkage = lw.gallery("four-bar")
    model = lw.compile(lw.derive(linkage, by="approximate", parameters="numeric", iterations=5))
    q, qd = lw.assemble(linkage), np.zeros(3)
    wanted = lw.compile(linkage).forward_dynamics(q, qd, np.ones(3))
    np.testing.assert_allclose(model.forward_dynamics(q, qd, np.ones(3)), wanted, atol=1e-7)


# -- assembly -----------------------------------------------------------------------------------


def with_slider() -> lw.Mechanism:
    linkage = lw.gallery("four-bar")
    fields = {k: getattr(linkage, k) for k in ("gravity", "parameters", "loops")}
    return lw.Mechanism(
        **fields, bodies={**linkage.bodies, "block": {"mass": 1}},
        joints={**linkage.joints, "zz": {"type": "prismatic", "child": "block"}},
        assembly={"q1": 1, "q2": -0.4, "q3": 1.7, "zz": 0.25},
    )  # fmt: skip


def test_what_no_loop_touches_stays() -> None:
    linkage = with_slider()
    names = lw.compile(linkage).q_names
    q = lw.assemble(linkage, ranges={"q2": (-3, -1)})
    assert q[names.index("zz")] == 0.25
    branches = assembly_branches(linkage, {"q1": 1}, hold=["q1"])
    assert len(branches) == 2
    with pytest.raises(AssemblyError, match="1 more coordinates can move"):
        assembly_branches(linkage)


def test_mobility_at_a_dead_centre_of_the_named_speed() -> None:
    """Coupler and rocker stretched: the crank cannot drive there, another speed is free."""
    linkage = lw.gallery("four-bar").with_parameters(l1="3/2", l2=1, l3="3/2", l4=2)
    down = np.arctan2(-1.5, 2)
    report = lw.mobility(linkage, [np.pi / 2, down, down + np.pi])
    assert report.dof == 1
    assert report.independent != ("theta1",)


def test_kane_with_speeds_in_time() -> None:
    driven = chain(constraints={"d": {"type": "drive", "on": "q2", "position": "sin(t)"}})
    eqs = lw.derive(driven, by="kane", parameters="numeric", speeds={"u": "dq1 + t"})
    import casadi as ca

    state, s = eqs.state, eqs.symbols
    assert state is not None
    t, q, qd, tau = 0.4, [0.2, np.sin(0.4)], [0.5, np.cos(0.4)], [1.0, 0.0]
    x = ca.Function("x", [s["q"], s["qd"], s["t"]], [state.from_motion()])(q, qd, t)
    rates = ca.Function("F", [state.x, s["tau"], s["t"]], [state.rates()])(x, tau, t)
    qdd = lw.compile(driven).forward_dynamics(q, qd, tau, t)
    np.testing.assert_allclose(np.asarray(rates).ravel(), [*qd, qdd[0] + 1], atol=1e-12)


def test_closed_states_in_batches() -> None:
    """All coordinates from those of the independent speeds."""
    linkage = lw.gallery("four-bar")
    model = lw.compile(linkage)
    rough = np.tile(model.home(), (50, 1))
    rough[:, 0] += np.linspace(-0.3, 0.3, 50)
    q = model.close(rough)
    np.testing.assert_array_equal(q[:, 0], rough[:, 0])
    assert np.abs(model.constraint_residual(q)).max() < 1e-12
    far = rough.copy()
    far[7, 0] = np.nan
    with pytest.raises(AssemblyError, match="state 8 of 50"):
        model.close(far)
