"""From polynomials of the ring to the terms that are printed.

The ring has absolute angles and no squares of sines, which makes it canonical. A book writes
cos(q2) for c₁c₁₂ + s₁s₁₂ and sin² for 1 − cos²: product-to-sum, here and only where it shortens.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra.exact.angles import Form
from ..algebra.exact.quotient_ring import BudgetError, QuotientRing
from ..algebra.exact.quotients import Quotient, as_fraction
from ..expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    names,
    negate,
    to_text,
)
from ..tape import Op

if TYPE_CHECKING:
    import flint


Vector = tuple[int, ...]  # an angle, as multiples of the ring's


class Circular(NamedTuple):
    """cos or sin of an angle."""

    function: str
    angle: Vector


Atom = str | Circular | Expression  # a symbol, a cosine or sine, another function
Monomial = tuple[tuple[Atom, int], ...]
Terms = dict[Monomial, Fraction]
_Trig = tuple[tuple[Circular, int], ...]
_TrigSum = dict[_Trig, Fraction]

SECONDS = 10.0
LONG_CALL = 24
"""Characters of a root or another function beyond which it gets a name."""
MOST_FOR_SUMS = 64
"""Products of more terms than this are not written as sums of angles."""


class Reader:
    """Terms of the values of one ring; `written` are angles that keep the sign they have.

    Functions that are long get names, with what they depend on in `definitions`, if `naming`.
    Beyond `SECONDS` nothing more is shortened or collected; beyond twice that it is given up.
    """

    def __init__(
        self,
        ring: QuotientRing,
        order: Iterable[str],
        written: Iterable[Form] = (),
        naming: bool = True,
    ) -> None:
        self.ring, self.naming = ring, naming
        self.rank = {name: k for k, name in enumerate(order)}
        self.written = set(written)
        self.known: dict[_TrigSum | frozenset[tuple[_Trig, Fraction]], _TrigSum] = {}
        self.signs: dict[Vector, int] = {}
        self.calls: dict[int, Expression] = {}
        self.taken = {*ring.symbols, *self.rank}
        self.definitions: dict[str, tuple[Expression, frozenset[str]]] = {}
        self.atoms: dict[Atom, Expression] = {}
        self.spelt: dict[Expression, Atom] = {}
        self.size = len(ring.angles)
        self.deadline = time.monotonic() + SECONDS

    # -- polynomials ---------------------------------------------------------------------

    def terms(self, poly: flint.fmpq_mpoly) -> Terms:
        """The polynomial as terms, each trigonometric cofactor as short as it gets."""
        groups: dict[Monomial, _TrigSum] = {}
        ring, spare = self.ring, self.ring.spare
        for exponents, coefficient in self.each(poly):
            others: list[tuple[Atom, int]] = []
            circular: list[tuple[Circular, int]] = []
            turned = 1
            for place, power in enumerate(exponents):
                if not power:
                    continue
                if place >= ring.first_symbol:
                    others.append((ring.symbols[place - ring.first_symbol], int(power)))
                elif place >= spare:
                    k = (place - spare) % self.size
                    atom, sign = self.oriented(k, place >= ring.first_cosine)
                    circular.append((atom, int(power)))
                    turned *= sign ** int(power)
                else:
                    others.append((self.call(spare - 1 - place), int(power)))
            sums = groups.setdefault(tuple(others), {})
            sums[tuple(sorted(circular))] = turned * as_fraction(coefficient)
        return {
            (*others, *trig): coefficient
            for others, sums in groups.items()
            for trig, coefficient in self.shortened(sums).items()
        }

    def each(self, poly: flint.fmpq_mpoly) -> Iterator[tuple[tuple[int, ...], flint.fmpq]]:
        """Terms one by one, so that Ctrl-C is heard, and no longer than twice the time."""
        for k in range(len(poly)):
            if k % 256 == 0 and time.monotonic() > self.deadline + SECONDS:
                raise BudgetError("the closed form is too long to be printed")
            yield poly.monomial(k), poly.coefficient(k)

    def oriented(self, k: int, is_cosine: bool) -> tuple[Circular, int]:
        """The ring's cosine or sine as it is printed, and the sign that this brings."""
        unit = tuple(int(i == k) for i in range(self.size))
        sign = self.sign(unit)
        atom = Circular("cos" if is_cosine else "sin", tuple(sign * n for n in unit))
        return atom, 1 if is_cosine else sign

    def call(self, k: int) -> Expression:
        """The function behind a generator, or its name, r1, r2, …, where it is long."""
        if k not in self.calls:
            one = self.ring.opaque[k]
            operands = tuple(self.plain(value) for value in one.operands)
            match one.op:
                case Op.POW:
                    made: Expression = Power(*operands)
                case Op.DIV:
                    made = Reciprocal(operands[1])
                case _:
                    made = Call(one.op.name.lower(), operands)
            is_long = len(to_text(made)) > LONG_CALL and not isinstance(made, Reciprocal)
            self.calls[k] = self.named(made) if self.naming and is_long else made
        return self.calls[k]

    def named(self, made: Expression) -> Expression:
        name = next(n for i in count(1) if (n := f"r{i}") not in self.taken)
        self.taken.add(name)
        inside = names(made)
        known = (self.definitions[n][1] if n in self.definitions else {n} for n in inside)
        self.definitions[name] = made, frozenset().union(*known)
        return Name(name)

    def plain(self, value: Quotient) -> Expression:
        top = self.flat(self.terms(value.numerator))
        if value.denominator is None:
            return top
        return Product((top, Reciprocal(self.flat(self.terms(value.denominator)))))

    def flat(self, terms: Terms) -> Expression:
        """A sum in a stable order, nothing taken out."""
        parts = [
            product(c, [self.power(a, p) for a, p in monomial])
            for monomial, c in sorted(terms.items(), key=lambda item: self.order(item[0]))
        ]
        return total(parts)

    def order(self, monomial: Monomial) -> list[Any]:
        return sorted((natural(to_text(self.atom(a))), -p) for a, p in monomial)

    # -- atoms ---------------------------------------------------------------------------

    def power(self, atom: Atom, exponent: int) -> Expression:
        base, power = self.atom(atom), Number(Fraction(exponent))
        if exponent == 1:
            return base
        return (
            Reciprocal(Power(base.operand, power))
            if isinstance(base, Reciprocal)
            else Power(base, power)
        )

    def atom(self, atom: Atom) -> Expression:
        if atom not in self.atoms:
            self.atoms[atom] = (
                Call(atom.function, (self.angle(atom.angle),))
                if isinstance(atom, Circular)
                else Name(atom)
                if isinstance(atom, str)
                else atom
            )
            self.spelt[self.atoms[atom]] = atom
        return self.atoms[atom]

    def angle(self, vector: Vector) -> Expression:
        parts = [
            product(c, [self.power(name, p) for name, p in monomial])
            for monomial, c in sorted(self.form(vector), key=lambda item: item[1] < 0)
        ]
        return total(parts)

    def form(self, vector: Vector) -> Form:
        """The angle as multiples of coordinates, in their order."""
        sums: dict[tuple[tuple[str, int], ...], Fraction] = {}
        for times, angle in zip(vector, self.ring.angles, strict=True):
            for monomial, c in angle if times else ():
                sums[monomial] = sums.get(monomial, Fraction(0)) + times * c
        rank = self.rank
        kept = [(m, c) for m, c in sums.items() if c]
        kept.sort(key=lambda item: [rank.get(n, len(rank)) for n, _ in item[0]])
        return tuple(kept)

    def sign(self, vector: Vector) -> int:
        """−1 if the angle reads better turned round."""
        if vector not in self.signs:
            form = self.form(vector)
            sign = 1 if not form or form[0][1] > 0 else -1
            if tuple(sorted((m, -sign * c) for m, c in form)) in self.written:
                sign = -sign
            # what is written as p2 − p1 stays so; all else begins with a plus
            self.signs[vector] = sign
        return self.signs[vector]

    # -- shorter sums ----------------------------------------------------------------------

    def shortened(self, sums: _TrigSum) -> _TrigSum:
        if len(sums) == 1 or time.monotonic() > self.deadline:
            return sums
        scale = next(iter(sums.values()))
        key = frozenset((m, c / scale) for m, c in sums.items())
        if key not in self.known:
            found = self.paired({m: c / scale for m, c in sums.items()})
            if 1 < len(found) <= MOST_FOR_SUMS and len(sums) <= MOST_FOR_SUMS:
                as_angles = self.as_sums({m: c / scale for m, c in sums.items()})
                found = min(found, as_angles, key=len)
            self.known[key] = found
        return {m: c * scale for m, c in self.known[key].items()}

    def paired(self, sums: _TrigSum) -> _TrigSum:
        """Pairs such as X·cos a·cos b + X·sin a·sin b as one term each, while there are any."""
        work, found = dict(sums), True
        while found:
            found = False
            for monomial in sorted(work):
                if monomial in work and self.joined(work, monomial):
                    found = True
        return work

    def joined(self, work: _TrigSum, monomial: _Trig) -> bool:
        """Whether the term found a partner, with which it is one now."""
        for partner, (made, factor), sign in self.pairs(monomial):
            if work.get(partner) == sign * work[monomial]:
                coefficient = work.pop(monomial)
                del work[partner]
                work[made] = work.get(made, Fraction(0)) + factor * coefficient
                if not work[made]:
                    del work[made]
                return True
        return False

    def pairs(self, monomial: _Trig) -> Iterable[tuple[_Trig, tuple[_Trig, Fraction], Fraction]]:
        """(partner, (term for both, its factor), partner's coefficient by that of this one)."""
        one = Fraction(1)
        for i, (a, power) in enumerate(monomial):
            if a.function == "cos" and power >= 2:
                rest = _times(monomial, a, -2)
                yield rest, (_times(rest, Circular("sin", a.angle), 2), -one), -one
                doubled = tuple(2 * n for n in a.angle)
                yield rest, self.with_angle(rest, "cos", doubled, one / 2), -one / 2
            for b, _ in monomial[i + 1 :]:
                if a.angle == b.angle:
                    continue
                rest = _times(_times(monomial, a, -1), b, -1)
                other = _times(_times(rest, _swap(a), 1), _swap(b), 1)
                less = tuple(x - y for x, y in zip(a.angle, b.angle, strict=True))
                more = tuple(x + y for x, y in zip(a.angle, b.angle, strict=True))
                if a.function == b.function == "cos":
                    yield other, self.with_angle(rest, "cos", less, one), one
                    yield other, self.with_angle(rest, "cos", more, one), -one
                elif a.function != b.function:
                    yield other, self.with_angle(rest, "sin", more, one), one
                    turn = one if a.function == "sin" else -one
                    yield other, self.with_angle(rest, "sin", less, turn), -one

    def with_angle(
        self, rest: _Trig, function: str, angle: Vector, factor: Fraction
    ) -> tuple[_Trig, Fraction]:
        if not any(angle):
            return rest, factor if function == "cos" else Fraction(0)
        sign = self.sign(angle)
        turned = tuple(sign * n for n in angle)
        made = _times(rest, Circular(function, turned), 1)
        return made, factor if function == "cos" else sign * factor

    def as_sums(self, sums: _TrigSum) -> _TrigSum:
        """All products as cosines and sines of sums of angles."""
        total: dict[Circular, Fraction] = {}
        for monomial, coefficient in sums.items():
            parts = {Circular("cos", (0,) * self.size): coefficient}
            for atom, power in monomial:
                for _ in range(power):
                    parts = _product_to_sum(parts, atom)
            for atom, c in parts.items():
                (made, factor) = self.with_angle((), atom.function, atom.angle, c)
                key = made[0][0] if made else Circular("cos", (0,) * self.size)
                total[key] = total.get(key, Fraction(0)) + factor
        found: _TrigSum = {}
        for atom, c in total.items():
            if c:
                found[((atom, 1),) if any(atom.angle) else ()] = c
        return self.as_square(found)

    def as_square(self, sums: _TrigSum) -> _TrigSum:
        """1 − cos 2a as 2 sin² a, 1 + cos 2a as 2 cos² a."""
        constant = sums.get(())
        for monomial, c in sums.items():
            if not monomial or constant is None or abs(c) != abs(constant):
                continue
            angle = monomial[0][0].angle
            if monomial[0][0].function == "cos" and all(n % 2 == 0 for n in angle):
                half = tuple(n // 2 for n in angle)
                atom = Circular("cos" if c == constant else "sin", half)
                rest = {m: x for m, x in sums.items() if m not in ((), monomial)}
                return rest | {((atom, 2),): 2 * constant}
        return sums


def _swap(atom: Circular) -> Circular:
    return Circular("sin" if atom.function == "cos" else "cos", atom.angle)


def _times(monomial: _Trig, atom: Circular, power: int) -> _Trig:
    powers = dict(monomial)
    powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((a, p) for a, p in powers.items() if p))


def _product_to_sum(parts: dict[Circular, Fraction], atom: Circular) -> dict[Circular, Fraction]:
    """2 cos a cos b = cos(a−b) + cos(a+b), and so on; angles are not yet turned round."""
    total: dict[Circular, Fraction] = {}
    for (function, angle), c in parts.items():
        more = tuple(x + y for x, y in zip(angle, atom.angle, strict=True))
        less = tuple(x - y for x, y in zip(angle, atom.angle, strict=True))
        match function, atom.function:
            case "cos", "cos":
                made = [("cos", more, c), ("cos", less, c)]
            case "sin", "sin":
                made = [("cos", less, c), ("cos", more, -c)]
            case "sin", _:
                made = [("sin", more, c), ("sin", less, c)]
            case _:
                made = [("sin", more, c), ("sin", less, -c)]
        for name, vector, half in made:
            key = Circular(name, vector)
            total[key] = total.get(key, Fraction(0)) + half / 2
    return total


# -- expressions ---------------------------------------------------------------------------


def product(coefficient: Fraction, factors: list[Expression]) -> Expression:
    """The product, with a number in front where it is not 1, and the sign outside."""
    if coefficient < 0:
        return negate(product(-coefficient, factors))
    if coefficient != 1 or not factors:
        factors = [Number(coefficient), *factors]
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def total(parts: list[Expression]) -> Expression:
    flat: list[Expression] = []
    for part in parts:
        flat += part.terms if isinstance(part, Sum) else (part,)
    if not flat:
        return Number(Fraction(0))
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """A key by which m2 comes before m10."""
    parts = re.split(r"(\d+)", name)
    return tuple((1, int(p)) if p.isdecimal() else (0, p) for p in parts if p)
