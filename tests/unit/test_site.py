"""The site: what its pages come from is complete, and pages are prepared for MyST-NB."""

from __future__ import annotations

import pkgutil
import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.model_properties import ModelProperties

from .test_docstrings import PUBLIC

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = runpy.run_path(str(DOCS / "_site/pages.py"))


def prepared(name: str, text: str, docs: Path = DOCS) -> str:
    source = [text]
    PAGES["prepare_page"](SimpleNamespace(srcdir=docs), name, source)
    return source[0]


def test_python_blocks_become_cells_and_printed_output_is_dropped() -> None:
    text = "# A\n\n```python\n1 + 1\n```\n\n```text\n3\n```\n\n```toml\na = 1\n```\n"
    found = prepared("how-to/a", text)
    assert found.startswith("---\nfile_format: mystnb\n")
    assert "```{code-cell} ipython3\n1 + 1\n```" in found
    assert "3" not in found.split("1 + 1")[1].split("```toml")[0]
    assert "a = 1" in found


def test_links_with_names_of_files_get_titles() -> None:
    text = "see ([checker.md](../reference/checker.md#a)), [the page](checker.md), [x.md](no.md)"
    found = prepared("explanation/a", text)
    assert "([The equation checker](../reference/checker.md#a))" in found
    assert "[the page](checker.md), [x.md](no.md)" in found


def test_front_matter_is_kept() -> None:
    found = prepared("a", "---\norphan: true\n---\n# A\n\n```python\n1\n```\n")
    assert found.count("---") == 2
    assert "orphan: true" in found.split("---")[1]


def test_tutorials_have_a_link_to_their_notebook() -> None:
    found = prepared("tutorials/robot", "# A robot\n\nText.\n")
    assert found.index("# A robot") < found.index('href="../notebooks/robot.ipynb"')
    assert "notebooks/" not in prepared("how-to/robot", "# A robot\n")


def test_a_notebook_says_how_to_see_what_is_live_on_the_page() -> None:
    found = PAGES["plain_markdown"]("Drag it.\n\n<!-- live four-bar -->\n")
    assert 'lw.gallery("four-bar")' in found


@pytest.mark.parametrize("name", ["extend/joint", "generated/x"])
def test_some_pages_are_not_executed(name: str) -> None:
    text = "```python\n1\n```\n"
    assert prepared(name, text) == text


def test_a_guide_that_no_table_lists_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "how-to").mkdir()
    for name in ("index", "development", "gpu", "how-to/index", "how-to/install", "how-to/new"):
        (tmp_path / f"{name}.md").write_text("# A\n", encoding="utf-8")
    found = prepared("how-to/index", "install\n<!-- unlisted pages -->\n", tmp_path)
    assert "/how-to/new\n/gpu\n" in found.replace("/development\n", "")
    assert "/how-to/install" not in found


def test_links_of_the_changelog_lead_into_the_site() -> None:
    text = prepared("changelog", (DOCS / "changelog.md").read_text(encoding="utf-8"))
    assert "](how-to/export.md)" in text
    assert "](docs/" not in text


def test_every_mechanism_of_the_gallery_has_a_note() -> None:
    notes = tomllib.loads((DOCS / "gallery/notes.toml").read_text(encoding="utf-8"))
    assert set(notes) == set(lw.gallery())
    for note in notes.values():
        assert note["learn"].endswith(".")
        assert all((DOCS / f"{page}.md").exists() for page in note["links"])
    for name in [name for name in notes if "pose" in notes[name]]:
        assert len(notes[name]["pose"]) == lw.compile(lw.gallery(name)).nq


def test_every_kind_of_the_file_format_has_an_example_that_loads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(DOCS))
    from _site import file_format_figures  # type: ignore[import-not-found]

    examples = tomllib.loads((DOCS / "reference/kinds.toml").read_text(encoding="utf-8"))
    for group, kinds in file_format_figures.kinds().items():
        assert set(examples[group]) == kinds
        for name, entry in examples[group].items():
            mechanism = lw.load(f'name = "{name}"\n{entry["more"]}\n{entry["text"]}')
            parts = getattr(mechanism, group)
            assert name in {part.type for part in parts.values()}
    for name in [name for name in sys.modules if name.partition(".")[0] == "_site"]:
        del sys.modules[name]


def test_marks_of_joints_show_axes_and_positive_senses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second axis of a universal joint turns with the first; a slide's arrow is its axis."""
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(DOCS))
    from _site import kind_marks

    def marks(joint: dict[str, object], q: list[float]) -> list[Any]:
        body = {"mass": 1, "inertia": [1, 1, 1]}
        joints = {"j": {"child": "b", **joint}}
        mechanism = lw.Mechanism(name="one", bodies={"b": body}, joints=joints)
        return [m for m in kind_marks.joint_marks(mechanism, "j", q, 1.0) if m.has_head]

    def turn(mark: Any) -> np.ndarray:
        axis = np.cross(mark.points[1] - mark.points[0], mark.points[2] - mark.points[1])
        return axis / np.linalg.norm(axis)

    universal = {"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0]}
    first, second = marks(universal, [0.4, 0.5])
    assert (first.label, second.label) == ("1", "2")
    assert np.allclose(turn(first), [1, 0, 0])
    assert np.allclose(turn(second), [0, np.cos(0.4), np.sin(0.4)])
    (slide,) = marks({"type": "prismatic", "axis": [0, -1, 0]}, [0.2])
    along = slide.points[1] - slide.points[0]
    assert np.allclose(along / np.linalg.norm(along), [0, -1, 0])
    phi, _ = marks({"type": "turn-slide", "axis": [0, 0, 1], "axis2": [1, 0, 0]}, [0.7, 0.4])
    assert np.allclose(phi.points[:, 2], 0)
    assert np.allclose(np.linalg.norm(phi.points, axis=1), 0.24)  # about the joint, not the child
    for name in [name for name in sys.modules if name.partition(".")[0] == "_site"]:
        del sys.modules[name]


def test_prose_of_examples_stays_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(DOCS))
    from _site import api_pages

    found = api_pages.examples(["By hand:", "", ">>> 1 + 1", "2", "", "More:", "", ">>> 3", "3"])
    assert found == "By hand:\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore:\n\n```pycon\n>>> 3\n3\n```"
    page = api_pages.documentation(lw.simulate)
    assert "\n\n**Parameters**\n\n" in page  # a heading of its own, not the end of a paragraph
    for name in [name for name in sys.modules if name.partition(".")[0] == "_site"]:
        del sys.modules[name]


def names_that_pages_use() -> dict[str, str]:
    """Functions and classes of Linkwright that a page names, by their full names."""
    found: dict[str, str] = {}
    for page in DOCS.rglob("*.md"):
        if {"extend", "generated"} & set(page.relative_to(DOCS).parts):
            continue
        text = page.read_text(encoding="utf-8")
        imports = re.findall(r"from (linkwright(?:\.\w+)*) import ((?:\w+, )*\w+)", text)
        used = [f"{module}.{name}" for module, names in imports for name in names.split(", ")]
        used += [
            f"linkwright{rest}" for rest in re.findall(r"\b(?:lw|linkwright)((?:\.\w+)+)", text)
        ]
        found |= dict.fromkeys(used, page.relative_to(DOCS).as_posix())
    return found


def test_every_name_that_pages_use_is_in_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(DOCS))
    from _site import api_pages

    listed = {id(item) for p in api_pages.packages() for _, item in api_pages.public_items(p)}
    missing = {}
    for name, page in names_that_pages_use().items():
        try:
            item = pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            continue  # the name of a file, or of a value
        if callable(item) and id(item) not in listed and hasattr(item, "__module__"):
            missing[name] = page
    assert not missing
    assert listed >= {id(item) for item in PUBLIC.values() if item is not ModelProperties}
    for name in [name for name in sys.modules if name.partition(".")[0] == "_site"]:
        del sys.modules[name]


def test_the_index_of_errors_has_messages_of_every_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also those that a function returns, a variable holds, or a condition chooses."""
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(DOCS))
    from _site import error_pages

    modules = error_pages.parse_modules(error_pages.SOURCE)
    index = error_pages.index_modules(modules.values())
    found = {m[:2] for tree in modules.values() for m in error_pages.messages_of(tree, index)}
    assert {
        ("MechanismError", "ground is the child"),
        ("MechanismError", "has neither of position and velocity"),
        ("ExpressionError", "'=' is missing in '…'"),
        ("FileError", "has a DTD or entities, which are refused"),
        ("UnsupportedError", "plans do not support constraints in time"),
    } <= found
    assert len(found) > 1150
    for name in [name for name in sys.modules if name.partition(".")[0] == "_site"]:
        del sys.modules[name]


def test_live_pages_are_framed_where_pages_ask_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks of pages name gallery mechanisms; frames lead up to the folder of live pages."""
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(str(DOCS))
    from _site import live_pages

    marks = {
        page.relative_to(DOCS).as_posix(): live_pages.MARK.findall(page.read_text(encoding="utf-8"))
        for page in DOCS.rglob("*.md")
        if "generated" not in page.parts
    }
    assert {"tutorials/linkage.md", "tutorials/robot.md"} <= {
        p for p, found in marks.items() if found
    }
    assert {name for found in marks.values() for name in found} <= set(lw.gallery())
    source = ["Text.\n\n<!-- live four-bar -->\n\nMore.\n"]
    live_pages.embed(None, "tutorials/linkage", source)
    assert 'src="../live/four-bar.html"' in source[0]
    assert "<!-- live" not in source[0]
    run = lw.simulate(lw.gallery("elbow"), 0.1, samples=5)
    text = live_pages.live_page("elbow", run)
    assert "Content-Security-Policy" in text
    assert len(text.encode()) < live_pages.MAX_BYTES
    for name in [name for name in sys.modules if name.partition(".")[0] == "_site"]:
        del sys.modules[name]
