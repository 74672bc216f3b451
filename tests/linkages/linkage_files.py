"""Mechanisms of the tests: the example files, and four-bars of any lengths."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import linkwright as lw

FOLDER = Path(__file__).parents[2] / "examples/linkages"
EXAMPLES = ("watt-six-bar", "stephenson-six-bar", "geared-five-bar", "quick-return")


@cache
def example(name: str) -> lw.Mechanism:
    """A mechanism of examples/linkages, or of the gallery."""
    path = FOLDER / f"{name}.toml"
    return lw.load(path) if path.is_file() else lw.gallery(name)


@cache
def analysis(
    name: str, input_: str | None = None, samples: int = 25
) -> lw.linkages.LinkageAnalysis:
    """An analysis that several tests use."""
    return lw.linkages.analyze_linkage(example(name), input_, samples=samples)
