"""`make demo`: mechanisms on pages that can be mailed, in out/.

The triple pendulum of Bayseç and Kapucu (1996), and a six-axis arm: derived and written down,
checked, moved, and the formulations compared. What is not right ends the demo with an error.
Three mechanisms get live pages: to be dragged, changed and run in the browser.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import linkwright as lw
from linkwright.report import page

OUT = Path("out")
MECHANISMS = ("triple-pendulum", "six-axis")
LIVE = ("four-bar", "stewart", "quadruped")
"""Names in the gallery."""


def main(out: Path = OUT, budget: float = 20.0) -> None:
    out.mkdir(exist_ok=True)
    print(lw.derive(lw.gallery("elbow")).closed_form("M"), "\n")
    for name in MECHANISMS:
        begin = time.perf_counter()
        text = page(lw.gallery(name), name, budget=budget)
        path = out / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        print(f"{path.resolve()}  ({len(text) // 1000} kB, {time.perf_counter() - begin:.0f} s)")
        if "checks failed" in text:
            sys.exit(f"{name}: a check failed, see the page")
    for name in LIVE:
        path = out / f"live-{name}.html"
        text = lw.live.page(lw.live.scene(lw.gallery(name)), name)
        path.write_text(text, encoding="utf-8")
        print(f"{path.resolve()}  ({len(text) // 1000} kB)")
    print("Open them in a browser; they need no network and no other file.")


if __name__ == "__main__":
    main()
