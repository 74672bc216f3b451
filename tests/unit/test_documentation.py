"""The README and the documents: every block runs, every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import linkwright as lw
from tests.commands import ok, run

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.parent.name not in ("extend", "papers")
    ),
]
EXTEND_PAGES = sorted((ROOT / "docs/extend").glob("*.md"))
"""Their blocks change the package, and run in test_extend_pages.py."""
PAPER_PAGES = sorted((ROOT / "docs/papers").glob("*.md"))
"""Their blocks run in tests/papers/test_pages.py."""
README = PAGES[0].read_text(encoding="utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def lines() -> list[str]:
    return [line.split("  #")[0].strip() for block in blocks("sh") for line in block.splitlines()]


def test_the_python_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
    assert "(2, 2)" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_the_python_blocks_of_all_pages_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"lw": lw}
    for block in blocks("python", page.read_text(encoding="utf-8")):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("line", [line for line in lines() if line.startswith("linkwright")])
def test_the_commands_run(line: str, tmp_path: Path) -> None:
    found = run(*shlex.split(line)[1:], cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip()
    assert not found.stderr or "export" in line


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "linkwright", "gallery"]
    found = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout == ok("gallery", cwd=tmp_path)
    assert not found.stderr


def test_the_other_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    others = [line for line in lines() if not line.startswith("linkwright")]
    assert len(others) == 4
    for line in others:
        program, *arguments = shlex.split(line)
        if program == "make":
            assert re.search(rf"^{arguments[0]}:", makefile, re.M)
        else:
            assert (program, arguments[0]) == ("pip", "install")
            extras = re.findall(r"\[(.*)\]", arguments[1])
            assert set(extras) <= set(project["optional-dependencies"])


def test_the_first_screen() -> None:
    """A sentence, an equation, the two commands, ten lines of Python, the table; in that order."""
    places = [
        README.index(mark) for mark in ("turns the", "$$", "make demo", "```python", "vs `pin")
    ]
    assert places == sorted(places)
    assert len(blocks("python")[0].splitlines()) <= 12


@pytest.mark.parametrize(("language", "name"), [("toml", "a.toml"), ("csv", "a.dh.csv")])
def test_the_format_page_has_files_that_load(language: str, name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/format.md").read_text(encoding="utf-8")
    text, *more = re.findall(rf"```{language}\n(.*?)```", page, re.S)
    for part in more:
        assert tomllib.loads(part)
    (tmp_path / name).write_text(text, encoding="utf-8")
    model = lw.compile(lw.load(tmp_path / name))
    assert model.nv == (1 if language == "toml" else 2)
    assert model.gravity(model.neutral()).any()


@pytest.mark.parametrize("page", [*PAGES, *EXTEND_PAGES, *PAPER_PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (page.parent / link).exists(), link


def test_links_of_the_web_pages_lead_somewhere(tmp_path: Path) -> None:
    """Also their anchors; pictures are made elsewhere."""
    pytest.importorskip("markdown")
    place = importlib.util.spec_from_file_location("make", ROOT / "docs/make.py")
    assert place is not None
    assert place.loader is not None
    make = importlib.util.module_from_spec(place)
    place.loader.exec_module(make)
    assert make.write_pages(tmp_path) == len([*PAGES, *EXTEND_PAGES, *PAPER_PAGES])
    texts = {page.name: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.html")}
    followed = []
    for name, text in texts.items():
        for link in re.findall(r'<a href="([^":]+)"', text):
            file, _, anchor = link.partition("#")
            assert (tmp_path / (file or name)).is_file(), (name, link)
            assert not anchor or f'id="{anchor}"' in texts[file or name], (name, link)
            followed.append(link)
    wanted = {"simulation.html#many-at-once", "#inputs", "files/tests/files/everything.toml"}
    assert wanted <= set(followed)
