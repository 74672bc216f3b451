"""LaTeX compiles exported documents, and their rows fit the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import linkwright as lw

MARGIN = 56.9
"""The margin of a page, 20 mm, in points: what reaches farther is cut off."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("elbow", "inverse_dynamics"),
        ("four-bar", "forward_dynamics"),
        ("six-axis", "inverse_dynamics"),
        ("stewart", "mass_matrix"),
        ("cart-pole", "regressor"),
    ],
)
def test_latex_compiles_documents(name: str, quantity: str, tmp_path: Path) -> None:
    compiler = shutil.which("pdflatex")
    if compiler is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-base)")
    lw.export(lw.gallery(name), to="latex", quantities=[quantity]).save(tmp_path / "document.tex")
    done = subprocess.run(
        [compiler, "-interaction=nonstopmode", "-halt-on-error", "document.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "document.pdf").stat().st_size > 10_000
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", done.stdout)
    assert all(float(width) < MARGIN for width in wide), wide
