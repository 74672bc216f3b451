"""Live pages of the gallery: each is a file of its own in out/docs/live, which pages embed.

A frame keeps the content security policy of the live page apart from the scripts of the site, works
from the disk, and is loaded only when it is scrolled into view.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import linkwright as lw

from .pictures import is_current, source_digest

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- live (\S+) -->$", re.M)
"""Where a page shows the live page of a gallery mechanism."""
MAX_BYTES = 3_000_000
"""The largest live page without meshes."""


def write(folder: Path, runs: dict[str, lw.simulation.Run]) -> None:
    """Writes generated/site/live/NAME.html for runs of gallery mechanisms."""
    home = folder / "site/live"
    home.mkdir(parents=True, exist_ok=True)
    mark = folder / "live-source.txt"
    if not is_current(mark):
        for name, run in runs.items():
            text = live_page(name, run)
            if len(text.encode()) > MAX_BYTES:
                raise ValueError(f"the live page of {name} has {len(text.encode())} bytes")
            (home / f"{name}.html").write_text(text, encoding="utf-8")
        mark.write_text(source_digest(), encoding="utf-8")


def live_page(name: str, run: lw.simulation.Run) -> str:
    """The live page of a mechanism with its run and its equations."""
    mechanism = lw.gallery(name)
    given = run if len(run.t) > 1 and run.next is None else None
    scene = lw.live.scene(mechanism, given, equations=lw.live.equations_of(mechanism))
    return lw.live.page(scene, name)


def frame(name: str, depth: int) -> str:
    """The frame of a live page, on a page that lies `depth` folders below the first."""
    address = f"{'../' * depth}live/{name}.html"
    return (
        f"```{{raw}} html\n"
        f'<iframe class="live" src="{address}" title="{name}, live" loading="lazy"></iframe>\n'
        f'<p class="live-link"><a href="{address}">On a page of its own</a></p>\n```\n'
    )


def embed(app: Sphinx, name: str, source: list[str]) -> None:
    """Puts frames in place of the marks of a page."""
    source[0] = MARK.sub(lambda found: frame(found[1], name.count("/")), source[0])
