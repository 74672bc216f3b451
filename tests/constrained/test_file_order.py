"""Rows of the constraints and multipliers stand in the order in which the file lists their owners."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import AssemblyError, MechanismError
from linkwright.files.toml_reader import read_toml
from linkwright.formulations import FORMULATIONS
from linkwright.simulation.dataset import constraint_row_names
from linkwright.writers.toml_writer import write_toml

RADIUS, LENGTH, CENTER, GRAVITY = 0.2, 1.0, 0.3, 9.81
MASSES = {"cart": 0.4, "hub": 0.3, "wheel": 1.5, "bar": 0.8, "block": 0.6}
WHEEL_INERTIA, BAR_INERTIA = 0.05, 0.07

TRAMMEL = f"""
gravity = [0, 0, -{GRAVITY}]
[bodies]
cart = {{ mass = 0.4, inertia = [0.1, 0.1, 0.1] }}
hub = {{ mass = 0.3, inertia = [0.1, 0.1, 0.1] }}
wheel = {{ mass = 1.5, inertia = [0.03, {WHEEL_INERTIA}, 0.03] }}
bar = {{ mass = 0.8, center = [{CENTER}, 0, 0], inertia = [0.01, {BAR_INERTIA}, 0.07] }}
block = {{ mass = 0.6, inertia = [0.1, 0.1, 0.1] }}
[joints]
x = {{ type = "prismatic", child = "cart", axis = [1, 0, 0] }}
z = {{ type = "prismatic", parent = "cart", child = "hub", axis = [0, 0, 1] }}
theta = {{ type = "revolute", parent = "hub", child = "wheel", axis = [0, 1, 0] }}
phi = {{ type = "revolute", parent = "hub", child = "bar", axis = [0, 1, 0] }}
s = {{ type = "prismatic", child = "block", axis = [0, 0, 1] }}
[assembly]
x = -0.8
z = {RADIUS}
phi = 0.6
s = -0.4
[constraints.roll]
type = "rolling"
wheel = "wheel"
radius = {RADIUS}
axle = [0, 1, 0]
[loops.pin]
type = "revolute"
parent = "bar"
child = "block"
axis = [0, 1, 0]
origin = [{LENGTH}, 0, 0]
[constraints.still]
type = "gear"
factors = {{ z = 1 }}
offset = {RADIUS}
"""
"""A wheel rolls on the floor; the bar on its hub is pinned to a block in a vertical guide. The
height of the hub is held twice, by the floor and by a gear."""

OWNERS = ("roll",) * 3 + ("pin",) * 5 + ("still",)


def trammel(*, held_twice: bool = True) -> lw.Mechanism:
    return read_toml(TRAMMEL if held_twice else TRAMMEL[: TRAMMEL.index("[constraints.still]")])


@cache
def compiled() -> lw.Model:
    return lw.compile(trammel(), threads=1)


def state(phi: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    x, s = -LENGTH * np.cos(phi), RADIUS - LENGTH * np.sin(phi)
    dx = LENGTH * np.sin(phi) * rate
    return (
        np.array([x, RADIUS, 0.7, phi, s]),
        np.array([dx, 0, dx / RADIUS, rate, -LENGTH * np.cos(phi) * rate]),
    )


def by_hand(phi: float, rate: float, tau: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """q̈ of (x, z, θ, φ, s), and the generalized forces of the floor and of the pin: Newton's
    equations of the five bodies, all constraints differentiated twice by hand."""
    m, h, sin, cos = MASSES, CENTER, np.sin(phi), np.cos(phi)
    M = np.zeros((5, 5))
    M[0, 0] = m["cart"] + m["hub"] + m["wheel"] + m["bar"]
    M[1, 1] = M[0, 0] - m["cart"]
    M[2, 2], M[4, 4] = WHEEL_INERTIA, m["block"]
    M[3, 3] = BAR_INERTIA + m["bar"] * h**2
    M[0, 3] = M[3, 0] = -m["bar"] * h * sin
    M[1, 3] = M[3, 1] = -m["bar"] * h * cos
    forces = tau + np.array([
        m["bar"] * h * cos * rate**2,
        -m["bar"] * h * sin * rate**2 - M[1, 1] * GRAVITY,
        0,
        m["bar"] * GRAVITY * h * cos,
        -m["block"] * GRAVITY,
    ])  # fmt: skip
    floor = np.array([[0.0, 1, 0, 0, 0], [1, 0, -RADIUS, 0, 0]])
    pin = np.array([[1, 0, 0, -LENGTH * sin, 0], [0, 1, 0, -LENGTH * cos, -1]])
    J = np.vstack([floor, pin])
    drift = np.array([0, 0, -LENGTH * cos * rate**2, LENGTH * sin * rate**2])
    whole = np.block([[M, -J.T], [J, np.zeros((4, 4))]])
    found = np.linalg.solve(whole, np.concatenate([forces, -drift]))
    qdd, lam = found[:5], found[5:]
    return qdd, {"floor": floor.T @ lam[:2], "pin": pin.T @ lam[2:]}


def forces_by_owner(model: lw.Model, q: np.ndarray, lam: np.ndarray) -> dict[str, np.ndarray]:
    J, owners = model.constraint_jacobian(q), np.array(model.constraint_names)
    return {owner: J[owners == owner].T @ lam[owners == owner] for owner in dict.fromkeys(owners)}


def test_multipliers_stand_in_file_order_and_are_those_by_hand() -> None:
    model = compiled()
    assert model.constraint_names == OWNERS
    q, qd = state(0.6, 1.3)
    tau = np.array([1.0, 0, 0.4, -2, 0.5])
    qdd, wanted = by_hand(0.6, 1.3, tau)
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), qdd, rtol=1e-10, atol=1e-10)
    lam = model.multipliers(q, qd, tau)
    found = forces_by_owner(model, q, lam)
    np.testing.assert_allclose(found["pin"], wanted["pin"], rtol=1e-9, atol=1e-9)
    carried = found["roll"] + found["still"]
    np.testing.assert_allclose(carried, wanted["floor"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(lam[[0, 8]], wanted["floor"][1] / 2, rtol=1e-9)  # of least norm
    assert lam[1] == pytest.approx(wanted["floor"][0], rel=1e-9)


def test_residuals_belong_to_their_rows() -> None:
    """φ has the rows of positions in the same order; messages name their owner."""
    model = compiled()
    assert model.names.position_rows == (0, 3, 4, 5, 6, 7, 8)
    q, qd = state(0.6, 0.0)
    phi = model.constraint_residual(q + np.array([0, 0.01, 0, 0, 0.01]))
    np.testing.assert_allclose(phi, [0.01, 0, 0, 0, 0, 0, 0.01], atol=1e-12)
    with pytest.raises(AssemblyError, match=r"'pin' is open by 0\.0"):
        model.forward_dynamics(q + np.array([0, 0, 0, 0, 0.05]), qd, qd, check=True)
    with pytest.raises(AssemblyError, match=r"velocities that contradict 'roll'"):
        model.forward_dynamics(q, qd + np.array([0, 0, 1, 0, 0]), qd, check=True)
    assert lw.mobility(trammel()).redundant == {"still[0]": ("roll",)}


@pytest.mark.parametrize("by", [by for by in FORMULATIONS if by != "approximate"])
def test_formulations_take_rows_in_file_order(by: str) -> None:
    eqs = lw.derive(trammel(), by=by, parameters="numeric")
    q, qd = state(0.9, -0.7)
    tau = np.array([0.3, 0, 0.4, -2, 0.5])
    qdd, wanted = by_hand(0.9, -0.7, tau)

    def value(name: str) -> np.ndarray:
        return np.asarray(eqs.function(name)(q, qd, tau)[0]).squeeze()

    np.testing.assert_allclose(value("forward_dynamics"), qdd, rtol=1e-9, atol=1e-9)
    assert eqs.names.constraints == OWNERS
    found = forces_by_owner(compiled(), q, value("multipliers"))
    np.testing.assert_allclose(found["pin"], wanted["pin"], rtol=1e-8, atol=1e-8)
    if eqs.can_build("reactions"):
        on_block = value("reactions")[-1]
        np.testing.assert_allclose(on_block[[3, 5]], -wanted["pin"][:2], rtol=1e-8)


def test_stiff_springs_in_place_of_rows_take_file_order() -> None:
    eqs = lw.derive(trammel(held_twice=False), by="approximate", parameters="numeric", iterations=5)
    q, qd = state(0.9, -0.7)
    found = np.asarray(eqs.function("forward_dynamics")(q, qd, np.zeros(5))[0]).ravel()
    np.testing.assert_allclose(found, by_hand(0.9, -0.7, np.zeros(5))[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "how", [{}, {"integrator": "midpoint", "step": 1e-3}, {"stabilization": "baumgarte"}],
    ids=["projection", "midpoint", "baumgarte"],
)  # fmt: skip
def test_runs_hold_rows_in_file_order(how: dict[str, object]) -> None:
    """The energy stays, the loop stays closed, and λ of the run are those by hand."""
    q, _ = state(0.6, 0.0)
    mechanism = trammel(held_twice=False)
    run = lw.simulate(mechanism, t=0.3, q0=q, samples=4, **how)
    assert run.finished, run.status
    assert run.closure.max() < 1e-5
    energy = run.kinetic + run.potential
    np.testing.assert_allclose(energy, energy[0], atol=2e-5)
    _, forces = by_hand(float(run.q[-1, 3]), float(run.qd[-1, 3]), np.zeros(5))
    assert float(run.multipliers[-1, 0]) == pytest.approx(forces["floor"][1], rel=1e-4)


CRANK = """
gravity = [0, -9.81, 0]
[bodies]
bar = { mass = 0.4, inertia = [0.1, 0.1, 0.1] }
[joints]
p = { type = "planar", child = "bar", axis = [0, 0, 1], axis2 = [1, 0, 0] }
[assembly]
"p.x" = 1
"""
BLADE = '[constraints.blade]\ntype = "knife-edge"\non = "bar"\nnormal = [1, 0, 0]\n'
PIN = '[loops.pin]\ntype = "revolute"\nchild = "bar"\naxis = [0, 0, 1]\nchild_origin = [-1, 0, 0]\n'


@pytest.mark.parametrize("integrator", ["dop853", "midpoint", "rk4"])
def test_rows_of_velocities_take_no_place_of_rows_of_positions(integrator: str) -> None:
    """The pin implies the blade: only the pin can keep the bar in place, whoever is listed first."""
    how = {} if integrator == "dop853" else {"integrator": integrator, "step": 0.01}
    blade_first, pin_first = (read_toml(CRANK + rest) for rest in (BLADE + PIN, PIN + BLADE))
    assert lw.mobility(blade_first).redundant == {"blade[0]": ("pin",)}
    run, other = (lw.simulate(m, t=1.0, samples=3, **how) for m in (blade_first, pin_first))
    assert run.finished, run.status
    np.testing.assert_allclose(run.q, other.q, rtol=0, atol=1e-12)
    assert run.closure.max() < 1e-12


def test_starts_that_do_not_close_name_the_owner() -> None:
    q, _ = state(0.6, 0.0)
    with pytest.raises(AssemblyError, match=r"at q0: 'pin' is open by 0\.04"):
        lw.simulate(trammel(held_twice=False), t=0.1, q0=q + np.array([0, 0, 0, 0, 0.05]))


def test_runs_label_rows_in_file_order() -> None:
    assert constraint_row_names(OWNERS) == [*(f"roll[{k}]" for k in range(3)), *(f"pin[{k}]" for k in range(5)), "still[0]"]  # fmt: skip


def test_reactions_stand_in_the_order_of_loops() -> None:
    """Whatever the order of the constraints: each hinge carries the weight of its own body."""
    hinges = {f"at_{name}": {"type": "spherical", "child": name} for name in ("a", "b")}
    bodies = {"a": {"mass": 1, "inertia": [1, 1, 1]}, "b": {"mass": 2, "inertia": [1, 1, 1]}}
    joints = {f"to_{name}": {"type": "free", "child": name} for name in bodies}
    for order in (("at_a", "at_b"), ("at_b", "at_a")):
        model = lw.compile(
            lw.Mechanism(
                gravity=[0, 0, -10], bodies=bodies, joints=joints, loops=hinges,
                constraint_order=order,
            ),
            threads=1,
        )  # fmt: skip
        q, still = model.home(), np.zeros(model.nv)
        np.testing.assert_allclose(model.reactions(q, still, still)[-2:, 5], [10, 20], atol=1e-9)


def test_files_keep_the_order_that_they_were_read_in() -> None:
    mechanism = trammel()
    assert list(mechanism.loops_and_constraints()) == ["roll", "pin", "still"]
    again = read_toml(write_toml(mechanism))
    assert again == mechanism
    assert again.digest == mechanism.digest
    usual = lw.Mechanism(**{key: getattr(mechanism, key) for key in ("gravity", "bodies", "joints", "loops", "constraints")})  # fmt: skip
    assert list(usual.loops_and_constraints()) == ["pin", "roll", "still"]
    assert usual.digest != mechanism.digest


LOOP, GEAR = '{ type = "spherical", child = "b" }', '{ type = "gear", factors = { q = 1 } }'


@pytest.mark.parametrize(
    "listed",
    [
        f"[constraints]\na = {GEAR}\nc = {GEAR}\n[loops]\nb = {LOOP}",
        f"constraints.a = {GEAR}\nloops.b = {LOOP}\nconstraints.c = {GEAR}",
        f"constraints = {{ a = {GEAR}, c = {GEAR} }}\nloops = {{ b = {LOOP} }}",
        '[constraints.a]\ntype = "gear"\nfactors.q = 1\n[ loops . "b" ] # pinned\ntype = "spherical"\n'
        'child = "b"\n[constraints.c]\ntype = "gear"\nfactors.q = 1',
    ],
    ids=["tables", "dotted keys", "inline tables", "headers"],
)
def test_every_way_to_write_a_table_has_an_order(listed: str) -> None:
    rest = '[bodies]\nb = { mass = 1, inertia = [1, 1, 1] }\n[joints]\nq = { type = "revolute", child = "b" }'
    found = read_toml(f"{listed}\n{rest}").loops_and_constraints()
    assert "".join(found) == ("acb" if "loops]" in listed or "loops =" in listed else "abc")


def test_the_order_is_no_key_of_files() -> None:
    with pytest.raises(MechanismError, match="unknown key 'constraint_order'"):
        read_toml('constraint_order = ["a"]\n' + TRAMMEL)
