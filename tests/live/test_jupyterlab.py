"""The live view in JupyterLab, in Chromium: slow, since JupyterLab gets an environment of its own.

JupyterLab and what it needs take 160 MB, so that they are not among the packages of the tests.
`LINKWRIGHT_JUPYTERLAB` names the folder of an environment that has jupyterlab and anywidget.
"""

from __future__ import annotations

import json
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

pytest.importorskip("anywidget", reason="left out: anywidget is not installed")
pytest.importorskip("ipykernel", reason="left out: ipykernel is not installed")
PROGRAM = found()
if PROGRAM is None:
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)

pytestmark = pytest.mark.slow
CELLS = (
    "import linkwright as lw\narm = lw.gallery('elbow')\narm",
    "view = lw.show.viewer(arm)\nview",
    "view.q = [0.5, -0.25]",
)
MAX_INSTALLATION_SECONDS = 600


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with JupyterLab."""
    named = os.environ.get("LINKWRIGHT_JUPYTERLAB")
    if named:
        return Path(named) / "bin/python"
    place = tmp_path_factory.mktemp("lab") / "venv"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    python = place / "bin/python"
    words = ["-m", "pip", "install", "-q", "jupyterlab", "anywidget"]
    try:
        subprocess.run([python, *words], check=True, timeout=MAX_INSTALLATION_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("left out: JupyterLab cannot be installed here")
    return python


def write_notebook(folder: Path) -> None:
    """A notebook of three cells, and a kernel that is the Python of this test."""
    kernel = folder / "kernels/own"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": command, "display_name": "own", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(about))
    cells = [
        {"cell_type": "code", "id": f"c{k}", "metadata": {}, "outputs": [], "source": text,
         "execution_count": None}
        for k, text in enumerate(CELLS)
    ]  # fmt: skip
    spec = {"kernelspec": {"name": "own", "display_name": "own", "language": "python"}}
    text = {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}
    (folder / "arm.ipynb").write_text(json.dumps(text))


@pytest.fixture
def address(laboratory: Path, tmp_path: Path) -> Iterator[str]:
    """A server of JupyterLab with the notebook."""
    write_notebook(tmp_path)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=t",
               "--LabApp.expose_app_in_browser=True", "--allow-root"]  # fmt: skip
    own = {"HOME": str(tmp_path), "JUPYTER_PATH": str(tmp_path), "JUPYTER_NO_CONFIG": "1"}
    process = subprocess.Popen(
        [laboratory, "-m", "jupyterlab", *options], cwd=tmp_path, env=os.environ | own,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.3)
        yield f"http://127.0.0.1:{port}/lab/tree/arm.ipynb?token=t"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(browser: Browser, condition: str, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if browser.evaluate(condition):
            return
        time.sleep(0.3)
    raise AssertionError(f"not seen: {what}")


def test_jupyterlab_shows_mechanisms_and_viewers(address: str, tmp_path: Path) -> None:
    """A mechanism as the value of a cell, a viewer, and coordinates that Python sets."""
    assert PROGRAM is not None
    browser = Browser(PROGRAM, tmp_path / "profile", graphics=True)
    try:
        browser.open(address, 1280, 1000)
        wait_for(browser, "document.querySelectorAll('.jp-CodeCell').length === 3", "the notebook")
        wait_for(
            browser,
            "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'",
            "the kernel",
        )
        browser.evaluate("jupyterapp.commands.execute('notebook:run-all-cells').then(() => 0)")
        wait_for(browser, f"{VIEWS}.length === 2 && {VIEWS}.every((n) => n >= 9)", "two live views")
        slider = "[...document.querySelectorAll('input[aria-label=\"q2, rad\"]')].at(-1)"
        wait_for(browser, f"Number({slider}.value) === -0.25", "the coordinates of Python")
    finally:
        browser.close()
