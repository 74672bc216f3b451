"""Chromium, spoken to by its DevTools protocol through a pipe."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PLACED = (
    "import fcntl, os, sys\n"
    "there = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]\n"
    "os.dup2(there[0], 3), os.dup2(there[1], 4), os.execv(sys.argv[3], sys.argv[3:])"
)
"""Puts the pipe where the browser looks for it, and becomes the browser."""
PATIENCE = 120.0
"""Seconds until something counts as not happening, on a busy machine."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found() -> str | None:
    """The program, if there is one; `LINKWRIGHT_BROWSER` names another."""
    return shutil.which(os.environ.get("LINKWRIGHT_BROWSER", "")) or next(
        filter(None, map(shutil.which, NAMES)), None
    )


def font_configuration(folder: Path, installed: bool) -> Path:
    """A configuration of fontconfig with all fonts that are installed, or with none but one that
    has no letters: without any font Chromium shows no text at all, not even in a page's own."""
    from matplotlib import get_data_path

    seed = folder / "fonts"
    seed.mkdir(parents=True)
    symbols = "STIXSizFiveSymReg.ttf"
    shutil.copy(Path(get_data_path()) / "fonts/ttf" / symbols, seed / symbols)
    usual = os.environ.get("FONTCONFIG_FILE", "/etc/fonts/fonts.conf")
    rest = f'<include ignore_missing="yes">{usual}</include>' if installed else ""
    path = folder / "fonts.conf"
    path.write_text(
        f'<?xml version="1.0"?>\n<fontconfig><dir>{seed}</dir><cachedir>{folder}/cache</cachedir>'
        f"{rest}</fontconfig>\n"
    )
    return path


class Browser:
    """One page of a browser: what it asked for, what went wrong, what a script in it says."""

    def __init__(
        self,
        program: str,
        folder: Path,
        *,
        fonts: bool = True,
        graphics: bool = False,
        flags: tuple[str, ...] = (),
    ) -> None:
        read_theirs, write_ours = os.pipe()
        read_ours, write_theirs = os.pipe()
        drawing = (
            ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
            if graphics
            else ("--disable-gpu",)
        )
        command = [
            sys.executable, "-c", _PLACED, str(read_theirs), str(write_theirs), program, "--headless",
            "--no-sandbox", *drawing, *flags, "--disable-dev-shm-usage", "--no-first-run",
            f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, pass_fds=(read_theirs, write_theirs), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"FONTCONFIG_FILE": str(font_configuration(folder, fonts))},
        )  # fmt: skip
        os.close(read_theirs)
        os.close(write_theirs)
        self.write, self.read = os.fdopen(write_ours, "wb"), os.fdopen(read_ours, "rb")
        self.count, self.session, self.rest = 0, "", b""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for room in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{room}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.write.write(json.dumps(message).encode() + b"\0")
        self.write.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]  # type: ignore[no-any-return]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read], [], [], PATIENCE)
            assert ready, f"the browser is silent for {PATIENCE:g} s"
            more = os.read(self.read.fileno(), 1 << 20)
            assert more, "the browser ended"
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)  # type: ignore[no-any-return]

    def evaluate(self, script: str) -> Any:
        """What a JavaScript expression is in the page; promises are awaited."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
            userGesture=True,
        )  # fmt: skip
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, page: Path | str, width: int, height: int = 900) -> None:
        """Open a file, or an address, and wait until it is loaded."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600,
        )  # fmt: skip
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        for _ in range(300):
            if self.evaluate("document.readyState") == "complete":
                self.evaluate("document.fonts.ready.then(() => 0)")
                return
            time.sleep(0.1)
        raise AssertionError("the page does not load")

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, and exceptions."""
        found = []
        for event in self.events:
            inner, method = event.get("params", {}), event.get("method")
            if method == "Runtime.exceptionThrown":
                found.append(str(inner["exceptionDetails"]))
            if method == "Log.entryAdded" and inner["entry"]["level"] in ("error", "warning"):
                found.append(inner["entry"]["text"])
            if method == "Runtime.consoleAPICalled" and inner["type"] in ("error", "warning"):
                found.append(str(inner["args"]))
        return found

    def requests(self) -> list[str]:
        """Addresses that the page asked for; what it has in itself is none."""
        asked = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        found = [event["params"]["request"]["url"] for event in asked]
        return [address for address in found if not address.startswith("data:")]

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self.write.close()
        self.read.close()
