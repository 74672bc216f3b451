"""Pictures are displayed where they are the value of a notebook's cell."""

from __future__ import annotations

import subprocess
import sys

import pytest

from linkwright import show

from . import runs

PNG = b"\x89PNG\r\n\x1a\n"


def test_figures_answer_the_display_protocol_of_notebooks() -> None:
    run = runs.elbow()
    for figure in (run.plot("q"), run.cyclograph(), show.graph(run.mechanism)):
        content, size = figure._repr_png_()
        assert content.startswith(PNG)
        pixels = int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
        assert pixels == pytest.approx((2 * size["width"], 2 * size["height"]), abs=2)


def test_a_cell_of_ipython_shows_the_picture() -> None:
    """In a process of its own, without pyplot: what a notebook gets, and what its last line is."""
    pytest.importorskip("IPython")
    script = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "figure = shell.run_cell(\"import linkwright as lw; lw.show.graph(lw.gallery('elbow'))\").result\n"
        "data, about = shell.display_formatter.format(figure)\n"
        "print(sorted(data), about['image/png']['width'], 'matplotlib.pyplot' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "['image/png', 'text/plain'] 482 False"
