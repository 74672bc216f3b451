"""Kane's equations in dual vectors, as Agrawal prints them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.expressions import expression_to_float
from linkwright.forms import TypesetEquationSet
from linkwright.forms.equation_set_typesetting import equation_set_source
from tests.commands import ok
from tests.forms.line_values import line_values, motion_values, value_of
from tests.references import sharp_edged_disk

CENTERS = {
    "stanford-rrp": "frame c1 on link1\nframe c2 on link2 at 0, 0, d2 - g2\nframe c3 on link3",
    "sharp-edged-disk": "frame c1 on B\nframe c2 on R at m2*l/(m1 + m2), 0, 0",
}


@pytest.fixture(scope="module", params=list(CENTERS))
def printed(request: pytest.FixtureRequest) -> tuple[str, TypesetEquationSet]:
    return request.param, lw.derive(lw.gallery(request.param), by="kane").equation_set()


def lines_of(found: TypesetEquationSet) -> dict[str, str]:
    """All lines by their left side."""
    lines = (line.text() for section in found.sections for line in section.lines)
    return dict(line.split(" = ", 1) for line in lines)


def test_the_checker_proves_every_printed_line(printed: tuple[str, TypesetEquationSet]) -> None:
    """Speeds, velocities, tables 1 and 2, momenta, inertia forces and equations of both examples;
    the paper's own equations are proved in the same way (tests/check/test_gallery.py)."""
    name, found = printed
    lines = [line.text() for section in found.sections for line in section.lines]
    report = lw.check(lw.gallery(name), "\n".join([CENTERS[name], "[kane]", *lines]))
    assert report.passed
    assert len(lines) == {"stanford-rrp": 32, "sharp-edged-disk": 29}[name]


def test_printed_lines_of_both_examples(printed: tuple[str, TypesetEquationSet]) -> None:
    name, found = printed
    wanted = {
        "stanford-rrp": {
            "v1_c3": "(sin(theta2) + eps*d2*cos(theta2))*x_c3 - eps*s3*sin(theta2)*y_c3"
            " + (-cos(theta2) + eps*d2*sin(theta2))*z_c3",
            "v2_c3": "eps*s3*x_c3 + y_c3",
            "H2z": "eps*m2*k23^2*dtheta2",
            "tau_s3": "m3*d2*sin(theta2)*ddtheta1 + m3*dds3 - m3*s3*sin(theta2)^2*dtheta1^2"
            " - m3*s3*dtheta2^2",
        },
        "sharp-edged-disk": {
            "u1": "cos(q3)*dq1 + sin(q3)*dq2",
            "u3": "-u2/l",
            "v2_P": "eps*y_P - (1/l)*z_P",
            "V_D": "(omega*sin(q3) + eps*u1)*x_D + omega*cos(q3)*y_D"
            " - (u2/l + eps*(l*omega*cos(q3) + omega*q1))*z_D",
            "du2": "-sin(q3)*tau_q1/m1 + cos(q3)*tau_q2/m1 - tau_q3/(m1*l) + u1*u2/l - g*cos(q3)"
            " - omega^2*q1*sin(q3)",
        },
    }[name]
    lines = lines_of(found)
    assert {key: lines[key] for key in wanted} == wanted


def test_table_of_partial_velocities(printed: tuple[str, TypesetEquationSet]) -> None:
    """Table 2 of the paper, in text, LaTeX, MathML and plain data."""
    name, found = printed
    if name != "sharp-edged-disk":
        return
    table = next(s for s in found.sections if s.source.title == "Nonholonomic partial velocities")
    rows = [line.split() for line in table.text().splitlines()]
    assert rows[1] == ["speed", "V_c1", "V_c2", "V_P", "V_D"]
    assert rows[2] == ["u1", "0", "eps*x_c2", "eps*x_P", "eps*x_D"]
    assert r"\begin{array}{l|llll}" in table.latex()
    assert '<mtable rowlines="solid">' in table.mathml()
    assert "v2_D = -(1/l)*z_D" in table.json()["equations"]


def test_closed_forms_by_the_names_of_lines() -> None:
    """The names are those that the checker reads; dual numbers keep their dual part."""
    eqs = lw.derive(lw.gallery("sharp-edged-disk"), by="kane")
    assert str(eqs.closed_form("u3")) == "u3 = -u2/l"
    assert eqs.closed_form("v2_P").text() == "v2_P = (l*eps*y_P - z_P)/l"
    assert "eps" in eqs.closed_form("H2y").text()
    assert eqs.closed_form("du1").text().replace("du1", "u1'") == eqs.closed_form("u1'").text()
    assert (counts := equation_set_source(eqs).counts).equations == counts.unknowns == 2
    chain = lw.derive(lw.gallery("triple-pendulum"), by="recurrent")
    assert "dtheta2^2" in chain.closed_form("V1").text()  # the paper's V, no potential energy
    arm = lw.derive(lw.gallery("elbow"), by="influence")
    assert str(arm.closed_form("P[1,1,2]")) == "P[1,1,2] = -m2*l1*lc2*sin(q2)"


def test_speeds_on_the_command_line() -> None:
    text = ok("derive", "elbow", "--by", "kane", "--speeds", "u1 = dq1; u2 = dq1 + dq2")
    assert "  dq2 = u2 - u1\n" in text or "  dq2 = -u1 + u2\n" in text
    assert "*du1 + " in text


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "rolling-disk", "five-bar"])
def test_printed_equations_hold_on_motions(name: str) -> None:
    """Left and right sides of M u̇ = f agree at the accelerations of `recursive`, with the printed
    coefficients of dependent velocities."""
    mechanism = lw.gallery(name)
    source = equation_set_source(lw.derive(mechanism, by="kane", parameters="numeric"))
    known = motion_values(mechanism)
    found = line_values((x for x in source.lines() if x.left not in known), known)
    for line in source.sections[-1].lines:
        left = known[line.left] if isinstance(line.left, str) else value_of(line.left, found)
        np.testing.assert_allclose(left, value_of(line.right, found), rtol=1e-9, atol=1e-9)


def test_disk_where_the_rod_stands_upright() -> None:
    """q̇(u) has no denominator cos q3, so that nothing happens at q3 = 90°; u̇ by hand."""
    eqs = lw.derive(lw.gallery("sharp-edged-disk"), by="kane", parameters="numeric")
    state = eqs.state
    assert state is not None
    assert state.names == ("beta", "q1", "q2", "q3", "u1", "u2")
    q, u = np.array([0.1, 0.4, 0.5, np.pi / 2]), np.array([0.7, -0.3])
    disk = sharp_edged_disk.Disk(2.0, 1.0, 0.5, 3.0, 0.4, 9.81)
    rates = ca.Function("x", [state.x, eqs.symbols["tau"]], [state.rates()])
    found = np.array(rates(np.concatenate([q, u]), np.zeros(4))).ravel()
    v = sharp_edged_disk.rates(disk, q, *u)
    a = sharp_edged_disk.accelerations(disk, q, v, np.zeros(4))
    turned = [a[2] + u[1] * v[3], -a[1] - u[0] * v[3]]
    np.testing.assert_allclose(found, [*v, *turned], rtol=1e-12, atol=1e-12)


def test_lines_of_a_formulation_on_the_command_line() -> None:
    """`--what` takes the names of lines and of the checker's symbols, too."""
    assert "  dp1 = tau_q1 - " in ok("derive", "elbow", "--by", "hamilton", "--what", "dp1")
    both = ok("derive", "elbow", "--by", "approximate", "--what", "JT11,ddx2")
    assert "  JT11 = l1*sin(q1) + lc2*sin(q1 + q2)\n" in both
    assert "  ddx2 = (-beta*(gamma*l1*sin(q1)*dq1 + " in both
    tex = ok("derive", "triple-pendulum", "--by", "recurrent", "--what", "V1", "--as", "latex")
    assert "\n  V_1 &= " in tex
    rates = ok("derive", "sharp-edged-disk", "--by", "kane", "--what", "du1,u1'")
    assert "  u1' = " in rates
    assert "  du1 = " in rates


def test_long_coefficients_are_stated_as_linear_equations() -> None:
    """A and b of the 3-RRR robot stay linear equations, J_p A = −J_a and J_p b = −γ, which the
    coefficients and accelerations of `recursive` satisfy; no numbered steps."""
    mechanism = lw.gallery("3-rrr")
    eqs = lw.derive(mechanism, by="kane")
    found = {section.source.title: section for section in eqs.equation_set().sections}
    numeric = lw.derive(mechanism, parameters="numeric")
    q, rng = np.array(eqs.home), np.random.default_rng(3)
    G, k, _ = (np.array(x) for x in numeric.function("independent_map")(q))
    qd = (G @ rng.uniform(0.3, 1, (3, 1)) + k).ravel()
    J = np.array(numeric.function("constraint_jacobian")(q))
    gamma = np.array(numeric.function("constraint_bias")(q, qd)).ravel()
    tied = [i for i, name in enumerate(eqs.names.qd) if name not in eqs.names.independent]
    b = np.linalg.lstsq(J[:, tied], -gamma, rcond=None)[0]
    at = {name: float(x) for name, x in eqs.parameters.items()}
    at |= dict(zip(eqs.names.q, q.tolist(), strict=True))
    at |= dict(zip(eqs.names.velocity_symbols, qd.tolist(), strict=True))
    at |= {f"A{s + 1}{r + 1}": float(G[s, r]) for s in tied for r in range(3)}
    at |= {f"b{s + 1}": float(x) for s, x in zip(tied, b, strict=True)}
    for title, count in (
        ("Coefficients of dependent velocities", 12),
        ("Accelerations at u̇ = 0", 4),
    ):
        section = found[title]
        assert not section.steps
        assert len(section.lines) == count
        assert "longer than a page" in section.text()
        for line in section.lines:
            assert not isinstance(line.left, str)
            left, right = (expression_to_float(x, at) for x in (line.left, line.right))
            assert left == pytest.approx(right, abs=1e-12)
    listed = found["Equations of motion"]
    assert listed.steps
    assert f"{listed.steps[0].left} to {listed.steps[-1].left} are parts of them" in listed.text()
