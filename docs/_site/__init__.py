"""What the site needs besides Sphinx and MyST-NB: see docs/conf.py."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from pygments.lexers.special import TextLexer

from . import (
    api_pages,
    command_pages,
    error_pages,
    file_format_figures,
    gallery_pages,
    live_pages,
    mathml,
    pages,
    pictures,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx

IPYTHON_SETTINGS = """c = get_config()
c.IPKernelApp.log_level = 40
c.InteractiveShell.ast_node_interactivity = "all"
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": None}
"""
STARTUP = """import sys
sys.modules["linkwright.live.notebook_widget"] = None
"""
"""Without widgets, which need a kernel and scripts of the network: results show static pictures."""


def write_generated_pages(app: Sphinx) -> None:
    """Writes docs/generated: pages that come from the package, and pictures."""
    folder = Path(app.srcdir) / "generated"
    (Path(app.outdir) / "_static").mkdir(
        parents=True, exist_ok=True
    )  # the theme copies a logo early
    profile = folder / "ipython/profile_default"
    (profile / "startup").mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(IPYTHON_SETTINGS, encoding="utf-8")
    (profile / "startup/00-import.py").write_text(STARTUP, encoding="utf-8")
    for writer in (
        api_pages,
        command_pages,
        error_pages,
        pictures,
        file_format_figures,
        gallery_pages,
    ):
        writer.write(folder)


def name_output_pictures(app: Sphinx, page: nodes.document) -> None:
    """Describes pictures of cells, for readers who do not see them, by the line that draws them."""
    for cell in page.findall(nodes.container):
        if "cell" in cell["classes"]:
            code = next(iter(cell.findall(nodes.literal_block)), None)
            lines = code.astext().split("\n") if code else [""]
            for image in cell.findall(nodes.image):
                image.setdefault("alt", f"figure of {lines[-1].strip()}")


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Puts the tutorials beside the site as notebooks."""
    if exception is None and app.builder.name == "html":
        folder = Path(app.outdir) / "notebooks"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for page in sorted((Path(app.srcdir) / "tutorials").glob("*.md")):
            if page.stem != "index":
                pages.write_notebook(page, folder / f"{page.stem}.ipynb")


def setup(app: Sphinx) -> dict[str, object]:
    """Registers all parts."""
    app.connect("builder-inited", write_generated_pages)
    app.connect("source-read", live_pages.embed)
    app.connect("source-read", pages.prepare_page)
    app.connect("doctree-read", name_output_pictures)
    app.connect("build-finished", write_notebooks)
    app.add_lexer("csv", TextLexer)
    mathml.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
