"""Values modulo a prime with their derivatives: what an equation says of each quantity in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residues import FIELD_PRIME, Residue
from ..algebra.exact.tape_algebra import operation_undefined_in_algebra
from ..tape import Op


@dataclass(frozen=True)
class StatementJet:
    """A value and its derivatives by the quantities that it depends on."""

    value: Residue
    derivatives: Mapping[str, int] = field(default_factory=dict)

    def scaled_derivatives(self, factor: int) -> dict[str, int]:
        """The slopes times a factor, without those that are zero."""
        found = {key: slope * factor % FIELD_PRIME for key, slope in self.derivatives.items()}
        return {key: slope for key, slope in found.items() if slope}


class StatementJetAlgebra:
    """Forward differentiation at one point of a prime field."""

    def __init__(self, field: PrimeField) -> None:
        self.field = field

    def constant(self, value: Fraction) -> StatementJet:
        """A rational number, whose derivatives are zero."""
        return StatementJet(self.field.constant(value))

    def pi(self) -> StatementJet:
        """π, whose derivatives are zero."""
        return StatementJet(self.field.pi())

    def apply(self, op: Op, operands: Sequence[StatementJet]) -> StatementJet:
        """The result of an operation, with its derivatives by the chain rule."""
        value = self.field.apply(op, [x.value for x in operands])
        total: dict[str, int] = {}
        for k, operand in enumerate(operands):
            if not operand.derivatives:
                continue
            factor = self._partial(op, k, [x.value for x in operands], value)
            for key, slope in operand.scaled_derivatives(factor).items():
                total[key] = (total.get(key, 0) + slope) % FIELD_PRIME
        return StatementJet(value, {key: slope for key, slope in total.items() if slope})

    def _partial(self, op: Op, k: int, operands: Sequence[Residue], value: Residue) -> int:
        """The derivative of an operation by its k-th operand."""
        a, b = operands[0].number, operands[-1].number
        apply, one = self.field.apply, self.field.constant(Fraction(1))
        match op:
            case Op.ADD:
                return 1
            case Op.SUB:
                return 1 if k == 0 else -1
            case Op.NEG:
                return -1
            case Op.MUL:
                return b if k == 0 else a
            case Op.DIV:
                inverse = apply(Op.DIV, (one, operands[1])).number
                return inverse if k == 0 else -value.number * inverse
            case Op.SIN:
                return apply(Op.COS, operands).number
            case Op.COS:
                return -apply(Op.SIN, operands).number
            case Op.TAN:
                return 1 + value.number * value.number
            case Op.SQRT:
                return apply(Op.DIV, (one, apply(Op.ADD, (value, value)))).number
            case Op.POW if k == 0:
                lower = apply(Op.SUB, (operands[1], one))
                return b * apply(Op.POW, (operands[0], lower)).number
            case _:
                raise operation_undefined_in_algebra(op, "derivatives modulo a prime")
