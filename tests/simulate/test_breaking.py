"""Members that fail under load: the bodies part, and go on as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import linkwright as lw
from linkwright.control import coordinated, pid
from linkwright.errors import LinkwrightError
from linkwright.mechanism import replace_part_fields
from linkwright.motion import quintic
from linkwright.simulation import load_run, repeat
from linkwright.simulation.events.dynamics import Dynamics, DynamicsCode
from linkwright.simulation.events.rows import ModeRows
from linkwright.simulation.provenance import largest_difference
from tests.commands import run as command
from tests.simulate.test_compiled_runs import stepwise
from tests.simulate.test_mode_forces import limited_four_bar

G = 9.81


def pendulum(**pin: Any) -> lw.Mechanism:
    """A point mass on a rod of length 1, released from the horizontal."""
    return lw.Mechanism(
        name="pendulum", gravity=[0, -G, 0],
        bodies={"bob": {"mass": 2, "center": [1, 0, 0], "inertia": [0.1, 0.1, 0.1]}},
        joints={"q": {"type": "revolute", "child": "bob", **pin}},
    )  # fmt: skip


def test_pendulum_whose_pin_breaks(tmp_path: Path) -> None:
    """The pin carries 3 m g sin α(1 + …): here, with inertia about the mass centre,
    ω² = 2 m g s/(m + I), radial force m ω² + m g s at the depth s = sin of the angle below the
    horizontal. Behind the break the mass centre flies on a parabola, and the spin stays."""
    limit = 40.0
    run = lw.simulate(pendulum(breaks={"force": limit}), 1.5, samples=151)
    m, inertia = 2.0, 0.1
    t, q, w = run.t[-1], run.q[-1, 0], run.qd[-1, 0]
    s = -np.sin(q)
    np.testing.assert_allclose(w**2, 2 * m * G * s / (m + inertia), rtol=1e-8)
    radial = m * w**2 + m * G * s
    along = m * G * np.cos(q) * (1 - m / (m + inertia))
    np.testing.assert_allclose(np.hypot(radial, along), limit, rtol=1e-8)
    assert run.events[-1].name == "q"
    assert "broke" in run.status
    assert run.finished
    rest = run.next
    assert rest is not None
    assert rest.t[0] == t
    assert rest.t[-1] == 1.5
    assert len(run.parts) == 2
    center = np.array([np.cos(q), np.sin(q)])
    v = w * np.array([-np.sin(q), np.cos(q)])
    model, tau = lw.compile(rest.mechanism), rest.t - t
    found = model.center_of_mass(rest.q)
    np.testing.assert_allclose(found[:, 0], center[0] + v[0] * tau, atol=1e-9)
    np.testing.assert_allclose(found[:, 1], center[1] + v[1] * tau - G * tau**2 / 2, atol=1e-8)
    spin = model.momentum(rest.q, rest.qd)[:, 2]
    np.testing.assert_allclose(spin, inertia * w, atol=1e-10)
    assert max(part.audit for part in run.parts) < 1e-8
    run.save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc")
    assert again.events == run.events
    assert again.next is not None
    np.testing.assert_array_equal(again.next.q, rest.q)
    run.save(tmp_path / "run.csv")
    assert (tmp_path / "run.part2.csv").read_text(encoding="utf-8").startswith("t,q.x,q.y")


@pytest.mark.parametrize("turn", [0, 1])
def test_coordinates_of_a_plane_body_are_along_the_axes(turn: int) -> None:
    """A pendulum with inertia about its hinge alone, z or x: behind the break its mass centre, at
    (x + cos θ, y + sin θ) along x and y or along y and z, flies on a parabola."""

    def cycle(x: float, y: float, z: float) -> list[float]:
        return np.roll([x, y, z], turn).tolist()

    arm = lw.Mechanism(
        name="plane pendulum", gravity=cycle(0, -G, 0),
        bodies={"bob": {"mass": 2, "center": cycle(1, 0, 0), "inertia": cycle(0, 0, 0.1)}},
        joints={"q": {"type": "revolute", "child": "bob", "axis": cycle(0, 0, 1), "breaks": {"force": 40}}},
    )  # fmt: skip
    run = lw.simulate(arm, 0.7, samples=15)
    rest = run.next
    assert rest is not None
    (q, w), t = (run.q[-1, 0], run.qd[-1, 0]), rest.t - run.t[-1]
    x, y, angle = rest.q.T
    np.testing.assert_allclose(angle, q + w * t, atol=1e-8)
    np.testing.assert_allclose(x + np.cos(angle), np.cos(q) - w * np.sin(q) * t, atol=1e-8)
    falling = np.sin(q) + w * np.cos(q) * t - G * t**2 / 2
    np.testing.assert_allclose(y + np.sin(angle), falling, atol=1e-8)


def test_only_the_first_part_is_made_again(tmp_path: Path) -> None:
    """What followed a break began where no setting says: it comes with the first part."""
    first = lw.simulate(pendulum(breaks={"force": 40}), 1.0, samples=11)
    first.save(tmp_path / "run.nc")
    again = repeat(tmp_path / "run.nc")
    assert [largest_difference(*parts) for parts in zip(first.parts, again.parts, strict=True)] == [
        0,
        0,
    ]
    with pytest.raises(
        LinkwrightError, match="continues another one after 'q' broke; repeat the first"
    ):
        repeat(again.parts[1])
    done = command("simulate", "--repeat", str(tmp_path / "run.part2.nc"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "continues another one after 'q' broke; repeat the first part" in done.stderr


@pytest.mark.parametrize("kind", ["planar", "free"])
def test_joint_in_the_middle_of_a_chain(kind: str) -> None:
    """All places and velocities are the same on both sides of the break; what is beyond the
    broken joint flies free of the rest."""
    chain = lw.gallery("chain-3")
    joints = dict(chain.joints)
    middle = list(joints)[1]
    joints[middle] = joints[middle].model_copy(update={"breaks": {"force": 24}})
    bodies = dict(chain.bodies)
    if kind == "free":
        at = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.3, 0.2, 0.1]}
        joints[middle] = joints[middle].model_copy(update={"child_origin": at})
        bodies = {n: b.model_copy(update={"inertia": [1, 1, 1]}) for n, b in bodies.items()}
    chain = chain.model_copy(update={"joints": joints, "bodies": bodies})
    run = lw.simulate(chain, 1.0, q0=[0.1, 0.2, -0.3], samples=21)
    rest = run.next
    assert rest is not None
    assert rest.mechanism.joints[middle].type == kind
    before, after = lw.compile(chain), lw.compile(rest.mechanism)
    for body in chain.bodies:
        np.testing.assert_allclose(
            before.placement(body)(run.q[-1]), after.placement(body)(rest.q[0]), atol=1e-12
        )
        np.testing.assert_allclose(
            before.frame_velocity(body)(run.q[-1], run.qd[-1]),
            after.frame_velocity(body)(rest.q[0], rest.qd[0]), atol=1e-11,
        )  # fmt: skip
    np.testing.assert_allclose(rest.energy[0], run.energy[-1], rtol=1e-12)
    assert rest.audit < 1e-8
    assert rest.finished


def test_loop_that_breaks() -> None:
    """A four-bar whose closing pin fails goes on as two open chains; its energy does not jump."""
    linkage = lw.gallery("four-bar")
    name = next(iter(linkage.loops))
    free = lw.simulate(linkage, 1.0, qd0={"theta1": 6.0}, samples=101)
    model = lw.compile(linkage)
    load = np.linalg.norm(model.reactions(free.q, free.qd, free.tau)[:, -1, 3:], axis=-1)
    limit = float(load.max() + load[0]) / 2
    loop = linkage.loops[name].model_copy(update={"breaks": {"force": limit}})
    run = lw.simulate(
        linkage.model_copy(update={"loops": {name: loop}}), 1.0, qd0={"theta1": 6.0}, samples=101
    )
    rest = run.next
    assert rest is not None
    assert not rest.mechanism.loops
    np.testing.assert_allclose(
        np.linalg.norm(model.reactions(run.q[-1], run.qd[-1], run.tau[-1])[-1, 3:]), limit,
        rtol=1e-8,
    )  # fmt: skip
    np.testing.assert_allclose(rest.q[0], run.q[-1], atol=1e-12)
    np.testing.assert_allclose(rest.energy[0], run.energy[-1], rtol=1e-12)
    assert rest.finished
    assert rest.audit < 1e-7


def test_rod_that_breaks() -> None:
    """A mass at a rod without mass swings until the rod carries 3 m g sin, by hand."""
    swing = lw.Mechanism(
        name="swing", gravity=[0, -G, 0], bodies={"bob": {"mass": 2}},
        joints={"p": {"type": "planar", "child": "bob"}}, assembly={"p.x": 1},
        constraints={"rod": {"type": "distance", "between": ["ground", "bob"], "length": 1,
                             "breaks": {"force": 30}}},
    )  # fmt: skip
    joints = {"p": swing.joints["p"].model_copy(update={})}
    bodies = {"bob": {"mass": 2, "inertia": [0.1, 0.1, 0.1]}}
    run = lw.simulate(swing.model_copy(update={"bodies": bodies, "joints": joints}), 1.0)
    np.testing.assert_allclose(run.q[-1, 1], -30 / (3 * 2 * G), rtol=1e-7)
    assert run.next is not None
    assert run.next.finished


@pytest.mark.parametrize(("limit", "speed", "load"), [(5, 0.0, G), (15, 4.0, G + 16)])
def test_overloaded_from_the_start(limit: float, speed: float, load: float) -> None:
    """A hanging pendulum, whose pin carries m g + m ω² and ever less: it breaks at once."""
    hanging = lw.Mechanism(
        name="hanging", gravity=[0, 0, -G],
        bodies={"a": {"mass": 1, "center": [0, 0, -1], "inertia": [0.1, 0.1, 0.1]}},
        joints={"q": {"type": "revolute", "child": "a", "axis": [0, 1, 0],
                      "breaks": {"force": limit}}},
    )  # fmt: skip
    assert load > limit
    run = lw.simulate(hanging, 0.5, qd0={"q": speed}, samples=6)
    assert run.status == "'q' broke at t = 0 s"
    assert list(run.t) == [0.0]
    assert run.next is not None
    assert run.next.finished
    assert run.next.t[-1] == 0.5


def anvil(
    member: dict[str, Any], strength: float, loads: dict[str, float] | None = None
) -> lw.Mechanism:
    """A ball of 2 kg falls 1 m onto a plate of 3 kg, which a member alone bears."""
    breaks = {"breaks": {"impulse": strength, **(loads or {})}}
    plate: dict[str, Any] = {"type": "free", "child": "plate", "rotation": "cardan"}
    tables: dict[str, Any] = {"joints": {"p": plate}}
    if member["kind"] == "joint":
        plate |= {"type": "prismatic", "axis": [1, 0, 0], **breaks}
        del plate["rotation"]
    elif member["kind"] == "loop":
        weld = {"type": "fixed", "parent": "ground", "child": "plate", **breaks}
        tables["loops"] = {"p weld": weld}
    else:
        rod = {"type": "distance", "between": ["hook", "plate"], "length": 1, **breaks}
        tables["constraints"] = {"p rod": rod}
    tables["joints"]["z"] = {"type": "prismatic", "child": "ball"}
    return lw.Mechanism(
        name="anvil", bodies={"plate": {"mass": 3, "inertia": [1, 1, 1]}, "ball": {"mass": 2}},
        frames={"hook": {"body": "ground", "origin": [0, 0, 1]}},
        contacts={"blow": {"point": "ball", "plane": "plate", "restitution": 0.5}}, **tables,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["joint", "loop", "rod"])
def test_blow_upon_a_member(kind: str) -> None:
    """The member bears (1 + e) m v = 13.3 N s. Of 13 it fails, and the plate takes part freely: the
    impulse is (1 + e) v/(1/2 + 1/3)."""
    v = np.sqrt(2 * G)
    needed = 1.5 * 2 * v
    whole = lw.simulate(anvil({"kind": kind}, needed * 1.001), 0.6, q0={"z": 1.0}, samples=7)
    assert whole.finished
    assert whole.next is None
    model = lw.compile(whole.mechanism)
    after = whole.t > np.sqrt(2 / G)
    wanted = 0.5 * v - G * (whole.t[after] - np.sqrt(2 / G))
    np.testing.assert_allclose(model.frame_velocity("ball")(whole.q, whole.qd)[after, 5], wanted)
    run = lw.simulate(anvil({"kind": kind}, needed * 0.999), 0.6, q0={"z": 1.0}, samples=7)
    assert f"its impulse {needed:.6g} N s exceeds its strength" in run.events[-1].what
    np.testing.assert_allclose(run.t[-1], np.sqrt(2 / G), rtol=1e-9)
    assert run.next is not None
    assert run.next.finished
    model, rest = lw.compile(run.next.mechanism), run.next
    impulse = 1.5 * v / (1 / 2 + 1 / 3)
    speeds = [model.frame_velocity(b)(rest.q[0], rest.qd[0])[5] for b in ("ball", "plate")]
    np.testing.assert_allclose(speeds, [-v + impulse / 2, -impulse / 3], rtol=1e-8)
    assert rest.audit < 1e-8


@pytest.mark.parametrize("at", [0.4, 1.0, 1.2])
def test_pin_of_a_bar_that_is_hit(at: float) -> None:
    """A hanging bar of length 1.5 is hit at the distance a from its pin, which then bears
    Λ |3 a/(2 L) − 1|: nothing at the centre of percussion a = 2 L/3."""
    length, m = 1.5, 3.0
    inertia = m * length**2 / 12

    def hit(strength: float) -> lw.Mechanism:
        return lw.Mechanism(
            name="bar", gravity=[0, 0, 0],
            bodies={"bar": {"mass": m, "center": [0, 0, -length / 2], "inertia": [inertia] * 3},
                    "hammer": {"mass": 2}},
            joints={"q": {"type": "revolute", "child": "bar", "axis": [0, 1, 0],
                          "breaks": {"impulse": strength}},
                    "x": {"type": "prismatic", "child": "hammer", "axis": [1, 0, 0],
                          "origin": [0, 0, -at]}},
            frames={"face": {"body": "bar", "origin": {"xyz": [0, 0, 0], "rpy": [0, "90 deg", 0]}}},
            contacts={"hit": {"point": "hammer", "plane": "face", "restitution": 0.3}},
        )  # fmt: skip

    swung = m * length**2 / 3
    impulse = 1.3 * 4.0 / (1 / 2 + at**2 / swung)
    borne = impulse * abs(3 * at / (2 * length) - 1)
    start: dict[str, Any] = {"q0": {"x": 0.4}, "qd0": {"x": -4.0}, "samples": 3}
    assert lw.simulate(hit(borne * 1.001 + 1e-9), 0.2, **start).next is None
    if borne > 1e-9:
        assert lw.simulate(hit(borne * 0.999), 0.2, **start).next is not None


def test_redundant_members_share_loads_as_the_model_says() -> None:
    """Two gears tie the same slides, one with triple factors: λ₁ + 3 λ₂ = −2/3 of least norm."""
    ties = {f"g{k}": {"type": "gear", "factors": {"x": k, "y": -k}} for k in (1, 3)}
    twin = lw.Mechanism(
        name="twin", gravity=[0, 0, 0], bodies={"a": {"mass": 1}, "b": {"mass": 2}},
        joints={n: {"type": "prismatic", "child": b} for n, b in (("x", "a"), ("y", "b"))},
        constraints=ties,
    )  # fmt: skip
    model = lw.compile(twin, threads=1)
    rest, push = np.zeros(2), np.array([1.0, 0.0])
    instant = Dynamics(DynamicsCode(twin, model, ModeRows(twin, "ignore"))).at(
        0.0, rest, rest, push
    )
    found = instant.hold_rows([], np.zeros((2, 0)), rest).multipliers
    np.testing.assert_allclose(found, [-1 / 15, -1 / 5], rtol=1e-12)
    np.testing.assert_allclose(found, model.multipliers(rest, rest, push), rtol=1e-12)


def breaking_loop() -> lw.Mechanism:
    """A four-bar with a stop and friction at its crank, whose closing pin may break."""
    linkage = limited_four_bar()
    loops = {
        name: replace_part_fields(loop, breaks={"force": 2.5})
        for name, loop in linkage.loops.items()
    }
    return replace_part_fields(linkage, loops=loops)


def two_rods() -> lw.Mechanism:
    """A mass on two equal rods, of which each carries half of 3 m g sin."""
    rod = {"type": "distance", "between": ["ground", "bob"], "length": 1}
    return lw.Mechanism(
        name="two rods", gravity=[0, -G, 0],
        bodies={"bob": {"mass": 2, "inertia": [0.1, 0.1, 0.1]}},
        joints={"p": {"type": "planar", "child": "bob"}}, assembly={"p.x": 1},
        constraints={"one": {**rod, "breaks": {"force": 15}}, "other": rod},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mechanism", "options", "expected"),
    [
        (pendulum(breaks={"force": 40}), {"torque": {"q": "sin(t)"}}, None),
        (breaking_loop(), {"qd0": {"theta1": 2.0}, "stops": "impact"}, None),
        (anvil({"kind": "joint"}, 1e3, {"force": 5 * G + 60}),
         {"torque": {"z": ([0, 1], [0, -100])}}, 0.6),
        (two_rods(), {}, None),
    ],
    ids=["joint", "loop with modes", "joint under a contact", "redundant constraints"],
)  # fmt: skip
def test_breaks_in_compiled_code_are_those_of_python(
    monkeypatch: pytest.MonkeyPatch,
    mechanism: lw.Mechanism,
    options: dict[str, Any],
    expected: float | None,
) -> None:
    options = {"t": 1.0, "samples": 11, **options}
    run = lw.simulate(mechanism, **options)
    peer = stepwise(monkeypatch, mechanism, **options)
    assert (run.statistics["compiled"], peer.statistics["compiled"]) == (1, 0)
    assert run.next is not None
    assert peer.next is not None
    assert run.t[-1] == pytest.approx(peer.t[-1], abs=1e-9)
    assert [(e.name, e.what) for e in run.events] == [(e.name, e.what) for e in peer.events]
    np.testing.assert_allclose(run.q, peer.q, atol=1e-8)
    assert run.next.finished
    np.testing.assert_allclose(run.next.q[-1], peer.next.q[-1], atol=1e-7)
    if mechanism.name == "two rods":
        assert run.q[-1, 1] == pytest.approx(-30 / (3 * 2 * G), rel=1e-7)
    if expected is not None:
        assert run.t[-1] == pytest.approx(expected, abs=1e-9)


def test_drives_after_a_break() -> None:
    run = lw.simulate(pendulum(breaks={"force": 40}), 1.0, torque={"q": 0.5})
    assert run.next is not None
    assert not run.next.tau.any()
    run = lw.simulate(pendulum(breaks={"force": 40}), 1.0, torque=lambda t, q, qd: 0.5 * q)
    assert run.next is None
    assert "give inputs by name" in run.status


def slide_and_bob(member: str) -> lw.Mechanism:
    """A slide of 2 kg, and beside it a bob that a rod or a slide of its own holds until 3 N pull."""
    breaks = {"breaks": {"force": 3}}
    pull = {"type": "wrench", "on": "bob", "force": ["10*t", 0, 0]}
    tables: dict[str, Any] = {
        "joints": {"x": {"type": "prismatic", "child": "a", "axis": [1, 0, 0]}}
    }
    if member == "rod":
        tables["joints"]["y"] = {"type": "prismatic", "child": "bob", "axis": [1, 0, 0]}
        rod = {"type": "distance", "between": ["hook", "bob"], "length": 1, **breaks}
        tables |= {"constraints": {"rod": rod}, "assembly": {"y": 0}}
    else:
        tables["joints"]["y"] = {"type": "prismatic", "child": "bob", "axis": [0, 1, 0], **breaks}
    return lw.Mechanism(
        name="pair", gravity=[0, 0, 0], forces={"pull": pull},
        bodies={"a": {"mass": 2}, "bob": {"mass": 1, "inertia": [0.1, 0.1, 0.1]}},
        frames={"hook": {"body": "ground", "origin": [-1, 0, 0]}}, **tables,
    )  # fmt: skip


@pytest.mark.parametrize("period", [None, 0.07])
@pytest.mark.parametrize("member", ["rod", "joint"])
def test_controllers_go_on_after_a_break(member: str, period: float | None) -> None:
    """At 0.3 s something breaks that the slide has nothing to do with: m ẍ = −k x − d ẋ − i ∫x goes
    on, with its integral, as the matrix exponential says; sampled, as the exact hold does."""
    pair, k, i, d = slide_and_bob(member), 20.0, 15.0, 4.0
    law = pid(pair, [0.0, 0.0], kp=k, ki=i, kd=d, period=period)
    run = lw.simulate(pair, 1.0, q0={"x": 1.0}, torque=law, samples=11)
    np.testing.assert_allclose(run.t[-1], 0.3, atol=1e-9)
    assert run.next is not None
    assert run.next.finished
    rest = run.next
    found = rest.q[-1, 0]
    if period is None:
        A = np.array([[0, 1, 0], [-k / 2, -d / 2, -i / 2], [1, 0, 0]])
        wanted = expm(A) @ [1, 0, 0]
        np.testing.assert_allclose([found, rest.qd[-1, 0]], wanted[:2], atol=1e-7)
        return
    x, v, z, t = 1.0, 0.0, 0.0, 0.0
    while t < 1.0 - 1e-12:
        h, force = min(period, 1.0 - t), -k * x - d * v - i * z
        z += period * x
        x, v, t = x + h * v + h * h * force / 4, v + h * force / 2, t + h
    np.testing.assert_allclose([found, rest.qd[-1, 0]], [x, v], atol=1e-9)


def test_controllers_that_need_what_is_gone_end() -> None:
    pair = slide_and_bob("joint")
    law = coordinated(pair, quintic([0, 0], [1, 1], 1.0), kp=20, kd=4, width=0.1)
    run = lw.simulate(pair, 1.0, torque=law, samples=11)
    assert run.next is None
    assert "the controller needs coordinates that no longer exist" in run.status


def test_functions_go_on_where_coordinates_stay() -> None:
    run = lw.simulate(slide_and_bob("rod"), 1.0, torque=lambda t, q, qd: [2.0, 0.0], samples=3)
    assert run.next is not None
    np.testing.assert_allclose(run.next.q[-1, 0], 0.5, rtol=1e-9)


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        ({"breaks": {}}, "has neither force nor moment"),
        ({"breaks": {"force": -1}}, "is negative"),
        ({"breaks": {"force": 1}, "locked": 0}, "has no coordinate"),
    ],
)
def test_bad_input(pin: dict[str, Any], message: str) -> None:
    with pytest.raises(LinkwrightError, match=message):
        pendulum(**pin)


@pytest.mark.parametrize("driven", [True, False])
def test_numbers_drive_on_what_is_left(driven: bool) -> None:
    """Along the speeds, with actuators or without: 1 N moves 2 kg on by t²/4, whatever broke."""
    bodies = {name: {"mass": m, "inertia": [1, 1, 1]} for name, m in (("a", 2), ("b", 1))}
    bodies["c"] = {"mass": 1, "inertia": [1, 1, 1], "center": ["1/2", 0, 0]}
    actuators = {"mx": {"moves": "x"}, "my": {"moves": "y"}, "mr": {"moves": "r"}}
    pair = lw.Mechanism(
        name="pair", gravity=[0, 0, 0], bodies=bodies,
        joints={
            "x": {"type": "prismatic", "axis": [1, 0, 0], "child": "a"},
            "y": {"type": "prismatic", "axis": [0, 1, 0], "child": "b"},
            "r": {"type": "revolute", "axis": [0, 0, 1], "child": "c", "parent": "b",
                  "breaks": {"force": 5}},
        }, **({"actuators": actuators} if driven else {}),
    )  # fmt: skip
    run = lw.simulate(pair, 3.0, torque=[1.0, 2.0, 3.0], samples=7)
    assert run.finished
    assert run.next is not None
    assert 0 < run.next.t[0] < 3
    assert run.next.t[-1] == 3.0
    np.testing.assert_allclose(run.next.q[-1, 0], 3.0**2 / 4, atol=1e-8)
    np.testing.assert_allclose(run.next.tau[-1], [1, 2, *[0] * (run.next.tau.shape[1] - 2)])
