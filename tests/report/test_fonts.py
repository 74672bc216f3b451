"""The fonts that pages carry: small, free, with what formulas need."""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from pathlib import Path

import linkwright
from linkwright.forms.page_fonts import formula_font_css, text_font_css
from tests.commands import ok

FOLDER = Path(linkwright.__file__).parent / "forms" / "fonts"
MATH, GLYF, CMAP = 31, 10, 0
"""Indices of tables in the list of the WOFF2 specification, 4.1."""


def tables_of(font: bytes) -> set[int]:
    """Which of the known tables a WOFF2 file has, from its directory (WOFF2, 4.1)."""
    signature, _, _, count = struct.unpack(">4sIIH", font[:14])
    assert signature == b"wOF2"
    found, place = set(), 48
    for _ in range(count):
        flags, place = font[place], place + 1
        index, version = flags & 63, flags >> 6
        place += 4 if index == 63 else 0
        is_transformed = version != 3 if index in (10, 11) else version != 0
        for _ in range(2 if is_transformed else 1):
            while font[place] & 128:
                place += 1
            place += 1
        found.add(index)
    return found


def test_fonts_are_small_and_have_their_licence() -> None:
    fonts = sorted(FOLDER.glob("*.woff2"))
    assert [font.name for font in fonts] == ["math.woff2", "text-bold.woff2", "text.woff2"]
    assert sum(font.stat().st_size for font in fonts) < 150_000
    licence = (FOLDER / "OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    for font in fonts:
        assert font.name in licence
        assert font.name in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_embedded_font_for_formulas_has_a_math_table() -> None:
    content = re.search(r"base64,([^)]+)\)", formula_font_css())
    assert content is not None
    assert {MATH, GLYF, CMAP} <= tables_of(b64decode(content[1]))


def test_text_is_embedded_in_two_weights() -> None:
    assert re.findall(r"font-weight: (\d+)", text_font_css()) == ["400", "700"]


def test_derived_equations_as_html_carry_the_math_font() -> None:
    page = ok("derive", "elbow", "--as", "html")
    assert "data:font/woff2;base64," in page
    assert '"STIX Two Math", "Cambria Math", "Latin Modern Math"' in page
