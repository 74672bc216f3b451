"""Free bodies in space: 13 states each, the same motions as by recursion, joints that hold."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.forms.quantity_typesetting import typeset_quantity, typesettable_functions
from linkwright.formulations.newton_euler import size
from linkwright.simulation import repeat
from linkwright.simulation.inputs import read_force_law
from linkwright.simulation.provenance import largest_difference
from linkwright.simulation.right_hand_side import RightHandSide
from linkwright.simulation.run_context import RunContext

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def body(mass: float, center: list | None = None) -> dict:
    inertia = {"xx": "0.2", "yy": "0.3", "zz": "0.25", "xy": "0.02"}
    return {"mass": mass, "center": center or ["0.1", "0.2", "-0.3"], "inertia": inertia}


def chain(name: str, *joints: dict, **more: object) -> lw.Mechanism:
    """Bodies one behind the other, with frames that are turned at q = 0."""
    origin = {"xyz": ["0.3", "0.1", "0.2"], "rpy": ["0.4", "-0.7", "1.1"]}
    return lw.Mechanism(
        name=name, gravity=["1.0", "-2.0", "-9.81"],
        bodies={f"b{k}": body(1 + k) for k in range(len(joints))},
        joints={
            f"j{k}": {"child": f"b{k}", "parent": f"b{k - 1}" if k else "ground",
                      "origin": origin, **joint}
            for k, joint in enumerate(joints)
        }, **more,
    )  # fmt: skip


def arm(**more: object) -> lw.Mechanism:
    return chain(
        "arm", {"type": "revolute", "axis": [0, "0.6", "0.8"]}, {"type": "revolute"}, **more
    )


def with_inertia(name: str) -> lw.Mechanism:
    """A mechanism of the gallery whose first body has mass, too."""
    given = lw.gallery(name)
    first = next(iter(given.bodies))
    heavy = {**given.bodies, first: type(given.bodies[first])(**body(1))}
    return given.model_copy(update={"bodies": heavy})


AXIS = ["0.6", 0, "0.8"]
SPRUNG = {"type": "revolute", "axis": AXIS, "stiffness": "0.5", "rest": 20, "damping": "0.1"}
MECHANISMS = {
    "turns": lambda: chain(
        "turns", {"type": "universal", "axis": [1, 0, 0], "axis2": ["0.6", "0.8", 0]},
        {"type": "spherical", "rotation": "cardan"},
    ),
    "balls": lambda: chain("balls", {"type": "free"}, {"type": "spherical"}),
    "cardan": lambda: chain(
        "cardan", {"type": "free", "rotation": "cardan"}, {"type": "revolute", "axis": AXIS}
    ),
    "slides": lambda: chain(
        "slides", {"type": "cylindrical", "axis": AXIS, "stiffness": [3, 40]},
        {"type": "turn-slide", "axis": AXIS, "axis2": [0, 1, 0], "stiffness": [3, 40]},
        {"type": "prismatic", "stiffness": 50},
    ),
    "screw": lambda: chain(
        "screw", {"type": "helical", "axis": AXIS, "pitch": "0.1"},
        {"type": "planar", "axis": [0, 1, 0], "axis2": [1, 0, 0]},
    ),
    "mimic": lambda: chain(
        "mimic", {"type": "revolute", "axis": AXIS, "stiffness": 4},
        {"type": "revolute", "axis": [1, 0, 0], "mimic": {
            "joint": "j0", "multiplier": "1/3", "offset": "0.3"}},
        {"type": "revolute", "axis": [1, 0, 0], "locked": "0.7"},
        {"type": "revolute", "axis": [0, 1, 0]},
    ),
    "chosen": lambda: arm(coordinates={"new": {"a": "j0", "b": "j0 + j1/2 + 0.2"}}),
    "bent": lambda: arm(
        coordinates={"names": ["a", "b"], "joints": {"j0": "a + 0.2*sin(b)", "j1": "b - 0.1*a^2"}}
    ),
    "driven": lambda: arm(
        constraints={"motor": {"type": "drive", "on": "j0", "position": "0.3*sin(2*t)"}}
    ),
    **{name: (lambda name=name: lw.gallery(name)) for name in (
        "stanford-rrp", "bricard", "rolling-disk", "six-axis", "two-arms",
    )},
    "puma560": lambda: with_inertia("puma560"),
}  # fmt: skip
SLOW = (
    "cardan", "screw", "chosen", "stanford-rrp", "bricard", "six-axis", "puma560", "two-arms",
)  # fmt: skip


def pushed(mechanism: lw.Mechanism) -> dict:
    """A start that moves everything that the constraints allow."""
    model, rng = lw.compile(mechanism), np.random.default_rng(3)
    if model.names.constraints:
        return {"qd0": dict.fromkeys(model.independent_names[:3], 0.9)}
    q = model.integrate(model.neutral(), rng.uniform(-0.5, 0.5, model.nv))
    return {"q0": q, "qd0": rng.uniform(-1.5, 1.5, model.nv)}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in MECHANISMS]
)
def test_move_as_all_do(name: str) -> None:
    """All joints, mimicry, chosen coordinates, loops, rolling: the same motion, forces at joints
    and energies as by recursion, from 13 states a body."""
    mechanism = MECHANISMS[name]()
    options = pushed(mechanism) | TIGHT | {"samples": 5, "stops": "ignore"}
    free, plain = (
        lw.simulate(mechanism, 0.4, by=by, **options) for by in ("newton_euler", "recursive")
    )
    assert free.status == plain.status == "finished"
    np.testing.assert_allclose(free.q, plain.q, atol=1e-8)
    np.testing.assert_allclose(free.qd, plain.qd, atol=1e-8)
    np.testing.assert_allclose(free.reactions, plain.reactions, rtol=1e-8, atol=1e-7)
    np.testing.assert_allclose(free.energy, plain.energy, atol=1e-8)
    assert np.abs(plain.qd).max() > 0.5
    assert free.audit < 1e-9
    eqs = lw.derive(mechanism, by="newton_euler", parameters="numeric")
    assert len(eqs.state.names) == size(mechanism)[1] == 13 * len(eqs.names.bodies)


def states(mechanism: lw.Mechanism) -> RunContext:
    eqs = lw.derive(mechanism, by="newton_euler", parameters="numeric")
    return RunContext(RightHandSide(eqs, read_force_law(eqs, None)))


def test_states_are_orientations_and_mass_centres() -> None:
    """Quaternions are those of the bodies' frames in the world; rates are in its axes."""
    mechanism = MECHANISMS["balls"]()
    system, model = states(mechanism), lw.compile(mechanism)
    rng = np.random.default_rng(0)
    q = model.integrate(model.neutral(), rng.uniform(-2, 2, model.nv))
    qd = rng.uniform(-1, 1, model.nv)
    x = dict(zip(system.equations.state.names, system.space.start(q, qd), strict=False))
    for name in model.body_names:
        placed = model.placement(name)(q)
        quaternion = [x[f"{c}_{name}"] for c in ("qx", "qy", "qz", "qw")]
        np.testing.assert_allclose(
            Rotation.from_quat(quaternion).as_matrix(), placed[:3, :3], atol=1e-14
        )
        r = placed[:3, :3] @ [0.1, 0.2, -0.3]
        np.testing.assert_allclose([x[f"{c}_{name}"] for c in "xyz"], placed[:3, 3] + r, atol=1e-14)
        twist = model.jacobian(name)(q) @ qd
        twist[3:] += np.cross(twist[:3], r)
        found = [x[f"{kind}{c}_{name}"] for kind in "wv" for c in "xyz"]
        np.testing.assert_allclose(found, twist, atol=1e-13)
    np.testing.assert_allclose(
        np.hstack(system.space.motion(system.space.start(q, qd))), [*q, *qd], atol=1e-13
    )


def test_turns_are_counted() -> None:
    """A spring that is wound up turn by turn knows how often, however rarely one looks."""
    mechanism = chain("wound", SPRUNG, {"type": "revolute", "axis": [1, 0, 0]})
    start = {"q0": [0.3, 0.2], "qd0": [25.0, 1.0], "samples": 3}
    truth = lw.simulate(mechanism, 1.0, **start, **TIGHT)
    assert truth.q[-1, 0] > 20
    steps = {name: {"rtol": 1e-8, "atol": 1e-8} for name in ("dop853", "bdf", "cvodes")}
    for name, options in (steps | {"rk4": {"step": 1e-3}}).items():
        found = lw.simulate(mechanism, 1.0, by="newton_euler", integrator=name, **start, **options)
        np.testing.assert_allclose(found.q, truth.q, atol=3e-5)
        assert found.closure.max() < 1e-13


def test_nothing_but_whole_turns_depends_on_what_is_near() -> None:
    system = states(arm())
    q = np.array([7.3, -9.2])
    y = system.space.start(q, np.array([1.0, 2.0]))
    other = y.copy()
    other[26:28] += [1.0, -1.0]
    np.testing.assert_allclose(system.space.motion(other)[0], q, atol=1e-13)
    np.testing.assert_allclose(system.rates(0, other), system.rates(0, y), atol=1e-12)


@pytest.mark.parametrize("name", ["turns", "balls", "bent"])
def test_slopes_are_exact(name: str) -> None:
    """Of stiff integrators, by all states: against differences, off the joints too."""
    system = states(MECHANISMS[name]())
    model, rng = system.model, np.random.default_rng(1)
    q = model.integrate(model.neutral(), rng.uniform(-0.5, 0.5, model.nv))
    y = system.space.start(q, rng.uniform(-1, 1, model.nv))
    y += 1e-3 * rng.uniform(-1, 1, len(y))
    rows = 1e-5 * np.eye(len(y))
    wanted = np.array([(system.rates(0, y + h) - system.rates(0, y - h)) / 2e-5 for h in rows]).T
    np.testing.assert_allclose(system.jacobian(0, y), wanted, atol=1e-6)


def test_bodies_part_and_are_put_together() -> None:
    """What is integrated are the bodies: without putting them back they leave their joints, by
    little at tight tolerances, by more at loose ones; samples of a run have them together."""
    mechanism = chain("arm", *[{"type": "revolute", "axis": AXIS}, {"type": "spherical"}])
    system, model = states(mechanism), lw.compile(mechanism)
    q = model.integrate(model.neutral(), np.array([0.5, 0.3, -0.2, 0.4]))
    open_ends = []
    for tolerance in (1e-5, 1e-9):
        found = solve_ivp(
            system.rates, (0, 2), system.space.start(q, np.array([1.0, 2.0, -1.0, 0.5])),
            method="DOP853", rtol=tolerance, atol=tolerance,
        )  # fmt: skip
        open_ends.append(system.space.joint_gap(found.y)[-1])
    assert 1e-6 < open_ends[0] < 1e-2
    assert 1e-13 < open_ends[1] < 1e-6
    together = system.project(2.0, found.y[:, -1])
    assert system.space.joint_gap(together[:, None])[0] < 1e-14
    np.testing.assert_allclose(
        system.space.motion(together)[0], system.space.motion(found.y[:, -1])[0]
    )
    run = lw.simulate(mechanism, 2.0, q0=q, by="newton_euler", samples=5)
    assert run.closure.max() < 1e-10


def test_torque_free_symmetric_body() -> None:
    """Moments A, A, C: it turns about its angular momentum L at |L|/A, and about its own axis at
    ω₃(A − C)/A. The body's frame stands askew to the joint's."""
    A, C = 2.0, 0.5
    turned = Rotation.from_euler("xyz", [0.4, -0.7, 1.1])
    mechanism = lw.Mechanism(
        name="top", gravity=[0, 0, 0],
        bodies={"top": {"mass": 3, "inertia": {"xx": A, "yy": A, "zz": C}}},
        joints={"j": {"type": "free", "child": "top", "origin": {"rpy": ["0.4", "-0.7", "1.1"]}}},
    )  # fmt: skip
    omega = np.array([0.6, -0.3, 4.0])
    run = lw.simulate(
        mechanism, 20.0, qd0=[*omega, 0.1, 0.2, 0.3], by="newton_euler", samples=41, **TIGHT
    )
    precession = turned.apply(np.array([A, A, C]) * omega) / A
    for t, q in zip(run.t, run.q, strict=True):
        own = Rotation.from_rotvec([0, 0, omega[2] * (A - C) / A * t])
        wanted = Rotation.from_rotvec(precession * t) * turned * own
        found = turned * Rotation.from_quat(q[[4, 5, 6, 3]])
        assert (found.inv() * wanted).magnitude() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:], axis=1), 1.0, atol=1e-15)
    steps = np.diff(run.q[:, 3:], axis=0)
    assert np.abs(steps).max() < 1.5, "the sign of a quaternion jumped"
    np.testing.assert_allclose(run.kinetic, run.kinetic[0], rtol=1e-10)


@pytest.mark.parametrize("by", ["newton_euler", "recursive"])
def test_quaternions_of_any_length_to_start_with(by: str) -> None:
    ball = chain("ball", {"type": "spherical"})
    one, two = (
        lw.simulate(ball, 0.3, q0=[size, 0, -size, 0], qd0=[1, 2, 3], by=by, samples=3)
        for size in (0.5**0.5, 2.0)
    )
    np.testing.assert_allclose(two.q, one.q, atol=1e-12)
    assert two.audit < 1e-8
    with pytest.raises(LinkwrightError, match="a quaternion has length 0"):
        lw.simulate(ball, 0.3, q0=[0, 0, 0, 0], by=by)


def test_runs_are_made_again() -> None:
    run = lw.simulate(
        arm(), 0.3, qd0=[1.0, 2.0], by="newton_euler", torque={"j0": "sin(t) - dj0"}, samples=5
    )
    assert largest_difference(run, repeat(run)) == 0.0
    plain = lw.simulate(arm(), 0.3, qd0=[1.0, 2.0], torque={"j0": "sin(t) - dj0"}, samples=5)
    np.testing.assert_allclose(run.work_inputs, plain.work_inputs, atol=1e-9)


def eventful() -> dict[str, tuple[lw.Mechanism, dict]]:
    turn, limits = {"type": "revolute", "axis": AXIS}, {"lower": -1, "upper": "0.3"}
    stopped = {**turn, "limits": {**limits, "restitution": "0.5"}}
    rough = {"type": "revolute", "axis": [1, 0, 0], "friction": "0.8"}
    weak = {"type": "revolute", "axis": [1, 0, 0], "breaks": {"force": 22}}
    box = chain(
        "box", {"type": "free", "origin": {}},
        frames={"corner": {"body": "b0", "origin": {"xyz": ["0.2", "0.1", "-0.5"]}}},
        contacts={"floor": {"point": "corner", "restitution": "0.6", "friction": "0.3"}},
    )  # fmt: skip
    return {
        "stops and friction": (chain("arm", stopped, rough), {"qd0": [2, 1]}),
        "breaking": (chain("arm", turn, weak), {"qd0": [2, 1]}),
        "contact": (box, {"q0": {"j0.z": 1.0}, "qd0": {"j0.wx": 1.0, "j0.wy": 2.0}}),
    }


@pytest.mark.parametrize("name", eventful())
def test_events(name: str) -> None:
    """Stops, friction that sticks, rigid contacts and members that fail, as in (q, q̇)."""
    mechanism, start = eventful()[name]
    free, plain = (
        lw.simulate(mechanism, 0.6, by=by, samples=7, **start)
        for by in ("newton_euler", "recursive")
    )
    assert len(free.events) == len(plain.events) > 0
    for one, other in zip(free.parts, plain.parts, strict=True):
        np.testing.assert_allclose(one.q, other.q, atol=1e-7)
        assert one.closure.max() < 1e-10
    assert len(free.parts) == 1 + (name == "breaking")


@pytest.mark.parametrize(
    "options",
    [{"integrator": name} for name in ("idas", "midpoint", "variational", "semi-implicit")],
)
def test_what_needs_joints_as_states_says_so(options: dict) -> None:
    with pytest.raises(UnsupportedError, match="has states of its own"):
        lw.simulate(arm(), 0.1, by="newton_euler", **options)


def test_baumgarte_for_loops_of_free_bodies() -> None:
    """Loops are held by his terms, joints of the tree by putting bodies back."""
    linkage = lw.gallery("four-bar")
    options = {"qd0": {"theta1": 2.0}, "samples": 5, "stabilization": "baumgarte"} | TIGHT
    free, plain = (lw.simulate(linkage, 0.5, by=by, **options) for by in ("newton_euler", "kane"))
    np.testing.assert_allclose(free.q, plain.q, atol=1e-9)
    assert 0 < free.closure.max() < 1e-9


def test_written_with_symbols() -> None:
    """Rates of the states with all parameters as symbols are the numeric ones at their values."""
    eqs, numeric = (
        lw.derive(arm(), by="newton_euler", parameters=kind) for kind in ("symbolic", "numeric")
    )
    rng = np.random.default_rng(0)
    x, near, tau = rng.uniform(0.2, 1.0, 26), np.array([0.3, 0.2]), np.array([0.5, -0.4])
    found = []
    for each in (eqs, numeric):
        inputs = [
            each.state.x,
            each.state.nearby_coordinates,
            each.symbols["tau"],
            each.symbols["p"],
        ]
        values = [float(value) for value in each.parameters.values()]
        found.append(
            np.asarray(ca.Function("f", inputs, [each.state.rates()])(x, near, tau, values))
        )
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-10)
    assert typesettable_functions(eqs)[-1] == "state_rates"
    assert "near_j0" in str(typeset_quantity(eqs, "state_rates"))


def test_compared_in_its_own_states() -> None:
    found = lw.compare(lw.gallery("stanford-rrp"), by=["recursive", "newton_euler"], duration=0.05)
    free = next(row for row in found.rows if row.by == "newton_euler")
    assert (free.states, free.integrated) == (39, 39)
    assert free.apart < 1e-10
