"""Single misprints: one token of an equation changed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tests.references.equation_judge import (
    Add,
    Equation,
    Fun,
    Mul,
    Node,
    Num,
    Pow,
    Var,
    names_in,
    negate,
    num,
    product_of,
    replace_at,
    sum_of,
    walk,
)
from tests.references.reference_mechanics import Reference

KINDS = ("sign", "index", "function", "factor", "exponent", "dot", "symbol", "dropped term")


@dataclass(frozen=True)
class Mutant:
    """An equation with one misprint; `token` is what now stands there."""

    kind: str
    equation: Equation
    token: Node
    before: Node


def mutants(kind: str, equation: Equation, reference: Reference) -> list[Mutant]:
    """All single misprints of a kind."""
    found = []
    for side in (0, 1):
        root = equation[side]
        for path, node in walk(root):
            if is_exponent(root, path):
                continue
            for new, token, before in changes(kind, node, path, reference):
                sides = list(equation)
                sides[side] = replace_at(root, path, new)
                found.append(Mutant(kind, (sides[0], sides[1]), token, before))
    return found


def is_exponent(root: Node, path: tuple[int, ...]) -> bool:
    """Whether a node stands in an exponent."""
    node = root
    for i in path:
        if isinstance(node, Pow) and i == 1:
            return True
        node = (node.base if isinstance(node, Pow) else node.argument) if isinstance(
            node, Pow | Fun
        ) else (node.terms if isinstance(node, Add) else node.factors)[i]  # fmt: skip
    return False


Change = tuple[Node, Node, Node]  # the new node, the token in it, and what the token was


def changes(kind: str, node: Node, path: tuple[int, ...], reference: Reference) -> Iterator[Change]:
    match kind, node:
        case "sign", Add(terms):
            for i, term in enumerate(terms):
                yield Add((*terms[:i], negate(term), *terms[i + 1 :])), negate(term), term
        case "sign", Fun() | Mul() | Var() if not path:
            yield negate(node), negate(node), node
        case "index", Var(name):
            for other in other_indices(name):
                yield Var(other), Var(other), node
        case "function", Fun("sin" | "cos" as function, argument):
            other = Fun({"sin": "cos", "cos": "sin"}[function], argument)
            yield other, other, node
        case "factor", Num(value) if value not in (0, 1, -1):
            for other in {Fraction(1, 3): [Fraction(1, 12)], Fraction(1, 12): [Fraction(1, 3)]}.get(
                value, [value * 2, value / 2]
            ):
                yield Num(other), Num(other), node
        case "factor", Add(terms):
            for i, term in enumerate(terms):
                double = product_of([num(2), term])
                yield Add((*terms[:i], double, *terms[i + 1 :])), double, term
        case "exponent", Pow(base, Num(value)) if value > 1:
            other = base if value == 2 else Pow(base, Num(value - 1))
            yield other, other, node
            yield Pow(base, Num(value + 1)), Pow(base, Num(value + 1)), node
        case "exponent", Mul(factors):
            for i, factor in enumerate(factors):
                if isinstance(factor, Var):
                    new = Pow(factor, num(2))
                    yield Mul((*factors[:i], new, *factors[i + 1 :])), new, factor
        case "dot", Var(name):
            yield from ((Var(x), Var(x), node) for x in other_dots(name, reference))
        case "symbol", Var(name) if name in reference.parameters:
            for other in reference.parameters:
                if other != name:
                    yield Var(other), Var(other), node
        case "dropped term", Add(terms) if len(terms) > 1:
            for i, term in enumerate(terms):
                yield sum_of([*terms[:i], *terms[i + 1 :]]), term, term


def other_indices(name: str) -> list[str]:
    """m2 → m1, m3; M12 → M11, M22, …"""
    found = []
    for match in re.finditer(r"\d", name):
        digit = int(match[0])
        for other in (digit - 1, digit + 1):
            if other > 0:
                found.append(name[: match.start()] + str(other) + name[match.end() :])
    return found


def other_dots(name: str, reference: Reference) -> list[str]:
    if not reference.has_rates:
        return []
    columns = [reference.coordinates, reference.u, reference.a]
    for k, column in enumerate(columns):
        if name in column:
            i = list(column).index(name)
            return [columns[other][i] for other in (k - 1, k + 1) if 0 <= other < 3]
    return []


def is_telling(equation: Equation) -> bool:
    """Whether it says enough to see a misprint in it: M22 = 0 may be a misprint of anything."""
    used = names_in(equation[0]) | names_in(equation[1])
    return len(used) > 2 and not any(isinstance(side, Var) and other == num(0)
                                     for side, other in (equation, equation[::-1]))  # fmt: skip


def keeps_quantities(before: Equation, after: Equation, reference: Reference) -> bool:
    """Whether a quantity of which the equation speaks (M11, K2) is still in it."""
    was, now = ((names_in(x[0]) | names_in(x[1])) - reference.own.keys() for x in (before, after))
    return bool(now) or not was


def draw_mutant(equation: Equation, draw: random.Random, reference: Reference) -> Mutant | None:
    """A misprint, its kind drawn first, so that all kinds are tried alike."""
    if not is_telling(equation):
        return None
    kinds = list(KINDS)
    draw.shuffle(kinds)
    for kind in kinds:
        found = [
            x
            for x in mutants(kind, equation, reference)
            if kind in ("index", "symbol") or keeps_quantities(equation, x.equation, reference)
        ]
        if found:
            return draw.choice(found)
    return None
