"""Every symbol that the checker knows has a closed form, which the checker proves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

import linkwright as lw
from linkwright.checking.approximate_vocabulary import ApproximateCheckerVocabulary
from linkwright.checking.symbol_patterns import _PLACEHOLDER, NUMBERS, WORDS, CheckerSymbolRow
from linkwright.checking.symbol_table import SYMBOL_GROUPS, WHOLE_SYMBOLS
from linkwright.checking.vocabulary import CheckerVocabulary
from linkwright.errors import NameNotFoundError, UnsupportedError

APPROXIMATE = "Under the heading `[approximate]`"
OTHERS = {
    "Dual vectors",
    "Entries as they are printed",
    "Matrices and vectors, with several coordinates",
    APPROXIMATE,
}


def words_of(own: CheckerVocabulary, key: str) -> list[str]:
    """Two of the words or numbers that a placeholder may stand for: the first and the last."""
    names = own.names
    if key in NUMBERS:
        found = [str(k + 1) for k in range(min(NUMBERS[key].size(own), 9))]
    elif (choices := WORDS[key].choices) is not None:
        found = [word for _, word in choices(own) if "." not in word]
    else:
        variables = [name for name in names.q if name in names.qd and "." not in name]
        known = {"axis": "xyz", "energy": "KVL", "entry": ["M11", "x1"], "variable": variables}
        known |= {"rate": [f"d{name}" for name in variables], "joint": names.joints}
        known |= {"digits": ["1"], "digit": ["1"], "frame": []}
        found = list(known.get(key, []))
    return found[:1] + found[1:][-1:]


def symbols_of(own: CheckerVocabulary, row: CheckerSymbolRow) -> Iterator[str]:
    """Names of a row in its first spelling, for a mechanism."""
    spelling = row.spellings[0]
    keys = list(dict.fromkeys(key.split(".")[0] for key in _PLACEHOLDER.findall(spelling)))
    for words in product(*(words_of(own, key) for key in keys)):
        yield spelling.format(**dict(zip(keys, words, strict=True)))


def known_symbols(own: CheckerVocabulary, groups: list[str]) -> dict[str, str]:
    """Symbols that have a meaning for a mechanism, with the groups that they are from."""
    rows = [(group, row) for group in groups for row in SYMBOL_GROUPS[group]]
    found = {name: group for group, row in rows for name in symbols_of(own, row)}
    shorthand = {name: group for name, group in found.items() if group == "Shorthands"}
    return {name: group for name, group in found.items() if name in own} | shorthand


CASES = [
    ("elbow", "lagrange"),
    ("cart-pole", "kane"),
    ("stanford-rrp", "recursive"),
    ("vukobratovic-arm", "lagrange"),
    ("slider-crank", "multipliers"),
]


@pytest.mark.parametrize(("name", "by"), CASES)
def test_each_symbol_has_a_closed_form_that_the_checker_proves(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    eqs, own = lw.derive(mechanism, by=by), CheckerVocabulary(mechanism)
    groups = [group for group in SYMBOL_GROUPS if group not in OTHERS]
    known = known_symbols(own, groups)
    texts, refused = [], []
    for symbol in known:
        if symbol in ("M", "C", "p", "g", "L", "T", "V", "H", "J", "f", "c"):
            continue  # quantities as a whole have these names
        try:
            text = eqs.closed_form(symbol).text(groups=False)
        except UnsupportedError:
            refused.append(symbol)
            continue
        assert text != f"{symbol} = {symbol}"
        if len(text) < 1500 and "\n" not in text:  # without named roots and denominators
            texts.append(text)
    assert len(texts) > 30
    assert set(refused) <= own.atomic_symbols.keys()
    report = lw.check(mechanism, "\n".join(texts))
    wrong = [str(claim) for claim in report if claim.status not in ("identical", "equivalent")]
    assert wrong == []


def test_symbols_of_the_approximate_equations() -> None:
    mechanism = lw.gallery("triple-pendulum")
    eqs, own = lw.derive(mechanism, by="approximate"), ApproximateCheckerVocabulary(mechanism)
    known = known_symbols(own, [APPROXIMATE])
    assert {"f1", "JT11", "Q1", "P1", "df1"} <= known.keys()
    asked = [
        x for x in known if x not in eqs.extras and not own.require_expression(x).is_symbolic()
    ]
    texts = [eqs.closed_form(x).text(groups=False) for x in asked]
    short = [text for text in texts if "\n" not in text]
    report = lw.check(mechanism, "\n".join(["[approximate]", *short]))
    assert [str(claim) for claim in report if claim.status != "identical"] == []


def test_whole_vectors_have_the_entries_of_their_symbols() -> None:
    eqs = lw.derive(lw.gallery("slider-crank"))
    for symbol in ("dp", "D", "phi"):
        assert any(symbol in one.letters.split() for one in WHOLE_SYMBOLS)
        entries = eqs.closed_form(symbol).json(groups=False)["entries"]
        for label, text in entries.items():
            one = label.replace("[", "").replace("]", "").replace(",", "")
            assert eqs.closed_form(one).json(groups=False)["entries"] == {one: text}
    solved = eqs.closed_form("lambda").json(groups=False)["entries"]  # with lines that they need
    multipliers = [label for label in solved if label.startswith("lambda")]
    assert len(multipliers) == 5
    for label in multipliers:
        entries = eqs.closed_form(label).json(groups=False)["entries"]
        assert entries[label] == solved[label]


def test_rates_of_states_have_a_closed_form() -> None:
    """(q̇, ṗ) of a pendulum: q̇ = p/(m lc² + I), ṗ = τ − m g lc cos q."""
    by_momenta = lw.derive(lw.gallery("chain-1"), by="hamilton")
    assert by_momenta.closed_form("state_rates").text().splitlines() == [
        "D = m1*lc1^2 + I1",
        "q1' = p_q1/D",
        "p_q1' = tau_q1 - m1*g*lc1*cos(q1)",
    ]
    assert by_momenta.closed_form("p_q1'").labels == ["p_q1'"]
    with pytest.raises(NameNotFoundError, match="unknown quantity"):
        by_momenta.closed_form("u7'")


def test_dual_components_are_printed_with_eps() -> None:
    eqs = lw.derive(lw.gallery("elbow"))
    text = eqs.closed_form("V1y").text()
    assert text == "V1y = lc1*dq1*eps"
    assert lw.check(lw.gallery("elbow"), text).passed


HOOP = """
name = "hoop"
gravity = [0, 0, "-g"]
[parameters]
m = 0.5
R = 0.3
Omega = 4
g = 9.81
[bodies.ring]
mass = 0
[bodies.bead]
mass = "m"
center = ["R", 0, 0]
[joints.turn]
type = "revolute"
child = "ring"
[joints.slide]
type = "revolute"
parent = "ring"
child = "bead"
axis = [0, 1, 0]
[coordinates]
names = ["th"]
[coordinates.joints]
turn = "Omega*t"
slide = "th"
"""


@pytest.mark.parametrize(
    ("name", "symbol", "sentence"),
    [
        ("elbow", "l1", "'l1' is a symbol in which formulas are written"),
        ("elbow", "dq1", "'dq1' is a symbol in which formulas are written"),
        ("elbow", "t", "'t' is a symbol in which formulas are written"),
        ("elbow", "J", "'J', the symbol of constraint Jacobian, has no value for elbow"),
        ("elbow", "lambda", "'lambda', the symbol of multipliers, has no value for elbow"),
        ("elbow", "V_link1", "'V_link1' is a dual vector"),
        ("elbow", "f1", "the mechanism has no holonomic constraints"),
        ("elbow", "M13", "its indices are out of range"),
    ],
)
def test_symbols_without_a_formula_say_so_in_a_sentence(
    name: str, symbol: str, sentence: str
) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(sentence)):
        lw.derive(lw.gallery(name)).closed_form(symbol)


def test_momentum_of_a_body_without_mass_is_zero() -> None:
    """The ring of a bead on a turning hoop has neither mass nor inertia."""
    hoop = lw.load(HOOP)
    eqs = lw.derive(hoop)
    assert eqs.closed_form("H1x").text() == "H1x = 0"
    text = eqs.closed_form("dp1").text()
    assert text == "dp1 = m*R^2*ddth"
    assert lw.check(hoop, text).passed


def test_w_is_the_mass_matrix() -> None:
    eqs = lw.derive(lw.gallery("elbow"))
    entries = eqs.closed_form("W").json(groups=False)["entries"]
    same = eqs.closed_form("M").json(groups=False)["entries"]
    assert list(entries.values()) == list(same.values())
