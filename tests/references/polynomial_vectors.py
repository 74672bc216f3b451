"""Vectors and rotations of trigonometric polynomials. Nothing of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from .trig_polynomials import Poly, cos, poly, sin, var

Vector = tuple[Poly, Poly, Poly]
Matrix = tuple[Vector, Vector, Vector]
Entry = Poly | int | Fraction | str
ZERO: Vector = (Poly(), Poly(), Poly())
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def entry(value: Entry) -> Poly:
    return var(value) if isinstance(value, str) else poly(value)


def vector(values: Sequence[Entry]) -> Vector:
    x, y, z = (entry(value) for value in values)
    return x, y, z


def matrix(rows: Sequence[Sequence[Entry]]) -> Matrix:
    a, b, c = (vector(row) for row in rows)
    return a, b, c


IDENTITY = matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def dot(a: Sequence[Poly], b: Sequence[Poly]) -> Poly:
    return sum((x * y for x, y in zip(a, b, strict=True)), Poly())


def cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def transposed(m: Matrix) -> Matrix:
    return tuple(zip(*m, strict=True))  # type: ignore[return-value]


def apply(m: Matrix, v: Vector) -> Vector:
    return dot(m[0], v), dot(m[1], v), dot(m[2], v)


def compose(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)  # type: ignore[return-value]


def turn(axis: Sequence[int | Fraction], angle: Mapping[str, Fraction | int] | str) -> Matrix:
    """Rodrigues' rotation about a unit vector."""
    c, s = cos(angle), sin(angle)
    n = [Fraction(x) for x in axis]
    skew = [[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]]
    return matrix([
        [(c if i == j else poly(0)) + (1 - c) * (n[i] * n[j]) + s * skew[i][j] for j in range(3)]
        for i in range(3)
    ])  # fmt: skip


def quarter(axis: str, quarters: int = 1) -> Matrix:
    """A rotation by right angles."""
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters % 4]
    n = AXES[axis]
    skew = [[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]]
    return matrix([
        [(c if i == j else 0) + (1 - c) * n[i] * n[j] + s * skew[i][j] for j in range(3)]
        for i in range(3)
    ])  # fmt: skip


def quaternion_turn(w: str, x: str, y: str, z: str) -> Matrix:
    """The rotation of a unit quaternion."""
    W, X, Y, Z = (var(name) for name in (w, x, y, z))
    return matrix([
        [1 - 2 * (Y * Y + Z * Z), 2 * (X * Y - W * Z), 2 * (X * Z + W * Y)],
        [2 * (X * Y + W * Z), 1 - 2 * (X * X + Z * Z), 2 * (Y * Z - W * X)],
        [2 * (X * Z - W * Y), 2 * (Y * Z + W * X), 1 - 2 * (X * X + Y * Y)],
    ])  # fmt: skip
