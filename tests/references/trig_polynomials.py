"""Trigonometric polynomials in a normal form: sums of number · names · cos or sin of one linear angle.

Products of sines and cosines become sums at once (2 cos a cos b = cos(a − b) + cos(a + b)), so that
kinetic energies come out as textbooks print them: m l² + 2 m l lc cos(q2). Nothing of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache

import flint

from .equation_judge import (
    Add,
    Fun,
    Mul,
    Node,
    Num,
    Pow,
    Value,
    Var,
    num,
    product_of,
    sum_of,
    whole_power,
)

Angle = tuple[tuple[str, Fraction], ...]  # names with factors, the first one positive
Monomial = tuple[tuple[Node, int], ...]  # names and roots with whole exponents
Key = tuple[Monomial, str, Angle]  # monomial, "c" or "s", angle; no angle is cos 0
_NONE: Angle = ()


class Poly:
    """A sum of terms; equal polynomials have equal terms."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Key, Fraction] | None = None) -> None:
        self.terms = {key: x for key, x in (terms or {}).items() if x}

    def __add__(self, other: Poly | int | Fraction) -> Poly:
        terms = dict(self.terms)
        for key, x in poly(other).terms.items():
            terms[key] = terms.get(key, Fraction(0)) + x
        return Poly(terms)

    def __neg__(self) -> Poly:
        return Poly({key: -x for key, x in self.terms.items()})

    def __sub__(self, other: Poly | int | Fraction) -> Poly:
        return self + -poly(other)

    def __rsub__(self, other: int | Fraction) -> Poly:
        return poly(other) - self

    def __mul__(self, other: Poly | int | Fraction) -> Poly:
        terms: dict[Key, Fraction] = {}
        for (mono, kind, angle), x in self.terms.items():
            for (mono2, kind2, angle2), y in poly(other).terms.items():
                rest = multiply_monomials(mono, mono2)
                for kind3, angle3, z in multiply_waves(kind, angle, kind2, angle2):
                    key = rest, kind3, angle3
                    terms[key] = terms.get(key, Fraction(0)) + x * y * z
        return Poly(terms)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> Poly:
        found = poly(1)
        for _ in range(exponent):
            found = found * self
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def derivative(self, name: str) -> Poly:
        terms: dict[Key, Fraction] = {}
        own = Var(name)

        def add(key: Key, x: Fraction) -> None:
            terms[key] = terms.get(key, Fraction(0)) + x

        for (mono, kind, angle), x in self.terms.items():
            rate = dict(angle).get(name) if angle else None
            if rate:
                other = "s" if kind == "c" else "c"
                add((mono, other, angle), x * (-rate if kind == "c" else rate))
            for i, (atom, n) in enumerate(mono):
                lower = ((atom, n - 1),) if n != 1 else ()
                if atom == own:
                    add(((*mono[:i], *lower, *mono[i + 1 :]), kind, angle), x * n)
                elif not isinstance(atom, Var) and (inner := derivative_of_root(atom, name)):
                    rest = (*mono[:i], *lower, *mono[i + 1 :])
                    for key, y in (Poly({(rest, kind, angle): x * n}) * inner).terms.items():
                        add(key, y)
        return Poly(terms)

    def __call__(self, value_of: Callable[[str], Value]) -> Value:
        """Its value as a ball."""
        total = flint.arb(0)
        atoms: dict[Node, Value] = {}
        waves: dict[Angle, tuple[Value, Value]] = {}
        for (mono, kind, angle), x in self.terms.items():
            part = flint.arb(flint.fmpq(x.numerator, x.denominator))
            for atom, exponent in mono:
                if atom not in atoms:
                    atoms[atom] = value_of_atom(atom, value_of)
                part *= whole_power(atoms[atom], exponent)
            if angle:
                if angle not in waves:
                    turn = sum((value_of(n) * ball(f) for n, f in angle), flint.arb(0))
                    waves[angle] = turn.sin_cos()
                part *= waves[angle][0 if kind == "s" else 1]
            total += part
        return total

    def names(self) -> set[str]:
        found = {name for _, _, angle in self.terms for name, _ in angle}
        for mono, _, _ in self.terms:
            for atom, _ in mono:
                found |= {atom.name} if isinstance(atom, Var) else names_of_root(atom)
        return found

    def substitute(self, name: str, value: Poly) -> Poly:
        """With a polynomial for a name that stands in no angle and no root."""
        found = Poly()
        for (mono, kind, angle), x in self.terms.items():
            kept = tuple((atom, n) for atom, n in mono if atom != Var(name))
            exponent = sum(n for atom, n in mono if atom == Var(name))
            found = found + Poly({(kept, kind, angle): x}) * value**exponent
        return found

    def node(self) -> Node:
        """A tree, term by term."""
        return sum_of([term_node(key, x) for key, x in self.terms.items()])


def ball(x: Fraction | int) -> Value:
    x = Fraction(x)
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def poly(value: Poly | int | Fraction) -> Poly:
    return value if isinstance(value, Poly) else Poly({((), "c", _NONE): Fraction(value)})


def var(name: str) -> Poly:
    return Poly({(((Var(name), 1),), "c", _NONE): Fraction(1)})


_ROOTS: dict[Node, Poly] = {}


def root(inside: Poly) -> Poly:
    """√inside, an atom of its own; its square is `inside` again."""
    atom = Fun("sqrt", inside.node())
    _ROOTS[atom] = inside
    return Poly({(((atom, 1),), "c", _NONE): Fraction(1)})


def inverse(of: Poly) -> Poly:
    """1/of, an atom of its own."""
    atom = of.node()
    if isinstance(atom, Num):
        return poly(1 / atom.value)
    if not isinstance(atom, Var):
        atom = Mul((num(1), atom))  # marks a bracket
        _ROOTS[atom] = of
    return Poly({(((atom, -1),), "c", _NONE): Fraction(1)})


def names_of_root(atom: Node) -> set[str]:
    return _ROOTS[atom].names()


def derivative_of_root(atom: Node, name: str) -> Poly:
    """Of a root or a bracket."""
    inner = _ROOTS[atom].derivative(name)
    if isinstance(atom, Fun) and inner:
        return inner * Poly({(((atom, -1),), "c", _NONE): Fraction(1, 2)})
    return inner


def value_of_atom(atom: Node, value_of: Callable[[str], Value]) -> Value:
    if isinstance(atom, Var):
        return value_of(atom.name)
    inside = _ROOTS[atom](value_of)
    return inside.sqrt() if isinstance(atom, Fun) else inside


def cos(angle: Mapping[str, Fraction | int] | str) -> Poly:
    return wave("c", angle)


def sin(angle: Mapping[str, Fraction | int] | str) -> Poly:
    return wave("s", angle)


def wave(kind: str, angle: Mapping[str, Fraction | int] | str) -> Poly:
    parts = {angle: 1} if isinstance(angle, str) else dict(angle)
    sign, kept = normal_angle(kind, {name: Fraction(x) for name, x in parts.items()})
    return Poly({((), kind, kept): Fraction(sign)})


def normal_angle(kind: str, parts: Mapping[str, Fraction]) -> tuple[int, Angle]:
    """The sign (0 for sin 0) and the angle whose first factor is positive."""
    kept = tuple(sorted((name, x) for name, x in parts.items() if x))
    if not kept:
        return (0 if kind == "s" else 1), ()
    if kept[0][1] > 0:
        return 1, kept
    return (-1 if kind == "s" else 1), tuple((name, -x) for name, x in kept)


def multiply_waves(
    kind: str, angle: Angle, kind2: str, angle2: Angle
) -> Iterable[tuple[str, Angle, Fraction]]:
    """cos a cos b, sin a cos b … as sums."""
    if not angle2:
        return [(kind, angle, Fraction(1))]
    if not angle:
        return [(kind2, angle2, Fraction(1))]
    total, apart = dict(angle), dict(angle)
    for name, x in angle2:
        total[name] = total.get(name, Fraction(0)) + x
        apart[name] = apart.get(name, Fraction(0)) - x
    new = "c" if kind == kind2 else "s"
    signs = {"cc": (1, 1), "ss": (-1, 1), "sc": (1, 1), "cs": (1, -1)}[kind + kind2]
    found = []
    for parts, sign in zip((total, apart), signs, strict=True):
        own, normal = normal_angle(new, parts)
        if own:
            found.append((new if normal else "c", normal, Fraction(own * sign, 2)))
    return found


def multiply_monomials(a: Monomial, b: Monomial) -> Monomial:
    if not b:
        return a
    exponents = dict(a)
    for atom, n in b:
        exponents[atom] = exponents.get(atom, 0) + n
    return sorted_monomial((x, n) for x, n in exponents.items() if n)


def sorted_monomial(parts: Iterable[tuple[Node, int]]) -> Monomial:
    return tuple(sorted(parts, key=lambda part: order_of(part[0])))


@cache
def order_of(atom: Node) -> str:
    return atom.name if isinstance(atom, Var) else repr(atom)


def angle_node(angle: Angle) -> Node:
    return sum_of([product_of([Num(x), Var(name)]) for name, x in angle])


def term_node(key: Key, x: Fraction) -> Node:
    """number · names · wave, as a tree."""
    mono, kind, angle = key
    factors: list[Node] = [Num(x)] if x != 1 else []
    for atom, n in mono:
        base = atom.factors[1] if isinstance(atom, Mul) else atom
        factors.append(base if n == 1 else Pow(base, num(n)))
    if angle:
        factors.append(Fun("sin" if kind == "s" else "cos", angle_node(angle)))
    return product_of(factors) if factors else num(1)


def from_node(node: Node, value_of: Callable[[str], Poly]) -> Poly:
    """A tree as a polynomial of what its names are; LookupError where it is none."""
    match node:
        case Num(value):
            return poly(value)
        case Var(name):
            return value_of(name)
        case Add(terms):
            total = Poly()
            for term in terms:
                total = total + from_node(term, value_of)
            return total
        case Mul(factors):
            product = poly(1)
            for factor in factors:
                product = product * from_node(factor, value_of)
            return product
        case Pow(base, Num(n)) if n.denominator == 1:
            inner = from_node(base, value_of)
            return inner ** int(n) if n >= 0 else inverse(inner) ** int(-n)
        case Fun("sqrt", inside):
            return root(from_node(inside, value_of))
        case Fun(("sin" | "cos") as function, inside):
            angle = linear_angle(from_node(inside, value_of))
            return wave(function[0], angle)
    raise LookupError(node)


def linear_angle(inside: Poly) -> dict[str, Fraction]:
    angle = {}
    for (mono, _, wave_angle), x in inside.terms.items():
        if wave_angle or len(mono) != 1 or mono[0][1] != 1 or not isinstance(mono[0][0], Var):
            raise LookupError("an angle that is not linear")
        angle[mono[0][0].name] = x
    return angle
