"""A numeric judge of equations: its own trees, its own notation, values in balls. Nothing of the library.

An equation is a pair of trees. At a state, a mapping from names to balls, its residual left − right
is a ball that surely contains the exact value. A ball that excludes 0 at one state proves the
equation false; one that contains 0 and is tiny at many random states says that it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

PRECISION = 400  # bits
TINY = flint.arb("1e-40")  # half of the digits that states are made with
HOLDS, FALSE, UNKNOWN = "holds", "false", "unknown"
flint.ctx.prec = PRECISION


@dataclass(frozen=True)
class Num:
    """A rational number."""

    value: Fraction


@dataclass(frozen=True)
class Var:
    """A name."""

    name: str


@dataclass(frozen=True)
class Add:
    """A sum."""

    terms: tuple[Node, ...]


@dataclass(frozen=True)
class Mul:
    """A product."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Pow:
    """A power; a quotient a/b is a·b⁻¹."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Fun:
    """A function of one argument."""

    function: str
    argument: Node


Node = Num | Var | Add | Mul | Pow | Fun
Equation = tuple[Node, Node]
Value = flint.arb
Resolver = Callable[[str], Value]


def num(value: Fraction | int | str) -> Num:
    return Num(Fraction(value))


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Add(parts) | Mul(parts):
            return parts
        case Pow(base, exponent):
            return base, exponent
        case Fun(_, argument):
            return (argument,)
    return ()


def rebuild(node: Node, parts: Sequence[Node]) -> Node:
    """The node with other children."""
    match node:
        case Add():
            return Add(tuple(parts))
        case Mul():
            return Mul(tuple(parts))
        case Pow():
            return Pow(parts[0], parts[1])
        case Fun(function, _):
            return Fun(function, parts[0])
    return node


def walk(node: Node, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Node]]:
    """All nodes with their paths from the root."""
    yield path, node
    for i, child in enumerate(children(node)):
        yield from walk(child, (*path, i))


def replace_at(node: Node, path: tuple[int, ...], new: Node) -> Node:
    """The tree with another node at a path."""
    if not path:
        return new
    parts = list(children(node))
    parts[path[0]] = replace_at(parts[path[0]], path[1:], new)
    return rebuild(node, parts)


def names_in(node: Node) -> set[str]:
    return {part.name for _, part in walk(node) if isinstance(part, Var)}


def rename(node: Node, names: Mapping[str, str]) -> Node:
    if isinstance(node, Var):
        return Var(names.get(node.name, node.name))
    return rebuild(node, [rename(child, names) for child in children(node)])


# -- values in balls ------------------------------------------------------------------------


def evaluate(node: Node, value_of: Resolver) -> Value:
    """The value of a tree as a ball; NaN where it has none (0 division, root of a negative)."""
    match node:
        case Num(value):
            return flint.arb(flint.fmpq(value.numerator, value.denominator))
        case Var("pi"):
            return flint.arb.pi()
        case Var(name):
            return value_of(name)
        case Add(terms):
            return sum((evaluate(term, value_of) for term in terms), flint.arb(0))
        case Mul(factors):
            product = flint.arb(1)
            for factor in factors:
                product *= evaluate(factor, value_of)
            return product
        case Pow(base, Num(exponent)):
            return power(evaluate(base, value_of), exponent)
        case Pow(base, exponent):
            return evaluate(base, value_of) ** evaluate(exponent, value_of)
        case Fun(function, argument):
            return _FUNCTIONS[function](evaluate(argument, value_of))
    raise TypeError(node)


_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "sin": flint.arb.sin, "cos": flint.arb.cos, "tan": flint.arb.tan, "sqrt": flint.arb.sqrt,
    "exp": flint.arb.exp, "log": flint.arb.log, "abs": abs, "sign": flint.arb.sgn,
}  # fmt: skip


def power(x: Value, exponent: Fraction) -> Value:
    """x to a rational power, exact rules for whole and half ones."""
    if exponent.denominator == 1:
        return whole_power(x, int(exponent))
    if exponent.denominator == 2:
        return whole_power(x.sqrt(), exponent.numerator)
    return x ** flint.arb(flint.fmpq(exponent.numerator, exponent.denominator))


def whole_power(x: Value, n: int) -> Value:
    """x^n by products: Arb's own power of a ball at 0 is NaN."""
    found = flint.arb(1)
    for _ in range(abs(n)):
        found *= x
    return found if n >= 0 else 1 / found


def residual(equation: Equation, value_of: Resolver) -> Value:
    return evaluate(equation[0], value_of) - evaluate(equation[1], value_of)


def judge(equation: Equation, states: Sequence[Resolver]) -> str:
    """holds, false (certain) or unknown of an equation at some states."""
    found = HOLDS
    for value_of in states:
        try:
            apart = residual(equation, value_of)
        except (KeyError, ZeroDivisionError):
            return UNKNOWN
        if not apart.is_finite():
            found = UNKNOWN
        elif not apart.contains(0):
            return FALSE
        elif not apart.rad() < TINY:
            found = UNKNOWN
    return found


# -- the plain notation ---------------------------------------------------------------------

_TOKEN = re.compile(r"\s*(\d+\.\d*|\.\d+|\d+|[A-Za-z]\w*(?:\.\w+)*|\*\*|[-+*/^(),=])")


class NotationError(ValueError):
    """Text that is not in the plain notation."""


def parse_equation(text: str) -> Equation:
    left, equals, right = text.partition("=")
    if not equals or "=" in right:
        raise NotationError(text)
    return parse(left), parse(right)


def parse(text: str) -> Node:
    """A tree of text: + − * / ^ ** brackets, functions, names, decimal numbers (exact)."""
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotationError(f"{text[at:]!r} in {text!r}")
        tokens.append(match[1])
        at = match.end()
    reader = _Reader(tokens)
    found = reader.sum()
    if reader.tokens:
        raise NotationError(f"{reader.tokens!r} left over of {text!r}")
    return found


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def next_is(self, *wanted: str) -> str:
        """Takes the next token if it is one of these."""
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else ""

    def sum(self) -> Node:
        terms = [self.signed()]
        while sign := self.next_is("+", "-"):
            term = self.product()
            terms.append(negate(term) if sign == "-" else term)
        return Add(tuple(terms)) if len(terms) > 1 else terms[0]

    def signed(self) -> Node:
        if self.next_is("-"):
            return negate(self.product())
        self.next_is("+")
        return self.product()

    def product(self) -> Node:
        factors = [self.power()]
        while sign := self.next_is("*", "/"):
            factor = self.power()
            factors.append(Pow(factor, num(-1)) if sign == "/" else factor)
        return Mul(tuple(factors)) if len(factors) > 1 else factors[0]

    def power(self) -> Node:
        base = self.atom()
        if self.next_is("^", "**"):
            sign = self.next_is("-", "+")
            exponent = self.power()
            if isinstance(exponent, Num):
                return Pow(base, Num(-exponent.value if sign == "-" else exponent.value))
            quotient = _as_number(exponent)
            exponent = Num(quotient) if quotient is not None else exponent
            return Pow(base, negate(exponent) if sign == "-" else exponent)
        return base

    def atom(self) -> Node:
        if not self.tokens:
            raise NotationError("an expression ends too early")
        token = self.tokens.pop(0)
        if token == "(":
            found = self.sum()
            if not self.next_is(")"):
                raise NotationError("')' is missing")
            return found
        if token == "-":
            return negate(self.power())
        if token[0].isdigit() or token[0] == ".":
            return num(Fraction(token))
        if token in _FUNCTIONS and self.next_is("("):
            argument = self.sum()
            if not self.next_is(")"):
                raise NotationError("')' is missing")
            return Fun(token, argument)
        if token[0].isalpha():
            return Var(token)
        raise NotationError(f"{token!r} stands where a value should")


def _as_number(node: Node) -> Fraction | None:
    """The value of a tree of numbers alone."""
    if names_in(node):
        return None
    match node:
        case Num(value):
            return value
        case Add(terms):
            parts = [_as_number(term) for term in terms]
            return None if None in parts else sum(parts, Fraction(0))
        case Mul(factors):
            parts = [_as_number(factor) for factor in factors]
            if None in parts:
                return None
            product = Fraction(1)
            for part in parts:
                product *= part
            return product
        case Pow(base, Num(exponent)) if exponent.denominator == 1:
            value = _as_number(base)
            return None if value is None else value ** int(exponent)
    return None


def negate(node: Node) -> Node:
    """−x, with the sign in a leading number."""
    match node:
        case Num(value):
            return Num(-value)
        case Mul((Num(value), *rest)):
            return Mul((Num(-value), *rest)) if value != -1 or not rest else product_of(rest)
        case Mul(factors):
            return Mul((num(-1), *factors))
    return Mul((num(-1), node))


def sum_of(terms: Sequence[Node]) -> Node:
    """A sum, flat, without zeros."""
    kept = [term for term in terms if term != num(0)]
    return Add(tuple(kept)) if len(kept) > 1 else kept[0] if kept else num(0)


def product_of(factors: Sequence[Node]) -> Node:
    """A product, flat, without ones."""
    flat: list[Node] = []
    for factor in factors:
        flat += factor.factors if isinstance(factor, Mul) else (factor,)
    kept = [factor for factor in flat if factor != num(1)]
    return Mul(tuple(kept)) if len(kept) > 1 else kept[0] if kept else num(1)
