"""Points (cos, sin) of the circle for angles that are multiples of the ring's own angles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .exact_angles import ExactAngle
from .quotients import Quotient, fraction_from_flint, negate_quotient

if TYPE_CHECKING:
    from .quotient_ring import QuotientRing

CircleQuotients = tuple[Quotient, Quotient]


def find_exact_angle(ring: QuotientRing, angle: Quotient) -> ExactAngle | None:
    """The angle as multiples of monomials in the inputs, or None if it is not of that form."""
    if angle.denominator is not None or len(angle.numerator) > 32:
        return None
    terms = []
    for exponents, coefficient in angle.numerator.terms():
        if any(exponents[: ring.first_symbol]):
            return None
        powers = exponents[ring.first_symbol :]
        monomial = tuple(
            (name, int(power)) for name, power in zip(ring.symbols, powers, strict=True) if power
        )
        terms.append((tuple(sorted(monomial)), fraction_from_flint(coefficient)))
    return tuple(sorted(terms))


def circle_point_of_multiples(ring: QuotientRing, multiples: Sequence[int]) -> CircleQuotients:
    """(cos, sin) of a sum of multiples of the ring's angles, by the addition theorems."""
    ring.budget.check_polynomial_terms(sum(map(abs, multiples)) ** 3)
    point = Quotient(ring.one_polynomial), Quotient(ring.one_polynomial * 0)
    for k, times in enumerate(multiples):
        for _ in range(abs(times)):
            point = rotate_circle_point(ring, point, k, times > 0)
    return point


def rotate_circle_point(
    ring: QuotientRing, point: CircleQuotients, k: int, forward: bool
) -> CircleQuotients:
    """(cos, sin) after a rotation by plus or minus the ring's angle k."""
    sine_bit = 1 << (ring.first_sine + k)
    cosine = Quotient(ring.generators[ring.first_cosine + k])
    sine = Quotient(ring.generators[ring.first_sine + k], sine_bit)
    sine = sine if forward else negate_quotient(sine)
    (c, s), product = point, ring.multiply_quotients
    return (
        ring.add_quotients(product(c, cosine), negate_quotient(product(s, sine))),
        ring.add_quotients(product(s, cosine), product(c, sine)),
    )
