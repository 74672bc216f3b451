"""Pages as MyST-NB reads them, and as notebooks.

The pages in docs/ are plain Markdown, which GitHub shows with its colours: a block that begins with
```python runs at the build. Pages of `extend` change the package itself, so that their blocks run
in tests/unit/test_extend_pages.py instead; blocks of pages with `<!-- not executed -->` do not run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
FRONT = "file_format: mystnb\nkernelspec:\n  name: python3\n"
NOT_EXECUTED = "<!-- not executed -->"
BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.S | re.M)
LIVE = re.compile(r"^<!-- live (\S+) -->$", re.M)
PRINTED = re.compile(r"(^```python\n.*?^```\n)\n*```text\n.*?^```\n", re.S | re.M)
"""A block with the output that `make golden` writes below it: the build writes its own."""
UNLISTED = "<!-- unlisted pages -->"
INCLUDED = re.compile(r"<!-- include (\S+) -->\n")
ROOT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
}


def prepare_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Changes the text of a page to what MyST-NB executes."""
    text = INCLUDED.sub(lambda found: root_page(found[1]), source[0])
    text = title_links(text, (Path(app.srcdir) / name).parent)
    text = text.replace('<img src="pictures/', '<img src="/generated/pictures/')
    if UNLISTED in text:
        text = text.replace(UNLISTED, unlisted_toctree(Path(app.srcdir), text))
    if name.startswith("tutorials/") and name != "tutorials/index":
        text = re.sub(r"^# .+\n", rf"\g<0>\n{notebook_link(name)}", text, count=1, flags=re.M)
    if is_executed(name, text):
        text = BLOCK.sub(r"```{code-cell} ipython3\n\1```\n", PRINTED.sub(r"\1", text))
        own = text.removeprefix("---\n") if text.startswith("---\n") else f"---\n{text}"
        text = f"---\n{FRONT}{own}"
    source[0] = text


def notebook_link(name: str) -> str:
    """The link to a tutorial's notebook, which `write_notebooks` puts beside the pages."""
    address = f"../notebooks/{name.partition('/')[2]}.ipynb"
    return (
        f"```{{raw}} html\n"
        f'<p class="notebook-link"><a href="{address}" download>Download this page as a Jupyter '
        "notebook</a></p>\n```\n"
    )


def title_links(text: str, folder: Path) -> str:
    """The text with titles of pages in links whose label is the name of a file."""

    def title(found: re.Match[str]) -> str:
        page = folder / found[1]
        heading = page.is_file() and re.search(r"^# (.+)$", page.read_text("utf-8"), re.M)
        return f"[{heading[1]}]({found[1]}{found[2] or ''})" if heading else found[0]

    return re.sub(r"\[[\w/.-]+\.md\]\(([^)#\s]+\.md)(#[^)\s]*)?\)", title, text)


def unlisted_toctree(docs: Path, text: str) -> str:
    """A table of contents of the guides that no other one lists, so that none is lost."""
    listed = text + "".join(
        (docs / name).read_text(encoding="utf-8")
        for name in ("index.md", "development.md", "gallery/index.md")
        if (docs / name).exists()
    )
    pages = [*sorted((docs / "how-to").glob("*.md")), *sorted(docs.glob("*.md"))]
    found = [
        page.relative_to(docs).with_suffix("").as_posix()
        for page in pages
        if not re.search(rf"(^|<)(\.\./)?{re.escape(page.stem)}>?$", listed, re.M)
        and page.relative_to(docs).as_posix() not in ("index.md", "how-to/index.md")
    ]
    if not found:
        return ""
    lines = "\n".join(f"/{name}" for name in found)
    return f"```{{toctree}}\n:caption: More\n:maxdepth: 1\n\n{lines}\n```\n"


def is_executed(name: str, text: str) -> bool:
    """Whether the Python blocks of a page run at the build."""
    return (
        not name.startswith(("extend/", "generated/"))
        and NOT_EXECUTED not in text
        and bool(BLOCK.search(text))
    )


def root_page(name: str) -> str:
    """A page of the repository's root, with links as docs/ has them."""
    text = (ROOT / name).read_text(encoding="utf-8")

    def relink(found: re.Match[str]) -> str:
        link = found[1]
        if link in ROOT_PAGES:
            return f"]({ROOT_PAGES[link]})"
        if link.startswith("docs/"):
            return f"]({link.removeprefix('docs/')})"
        if "://" in link or link.startswith("#"):
            return found[0]
        return f"](../{link})"

    return re.sub(r"\]\(([^)\s]+)\)", relink, text)


def read_notebook(page: Path) -> NotebookNode:
    """A page as a notebook: its Python blocks are cells, everything else is text."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    text = PRINTED.sub(r"\1", page.read_text(encoding="utf-8"))
    cells = []
    for k, part in enumerate(BLOCK.split(text)):
        if part.strip():
            make = new_code_cell if k % 2 else new_markdown_cell
            cells.append(make(part.strip() if k % 2 else plain_markdown(part)))
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def plain_markdown(text: str) -> str:
    """Text without the directives of MyST, which Jupyter does not know."""
    text = re.sub(r"^:::+\{?.*\n", "", text, flags=re.M)
    text = LIVE.sub(
        r'In a notebook, a cell with `lw.gallery("\1")` shows it (extra `notebook`).', text
    )
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\)", r"\1", text).strip()


def write_notebook(page: Path, path: Path) -> None:
    """Writes a page as an .ipynb file without output."""
    import nbformat

    nbformat.write(read_notebook(page), path)
