"""f in print: all forces but τ, weight and constraint forces, springs between points by lengths."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import linkwright as lw
from linkwright.cli.commands.derive_command import derive
from linkwright.report.page_parts import write_page_functions
from tests.forms.reading import agree, state

DOCS = Path(__file__).parents[2] / "docs"
WIND = lw.Mechanism(
    name="pendulum in the wind",
    parameters={"m": 2, "l": "800 mm"},
    bodies={"rod": lw.Body(mass="m", center=[0, 0, "-l/2"], inertia=["m*l^2/12", "m*l^2/12", 0])},
    joints={"q": lw.Joint(type="revolute", child="rod", axis=[0, 1, 0])},
    frames={"tip": lw.Frame(body="rod", origin=[0, 0, "-l"])},
    forces={"wind": {"type": "wrench", "on": "tip", "force": [3, 0, 0]}},
)
STRUT = {
    "type": "spring", "between": ["wall", "tool"], "stiffness": "k", "damping": "c", "length": "l0",
}  # fmt: skip


def sprung_elbow(forces: dict[str, object] | None = None, **parameters: object) -> lw.Mechanism:
    """The elbow with a spring and damper between its tool and a point of ground."""
    arm = lw.gallery("elbow")
    numbers = {"k": 200, "c": 3, "l0": "0.3", "xw": "0.5", "yw": "0.7", **parameters}
    wall = {"body": "ground", "origin": ["xw", "yw", 0]}
    return arm.model_copy(
        update={
            "parameters": {**arm.parameters, **numbers},
            "frames": {**arm.frames, "wall": wall},
            "forces": forces or {"strut": STRUT},
        }
    )


def test_a_declared_wrench_stands_in_f() -> None:
    """Wind of 3 N along x on the tip at (−l sin q, 0, −l cos q): f = 3 ∂x/∂q."""
    q, l = sp.symbols("q l", real=True)
    found = lw.derive(WIND).closed_form("f").sympy()[0]
    assert sp.simplify(found - sp.diff(-3 * l * sp.sin(q), q)) == 0


@pytest.mark.parametrize(
    ("form", "load"),
    [("text", r"f\[2\] = .*\+ F$"), ("latex", r"f_2 &= .*\+ F\b"), ("html", r"<mi>F</mi>"),
     ("json", r'"f\[2\]": ".* \+ F"')],
)  # fmt: skip
def test_derive_prints_declared_loads(
    form: str, load: str, capsys: pytest.CaptureFixture[str]
) -> None:
    derive(lw.gallery("slider-crank-sundials"), as_=form, what=None).show()
    printed = capsys.readouterr().out
    assert re.search(load, printed, re.MULTILINE), printed
    assert "passive:" not in printed


def test_the_report_prints_declared_loads() -> None:
    found = {one.name: one for one in write_page_functions(WIND)}
    assert "passive" not in found
    assert "- 3 \\, l \\, \\cos(q)" in found["forces"].latex


def test_time_stands_in_f_and_in_the_equation(capsys: pytest.CaptureFixture[str]) -> None:
    gust = {"type": "wrench", "on": "tip", "force": ["3*sin(2*t)", 0, 0]}
    gusty = WIND.model_copy(update={"forces": {"gust": gust}})
    derive(gusty, what=["f"]).show()
    printed = capsys.readouterr().out
    assert "= τ + f(q, q̇, t)\n" in printed
    assert "f[1] = -3*l*cos(q)*sin(2*t)" in printed


def test_springs_between_points_are_printed_by_their_lengths() -> None:
    """By SymPy: L of the points' coordinates, f = −(k (L − l0) + c L') ∂L/∂q."""
    form = lw.derive(sprung_elbow()).closed_form("f")
    lines = form.text().splitlines()
    assert [line.split(" = ")[0] for line in lines] == ["L1", "L1'", "f[1]", "f[2]"]
    assert lines[2].startswith("f[1] = -(k*(L1 - l0) + c*L1')*(")
    assert form.text() in (DOCS / "explanation/closed-forms.md").read_text()
    names = "q1 q2 dq1 dq2 l1 l2 xw yw k c l0"
    q1, q2, dq1, dq2, l1, l2, xw, yw, k, c, l0 = sp.symbols(names, real=True)
    x = l1 * sp.cos(q1) + l2 * sp.cos(q1 + q2) - xw
    y = l1 * sp.sin(q1) + l2 * sp.sin(q1 + q2) - yw
    L = sp.sqrt(x**2 + y**2)
    rate = sp.diff(L, q1) * dq1 + sp.diff(L, q2) * dq2
    rng = np.random.default_rng(0)
    for found, q in zip(form.sympy(), (q1, q2), strict=True):
        wanted = -(k * (L - l0) + c * rate) * sp.diff(L, q)
        symbols = sorted(wanted.free_symbols, key=str)
        assert found.free_symbols == wanted.free_symbols
        at = {
            s: sp.Rational(int(n), 10)
            for s, n in zip(symbols, rng.integers(1, 20, 11), strict=True)
        }
        assert abs((found - wanted).subs(at).evalf(40)) < 1e-30


def test_names_of_lengths_avoid_the_mechanism_s_own() -> None:
    plain = lw.derive(sprung_elbow()).closed_form("f")
    other = lw.derive(sprung_elbow(L1=3)).closed_form("f")
    assert other.text().startswith("L2 = sqrt(")
    assert other == plain
    named = lw.derive(sprung_elbow(L1=200, k="L1")).closed_form("f", parameters="numeric")
    assert named.text().startswith("L2 = sqrt(")


def test_forms_with_named_lengths_compare_as_functions() -> None:
    """Two springs side by side are one of both stiffnesses; other formulations have the same f."""
    half = STRUT | {"stiffness": "k/2", "damping": "c/2"}
    one = lw.derive(sprung_elbow()).closed_form("f")
    assert one == lw.derive(sprung_elbow(forces={"a": half, "b": half})).closed_form("f")
    assert one == lw.derive(sprung_elbow(), by="kane").closed_form("f")
    assert one == lw.derive(sprung_elbow()).closed_form("passive")
    assert one != lw.derive(sprung_elbow(forces={"a": half})).closed_form("f")
    assert one != lw.derive(lw.gallery("elbow")).closed_form("f")


CASES = {
    "strut": sprung_elbow(),
    "no free length": sprung_elbow(forces={"a": STRUT | {"length": 0}}),
    "damper": sprung_elbow(forces={"a": STRUT | {"stiffness": 0, "length": 0}}),
    "no damper": sprung_elbow(forces={"a": STRUT | {"damping": 0}}),
    "between links": sprung_elbow(forces={"a": STRUT | {"between": ["link1", "tool"]}, "b": STRUT}),
    "loads of all kinds": sprung_elbow(
        forces={
            "a": STRUT,
            "b": {"type": "wrench", "on": "tool", "axes": "tool", "force": ["3*t", "-dq1", 0]},
            "c": {"type": "joint", "on": "q2", "force": "2*cos(q1) - t^2"},
        }
    ),
    "slider-crank": lw.gallery("slider-crank-sundials"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("parameters", ["symbolic", "numeric"])
def test_printed_f_is_the_difference_that_bias_has(name: str, parameters: str) -> None:
    """f = C q̇ + g − bias, with C and g of the same mechanism without its forces."""
    mechanism = CASES[name]
    eqs = lw.derive(mechanism, parameters=parameters)
    for seed in range(3):
        agree(eqs, "f", seed=seed)
        agree(eqs, "passive", seed=seed)
    model, bare = lw.compile(mechanism), lw.compile(mechanism.model_copy(update={"forces": {}}))
    values = state(eqs, 7)
    q, qd = ([values[f"{p}{n}"] for n in eqs.names.qd] for p in ("", "d"))
    t = [values["t"]] if eqs.names.is_time_dependent else []
    f = model.forces(q, qd, *t)
    np.testing.assert_allclose(f, bare.bias(q, qd) - model.bias(q, qd, *t), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(f, model.passive(q, qd) + model.external(q, qd, *t), rtol=1e-12)


def test_quaternions_print_springs_between_points() -> None:
    """∂L/∂q is along the speeds, where these are no rates of coordinates."""
    top = lw.Mechanism(
        name="top on a spring",
        bodies={"top": {"mass": 1, "center": [0, 0, "0.1"], "inertia": [1, 1, 2]}},
        joints={"ball": {"type": "spherical", "child": "top"}},
        frames={"eye": {"body": "top", "origin": [0, "0.1", "0.4"]},
                "hook": {"body": "ground", "origin": [1, 0, 1]}},
        forces={"s": {"type": "spring", "between": ["hook", "eye"], "stiffness": 30, "damping": 2,
                      "length": 0.5}},
    )  # fmt: skip
    eqs = lw.derive(top)
    assert eqs.closed_form("f").text().startswith("L1 = sqrt(")
    agree(eqs, "f")


@pytest.mark.parametrize(("smoothing", "wanted"), [("vs", "-fc*tanh(dq/vs)"), (0, "-fc*sign(dq)")])
def test_friction_is_printed_as_the_mechanism_has_it(smoothing: object, wanted: str) -> None:
    """No choice by whether a smoothing velocity is zero: the mechanism says that."""
    joint = {"type": "revolute", "child": "rod", "friction": "fc", "smoothing": smoothing}
    rod = lw.Mechanism(
        name="rod",
        parameters={"fc": 2, "vs": "0.05"},
        bodies={"rod": {"mass": 1, "center": [1, 0, 0]}},
        joints={"q": joint},
    )
    for by in ("lagrange", "hamilton", "newton_euler", "influence"):
        text = lw.derive(rod, by=by).equation_set().text()
        assert wanted[1:] in text
        assert "select" not in text
    assert lw.derive(rod).closed_form("f").text() == f"f[1] = {wanted}"
