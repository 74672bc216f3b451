"""A plain interpreter of tapes in NumPy, for tests; and tapes that use every operation."""

from __future__ import annotations

import casadi as ca
import numpy as np

from linkwright.tape import OPERATION_ARITY, Op, Tape, record_tape

_RULES = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply, Op.DIV: np.divide,
    Op.NEG: np.negative, Op.SQRT: np.sqrt, Op.SIN: np.sin, Op.COS: np.cos, Op.TAN: np.tan,
    Op.ASIN: np.arcsin, Op.ACOS: np.arccos, Op.ATAN2: np.arctan2, Op.EXP: np.exp, Op.LOG: np.log,
    Op.POW: np.power, Op.TANH: np.tanh, Op.ABS: np.abs, Op.SIGN: np.sign, Op.MIN: np.minimum,
    Op.MAX: np.maximum, Op.LT: np.less, Op.LE: np.less_equal, Op.EQ: np.equal,
    Op.NE: np.not_equal, Op.AND: np.logical_and, Op.OR: np.logical_or, Op.NOT: np.logical_not,
    Op.SELECT: np.where, Op.FLOOR: np.floor, Op.FMA: lambda a, b, c: a * b + c,
}  # fmt: skip


def run(tape: Tape, *inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs for inputs of shape (…, *port.shape)."""
    values: list[np.ndarray] = []
    flat = [
        np.reshape(x, (*np.shape(x)[: np.ndim(x) - len(port.shape)], port.size))
        for x, port in zip(inputs, tape.inputs, strict=True)
    ]
    for k in range(len(tape)):
        op = Op(int(tape.ops[k]))
        args = tape.args[k]
        if op is Op.CONSTANT:
            values.append(np.float64(tape.constants[k]))
        elif op is Op.INPUT:
            values.append(flat[args[0]][..., args[1]])
        else:
            result = _RULES[op](*(values[a] for a in args[: OPERATION_ARITY[op]]))
            values.append(np.asarray(result, dtype=float))
    outputs = []
    for port, result in zip(tape.outputs, tape.results, strict=True):
        entries = np.broadcast_arrays(*(values[r] for r in result))
        stacked = np.stack(entries, axis=-1)
        outputs.append(stacked.reshape(stacked.shape[:-1] + port.shape))
    return outputs


def every_operation() -> tuple[Tape, np.ndarray]:
    """A tape with every operation that CasADi can give, and states to run it on."""
    x = ca.SX.sym("x", 4)
    a, b, c, d = ca.vertsplit(x)
    outputs = [
        a + b, a - b, a * b, a / b, -a, ca.sqrt(ca.fabs(a)), ca.sin(a), ca.cos(b), ca.sin(a * b),
        ca.cos(a + c), ca.tan(a), ca.asin(a / 4), ca.acos(b / 4), ca.atan2(a, b), ca.atan(a),
        ca.exp(a), ca.log(ca.fabs(b)), ca.fabs(a) ** b, ca.fabs(a) ** 1.5, ca.tanh(c),
        ca.fabs(d), ca.sign(a), ca.sign(a - a), ca.fmin(a, b), ca.fmax(a, b), a < b, a <= b,
        ca.eq(a, b), ca.ne(a, b), ca.logic_and(a < b, c), ca.logic_or(a < b, 0 * c),
        ca.logic_not(c < d), ca.if_else(a < b, c, d), ca.floor(a), a * a, a + a, 1 / b,
    ]  # fmt: skip
    states = np.random.default_rng(0).uniform(-3, 3, (37, 4))
    return record_tape(ca.Function("all", [x], [ca.vertcat(*outputs)])), states
