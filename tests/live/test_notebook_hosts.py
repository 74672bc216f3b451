"""The live view in JupyterLab and in marimo, in Chromium: slow, since each gets an environment of its own."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.notebook_servers import free_port, install_program, running_server
from tests.live.person import VIEWS
from tests.report.browser import PATIENCE, Browser, found

pytest.importorskip("anywidget", reason="left out: anywidget is not installed")
pytest.importorskip("ipykernel", reason="left out: ipykernel is not installed")
PROGRAM = found()
if PROGRAM is None:
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)

pytestmark = pytest.mark.slow
JUPYTERLAB_CELLS = (
    "import linkwright as lw\narm = lw.gallery('elbow')\narm",
    "view = lw.show.viewer(arm)\nview",
    "view.q = [0.5, -0.25]",
)
MARIMO_NOTEBOOK = """
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
TWO_LIVE_VIEWS = f"{VIEWS}.length === 2 && {VIEWS}.every((n) => n >= 9)"
"""Two views with the sliders of q1, q2 and seven parameters."""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    assert PROGRAM is not None
    browser = Browser(PROGRAM, tmp_path / "profile", graphics=True)
    yield browser
    browser.close()


@pytest.fixture
def jupyterlab_address(tmp_path: Path) -> Iterator[str]:
    """A server of JupyterLab with the notebook."""
    python = install_program(tmp_path / "venv", "jupyterlab")
    write_notebook(tmp_path, python)
    port = free_port()
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=t",
               "--LabApp.expose_app_in_browser=True", "--allow-root"]  # fmt: skip
    paths = os.pathsep.join([str(tmp_path), f"{sys.prefix}/share/jupyter"])
    own = {"HOME": str(tmp_path), "JUPYTER_PATH": paths, "JUPYTER_NO_CONFIG": "1"}
    with running_server([python, "-m", "jupyterlab", *options], port, tmp_path, own):
        yield f"http://127.0.0.1:{port}/lab/tree/arm.ipynb?token=t"


@pytest.fixture
def marimo_address(tmp_path: Path) -> Iterator[str]:
    """A marimo server that runs a notebook of two views."""
    python = install_program(tmp_path / "venv", "marimo")
    (tmp_path / "arm.py").write_text(MARIMO_NOTEBOOK, encoding="utf-8")
    port = free_port()
    options = ["--yes", "run", "arm.py", "--headless", "--no-token", "--port", str(port)]
    with running_server([python, "-m", "marimo", *options], port, tmp_path, {}):
        yield f"http://127.0.0.1:{port}/"


def write_notebook(folder: Path, python: Path) -> None:
    """A Jupyter notebook, and a kernel that runs a given Python."""
    kernel = folder / "kernels/own"
    kernel.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": command, "display_name": "own", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(about))
    cells = [
        {"cell_type": "code", "id": f"c{k}", "metadata": {}, "outputs": [], "source": text,
         "execution_count": None}
        for k, text in enumerate(JUPYTERLAB_CELLS)
    ]  # fmt: skip
    spec = {"kernelspec": {"name": "own", "display_name": "own", "language": "python"}}
    text = {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}
    (folder / "arm.ipynb").write_text(json.dumps(text))


def wait_for(browser: Browser, condition: str, what: str) -> None:
    """Wait until a condition in JavaScript holds."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if browser.evaluate(condition):
            return
        time.sleep(0.3)
    raise AssertionError(f"not seen: {what}")


def test_jupyterlab_shows_mechanisms_and_viewers(jupyterlab_address: str, browser: Browser) -> None:
    """A mechanism as the value of a cell, a viewer, and coordinates that Python sets."""
    browser.open(jupyterlab_address, 1280, 1000)
    wait_for(browser, "document.querySelectorAll('.jp-CodeCell').length === 3", "the notebook")
    wait_for(
        browser,
        "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'",
        "the kernel",
    )
    browser.evaluate("jupyterapp.commands.execute('notebook:run-all-cells').then(() => 0)")
    wait_for(browser, TWO_LIVE_VIEWS, "two live views")
    slider = "[...document.querySelectorAll('input[aria-label=\"q2, degrees\"]')].at(-1)"
    wait_for(browser, f"Number({slider}.value) === -0.25", "the coordinates of Python")


def test_marimo_shows_mechanisms_and_viewers(marimo_address: str, browser: Browser) -> None:
    """A mechanism as the value of a cell, and a viewer: both live, with their sliders."""
    browser.open(marimo_address, 1280, 1000)
    wait_for(browser, TWO_LIVE_VIEWS, "two live views")
    assert [c for c in browser.complaints() if "preloaded" not in c] == []  # marimo's own pictures
