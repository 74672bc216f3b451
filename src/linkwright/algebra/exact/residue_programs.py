"""Random points modulo a prime, and tapes evaluated at them; see `tape_identity` for the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...tape import OPERATION_ARITY, Op, Tape
from .degree_bounds import ExactAngleCombination, PolynomialDegreeBounds
from .modular_arithmetic import (
    BadPointError,
    ModularCirclePoint,
    multiply_circle_point_modulo,
    power_modulo,
    ratio_modulo,
    root_modulo,
)
from .modular_arithmetic import add_circle_points_modulo as added
from .random_residues import TRUTH_OPS, RandomResidues

_COMMON_OPS = (Op.MUL, Op.ADD, Op.SUB, Op.NEG, Op.FMA, Op.CONSTANT)


class RandomResiduePoint(RandomResidues):
    """A random point for whole tapes, whose angles are counted in `parts`.

    Square roots inside fewer than `roots` others are true ones, or the point is bad; deeper ones
    are roots of x or of −x, whichever exists. `radicands` has the depth, the value, and whether it
    has a root. With `roots` None, a root is an unknown function. `fixed_inputs` are inputs with a
    value.
    """

    def __init__(self, prime: int, seed: int, parts: int, roots: int | None = None) -> None:
        super().__init__(prime, seed)
        self.angle_parts, self.true_root_levels = parts, roots
        self.radicands: list[tuple[int, int, bool]] = []
        self.fixed_inputs: dict[str, int] = {}

    def fix_unit_quaternion(self, names: Sequence[str]) -> None:
        """Sets the named inputs to the entries of a random unit quaternion."""
        self.fixed_inputs |= dict(zip(names, self.draw_unit_quaternion(names), strict=True))

    def symbol(self, name: str) -> int:
        """The value of an input: fixed, or a random number."""
        return (
            self.fixed_inputs[name]
            if name in self.fixed_inputs
            else self.draw_residue_number("input", name)
        )

    def square_root(self, x: int, level: int) -> int:
        """The smaller of both roots, so that equal values have equal roots."""
        if self.true_root_levels is None:
            return self.draw_residue_number(Op.SQRT.name, x)
        found, exists = root_modulo(x, self.prime)
        self.radicands.append((level, x, exists))
        if level < self.true_root_levels and not exists:
            raise BadPointError("no root")
        return found


class ResidueProgram:
    """A tape prepared for evaluation at random points; `names` are those of its inputs' entries,
    and `numbers` those of them that stand for rational numbers, with their values."""

    def __init__(
        self,
        tape: Tape,
        names: Sequence[Sequence[str]],
        numbers: Mapping[str, Fraction] | None = None,
    ) -> None:
        self.numbers = numbers or {}
        self.tape, self.degree_bounds = tape, PolynomialDegreeBounds(tape)
        self.ops, self.args = self.degree_bounds.ops, self.degree_bounds.args
        self.input_names = {
            k: names[self.args[k][0]][self.args[k][1]]
            for k, op in enumerate(self.ops)
            if op is Op.INPUT
        }
        self._constants_by_prime: dict[int, dict[int, int]] = {}

    def evaluate_residues_at(self, point: RandomResiduePoint) -> list[list[int]]:
        """The values of all outputs modulo the prime, entries row by row."""
        p = point.prime
        values: list[int] = []
        write = values.append
        mul, add, sub, neg, fma, constant = _COMMON_OPS
        constants = self._constant_residues(p)
        for op, (a, b, c) in zip(self.ops, self.args, strict=True):
            if op is mul:
                write(values[a] * values[b] % p)
            elif op is add:
                write((values[a] + values[b]) % p)
            elif op is sub:
                write((values[a] - values[b]) % p)
            elif op is neg:
                write(-values[a] % p)
            elif op is fma:
                write((values[a] * values[b] + values[c]) % p)
            elif op is constant:
                write(constants[len(values)])
            else:
                write(self._evaluate_instruction(len(values), op, values, point))
        return [[values[i] for i in result.tolist()] for result in self.tape.results]

    def _constant_residues(self, p: int) -> dict[int, int]:
        """The constants of the tape modulo p, by their instruction."""
        if p not in self._constants_by_prime:
            self._constants_by_prime[p] = {
                k: ratio_modulo(number.numerator, number.denominator, p)
                for k, number in self.degree_bounds.constants.items()
            }
        return self._constants_by_prime[p]

    def _evaluate_instruction(
        self, k: int, op: Op, values: list[int], point: RandomResiduePoint
    ) -> int:
        p, bounds = point.prime, self.degree_bounds
        if op is Op.INPUT:
            number = self.numbers.get(self.input_names[k])
            if number is not None:
                return ratio_modulo(number.numerator, number.denominator, p)
            return point.symbol(self.input_names[k])
        operands = self.args[k][: OPERATION_ARITY[op]]
        if op is Op.DIV:
            return ratio_modulo(values[operands[0]], values[operands[1]], p)
        if op in (Op.SIN, Op.COS, Op.TAN):
            cosine, sine = self._angle_circle_point(
                bounds.angle_combinations[operands[0]], values, point
            )
            if op is Op.TAN:
                return ratio_modulo(sine, cosine, p)
            return sine if op is Op.SIN else cosine
        given = [values[i] for i in operands]
        if op is Op.SQRT:
            return point.square_root(given[0], bounds.root_levels[k])
        exponent = bounds.constants.get(operands[-1]) if op is Op.POW else None
        if exponent is not None and 2 * exponent == int(2 * exponent):
            whole = power_modulo(given[0], exponent.numerator // exponent.denominator, p)
            return (
                whole * point.square_root(given[0], bounds.root_levels[k]) % p
                if k in bounds.root_levels
                else whole
            )
        return point.unknown_function_residue(
            op, given, [self.ops[i] in TRUTH_OPS for i in operands]
        )

    def _angle_circle_point(
        self, angle: ExactAngleCombination, values: list[int], point: RandomResiduePoint
    ) -> ModularCirclePoint:
        """(cos, sin) of a combination of input angles."""
        p = point.prime
        total = 1, 0
        for leaf, share in angle.items():
            times = share.numerator * point.angle_parts // share.denominator
            key: object = self.input_names.get(leaf)
            if key is None:  # by its value, and the same for its negative
                key = values[leaf]
                if values[leaf] > p // 2:
                    key, times = p - values[leaf], -times
            total = added(
                total, multiply_circle_point_modulo(point.draw_circle_point(key), times, p), p
            )
        return total
