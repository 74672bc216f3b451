"""The tape as heyoka expressions, whose Taylor series heyoka computes to any order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import ModuleType

from ..algebra.exact.tape_algebra import evaluate_tape_in_algebra
from ..errors import UnsupportedError
from ..tape import Op, Tape
from ..types import HeyokaExpression

_HEYOKA_FUNCTIONS = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.TAN: "tan", Op.ASIN: "asin", Op.ACOS: "acos",
    Op.ATAN2: "atan2", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh", Op.LT: "lt", Op.LE: "lte",
    Op.EQ: "eq", Op.NE: "neq", Op.SELECT: "select",
}  # fmt: skip


def import_heyoka() -> ModuleType:
    """The package heyoka; raises with the name of the extra if it is not installed."""
    try:
        import heyoka
    except ImportError:
        raise UnsupportedError(
            "Taylor series need heyoka, which is not installed",
            remedy='install it: pip install "linkwright[taylor]"',
        ) from None
    package: ModuleType = heyoka
    return package


class HeyokaAlgebra:
    """The operations of a tape on heyoka expressions."""

    def __init__(self) -> None:
        self.hy = import_heyoka()

    def constant(self, value: Fraction) -> HeyokaExpression:
        """The number as a heyoka expression."""
        return self.hy.expression(float(value))

    def apply(self, op: Op, operands: Sequence[HeyokaExpression]) -> HeyokaExpression:
        """The heyoka expression of an operation; raises if it is not smooth."""
        if op in _HEYOKA_FUNCTIONS:
            return getattr(self.hy, _HEYOKA_FUNCTIONS[op])(*operands)
        a, *rest = operands
        match op:
            case Op.ADD:
                return a + rest[0]
            case Op.SUB:
                return a - rest[0]
            case Op.MUL:
                return a * rest[0]
            case Op.DIV:
                return a / rest[0]
            case Op.POW:
                return a ** rest[0]
            case Op.NEG:
                return -a
            case Op.FMA:
                return a * rest[0] + rest[1]
            case Op.AND:
                return self.hy.logical_and([a, rest[0]])
            case Op.OR:
                return self.hy.logical_or([a, rest[0]])
            case Op.NOT:
                return 1.0 - a
            case _:
                raise UnsupportedError(
                    f"{op.name.lower()} is not smooth, and has no Taylor series",
                    remedy="smooth the friction, or use another integrator",
                )


def read_tape_as_heyoka(
    tape: Tape, inputs: Sequence[Sequence[HeyokaExpression]]
) -> list[list[HeyokaExpression]]:
    """All outputs as heyoka expressions, entries row by row, for expressions of all inputs."""
    return evaluate_tape_in_algebra(tape, HeyokaAlgebra(), inputs)
