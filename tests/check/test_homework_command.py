"""The command that checks a folder of texts: its results, its mistakes, its interruption."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.check.homework_texts import LATEX, SOLUTION, marks
from tests.commands import run


def test_the_command(tmp_path: Path) -> None:
    marks(tmp_path, {"anna.txt": SOLUTION, "bob.tex": LATEX}, SOLUTION)
    words = ("check", "texts", "--mechanism", "elbow", "--solution", "solution.txt")
    done = run(*words, "--csv", "m.csv", "-o", "m.html", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "linkwright: not all right in 1 of 2 texts: bob.tex\n"
    data = json.loads(done.stdout)
    assert [x["mark"] for x in data["texts"]] == [1.0, 0.2857]
    assert data["texts"][1]["findings"][0]["line"].startswith("M_{12}")
    assert (tmp_path / "m.csv").read_text(encoding="utf-8").count("\n") == 3
    assert "bob.tex" in (tmp_path / "m.html").read_text(encoding="utf-8")
    assert {x.name for x in tmp_path.iterdir()} == {"texts", "solution.txt", "m.csv", "m.html"}
    (tmp_path / "texts" / "bob.tex").unlink()
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert re.search(r"anna\.txt +100 %", done.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("elbow",), "the equations are missing"),
        (("texts",), "the mechanism is missing; add --mechanism FILE"),
        (("elbow", "texts"), "write 'linkwright check texts --mechanism elbow'"),
        (("texts", "e.txt", "--mechanism", "elbow"), "are both given"),
        (("elbow", "e.txt", "--csv", "x.csv"), "--csv is for a folder of texts"),
        (("elbow", "e.txt", "-o", "x.html"), "--output is for a folder of texts"),
        (("elbow", "e.txt", "--solution", "e.txt"), "--solution is for a folder of texts"),
        (("e.txt", "--mechanism", "elbow"), "write 'linkwright check elbow e.txt'"),
        (("none", "--mechanism", "elbow"), "no such folder"),
        (("bare", "--mechanism", "elbow"), "has no texts"),
        (("texts", "--mechanism", "elbows"), "elbows"),
        (("texts", "--mechanism", "elbow", "-o", "x.pdf"), "'.pdf' cannot be written; use .html"),
        (("texts", "--mechanism", "elbow", "--csv", "no/x.csv"), "no: is not a folder"),
        (("texts", "--mechanism", "elbow", "--solution", "no.txt"), "no such file"),
        (("empty", "--mechanism", "elbow"), "none of its texts could be read"),
    ],
)
def test_mixtures_and_mistakes_are_one_line(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from linkwright.cli import main

    for name in ("texts", "bare", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "texts" / "a.txt").write_text("tau1 = tau1", encoding="utf-8")
    (tmp_path / "empty" / "a.txt").write_text("", encoding="utf-8")
    (tmp_path / "e.txt").write_text("tau1 = tau1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["linkwright", "check", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    error = capsys.readouterr().err
    assert stopped.value.code == 2
    assert said in error
    assert error.count("\n") == 1


def test_interruption_leaves_no_file_behind(tmp_path: Path) -> None:
    """Ctrl-C while the second text is checked."""
    marks(tmp_path, {"1.txt": SOLUTION, "2.txt": SOLUTION, "3.txt": SOLUTION})
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored\n"
        "from linkwright.checking import homework\n"
        "read = homework.read_homework_document\n"
        "def press(path):\n"
        "    if path.name == '2.txt': os.kill(os.getpid(), signal.SIGINT)\n"
        "    if path.name == '3.txt': sys.exit('went on')\n"
        "    return read(path)\n"
        "homework.read_homework_document = press\n"
        "from linkwright.cli import main\n"
        "main()"
    )
    words = ["check", "texts", "--mechanism", "elbow", "-o", "m.html"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stderr == "linkwright: interrupted\n"
    assert done.returncode == 130
    assert [x.name for x in tmp_path.iterdir()] == ["texts"]
