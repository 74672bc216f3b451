"""Ways to spell an equation: plain text, underscores, dots, LaTeX, other names for coordinates."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.references.equation_judge import Equation, names_in, rename
from tests.references.equation_notation import GREEK, equation_latex, equation_text, latex_name
from tests.references.reference_mechanics import Reference

SPELLINGS = ("plain", "decimals", "underscores", "dots behind", "LaTeX", "renamed", "permuted")
_SIMPLE = re.compile(rf"d{{0,2}}([A-Za-z]|{'|'.join(GREEK)})[cpf]?\d{{0,3}}")
_DERIVATIVE = re.compile(r"(d?)([A-Z]\d*)_(d?)([a-z]+\d*)")


@dataclass(frozen=True)
class Spelled:
    """The text, what `names=` says, and the judge's names of theirs."""

    kind: str
    text: str
    names: Mapping[str, str] = field(default_factory=dict)
    back: Mapping[str, str] = field(default_factory=dict)


def spell(kind: str, equation: Equation, reference: Reference) -> Spelled | None:
    """The equation in a spelling; None where that spelling has no words for it."""
    used = names_in(equation[0]) | names_in(equation[1])
    if kind == "plain":
        return Spelled(kind, equation_text(equation))
    if kind == "decimals":
        return Spelled(kind, equation_text(equation, decimals=True))
    if kind == "LaTeX":
        if not all(_SIMPLE.fullmatch(x) or _DERIVATIVE.fullmatch(x) for x in used):
            return None
        text = equation_latex(equation, latex_word)
        return Spelled(kind, text if "\\" in text else f"${text}$")
    if kind in ("renamed", "permuted"):
        return spell_coordinates(kind, equation, reference, used)
    known = used | reference.own.keys()  # repairs may bring names that the text does not have
    theirs = {x: underscored(x) if kind == "underscores" else dotted(x, reference) for x in known}
    theirs = {x: y for x, y in theirs.items() if x != y and y not in reference.own}
    if not theirs.keys() & used:
        return None
    text = equation_text(equation, lambda name: theirs.get(name, name))
    return Spelled(kind, text, back={y: x for x, y in theirs.items()})


def underscored(name: str) -> str:
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
    return f"{match[1]}_{match[2]}" if match else name


def dotted(name: str, reference: Reference) -> str:
    if reference.has_rates:
        for word, column in (("dot", reference.u), ("ddot", reference.a)):
            if name in column:
                return f"{reference.coordinates[list(column).index(name)]}{word}"
    return name


def latex_word(name: str) -> str:
    match = _DERIVATIVE.fullmatch(name)
    if match is None:
        return latex_name(name)
    rate, stem, dot, by = match.groups()
    below = latex_name(f"d{by}" if dot else by)
    partial = rf"\frac{{\partial {latex_name(stem)}}}{{\partial {below}}}"
    return rf"\frac{{d}}{{dt}}{partial}" if rate else partial


def spell_coordinates(
    kind: str, equation: Equation, reference: Reference, used: set[str]
) -> Spelled | None:
    """Other names for the coordinates, by `names=`; their dots follow."""
    q = list(reference.coordinates)
    if not reference.has_rates or any(_DERIVATIVE.fullmatch(x) for x in used):
        return None
    foreign = [f"z{letter}" for letter in "abcdefgh"[: len(q)]]
    new = foreign if kind == "renamed" else [*q[1:], q[0]]
    if len(q) < 2 or not used & {*q, *reference.u, *reference.a}:
        return None
    theirs = {f"{d}{x}": f"{d}{y}" for x, y in zip(q, new, strict=True) for d in ("", "d", "dd")}
    text = equation_text((rename(equation[0], theirs), rename(equation[1], theirs)))
    said = {y: x for x, y in zip(q, new, strict=True)}
    return Spelled(kind, text, said, {y: x for x, y in theirs.items()})


def spell_randomly(equation: Equation, draw: random.Random, reference: Reference) -> Spelled:
    kinds = list(SPELLINGS)
    draw.shuffle(kinds)
    for kind in kinds:
        found = spell(kind, equation, reference)
        if found is not None:
            return found
    raise AssertionError("plain text always has words")
