"""The live view in marimo, in Chromium; left out where marimo is not installed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.person import VIEWS
from tests.report.browser import PATIENCE, Browser, found

pytest.importorskip("marimo", reason="left out: marimo is not installed")
pytest.importorskip("anywidget", reason="left out: anywidget is not installed")
PROGRAM = found()
if PROGRAM is None:
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)

pytestmark = pytest.mark.slow
NOTEBOOK = """
import marimo
app = marimo.App()

@app.cell
def _():
    import linkwright as lw
    arm = lw.gallery("elbow")
    arm
    return arm, lw

@app.cell
def _(lw, arm):
    lw.show.viewer(arm)
    return
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A marimo server that runs a notebook of two views."""
    (tmp_path / "arm.py").write_text(NOTEBOOK, encoding="utf-8")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = ["-m", "marimo", "--yes", "run", "arm.py", "--headless", "--no-token"]
    process = subprocess.Popen(
        [sys.executable, *command, "--port", str(port)], cwd=tmp_path, env=dict(os.environ),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_marimo_shows_mechanisms_and_viewers(address: str, tmp_path: Path) -> None:
    """A mechanism as the value of a cell, and a viewer: both live, with their sliders."""
    assert PROGRAM is not None
    browser = Browser(PROGRAM, tmp_path / "profile", graphics=True)
    try:
        browser.open(address, 1280, 1000)
        end, views = time.monotonic() + PATIENCE, []
        while time.monotonic() < end:
            views = browser.evaluate(VIEWS)
            if len(views) == 2 and all(views):
                break
            time.sleep(0.3)
        assert len(views) == 2
        assert min(views) >= 9  # q1, q2 and seven parameters
        assert browser.complaints() == []
    finally:
        browser.close()
