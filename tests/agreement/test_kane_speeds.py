"""Generalized speeds: from files and texts, dependent ones, and against SymPy's KanesMethod."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

import linkwright as lw
from linkwright.errors import ExpressionError, MechanismError
from linkwright.mechanism import replace_part_fields
from linkwright.writers.toml_writer import write_toml

DISK_SPEEDS = "u1 = dq1*cos(q3) + dq2*sin(q3); u2 = -dq1*sin(q3) + dq2*cos(q3); u3 = dq3"


def sympy_disk_rates(numbers: dict[str, float]) -> tuple[float, float]:
    """u̇1, u̇2 of the sharp-edged disk by SymPy: two particles on a rod between turning plates."""
    q1, q2, q3, u1, u2, u3 = dynamicsymbols("q1 q2 q3 u1 u2 u3")
    m1, m2, l, omega, g, t = sm.symbols("m1 m2 l omega g t")
    ground, plates, rod = (ReferenceFrame(name) for name in "NBR")
    plates.orient(ground, "Axis", [omega * t, ground.y])
    rod.orient(plates, "Axis", [q3, plates.z])
    velocity = u1 * rod.x + u2 * rod.y
    kinematics = [
        q1.diff() - velocity.dot(plates.x), q2.diff() - velocity.dot(plates.y), q3.diff() - u3,
    ]  # fmt: skip
    O, P, D = (Point(name) for name in "OPD")
    O.set_vel(ground, 0)
    P.set_pos(O, q1 * plates.x + q2 * plates.y)
    D.set_pos(P, l * rod.x)
    rod.set_ang_vel(plates, u3 * rod.z)
    P.set_vel(ground, velocity - omega * q1 * plates.z)
    D.v2pt_theory(P, ground, rod)
    kane = KanesMethod(
        ground, [q1, q2, q3], [u1, u2], kinematics,
        u_dependent=[u3], velocity_constraints=[u2 + l * u3],
    )  # fmt: skip
    loads = [(P, -m1 * g * ground.y), (D, -m2 * g * ground.y)]
    kane.kanes_equations([Particle("a", P, m1), Particle("b", D, m2)], loads)
    at = {sm.Symbol(name): x for name, x in numbers.items() if name in ("m1", "m2", "l", "omega")}
    at |= {g: numbers["g"], t: 0}
    at |= dict(zip((q1, q2, q3, u1, u2, u3), [numbers[k] for k in DISK_STATE], strict=True))
    M, f = (np.array(x.subs(at), dtype=float) for x in (kane.mass_matrix, kane.forcing))
    found = np.linalg.solve(M, f).ravel()
    return float(found[0]), float(found[1])


DISK_STATE = ("q1", "q2", "q3", "u1", "u2", "u3")


def test_disk_agrees_with_sympy() -> None:
    """A non-holonomic system with a dependent speed and a frame that turns by itself."""
    disk = lw.gallery("sharp-edged-disk").with_parameters(m1=1.3, m2=0.7, l=0.4, omega=2.5)
    eqs = lw.derive(disk, by="kane", parameters="numeric", speeds=DISK_SPEEDS)
    state = eqs.state
    assert state is not None
    numbers = {name: float(value) for name, value in disk.values.items()}
    here = {"q1": 0.3, "q2": -0.2, "q3": 0.8, "u1": 0.6, "u2": -0.9}
    rates = ca.Function("x", [state.x, eqs.symbols["tau"]], [state.rates()])
    found = np.array(rates([0.0, *here.values()], np.zeros(4))).ravel()
    wanted = sympy_disk_rates(numbers | here | {"u3": 0.9 / numbers["l"]})
    np.testing.assert_allclose(found[4:], wanted, rtol=1e-12)


def test_speeds_of_a_file_a_table_and_a_text_are_one() -> None:
    disk = lw.gallery("sharp-edged-disk")
    assert list(disk.speeds) == ["u1", "u2", "u3"]
    assert lw.load(write_toml(disk)) == disk
    table = dict(part.split(" = ") for part in DISK_SPEEDS.split("; "))
    for speeds in (None, table, DISK_SPEEDS):
        state = lw.derive(disk, by="kane", speeds=speeds).state
        assert state is not None
        assert state.names == ("beta", "q1", "q2", "q3", "u1", "u2")


def test_motion_does_not_depend_on_the_speeds() -> None:
    """The states (q, u) are integrated, with Z ≠ 0; SciPy integrates (q, q̇)."""
    arm = lw.gallery("elbow")
    odd = replace_part_fields(arm, speeds={"u1": "dq1 + dq2 + 0.2*q1", "u2": "(2 + sin(q1))*dq2"})
    run = lw.simulate(odd, t=0.5, q0=[0.3, 0.4], qd0=[1, -1], by="kane")
    accelerations = lw.derive(arm, parameters="numeric").function("forward_dynamics")

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], np.array(accelerations(x[:2], x[2:], [0, 0])).ravel()])

    truth = solve_ivp(rates, (0, 0.5), [0.3, 0.4, 1, -1], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose([*run.q[-1], *run.qd[-1]], truth.y[:, -1], atol=1e-7)


@pytest.mark.parametrize(
    ("speeds", "what"),
    [
        ("u1 - dq1", "does not define a generalized speed"),
        ("u1 = dq1; u1 = dq2", "defines it again"),
        ("u1 = dq1 +", "something is missing at the end"),
        ("u1 = dq9; u2 = dq2", "dq9"),
        ("q1 = dq1; u2 = dq2", "'q1' is taken"),
        ("u1 = q1; u2 = dq2", "does not depend on a velocity"),
        ("u1 = __import__('os'); u2 = dq2", "cannot read"),
    ],
)
def test_wrong_speeds_are_named(speeds: str, what: str) -> None:
    with pytest.raises((ExpressionError, MechanismError), match=what):
        lw.derive(lw.gallery("elbow"), by="kane", speeds=speeds)


def test_locked_joints_leave_the_speeds_out() -> None:
    arm = replace_part_fields(lw.gallery("elbow"), speeds={"u1": "dq1", "u2": "dq1 + dq2"})
    assert not arm.reduced(lock={"q2": 0.1}).speeds
