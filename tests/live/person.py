"""Somebody in front of a live page in Chromium: mouse, keyboard, typed values."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import linkwright as lw
from tests.report.browser import PATIENCE, Browser

VIEWS = """(() => {
  const found = [], walk = (root) => root.querySelectorAll("*").forEach((one) => {
    if (one.matches(".lw-live")) found.push(one.querySelectorAll(".lw-slider").length);
    if (one.shadowRoot) walk(one.shadowRoot);
  });
  walk(document);
  return found;
})()"""
"""The number of sliders of each view, also inside shadow roots."""
VIEWER = "document.querySelector('.lw-live').viewer"


class Person:
    """Somebody in front of a page."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder

    def read(self, scene: lw.live.LiveScene, width: int = 1280, title: str = "page") -> None:
        """Open the page of a scene, and wait until its mechanism runs."""
        path = self.folder / f"{title}.html"
        path.write_text(lw.live.page(scene), encoding="utf-8")
        self.browser.open(path, width, 1000)
        self.browser.evaluate(f"{VIEWER}.ready.then(() => new Promise(requestAnimationFrame))")

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.browser.evaluate(f"JSON.stringify({VIEWER}.state)"))
        return found

    def wait(self, condition: str, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.browser.evaluate(condition):
                return
            time.sleep(0.05)
        raise AssertionError(f"not seen: {what}")

    def place(self, selector: str, share: tuple[float, float] = (0.5, 0.5)) -> tuple[float, float]:
        box = self.browser.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"
        )
        return box[0] + share[0] * box[2], box[1] + share[1] * box[3]

    def mouse(self, kind: str, x: float, y: float, buttons: int = 0) -> None:
        self.browser.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, buttons=buttons, clickCount=1,
            button="left" if kind != "mouseMoved" or buttons else "none",
        )  # fmt: skip

    def drag(self, path: list[tuple[float, float]]) -> None:
        self.mouse("mousePressed", *path[0], buttons=1)
        for point in path[1:]:
            self.mouse("mouseMoved", *point, buttons=1)
        self.mouse("mouseReleased", *path[-1])

    def click(self, selector: str) -> None:
        x, y = self.place(selector)
        self.drag([(x, y)])

    def key(self, key: str, times: int = 1) -> None:
        text = {"text": key} if len(key) == 1 else {}
        for _ in range(times):
            self.browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type_value(self, label: str, text: str) -> None:
        """Type into the field of a slider, then press Enter."""
        field = f"input[aria-label={json.dumps(label)}]"
        self.click(field)
        self.browser.evaluate(f"document.querySelector({json.dumps(field)}).select()")
        self.browser.call("Input.insertText", text=text)
        self.browser.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key="Enter",
            text="\r",
            windowsVirtualKeyCode=13,
        )

    def picture(self, selector: str = ".lw-ink") -> str:
        return str(self.browser.evaluate(f"document.querySelector('{selector}').toDataURL()"))
