"""Forces of all kinds in the printed equations of every formulation: none is left out, springs
between points stand by their tensions, and the equations give the motion."""

from __future__ import annotations

import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.formulations import FORMULATIONS, formulation_module
from linkwright.kinematics.assembly import closed_state_near_home
from tests.forms.printed_system import named_values, printed_lines, solve_lines

FORCE_NUMBERS = {
    "k": "40 N/m", "c": "2 N*s/m", "l0": "0.1 m", "d1": "0.7 N*m*s", "kj": 9, "F": 5,
    "Jm": "1e-4 kg*m^2", "n": 50, "W": "2 N", "fc": 0.4,
}  # fmt: skip
STRUT = {"type": "spring", "stiffness": "k", "damping": "c", "length": "l0"}
BAR = {"mass": 2, "center": [0.15, 0, 0], "inertia": [0.01, 0.02, 0.02]}
MOTOR = {"damping": "d1", "motor": {"ratio": "n", "inertia": "Jm"}}
SCARA = {
    "name": "scara", "parameters": FORCE_NUMBERS,
    "bodies": {"a": BAR, "b": BAR, "rod": {"mass": 0.5, "inertia": [0.01, 0.01, 0.01]}},
    "joints": {
        "q1": {"type": "revolute", "child": "a", **MOTOR},
        "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [0.3, 0, 0],
               "friction": "fc"},
        "d3": {"type": "prismatic", "parent": "b", "child": "rod", "origin": [0.25, 0, 0],
               "stiffness": "kj"}},
    "frames": {"wall": {"body": "ground", "origin": [0.4, 0.5, 0]}},
    "forces": {"strut": {**STRUT, "between": ["wall", "rod"]},
               "push": {"type": "joint", "on": "d3", "force": "F*cos(t)"},
               "wind": {"type": "wrench", "on": "rod", "force": ["W", 0, 0]}},
}  # fmt: skip
LINKAGE = {
    "name": "linkage", "parameters": FORCE_NUMBERS, "independent": ["q1"],
    "gravity": [0, -9.81, 0],
    "bodies": {"crank": BAR, "coupler": BAR, "rocker": BAR},
    "joints": {
        "q1": {"type": "revolute", "child": "crank", **MOTOR},
        "q2": {"type": "revolute", "parent": "crank", "child": "coupler", "origin": [0.3, 0, 0],
               "friction": "fc"},
        "q3": {"type": "revolute", "child": "rocker", "origin": [0.9, 0, 0], "stiffness": "kj"}},
    "loops": {"pin": {"type": "revolute", "parent": "coupler", "child": "rocker",
                      "origin": [0.8, 0, 0], "child_origin": [0.7, 0, 0]}},
    "frames": {"wall": {"body": "ground", "origin": [0.4, 0.9, 0]}},
    "forces": {"strut": {**STRUT, "between": ["wall", "coupler"]},
               "push": {"type": "joint", "on": "q1", "force": "F*cos(t)"},
               "wind": {"type": "wrench", "on": "coupler", "force": ["W", 0, 0]}},
}  # fmt: skip
BOTH = [lw.Mechanism.model_validate(data) for data in (SCARA, LINKAGE)]
CASES = [
    pytest.param(mechanism, by, id=f"{mechanism.name}-{by}")
    for mechanism in BOTH
    for by in FORMULATIONS
    if formulation_module(by).supports(mechanism) is None
]


@pytest.mark.parametrize(("mechanism", "by"), CASES)
def test_no_force_is_left_out(mechanism: lw.Mechanism, by: str) -> None:
    """Stiffness, damping, friction, gears, loads: each number stands in some equation."""
    text = lw.derive(mechanism, by=by).equation_set().text()
    equations = [line for line in text.splitlines() if " = " in line]
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(equations)))
    assert set(FORCE_NUMBERS) <= words


SOLVED = {
    "scara": ("kane", "recurrent", "influence", "hamilton", "newton_euler"),
    "linkage": ("kane", "multipliers", "newton_euler"),
}
"""The sets that contain all equations; others print their constraints as matrices."""


@pytest.mark.parametrize(
    ("mechanism", "by"), [case for case in CASES if case.values[1] in SOLVED[case.values[0].name]]
)
def test_printed_equations_with_springs_are_the_motion(mechanism: lw.Mechanism, by: str) -> None:
    """Solved as they are printed, the equations have the accelerations of `recursive`, or the rates
    of the momenta."""
    eqs, truth = lw.derive(mechanism, by=by), lw.compile(mechanism)
    rng, t = np.random.default_rng(5), 0.0 if mechanism.loops else 0.3
    q, qd, tau = rng.uniform(0.3, 0.9, (3, eqs.nv))
    if eqs.names.constraints:
        q, qd = closed_state_near_home(mechanism, 0.1 * q, qd)
    known = named_values(eqs, q=q, qd=qd, tau=tau, t=np.array([t]))
    found_set = eqs.equation_set()
    plain = [section for section in found_set.sections if "eps" not in section.text()]
    x, left = solve_lines(printed_lines(replace(found_set, sections=tuple(plain))), known)
    wanted = truth.forward_dynamics(q, qd, tau, t)
    size = max(1.0, np.abs(wanted).max(), max(map(abs, x.values())))
    assert left < 1e-9 * size
    if by != "hamilton":
        found = [x.get(f"dd{name}", np.nan) for name in eqs.names.qd]
        wanted = np.where(np.isnan(found), np.nan, wanted)  # kane has the independent ones
        assert not np.isnan(found[0])
    else:
        found, wanted = (
            [x[f"dp{k + 1}"] for k in range(eqs.nv)],
            _momentum_rates(eqs, q, qd, wanted),
        )
    np.testing.assert_allclose(found, wanted, atol=1e-9 * size)


def _momentum_rates(
    eqs: lw.Equations, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    """d/dt (M q̇)."""
    s = eqs.symbols
    p = eqs.M @ s["qd"]
    rate = ca.jtimes(p, s["q"], s["qd"]) + eqs.M @ s["qdd"]
    values = [float(value) for value in eqs.parameters.values()]
    at = ca.Function("p", [s["q"], s["qd"], s["qdd"], s["p"]], [rate])
    return np.array(at(q, qd, qdd, values)).ravel()


@pytest.mark.parametrize("by", ["hamilton", "kane", "recurrent", "approximate"])
def test_springs_stand_by_their_tensions(by: str) -> None:
    """The force of the strut along the slide is -d3*S_strut, with S defined once."""
    text = lw.derive(BOTH[0], by=by).equation_set().text()
    assert text.count("L_strut^2 = ") == 1
    assert text.count("L_strut^2*S_strut = ") == 1
    assert "d3*S_strut" in text
    assert "length of strut" in text


def test_a_line_with_a_spring_has_a_closed_form() -> None:
    """dp3 of hamilton, written out: -∂V/∂d3 of the strut, its damper, and the other forces along
    the slide."""
    eqs = lw.derive(BOTH[0], by="hamilton")
    found = eqs.closed_form("dp3").sympy()
    q, qd, tau = np.random.default_rng(2).uniform(0.3, 0.9, (3, 3))
    known = named_values(eqs, q=q, qd=qd, tau=tau, t=np.array([0.3]))
    value = found.subs({symbol: known[str(symbol)] for symbol in found.free_symbols})
    wanted = 0.5 * lw.compile(BOTH[0]).forward_dynamics(q, qd, tau, 0.3)[2]  # p3 = m3 ḋ3
    assert float(value) == pytest.approx(wanted, rel=1e-12)
