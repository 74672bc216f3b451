"""The pages that tell how to extend the package: their blocks run, and really extend it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.files import write
from linkwright.mechanism import JOINT_KINDS
from linkwright.show.scene import Scene

FOLDER = Path(__file__).parents[2] / "docs/extend"


@pytest.fixture(autouse=True)
def _own_tables() -> Iterator[None]:
    """What pages put into the tables of the package is gone after the test."""
    kept = dict(JOINT_KINDS)
    yield
    JOINT_KINDS.clear()
    JOINT_KINDS.update(kept)


def run_page(name: str) -> dict[str, object]:
    """The names that the blocks of a page leave behind."""
    names: dict[str, object] = {}
    text = (FOLDER / name).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, name, "exec"), names)
    return names


@pytest.mark.parametrize("page", sorted(path.name for path in FOLDER.glob("*.md")))
def test_links_lead_somewhere(page: str) -> None:
    prose = re.sub(r"```.*?```", "", (FOLDER / page).read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (FOLDER / link).exists(), link


def test_the_page_of_joints_adds_a_joint_that_is_read_derived_drawn_and_written() -> None:
    rod = run_page("joint.md")["rod"]
    assert isinstance(rod, lw.Mechanism)
    assert [shape.kind for shape in Scene(rod).joints] == ["hull", "hull"]
    text, _ = write(rod, "urdf")
    assert re.findall(r'type="(\w+)"', text) == ["prismatic", "continuous"]
    again = lw.load(write(rod, "toml")[0])
    assert again == rod


def test_a_joint_of_a_page_is_gone_afterwards() -> None:
    assert "pin-slot" not in JOINT_KINDS
