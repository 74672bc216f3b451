"""Sentences with symbols in Unicode as LaTeX, for pdflatex too."""

from __future__ import annotations

import re
import unicodedata

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "θ": "theta",
    "λ": "lambda", "π": "pi", "τ": "tau", "φ": "varphi", "ψ": "psi", "ω": "omega",
    "Φ": "Phi", "Σ": "sum", "Ω": "Omega", "∂": "partial", "•": "bullet", "×": "times",
}  # fmt: skip
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁽⁾ⁱᵀ", "0123456789-()iT", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_ACCENTS = {"\u0303": "tilde", "\u0307": "dot", "\u0308": "ddot"}
_SYMBOLS = re.escape("".join([*_GREEK, *_RAISED, *_LOWERED, *_ACCENTS, "−"]))
_WORD = re.compile(rf"[^\s,;:.()]*(?:[{_SYMBOLS}]|\b[A-Za-z]_\w)[^\s,;:.()]*")


_PLAIN_WORDS = re.compile(r"(?<![\\{\w])[a-z]{2,}(?: [a-z]{2,})*(?!\w)")
"""Words of plain English in a formula, such as "with the velocities"."""


def latex_formula(text: str) -> str:
    """Return a law in Unicode, such as "J q̈ + γ = 0", as a formula of LaTeX."""
    made = _math(_with_separate_accents(text).replace(",  ", r", \quad "))
    made = re.sub(r"_(\w{2,})", r"_{\1}", made)
    return _PLAIN_WORDS.sub(lambda found: rf"\text{{ {found[0]} }}", made)


def _with_separate_accents(text: str) -> str:
    """The text with letters under accents as two characters, as far as formulas have them."""
    return "".join(unicodedata.normalize("NFD", c) if c in "ẋẏżṗẍḟȧėṀẆÑ" else c for c in text)


def latex_prose(text: str) -> str:
    """Return a sentence as LaTeX: words with mathematical symbols in math mode, others escaped."""
    text = _with_separate_accents(text)
    parts, end = [], 0
    for found in _WORD.finditer(text):
        parts += [_escape(text[end : found.start()]), f"${_math(found[0])}$"]
        end = found.end()
    return "".join([*parts, _escape(text[end:])])


def _escape(text: str) -> str:
    """Plain words with LaTeX's own characters escaped."""
    return re.sub(r"([_&%#$])", r"\\\1", text)


def _math(word: str) -> str:
    """A word of symbols as a formula."""
    word = re.sub(r"(.)([\u0303\u0307\u0308])", lambda m: rf"\{_ACCENTS[m[2]]}{{{m[1]}}}", word)
    for table, mark in ((_RAISED, "^"), (_LOWERED, "_")):
        pieces = re.split(f"([{re.escape(''.join(table))}]+)", word)
        pieces[1::2] = [f"{mark}{{{''.join(table[c] for c in piece)}}}" for piece in pieces[1::2]]
        word = "".join(pieces)
    word = "".join(rf"\{_GREEK[c]} " if c in _GREEK else c for c in word)
    return re.sub(r" (?=[}_^])", "", word.replace("−", "-")).strip()
