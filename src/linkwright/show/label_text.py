"""Labels for matplotlib: theta1 becomes θ with an index, and its rate has a dot."""

from __future__ import annotations

import re

_GREEK_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "phi chi psi omega Gamma Delta Theta Lambda Pi Sigma Phi Psi Omega"
)
_GREEK_NAMES = frozenset(_GREEK_LETTERS.split(" "))
_SYMBOL_PATTERN = re.compile(r"([A-Za-z]+?)_?(\d+|[A-Z])?")


def symbol_label(name: str, dots: int = 0) -> str:
    """The label of a name: short names as symbols, others as written; `dots` counts time
    derivatives."""
    head, index = _label_letter_and_index(name)
    if not head:
        return (
            indexed_label({1: r"\dot{q}", 2: r"\ddot{q}"}[dots], name)
            if dots
            else plain_label(name)
        )
    text = f"\\{head}" if head in _GREEK_NAMES else head
    text = {0: text, 1: rf"\dot{{{text}}}", 2: rf"\ddot{{{text}}}"}[dots]
    return f"${text}_{{{index}}}$" if index else f"${text}$"


def strip_label_markup(text: str) -> str:
    """A label without its math markup, about as long as it is printed."""
    letters = re.sub(r"\\(mathrm|dot|ddot|bar)", "", text)
    return re.sub(r"[${}_]", "", re.sub(r"\\[A-Za-z]+", "o", letters))


def plain_label(name: str) -> str:
    """The label of a name as it is written, never a formula."""
    return name.replace("$", r"\$")


def _label_letter_and_index(name: str) -> tuple[str, str]:
    """Letter and index of a short name; both empty if the name is a word."""
    found = _SYMBOL_PATTERN.fullmatch(name)
    if found is None:
        return "", ""
    head, index = found.group(1), found.group(2) or ""
    return (head, index) if head in _GREEK_NAMES or len(head) == 1 else ("", "")


def formula_index(name: str) -> str:
    """A name as an index inside a formula: a symbol, or upright letters."""
    if _label_letter_and_index(name)[0]:
        return symbol_label(name).strip("$")
    upright = re.sub(r"([_#%$&{}])", r"\\\1", re.sub(r"[\\^]", " ", name))
    return rf"\mathrm{{{upright}}}"


def indexed_label(head: str, name: str) -> str:
    """A symbol with a name as its index, such as τ of q1."""
    inner, index = _label_letter_and_index(name)
    if not inner:
        return f"${head}$ {plain_label(name)}"
    below = f"\\{inner}" if inner in _GREEK_NAMES else inner
    below = f"{below}{index}"
    return f"${head}_{{{below}}}$"
