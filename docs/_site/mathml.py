"""Formulas as MathML: written at the build, shown by browsers without any script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util import logging

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


def to_mathml(latex: str, display: str) -> str:
    """LaTeX as MathML; a formula that cannot be read is a warning, and so an error of the build."""
    text = re.sub(r"\\label\{[^}]*\}", "", latex).strip()
    text = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", text)  # known by this name only
    try:
        found = convert(text, display=display)
    except Exception as error:
        LOGGER.warning("formula '%s': %s", latex, error)
        return f"<code>{latex}</code>"
    return found


def visit_inline(self: HTML5Translator, node: Element) -> None:
    """An inline formula."""
    self.body.append(to_mathml(node.astext(), "inline"))
    raise SkipNode


def visit_block(self: HTML5Translator, node: Element) -> None:
    """A formula on its own line."""
    self.body.append(f'<div class="math-block">{to_mathml(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Registers the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
