"""The forces of a mode as one expression are those of the Python solver, and of closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from linkwright.simulation.events.dynamics import Dynamics, InstantDynamics
from linkwright.simulation.events.held_motion import HeldMotion
from linkwright.simulation.events.holding import close_gaps, stop_rows
from linkwright.simulation.events.mode_forces import ModeForces, find_mode_forces
from linkwright.simulation.events.mode_layout import sample_configurations
from linkwright.simulation.events.modes import (
    ElementForces,
    Mode,
    mode_force_solver,
    solve_mode_forces,
)
from linkwright.simulation.events.single_forces import SingleForces, watched_numbers
from linkwright.simulation.preparation import prepare_simulation
from linkwright.types import Floats

G = 9.81
LEGS = [(0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)]


def table(mu: float = 0.5) -> lw.Mechanism:
    """A table on four legs: three equations for four normal forces, and friction at each."""
    return lw.Mechanism(
        name="table", bodies={"top": {"mass": 3, "inertia": [0.4, 0.5, 0.6]}},
        joints={"f": {"type": "free", "child": "top", "origin": [0, 0, 0.2]}},
        frames={f"l{k}": {"body": "top", "origin": [x, y, -0.2]} for k, (x, y) in enumerate(LEGS)},
        contacts={f"c{k}": {"point": f"l{k}", "friction": mu, "restitution": 0, "static_ratio": 1.3}
                  for k in range(4)},
    )  # fmt: skip


def ladder(floor: float = 0.4, wall: float = 0.3) -> lw.Mechanism:
    return lw.Mechanism(
        name="ladder", bodies={"rod": {"mass": 5, "inertia": [0.1, 0.4, 0.4]}},
        joints={"p": {"type": "planar", "child": "rod", "axis": [0, -1, 0]}},
        frames={"a": {"body": "rod", "origin": [-1, 0, 0]}, "b": {"body": "rod", "origin": [1, 0, 0]},
                "wall": {"body": "ground", "origin": {"rpy": [0, "90 deg", 0]}}},
        contacts={"foot": {"point": "a", "friction": floor, "restitution": 0},
                  "head": {"point": "b", "plane": "wall", "friction": wall, "restitution": 0}},
    )  # fmt: skip


def block(mu: float, angle: float) -> lw.Mechanism:
    """A block on a slope that rises along x."""
    return lw.Mechanism(
        name="block", bodies={"b": {"mass": 2, "inertia": [0.1, 0.1, 0.1]}},
        joints={"p": {"type": "planar", "child": "b", "axis": [0, -1, 0]}},
        frames={"slope": {"body": "ground", "origin": {"rpy": [0, -angle, 0]}}},
        contacts={"c": {"point": "b", "plane": "slope", "friction": mu, "restitution": 0}},
    )  # fmt: skip


def limited_four_bar() -> lw.Mechanism:
    """A loop with a stop and friction at the crank, and friction at the coupler."""
    linkage = lw.gallery("four-bar")
    crank, coupler, *_ = linkage.joints
    changes = {crank: {"friction": 4, "limits": {"lower": 0.9, "upper": 1.2}},
               coupler: {"friction": 1, "static_ratio": 2}}  # fmt: skip
    joints = {k: replace_part_fields(j, **changes.get(k, {})) for k, j in linkage.joints.items()}
    return replace_part_fields(linkage, joints=joints)


MECHANISMS: dict[str, Callable[[], lw.Mechanism]] = {
    "bouncing-ball": lambda: lw.gallery("bouncing-ball"),
    "stick-slip": lambda: lw.gallery("stick-slip"),
    "six-axis": lambda: lw.gallery("six-axis"),
    "four-bar": limited_four_bar,
    "ladder": ladder,
    "table": table,
}


@cache
def forces_of_mechanism(name: str) -> tuple[Dynamics, ModeForces, ca.Function]:
    """The dynamics in Python, the forces as an expression, and its values."""
    return prepared(MECHANISMS[name]())


def dynamics_of(mechanism: lw.Mechanism) -> Dynamics:
    prepared = prepare_simulation(mechanism, "recursive", None, "projection")
    parts = prepared.event_parts(mechanism, None, "impact", "together")
    assert parts is not None
    return Dynamics(parts.code)


def prepared(mechanism: lw.Mechanism) -> tuple[Dynamics, ModeForces, ca.Function]:
    dynamics = dynamics_of(mechanism)
    forces = find_mode_forces(dynamics.code)
    assert forces is not None
    single = SingleForces(forces)
    outputs = [
        forces.push, watched_numbers(forces, single), forces.accelerations, single.of_contacts,
        forces.share,
    ]  # fmt: skip
    return dynamics, forces, ca.Function("f", forces.inputs, ca.cse(outputs))


def random_mode(dynamics: Dynamics, rng: np.random.Generator) -> Mode:
    """Each stop and contact open, sliding or sticking, each friction in a joint sliding either way
    or sticking; not both stops of a coordinate at once."""
    rows = dynamics.rows
    resting: dict[str, int] = {}
    for i in rng.permutation(len(rows.unilaterals)):
        if rng.random() < 0.7:
            resting.setdefault(rows.unilaterals[i].name.rsplit(" ", 1)[0], int(i))
    closed = tuple(sorted(resting.values()))
    grip = frozenset(i for i in closed if rows.unilaterals[i].slip and rng.random() < 0.5)
    return Mode(closed, grip, (), tuple(rng.integers(-1, 2, len(rows.joint_frictions)).tolist()))


def states(name: str, limit: int) -> Iterator[tuple[InstantDynamics, Mode]]:
    """Some modes at random states that satisfy them: what is held has no speed."""
    dynamics, *_ = forces_of_mechanism(name)
    rows, rng = dynamics.rows, np.random.default_rng(3)
    places = sample_configurations(dynamics.code)
    for mode in (random_mode(dynamics, rng) for _ in range(limit)):
        q = places[0] if dynamics.constrained else places[rng.integers(1, 4)]
        qd, tau = rng.normal(size=(2, len(dynamics.still)))
        now = dynamics.at(0.0, q, qd, tau)
        mode = replace(mode, riding=joints_that_ride(now, mode, rng))
        held = np.vstack([now.J, now.R[mode.rows(rows)]])
        qd = qd - np.linalg.pinv(held, rcond=1e-10) @ (held @ qd) if len(held) else qd
        now = dynamics.at(0.0, q, qd, tau)
        toward = []
        for i in mode.resting:
            if rows.unilaterals[i].slip and i not in mode.grip:
                v = now.R[list(rows.unilaterals[i].slip)] @ qd
                size = np.linalg.norm(v)
                way = v / size if size > 1e-9 else np.array([1.0, 0.0])
                toward.append((i, (float(way[0]), float(way[1]))))
        yield now, replace(mode, toward=tuple(toward))


def joints_that_ride(
    now: InstantDynamics, mode: Mode, rng: np.random.Generator
) -> tuple[tuple[int, float], ...]:
    """Joints that stick, but depend on what is held and on joints before them, with any forces."""
    stuck = [k for k, sign in enumerate(mode.sliding) if sign == 0]
    riding = dict.fromkeys(stuck, 0.0)
    for k in stuck:
        held = np.vstack(
            [now.J, now.R[replace(mode, riding=tuple(riding.items())).rows(now.of.rows)]]
        )
        row = now.R[now.of.rows.joint_frictions[k].row]
        if np.linalg.matrix_rank(np.vstack([held, row]), 1e-9) > np.linalg.matrix_rank(held, 1e-9):
            del riding[k]
    return tuple((k, float(rng.uniform(-1, 1))) for k in riding)


def watched_in_python(now: InstantDynamics, mode: Mode, found: ElementForces) -> list[float]:
    """What the event functions of Python watch, in the order of the expression."""
    rows, (gaps, V) = now.of.rows, now.of.rows.gaps_and_speeds(now.q, now.qd)
    wanted = [found.normal.get(i, gap) for i, gap in enumerate(gaps)]
    for k, (joint_friction, sign) in enumerate(
        zip(rows.joint_frictions, mode.sliding, strict=True)
    ):
        sticks = sign == 0
        left = sign * V[joint_friction.row]
        if sticks and k in found.joint_friction:
            left = joint_friction.force * joint_friction.ratio - abs(found.joint_friction[k])
        wanted.append(left)
    toward = dict(mode.toward)
    for i, unilateral in enumerate(rows.unilaterals):
        if unilateral.slip and i in mode.grip:
            most = unilateral.friction * unilateral.ratio * found.normal[i]
            wanted.append(most - float(np.linalg.norm(found.slip[i])))
        elif unilateral.slip:
            way = np.array(toward.get(i, (0.0, 0.0)))
            wanted.append(float(V[list(unilateral.slip)] @ way) if i in toward else 1.0)
    return wanted


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_forces_of_modes_are_those_of_python(name: str) -> None:
    dynamics, forces, function = forces_of_mechanism(name)
    rows = dynamics.rows
    for now, mode in states(name, 25):
        wanted, found = (
            mode_force_solver(now, mode).generalized_forces(),
            solve_mode_forces(now, mode),
        )
        numbers = forces.layout.numbers(mode, now.R @ now.qd)
        values = function(now.q, now.qd, now.tau, now.t, numbers)
        push, watched, qdd, contacts, _ = (np.asarray(x, dtype=float) for x in values)
        scale = 1 + np.abs(wanted).max()
        loop_forces = (
            np.linalg.lstsq(now.J.T, push[:, 0] - wanted)[0] if len(now.J) else np.zeros(0)
        )
        push[:, 0] -= now.J.T @ loop_forces  # loops may share the load of rows in many ways
        np.testing.assert_allclose(push[:, 0], wanted, atol=1e-11 * scale, err_msg=str(mode))
        np.testing.assert_allclose(qdd[:, 0], found.held.qdd, rtol=1e-9, atol=1e-9 * scale)
        if min(found.normal.values(), default=1.0) < 0:
            continue  # the mode has ended before; Python shares such loads with weights near zero
        np.testing.assert_allclose(contacts, found.pushes, atol=1e-9 * scale, err_msg=str(mode))
        python = watched_in_python(now, mode, found)
        is_fast = [
            bool(numbers[s.fast]) and s.contact not in mode.grip for s in forces.layout.slips
        ]
        kept = [
            *range(len(python) - len(is_fast)),
            *(k for k, fast in enumerate(is_fast, len(python) - len(is_fast)) if not fast),
        ]
        np.testing.assert_allclose(
            watched[kept, 0], np.array(python)[kept], atol=1e-9 * scale, err_msg=str(mode)
        )  # fmt: skip
    assert rows.count >= len(forces.groups)


@pytest.mark.parametrize("name", ["bouncing-ball", "four-bar", "ladder", "table"])
def test_held_motion_is_that_of_python(name: str) -> None:
    dynamics, forces, _ = forces_of_mechanism(name)
    model = dynamics.model
    s = model.equations.symbols
    moved = ca.Function(
        "moved", [s["q"], s["step"]], list(model.equations.expressions("integrate"))
    )
    result = HeldMotion(forces, moved).result
    hold = ca.Function("hold", [forces.q, forces.qd, forces.t, forces.mode], list(result))
    for now, mode in states(name, 25):
        if len(mode.resting) > 1 and name == "table":
            continue
        numbers = forces.layout.numbers(mode, now.R @ now.qd)
        q = close_gaps(dynamics, 0.0, now.q, now.qd, list(mode.resting))
        step = 1e-7 * np.random.default_rng(2).normal(size=len(now.qd))
        off = model.integrate(q, step) if not dynamics.constrained else q
        qd = now.qd + (1e-7 * step if not dynamics.constrained else 0.0)
        found_q, found_qd = (np.asarray(x, dtype=float)[:, 0] for x in hold(off, qd, 0.0, numbers))
        wanted_q = close_gaps(dynamics, 0.0, off, qd, list(mode.resting))
        np.testing.assert_allclose(found_q, wanted_q, atol=1e-13, err_msg=str(mode))
        wanted_qd = stop_rows(dynamics, 0.0, wanted_q, qd, mode.rows(dynamics.rows))
        np.testing.assert_allclose(found_qd, wanted_qd, atol=1e-12, err_msg=str(mode))


def values_of(mechanism: lw.Mechanism, q: list[float], qd: list[float], mode: Mode) -> list[Floats]:
    """Forces, watched numbers, accelerations and contact forces in a mode, without a drive."""
    dynamics, forces, function = prepared(mechanism)
    V = dynamics.rows.gaps_and_speeds(np.array(q), np.array(qd))[1]
    found = function(q, qd, np.zeros(len(qd)), 0.0, forces.layout.numbers(mode, V))
    return [np.asarray(x, dtype=float) for x in found]


@pytest.mark.parametrize("mu", [0.3, 0.9])
def test_block_on_a_slope(mu: float) -> None:
    """It slides with g (sin α − μ cos α), and sticks with a reserve of m g (μ cos α − sin α)."""
    angle, m = 0.5, 2.0
    s, c = np.sin(angle), np.cos(angle)
    down = [-3 * c, -3 * s, 0.0]
    slides = Mode((0,), frozenset(), ((0, (-1.0, 0.0)),))
    push, watched, qdd, contacts, _ = values_of(block(mu, angle), [0, 0, 0], down, slides)
    np.testing.assert_allclose(qdd[:2, 0], -G * (s - mu * c) * np.array([c, s]), atol=1e-14)
    np.testing.assert_allclose(watched[:2, 0], [m * G * c, 3.0], atol=1e-13)
    np.testing.assert_allclose(contacts[:, 0], m * G * c * np.array([mu, 0, 1]), atol=1e-13)
    sticks = Mode((0,), frozenset({0}))
    push, watched, qdd, _, _ = values_of(block(mu, angle), [0, 0, 0], [0, 0, 0], sticks)
    np.testing.assert_allclose(push[:, 0], [0, m * G, 0], atol=1e-13)
    np.testing.assert_allclose(watched[:, 0], m * G * np.array([c, mu * c - s]), atol=1e-13)
    np.testing.assert_allclose(qdd, 0, atol=1e-14)


def test_ladder() -> None:
    """At a smooth wall: the foot carries the weight and friction W/(2 tan θ), as much as the wall."""
    angle, weight = 1.1, 5 * G
    q = [np.cos(angle), np.sin(angle), np.pi - angle]
    mode = Mode((0, 1), frozenset({0}))
    _, watched, qdd, contacts, share = values_of(ladder(0.4, 0.0), q, [0.0] * 3, mode)
    wall = weight / 2 / np.tan(angle)
    np.testing.assert_allclose(contacts[2], [weight, wall], atol=1e-12)
    np.testing.assert_allclose(np.abs(contacts[0]), [wall, 0], atol=1e-12)
    np.testing.assert_allclose(watched[:, 0], [weight, wall, 0.4 * weight - wall], atol=1e-12)
    np.testing.assert_allclose(qdd, 0, atol=1e-13)
    assert 0 < share < 1


def test_table_shares_its_weight() -> None:
    """Where more legs than needed carry, each of four carries a quarter; when one is lifted, the two
    beside it carry half each, and the third nothing."""
    q, still = [0.0, 0, 0, 1, 0, 0, 0], [0.0] * 6
    weight = 3 * G
    contacts = values_of(table(), q, still, Mode((0, 1, 2, 3), frozenset(range(4))))[3]
    np.testing.assert_allclose(contacts, [[0] * 4, [0] * 4, [weight / 4] * 4], atol=1e-11)
    contacts = values_of(table(), q, still, Mode((0, 1, 2), frozenset(range(3))))[3]
    np.testing.assert_allclose(contacts[2], [weight / 2, 0, weight / 2, 0], atol=1e-11)


def test_forces_that_are_no_expression() -> None:
    """Friction by reactions takes iterations; five legs with friction have too many unknowns."""
    pin = lw.Mechanism(
        name="pin", bodies={"rod": {"mass": 1, "center": [1, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "rod", "axis": [0, 1, 0],
                      "friction_coefficient": 0.2, "pin_radius": 0.1}},
    )  # fmt: skip
    assert find_mode_forces(dynamics_of(pin).code) is None
    fifth = {"point": "top", "radius": 0.2, "friction": 0.5, "restitution": 0}
    legs = replace_part_fields(table(), contacts={**table().contacts, "c4": fifth})
    assert find_mode_forces(dynamics_of(legs).code) is None
