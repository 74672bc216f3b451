"""How often the checker names a single misprint: rates by kind of mutation.

    python -m tests.check.repair_rates --seed 1 --count 400 --share measure

Equations are drawn uniformly from the gallery's texts and from textbook equations; one token of each
is mutated. A repair counts if the repaired equation is the original one: left − right agrees at
random numbers for all names, up to sign. Even equations are for developing, odd ones for measuring.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import linkwright as lw
from linkwright.checking import Finding
from linkwright.expressions import (
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    negate_expression,
    parse_expression,
)
from linkwright.expressions.tree import child_expressions

HOME = Path(lw.__file__).parent / "mechanism" / "gallery_files"
TEXTBOOK = Path(__file__).parent / "textbook"
KINDS = ("sign", "index", "function", "factor", "exponent", "dot", "symbol", "dropped term")
FILES = (
    "cartesian",
    "elbow",
    "remote-elbow",
    "sharp-edged-disk",
    "stanford-rrp",
    "triple-pendulum",
)
Path_ = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """An equation of a text, with the lines that it needs: declarations, heading, definitions."""

    mechanism: str
    context: str
    left: str
    right: str
    sign: str = "="

    def text(self, right: str) -> str:
        return f"{self.context}\n{self.left} {self.sign} {right}"


@cache
def corpus() -> tuple[Case, ...]:
    texts = [(name, HOME / f"{name}.equations.txt") for name in FILES]
    texts += [(path.stem, path) for path in sorted(TEXTBOOK.glob("*.txt"))]
    return tuple(case for name, path in texts for case in cases_of(name, path))


def cases_of(mechanism: str, path: Path) -> Iterator[Case]:
    """The right equations of a text, each with what it needs."""
    report = lw.check(lw.gallery(mechanism), path)
    assert report.passed, path
    lines = path.read_text(encoding="utf-8").splitlines()
    common = [x for x in lines if re.match(r"(frame|mass) |.* is ", x) and not x.startswith("#")]
    heads = {f"[{x.section}]" for x in report if x.section}
    for section in dict.fromkeys(x.section for x in report):
        own = [x for x in report if x.section == section]
        defined = [x.equation.replace(" = ", " := ") for x in own if x.status == "definition"]
        defined += _inlined(lines, section)
        head = [f"[{section}]"] if f"[{section}]" in heads else []
        for finding in own:
            if finding.status != "identical" or finding.is_said_wrong:
                continue
            left, right = finding.equation.split(" = ")
            yield Case(mechanism, "\n".join([*common, *head, *defined]), left, right)


def _inlined(lines: list[str], section: str) -> list[str]:
    """Definitions of dual numbers, which have no finding."""
    here, found = "", []
    for line in lines:
        if match := re.fullmatch(r"\[([\w ,-]+)\]", line):
            here = match[1]
        elif here == section and ":=" in line and "eps" in line:
            found.append(line)
    return found


# -- mutations --------------------------------------------------------------------------------


def places(node: Expression, path: Path_ = ()) -> Iterator[tuple[Path_, Expression]]:
    yield path, node
    for i, child in enumerate(child_expressions(node)):
        if not (isinstance(node, Power) and i == 1):
            yield from places(child, (*path, i))


def put(root: Expression, path: Path_, new: Expression) -> Expression:
    if not path:
        return new
    parts = list(child_expressions(root))
    parts[path[0]] = put(parts[path[0]], path[1:], new)
    match root:
        case Negation():
            return negate_expression(parts[0])
        case Reciprocal():
            return Reciprocal(parts[0])
        case Sum():
            return Sum(tuple(parts))
        case Product():
            return Product(tuple(parts))
        case Power():
            return Power(parts[0], parts[1])
        case Call(function, _):
            return Call(function, tuple(parts))
    return root


def mutants(kind: str, root: Expression, words: set[str]) -> list[Expression]:
    """All trees that differ from this one by one token."""
    found = []
    for path, node in places(root):
        found += [put(root, path, x) for x in changed(kind, node, words, path)]
    if kind == "sign" and not isinstance(root, Sum):
        found.append(negate_expression(root))
    return found


def changed(kind: str, node: Expression, words: set[str], path: Path_) -> list[Expression]:
    match kind, node:
        case "sign", Sum(terms):
            return [
                Sum((*terms[:i], negate_expression(t), *terms[i + 1 :]))
                for i, t in enumerate(terms)
            ]
        case "dropped term", Sum(terms):
            rests = [(*terms[:i], *terms[i + 1 :]) for i in range(len(terms))]
            return [Sum(rest) if len(rest) > 1 else rest[0] for rest in rests]
        case "function", Call("sin" | "cos" as function, arguments):
            return [Call({"sin": "cos", "cos": "sin"}[function], arguments)]
        case "exponent", Power(base, Number(n)):
            return [base, Power(base, Number(n + 1))]
        case "exponent", Product(factors):
            return [
                Product((*factors[:i], Power(x, Number(Fraction(2))), *factors[i + 1 :]))
                for i, x in enumerate(factors) if isinstance(x, Name)
            ]  # fmt: skip
        case "factor", Number(value) if path and value:
            others = [value * 2, value / 2, value + 1, value * 3, Fraction(1, 12), Fraction(1)]
            return [Number(x) for x in others if x != value]
        case "factor", Product(factors) if not isinstance(factors[0], Number):
            return [Product((Number(x), *factors)) for x in (Fraction(2), Fraction(1, 2))]
        case "index" | "symbol" | "dot", Name(name) if name != "pi":
            return [Name(other) for other in other_words(kind, name, words)]
    return []


def other_words(kind: str, name: str, words: set[str]) -> list[str]:
    def stem(x: str) -> str:
        return re.sub(r"\d", "", x)

    if kind == "dot":
        dots = {f"d{name}", name[1:]}
        return sorted(x for x in words if x in dots)
    same = {x for x in words if stem(x) == stem(name)}
    bare = {x for x in words if x.lstrip("d") == name.lstrip("d")}
    found = same if kind == "index" else words - same - bare
    return sorted(found - {name})


def drawn(case: Case, kind: str, draw: random.Random) -> str | None:
    root = parse_expression(case.right)
    known = lw.derive(lw.gallery(case.mechanism)).names
    motion = {f"{d}{x}" for x in known.qd for d in ("", "d", "dd")}
    own = _names(root)
    words = own | set(lw.gallery(case.mechanism).parameters) | motion
    words = own if kind == "symbol" else words
    found = mutants(kind, root, words - {"pi", "eps"})
    texts = sorted({expression_text(x) for x in found} - {expression_text(root)})
    return draw.choice(texts) if texts else None


def _names(node: Expression) -> set[str]:
    return {x.name for _, x in places(node) if isinstance(x, Name)}


# -- judging ----------------------------------------------------------------------------------


Defined = dict[str, Expression]


def number(node: Expression, seed: int, defined: Defined) -> float:
    if isinstance(node, Name) and node.name in defined:
        return number(defined[node.name], seed, defined)
    parts = [number(child, seed, defined) for child in child_expressions(node)]
    match node:
        case Number(value):
            return float(value)
        case Name(name):
            return math.pi if name == "pi" else random.Random(f"{seed} {name}").uniform(0.3, 1.9)
        case Negation():
            return -parts[0]
        case Reciprocal():
            return 1 / parts[0]
        case Sum():
            return sum(parts)
        case Product():
            return math.prod(parts)
        case Power():
            return float(parts[0] ** parts[1])
        case Call(function, _):
            return float(getattr(math, function)(*parts))
    raise AssertionError(node)


def is_same(one: str, other: str, defined: Defined) -> bool:
    """Whether two equations are the same for free symbols, up to sign."""
    for seed in (1, 2, 3):
        values = []
        for text in (one, other):
            left, right = (number(parse_expression(x), seed, defined) for x in text.split(" = "))
            values.append(left - right)
        if abs(abs(values[0]) - abs(values[1])) > 1e-9 * (1 + abs(values[0])):
            return False
    return True


@dataclass
class Outcome:
    kind: str
    case: Case
    printed: str
    finding: Finding
    seconds: float

    @property
    def original(self) -> str:
        return f"{self.case.left} = {self.case.right}"

    @property
    def places(self) -> list[int]:
        repairs = self.finding.repairs
        lines = [x.split(" := ") for x in self.case.context.splitlines() if " := " in x]
        defined = {left.split(" ")[-1]: parse_expression(right) for left, right in lines}
        return [i for i, x in enumerate(repairs) if is_same(x.equation, self.original, defined)]


def outcomes(
    seed: int, count: int, share: str, kinds: tuple[str, ...] = KINDS
) -> Iterator[Outcome]:
    draw = random.Random(seed)
    parity = {"develop": 0, "measure": 1}[share]
    chosen = corpus()[parity::2]
    done = 0
    while done < count:
        case, kind = draw.choice(chosen), draw.choice(kinds)
        wrong = drawn(case, kind, draw)
        if wrong is None:
            continue
        start = time.perf_counter()
        try:
            report = lw.check(lw.gallery(case.mechanism), case.text(wrong))
        except lw.LinkwrightError:
            continue  # a product of vectors
        seconds = time.perf_counter() - start
        if report[-1].status != "differs":
            continue
        done += 1
        yield Outcome(kind, case, wrong, report[-1], seconds)


def rates(found: list[Outcome]) -> dict[str, tuple[int, int, int]]:
    """By kind: cases, the original among the repairs, the original first."""
    table = {}
    for kind in KINDS:
        own = [x for x in found if x.kind == kind]
        named = [x.places for x in own]
        table[kind] = len(own), sum(bool(x) for x in named), sum(0 in x for x in named)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--share", choices=("develop", "measure"), default="develop")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    found = []
    kinds = tuple(given.kinds.split(","))
    for one in outcomes(given.seed, given.count, given.share, kinds):
        if given.only and given.only not in one.case.mechanism:
            continue
        found.append(one)
        if given.misses and 0 not in one.places:
            place = "second" if one.places else "missed"
            print(
                f"{place} {one.kind} [{one.case.mechanism}] {one.seconds:.2f}s\n   {one.original}"
            )
            print(
                f"   {one.case.left} = {one.printed}\n   {[x.what for x in one.finding.repairs]}",
                flush=True,
            )
    for kind, (cases, named, first) in rates(found).items():
        if cases:
            print(
                f"{kind:14} {named:4}/{cases:<4} {named / cases:6.1%}   first {first / cases:6.1%}"
            )
    total = [sum(column) for column in zip(*rates(found).values(), strict=True)]
    print(
        f"{'all':14} {total[1]:4}/{total[0]:<4} {total[1] / total[0]:6.1%}   first {total[2] / total[0]:6.1%}"
    )
    seconds = sorted(x.seconds for x in found)
    print(
        f"median {seconds[len(seconds) // 2]:.2f} s, most {seconds[-1]:.2f} s a check; seed {given.seed}"
    )
    print(Counter(x.case.mechanism for x in found))


if __name__ == "__main__":
    main()
