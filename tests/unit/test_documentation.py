"""The README and the documents: what the README shows runs, every link leads somewhere.

The Python blocks of the pages in docs/ run when `make docs` builds the site, where an error or a
warning ends the build; those of the tutorials also run as notebooks in test_notebooks.py.
"""

from __future__ import annotations

import ast
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
        if not {"extend", "papers", "generated"} & set(page.relative_to(ROOT).parts)
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


def test_the_python_blocks_run_and_print_what_the_readme_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    for line in blocks("text")[0].splitlines():
        assert line == "…" or re.sub(r" \([\d.]+ s\)", "", line) in printed


@pytest.mark.parametrize("line", [line for line in lines() if line.startswith("linkwright")])
def test_the_commands_run(line: str, tmp_path: Path) -> None:
    found = run(*shlex.split(line)[1:], cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip()
    assert not found.stderr or "export" in line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_reader_who_types_the_blocks_of_a_page_has_imported_what_they_use(page: Path) -> None:
    imported: set[str] = set()
    for block in blocks("python", page.read_text(encoding="utf-8")):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported |= {name.asname or name.name for name in node.names}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not {"lw", "np", "jnp", "Path", "pi"} & used - imported


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
    assert len(others) == 3
    for line in others:
        program, *arguments = shlex.split(line)
        if program == "make":
            assert re.search(rf"^{arguments[0]}:", makefile, re.M)
        else:
            assert (program, arguments[0]) == ("pip", "install")
            extras = re.findall(r"\[(.*)\]", arguments[1])
            assert set(extras) <= set(project["optional-dependencies"])


def test_the_first_screen() -> None:
    """A film, a sentence, an equation, how to install, ten lines of Python, the table: in that order."""
    marks = ("mechanisms.webp", "turns the", "$$", "pip install", "```python", "vs `pin")
    places = [README.index(mark) for mark in marks]
    assert places == sorted(places)
    assert len(blocks("python")[0].splitlines()) <= 13
    assert (ROOT / "docs/pictures/mechanisms.webp").stat().st_size < 600_000


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
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if ":" in link:  # the tests have no network: only the form of an address is checked
            assert re.fullmatch(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w.~%+-]*)*", link), link
        else:
            assert (page.parent / link).exists(), link
