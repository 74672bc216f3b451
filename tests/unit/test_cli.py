"""The command line as a person uses it: output, JSON, exit status, and mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import linkwright as lw
from tests.commands import ok, run


def test_gallery() -> None:
    assert "puma560" in ok("gallery")
    assert set(json.loads(ok("gallery", "--json"))) == set(lw.gallery())
    assert lw.load(ok("gallery", "elbow")) == lw.gallery("elbow")
    for generated in ("chain-4", "n-four-bar-3"):
        assert lw.load(ok("gallery", generated)) == lw.gallery(generated)


def test_info() -> None:
    text = ok("info", "quadruped")
    assert "18 degrees of freedom (19 coordinates)" in text
    assert "lf_knee revolute" in text
    assert "lf_foot frame" in text
    data = json.loads(ok("info", "puma560", "--json"))
    assert data["freedom"] == 6
    assert len(data["warnings"]) == 2
    assert data["total_mass"] == pytest.approx(23.45)


def test_info_lists_what_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="a"><visual/></link><link name="b"/>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint></robot>'
    )
    assert "link a: a <visual>, because it has no geometry" in ok("info", "r.urdf", cwd=tmp_path)
    assert (
        json.loads(ok("info", "r.urdf", "--base", "free", "--json", cwd=tmp_path))["freedom"] == 7
    )


@pytest.mark.parametrize("form", ["text", "latex", "html", "json"])
def test_derive(form: str) -> None:
    text = ok("derive", "elbow", "--as", form)
    marks = {
        "text": "M[1,1] = m1*lc1^2 + m2*(l1^2",
        "latex": "\\begin{align*}",
        "html": "<math",
        "json": '"by": "recursive"',
    }
    assert marks[form] in text


def test_derive_json_holds_the_equations() -> None:
    """The printed text, read by our own parser, has the compiled function's values."""
    from linkwright.expressions import evaluate_expression_exactly, parse_expression

    data = json.loads(ok("derive", "elbow", "--json"))
    q = {"q1": 0.3, "q2": -0.8, "dq1": 1.1, "dq2": 0.4}
    model = lw.compile(lw.gallery("elbow"))
    wanted = model.coriolis_matrix([0.3, -0.8], [1.1, 0.4])
    part = data["functions"]["coriolis_matrix"]
    values = {**data["parameters"], **q}
    for name, text in part["steps"].items():
        values[name] = float(evaluate_expression_exactly(parse_expression(text), values))
    for i in range(2):
        for j in range(2):
            found = evaluate_expression_exactly(
                parse_expression(part["results"][f"C[{i + 1},{j + 1}]"]), values
            )
            assert float(found) == pytest.approx(wanted[i, j], abs=1e-14)


def test_export(tmp_path: Path) -> None:
    done = run("export", "elbow", "--to", "urdf", "-o", "e.urdf", cwd=tmp_path)
    assert done.returncode == 0
    assert "not in the urdf: gravity" in done.stderr
    assert list(lw.load(tmp_path / "e.urdf").joints) == ["root_joint", "q1", "q2", "tool_frame"]
    assert lw.load(ok("export", "elbow", "--to", "toml")) == lw.gallery("elbow")
    assert json.loads(ok("export", "elbow", "--to", "toml", "--json"))["lost"] == []


def test_version_and_help_with_examples() -> None:
    assert ok("--version").startswith("linkwright ")
    for command in ("gallery", "info", "derive", "evaluate", "export", "schema"):
        assert "Example" in ok(command, "--help")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["info", "nofile.toml"], "nofile.toml: no such file"),
        (["info", "elbw"], "no such file"),
        (["derive", "elbow", "--by", "magic"], "unknown formulation 'magic'"),
        (["derive", "elbow", "--as", "pdf"], "--as pdf is not known"),
        (["derive", "elbow", "--what", "Mass"], "unknown quantity 'Mass'"),
        (["evaluate", "elbow", "energy"], "unknown quantity 'energy'"),
        (["evaluate", "elbow", "gravity"], "the input q is missing"),
        (["evaluate", "elbow", "gravity", "q=1"], "q has 1 numbers; give 2: q1, q2"),
        (["evaluate", "elbow", "gravity", "q=1,x"], "'x' has no value"),
        (["evaluate", "elbow", "gravity", "z=1,2"], "'z' is not an input"),
        (["evaluate", "elbow", "gravity", "1,2"], "'1,2' is not an input"),
        (["evaluate", "elbow", "placement", "q=0,0"], "needs a frame; write placement:FRAME"),
        (["evaluate", "elbow", "gravity:tool", "q=0,0"], "gravity has no frame"),
        (["kinematics", "elbow"], "no coordinate is driven, so nothing moves"),
        (["kinematics", "four-bar", "--over", "theta1=0:3kg"], "give it in rad or m"),
        (["linkage", "four-bar", "--point", "coupler=1kg,0"], "'1kg' has the wrong unit"),
        (["simulate", "elbow", "--step", "2mm", "--integrator", "rk4"], "give it in s"),
        (["simulate", "elbow", "-t", "5kg"], "--time: '5kg' has the wrong unit; give it in s"),
        (["simulate", "elbow", "-t", "long"], "--time: 'long' is not a number"),
        (["simulate", "elbow", "--drive", "q1=3kg"], "'3kg' has the wrong unit; give it in N*m"),
        (["evaluate", "elbow", "placement", "q=0,0", "frame="], "no frame or body ''"),
        (["evaluate", "elbow", "gravity", "--states", "none.csv"], "none.csv"),
        (["evaluate", "elbow", "gravity", "q=0,0", "-o", "x.txt"], "'.txt' cannot be written"),
        (["export", "elbow", "--to", "step"], "'step' cannot be written"),
        (["export", "elbow", "--to", "toml", "-o", "no/such/folder/x.toml"], "cannot be written"),
        (["gallery", "elbw"], "did you mean 'elbow'"),
        (["evaluate", "elbow", "gravity", "q=5,5", "q=1,1"], "q= is given twice"),
        (
            ["evaluate", "elbow", "gravity", "q=5,5", "--states", "s.csv"],
            "q= and --states are both",
        ),
        (["evaluate", "elbow", "gravity", "q=1e400,1"], "no finite real value"),
        (["evaluate", "elbow", "gravity", "q=0,0", "-o", "x.txt", "--json"], "cannot be written"),
        (["evaluate", "elbow", "gravity", "--states", "."], "cannot be read: Is a directory"),
        (["info", "elbow", "--base", "free"], "elbow: --base is for URDF files"),
        (["info", "<robot/>"], "no such file"),
        (["info", "chain-" + "9" * 300], "the gallery has no"),
        (["info", "."], "is a folder"),
        (["gallery", ""], "the gallery has no ''"),
        (["derive", "elbow", "--what", ""], "unknown quantity ''"),
        (["derive", "elbow", "--parameters", "zz"], "'zz'"),
        (["derive", "elbow", "--as", "latex", "--json"], "--as latex and --json are both given"),
        (["export", "elbow", "--to", "toml", "-o", "."], "is a folder"),
        (["export", "elbow", "--to", "toml", "-o", "x" * 300], "cannot be written"),
        (["schema", "elbow"], "unexpected extra argument"),
        (["frobnicate"], "No such command"),
        (["info"], "Missing argument"),
    ],
)
def test_mistakes_are_one_line_and_status_2(words: list[str], what: str, tmp_path: Path) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_arguments_the_help_is_shown() -> None:
    done = run()
    assert done.returncode == 2
    assert "Usage" in done.stdout + done.stderr
    assert "linkwright: " not in done.stderr


ODD = (
    Path("odd.toml"),
    """
name = "odd % \\n[bold]name"
[parameters]
"m_1" = 1
[bodies."[red]b"]
mass = "m_1"
center = [1, 0, 0]
[joints."50%&<_#$"]
type = "revolute"
child = "[red]b"
axis = [0, 1, 0]
[joints.":smile:"]
type = "prismatic"
parent = "[red]b"
child = "c"
mimic = { joint = "50%&<_#$" }
[bodies.c]
mass = 1
[frames."[/bold]"]
body = "c"
""",
)


def test_odd_names_in_every_notation(tmp_path: Path) -> None:
    (tmp_path / ODD[0]).write_text(ODD[1])
    info = ok("info", "odd.toml", cwd=tmp_path)
    wanted = ["odd % \\n[bold]name: 2 bodies", "50%&<_#$ revolute → [red]b 1 kg",
              ":smile: prismatic (follows 50%&<_#$) → c", "[/bold] frame"]  # fmt: skip
    assert all(text in info for text in wanted)
    words = ["derive", "odd.toml", "--what", "gravity,inverse_dynamics_derivatives", "--as"]
    latex = ok(*words, "latex", cwd=tmp_path)
    assert latex.startswith("% odd % \\n[bold]name, by recursive\n")
    assert r"\mathrm{50\%\&<}_{\mathrm{\#\$}}" in latex
    formulas = [line for line in latex.splitlines() if not line.startswith("%")]
    assert not any(re.search(r"(?<!\\)[#$%]|&(?!=)(?<!\\&)", line) for line in formulas)
    assert "50%&amp;&lt;" in ok(*words, "html", cwd=tmp_path)
    assert "50%&<_#$" in ok(*words, "text", cwd=tmp_path)


def test_lines_do_not_wrap_in_a_pipe(tmp_path: Path) -> None:
    long, name = "+".join(["1"] * 300), "[red]" + "b" * 300
    body = f'[bodies."{name}"]\n[joints.j]\ntype = "free"\nchild = "{name}"\n'
    (tmp_path / "long.toml").write_text(f'[parameters]\na = "{long}"\n{body}')
    lines = ok("info", "long.toml", cwd=tmp_path).splitlines()
    assert any(line.endswith(name) for line in lines)
    assert any(line.startswith("a ") and line.rstrip().endswith("1 + 1") for line in lines)


def test_derive_as_json_is_derive_json() -> None:
    assert ok("derive", "elbow", "--as", "json") == ok("derive", "elbow", "--json")
    assert ok("derive", "elbow", "--as", "json", "--json") == ok("derive", "elbow", "--json")


def test_output_that_cannot_show_every_symbol() -> None:
    done = run("derive", "elbow", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "q\\u0308" in done.stdout


CLASH = """
[parameters]
x1 = 2
{parameter} = 3
[bodies.a]
mass = "x1"
center = ["{parameter}", 0, 0]
[bodies.b]
mass = 1
center = [1, 0, 0]
[joints.q1]
type = "revolute"
axis = [0, 1, 0]
child = "a"
[joints.{joint}]
type = "revolute"
parent = "a"
child = "b"
"""


def test_symbols_of_equations_are_distinct(tmp_path: Path) -> None:
    """A step of the computation is never called like a parameter; other clashes are refused."""
    (tmp_path / "a.toml").write_text(CLASH.format(parameter="l", joint="q2"))
    words = ["derive", "a.toml", "--json", "--steps"]
    steps = json.loads(ok(*words, cwd=tmp_path))["functions"]["coriolis_matrix"]
    assert "x1" not in steps["steps"]
    assert "x2" in steps["steps"]
    (tmp_path / "b.toml").write_text(CLASH.format(parameter="l", joint="dq1"))
    done = run("derive", "b.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "'dq1' names two symbols" in done.stderr


@pytest.mark.parametrize("words", [["derive"], ["evaluate", "gravity", "q=0"]])
def test_what_cannot_move_is_refused(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    done = run(words[0], "r.urdf", *words[1:], cwd=tmp_path)
    assert done.returncode == 2
    assert "r cannot move" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["info", "elbow"], ["gallery", "elbow", "--json"]])
def test_output_that_cannot_be_written(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "linkwright: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    "by", ["lagrange", "hamilton", "newton_euler", "kane", "influence", "recurrent"]
)
def test_derive_by_every_formulation(by: str) -> None:
    own = {
        "newton_euler": "m1*ddx1 = ",
        "kane": "tau_q1 =",
        "influence": "I[1,1] =",
        "recurrent": "W11 =",
    }
    assert own.get(by, "M[1,1] =") in ok("derive", "elbow", "--by", by)


def test_derive_of_states_of_its_own() -> None:
    words = ("derive", "triple-pendulum", "--by", "approximate", "--parameters", "numeric")
    text = ok(*words, "--what", "state_rates")
    assert "rates of the formulation's own states" in text
    assert "  dy3' = beta*gamma*(cos(theta1)*dtheta1 + " in text
    assert "rate[14] =" in ok(*words, "--what", "state_rates", "--steps")


def test_derive_takes_the_names_of_closed_forms() -> None:
    text = ok("derive", "elbow", "--what", "M,christoffel,momenta,jacobian:link2,ddx1")
    assert "M[2,2] = m2*lc2^2 + I2" in text
    assert "c[1,1,2] = m2*l1*lc2*sin(q2)" in text
    assert "p[2] = (m2*(lc2^2 + l1*lc2*cos(q2)) + I2)*dq1 + (m2*lc2^2 + I2)*dq2" in text
    assert "ddx1 = -lc1*sin(q1)*ddq1 - lc1*cos(q1)*dq1^2" in text
    assert "J[4,1] = -l1*sin(q1)" in text


@pytest.mark.parametrize(
    ("by", "family", "line"),
    [
        ("approximate", "JT", "JT11 = l1*sin(theta1)"),
        ("influence", "Tu", "Tu3 = -1/2*m3*g*l3*cos(theta3)"),
        ("recurrent", "Z", "Z2[2,2] = 1/4*m2*l2^2 + I2"),
        ("kane", "V_c", "V_c2 = "),
    ],
)
def test_derive_prints_families_of_lines(by: str, family: str, line: str) -> None:
    assert line in ok("derive", "four-bar", "--by", by, "--what", family)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--what", "MM"), "unknown quantity 'MM'; did you mean 'M'?"),
        (("--what", "jacobian"), "name a frame or body: jacobian:link2"),
        (("--what", "jacobian:foo"), "no frame or body 'foo'"),
        (("--what", "H", "--steps"), "hamiltonian has no steps of its own"),
        (("--by", "kane", "--steps"), "'kane' cannot print its derivation line by line"),
    ],
)
def test_derive_refuses_in_one_line(words: tuple[str, ...], said: str) -> None:
    done = run("derive", "elbow", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_derive_says_that_a_form_is_too_long() -> None:
    text = ok("derive", "puma560", "--what", "M")
    assert "steps, as the closed form is longer than a page" in text
