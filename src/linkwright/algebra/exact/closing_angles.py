"""Angles that close loops modulo a prime, where no lengths do: legs that share their lengths.

Residuals are linear, on the circle, in the cosine and the sine of an angle of a joint. Two rows
with two unknown angles a and b give cos a and sin a as quotients; their squares add up to 1 for the
roots of a polynomial in tan(b/2), which is quadratic for two links. Rows with one unknown angle are
solved in the same way. A root has both signs in the field, so that all closed positions with the
given other angles occur.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product

from .elimination import solve_modulo
from .modular_arithmetic import BadPointError, ModularCirclePoint, ratio_modulo
from .prime_field import PrimeField
from .residues import FIELD_PRIME, Residue

MAX_ANGLE_CHOICES = 2000
STEP_DEGREE = 1024
"""A bound on the degree of a computed cosine in the coefficients of the residuals: 4 for the
polynomial, with its division by common factors of degree 8, its root, and the point."""

_POINTS: tuple[ModularCirclePoint, ...] = ((1, 0), (-1, 0), (0, 1))
"""Points of the circle at which coefficients of 1, cos and sin are read off."""
_Coefficients = list[list[int]]
AngleRows = Callable[[dict[str, ModularCirclePoint]], list[int]]
"""The residuals with points (cos, sin) in the place of those of some angles."""


@dataclass(frozen=True)
class ClosingStep:
    """Rows of the residual, and the one or two angles that they determine."""

    rows: tuple[int, ...]
    angles: tuple[str, ...]


def plan_closing_steps(
    angles: Sequence[str],
    rows_of: dict[str, frozenset[int]],
    count: int,
    determines: Callable[[Sequence[str]], bool],
) -> list[ClosingStep] | None:
    """Steps that compute `count` of the angles one after another, or None.

    `rows_of` has the rows that contain an angle; `determines` says whether angles follow from the
    others.
    """
    for chosen in islice(combinations(reversed(angles), count), MAX_ANGLE_CHOICES):
        steps = _triangular_steps(chosen, rows_of)
        if steps is not None and determines(chosen):
            return steps
    return None


def _triangular_steps(
    chosen: Sequence[str], rows_of: dict[str, frozenset[int]]
) -> list[ClosingStep] | None:
    unknown, steps = list(chosen), []
    done: frozenset[int] = frozenset()
    while unknown:
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in sorted(frozenset[int]().union(*(rows_of[x] for x in unknown)) - done):
            own = tuple(x for x in unknown if row in rows_of[x])
            groups.setdefault(own, []).append(row)
        ready = [(own, rows) for own, rows in groups.items() if len(own) <= min(2, len(rows))]
        if not ready:
            return None
        own, rows = min(ready, key=lambda one: len(one[0]))
        steps.append(ClosingStep(tuple(rows), own))
        done |= frozenset(rows)
        unknown = [x for x in unknown if x not in own]
    return steps


def close_with_angles(
    field: PrimeField, steps: Sequence[ClosingStep], residual: AngleRows
) -> tuple[dict[str, ModularCirclePoint], list[Residue]]:
    """The points of the computed angles, and the roots in them."""
    found: dict[str, ModularCirclePoint] = {}
    roots: list[Residue] = []
    for step in steps:
        coefficients = _bilinear_coefficients(step, residual, found)
        if len(step.angles) == 1:
            points = _solve_one_angle(field, coefficients, roots)
        else:
            points = _solve_two_angles(field, coefficients, roots)
        found |= dict(zip(step.angles, points, strict=True))
    exist = all(x.marks is None or not x.marks.has_unknown_function for x in roots)
    if exist and any(residual(found)):
        raise BadPointError("the other loops do not close with these roots")
    return found, roots


def _bilinear_coefficients(
    step: ClosingStep, residual: AngleRows, found: dict[str, ModularCirclePoint]
) -> _Coefficients:
    """For each row the coefficients of the products of 1, cos and sin of each angle."""
    p, half = FIELD_PRIME, (FIELD_PRIME + 1) // 2
    values = []
    for points in product(_POINTS, repeat=len(step.angles)):
        all_rows = residual(found | dict(zip(step.angles, points, strict=True)))
        values.append([all_rows[k] for k in step.rows])
    table = [list(row) for row in zip(*values, strict=True)]
    for width in (1, 3)[: len(step.angles)]:
        for row in table:
            for k in (k for k in range(len(row)) if k // width % 3 == 0):
                right, left, top = row[k], row[k + width], row[k + 2 * width]
                mean = (right + left) * half % p
                row[k : k + 3 * width : width] = [mean, (right - mean) % p, (top - mean) % p]
    return table


def residual_is_bilinear(step: ClosingStep, residual: AngleRows) -> bool:
    """Whether the rows are linear in the cosine and the sine of each angle."""
    p, points = FIELD_PRIME, {x: _half_angle_point(98765 + k) for k, x in enumerate(step.angles)}
    table = _bilinear_coefficients(step, residual, {})
    factors = [1]
    for x in step.angles:
        factors = [a * b % p for a in factors for b in (1, *points[x])]
    wanted = residual(points)
    return all(
        (sum(a * b for a, b in zip(row, factors, strict=True)) - wanted[k]) % p == 0
        for row, k in zip(table, step.rows, strict=True)
    )


def _solve_one_angle(
    field: PrimeField, rows: _Coefficients, roots: list[Residue]
) -> list[ModularCirclePoint]:
    """The angle of rows k₀ + k₁ cos + k₂ sin = 0."""
    p = FIELD_PRIME
    pair = solve_modulo([row[1:] for row in rows], [-row[0] for row in rows], p)
    first = rows[0]
    if pair is None:
        raise BadPointError("no angle closes the loop")
    if any((first[1] * row[2] - first[2] * row[1]) % p for row in rows):
        c, s = pair
        unsure = any(x.marks is not None and x.marks.has_unknown_function for x in roots)
        if (c * c + s * s - 1) % p and not unsure:
            raise BadPointError("no angle closes the loop")
        return [(c, s)]
    k, c, s = first
    return [_half_angle_point(_quadratic_root(field, [k + c, 2 * s, k - c], roots))]


def _solve_two_angles(
    field: PrimeField, rows: _Coefficients, roots: list[Residue]
) -> list[ModularCirclePoint]:
    """The two angles of at least two rows, of which two that are independent are used."""
    import flint

    p = FIELD_PRIME
    ring = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(p))
    bottom = ring([1, 0, 1])

    def in_half_tangent(k: Sequence[int]) -> flint.fmpz_mod_poly:
        """k₀ + k₁ cos b + k₂ sin b, times 1 + t²."""
        return ring([(k[0] + k[1]) % p, 2 * k[2] % p, (k[0] - k[1]) % p])

    C, A, B = zip(*(map(in_half_tangent, (x[:3], x[3:6], x[6:])) for x in rows[:2]), strict=True)
    D = A[0] * B[1] - A[1] * B[0]
    Nc, Ns = C[1] * B[0] - C[0] * B[1], A[1] * C[0] - A[0] * C[1]
    closed = Nc * Nc + Ns * Ns - D * D
    if not closed or not D:
        raise BadPointError("two rows do not determine two angles")
    for factor in (bottom, D):
        while (common := closed.gcd(factor)).degree() > 0:
            closed //= common
    if closed.degree() != 2:
        raise BadPointError("angles that are not those of two links")
    t = _quadratic_root(field, [int(closed[k]) for k in range(3)], roots)
    below = int(D(t))
    a = ratio_modulo(int(Nc(t)), below, p), ratio_modulo(int(Ns(t)), below, p)
    return [a, _half_angle_point(t)]


def _quadratic_root(field: PrimeField, k: Sequence[int], roots: list[Residue]) -> int:
    """The root of k₀ + k₁ t + k₂ t² = 0 with the sign that the field has for this root."""
    p = FIELD_PRIME
    root = field.square_root(
        Residue((k[1] * k[1] - 4 * k[0] * k[2]) % p, numerator_degree=1, denominator_degree=1)
    )
    roots.append(root)
    return ratio_modulo((root.number - k[1]) % p, 2 * k[2] % p, p)


def _half_angle_point(t: int) -> ModularCirclePoint:
    p = FIELD_PRIME
    return ratio_modulo(1 - t * t, 1 + t * t, p), ratio_modulo(2 * t, 1 + t * t, p)
