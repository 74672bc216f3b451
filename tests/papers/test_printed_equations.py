"""The equations that papers print, kept as text beside the gallery's mechanisms, hold in numbers:
of our formulations, and of positions that are differentiated by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.expressions import Name, names_in_expression
from linkwright.formulations import FORMULATIONS, formulation_module
from tests.papers import by_hand, disk, ours
from tests.papers.ours import Instant
from tests.papers.printed import (
    ENDING,
    HOME,
    Printed,
    Value,
    evaluated,
    printed,
    slips,
    value,
    with_definitions,
)

FILES = sorted(entry.name for entry in HOME.iterdir() if entry.name.endswith(ENDING))
AUTHORS = {
    "triple-pendulum": "Bayseç and Kapucu", "stanford-rrp": "Agrawal", "chain-6": "Virgala et al.",
    "cartesian": "Spong", "elbow": "Spong", "remote-elbow": "Spong", disk.NAME: "Agrawal",
}  # fmt: skip
OF_MOTION = {
    "triple-pendulum": {"42", "56", "57", "58"},
    "stanford-rrp": {"29", "30", "31"},
    "chain-6": {"9", "11", "12"},
    "cartesian": {"6.4.9"},
    "elbow": {"6.4.18", "6.4.24"},
    "remote-elbow": {"6.4.27", "6.4.28"},
    disk.NAME: {"41", "42", "43", "44", "45", "52", "53"},
}
"""Equations that every formulation can say something about."""
EXACT = [by for by in FORMULATIONS if by != "approximate"]
SOURCES = {"ours": ours.SCOPES | disk.OURS, "by hand": by_hand.SCOPES | disk.BY_HAND}
SECTIONS = sorted(SOURCES["ours"])


@cache
def lines_of(name: str, section: str) -> list[Printed]:
    return [line for line in printed(name) if line.section == section]


@cache
def scope_of(source: str, name: str, section: str, seed: int) -> dict[str, Value]:
    found = SOURCES[source][name, section](Instant(name, seed))
    known = {key: x if isinstance(x, Value) else value(x) for key, x in found.items()}
    return with_definitions(lines_of(name, section), known)


def test_every_line_of_every_file_is_read_and_checked() -> None:
    written = {name.removesuffix(ENDING) for name in FILES}
    sections = {(name, line.section) for name in written for line in printed(name)}
    assert all(sections == set(scopes) for scopes in SOURCES.values())


@pytest.mark.parametrize(("name", "author"), AUTHORS.items())
def test_errata_are_documented(name: str, author: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "errata.md").read_text(
        encoding="utf-8"
    )
    (own,) = (part for part in page.split("\n## ")[1:] if part.startswith(author))
    wrong = {line.number for line in printed(name) if line.is_wrong}
    assert all(f"({number})" in own or f"{number} |" in own for number in wrong), wrong


@pytest.mark.parametrize("seed", [0, 10])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_printed_equations(name: str, section: str, source: str, seed: int) -> None:
    scope = scope_of(source, name, section, seed)
    equations = [line for line in lines_of(name, section) if not line.is_definition]
    wrong = [line.text for line in equations if line.holds(scope) is line.is_wrong]
    assert not wrong, f"{len(wrong)} of {len(equations)}: {wrong[0]}"


@pytest.mark.parametrize(
    ("name", "by"),
    [
        (name, by)
        for name in sorted(AUTHORS)
        for by in EXACT
        if formulation_module(by).supports(lw.gallery(name)) is None
    ],
)
def test_by_every_formulation(name: str, by: str) -> None:
    """Motion and equations of motion, wherever the paper has them."""
    common = disk.by_formulation if name == disk.NAME else ours.common
    found = {key: value(x) for key, x in common(Instant(name, 0), by).items()}
    scope = dict(found)
    checked: set[str] = set()
    for section in {section for own, section in SECTIONS if own == name} - {"approximate"}:
        lines = lines_of(name, section)
        scope |= with_definitions(
            [line for line in lines if names_in_expression(line.right) <= scope.keys()], found
        )
        for line in lines:
            if (
                not line.is_definition
                and names_in_expression(line.left) | names_in_expression(line.right) <= scope.keys()
            ):
                checked.add(line.number)
                assert line.holds(scope) is not line.is_wrong, line.text
    assert checked >= OF_MOTION[name]


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_slips_would_be_seen(name: str, section: str) -> None:
    """A wrong factor, sign, exponent, or sine for cosine, makes every equation false; in what the
    paper defines, one of the equations."""
    lines, scope = lines_of(name, section), scope_of("ours", name, section, 0)
    defined = {str(line.left) for line in lines if line.is_definition}
    given = {key: x for key, x in scope.items() if str(Name(key)) not in defined and key != "eps"}
    equations = [line for line in lines if not line.is_definition and not line.is_wrong]
    tried: set[str] = set()
    for i, line in enumerate(lines):
        if line.is_wrong or (line.is_definition and line.text in tried):
            continue  # of definitions, one of many indices will do
        used = names_in_expression(line.left) | names_in_expression(line.right)
        has_nothing = any(scope[key].size() < 1e-12 for key in used)  # whose factors cannot be seen
        seen = []
        for slip in slips(line.right):
            changed = replace(line, right=slip)
            if line.is_definition:
                slipped = with_definitions([*lines[:i], changed, *lines[i + 1 :]], given)
                seen.append(not all(one.holds(slipped) for one in equations))
            else:
                seen.append(not changed.holds(scope))
            assert seen[-1] or has_nothing, f"{line.text}: nothing sees {slip}"
        assert any(seen) or evaluated(line.right, scope).size() < 1e-12, line.text
        tried |= {line.text} if any(seen) else set()
    assert tried >= {
        line.text for line in lines if not line.is_wrong and names_in_expression(line.right)
    }
