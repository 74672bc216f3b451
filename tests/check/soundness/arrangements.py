"""Ways to write a true equation that leave it true."""

from __future__ import annotations

import random
from collections.abc import Callable
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
    negate,
    num,
    product_of,
    rebuild,
    replace_at,
    sum_of,
    walk,
)
from tests.references.reference_mechanics import Reference
from tests.references.trig_polynomials import from_node, var

Step = Callable[[Equation, random.Random, Reference], Equation | None]


def swap_sides(equation: Equation, draw: random.Random, _: Reference) -> Equation:
    return equation[1], equation[0]


def set_to_zero(equation: Equation, draw: random.Random, _: Reference) -> Equation:
    left = terms_of(equation[0]) + [negate(term) for term in terms_of(equation[1])]
    return sum_of(left), num(0)


def move_term(equation: Equation, draw: random.Random, _: Reference) -> Equation | None:
    """A term goes to the other side."""
    terms = terms_of(equation[1])
    if len(terms) < 2:
        return None
    term = terms.pop(draw.randrange(len(terms)))
    return sum_of([*terms_of(equation[0]), negate(term)]), sum_of(terms)


def multiply(equation: Equation, draw: random.Random, reference: Reference) -> Equation:
    """Both sides times a number, a parameter, or a cosine."""
    parameters = list(reference.parameters)
    factors: list[Node] = [num(2), num(-3), Num(Fraction(1, 2))]
    factors += [Var(draw.choice(parameters))] if parameters else []
    factor = draw.choice(factors)
    return times(equation[0], factor), times(equation[1], factor)


def times(node: Node, factor: Node) -> Node:
    if node == num(0):
        return node
    if isinstance(factor, Num) and isinstance(node, Num):
        return Num(factor.value * node.value)
    return product_of([factor, node])


def shuffle(equation: Equation, draw: random.Random, _: Reference) -> Equation:
    """Terms and factors in another order; numbers stay in front."""

    def shuffled(node: Node) -> Node:
        parts = [shuffled(part) for part in parts_of(node)]
        if isinstance(node, Add):
            draw.shuffle(parts)
        if isinstance(node, Mul):
            first = parts[:1] if isinstance(parts[0], Num) else []
            rest = parts[len(first) :]
            draw.shuffle(rest)
            parts = first + rest
        return with_parts(node, parts)

    return shuffled(equation[0]), shuffled(equation[1])


def parts_of(node: Node) -> list[Node]:
    match node:
        case Add(parts) | Mul(parts):
            return list(parts)
        case Pow(base, _):
            return [base]
        case Fun(_, argument):
            return [argument]
    return []


def with_parts(node: Node, parts: list[Node]) -> Node:
    return rebuild(node, [*parts, node.exponent] if isinstance(node, Pow) else parts)


def collect(equation: Equation, draw: random.Random, _: Reference) -> Equation | None:
    """A factor that several terms have goes before a bracket."""
    terms = terms_of(equation[1])
    counts: dict[Node, int] = {}
    for term in terms:
        for factor in set(factors_of(term)):
            if not isinstance(factor, Num):
                counts[factor] = counts.get(factor, 0) + 1
    common = sorted((x for x, n in counts.items() if n >= 2), key=repr)
    if not common:
        return None
    factor = draw.choice(common)
    inside, rest, at = [], [], 0
    for i, term in enumerate(terms):
        own = factors_of(term)
        if factor in own:
            at = at if inside else i
            own.remove(factor)
            inside.append(product_of(own))
        else:
            rest.append(term)
    rest.insert(min(at, len(rest)), product_of([factor, sum_of(inside)]))
    return equation[0], sum_of(rest)


def expand_angle(equation: Equation, draw: random.Random, _: Reference) -> Equation | None:
    """cos(a + b) = cos a cos b − sin a sin b, sin 2a = 2 sin a cos a, …, at one place."""
    places = [(s, p, x) for s in (0, 1) for p, x in walk(equation[s]) if expanded_wave(x)]
    if not places:
        return None
    side, path, node = draw.choice(places)
    return put(equation, side, path, expanded_wave(node))


def expanded_wave(node: Node) -> Node | None:
    match node:
        case Fun("cos" | "sin" as function, Add((first, *rest))):
            a, b = first, sum_of(rest)
        case Fun("cos" | "sin" as function, Mul((Num(Fraction(numerator=2, denominator=1)), a))):
            b = a
        case _:
            return None
    s, c = (lambda x: Fun("sin", x)), (lambda x: Fun("cos", x))
    if function == "cos" and a == b:
        return Add((product_of([num(2), Pow(c(a), num(2))]), num(-1)))
    if function == "cos":
        return Add((product_of([c(a), c(b)]), negate(product_of([s(a), s(b)]))))
    return Add((product_of([s(a), c(b)]), product_of([c(a), s(b)])))


def insert_one(equation: Equation, draw: random.Random, reference: Reference) -> Equation | None:
    """A term times sin² + cos² of a coordinate."""
    terms = terms_of(equation[1])
    if not terms or terms == [num(0)]:
        return None
    quaternions = {name for names in reference.units for name in names}
    q = Var(draw.choice([x for x in reference.coordinates if x not in quaternions]))
    one = Add((Pow(Fun("sin", q), num(2)), Pow(Fun("cos", q), num(2))))
    at = draw.randrange(len(terms))
    terms[at] = product_of([terms[at], one])
    return equation[0], sum_of(terms)


def square_of_sine(equation: Equation, draw: random.Random, _: Reference) -> Equation | None:
    """cos² = 1 − sin² at one place."""
    places = [
        (s, p, x)
        for s in (0, 1)
        for p, x in walk(equation[s])
        if isinstance(x, Pow) and isinstance(x.base, Fun) and x.base.function in ("sin", "cos")
        and x.exponent == num(2)
    ]  # fmt: skip
    if not places:
        return None
    side, path, node = draw.choice(places)
    other = {"sin": "cos", "cos": "sin"}[node.base.function]
    new = Add((num(1), negate(Pow(Fun(other, node.base.argument), num(2)))))
    return put(equation, side, path, new)


def solve_for(equation: Equation, draw: random.Random, reference: Reference) -> Equation | None:
    """The equation solved for a name in which it is linear."""
    names = sorted({x.name for s in equation for _, x in walk(s) if isinstance(x, Var)})
    wanted = [n for n in names if n in reference.own and n not in reference.coordinates]
    if not wanted:
        return None
    name = draw.choice(wanted)
    try:
        apart = from_node(equation[0], var) - from_node(equation[1], var)
    except LookupError:
        return None
    slope = apart.derivative(name)
    if not slope or slope.derivative(name) or len(apart.terms) > 30:
        return None
    rest = apart - slope * var(name)
    if name in rest.names() or name in slope.names():
        return None
    match slope.node():
        case Num(value):
            return Var(name), (rest * (-1 / value)).node()
        case below:
            return Var(name), product_of([(-rest).node(), Pow(below, num(-1))])


def terms_of(node: Node) -> list[Node]:
    if node == num(0):
        return []
    return list(node.terms) if isinstance(node, Add) else [node]


def factors_of(node: Node) -> list[Node]:
    return list(node.factors) if isinstance(node, Mul) else [node]


def put(equation: Equation, side: int, path: tuple[int, ...], new: Node) -> Equation:
    sides = list(equation)
    sides[side] = replace_at(sides[side], path, new)
    return sides[0], sides[1]


STEPS: dict[str, Step] = {
    "sides swapped": swap_sides,
    "set to zero": set_to_zero,
    "a term moved": move_term,
    "multiplied": multiply,
    "shuffled": shuffle,
    "collected": collect,
    "an angle expanded": expand_angle,
    "sin² + cos² inserted": insert_one,
    "cos² = 1 − sin²": square_of_sine,
    "solved for another": solve_for,
}


def arrange(
    equation: Equation, draw: random.Random, reference: Reference, most: int = 3
) -> tuple[Equation, list[str]]:
    """A random arrangement, and the steps that lead to it."""
    said = []
    for _ in range(draw.randrange(most + 1)):
        word = draw.choice(list(STEPS))
        found = STEPS[word](equation, draw, reference)
        if found is not None and sum(1 for side in found for _ in walk(side)) < 400:
            equation = found
            said.append(word)
    return equation, said
