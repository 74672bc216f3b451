"""The command line as a person uses it: output, JSON, exit status, and mistakes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import linkwright as lw
from linkwright.files import write
from linkwright.mechanism.gallery import gallery_file


def run(
    *words: str,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    stdout: int | IO[str] = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from linkwright.cli import main; main()", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | (env or {}),
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


def test_version_and_help_with_examples() -> None:
    assert ok("--version").startswith("linkwright ")
    for command in ("gallery", "info", "derive", "evaluate", "export", "schema"):
        assert "Example" in ok(command, "--help")


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    found = json.loads(ok("schema"))
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def _documents() -> dict[str, str]:
    """Everything we have that is written in our format."""
    home = Path(__file__).parents[2]
    texts = {name: write(lw.gallery(name), "toml")[0] for name in lw.gallery()}
    for name in lw.gallery():
        stored = gallery_file(name)
        if stored is not None and not stored[0].endswith(".dh.toml"):
            texts[stored[0]] = stored[1]
    texts["everything"] = (home / "tests/files/everything.toml").read_text(encoding="utf-8")
    format_ = (home / "docs/format.md").read_text(encoding="utf-8")
    texts["docs"] = re.findall(r"```toml\n(.*?)```", format_, re.DOTALL)[0]
    return texts


@pytest.mark.parametrize(("name", "text"), _documents().items())
def test_schema_accepts_our_own_files(name: str, text: str, schema: Draft202012Validator) -> None:
    lw.load(text)
    schema.validate(tomllib.loads(text))


ARM = """
gravity = [0, 0, -9.81]
[bodies.a]
mass = 1
[joints.q]
type = "spherical"
child = "a"
[frames.f]
body = "a"
"""


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("body", "body", True),
        ('body = "a"', 'body = "a"\norigin = ["1", 0, 0]', True),
        ('body = "a"', 'body = "a"\norigin = { xyz = [1, 0, 0], rpy = [0, 0, 1] }', True),
        (
            'body = "a"',
            'body = "a"\norigin = { rpy = [0, 0, 1], quaternion = [1, 0, 0, 0] }',
            False,
        ),
        ('body = "a"', 'body = "a"\norigin = [1, 0]', False),
        ('body = "a"', 'body = "a"\norigin = "1"', False),
        ("mass = 1", "inertia = [1, 1, 1]", True),
        ("mass = 1", 'inertia = { zz = "1 kg*m^2" }', True),
        ("mass = 1", "inertia = [1, 1, 1, 0, 0, 0]", False),
        ("mass = 1", "inertia = 1", False),
        ("mass = 1", "mass = true", False),
        ("mass = 1", "mass = [1]", False),
        ("mass = 1", "weight = 1", False),
        ("-9.81]", "-9.81, 0]", False),
        ("spherical", "round", False),
        ('type = "spherical"', "", False),
        ("[frames.f]", "[frame.f]", False),
        ("body", '[constraints.c]\ntype = "equation"\nposition', True),
        ("body", "[constraints.c]\nposition", False),
    ],
)
def test_schema_accepts_what_the_reader_accepts(
    old: str, new: str, accepted: bool, schema: Draft202012Validator
) -> None:
    text = ARM.replace(old, new)
    if "constraints" in text:
        text = text.replace("[frames.f]\n", "")
    assert schema.is_valid(tomllib.loads(text)) is accepted
    with nullcontext() if accepted else pytest.raises(lw.errors.LinkwrightError):
        lw.load(text)


def test_schema_shows_defaults_as_files_write_them(schema: Draft202012Validator) -> None:
    properties = schema.schema["$defs"]["Joint"]["properties"]
    assert properties["axis"]["default"] == [0, 0, 1]
    assert "default" not in properties["pitch"]
    assert schema.schema["properties"]["gravity"]["default"] == [0, 0, -9.81]
    assert "unused" not in schema.schema["properties"]


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
        (["derive", "elbow", "--what", ""], "no function ''"),
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


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("q1\n1\n", "no column 'q2'"),
        ("q1,q2\n1\n", "row 2"),
        ("q1,q2\n\n1,2\n1,x\n", "row 4: 'x' under q2 is no number"),
        ("q1,q2\n", "no rows"),
        ("", "no rows"),
        ("q1,q2\n1," + "2" * 200_000, "line 2: is no valid CSV: field larger than"),
        ("q1,q2,q1\n1,2,3\n", "has the column 'q1' twice"),
        ("q1,q2,t\n1,2,3\n", "has the unknown column 't'; give q1, q2"),
        ("q1,q2,q\n1,2,3\n", "has the unknown column 'q'; give q1, q2"),
    ],
)
def test_broken_state_files(content: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(content)
    done = run("evaluate", "elbow", "gravity", "--states", "s.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert done.stderr.count("\n") == 1


Q, QD = np.ones((3, 2)), np.ones((4, 2))


def _npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, Q)
    return buffer.getvalue()


def _corrupt() -> bytes:
    """An archive whose compressed bytes are broken behind an intact directory."""
    data = bytearray(_npz(q=np.random.default_rng(0).random((99, 2)), qd=Q))
    data[200:400] = bytes(200)
    return bytes(data)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "cannot be read as NPZ"),
        (b"PK\x03\x04", "cannot be read as NPZ"),
        (_npy(), "is a single array"),
        (_corrupt(), "cannot be read as NPZ"),
        (_npz(q=Q, qd=QD), "different numbers of states: (3,) of q, (4,) of qd"),
        (_npz(q=Q + 1j, qd=Q), "the array 'q' is of complex128; give real numbers"),
        (_npz(q=Q.astype(str), qd=Q), "the array 'q' is of <U32"),
        (_npz(q=np.array([None]), qd=Q), "cannot be read as NPZ"),
        (_npz(q=Q, qd=Q, t=Q), "unknown array 't'; give q, qd, or q1, q2, dq1, dq2"),
        (_npz(q=Q), "no array 'qd'; give q, qd, or q1"),
        (_npz(q=Q, qd=Q, q2=Q), "has 'q2' beside 'q'"),
        (_npz(q=np.ones(3), qd=Q), "q has the shape (3,); give (…, 2)"),
        (_npz(q=np.float64(1), qd=Q), "q has the shape ()"),
        (_npz(q1=np.ones(3), q2=np.ones(4), dq1=1, dq2=1), "'q2' has the shape (4,), 'q1' (3,)"),
    ],
)
def test_broken_npz_files(content: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "s.npz").write_bytes(content)
    words = ["--states", "s.npz", "-o", "r.csv"]
    done = run("evaluate", "elbow", "coriolis_matrix", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]


def test_npz_files_hold_whole_arrays_or_columns(tmp_path: Path) -> None:
    """`q1` is an input of `difference`, and an entry of q: the rest of the file tells."""
    q, q1 = np.random.default_rng(1).uniform(-1, 1, (2, 4, 2))
    np.savez(tmp_path / "whole.npz", q=q, q1=q1[0])
    np.savez(tmp_path / "one.npz", q1=q[:, 0], q2=q[:, 1], q1_1=q1[:, 0], q2_1=q1[:, 1])
    for name, wanted in (("whole", q1[0] - q), ("one", q1 - q)):
        words = ["--states", f"{name}.npz", "-o", "r.NPZ", "--json"]
        said = json.loads(ok("evaluate", "elbow", "difference", *words, cwd=tmp_path))
        assert said == {"file": "r.NPZ", "states": 4}
        with np.load(tmp_path / "r.NPZ") as results:
            assert results["step"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["elbow", "gravity", "q=5 kg,1"], "q1: is in kg; give it in radians or plain numbers"),
        (["elbow", "bias", "q=1,1", "qd=1 rad/s,2 deg"], "dq2: is in radians"),
        (["elbow", "forward_dynamics", "q=1,1", "qd=1,1", "tau=1 N,1"], "tau_q1: is in kg*m/s^2"),
        (["cart-pole", "gravity", "q=1 rad,1"], "give it in m"),
        (["quadruped", "gravity", f"q=0,0,0,1 rad{',0' * 15}"], "quaternions are plain numbers"),
    ],
)
def test_units_of_inputs_are_checked(words: list[str], what: str) -> None:
    done = run("evaluate", *words)
    assert done.returncode == 2
    assert what in done.stderr


def test_inputs_may_have_units() -> None:
    words = ["q=10 cm,90deg", "qd=36 km/h,60 rpm", "qdd=sin(1),1 rad/s^2"]
    data = json.loads(ok("evaluate", "cart-pole", "inverse_dynamics", *words, "--json"))
    model = lw.compile(lw.gallery("cart-pole"))
    wanted = model.inverse_dynamics([0.1, np.pi / 2], [10, 2 * np.pi], [np.sin(1), 1])
    assert data["tau"] == pytest.approx(wanted.tolist())
    base = ",".join(["1 m", "0", "0", "1", "0", "0", "0"] + ["0"] * 12)
    wrench = ",".join(["1 N*m"] * 3 + ["1 N"] * 3 + ["0"] * 72)
    words = [f"q={base}", f"qd=0{',0' * 17}", f"qdd=0{',0' * 17}"]
    assert ok(
        "evaluate", "quadruped", "inverse_dynamics_with_wrenches", *words, f"wrenches={wrench}"
    )


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("0,0,0,0\n0,nan,0,0\n", "bias: q2 is nan in state 2"),
        ("0,0,0,0\n0,0,0,0\n0,0,-inf,0\n", "bias: dq1 is -inf in state 3"),
        ("0,0,0,0\n0,1,1e300,1e300\n", "bias: b[1] is nan in state 2"),
    ],
)
@pytest.mark.parametrize("words", [["-o", "r.csv"], ["--json"], []])
def test_no_result_that_is_not_finite(
    rows: str, what: str, words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "s.csv").write_text("q1,q2,dq1,dq2\n" + rows)
    done = run("evaluate", "elbow", "bias", "--states", "s.csv", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert what in done.stderr
    assert done.stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == ["s.csv"]


def test_large_results_are_printed_whole(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", q=np.zeros((2000, 2)))
    text = ok("evaluate", "elbow", "gravity", "--states", "s.npz", cwd=tmp_path)
    assert text.count("\n") == 2001
    assert "..." not in text


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
    long = "+".join(["1"] * 300)
    body = f'[bodies.{"b" * 300}]\n[joints.j]\ntype = "free"\nchild = "{"b" * 300}"\n'
    (tmp_path / "long.toml").write_text(f'[parameters]\n"[red]a" = "{long}"\n{body}')
    lines = ok("info", "long.toml", cwd=tmp_path).splitlines()
    assert any(line.endswith("b" * 300) for line in lines)
    assert any(line.startswith("[red]a") and line.rstrip().endswith("1 + 1") for line in lines)


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
    steps = json.loads(ok("derive", "a.toml", "--json", cwd=tmp_path))["functions"]["gravity"]
    assert "x1" not in steps["steps"]
    assert "x2" in steps["steps"]
    for parameter, joint, name in (("q1", "q2", "q1"), ("l", "dq1", "dq1")):
        (tmp_path / "b.toml").write_text(CLASH.format(parameter=parameter, joint=joint))
        done = run("derive", "b.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert f"'{name}' names two symbols" in done.stderr


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
