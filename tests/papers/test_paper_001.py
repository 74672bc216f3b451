"""Bayseç and Kapucu (1996): the printed sets of equations are the paper's, and the script works."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.expressions import expression_to_float, names_in_expression, parse_expression

SCRIPT = Path(__file__).parents[2] / "examples" / "paper_001.py"
PENDULUM = lw.gallery("triple-pendulum-points")
TORQUES = {"tau_theta1": "(tau1 - tau2)", "tau_theta2": "(tau2 - tau3)", "tau_theta3": "tau3"}


def paper_lines(section: str) -> dict[str, list[str]]:
    """The right equations of a section of the paper's text, by number, with our names of the joint
    forces."""
    source = files("linkwright.mechanism.gallery_files") / "triple-pendulum.equations.txt"
    text = source.read_text(encoding="utf-8")
    own = text.split(f"\n[{section}]")[1].split("\n[")[0]
    for letter, joint in zip("abc", ("q1", "q2", "q3"), strict=True):
        for axis in "xy":
            own = own.replace(f"F{letter}{axis}", f"F{axis}_{joint}")
    found: dict[str, list[str]] = {}
    for line in own.splitlines():
        if line.startswith("("):
            number, equation = line[1:].split(") ", 1)
            found.setdefault(number, []).append(equation)
    return found


def printed_lines(by: str, mechanism: lw.Mechanism = PENDULUM) -> list[str]:
    """All lines of a printed set, with the actuators' torques in place of generalized forces."""
    lines = [
        line.text()
        for section in lw.derive(mechanism, by=by).equation_set().sections
        for line in section.lines
    ]
    for ours, paper in TORQUES.items():
        lines = [line.replace(ours, paper) for line in lines]
    return lines


def residuals(lines: Iterable[str]) -> list[float]:
    """|left − right| of equations at random values of their symbols, each as if independent."""
    found = []
    for line in lines:
        left, right = map(parse_expression, line.split(" = "))
        names = {*names_in_expression(left), *names_in_expression(right)}
        values = {name: np.random.default_rng([*name.encode()]).uniform(0.5, 1.5) for name in names}
        found.append(abs(expression_to_float(left, values) - expression_to_float(right, values)))
    return found


def are_printed(paper: Iterable[str], ours: Iterable[str]) -> bool:
    """Whether each equation of the paper is one of ours, but for the sign of both sides."""
    known = np.array(residuals(ours))
    return all(np.abs(known - value).min() < 1e-12 for value in residuals(paper))


def test_newton_and_euler() -> None:
    """Every line is right, and (23)–(45) are 23 of the 24 lines; (46) is not in the scan."""
    lines = printed_lines("newton_euler")
    assert lw.check(PENDULUM, "\n".join(lines)).passed
    paper = [line for lines in paper_lines("newton_euler").values() for line in lines]
    assert (len(lines), len(paper)) == (24, 23)
    assert are_printed(paper, lines)
    assert not are_printed(["ddx1 + ddtheta1*l1*sin(theta1) = l1*dtheta1^2*cos(theta1)"], lines)


def test_the_counts_of_the_paper() -> None:
    """3N + 2J = 2m − n = 15 equations, 18 states, a 9 × 9 matrix; the others have 6 states."""
    found = lw.derive(PENDULUM, by="newton_euler").equation_set()
    assert found.source.counts.text() == (
        "15 equations, 15 unknowns, 18 states; the matrix of the reduced system is 9 × 9"
    )
    note = found.sections[-1].source.note
    for count in ("N = 3", "J = 3", "n = 3", "m = 3N = 9", "2m - n = 15", "3m - n = 24"):
        assert count in note
    for by in ("lagrange", "hamilton"):
        assert lw.derive(PENDULUM, by=by).equation_set().source.counts.states == 6


def test_lagrange() -> None:
    """(53), and (56)–(58) as τ = …"""
    eqs, paper = lw.derive(PENDULUM, by="lagrange"), paper_lines("lagrange")
    entries = eqs.closed_form("tau").json()["entries"]
    torques = [f"{paper} = {entries[f'tau[{k}]']}" for k, paper in enumerate(TORQUES.values(), 1)]
    assert are_printed([*paper["56"], *paper["57"], *paper["58"]], torques)
    assert are_printed(paper["53"], [f"L = {eqs.closed_form('L').json()['entries']['L']}"])


def test_hamilton() -> None:
    """(60)–(65): momenta and their rates."""
    paper = paper_lines("hamilton")
    lines = [line for number in range(60, 66) for line in paper[str(number)]]
    assert len(lines) == 6
    assert are_printed(lines, printed_lines("hamilton"))


def test_approximate() -> None:
    """(67)–(69), and (70)–(76) without damping, where e = f."""
    paper = paper_lines("approximate") | paper_lines("approximate, undamped")
    definition, first = paper["70"]
    assert definition == "IA1 := I1 + m1*l1^2"
    paper["70"] = [first.replace("IA1", "(I1 + m1*l1^2)")]
    paper["68"] = [line for line in paper["68"] if not line.endswith(" = 0")]  # not printed
    lines = [line for number in range(67, 77) for line in paper[str(number)]]
    ours = printed_lines("approximate", lw.gallery("triple-pendulum"))
    assert len(lines) == 4 + 14 + 7 + 7
    assert are_printed(lines, [re.sub(r"\be(\d)", r"f\1", line) for line in ours])


@pytest.mark.slow
def test_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All equations, misprints, the comparison, the checks and ten pictures."""
    runpy.run_path(str(SCRIPT))["main"](tmp_path)
    printed = capsys.readouterr().out
    for line in (
        "I2*ddtheta2 = l2*sin(theta2)*Fx_q2 - l2*cos(theta2)*Fy_q2 + tau2 - tau3",
        "misprint (42)",
        "112 of 112 equations right",
        "in the paper",
        "passed   huge mass as ground",
        "written: 10 pictures",
    ):
        assert line in printed
