"""The command line as a person uses it: output, JSON, exit status, and mistakes."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from linkwright.cli import main; main()", *words],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def ok(*words: str, cwd: Path | None = None) -> str:
    done = run(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_gallery() -> None:
    assert "puma560" in ok("gallery")
    assert set(json.loads(ok("gallery", "--json"))) == set(lw.gallery())
    assert lw.load(ok("gallery", "elbow")) == lw.gallery("elbow")
    assert lw.load(ok("gallery", "chain-4")) == lw.gallery("chain-4")


def test_info() -> None:
    text = ok("info", "quadruped")
    assert "18 freedoms (19 coordinates)" in text
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
    assert "link a: <visual>" in ok("info", "r.urdf", cwd=tmp_path)
    assert (
        json.loads(ok("info", "r.urdf", "--base", "free", "--json", cwd=tmp_path))["freedom"] == 7
    )


@pytest.mark.parametrize("form", ["text", "latex", "html", "json"])
def test_derive(form: str) -> None:
    text = ok("derive", "elbow", "--as", form)
    marks = {
        "text": "M[1,1] = I1 + m1*lc1^2",
        "latex": "\\begin{align*}",
        "html": "<math",
        "json": '"by": "recursive"',
    }
    assert marks[form] in text


def test_derive_json_holds_the_equations() -> None:
    """The printed text, read by our own parser, has the compiled function's values."""
    from linkwright.expressions import evaluate, parse

    data = json.loads(ok("derive", "elbow", "--json"))
    q = {"q1": 0.3, "q2": -0.8, "dq1": 1.1, "dq2": 0.4}
    model = lw.compile(lw.gallery("elbow"))
    wanted = model.coriolis_matrix([0.3, -0.8], [1.1, 0.4])
    part = data["functions"]["coriolis_matrix"]
    values = {**data["parameters"], **q}
    for name, text in part["steps"].items():
        values[name] = float(evaluate(parse(text), values))
    for i in range(2):
        for j in range(2):
            found = evaluate(parse(part["results"][f"C[{i + 1},{j + 1}]"]), values)
            assert float(found) == pytest.approx(wanted[i, j], abs=1e-14)


def test_evaluate_one_state() -> None:
    data = json.loads(
        ok("evaluate", "elbow", "inverse_dynamics", "q=0,90deg", "qd=0,0", "qdd=1,pi/4", "--json")
    )
    wanted = lw.compile(lw.gallery("elbow")).inverse_dynamics(
        [0, np.pi / 2], [0, 0], [1, np.pi / 4]
    )
    assert data["tau"] == pytest.approx(wanted.tolist())
    assert "T =" in ok("evaluate", "elbow", "placement", "q=0,0", "frame=tool")


def test_evaluate_files(tmp_path: Path) -> None:
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, 5, 2))
    head = "q1,q2,dq1,dq2,tau_q1,tau_q2"
    np.savetxt(
        tmp_path / "s.csv",
        np.hstack([q, v, tau]),
        delimiter=",",
        header=head,
        comments="",
        fmt="%.17g",
    )
    np.savez(tmp_path / "s.npz", q=q, qd=v, tau=tau)
    wanted = lw.compile(lw.gallery("elbow")).forward_dynamics(q, v, tau)
    ok("evaluate", "elbow", "forward_dynamics", "--states", "s.csv", "-o", "r.csv", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [float(r["ddq2"]) for r in rows] == wanted[:, 1].tolist()
    ok("evaluate", "elbow", "forward_dynamics", "--states", "s.npz", "-o", "r.npz", cwd=tmp_path)
    assert (np.load(tmp_path / "r.npz")["qdd"] == wanted).all()
    ok("evaluate", "elbow", "mass_matrix", "--states", "s.csv", "-o", "m.csv", cwd=tmp_path)
    assert (tmp_path / "m.csv").read_text().startswith('"M[1,1]","M[1,2]"')


def test_export(tmp_path: Path) -> None:
    done = run("export", "elbow", "--to", "urdf", "-o", "e.urdf", cwd=tmp_path)
    assert done.returncode == 0
    assert "not in the urdf: gravity" in done.stderr
    assert list(lw.load(tmp_path / "e.urdf").joints) == ["root_joint", "q1", "q2", "tool_frame"]
    assert lw.load(ok("export", "elbow", "--to", "toml")) == lw.gallery("elbow")
    assert json.loads(ok("export", "elbow", "--to", "toml", "--json"))["lost"] == []


def test_schema_accepts_the_gallery_and_help_has_examples() -> None:
    schema = json.loads(ok("schema"))
    assert set(schema["properties"]) >= {"bodies", "joints", "parameters", "loops"}
    assert "unused" not in schema["properties"]
    assert ok("--version").startswith("linkwright ")
    for command in ("gallery", "info", "derive", "evaluate", "export", "schema"):
        assert "Example" in ok(command, "--help")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["info", "nofile.toml"], "nofile.toml: there is no such file"),
        (["info", "elbw"], "no such file"),
        (["derive", "elbow", "--by", "magic"], "no formulation 'magic'"),
        (["derive", "elbow", "--as", "pdf"], "--as pdf is not known"),
        (["derive", "elbow", "--what", "Mass"], "no function 'Mass'"),
        (["evaluate", "elbow", "energy"], "no quantity 'energy'"),
        (["evaluate", "elbow", "gravity"], "the input q is missing"),
        (["evaluate", "elbow", "gravity", "q=1"], "q has 1 numbers; give 2: q1, q2"),
        (["evaluate", "elbow", "gravity", "q=1,x"], "'x' has no value"),
        (["evaluate", "elbow", "gravity", "z=1,2"], "'z' is no input"),
        (["evaluate", "elbow", "gravity", "1,2"], "'1,2' is no input"),
        (["evaluate", "elbow", "placement", "q=0,0"], "needs frame"),
        (["evaluate", "elbow", "gravity", "--states", "none.csv"], "none.csv"),
        (["evaluate", "elbow", "gravity", "q=0,0", "-o", "x.txt"], "'.txt' cannot be written"),
        (["export", "elbow", "--to", "step"], "'step' cannot be written"),
        (["export", "elbow", "--to", "toml", "-o", "no/such/folder/x.toml"], "cannot be written"),
        (["gallery", "elbw"], "did you mean 'elbow'"),
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


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("q1\n1\n", "no column 'q2'"),
        ("q1,q2\n1\n", "row 2"),
        ("q1,q2\n1,x\n", "no number"),
        ("q1,q2\n", "no rows"),
    ],
)
def test_broken_state_files(content: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(content)
    done = run("evaluate", "elbow", "gravity", "--states", "s.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
