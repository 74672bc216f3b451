"""A random point over a prime field: the values of names, angles and functions there.

All readings modulo a prime draw their numbers here, so that equal names, angles and arguments have
equal values in each. Functions that are not rational are unknown functions; only their
symmetries are known. What holds for any such function holds for the actual one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...tape import Op
from .modular_arithmetic import (
    ModularCirclePoint,
    draw_residue,
    inverse_modulo,
    rational_sphere_point_modulo,
)

_ODD_OPS = frozenset({Op.SIGN, Op.TANH, Op.ASIN})
TRUTH_OPS = frozenset({Op.LT, Op.LE, Op.EQ, Op.NE, Op.AND, Op.OR, Op.NOT})
"""Operations whose values are 0 or 1."""


class RandomResidues:
    """Random numbers modulo `prime`, the same for the same key and seed."""

    def __init__(self, prime: int, seed: int) -> None:
        self.prime, self.seed = prime, seed
        self.drawn_numbers: dict[tuple[object, ...], int] = {}
        self.circle_points: dict[object, ModularCirclePoint] = {}

    def draw_residue_number(self, *key: object) -> int:
        """A random nonzero number."""
        if key not in self.drawn_numbers:
            self.drawn_numbers[key] = draw_residue(self.prime, self.seed, *key)
        return self.drawn_numbers[key]

    def draw_unit_quaternion(self, names: Sequence[str]) -> list[int]:
        """The four entries of a random unit quaternion."""
        return rational_sphere_point_modulo(
            [self.draw_residue_number("sphere", name) for name in names[1:]], self.prime
        )

    def draw_circle_point(self, key: object) -> ModularCirclePoint:
        """(cos, sin) of one part of an angle."""
        if key not in self.circle_points:
            c, s = rational_sphere_point_modulo(
                [self.draw_residue_number("angle", key)], self.prime
            )
            self.circle_points[key] = c, s
        return self.circle_points[key]

    def unknown_function_residue(
        self, op: Op, numbers: Sequence[int], are_truths: Sequence[bool] = ()
    ) -> int:
        """The value of a function that is not rational; `are_truths` marks truth values."""
        p = self.prime
        x, y = numbers[0], numbers[-1]
        match op:
            case _ if op in _ODD_OPS:
                return self._odd_function_value(op.name, x)
            case Op.ABS:
                return x * self._odd_function_value(Op.SIGN.name, x) % p
            case Op.MIN | Op.MAX:
                apart = (x - y) * self._odd_function_value(Op.SIGN.name, (x - y) % p)
                return (x + y + (apart if op is Op.MAX else -apart)) * inverse_modulo(2, p) % p
            case Op.LT:
                return self.draw_residue_number("positive", (y - x) % p)
            case Op.LE:
                return (1 - self.draw_residue_number("positive", (x - y) % p)) % p
            case Op.EQ | Op.NE:
                apart = (x - y) % p
                same = self.draw_residue_number("zero", min(apart, p - apart))
                return same if op is Op.EQ else (1 - same) % p
            case Op.AND | Op.OR | Op.NOT | Op.SELECT:
                return self._logic_value(op, numbers, are_truths)
            case _:
                return self.draw_residue_number(op.name, *numbers)

    def _odd_function_value(self, function: str, x: int) -> int:
        """The value of an unknown odd function at x."""
        if not x:
            return 0
        negative = x > self.prime // 2
        value = self.draw_residue_number(function, self.prime - x if negative else x)
        return -value % self.prime if negative else value

    def _logic_value(self, op: Op, numbers: Sequence[int], are_truths: Sequence[bool]) -> int:
        """The value of a logical operation as arithmetic on truth values 0 and 1."""
        p = self.prime
        true = [
            x if is_truth else self.draw_residue_number("truth", x)
            for x, is_truth in zip(numbers, are_truths, strict=False)
        ]
        match op:
            case Op.SELECT:
                return (numbers[2] + true[0] * (numbers[1] - numbers[2])) % p
            case Op.AND:
                return true[0] * true[1] % p
            case Op.OR:
                return (true[0] + true[1] - true[0] * true[1]) % p
            case _:
                return (1 - true[0]) % p
