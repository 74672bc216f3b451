"""Commands that are copied from a loaded process do what those in a new Python do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import _server, run, run_in_new_python


@pytest.mark.parametrize(
    "words",
    [("simulate", "pendulum.toml", "-t", "0.1", "--json"), ("derive", "nothing"), ("derive",)],
)
def test_copies_behave_as_new_processes(words: tuple[str, ...], tmp_path: Path) -> None:
    text = 'name = "p"\n[bodies.a]\nmass = 1\n[joints.j]\nparent = "ground"\nchild = "a"\n'
    (tmp_path / "pendulum.toml").write_text(text, encoding="utf-8")
    one, other = (command(*words, cwd=tmp_path) for command in (run, run_in_new_python))
    assert one.returncode == other.returncode
    assert one.stdout == other.stdout
    assert one.stderr == other.stderr


def test_variables_and_folder_are_those_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("export", "elbow", "--to", "toml", "-o", "e.toml", env={"LINKWRIGHT_CACHE": "off"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "e.toml").is_file()
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path / "cache"))
    assert run("evaluate", "elbow", "gravity", "q=0.1,0.2").returncode == 0
    assert list((tmp_path / "cache").iterdir())


def test_what_packages_read_while_they_are_loaded_needs_a_new_python() -> None:
    import os

    _server.can_run(os.environ)  # starts it, if no test of this process has
    its_own = dict(_server.environment)
    assert _server.can_run(its_own)
    assert not _server.can_run(its_own | {"PYTHONIOENCODING": "ascii"})
    assert not _server.can_run(its_own | {"MPLBACKEND": "an other one"})
