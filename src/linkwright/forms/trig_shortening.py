"""Shorter sums of products of cosines and sines: cos(q2) for c₁c₁₂ + s₁s₁₂, sin² for 1 − cos²."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from operator import add, neg, sub

from .trig_sums import (
    AngleVector,
    PrintedTrigFactor,
    PrintedTrigMonomial,
    PrintedTrigSum,
    Rational,
    exact_ratio,
    multiply_trig_factors,
    split_common_rational,
    swap_sine_cosine,
    trig_product_to_sum,
)

MAX_TERMS_FOR_SUMS = 64
"""The most terms of a sum whose products are converted to sums of angles."""


@dataclass
class TrigSumShortener:
    """Shortens sums in `angle_count` angles; `angle_sign` says with which sign one is printed."""

    angle_sign: Callable[[AngleVector], int]
    angle_count: int
    shortened_sums: dict[frozenset[tuple[PrintedTrigMonomial, Rational]], PrintedTrigSum] = field(
        default_factory=dict
    )

    def shorten_trig_sum(self, sums: PrintedTrigSum) -> PrintedTrigSum:
        """The sum in its shortest known form: merged pairs, or cosines and sines of sums of
        angles."""
        scale, numbers = split_common_rational(list(sums.values()))
        if numbers[0] < 0:
            scale, numbers = -scale, [-n for n in numbers]
        whole = dict(zip(sums, numbers, strict=True))
        key = frozenset(whole.items())
        if key not in self.shortened_sums:
            found = self.merge_trig_pairs(whole)
            if 1 < len(found) <= MAX_TERMS_FOR_SUMS and len(sums) <= MAX_TERMS_FOR_SUMS:
                found = min(found, self.products_to_angle_sums(whole), key=len)
            self.shortened_sums[key] = found
        return {m: c * scale for m, c in self.shortened_sums[key].items()}

    def merge_trig_pairs(self, sums: Mapping[PrintedTrigMonomial, Rational]) -> PrintedTrigSum:
        """The sum with pairs such as X·cos a·cos b + X·sin a·sin b merged, as long as there are
        any."""
        work: PrintedTrigSum = dict(sums)
        found = True
        while found:
            found = False
            for monomial in sorted(work):
                if monomial in work and self.merge_with_partner(work, monomial):
                    found = True
        return work

    def merge_with_partner(self, work: PrintedTrigSum, monomial: PrintedTrigMonomial) -> bool:
        """Merge a term with a partner, if there is one; return whether there was."""
        for partner, (made, factor), sign in self.possible_partners(monomial, work):
            if work[partner] == sign * work[monomial]:
                coefficient = work.pop(monomial)
                del work[partner]
                work[made] = work.get(made, 0) + factor * coefficient
                if not work[made]:
                    del work[made]
                return True
        return False

    def possible_partners(
        self, monomial: PrintedTrigMonomial, work: PrintedTrigSum
    ) -> Iterable[tuple[PrintedTrigMonomial, tuple[PrintedTrigMonomial, Rational], Rational]]:
        """For each identity with a partner among the terms: the partner, the merged term and its
        factor, and the partner's coefficient relative to this term."""
        for i, (a, power) in enumerate(monomial):
            if a.function == "cos" and power >= 2:
                rest = multiply_trig_factors(monomial, (a, -2))
                if rest in work:
                    sine = PrintedTrigFactor("sin", a.angle)
                    yield rest, (multiply_trig_factors(rest, (sine, 2)), -1), -1
                    half, doubled = Fraction(1, 2), tuple(2 * n for n in a.angle)
                    yield rest, self.multiply_trig_factor(rest, "cos", doubled, half), -half
            for b, _ in monomial[i + 1 :]:
                if a.angle == b.angle:
                    continue
                turned = (swap_sine_cosine(a), 1), (swap_sine_cosine(b), 1)
                other = multiply_trig_factors(monomial, (a, -1), (b, -1), *turned)
                if other not in work:
                    continue
                rest = multiply_trig_factors(monomial, (a, -1), (b, -1))
                less = tuple(map(sub, a.angle, b.angle))
                more = tuple(map(add, a.angle, b.angle))
                if a.function == b.function == "cos":
                    yield other, self.multiply_trig_factor(rest, "cos", less, 1), 1
                    yield other, self.multiply_trig_factor(rest, "cos", more, 1), -1
                elif a.function != b.function:
                    yield other, self.multiply_trig_factor(rest, "sin", more, 1), 1
                    turn = 1 if a.function == "sin" else -1
                    yield other, self.multiply_trig_factor(rest, "sin", less, turn), -1

    def multiply_trig_factor(
        self, rest: PrintedTrigMonomial, function: str, angle: AngleVector, factor: Rational
    ) -> tuple[PrintedTrigMonomial, Rational]:
        """The monomial times the cosine or sine of an angle, and the factor with the sign of the
        printed angle."""
        if not any(angle):
            return rest, factor if function == "cos" else 0
        sign = self.angle_sign(angle)
        turned = tuple(sign * n for n in angle)
        made = multiply_trig_factors(rest, (PrintedTrigFactor(function, turned), 1))
        return made, factor if function == "cos" else sign * factor

    def products_to_angle_sums(self, sums: Mapping[PrintedTrigMonomial, int]) -> PrintedTrigSum:
        """The sum with all products as cosines and sines of sums of angles."""
        total: dict[PrintedTrigFactor, int] = {}
        degree = max(sum(power for _, power in monomial) for monomial in sums)
        for monomial, coefficient in sums.items():
            factors = [atom for atom, power in monomial for _ in range(power)]
            parts = {PrintedTrigFactor("cos", (0,) * self.angle_count): coefficient}
            for atom in factors:
                parts = trig_product_to_sum(parts, atom)
            scale = 1 << (degree - len(factors))  # all parts have the denominator 2^degree
            for (function, angle), c in parts.items():
                if self.angle_sign(angle) < 0:
                    angle, c = tuple(map(neg, angle)), -c if function == "sin" else c
                if any(angle) or function == "cos":
                    key = PrintedTrigFactor(function, angle)
                    total[key] = total.get(key, 0) + c * scale
        found: PrintedTrigSum = {}
        for atom, c in total.items():
            if c:
                found[((atom, 1),) if any(atom.angle) else ()] = exact_ratio(c, 1 << degree)
        return _half_angle_square(found)


def _half_angle_square(sums: PrintedTrigSum) -> PrintedTrigSum:
    """The sum with 1 − cos 2a as 2 sin² a and 1 + cos 2a as 2 cos² a."""
    constant = sums.get(())
    for monomial, c in sums.items():
        if not monomial or constant is None or abs(c) != abs(constant):
            continue
        angle = monomial[0][0].angle
        if monomial[0][0].function == "cos" and all(n % 2 == 0 for n in angle):
            half = tuple(n // 2 for n in angle)
            atom = PrintedTrigFactor("cos" if c == constant else "sin", half)
            rest = {m: x for m, x in sums.items() if m not in ((), monomial)}
            return rest | {((atom, 2),): 2 * constant}
    return sums
