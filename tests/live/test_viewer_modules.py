"""The viewer's pure modules in Node: vectors, units, scales, thinning, one scope."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import linkwright as lw
from tests.live.viewer_modules import run_modules
from tests.node import needs_node

pytestmark = needs_node


def test_each_module_is_short_and_has_a_name_of_its_own_for_everything() -> None:
    """The modules share one scope on a page, and so no two may declare the same name."""
    declared: Counter[str] = Counter()
    for name, text in lw.live.javascript().items():
        assert text.count("\n") <= 400, name
        pattern = r"^(?:export )?(?:async )?(?:function|class|const|let)\s+(?:\{[^}]*\}|(\w+))"
        declared.update(filter(None, re.findall(pattern, text, re.M)))
    assert [name for name, count in declared.items() if count > 1] == []


def test_every_import_stands_before_its_user() -> None:
    seen: set[str] = set()
    for name, text in lw.live.javascript().items():
        assert set(re.findall(r'from "\./([\w.]+)"', text)) <= seen, name
        seen.add(name)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("30 deg", "rad", np.pi / 6),
        ("30°", "rad", np.pi / 6),
        ("1.5", "rad", 1.5),
        ("pi/4", "rad", np.pi / 4),
        ("−2 pi", "rad", -2 * np.pi),
        ("12,5 cm", "m", 0.125),
        ("3/4", "m", 0.75),
        ("2 kN/m", "N/m", 2000.0),
        ("5 N*mm", "N m", 5e-3),
        ("250 g*cm^2", "kg m^2", 2.5e-5),
        ("1e-3 kg", "kg", 1e-3),
        ("100 rpm", "rad/s", 100 * 2 * np.pi / 60),
        (".5", "", 0.5),
    ],
)
def test_values_are_typed_with_units(text: str, unit: str, value: float) -> None:
    (found,) = run_modules("units", f"return [m.parseQuantity({text!r}, {unit!r})]")
    assert found["value"] == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5000.0),
        ("5 N/mm", 5000.0),
        ("5000 N/m", 5000.0),
        ("5 kg/s^2", 5.0),
        ("3 J/(m m)", 3.0),
    ],
)
def test_a_bare_number_has_the_unit_that_is_shown(text: str, value: float) -> None:
    found = run_modules("units", f"return m.parseQuantity({text!r}, 'N/m', 1000, 'N/mm')")
    assert found["value"] == pytest.approx(value, rel=1e-14)


def test_bare_angles_are_degrees_and_multiples_of_pi_are_not() -> None:
    found = run_modules(
        "units",
        "return ['30', 'pi/6', '30 deg', '0.5 rad'].map((text) => m.parseQuantity(text, 'rad', Math.PI / 180, '°').value)",
    )
    assert found == pytest.approx([np.pi / 6, np.pi / 6, np.pi / 6, 0.5])


@pytest.mark.parametrize(
    ("text", "unit", "problem"),
    [
        ("3 kg", "m", "kg does not fit; use m"),
        ("3 parsec", "m", "“parsec” is not a unit"),
        ("much", "m", "“much” is not a number"),
        ("1e999", "m", "the number is too large"),
        ("3 constructor", "m", "“constructor” is not a unit"),
    ],
)
def test_wrong_values_are_explained(text: str, unit: str, problem: str) -> None:
    assert run_modules("units", f"return m.parseQuantity({text!r}, {unit!r})")["problem"] == problem


def test_numbers_and_names_as_people_read_them() -> None:
    found = run_modules(
        "units",
        "return [m.formatNumber(-0.125), m.formatNumber(1.23456e-7), m.formatNumber(0),"
        "m.prettyName('theta1'), m.prettyName('q12'), m.prettyName('arm_left'), m.prettyName('__proto__')]",
    )
    assert found == ["−0.125", "1.235e−7", "0", "θ₁", "q₁₂", "arm_left", "__proto__"]


def test_ticks_ranges_and_times() -> None:
    ticks, constant, empty, at, thinned = run_modules(
        "scales",
        """const t = Array.from({length: 10001}, (_, k) => k / 1000), v = t.map(Math.sin);
        v[5000] = 9;
        return [m.niceTicks(-0.3, 1.2), m.paddedRange([2, 2]), m.paddedRange([]),
          [-1, 0, 2.5, 99].map(x => m.indexAtTime([0, 1, 2, 3], x)), m.thinHistory(t, v, 0, 10000, 100)]""",
    )
    assert ticks == [0, 0.5, 1]
    assert constant == [1, 3]
    assert empty == [0, 1]
    assert at == [0, 0, 2, 3]
    assert len(thinned) == 200
    assert max(v for _, v in thinned) == 9


def test_dense_solvers_agree_with_numpy() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    A, b = root @ root.T + np.eye(4), rng.normal(size=4)
    J = rng.normal(size=(3, 6))
    J = np.vstack([J, J[0] + J[1]])  # a redundant row
    v = rng.normal(size=6)
    x, rows, free = run_modules(
        "vectors",
        f"""const rows = m.orthonormalRows(Float64Array.from({J.ravel().tolist()}), 6);
        return [m.solvePositive({A.tolist()}, {b.tolist()}), rows, m.withoutRows({v.tolist()}, rows)]""",
    )
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-12)
    assert len(rows) == 3
    np.testing.assert_allclose(free, v - np.linalg.pinv(J) @ J @ v, atol=1e-12)


def test_tables_of_numbers_cannot_become_formulas_of_a_spreadsheet() -> None:
    text = run_modules(
        "plots",
        """const times = [0, 1];
        return m.seriesAsCsv([{name: '=cmd|x', unit: '', times, values: [1, 2]}, {name: 'a,"b"', unit: 'm', times, values: [3, 4]}])""",
    )
    assert text.splitlines()[0] == 't (s),"\'=cmd|x","a,""b"" (m)"'
    assert text.splitlines()[2] == "1,2,4"


def test_a_table_of_live_and_recorded_series_is_rectangular() -> None:
    """As a spreadsheet and pandas read it: each history beside its own times."""
    text = run_modules(
        "plots",
        """const was = [0, 1], now = [0, 0.5, 1];
        return m.seriesAsCsv([{name: 'θ₁, recorded', plain: 'theta1, recorded', recorded: true, unit: 'rad', times: was, values: [1, 2]},
          {name: 'θ₁', plain: 'theta1', unit: 'rad', times: now, values: [3, 4, 5]}])""",
    )
    rows = text.splitlines()
    assert rows[0] == 't (s),"theta1, recorded (rad)",t live (s),theta1 (rad)'
    assert rows[1:] == ["0,1,0,3", "1,2,0.5,4", ",,1,5"]


def _contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours by WCAG 2."""

    def luminance(text: str) -> float:
        parts = [int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_lines_on_a_dark_page_are_as_clear_as_words() -> None:
    """4.5 is what WCAG 2 asks of small text; lines need 3. No two lines have the same colour."""
    paper, lines = run_modules(
        "plots planar",
        "return [m.THEMES.dark.paper, m.LINE_COLORS.map((one) => m.themed(one, m.THEMES.dark))]",
    )
    assert min(_contrast(one, paper) for one in lines) > 4.5
    assert len(set(lines)) == len(lines)


def test_a_camera_finds_its_points_again() -> None:
    code = """const view = {planar: PLANAR, right: [1, 0, 0], up: [0, 0, 1], vertical: [0, 0, 1], middle: [0, 0, 0.5], extent: [2, 1], size: 2};
    const c = new m.Camera(view); c.resize(900, 600); c.turn(0.4, 0.2); c.shift(20, -10); c.zoomBy(1.3, 100, 80);
    const p = [0.3, -0.2, 0.9], [x, y] = c.project(p), clip = m.multiplyMatrices(c.matrix, [...p, 1, 0,0,0,0, 0,0,0,0, 0,0,0,0]);
    return [c.unproject(x, y, p), [x, y], [(clip[0] / clip[3] + 1) * 450, (1 - clip[1] / clip[3]) * 300]];"""
    back, pixel, drawn = run_modules("vectors camera", code.replace("PLANAR", "false"))
    np.testing.assert_allclose(back, [0.3, -0.2, 0.9], atol=1e-12)
    np.testing.assert_allclose(pixel, drawn, atol=1e-2)
    back, _, _ = run_modules("vectors camera", code.replace("PLANAR", "true"))
    np.testing.assert_allclose(back, [0.3, -0.2, 0.9], atol=1e-12)
