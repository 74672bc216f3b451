"""The pages that tell how to extend the package: their blocks run, and really extend it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.mechanism import JOINT_KINDS
from linkwright.show.mechanism_scene import Scene
from linkwright.writers import write_mechanism_text

FOLDER = Path(__file__).parents[2] / "docs/extend"
EDIT = re.compile(r'# src/linkwright/(\S+), (new|before|replacing)(?: "(.*)")?\n')
"""The first line of a block that changes the package."""


@pytest.fixture(autouse=True)
def _own_tables() -> Iterator[None]:
    """What pages put into the tables of the package is gone after the test."""
    kept = dict(JOINT_KINDS)
    yield
    JOINT_KINDS.clear()
    JOINT_KINDS.update(kept)


def blocks(name: str) -> list[str]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.S)


def run_page(name: str) -> dict[str, object]:
    """The names that the blocks of a page leave behind."""
    names: dict[str, object] = {}
    for block in blocks(name):
        exec(compile(block, name, "exec"), names)
    return names


def edit_package(package: Path, block: str) -> bool:
    """Takes a block into a copy of the package, as its first line says; whether it says so."""
    edit = EDIT.match(block)
    if edit is None:
        return False
    file, way, mark = edit.groups()
    path, text = package / file, block[edit.end() :]
    if way == "new":
        assert not path.exists()
        path.write_text(text, encoding="utf-8")
        return True
    before = path.read_text(encoding="utf-8")
    assert before.count(mark) == 1, mark
    after = text.rstrip("\n") if way == "replacing" else text + mark
    path.write_text(before.replace(mark, after), encoding="utf-8")
    return True


@pytest.mark.parametrize("page", sorted(path.name for path in FOLDER.glob("*.md")))
def test_links_lead_somewhere(page: str) -> None:
    prose = re.sub(r"```.*?```", "", (FOLDER / page).read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (FOLDER / link).exists(), link


@pytest.mark.parametrize("page", sorted(path.name for path in FOLDER.glob("*.md")))
def test_the_blocks_of_a_page_extend_the_package(page: str, tmp_path: Path) -> None:
    package = tmp_path / "linkwright"
    shutil.copytree(Path(lw.__file__).parent, package)  # with bytecode: most files stay the same
    script = "".join(block for block in blocks(page) if not edit_package(package, block))
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_the_page_of_joints_adds_a_joint_that_is_read_derived_drawn_and_written() -> None:
    rod = run_page("joint.md")["rod"]
    assert isinstance(rod, lw.Mechanism)
    assert [shape.kind for shape in Scene(rod).joint_glyphs] == ["hull", "hull"]
    text, _ = write_mechanism_text(rod, "urdf")
    assert re.findall(r'type="(\w+)"', text) == ["prismatic", "continuous"]
    again = lw.load(write_mechanism_text(rod, "toml")[0])
    assert again == rod


def test_a_joint_of_a_page_is_gone_afterwards() -> None:
    assert "pin-slot" not in JOINT_KINDS
