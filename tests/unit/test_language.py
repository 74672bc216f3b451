"""The linter of phrases: it finds them, leaves good English alone, and the repository is clean."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools/check_language.py"
odd_phrases = runpy.run_path(str(TOOL))["odd_phrases"]


@pytest.mark.parametrize(
    "text",
    [
        "A wheel is no joint.",
        "Wheels are\nno joints.",
        "There is no loop.",
        "The error is no more than 1e-9.",
        "SI, unless said otherwise",
        "That page tells all of it.",
        "the figures of today",
        "They arrive on different roads.",
        "It is dropped in silence.",
        "Meshes come along with it.",
        "They close by themselves.",
        "The page is built anew.",
        "Go there by way\nof another target.",
        "The pin rubs nowhere.",
        "Dead centres bar the way.",
        "Inputs are given by place.",
        "two lists of one length",
        "give as many of each",
        "The worker is told the state.",
    ],
)
def test_odd_phrases_are_found(text: str) -> None:
    assert len(odd_phrases(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It is no longer used.",
        "No loop exists.",
        "The error is at most 1e-9.",
        "It has no mass.",
        "This is not a joint.",
        "The two signs are told apart.",
    ],
)
def test_good_english_is_left_alone(text: str) -> None:
    assert not odd_phrases(text)


def test_the_repository_is_clean() -> None:
    found = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stdout


def test_a_file_with_an_odd_phrase_is_reported(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("One.\nA rod is no wheel.\n", encoding="utf-8")
    found = subprocess.run([sys.executable, str(TOOL), str(page)], capture_output=True, text=True)
    assert found.returncode == 1
    assert f"{page}:2: 'is no'" in found.stdout
