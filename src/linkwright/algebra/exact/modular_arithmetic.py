"""Arithmetic modulo a prime p = 3 mod 4, the basis of all readings modulo a prime."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

ModularCirclePoint = tuple[int, int]
"""(cos, sin)"""


class BadPointError(ArithmeticError):
    """Division by zero, or a root that does not exist, at this random point: draw another."""


def draw_residue(p: int, *key: object) -> int:
    """A random nonzero number modulo p, the same for the same key.

    It is a hash of the key with 64 bits more than p, so that all numbers are equally likely but for
    a share of 2⁻⁶⁴.
    """
    text = " ".join(map(str, key)).encode()
    digest = hashlib.shake_256(text).digest((p.bit_length() + 71) // 8)
    return int.from_bytes(digest, "big") % (p - 1) + 1


def schwartz_zippel_chance(degree: int, p: int) -> float:
    """The largest probability that a nonzero quotient vanishes at a random point.

    The bound is that of Schwartz and Zippel, for a quotient of the given degree.
    """
    return min(1.0, degree / p)


def inverse_modulo(x: int, p: int) -> int:
    """The inverse of x modulo p; raises `BadPointError` for zero."""
    if x % p == 0:
        raise BadPointError("division by zero")
    return pow(x, -1, p)


def ratio_modulo(numerator: int, denominator: int, p: int) -> int:
    """The quotient of two numbers modulo p."""
    return numerator * inverse_modulo(denominator, p) % p


def power_modulo(base: int, exponent: int, p: int) -> int:
    """The base to a whole power, which may be negative, modulo p."""
    return pow(base if exponent >= 0 else inverse_modulo(base, p), abs(exponent), p)


def root_modulo(x: int, p: int) -> tuple[int, bool]:
    """The smaller square root of x modulo p, or of −x if x has none, and whether x has one."""
    found = pow(x, (p + 1) // 4, p)
    return min(found, p - found), found * found % p == x % p


def rational_sphere_point_modulo(t: Sequence[int], p: int) -> list[int]:
    """The rational point (1 − t², 2t)/(1 + t²) of a sphere; of a circle if t is one number."""
    square = sum(x * x for x in t)
    scale = inverse_modulo(1 + square, p)
    return [(1 - square) * scale % p, *(2 * x * scale % p for x in t)]


def add_circle_points_modulo(
    a: ModularCirclePoint, b: ModularCirclePoint, p: int
) -> ModularCirclePoint:
    """The circle point at the sum of two angles."""
    return (a[0] * b[0] - a[1] * b[1]) % p, (a[0] * b[1] + a[1] * b[0]) % p


def multiply_circle_point_modulo(
    point: ModularCirclePoint, times: int, p: int
) -> ModularCirclePoint:
    """The circle point at a whole multiple of an angle."""
    if times == 1:
        return point
    if times < 0:
        point, times = (point[0], -point[1] % p), -times
    total = (1, 0)
    while times:
        if times & 1:
            total = add_circle_points_modulo(total, point, p)
        point, times = add_circle_points_modulo(point, point, p), times >> 1
    return total


SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def rational_root_factors(value: Fraction) -> tuple[Fraction, list[int], int]:
    """(k, primes, s) with √value = k √(product of primes) √s, and s without small factors."""
    outside, primes, left = Fraction(1, value.denominator), [], value.numerator * value.denominator
    for prime in SMALL_PRIMES:
        while left and left % (prime * prime) == 0:
            left //= prime * prime
            outside *= prime
        if left and left % prime == 0:
            left //= prime
            primes.append(prime)
    return outside, primes, left


def rational_from_residue(residue: int, bound: int, p: int) -> Fraction | None:
    """The fraction that the residue stands for, by the Euclidean algorithm, or None.

    Its numerator and denominator are at most the bound.
    """
    low, high = (p, 0), (residue % p, 1)
    while high[0] > bound:
        factor = low[0] // high[0]
        low, high = high, (low[0] - factor * high[0], low[1] - factor * high[1])
    return Fraction(high[0], high[1]) if 0 < abs(high[1]) <= bound else None
