"""Fonts that are embedded in pages, so that formulas look the same on every machine."""

from __future__ import annotations

import base64
from functools import cache
from importlib.resources import files

MATH_FAMILIES = (
    "Linkwright Math",
    "STIX Two Math",
    "Cambria Math",
    "Latin Modern Math",
    "Libertinus Math",
    "XITS Math",
    "STIX Math",
    "DejaVu Math TeX Gyre",
    "TeX Gyre Termes Math",
    "Noto Sans Math",
    "Asana Math",
)
"""The embedded font first, then others for characters that it lacks."""


@cache
def formula_font_css() -> str:
    """CSS that embeds the font for formulas and sets <math> in it."""
    families = ", ".join(f'"{name}"' for name in MATH_FAMILIES)
    face = _formula_font_face_css("Linkwright Math", "math", 400)
    return f"{face}math {{ font-family: {families}, math; }}\n"


@cache
def text_font_css() -> str:
    """CSS that embeds the font for text, as the family "Linkwright Text"."""
    return _formula_font_face_css("Linkwright Text", "text", 400) + _formula_font_face_css(
        "Linkwright Text", "text-bold", 700
    )


def _formula_font_face_css(family: str, file: str, weight: int) -> str:
    """The @font-face rule of an embedded font file."""
    content = (files(__package__) / "fonts" / f"{file}.woff2").read_bytes()
    source = f"url(data:font/woff2;base64,{base64.b64encode(content).decode()})"
    return (
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; '
        f'src: {source} format("woff2"); }}\n'
    )
