"""The live view in notebooks: traits that check what they are given, and static displays."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import linkwright as lw
from linkwright.errors import ArgumentError, NameNotFoundError


def test_traits_are_checked_and_change_the_mechanism() -> None:
    view = lw.show.viewer(lw.gallery("elbow"))
    view.q = [0.3, 0.5]
    assert view.q == [0.3, 0.5]
    view.parameters = {"m2": 2.0}
    assert view.parameters["m1"] == 1.0
    assert float(lw.derive(view.mechanism).parameters["m2"]) == 2.0
    view.picked = "link2"
    with pytest.raises(ArgumentError, match="elbow has 2"):
        view.q = [1.0]
    with pytest.raises(NameNotFoundError, match="no parameter 'mm'"):
        view.parameters = {"mm": 1.0}
    with pytest.raises(NameNotFoundError, match="unknown body 'nobody'"):
        view.picked = "nobody"


def test_a_cell_has_the_widget_and_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = lw.gallery("elbow")
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert arm._repr_mimebundle_() == {"text/plain": repr(arm)}  # in a terminal
    kernel = ModuleType("ipykernel")
    kernel.version_info = (7, 0, 0)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ipykernel", kernel)
    found = arm._repr_mimebundle_()
    assert isinstance(found, dict)
    assert "application/vnd.jupyter.widget-view+json" in found
    assert str(found["text/html"]).startswith('<img alt="elbow"')


def test_the_block_of_the_page_of_notebooks_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The site is built without widgets: its page is not executed there."""
    page = Path(__file__).parents[2] / "docs/how-to/notebooks.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    exec(compile(block, page.name, "exec"), {})
    assert capsys.readouterr().out == "[0.3, 0.5] 2.0\n"
