"""Mechanisms with quaternions: which formulations derive them and how these print them, and what
the others say."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.expressions import evaluate_expression_exactly
from linkwright.forms.equation_set_typesetting import TypesetEquationSet
from tests.forms.reading import state

TAKE_QUATERNIONS = ("recursive", "newton_euler", "kane")

NEED_RATES = ("lagrange", "hamilton", "recurrent", "influence", "approximate")


def ball_pendulum(**joint: str) -> lw.Mechanism:
    """A body on a spherical joint."""
    body = {"mass": 2, "center": [0, 0, -0.5], "inertia": [0.3, 0.2, 0.25]}
    return lw.Mechanism.model_validate(
        {
            "name": "ball-pendulum",
            "bodies": {"bob": body},
            "joints": {"s": {"type": "spherical", "child": "bob", **joint}},
        }
    )


@pytest.mark.parametrize("by", NEED_RATES)
def test_need_of_rates_is_said_with_its_cure(by: str) -> None:
    """The message names the joint, the entry to write and formulations that take quaternions;
    each piece of advice works."""
    with pytest.raises(UnsupportedError) as refused:
        lw.derive(ball_pendulum(), by=by)
    text = str(refused.value)
    assert 'rotation = "cardan" in joints.s' in text
    advised = re.findall(r"'(recursive|newton_euler|kane)'", text)
    assert advised == ["recursive", "newton_euler", "kane"]
    for other in advised:
        assert lw.derive(ball_pendulum(), by=other).nq == 4
    assert lw.derive(ball_pendulum(rotation="cardan"), by=by).nq == 3


def test_the_advice_of_multipliers_works() -> None:
    """Without loops, multipliers names other formulations: those for quaternions where the
    mechanism has some, not lagrange, which refuses them."""
    with pytest.raises(UnsupportedError, match="use 'recursive', 'newton_euler' or 'kane'"):
        lw.derive(ball_pendulum(), by="multipliers")
    with pytest.raises(UnsupportedError, match="use 'lagrange'"):
        lw.derive(ball_pendulum(rotation="cardan"), by="multipliers")


def free_body() -> lw.Mechanism:
    """A body without joints to others."""
    body = {"mass": 2, "inertia": [0.3, 0.2, 0.25]}
    joint = {"type": "free", "child": "box"}
    return lw.Mechanism.model_validate(
        {"name": "free-body", "bodies": {"box": body}, "joints": {"f": joint}}
    )


def rod_loop() -> lw.Mechanism:
    """A crank and a rocker that a rod with a ball at each end connects (RSSR)."""
    parts = {
        "crank": {"mass": 1, "center": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02]},
        "rod": {"mass": 0.5, "center": [0.3, 0, 0], "inertia": [0.001, 0.01, 0.01]},
        "rocker": {"mass": 2, "center": [0, 0.2, 0], "inertia": [0.03, 0.02, 0.03]},
    }
    joints = {
        "a": {"type": "revolute", "child": "crank"},
        "s": {"type": "spherical", "parent": "crank", "child": "rod", "origin": [0.2, 0, 0]},
        "b": {
            "type": "revolute",
            "child": "rocker",
            "origin": [0.5, 0, 0.1],
            "axis": [1, 0, 0],
        },
    }
    ball = {"type": "spherical", "parent": "rocker", "child": "rod"}
    loop = {**ball, "origin": [0, 0.4, 0], "child_origin": [0.6, 0, 0]}
    data = {"name": "rod-loop", "bodies": parts, "joints": joints, "loops": {"s2": loop}}
    return lw.Mechanism.model_validate(data)


def hamilton_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two quaternions (w, x, y, z)."""
    real = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([real, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def section_values(found: TypesetEquationSet, title: str, at: dict[str, float]) -> dict[str, float]:
    """The right sides of the lines of the section with this title, by the names on their left."""
    (section,) = (one for one in found.sections if one.source.title == title)
    return {str(x.left): float(evaluate_expression_exactly(x.right, at)) for x in section.lines}


@pytest.mark.parametrize("by", TAKE_QUATERNIONS)
@pytest.mark.parametrize("make", [ball_pendulum, free_body, rod_loop])
def test_kinematic_equations_are_printed(by: str, make: object) -> None:
    """q̇ = ½ q ⊗ (0, ω), and the velocity of a free body's origin is q ⊗ (0, v) ⊗ q*."""
    assert callable(make)
    eqs = lw.derive(make(), by=by)
    at = state(eqs, 3)
    found = section_values(eqs.equation_set(), "Kinematic equations", at)
    joint = next(name.partition(".")[0] for name in eqs.names.q if name.endswith(".qw"))

    def column(*endings: str) -> np.ndarray:
        return np.array([at[f"{joint}.{ending}"] for ending in endings])

    q = column("qw", "qx", "qy", "qz")
    expected = 0.5 * hamilton_product(q, np.array([0, *column("wx", "wy", "wz")]))
    rates = [found.pop(f"d{joint}.{ending}") for ending in ("qw", "qx", "qy", "qz")]
    np.testing.assert_allclose(rates, expected, atol=1e-14)
    if joint == "f":
        moved = hamilton_product(q, np.array([0, *column("vx", "vy", "vz")]))
        expected = hamilton_product(moved, q * [1, -1, -1, -1])[1:]
        rates = [found.pop(f"df.{axis}") for axis in "xyz"]
        np.testing.assert_allclose(rates, expected, atol=1e-14)
    assert not found  # coordinates that are rated have no line


@pytest.mark.parametrize("by", TAKE_QUATERNIONS)
def test_laws_of_quaternions_have_no_second_derivatives(by: str) -> None:
    """Laws are in v and v̇, in text and LaTeX; ω has a dot for its rate, never two."""
    for mechanism in (ball_pendulum(), free_body(), rod_loop()):
        made = lw.derive(mechanism, by=by).equation_set()
        text, latex = made.text(), made.latex()
        assert "q̈" not in text
        assert "ddot{q}" not in latex
        for name in ("wx", "wy", "wz"):
            assert not re.search(rf"\bdd[sf]\.{name}", text)
        assert "\\dot{\\omega}" in latex or by == "recursive"
        assert "\\ddot{\\omega}" not in latex
        assert "s.w" not in latex


def test_dependent_velocities_keep_their_names() -> None:
    """Kane's dependent speed of the ball is the velocity s.wy, not its rate ds.wy: the printed
    coefficients close the loop's velocities J v = 0."""
    eqs = lw.derive(rod_loop(), by="kane")
    made = eqs.equation_set()
    q, rng = np.array(eqs.home), np.random.default_rng(1)
    at = {name: float(x) for name, x in eqs.parameters.items()}
    at |= dict(zip(eqs.names.q, q.tolist(), strict=True))
    at |= {name: rng.uniform(0.3, 1) for name in eqs.names.velocity_symbols}
    for section in made.sections:
        if section.source.title == "Coefficients of dependent velocities":
            for line in (*section.steps, *section.lines):
                at[str(line.left)] = float(evaluate_expression_exactly(line.right, at))
    at |= section_values(made, "Generalized speeds", at)
    model = lw.compile(rod_loop())
    v = np.array([at[name] for name in eqs.names.velocity_symbols])
    np.testing.assert_allclose(model.constraint_jacobian(q) @ v, 0, atol=1e-10)


def test_euler_equations_of_a_free_body() -> None:
    """τ of kane for a free body: I ω̇ + ω × I ω, and m (v̇ + ω × v) less the weight in its axes."""
    eqs = lw.derive(free_body(), by="kane")
    at = state(eqs, 4)
    found = section_values(eqs.equation_set(), "Equations of motion", at)
    w, v, dw, dv = (
        np.array([at[f"{d}f.{letter}{axis}"] for axis in "xyz"])
        for d, letter in (("", "w"), ("", "v"), ("d", "w"), ("d", "v"))
    )
    inertia, q = np.diag([0.3, 0.2, 0.25]), np.array([at[f"f.q{x}"] for x in "wxyz"])
    down = hamilton_product(hamilton_product(q * [1, -1, -1, -1], np.array([0, 0, 0, -9.81])), q)
    moment = inertia @ dw + np.cross(w, inertia @ w)
    force = 2 * (dv + np.cross(w, v)) - 2 * down[1:]
    expected = dict(zip(eqs.names.qd, (*moment, *force), strict=True))
    assert {name.removeprefix("tau_"): pytest.approx(x) for name, x in found.items()} == expected


def test_numbered_angles_of_a_joint_keep_its_letter() -> None:
    """The second angle of the universal joint u1 is u1.2; it was printed as 2 with the index u1."""
    text = str(lw.derive(lw.gallery("stewart"), by="recursive").latex("gravity"))
    assert r"\cos(\mathrm{u1.2})" in text
