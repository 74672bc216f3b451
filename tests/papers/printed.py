"""Reads and evaluates printed equations, the `*.equations.txt` beside the gallery's mechanisms.

    # a comment                        [hamilton]  what follows is said of this formulation's quantities
    (60) left = right                  an equation with its number in the paper
    ! (61) left = right                as printed, and wrong
    (32) A1 := expression              the paper's own name for an expression
    (22) … M{i}{j} …, i = 1..6, j = 1..6       one equation for each i and j
    sum(i = 1..6: …{i}…)               a sum
    V_OB is …, frame …, mass …         for the checker alone: here names have their values otherwise

Values are dual numbers a + eps*b, and vectors of three of them, since one paper has dual vectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from importlib.resources import files

import numpy as np

from linkwright.expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Sum,
    fold_expression,
    negate_expression,
    parse_expression,
)

HOME = files("linkwright.mechanism.gallery_files")
ENDING = ".equations.txt"
_LINE = re.compile(r"(?P<wrong>! )?\((?P<number>[^()]+)\):? (?P<body>.+)")
_SAID = re.compile(r"(#|frame |mass |[\w{}]+ is ).*|")
_RANGE = re.compile(r", (\w+) = (\d+)\.\.(\d+)$")
_INNERMOST = re.compile(r"sum\((\w+) = (\d+)\.\.(\d+): ")


@dataclass(frozen=True)
class Value:
    """a + εb; a and b are numbers or three components."""

    real: np.ndarray
    dual: np.ndarray

    def __sub__(self, other: Value) -> Value:
        return Value(self.real - other.real, self.dual - other.dual)

    def size(self) -> float:
        return float(max(np.abs(self.real).max(), np.abs(self.dual).max()))


def value(real: object, dual: object = 0.0) -> Value:
    return Value(np.asarray(real, dtype=float), np.asarray(dual, dtype=float))


EPS = value(0.0, 1.0)
Scope = Mapping[str, Value]


class _Duals:
    """The algebra of dual numbers and vectors, for `fold_expression`."""

    def number(self, number: Fraction) -> Value:
        return value(float(number))

    def pi(self) -> Value:
        return value(np.pi)

    def add(self, terms: Sequence[Value]) -> Value:
        return Value(sum(t.real for t in terms), sum(t.dual for t in terms))  # type: ignore[arg-type]

    def multiply(self, factors: Sequence[Value]) -> Value:
        product = factors[0]
        for f in factors[1:]:
            product = Value(product.real * f.real, product.real * f.dual + product.dual * f.real)
        return product

    def negate(self, operand: Value) -> Value:
        return Value(-operand.real, -operand.dual)

    def reciprocal(self, operand: Value) -> Value:
        return Value(1 / operand.real, -operand.dual / operand.real**2)

    def power(self, base: Value, exponent: Value) -> Value:
        n = float(exponent.real)
        return Value(base.real**n, n * base.real ** (n - 1) * base.dual)

    def call(self, function: str, arguments: Sequence[Value]) -> Value:
        (angle,) = arguments
        sine, cosine = np.sin(angle.real), np.cos(angle.real)
        return {
            "sin": Value(sine, cosine * angle.dual),
            "cos": Value(cosine, -sine * angle.dual),
        }[function]

    def measure(self, number: Value, unit: object) -> Value:
        raise NotImplementedError(f"papers print no units: {unit}")


@dataclass(frozen=True)
class Printed:
    """One equation, or the definition of the name on its left."""

    number: str
    section: str
    left: Expression
    right: Expression
    is_wrong: bool = False
    is_definition: bool = False
    text: str = ""

    def holds(self, scope: Scope) -> bool:
        left, right = evaluated(self.left, scope), evaluated(self.right, scope)
        return (left - right).size() < 1e-9 * max(1.0, left.size(), right.size())


def evaluated(expression: Expression, scope: Scope) -> Value:
    return fold_expression(expression, _Duals(), lambda name: scope[name])


def with_definitions(lines: Sequence[Printed], scope: Scope) -> dict[str, Value]:
    """The scope, and what the paper defines itself."""
    known = {**scope, "eps": EPS}
    for line in lines:
        if line.is_definition and isinstance(line.left, Name):
            assert line.left.name not in scope, f"{line.text}: it has a value already"
            known[line.left.name] = evaluated(line.right, known)
    return known


def printed(name: str) -> list[Printed]:
    """The equations that a paper prints for a gallery mechanism."""
    found, section = [], "lagrange"
    for line in (HOME / f"{name}{ENDING}").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]").partition(",")[0]
        elif line.startswith(("(", "!")):
            found += [replace(one, section=section) for one in _read(line)]
        else:
            assert _SAID.fullmatch(line), f"cannot read '{line}'"
    return found


def _read(line: str) -> Iterator[Printed]:
    match = _LINE.fullmatch(line)
    assert match is not None, f"cannot read '{line}'"
    for body in _each(match["body"]):
        sign = " := " if " := " in body else " = "
        left, right = (parse_expression(side) for side in body.split(sign))
        is_definition = sign == " := "
        yield Printed(match["number"], "", left, right, bool(match["wrong"]), is_definition, line)


def _each(body: str) -> Iterator[str]:
    """One line for each value of the indices at its end, sums written out."""
    if match := _RANGE.search(body):
        for i in range(int(match[2]), int(match[3]) + 1):
            yield from _each(body[: match.start()].replace(f"{{{match[1]}}}", str(i)))
    else:
        yield _summed(body)


def _summed(text: str) -> str:
    while openings := list(_INNERMOST.finditer(text)):
        opening = openings[-1]  # nothing to sum inside it
        depth, end = 1, opening.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        term, index = text[opening.end() : end - 1], f"{{{opening[1]}}}"
        span = range(int(opening[2]), int(opening[3]) + 1)
        total = " + ".join(f"({term.replace(index, str(i))})" for i in span)
        text = f"{text[: opening.start()]}({total}){text[end:]}"
    return text


def slips(expression: Expression, most: int = 60) -> list[Expression]:
    """Slips all over the expression, not more than so many."""
    found = list(mutants(expression))
    return found[:: 1 + (len(found) - 1) // most]


def mutants(expression: Expression) -> Iterator[Expression]:
    """The expression with one slip: a factor too many, a sign or an exponent lost, sine for cosine."""
    match expression:
        case Name():
            yield Product((Number(Fraction(2)), expression))
        case Number(number):
            yield Number(number + 1)
        case Power(base, _):
            yield base
        case Call(function, arguments):
            yield Call({"sin": "cos", "cos": "sin"}[function], arguments)
        case Sum(terms):
            for i, term in enumerate(terms):
                yield Sum((*terms[:i], negate_expression(term), *terms[i + 1 :]))
    for field in fields(expression):
        inner = getattr(expression, field.name)
        if isinstance(inner, tuple):
            for i, part in enumerate(inner):
                for slip in mutants(part):
                    changed = (*inner[:i], slip, *inner[i + 1 :])
                    yield replace(expression, **{field.name: changed})
        elif is_dataclass(inner):
            for slip in mutants(inner):
                yield replace(expression, **{field.name: slip})
