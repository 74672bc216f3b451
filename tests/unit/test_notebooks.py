"""The tutorials as Jupyter notebooks: they are valid, and every cell runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs/tutorials").glob("*.md") if page.stem != "index")
SITE = runpy.run_path(str(ROOT / "docs/_site/pages.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_is_a_valid_notebook(page: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    path = tmp_path / f"{page.stem}.ipynb"
    SITE["write_notebook"](page, path)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    text = page.read_text(encoding="utf-8")
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert len(codes) == text.count("```python\n") >= 10
    assert all(code in text for code in codes)
    assert "```python" not in "".join(c.source for c in notebook.cells if c.cell_type != "code")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_cell_of_a_tutorial_runs(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("nbclient").NotebookClient
    notebook = SITE["read_notebook"](page)
    client(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [
        output
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 2
