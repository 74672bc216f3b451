"""The derivation of Lagrange's equations line by line: against SymPy, the checker, and formats."""

from __future__ import annotations

import json
import re

import pytest
import sympy

import linkwright as lw
from linkwright.forms import TypesetEquationSet
from tests.commands import ok

t = sympy.Symbol("t")


def printed_lines(found: TypesetEquationSet) -> list[tuple[str, str]]:
    """Left and right side of every line, as text."""
    lines = [line for section in found.sections for line in section.lines]
    return [tuple(line.text().split("    (")[0].split(" = ", 1)) for line in lines]


class Lecture:
    """What SymPy derives from positions and angles written by hand."""

    def __init__(self, q: list[str], constants: str) -> None:
        self.q = [sympy.Function(name)(t) for name in q]
        self.names = {name: sympy.Symbol(name) for name in constants.split()}
        for name, function in zip(q, self.q, strict=True):
            self.names |= {name: function, f"d{name}": function.diff(t)}
            self.names |= {f"dd{name}": function.diff(t, 2)}

    def derive(self, T: sympy.Expr, V: sympy.Expr) -> dict[str, sympy.Expr]:
        """Values of the labels of all lines from T on."""
        L = T - V
        found = {"T": T, "V": V, "L": L}
        for q in self.q:
            name, momentum = q.func.__name__, L.diff(q.diff(t))
            found |= {f"∂L/∂d{name}": momentum, f"∂L/∂{name}": L.diff(q)}
            found[f"d/dt ∂L/∂d{name}"] = momentum.diff(t)
            found[f"tau_{name}"] = momentum.diff(t) - L.diff(q)
        return found

    def read(self, text: str) -> sympy.Expr:
        """A printed side with the symbols of the lecture."""
        return sympy.sympify(text.replace("^", "**"), self.names)

    def evaluate(self, expression: sympy.Expr) -> float:
        """The value at a state with irrational numbers, to 40 digits."""
        values = {x: sympy.sqrt(2 + k) / 3 for k, x in enumerate(sorted(self.names, key=str))}
        numbers = {}
        for order in (2, 1, 0):  # the highest derivatives first
            for q in self.q:
                name = f"{'d' * order}{q.func.__name__}"
                numbers[q.diff(t, order) if order else q] = values[name]
        numbers |= {x: values[x.name] for x in self.names.values() if isinstance(x, sympy.Symbol)}
        return float(expression.doit().subs(list(numbers.items())).evalf(40))


def assert_lines_agree(lecture: Lecture, known: dict[str, sympy.Expr], name: str) -> None:
    """Each printed line is what the lecture derives; a label may stand twice (T, V)."""
    found = printed_lines(lw.derive(lw.gallery(name), by="lagrange").equation_set(steps=True))
    lecture.names |= {key: value for key, value in known.items() if re.fullmatch(r"\w+", key)}
    assert {left for left, _ in found if not left.startswith(("tau", "("))} >= {"T", "V", "L"}
    for left, right in found:
        value = known[left] if left in known else lecture.read(left)
        wanted = known[right] if right.startswith("tau") else lecture.read(right)
        assert abs(lecture.evaluate(value - wanted)) < 1e-25, left


def test_a_pendulum_on_a_cart() -> None:
    lecture = Lecture(["x", "theta"], "mc mp l I g")
    x, theta = lecture.q
    mc, mp, length, inertia, g = (lecture.names[key] for key in ("mc", "mp", "l", "I", "g"))
    x2, y2 = x + length / 2 * sympy.sin(theta), -length / 2 * sympy.cos(theta)
    T = mc * x.diff(t) ** 2 / 2 + mp * (x2.diff(t) ** 2 + y2.diff(t) ** 2) / 2
    T += inertia * theta.diff(t) ** 2 / 2
    known = {"x1": x, "x2": x2, "y2": y2, "dx1": x.diff(t), "dx2": x2.diff(t), "dy2": y2.diff(t)}
    known |= {"omega2": theta.diff(t), **lecture.derive(T, mp * g * y2)}
    assert_lines_agree(lecture, known, "cart-pole")


def test_a_double_pendulum() -> None:
    lecture = Lecture(["q1", "q2"], "m1 m2 l1 l2 lc1 lc2 I1 I2 g")
    q1, q2 = lecture.q
    m1, m2, l1, lc1, lc2 = (lecture.names[key] for key in ("m1", "m2", "l1", "lc1", "lc2"))
    x1, y1 = lc1 * sympy.cos(q1), lc1 * sympy.sin(q1)
    x2, y2 = l1 * sympy.cos(q1) + lc2 * sympy.cos(q1 + q2), l1 * sympy.sin(q1)
    y2 = y2 + lc2 * sympy.sin(q1 + q2)
    places = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    known = {**places, **{f"d{name}": value.diff(t) for name, value in places.items()}}
    known |= {"omega1": q1.diff(t), "omega2": q1.diff(t) + q2.diff(t)}
    T = m1 * (known["dx1"] ** 2 + known["dy1"] ** 2) + m2 * (known["dx2"] ** 2 + known["dy2"] ** 2)
    T += lecture.names["I1"] * known["omega1"] ** 2 + lecture.names["I2"] * known["omega2"] ** 2
    g = lecture.names["g"]
    assert_lines_agree(lecture, known | lecture.derive(T / 2, m1 * g * y1 + m2 * g * y2), "elbow")


SPRUNG = {
    "parameters": {"m": 2, "J": 1, "k": 3, "c": 0.5, "r": 0.5, "n": 10, "Jm": 0.01},
    "bodies": {
        "slider": {"mass": "m"},
        "arm": {"mass": "m", "center": ["r", 0, 0], "inertia": {"zz": "J"}},
    },
    "joints": {
        "x": {"type": "prismatic", "child": "slider", "axis": [1, 0, 0], "stiffness": "k"},
        "theta": {
            "type": "revolute",
            "parent": "slider",
            "child": "arm",
            "damping": "c",
            "motor": {"ratio": "n", "inertia": "Jm"},
        },
    },
    "gravity": [0, -9.81, 0],
}


def test_springs_dampers_and_rotors_are_in_the_lines() -> None:
    lines = dict(
        printed_lines(lw.derive(lw.Mechanism(**SPRUNG), by="lagrange").equation_set(steps=True))
    )
    assert lines["V_springs"] == "1/2*k*x^2"
    assert "1/2*Jm*n^2*dtheta^2" in lines["T"] or "Jm*n^2" in lines["T"]
    assert "-c*dtheta + tau_theta" in lines.values()


@pytest.mark.parametrize("name", ["slider-crank", "stanford-rrp", "triple-pendulum"])
def test_the_checker_proves_each_line(name: str) -> None:
    """The printed text, sections apart, is a text that the checker understands."""
    mechanism = lw.gallery(name)
    found = lw.derive(mechanism, by="lagrange").equation_set(steps=True)
    known = [" = ".join(line) for line in printed_lines(found) if "omega" not in "".join(line)]
    report = lw.check(mechanism, "\n".join(known))
    assert [claim.status for claim in report if claim.status != "identical"] == []
    assert len(list(report)) >= 10


def test_every_format_has_numbered_lines() -> None:
    found = lw.derive(lw.gallery("elbow"), by="lagrange").equation_set(steps=True)
    assert re.search(r"d/dt ∂L/∂dq1 = .* +\(\d+\)", found.text())
    derivative = r"\frac{\partial L}{\partial \dot{q}_1}"
    assert rf"\frac{{d}}{{d t}} {derivative} &= " in found.latex()
    assert r"\tag{1}" in found.latex()
    assert "<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow>" in found.html()
    data = json.loads(ok("derive", "elbow", "--by", "lagrange", "--steps", "--json"))
    titles = [section["title"] for section in data["sections"]]
    assert titles[0] == "Positions of the centres of mass"
    assert titles[-1] == "Equations of motion"


def test_long_mechanisms_fall_back_to_named_steps() -> None:
    found = lw.derive(lw.gallery("six-axis"), by="lagrange").equation_set(steps=True)
    sections = {section.source.title: section for section in found.sections}
    assert not sections["Positions of the centres of mass"].steps
    assert len(sections["Equations of motion"].steps) > 50
