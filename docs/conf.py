"""The web site of the documentation: `make docs` builds it in out/docs.

Sphinx with MyST-NB and the theme of PyData, as in NumPy, SciPy and most of scientific Python: pages
are Markdown, their Python runs at the build and its output is shown, and everything (search, fonts,
formulas, films) works from the disk without a network. MkDocs Material was the alternative: it
does not execute notebooks itself, and its formulas and search need a server or another network.

The modules in `_site` write what the pages cannot hold by hand: the reference of all public names,
of commands and of errors, the gallery, and the pictures.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]
os.environ["IPYTHONDIR"] = str(HERE / "generated" / "ipython")
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE.parent / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
).rstrip(os.pathsep)

import linkwright  # noqa: E402

project = "Linkwright"
author = "The Linkwright authors"
copyright = "The Linkwright authors, MIT licence"  # noqa: A001
version = release = linkwright.__version__

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton", "_site"]
exclude_patterns = [
    "generated/commands.md",
    "generated/errors.md",
    "generated/gallery-cards.md",
    "generated/kinds.md",
    "generated/site",
    "generated/ipython",
    "_site",
    "**/.ipynb_checkpoints",
    "style-examples",
]
root_doc = "index"
suppress_warnings = ["myst.header"]
"""Headings that skip a level."""
language = "en"

myst_enable_extensions = [
    "dollarmath",
    "amsmath",
    "html_image",
    "colon_fence",
    "deflist",
    "attrs_inline",
]
myst_heading_anchors = 4
myst_links_external_new_tab = False
nb_execution_mode = os.environ.get("LINKWRIGHT_DOCS_EXECUTE", "force")
nb_execution_raise_on_error = "LINKWRIGHT_DOCS_LENIENT" not in os.environ
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
nb_render_text_lexer = "text"
nb_mime_priority_overrides = [
    ("html", "image/svg+xml", 5),
    ("html", "text/latex", 8),
]
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = "Linkwright"
html_static_path = ["_static", "../src/linkwright/forms/fonts"]
html_extra_path = ["generated/site"]
(HERE / html_extra_path[0]).mkdir(parents=True, exist_ok=True)
html_css_files = ["linkwright.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
toc_object_entries_show_parents = "hide"
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "Linkwright",
        "image_light": "_static/favicon.svg",
        "image_dark": "_static/favicon.svg",
    },
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "coming-from": [], "changelog": []}
html_context = {"default_mode": "auto"}
